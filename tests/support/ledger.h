// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The ledger of an import: instructions of the text, and what each pass added and removed.
// In: what was imported. Out: how many nodes there must be by it.
// Called by tests of passes and by fuzzing, which hold it against the graph.
#pragma once

#include <cstdint>

#include "hlo/import.h"

inline std::int64_t nodes_by_ledger(const tailor::hlo::Imported& imported) {
  std::int64_t nodes = imported.report.instructions;
  for (const auto& pass : imported.report.passes) nodes += pass.added - pass.removed;
  return nodes;
}
