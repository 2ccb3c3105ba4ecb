// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Matrix instructions of one warp: mma.sync, ldmatrix, stmatrix, movmatrix. In: an instruction of the walk
// (decode.cpp). Out: an ending of its block, because all 32 lanes must be there; its list holds the mask and the slots
// of every fragment. What works on more than one warp (wgmma, tcgen05) is refused by name.
#include <algorithm>
#include <bit>

#include "profiler/simulator/decode/decoder.h"
#include "profiler/simulator/decode/matrix.h"

namespace tailor::simulator {
namespace {}  // namespace

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
    micro.full = micro.some = steps_.matrix.transpose_tile;
    const Slot a = source(operand(1), LaneType::u32), d = destination(operand(0), LaneType::u32);
    matrix_ending(micro, {d}, {a});
    return true;
  }
  const char* reason = op == "wgmma"     ? "products of four warps are not simulated"
                       : op == "tcgen05" ? "tensor memory is not simulated"
                       : op == "wmma"    ? "only mma.sync products are simulated"
                                         : nullptr;
  if (reason == nullptr) return false;
  unsupported(reason);
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
  micro.full = micro.some = steps_.matrix.multiply;
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
  micro.full = micro.some = load ? steps_.matrix.load_tiles : steps_.matrix.store_tiles;
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
