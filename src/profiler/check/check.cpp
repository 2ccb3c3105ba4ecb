// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// From executions to a verdict. In: a kernel, the reference of its group, and somebody who executes. Out: right or
// wrong, with the worst error or what was found, and what was counted. Called by check_pool.cpp, by the commands that
// check one kernel, and (the judging alone) by measurements on a GPU.
//
// A sample of a large launch consists of runs on the same inputs: the first and the last block, which may be ragged,
// then batches of random others. What a run wrote is judged; elements that it left alone take the reference's place.
// The batches' counts are scaled to all blocks between the ends, and the spread of their instructions gives the
// standard error. Kernels whose blocks wait for one another are run whole. Blocks that put a result together, which the
// last of them stores, are in a sample all or none; where a launch has few such results, it is run whole too.
//
// What decides. A run that ended early decides by how it ended. Findings count before results, because a kernel with a
// race may compute the right values today. Then every result must lie within its bound. A kernel of which no element
// can be judged counts as not executed.
#include "profiler/check/check.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <random>
#include <utility>

#include "base/indexed.h"
#include "base/stop.h"
#include "ir/graph/number.h"
#include "profiler/check/launch_counts.h"
#include "reference/compare.h"
#include "reference/evaluate_cells.h"
#include "reference/evaluate_memory.h"
#include "reference/evaluate_moves.h"
#include "reference/memory_layout.h"

namespace tailor::profiler {

namespace {

using simulator::Simulation;
using simulator::SimulationOutcome;

/// So many arrays of the largest size that is not too large are not too large together.
constexpr std::int64_t arrays_of_most = 4;

/// Batches of a sample: their spread gives its standard error.
constexpr int batches = 4;

simulator::SimulationOptions simulation_options(const CheckOptions& options) {
  simulator::SimulationOptions to;
  to.seed = options.seed;
  to.threads = options.threads;
  to.sanitize = options.sanitize;
  to.count_cache = options.count_cache;
  to.time_limit = options.time_limit;
  to.most_lazy_bytes = options.most_memory;
  to.machine = options.machine;
  to.stop = options.stop;
  return to;
}

/// Adds what another run of the same launch counted, times `weight`.
void add(ir::LaunchCounts& sum, const ir::LaunchCounts& more, double weight) {
  if (sum.buffers.size() < more.buffers.size()) sum.buffers.resize(more.buffers.size());
  for (const ir::CounterRow& row : ir::counter_table()) {
    if (row.launch != nullptr) sum.*row.launch += more.*row.launch * weight;
    if (row.direction != nullptr)
      for (std::size_t i = 0; i < more.buffers.size(); ++i)
        sum.buffers[i].*row.direction.*row.part += more.buffers[i].*row.direction.*row.part * weight;
  }
  sum.blocks_run += more.blocks_run;
  sum.blocks_total = more.blocks_total;
}

/// Blocks of the launch, whichever body each runs. Of a program of several launches: of the first.
std::int64_t blocks_of_launch(const ir::Kernel& kernel) { return launch_shape(launches_of(kernel).front()).grid[0]; }

/// Results that blocks put together: as many as there are clusters, or as a ticket has numbers; else every block stands
/// for itself.
std::int64_t meetings(const ir::Kernel& kernel) {
  const std::int64_t blocks = blocks_of_launch(kernel);
  if (kernel.cluster > 1) return blocks / kernel.cluster;
  for (const ir::Buffer& buffer : kernel.buffers)
    if (buffer.role == ir::BufferRole::ticket) return std::clamp<std::int64_t>(buffer.elements, 1, blocks);
  return blocks;
}

/// The blocks of each meeting: those of a cluster, or that ask the same number of the ticket.
std::vector<std::vector<std::int64_t>> blocks_that_meet(const ir::Kernel& kernel) {
  std::vector<std::vector<std::int64_t>> met(static_cast<std::size_t>(meetings(kernel)));
  const ir::Stmt* ask = nullptr;
  for (const ir::Stmt& stmt : kernel.body)
    if (stmt.kind == ir::StmtKind::atomic && stmt.space == ir::Space::global &&
        kernel.buffers[stmt.memory].role == ir::BufferRole::ticket)
      ask = &stmt;
  std::vector<std::int64_t> values(kernel.indices.vars.size(), 0);
  for (std::int64_t block = 0; block < kernel.grid; ++block) {
    for (std::size_t v = 0; v < values.size(); ++v)
      if (kernel.indices.vars[v].kind == ir::VarKind::block)
        values[v] = block / kernel.indices.vars[v].divisor % kernel.indices.vars[v].extent;
    const std::int64_t at = kernel.cluster > 1 ? block / kernel.cluster
                            : ask == nullptr   ? block
                                               : evaluate(kernel.indices, ask->expr, values);
    met[static_cast<std::size_t>(at)].push_back(block);
  }
  return met;
}

/// Which blocks each run executes: none named means all.
struct Sample {
  std::vector<std::vector<std::int64_t>> runs{{}};
  std::int64_t interior = 0;  ///< blocks that the random batches stand for
};

/// The first and the last block of each body, which may be ragged, then batches of random others; each with those it
/// meets.
Sample sample_of(const ir::Kernel& kernel, const CheckOptions& options) {
  Sample sample;
  const std::int64_t wanted = blocks_to_run(kernel, options), units = meetings(kernel);
  if (wanted == 0) return sample;
  const std::int64_t grid = blocks_of_launch(kernel);
  const bool alone = units == grid;
  const std::vector<std::vector<std::int64_t>> met = alone ? decltype(met){} : blocks_that_meet(kernel);
  const auto blocks_of = [&](std::vector<std::int64_t> chosen) {
    std::sort(chosen.begin(), chosen.end());
    chosen.erase(std::unique(chosen.begin(), chosen.end()), chosen.end());
    if (alone) return chosen;
    std::vector<std::int64_t> blocks;
    for (const std::int64_t unit : chosen) {
      const std::vector<std::int64_t>& all = met[static_cast<std::size_t>(unit)];
      blocks.insert(blocks.end(), all.begin(), all.end());
    }
    std::sort(blocks.begin(), blocks.end());
    return blocks;
  };
  const auto each = std::max<std::int64_t>((wanted / (grid / units) - 2) / batches, 1);
  std::mt19937_64 random(options.seed);
  std::vector<std::int64_t> ends{0, units - 1};
  if (alone) {  // of each body side by side
    std::int64_t first = 0;
    const std::vector<Chain<ir::Kernel>> launches = launches_of(kernel);
    for (const ir::Kernel& body : launches.front()) {
      ends.insert(ends.end(), {first, first + body.grid - 1});
      first += body.grid;
    }
  }
  sample.runs = {blocks_of(std::move(ends))};
  sample.interior = grid - std::ssize(sample.runs.front());
  for (int batch = 0; batch < batches; ++batch) {
    std::vector<std::int64_t> chosen;
    for (std::int64_t i = 0; i < each; ++i)
      chosen.push_back(1 + static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(units - 2)));
    sample.runs.push_back(blocks_of(std::move(chosen)));
  }
  return sample;
}

/// Scales batches to the whole grid; the ends count once.
ir::LaunchCounts scaled(const std::vector<ir::LaunchCounts>& runs, const Sample& sample) {
  if (runs.size() < 2) return runs.empty() ? ir::LaunchCounts{} : runs.front();
  ir::LaunchCounts sum = runs.front();
  std::vector<double> guesses;
  const auto share = static_cast<double>(sample.interior) / static_cast<double>(runs.size() - 1);
  for (std::size_t i = 1; i < runs.size(); ++i) {
    const auto blocks = static_cast<double>(std::max<std::int64_t>(runs[i].blocks_run, 1));
    add(sum, runs[i], share / blocks);
    guesses.push_back(runs[i].instructions / blocks);
  }
  double mean = 0, spread = 0;
  for (const double guess : guesses) mean += guess / static_cast<double>(guesses.size());
  for (const double guess : guesses) spread += (guess - mean) * (guess - mean);
  const auto n = static_cast<double>(guesses.size());
  if (n > 1 && mean > 0) sum.standard_error = std::sqrt(spread / (n * (n - 1))) / mean;
  return sum;
}

/// The first output that nothing was stored to, though it has elements; empty when there is none. What is written in
/// place may stay as it was. `told`: results were found right.
std::string left_alone(const ir::Kernel& kernel, const Executed& run, bool told) {
  std::size_t k = 0;
  for (const ir::Buffer& buffer : kernel.buffers) {
    if (!is_result(buffer.role)) continue;
    // A few bytes may be stored and be what was there.
    const bool same = k < run.before.size() && (!told || run.after[k].size() >= 8) && run.after[k] == run.before[k];
    ++k;
    if (same && buffer.role == ir::BufferRole::output && buffer.elements > 0)
      return fmt::format("{}: nothing was stored there", buffer.name);
  }
  return {};
}

/// Why elements of the results have no bound.
std::string why_unjudged(const Reference& reference) {
  const auto lost = std::find_if(reference.outputs.begin(), reference.outputs.end(),
                                 [](const auto& output) { return !output.lost_at.empty() || !output.unknown.empty(); });
  return reference::why_unbounded(lost == reference.outputs.end() ? reference::BoundedTensor() : *lost);
}

/// Why results that nothing speaks against still say nothing; empty when they say something.
std::string nothing_judged(const Judgement& all, const Reference& reference) {
  if (all.telling > 0) return {};
  if (all.elements == 0) return "the blocks that ran stored no result; more --blocks may";
  if (all.judged == 0) return fmt::format("no element of the results has a bound: {}", why_unjudged(reference));
  return "no result can be compared: each is NaN or beyond its type, as it has to be on these inputs";
}

/// Whether the simulation ended in a way that leaves nothing to compare.
bool ended_early(const Simulation& run, const CheckOptions& options, Checked& verdict) {
  const auto end = [&](Verdict state, std::string reason) {
    verdict.worst = verdict.judged = 0;  // what earlier runs of the sample said is not about the kernel
    verdict.state = state;
    verdict.reason = std::move(reason);
    return true;
  };
  switch (run.outcome) {
    case SimulationOutcome::finished:
      return false;
    case SimulationOutcome::stopped:
      if (options.stop.stop_requested()) return end(Verdict::stopped, run.reason);
      if (std::any_of(run.findings.begin(), run.findings.end(), [](const simulator::Finding& one) {
            return one.severity == simulator::Severity::error && one.kind != simulator::FindingKind::too_long;
          }))
        return end(Verdict::unsound, describe(*first_error(run.findings)));
      return end(Verdict::timed_out, fmt::format("it took longer than {:.3g} s", options.time_limit.value));
    case SimulationOutcome::out_of_memory:
      return end(Verdict::not_executed,
                 run.reason + ", all that is free for it; a larger --memory holds more, --blocks takes fewer");
    case SimulationOutcome::refused:
      return end(Verdict::unsound, run.reason);
    case SimulationOutcome::unsupported:
      return end(Verdict::not_executed, fmt::format("cannot simulate {}", run.reason));
  }
  return false;
}

}  // namespace

std::string_view name(Verdict state) {
  constexpr std::array names = {"passed", "wrong", "unsound", "timed out", "not judged", "not executed", "stopped"};
  return row_for(names, state);
}

namespace {

/// Launches of one kernel whose blocks are those of several bodies.
bool is_pack(const ir::Kernel& kernel) { return launches_of(kernel).front().size() > 1; }

/// Statements that all threads of the program execute, when each takes every guard.
double statements_executed(const ir::Kernel& program) {
  double all = 0;
  for (const ir::Kernel& kernel : kernels_of(program)) {
    double times = 1, of_thread = 0;
    std::vector<std::pair<std::int32_t, double>> loops;  // where each ends, and how often what is around it runs
    for (std::int32_t i = 0; i < std::ssize(kernel.body); ++i) {
      for (; !loops.empty() && loops.back().first <= i; loops.pop_back()) times = loops.back().second;
      const ir::Stmt& stmt = kernel.body[static_cast<std::size_t>(i)];
      of_thread += times;
      if (stmt.kind != ir::StmtKind::loop) continue;
      loops.emplace_back(stmt.end, times);
      times *= static_cast<double>(kernel.indices.vars[stmt.var].extent);
    }
    all += of_thread * static_cast<double>(kernel.threads) * static_cast<double>(kernel.virtual_blocks);
  }
  return all;
}

/// Whether data says which elements a block changes: others may change the same.
bool scatters(const ir::Kernel& kernel) {
  const auto is_picked = [&](const ir::Stmt& stmt) {
    const bool writes = stmt.kind == ir::StmtKind::store || stmt.kind == ir::StmtKind::atomic;
    if (!writes || stmt.space != ir::Space::global) return false;
    for (ir::VarSet vars = kernel.indices[stmt.expr].vars; !vars.empty(); vars.drop_first())
      if (kernel.indices.vars[vars.first()].kind == ir::VarKind::picked) return true;
    return false;
  };
  return std::any_of(kernel.body.begin(), kernel.body.end(), is_picked);
}

/// Parts of a launch that run all or none, each.
std::int64_t units_of(const ir::Kernel& kernel) {
  return is_pack(kernel) ? blocks_of_launch(kernel) : meetings(kernel);
}

}  // namespace

std::string_view runs_whole(const ir::Kernel& kernel) {
  // Blocks that wait for one another run all or none, and those that put a result together likewise.
  // What a later launch reads an earlier one has made, all of it. Bodies side by side are like blocks of one kernel,
  // but how many put a result together is another number for each.
  const bool puts_together = std::any_of(kernel.buffers.begin(), kernel.buffers.end(), [](const ir::Buffer& buffer) {
    return buffer.role == ir::BufferRole::ticket || buffer.role == ir::BufferRole::workspace;
  });
  if (kernel.cooperative) return "its blocks wait for one another";
  if (launches_of(kernel).size() > 1) return "a launch of it needs all of the one before";
  if (is_pack(kernel) && launch_shape(launches_of(kernel).front()).cluster[0] > 1)
    return "blocks of its bodies form clusters";
  if (scatters(kernel)) return "data says where its blocks write";
  if (is_pack(kernel) && puts_together) return "blocks of its bodies put results together";
  if (units_of(kernel) < 2 * batches + 2)
    return puts_together ? "its blocks put few results together" : "its blocks are few";
  return {};
}

std::int64_t blocks_to_run(const ir::Kernel& kernel, const CheckOptions& options) {
  if (!runs_whole(kernel).empty()) return 0;
  const std::int64_t grid = blocks_of_launch(kernel), units = units_of(kernel);
  std::int64_t wanted = options.sample_blocks, largest = 1, all = 0;
  for (const ir::Buffer& buffer : kernel.buffers) {
    largest = std::max(largest, buffer.elements);
    all += buffer.elements;
    const bool adds_up = buffer.role == ir::BufferRole::ticket || buffer.role == ir::BufferRole::workspace;
    if (wanted == 0 && adds_up) return 0;
  }
  const double steps = statements_executed(kernel);
  const bool is_long = steps / steps_of_element > static_cast<double>(options.most_elements);
  if (wanted == 0 && options.most_elements > 0 &&
      (largest > options.most_elements || all / arrays_of_most > options.most_elements || is_long)) {
    const auto blocks_of = [&](double part, double whole) {
      return static_cast<std::int64_t>(std::min(part / whole, 1.0) * static_cast<double>(grid));
    };
    const std::int64_t that_touch = blocks_of(sampled_elements, static_cast<double>(largest));
    // More, for a better mean, unless each has many elements: those of a persistent launch have a part of everything.
    constexpr std::int64_t enough = 64, most_times = 4, fewest = batches + 2;
    wanted = std::max(that_touch, std::clamp(most_times * that_touch, fewest, enough));
    if (is_long) wanted = std::clamp(blocks_of(sampled_elements * steps_of_element, steps), fewest, wanted);
  }
  const std::int64_t share = grid / units;
  if (wanted > 0 && share > 1) wanted = std::max<std::int64_t>(wanted, (batches + 2) * share);
  return wanted >= grid ? 0 : wanted;
}

simulator::MachineLimits machine_limits(const ir::Device& device, int blocks_per_sm) {
  simulator::MachineLimits machine;
  machine.sms = static_cast<int>(device.sms.value);
  machine.blocks_per_sm = blocks_per_sm;
  machine.most_blocks_per_sm = static_cast<int>(device.blocks_per_sm.value);
  machine.threads_per_sm = static_cast<int>(device.threads_per_sm.value);
  machine.shared_per_sm = static_cast<std::int64_t>(device.shared_per_sm.value);
  machine.shared_reserved = static_cast<std::int64_t>(device.shared_reserved_per_block.value);
  machine.shared_per_block = static_cast<std::int64_t>(device.shared_per_block_optin.value);
  machine.l2_bytes = static_cast<std::int64_t>(device.l2_bytes.value);
  return machine;
}

namespace {

/// An array in memory as its elements stand row-major: most already do.
class RowMajor {
 public:
  RowMajor() = default;
  RowMajor(const ir::Shape& shape, std::span<const std::byte> memory) : bytes_(memory) {
    if (ir::is_row_major(shape) && memory.size() == content_bytes(shape)) return;
    turned_ = reference::from_memory(shape, memory);
    bytes_ = turned_.bytes;
  }
  std::span<const std::byte> bytes() const { return bytes_; }

 private:
  reference::Tensor turned_;
  std::span<const std::byte> bytes_;
};

void add_difference(const reference::Difference& difference, std::string_view output, const ir::Shape& shape,
                    Judgement& to) {
  to.elements += difference.elements;
  to.judged += difference.elements - difference.unjudged;
  to.telling += difference.telling;
  to.worst = std::max(to.worst, difference.worst);
  if (difference.wrong > 0 && to.reason.empty())
    to.reason = fmt::format("{}: {}", output, reference::describe(difference, shape));
}

/// One output's reference, in the order of memory.
struct ExpectedOutput {
  std::string_view name;
  ir::Shape shape;  ///< of the whole
  RepeatedPlaces places;
  std::vector<std::byte> values;
  std::vector<double> errors;  ///< empty: all are exact

  /// Row-major, of a place in memory.
  std::int64_t logical(std::int64_t place) const {
    const ir::Dims strides = ir::strides(shape), wanted = reference::row_major(shape.dims);
    std::int64_t index = 0;
    for (int d = 0; d < shape.rank(); ++d) index += place / strides[d] % shape.dims[d] * wanted[d];
    return index;
  }
};

std::vector<ExpectedOutput> expected_outputs(const ir::Kernel& kernel, const Reference& reference) {
  std::vector<ExpectedOutput> all;
  for (const ir::Buffer& buffer : kernel.buffers) {
    if (!is_result(buffer.role)) continue;
    const std::size_t k = all.size();
    const reference::BoundedTensor& kept = reference.outputs[k];
    ExpectedOutput& one = all.emplace_back();
    one.name = buffer.name;
    one.shape = kept.value.shape;
    if (reference.repeats) {
      const Parts& parts = reference.repeats->parts;
      one.shape = parts.graph[parts.graph.outputs[k]].shape;
      one.places = repeated_places(one.shape, parts.output_dims[k], parts.extent.steps, reference.repeats->kept);
    } else {
      one.places = repeated_places(one.shape, -1, 1, 1);
    }
    one.values.resize(reference::memory_bytes(kept.value.shape));
    reference::to_memory(kept.value, one.values);
    if (kept.error.empty()) continue;
    reference::Tensor errors{kept.value.shape, {}};
    errors.shape.dtype = ir::DType::f64;
    const std::span<const std::byte> bytes = std::as_bytes(std::span(kept.error));
    errors.bytes.assign(bytes.begin(), bytes.end());
    one.errors.resize(kept.error.size());
    reference::to_memory(errors, std::as_writable_bytes(std::span(one.errors)));
  }
  return all;
}

/// Adds what a further piece of the same output says.
void add_piece(const reference::Difference& piece, std::int64_t first, const ExpectedOutput& of,
               reference::Difference& to) {
  to.elements += piece.elements;
  to.unjudged += piece.unjudged;
  to.telling += piece.telling;
  to.wrong += piece.wrong;
  if (to.first_wrong < 0 && piece.first_wrong >= 0) to.first_wrong = of.logical(first + piece.first_wrong);
  if (piece.index < 0 || (to.index >= 0 && piece.worst <= to.worst)) return;
  to.worst = piece.worst;
  to.index = of.logical(first + piece.index);
  to.expected = piece.expected;
  to.found = piece.found;
  to.tolerance = piece.tolerance;
}

/// Holds bytes of an output from `first_byte` on against its reference, as many at once as stay in a cache.
void compare_piece(const ExpectedOutput& expected, std::int64_t first_byte, std::span<const std::byte> found,
                   std::span<const std::byte> before, const std::stop_token& stop, reference::Difference& to) {
  constexpr std::int64_t at_once = 1 << 14;
  const std::int64_t width = ir::element_bytes(expected.shape.dtype);
  for (std::int64_t done = 0; done < std::ssize(found) / width; done += at_once) {
    const std::int64_t count = std::min(at_once, std::ssize(found) / width - done);
    const auto part = [&](std::span<const std::byte> bytes) {
      return bytes.subspan(static_cast<std::size_t>(done * width), static_cast<std::size_t>(count * width));
    };
    const std::span<const std::byte> was = before.empty() ? before : part(before);
    if (!was.empty() && std::equal(was.begin(), was.end(), part(found).begin())) continue;
    const std::int64_t first = first_byte / width + done;
    reference::BoundedTensor right;
    right.value = reference::unwritten(ir::make_shape(expected.shape.dtype, {count}));
    copy_repeated(expected.places, expected.values, width, first * width, right.value.bytes);
    right.error.resize(expected.errors.empty() ? 0 : static_cast<std::size_t>(count));
    if (!expected.errors.empty())
      copy_repeated(expected.places, std::as_bytes(std::span(expected.errors)), sizeof(double),
                    first * std::int64_t{sizeof(double)}, std::as_writable_bytes(std::span(right.error)));
    add_piece(reference::compare(right, part(found), was, stop), first, expected, to);
  }
}

using Arrays = std::span<const std::span<const std::byte>>;

/// `pieces` empty: the arrays are the outputs as a whole.
Judgement judge_pieces(std::span<const ExpectedOutput> expected, Arrays outputs, Arrays before,
                       std::span<const std::vector<simulator::ByteRange>> pieces, const std::stop_token& stop) {
  Judgement judgement;
  for (std::size_t k = 0; k < expected.size(); ++k) {
    const simulator::ByteRange whole{0, std::ssize(outputs[k])};
    const std::span<const simulator::ByteRange> of = pieces.empty() ? std::span(&whole, 1) : std::span(pieces[k]);
    reference::Difference difference;
    std::size_t at = 0;
    for (const simulator::ByteRange& piece : of) {
      const auto count = static_cast<std::size_t>(piece.bytes);
      const std::span<const std::byte> was = before.empty() ? std::span<const std::byte>() : before[k];
      compare_piece(expected[k], piece.first, outputs[k].subspan(at, count), was.empty() ? was : was.subspan(at, count),
                    stop, difference);
      at += count;
    }
    add_difference(difference, expected[k].name, expected[k].shape, judgement);
  }
  return judgement;
}

/// Elements of all results of the launch.
std::int64_t all_results(const Reference& reference) {
  std::int64_t sum = 0;
  for (std::size_t k = 0; k < reference.outputs.size(); ++k) {
    const ir::Shape* shape = &reference.outputs[k].value.shape;
    if (reference.repeats) {
      const ir::Graph& graph = reference.repeats->parts.graph;
      shape = &graph[graph.outputs[k]].shape;
    }
    sum += ir::elements(*shape);
  }
  return sum;
}

std::vector<std::span<const std::byte>> spans(const std::vector<std::vector<std::byte>>& arrays) {
  return {arrays.begin(), arrays.end()};
}

/// Adds what one run's outputs say; a sample is judged where it wrote.
void add_judgement(const ir::Kernel& kernel, const Reference& reference, const Executed& run, bool whole,
                   const std::stop_token& stop, std::vector<ExpectedOutput>& expected, Judgement& all,
                   Checked& verdict) {
  const auto before = whole ? std::vector<std::span<const std::byte>>() : spans(run.before);
  if (expected.empty() && !run.pieces.empty()) expected = expected_outputs(kernel, reference);
  Judgement judgement = run.pieces.empty() ? judge(kernel, reference, spans(run.after), before, stop)
                                           : judge_pieces(expected, spans(run.after), before, run.pieces, stop);
  if (whole && judgement.reason.empty()) judgement.reason = left_alone(kernel, run, judgement.telling > 0);
  all.elements += judgement.elements;
  all.judged += judgement.judged;
  all.telling += judgement.telling;
  verdict.worst = std::max(verdict.worst, judgement.worst);
  verdict.judged = all.fraction();
  verdict.results = all.elements;
  if (judgement.reason.empty() || verdict.state == Verdict::wrong) return;
  verdict.state = Verdict::wrong;
  verdict.reason = std::move(judgement.reason);
}

}  // namespace

Judgement judge(const ir::Kernel& kernel, const Reference& reference, Arrays outputs, Arrays before,
                const std::stop_token& stop) {
  if (reference.repeats) return judge_pieces(expected_outputs(kernel, reference), outputs, before, {}, stop);
  Judgement judgement;
  std::size_t k = 0;
  for (const ir::Buffer& buffer : kernel.buffers) {
    if (!is_result(buffer.role)) continue;
    stop_if_asked(stop);
    const reference::BoundedTensor& expected = reference.outputs[k];
    const ir::Shape& shape = expected.value.shape;
    const RowMajor found(shape, outputs[k]);
    stop_if_asked(stop);
    const RowMajor was = before.empty() ? RowMajor() : RowMajor(shape, before[k]);
    add_difference(reference::compare(expected, found.bytes(), was.bytes(), stop), buffer.name, shape, judgement);
    ++k;
  }
  return judgement;
}

Checked check(const ir::Kernel& kernel, const Reference& reference, const Executor& execute,
              const CheckOptions& options) {
  Checked verdict;
  if (!reference.reason.empty()) {
    verdict.reason = reference.reason;
    verdict.reference_late = reference.late;
    return verdict;
  }
  const Sample sample = sample_of(kernel, options);
  std::vector<ir::LaunchCounts> counts;
  std::vector<ExpectedOutput> expected;  // in the order of memory; made when a run hands back pieces
  Judgement all;
  verdict.of_results = all_results(reference);
  verdict.state = Verdict::passed;
  for (const std::vector<std::int64_t>& blocks : sample.runs) {
    simulator::SimulationOptions how = simulation_options(options);
    how.blocks = blocks;
    how.time_limit.value = std::max(options.time_limit.value - verdict.time.value, 0.0);
    const Executed run = execute({reference.inputs, reference.repeats.get()}, how);
    verdict.time += run.simulation.time;
    verdict.lane_instructions += run.simulation.counters.lane_instructions;
    verdict.findings.insert(verdict.findings.end(), run.simulation.findings.begin(), run.simulation.findings.end());
    counts.push_back(launch_counts(run.simulation, kernel));
    if (ended_early(run.simulation, options, verdict)) return verdict;
    add_judgement(kernel, reference, run, blocks.empty(), options.stop, expected, all, verdict);
  }
  verdict.counts = scaled(counts, sample);
  if (const simulator::Finding* error = first_error(verdict.findings); error != nullptr) {
    const std::string also = verdict.state == Verdict::wrong ? "; " + verdict.reason : "";
    verdict.state = Verdict::unsound;
    verdict.reason = describe(*error) + also;
  } else if (verdict.state == Verdict::passed) {
    verdict.reason = nothing_judged(all, reference);
    if (!verdict.reason.empty())
      verdict.state = Verdict::not_judged;
    else if (all.judged < all.elements)
      verdict.reason = fmt::format("the rest has no bound: {}", why_unjudged(reference));
  }
  return verdict;
}

}  // namespace tailor::profiler
