// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// JSON as plain values. In: a text (a sweep file, a device file, a recorded line, a digest, a message between
// processes), or values that a caller put together. Out: a tree of Json, or its text. Called by every room that reads
// or writes JSON; no other file of src/ includes a JSON library, which takes seconds to compile each time.
//
// A tree that was read remembers where each value and key stood, so that a reader can say by line and column what does
// not fit. Members of objects keep their order. Whole numbers stay exact over the range of int64 and uint64.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/error.h"

namespace tailor {

/// A JSON value. Null is the default.
struct Json {
  struct Member;
  using Array = std::vector<Json>;
  /// A key may be there twice, as in the text that was read; find() then takes the last.
  using Object = std::vector<Member>;
  /// uint64 holds only what int64 cannot, so equal numbers are equal values.
  using Value = std::variant<std::monostate, bool, std::int64_t, std::uint64_t, double, std::string, Array, Object>;

  Value value;
  std::size_t offset = 0;  ///< of the first character in the text that was read; plays no part in comparisons

  Json() = default;
  Json(std::nullptr_t) {}
  template <std::same_as<bool> Truth>
  Json(Truth truth) : value(truth) {}
  template <std::integral Integer>
  requires(!std::same_as<Integer, bool>) Json(Integer integer) {
    if (std::in_range<std::int64_t>(integer)) {
      value = static_cast<std::int64_t>(integer);
    } else {
      value = static_cast<std::uint64_t>(integer);
    }
  }
  Json(double number) : value(number) {}
  Json(const char* text) : value(std::string(text)) {}
  Json(std::string_view text) : value(std::string(text)) {}
  Json(std::string text) : value(std::move(text)) {}
  Json(Array items);
  Json(Object members);
  /// An object: Json{{"name", name}, {"bytes", 12}}.
  Json(std::initializer_list<Member> members);
  /// An array of what converts.
  template <class T>
  Json(const std::vector<T>& items);
  /// Null when absent.
  template <class T>
  Json(const std::optional<T>& present);

  // What it is: the value, or null (nothing) when it is of another kind.
  bool null() const { return std::holds_alternative<std::monostate>(value); }
  std::optional<bool> boolean() const;
  /// A number written without point and exponent, within int64.
  std::optional<std::int64_t> integer() const;
  /// The same, from 0 up, within uint64.
  std::optional<std::uint64_t> natural() const;
  /// Any number.
  std::optional<double> number() const;
  const std::string* string() const { return std::get_if<std::string>(&value); }
  const Array* array() const { return std::get_if<Array>(&value); }
  const Object* object() const { return std::get_if<Object>(&value); }

  /// The member of an object; null when there is none, or when this is no object.
  const Json* find(std::string_view key) const;
  /// The member of an object, added when it is not there. Null becomes an object first; another kind must not be asked.
  Json& operator[](std::string_view key);
  /// Appends to an array. Null becomes an array first; another kind must not be asked.
  void push_back(Json item);

  bool operator==(const Json& other) const;
};

struct Json::Member {
  std::string key;
  Json value;
  std::size_t offset = 0;  ///< of the key in the text that was read
  bool operator==(const Member& other) const { return key == other.key && value == other.value; }
};

/// Deepest nesting that is read.
inline constexpr std::size_t deepest_json = 32;

/// Reads a text that holds one value. Throws Error with line and column for text that is not JSON or is nested too
/// deeply; `fault` is what that means to the caller.
Json parse_json(std::string_view text, const std::string& file, Fault fault = Fault::failed);
/// The same for text that may be anything; absent where parse_json() would throw.
std::optional<Json> try_parse_json(std::string_view text);

/// The text of a value: on one line without blanks, or, for an `indent` from 0 up, with a line per value. Numbers that
/// are not finite are written as null; bytes that are not UTF-8 are replaced by U+FFFD. Reals are as short as they can
/// be and read back as the same value; a real that is whole keeps its ".0".
std::string json_text(const Json& json, int indent = -1);

/// "null", "true or false", "a number", "a string", "a list", "an object": for messages.
std::string_view kind_of(const Json& json);

/// The position of an offset in a text. Line and column count from 1.
Position position_at(std::string_view text, std::size_t offset, const std::string& file);

template <class T>
Json::Json(const std::vector<T>& items) {
  Array& array = value.emplace<Array>();
  array.reserve(items.size());
  for (const T& item : items) array.emplace_back(item);
}

template <class T>
Json::Json(const std::optional<T>& present) {
  if (present) *this = Json(*present);
}

}  // namespace tailor
