// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The check, from the module down to single operands. Members of groups are visited through the groups, so that an
// operand nobody can reach shows in the count at the end. Called by the tests of the PTX reader and by its fuzz
// target.
#include "support/ptx_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

namespace {

using namespace tailor::simulator;

class Check {
 public:
  explicit Check(const PtxModule& module) : module_(module) {}

  std::string broken_invariant() {
    for (const PtxVariable& variable : module_.variables) of_variable(variable);
    for (const PtxFunction& function : module_.functions) of_function(function);
    return problem_;
  }

 private:
  template <class... Values>
  void expect(bool holds, fmt::format_string<Values...> format, Values&&... values) {
    if (!holds && problem_.empty()) problem_ = fmt::format(format, std::forward<Values>(values)...);
  }

  bool own(std::string_view name) const {
    const std::less_equal<> before;
    const std::string& text = *module_.text;
    return !name.empty() && before(text.data(), name.data()) &&
           before(name.data() + name.size(), text.data() + text.size());
  }

  void of_variable(const PtxVariable& variable) {
    expect(own(variable.name), "variable '{}' does not view the text", variable.name);
    expect(variable.align > 0 && (variable.align & (variable.align - 1)) == 0, "'{}': alignment", variable.name);
    expect(variable.bytes >= 0 && variable.element_bytes > 0, "'{}': bytes", variable.name);
    expect(static_cast<std::int64_t>(variable.initial.size()) <= variable.bytes, "'{}': initial", variable.name);
    for (const PtxVariable::Address& address : variable.addresses) {
      expect(own(address.symbol), "'{}': symbol of an initial address", variable.name);
      expect(address.offset >= 0 && address.offset < static_cast<std::int64_t>(variable.initial.size()),
             "'{}': offset of an initial address", variable.name);
    }
  }

  void of_function(const PtxFunction& function) {
    function_ = &function;
    seen_ = 0;
    expect(own(function.name), "function '{}' does not view the text", function.name);
    for (const std::vector<PtxVariable>* part : {&function.params, &function.results, &function.variables})
      for (const PtxVariable& variable : *part) of_variable(variable);
    for (const PtxRegister& reg : function.registers) {
      expect(own(reg.name), "a register does not view the text");
      const int bits = reg.bits;
      expect(bits == 1 || bits == 8 || bits == 16 || bits == 32 || bits == 64 || bits == 128, "{}: {} bits", reg.name,
             bits);
    }
    std::uint32_t line = 0;
    for (const PtxInstruction& instruction : function.instructions) {
      expect(own(instruction.opcode), "line {}: opcode", instruction.line);
      expect(instruction.line >= line, "line {} after line {}", instruction.line, line);
      line = instruction.line;
      if (instruction.guard != PtxOperand::no_index)
        expect(instruction.guard < function.registers.size() && function.registers[instruction.guard].bits == 1,
               "line {}: guard", line);
      group(instruction.first, instruction.count, line, 0);
    }
    expect(seen_ == function.operands.size(), "'{}': {} operands of {} are used", function.name, seen_,
           function.operands.size());
    for (const PtxFunction::BranchTargets& targets : function.branch_targets) {
      expect(own(targets.name), "branch targets do not view the text");
      for (const std::uint32_t target : targets.instructions)
        expect(target <= function.instructions.size(), "'{}': a branch target is no instruction", targets.name);
    }
  }

  void group(std::uint32_t first, std::uint32_t count, std::uint32_t line, int depth) {
    const std::size_t all = function_->operands.size();
    expect(first <= all && count <= all - first, "line {}: operands {} to {} of {}", line, first, first + count, all);
    expect(depth < 10, "line {}: groups nest too deep", line);
    if (!problem_.empty()) return;
    seen_ += count;
    for (std::uint32_t i = first; i < first + count; ++i) of_operand(function_->operands[i], line, depth);
  }

  void of_operand(const PtxOperand& operand, std::uint32_t line, int depth) {
    const PtxFunction& function = *function_;
    const std::size_t variables =
        function.params.size() + function.results.size() + function.variables.size() + module_.variables.size();
    switch (operand.kind) {
      case PtxOperandKind::reg:
        return expect(operand.index < function.registers.size(), "line {}: register", line);
      case PtxOperandKind::address:
        return expect(operand.index == PtxOperand::no_index || operand.index < function.registers.size(),
                      "line {}: base of an address", line);
      case PtxOperandKind::variable:
        expect(operand.index < variables && variable_of(module_, function, operand).name == operand.name &&
                   variable_of(module_, function, operand).space == operand.space,
               "line {}: variable '{}'", line, operand.name);
        return;
      case PtxOperandKind::label:
        return expect(operand.index <= function.instructions.size() && own(operand.name), "line {}: label", line);
      case PtxOperandKind::vector:
      case PtxOperandKind::list:
        return group(operand.index, operand.count, line, depth + 1);
      case PtxOperandKind::pair:
        expect(operand.count == 2, "line {}: pair of {}", line, operand.count);
        return group(operand.index, operand.count, line, depth + 1);
      case PtxOperandKind::immediate:
        return expect(operand.real_bits == 0 || operand.real_bits == 32 || operand.real_bits == 64,
                      "line {}: immediate", line);
      case PtxOperandKind::special:
      case PtxOperandKind::function:
        return expect(own(operand.name), "line {}: name", line);
      case PtxOperandKind::discard:
        return;
    }
    expect(false, "line {}: kind", line);
  }

  const PtxModule& module_;
  const PtxFunction* function_ = nullptr;
  std::size_t seen_ = 0;
  std::string problem_;
};

}  // namespace

std::string broken_invariant(const tailor::simulator::PtxModule& module) { return Check(module).broken_invariant(); }
