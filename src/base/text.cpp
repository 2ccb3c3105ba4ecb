// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Numbers and units for people, splitting, the nearest known name, whole files. In: values or texts. Out: texts; for
// files an Error(failed) with the system's reason. Called from every room. The nearest name is the one with the
// smallest edit distance, found by the usual table of two rows.
#include "base/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <fstream>
#include <numeric>

#include "base/error.h"
#include "base/files.h"

namespace tailor {

namespace {

struct Scale {
  double unit;
  const char* name;
};

template <std::size_t N>
std::string scaled(double value, const std::array<Scale, N>& scales) {
  for (const Scale& scale : scales)
    if (std::abs(value) >= scale.unit) return fmt::format("{} {}", three_figures(value / scale.unit), scale.name);
  return fmt::format("{} {}", three_figures(value / scales.back().unit), scales.back().name);
}

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i + 1);
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({row[j] + 1, row[j + 1] + 1, replaced});
    }
  }
  return row.back();
}

}  // namespace

std::string three_figures(double value) {
  if (!std::isfinite(value)) return fmt::format("{}", value);
  if (value == 0) return "0";
  const double size = std::abs(value);
  if (size >= 999.5 && size < 1e6) return fmt::format("{:.0f}", value);
  if (size >= 99.95 && size < 999.5) return fmt::format("{:.0f}", value);
  if (size >= 9.995 && size < 99.95) return fmt::format("{:.1f}", value);
  if (size >= 0.9995 && size < 9.995) return fmt::format("{:.2f}", value);
  if (size >= 1e-3 && size < 0.9995)
    return fmt::format("{:.{}f}", value, 2 - static_cast<int>(std::floor(std::log10(size))));
  return fmt::format("{:.2e}", value);
}

std::string humane_bytes(double bytes) {
  static constexpr std::array<Scale, 5> scales{{{1e12, "TB"}, {1e9, "GB"}, {1e6, "MB"}, {1e3, "KB"}, {1, "B"}}};
  return scaled(bytes, scales);
}

std::string humane_seconds(double seconds) {
  static constexpr std::array<Scale, 4> scales{{{1, "s"}, {1e-3, "ms"}, {1e-6, "us"}, {1e-9, "ns"}}};
  return scaled(seconds, scales);
}

std::string with_commas(std::int64_t value) {
  std::string digits = std::to_string(value);
  const std::size_t first = digits[0] == '-' ? 1 : 0;
  for (std::size_t at = digits.size(); at > first + 3; at -= 3) digits.insert(at - 3, 1, ',');
  return digits;
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> fields;
  for (std::size_t from = 0;;) {
    const std::size_t at = text.find(separator, from);
    fields.push_back(text.substr(from, at == text.npos ? text.npos : at - from));
    if (at == text.npos) return fields;
    from = at + 1;
  }
}

std::string shell_word(std::string_view text) {
  const bool plain = !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 ||
           std::string_view("_./=:,+-@%").find(c) != std::string_view::npos;
  });
  if (plain) return std::string(text);
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

std::string_view trim(std::string_view text) {
  constexpr std::string_view blank = " \t\r\n";
  const std::size_t first = text.find_first_not_of(blank);
  if (first == text.npos) return {};
  return text.substr(first, text.find_last_not_of(blank) - first + 1);
}

std::string echoed(std::string_view word) {
  constexpr std::size_t most = 60;
  if (word.size() <= most) return std::string(word);
  std::size_t end = most;
  while (end > 0 && (static_cast<unsigned char>(word[end]) & 0xC0U) == 0x80) --end;  // no letter is cut
  return fmt::format("{}... ({} bytes)", word.substr(0, end), word.size());
}

std::string_view nearest(std::string_view found, std::span<const std::string_view> known) {
  std::string_view best;
  // Half of the letters may differ in a short word; of three letters, one: 'xml' is not 'md'.
  std::size_t least = found.size() <= 3 ? 2 : found.size() / 3 + 2;
  for (const std::string_view name : known) {
    const bool mixed_up = std::is_permutation(found.begin(), found.end(), name.begin(), name.end());
    const std::size_t distance = mixed_up && found != name ? 1 : edit_distance(found, name);
    if (distance < least) {
      least = distance;
      best = name;
    }
  }
  return best;
}

std::string suggestion(std::string_view found, std::span<const std::string_view> known) {
  const std::string_view near = nearest(found, known);
  if (!near.empty()) return fmt::format("did you mean '{}'?", near);
  return fmt::format("known: {}", fmt::join(known, ", "));
}

std::string read_file(const std::filesystem::path& path) {
  std::error_code fault;
  if (std::filesystem::is_directory(path, fault))
    throw Error(Fault::failed, Position{path.string()}, "found a folder, expected a file");
  // Nothing that is meant is larger. Without an end to it a device would fill the memory, and so would a wrong file.
  constexpr std::uintmax_t most_of_a_file = 1'000'000'000, most_of_a_stream = 256'000'000;
  std::ifstream in(path, std::ios::binary);
  if (!in) {
    const bool absent = errno == ENOENT || errno == ENOTDIR;
    throw Error(absent ? Fault::missing : Fault::failed, Position{path.string()},
                fmt::format("cannot read: {}", std::strerror(errno)));
  }
  // A pipe has no size: what is known of it is only that it ended.
  const std::uintmax_t size = std::filesystem::file_size(path, fault);
  const bool is_file = !fault;
  const std::uintmax_t most = is_file ? most_of_a_file : most_of_a_stream;
  const auto refuse_size = [&] {
    const std::string limit = humane_bytes(static_cast<double>(most));
    throw Error(
        Fault::failed, Position{path.string()},
        is_file ? fmt::format("found {}, expected a text of at most {}", humane_bytes(static_cast<double>(size)), limit)
                : fmt::format("found no end within {}, expected a text", limit),
        is_file ? "is it another kind of file?" : "a device has none; what comes from a pipe may be put into a file");
  };
  if (is_file && size > most) refuse_size();
  std::string content(fault ? 0 : static_cast<std::size_t>(size), '\0');
  in.read(content.data(), static_cast<std::streamsize>(content.size()));
  content.resize(static_cast<std::size_t>(in.gcount()));
  while (in) {
    constexpr std::size_t step = std::size_t{1} << 16;
    const std::size_t had = content.size();
    content.resize(had + step);
    in.read(content.data() + had, step);
    content.resize(had + static_cast<std::size_t>(in.gcount()));
    if (content.size() > most) refuse_size();
  }
  if (in.bad())
    throw Error(Fault::failed, Position{path.string()}, fmt::format("cannot read: {}", std::strerror(errno)));
  return content;
}

void write_file(const std::filesystem::path& path, std::string_view content) {
  if (const std::string reason = try_write_file(path, content); !reason.empty())
    throw Error(Fault::failed, Position{path.string()}, fmt::format("cannot write: {}", reason));
}

}  // namespace tailor
