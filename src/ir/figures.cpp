// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Reads a file of figures: first the tree of JSON, with a look for keys given twice, then each entry of the schema. A
// value knows where it stood in the text, so every error has a line and a column.
#include "ir/figures.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/json.h"
#include "base/text.h"

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

  Figure figure(const Json& figures, const FigureSchema& wanted) const {
    static constexpr std::string_view parts[] = {"value", "unit", "source"};
    const Json& entry = member(figures, wanted.key, "figures");
    const std::string what = fmt::format("figure '{}'", wanted.key);
    expect_known(object(entry, what), parts, what);
    const Json& value = member(entry, "value", wanted.key);
    if (!value.number())
      fail(value.offset, fmt::format("found {} for the value of '{}', expected a number", kind_of(value), wanted.key));
    Figure result{*value.number(), word(entry, "unit", wanted.key), word(entry, "source", wanted.key)};
    if (!std::isfinite(result.value) || result.value < 0)
      fail(value.offset, fmt::format("found {} for '{}', expected a number from 0 up", result.value, wanted.key));
    if (result.unit != wanted.unit)
      fail(entry.find("unit")->offset,
           fmt::format("found unit '{}' for '{}', expected '{}'", result.unit, wanted.key, wanted.unit));
    return result;
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
  for (const FigureSchema& row : schema) result.figures.push_back(reading.figure(figures, row));
  return result;
}

}  // namespace tailor::ir
