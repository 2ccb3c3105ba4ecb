// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// What one kernel has to do, as tables: how long each part of the machine would take alone, and what each buffer asks
// of memory. In: an estimate, or a candidate whose work is counted. Out: tables of report/table.h, sectors of 32 bytes.
// Called by `tailor explain`.
#include "study/tables/work_tables.h"

#include <fmt/format.h>

#include <algorithm>

#include "study/tables/column.h"
#include "study/tables/plan_words.h"

namespace tailor::study {

using report::Hint;
using report::Table;

Table estimate_table(const Candidate& one, const ir::Estimate& e, const std::optional<ir::Estimate>& compiled,
                     const costmodel::Occupancy& occupancy, Seconds bound, std::span<const std::string> advice,
                     const std::string& state) {
  const ir::Kernel& k = one.kernel;
  const std::string pieces = pieces_words(one);
  Table table;
  table.columns = {column("kernel", "kernel"),
                   column("group", "group"),
                   column("predicted", "time", Hint::seconds),
                   column("predicted_low", "at least", Hint::seconds),
                   column("predicted_high", "at most", Hint::seconds),
                   column("compiled", "by machine code", Hint::seconds),
                   column("bound_time", "at least by the data sheet", Hint::seconds),
                   column("of_bound", "share of the bound", Hint::fraction),
                   column("level", "level"),
                   column("bound", "binds"),
                   column("state", "state"),
                   column("occupancy", "occupancy", Hint::fraction),
                   column("blocks_per_sm", "blocks per SM", Hint::integer),
                   column("limiter", "limited by"),
                   column("waves", "waves", Hint::number),
                   column("predicted_registers", "registers", Hint::integer),
                   column("threads", "threads", Hint::integer),
                   column("grid", "grid", Hint::count),
                   column("shared", "shared", Hint::bytes),
                   column("advice", "advice"),
                   column("plan", "plan"),
                   column("loop", "loop"),
                   column("stitches", "reductions"),
                   column("program", "program")};
  table.rows.push_back({k.name,
                        short_hex(one.of->group.id),
                        e.total.value,
                        e.low.value,
                        e.high.value,
                        compiled ? report::Cell(compiled->total.value) : report::Cell(),
                        bound.value,
                        bound.value / e.total.value,
                        std::string(ir::name(e.level)),
                        std::string(ir::name(e.bottleneck)),
                        state,
                        e.occupancy,
                        std::int64_t{occupancy.blocks_per_sm},
                        std::string(costmodel::name(occupancy.limiter)),
                        e.waves,
                        std::int64_t{e.registers},
                        std::int64_t{k.threads},
                        k.grid,
                        static_cast<double>(k.shared_bytes),
                        fmt::format("{}", fmt::join(advice, "; ")),
                        ir::text(one.plan),
                        pieces.empty() ? report::Cell() : report::Cell(pieces),
                        stitch_words(one),
                        ir::text(k)});
  return table;
}

Table part_table(const ir::Estimate& estimate) {
  Table table;
  table.title = "parts";
  table.columns = {
      column("part", "part"), {"part_time", "time", Hint::seconds}, {"of_total", "share of the total", Hint::fraction}};
  for (std::size_t i = 0; i < ir::part_count; ++i)
    table.rows.push_back({std::string(ir::name(static_cast<ir::Part>(i))), estimate.parts[i].value,
                          estimate.parts[i].value / estimate.total.value});
  return table;
}

Table buffer_table(const Candidate& planned) {
  Table table;
  table.title = "counted work: sectors are of 32 bytes";
  table.columns = {column("buffer", "buffer"),
                   {"dtype", "dtype"},
                   {"elements", "elements", Hint::count, 2},
                   {"direction", "direction"},
                   {"requests", "requests", Hint::count},
                   {"sectors", "sectors", Hint::count},
                   {"accessed", "accessed", Hint::bytes},
                   {"once", "moved once", Hint::bytes},
                   {"used", "accessed / moved", Hint::fraction}};
  const auto add = [&](const ir::Buffer& buffer, std::string_view direction, const costmodel::Traffic& traffic,
                       std::int64_t once) {
    if (traffic.requests == 0) return;
    const auto bytes = static_cast<double>(traffic.bytes);
    table.rows.push_back({buffer.name, std::string(ir::name(buffer.dtype)), buffer.elements, std::string(direction),
                          traffic.requests, traffic.sectors, bytes, static_cast<double>(once),
                          bytes / (32.0 * static_cast<double>(traffic.sectors))});
  };
  bool shared = false;
  for (std::size_t i = 0; i < planned.work.buffers.size(); ++i) {
    const costmodel::BufferWork work = costmodel::buffer_of_program(planned.work, i);
    for (const costmodel::Traffic& one : {work.load, work.store, work.atomic})
      shared = shared || one.bytes > 32 * one.sectors;
    const ir::Buffer& buffer = planned.kernel.buffers[i];
    add(buffer, "load", work.load, work.read_bytes);
    add(buffer, "store", work.store, work.written_bytes);
    add(buffer, "atomic", work.atomic, work.written_bytes);
  }
  const costmodel::Work& work = planned.work;
  if (work.sampled ||
      std::any_of(work.followers.begin(), work.followers.end(), [](const costmodel::Work& one) { return one.sampled; }))
    table.title += "; from a sample of warps";
  if (shared) table.title += "; accessed / moved is over 100 % where lanes of a warp ask for the same bytes";
  return table;
}

}  // namespace tailor::study
