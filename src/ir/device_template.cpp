// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The template of a device file. In: a device that is known, a title. Out: text, a line per figure as in the files that
// ship, so that it can be filled in by hand. That GPUs of one architecture agree in all other figures is held against
// the files that ship by a test.
#include "ir/device_template.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/json.h"

namespace tailor::ir {

std::span<const std::string_view> product_figures() {
  static constexpr std::array names = std::to_array<std::string_view>(
      {"sms", "clock", "dram_bandwidth", "dram_pin_rate", "dram_width", "dram_bytes", "l2_bytes", "f32_peak"});
  return names;
}

std::string device_template(const Device& from, std::string_view title) {
  const std::span<const std::string_view> open = product_figures();
  std::string out =
      fmt::format("{{\n  \"title\": {},\n  \"arch\": {},\n  \"figures\": {{\n", json_text(title), json_text(from.arch));
  for (const FigureRow& row : figure_table) {
    const Figure& known = from.*row.member;
    const bool is_open = std::find(open.begin(), open.end(), row.key) != open.end();
    const Json source =
        is_open ? Json("") : Json(fmt::format("{}; as {}, of the same architecture", known.source, from.name));
    out += fmt::format("    \"{}\": {{\"value\": {}, \"unit\": {}, \"source\": {}}}{}\n", row.key,
                       is_open ? "null" : json_text(known.value), json_text(row.unit), json_text(source),
                       &row == &figure_table.back() ? "" : ",");
  }
  return out + "  }\n}\n";
}

}  // namespace tailor::ir
