// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Which results of XLA's kernels lie in an operand's memory, where no buffer assignment says so. In: a parsed entry
// and the arguments of a launch. Out: for each pointer parameter whether it is used and stored through; for each
// result the operand that it shares memory with. Called when a case or a module is bound.
//
// A small data flow over the PTX. Each 64-bit register carries the set of parameters that its address may have come
// from; an instruction that writes such a register hands on the sets of its operands, but for loads, whose values are
// no addresses of ours. A store, a reduction or an atomic marks the origins of its address as stored through. Sets
// only grow, so the passes over the instructions end; straight code needs two.
//
// A result whose parameter the PTX never names is written through an operand. The first operand of the same shape that
// is stored through and not taken yet is assumed to hold it, else one of the same number of bytes. When there is none
// the kernel cannot be launched.
#include "profiler/xla/xla_inplace.h"

#include <algorithm>

namespace tailor::profiler {

namespace {

using simulator::PtxFunction;
using simulator::PtxInstruction;
using simulator::PtxOperand;
using simulator::PtxOperandKind;

/// Parameters a register may hold the address of, one flag each.
using Origins = std::vector<bool>;

class Flow {
 public:
  explicit Flow(const PtxFunction& entry)
      : entry_(entry), origins_(entry.registers.size(), Origins(entry.params.size())) {
    use_.named.resize(entry.params.size());
    use_.stored.resize(entry.params.size());
    do {
      changed_ = false;
      for (const PtxInstruction& instruction : entry.instructions) step(instruction);
    } while (changed_);
  }
  PointerUse use() && { return std::move(use_); }

 private:
  void join(Origins& into, const Origins& from) {
    for (std::size_t i = 0; i < from.size(); ++i)
      if (from[i] && !into[i]) into[i] = changed_ = true;
  }

  bool is_parameter(const PtxOperand& operand) const {
    return operand.kind == PtxOperandKind::variable && operand.index < entry_.params.size();
  }

  /// What an operand's value may point into.
  Origins origins(const PtxOperand& operand) {
    Origins found(entry_.params.size());
    if (is_parameter(operand)) {
      use_.named[operand.index] = true;
      found[operand.index] = true;
    }
    const bool has_register = operand.kind == PtxOperandKind::reg || operand.kind == PtxOperandKind::address;
    if (has_register && operand.index < origins_.size()) found = origins_[operand.index];
    return found;
  }

  void step(const PtxInstruction& instruction) {
    const PtxOperand* operands = entry_.operands.data() + instruction.first;
    const std::string_view opcode = instruction.opcode;
    for (std::uint32_t i = 0; i < instruction.count; ++i) {
      const Origins found = origins(operands[i]);
      const bool address = operands[i].kind == PtxOperandKind::address;
      if (address && (opcode.starts_with("st") || opcode.starts_with("red") || opcode.starts_with("atom")))
        join(use_.stored, found);
      if (i == 0 || operands[0].kind != PtxOperandKind::reg || entry_.registers[operands[0].index].bits != 64) continue;
      if (!opcode.starts_with("ld") || opcode.starts_with("ld.param")) join(origins_[operands[0].index], found);
    }
  }

  const PtxFunction& entry_;
  std::vector<Origins> origins_;  ///< by register
  PointerUse use_;
  bool changed_ = false;
};

}  // namespace

PointerUse pointer_use(const PtxFunction& entry) { return Flow(entry).use(); }

bool share_in_place(const PointerUse& use, std::int32_t operands, std::span<XlaArgument> arguments) {
  std::vector<bool> taken(arguments.size());
  bool all = true;
  for (std::size_t r = static_cast<std::size_t>(operands); r < arguments.size(); ++r) {
    if (use.named[r]) continue;
    const ir::Shape& shape = arguments[r].shape;
    const auto fitting = [&](bool same_shape) {
      for (std::size_t k = 0; k < static_cast<std::size_t>(operands); ++k) {
        const ir::Shape& other = arguments[k].shape;
        const bool fits = same_shape ? other == shape : ir::bytes(other) == ir::bytes(shape);
        if (fits && use.stored[k] && !taken[k]) return static_cast<std::int32_t>(k);
      }
      return -1;
    };
    std::int32_t found = fitting(true);
    if (found < 0) found = fitting(false);
    arguments[r].shares = found;
    if (found >= 0) taken[static_cast<std::size_t>(found)] = true;
    all = all && found >= 0;
  }
  return all;
}

}  // namespace tailor::profiler
