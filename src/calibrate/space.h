// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// A tuning space that somebody measured whole: each configuration of a kernel and the time that it took, or that it
// failed. In: a CSV table, perhaps a description. Out: parameters as numbers, times in seconds. Called by study's
// replaying. Nothing is known of such a kernel but its parameters, so no physics applies: a model of it is learned.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "calibrate/csv.h"

namespace tailor::calibrate {

struct TuningSpace {
  std::string file;
  std::vector<std::string> parameters;  ///< those with more than one value
  std::vector<double> values;           ///< configurations x parameters, row by row
  std::vector<double> times;            ///< s, of each configuration; infinity where it failed
  std::vector<double> problem;          ///< sizes of what the kernel computes, above 1, where they are known

  std::size_t size() const { return times.size(); }
  std::span<const double> of(std::size_t configuration) const {
    return std::span(values).subspan(configuration * parameters.size(), parameters.size());
  }
  double best() const;         ///< s; infinity when all failed
  std::size_t failed() const;  ///< configurations
};

/// Which columns are meant; nothing: the usual ones.
struct SpaceColumns {
  std::string time = "time";            ///< without its unit: time_ms is found
  std::vector<std::string> parameters;  ///< empty: all in front of `status` and the time
};

/// A cell that is no number makes its column one of words, and a word counts as its place among the column's, sorted. A
/// configuration failed where `status` is there and not "ok", or where the time is empty. Throws Error(failed) for a
/// column that is not there, a time that is no number above 0, a configuration that stands twice, and for fewer than
/// twenty configurations or two parameters' values that worked.
TuningSpace read_space(const CsvTable& table, const SpaceColumns& columns);

/// `problem_size` of the description of a space: a number or a list of numbers, of which those above 1 are sizes; of
/// anything else, and where the key is not there, none. Throws Error for what is no JSON.
std::vector<double> problem_sizes(std::string_view json, const std::string& file);

}  // namespace tailor::calibrate
