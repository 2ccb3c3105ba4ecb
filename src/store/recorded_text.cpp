// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The text form of recorded measurements: takes the rows that recorded.cpp gathered and gives lines of JSON, and the
// way back. What a row's line holds is its list in records.h: a key for each column but those that stay in their
// database, and an object of columns for each list inside the row. Fields that are empty are left out.
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <type_traits>

#include "base/error.h"
#include "base/json.h"
#include "base/stop.h"
#include "base/text.h"
#include "store/recorded.h"
#include "store/records.h"

namespace tailor::store {

namespace {

constexpr std::string_view hint = "fetch the file again, or export it again from its database";

/// What a recorded file never has: machine code.
template <class Value>
inline constexpr bool stays_behind = std::is_same_v<Value, std::vector<std::byte>>;

/// A field's value in JSON; null where it is not known. Infinity, which JSON has no word for, is written as null too.
Json to_json(const std::string& value) { return value; }
Json to_json(Id value) { return hex(value); }
Json to_json(bool value) { return value; }
Json to_json(double value) { return value; }
Json to_json(std::int64_t value) { return value; }
Json to_json(int value) { return value; }
template <class Dimension>
Json to_json(Quantity<Dimension> value) {
  return value.value;
}
template <class Number>
Json to_json(ZeroIsNull<Number> value) {
  return value.value;
}
template <class Bits>
Json to_json(ThrottleBits<Bits> value) {
  return std::int64_t{value.bits};
}
template <class Value>
Json to_json(const std::optional<Value>& value) {
  return value ? to_json(*value) : Json();
}

/// What a field may be left out with: the reader takes it for missing.
bool is_empty(const std::string& value) { return value.empty(); }
template <class Value>
bool is_empty(const std::optional<Value>& value) {
  return !value;
}
template <class Number>
bool is_empty(ZeroIsNull<Number> value) {
  return value.value == 0;
}
template <class Value>
bool is_empty(const Value&) {
  return false;
}

/// Rows of a list as columns: {"duration_s": [1e-6, 2e-6], "throttle": [0, 1]}.
class ColumnsWriter {
 public:
  static constexpr bool reads = false;
  template <class Value>
  void operator()(const char* key, const Value& value, unsigned = 0) {
    columns_[key].push_back(to_json(value));
  }
  /// Columns of nothing but zeros and empty texts are left out, but never the first.
  Json::Object without_zeros() const {
    const auto zero = [](const Json& one) {
      return one.number() == 0 || (one.string() != nullptr && one.string()->empty());
    };
    Json::Object kept;
    for (const Json::Member& column : *columns_.object()) {
      const Json::Array& values = *column.value.array();
      if (kept.empty() || !std::all_of(values.begin(), values.end(), zero)) kept.push_back(column);
    }
    return kept;
  }

 private:
  Json columns_;
};

/// Makes a JSON object of a record.
class Writer {
 public:
  static constexpr bool reads = false;
  Json::Object object;
  template <class Value>
  void operator()(const char* key, const Value& value, unsigned marks = 0) {
    if constexpr (!stays_behind<Value>)
      if ((marks & mark::local) == 0 && !is_empty(value)) object.push_back({key, to_json(value)});
  }
  template <class Row>
  void list(const std::vector<Row>& rows) {
    if (rows.empty()) return;
    ColumnsWriter columns;
    for (const Row& row : rows) Record<Row>::walk(columns, row);
    object.push_back({std::string(Record<Row>::table.name), columns.without_zeros()});
  }
};

[[noreturn]] void complain(const std::string& key, std::string_view expected) {
  throw Error(Fault::failed, fmt::format("'{}' is not what it should be, expected {}", key, expected),
              std::string(hint));
}

void from_json(const char* key, const Json& json, std::string& value) {
  if (json.string() == nullptr) complain(key, "a string");
  value = *json.string();
}
void from_json(const char* key, const Json& json, Id& value) {
  std::string digits;
  from_json(key, json, digits);
  if (digits.size() != 32 || digits.find_first_not_of("0123456789abcdef") != digits.npos)
    complain(key, "32 hexadecimal digits");
  value = id_from_hex(digits);
}
void from_json(const char* key, const Json& json, bool& value) {
  if (!json.boolean()) complain(key, "true or false");
  value = *json.boolean();
}
void from_json(const char* key, const Json& json, double& value) {
  if (!json.null() && !json.number()) complain(key, "a number");
  value = json.null() ? std::numeric_limits<double>::infinity() : *json.number();
}
void from_json(const char* key, const Json& json, std::int64_t& value) {
  if (!json.integer()) complain(key, "a whole number");
  value = *json.integer();
}
void from_json(const char* key, const Json& json, int& value) {
  std::int64_t found = 0;
  from_json(key, json, found);
  if (found < std::numeric_limits<int>::min() || found > std::numeric_limits<int>::max())
    complain(key, "a smaller number");
  value = static_cast<int>(found);
}
template <class Dimension>
void from_json(const char* key, const Json& json, Quantity<Dimension>& value) {
  from_json(key, json, value.value);
}
void from_json(const char* key, const Json& json, ZeroIsNull<double> value) { from_json(key, json, value.value); }
void from_json(const char* key, const Json& json, ThrottleBits<std::uint32_t> value) {
  std::int64_t bits = 0;
  from_json(key, json, bits);
  value.bits = static_cast<std::uint32_t>(bits);
}
template <class Value>
void from_json(const char* key, const Json& json, std::optional<Value>& value) {
  from_json(key, json, value.emplace());
}

template <class Value>
void clear(Value& value) {
  value = {};
}
template <class Number>
void clear(ZeroIsNull<Number> value) {
  value.value = 0;
}
template <class Bits>
void clear(ThrottleBits<Bits> value) {
  value.bits = 0;
}

/// Fills a row of a list from the columns that ColumnsWriter wrote; a column that was left out is of zeros.
class ElementReader {
 public:
  static constexpr bool reads = true;
  ElementReader(const Json& columns, std::size_t at) : columns_(columns), at_(at) {}
  template <class Value>
  void operator()(const char* key, Value&& value, unsigned = 0) {
    const Json* found = columns_.find(key);
    found == nullptr ? clear(value) : from_json(key, (*found->array())[at_], value);
  }

 private:
  const Json& columns_;
  std::size_t at_;
};

/// Fills a record from an object. The first thing that is wrong throws, without a place.
class Reader {
 public:
  static constexpr bool reads = true;
  explicit Reader(const Json& object) : object_(object) {}
  template <class Value>
  void operator()(const char* key, Value&& value, unsigned marks = 0) {
    if constexpr (!stays_behind<std::remove_cvref_t<Value>>) {
      if ((marks & mark::local) != 0) return;
      if (const Json* found = object_.find(key)) return from_json(key, *found, value);
      clear(value);
      if (!is_empty(value)) throw Error(Fault::failed, fmt::format("'{}' is missing", key), std::string(hint));
    }
  }
  template <class Row>
  void list(std::vector<Row>& rows) {
    const std::string key(Record<Row>::table.name);
    const Json* found = object_.find(key);
    if (found == nullptr) return;
    if (found->object() == nullptr || found->object()->empty()) complain(key, "an object of lists");
    const Json::Array* first = found->object()->front().value.array();
    for (const Json::Member& column : *found->object())
      if (column.value.array() == nullptr || column.value.array()->size() != first->size())
        complain(column.key, "a list as long as the others");
    for (std::size_t i = 0; i < first->size(); ++i) {
      ElementReader element(*found, i);
      Record<Row>::walk(element, rows.emplace_back());
    }
  }

 private:
  const Json& object_;
};

/// Calls `visit(list)` for every list of records, in the order of the file.
template <class Rows, class Visit>
void each_list(Rows& rows, Visit&& visit) {
  visit(rows.devices);
  visit(rows.runs);
  visit(rows.graphs);
  visit(rows.groups);
  visit(rows.plans);
  visit(rows.kernels);
  visit(rows.lowerings);
  visit(rows.given);
  visit(rows.binaries);
  visit(rows.measurements);
  visit(rows.module_times);
  visit(rows.observations);
}

std::string to_line(const Json& object) { return json_text(object) + "\n"; }

void check_head(const Json& head) {
  const Json* version = head.find("tailor");
  if (version == nullptr || version->string() == nullptr)
    throw Error(Fault::failed,
                fmt::format("the file is no recorded one, expected {{\"tailor\":\"{}\"}} first", recorded_version),
                "give a file that 'tailor db export --recorded' wrote, or a database");
  if (*version->string() != recorded_version)
    throw Error(Fault::failed, fmt::format("found {}, expected {}", *version->string(), recorded_version),
                "export the measurements again with this tailor, or read them with the one that wrote them");
}

void check_end(const Json& end, std::int64_t lines, std::string_view before) {
  const Json *count = end.find("lines"), *hash = end.find("hash");
  if (count == nullptr || *count != Json(lines) || hash == nullptr)
    throw Error(Fault::failed, fmt::format("the last line does not close {} lines: some are missing", lines),
                std::string(hint));
  if (*hash != Json(hex(id_of(before))))
    throw Error(Fault::failed,
                "the lines before do not have the hash that is told here: the file was damaged or edited",
                std::string(hint));
}

/// One line into the list that its key names.
void read_line(const Json& line, RecordedRows& rows) {
  bool known = false;
  const Json::Object* members = line.object();
  if (members != nullptr && members->size() == 1)
    each_list(rows, [&]<class Row>(std::vector<Row>& list) {
      const auto& [key, value, offset] = members->front();
      if (key != Record<Row>::table.name) return;
      if (value.object() == nullptr) complain(key, "an object");
      known = true;
      Reader reader(value);
      Record<Row>::walk(reader, list.emplace_back());
    });
  if (!known)
    throw Error(Fault::failed,
                fmt::format("found '{}', expected an object with one key: devices, runs, ..., observations",
                            members != nullptr && !members->empty() ? members->front().key : std::string("no object")),
                std::string(hint));
}

}  // namespace

std::string recorded_text(const RecordedRows& rows, const std::stop_token& stop) {
  std::string text = to_line({{"tailor", recorded_version}});
  std::int64_t lines = 1;
  each_list(rows, [&]<class Row>(const std::vector<Row>& list) {
    for (const Row& row : list) {
      stop_if_asked(stop);
      Writer writer;
      Record<Row>::walk(writer, row);
      text += to_line({{std::string(Record<Row>::table.name), std::move(writer.object)}});
      ++lines;
    }
  });
  return text + to_line({{"end", Json{{"lines", lines}, {"hash", hex(id_of(std::string_view(text)))}}}});
}

RecordedRows parse_recorded(std::string_view text, const std::string& file, const std::stop_token& stop) {
  RecordedRows rows;
  std::int64_t number = 0;
  bool ended = false;
  std::size_t at = 0;
  while (at < text.size()) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    ++number;
    stop_if_asked(stop);
    with_position(
        [&] {
          return Position{file, number, 0};
        },
        [&] {
          if (ended) throw Error(Fault::failed, "there is more after the last line", std::string(hint));
          const std::optional<Json> line = try_parse_json(text.substr(at, end - at));
          if (number > 1 && !line)
            throw Error(Fault::failed,
                        end == text.size() ? "the line is cut off: the file is not whole" : "the line is damaged",
                        std::string(hint));
          if (number == 1) return check_head(line.value_or(Json()));
          const Json* last = line->find("end");
          ended = last != nullptr;
          ended ? check_end(*last, number - 1, text.substr(0, at)) : read_line(*line, rows);
        });
    at = end + 1;
  }
  if (!ended)
    throw Error(Fault::failed, Position{file, number, 0}, "the file ends here without its last line: it was cut off",
                std::string(hint));
  return rows;
}

}  // namespace tailor::store
