// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Reads a file of figures in two passes: a walk over the tokens that finds syntax errors and keys given twice without
// building anything, then a look at each entry of the schema. Places of later errors are found by searching the text
// for the quoted key; a file is small and its keys are unique.
#include "ir/figures.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/text.h"

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

  [[noreturn]] void fail(std::string_view key, std::string message, std::string hint = {}) const {
    const std::size_t at = text.find(fmt::format("\"{}\"", key));
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

  Figure figure(const json& figures, const FigureSchema& wanted) const {
    static constexpr std::string_view parts[] = {"value", "unit", "source"};
    const json& entry = member(figures, wanted.key, "figures");
    expect_object(entry, wanted.key, fmt::format("figure '{}'", wanted.key));
    for (const auto& [key, ignored] : entry.items())
      if (std::find(std::begin(parts), std::end(parts), key) == std::end(parts))
        fail(wanted.key, fmt::format("unknown key '{}' in figure '{}'", key, wanted.key), suggestion(key, parts));
    const json& value = member(entry, "value", wanted.key);
    if (!value.is_number())
      fail(wanted.key, fmt::format("found {} for the value of '{}', expected a number", value.type_name(), wanted.key));
    Figure result{value.get<double>(), word(entry, "unit", wanted.key), word(entry, "source", wanted.key)};
    if (!std::isfinite(result.value) || result.value < 0)
      fail(wanted.key, fmt::format("found {} for '{}', expected a number from 0 up", result.value, wanted.key));
    if (result.unit != wanted.unit)
      fail(wanted.key, fmt::format("found unit '{}' for '{}', expected '{}'", result.unit, wanted.key, wanted.unit));
    return result;
  }
};

}  // namespace

FigureFile parse_figures(std::string_view text, const std::string& file, std::span<const std::string_view> words,
                         std::span<const FigureSchema> schema, std::span<const std::string_view> optional_words) {
  TokenWalk walk;
  if (!json::sax_parse(text, &walk))
    throw Error(Fault::failed, find_position(text, file, walk.offset),
                fmt::format("not JSON: unexpected '{}'", trim(walk.bad_token)));
  const Reading reading{text, file};
  if (!walk.twice.empty()) reading.fail(walk.twice, fmt::format("key '{}' is given twice", walk.twice));
  const json root = json::parse(text, nullptr, false);
  reading.expect_object(root, "", "the file");
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

}  // namespace tailor::ir
