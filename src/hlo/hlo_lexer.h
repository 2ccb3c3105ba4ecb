// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// A cursor over HLO text. It hands out views into the text and never copies; line and column are worked out only when
// an error needs them. HLO has few token kinds but many ways to nest, so what the importer does not need is skipped as
// one balanced value: brackets match, strings and comments inside count as nothing.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/error.h"

namespace tailor::hlo {

/// Deeper nesting than any real dump; more is an error rather than a stack overflow.
inline constexpr int max_nesting = 100;

class HloLexer {
 public:
  HloLexer(std::string_view text, std::string_view file) : text_(text), file_(file) {}

  std::string_view text() const { return text_; }
  std::size_t offset() const { return at_; }
  /// The view from an earlier offset up to here, without blanks at its end.
  std::string_view since(std::size_t start) const;
  Position position(std::size_t offset) const;

  /// Skips blanks and comments; true when nothing is left.
  bool at_end();
  /// The next character after blanks and comments, 0 at the end.
  char peek() {
    skip_blanks();
    return here();
  }
  /// The character right here, blanks not skipped; 0 at the end.
  char here() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  /// Takes `c` when it is next.
  bool accept(char c) {
    if (peek() != c || at_ >= text_.size()) return false;
    ++at_;
    return true;
  }
  /// Takes `word` when it is next and is not the beginning of a longer word.
  bool accept_word(std::string_view word);
  /// Takes `mark` ("->", "...") when it is next.
  bool accept_mark(std::string_view mark);
  /// Takes `c` or throws, saying what it was expected for.
  void expect(char c, std::string_view what_for) {
    if (!accept(c)) fail_expecting(c, what_for);
  }
  /// A name without its '%'. Throws when there is none.
  std::string_view name(std::string_view what_for);
  /// Letters, digits, '_', '-' and '.'; empty when there are none.
  std::string_view word();
  /// A decimal integer that fits 64 bits. Throws otherwise.
  std::int64_t integer(std::string_view what_for);
  /// The contents of a quoted string as it stands in the text (escapes kept).
  std::string_view quoted();
  /// Everything up to a ',' or closing bracket of this level. Throws when brackets do not match.
  std::string_view balanced_value();
  /// From an opening bracket past the one that closes it.
  void skip_bracketed();
  /// To the end of the line.
  void skip_line();
  void seek(std::size_t offset) { at_ = offset; }

  /// "found X, expected Y" at the cursor.
  [[noreturn]] void fail(std::string_view expected, std::string_view hint = {});
  /// A message of its own at a place.
  [[noreturn]] void fail_at(std::size_t offset, std::string message, std::string hint = {}) const;

 private:
  void skip_blanks() {
    if (at_ < text_.size() && (text_[at_] <= ' ' || text_[at_] == '/')) skip_more_blanks();
  }
  void skip_more_blanks();
  void skip_string();
  [[noreturn]] void fail_expecting(char c, std::string_view what_for);

  std::string_view text_;
  std::string_view file_;
  std::size_t at_ = 0;
};

}  // namespace tailor::hlo
