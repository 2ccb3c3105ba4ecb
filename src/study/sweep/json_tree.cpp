// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The library's event parser reads; the tree is built here. Events carry no position: it is taken from how far the
// library has read when it reports one, through an iterator that counts.
#include "study/sweep/json_tree.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>

#include "base/error.h"

namespace tailor::study {

namespace {

constexpr std::size_t deepest = 32;

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

class Builder {
 public:
  using Json = nlohmann::json;

  Builder(std::string_view text, const std::string& file, const std::size_t& read)
      : text_(text), file_(file), read_(read) {}

  JsonNode take() { return std::move(root_); }

  bool null() {
    return leaf(JsonKind::null, [](JsonNode&) {});
  }
  bool boolean(bool value) {
    return leaf(JsonKind::boolean, [&](JsonNode& node) { node.truth = value; });
  }
  bool number_integer(Json::number_integer_t value) { return number(static_cast<double>(value), true, value); }
  bool number_unsigned(Json::number_unsigned_t value) {
    const bool fits = value <= static_cast<std::uint64_t>(INT64_MAX);
    return number(static_cast<double>(value), fits, fits ? static_cast<std::int64_t>(value) : 0);
  }
  bool number_float(Json::number_float_t value, const std::string&) { return number(value, false, 0); }
  bool string(std::string& value) {
    return leaf(JsonKind::string, [&](JsonNode& node) { node.text = std::move(value); });
  }
  bool binary(Json::binary_t&) { return false; }
  bool start_object(std::size_t) { return enter(JsonKind::object); }
  bool start_array(std::size_t) { return enter(JsonKind::array); }
  bool end_object() { return leave(); }
  bool end_array() { return leave(); }
  bool key(std::string& value) {
    open_.back()->key_offsets.push_back(token_start());
    open_.back()->keys.push_back(std::move(value));
    end_ = read_;
    return true;
  }

  bool parse_error(std::size_t position, const std::string& last, const nlohmann::detail::exception& why) {
    std::string reason = why.what();
    if (const std::size_t detail = reason.find(": ", reason.find("parse error")); detail != reason.npos)
      reason = reason.substr(detail + 2);
    // The reason may quote bytes that are no UTF-8; the last token is left out, it stands at the place named.
    static_cast<void>(last);
    fail(position == 0 ? 0 : std::min(position - 1, text_.size()), "not JSON: " + reason,
         "JSON has double quotes, no comments and no comma after the last item");
  }

 private:
  [[noreturn]] void fail(std::size_t offset, std::string message, std::string hint) const {
    const auto [line, column] = line_and_column(text_, offset);
    throw Error(Fault::usage, Position{file_, line, column}, std::move(message), std::move(hint));
  }

  /// The token just read starts after the end of the one before and what may stand between them.
  std::size_t token_start() const {
    const std::size_t start = text_.find_first_not_of(" \t\r\n,:", end_);
    return start == text_.npos ? text_.size() : start;
  }

  JsonNode& place(JsonKind kind) {
    JsonNode& node = open_.empty() ? root_ : open_.back()->items.emplace_back();
    node.kind = kind;
    node.offset = token_start();
    return node;
  }

  template <class Fill>
  bool leaf(JsonKind kind, Fill&& fill) {
    fill(place(kind));
    end_ = read_;
    return true;
  }

  bool number(double value, bool integral, std::int64_t integer) {
    leaf(JsonKind::number, [&](JsonNode& node) {
      node.number = value;
      node.integral = integral;
      node.integer = integer;
    });
    // To find the end of a number the reader takes one character more, unless the text ends.
    if (end_ > 0 && std::string_view("0123456789").find(text_[end_ - 1]) == std::string_view::npos) --end_;
    return true;
  }

  bool enter(JsonKind kind) {
    JsonNode& node = place(kind);
    if (open_.size() >= deepest)
      fail(node.offset, fmt::format("nested deeper than {}", deepest), "no key of a sweep file needs that");
    end_ = read_;
    open_.push_back(&node);  // stays valid: its siblings come only after it was left
    return true;
  }

  bool leave() {
    open_.pop_back();
    end_ = read_;
    return true;
  }

  std::string_view text_;
  const std::string& file_;
  const std::size_t& read_;
  std::size_t end_ = 0;  ///< of the token before
  JsonNode root_;
  std::vector<JsonNode*> open_;
};

}  // namespace

std::pair<std::int64_t, std::int64_t> line_and_column(std::string_view text, std::size_t offset) {
  const std::string_view before = text.substr(0, offset);
  const std::size_t newline = before.rfind('\n');
  return {std::count(before.begin(), before.end(), '\n') + 1,
          static_cast<std::int64_t>(newline == before.npos ? offset : offset - newline - 1) + 1};
}

std::string_view described(JsonKind kind) {
  constexpr std::string_view names[] = {"null", "true or false", "a number", "a string", "a list", "an object"};
  return names[static_cast<std::size_t>(kind)];
}

JsonNode parse_json(std::string_view text, const std::string& file) {
  std::size_t read = 0;
  Builder builder(text, file, read);
  nlohmann::json::sax_parse(CountingIterator{text.data(), &read}, CountingIterator{text.data() + text.size(), &read},
                            &builder);
  return builder.take();
}

}  // namespace tailor::study
