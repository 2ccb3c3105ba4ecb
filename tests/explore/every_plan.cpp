// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Each plan of the space is lowered; equal kernels are looked at once. A kernel is verified, executed by the
// interpreter on seeded inputs, its outputs compared with the evaluator's within half the digits of their type, and
// the executed counts compared with exact and with fast counting; every element of an output is stored once. Rules that
// claim to be sound are asked about every plan that the lowering accepts and must drop none. The first complaint of a
// kernel is reported with its plan.
#include "explore/every_plan.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>
#include <string>

#include "codegen/lower/lower.h"
#include "codegen/structure/index_build.h"
#include "costmodel/count.h"
#include "explore/plans/plan_counter.h"
#include "explore/plans/rules.h"
#include "explore/plans/walk.h"
#include "explore/wide_space.h"
#include "ir/graph/gather_numbers.h"
#include "ir/rewrite/stacked_windows.h"
#include "reference/error_bound.h"
#include "reference/evaluate.h"
#include "reference/memory_layout.h"
#include "support/cells.h"
#include "support/group_family.h"
#include "support/interpret.h"

namespace tailor::explore {

namespace {

using namespace tailor::ir;
using namespace tailor::reference;
using namespace tailor::codegen;

/// What a program is asked with, and what it must answer.
struct Question {
  std::vector<Tensor> expected;
  std::vector<std::vector<double>> bounds;  ///< of each element of it; none where all are exact
  std::vector<bool> scattered;              ///< whether data says how much of it is stored twice
  std::vector<std::vector<std::byte>> buffers;
};

/// Whether slices at different places may hold the same elements.
bool may_overlap(const Graph& graph) {
  std::set<NodeId> sliced;
  for (const Node& node : graph.nodes) {
    if (node.op == Op::dynamic_slice && !sliced.insert(node.operands[0]).second) return true;
    if (node.op != Op::gather) continue;
    const GatherNumbers numbers = gather_numbers(graph, node);
    for (const GatherNumbers::Along& along : numbers.along)
      if (along.index >= 0 && along.last > 0 && along.offset >= 0) return true;
  }
  return false;
}

/// Whether a gather's places are what another one reads: counters take those for numbers that no array holds.
bool picks_places(const Graph& graph) {
  return std::any_of(graph.nodes.begin(), graph.nodes.end(), [&](const Node& node) {
    return node.op == Op::gather && graph[node.operands[1]].op == Op::gather;
  });
}

/// The gather or scatter that reads its places from this parameter.
const Node* gather_at(const Graph& graph, NodeId parameter) {
  for (const Node& node : graph.nodes) {
    if (node.op != Op::gather && node.op != Op::scatter) continue;
    NodeId from =
        node.operands[1];  // those of a stack of windows are computed: the last operand, where it is in bounds
    while (graph[from].op == Op::select || graph[from].op == Op::slice) from = graph[from].operands.back();
    while (graph[from].op == Op::subtract) from = graph[from].operands.front();  // of nothing
    if (from == parameter) return &node;
  }
  return nullptr;
}

/// What the indices of a gather hold: for place 0 what counters take them for, else numbers around that place.
void fill_places(const Graph& graph, const Node& gather, std::int64_t place, Tensor& indices) {
  const GatherNumbers numbers = gather.op == Op::scatter ? std::get<ScatterForm>(scatter_form(graph, gather)).numbers
                                                         : gather_numbers(graph, gather);
  const Shape& array = graph[gather.operands[0]].shape;
  const int rank = indices.shape.rank();
  std::int64_t inner = 1;  // elements behind the dimension of the numbers
  for (int d = numbers.vector_dim + 1; d < rank; ++d) inner *= indices.shape.dims[d];
  const std::int64_t each = numbers.vector_dim < rank ? indices.shape.dims[numbers.vector_dim] : 1;
  const std::int64_t places = elements(indices.shape) / each;
  for (int d = 0; d < array.rank(); ++d) {
    const GatherNumbers::Along& along = numbers.along[d];
    if (along.index < 0) continue;
    for (std::int64_t i = 0; i < places; ++i) {
      const std::int64_t at = (i / inner * each + along.index) * inner + i % inner;
      const std::int64_t count = picked_count(along.last + 1);
      const std::int64_t counted = picked_step(count, places) * i % count;
      write_cell(indices.shape.dtype, indices.bytes.data() + at * row(indices.shape.dtype).bits / 8,
                 fitted(indices.shape.dtype, integer_cell(place == 0 ? counted : place + i * 5 % 11 - 4)));
    }
  }
}

/// Small arrays of integers beside a look-up say where it looks.
constexpr std::int64_t most_starts = 8;

/// `place` is the number in parameters that place a look-up.
Question make_question(const Graph& graph, std::int64_t place) {
  const bool looks_up = std::any_of(graph.nodes.begin(), graph.nodes.end(),
                                    [](const Node& node) { return class_of(node.op) == OpClass::lookup; });
  Question question;
  std::vector<Tensor> inputs;
  std::uint64_t seed = 1;
  const Graph lowered = with_windows_gathered(graph).value_or(graph);
  for (const NodeId id : parameters(graph)) {
    const Shape& shape = graph[id].shape;
    inputs.push_back(random_tensor(shape, seed++));
    if (const Node* gather = gather_at(lowered, id))
      fill_places(lowered, *gather, place, inputs.back());
    else if (looks_up && is_integer(shape.dtype) && elements(shape) <= most_starts)
      for (std::int64_t i = 0; i < elements(shape); ++i)
        write_cell(shape.dtype, inputs.back().bytes.data() + i * row(shape.dtype).bits / 8, integer_cell(place));
    to_memory(inputs.back(), question.buffers.emplace_back(memory_bytes(shape)));
  }
  for (const NodeId id : graph.outputs) question.scattered.push_back(graph[id].op == Op::scatter);
  for (const NodeId id : graph.outputs)
    question.buffers.emplace_back(zeros(graph[id].shape).bytes.size(), std::byte{0xab});
  for (BoundedTensor& one : evaluate_with_error_bounds(graph, inputs)) {
    question.expected.push_back(std::move(one.value));
    question.bounds.push_back(std::move(one.error));
  }
  return question;
}

/// Largest error over its tolerance: half the digits of the type, or the bound of an element that is small beside what
/// it is the sum of.
double worst_error(const Tensor& expected, const std::vector<double>& bounds, const std::vector<std::byte>& found) {
  const Tensor result = from_memory(expected.shape, found);
  const DType dtype = expected.shape.dtype;
  const double step = dtype == DType::f16 ? 1e-3 : dtype == DType::bf16 ? 8e-3 : is_floating(dtype) ? 2e-5 : 0;
  double worst = 0;
  for (std::int64_t i = 0; i < elements(expected.shape); ++i) {
    const double a = as_double(expected, i), b = as_double(result, i);
    if (a == b || (std::isnan(a) && std::isnan(b))) continue;
    const double bound = bounds.empty() ? 0 : bounds[static_cast<std::size_t>(i)];
    const double allowed = std::max(step * (1 + std::abs(a)), std::isfinite(bound) ? bound : 0);
    worst = std::max(worst, step == 0 ? 1e9 : std::abs(a - b) / allowed);
    if (std::isnan(b)) worst = 1e9;
  }
  return worst;
}

bool equal(const ir::Traffic& seen, const costmodel::Traffic& counted) {
  return seen.requests == counted.requests && seen.sectors == counted.sectors && seen.bytes == counted.bytes;
}
bool equal(const ir::Traffic& seen, const costmodel::SharedWork& counted) {
  return seen.requests == counted.requests && seen.bytes == counted.bytes;
}
template <class Counted>
std::string against(std::string_view what, const ir::Traffic& seen, const Counted& counted) {
  return fmt::format("{}: executed {} requests, {} sectors, {} bytes; counted {} requests, {} bytes", what,
                     seen.requests, seen.sectors, seen.bytes, counted.requests, counted.bytes);
}

/// What executing and exact counting disagree on; empty when nothing.
std::string difference(const RunCounts& seen, const costmodel::Work& counted) {
  for (std::size_t b = 0; b < seen.buffers.size(); ++b) {
    const costmodel::BufferWork& work = counted.buffers[b];
    const costmodel::Traffic* kinds[] = {&work.load, &work.store, &work.atomic};
    constexpr std::string_view names[] = {"loads", "stores", "atomics"};
    for (std::size_t k = 0; k < 3; ++k)
      if (!equal(seen.buffers[b][k], *kinds[k]))
        return fmt::format("{}, {} sectors",
                           against(fmt::format("{} of buffer {}", names[k], b), seen.buffers[b][k], *kinds[k]),
                           kinds[k]->sectors);
  }
  if (!equal(seen.shared_loads, counted.shared_load))
    return against("shared loads", seen.shared_loads, counted.shared_load);
  if (!equal(seen.shared_stores, counted.shared_store))
    return against("shared stores", seen.shared_stores, counted.shared_store);
  if (seen.shuffles != counted.shuffles)
    return fmt::format("shuffles: executed {}, counted {}", seen.shuffles, counted.shuffles);
  if (seen.barriers != counted.barriers)
    return fmt::format("barriers: executed {}, counted {}", seen.barriers, counted.barriers);
  if (seen.cluster_barriers != counted.cluster_barriers)
    return fmt::format("barriers of clusters: executed {}, counted {}", seen.cluster_barriers,
                       counted.cluster_barriers);
  return {};
}

/// What remains when the sampled figures are set equal; their relative error goes to `run`.
std::string difference(const costmodel::Work& exact, costmodel::Work fast, SpaceRun& run) {
  if (fast.sampled) {
    ++run.sampled;
    const auto correct = [&](costmodel::Traffic& found, const costmodel::Traffic& right) {
      if (right.sectors != 0)
        run.worst_sample = std::max(run.worst_sample, std::abs(static_cast<double>(found.sectors - right.sectors)) /
                                                          static_cast<double>(right.sectors));
      found.sectors = right.sectors;
    };
    for (std::size_t b = 0; b < fast.buffers.size(); ++b) {
      correct(fast.buffers[b].load, exact.buffers[b].load);
      correct(fast.buffers[b].store, exact.buffers[b].store);
      correct(fast.buffers[b].atomic, exact.buffers[b].atomic);
      fast.buffers[b].reload_sectors = exact.buffers[b].reload_sectors;
    }
    fast.shared_load.wavefronts = exact.shared_load.wavefronts;
    fast.shared_store.wavefronts = exact.shared_store.wavefronts;
    fast.sampled = exact.sampled;
  }
  if (fast == exact) return {};
  for (std::size_t b = 0; b < fast.buffers.size(); ++b) {
    const costmodel::BufferWork &x = exact.buffers[b], &f = fast.buffers[b];
    if (!(x == f))
      return fmt::format(
          "buffer {}: exact loads {} stores {} sectors, reloads {}, {} + {} distinct bytes, {} + {} distinct sectors; "
          "fast {}, {}, {}, {} + {}, {} + {}",
          b, x.load.sectors, x.store.sectors, x.reload_sectors, x.read_bytes, x.written_bytes, x.read_sectors,
          x.written_sectors, f.load.sectors, f.store.sectors, f.reload_sectors, f.read_bytes, f.written_bytes,
          f.read_sectors, f.written_sectors);
  }
  return fmt::format("exact: {} instructions, busiest block {}, shared wavefronts {} + {}; fast: {}, {}, {} + {}",
                     instructions(exact.pipes), exact.busiest_block, exact.shared_load.wavefronts,
                     exact.shared_store.wavefronts, instructions(fast.pipes), fast.busiest_block,
                     fast.shared_load.wavefronts, fast.shared_store.wavefronts);
}

/// What is asked of one program, and what it is asked with.
struct Oracle {
  /// Counting takes places that data decides for 0. What programs write is looked at for others too: inside, behind the
  /// last place, and negative.
  static constexpr std::array<std::int64_t, 4> places{0, 2, 100, -3};
  std::vector<Question> questions;
  std::size_t asked = 0;
  costmodel::Scratch scratch;
  costmodel::Work exact, fast;
  bool cuts, knows_places;

  Oracle(const Graph& graph, bool holes) : cuts(holes || may_overlap(graph)), knows_places(!picks_places(graph)) {
    for (const std::int64_t place : places) questions.push_back(make_question(graph, place));
  }

  /// Executes the kernel; the first complaint, empty when there is none.
  static std::string complaint(const Kernel& kernel, const Question& question, KernelRun& executed) {
    std::vector<std::vector<std::byte>> all = question.buffers;
    for (const Buffer& own : kernel.buffers)
      if (own.role == BufferRole::workspace || own.role == BufferRole::ticket)
        all.emplace_back(static_cast<std::size_t>(own.elements * row(own.dtype).bits / 8));
    executed = interpret(kernel, all);
    if (!executed.violations.empty()) return executed.violations[0];
    if (all.size() > question.buffers.size() && differs_backwards(kernel, question, std::move(all), executed))
      return "results or counts depend on which block comes last";
    for (std::size_t i = question.buffers.size(); i < kernel.buffers.size(); ++i)
      if (kernel.buffers[i].role == BufferRole::ticket &&
          std::any_of(executed.buffers[i].begin(), executed.buffers[i].end(),
                      [](std::byte b) { return b != std::byte{}; }))
        return "a ticket is not zero after the run";
    const std::size_t inputs = question.buffers.size() - question.expected.size();
    for (std::size_t i = 0; i < question.expected.size(); ++i) {
      const double error = worst_error(question.expected[i], question.bounds[i], executed.buffers[inputs + i]);
      if (error > 1) return fmt::format("output {}: error {} x tolerance", i, error);
      // Each element once: what several threads write with one value is right, and moves as many bytes more.
      const auto size = static_cast<std::int64_t>(executed.buffers[inputs + i].size());
      const std::int64_t stored = executed.counts.buffers[inputs + i][1].bytes;
      if (kernel.buffers[inputs + i].role == BufferRole::output && stored != size &&
          (!question.scattered[i] || stored < size))
        return fmt::format("output {}: {} bytes stored, it has {}", i, stored, size);
    }
    return {};
  }

  /// Whether it matters in which order blocks come.
  static bool differs_backwards(const Kernel& kernel, const Question& question, std::vector<std::vector<std::byte>> all,
                                const KernelRun& executed) {
    const KernelRun other = interpret(kernel, std::move(all), true);
    const std::size_t inputs = question.buffers.size() - question.expected.size();
    for (std::size_t i = 0; i < question.expected.size(); ++i)
      if (other.buffers[inputs + i] != executed.buffers[inputs + i]) return true;
    return !other.violations.empty() || other.counts.buffers != executed.counts.buffers ||
           other.counts.barriers != executed.counts.barriers;
  }

  /// The first complaint; empty when there is none.
  std::string complaint(const Kernel& kernel, SpaceRun& run) {
    verify(kernel);
    KernelRun executed;
    const bool looks_up = std::any_of(kernel.body.begin(), kernel.body.end(),
                                      [](const Stmt& stmt) { return stmt.kind == StmtKind::bind; });
    if (looks_up) {
      const std::size_t other = 1 + asked++ % (questions.size() - 1);
      if (std::string found = complaint(kernel, questions[other], executed); !found.empty())
        return fmt::format("at place {}: {}", places[other], found);
    }
    if (std::string found = complaint(kernel, questions[0], executed); !found.empty()) return found;
    count(kernel, costmodel::Mode::exact, scratch, exact);
    exact = costmodel::together(exact);
    if (!knows_places)
      for (std::size_t b = 0; b < exact.buffers.size(); ++b)
        executed.counts.buffers[b][0].sectors = exact.buffers[b].load.sectors;
    if (std::string found = difference(executed.counts, exact); !found.empty()) return found;
    count(kernel, costmodel::Mode::fast, scratch, fast);
    fast = costmodel::together(fast);
    // Upper bounds, of which distinct sectors are one for every kernel.
    for (std::size_t b = 0; b < fast.buffers.size(); ++b) {
      const costmodel::BufferWork& right = exact.buffers[b];
      costmodel::BufferWork& found = fast.buffers[b];
      if (found.read_sectors >= right.read_sectors && found.read_sectors <= found.load.sectors)
        found.read_sectors = right.read_sectors;
      if (found.written_sectors >= right.written_sectors &&
          found.written_sectors <= found.store.sectors + found.atomic.sectors)
        found.written_sectors = right.written_sectors;
    }
    if (cuts)
      for (std::size_t b = 0; b < fast.buffers.size(); ++b)
        if (fast.buffers[b].read_bytes >= exact.buffers[b].read_bytes &&
            fast.buffers[b].read_bytes <= fast.buffers[b].load.bytes)
          fast.buffers[b].read_bytes = exact.buffers[b].read_bytes;
    return difference(exact, fast, run);
  }
};

}  // namespace

const std::vector<SpaceCase>& row_cases() {
  static const std::vector<SpaceCase> cases = {{"softmax", 37, 77},
                                               {"softmax", 5, 64},
                                               {"softmax", 1, 130},
                                               {"layernorm_f16", 9, 70},
                                               {"layernorm_f16", 6, 128},
                                               {"rms_residual_bf16", 7, 72},
                                               {"rms_residual_bf16", 5, 33},
                                               {"cross_entropy", 11, 50},
                                               {"row_sum", 66, 32},
                                               {"row_sum", 3, 301},
                                               {"full_loss", 9, 140},
                                               {"full_loss", 1, 77},
                                               {"full_loss", 19, 64},
                                               {"row_statistics_f16", 3, 301},
                                               {"row_statistics_f16", 5, 640},
                                               {"integer_extremes", 2, 150},
                                               {"across_columns", 37, 24},
                                               {"across_columns", 5, 130},
                                               {"across_columns", 2, 64},
                                               {"across_batches", 21, 24},
                                               {"across_queries", 9, 40},
                                               {"across_places", 7, 12},
                                               {"across_channels", 9, 10},
                                               {"across_fast_channels", 6, 12},
                                               {"across_heads", 13, 3},
                                               {"across_heads", 9, 12},
                                               {"across_images", 11, 21},
                                               {"across_numbers", 21, 40},
                                               {"across_numbers", 70, 9},
                                               {"across_everything", 9, 36},
                                               {"across_everything", 3, 33},
                                               {"across_integers", 19, 20},
                                               {"across_integers", 40, 7},
                                               {"batch_norm", 6, 28},
                                               {"batch_norm", 35, 12},
                                               {"batch_norm", 3, 7},
                                               {"group_norm", 5, 9},
                                               {"group_norm", 2, 40},
                                               {"mixed_across", 21, 12},
                                               {"turned_rows", 7, 24},
                                               {"turned_rows", 1, 9},
                                               {"flat_everything", 9, 36},
                                               {"flat_everything", 5, 33},
                                               {"aside_rows", 11, 24},
                                               {"aside_of_one_row", 7, 30},
                                               {"aside_of_one_row", 40, 64},
                                               {"split_rows", 7, 26},
                                               {"split_all", 12, 11},
                                               {"attention", 3, 20},
                                               {"integer_reductions", 10, 36},
                                               {"stacked_row", 5, 12},
                                               {"stacked_row", 3, 70},
                                               {"softmax_update", 7, 40},
                                               {"softmax_update", 3, 77},
                                               {"gather_norm", 9, 70},
                                               {"gather_norm", 6, 128},
                                               {"gather_norm", 1, 33},
                                               {"gather_labels", 9, 64},
                                               {"gather_labels", 5, 77},
                                               {"turned_norm", 7, 32},
                                               {"turned_norm", 3, 35},
                                               {"softmax_reversed", 5, 64},
                                               {"softmax_reversed", 3, 77},
                                               {"norm_rotated", 5, 48},
                                               {"norm_rotated", 2, 99},
                                               {"heads_rotated", 4, 12},
                                               {"rolled", 5, 96},
                                               {"padded_integers", 6, 72},
                                               {"padded_integers", 3, 131},
                                               {"pairs_swapped", 4, 68},
                                               {"first_of_all", 3, 192},
                                               {"picked_places", 5, 72},
                                               {"reversed_and_reduced", 3, 104},
                                               {"rows_move_too", 6, 80},
                                               {"sums_of_windows", 7, 77},
                                               {"sums_of_windows", 5, 64},
                                               {"windows_of_rows", 7, 77},
                                               {"windows_of_rows", 3, 130},
                                               {"batch_scaled", 3, 29},
                                               {"argmax", 7, 77},
                                               {"argmax", 66, 32},
                                               {"argmax", 3, 301},
                                               {"argmax", 1, 130},
                                               {"greedy", 5, 70},
                                               {"greedy", 2, 256},
                                               {"farthest", 5, 96},
                                               {"three_at_once", 4, 65},
                                               {"three_at_once", 9, 3}};
  return cases;
}

const std::vector<SpaceCase>& column_cases() {
  static const std::vector<SpaceCase> cases = {{"argmin_columns_bf16", 37, 77},
                                               {"argmin_columns_bf16", 301, 3},
                                               {"argmin_columns_bf16", 70, 64},
                                               {"moments_columns", 33, 24},
                                               {"moments_columns", 130, 9},
                                               {"column_sum", 37, 77},
                                               {"column_sum", 1, 130},
                                               {"column_sum", 66, 1},
                                               {"column_sum", 301, 3},
                                               {"column_sum", 5, 64},
                                               {"bias_gradient_bf16", 19, 40},
                                               {"bias_gradient_bf16", 7, 33},
                                               {"bias_gradient_bf16", 1, 16},
                                               {"column_statistics_f16", 70, 36},
                                               {"column_statistics_f16", 13, 8},
                                               {"batched_columns", 23, 20},
                                               {"batched_columns", 11, 7},
                                               {"turned_columns", 11, 12},
                                               {"turned_columns", 4, 9},
                                               {"columns_between", 9, 24},
                                               {"columns_between", 5, 7},
                                               {"two_runs", 6, 20},
                                               {"two_runs", 3, 5},
                                               {"aside_columns", 37, 20},
                                               {"column_softmax", 21, 36},
                                               {"column_softmax", 5, 130},
                                               {"column_softmax", 40, 3},
                                               {"split_columns", 8, 40},
                                               {"split_columns", 11, 7},
                                               {"gather_bag", 6, 16},
                                               {"gather_bag", 3, 21}};
  return cases;
}

const std::vector<SpaceCase>& map_cases() {
  static const std::vector<SpaceCase> cases = {
      {"scatter_rows", 9, 24},       {"scatter_rows", 5, 77},      {"scatter_in_place", 9, 32},
      {"scatter_in_place", 7, 33},   {"scatter_max", 6, 20},       {"scatter_halves", 9, 32},
      {"scatter_halves", 5, 21},     {"scatter_count", 40, 12},    {"scatter_elements", 7, 18},
      {"scatter_windows", 12, 16},   {"scatter_windows", 5, 26},   {"scatter_batches", 9, 30},
      {"scatter_unique", 9, 32},     {"scatter_unique", 3, 7},     {"scatter_set", 9, 32},
      {"scatter_set", 4, 19},        {"scatter_computed", 9, 32},

      {"bias_gelu_f16", 13, 70},     {"bias_gelu_f16", 8, 64},     {"transpose_scale", 21, 34},
      {"slice_reverse", 9, 40},      {"concatenate_pad", 5, 12},   {"concatenate_pad", 4, 16},
      {"two_outputs", 17, 24},       {"two_outputs", 3, 31},       {"pad_between", 5, 12},
      {"pad_between", 3, 33},        {"rounded", 5, 24},           {"window_read", 9, 40},
      {"window_read", 5, 33},        {"window_columns", 6, 64},    {"window_columns", 7, 35},
      {"update_in_place", 9, 48},    {"update_in_place", 4, 33},   {"update_copy", 5, 40},
      {"update_copy", 3, 21},        {"bias_gelu_f16", 1, 4},      {"gather_rows", 9, 40},
      {"gather_rows", 5, 33},        {"gather_elements", 7, 24},   {"gather_windows", 6, 16},
      {"gather_windows", 3, 9},      {"gather_twice", 5, 12},      {"gather_twice", 1, 7},
      {"gather_rows", 1, 8},         {"gather_rows", 70, 16},      {"many_stacked", 3, 24},
      {"many_stacked", 2, 32},       {"shaped_stacked", 3, 9},     {"windows_stacked", 5, 24},
      {"windows_stacked", 3, 9},     {"windows_in_order", 5, 24},  {"windows_in_order", 3, 9},
      {"stacked_inside", 4, 32},     {"stacked_inside", 3, 11},    {"stacked_doubles", 9, 12},
      {"stacks_and_pads", 7, 16},    {"stacks_and_pads", 5, 13},   {"pads_of_two", 5, 12},
      {"smaller_beside", 3, 4},      {"smaller_beside", 5, 6},     {"pool_channels", 5, 9},
      {"pool_channels", 3, 16},      {"pool_half", 5, 32},         {"pool_half", 3, 13},
      {"mean_of_nine", 7, 24},       {"mean_of_nine", 1, 5},       {"window_dilated", 5, 18},
      {"window_dilated", 3, 7},      {"window_cut", 6, 14},        {"window_cut", 5, 9},
      {"windows_of_windows", 6, 16}, {"windows_of_windows", 3, 5}, {"windows_of_flags", 4, 32},
      {"windows_of_flags", 3, 11},   {"windows_joined", 4, 16},    {"windows_joined", 1, 3},
      {"causal_taps", 7, 24},        {"causal_taps", 2, 5},        {"causal_taps", 3, 9},
      {"bias_gelu_f16", 1, 8}};  // one vector: most threads
                                 // have nothing to write
  return cases;
}

const std::vector<SpaceCase>& turned_cases() {
  static const std::vector<SpaceCase> cases = {{"turned", 9, 16, Loop::tiles},
                                               {"turned", 37, 41, Loop::tiles},
                                               {"turned", 96, 40, Loop::tiles},
                                               {"turned", 130, 9, Loop::tiles},
                                               {"turned", 64, 64, Loop::tiles},
                                               {"turned_mixed_f16", 48, 72, Loop::tiles},
                                               {"turned_mixed_f16", 33, 17, Loop::tiles},
                                               {"turned_layout", 24, 36, Loop::tiles},
                                               {"turned_layout", 11, 31, Loop::tiles},
                                               {"turned_batch", 16, 24, Loop::tiles},
                                               {"turned_batch", 17, 19, Loop::tiles},
                                               {"turned_channels", 8, 32, Loop::tiles},
                                               {"turned_channels", 7, 18, Loop::tiles},
                                               {"turned_order", 6, 16, Loop::tiles},
                                               {"turned_order", 3, 13, Loop::tiles},
                                               {"turned_choice", 32, 40, Loop::tiles},
                                               {"turned_choice", 33, 35, Loop::tiles},
                                               {"turned_bytes", 64, 48, Loop::tiles},
                                               {"turned_bytes", 37, 33, Loop::tiles},
                                               {"turned_doubles", 24, 20, Loop::tiles},
                                               {"turned_doubles", 9, 21, Loop::tiles},
                                               {"turned_twice", 1, 40, Loop::tiles},
                                               {"turned_twice", 1, 23, Loop::tiles},
                                               {"turned_merged", 12, 24, Loop::tiles},
                                               {"turned_merged", 7, 13, Loop::tiles},
                                               {"turned_batches", 16, 40, Loop::tiles},
                                               {"turned_batches", 19, 17, Loop::tiles},
                                               {"turned_part", 24, 48, Loop::tiles},
                                               {"turned_part", 19, 34, Loop::tiles},
                                               {"turned_window", 24, 48, Loop::tiles},
                                               {"turned_window", 19, 34, Loop::tiles},
                                               {"turned_update", 24, 48, Loop::tiles},
                                               {"turned_update", 19, 34, Loop::tiles},
                                               {"update_in_place", 24, 40, Loop::tiles},
                                               {"transpose_scale", 21, 34, Loop::tiles}};
  return cases;
}

const std::vector<SpaceCase>& pieces_cases() {
  static const std::vector<SpaceCase> cases = {{"rope", 3, 32, Loop::pieces},
                                               {"rope", 2, 5, Loop::pieces},
                                               {"rope", 1, 1, Loop::pieces},
                                               {"pieces_apart", 5, 24, Loop::pieces},
                                               {"pieces_apart", 3, 21, Loop::pieces},
                                               {"pieces_stacked", 4, 24, Loop::pieces},
                                               {"pieces_stacked", 3, 7, Loop::pieces},
                                               {"pieces_layouts", 6, 16, Loop::pieces},
                                               {"pieces_layouts", 5, 9, Loop::pieces},
                                               {"pieces_reshaped", 3, 16, Loop::pieces},
                                               {"pieces_reshaped", 5, 7, Loop::pieces},
                                               {"pieces_beside", 4, 16, Loop::pieces},
                                               {"pieces_beside", 3, 11, Loop::pieces},
                                               {"pieces_updated", 4, 24, Loop::pieces},
                                               {"pieces_updated", 3, 7, Loop::pieces},
                                               {"pieces_within", 4, 32, Loop::pieces},
                                               {"pieces_within", 3, 13, Loop::pieces}};
  return cases;
}

const std::vector<SpaceCase>& strips_cases() {
  static const std::vector<SpaceCase> cases = {
      {"mean_of_nine", 16, 40, Loop::strips_8},       {"mean_of_nine", 15, 33, Loop::strips_4},
      {"mean_of_nine", 10, 32, Loop::strips_2},       {"windows_of_windows", 16, 36, Loop::strips_4},
      {"windows_of_windows", 15, 37, Loop::strips_8}, {"windows_of_windows", 2, 64, Loop::strips_2},
      {"causal_taps", 16, 36, Loop::strips_8},        {"causal_taps", 15, 33, Loop::strips_4},
      {"causal_taps", 3, 40, Loop::strips_3}};
  return cases;
}

const std::vector<SpaceCase>& bundles_cases() {
  static const std::vector<SpaceCase> cases = {
      {"group_norm", 6, 23, Loop::bundles}, {"group_norm", 5, 64, Loop::bundles}, {"group_norm", 32, 7, Loop::bundles}};
  return cases;
}

const codegen::Prepared* strips_in(Loop loop, const codegen::Prepared& prepared) {
  const int rows = loop == Loop::strips_2   ? 2
                   : loop == Loop::strips_3 ? 3
                   : loop == Loop::strips_4 ? 4
                   : loop == Loop::strips_8 ? 8
                                            : 0;
  for (const auto& strips : prepared.in_strips)
    if (strips->strip.rows == rows) return strips.get();
  return nullptr;
}

const codegen::Prepared& structure_of(const SpaceCase& which, const codegen::Prepared& prepared) {
  if (which.loop == Loop::own) return prepared;
  const codegen::Prepared* meant = which.loop == Loop::tiles     ? prepared.turned.get()
                                   : which.loop == Loop::pieces  ? prepared.in_pieces.get()
                                   : which.loop == Loop::bundles ? prepared.in_bundles.get()
                                                                 : strips_in(which.loop, prepared);
  if (meant == nullptr) FAIL(which.member << " has no such loop");
  return *meant;
}

const std::vector<SpaceCase>& sampled_cases() {
  static const std::vector<SpaceCase> cases = {{"bias_gelu_f16", 37, 771}, {"bias_gelu_f16", 64, 333}};
  return cases;
}

SpaceRun check_every_plan(const SpaceCase& which, Thinning thinning) {
  return check_every_plan(make_group(family_member(which.member), which.rows, which.columns), thinning, false,
                          which.loop);
}

namespace {

SpaceRun check_every_pack(const Prepared& pack, Oracle& oracle, Thinning thinning) {
  LowerScratch scratch;
  SpaceRun run;
  for (const Plan& plan : plans_of_bodies(pack, thinning)) {
    const Lowered lowered = lower(pack, plan, small_limits, scratch);
    if (const auto* refused = std::get_if<Rejection>(&lowered)) {
      // What a launch has once no body alone can know: clusters of one size, blocks that are resident together.
      const bool together = refused->rule == "bodies" && refused->reason.find("a launch ha") != std::string::npos;
      if (refused->rule == "resident" || refused->rule == "min-blocks" || together) continue;
      FAIL_CHECK(fmt::format("{}: {} ({})", text(plan), refused->reason, refused->rule));
      return run;
    }
    const Kernel& kernel = std::get<Kernel>(lowered);
    ++run.legal, ++run.programs;
    if (pack.skeleton == Skeleton::pack) {
      const LaunchShape shape = launch_shape(launches_of(kernel)[0]);
      run.clustered += shape.cluster[0] > 1 ? 1 : 0;
      run.met += shape.cooperative ? 1 : 0;
      for (const Kernel& body : kernels_of(kernel)) run.looping += body.persistent ? 1 : 0;
    }
    if (const std::string found = oracle.complaint(kernel, run); !found.empty()) {
      FAIL_CHECK(fmt::format("{}, {}: {}", text(pack.group->graph), text(plan), found));
      MESSAGE(text(kernel));
      return run;
    }
  }
  return run;
}

}  // namespace

SpaceRun check_every_plan(const Group& group, Thinning thinning, bool cuts, Loop loop) {
  const auto prepared = prepare(group);
  if (const Rejection* no = std::get_if<Rejection>(&prepared)) FAIL(no->reason);
  const Prepared& ready = structure_of({group.graph.name, 0, 0, loop}, std::get<Prepared>(prepared));
  Oracle oracle(group.graph, cuts);
  if (!ready.bodies.empty()) return check_every_pack(ready, oracle, thinning);
  const Axes axes = wide_axes(ready);
  Plans plans(ready, axes, small_limits);
  LowerScratch scratch;
  SpaceRun run;
  PlanCounter counter(ready, small_limits, true);
  costmodel::Work shared, alone;
  std::map<Id, bool> seen;
  std::uint64_t number = 0;
  while (const auto plan = plans.next()) {
    if (!is_taken(++number, thinning)) continue;
    const Lowered lowered = lower(ready, *plan, small_limits, scratch);
    const Rule* rule = dropped_by(ready, *plan, small_limits);
    if (rule && rule->sound && std::holds_alternative<Kernel>(lowered))
      FAIL_CHECK(fmt::format("sound rule {} drops a legal plan: {}", rule->name, text(*plan)));
    if (!std::holds_alternative<Kernel>(lowered)) continue;
    const Kernel& kernel = std::get<Kernel>(lowered);
    ++run.legal;
    if (!seen.emplace(id_of(kernel), true).second) continue;
    ++run.programs;
    run.clustered += kernel.cluster > 1 ? 1 : 0;
    run.met += kernel.cooperative ? 1 : 0;
    run.programs_of_several += kernel.followers.empty() ? 0 : 1;
    if (const std::string found = oracle.complaint(kernel, run); !found.empty()) {
      FAIL_CHECK(fmt::format("{}, {}: {}", text(group.graph), text(*plan), found));
      MESSAGE(text(kernel));
      return run;
    }
    counter.count(*plan, kernel, shared);
    count(kernel, costmodel::Mode::fast, oracle.scratch, alone);
    if (!alone.sampled && !(shared == alone)) {
      FAIL_CHECK(fmt::format("{}, {}: counts shared with other plans differ", text(group.graph), text(*plan)));
      return run;
    }
  }
  run.shared = counter.shared;
  return run;
}

}  // namespace tailor::explore
