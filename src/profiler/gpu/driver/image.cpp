// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// A cubin is an ELF file: its header, the table of sections and each section must lie within
// it. PTX must have a version and an entry. Nothing else is judged; the driver has the last
// word.
#include "profiler/gpu/driver/image.h"

#include <elf.h>

#include <fmt/format.h>

#include <cstring>
#include <optional>
#include <string_view>

namespace tailor::gpu {
namespace {

constexpr std::uint32_t fat_magic = 0xba55ed50;

std::string_view text_of(std::span<const std::byte> code) {
  return {reinterpret_cast<const char*>(code.data()), code.size()};
}

/// A record at a place; nothing when it reaches over the end.
template <class Record>
std::optional<Record> at(std::span<const std::byte> code, std::uint64_t place) {
  if (place > code.size() || code.size() - place < sizeof(Record)) return {};
  Record record;
  std::memcpy(&record, code.data() + place, sizeof record);
  return record;
}

std::string damage_of_cubin(std::span<const std::byte> code) {
  const auto header = at<Elf64_Ehdr>(code, 0);
  if (!header || header->e_ident[EI_CLASS] != ELFCLASS64) return "is cut off or not a 64-bit ELF file";
  if (header->e_machine != EM_CUDA) return fmt::format("is machine code of another machine ({})", header->e_machine);
  for (std::uint64_t i = 0; i < header->e_shnum; ++i) {
    const auto section = at<Elf64_Shdr>(code, header->e_shoff + i * sizeof(Elf64_Shdr));
    if (!section)
      return fmt::format("is cut off: section {} of {} lies beyond its {} bytes", i, header->e_shnum, code.size());
    const bool stored = section->sh_type != SHT_NOBITS && section->sh_type != SHT_NULL;
    if (stored && (section->sh_offset > code.size() || code.size() - section->sh_offset < section->sh_size))
      return fmt::format("is cut off: the contents of section {} reach beyond its {} bytes", i, code.size());
  }
  return {};
}

}  // namespace

ImageKind kind_of(std::span<const std::byte> code) {
  const std::string_view text = text_of(code);
  if (text.starts_with(ELFMAG)) return ImageKind::cubin;
  if (const auto magic = at<std::uint32_t>(code, 0); magic && *magic == fat_magic) return ImageKind::fat;
  return text.find(".version") != text.npos ? ImageKind::ptx : ImageKind::unknown;
}

std::string damage(std::span<const std::byte> code) {
  switch (kind_of(code)) {
    case ImageKind::cubin:
      return damage_of_cubin(code);
    case ImageKind::unknown:
      return fmt::format("is neither a cubin nor PTX ({} bytes)", code.size());
    case ImageKind::ptx:
      return text_of(code).find(".entry") == std::string_view::npos ? "is PTX without a kernel" : "";
    case ImageKind::fat:
      break;
  }
  return {};
}

}  // namespace tailor::gpu
