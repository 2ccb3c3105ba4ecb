// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Calls inlined: one list of instructions in which every call was replaced by a copy of the function it names. In: a
// module and its entry. Out: the list, and for every copy its first register and where its parameters and local
// variables lie.
//
// The walk is recursive over calls. A copy gets registers of its own, numbered after all that exist. Its local
// variables and the .param variables of its callers get room in local memory, so an argument that is passed by a .param
// variable is an offset that both sides know. A return of a copy becomes a jump to the end of the copy; labels become
// positions in the list. Functions that are being inlined stand on a stack: one that occurs twice is recursion, which
// has no end here and cannot be simulated. Calls that stay in the list are printf, whose result is 0, and a failed
// assertion, which is a trap; the decoder tells them apart. A call through a pointer becomes a jump by the pointer to
// one of several copies: of each function whose address is taken somewhere and whose parameters are as long as the
// arguments.
#include "profiler/simulator/decode/flatten.h"

#include <algorithm>

#include "profiler/simulator/decode/align.h"

namespace tailor::simulator {
namespace {

constexpr std::size_t most_instructions = 4'000'000;

struct Flattener {
  const PtxModule& module;
  Flat flat;
  std::vector<const PtxFunction*> open;  ///< being inlined

  const PtxFunction* find(std::string_view name) const {
    const PtxFunction* declared = nullptr;
    for (const PtxFunction& one : module.functions)
      if (one.name == name) {
        if (one.defined) return &one;
        declared = &one;
      }
    return declared;
  }

  std::int64_t local_offset(const PtxVariable& variable) {
    flat.local_bytes = aligned(flat.local_bytes, std::max<std::int64_t>(variable.align, 8));
    const std::int64_t offset = flat.local_bytes;
    flat.local_bytes += variable.bytes;
    return offset;
  }

  std::uint32_t instance_of(const PtxFunction& function) {
    CallInstance made{&function, flat.registers, {}, {}};
    flat.registers += static_cast<std::uint32_t>(function.registers.size());
    for (const PtxVariable& variable : function.variables)
      made.variables.push_back(
          variable.space == PtxSpace::local || variable.space == PtxSpace::param ? local_offset(variable) : -1);
    flat.instances.push_back(std::move(made));
    return static_cast<std::uint32_t>(flat.instances.size() - 1);
  }

  std::uint32_t here() const { return static_cast<std::uint32_t>(flat.instructions.size()); }

  /// Appends a body. `after` collects returns that go to the end of it; the entry's returns stay instructions.
  void body(std::uint32_t instance, bool is_entry) {
    const PtxFunction& function = *flat.instances[instance].function;
    open.push_back(&function);
    std::vector<std::uint32_t> positions(function.instructions.size() + 1);
    std::vector<std::uint32_t> jumps, returns, tables;
    for (std::size_t i = 0; i < function.instructions.size(); ++i) {
      const PtxInstruction& one = function.instructions[i];
      positions[i] = here();
      const std::string_view op = one.opcode.substr(0, one.opcode.find('.'));
      if (op == "call" && call(instance, one)) continue;
      FlatInstruction next{&one, instance};
      if (op == "bra") jumps.push_back(here());
      if (op == "brx") tables.push_back(here());
      if (op == "ret" && !is_entry) returns.push_back(here());
      flat.instructions.push_back(next);
    }
    positions.back() = here();
    if (!is_entry || function.instructions.empty()) flat.instructions.push_back({nullptr, instance});
    finish(function, positions, jumps, tables);
    for (const std::uint32_t at : returns) flat.instructions[at].target = positions.back();
    open.pop_back();
  }

  void finish(const PtxFunction& function, const std::vector<std::uint32_t>& positions,
              const std::vector<std::uint32_t>& jumps, const std::vector<std::uint32_t>& tables) {
    for (const std::uint32_t at : jumps) {
      const PtxInstruction& one = *flat.instructions[at].ptx;
      if (one.count == 0) continue;
      const PtxOperand& label = function.operands[one.first + one.count - 1];
      if (label.kind == PtxOperandKind::label && label.index < positions.size())
        flat.instructions[at].target = positions[label.index];
    }
    for (const std::uint32_t at : tables) {
      const PtxInstruction& one = *flat.instructions[at].ptx;
      if (one.count < 2) continue;
      const std::string_view name = function.operands[one.first + 1].name;
      for (const PtxFunction::BranchTargets& row : function.branch_targets) {
        if (row.name != name) continue;
        std::vector<std::uint32_t> list;
        for (const std::uint32_t target : row.instructions) list.push_back(positions[target]);
        flat.instructions[at].targets = static_cast<std::uint32_t>(flat.targets.size());
        flat.instructions[at].target = list.empty() ? no_block : list[0];
        flat.targets.push_back(std::move(list));
        break;
      }
    }
  }

  void refuse(const PtxInstruction& one, std::string_view reason) {
    if (flat.unsupported.empty())
      flat.unsupported = std::string(one.opcode) + " (line " + std::to_string(one.line) + "): " + std::string(reason);
  }

  /// True when the call was replaced; false: it stays (a guarded one, or one that cannot be simulated).
  bool call(std::uint32_t instance, const PtxInstruction& one) {
    const PtxFunction& caller = *flat.instances[instance].function;
    const PtxFunction* callee = nullptr;
    std::vector<const PtxOperand*> lists;
    for (std::uint32_t k = 0; k < one.count; ++k) {
      const PtxOperand& operand = caller.operands[one.first + k];
      if (operand.kind == PtxOperandKind::function) callee = find(operand.name);
      if (operand.kind == PtxOperandKind::list) lists.push_back(&operand);
    }
    if (one.guard != PtxOperand::no_index) return refuse(one, "a guarded call"), false;
    if (callee == nullptr) return call_any(instance, one, lists), true;
    if (!callee->defined) return false;  // printf and the failed assertion are told apart by the decoder
    return call_one(instance, one, *callee, lists);
  }

  using Lists = std::vector<const PtxOperand*>;

  bool call_one(std::uint32_t instance, const PtxInstruction& one, const PtxFunction& function, const Lists& lists) {
    const PtxFunction& caller = *flat.instances[instance].function;
    const PtxFunction* const callee = &function;
    if (std::find(open.begin(), open.end(), callee) != open.end()) return refuse(one, "recursion"), false;
    if (flat.instructions.size() > most_instructions) return refuse(one, "too many calls to inline"), false;
    const std::uint32_t made = instance_of(*callee);
    const bool has_result = !callee->results.empty();
    const auto bind = [&](const std::vector<PtxVariable>& declared, const PtxOperand* list) {
      for (std::size_t k = 0; k < declared.size(); ++k) {
        std::int64_t offset = -1;
        if (list != nullptr && k < list->count) {
          const PtxOperand& given = caller.operands[list->index + k];
          const std::size_t named = caller.params.size() + caller.results.size();
          if (given.kind == PtxOperandKind::variable && given.index >= named) {
            const std::size_t variable = given.index - named;
            if (variable < flat.instances[instance].variables.size())
              offset = flat.instances[instance].variables[variable];
          }
        }
        if (offset < 0) refuse(one, "an argument that is not a .param variable");
        flat.instances[made].params.push_back(offset);
      }
    };
    bind(callee->params, lists.size() > (has_result ? 1u : 0u) ? lists.back() : nullptr);
    bind(callee->results, has_result && !lists.empty() ? lists.front() : nullptr);
    body(made, false);
    return true;
  }

  /// Whether arguments and results are as many and as long as the function's.
  bool fits(const PtxFunction& function, std::uint32_t instance, const Lists& lists) const {
    const PtxFunction& caller = *flat.instances[instance].function;
    const auto same = [&](const std::vector<PtxVariable>& declared, const PtxOperand* list) {
      if ((list == nullptr ? 0 : list->count) != declared.size()) return false;
      for (std::uint32_t k = 0; k < declared.size(); ++k) {
        const PtxOperand& given = caller.operands[list->index + k];
        if (given.kind != PtxOperandKind::variable || variable_of(module, caller, given).bytes != declared[k].bytes)
          return false;
      }
      return true;
    };
    const bool has_result = !function.results.empty();
    if (lists.size() > 2 || (has_result && lists.empty())) return false;
    return same(function.params, lists.size() > (has_result ? 1u : 0u) ? lists.back() : nullptr) &&
           (!has_result || same(function.results, lists.front()));
  }

  bool has_address_taken(std::string_view name) const {
    for (const PtxVariable& variable : module.variables)
      for (const PtxVariable::Address& address : variable.addresses)
        if (address.symbol == name) return true;
    for (const PtxFunction& function : module.functions)
      for (const PtxInstruction& one : function.instructions)
        for (std::uint32_t k = 0; k < one.count && one.opcode.starts_with("mov"); ++k) {
          const PtxOperand& operand = function.operands[one.first + k];
          if (operand.kind == PtxOperandKind::function && operand.name == name) return true;
        }
    return false;
  }

  /// A jump to one copy of many, which all jump to the end.
  void call_any(std::uint32_t instance, const PtxInstruction& one, const Lists& lists) {
    const std::uint32_t at = here();
    flat.instructions.push_back({&one, instance});
    std::vector<std::uint32_t> list(module.functions.size() + 1, here());
    flat.instructions.push_back({&one, instance});  // where no function is: a trap
    std::vector<std::uint32_t> jumps;
    for (std::size_t i = 0; i < module.functions.size(); ++i) {
      const PtxFunction& function = module.functions[i];
      if (!function.defined || function.entry || !fits(function, instance, lists) || !has_address_taken(function.name))
        continue;
      list[i] = here();
      flat.instructions.push_back({nullptr, instance});
      if (!call_one(instance, one, function, lists)) return;
      jumps.push_back(here());
      flat.instructions.push_back({nullptr, instance});
    }
    for (const std::uint32_t jump : jumps) flat.instructions[jump].target = here();
    flat.instructions.push_back({nullptr, instance});
    flat.instructions[at].target = list[0];
    flat.instructions[at].targets = static_cast<std::uint32_t>(flat.targets.size());
    flat.targets.push_back(std::move(list));
  }
};

}  // namespace

std::uint64_t function_address(const PtxModule& module, std::string_view name) {
  for (std::size_t i = 0; i < module.functions.size(); ++i)
    if (module.functions[i].name == name && module.functions[i].defined)
      return function_window + (i + 1) * function_bytes;
  return 0;
}

Flat flatten(const PtxModule& module, const PtxFunction& entry) {
  Flattener work{module, {}, {}};
  const std::uint32_t first = work.instance_of(entry);
  work.body(first, true);
  return std::move(work.flat);
}

}  // namespace tailor::simulator
