// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// A file of figures: JSON with a few words and a table of numbers, each {value, unit, source}. Devices are such files;
// calibrations are too, with more about each number (calibration.h), and are read beside them. The reader is strict,
// because a wrong hardware number looks like a wrong model: every number of the schema must be there, nothing else may
// be, units are compared as text and a source may not be empty.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ir/device.h"

namespace tailor::ir {

/// One number that must be in the file.
struct FigureSchema {
  std::string_view key;
  std::string_view unit;  ///< the only unit accepted
};

struct FigureFile {
  std::vector<std::string> words;  ///< in the order of the wanted words, then of the optional ones ("": not there)
  std::vector<Figure> figures;     ///< in the order of the schema
};

/// {"<word>": "...", ..., "figures": {"<key>": {"value": 1, "unit": "...", "source": "..."}, ...}}. Values are finite
/// and not negative. Throws Error(failed) with line and column.
FigureFile parse_figures(std::string_view text, const std::string& file, std::span<const std::string_view> words,
                         std::span<const FigureSchema> schema, std::span<const std::string_view> optional_words = {});

}  // namespace tailor::ir
