// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The moves of the cursor. In: HLO text. Out: words, names, numbers and balanced values as views into it, or an Error
// with line and column. Called by the parser and the readers of attributes. A dump is mostly names and metadata, so the
// loops over them make one look-up per character in a table of character classes.
#include "hlo/hlo_lexer.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>

namespace tailor::hlo {

namespace {

enum CharClass : std::uint8_t { plain = 0, word_char = 1, blank = 2, opening = 4, closing = 8, quote = 16, comma = 32 };

constexpr std::array<std::uint8_t, 256> classes_of_characters() {
  std::array<std::uint8_t, 256> table{};
  const auto mark = [&table](std::string_view characters, std::uint8_t kind) {
    for (const char c : characters) table[static_cast<unsigned char>(c)] = kind;
  };
  mark("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.", word_char);
  mark(" \t\r\n", blank);
  mark("([{", opening);
  mark(")]}", closing);
  mark("\"'", quote);
  mark(",", comma);
  return table;
}

constexpr auto classes = classes_of_characters();

constexpr std::uint8_t class_at(char c) { return classes[static_cast<unsigned char>(c)]; }

constexpr char closing_of(char open) { return open == '(' ? ')' : open == '[' ? ']' : '}'; }

/// What an error shows of the text: the next word or character, printable and short.
std::string excerpt(std::string_view rest) {
  if (rest.empty()) return "the end of the text";
  std::size_t length = 0;
  while (length < rest.size() && length < 40 && class_at(rest[length]) == word_char) ++length;
  length = std::max<std::size_t>(length, 1);
  std::string shown = "'";
  for (const char c : rest.substr(0, length)) {
    if (c >= ' ' && c < 127)
      shown += c;
    else
      shown += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
  }
  return shown + "'";
}

}  // namespace

std::string_view HloLexer::since(std::size_t start) const {
  std::string_view view = text_.substr(start, at_ - start);
  while (!view.empty() && class_at(view.back()) == blank) view.remove_suffix(1);
  return view;
}

Position HloLexer::position(std::size_t offset) const {
  const std::string_view before = text_.substr(0, std::min(offset, text_.size()));
  const std::size_t line_start = before.rfind('\n') + 1;  // npos + 1 is 0: the first line
  return {std::string(file_), std::count(before.begin(), before.end(), '\n') + 1,
          static_cast<std::int64_t>(before.size() - line_start) + 1};
}

void HloLexer::skip_more_blanks() {
  while (at_ < text_.size()) {
    const char c = text_[at_];
    if (class_at(c) == blank) {
      ++at_;
    } else if (c == '/' && at_ + 1 < text_.size() && text_[at_ + 1] == '*') {
      const std::size_t end = text_.find("*/", at_ + 2);
      if (end == text_.npos) fail_at(at_, "found a comment that does not end, expected '*/'");
      at_ = end + 2;
    } else if (c == '/' && at_ + 1 < text_.size() && text_[at_ + 1] == '/') {
      skip_line();
    } else {
      return;
    }
  }
}

bool HloLexer::at_end() {
  skip_blanks();
  return at_ >= text_.size();
}

bool HloLexer::accept_word(std::string_view wanted) {
  skip_blanks();
  if (text_.substr(at_, wanted.size()) != wanted) return false;
  const std::size_t after = at_ + wanted.size();
  if (after < text_.size() && class_at(text_[after]) == word_char) return false;
  at_ = after;
  return true;
}

bool HloLexer::accept_mark(std::string_view mark) {
  skip_blanks();
  if (text_.substr(at_, mark.size()) != mark) return false;
  at_ += mark.size();
  return true;
}

void HloLexer::fail_expecting(char c, std::string_view what_for) { fail(fmt::format("'{}' {}", c, what_for)); }

std::string_view HloLexer::name(std::string_view what_for) {
  accept('%');
  const std::string_view found = word();
  if (found.empty()) fail(what_for);
  return found;
}

std::string_view HloLexer::word() {
  skip_blanks();
  const std::size_t start = at_;
  while (at_ < text_.size() && class_at(text_[at_]) == word_char) {
    if (text_[at_] == '-' && at_ + 1 < text_.size() && text_[at_ + 1] == '>') break;  // an arrow, not a hyphen
    ++at_;
  }
  return text_.substr(start, at_ - start);
}

std::int64_t HloLexer::integer(std::string_view what_for) {
  skip_blanks();
  std::int64_t value = 0;
  const char* begin = text_.data() + at_;
  const auto [end, fault] = std::from_chars(begin, text_.data() + text_.size(), value);
  if (fault == std::errc::result_out_of_range) fail(fmt::format("{} that fits 64 bits", what_for));
  if (fault != std::errc{}) fail(what_for);
  at_ += static_cast<std::size_t>(end - begin);
  return value;
}

void HloLexer::skip_string() {
  const char mark = text_[at_];
  const std::size_t start = at_;
  for (std::size_t from = start + 1;;) {
    const std::size_t end = text_.find(mark, from);
    if (end == text_.npos) fail_at(start, "found a string that does not end, expected its closing quote");
    std::size_t escapes = 0;
    while (text_[end - 1 - escapes] == '\\') ++escapes;
    at_ = from = end + 1;
    if (escapes % 2 == 0) return;
  }
}

std::string_view HloLexer::quoted() {
  if (class_at(peek()) != quote) fail("a quoted string");
  const std::size_t start = at_ + 1;
  skip_string();
  return text_.substr(start, at_ - 1 - start);
}

void HloLexer::skip_bracketed() {
  // The closing brackets still expected. Deep enough for real dumps; more is an error.
  std::array<char, 4 * max_nesting> expected;
  std::size_t depth = 0;
  const std::size_t start = at_;
  while (at_ < text_.size()) {
    const char c = text_[at_];
    const std::uint8_t kind = class_at(c);
    if (kind == word_char || kind == blank || kind == comma) {
      ++at_;
      continue;
    }
    if (kind == quote) {
      skip_string();
      continue;
    }
    if (c == '/' && at_ + 1 < text_.size() && text_[at_ + 1] == '*') {
      skip_blanks();
      continue;
    }
    if (kind == opening) {
      if (depth == expected.size()) fail_at(at_, "found brackets nested too deep to be HLO");
      expected[depth++] = closing_of(c);
    } else if (kind == closing) {
      if (c != expected[depth - 1]) fail(fmt::format("'{}'", expected[depth - 1]), "the brackets do not match");
      if (--depth == 0) {
        ++at_;
        return;
      }
    }
    ++at_;
  }
  fail_at(start, fmt::format("found '{}' without its '{}'", text_[start], closing_of(text_[start])),
          "the text may be truncated");
}

std::string_view HloLexer::balanced_value() {
  skip_blanks();
  const std::size_t start = at_;
  while (at_ < text_.size()) {
    const char c = text_[at_];
    const std::uint8_t kind = class_at(c);
    if (kind == word_char) {
      ++at_;
    } else if (kind == opening) {
      skip_bracketed();
    } else if (kind == quote) {
      skip_string();
    } else if (kind == closing || kind == comma || c == '\n') {
      break;
    } else if (kind == blank) {
      // A value ends at a blank unless the next thing continues it ("[1,8] <= [8]" does, a name does not).
      if (at_ > start && at_ + 1 < text_.size() && class_at(text_[at_ + 1]) == word_char) break;
      ++at_;
    } else if (c == '/' && at_ + 1 < text_.size() && (text_[at_ + 1] == '*' || text_[at_ + 1] == '/')) {
      skip_blanks();
    } else {
      ++at_;
    }
  }
  return since(start);
}

void HloLexer::skip_line() {
  const std::size_t end = text_.find('\n', at_);
  at_ = end == text_.npos ? text_.size() : end + 1;
}

void HloLexer::fail(std::string_view expected, std::string_view hint) {
  skip_blanks();
  const std::string_view rest = text_.substr(std::min(at_, text_.size()));
  const bool ended = rest.empty();
  throw Error(Fault::failed, position(at_), fmt::format("found {}, expected {}", excerpt(rest), expected),
              ended && hint.empty() ? "the text may be truncated" : std::string(hint));
}

void HloLexer::fail_at(std::size_t offset, std::string message, std::string hint) const {
  throw Error(Fault::failed, position(offset), std::move(message), std::move(hint));
}

}  // namespace tailor::hlo
