// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The table of figures by name, looking up fits, and the canonical text of a calibration: one line a figure, keys in a
// fixed order, numbers in the shortest form that reads back equal. The reader of that text is in figures.cpp. Called
// by commands that take --calibration and by sweeps.
#include "ir/calibration.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>

#include "base/error.h"
#include "base/json.h"
#include "base/text.h"

namespace tailor::ir {

namespace {

constexpr std::array figure_name_table = std::to_array<FigureName>({
#define TAILOR_LIMIT(name, unit) {#name, unit, FigureKind::limit},
#define TAILOR_FACT(name, unit) {#name, unit, FigureKind::fact},
#define TAILOR_BEHAVIOUR(name, unit) {#name, unit, FigureKind::behaviour},
#define TAILOR_COEFFICIENT(name, unit) {#name, unit, FigureKind::coefficient},
#include "ir/figures.def"
});

std::string quote_json(std::string_view text) { return json_text(Json(text)); }

std::string fit_text(const Fit& fit) {
  std::string out =
      fmt::format("{}: {{\"value\": {}, \"unit\": {}", quote_json(fit.figure), fit.value, quote_json(fit.unit));
  if (fit.interval) out += fmt::format(", \"low\": {}, \"high\": {}", fit.interval->low, fit.interval->high);
  out += fmt::format(", \"source\": {}", quote_json(fit.source));
  if (!fit.observations.empty()) {
    std::string ids;
    for (const Id id : fit.observations) ids += fmt::format("{}\"{}\"", ids.empty() ? "" : ", ", hex(id));
    out += fmt::format(", \"observations\": [{}]", ids);
  }
  if (!fit.ranges.empty()) {
    std::string ranges;
    for (const ObservedRange& range : fit.ranges)
      ranges +=
          fmt::format("{}{}: [{}, {}]", ranges.empty() ? "" : ", ", quote_json(range.quantity), range.low, range.high);
    out += fmt::format(", \"ranges\": {{{}}}", ranges);
  }
  return out + "}";
}

/// The figures of one section, from an opening brace to the closing one.
std::string section_text(const Calibration& calibration, std::string_view device, std::string_view indent) {
  std::string lines;
  for (const Fit& fit : calibration.fits)
    if (fit.device == device) lines += fmt::format("{}\n{}  {}", lines.empty() ? "" : ",", indent, fit_text(fit));
  return lines.empty() ? "{}" : fmt::format("{{{}\n{}}}", lines, indent);
}

}  // namespace

std::span<const FigureName> figure_names() { return figure_name_table; }

const FigureName* find_figure(std::string_view key) {
  for (const FigureName& row : figure_name_table)
    if (row.key == key) return &row;
  return nullptr;
}

const Fit* find_fit(const Calibration& calibration, std::string_view device, std::string_view figure) {
  const Fit* common = nullptr;
  for (const Fit& fit : calibration.fits) {
    if (fit.figure != figure) continue;
    if (fit.device == device) return &fit;
    if (fit.device.empty()) common = &fit;
  }
  return common;
}

std::string text(const Calibration& calibration) {
  std::string out = fmt::format("{{\n  \"title\": {},\n  \"model_version\": {},\n", quote_json(calibration.title),
                                calibration.version);
  if (!calibration.device.empty()) out += fmt::format("  \"device\": {},\n", quote_json(calibration.device));
  out += fmt::format("  \"figures\": {}", section_text(calibration, "", "  "));
  std::vector<std::string_view> devices;
  for (const Fit& fit : calibration.fits)
    if (!fit.device.empty() && std::find(devices.begin(), devices.end(), fit.device) == devices.end())
      devices.push_back(fit.device);
  std::string sections;
  for (const std::string_view device : devices)
    sections += fmt::format("{}\n    {}: {}", sections.empty() ? "" : ",", quote_json(device),
                            section_text(calibration, device, "    "));
  if (!sections.empty()) out += fmt::format(",\n  \"devices\": {{{}\n  }}", sections);
  return out + "\n}\n";
}

Id id_of(const Calibration& calibration) { return tailor::id_of(std::string_view(text(calibration))); }

Calibration read_calibration(const std::string& path) { return parse_calibration(read_file(path), path); }

Calibration find_calibration(std::string_view name, const std::string& folder) {
  const bool is_path = name.find('/') != name.npos || name.ends_with(".json");
  const std::filesystem::path path =
      is_path ? std::filesystem::path(name) : std::filesystem::path(folder) / fmt::format("{}.json", name);
  if (is_path || std::filesystem::is_regular_file(path)) return read_calibration(path.string());
  std::vector<std::string> names;
  std::error_code fault;
  for (const auto& entry : std::filesystem::directory_iterator(folder, fault))
    if (entry.path().extension() == ".json") names.push_back(entry.path().stem().string());
  std::sort(names.begin(), names.end());
  const std::vector<std::string_view> known(names.begin(), names.end());
  throw Error(Fault::missing, fmt::format("no calibration '{}' in {}", name, folder), suggestion(name, known));
}

}  // namespace tailor::ir
