// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Reads a calibration: the same kind of file as a device.
#include "costmodel/calibration.h"

#include "base/text.h"
#include "ir/figures.h"

namespace tailor::costmodel {

Calibration parse_calibration(std::string_view text, const std::string& file) {
  static constexpr std::string_view words[] = {"title"};
  static constexpr ir::FigureSchema schema[] = {
      {"register_base", "register"},  {"warm_share", "fraction"},   {"reuse_knee", "1"},
      {"sol_low", "fraction"},        {"sol_high", "fraction"},     {"projected_low", "fraction"},
      {"projected_high", "fraction"}, {"compiled_low", "fraction"}, {"compiled_high", "fraction"}};
  const ir::FigureFile read = ir::parse_figures(text, file, words, schema);
  const auto value = [&](std::size_t i) { return read.figures[i].value; };
  return {value(0), value(1), value(2), {value(3), value(4)}, {value(5), value(6)}, {value(7), value(8)}};
}

Calibration read_calibration(const std::string& path) { return parse_calibration(read_file(path), path); }

}  // namespace tailor::costmodel
