// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Device: what a data sheet or the driver says of one GPU, as numbers with value, unit and source, read from
// data/devices/*.json. Limits: the part that decides what is legal, the only part lowering may see. Commands read
// devices by name; cost models see them only through a calibration (costmodel/calibration.h).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/units.h"

namespace tailor::ir {

struct Figure {
  double value = 0;
  std::string unit;
  std::string source;
  bool operator==(const Figure&) const = default;
};

/// Integers of the occupancy rules (bytes, threads, registers, blocks).
struct Limits {
#define TAILOR_LIMIT(name, unit) int name = 0;
#include "ir/figures.def"
  bool operator==(const Limits&) const = default;
};

/// The facts of one GPU. How it was found to behave (efficiencies, latencies, overheads) is no fact: see calibration.h.
struct Device {
  std::string name;      ///< file stem: "h200"; what the GPU is known by
  std::string title;     ///< "NVIDIA H200 SXM"
  std::string arch;      ///< "sm_90"
  std::string chip;      ///< "GH100", as CUPTI calls it; may be empty
  std::string reported;  ///< "NVIDIA H200", as the driver calls it in published tables; several with ';'; may be empty
#define TAILOR_LIMIT(name, unit) Figure name;
#define TAILOR_FACT(name, unit) Figure name;
#include "ir/figures.def"
};

/// One row per number of the file.
struct FigureRow {
  std::string_view key;
  std::string_view unit;  ///< the only unit accepted
  Figure Device::*member;
};
extern const std::vector<FigureRow> figure_table;

Limits limits(const Device& device);

/// Reads one JSON file. Throws Error(failed) for a missing number, an unknown key (nearest named), a wrong unit or
/// type, text that is not JSON (line and column).
Device read_device(const std::string& path);
/// The same from text; `file` names it in errors.
Device parse_device(std::string_view text, const std::string& file);
/// `name` is a file stem in `folder` or a path (it contains '/' or ends in ".json"). Of a stem case, blanks and dashes
/// do not count, and its beginning will do where only one has it: "A100" is a100_80gb. Throws Error(missing) that lists
/// what is there, or what the beginning may mean.
Device find_device(std::string_view name, const std::string& folder);
std::vector<std::string> device_names(const std::string& folder);

}  // namespace tailor::ir
