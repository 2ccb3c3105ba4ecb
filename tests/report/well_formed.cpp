// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The reader makes one pass over the text with a stack of open elements. Between tags it looks for stray brackets and
// unknown entities; inside script and style the text is raw up to the closing tag; ids are kept in a set. The first
// fault is returned with its place.
#include "well_formed.h"

#include <algorithm>
#include <array>
#include <set>
#include <vector>

namespace {

constexpr auto never_closed = std::to_array<std::string_view>({"meta", "br", "hr", "link", "input"});
constexpr auto entities = std::to_array<std::string_view>({"amp;", "lt;", "gt;", "quot;", "#39;"});

struct Reader {
  std::string_view text;
  std::size_t at = 0;
  std::vector<std::string> open;
  std::set<std::string> ids;

  std::string fault(const std::string& words) const {
    return words + " at: " + std::string(text.substr(std::min(at, text.size()), 60));
  }

  bool good_entity(std::size_t place) const {
    return std::any_of(entities.begin(), entities.end(),
                       [&](auto entity) { return text.substr(place + 1, entity.size()) == entity; });
  }

  static bool name_letter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
  }

  std::string word() {
    std::string out;
    while (at < text.size() && name_letter(text[at])) out += text[at++];
    return out;
  }

  std::string attribute() {
    const std::string name = word();
    if (name.empty()) return fault("expected an attribute");
    if (at >= text.size() || text[at] != '=') return {};
    if (++at >= text.size() || text[at] != '"') return fault("attribute " + name + " is not quoted");
    const std::size_t end = text.find('"', ++at);
    if (end == text.npos) return fault("attribute " + name + " does not end");
    const std::string_view value = text.substr(at, end - at);
    if (value.find('<') != value.npos) return fault("'<' in attribute " + name);
    for (std::size_t i = 0; i < value.size(); ++i)
      if (value[i] == '&' && !good_entity(at + i)) return fault("loose '&' in attribute " + name);
    if (name == "id" && !ids.insert(std::string(value)).second) return fault("id used twice: " + std::string(value));
    at = end + 1;
    return {};
  }

  std::string start_tag() {
    const std::string name = word();
    if (name.empty()) return fault("loose '<'");
    while (at < text.size() && text[at] != '>' && text[at] != '/') {
      if (text[at] != ' ') return fault("expected a space in <" + name);
      ++at;
      if (const std::string wrong = attribute(); !wrong.empty()) return wrong;
    }
    const bool self_closed = at < text.size() && text[at] == '/';
    if (self_closed) ++at;
    if (at >= text.size() || text[at] != '>') return fault("<" + name + " does not end");
    ++at;
    if (self_closed || std::find(never_closed.begin(), never_closed.end(), name) != never_closed.end()) return {};
    if (name == "script" || name == "style") {
      at = text.find("</" + name + ">", at);
      if (at == text.npos) return fault("<" + name + "> is not closed");
      at += name.size() + 3;
      return {};
    }
    open.push_back(name);
    return {};
  }

  std::string end_tag() {
    const std::string name = word();
    if (at >= text.size() || text[at] != '>') return fault("</" + name + " does not end");
    ++at;
    if (open.empty() || open.back() != name)
      return fault("</" + name + "> closes " + (open.empty() ? "nothing" : "<" + open.back() + ">"));
    open.pop_back();
    return {};
  }
};

}  // namespace

std::string well_formed(std::string_view text) {
  Reader reader{text, 0, {}, {}};
  constexpr std::string_view doctype = "<!DOCTYPE html>";
  if (text.substr(0, doctype.size()) == doctype) reader.at = doctype.size();
  while (reader.at < text.size()) {
    const char c = text[reader.at];
    std::string wrong;
    if (c == '<' && reader.at + 1 < text.size() && text[reader.at + 1] == '/') {
      reader.at += 2;
      wrong = reader.end_tag();
    } else if (c == '<') {
      ++reader.at;
      wrong = reader.start_tag();
    } else {
      if (c == '&' && !reader.good_entity(reader.at)) wrong = reader.fault("loose '&'");
      if (c == '>') wrong = reader.fault("loose '>'");
      ++reader.at;
    }
    if (!wrong.empty()) return wrong;
  }
  return reader.open.empty() ? "" : "not closed: <" + reader.open.back() + ">";
}
