// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Widths of UTF-8 text. In: text. Out: how many columns it takes, or as much of it as fits. Called by the terminal's
// tables and by charts. Text is cut into glyphs (a code point and its columns) and all functions work on those, so no
// multi-byte character is ever split.
#include "report/width.h"

#include <algorithm>
#include <array>
#include <cstdint>

namespace tailor::report {

namespace {

struct Range {
  std::uint32_t first, last;
};

constexpr auto zero_width = std::to_array<Range>({
    {0x0300, 0x036f},
    {0x0483, 0x0489},
    {0x0591, 0x05bd},
    {0x0610, 0x061a},
    {0x064b, 0x065f},
    {0x1ab0, 0x1aff},
    {0x1dc0, 0x1dff},
    {0x200b, 0x200f},
    {0x202a, 0x202e},
    {0x2060, 0x2064},
    {0x20d0, 0x20ff},
    {0xfe00, 0xfe0f},
    {0xfe20, 0xfe2f},
    {0xfeff, 0xfeff},
});

constexpr auto double_width = std::to_array<Range>({
    {0x1100, 0x115f},
    {0x2e80, 0x303e},
    {0x3041, 0x33ff},
    {0x3400, 0x4dbf},
    {0x4e00, 0x9fff},
    {0xa000, 0xa4cf},
    {0xac00, 0xd7a3},
    {0xf900, 0xfaff},
    {0xfe30, 0xfe6f},
    {0xff00, 0xff60},
    {0xffe0, 0xffe6},
    {0x1f300, 0x1f64f},
    {0x1f680, 0x1f6ff},
    {0x1f900, 0x1f9ff},
    {0x20000, 0x3fffd},
});

template <std::size_t N>
bool within(std::uint32_t code, const std::array<Range, N>& ranges) {
  return std::any_of(ranges.begin(), ranges.end(),
                     [&](const Range& range) { return code >= range.first && code <= range.last; });
}

int columns(std::uint32_t code) {
  if (within(code, zero_width)) return 0;
  return within(code, double_width) ? 2 : 1;
}

struct Glyph {
  std::string_view bytes;
  std::uint32_t code = 0;
  bool valid = false;
};

/// The glyph at the start of `text` (not empty); one byte that is not valid when the encoding is broken there.
Glyph first_glyph(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<std::uint32_t>(static_cast<unsigned char>(text[i])); };
  const std::uint32_t lead = byte(0);
  const std::size_t length = lead < 0x80 ? 1 : lead >> 5 == 6 ? 2 : lead >> 4 == 14 ? 3 : lead >> 3 == 30 ? 4 : 0;
  if (length == 1) return {text.substr(0, 1), lead, true};
  if (length == 0 || length > text.size()) return {text.substr(0, 1), lead, false};
  std::uint32_t code = lead & (0x7fu >> length);
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0u) != 0x80u) return {text.substr(0, 1), lead, false};
    code = code << 6 | (byte(i) & 0x3fu);
  }
  static constexpr std::array<std::uint32_t, 5> smallest{0, 0, 0x80, 0x800, 0x10000};
  const bool surrogate = code >= 0xd800 && code <= 0xdfff;
  if (code < smallest[length] || code > 0x10ffff || surrogate) return {text.substr(0, 1), lead, false};
  return {text.substr(0, length), code, true};
}

std::vector<Glyph> glyphs(std::string_view text) {
  std::vector<Glyph> out;
  while (!text.empty()) {
    out.push_back(first_glyph(text));
    text.remove_prefix(out.back().bytes.size());
  }
  return out;
}

}  // namespace

std::string printable(std::string_view text) {
  std::string out;
  for (const Glyph& glyph : glyphs(text)) {
    if (!glyph.valid)
      out += "\xef\xbf\xbd";
    else if (glyph.code < 0x20 || (glyph.code >= 0x7f && glyph.code < 0xa0))
      out += ' ';
    else
      out += glyph.bytes;
  }
  return out;
}

int display_width(std::string_view text) {
  int width = 0;
  for (const Glyph& glyph : glyphs(text)) width += columns(glyph.code);
  return width;
}

std::string elided(std::string_view text, int width) {
  if (width <= 0) return {};
  if (display_width(text) <= width) return std::string(text);
  const std::vector<Glyph> all = glyphs(text);
  const int room = width - 1;
  const int for_tail = room / 2;
  std::string head, tail;
  int used = 0;
  for (const Glyph& glyph : all) {
    if (used + columns(glyph.code) > room - for_tail) break;
    used += columns(glyph.code);
    head += glyph.bytes;
  }
  used = 0;
  for (auto glyph = all.rbegin(); glyph != all.rend(); ++glyph) {
    if (used + columns(glyph->code) > for_tail) break;
    used += columns(glyph->code);
    tail.insert(0, glyph->bytes);
  }
  return head + "…" + tail;
}

std::vector<std::string> wrapped(std::string_view text, int width, bool whole_words) {
  std::vector<std::string> lines(1);
  int used = 0;
  const auto add_word = [&](std::string_view word) {
    const int word_width = display_width(word);
    const int gap = used > 0 ? 1 : 0;
    if (used > 0 && used + gap + word_width > width) {
      lines.emplace_back();
      used = 0;
    } else if (gap > 0) {
      lines.back() += ' ';
      ++used;
    }
    for (const Glyph& glyph : glyphs(word)) {
      if (columns(glyph.code) > width && !whole_words) continue;
      if (used + columns(glyph.code) > width && !whole_words) {
        lines.emplace_back();
        used = 0;
      }
      lines.back() += glyph.bytes;
      used += columns(glyph.code);
    }
  };
  while (!text.empty()) {
    const std::size_t space = text.find(' ');
    if (space != 0) add_word(text.substr(0, space));
    if (space == text.npos) break;
    text.remove_prefix(space + 1);
  }
  return lines;
}

}  // namespace tailor::report
