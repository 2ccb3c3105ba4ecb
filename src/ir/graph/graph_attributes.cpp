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

void append_word(std::string& out, const Node& node, std::int64_t parameter_number) {
  const Attributes& a = node.attributes;
  if (node.op == Op::parameter) fmt::format_to(std::back_inserter(out), " {}", parameter_number);
  if (node.op == Op::compare) fmt::format_to(std::back_inserter(out), " {}", name(a.comparison));
  if (a.reducer != Reducer::none) fmt::format_to(std::back_inserter(out), " {}", name(a.reducer));
}

void append_attributes(std::string& out, const Node& node) {
  const Attributes& a = node.attributes;
  const auto append = [&out]<class... Args>(fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(std::back_inserter(out), format, std::forward<Args>(args)...);
  };
  if (!a.axes.empty()) append(", axes={{{}}}", fmt::join(a.axes.begin(), a.axes.end(), ","));
  if (!a.ranges.empty()) {
    out += ", ranges={";
    for (std::size_t i = 0; i < a.ranges.size(); ++i)
      append("{}{}:{}:{}", i == 0 ? "" : ", ", a.ranges[i].first, a.ranges[i].second, a.ranges[i].third);
    out += '}';
  }
  if (node.op != Op::compare && a.comparison != Comparison::eq) append(", comparison={}", name(a.comparison));
  if (a.total_order) out += ", total_order";
  if (node.op != Op::parameter && a.number != 0) append(", number={}", a.number);
  if (!a.target.empty()) append_quoted(out += ", target=", a.target);
  if (!a.text.empty()) append_quoted(out += ", text=", a.text);
  if (!a.results.empty()) {
    out += ", results={";
    for (std::size_t i = 0; i < a.results.size(); ++i) append("{}{}", i == 0 ? "" : ", ", text(a.results[i]));
    out += '}';
  }
  if (a.flops != 0) append(", flops={}", a.flops);
}

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
