// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Operands as slots. In: an operand of PTX and the type that the instruction gives it. Out: a slot. A register keeps
// its number until slots are given; an immediate, a parameter, an address or a special register becomes a slot of
// another bank. PTX allows a register wider or narrower than the instruction's type in places: then a conversion is put
// before or behind. Called by all families of the decoder.
#include <bit>

#include "profiler/simulator/decode/decoder.h"

namespace tailor::simulator {

namespace {

bool is_signed(LaneType type) {
  return type == LaneType::s8 || type == LaneType::s16 || type == LaneType::s32 || type == LaneType::s64;
}

}  // namespace

Slot Decoder::temporary(int bits) {
  register_slot_bits_.push_back(static_cast<std::uint8_t>(bits));
  return static_cast<Slot>(register_slot_bits_.size() - 1);
}

Slot Decoder::constant(LaunchConstant made) {
  for (const LaunchConstant& one : program_.constants) {
    LaunchConstant same = one;
    same.slot = no_slot;
    if (same == made) return one.slot;
  }
  made.slot = static_cast<std::uint32_t>(Bank::launch) << slot_bank_shift | program_.launch_bytes;
  program_.launch_bytes += made.slot_bits == 64 ? 256 : 128;
  program_.constants.push_back(made);
  return made.slot;
}

Slot Decoder::bits_constant(std::uint64_t value, int bits) {
  LaunchConstant made;
  made.slot_bits = static_cast<std::uint8_t>(bits == 64 ? 64 : 32);
  made.value = bits == 1 ? (value ? 0xffffffffu : 0) : bits == 64 ? value : value & 0xffffffffu;
  return constant(made);
}

std::uint64_t Decoder::immediate(const PtxOperand& operand, LaneType type) const {
  const auto raw = static_cast<std::uint64_t>(operand.value);
  const auto real = [&] {
    return operand.real_bits == 32 ? double{std::bit_cast<float>(static_cast<std::uint32_t>(raw))}
                                   : std::bit_cast<double>(raw);
  };
  switch (type) {
    case LaneType::f32:
      if (operand.real_bits == 64) return std::bit_cast<std::uint32_t>(static_cast<float>(real()));
      return raw & 0xffffffffu;
    case LaneType::f64:
      return operand.real_bits == 32 ? std::bit_cast<std::uint64_t>(real()) : raw;
    default:
      return raw;
  }
}

Slot Decoder::address_constant(const PtxOperand& operand, int bits) {
  const PtxVariable& variable = variable_of(module_, *current_.instance->function, operand);
  LaunchConstant made;
  made.kind = LaunchConstant::Kind::address;
  made.slot_bits = static_cast<std::uint8_t>(bits == 64 ? 64 : 32);
  made.value = static_cast<std::uint64_t>(operand.value);
  const PtxFunction& inside = *current_.instance->function;
  const std::size_t in_function = inside.params.size() + inside.results.size();
  if (variable.space == PtxSpace::local || (variable.space == PtxSpace::param && operand.index >= in_function)) {
    const std::int64_t offset = current_.instance->variables[operand.index - in_function];
    return bits_constant(static_cast<std::uint64_t>(offset + operand.value), bits);
  }
  if (variable.space == PtxSpace::param) {
    const bool entry = current_.instance == &flat_.instances[0];
    if (!entry) {
      const std::int64_t offset = current_.instance->params[operand.index];
      return bits_constant(static_cast<std::uint64_t>(offset + operand.value), bits);
    }
    made.value += static_cast<std::uint64_t>(program_.params[operand.index].offset);
    made.variable = 0;  // the parameter block
    return constant(made);
  }
  for (std::uint32_t k = 0; k < program_.variables.size(); ++k) {
    if (program_.variables[k].variable != &variable) continue;
    if (program_.variables[k].shared)
      return bits_constant(static_cast<std::uint64_t>(program_.variables[k].offset + operand.value), bits);
    made.variable = k;
    return constant(made);
  }
  unsupported("the variable " + std::string(variable.name) + " has no place");
  return bits_constant(0, bits);
}

int Decoder::register_bits(const PtxOperand& operand) const {
  const int bits = current_.instance->function->registers[operand.index].bits;
  return bits == 1 || bits == 64 ? bits : 32;
}

Slot Decoder::source(const PtxOperand& from, LaneType type) {
  const int bits = slot_bits(type);
  switch (from.kind) {
    case PtxOperandKind::reg: {
      if (current_.instance->function->registers[from.index].bits == 128) {
        unsupported("a 128-bit register");
        return bits_constant(0, bits);
      }
      const Slot slot = current_.instance->first_register + from.index;
      const int has = register_bits(from);
      if (from.negated) {
        if (has != 1) malformed("! before a register that is no predicate");
        const Slot opposite = temporary(1);
        emit(program_.lanes->negate_predicate, opposite, slot);
        return opposite;
      }
      if (has == bits) return slot;
      if (has == 1 || bits == 1)
        malformed("register " + std::string(current_.instance->function->registers[from.index].name) + " has " +
                  std::to_string(has) + " bits where the instruction takes " + std::to_string(bits));
      const Slot converted = temporary(bits);
      emit_row(has == 64 ? "cvt.u32.u64" : is_signed(type) ? "cvt.s64.s32" : "cvt.u64.u32", converted, slot);
      return converted;
    }
    case PtxOperandKind::immediate:
      return bits_constant(immediate(from, type), bits);
    case PtxOperandKind::variable:
      return address_constant(from, bits);
    case PtxOperandKind::function:
      return bits_constant(function_address(module_, from.name), bits);
    case PtxOperandKind::special: {
      const SpecialRegister* special = find_special(from.name);
      if (special == nullptr || special->kind == SpecialKind::live) {
        unsupported("the special register " + std::string(from.name));
        return bits_constant(0, bits);
      }
      Slot slot = special->index * 128;
      if (special->kind == SpecialKind::launch) {
        LaunchConstant made;
        made.kind = LaunchConstant::Kind::special;
        made.slot_bits = special->bits == 64 ? 64 : 32;
        made.special = special->index;
        slot = constant(made);
      } else {
        const Bank bank = special->kind == SpecialKind::block ? Bank::block : Bank::thread;
        slot |= static_cast<std::uint32_t>(bank) << slot_bank_shift;
      }
      if ((special->bits == 64) == (bits == 64)) return slot;
      const Slot converted = temporary(bits);
      emit_row(bits == 64 ? "cvt.u64.u32" : "cvt.u32.u64", converted, slot);
      return converted;
    }
    default:
      malformed("an operand of a kind this instruction does not take");
  }
}

Slot Decoder::destination(const PtxOperand& to, LaneType type) {
  const int bits = slot_bits(type);
  if (to.kind == PtxOperandKind::discard) return temporary(bits);
  if (to.kind != PtxOperandKind::reg) malformed("the result must go to a register");
  const int has = register_bits(to);
  const Slot slot = current_.instance->first_register + to.index;
  if (has == bits) return slot;
  if (has == 64 && bits == 32) {
    const Slot narrow = temporary(32);
    wide_results_.push_back({narrow, slot, is_signed(type)});
    return narrow;
  }
  malformed("the result has " + std::to_string(bits) + " bits and its register " + std::to_string(has));
}

/// After an instruction that ended its block, the next one begins with what is left to do.
void Decoder::finish_destinations() {
  if (wide_results_.empty()) return;
  if (!open_) open_block();
  for (const WideResult& one : wide_results_) emit_row(one.sign ? "cvt.s64.s32" : "cvt.u64.u32", one.wide, one.narrow);
  wide_results_.clear();
}

}  // namespace tailor::simulator
