// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// A reader of just enough ELF64. Every access goes through `slice`, which checks the bounds once for all; numbers are
// little-endian, as all of NVIDIA's targets are. Attribute codes were read off cubins of NVRTC 12 and 13 and agree with
// what the assembler logs, which a test repeats.
#include "profiler/compile/cubin.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <string_view>

#include "base/error.h"

namespace tailor::profiler {
namespace {

using Bytes = std::span<const std::byte>;

/// A part of the cubin, or an Error that says what was being read.
Bytes slice(Bytes bytes, std::uint64_t from, std::uint64_t size, std::string_view what) {
  if (from > bytes.size() || size > bytes.size() - from) {
    throw Error(Fault::failed, fmt::format("found a cubin of {} bytes, expected {} at {} to {}", bytes.size(), what,
                                           from, from + size));
  }
  return bytes.subspan(from, size);
}

template <class Number>
Number number(Bytes bytes, std::uint64_t from, std::string_view what) {
  Number value;
  std::memcpy(&value, slice(bytes, from, sizeof(Number), what).data(), sizeof(Number));
  return value;
}

/// The name that starts at an offset of a string table.
std::string_view name_at(Bytes table, std::uint64_t from) {
  const Bytes rest = slice(table, from, table.size() - std::min<std::uint64_t>(from, table.size()), "a name");
  const auto end = std::find(rest.begin(), rest.end(), std::byte{0});
  if (end == rest.end()) throw Error(Fault::failed, "found a name without an end in the cubin");
  return {reinterpret_cast<const char*>(rest.data()), static_cast<std::size_t>(end - rest.begin())};
}

struct Section {
  std::string_view name;
  std::uint32_t type = 0;
  std::uint64_t offset = 0, size = 0;
  std::uint32_t link = 0, info = 0;
};

constexpr std::uint32_t no_bits = 8;  // SHT_NOBITS: has a size, takes no room in the file

Bytes content(Bytes cubin, const Section& section) {
  return section.type == no_bits ? Bytes{} : slice(cubin, section.offset, section.size, section.name);
}

std::vector<Section> sections_of(Bytes cubin) {
  constexpr std::byte magic[] = {std::byte{0x7f}, std::byte{'E'}, std::byte{'L'},
                                 std::byte{'F'},  std::byte{2},   std::byte{1}};
  const Bytes head = slice(cubin, 0, 64, "the ELF header");
  if (!std::equal(std::begin(magic), std::end(magic), head.begin())) {
    throw Error(Fault::failed, "found bytes that do not start a little-endian ELF64 file, expected a cubin");
  }
  const auto table = number<std::uint64_t>(cubin, 40, "the place of the section headers");
  const auto stride = number<std::uint16_t>(cubin, 58, "the size of a section header");
  const auto count = number<std::uint16_t>(cubin, 60, "the number of sections");
  const auto names = number<std::uint16_t>(cubin, 62, "the place of the section names");
  if (stride < 64) throw Error(Fault::failed, fmt::format("found section headers of {} bytes, expected 64", stride));
  const Bytes headers = slice(cubin, table, std::uint64_t{count} * stride, "the section headers");

  std::vector<Section> sections(count);
  std::vector<std::uint32_t> name_offsets(count);
  for (std::size_t i = 0; i < count; ++i) {
    const Bytes header = headers.subspan(i * stride, stride);
    name_offsets[i] = number<std::uint32_t>(header, 0, "a section header");
    sections[i].type = number<std::uint32_t>(header, 4, "a section header");
    sections[i].offset = number<std::uint64_t>(header, 24, "a section header");
    sections[i].size = number<std::uint64_t>(header, 32, "a section header");
    sections[i].link = number<std::uint32_t>(header, 40, "a section header");
    sections[i].info = number<std::uint32_t>(header, 44, "a section header");
  }
  if (names >= count) throw Error(Fault::failed, "found no section names in the cubin");
  const Bytes name_table = content(cubin, sections[names]);
  for (std::size_t i = 0; i < count; ++i) sections[i].name = name_at(name_table, name_offsets[i]);
  return sections;
}

/// Names of the symbols, by index; what .nv.info refers to.
std::vector<std::string_view> symbol_names(Bytes cubin, const std::vector<Section>& sections) {
  constexpr std::uint32_t symbol_table = 2;  // SHT_SYMTAB
  constexpr std::uint64_t entry = 24;
  std::vector<std::string_view> names;
  for (const Section& section : sections) {
    if (section.type != symbol_table) continue;
    if (section.link >= sections.size()) throw Error(Fault::failed, "found a symbol table without names in the cubin");
    const Bytes symbols = content(cubin, section), table = content(cubin, sections[section.link]);
    for (std::uint64_t at = 0; at + entry <= symbols.size(); at += entry) {
      names.push_back(name_at(table, number<std::uint32_t>(symbols, at, "a symbol")));
    }
  }
  return names;
}

/// An attribute of .nv.info: a format byte, a code byte, then a value or a counted payload.
constexpr std::uint8_t sized_payload = 4;
constexpr std::uint8_t frame_size = 0x11, min_stack_size = 0x12, register_count = 0x2f;

/// Calls `use(code, symbol, value)` for each attribute that gives one number of one function.
template <class Use>
void for_each_function_attribute(Bytes attributes, Use&& use) {
  for (std::uint64_t at = 0; at < attributes.size();) {
    const auto format = number<std::uint8_t>(attributes, at, "an attribute");
    const auto code = number<std::uint8_t>(attributes, at + 1, "an attribute");
    const auto size = number<std::uint16_t>(attributes, at + 2, "an attribute");
    at += 4;
    if (format != sized_payload) continue;
    const Bytes payload = slice(attributes, at, size, "an attribute's payload");
    at += size;
    if (size == 8)
      use(code, number<std::uint32_t>(payload, 0, "a symbol"), number<std::uint32_t>(payload, 4, "a value"));
  }
}

/// The kernels: each has a .text.KERNEL, and a .nv.info.KERNEL that plain functions lack.
std::vector<CubinKernel> kernels_of(Bytes cubin, const std::vector<Section>& sections) {
  const auto find = [&](const std::string& name) {
    return std::find_if(sections.begin(), sections.end(), [&](const Section& s) { return s.name == name; });
  };
  const bool reserves = find(".nv.shared.reserved.0") != sections.end();
  std::vector<CubinKernel> kernels;
  for (const Section& section : sections) {
    if (!section.name.starts_with(".text.")) continue;
    CubinKernel kernel;
    kernel.name = section.name.substr(6);
    if (find(".nv.info." + kernel.name) == sections.end()) continue;
    kernel.code = content(cubin, section);
    kernel.registers = static_cast<int>(section.info >> 24);  // until NVRTC 12; later ones only have the attribute
    if (const auto shared = find(".nv.shared." + kernel.name); shared != sections.end()) {
      kernel.shared_section = static_cast<std::int64_t>(shared->size);
      kernel.reserves_shared = reserves;
    }
    kernels.push_back(std::move(kernel));
  }
  return kernels;
}

}  // namespace

std::vector<CubinKernel> read_cubin(std::span<const std::byte> cubin) {
  const std::vector<Section> sections = sections_of(cubin);
  const std::vector<std::string_view> symbols = symbol_names(cubin, sections);
  std::vector<CubinKernel> kernels = kernels_of(cubin, sections);
  for (const Section& section : sections) {
    if (section.name != ".nv.info") continue;
    for_each_function_attribute(content(cubin, section), [&](int code, std::uint32_t symbol, std::uint32_t value) {
      if (symbol >= symbols.size()) return;
      for (CubinKernel& kernel : kernels) {
        if (kernel.name != symbols[symbol]) continue;
        if (code == register_count) kernel.registers = static_cast<int>(value);
        if (code == frame_size) kernel.frame_bytes = static_cast<int>(value);
        if (code == min_stack_size) kernel.stack_bytes = static_cast<int>(value);
      }
    });
  }
  return kernels;
}

}  // namespace tailor::profiler
