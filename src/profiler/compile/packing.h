// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Fields of a record as bytes, one after another, texts and lists with their length in front. A record lists its fields
// in one function that is called with either of these two, so both directions agree. For one machine: numbers are as in
// memory. Used by the cache of binaries and by the messages to a compiler's process.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace tailor::profiler::packing {

struct Packer {
  std::string bytes;

  template <class Number>
  requires std::is_trivially_copyable_v<Number>
  void operator()(const Number& value) { bytes.append(reinterpret_cast<const char*>(&value), sizeof(Number)); }
  void operator()(const std::string& text) { append(text.data(), text.size()); }
  void operator()(const std::vector<std::byte>& content) { append(content.data(), content.size()); }
  void operator()(const std::vector<std::string>& texts) {
    (*this)(static_cast<std::uint64_t>(texts.size()));
    for (const std::string& text : texts) (*this)(text);
  }
  void append(const void* from, std::size_t size) {
    (*this)(static_cast<std::uint64_t>(size));
    bytes.append(static_cast<const char*>(from), size);
  }
};

struct Unpacker {
  std::string_view rest;
  bool whole = true;

  /// The next `size` bytes; from the first time there are too few, `whole` is false.
  std::string_view next(std::uint64_t size) {
    if (size > rest.size()) whole = false;
    if (!whole) return {};
    const std::string_view bytes = rest.substr(0, size);
    rest.remove_prefix(size);
    return bytes;
  }
  template <class Number>
  requires std::is_trivially_copyable_v<Number>
  void operator()(Number& value) {
    const std::string_view bytes = next(sizeof(Number));
    if (whole) std::memcpy(&value, bytes.data(), sizeof(Number));
  }
  std::string_view sized() {
    std::uint64_t size = 0;
    (*this)(size);
    return next(size);
  }
  void operator()(std::string& text) { text = sized(); }
  void operator()(std::vector<std::byte>& content) {
    const std::string_view bytes = sized();
    const auto* first = reinterpret_cast<const std::byte*>(bytes.data());
    content.assign(first, first + bytes.size());
  }
  void operator()(std::vector<std::string>& texts) {
    std::uint64_t count = 0;
    for ((*this)(count); whole && texts.size() < count;) (*this)(texts.emplace_back());
  }
};

}  // namespace tailor::profiler::packing
