// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Reads files of figures, devices and calibrations: first the tree of JSON, with a look for keys given twice, then
// each entry of the schema. A value knows where it stood in the text, so every error has a line and a column. The
// schema is ir/figures.def: one row names a figure, its unit and its member. Called by device.cpp and by
// find_calibration().
#include "ir/figures.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "base/counted.h"
#include "base/error.h"
#include "base/json.h"
#include "base/text.h"
#include "ir/calibration.h"

namespace tailor::ir {

namespace {

struct Reading {
  std::string_view text;
  const std::string& file;

  [[noreturn]] void fail(std::size_t offset, std::string message, std::string hint = {}) const {
    throw Error(Fault::failed, position_at(text, offset, file), std::move(message), std::move(hint));
  }

  /// Fails on the first key that an object of the tree holds twice.
  void expect_once(const Json& json) const {
    if (json.array() != nullptr)
      for (const Json& item : *json.array()) expect_once(item);
    if (json.object() == nullptr) return;
    const Json::Object& members = *json.object();
    for (auto member = members.begin(); member != members.end(); ++member) {
      if (std::any_of(members.begin(), member, [&](const Json::Member& before) { return before.key == member->key; }))
        fail(member->offset, fmt::format("key '{}' is given twice", member->key));
      expect_once(member->value);
    }
  }

  const Json::Object& object(const Json& found, std::string_view what) const {
    if (found.object() == nullptr)
      fail(found.offset, fmt::format("found {} for {}, expected an object", kind_of(found), what));
    return *found.object();
  }

  /// Fails on the first key of `members` that is not in `known`.
  void expect_known(const Json::Object& members, std::span<const std::string_view> known,
                    std::string_view where) const {
    for (const Json::Member& member : members)
      if (std::find(known.begin(), known.end(), member.key) == known.end())
        fail(member.offset, fmt::format("unknown key '{}' in {}", member.key, where), suggestion(member.key, known));
  }

  const Json& member(const Json& object, std::string_view key, std::string_view where) const {
    const Json* found = object.find(key);
    if (found == nullptr) fail(object.offset, fmt::format("'{}' is missing in {}", key, where));
    return *found;
  }

  std::string word(const Json& object, std::string_view key, std::string_view where) const {
    const Json& found = member(object, key, where);
    if (found.string() == nullptr)
      fail(found.offset, fmt::format("found {} for '{}' of {}, expected text", kind_of(found), key, where));
    if (found.string()->empty()) fail(found.offset, fmt::format("'{}' of {} is empty", key, where));
    return *found.string();
  }

  double number(const Json& object, std::string_view key, std::string_view figure) const {
    const Json& found = member(object, key, figure);
    if (!found.number())
      fail(found.offset, fmt::format("found {} for the {} of '{}', expected a number", kind_of(found), key, figure));
    const double result = *found.number();
    if (!std::isfinite(result) || result < 0)
      fail(found.offset, fmt::format("found {} for '{}', expected a number from 0 up", result, figure));
    return result;
  }

  std::string unit(const Json& entry, const FigureSchema& wanted) const {
    std::string found = word(entry, "unit", wanted.key);
    if (found != wanted.unit)
      fail(entry.find("unit")->offset,
           fmt::format("found unit '{}' for '{}', expected '{}'", found, wanted.key, wanted.unit));
    return found;
  }

  /// Fails when figures are missing, or have null for a value: with all of them, so that a new file needs one look and
  /// not one each.
  void expect_all(const Json& figures, std::span<const FigureSchema> schema) const {
    std::vector<std::string> missing;
    bool any_open = false;
    for (const FigureSchema& row : schema) {
      const Json* const entry = figures.find(row.key);
      const Json* const value = entry != nullptr ? entry->find("value") : nullptr;
      const bool open = value != nullptr && value->null();
      any_open = any_open || open;
      if (entry == nullptr || open) missing.push_back(fmt::format("{} ({})", row.key, row.unit));
    }
    if (missing.size() > 1 || any_open)
      fail(figures.offset,
           fmt::format("{} {} missing: {}", counted(std::ssize(missing), "figure"), missing.size() == 1 ? "is" : "are",
                       fmt::join(missing, ", ")),
           "each is an object with value, unit and source, as in the files of data/devices");
  }

  Figure figure(const Json& figures, const FigureSchema& wanted) const {
    static constexpr std::string_view parts[] = {"value", "unit", "source"};
    const Json& entry = member(figures, wanted.key, "figures");
    const std::string what = fmt::format("figure '{}'", wanted.key);
    expect_known(object(entry, what), parts, what);
    const double value = number(entry, "value", wanted.key);
    return {value, unit(entry, wanted), word(entry, "source", wanted.key)};
  }

  /// Fails unless a calibration may have a figure of that name.
  void expect_fitted(const Json::Member& member, std::string_view where) const {
    const FigureName* found = find_figure(member.key);
    std::vector<std::string_view> known;
    for (const FigureName& row : figure_names())
      if (row.kind != FigureKind::limit) known.push_back(row.key);
    if (found == nullptr)
      fail(member.offset, fmt::format("unknown figure '{}' in {}", member.key, where), suggestion(member.key, known));
    if (found->kind == FigureKind::limit)
      fail(member.offset, fmt::format("'{}' is a limit of the GPU: no calibration may override it", member.key));
  }

  Id observation(const Json& found, std::string_view figure) const {
    const std::string* words = found.string();
    if (words == nullptr || words->size() != 32 || words->find_first_not_of("0123456789abcdef") != words->npos)
      fail(found.offset, fmt::format("found {} among the observations of '{}', expected ids of 32 hexadecimal digits",
                                     json_text(found), figure));
    return id_from_hex(*words);
  }

  /// Ids, and names of lists of ids that stand at the end of the file.
  std::vector<Id> observations(const Json& found, std::string_view figure, const Json* sets) const {
    if (found.array() == nullptr) fail(found.offset, fmt::format("the observations of '{}' are no list", figure));
    std::vector<Id> ids;
    for (const Json& one : *found.array()) {
      const Json* set = sets != nullptr && one.string() != nullptr ? sets->find(*one.string()) : nullptr;
      if (set == nullptr) {
        ids.push_back(observation(one, figure));
        continue;
      }
      if (set->array() == nullptr)
        fail(set->offset, fmt::format("the observations of '{}' are no list", *one.string()));
      for (const Json& each : *set->array()) ids.push_back(observation(each, *one.string()));
    }
    std::sort(ids.begin(), ids.end());
    if (std::adjacent_find(ids.begin(), ids.end()) != ids.end())
      fail(found.offset, fmt::format("an observation of '{}' is given twice", figure));
    return ids;
  }

  ObservedRange range(const Json::Member& found, std::string_view figure) const {
    const Json::Array* ends = found.value.array();
    const bool is_range = ends != nullptr && ends->size() == 2 && (*ends)[0].number() && (*ends)[1].number() &&
                          *(*ends)[0].number() <= *(*ends)[1].number();
    if (!is_range)
      fail(found.value.offset, fmt::format("the range '{}' of '{}' is not [low, high]", found.key, figure));
    return {found.key, *(*ends)[0].number(), *(*ends)[1].number()};
  }

  Fit fit(const std::string& device, const std::string& operation, const FigureName& figure, const Json& entry,
          const Json* sets) const {
    static constexpr std::string_view parts[] = {"value", "unit", "low", "high", "source", "observations", "ranges"};
    const std::string what = fmt::format("figure '{}'", figure.key);
    expect_known(object(entry, what), parts, what);
    if (!operation.empty() && figure.kind != FigureKind::coefficient)
      fail(entry.offset,
           fmt::format("found '{}' for the operation '{}', which is no coefficient", figure.key, operation),
           "a GPU's facts and behaviour are the same for all operations");
    Fit result{device,
               std::string(figure.key),
               number(entry, "value", figure.key),
               unit(entry, {figure.key, figure.unit}),
               {},
               word(entry, "source", figure.key),
               {},
               {},
               operation};
    if (result.value == 0 && figure.kind != FigureKind::coefficient)
      fail(entry.offset, fmt::format("found 0 for '{}', expected a number above 0", figure.key));
    if (entry.find("low") != nullptr || entry.find("high") != nullptr) {
      result.interval = {number(entry, "low", figure.key), number(entry, "high", figure.key)};
      if (result.interval->low > result.value || result.value > result.interval->high)
        fail(entry.offset, fmt::format("the value {} of '{}' is outside its interval, {} to {}", result.value,
                                       figure.key, result.interval->low, result.interval->high));
    }
    if (const Json* ids = entry.find("observations")) result.observations = observations(*ids, figure.key, sets);
    if (const Json* ranges = entry.find("ranges"))
      for (const Json::Member& one : object(*ranges, fmt::format("the ranges of '{}'", figure.key)))
        result.ranges.push_back(range(one, figure.key));
    return result;
  }

  /// The members of an object by name; none where it is not there.
  Json::Object sections(const Json* found, std::string_view what) const {
    if (found == nullptr) return {};
    Json::Object by_name = object(*found, what);
    std::sort(by_name.begin(), by_name.end(),
              [](const Json::Member& a, const Json::Member& b) { return a.key < b.key; });
    return by_name;
  }

  double signed_number(const Json& found, std::string_view what) const {
    if (!found.number() || !std::isfinite(*found.number()))
      fail(found.offset, fmt::format("found {} for {}, expected a number", json_text(found), what));
    return *found.number();
  }

  std::vector<std::string> words(const Json& object, std::string_view key) const {
    const Json& list = member(object, key, "'residual'");
    std::vector<std::string> out;
    if (list.array() == nullptr) fail(list.offset, fmt::format("'{}' of 'residual' is no list", key));
    for (const Json& one : *list.array()) {
      if (one.string() == nullptr)
        fail(one.offset, fmt::format("found {} in '{}', expected text", json_text(one), key));
      out.push_back(*one.string());
    }
    return out;
  }

  FeatureRange feature(const Json::Member& found) const {
    const Json::Array* ends = found.value.array();
    if (ends == nullptr || ends->size() != 2)
      fail(found.value.offset, fmt::format("the range of feature '{}' is not [low, high]", found.key));
    FeatureRange range{found.key, signed_number((*ends)[0], found.key), signed_number((*ends)[1], found.key)};
    if (range.low > range.high)
      fail(found.value.offset, fmt::format("the range of feature '{}' is not [low, high]", found.key));
    return range;
  }

  Residual residual(const Json& found, const Json* sets) const {
    static constexpr std::string_view parts[] = {"of",    "low", "high",   "width",        "features",
                                                 "cache", "off", "source", "observations", "trees"};
    static constexpr std::string_view where = "'residual'";
    expect_known(object(found, where), parts, where);
    Residual result;
    result.model = word(found, "of", where);
    result.low = signed_number(member(found, "low", where), "the low bound");
    result.high = signed_number(member(found, "high", where), "the high bound");
    result.width = number(found, "width", "residual");
    constexpr double most = 0.6;  // what the models' laws bear (costmodel/residual.cpp)
    if (!(-most <= result.low && result.low <= 0 && 0 <= result.high && result.high <= most))
      fail(found.offset, fmt::format("found bounds {} and {} of the residual, expected {} <= low <= 0 <= high <= {}",
                                     result.low, result.high, -most, most));
    const Json& features = member(found, "features", where);
    for (const Json::Member& one : object(features, "the features of 'residual'"))
      result.features.push_back(feature(one));
    result.caches = words(found, "cache");
    result.off = words(found, "off");
    result.source = word(found, "source", where);
    result.observations = observations(member(found, "observations", where), "residual", sets);
    const Json& trees = member(found, "trees", where);
    if (trees.array() == nullptr) fail(trees.offset, "the trees of 'residual' are no list");
    for (const Json& one : *trees.array()) {
      if (one.string() == nullptr) fail(one.offset, "a tree is no text");
      result.trees.push_back(
          with_position([&] { return position_at(text, one.offset, file); },
                        [&] { return parse_tree(*one.string(), static_cast<std::int32_t>(result.features.size())); }));
    }
    if (const double fall = fall_of(result.trees); fall > steepest_fall * result.width * (1 + 1e-6))
      fail(found.offset,
           fmt::format("the residual falls by {} over a width of {}: a longer kernel could take less time", fall,
                       result.width));
    return result;
  }

  /// One section, in the order of figures.def.
  void add_fits(std::vector<Fit>& fits, const std::string& device, const std::string& operation, const Json& figures,
                std::string_view where, const Json* sets) const {
    for (const Json::Member& member : object(figures, fmt::format("'{}'", where))) expect_fitted(member, where);
    for (const FigureName& row : figure_names())
      if (const Json* entry = figures.find(row.key)) fits.push_back(fit(device, operation, row, *entry, sets));
  }
};

}  // namespace

FigureFile parse_figures(std::string_view text, const std::string& file, std::span<const std::string_view> words,
                         std::span<const FigureSchema> schema, std::span<const std::string_view> optional_words) {
  const Json root = parse_json(text, file);
  const Reading reading{text, file};
  reading.expect_once(root);
  const Json::Object& members = reading.object(root, "the file");
  std::vector<std::string_view> top(words.begin(), words.end());
  top.insert(top.end(), optional_words.begin(), optional_words.end());
  top.push_back("figures");
  reading.expect_known(members, top, "the file");
  const Json& figures = reading.member(root, "figures", "the file");
  std::vector<std::string_view> keys;
  for (const FigureSchema& row : schema) keys.push_back(row.key);
  reading.expect_known(reading.object(figures, "'figures'"), keys, "figures");
  FigureFile result;
  for (const std::string_view word : words) result.words.push_back(reading.word(root, word, "the file"));
  for (const std::string_view word : optional_words)
    result.words.push_back(root.find(word) != nullptr ? reading.word(root, word, "the file") : "");
  reading.expect_all(figures, schema);
  for (const FigureSchema& row : schema) result.figures.push_back(reading.figure(figures, row));
  return result;
}

Calibration parse_calibration(std::string_view text, const std::string& file) {
  static constexpr std::string_view top[] = {"title",   "model_version", "device",   "figures",
                                             "devices", "operations",    "residual", "observations"};
  const Json root = parse_json(text, file);
  const Reading reading{text, file};
  reading.expect_once(root);
  reading.expect_known(reading.object(root, "the file"), top, "the file");
  Calibration result;
  result.name = std::filesystem::path(file).stem().string();
  result.title = reading.word(root, "title", "the file");
  const Json& version = reading.member(root, "model_version", "the file");
  if (version.integer() != model_version)
    reading.fail(
        version.offset,
        fmt::format("fitted for version {} of the models, this is version {}", json_text(version), model_version),
        "calibrate again: a coefficient means what its formulas made of it");
  if (root.find("device") != nullptr) result.device = reading.word(root, "device", "the file");
  const Json* sets = root.find("observations");
  if (sets != nullptr) reading.object(*sets, "'observations'");
  reading.add_fits(result.fits, "", "", reading.member(root, "figures", "the file"), "figures", sets);
  const Json* devices = root.find("devices");
  if (devices != nullptr && !result.device.empty())
    reading.fail(devices->offset, fmt::format("found figures by device in a calibration of '{}'", result.device),
                 "a calibration is for one device ('device') or for any ('devices')");
  for (const Json::Member& section : reading.sections(devices, "'devices'"))
    reading.add_fits(result.fits, section.key, "", section.value, section.key, sets);
  const Json* operations = root.find("operations");
  if (operations != nullptr && result.device.empty())
    reading.fail(operations->offset, "found figures by operation in a calibration of no device",
                 "what a call costs beside its kernel is known of one machine ('device')");
  for (const Json::Member& section : reading.sections(operations, "'operations'"))
    reading.add_fits(result.fits, "", section.key, section.value, section.key, sets);
  if (const Json* residual = root.find("residual")) {
    if (result.device.empty()) reading.fail(residual->offset, "found a residual in a calibration of no device");
    result.residual = reading.residual(*residual, sets);
  }
  return result;
}

}  // namespace tailor::ir
