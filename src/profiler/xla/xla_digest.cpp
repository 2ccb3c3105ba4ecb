// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Reading a digest. In: NAME.json. Out: its kernels. Called by the reader of launches (xla_launches.cpp) and by the
// score beside XLA (study/module/xla_agreement.cpp).
//
// null stands for what the maker did not know; a member that is there in another form than its own is an error with
// its place, because a digest that is half understood would be scored as a disagreement.
#include "profiler/xla/xla_digest.h"

#include <fmt/format.h>

#include "base/compressed.h"
#include "base/error.h"
#include "base/json.h"
#include "base/text.h"

namespace tailor::profiler {

namespace {

struct Reader {
  std::string text;
  std::string file;

  [[noreturn]] void refuse(const Json& at, std::string_view what) const {
    throw Error(Fault::failed, position_at(text, at.offset, file), fmt::format("found a digest {}", what),
                "expected kernels, each with a name and launches of {thunk, entry, grid, block, smem}");
  }
  /// The member, or nothing when it is absent or null.
  static const Json* member(const Json& object, std::string_view key) {
    const Json* const found = object.find(key);
    return found == nullptr || found->null() ? nullptr : found;
  }
  std::string word(const Json& object, std::string_view key) const {
    const Json* const found = member(object, key);
    if (found == nullptr) return {};
    if (found->string() == nullptr) refuse(*found, fmt::format("whose '{}' is {}, no word", key, kind_of(*found)));
    return *found->string();
  }
  std::optional<double> number(const Json& object, std::string_view key) const {
    const Json* const found = member(object, key);
    if (found == nullptr) return std::nullopt;
    if (!found->number()) refuse(*found, fmt::format("whose '{}' is {}, no number", key, kind_of(*found)));
    return found->number();
  }
  const Json::Array& list(const Json& object, std::string_view key) const {
    static const Json::Array none;
    const Json* const found = member(object, key);
    if (found == nullptr) return none;
    if (found->array() == nullptr) refuse(*found, fmt::format("whose '{}' is {}, no list", key, kind_of(*found)));
    return *found->array();
  }
  void extent(const Json& launch, std::string_view key, std::array<std::uint32_t, 3>& into) const {
    const Json* const found = member(launch, key);
    if (found == nullptr) return;
    if (found->array() == nullptr || found->array()->size() != 3)
      refuse(*found, fmt::format("whose '{}' is no list of three", key));
    for (std::size_t i = 0; i < 3; ++i) {
      const std::optional<std::uint64_t> size = (*found->array())[i].natural();
      if (!size) refuse((*found->array())[i], fmt::format("whose '{}' is no list of numbers", key));
      into[i] = static_cast<std::uint32_t>(*size);
    }
  }
  XlaLaunch launch(const Json& entry, const std::string& instruction) const {
    if (entry.object() == nullptr) refuse(entry, "with a launch that is no object");
    XlaLaunch launch;
    launch.instruction = instruction;
    launch.thunk = word(entry, "thunk");
    launch.entry = word(entry, "entry");
    extent(entry, "grid", launch.grid);
    extent(entry, "block", launch.block);
    extent(entry, "cluster", launch.cluster);
    if (const Json* const shared = member(entry, "smem"))
      launch.dynamic_shared = shared->integer().value_or(launch.dynamic_shared);
    return launch;
  }
  XlaDigestKernel kernel(const Json& json) const {
    XlaDigestKernel one;
    if (member(json, "name") == nullptr) refuse(json, "with a kernel that has no name");
    one.name = word(json, "name");
    one.kind = word(json, "kind");
    for (const Json& member : list(json, "members")) {
      if (member.string() == nullptr) refuse(member, fmt::format("with {} among the members", kind_of(member)));
      one.members.push_back(*member.string());
    }
    if (const Json* const exact = member(json, "members_exact")) one.exact = exact->boolean().value_or(true);
    one.bytes = number(json, "bytes_in").value_or(0) + number(json, "bytes_out").value_or(0);
    one.us = number(json, "us");
    const Json::Array& entries = list(json, "launches");
    for (const Json& entry : entries) one.launches.push_back(launch(entry, one.name));
    if (!entries.empty() && member(entries.front(), "grid") != nullptr && member(entries.front(), "block") != nullptr)
      one.shape = one.launches.front();
    return one;
  }
};

}  // namespace

XlaDigest read_digest(const std::filesystem::path& file) {
  const Reader reader{read_unpacked(file.string()), file.string()};
  const Json json = parse_json(reader.text, reader.file);
  const Json* const kernels = Reader::member(json, "kernels");
  if (kernels == nullptr || kernels->array() == nullptr) reader.refuse(json, "without a list of kernels");
  XlaDigest digest{reader.word(json, "target"), reader.word(json, "jaxlib"), {}};
  for (const Json& kernel : *kernels->array()) digest.kernels.push_back(reader.kernel(kernel));
  return digest;
}

std::filesystem::path text_beside(const std::filesystem::path& digest, std::string_view kind) {
  std::filesystem::path stem = digest;
  stem.replace_extension();
  std::error_code unread;
  for (const std::string_view end : {".hlo", ".hlo.gz"})
    if (const std::filesystem::path path = fmt::format("{}.{}{}", stem.string(), kind, end);
        std::filesystem::is_regular_file(path, unread))
      return path;
  return {};
}

}  // namespace tailor::profiler
