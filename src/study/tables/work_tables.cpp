// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// What one kernel has to do, as tables: how long each part of the machine would take alone, and what each buffer asks
// of memory. In: an estimate, or a candidate whose work is counted. Out: tables of report/table.h, sectors of 32 bytes.
// Called by `tailor explain`.
#include "study/tables/work_tables.h"

#include "study/tables/column.h"

namespace tailor::study {

using report::Hint;
using report::Table;

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
                   {"used", "used", Hint::fraction}};
  const auto add = [&](const ir::Buffer& buffer, std::string_view direction, const costmodel::Traffic& traffic,
                       std::int64_t once) {
    if (traffic.requests == 0) return;
    const auto bytes = static_cast<double>(traffic.bytes);
    table.rows.push_back({buffer.name, std::string(ir::name(buffer.dtype)), buffer.elements, std::string(direction),
                          traffic.requests, traffic.sectors, bytes, static_cast<double>(once),
                          bytes / (32.0 * static_cast<double>(traffic.sectors))});
  };
  for (std::size_t i = 0; i < planned.work.buffers.size(); ++i) {
    const costmodel::BufferWork& work = planned.work.buffers[i];
    const ir::Buffer& buffer = planned.kernel.buffers[i];
    add(buffer, "load", work.load, work.read_bytes);
    add(buffer, "store", work.store, work.written_bytes);
    add(buffer, "atomic", work.atomic, work.written_bytes);
  }
  return table;
}

}  // namespace tailor::study
