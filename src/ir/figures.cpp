// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Reads files of figures, devices and calibrations, in two passes: a walk over the tokens that finds syntax errors and
// keys given twice without building anything, then a look at each entry of the schema. Places of later errors are found
// by searching the text for the quoted key; a file is small and its keys are unique within a section.
#include "ir/figures.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/text.h"
#include "ir/calibration.h"

namespace tailor::ir {

namespace {

using nlohmann::json;

Position find_position(std::string_view text, const std::string& file, std::size_t offset) {
  const std::string_view before = text.substr(0, std::min(offset, text.size()));
  const std::size_t newline = before.rfind('\n');
  const std::size_t line_start = newline == before.npos ? 0 : newline + 1;
  return {file, std::count(before.begin(), before.end(), '\n') + 1,
          static_cast<std::int64_t>(before.size() - line_start) + 1};
}

/// Sees every token; keeps the first syntax error and the first key given twice.
class TokenWalk : public nlohmann::json_sax<json> {
 public:
  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool number_integer(json::number_integer_t) override { return true; }
  bool number_unsigned(json::number_unsigned_t) override { return true; }
  bool number_float(json::number_float_t, const json::string_t&) override { return true; }
  bool string(json::string_t&) override { return true; }
  bool binary(json::binary_t&) override { return true; }
  bool start_object(std::size_t) override { return open_.emplace_back(), true; }
  bool end_object() override { return open_.pop_back(), true; }
  bool start_array(std::size_t) override { return true; }
  bool end_array() override { return true; }
  bool key(json::string_t& name) override {
    if (std::find(open_.back().begin(), open_.back().end(), name) != open_.back().end() && twice.empty()) twice = name;
    open_.back().push_back(name);
    return true;
  }
  bool parse_error(std::size_t at, const std::string& token, const nlohmann::detail::exception&) override {
    offset = at == 0 ? 0 : at - 1;
    bad_token = token;
    return false;
  }

  std::string twice, bad_token;
  std::size_t offset = 0;

 private:
  std::vector<std::vector<std::string>> open_;
};

struct Reading {
  std::string_view text;
  const std::string& file;
  std::size_t from = 0;  ///< where the section begins that is being read: keys are unique within one

  [[noreturn]] void fail(std::string_view key, std::string message, std::string hint = {}) const {
    const std::size_t at = text.find(fmt::format("\"{}\"", key), from);
    throw Error(Fault::failed, at == text.npos ? Position{file} : find_position(text, file, at), std::move(message),
                std::move(hint));
  }

  void expect_object(const json& found, std::string_view key, std::string_view what) const {
    if (!found.is_object()) fail(key, fmt::format("found {} for {}, expected an object", found.type_name(), what));
  }

  /// Fails on the first key of `object` that is not in `known`.
  void expect_known(const json& object, std::span<const std::string_view> known, std::string_view where) const {
    for (const auto& [key, ignored] : object.items())
      if (std::find(known.begin(), known.end(), key) == known.end())
        fail(key, fmt::format("unknown key '{}' in {}", key, where), suggestion(key, known));
  }

  const json& member(const json& object, std::string_view key, std::string_view where) const {
    const auto at = object.find(std::string(key));
    if (at == object.end()) fail(where, fmt::format("'{}' is missing in {}", key, where));
    return *at;
  }

  std::string word(const json& object, std::string_view key, std::string_view where) const {
    const json& found = member(object, key, where);
    if (!found.is_string())
      fail(key, fmt::format("found {} for '{}' of {}, expected text", found.type_name(), key, where));
    if (found.get_ref<const std::string&>().empty()) fail(where, fmt::format("'{}' of {} is empty", key, where));
    return found.get<std::string>();
  }

  double number(const json& object, std::string_view key, std::string_view where) const {
    const json& value = member(object, key, where);
    if (!value.is_number())
      fail(where, fmt::format("found {} for the {} of '{}', expected a number", value.type_name(), key, where));
    const double result = value.get<double>();
    if (!std::isfinite(result) || result < 0)
      fail(where, fmt::format("found {} for '{}', expected a number from 0 up", result, where));
    return result;
  }

  void expect_unit(const std::string& found, const FigureSchema& wanted) const {
    if (found != wanted.unit)
      fail(wanted.key, fmt::format("found unit '{}' for '{}', expected '{}'", found, wanted.key, wanted.unit));
  }

  void expect_parts(const json& entry, std::string_view figure, std::span<const std::string_view> parts) const {
    expect_object(entry, figure, fmt::format("figure '{}'", figure));
    for (const auto& [key, ignored] : entry.items())
      if (std::find(parts.begin(), parts.end(), key) == parts.end())
        fail(figure, fmt::format("unknown key '{}' in figure '{}'", key, figure), suggestion(key, parts));
  }

  Figure figure(const json& figures, const FigureSchema& wanted) const {
    static constexpr std::string_view parts[] = {"value", "unit", "source"};
    const json& entry = member(figures, wanted.key, "figures");
    expect_parts(entry, wanted.key, parts);
    Figure result{number(entry, "value", wanted.key), word(entry, "unit", wanted.key),
                  word(entry, "source", wanted.key)};
    expect_unit(result.unit, wanted);
    return result;
  }

  /// The figure of a calibration that `key` names.
  const FigureName& fitted_figure(std::string_view key, std::string_view where) const {
    const FigureName* found = find_figure(key);
    if (found == nullptr) {
      std::vector<std::string_view> known;
      for (const FigureName& row : figure_names())
        if (row.kind != FigureKind::limit) known.push_back(row.key);
      fail(key, fmt::format("unknown figure '{}' in {}", key, where), suggestion(key, known));
    }
    if (found->kind == FigureKind::limit)
      fail(key, fmt::format("'{}' is a limit of the GPU: no calibration may override it", key));
    return *found;
  }

  Id observation(const json& found, std::string_view figure) const {
    const bool is_id = found.is_string() && found.get_ref<const std::string&>().size() == 32 &&
                       found.get_ref<const std::string&>().find_first_not_of("0123456789abcdef") == std::string::npos;
    if (!is_id)
      fail(figure, fmt::format("found {} among the observations of '{}', expected ids of 32 hexadecimal digits",
                               found.dump(-1, ' ', false, json::error_handler_t::replace), figure));
    return id_from_hex(found.get_ref<const std::string&>());
  }

  ObservedRange range(const std::string& quantity, const json& found, std::string_view figure) const {
    const bool is_range = found.is_array() && found.size() == 2 && found[0].is_number() && found[1].is_number() &&
                          found[0].get<double>() <= found[1].get<double>();
    if (!is_range) fail(figure, fmt::format("the range '{}' of '{}' is not [low, high]", quantity, figure));
    return {quantity, found[0].get<double>(), found[1].get<double>()};
  }

  Fit fit(const std::string& device, const FigureName& figure, const json& entry) const {
    static constexpr std::string_view parts[] = {"value", "unit", "low", "high", "source", "observations", "ranges"};
    expect_parts(entry, figure.key, parts);
    Fit result;
    result.device = device;
    result.figure = figure.key;
    result.value = number(entry, "value", figure.key);
    result.unit = word(entry, "unit", figure.key);
    result.source = word(entry, "source", figure.key);
    expect_unit(result.unit, {figure.key, figure.unit});
    if (result.value == 0 && figure.kind != FigureKind::coefficient)
      fail(figure.key, fmt::format("found 0 for '{}', expected a number above 0", figure.key));
    if (entry.contains("low") || entry.contains("high")) {
      result.interval = {number(entry, "low", figure.key), number(entry, "high", figure.key)};
      if (result.interval->low > result.value || result.value > result.interval->high)
        fail(figure.key, fmt::format("the value {} of '{}' is outside its interval, {} to {}", result.value, figure.key,
                                     result.interval->low, result.interval->high));
    }
    if (entry.contains("observations")) {
      if (!entry["observations"].is_array())
        fail(figure.key, fmt::format("the observations of '{}' are no list", figure.key));
      for (const json& one : entry["observations"]) result.observations.push_back(observation(one, figure.key));
      std::sort(result.observations.begin(), result.observations.end());
      if (std::adjacent_find(result.observations.begin(), result.observations.end()) != result.observations.end())
        fail(figure.key, fmt::format("an observation of '{}' is given twice", figure.key));
    }
    if (entry.contains("ranges")) {
      expect_object(entry["ranges"], figure.key, fmt::format("the ranges of '{}'", figure.key));
      for (const auto& [quantity, bounds] : entry["ranges"].items())
        result.ranges.push_back(range(quantity, bounds, figure.key));
    }
    return result;
  }

  void add_fits(std::vector<Fit>& fits, const std::string& device, const json& figures, std::string_view where) const {
    expect_object(figures, where, fmt::format("'{}'", where));
    for (const auto& [key, ignored] : figures.items()) fitted_figure(key, where);
    for (const FigureName& row : figure_names())
      if (const auto at = figures.find(std::string(row.key)); at != figures.end())
        fits.push_back(fit(device, row, *at));
  }
};

}  // namespace

namespace {

/// The whole text as a tree; syntax errors and keys given twice with their places.
json parse_tree(std::string_view text, const std::string& file) {
  TokenWalk walk;
  if (!json::sax_parse(text, &walk))
    throw Error(Fault::failed, find_position(text, file, walk.offset),
                fmt::format("not JSON: unexpected '{}'", trim(walk.bad_token)));
  if (!walk.twice.empty()) Reading{text, file}.fail(walk.twice, fmt::format("key '{}' is given twice", walk.twice));
  json root = json::parse(text, nullptr, false);
  Reading{text, file}.expect_object(root, "", "the file");
  return root;
}

}  // namespace

FigureFile parse_figures(std::string_view text, const std::string& file, std::span<const std::string_view> words,
                         std::span<const FigureSchema> schema, std::span<const std::string_view> optional_words) {
  const json root = parse_tree(text, file);
  const Reading reading{text, file};
  std::vector<std::string_view> top(words.begin(), words.end());
  top.insert(top.end(), optional_words.begin(), optional_words.end());
  top.push_back("figures");
  reading.expect_known(root, top, "the file");
  const json& figures = reading.member(root, "figures", "the file");
  reading.expect_object(figures, "figures", "'figures'");
  std::vector<std::string_view> keys;
  for (const FigureSchema& row : schema) keys.push_back(row.key);
  reading.expect_known(figures, keys, "figures");
  FigureFile result;
  for (const std::string_view word : words) result.words.push_back(reading.word(root, word, "the file"));
  for (const std::string_view word : optional_words)
    result.words.push_back(root.contains(std::string(word)) ? reading.word(root, word, "the file") : "");
  for (const FigureSchema& row : schema) result.figures.push_back(reading.figure(figures, row));
  return result;
}

Calibration parse_calibration(std::string_view text, const std::string& file) {
  static constexpr std::string_view top[] = {"title", "model_version", "device", "figures", "devices"};
  const json root = parse_tree(text, file);
  const Reading reading{text, file};
  reading.expect_known(root, top, "the file");
  Calibration result;
  result.name = std::filesystem::path(file).stem().string();
  result.title = reading.word(root, "title", "the file");
  const json& version = reading.member(root, "model_version", "the file");
  if (!version.is_number_integer() || version.get<std::int64_t>() != model_version)
    reading.fail("model_version",
                 fmt::format("fitted for version {} of the models, this is version {}",
                             version.dump(-1, ' ', false, json::error_handler_t::replace), model_version),
                 "calibrate again: a coefficient means what its formulas made of it");
  result.version = model_version;
  if (root.contains("device")) result.device = reading.word(root, "device", "the file");
  reading.add_fits(result.fits, "", reading.member(root, "figures", "the file"), "figures");
  if (!root.contains("devices")) return result;
  if (!result.device.empty())
    reading.fail("devices", fmt::format("found figures by device in a calibration of '{}'", result.device),
                 "a calibration is for one device ('device') or for any ('devices')");
  reading.expect_object(root["devices"], "devices", "'devices'");
  const std::size_t section = text.find("\"devices\"");
  for (const auto& [device, figures] : root["devices"].items()) {
    const std::size_t at = text.find(fmt::format("\"{}\"", device), section);
    Reading{text, file, at == text.npos ? 0 : at}.add_fits(result.fits, device, figures, device);
  }
  return result;
}

}  // namespace tailor::ir
