// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Writing a file whole or not at all. In: a path and its content. Out: the file, or the system's reason and nothing
// left behind. Called by write_file, which throws that reason, and by those who can do without the file.
// A link is followed to the file it means, and a device or a pipe is written to and stays what it is. A file that is
// there keeps its mode. One that has several names is written to, not replaced: the other names mean the same file.
#include "base/files.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <optional>
#include <system_error>

#include "base/error.h"

namespace tailor {

namespace {

namespace fs = std::filesystem;

/// Where the bytes of a path go: the end of its symbolic links, whether there is a file yet or not; "" when the links
/// lead in a circle.
fs::path followed(fs::path path) {
  constexpr int most_links = 40;  // as Linux allows
  std::error_code fault;
  for (int links = 0; fs::is_symlink(fs::symlink_status(path, fault)); ++links) {
    if (links == most_links) return {};
    const fs::path target = fs::read_symlink(path, fault);
    path = target.is_absolute() ? target : path.parent_path() / target;
  }
  return path;
}

/// Truncates what is there when it can be. Returns the system's reason when it fails, else "". The file gets `mode`
/// before it gets contents.
std::string write_in_place(const fs::path& path, std::string_view content, std::optional<fs::perms> mode = {}) {
  std::ofstream out(path, std::ios::binary | std::ios::trunc);
  std::error_code unchanged;  // some file systems have no modes
  if (out && mode) fs::permissions(path, *mode, unchanged);
  out.write(content.data(), static_cast<std::streamsize>(content.size()));
  out.flush();
  return out ? "" : std::strerror(errno);
}

}  // namespace

std::string try_write_file(const fs::path& path, std::string_view content) {
  // /dev/stdout is a link whose end has no name where it is a pipe: what is no file is opened under the name it has.
  std::error_code nameless;
  if (const fs::file_status given = fs::status(path, nameless);
      fs::exists(given) && !fs::is_regular_file(given) && !fs::is_directory(given))
    return write_in_place(path, content);
  const fs::path file = followed(path);
  if (file.empty()) return path.empty() ? "the name is empty" : "its symbolic links lead in a circle";
  std::error_code fault;
  const fs::file_status status = fs::status(file, fault);
  if (fs::is_directory(status)) return "it is a folder";
  const bool there = fs::exists(status);
  if (there && fs::hard_link_count(file, fault) > 1 && !fault) return write_in_place(file, content);
  const fs::path partial = file.string() + fmt::format(".{}.partial", ::getpid());
  std::string reason = write_in_place(partial, content, there ? std::optional(status.permissions()) : std::nullopt);
  if (reason.empty()) {
    fs::rename(partial, file, fault);
    if (fault) reason = fault.message();
  }
  if (!reason.empty()) fs::remove(partial, fault);
  return reason;
}

void refuse_own_input(std::span<const std::string> inputs, const fs::path& output) {
  std::error_code fault;
  const auto is_same = [&](const std::string& input) {
    return fs::equivalent(input, output, fault) ||
           fs::weakly_canonical(input, fault) == fs::weakly_canonical(output, fault);
  };
  if (!output.empty() && std::any_of(inputs.begin(), inputs.end(), is_same))
    throw Error(Fault::usage, Position{output.string()}, "found as input and as output, expected two files");
}

}  // namespace tailor
