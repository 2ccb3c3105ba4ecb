// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// What may be handed to a driver: PTX or machine code that is cut off, is for another machine or holds no kernel is
// told before a driver sees it, because drivers crash on some of them. Images are made here byte by byte and cut at
// every length. Part of the suite `gpu`; needs no GPU.
#include "profiler/gpu/driver/image.h"

#include <doctest/doctest.h>
#include <elf.h>

#include <cstring>
#include <string_view>
#include <vector>

namespace {

using namespace tailor;
using gpu::ImageKind;

std::vector<std::byte> bytes_of(std::string_view text) {
  const auto* first = reinterpret_cast<const std::byte*>(text.data());
  return {first, first + text.size()};
}

/// An ELF file for CUDA with one section of contents behind its table.
std::vector<std::byte> cubin(std::uint16_t machine = EM_CUDA) {
  Elf64_Ehdr header = {};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_machine = machine;
  header.e_shoff = sizeof header;
  header.e_shnum = 2;
  Elf64_Shdr sections[2] = {};
  sections[1].sh_type = SHT_PROGBITS;
  sections[1].sh_offset = sizeof header + sizeof sections;
  sections[1].sh_size = 100;
  std::vector<std::byte> file(sizeof header + sizeof sections + 100);
  std::memcpy(file.data(), &header, sizeof header);
  std::memcpy(file.data() + sizeof header, sections, sizeof sections);
  return file;
}

}  // namespace

TEST_CASE("images are told apart by how they begin") {
  CHECK(gpu::kind_of(cubin()) == ImageKind::cubin);
  CHECK(gpu::kind_of(bytes_of("// text\n.version 9.0\n.target sm_90\n")) == ImageKind::ptx);
  CHECK(gpu::kind_of(bytes_of("\x50\xed\x55\xba more")) == ImageKind::fat);
  CHECK(gpu::kind_of(bytes_of("hello")) == ImageKind::unknown);
  CHECK(gpu::kind_of({}) == ImageKind::unknown);
}

TEST_CASE("a whole cubin passes and every shorter one is told as cut off") {
  const std::vector<std::byte> whole = cubin();
  CHECK(gpu::damage(whole).empty());
  for (std::size_t size = 0; size < whole.size(); ++size)
    CHECK_FALSE(gpu::damage(std::span(whole).first(size)).empty());
}

TEST_CASE("machine code of another machine, text that is no PTX and PTX without a kernel are told") {
  CHECK(gpu::damage(cubin(EM_X86_64)) == "is machine code of another machine (62)");
  CHECK(gpu::damage(bytes_of("int main() {}")) == "is neither a cubin nor PTX (13 bytes)");
  CHECK(gpu::damage(bytes_of(".version 9.0\n.target sm_90\n")) == "is PTX without a kernel");
  CHECK(gpu::damage(bytes_of(".version 9.0\n.target sm_90\n.visible .entry k() { ret; }")).empty());
}
