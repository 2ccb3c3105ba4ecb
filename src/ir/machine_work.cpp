// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Names of the machine's pipes and of the requests that are counted, and sums of them. In: a pipe, counts. Out: its
// name and what it executes, from the table machine_pipes.def; counts. Called by the tables that show machine code, by
// keys of JSON and by the reader of machine code.
#include "ir/machine_work.h"

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

std::string_view name(MachinePipe pipe) { return row_for(pipe_rows, pipe).name; }

std::string_view words(MachinePipe pipe) { return row_for(pipe_rows, pipe).words; }

std::int64_t total(const PipeCounts& counts) { return std::accumulate(counts.begin(), counts.end(), std::int64_t{0}); }

}  // namespace tailor::ir
