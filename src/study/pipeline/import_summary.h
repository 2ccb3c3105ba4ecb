// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Two texts that stand in the database and are read again by the report: what import said of a model, as JSON in the
// column graphs.summary, and the few words of a sweep file that a report repeats. Reading never fails loudly: a
// database outlives programs, and a text of another time is shown as absent, not as an error.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hlo/import.h"

namespace tailor::study {

/// {"module", "text_bytes", "instructions", "computations", "passes": [{"pass", "rewrites", "added", "removed"}],
/// "opaque": [[name, count]], "warnings": [text]} on one line; equal reports give equal bytes.
std::string import_summary_json(const ir::ImportReport& report);
/// Reads it back; absent for a text that is not of this form.
std::optional<ir::ImportReport> import_summary(std::string_view json);

/// What a sweep file asked, empty where it does not say.
struct SweepWords {
  std::string question, baseline;
  std::string claim, metric;  ///< the claim's text, and what it is about; empty without a claim
  double threshold = 0;       ///< of the claim
  std::vector<std::string> models, devices, strategies;
};
SweepWords sweep_words(std::string_view config);

}  // namespace tailor::study
