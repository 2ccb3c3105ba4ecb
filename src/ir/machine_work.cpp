// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Names of the machine's pipes and of the requests that are counted, and sums of them. In: a pipe, counts. Out: its
// name and what it executes, from the table machine_pipes.def; counts. Called by the tables that show machine code, by
// keys of JSON and by the reader of machine code.
#include "ir/machine_work.h"

#include <algorithm>
#include <numeric>

#include "base/indexed.h"

namespace tailor::ir {

namespace {

struct PipeRow {
  std::string_view name, words;
};
constexpr auto pipe_rows = std::to_array<PipeRow>({
#define TAILOR_MACHINE_PIPE(name, words) {#name, words},
#include "ir/machine_pipes.def"
});

constexpr auto kinds = std::to_array<RequestKind>({
    {"global_loads", &MachineRequests::global_loads},
    {"global_stores", &MachineRequests::global_stores},
    {"global_atomics", &MachineRequests::global_atomics},
    {"shared_loads", &MachineRequests::shared_loads},
    {"shared_stores", &MachineRequests::shared_stores},
    {"shuffles", &MachineRequests::shuffles},
    {"barriers", &MachineRequests::barriers},
});

}  // namespace

std::span<const RequestKind> request_kinds() { return kinds; }

MachineRequests& MachineRequests::operator+=(const MachineRequests& other) {
  for (const RequestKind& kind : kinds) this->*kind.count += other.*kind.count;
  return *this;
}

MachineRequests operator*(const MachineRequests& requests, std::int64_t times) {
  MachineRequests all;
  for (const RequestKind& kind : kinds) all.*kind.count = requests.*kind.count * times;
  return all;
}

MachineWork together(const MachineWork& program) {
  MachineWork all = program;
  all.followers.clear();
  for (const MachineWork& one : program.followers) {
    for (const MachineOperation& more : one.operations) {
      const auto same = std::find_if(all.operations.begin(), all.operations.end(),
                                     [&](const MachineOperation& row) { return row.name == more.name; });
      if (same == all.operations.end()) {
        all.operations.push_back(more);
        continue;
      }
      same->instructions += more.instructions;
      same->executed += more.executed;
    }
    for (std::size_t i = 0; i < machine_pipe_count; ++i) {
      all.instructions[i] += one.instructions[i];
      all.executed[i] += one.executed[i];
    }
    all.requests += one.requests;
    all.busiest_block = std::max(all.busiest_block, one.busiest_block);
    all.counted = all.counted && one.counted;
    all.warps_run += one.warps_run;
    all.warps_total += one.warps_total;
    all.assumed += one.assumed;
    if (!one.note.empty() && one.note != program.note) all.note += (all.note.empty() ? "" : "; ") + one.note;
  }
  std::stable_sort(all.operations.begin(), all.operations.end(),
                   [](const MachineOperation& a, const MachineOperation& b) {
                     return a.instructions != b.instructions ? a.instructions > b.instructions : a.name < b.name;
                   });
  return all;
}

std::string_view name(MachinePipe pipe) { return row_for(pipe_rows, pipe).name; }

std::string_view words(MachinePipe pipe) { return row_for(pipe_rows, pipe).words; }

std::int64_t total(const PipeCounts& counts) { return std::accumulate(counts.begin(), counts.end(), std::int64_t{0}); }

}  // namespace tailor::ir
