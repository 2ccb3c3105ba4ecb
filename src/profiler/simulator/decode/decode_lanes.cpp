// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Instructions that act on each lane alone. In: an instruction of the walk (decode.cpp). Out: micro-operations whose
// handlers come from the opcode table (opcode.h). Most are one row and one micro-operation; modifiers are others around
// it: .ftz flushes copies of the sources and the result, .sat clamps the result. A few instructions are put together
// from several rows: setp with a second result or a boolean operand, and mov, which also packs and unpacks vectors.
#include <algorithm>

#include "profiler/simulator/decode/decoder.h"
#include "profiler/simulator/ptx/ptx_parser.h"

namespace tailor::simulator {
namespace {

/// What flushes subnormals of a type; nullptr: nothing does.
const Step (*flush_steps(const LaneTable& lanes, LaneType type))[2] {
  if (type == LaneType::f32) return &lanes.flush_f32;
  if (type == LaneType::f16) return &lanes.flush_f16;
  if (type == LaneType::f16x2) return &lanes.flush_f16x2;
  return nullptr;
}

}  // namespace

/// A copy of a source with its subnormals flushed, or the source when its type has none to flush.
Slot Decoder::flushed(Slot slot, LaneType type) {
  const auto* steps = flush_steps(*program_.lanes, type);
  if (steps == nullptr) return slot;
  const Slot made = temporary(32);
  emit(*steps, made, slot);
  return made;
}

namespace {

/// What is missing as a whole, by how its opcodes begin.
struct MissingFamily {
  std::string_view opcode, reason;
};
constexpr MissingFamily missing_families[] = {
    {"st.async", "stores that count on an mbarrier"},
    {"red.async", "reductions that count on an mbarrier"},
    {"clusterlaunchcontrol", "blocks that take over the work of others (cluster launch control)"},
    {"tensormap", "tensor maps"},
    {"multimem", "accesses to memory of several GPUs"},
    {"tex", "textures"},
    {"tld4", "textures"},
    {"txq", "textures"},
    {"suld", "surfaces"},
    {"sust", "surfaces"},
    {"sured", "surfaces"},
    {"suq", "surfaces"},
    {"alloca", "stacks that grow as the program runs"},
    {"vadd", "video instructions"},
    {"vsub", "video instructions"},
    {"vabsdiff", "video instructions"},
    {"vmin", "video instructions"},
    {"vmax", "video instructions"},
    {"vshl", "video instructions"},
    {"vshr", "video instructions"},
    {"vmad", "video instructions"},
    {"vset", "video instructions"},
    {"stacksave", "stacks that grow as the program runs"},
    {"stackrestore", "stacks that grow as the program runs"},
};

std::string why_missing(std::string_view opcode) {
  for (const MissingFamily& family : missing_families) {
    const std::string_view rest = opcode.substr(std::min(opcode.size(), family.opcode.size()));
    if (opcode.starts_with(family.opcode) && (rest.empty() || rest[0] == '.'))
      return std::string(family.reason) + " are not simulated";
  }
  return "no row of the opcode table has it";
}

}  // namespace

void Decoder::lane_instruction() {
  const std::optional<LaneMatch> match = find_lane_opcode(current_.ptx->opcode);
  if (!match) return unsupported(why_missing(current_.ptx->opcode));
  const LaneOpcode& row = *match->row;
  count(row.pipe);
  const auto sources = static_cast<std::uint32_t>(row.source_count);
  if (operand_count() != sources + row.literal + 1)
    malformed(std::string(current_.ptx->opcode) + " has " + std::to_string(operand_count()) + " operands, expected " +
              std::to_string(sources + row.literal + 1));
  Slot in[4] = {no_slot, no_slot, no_slot, no_slot};
  Micro micro;
  if (row.literal) {
    if (operand(sources + 1).kind != PtxOperandKind::immediate) malformed("its last operand must be a constant");
    micro.extra = static_cast<std::uint32_t>(operand(sources + 1).value);
  }
  for (std::uint32_t k = 0; k < sources; ++k) {
    in[k] = source(operand(k + 1), row.sources[k]);
    if (match->flush) in[k] = flushed(in[k], row.sources[k]);
  }
  const Slot d = destination(operand(0), row.d);
  const auto& steps = program_.lanes->lane[row.handler];
  micro.full = steps[0];
  micro.some = steps[1];
  micro.d = d;
  micro.a = in[0];
  micro.b = in[1];
  micro.c = in[2];
  if (in[3] != no_slot) {
    micro.list = list_of({in[3]});
    micro.count = 1;
  }
  if (row.carry) {
    if (carry_ == no_slot) carry_ = temporary(32);
    // add.cc writes the carry, addc reads it, addc.cc reads and then writes it. The handlers find it in front.
    const bool reads = current_.parts[0].ends_with('c'), writes = has(current_.parts, "cc");
    micro.list = reads && writes ? list_of({carry_, carry_}) : list_of({carry_});
    micro.count = reads && writes ? 2 : 1;
    micro.writes = writes ? static_cast<std::uint8_t>(1u << (micro.count - 1)) : std::uint8_t{0};
  }
  emit(micro);
  if (match->flush)
    if (const auto* flush = flush_steps(*program_.lanes, row.d)) emit(*flush, d, d);
  if (match->saturate) {
    const LaneTable& lanes = *program_.lanes;
    const auto& clamp = row.d == LaneType::f64      ? lanes.saturate_f64
                        : row.d == LaneType::f16    ? lanes.saturate_f16
                        : row.d == LaneType::bf16   ? lanes.saturate_bf16
                        : row.d == LaneType::f16x2  ? lanes.saturate_f16x2
                        : row.d == LaneType::bf16x2 ? lanes.saturate_bf16x2
                                                    : lanes.saturate_f32;
    emit(clamp, d, d);
  }
}

/// p is of the lower halves, q of the upper ones.
void Decoder::compare_halves(const Step (&steps)[2], Slot p, Slot q, Slot a, Slot b) {
  for (std::uint32_t half = 0; half < 2; ++half) {
    Micro micro;
    micro.full = steps[0];
    micro.some = steps[1];
    micro.d = half == 0 ? p : q;
    micro.a = a;
    micro.b = b;
    micro.extra = half;
    emit(micro);
  }
}

/// setp.CMP{.BOOL}{.ftz}.type p{|q}, a, b{, c}: p = (a CMP b) BOOL c, q = !(a CMP b) BOOL c.
void Decoder::compare() {
  count(Pipe::alu);
  std::string key;
  std::string_view combine;
  for (const std::string_view part : current_.parts) {
    if (part == "and" || part == "or" || part == "xor") {
      combine = part;
    } else {
      key += (key.empty() ? "" : ".") + std::string(part);
    }
  }
  const std::optional<LaneMatch> match = find_lane_opcode(key);
  if (!match) return unsupported("no row of the opcode table has " + key);
  const std::uint32_t expected = combine.empty() ? 3 : 4;
  if (operand_count() != expected) malformed("expected " + std::to_string(expected) + " operands");
  Slot in[2];
  for (std::uint32_t k = 0; k < 2; ++k) {
    in[k] = source(operand(k + 1), match->row->sources[k]);
    if (match->flush) in[k] = flushed(in[k], match->row->sources[k]);
  }
  const PtxOperand& result = operand(0);
  const bool pair = result.kind == PtxOperandKind::pair;
  const Slot p = destination(pair ? nested(result.index) : result, LaneType::pred);
  const auto& steps = program_.lanes->lane[match->row->handler];
  if (match->row->sources[0] == LaneType::f16x2 || match->row->sources[0] == LaneType::bf16x2) {
    if (!pair || !combine.empty()) return unsupported("a packed comparison without p|q, or with a boolean");
    return compare_halves(steps, p, destination(nested(result.index + 1), LaneType::pred), in[0], in[1]);
  }
  if (!pair && combine.empty()) return emit(steps, p, in[0], in[1]);
  const Slot plain = temporary(1), third = combine.empty() ? no_slot : source(operand(3), LaneType::pred);
  emit(steps, plain, in[0], in[1]);
  const std::string row = std::string(combine) + ".pred";
  Slot q = no_slot;
  if (pair) {
    q = destination(nested(result.index + 1), LaneType::pred);
    const Slot opposite = temporary(1);
    emit(program_.lanes->negate_predicate, opposite, plain);
    const Slot kept = temporary(1);  // the third operand may be p itself
    if (combine.empty()) {
      emit(program_.lanes->copy32, kept, opposite);
    } else {
      emit_row(row, kept, opposite, third);
    }
    if (combine.empty()) {
      emit(program_.lanes->copy32, p, plain);
    } else {
      emit_row(row, p, plain, third);
    }
    return emit(program_.lanes->copy32, q, kept);
  }
  emit_row(row, p, plain, third);
}

void Decoder::move() {
  count(Pipe::move);
  if (operand_count() != 2) malformed("mov has " + std::to_string(operand_count()) + " operands, expected 2");
  const PtxOperand& to = operand(0);
  const PtxOperand& from = operand(1);
  const std::string_view type = current_.parts.back();
  const int bits = ptx_type_bits(type);
  if (bits == 0) malformed("mov." + std::string(type) + ", expected a type such as .b32");
  if (to.kind == PtxOperandKind::vector || from.kind == PtxOperandKind::vector) {
    const PtxOperand& many = to.kind == PtxOperandKind::vector ? to : from;
    const bool pack = from.kind == PtxOperandKind::vector;
    if (many.count == 0 || bits % static_cast<int>(many.count) != 0 || bits > 64)
      return unsupported("a vector of " + std::to_string(many.count) + " in " + std::to_string(bits) + " bits");
    const int part = bits / static_cast<int>(many.count);
    const LaneOpcode* row =
        pack ? find_pack(bits, static_cast<int>(many.count)) : find_unpack(bits, static_cast<int>(many.count));
    if (row == nullptr) return unsupported("parts of " + std::to_string(part) + " bits");
    std::vector<Slot> slots;
    Micro micro;
    for (std::uint32_t k = 0; k < many.count; ++k) {
      const PtxOperand& one = nested(many.index + k);
      const LaneType kind = part == 32 ? LaneType::u32 : part == 16 ? LaneType::u16 : LaneType::u8;
      slots.push_back(pack                                  ? source(one, kind)
                      : one.kind == PtxOperandKind::discard ? no_slot
                                                            : destination(one, kind));
      if (!pack) micro.writes = static_cast<std::uint8_t>(micro.writes | 1u << k);
    }
    const LaneType whole = bits == 64 ? LaneType::u64 : LaneType::u32;
    if (pack) {
      micro.d = destination(to, whole);
    } else {
      micro.a = source(from, whole);
    }
    micro.full = program_.lanes->lane[row->handler][0];
    micro.some = program_.lanes->lane[row->handler][1];
    micro.list = list_of(slots);
    micro.count = static_cast<std::uint8_t>(many.count);
    return emit(micro);
  }
  const LaneType kind = bits == 1 ? LaneType::pred : bits == 64 ? LaneType::u64 : LaneType::u32;
  if (from.kind == PtxOperandKind::special) {
    const SpecialRegister* special = find_special(from.name);
    if (special == nullptr) return unsupported("the special register " + std::string(from.name));
    if (special->kind == SpecialKind::live) {
      Micro micro;
      micro.full = micro.some = steps_.address.live_special;
      micro.d = destination(to, kind);
      micro.extra = special->index;
      micro.immediate = bits;
      return emit(micro);
    }
  }
  // An f32 or f16 immediate keeps its bits.
  LaneType read = kind;
  if (from.kind == PtxOperandKind::immediate && type == "f32") read = LaneType::f32;
  if (from.kind == PtxOperandKind::immediate && type == "f64") read = LaneType::f64;
  const Slot a = source(from, read);
  const Slot d = destination(to, kind);
  emit(bits == 64 ? program_.lanes->copy64 : program_.lanes->copy32, d, a);
}

}  // namespace tailor::simulator
