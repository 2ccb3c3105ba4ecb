// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Evaluates a model as a whole. In: a graph and words. Out: arrays with what was found of them, tables, files. The
// graph is evaluated once: values that groups read are made outputs of a copy, beside its own. What a group is to
// write, where a file says so, may be off from the file by what a right model may be off from the reference
// (reference/error_bound.h).
#include "study/module/evaluate_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <map>
#include <system_error>

#include "base/counted.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/stop.h"
#include "base/text.h"
#include "profiler/check/memory_need.h"
#include "reference/evaluate_cells.h"
#include "reference/inputs.h"
#include "study/tables/check_tables.h"
#include "study/tables/column.h"

namespace tailor::study {

namespace fs = std::filesystem;

namespace {

using reference::Tensor;
using report::Cell;
using report::Hint;

/// The place where a group is checked: one that writes a result, else the first of the graph itself.
struct CheckedPlace {
  std::size_t group = 0;
  const explore::Occurrence* at = nullptr;
};

std::vector<CheckedPlace> places_of(const ir::Graph& graph, const explore::Partition* partition) {
  std::vector<CheckedPlace> places;
  std::vector<bool> is_result(graph.nodes.size());
  for (const ir::NodeId node : graph.outputs) is_result[ir::index(node)] = true;
  for (std::size_t g = 0; partition != nullptr && g < partition->groups.size(); ++g) {
    const explore::Occurrence* chosen = nullptr;
    for (const explore::Occurrence& one : partition->groups[g].occurrences) {
      if (one.where != graph.name) continue;
      if (chosen == nullptr) chosen = &one;
      const bool writes_result = std::any_of(one.writes.begin(), one.writes.end(),
                                             [&](ir::NodeId node) { return is_result[ir::index(node)]; });
      if (!writes_result) continue;
      chosen = &one;
      break;
    }
    if (chosen != nullptr) places.push_back({g, chosen});
  }
  return places;
}

/// Outputs each once, constants of unknown contents as parameters behind the others. Ids stay.
struct Evaluable {
  ir::Graph graph;
  std::vector<ModelArray> inputs, results;
  std::vector<std::size_t> output_of;  ///< by node: its place among the outputs; none: it is no output

  static constexpr std::size_t none = static_cast<std::size_t>(-1);
  void add_output(ir::NodeId node) {
    if (output_of[ir::index(node)] != none) return;
    output_of[ir::index(node)] = graph.outputs.size();
    graph.outputs.push_back(node);
  }
};

Evaluable evaluable(const ir::Graph& graph) {
  Evaluable out{graph, {}, {}, std::vector(graph.nodes.size(), Evaluable::none)};
  for (const ir::NodeId node : ir::parameters(graph))
    out.inputs.push_back({{graph[node].name, graph[node].shape}, "parameter", {}});
  for (ir::Node& node : out.graph.nodes) {
    if (node.op != ir::Op::constant || ir::attributes_as<ir::Literal>(node).known) continue;
    node.op = ir::Op::parameter;
    node.attributes = ir::ParameterNumber{std::ssize(out.inputs)};
    out.inputs.push_back({{node.name, node.shape}, "constant", {}});
  }
  out.graph.outputs = {};
  for (const ir::NodeId node : graph.outputs) {
    out.add_output(node);
    out.results.push_back({{graph[node].name, graph[node].shape}, "result", {}, out.output_of[ir::index(node)]});
  }
  return out;
}

std::vector<ArrayName> names_of(const std::vector<ModelArray>& arrays) {
  std::vector<ArrayName> names;
  for (const ModelArray& one : arrays) names.push_back(one.is);
  return names;
}

void find_files(std::string_view option, const std::vector<std::string>& words, std::vector<ModelArray>& arrays) {
  const std::vector<fs::path> files = find_array_files(option, words, names_of(arrays));
  for (std::size_t i = 0; i < arrays.size(); ++i) arrays[i].file = files[i];
}

/// What a tuple holds several times is held against a file each time, the same one where there is one.
void repeat_files(std::vector<ModelArray>& results) {
  std::map<std::size_t, fs::path> by_output;
  for (const ModelArray& one : results)
    if (!one.file.empty()) by_output.emplace(one.output, one.file);
  for (ModelArray& one : results)
    if (const auto same = by_output.find(one.output); one.file.empty() && same != by_output.end())
      one.file = same->second;
}

void refuse_without_semantics(const ir::Graph& graph) {
  for (std::size_t i = 0; i < graph.nodes.size(); ++i)
    if (!reference::can_evaluate(graph, static_cast<ir::NodeId>(i)))
      throw Error(Fault::missing,
                  fmt::format("{}: the reference has no semantics for {} (%{})", graph.name,
                              ir::name(graph.nodes[i].op), graph.nodes[i].name),
                  "evaluate the part of the model that lies before it");
}

void refuse_too_large(const ir::Graph& graph, const EvaluateQuestion& question) {
  const std::int64_t needed = profiler::bytes_of_inputs(graph) + reference::bytes_to_evaluate(graph);
  const std::int64_t machine = free_memory();
  if (needed <= std::min(question.memory, machine)) return;
  throw Error(Fault::missing,
              fmt::format("evaluating {} needs {} of memory, {} are free for it", graph.name,
                          humane_bytes(static_cast<double>(needed)),
                          humane_bytes(static_cast<double>(std::min(question.memory, machine)))),
              needed <= machine ? fmt::format("--memory {:.0f} allows it", std::ceil(static_cast<double>(needed) / 1e9))
                                : "a machine with more memory, or a smaller model");
}

/// Files where there are, else what the uses of the parameter ask for (reference/inputs.h).
std::vector<Tensor> make_inputs(const ir::Graph& graph, const EvaluatedModel& model, double scale,
                                const std::stop_token& stop) {
  std::vector<Tensor> arrays;
  const std::vector<reference::InputRange> ranges = reference::input_ranges(graph);
  for (std::size_t i = 0; i < model.inputs.size(); ++i) {
    stop_if_asked(stop);
    const ModelArray& one = model.inputs[i];
    arrays.push_back(one.file.empty()
                         ? reference::input_tensor(one.is.shape, ranges[i], model.seed * 1'000'003 + i, stop)
                         : read_array(one.file, one.is, stop));
    if (one.file.empty() && scale != 1 && ir::is_floating(one.is.shape.dtype))
      reference::each_cell(
          arrays.back(), [&](std::int64_t, reference::Cell& cell) { cell.real *= scale; }, stop);
  }
  return arrays;
}

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

/// Of fewer elements a match says nothing of the result.
constexpr double least_judged = 0.1;

double judged_fraction(const reference::Difference& one) {
  const std::int64_t judged = one.elements - one.unjudged;
  return one.elements == 0 ? 1 : static_cast<double>(judged) / static_cast<double>(one.elements);
}

bool matches(const reference::Difference& one) {
  return one.wrong == 0 && (one.elements == 0 || (one.telling > 0 && judged_fraction(one) >= least_judged));
}

/// What the groups read and are to write, from the values of the outputs of the evaluated copy.
void fill_groups(const std::vector<CheckedPlace>& places, const Evaluable& whole,
                 const std::vector<reference::BoundedTensor>& values, EvaluatedModel& model) {
  for (const CheckedPlace& place : places) {
    profiler::GivenArrays arrays;
    for (const ir::NodeId node : place.at->reads)
      arrays.inputs.push_back(values[whole.output_of[ir::index(node)]].value);
    bool any = false;
    for (const ir::NodeId node : place.at->writes) {
      const std::size_t at = whole.output_of[ir::index(node)];  // none where only other groups read it
      // A file that is itself off says nothing of a kernel; the array's own row says that it differs.
      const bool is_held = at < model.held.size() && model.held[at] && matches(*model.held[at]);
      arrays.expected.emplace_back();
      if (is_held) arrays.expected.back() = reference::BoundedTensor{model.expected[at], values[at].error};
      any = any || is_held;
    }
    if (!any) arrays.expected.clear();
    model.groups.emplace(place.group, std::move(arrays));
  }
}

}  // namespace

EvaluatedModel evaluate_model(const ir::Graph& graph, const EvaluateQuestion& question, const std::stop_token& stop,
                              const explore::Partition* partition) {
  Evaluable whole = evaluable(graph);
  const std::size_t own = whole.graph.outputs.size();
  EvaluatedModel model;
  model.name = graph.name;
  model.seed = question.seed;
  model.inputs = std::move(whole.inputs);
  model.results = std::move(whole.results);
  find_files("--inputs", question.inputs, model.inputs);
  find_files("--expect", question.outputs, model.results);
  repeat_files(model.results);
  const std::vector<CheckedPlace> places = places_of(graph, partition);
  for (const CheckedPlace& place : places)
    for (const ir::NodeId node : place.at->reads) whole.add_output(node);
  refuse_without_semantics(whole.graph);
  refuse_too_large(whole.graph, question);
  for (const ModelArray& one : model.results)
    model.expected.push_back(one.file.empty() ? Tensor() : read_array(one.file, one.is, stop));
  model.given = make_inputs(whole.graph, model, question.scale, stop);
  const double started = now();
  const bool bounded = !question.outputs.empty();
  if (bounded)
    // Whoever wrote the file may have rounded sums of 16 bits at every step, as XLA does.
    model.computed = reference::evaluate_with_error_bounds(whole.graph, model.given, {.narrow_sums = true}, stop);
  else
    for (Tensor& value : reference::evaluate(whole.graph, model.given, stop))
      model.computed.push_back({std::move(value), {}});
  model.took.value = now() - started;
  for (std::size_t i = 0; i < model.results.size(); ++i)
    model.held.push_back(model.results[i].file.empty()
                             ? std::nullopt
                             : std::optional(reference::compare(model.computed[model.results[i].output],
                                                                model.expected[i].bytes, {}, stop)));
  fill_groups(places, whole, model.computed, model);
  model.computed.resize(own);
  return model;
}

namespace {

/// Of the elements that are numbers.
struct Extent {
  double least = std::numeric_limits<double>::infinity(), most = -std::numeric_limits<double>::infinity(), sum = 0;
  std::int64_t finite = 0, not_finite = 0;
};

std::optional<Extent> extent_of(const Tensor& tensor, const std::stop_token& stop) {
  if (!reference::has_cells(tensor.shape.dtype)) return {};
  Extent found;
  const auto look = [&](std::int64_t, double value) {
    if (!std::isfinite(value)) {
      ++found.not_finite;
      return;
    }
    ++found.finite;
    found.least = std::min(found.least, value);
    found.most = std::max(found.most, value);
    found.sum += value;
  };
  reference::each_real(tensor, look, stop);
  return found;
}

std::string_view outcome_of(const reference::Difference& one) {
  return one.wrong > 0 ? "differs" : matches(one) ? "matches" : "not judged";
}

/// Why a result differs, or why elements of it have not been judged.
std::string reason_of(const reference::Difference& one, const reference::BoundedTensor& computed) {
  if (one.wrong > 0) return reference::describe(one, computed.value.shape);
  if (one.unjudged > 0)
    return fmt::format("{} {} no bound: {}", counted(one.unjudged, "element"), one.unjudged == 1 ? "has" : "have",
                       why_unbounded(computed));
  return one.elements > 0 && one.telling == 0 ? "the reference holds no number" : "";
}

std::vector<Cell> array_row(const ModelArray& one, std::size_t number, const Tensor& tensor, std::string filled_by,
                            const std::stop_token& stop) {
  const std::optional<Extent> extent = extent_of(tensor, stop);
  const bool any = extent && extent->finite > 0;
  return {static_cast<std::int64_t>(number),
          one.is.name,
          one.use,
          ir::text(one.is.shape),
          std::move(filled_by),
          any ? Cell(extent->least) : Cell(),
          any ? Cell(extent->sum / static_cast<double>(extent->finite)) : Cell(),
          any ? Cell(extent->most) : Cell(),
          extent ? Cell(extent->not_finite) : Cell(),
          short_hex(id_of(std::span<const std::byte>(tensor.bytes)))};
}

}  // namespace

report::Table array_table(const EvaluatedModel& model, const std::stop_token& stop, bool with_inputs) {
  report::Table table;
  table.columns = {column("array_number", "#", Hint::integer),
                   column("array", "array"),
                   column("array_use", "use", Hint::text, with_inputs ? 0 : 3),
                   column("type", "type"),
                   column("filled_by", "from", Hint::text, 3),
                   column("least", "least", Hint::number),
                   column("mean", "mean", Hint::number),
                   column("most", "most", Hint::number),
                   column("not_finite", "no number", Hint::count, 1),
                   column("digest", "digest")};
  const bool any = std::any_of(model.held.begin(), model.held.end(), [](const auto& one) { return one.has_value(); });
  if (any)
    table.columns.insert(table.columns.end(),
                         {column("outcome", "outcome"), column("worst", "worst error / tolerance", Hint::number),
                          column("wrong", "wrong", Hint::count), column("unjudged", "not judged", Hint::count, 4),
                          column("judged", "judged", Hint::fraction), column("file", "held against", Hint::text, 5),
                          sentence("reason", "reason")});
  for (std::size_t i = 0; with_inputs && i < model.inputs.size(); ++i) {
    const fs::path& file = model.inputs[i].file;
    table.rows.push_back(array_row(model.inputs[i], i, model.given[i],
                                   file.empty() ? fmt::format("seed {}", model.seed) : file.string(), stop));
    table.rows.back().resize(table.columns.size());
  }
  for (std::size_t i = 0; i < model.results.size(); ++i) {
    const reference::BoundedTensor& computed = model.computed[model.results[i].output];
    table.rows.push_back(array_row(model.results[i], i, computed.value, "reference", stop));
    std::vector<Cell>& row = table.rows.back();
    const std::optional<reference::Difference>& held = model.held[i];
    if (held)
      row.insert(row.end(), {Cell(std::string(outcome_of(*held))), Cell(held->worst), Cell(held->wrong),
                             Cell(held->unjudged), Cell(judged_fraction(*held)), Cell(model.results[i].file.string()),
                             Cell(reason_of(*held, computed))});
    row.resize(table.columns.size());
  }
  return table;
}

std::string text_of_inputs(const EvaluatedModel& model) {
  std::int64_t read = 0, constants = 0;
  double bytes = 0;
  for (std::size_t i = 0; i < model.inputs.size(); ++i) {
    read += model.inputs[i].file.empty() ? 0 : 1;
    constants += model.inputs[i].use == "constant" ? 1 : 0;
    bytes += static_cast<double>(model.given[i].bytes.size());
  }
  const std::int64_t all = std::ssize(model.inputs), drawn = all - read;
  std::string words = fmt::format("{} of {}", counted(all, "input"), humane_bytes(bytes));
  if (read > 0) words += drawn > 0 ? fmt::format(", {} read from files", read) : ", read from files";
  if (drawn > 0)
    words += read > 0 ? fmt::format(", {} drawn by seed {}", drawn, model.seed)
                      : fmt::format(", drawn by seed {}", model.seed);
  if (constants > 0) words += fmt::format(", {} of them constants that the file leaves out", constants);
  return words;
}

std::string text_of_overflow(const EvaluatedModel& model, const std::stop_token& stop) {
  const bool drawn = std::any_of(model.inputs.begin(), model.inputs.end(), [](const ModelArray& one) {
    return one.file.empty() && ir::is_floating(one.is.shape.dtype);
  });
  for (std::size_t i = 0; drawn && i < model.results.size(); ++i) {
    const std::optional<Extent> extent = extent_of(model.computed[model.results[i].output].value, stop);
    if (extent && extent->finite == 0 && extent->not_finite > 0)
      return fmt::format(
          "result {} holds no number: the inputs that were drawn are too large for it; --scale 0.05 draws smaller "
          "ones, "
          "--inputs brings your own",
          model.results[i].is.name);
  }
  return {};
}

namespace {

struct HeldCounts {
  std::int64_t all = 0, match = 0, differ = 0;
  std::int64_t in_part = 0;  ///< of those that match: elements without a bound were left out
  double least = 1;          ///< judged of one of these
};

HeldCounts count_held(const EvaluatedModel& model) {
  HeldCounts counts;
  for (const std::optional<reference::Difference>& one : model.held) {
    if (!one) continue;
    ++counts.all;
    counts.match += matches(*one) ? 1 : 0;
    counts.differ += one->wrong > 0 ? 1 : 0;
    if (!matches(*one) || one->unjudged == 0) continue;
    ++counts.in_part;
    counts.least = std::min(counts.least, judged_fraction(*one));
  }
  return counts;
}

}  // namespace

std::string text_of_held(const EvaluatedModel& model) {
  const HeldCounts counts = count_held(model);
  if (counts.all == 0) return {};
  const std::int64_t unjudged = counts.all - counts.match - counts.differ;
  const std::string in_part = counts.in_part == 0
                                  ? ""
                                  : fmt::format(", {} of them judged in part ({}{} of its elements)", counts.in_part,
                                                counts.in_part == 1 ? "" : "the least ", judged_words(counts.least));
  return fmt::format(
      "{} of {} {} the reference{}{}{}", counts.match, counted(counts.all, "result"),
      counts.match == 1 || counts.all == 1 ? "matches" : "match", in_part,
      counts.differ > 0 ? fmt::format(", {} differ{}", counts.differ, counts.differ == 1 ? "s" : "") : "",
      unjudged > 0 ? fmt::format(", {} cannot be judged", unjudged) : "");
}

std::optional<Error> fault_of(const EvaluatedModel& model) {
  const HeldCounts counts = count_held(model);
  if (counts.match == counts.all) return {};
  return Error(counts.differ > 0 ? Fault::failed : Fault::missing, text_of_held(model),
               "the answer says which and by how much");
}

std::int64_t write_arrays(const EvaluatedModel& model, const fs::path& folder, const std::stop_token& stop) {
  std::int64_t written = 0;
  const auto write = [&](const char* kind, const ModelArray& one, const Tensor& tensor) {
    stop_if_asked(stop);
    const fs::path path = folder / kind / (array_stem(one.is.name) + ".npy");
    std::error_code absent;
    if (one.use != "result" && !one.file.empty() && fs::equivalent(path, one.file, absent)) return;
    write_file(path, array_text(tensor, stop));
    ++written;
  };
  std::error_code fault;
  for (const char* kind : {"inputs", "outputs"})
    if (fs::create_directories(folder / kind, fault); fault)
      throw Error(Fault::failed, Position{(folder / kind).string()},
                  fmt::format("cannot make the folder: {}", fault.message()));
  for (std::size_t i = 0; i < model.inputs.size(); ++i) write("inputs", model.inputs[i], model.given[i]);
  std::vector<bool> is_written(model.computed.size());
  for (const ModelArray& one : model.results)
    if (!is_written[one.output]) {
      write("outputs", one, model.computed[one.output].value);
      is_written[one.output] = true;
    }
  return written;
}

}  // namespace tailor::study
