// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// A run for databases that tests of this folder write to. In: nothing. Out: its row, the same each time. Included by
// tests that save what a study made: every row of theirs belongs to a run.
// It stands for no study that took place.
#pragma once

#include <string_view>

#include "base/hash.h"
#include "store/store.h"

namespace tailor::study {

inline store::RunRow run_row() {
  store::RunRow run;
  run.id = tailor::id_of(std::string_view("run"));
  run.started_at = "2026-01-01T00:00:00Z";
  return run;
}

}  // namespace tailor::study
