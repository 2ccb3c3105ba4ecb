// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// A walk from the entry into what loops, conditionals and calls name. In: HLO computations. Out: instructions that run
// by themselves, each with the product of the trip counts around it. What is fused is not walked into: it runs as its
// fusion.
#include "profiler/xla/xla_schedule.h"

#include <charconv>
#include <string>

#include "base/text.h"

namespace tailor::profiler {

namespace {

constexpr std::string_view called_keys =
    " calls body condition to_apply branch_computations true_computation false_computation ";

/// Not the regions of reductions, sorts and scatters: they are part of a kernel.
bool runs_by_itself(const hlo::HloInstruction& instruction) {
  return instruction.op == ir::Op::while_loop || instruction.op == ir::Op::conditional ||
         instruction.op == ir::Op::call || instruction.op == ir::Op::async_start;
}

}  // namespace

XlaSchedule::XlaSchedule(const hlo::HloModule& module) : module_(module) {
  std::vector<XlaLoop> loops;
  if (module.entry >= 0) visit(module.computations[module.entry], 1, loops, 0);
}

const XlaScheduled* XlaSchedule::find(std::string_view name) const {
  const auto found = places_.find(name);
  return found == places_.end() ? nullptr : &found->second;
}

std::string_view XlaSchedule::named_like(std::string_view entry) const {
  for (const auto& [name, place] : places_) {
    std::string plain(name);
    for (char& c : plain)
      if (c == '.' || c == '-') c = '_';
    if (plain == entry && place.instruction->op == ir::Op::fusion) return name;
  }
  return {};
}

void XlaSchedule::visit(const hlo::HloComputation& computation, double times, std::vector<XlaLoop>& loops, int depth) {
  if (depth > 100) return;  // a cycle: the importer says so when it meets one
  for (const hlo::HloInstruction& instruction : module_.instructions_of(computation)) {
    XlaScheduled& place = places_[instruction.name];
    if (place.instruction == nullptr) place.loops = loops;
    place.instruction = &instruction;
    place.times += times;
    if (instruction.op == ir::Op::fusion) continue;
    const bool loop = instruction.op == ir::Op::while_loop;
    const double count = loop ? trips(instruction) : 1;
    if (loop) loops.push_back({instruction.name, count});
    for (const hlo::HloAttribute& attribute : module_.attributes_of(instruction))
      if (called_keys.find(attribute.key) != called_keys.npos && runs_by_itself(instruction))
        visit_all(attribute.value, times * count, loops, depth + 1);
    if (loop) loops.pop_back();
  }
}

void XlaSchedule::visit_all(std::string_view names, double times, std::vector<XlaLoop>& loops, int depth) {
  if (names.starts_with('{')) names = names.substr(1, names.size() - 2);
  for (const std::string_view name : split(names, ',')) {
    const std::int32_t index = module_.computation_named(trim(name));
    if (index >= 0) visit(module_.computations[index], times, loops, depth);
  }
}

/// Of a loop, from what XLA found; 1 when it found nothing.
double XlaSchedule::trips(const hlo::HloInstruction& loop) const {
  constexpr std::string_view mark = "\"known_trip_count\":{\"n\":\"";
  const std::string_view config = module_.attribute(loop, "backend_config");
  const std::size_t at = config.find(mark);
  std::int64_t count = 1;
  if (at != config.npos) std::from_chars(config.data() + at + mark.size(), config.data() + config.size(), count);
  return static_cast<double>(count);
}

}  // namespace tailor::profiler
