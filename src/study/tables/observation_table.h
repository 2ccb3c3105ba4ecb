// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// How many observations a database has to fit to and to score with. Rows of observations come in; a table with a row
// for each device and regime, and a column for each side of the split, goes out. What is scored with was never fitted
// to, so a side without rows is worth seeing. Called by tailor db observations.
#pragma once

#include <span>

#include "report/table.h"
#include "store/rows.h"

namespace tailor::study {

/// By device, then regime. No row at all without observations.
report::Table observation_table(std::span<const store::ObservationRow> observations);

}  // namespace tailor::study
