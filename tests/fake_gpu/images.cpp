// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The two images that travel between CUPTI's host and range functions. In: a configuration or counters. Out: bytes,
// and back. They are lines of text after a word that says what they are, padded with zeros, so that a test can read
// them.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <sstream>

#include "fake_gpu/metrics.h"

namespace tailor::fake {
namespace {

constexpr std::string_view config_mark = "fake configuration", counter_mark = "fake counters";
constexpr std::size_t longest_range = 120, head_bytes = 128, value_bytes = 32;

/// The lines of an image that starts with the mark; none when it does not.
std::vector<std::string> lines_of(const std::uint8_t* bytes, std::size_t size, std::string_view mark) {
  if (bytes == nullptr || size < mark.size() || std::memcmp(bytes, mark.data(), mark.size()) != 0) return {};
  const auto* text = reinterpret_cast<const char*>(bytes);
  std::istringstream stream(std::string(text, strnlen(text, size)));
  std::vector<std::string> lines;
  for (std::string line; std::getline(stream, line);) lines.push_back(std::move(line));
  return lines;
}

}  // namespace

std::string text_of(const ConfigImage& image) {
  std::string text = fmt::format("{}\n{}\n", config_mark, image.per_pass);
  for (const std::string& metric : image.metrics) text += metric + "\n";
  return text;
}

std::optional<ConfigImage> config_image(const std::uint8_t* bytes, std::size_t size) {
  const std::vector<std::string> lines = lines_of(bytes, size, config_mark);
  if (lines.size() < 3) return {};
  ConfigImage image;
  image.per_pass = std::max<std::size_t>(1, std::strtoul(lines[1].c_str(), nullptr, 10));
  image.metrics.assign(lines.begin() + 2, lines.end());
  return image;
}

std::size_t image_bytes(const std::vector<std::string>& metrics, std::size_t ranges) {
  std::size_t bytes = head_bytes + ranges * (longest_range + value_bytes * metrics.size());
  for (const std::string& metric : metrics) bytes += metric.size() + 1;
  return bytes;
}

void put(const CounterImage& image, std::uint8_t* bytes, std::size_t size) {
  std::string text = fmt::format("{}\n{}\n", counter_mark, image.metrics.size());
  for (const std::string& metric : image.metrics) text += metric + "\n";
  for (std::size_t r = 0; r < image.ranges.size(); ++r) {
    text += image.ranges[r].substr(0, longest_range - 1) + "\n";
    for (std::size_t m = 0; m < image.metrics.size(); ++m)
      text += fmt::format("{:a}\n", image.values[r * image.metrics.size() + m]);
  }
  std::memset(bytes, 0, size);
  std::memcpy(bytes, text.data(), std::min(text.size(), size));
}

std::optional<CounterImage> counter_image(const std::uint8_t* bytes, std::size_t size) {
  const std::vector<std::string> lines = lines_of(bytes, size, counter_mark);
  if (lines.size() < 3) return {};
  CounterImage image;
  const std::size_t metrics = std::strtoul(lines[1].c_str(), nullptr, 10);
  if (metrics == 0 || lines.size() < 2 + metrics) return {};
  image.metrics.assign(lines.begin() + 2, lines.begin() + 2 + static_cast<std::ptrdiff_t>(metrics));
  for (std::size_t at = 2 + metrics; at + metrics < lines.size(); at += 1 + metrics) {
    image.ranges.push_back(lines[at]);
    for (std::size_t m = 0; m < metrics; ++m) image.values.push_back(std::strtod(lines[at + 1 + m].c_str(), nullptr));
  }
  return image;
}

}  // namespace tailor::fake
