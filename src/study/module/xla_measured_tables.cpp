// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// XLA's kernels as a GPU ran them, as tables: each kernel alone, all of them added up, and the module in order. Times
// of kernels alone hold no gaps between them; those of the module do. Called by tailor import-xla --profiler gpu. In:
// what measuring found. Out: tables.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <map>

#include "base/counted.h"
#include "base/statistics.h"
#include "profiler/measure/sampled.h"
#include "study/module/xla_rows.h"
#include "study/tables/column.h"

namespace tailor::study {

using report::Cell;
using report::Hint;
using report::Table;

namespace {

std::vector<Cell> kernel_row(const MeasuredXla& row, std::size_t cache, std::string_view state) {
  const profiler::XlaKernel& kernel = *row.kernel;
  const profiler::CandidateResult& result = row.found.result;
  const Spread time = cache < result.times.size() ? profiler::time_of(result.times[cache]) : Spread{};
  const bool timed = time.n > 0, ran = !row.found.left_out;
  return {kernel.entry,
          kernel.kind,
          static_cast<std::int64_t>(kernel.call_sites.size()),
          static_cast<std::int64_t>(kernel.times),
          array_bytes(kernel),
          result.entry.registers > 0 ? Cell(std::int64_t{result.entry.registers}) : Cell(),
          std::string(profiler::outcome_word(row.found)),
          ran && result.judged ? Cell(result.worst) : Cell(),
          std::string(state),
          timed ? Cell(time.median) : Cell(),
          timed ? Cell(time.low) : Cell(),
          timed ? Cell(time.high) : Cell(),
          static_cast<std::int64_t>(time.n),
          timed ? Cell(array_bytes(kernel) / time.median) : Cell(),
          timed ? Cell(kernel.times * time.median) : Cell(),
          ran ? result.reason : row.found.left_out->reason};
}

/// Kernels and launches on one side of a sum.
struct Side {
  std::int64_t kernels = 0;
  double launches = 0, arrays = 0, seconds = 0;
  void add(const profiler::XlaKernel& kernel, double median) {
    ++kernels;
    launches += kernel.times;
    arrays += kernel.times * array_bytes(kernel);
    seconds += kernel.times * median;
  }
};

std::string note_of(const profiler::XlaModuleSequence& all, const ir::Measurement& measured) {
  std::vector<std::string> notes;
  if (!measured.reason.empty()) notes.push_back(measured.reason);
  if (const std::int64_t copies = gpu::transfers(all.sequence); copies > 0)
    notes.push_back(counted(copies, "launch", "copies or fills memory", "copy or fill memory"));
  for (const profiler::XlaLeftOut& left : all.left_out)
    notes.push_back(fmt::format("{} x {}", left.launches, left.reason));
  if (all.shortened_loops > 0) notes.push_back(counted(all.shortened_loops, "loop", "runs one trip", "run one trip"));
  return fmt::format("{}", fmt::join(notes, "; "));
}

}  // namespace

Table xla_measured_table(const std::vector<MeasuredXla>& all, const profiler::MeasureOptions& how) {
  Table table;
  table.title = "XLA's kernels on the GPU";
  table.columns = {column("entry", "entry"),
                   column("fusion_kind", "kind", Hint::text, 9),
                   column("places", "places", Hint::count, 8),
                   column("runs", "runs", Hint::count, 2),
                   column("arrays", "arrays", Hint::bytes, 3),
                   column("registers", "registers", Hint::integer, 7),
                   column("outcome", "outcome"),
                   column("worst", "worst error", Hint::number, 6),
                   column("cache", "cache", Hint::text, 4),
                   column("median", "time", Hint::seconds),
                   column("low", "from", Hint::seconds, 5),
                   column("high", "to", Hint::seconds, 5),
                   column("samples", "samples", Hint::integer, 6),
                   column("rate", "arrays once", Hint::rate, 1),
                   column("total", "per run of the module", Hint::seconds, 1),
                   sentence("reason", "reason")};
  for (const MeasuredXla& row : all)
    for (std::size_t c = 0; c < how.caches.size(); ++c)
      table.rows.push_back(kernel_row(row, c, ir::name(how.caches[c])));
  return table;
}

Table xla_outcome_table(const std::vector<MeasuredXla>& all) {
  Table table;
  table.title = "outcomes";
  table.columns = {column("outcome", "outcome"), column("kernels", "kernels", Hint::count)};
  std::map<std::string_view, std::int64_t> counts;
  for (const MeasuredXla& row : all) ++counts[profiler::outcome_word(row.found)];
  for (const auto& [outcome, count] : counts) table.rows.push_back({std::string(outcome), count});
  return table;
}

Table xla_sum_table(const profiler::XlaModule& module, const std::vector<MeasuredXla>& all,
                    const profiler::MeasureOptions& how) {
  Table table;
  table.title = "one run of the module, kernel by kernel: times of kernels alone, without the gaps between them";
  table.columns = {column("cache", "cache"),
                   column("kernels", "kernels", Hint::count),
                   column("launches", "launches", Hint::count),
                   column("arrays", "arrays", Hint::bytes, 2),
                   column("total", "time", Hint::seconds),
                   column("rate", "arrays once", Hint::rate),
                   column("kernels_left_out", "kernels left out", Hint::count),
                   column("launches_left_out", "their launches", Hint::count, 1),
                   column("arrays_left_out", "their arrays", Hint::bytes, 3),
                   column("other_launches", "library and other launches", Hint::count, 1)};
  double library = 0;
  for (const profiler::XlaOther& other : module.others) library += other.times;
  for (std::size_t c = 0; c < how.caches.size(); ++c) {
    Side timed, left;
    for (const MeasuredXla& row : all) {
      const auto& times = row.found.result.times;
      const Spread time =
          c < times.size() && times[c].outcome == ir::Outcome::ok ? profiler::time_of(times[c]) : Spread{};
      (time.n > 0 ? timed : left).add(*row.kernel, time.median);
    }
    table.rows.push_back({std::string(ir::name(how.caches[c])), timed.kernels, whole_count(timed.launches),
                          timed.arrays, timed.kernels > 0 ? Cell(timed.seconds) : Cell(),
                          timed.seconds > 0 ? Cell(timed.arrays / timed.seconds) : Cell(), left.kernels,
                          whole_count(left.launches), left.arrays, whole_count(library)});
  }
  return table;
}

Table xla_module_table(const MeasuredXlaModule& all) {
  Table table;
  table.title = "the module's kernels, copies and fills in order, library calls left out";
  table.columns = {column("cache", "cache"),
                   column("launch_mode", "launched as"),
                   column("launches", "launches", Hint::count),
                   column("copies", "of them copies and fills", Hint::count, 2),
                   column("launches_left_out", "left out", Hint::count, 1),
                   column("buffers", "buffers", Hint::bytes, 2),
                   column("memory", "memory", Hint::text, 3),
                   column("median", "time", Hint::seconds),
                   column("low", "from", Hint::seconds, 4),
                   column("high", "to", Hint::seconds, 4),
                   column("samples", "samples", Hint::integer, 5),
                   column("outcome", "outcome"),
                   column("note", "note", Hint::text, 1)};
  const profiler::XlaModuleSequence& sequence = *all.sequence;
  std::int64_t left_out = sequence.library_launches;
  for (const profiler::XlaLeftOut& left : sequence.left_out) left_out += left.launches;
  for (const ir::Measurement& measured : all.times) {
    const Spread time = profiler::time_of(measured);
    const bool timed = time.n > 0;
    table.rows.push_back(
        {std::string(ir::name(measured.protocol.cache)), std::string(ir::name(measured.protocol.launch)),
         static_cast<std::int64_t>(sequence.sequence.launches.size()), gpu::transfers(sequence.sequence), left_out,
         static_cast<double>(sequence.buffer_bytes),
         sequence.assignment_known ? "as XLA assigned it" : "one buffer per value", timed ? Cell(time.median) : Cell(),
         timed ? Cell(time.low) : Cell(), timed ? Cell(time.high) : Cell(), static_cast<std::int64_t>(time.n),
         std::string(ir::name(measured.outcome)), note_of(sequence, measured)});
  }
  return table;
}

}  // namespace tailor::study
