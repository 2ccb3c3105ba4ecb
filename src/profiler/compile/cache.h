// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Binaries on disk, one file for each, named by the id of what they were made from. Nothing is ever changed in place: a
// file is written beside and renamed, and starts with a hash of the rest, so many processes may share a folder and a
// torn or foreign file is only a miss. Nothing here ages; the folder may be deleted at any time.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "ir/binary.h"

namespace tailor::profiler {

struct BinaryCache {
  std::filesystem::path folder;

  /// The binary, with `cached` set; nothing when there is none or its file is damaged.
  std::optional<ir::Binary> find(Id source) const;
  /// Keeps a binary under its own `source`. Empty, or the system's reason why the folder cannot be written.
  std::string keep(const ir::Binary& binary) const;
  std::filesystem::path file_of(Id source) const;
};

/// The bytes of a file, and back; nothing when they are not those of a whole binary.
std::string packed(const ir::Binary& binary);
std::optional<ir::Binary> unpacked(std::string_view bytes);

}  // namespace tailor::profiler
