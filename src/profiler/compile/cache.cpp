// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The file format of the cache. In: a Binary. Out: bytes, and back. A file is a line with the format's number and the
// hash of what follows, then the fields one after another, texts with their length in front. One function lists the
// fields for both directions, so they cannot disagree.
#include "profiler/compile/cache.h"

#include <fmt/format.h>

#include <fstream>
#include <iterator>
#include <system_error>

#include "base/files.h"
#include "base/text.h"
#include "profiler/compile/packing.h"

namespace tailor::profiler {
namespace {

using packing::Packer;
using packing::Unpacker;

constexpr std::string_view format_name = "tailor-binary 3 ";

template <class Visit, class Entry>
void for_each_figure(Visit& visit, Entry& entry) {
  visit(entry.entry);
  visit(entry.registers);
  visit(entry.spill_stores);
  visit(entry.spill_loads);
  visit(entry.local_bytes);
  visit(entry.static_shared);
  visit(entry.machine_instructions);
  visit(entry.loads_outstanding);
}

template <class Visit, class Binary>
void for_each_field(Visit& visit, Binary& binary) {
  visit(binary.outcome);
  visit(binary.source.high);
  visit(binary.source.low);
  visit(binary.arch);
  visit(binary.compiler);
  for_each_figure(visit, binary);
  visit(binary.log);
  visit(binary.ptx);
  visit(binary.cubin);
  std::uint64_t followers = binary.followers.size();
  visit(followers);
  // As many as are said: of a file that is damaged, no more than there are bytes for.
  if constexpr (!std::is_const_v<Binary>)
    while (visit.whole && binary.followers.size() < followers) for_each_figure(visit, binary.followers.emplace_back());
  else
    for (const ir::CompiledEntry& follower : binary.followers) for_each_figure(visit, follower);
  visit(binary.compile_time.value);
}

}  // namespace

std::string packed(const ir::Binary& binary) {
  Packer packer;
  for_each_field(packer, binary);
  return fmt::format("{}{}\n{}", format_name, hex(id_of(packer.bytes)), packer.bytes);
}

std::optional<ir::Binary> unpacked(std::string_view bytes) {
  const std::size_t head = format_name.size() + 33;  // 32 digits and the end of the line
  if (bytes.size() < head || !bytes.starts_with(format_name)) return std::nullopt;
  const std::string_view content = bytes.substr(head);
  if (bytes.substr(format_name.size(), 32) != hex(id_of(content))) return std::nullopt;
  Unpacker unpacker{content};
  ir::Binary binary;
  for_each_field(unpacker, binary);
  if (!unpacker.whole || !unpacker.rest.empty()) return std::nullopt;
  return binary;
}

std::filesystem::path BinaryCache::file_of(Id source) const {
  const std::string name = hex(source);
  return folder / name.substr(0, 2) / (name + ".binary");
}

std::optional<ir::Binary> BinaryCache::find(Id source) const {
  std::ifstream in(file_of(source), std::ios::binary);
  if (!in) return std::nullopt;
  const std::string bytes{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  std::optional<ir::Binary> binary = unpacked(bytes);
  if (!binary || binary->source != source) return std::nullopt;
  binary->cached = true;
  return binary;
}

std::string BinaryCache::keep(const ir::Binary& binary) const {
  const std::filesystem::path file = file_of(binary.source);
  std::error_code seen_by_the_write;
  std::filesystem::create_directories(file.parent_path(), seen_by_the_write);
  return try_write_file(file, packed(binary));
}

}  // namespace tailor::profiler
