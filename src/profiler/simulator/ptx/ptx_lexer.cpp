// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The scanner. In: characters. Out: tokens and, for text that is not PTX, errors with line and column. A table of
// character classes decides what begins where; numbers become values here, in the three spellings of real constants too
// (0f and eight hexadecimal digits, 0d and sixteen, plain decimal).
#include "profiler/simulator/ptx/ptx_lexer.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>

namespace tailor::simulator {

namespace {

enum CharClass : std::uint8_t { other = 0, follows = 1, begins = 2, digit = 4, blank = 8 };

constexpr std::array<std::uint8_t, 256> classes_of_characters() {
  std::array<std::uint8_t, 256> table{};
  for (int c = 'a'; c <= 'z'; ++c) table[c] = table[c - 'a' + 'A'] = follows | begins;
  for (int c = '0'; c <= '9'; ++c) table[c] = follows | digit;
  for (const char c : {'_', '$', '.'}) table[static_cast<unsigned char>(c)] = follows | begins;
  table['%'] = begins;
  for (const char c : {' ', '\t', '\r', '\n', '\f', '\v'}) table[static_cast<unsigned char>(c)] = blank;
  table[0] = blank;  // the driver's own terminator, when a text was read with it
  return table;
}

constexpr auto classes = classes_of_characters();

constexpr bool is(char c, std::uint8_t kinds) { return (classes[static_cast<unsigned char>(c)] & kinds) != 0; }

constexpr unsigned value_of_digit(char c) {
  if (c >= '0' && c <= '9') return static_cast<unsigned>(c - '0');
  if (c >= 'a' && c <= 'f') return static_cast<unsigned>(c - 'a' + 10);
  if (c >= 'A' && c <= 'F') return static_cast<unsigned>(c - 'A' + 10);
  return 16;
}

std::string shown(const PtxToken& token) {
  if (token.kind == PtxTokenKind::end) return "the end of the text";
  std::string text = "'";
  for (const char c : token.text.substr(0, 40)) {
    if (c >= ' ' && c < 127)
      text += c;
    else
      text += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
  }
  return text + "'";
}

}  // namespace

PtxLexer::PtxLexer(std::string_view text, std::string_view file) : text_(text), file_(file) { advance(); }

void PtxLexer::skip_blanks() {
  while (at_ < text_.size()) {
    const char c = text_[at_];
    if (is(c, blank)) {
      line_ += c == '\n';
      ++at_;
    } else if (c == '/' && at_ + 1 < text_.size() && text_[at_ + 1] == '/') {
      at_ = std::min(text_.find('\n', at_), text_.size());
    } else if (c == '/' && at_ + 1 < text_.size() && text_[at_ + 1] == '*') {
      const std::size_t end = text_.find("*/", at_ + 2);
      if (end == text_.npos) fail_at(text_.substr(at_, 2), "found a comment that does not end, expected '*/'");
      line_ += static_cast<std::uint32_t>(std::count(text_.begin() + at_, text_.begin() + end, '\n'));
      at_ = end + 2;
    } else {
      return;
    }
  }
}

void PtxLexer::advance() {
  skip_blanks();
  token_.line = line_;
  if (at_ >= text_.size()) {
    token_.kind = PtxTokenKind::end;
    token_.text = text_.substr(text_.size());
    return;
  }
  const std::size_t start = at_;
  const char c = text_[at_];
  if (is(c, begins)) {
    for (++at_; at_ < text_.size(); ++at_) {
      if (is(text_[at_], follows)) continue;
      // "shared::cluster" is one word; the colon of a label is followed by none.
      if (text_[at_] != ':' || at_ + 2 >= text_.size() || text_[at_ + 1] != ':' || !is(text_[at_ + 2], follows)) break;
      ++at_;
    }
    token_.kind = PtxTokenKind::word;
    token_.text = text_.substr(start, at_ - start);
  } else if (is(c, digit)) {
    scan_number();
    token_.text = text_.substr(start, at_ - start);
  } else if (c == '"') {
    scan_quoted();
  } else {
    ++at_;
    token_.kind = PtxTokenKind::mark;
    token_.mark = c;
    token_.text = text_.substr(start, 1);
  }
}

void PtxLexer::scan_number() {
  const char next = at_ + 1 < text_.size() ? text_[at_ + 1] : '\0';
  const std::size_t start = at_;
  if (text_[at_] == '0') {
    if (next == 'x' || next == 'X') return scan_digits(at_ + 2, 16, "hexadecimal");
    if (next == 'f' || next == 'F') return scan_real_bits(8);
    if (next == 'd' || next == 'D') return scan_real_bits(16);
    if (next == 'b' || next == 'B') return scan_digits(at_ + 2, 2, "binary");
  }
  std::size_t end = at_;
  while (end < text_.size() && is(text_[end], digit)) ++end;
  if (end < text_.size() && (text_[end] == '.' || text_[end] == 'e' || text_[end] == 'E')) return scan_decimal_real();
  const bool octal = text_[start] == '0' && end > start + 1;
  scan_digits(start, octal ? 8 : 10, octal ? "octal" : "decimal");
}

void PtxLexer::scan_digits(std::size_t start, unsigned base, std::string_view kind) {
  std::uint64_t value = 0;
  std::size_t end = start;
  for (; end < text_.size(); ++end) {
    const unsigned next = value_of_digit(text_[end]);
    if (next >= base) break;
    if (value > (~std::uint64_t{0} - next) / base)
      fail_at(text_.substr(at_, end - at_ + 1), "found a number over 64 bits, expected one that fits");
    value = value * base + next;
  }
  if (end == start) fail_at(text_.substr(at_, 2), fmt::format("found no digits, expected {} digits", kind));
  if (end < text_.size() && (text_[end] == 'U' || text_[end] == 'u')) ++end;
  if (end < text_.size() && is(text_[end], follows))
    fail_at(text_.substr(end, 1), fmt::format("found '{}' in a number, expected {} digits", text_[end], kind));
  token_.kind = PtxTokenKind::integer;
  token_.value = value;
  at_ = end;
}

void PtxLexer::scan_real_bits(std::size_t digits) {
  const std::size_t start = at_ + 2;
  std::uint64_t value = 0;
  std::size_t end = start;
  for (; end < text_.size() && value_of_digit(text_[end]) < 16; ++end) value = value << 4 | value_of_digit(text_[end]);
  if (end - start != digits || (end < text_.size() && is(text_[end], follows)))
    fail_at(text_.substr(at_, end - at_), fmt::format("found {} digits, expected the {} hexadecimal ones of an f{}",
                                                      end - start, digits, 4 * digits));
  token_.kind = PtxTokenKind::real;
  token_.real_bits = static_cast<std::uint8_t>(4 * digits);
  token_.value = value;
  at_ = end;
}

void PtxLexer::scan_decimal_real() {
  double value = 0;
  const char* const begin = text_.data() + at_;
  const auto [end, fault] = std::from_chars(begin, text_.data() + text_.size(), value);
  if (fault != std::errc{}) fail_at(text_.substr(at_, 1), "found a number no f64 can hold, expected one that fits");
  token_.kind = PtxTokenKind::real;
  token_.real_bits = 64;
  token_.value = std::bit_cast<std::uint64_t>(value);
  at_ += static_cast<std::size_t>(end - begin);
}

void PtxLexer::scan_quoted() {
  const std::size_t start = at_ + 1;
  for (at_ = start; at_ < text_.size() && text_[at_] != '"' && text_[at_] != '\n'; ++at_)
    if (text_[at_] == '\\' && at_ + 1 < text_.size() && text_[at_ + 1] != '\n') ++at_;
  if (at_ >= text_.size() || text_[at_] != '"')
    fail_at(text_.substr(start - 1, 1), "found a string that does not end, expected its closing quote");
  token_.kind = PtxTokenKind::quoted;
  token_.text = text_.substr(start, at_ - start);
  ++at_;
}

std::string_view PtxLexer::name(std::string_view what) {
  if (!at_word() || at_directive()) fail(what);
  const std::string_view found = token_.text;
  advance();
  return found;
}

std::uint64_t PtxLexer::integer(std::string_view what, std::uint64_t most) {
  if (token_.kind != PtxTokenKind::integer) fail(what);
  if (token_.value > most) fail(fmt::format("{} up to {}", what, most));
  const std::uint64_t value = token_.value;
  advance();
  return value;
}

std::string_view PtxLexer::quoted(std::string_view what) {
  if (token_.kind != PtxTokenKind::quoted) fail(what);
  const std::string_view found = token_.text;
  advance();
  return found;
}

void PtxLexer::skip_enclosed(char open, char close) {
  const std::string_view start = token_.text;
  for (std::size_t depth = 0; token_.kind != PtxTokenKind::end; advance()) {
    if (at_mark(open)) ++depth;
    if (at_mark(close) && --depth == 0) return advance();
  }
  fail_at(start, fmt::format("found '{}' without its '{}'", open, close), "the text may be cut off");
}

void PtxLexer::fail(std::string_view expected, std::string_view hint) const {
  fail_at(token_.text, fmt::format("found {}, expected {}", shown(token_), expected), std::string(hint));
}

void PtxLexer::fail_expecting(char c, std::string_view what_for) const { fail(fmt::format("'{}' {}", c, what_for)); }

void PtxLexer::fail_at(std::string_view place, std::string message, std::string hint) const {
  const std::size_t offset = static_cast<std::size_t>(place.data() - text_.data());
  const std::string_view before = text_.substr(0, std::min(offset, text_.size()));
  const std::size_t line_start = before.rfind('\n') + 1;  // npos + 1 is 0: the first line
  throw Error(Fault::failed,
              Position{std::string(file_), std::count(before.begin(), before.end(), '\n') + 1,
                       static_cast<std::int64_t>(before.size() - line_start) + 1},
              std::move(message), std::move(hint));
}

}  // namespace tailor::simulator
