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
#include <iterator>
#include <map>

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

/// Observations that the same fits rest on, under one name: a fit names the sets instead of repeating thousands of ids.
struct ObservationSet {
  std::string name;
  std::vector<Id> ids;
};
/// Two fits and two observations make a set worth its name.
std::vector<ObservationSet> shared_sets(const Calibration& calibration) {
  std::map<Id, std::vector<std::size_t>> fits_of;
  for (std::size_t i = 0; i < calibration.fits.size(); ++i)
    for (const Id id : calibration.fits[i].observations) fits_of[id].push_back(i);
  if (calibration.residual)
    for (const Id id : calibration.residual->observations) fits_of[id].push_back(calibration.fits.size());
  std::map<std::vector<std::size_t>, std::vector<Id>> by_fits;
  for (const auto& [id, fits] : fits_of)
    if (fits.size() > 1) by_fits[fits].push_back(id);
  std::vector<ObservationSet> sets;
  for (auto& [fits, ids] : by_fits)
    if (ids.size() > 1) sets.push_back({fmt::format("set {}", sets.size() + 1), std::move(ids)});
  return sets;
}

std::string ids_text(std::span<const Id> ids, std::string_view indent) {
  constexpr std::size_t per_line = 3;
  std::string out;
  for (std::size_t i = 0; i < ids.size(); ++i)
    out += fmt::format("{}{}\"{}\"", i == 0 ? "" : ",", i % per_line == 0 ? fmt::format("\n{}", indent) : " ",
                       hex(ids[i]));
  return out;
}

/// "set 1", then ids that are in no set.
std::string observations_text(const std::vector<Id>& observations, std::span<const ObservationSet> sets) {
  std::string out;
  std::vector<Id> rest = observations;
  for (const ObservationSet& set : sets) {
    if (!std::binary_search(observations.begin(), observations.end(), set.ids.front())) continue;
    out += fmt::format("{}{}", out.empty() ? "" : ", ", quote_json(set.name));
    std::vector<Id> left;
    std::set_difference(rest.begin(), rest.end(), set.ids.begin(), set.ids.end(), std::back_inserter(left));
    rest = std::move(left);
  }
  for (const Id id : rest) out += fmt::format("{}\"{}\"", out.empty() ? "" : ", ", hex(id));
  return out;
}

std::string fit_text(const Fit& fit, std::span<const ObservationSet> sets) {
  std::string out =
      fmt::format("{}: {{\"value\": {}, \"unit\": {}", quote_json(fit.figure), fit.value, quote_json(fit.unit));
  if (fit.interval) out += fmt::format(", \"low\": {}, \"high\": {}", fit.interval->low, fit.interval->high);
  out += fmt::format(", \"source\": {}", quote_json(fit.source));
  if (!fit.observations.empty())
    out += fmt::format(", \"observations\": [{}]", observations_text(fit.observations, sets));
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
std::string section_text(const Calibration& calibration, std::string_view device, std::string_view operation,
                         std::string_view indent, std::span<const ObservationSet> sets) {
  std::string lines;
  for (const Fit& fit : calibration.fits)
    if (fit.device == device && fit.operation == operation)
      lines += fmt::format("{}\n{}  {}", lines.empty() ? "" : ",", indent, fit_text(fit, sets));
  return lines.empty() ? "{}" : fmt::format("{{{}\n{}}}", lines, indent);
}

}  // namespace

std::span<const FigureName> figure_names() { return figure_name_table; }

const FigureName* find_figure(std::string_view key) {
  for (const FigureName& row : figure_name_table)
    if (row.key == key) return &row;
  return nullptr;
}

const Fit* find_fit(const Calibration& calibration, std::string_view device, std::string_view figure,
                    std::string_view operation) {
  const Fit* best = nullptr;
  int best_rank = -1;
  for (const Fit& fit : calibration.fits) {
    if (fit.figure != figure) continue;
    if (!(fit.device.empty() || fit.device == device)) continue;
    if (!(fit.operation.empty() || fit.operation == operation)) continue;
    const int rank = (fit.operation.empty() ? 0 : 2) + (fit.device.empty() ? 0 : 1);
    if (rank <= best_rank) continue;
    best = &fit;
    best_rank = rank;
  }
  return best;
}

namespace {

/// The objects of figures that stand under a word of the file, one for each device or operation that fits name.
std::string named_sections(const Calibration& calibration, std::string_view word, std::string Fit::*named,
                           std::span<const ObservationSet> sets) {
  std::vector<std::string_view> names;
  for (const Fit& fit : calibration.fits)
    if (!(fit.*named).empty() && std::find(names.begin(), names.end(), fit.*named) == names.end())
      names.push_back(fit.*named);
  std::string sections;
  for (const std::string_view name : names) {
    const bool of_devices = named == &Fit::device;
    sections += fmt::format("{}\n    {}: {}", sections.empty() ? "" : ",", quote_json(name),
                            section_text(calibration, of_devices ? name : std::string_view{},
                                         of_devices ? std::string_view{} : name, "    ", sets));
  }
  return sections.empty() ? "" : fmt::format(",\n  {}: {{{}\n  }}", quote_json(word), sections);
}

}  // namespace

namespace {

std::string words_text(std::span<const std::string> words) {
  std::string out;
  for (const std::string& word : words) out += fmt::format("{}{}", out.empty() ? "" : ", ", quote_json(word));
  return out;
}

/// One line a tree.
std::string residual_text(const Residual& residual, std::span<const ObservationSet> sets) {
  std::string features, trees;
  for (const FeatureRange& range : residual.features)
    features +=
        fmt::format("{}{}: [{}, {}]", features.empty() ? "" : ", ", quote_json(range.feature), range.low, range.high);
  for (const Tree& tree : residual.trees)
    trees += fmt::format("{}\n      {}", trees.empty() ? "" : ",", quote_json(text(tree)));
  return fmt::format(
      ",\n  \"residual\": {{\n    \"of\": {}, \"low\": {}, \"high\": {}, \"width\": {},\n    \"features\": {{{}}},\n"
      "    \"cache\": [{}],\n    \"off\": [{}],\n    \"source\": {},\n    \"observations\": [{}],\n"
      "    \"trees\": [{}]\n  }}",
      quote_json(residual.model), residual.low, residual.high, residual.width, features, words_text(residual.caches),
      words_text(residual.off), quote_json(residual.source), observations_text(residual.observations, sets), trees);
}

}  // namespace

std::string text(const Calibration& calibration) {
  const std::vector<ObservationSet> sets = shared_sets(calibration);
  std::string out = fmt::format("{{\n  \"title\": {},\n  \"model_version\": {},\n", quote_json(calibration.title),
                                calibration.version);
  if (!calibration.device.empty()) out += fmt::format("  \"device\": {},\n", quote_json(calibration.device));
  out += fmt::format("  \"figures\": {}", section_text(calibration, "", "", "  ", sets));
  out += named_sections(calibration, "devices", &Fit::device, sets);
  out += named_sections(calibration, "operations", &Fit::operation, sets);
  if (calibration.residual) out += residual_text(*calibration.residual, sets);
  if (!sets.empty()) {
    std::string lists;
    for (const ObservationSet& set : sets)
      lists +=
          fmt::format("{}\n    {}: [{}]", lists.empty() ? "" : ",", quote_json(set.name), ids_text(set.ids, "      "));
    out += fmt::format(",\n  \"observations\": {{{}\n  }}", lists);
  }
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
  if (known.empty())
    throw Error(Fault::missing, fmt::format("no calibration '{}': no calibration files in {}", name, folder),
                "--data names the folder with devices/ and calibrations/; tailor doctor says where it is looked for");
  throw Error(Fault::missing, fmt::format("no calibration '{}' in {}", name, folder), suggestion(name, known));
}

}  // namespace tailor::ir
