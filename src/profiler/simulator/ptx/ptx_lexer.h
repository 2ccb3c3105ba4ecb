// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// PTX text as tokens. In: the text. Out: one token at a time, as views into the text, without allocation. Called by the
// parser. A word is anything that reads as one: a directive (".reqntid"), an opcode with all its modifiers
// ("ld.global.L2::128B.f32"), a register, a special register with its component, a symbol. Lines are counted on the
// way, since every instruction has one; columns are worked out only for errors.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/error.h"

namespace tailor::simulator {

enum class PtxTokenKind : std::uint8_t { end, word, integer, real, quoted, mark };

struct PtxToken {
  PtxTokenKind kind = PtxTokenKind::end;
  char mark = 0;               ///< of a mark
  std::uint8_t real_bits = 0;  ///< of a real: 32 or 64
  std::uint32_t line = 1;
  std::uint64_t value = 0;  ///< of an integer; of a real its bits
  std::string_view text;    ///< quoted: without the quotes
};

class PtxLexer {
 public:
  PtxLexer(std::string_view text, std::string_view file);

  /// The token under the cursor.
  const PtxToken& token() const { return token_; }
  void advance();

  bool at_word() const { return token_.kind == PtxTokenKind::word; }
  bool at_word(std::string_view text) const { return at_word() && token_.text == text; }
  bool at_mark(char c) const { return token_.kind == PtxTokenKind::mark && token_.mark == c; }
  /// A word that begins with a point.
  bool at_directive() const { return at_word() && token_.text.front() == '.'; }

  bool accept(char c) {
    if (!at_mark(c)) return false;
    advance();
    return true;
  }
  bool accept_word(std::string_view text) {
    if (!at_word(text)) return false;
    advance();
    return true;
  }
  /// A directive, with or without a space before the next: ".reg .b32" and ".reg.b32". The cursor is behind it then.
  bool accept_directive(std::string_view text) {
    if (accept_word(text)) return true;
    if (!at_word() || !token_.text.starts_with(text) || token_.text[text.size()] != '.') return false;
    at_ = static_cast<std::size_t>(token_.text.data() - text_.data()) + text.size();
    advance();
    return true;
  }
  void expect(char c, std::string_view what_for) {
    if (!accept(c)) fail_expecting(c, what_for);
  }
  /// A word that is no directive.
  std::string_view name(std::string_view what);
  /// A non-negative integer up to `most`.
  std::uint64_t integer(std::string_view what, std::uint64_t most);
  std::string_view quoted(std::string_view what);
  /// With the cursor at the mark that opens it: past the mark that closes it. Marks of the kind nest.
  void skip_enclosed(char open, char close);

  /// "found X, expected Y" at the cursor.
  [[noreturn]] void fail(std::string_view expected, std::string_view hint = {}) const;
  /// A message of its own at a view of the text.
  [[noreturn]] void fail_at(std::string_view place, std::string message, std::string hint = {}) const;

 private:
  void skip_blanks();
  void scan_number();
  void scan_digits(std::size_t start, unsigned base, std::string_view kind);
  void scan_real_bits(std::size_t digits);
  void scan_decimal_real();
  void scan_quoted();
  [[noreturn]] void fail_expecting(char c, std::string_view what_for) const;

  std::string_view text_;
  std::string_view file_;
  std::size_t at_ = 0;  ///< after the token
  std::uint32_t line_ = 1;
  PtxToken token_;
};

}  // namespace tailor::simulator
