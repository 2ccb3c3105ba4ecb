// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Two sources say that a result may take over the memory of a parameter.
//
// A module's header may list pairs: `input_output_alias={ {0}: (17, {}, may-alias), {1,2}: (0, {1}, must-alias) }` says
// that element 0 of the result shares memory with parameter 17. An array inside a tuple is named by the path to it;
// here both sides become numbers of flattened arrays, as the graph has them.
//
// A loop's state lies in one place for all turns (XLA's buffer assignment makes it so, and copies where it must), so
// output k of a body may be written over parameter k. A body that a conditional calls too has no such place.
//
// Whether a kernel may make use of it depends on who else reads the parameter; that is the border's question
// (ir/fusion.h).
#include "hlo/in_place.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>

namespace tailor::hlo {

namespace {

using Path = std::vector<std::int64_t>;

/// One pair as it is printed.
struct Alias {
  Path output;
  std::int64_t parameter = 0;
  Path part;
};

class AliasReader {
 public:
  explicit AliasReader(std::string_view text) : text_(text) {}

  /// Nothing when the text is no list of pairs.
  std::optional<std::vector<Alias>> list() {
    std::vector<Alias> all;
    if (!accept('{')) return std::nullopt;
    while (!accept('}')) {
      Alias alias;
      if (!all.empty() && !accept(',')) return std::nullopt;
      if (!path(alias.output) || !accept(':') || !accept('(') || !number(alias.parameter) || !accept(',') ||
          !path(alias.part))
        return std::nullopt;
      const std::size_t end = text_.find(')', at_);
      if (end == text_.npos) return std::nullopt;
      at_ = end + 1;
      all.push_back(std::move(alias));
    }
    return all;
  }

 private:
  bool accept(char c) {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n')) ++at_;
    if (at_ == text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  bool number(std::int64_t& value) {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
    const auto [end, fault] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), value);
    if (fault != std::errc{} || value < 0) return false;
    at_ = static_cast<std::size_t>(end - text_.data());
    return true;
  }
  bool path(Path& out) {
    if (!accept('{')) return false;
    while (!accept('}')) {
      if (!out.empty() && !accept(',')) return false;
      if (!number(out.emplace_back())) return false;
    }
    return true;
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

/// The number, among the arrays of `type`, of the array that the path leads to.
std::optional<std::int64_t> array_number(const HloModule& module, const HloType& type, const Path& path) {
  const HloType* at = &type;
  for (const std::int64_t step : path) {
    if (step >= at->children) return std::nullopt;
    at = &module.child(*at, static_cast<std::int32_t>(step));
  }
  if (at->children >= 0) return std::nullopt;
  return at->first_shape - type.first_shape;
}

/// The type of each parameter of the entry, by its number.
std::vector<const HloType*> parameter_types(const HloModule& module, const HloComputation& entry) {
  std::vector<const HloType*> types(static_cast<std::size_t>(entry.parameters), nullptr);
  for (const HloInstruction& instruction : module.instructions_of(entry)) {
    if (instruction.op != ir::Op::parameter) continue;
    std::size_t number = 0;
    std::from_chars(instruction.payload.data(), instruction.payload.data() + instruction.payload.size(), number);
    if (number < types.size()) types[number] = &module.type_of(instruction);
  }
  return types;
}

bool updates_a_part(const ir::Node& node) {
  return node.op == ir::Op::dynamic_update_slice || node.op == ir::Op::scatter;
}

/// What the list asks for, as far as it concerns updates and is sound.
void note(ir::Graph& graph, std::vector<ir::InPlace> pairs) {
  const std::vector<ir::NodeId> sources = parameters(graph);
  std::sort(pairs.begin(), pairs.end(), [](const ir::InPlace& a, const ir::InPlace& b) { return a.output < b.output; });
  std::vector<bool> taken(sources.size());
  std::int32_t last = -1;
  for (const ir::InPlace& pair : pairs) {
    if (pair.output <= last || ir::index(pair.output) >= graph.outputs.size() ||
        ir::index(pair.parameter) >= sources.size() || taken[ir::index(pair.parameter)])
      continue;
    const ir::Node& output = graph[graph.outputs[ir::index(pair.output)]];
    if (!updates_a_part(output) || output.shape != graph[sources[ir::index(pair.parameter)]].shape) continue;
    graph.in_place.push_back(pair);
    taken[ir::index(pair.parameter)] = true;
    last = pair.output;
  }
}

void note_entry(ir::Graph& graph, const HloModule& module, std::vector<std::string>& warnings) {
  if (module.input_output_alias.empty()) return;
  const std::optional<std::vector<Alias>> aliases = AliasReader(module.input_output_alias).list();
  if (!aliases) {
    warnings.emplace_back("input_output_alias is not understood: every result gets memory of its own");
    return;
  }
  const HloComputation& entry = module.computations[module.entry];
  const HloType& result = module.type_of(module.instructions_of(entry)[entry.root]);
  const std::vector<const HloType*> types = parameter_types(module, entry);
  const std::vector<ir::NodeId> sources = parameters(graph);
  std::vector<ir::InPlace> pairs;
  std::string first_wrong;
  std::size_t wrong = 0;
  const auto refuse = [&](const Alias& alias, std::string_view why) {
    if (++wrong == 1)
      first_wrong = fmt::format("{{{}}}: ({}, {{{}}}) {}", fmt::join(alias.output, ","), alias.parameter,
                                fmt::join(alias.part, ","), why);
  };
  for (const Alias& alias : *aliases) {
    if (alias.parameter >= std::ssize(types) || types[static_cast<std::size_t>(alias.parameter)] == nullptr) {
      refuse(alias, fmt::format("names a parameter of {}", types.size()));
      continue;
    }
    std::int64_t first = 0;
    for (std::int64_t before = 0; before < alias.parameter; ++before)
      if (types[static_cast<std::size_t>(before)] != nullptr) first += types[static_cast<std::size_t>(before)]->shapes;
    const auto output = array_number(module, result, alias.output);
    const auto part = array_number(module, *types[static_cast<std::size_t>(alias.parameter)], alias.part);
    if (!output || !part) {
      refuse(alias, fmt::format("leads to no array of the {}", output ? "parameter" : "result"));
      continue;
    }
    const ir::InPlace pair{static_cast<std::int32_t>(*output), static_cast<std::int32_t>(first + *part)};
    if (ir::index(pair.output) >= graph.outputs.size() || ir::index(pair.parameter) >= sources.size()) continue;
    const ir::Shape &to = graph[graph.outputs[ir::index(pair.output)]].shape,
                    &from = graph[sources[ir::index(pair.parameter)]].shape;
    if (to.dtype != from.dtype || to.dims != from.dims)
      refuse(alias, fmt::format("shares memory of {} with {}", text(from), text(to)));
    else
      pairs.push_back(pair);
  }
  if (wrong > 0)
    warnings.push_back(
        fmt::format("input_output_alias: {} of {} pairs cannot be, first {}; the results get memory of "
                    "their own",
                    wrong, aliases->size(), first_wrong));
  note(graph, std::move(pairs));
}

void note_loops(ir::Graph& graph) {
  std::vector<bool> turned(graph.bodies.size()), called(graph.bodies.size());
  for (const ir::Node& node : graph.nodes)
    for (std::size_t i = 0; i < node.bodies.size(); ++i)
      (node.op == ir::Op::while_loop && i == 1 ? turned : called)[ir::index(node.bodies[i])] = true;
  for (std::size_t b = 0; b < graph.bodies.size(); ++b) {
    ir::Graph& body = graph.bodies[b];
    note_loops(body);
    if (!turned[b] || called[b]) continue;
    std::vector<ir::InPlace> pairs;
    for (std::int32_t k = 0; k < std::ssize(body.outputs); ++k) pairs.push_back({k, k});
    note(body, std::move(pairs));
  }
}

}  // namespace

void find_in_place(ir::Graph& graph, const HloModule& module, std::vector<std::string>& warnings) {
  note_entry(graph, module, warnings);
  note_loops(graph);
}

}  // namespace tailor::hlo
