// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Writing partition files and reading their words. The reader goes line by line and knows no graph; read_fusion.cpp
// lets the names meet one. Comes in: text that a person may have written; goes out: lines with their places, for
// messages.
#include "explore/partition_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include "base/error.h"
#include "base/text.h"
#include "ir/graph/graph_attributes.h"

namespace tailor::explore {

using namespace ir;

namespace {

constexpr std::string_view head_example = "a head line such as 'partition 1 graph=... strategy=...'";

/// One line of the file, read from left to right.
class Line {
 public:
  Line(std::string_view text, std::int64_t number, const std::string& path)
      : text_(text), number_(number), path_(path) {}

  std::int64_t number() const { return number_; }
  std::int64_t column() const { return static_cast<std::int64_t>(at_) + 1; }
  /// Whether nothing follows but blanks and a comment.
  bool at_end() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t' || text_[at_] == '\r')) ++at_;
    return at_ == text_.size() || text_[at_] == '#';
  }

  [[noreturn]] void fail(std::int64_t column, std::string message, std::string hint = {}) const {
    throw Error(Fault::failed, Position{path_, number_, column}, std::move(message), std::move(hint));
  }

  /// What stands up to the next blank.
  std::string_view word() {
    (void)at_end();
    const std::size_t start = at_;
    while (at_ < text_.size() && text_[at_] != ' ' && text_[at_] != '\t' && text_[at_] != '\r') ++at_;
    return text_.substr(start, at_ - start);
  }

  bool accept(char c) {
    if (at_ == text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }

  /// A plain or a quoted name.
  std::string name() {
    if (accept('"')) return quoted();
    const std::size_t start = at_;
    while (at_ < text_.size() && is_word(text_[at_])) ++at_;
    if (at_ == start) fail(column(), fmt::format("found {}, expected a name", found()));
    return std::string(text_.substr(start, at_ - start));
  }

  std::string found() const { return at_ == text_.size() ? "the end of the line" : fmt::format("'{}'", text_[at_]); }

 private:
  std::string quoted() {
    std::string value;
    while (!accept('"')) {
      if (at_ == text_.size()) fail(column(), "found the end of the line inside a name, expected '\"'");
      char c = text_[at_++];
      if (c == '\\') c = escaped();
      value += c;
    }
    return value;
  }

  char escaped() {
    if (at_ == text_.size()) fail(column(), "found the end of the line inside a name, expected '\"'");
    const char c = text_[at_++];
    if (c != 'x') return c;
    unsigned value = 0;
    const std::string_view digits = text_.substr(at_, 2);
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value, 16);
    if (error != std::errc{} || end != digits.data() + 2) fail(column(), "expected two hexadecimal digits after \\x");
    at_ += 2;
    return static_cast<char>(static_cast<unsigned char>(value));
  }

  std::string_view text_;
  std::int64_t number_;
  const std::string& path_;
  std::size_t at_ = 0;
};

Id read_id(const Line& line, std::int64_t column, std::string_view digits) {
  const auto is_digit = [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); };
  if (digits.size() != 32 || !std::all_of(digits.begin(), digits.end(), is_digit))
    line.fail(column, fmt::format("'{}' is no graph id: expected 32 hexadecimal digits", digits),
              "leave graph= out to fit any graph that has the names");
  return id_from_hex(digits);
}

void read_head(Line& line, PartitionFile& file) {
  const std::int64_t start = (line.at_end(), line.column());
  if (const std::string_view word = line.word(); word != "partition")
    line.fail(start, fmt::format("found '{}', expected {}", word, head_example),
              "tailor fuse MODEL --write-partition FILE writes such a file");
  const std::int64_t column = (line.at_end(), line.column());
  const std::string_view digits = line.word();
  std::int64_t version = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), version);
  if (digits.empty() || error != std::errc{} || end != digits.data() + digits.size())
    line.fail(column, fmt::format("found '{}', expected the version of the format, {}", digits, partition_file_version),
              fmt::format("expected {}", head_example));
  if (version != partition_file_version)
    line.fail(column,
              fmt::format("the file is of version {}, this tailor reads version {}", version, partition_file_version),
              "write it again with tailor fuse MODEL --write-partition FILE");
  while (!line.at_end()) {
    const std::int64_t at = line.column();
    const std::string key = line.name();
    if (!line.accept('=')) line.fail(line.column(), fmt::format("found {}, expected '='", line.found()));
    const std::int64_t value_at = line.column();
    std::string value = line.name();
    constexpr std::array<std::string_view, 4> known = {"graph", "strategy", "device", "price"};
    if (key == "graph")
      file.graph = read_id(line, value_at, value);
    else if (key == "strategy")
      file.strategy = std::move(value);
    else if (key == "device")
      file.device = std::move(value);
    else if (key == "price")
      file.price = std::move(value);
    else
      line.fail(at, fmt::format("the head line has no '{}'", key), suggestion(key, known));
  }
}

void read_group(Line& line, PartitionFile& file) {
  PartitionFile::Group group{line.number(), {}};
  while (!line.at_end()) {
    const std::int64_t column = line.column();
    (void)line.accept('%');
    group.nodes.push_back({line.name(), column});
  }
  if (group.nodes.empty()) line.fail(line.column(), "a group without nodes", "name its nodes, or remove the line");
  file.sections.back().groups.push_back(std::move(group));
}

void read_body(Line& line, PartitionFile& file) {
  const std::int64_t column = (line.at_end(), line.column());
  const std::string body(line.word());
  const auto is_place = [](char c) { return (c >= '0' && c <= '9') || c == '/'; };
  if (body.empty() || !std::all_of(body.begin(), body.end(), is_place))
    line.fail(column, fmt::format("found '{}', expected the place of a body, such as 0 or 0/2", body));
  for (const PartitionFile::Section& section : file.sections)
    if (section.body == body)
      line.fail(column, fmt::format("body {} was opened before, on line {}", body, section.line),
                "put its groups together");
  if (!line.at_end()) line.fail(line.column(), fmt::format("found {}, expected the end of the line", line.found()));
  file.sections.push_back({body, line.number(), {}});
}

void append_section(std::string& out, const Graph& graph, const Fusion& fusion, const std::string& body) {
  if (!body.empty() && !fusion.groups.empty()) {
    out += "body " + body;
    if (!graph.name.empty() && std::all_of(graph.name.begin(), graph.name.end(), is_plain)) out += "  # " + graph.name;
    out += '\n';
  }
  for (const std::vector<NodeId>& group : fusion.groups) {
    out += "group";
    for (const NodeId id : group) append_name(out += " %", graph[id].name);
    out += '\n';
  }
  for (std::size_t i = 0; i < fusion.bodies.size(); ++i)
    append_section(out, graph.bodies[i], fusion.bodies[i],
                   body.empty() ? std::to_string(i) : fmt::format("{}/{}", body, i));
}

}  // namespace

PartitionFile parse_partition(std::string_view text, const std::string& path) {
  PartitionFile file;
  file.path = path;
  std::int64_t number = 0;
  for (const std::string_view words : split(text, '\n')) {
    Line line(words, ++number, path);
    if (line.at_end()) continue;
    if (file.sections.empty()) {
      read_head(line, file);
      file.sections.push_back({"", number, {}});
      continue;
    }
    const std::int64_t column = line.column();
    const std::string_view word = line.word();
    constexpr std::array<std::string_view, 2> known = {"group", "body"};
    if (word == "group")
      read_group(line, file);
    else if (word == "body")
      read_body(line, file);
    else
      line.fail(column, fmt::format("found '{}', expected a line that begins with group or body", word),
                suggestion(word, known));
  }
  if (file.sections.empty())
    throw Error(Fault::failed, Position{path}, fmt::format("the file is empty, expected {}", head_example),
                "tailor fuse MODEL --write-partition FILE writes such a file");
  return file;
}

std::string partition_text(const Graph& graph, const Fusion& fusion) {
  std::string out =
      "# Which operations share a kernel: one group a line. Read it back with --strategy FILE.partition\n";
  out += fmt::format("partition {} graph={}", partition_file_version, hex(id_of(std::string_view(text(graph)))));
  for (const auto& [key, value] : {std::pair<std::string_view, const std::string&>{"strategy", fusion.strategy},
                                   {"device", fusion.device},
                                   {"price", fusion.price}}) {
    if (value.empty()) continue;
    out += fmt::format(" {}=", key);
    append_name(out, value);
  }
  out += '\n';
  append_section(out, graph, fusion, "");
  return out;
}

}  // namespace tailor::explore
