// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Our values and our writer against a JSON library as the oracle: random trees must give the library's bytes and come
// back as they were; a text is refused where it breaks. Inputs are seeded random trees, doubles of every magnitude,
// strings of any bytes, and texts broken by hand. Part of the suite `base`.
#include "base/json.h"

#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <random>

using namespace tailor;

namespace {

using Library = nlohmann::ordered_json;

std::string library_text(const Library& json, int indent) {
  return json.dump(indent, ' ', false, Library::error_handler_t::replace);
}

/// The same tree for both.
struct Pair {
  Json ours;
  Library theirs;
};

class Draw {
 public:
  explicit Draw(std::uint64_t seed) : random_(seed) {}

  std::uint64_t below(std::uint64_t limit) { return random_() % limit; }

  /// Any finite double, of any magnitude; or a short one.
  double real() {
    if (below(2) == 0) return static_cast<double>(static_cast<std::int64_t>(below(200000)) - 100000) / 100;
    const double value = std::bit_cast<double>(random_());
    return std::isfinite(value) ? value : 0;
  }
  /// Bytes of every kind, at times no UTF-8.
  std::string text() {
    static const std::string pieces[] = {
        "a",    "\"",   "\\",     "/",      "\n",         "\t",   "\b",       "\f", "\r", std::string(1, '\0'),
        "\x1f", "\x7f", "\u00e4", "\u2028", "\U0001f600", "\xff", "\xe2\x82", "<"};
    std::string out;
    for (std::uint64_t i = below(6); i > 0; --i) out += pieces[below(std::size(pieces) - (below(4) == 0 ? 0 : 6))];
    return out;
  }
  Pair tree(int depth) {
    switch (below(depth > 0 ? 8 : 6)) {
      case 0:
        return {Json(), nullptr};
      case 1:
        return same(below(2) == 1);
      case 2:
        return same(static_cast<std::int64_t>(random_()) >> below(64));
      case 3:
        return same(random_() >> below(64));
      case 4:
        return same(real());
      case 5:
        return same(text());
      case 6: {
        Pair pair{Json::Array(), Library::array()};
        for (std::uint64_t i = below(4); i > 0; --i) {
          Pair item = tree(depth - 1);
          pair.ours.push_back(std::move(item.ours));
          pair.theirs.push_back(std::move(item.theirs));
        }
        return pair;
      }
      default: {
        Pair pair{Json::Object(), Library::object()};
        for (std::uint64_t i = below(4); i > 0; --i) {
          const std::string key = text();
          Pair item = tree(depth - 1);
          pair.ours[key] = std::move(item.ours);
          pair.theirs[key] = std::move(item.theirs);
        }
        return pair;
      }
    }
  }

 private:
  template <class T>
  static Pair same(T value) {
    return {Json(value), Library(value)};
  }
  std::mt19937_64 random_;
};

}  // namespace

TEST_CASE("random trees have the library's bytes, and come back as they were") {
  constexpr std::uint64_t rounds = 20000;
  for (std::uint64_t seed = 1; seed <= rounds; ++seed) {
    Draw draw(seed);
    const Pair pair = draw.tree(4);
    for (const int indent : {-1, 0, 1, 2}) {
      const std::string text = json_text(pair.ours, indent);
      if (text != library_text(pair.theirs, indent)) {
        CAPTURE(seed);
        REQUIRE(text == library_text(pair.theirs, indent));
      }
      // Bytes that are no text are replaced, so what was read is compared by its text.
      if (json_text(parse_json(text, "x"), indent) != text) {
        CAPTURE(seed);
        REQUIRE(json_text(parse_json(text, "x"), indent) == text);
      }
    }
  }
}

TEST_CASE("every single byte, and every pair of bytes, is written as the library writes it") {
  int same = 0;
  for (int first = 0; first < 256; ++first)
    for (int second = -1; second < 256; ++second) {
      std::string text(1, static_cast<char>(first));
      if (second >= 0) text += static_cast<char>(second);
      const std::string ours = json_text(Json(text)), theirs = library_text(Library(text), -1);
      same += ours == theirs;
      if (ours != theirs) {
        CAPTURE(first);
        CAPTURE(second);
        REQUIRE(ours == theirs);
      }
    }
  CHECK(same == 256 * 257);
}

TEST_CASE("every double comes back as it was, as the library writes it") {
  std::mt19937_64 random(7);
  for (int i = 0; i < 200000; ++i) {
    const double value = std::bit_cast<double>(random());
    const std::string text = json_text(Json(value));
    if (!std::isfinite(value)) {
      REQUIRE(text == "null");
    } else {
      const bool same = text == Library(value).dump() && *parse_json(text, "x").number() == value;
      if (!same) REQUIRE(text == Library(value).dump());
    }
  }
  CHECK(json_text(Json(1.0)) == "1.0");
  CHECK(json_text(Json(-0.0)) == "-0.0");
  CHECK(json_text(Json(1e300)) == "1e+300");
}

TEST_CASE("whole numbers are exact, and are told from reals") {
  constexpr std::uint64_t most = std::numeric_limits<std::uint64_t>::max();
  const Json json = parse_json("[18446744073709551615, -9223372036854775808, 9223372036854775807, 1.0, 1e2, -1]", "x");
  const Json::Array& items = *json.array();
  CHECK(items[0].natural() == most);
  CHECK_FALSE(items[0].integer().has_value());
  CHECK(items[1].integer() == std::numeric_limits<std::int64_t>::min());
  CHECK(items[2].natural() == std::uint64_t{INT64_MAX});
  CHECK_FALSE(items[3].integer().has_value());
  CHECK(items[4].number() == 100);
  CHECK_FALSE(items[5].natural().has_value());
  CHECK(items[5].number() == -1);
  CHECK(Json(std::uint64_t{5}) == Json(5));
  CHECK_FALSE(Json(5) == Json(5.0));
}

TEST_CASE("values and keys remember where they stood") {
  const std::string text = "{\"a\": [1,\n  -2.5e1 , \"x\"], \"b\"\n:{\"c\":true}}";
  const Json json = parse_json(text, "x");
  const auto token = [&](std::size_t offset, std::size_t length) { return text.substr(offset, length); };
  CHECK(json.offset == 0);
  const Json::Object& members = *json.object();
  CHECK(token(members[0].offset, 3) == "\"a\"");
  const Json::Array& items = *members[0].value.array();
  CHECK(token(items[0].offset, 2) == "1,");
  CHECK(token(items[1].offset, 6) == "-2.5e1");
  CHECK(token(items[2].offset, 3) == "\"x\"");
  CHECK(token(members[1].offset, 3) == "\"b\"");
  CHECK(token(members[1].value.offset, 4) == "{\"c\"");
  CHECK(token(json.find("b")->find("c")->offset, 4) == "true");
  CHECK(position_at(text, items[1].offset, "f") == Position{"f", 2, 3});
}

TEST_CASE("a key that stands twice is kept twice; the last is found") {
  const Json json = parse_json("{\"a\":1,\"b\":2,\"a\":3}", "x");
  CHECK(json.object()->size() == 3);
  CHECK(*json.find("a") == Json(3));
  CHECK(json.find("c") == nullptr);
  CHECK(Json(1).find("a") == nullptr);
}

TEST_CASE("a text that is not JSON is refused with line and column") {
  struct Row {
    std::string text;
    Position at;
    std::string message;
  };
  for (const Row& row :
       {Row{"{\"a\": [1,]}", {"f", 1, 10}, "not JSON: syntax error"},
        Row{"{\n\"a\" 1}", {"f", 2, 5}, "not JSON: syntax error"}, Row{"", {"f", 1, 1}, "not JSON: syntax error"},
        Row{"{} {}", {"f", 1, 4}, "not JSON: syntax error"}, Row{"1e999", {"f", 1, 5}, "not JSON: number overflow"},
        Row{"NaN", {"f", 1, 1}, "not JSON: syntax error"},
        Row{std::string(33, '['), {"f", 1, 33}, "nested deeper than 32"}}) {
    CAPTURE(row.text);
    CHECK_FALSE(try_parse_json(row.text).has_value());
    try {
      parse_json(row.text, "f");
      FAIL("no error");
    } catch (const Error& error) {
      CHECK(error.fault == Fault::failed);
      CHECK(error.at == row.at);
      CHECK(error.message.substr(0, row.message.size()) == row.message);
    }
  }
  CHECK(try_parse_json(std::string(32, '[') + std::string(32, ']')).has_value());
}

TEST_CASE("braces make objects, vectors arrays, absence null") {
  const Json json = {{"name", "x"},
                     {"list", Json::Array{1, 2.5, "y", true}},
                     {"texts", std::vector<std::string>{"p", "q"}},
                     {"inner", {{"only", nullptr}}},
                     {"absent", std::optional<int>()},
                     {"present", std::optional<int>(3)}};
  CHECK(json_text(json) ==
        R"({"name":"x","list":[1,2.5,"y",true],"texts":["p","q"],"inner":{"only":null},"absent":null,"present":3})");
}
