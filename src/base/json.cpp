// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Reading: the library's event parser reads, the tree is built here. Its events carry no position. It is taken from how
// far the library has read when it reports one, through an iterator that counts: a token starts behind the end of the
// one before and what may stand between two tokens.
//
// Writing is done here, because a copy into the library's own tree would double its time. What is hard is the
// library's: the shortest digits of a real, and strings that hold more than ASCII.
#include "base/json.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <charconv>
#include <cmath>
#include <iterator>
#include <nlohmann/json.hpp>

namespace tailor {

namespace {

/// Walks a text; all copies share one count of what was read.
struct CountingIterator {
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;

  const char* at;
  std::size_t* count;
  reference operator*() const { return *at; }
  CountingIterator& operator++() {
    ++at;
    ++*count;
    return *this;
  }
  bool operator==(const CountingIterator& other) const { return at == other.at; }
  bool operator!=(const CountingIterator& other) const { return at != other.at; }
};

/// Why a text was not read, and where.
struct Failure {
  std::size_t offset = 0;
  std::string message, hint;
};

/// Takes the library's events. A member returns false to end the reading; `failure` then says why.
class Builder {
 public:
  using Library = nlohmann::json;

  Builder(std::string_view text, const std::size_t& read) : text_(text), read_(read) {}

  Json root;
  Failure failure;

  bool null() { return leaf(Json()); }
  bool boolean(bool value) { return leaf(Json(value)); }
  bool number_integer(Library::number_integer_t value) { return number(Json(value)); }
  bool number_unsigned(Library::number_unsigned_t value) { return number(Json(value)); }
  bool number_float(Library::number_float_t value, const std::string&) { return number(Json(value)); }
  bool string(std::string& value) { return leaf(Json(std::move(value))); }
  bool binary(Library::binary_t&) { return false; }
  bool start_object(std::size_t) { return enter(Json(Json::Object())); }
  bool start_array(std::size_t) { return enter(Json(Json::Array())); }
  bool end_object() { return leave(); }
  bool end_array() { return leave(); }
  bool key(std::string& value) {
    key_offset_ = token_start();
    key_ = std::move(value);
    end_ = read_;
    return true;
  }

  bool parse_error(std::size_t position, const std::string&, const nlohmann::detail::exception& exception) {
    // The text left out is the library's number of the error and its own count of lines. The token it read last is
    // left out too: it stands at the position named, and may hold bytes that are no text.
    std::string reason = exception.what();
    const bool of_grammar = reason.find("parse error") != reason.npos;
    if (const std::size_t at = of_grammar ? reason.find(": ") : reason.find("] "); at != reason.npos)
      reason = reason.substr(at + 2);
    failure = {position == 0 ? 0 : std::min(position - 1, text_.size()), "not JSON: " + reason,
               "JSON has double quotes, no comments and no comma after the last item"};
    return false;
  }

 private:
  std::size_t token_start() const {
    const std::size_t start = text_.find_first_not_of(" \t\r\n,:", end_);
    return start == text_.npos ? text_.size() : start;
  }

  Json& add(Json&& json) {
    json.offset = token_start();
    end_ = read_;
    if (open_.empty()) return root = std::move(json);
    Json& parent = *open_.back();
    if (auto* items = std::get_if<Json::Array>(&parent.value)) return items->emplace_back(std::move(json));
    auto& members = std::get<Json::Object>(parent.value);
    members.push_back({std::move(key_), std::move(json), key_offset_});
    return members.back().value;
  }

  bool leaf(Json&& json) {
    add(std::move(json));
    return true;
  }

  bool number(Json&& json) {
    add(std::move(json));
    // To find the end of a number the library takes one character more, unless the text ends.
    if (end_ > 0 && (text_[end_ - 1] < '0' || text_[end_ - 1] > '9')) --end_;
    return true;
  }

  bool enter(Json&& json) {
    if (open_.size() >= deepest_json) {
      failure = {token_start(), "nested deeper than " + std::to_string(deepest_json), "no file of tailor needs that"};
      return false;
    }
    open_.push_back(&add(std::move(json)));  // stays valid: its siblings come only after it was left
    return true;
  }

  bool leave() {
    open_.pop_back();
    end_ = read_;
    return true;
  }

  std::string_view text_;
  const std::size_t& read_;
  std::size_t end_ = 0;  ///< of the token before
  std::string key_;      ///< of the member that comes next
  std::size_t key_offset_ = 0;
  std::vector<Json*> open_;
};

/// The tree, or the failure.
std::variant<Json, Failure> parsed(std::string_view text) {
  std::size_t read = 0;
  Builder builder(text, read);
  const CountingIterator first{text.data(), &read}, last{text.data() + text.size(), &read};
  if (!nlohmann::json::sax_parse(first, last, &builder)) return std::move(builder.failure);
  return std::move(builder.root);
}

/// Appends values to a text.
class Printer {
 public:
  explicit Printer(int indent) : indent_(indent) {}

  std::string out;

  void print(const Json& json) {
    std::visit([this](const auto& value) { print_value(value); }, json.value);
  }

 private:
  void print_value(std::monostate) { out += "null"; }
  void print_value(bool truth) { out += truth ? "true" : "false"; }
  void print_value(double number) {
    if (!std::isfinite(number)) {
      out += "null";
      return;
    }
    std::array<char, 64> digits;
    out.append(digits.data(), nlohmann::detail::to_chars(digits.data(), digits.data() + digits.size(), number));
  }
  template <std::integral Integer>
  void print_value(Integer integer) {
    std::array<char, 24> digits;
    out.append(digits.data(), std::to_chars(digits.data(), digits.data() + digits.size(), integer).ptr);
  }
  void print_value(const std::string& text) {
    const auto ascii = [](char c) { return static_cast<unsigned char>(c) < 0x80; };
    if (!std::all_of(text.begin(), text.end(), ascii)) {
      out += nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
      return;
    }
    out += '"';
    for (const char c : text) print_character(c);
    out += '"';
  }
  void print_character(char c) {
    constexpr std::string_view escaped = "\"\\\b\f\n\r\t", letters = "\"\\bfnrt";
    if (c >= 0x20 && c != '"' && c != '\\') {
      out += c;
    } else if (const std::size_t at = escaped.find(c); at != escaped.npos) {
      out += '\\';
      out += letters[at];
    } else {
      out += c < 0x10 ? "\\u000" : "\\u001";
      out += "0123456789abcdef"[c & 0xf];
    }
  }
  void print_value(const Json::Array& items) {
    print_all(items, '[', ']', [this](const Json& item) { print(item); });
  }
  void print_value(const Json::Object& members) {
    print_all(members, '{', '}', [this](const Json::Member& member) {
      print_value(member.key);
      out += indent_ < 0 ? ":" : ": ";
      print(member.value);
    });
  }
  template <class Items, class Print>
  void print_all(const Items& items, char open, char close, Print&& print_one) {
    out += open;
    ++depth_;
    bool first = true;
    for (const auto& item : items) {
      if (!first) out += ',';
      first = false;
      new_line();
      print_one(item);
    }
    --depth_;
    if (!first) new_line();
    out += close;
  }
  void new_line() {
    if (indent_ < 0) return;
    out += '\n';
    out.append(static_cast<std::size_t>(indent_ * depth_), ' ');
  }

  int indent_;
  int depth_ = 0;
};

}  // namespace

Json::Json(Array items) : value(std::move(items)) {}

Json::Json(Object members) : value(std::move(members)) {}

Json::Json(std::initializer_list<Member> members) : value(Object(members)) {}

std::optional<bool> Json::boolean() const {
  const bool* truth = std::get_if<bool>(&value);
  return truth == nullptr ? std::nullopt : std::optional(*truth);
}

std::optional<std::int64_t> Json::integer() const {
  const auto* whole = std::get_if<std::int64_t>(&value);
  return whole == nullptr ? std::nullopt : std::optional(*whole);
}

std::optional<std::uint64_t> Json::natural() const {
  if (const auto* large = std::get_if<std::uint64_t>(&value)) return *large;
  const auto* whole = std::get_if<std::int64_t>(&value);
  return whole == nullptr || *whole < 0 ? std::nullopt : std::optional(static_cast<std::uint64_t>(*whole));
}

std::optional<double> Json::number() const {
  if (const auto* real = std::get_if<double>(&value)) return *real;
  if (const auto* large = std::get_if<std::uint64_t>(&value)) return static_cast<double>(*large);
  if (const auto* whole = std::get_if<std::int64_t>(&value)) return static_cast<double>(*whole);
  return std::nullopt;
}

const Json* Json::find(std::string_view key) const {
  const Object* members = object();
  if (members == nullptr) return nullptr;
  const auto found =
      std::find_if(members->rbegin(), members->rend(), [&](const Member& one) { return one.key == key; });
  return found == members->rend() ? nullptr : &found->value;
}

Json& Json::operator[](std::string_view key) {
  if (null()) value.emplace<Object>();
  assert(object() != nullptr);
  auto& members = std::get<Object>(value);
  const auto found = std::find_if(members.begin(), members.end(), [&](const Member& one) { return one.key == key; });
  if (found != members.end()) return found->value;
  members.push_back({std::string(key), Json()});
  return members.back().value;
}

void Json::push_back(Json item) {
  if (null()) value.emplace<Array>();
  assert(array() != nullptr);
  std::get<Array>(value).push_back(std::move(item));
}

bool Json::operator==(const Json& other) const { return value == other.value; }

Json parse_json(std::string_view text, const std::string& file, Fault fault) {
  auto result = parsed(text);
  if (Failure* failure = std::get_if<Failure>(&result))
    throw Error(fault, position_at(text, failure->offset, file), std::move(failure->message), std::move(failure->hint));
  return std::get<Json>(std::move(result));
}

std::optional<Json> try_parse_json(std::string_view text) {
  auto result = parsed(text);
  if (Json* json = std::get_if<Json>(&result)) return std::move(*json);
  return std::nullopt;
}

std::string json_text(const Json& json, int indent) {
  Printer printer(indent);
  printer.print(json);
  return std::move(printer.out);
}

std::string_view kind_of(const Json& json) {
  constexpr std::string_view names[] = {"null",     "true or false", "a number", "a number",
                                        "a number", "a string",      "a list",   "an object"};
  static_assert(std::size(names) == std::variant_size_v<Json::Value>);
  return names[json.value.index()];
}

Position position_at(std::string_view text, std::size_t offset, const std::string& file) {
  const std::string_view before = text.substr(0, std::min(offset, text.size()));
  const std::size_t newline = before.rfind('\n');
  const std::size_t line_start = newline == before.npos ? 0 : newline + 1;
  return {file, std::count(before.begin(), before.end(), '\n') + 1,
          static_cast<std::int64_t>(before.size() - line_start) + 1};
}

}  // namespace tailor
