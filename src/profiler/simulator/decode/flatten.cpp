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
// assertion, which is a trap; the decoder tells them apart.
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
    if (callee == nullptr) return refuse(one, "a call through a pointer"), false;
    if (one.guard != PtxOperand::no_index) return refuse(one, "a guarded call"), false;
    if (!callee->defined) return false;  // printf and the failed assertion are told apart by the decoder
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
};

}  // namespace

Flat flatten(const PtxModule& module, const PtxFunction& entry) {
  Flattener work{module, {}, {}};
  const std::uint32_t first = work.instance_of(entry);
  work.body(first, true);
  return std::move(work.flat);
}

}  // namespace tailor::simulator
