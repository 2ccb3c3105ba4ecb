// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Ties the parts of a dump together: launches to fusion instructions, entries to PTX files, arguments to operands and
// results with their shapes, layouts and shared memory (xla_arguments.h), copies and fills to the bytes they move
// (xla_transfers.h). In: the files of one module. Out: an XlaModule, in which every kernel, copy and fill that could
// not be tied says why.
#include "profiler/xla/xla_dump.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/compressed.h"
#include "base/error.h"
#include "base/stop.h"
#include "base/text.h"
#include "hlo/import.h"
#include "profiler/xla/xla_arguments.h"
#include "profiler/xla/xla_buffer_assignment.h"
#include "profiler/xla/xla_schedule.h"
#include "profiler/xla/xla_transfers.h"

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
  XlaBound bound = bound_arguments(module.hlo, assignment, fusion);
  kernel.arguments = std::move(bound.arguments);
  kernel.operands = bound.operands;
  kernel.assignment_known = bound.assignment_known;
  return kernel;
}

/// A launch at its own place.
XlaStep step_of(const XlaModule& module, const XlaSchedule& schedule, const XlaBufferAssignment& assignment,
                const XlaLaunch& launch, std::size_t number) {
  XlaStep step;
  step.kernel = static_cast<std::int32_t>(number);
  step.instruction = launch.instruction;
  const XlaKernel& kernel = module.kernels[number];
  if (step.instruction.empty()) step.instruction = schedule.named_like(launch.entry);
  const XlaScheduled* place = schedule.find(step.instruction);
  if (place == nullptr || !kernel.reason.empty()) return step;
  step.loops = place->loops;
  XlaBound bound = bound_arguments(module.hlo, assignment, *place->instruction);
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
    double times = place != nullptr ? place->times : 1;
    if (is_transfer(launch)) {
      XlaStep step = transfer_step(module.hlo, schedule, assignment, launch);
      for (const XlaLoop& loop : step.loops) times = place != nullptr ? times : times * loop.trips;
      module.steps.push_back(std::move(step));
    }
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
