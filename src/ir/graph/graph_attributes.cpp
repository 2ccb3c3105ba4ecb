// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Writing names and the attributes of a node. In: a node. Out: its attributes as text. Called by the text form, by the
// canonical text and by the writer of partition files. Only what differs from the default is written, and reading it
// back gives the same attributes.
#include "ir/graph/graph_attributes.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace tailor::ir {

namespace {

/// Writes each attribute that is not at its default.
struct AttributeWriter {
  std::string& out;

  void operator()(std::string_view key, const Dims& dims) {
    if (dims.empty()) return;
    ((out += ", ") += key) += "={";
    for (int i = 0; i < dims.size(); ++i) {
      if (i != 0) out += ',';
      const fmt::format_int number(dims[i]);
      out.append(number.data(), number.size());
    }
    out += '}';
  }
  void operator()(std::string_view key, ListOfOne<const std::int64_t> list) {
    if (list.number != -1) append(", {}={{{}}}", key, list.number);
  }
  void operator()(std::string_view key, const std::vector<SliceRange>& ranges) {
    write_list(key, ranges, [this](const SliceRange& r) { append("{}:{}:{}", r.start, r.limit, r.stride); });
  }
  void operator()(std::string_view key, const std::vector<PadRange>& ranges) {
    write_list(key, ranges, [this](const PadRange& r) { append("{}:{}:{}", r.low, r.high, r.interior); });
  }
  void operator()(std::string_view key, const std::vector<Shape>& shapes) {
    write_list(key, shapes, [this](const Shape& shape) { out += text(shape); });
  }
  void operator()(std::string_view key, bool flag) {
    if (flag) append(", {}", key);
  }
  void operator()(std::string_view key, std::int64_t number) {
    if (number != 0) append(", {}={}", key, number);
  }
  void operator()(std::string_view key, double number) {
    if (number != 0) append(", {}={}", key, number);
  }
  void operator()(std::string_view key, const std::string& words) {
    if (words.empty()) return;
    append(", {}=", key);
    append_quoted(out, words);
  }

 private:
  template <class... Args>
  void append(fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(std::back_inserter(out), format, std::forward<Args>(args)...);
  }
  template <class Item, class Write>
  void write_list(std::string_view key, const std::vector<Item>& items, Write&& write) {
    if (items.empty()) return;
    append(", {}={{", key);
    for (std::size_t i = 0; i < items.size(); ++i) {
      if (i != 0) out += ", ";
      write(items[i]);
    }
    out += '}';
  }
};

}  // namespace

void append_word(std::string& out, const Node& node) {
  if (node.op == Op::parameter) fmt::format_to(std::back_inserter(out), " {}", parameter_number(node));
  if (const auto* compare = std::get_if<CompareOptions>(&node.attributes)) (out += ' ') += name(compare->comparison);
  if (const Reducer combines = reducer(node); combines != Reducer::none) (out += ' ') += name(combines);
}

void append_attributes(std::string& out, const Node& node) { walk_attributes(AttributeWriter{out}, node); }

bool is_plain(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.' || c == '-';
}

bool is_word(char c) { return is_plain(c) || c == '+'; }

void append_name(std::string& out, std::string_view name) {
  if (!name.empty() && std::all_of(name.begin(), name.end(), is_plain))
    out += name;
  else
    append_quoted(out, name);
}

void append_quoted(std::string& out, std::string_view value) {
  out += '"';
  for (const char c : value) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (byte < 0x20 || byte >= 0x7f) {
      fmt::format_to(std::back_inserter(out), "\\x{:02x}", byte);
    } else {
      out += c;
    }
  }
  out += '"';
}

void append_hex(std::string& out, std::span<const std::byte> bytes) {
  constexpr std::string_view digits = "0123456789abcdef";
  for (const std::byte byte : bytes) {
    out += digits[std::to_integer<std::size_t>(byte >> 4)];
    out += digits[std::to_integer<std::size_t>(byte & std::byte{15})];
  }
}

}  // namespace tailor::ir
