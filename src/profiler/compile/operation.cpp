// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The table of machine operations, and the part of it that one architecture has. In: rows of operations.def and the
// number of an architecture. Out: a row for each pattern of the 12 lowest bits. Called for every kernel that is read,
// so it is a fill of 12 KB and no search.
#include "profiler/compile/operation.h"

namespace tailor::profiler {

namespace {

constexpr unsigned any_form = 0xff;
constexpr int earliest = first_decoded_arch, latest = 999;

constexpr auto operation_rows = std::to_array<Operation>({
#define TAILOR_OPERATION(base, forms, first, last, name, pipe, writes, predicates) \
  {base, forms, first, last, #name, ir::MachinePipe::pipe, Writes::writes, predicates},
#include "profiler/compile/operations.def"
});
static_assert(operation_rows.size() < 255, "rows are numbered in a byte");

std::uint8_t only_registers_of(const Operation& row) {
  const bool control = row.base >= bases::first_control && row.base <= bases::last_control;
  if (control || row.base == bases::r2p || row.predicates != 0) return 0;
  switch (row.writes) {
    case Writes::none:
    case Writes::uniform:
      return 0;
    case Writes::one:
      return 0b1;
    case Writes::two:
      return 0b11;
    case Writes::four:
    case Writes::sized:
      return 0b1111;
  }
  return 0;
}

}  // namespace

std::span<const Operation> operation_table() { return operation_rows; }

Operations::Operations(int number) : arch(number) {
  pipes.fill(ir::MachinePipe::other);
  for (std::size_t i = 0; i < operation_rows.size(); ++i) {
    const Operation& row = operation_rows[i];
    if (arch < row.first_arch || arch > row.last_arch) continue;
    for (unsigned form = 0; form < 8; ++form)
      if ((row.forms >> form & 1) != 0) {
        rows[row.base | form << 9] = static_cast<std::uint8_t>(i + 1);
        pipes[row.base | form << 9] = row.pipe;
        only_registers[row.base | form << 9] = only_registers_of(row);
      }
  }
}

}  // namespace tailor::profiler
