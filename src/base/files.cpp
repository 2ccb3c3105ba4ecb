// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Writing a file whole or not at all. In: a path and its content. Out: the file, or the system's reason and nothing
// left behind. Called by write_file, which throws that reason, and by those who can do without the file.
#include "base/files.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <system_error>

namespace tailor {

std::string try_write_file(const std::filesystem::path& path, std::string_view content) {
  const std::filesystem::path partial = path.string() + fmt::format(".{}.partial", ::getpid());
  std::error_code fault, ignored;
  {
    std::ofstream out(partial, std::ios::binary | std::ios::trunc);
    out.write(content.data(), static_cast<std::streamsize>(content.size()));
    out.flush();
    if (!out) {
      std::string reason = std::strerror(errno);
      std::filesystem::remove(partial, ignored);
      return reason;
    }
  }
  std::filesystem::rename(partial, path, fault);
  return fault ? fault.message() : std::string();
}

}  // namespace tailor
