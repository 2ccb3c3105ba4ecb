// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Ties the parts of a dump together: launches to fusion instructions, entries to PTX files, arguments to operands and
// results with their shapes, layouts and shared memory. In: the files of one module. Out: an XlaModule, in which every
// kernel that could not be tied says why.
#include "profiler/xla/xla_dump.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>

#include "base/compressed.h"
#include "base/error.h"
#include "base/stop.h"
#include "base/text.h"
#include "hlo/import.h"
#include "profiler/xla/xla_buffer_assignment.h"
#include "profiler/xla/xla_schedule.h"

namespace tailor::profiler {

namespace {

/// Entry -> the file that holds it, without parsing PTX: a declaration starts with ".entry NAME(".
std::map<std::string, std::filesystem::path> entries_of(const XlaSource& source) {
  std::map<std::string, std::filesystem::path> entries;
  constexpr std::string_view word = ".entry ";
  for (const std::filesystem::path& file : source.ptx) {
    const std::string content = read_file(file);
    for (std::size_t at = content.find(word); at != content.npos; at = content.find(word, at + 1)) {
      const std::size_t first = at + word.size();
      const std::size_t last = content.find_first_of("( \t\n", first);
      entries.emplace(content.substr(first, last - first), file);
    }
  }
  return entries;
}

struct Leaf {
  std::string index;  ///< "" of an array, "1" or "1,0" of a tuple's
  ir::Shape shape;
};

void flatten(const hlo::HloModule& module, const hlo::HloType& type, const std::string& index,
             std::vector<Leaf>& leaves) {
  if (type.children < 0) return leaves.push_back({index, module.shapes_of(type)[0]});
  for (std::int32_t i = 0; i < type.children; ++i)
    flatten(module, module.child(type, i), fmt::format("{}{}{}", index, index.empty() ? "" : ",", i), leaves);
}

std::vector<Leaf> leaves_of(const hlo::HloModule& module, const hlo::HloInstruction& instruction) {
  std::vector<Leaf> leaves;
  flatten(module, module.type_of(instruction), "", leaves);
  return leaves;
}

std::string argument_name(std::string_view instruction, const std::string& index) {
  return index.empty() ? std::string(instruction) : fmt::format("{}{{{}}}", instruction, index);
}

/// Instructions of the computation that holds `one`: operands are resolved within it.
IndexedSpan<const hlo::HloInstruction> home_of(const hlo::HloModule& module, const hlo::HloInstruction& one) {
  const auto at = static_cast<std::int32_t>(&one - module.instructions.data());
  const auto home = std::find_if(module.computations.begin(), module.computations.end(),
                                 [at](const auto& c) { return at >= c.first && at < c.first + c.count; });
  return module.instructions_of(*home);
}

const hlo::HloInstruction& operand_of(const hlo::HloModule& module, IndexedSpan<const hlo::HloInstruction> home,
                                      const hlo::HloInstruction& user, std::int32_t number) {
  const hlo::HloOperand& operand = module.operands_of(user)[number];
  return home[operand.instruction];
}

/// Whose bytes result `index` of an instruction is, seen through what moves none.
std::string value_of(const hlo::HloModule& module, IndexedSpan<const hlo::HloInstruction> home,
                     const hlo::HloInstruction& start, std::string index) {
  const hlo::HloInstruction* one = &start;
  while (one->operands > 0) {
    std::int32_t number = 0;
    if (one->op == ir::Op::get_tuple_element) {
      index = std::string(module.attribute(*one, "index")) + (index.empty() ? "" : ",") + index;
    } else if (one->op == ir::Op::tuple && !index.empty()) {
      const std::size_t comma = std::min(index.find(','), index.size());
      std::from_chars(index.data(), index.data() + comma, number);
      index.erase(0, comma + 1);
      if (number >= one->operands) break;
    } else if (one->op != ir::Op::bitcast) {
      break;
    }
    one = &operand_of(module, home, *one, number);
  }
  return argument_name(one->name, index);
}

/// The constant that an operand is, seen through bitcasts, as an index into the module's instructions; -1: none.
std::int32_t constant_of(const hlo::HloModule& module, IndexedSpan<const hlo::HloInstruction> home,
                         const hlo::HloInstruction& start) {
  const hlo::HloInstruction* one = &start;
  while (one->op == ir::Op::bitcast && one->operands > 0) one = &operand_of(module, home, *one, 0);
  return one->op == ir::Op::constant ? static_cast<std::int32_t>(one - module.instructions.data()) : -1;
}

/// Operands in order, then results in order, tuples flattened: what XLA passes to a fusion's kernel.
struct Bound {
  std::vector<XlaArgument> arguments;
  std::int32_t operands = 0;
  bool assignment_known = false;
};

Bound arguments_of(const hlo::HloModule& module, const XlaBufferAssignment& assignment,
                   const hlo::HloInstruction& fusion) {
  Bound bound;
  const IndexedSpan<const hlo::HloInstruction> home = home_of(module, fusion);
  const auto add = [&](const hlo::HloInstruction& of, const Leaf& leaf, const XlaBufferAssignment::Slice* place) {
    XlaArgument argument;
    argument.name = argument_name(of.name, leaf.index);
    argument.shape = leaf.shape;
    argument.value = value_of(module, home, of, leaf.index);
    argument.constant = constant_of(module, home, of);
    if (place != nullptr) {
      argument.allocation = place->allocation;
      argument.offset = place->offset;
      const auto same = std::find_if(bound.arguments.begin(), bound.arguments.end(), [&](const XlaArgument& known) {
        return known.allocation == argument.allocation && known.offset == argument.offset;
      });
      if (same != bound.arguments.end()) argument.shares = static_cast<std::int32_t>(same - bound.arguments.begin());
    }
    bound.arguments.push_back(std::move(argument));
  };
  for (std::int32_t i = 0; i < fusion.operands; ++i) {
    const hlo::HloInstruction& operand = operand_of(module, home, fusion, i);
    for (const Leaf& leaf : leaves_of(module, operand))
      add(operand, leaf, assignment.operand(fusion.name, i, leaf.index));
  }
  bound.operands = static_cast<std::int32_t>(bound.arguments.size());
  for (const Leaf& leaf : leaves_of(module, fusion)) add(fusion, leaf, assignment.result(fusion.name, leaf.index));
  bound.assignment_known = std::none_of(bound.arguments.begin() + bound.operands, bound.arguments.end(),
                                        [](const XlaArgument& result) { return result.allocation < 0; });
  return bound;
}

/// The kind of a fusion, with the name of its emitter when it has one of its own.
std::string kind_of(const hlo::HloModule& module, const hlo::HloInstruction& fusion) {
  std::string kind(module.attribute(fusion, "kind"));
  constexpr std::string_view mark = "\"fusion_backend_config\":{\"kind\":\"";
  const std::string_view config = module.attribute(fusion, "backend_config");
  const std::size_t at = config.find(mark);
  if (at == config.npos) return kind;
  const std::size_t first = at + mark.size();
  return kind + " " + std::string(config.substr(first, config.find('"', first) - first));
}

XlaKernel bound(const XlaModule& module, const XlaSchedule& schedule, const XlaBufferAssignment& assignment,
                const XlaLaunch& launch) {
  XlaKernel kernel;
  kernel.entry = launch.entry;
  kernel.launch = launch;
  kernel.reason = launch.fault;
  if (!kernel.reason.empty()) return kernel;
  const std::string_view name =
      launch.instruction.empty() ? schedule.named_like(launch.entry) : std::string_view(launch.instruction);
  const XlaScheduled* place = schedule.find(name);
  if (name.empty() || place == nullptr) {
    kernel.reason = name.empty() ? fmt::format("not found: which instruction launches '{}'", launch.entry)
                                 : fmt::format("not found: instruction '{}' in the optimised module", name);
    return kernel;
  }
  const hlo::HloInstruction& fusion = *place->instruction;
  if (fusion.op != ir::Op::fusion) {
    kernel.reason = fmt::format("not bound: '{}' is a '{}', expected a fusion", name, fusion.opcode);
    return kernel;
  }
  kernel.kind = kind_of(module.hlo, fusion);
  kernel.computation = module.hlo.attribute(fusion, "calls");
  if (kernel.computation.starts_with('%')) kernel.computation.erase(0, 1);
  Bound bound = arguments_of(module.hlo, assignment, fusion);
  kernel.arguments = std::move(bound.arguments);
  kernel.operands = bound.operands;
  kernel.assignment_known = bound.assignment_known;
  return kernel;
}

/// A launch at its own place.
XlaStep step_of(const XlaModule& module, const XlaSchedule& schedule, const XlaBufferAssignment& assignment,
                const XlaLaunch& launch, std::size_t number) {
  XlaStep step{static_cast<std::int32_t>(number), launch.instruction, {}, false, {}};
  const XlaKernel& kernel = module.kernels[number];
  if (step.instruction.empty()) step.instruction = schedule.named_like(launch.entry);
  const XlaScheduled* place = schedule.find(step.instruction);
  if (place == nullptr || !kernel.reason.empty()) return step;
  step.loops = place->loops;
  Bound bound = arguments_of(module.hlo, assignment, *place->instruction);
  if (bound.arguments.size() != kernel.arguments.size()) return step;
  step.arguments = std::move(bound.arguments);
  step.assignment_known = bound.assignment_known;
  return step;
}

void count_other(XlaModule& module, const XlaLaunch& launch, double times) {
  auto other = std::find_if(module.others.begin(), module.others.end(),
                            [&](const XlaOther& known) { return known.thunk == launch.thunk; });
  if (other == module.others.end()) other = module.others.insert(other, {launch.thunk, 0, 0});
  ++other->launches;
  other->times += times;
}

}  // namespace

XlaModule read_xla(const XlaSource& source, const std::stop_token& stop) {
  XlaModule module;
  module.source = source;
  module.text = std::make_shared<const std::string>(read_unpacked(source.hlo.string()));
  module.hlo = hlo::parse_module(*module.text, source.name, stop);
  const std::vector<XlaLaunch> launches = read_launches(source);
  auto entries = entries_of(source);
  const XlaSchedule schedule(module.hlo);
  const XlaBufferAssignment assignment(source);
  std::map<std::string, std::size_t, std::less<>> known;
  for (const XlaLaunch& launch : launches) {
    stop_if_asked(stop);
    const XlaScheduled* place = schedule.find(launch.instruction);
    const double times = place != nullptr ? place->times : 1;
    if (launch.entry.empty()) {
      count_other(module, launch, times);
      continue;
    }
    const auto [at, fresh] = known.emplace(launch.entry, module.kernels.size());
    if (fresh) module.kernels.push_back(bound(module, schedule, assignment, launch));
    module.steps.push_back(step_of(module, schedule, assignment, launch, at->second));
    XlaKernel& kernel = module.kernels[at->second];
    kernel.call_sites.push_back(launch.instruction.empty() ? launch.entry : launch.instruction);
    kernel.times += times;
  }
  for (XlaKernel& kernel : module.kernels) {
    const auto found = entries.find(kernel.entry);
    if (found != entries.end())
      kernel.ptx = found->second;
    else if (kernel.reason.empty())
      kernel.reason = fmt::format("not found: PTX with the entry '{}'", kernel.entry);
  }
  for (const auto& [entry, file] : entries)
    if (known.find(entry) == known.end()) module.unused_entries.push_back(entry);
  std::sort(module.others.begin(), module.others.end(),
            [](const XlaOther& a, const XlaOther& b) { return a.thunk < b.thunk; });
  return module;
}

}  // namespace tailor::profiler
