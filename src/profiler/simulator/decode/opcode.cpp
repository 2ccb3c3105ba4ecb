// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The opcode table as data, its lookup by text, and the choice of an instruction set. In: the rows of lanes/opcodes.def
// and the handlers of lanes/ for each instruction set. Out: a row for an opcode's text, and the fastest table that this
// machine can run. Called by the decoder for every instruction that acts lane by lane, and by tests that go through all
// rows.
#include "profiler/simulator/decode/opcode.h"

#include <algorithm>
#include <unordered_map>

#include "base/indexed.h"
#include "profiler/simulator/lanes/lanes_table.h"

namespace tailor::simulator {

namespace {

enum Handler : std::uint32_t {
#define LANE_ENUMERATOR(id, ...) handler_##id,
#define LANE_ROW LANE_ENUMERATOR
#include "profiler/simulator/lanes/opcodes.def"
#undef LANE_ENUMERATOR
  handler_count
};

struct SourceTypes {
  std::array<LaneType, 4> types{};
  int count = 0;
};

template <class... Types>
constexpr SourceTypes list_of(Types... types) {
  return {{types...}, sizeof...(types)};
}

constexpr LaneOpcode row(std::string_view key, Pipe pipe, LaneType d, SourceTypes sources, std::uint32_t handler,
                         bool carry = false) {
  return {key, pipe, d, sources.types, sources.count, carry, handler == handler_lop3_32, handler};
}

using enum LaneType;
constexpr LaneType raw16x2 = u32;

constexpr LaneOpcode rows[] = {
#define LANE_DATA(id, keys, pipe, d, sources, ...) row(keys, Pipe::pipe, d, list_of sources, handler_##id),
#define CARRY_DATA(id, keys, pipe, d, sources, ...) row(keys, Pipe::pipe, d, list_of sources, handler_##id, true),
#define LANE_ROW LANE_DATA
#define SAME LANE_DATA
#define CARRY_IN CARRY_DATA
#define CARRY_OUT CARRY_DATA
#include "profiler/simulator/lanes/opcodes.def"
#undef CARRY_DATA
#undef LANE_DATA
};

using RowsByText = std::unordered_map<std::string_view, const LaneOpcode*>;

const RowsByText& rows_by_text() {
  static const RowsByText by_text = [] {
    RowsByText found;
    for (const LaneOpcode& opcode : rows) {
      for (std::string_view keys = opcode.key; !keys.empty();) {
        const std::size_t space = std::min(keys.find(' '), keys.size());
        found.emplace(keys.substr(0, space), &opcode);
        keys.remove_prefix(std::min(space + 1, keys.size()));
      }
    }
    return found;
  }();
  return by_text;
}

/// Removes `.modifier` where it stands as a whole; false: it is not there.
bool remove_modifier(std::string& text, std::string_view modifier) {
  for (std::size_t at = text.find(modifier); at != std::string::npos; at = text.find(modifier, at + 1)) {
    const std::size_t after = at + modifier.size();
    if (after < text.size() && text[after] != '.') continue;
    text.erase(at, modifier.size());
    return true;
  }
  return false;
}

bool is_floating(LaneType type) {
  return type == f32 || type == f16 || type == bf16 || type == f16x2 || type == bf16x2;
}

bool may_flush(const LaneOpcode& opcode) {
  const auto sources = prefix(opcode.sources, opcode.source_count);
  const auto flushes = [](LaneType type) { return type == f32 || type == f16 || type == f16x2; };
  return flushes(opcode.d) || std::ranges::any_of(sources, flushes);
}

LaneTable composed(std::string_view name, const TierHandlers& tier) {
  LaneTable table;
  table.name = name;
  table.lane = tier.lane;
  table.lane_count = tier.count;
  table.mask_of = tier.mask_of;
  table.access = tier.access;
  table.shuffle = tier.shuffle;
  const auto pair = [&](Step(&to)[2], Handler handler) { std::ranges::copy(tier.lane[handler], to); };
  pair(table.flush_f32, handler_flush_f32);
  pair(table.saturate_f32, handler_saturate_f32);
  pair(table.flush_f16, handler_flush_f16);
  pair(table.flush_f16x2, handler_flush_f16x2);
  pair(table.saturate_f16, handler_saturate_f16);
  pair(table.saturate_bf16, handler_saturate_bf16);
  pair(table.saturate_f16x2, handler_saturate_f16x2);
  pair(table.saturate_bf16x2, handler_saturate_bf16x2);
  pair(table.saturate_f64, handler_saturate_f64);
  pair(table.copy32, handler_mov_32);
  pair(table.copy64, handler_mov_64);
  pair(table.negate_predicate, handler_not_32);
  return table;
}

/// Fastest first.
const std::vector<LaneTable>& tables() {
  static const std::vector<LaneTable> found = [] {
    std::vector<LaneTable> list;
#ifdef TAILOR_LANES_AVX512
    if (__builtin_cpu_supports("x86-64-v4")) list.push_back(composed("avx512", avx512::tier));
#endif
#ifdef TAILOR_LANES_AVX2
    if (__builtin_cpu_supports("x86-64-v3")) list.push_back(composed("avx2", avx2::tier));
#endif
    list.push_back(composed("portable", portable::tier));
    return list;
  }();
  return found;
}

}  // namespace

int slot_bits(LaneType type) {
  if (type == LaneType::pred) return 1;
  return type == u64 || type == s64 || type == LaneType::f64 ? 64 : 32;
}

std::span<const LaneOpcode> lane_opcodes() { return rows; }

namespace {

const LaneOpcode* row_of(std::uint32_t handler) {
  const auto found = std::ranges::find(rows, handler, &LaneOpcode::handler);
  return found == std::end(rows) ? nullptr : found;
}

}  // namespace

const LaneOpcode* find_pack(int whole_bits, int parts) {
  if (whole_bits == 16 && parts == 2) return row_of(handler_pack_2x8);
  if (whole_bits == 32 && parts == 4) return row_of(handler_pack_4x8);
  if (whole_bits == 32 && parts == 2) return row_of(handler_pack_2x16);
  if (whole_bits == 64 && parts == 4) return row_of(handler_pack_4x16);
  return whole_bits == 64 && parts == 2 ? row_of(handler_pack_2x32) : nullptr;
}

const LaneOpcode* find_unpack(int whole_bits, int parts) {
  if (whole_bits == 16 && parts == 2) return row_of(handler_unpack_2x8);
  if (whole_bits == 32 && parts == 4) return row_of(handler_unpack_4x8);
  if (whole_bits == 32 && parts == 2) return row_of(handler_unpack_2x16);
  if (whole_bits == 64 && parts == 4) return row_of(handler_unpack_4x16);
  return whole_bits == 64 && parts == 2 ? row_of(handler_unpack_2x32) : nullptr;
}

std::optional<LaneMatch> find_lane_opcode(std::string_view text) {
  const RowsByText& by_text = rows_by_text();
  if (const auto found = by_text.find(text); found != by_text.end()) return LaneMatch{found->second};
  std::string plain(text);
  LaneMatch match;
  match.flush = remove_modifier(plain, ".ftz");
  auto found = by_text.find(plain);
  if (found == by_text.end()) {
    match.saturate = remove_modifier(plain, ".sat");
    found = by_text.find(plain);
  }
  if (found == by_text.end()) return std::nullopt;
  match.row = found->second;
  if (match.flush && !may_flush(*match.row)) return std::nullopt;
  if (match.saturate && !is_floating(match.row->d) && match.row->d != LaneType::f64) return std::nullopt;
  return match;
}

std::vector<std::string_view> split_opcode(std::string_view opcode) {
  std::vector<std::string_view> parts;
  std::size_t begin = 0;
  while (begin <= opcode.size()) {
    const std::size_t dot = std::min(opcode.find('.', begin), opcode.size());
    parts.push_back(opcode.substr(begin, dot - begin));
    begin = dot + 1;
  }
  return parts;
}

const LaneTable* lane_table(std::string_view name) {
  for (const LaneTable& table : tables()) {
    if (name.empty() || table.name == name) return &table;
  }
  return nullptr;
}

std::vector<std::string_view> lane_table_names() {
  std::vector<std::string_view> names;
  for (const LaneTable& table : tables()) names.push_back(table.name);
  return names;
}

}  // namespace tailor::simulator
