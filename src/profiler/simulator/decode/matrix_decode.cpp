// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Which matrix instructions there are, and their decoding. A form that no row lists is refused: a product computed in a
// layout guessed at would be wrong without a word.
#include <algorithm>
#include <array>
#include <bit>
#include <charconv>

#include "profiler/simulator/decode/decode.h"
#include "profiler/simulator/machine/matrix.h"

namespace tailor::simulator {
namespace {

struct ElementRow {
  std::string_view name;
  MatrixElement element;
  int bits;
};
constexpr auto element_table = std::to_array<ElementRow>({
    {"f16", MatrixElement::f16, 16},
    {"bf16", MatrixElement::bf16, 16},
    {"tf32", MatrixElement::tf32, 32},
    {"e4m3", MatrixElement::e4m3, 8},
    {"e5m2", MatrixElement::e5m2, 8},
    {"s8", MatrixElement::s8, 8},
    {"u8", MatrixElement::u8, 8},
    {"s4", MatrixElement::s4, 4},
    {"u4", MatrixElement::u4, 4},
    {"b1", MatrixElement::b1, 1},
    {"f64", MatrixElement::f64, 64},
    {"f32", MatrixElement::f32, 32},
    {"s32", MatrixElement::s32, 32},
});

/// Shapes, element types of A and B (any two of a row) and types of C and D (which are the same here).
struct ProductRow {
  std::string_view shapes, elements, sums;
};
constexpr auto product_table = std::to_array<ProductRow>({
    {"m16n8k8 m16n8k16", "f16", "f32 f16"},
    {"m16n8k8 m16n8k16", "bf16", "f32"},
    {"m16n8k4 m16n8k8", "tf32", "f32"},
    {"m16n8k16 m16n8k32", "e4m3 e5m2", "f32 f16"},
    {"m8n8k16 m16n8k16 m16n8k32", "s8 u8", "s32"},
    {"m8n8k32 m16n8k32 m16n8k64", "s4 u4", "s32"},
    {"m8n8k128 m16n8k128 m16n8k256", "b1", "s32"},
    {"m8n8k4 m16n8k4 m16n8k8 m16n8k16", "f64", "f64"},
});

/// Whether a word is in a list with spaces between.
bool lists(std::string_view list, std::string_view word) {
  while (!list.empty()) {
    const std::size_t space = std::min(list.find(' '), list.size());
    if (list.substr(0, space) == word) return true;
    list.remove_prefix(std::min(space + 1, list.size()));
  }
  return false;
}

MatrixElement element_of(std::string_view name) {
  return std::find_if(element_table.begin(), element_table.end(),
                      [&](const ElementRow& row) { return row.name == name; })
      ->element;
}

bool has(const std::vector<std::string_view>& parts, std::string_view part) {
  return std::find(parts.begin(), parts.end(), part) != parts.end();
}

}  // namespace

int element_bits(MatrixElement element) {
  for (const ElementRow& row : element_table)
    if (row.element == element) return row.bits;
  return 0;
}

MatrixRegisters registers_of(const MatrixForm& form) {
  const int bits = element_bits(form.a);
  const int words = std::max(form.k * bits / (bits == 64 ? 256 : 128), 1);  // of 4 lanes side by side
  return {form.m / 8 * words, words, form.m / 8 * (form.sum == MatrixElement::f16 ? 1 : 2)};
}

/// mma.sync.aligned.SHAPE.row.col{.satfinite}.D.A.B.C{.xor.popc|.and.popc}
std::optional<MatrixForm> matrix_form(const std::vector<std::string_view>& parts) {
  std::vector<std::string_view> rest(parts.begin() + 1, parts.end());
  const auto take = [&](std::string_view part) {
    if (rest.empty() || rest.front() != part) return false;
    rest.erase(rest.begin());
    return true;
  };
  if (!take("sync") || !take("aligned") || rest.empty()) return std::nullopt;
  const std::string_view shape = rest.front();
  rest.erase(rest.begin());
  if (!take("row") || !take("col")) return std::nullopt;
  MatrixForm form;
  const bool clamps = take("satfinite");
  if (rest.size() < 4) return std::nullopt;
  const std::string_view d = rest[0], a = rest[1], b = rest[2], c = rest[3];
  rest.erase(rest.begin(), rest.begin() + 4);
  const auto row = std::find_if(product_table.begin(), product_table.end(), [&](const ProductRow& one) {
    return lists(one.shapes, shape) && lists(one.elements, a) && lists(one.elements, b) && lists(one.sums, d);
  });
  if (row == product_table.end() || d != c) return std::nullopt;
  form.a = element_of(a);
  form.b = element_of(b);
  form.sum = element_of(d);
  if (form.a == MatrixElement::b1) {
    if (take("and")) {
      form.flags |= matrix_ands;
    } else if (!take("xor")) {
      return std::nullopt;
    }
    if (!take("popc")) return std::nullopt;
  }
  if (!rest.empty()) return std::nullopt;
  if (clamps) {
    if (form.sum != MatrixElement::s32 || form.a == MatrixElement::b1) return std::nullopt;
    form.flags |= matrix_clamps;
  }
  form.m = shape.starts_with("m16") ? 16 : 8;
  const std::string_view k = shape.substr(shape.rfind('k') + 1);
  std::from_chars(k.data(), k.data() + k.size(), form.k);
  return form;
}

/// mma, ldmatrix, stmatrix, movmatrix; what works on more than one warp is refused by name.
bool Decoder::matrix_instruction() {
  const std::string_view op = current_.parts[0];
  if (op == "mma") return product(), true;
  if (op == "ldmatrix" || op == "stmatrix") return tiles(op == "ldmatrix"), true;
  if (op == "movmatrix") {
    if (current_.ptx->opcode != "movmatrix.sync.aligned.m8n8.trans.b16")
      return unsupported("only 8x8 tiles of 16-bit elements can be simulated"), true;
    count(Pipe::shuffle);
    Micro micro;
    micro.full = micro.some = transpose_tile_step();
    const Slot a = source(operand(1), LaneType::u32), d = destination(operand(0), LaneType::u32);
    matrix_ending(micro, {d}, {a});
    return true;
  }
  const char* why = op == "wgmma"     ? "products of four warps are not simulated"
                    : op == "tcgen05" ? "tensor memory is not simulated"
                    : op == "wmma"    ? "only mma.sync products are simulated"
                                      : nullptr;
  if (why == nullptr) return false;
  unsupported(why);
  return true;
}

/// The list is the mask (every lane), what is written, what is read.
void Decoder::matrix_ending(Micro micro, const std::vector<Slot>& written, const std::vector<Slot>& read) {
  std::vector<Slot> slots{bits_constant(all_lanes, 32)};
  slots.insert(slots.end(), written.begin(), written.end());
  slots.insert(slots.end(), read.begin(), read.end());
  micro.list = list_of(slots);
  micro.count = static_cast<std::uint8_t>(slots.size());
  micro.writes = static_cast<std::uint8_t>(((1u << written.size()) - 1) << 1);
  op_ending(Ending::warp, micro);
}

/// The slots of an operand of `many` registers, in braces or, if it is one, without.
std::vector<Slot> Decoder::fragment(const PtxOperand& whole, int many, LaneType type, bool written) {
  const bool braces = whole.kind == PtxOperandKind::vector;
  if ((braces ? static_cast<int>(whole.count) : 1) != many)
    malformed("a part of a matrix in " + std::to_string(braces ? whole.count : 1) + " registers, expected " +
              std::to_string(many));
  std::vector<Slot> slots;
  for (int i = 0; i < many; ++i) {
    const PtxOperand& one = braces ? nested(whole.index + static_cast<std::uint32_t>(i)) : whole;
    slots.push_back(written ? destination(one, type) : source(one, type));
  }
  return slots;
}

void Decoder::product() {
  const std::optional<MatrixForm> form = matrix_form(current_.parts);
  if (!form) return unsupported("this shape or type of product is not known");
  if (operand_count() != 4) malformed("a product has " + std::to_string(operand_count()) + " operands, expected 4");
  count(Pipe::matrix);
  const MatrixRegisters many = registers_of(*form);
  const LaneType in = form->a == MatrixElement::f64 ? LaneType::f64 : LaneType::u32;
  const LaneType sum = form->sum == MatrixElement::f64   ? LaneType::f64
                       : form->sum == MatrixElement::f32 ? LaneType::f32
                                                         : LaneType::u32;
  std::vector<Slot> read = fragment(operand(1), many.a, in, false);
  const std::vector<Slot> b = fragment(operand(2), many.b, in, false), c = fragment(operand(3), many.sum, sum, false);
  read.insert(read.end(), b.begin(), b.end());
  read.insert(read.end(), c.begin(), c.end());
  Micro micro;
  micro.full = micro.some = multiply_step();
  micro.immediate = std::bit_cast<std::int64_t>(*form);
  matrix_ending(micro, fragment(operand(0), many.sum, sum, true), read);
}

/// ldmatrix.sync.aligned.m8n8.NUM{.trans}{.shared{::cta}}.b16 r, [p]; stmatrix ... [p], r.
void Decoder::tiles(bool load) {
  const auto& parts = current_.parts;
  int many = 0;
  bool generic = true,
       known = has(parts, "sync") && has(parts, "aligned") && has(parts, "m8n8") && parts.back() == "b16";
  std::uint32_t flags = 0;
  for (std::size_t i = 1; i < parts.size(); ++i) {
    const std::string_view part = parts[i];
    if (part == "x1" || part == "x2" || part == "x4") {
      many = part[1] - '0';
    } else if (part == "trans") {
      flags = access_transposed;
    } else if (part == "shared" || part == "shared::cta") {
      generic = false;
    } else {
      known = known && (part == "sync" || part == "aligned" || part == "m8n8" || part == "b16");
    }
  }
  if (!known || many == 0) return unsupported("only 8x8 tiles of 16-bit elements can be simulated");
  if (operand_count() != 2) malformed("it has " + std::to_string(operand_count()) + " operands, expected 2");
  count(Pipe::memory);
  const Address at = address_of(operand(load ? 1 : 0));
  Micro micro;
  micro.full = micro.some = load ? load_tiles_step() : store_tiles_step();
  micro.a = at.slot;
  micro.immediate = at.offset;
  if (generic && at.wide) micro.immediate -= static_cast<std::int64_t>(shared_window);
  micro.extra = static_cast<std::uint32_t>(AccessSpace::shared) | (at.wide ? access_wide : 0) |
                16u << access_bytes_shift | flags |
                memory_site(load ? SiteKind::load : SiteKind::store) << access_site_shift;
  note_access(AccessSpace::shared, MemoryOrder::weak, 16, 16);
  std::vector<Slot> slots = fragment(operand(load ? 0 : 1), many, LaneType::u32, load);
  matrix_ending(micro, load ? slots : std::vector<Slot>{}, load ? std::vector<Slot>{} : slots);
}

}  // namespace tailor::simulator
