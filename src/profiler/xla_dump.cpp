// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Ties the parts of a dump together: launches to fusion instructions, entries to PTX files, arguments to operands and
// results with their shapes, layouts and shared memory. How often an instruction runs is read off the module: bodies of
// loops count by their trip counts, both branches of a conditional count as taken.
#include "profiler/xla_dump.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>

#include "base/error.h"
#include "base/text.h"
#include "ir/import.h"
#include "profiler/xla_places.h"

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

struct Place {
  const ir::HloInstruction* instruction = nullptr;
  double times = 0;
};

/// Every instruction outside fusions by name, with how often one run of the module executes it.
class Schedule {
 public:
  explicit Schedule(const ir::HloModule& module) : module_(module) {
    if (module.entry >= 0) visit(module.computations[static_cast<std::size_t>(module.entry)], 1, 0);
  }
  const Place* find(std::string_view name) const {
    const auto found = places_.find(name);
    return found == places_.end() ? nullptr : &found->second;
  }
  /// The fusion whose name, with every sign that PTX has no use for replaced, is the entry's.
  std::string_view named_like(std::string_view entry) const {
    for (const auto& [name, place] : places_) {
      std::string plain(name);
      for (char& c : plain)
        if (c == '.' || c == '-') c = '_';
      if (plain == entry && place.instruction->op == ir::Op::fusion) return name;
    }
    return {};
  }

 private:
  void visit(const ir::HloComputation& computation, double times, int depth) {
    if (depth > 100) return;  // a cycle: the importer says so when it meets one
    for (const ir::HloInstruction& instruction : module_.instructions_of(computation)) {
      Place& place = places_[instruction.name];
      place.instruction = &instruction;
      place.times += times;
      if (instruction.op == ir::Op::fusion) continue;
      const double inner = instruction.op == ir::Op::while_loop ? times * trips(instruction) : times;
      for (const ir::HloAttribute& attribute : module_.attributes_of(instruction))
        if (called_keys.find(attribute.key) != called_keys.npos && runs_by_itself(instruction))
          visit_all(attribute.value, inner, depth + 1);
    }
  }

  /// Not the regions of reductions, sorts and scatters: they are part of a kernel.
  static bool runs_by_itself(const ir::HloInstruction& instruction) {
    return instruction.op == ir::Op::while_loop || instruction.op == ir::Op::conditional ||
           instruction.op == ir::Op::call || instruction.op == ir::Op::async_start;
  }

  void visit_all(std::string_view names, double times, int depth) {
    if (names.starts_with('{')) names = names.substr(1, names.size() - 2);
    for (const std::string_view name : split(names, ',')) {
      const std::int32_t index = module_.computation_named(trim(name));
      if (index >= 0) visit(module_.computations[static_cast<std::size_t>(index)], times, depth);
    }
  }

  /// Of a loop, from what XLA found; 1 when it found nothing.
  double trips(const ir::HloInstruction& loop) const {
    constexpr std::string_view mark = "\"known_trip_count\":{\"n\":\"";
    const std::string_view config = module_.attribute(loop, "backend_config");
    const std::size_t at = config.find(mark);
    std::int64_t count = 1;
    if (at != config.npos) std::from_chars(config.data() + at + mark.size(), config.data() + config.size(), count);
    return static_cast<double>(count);
  }

  static constexpr std::string_view called_keys =
      " calls body condition to_apply branch_computations true_computation false_computation ";
  const ir::HloModule& module_;
  std::map<std::string_view, Place> places_;
};

struct Leaf {
  std::string index;  ///< "" of an array, "1" or "1,0" of a tuple's
  ir::Shape shape;
};

void flatten(const ir::HloModule& module, const ir::HloType& type, const std::string& index,
             std::vector<Leaf>& leaves) {
  if (type.children < 0) return leaves.push_back({index, module.shapes_of(type)[0]});
  for (std::int32_t i = 0; i < type.children; ++i)
    flatten(module, module.child(type, i), fmt::format("{}{}{}", index, index.empty() ? "" : ",", i), leaves);
}

std::vector<Leaf> leaves_of(const ir::HloModule& module, const ir::HloInstruction& instruction) {
  std::vector<Leaf> leaves;
  flatten(module, module.type_of(instruction), "", leaves);
  return leaves;
}

std::string argument_name(std::string_view instruction, const std::string& index) {
  return index.empty() ? std::string(instruction) : fmt::format("{}{{{}}}", instruction, index);
}

const ir::HloInstruction& operand_of(const ir::HloModule& module, const ir::HloInstruction& fusion,
                                     std::int32_t number) {
  // Operands are resolved within the computation that holds the fusion.
  const auto at = static_cast<std::int32_t>(&fusion - module.instructions.data());
  const auto home = std::find_if(module.computations.begin(), module.computations.end(),
                                 [at](const auto& c) { return at >= c.first && at < c.first + c.count; });
  const ir::HloOperand& operand = module.operands_of(fusion)[static_cast<std::size_t>(number)];
  return module.instructions_of(*home)[static_cast<std::size_t>(operand.instruction)];
}

/// Operands in order, then results in order, tuples flattened: what XLA passes to a fusion's kernel.
void bind_arguments(const ir::HloModule& module, const XlaPlaces& places, const ir::HloInstruction& fusion,
                    XlaKernel& kernel) {
  std::vector<const XlaPlaces::Place*> where;
  const auto share = [&](const XlaPlaces::Place* place) {
    std::int32_t shares = -1;
    for (std::size_t i = 0; shares < 0 && place != nullptr && i < where.size(); ++i)
      if (where[i] != nullptr && *where[i] == *place) shares = static_cast<std::int32_t>(i);
    where.push_back(place);
    return shares;
  };
  for (std::int32_t i = 0; i < fusion.operands; ++i) {
    const ir::HloInstruction& operand = operand_of(module, fusion, i);
    for (const Leaf& leaf : leaves_of(module, operand))
      kernel.arguments.push_back(
          {argument_name(operand.name, leaf.index), leaf.shape, share(places.operand(fusion.name, i, leaf.index))});
  }
  kernel.operands = static_cast<std::int32_t>(kernel.arguments.size());
  for (const Leaf& leaf : leaves_of(module, fusion))
    kernel.arguments.push_back(
        {argument_name(fusion.name, leaf.index), leaf.shape, share(places.result(fusion.name, leaf.index))});
  kernel.places_known =
      std::none_of(where.begin() + kernel.operands, where.end(), [](auto* p) { return p == nullptr; });
}

/// The kind of a fusion, with the name of its emitter when it has one of its own.
std::string kind_of(const ir::HloModule& module, const ir::HloInstruction& fusion) {
  std::string kind(module.attribute(fusion, "kind"));
  constexpr std::string_view mark = "\"fusion_backend_config\":{\"kind\":\"";
  const std::string_view config = module.attribute(fusion, "backend_config");
  const std::size_t at = config.find(mark);
  if (at == config.npos) return kind;
  const std::size_t first = at + mark.size();
  return kind + " " + std::string(config.substr(first, config.find('"', first) - first));
}

XlaKernel bound(const XlaModule& module, const Schedule& schedule, const XlaPlaces& places, const XlaLaunch& launch) {
  XlaKernel kernel;
  kernel.entry = launch.entry;
  kernel.launch = launch;
  const std::string_view name =
      launch.instruction.empty() ? schedule.named_like(launch.entry) : std::string_view(launch.instruction);
  const Place* place = schedule.find(name);
  if (name.empty() || place == nullptr) {
    kernel.problem = name.empty() ? fmt::format("not found: which instruction launches '{}'", launch.entry)
                                  : fmt::format("not found: instruction '{}' in the optimised module", name);
    return kernel;
  }
  const ir::HloInstruction& fusion = *place->instruction;
  if (fusion.op != ir::Op::fusion) {
    kernel.problem = fmt::format("not bound: '{}' is a '{}', expected a fusion", name, fusion.opcode);
    return kernel;
  }
  kernel.kind = kind_of(module.hlo, fusion);
  kernel.computation = module.hlo.attribute(fusion, "calls");
  if (kernel.computation.starts_with('%')) kernel.computation.erase(0, 1);
  bind_arguments(module.hlo, places, fusion, kernel);
  return kernel;
}

void count_other(XlaModule& module, const XlaLaunch& launch, double times) {
  auto other = std::find_if(module.others.begin(), module.others.end(),
                            [&](const XlaOther& known) { return known.thunk == launch.thunk; });
  if (other == module.others.end()) other = module.others.insert(other, {launch.thunk, 0, 0});
  ++other->places;
  other->times += times;
}

}  // namespace

XlaModule read_xla(const XlaSource& source) {
  XlaModule module;
  module.source = source;
  module.text = std::make_shared<const std::string>(ir::read_unpacked(source.hlo.string()));
  module.hlo = ir::parse_module(*module.text, source.name);
  const std::vector<XlaLaunch> launches = launches_of(source);
  auto entries = entries_of(source);
  const Schedule schedule(module.hlo);
  const XlaPlaces places(source);
  std::map<std::string, std::size_t, std::less<>> known;
  for (const XlaLaunch& launch : launches) {
    const Place* place = schedule.find(launch.instruction);
    const double times = place != nullptr ? place->times : 1;
    if (launch.entry.empty()) {
      count_other(module, launch, times);
      continue;
    }
    const auto [at, fresh] = known.emplace(launch.entry, module.kernels.size());
    if (fresh) module.kernels.push_back(bound(module, schedule, places, launch));
    XlaKernel& kernel = module.kernels[at->second];
    kernel.places.push_back(launch.instruction.empty() ? launch.entry : launch.instruction);
    kernel.times += times;
  }
  for (XlaKernel& kernel : module.kernels) {
    const auto found = entries.find(kernel.entry);
    if (found != entries.end())
      kernel.ptx = found->second;
    else if (kernel.problem.empty())
      kernel.problem = fmt::format("not found: PTX with the entry '{}'", kernel.entry);
  }
  for (const auto& [entry, file] : entries)
    if (known.find(entry) == known.end()) module.unused_entries.push_back(entry);
  std::sort(module.others.begin(), module.others.end(),
            [](const XlaOther& a, const XlaOther& b) { return a.thunk < b.thunk; });
  return module;
}

}  // namespace tailor::profiler
