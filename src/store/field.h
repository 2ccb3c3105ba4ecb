// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// What a list of fields is made of. records.h says once for each record which fields it has; whoever reads or writes a
// record (SQL in record_sql.h, recorded files in recorded_text.cpp, CSV in export_csv.cpp, tests) walks that list with
// a visitor of its own, so no two of them can disagree. Private to this folder and its tests.
//
// A visitor has
//   static constexpr bool reads              true when it fills the record
//   operator()(name, value, marks)           one field; `name` is its column, its key in JSON and its head in CSV
//   list(rows)                               rows of another record that belong to this one
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "ir/measurement.h"

namespace tailor::store {

/// What a field is besides its name and value.
namespace mark {
inline constexpr unsigned key = 1;     ///< part of the primary key
inline constexpr unsigned later = 2;   ///< a later save brings it up to date (Known::completed)
inline constexpr unsigned local = 4;   ///< stays in the database: recorded files leave it out
inline constexpr unsigned packed = 8;  ///< a long text: in a column by gzip, NULL where it is empty; elsewhere as it is
}  // namespace mark

/// What saving does when the key is there already.
enum class Known : std::uint8_t {
  stays,      ///< nothing
  replaced,   ///< all fields but the key take the new values, lists are written anew
  completed,  ///< fields marked `later` take the new values, lists gain what they lack
};

struct Table {
  std::string_view name;
  Known known = Known::stays;
  /// SQL: only then is a known row replaced or completed.
  std::string_view only_if = {};
  /// In a merge, of two rows with one key the one with the greater value here stays; empty: see merge.cpp.
  std::string_view decider = {};
  /// Rows without a key of their own within the row they belong to are numbered in this column.
  std::string_view number = {};
  /// Other tables refer to its rows by a number of this file, in a last column `number` that no list has.
  bool numbered = false;
};

/// The list of a view's row. Specialised in view_records.h.
template <class Row>
struct ViewRecord;
/// The list of a record: `table`, and `walk(field, row)` where `row` may be const. Specialised in records.h for what
/// has a table; the others are rows of views.
template <class Row>
struct Record : ViewRecord<Row> {};

/// A number whose 0 means "not known": NULL in a column, left out in JSON, empty in CSV.
template <class Number>
struct ZeroIsNull {
  Number& value;
};
template <class Number>
ZeroIsNull(Number&) -> ZeroIsNull<Number>;

/// Bits of ir::Throttle: a number in columns and JSON, words in CSV.
template <class Bits>
struct ThrottleBits {
  Bits& bits;
};
template <class Bits>
ThrottleBits(Bits&) -> ThrottleBits<Bits>;

/// A protocol as columns; all empty for none.
struct ProtocolWords {
  std::string cache, timed_by, launch_mode, stop_rule;
};
ProtocolWords to_words(const std::optional<ir::Protocol>& protocol);
/// The way back. Throws Error(failed), without a place, for a word that is none of ir's.
void take_words(const ProtocolWords& words, std::optional<ir::Protocol>& protocol);
void take_words(const ProtocolWords& words, ir::Protocol& protocol);

/// Lets only the fields with `Mark` through to another visitor; no lists.
template <class Inner, unsigned Mark>
struct OnlyMarked {
  static constexpr bool reads = Inner::reads;
  Inner& inner;
  template <class Value>
  void operator()(const char* name, Value&& value, unsigned marks = 0) {
    if ((marks & Mark) != 0) inner(name, value, marks);
  }
  template <class Rows>
  void list(Rows&&) {}
};

/// Empties the fields of a record that stay in its database.
struct ForgetLocal {
  static constexpr bool reads = true;
  template <class Value>
  void operator()(const char*, Value&& value, unsigned marks = 0) {
    if ((marks & mark::local) == 0) return;
    if constexpr (requires { value = {}; }) {
      value = {};
    }
  }
  template <class Rows>
  void list(Rows&&) {}
};

}  // namespace tailor::store
