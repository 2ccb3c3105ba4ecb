// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Reading and writing gzip through zlib. In: a path or a text. Out: the text, or its compressed form; Error(failed) for
// a file that is damaged. Called through compressed.h by the readers of models and of recorded files. The size of what
// comes out is not known beforehand, so the buffer grows, up to a limit.
#include "base/compressed.h"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <array>

#include "base/error.h"
#include "base/stop.h"
#include "base/text.h"

namespace tailor {

namespace {

[[noreturn]] void refuse_size(const std::string& file, std::size_t most_bytes) {
  throw Error(Fault::failed, Position{file},
              fmt::format("found a gzip file that unpacks to more than {}, expected at most that",
                          humane_bytes(static_cast<double>(most_bytes))),
              "if it is no accident, unpack it yourself (gunzip): a file that is not compressed may be larger");
}

/// What is not unpacked here, by its first bytes.
struct Packer {
  std::string_view magic, name, command;
};
constexpr auto packers = std::to_array<Packer>({
    {"BZh", "bzip2", "bzip2 -dc"},
    {"\x28\xb5\x2f\xfd", "zstd", "zstd -dc"},
    {"\xfd"
     "7zXZ",
     "xz", "xz -dc"},
    {"PK\x03\x04", "zip", "unzip -p"},
});

constexpr std::string_view gzip_magic = "\x1f\x8b";

}  // namespace

/// A file may be several packed ones, one behind the other; together they unpack to one text.
std::string unpacked(std::string_view packed, const std::string& file, std::size_t most_bytes) {
  z_stream stream{};
  if (inflateInit2(&stream, 15 + 32) != Z_OK) throw Error(Fault::failed, Position{file}, "cannot start zlib");
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data()));
  stream.avail_in = static_cast<uInt>(packed.size());
  std::string out;
  std::size_t filled = 0;
  int status = Z_OK;
  // One byte more than may be there: a file that fills it is too large, and no more memory is spent on it.
  while (status == Z_OK && filled <= most_bytes) {
    out.resize(std::min(std::max<std::size_t>(packed.size() * 8, filled * 2) + 4096, most_bytes + 1));
    stream.next_out = reinterpret_cast<Bytef*>(out.data()) + filled;
    stream.avail_out = static_cast<uInt>(out.size() - filled);
    status = inflate(&stream, Z_NO_FLUSH);
    filled = out.size() - stream.avail_out;
    const std::string_view rest(reinterpret_cast<const char*>(stream.next_in), stream.avail_in);
    if (status == Z_STREAM_END && rest.starts_with(gzip_magic)) status = inflateReset(&stream);
  }
  inflateEnd(&stream);
  if (filled > most_bytes) refuse_size(file, most_bytes);
  if (status != Z_STREAM_END)
    throw Error(Fault::failed, Position{file}, "found a damaged or truncated gzip file, expected a whole one");
  out.resize(filled);
  return out;
}

std::string read_unpacked(const std::string& path, std::size_t most_bytes) {
  std::string content = read_file(path);
  if (content.starts_with(gzip_magic)) content = unpacked(content, path, most_bytes);
  for (const Packer& packer : packers)
    if (content.starts_with(packer.magic))
      throw Error(Fault::failed, Position{path},
                  fmt::format("found a file packed by {}, expected text, plain or by gzip", packer.name),
                  fmt::format("unpack it first: {} {} > FILE", packer.command, path));
  return content;
}

std::string packed(std::string_view text, const std::filesystem::path& path, const std::stop_token& stop) {
  z_stream stream{};
  // 16 over the window's bits asks for a gzip header, which zlib writes without name and time: equal text, equal bytes.
  if (deflateInit2(&stream, Z_BEST_COMPRESSION, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) != Z_OK)
    throw Error(Fault::failed, Position{path.string()}, "cannot start zlib");
  std::string out(deflateBound(&stream, text.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  constexpr std::size_t at_once = std::size_t{1} << 20;  // some 0.1 s
  int status = Z_OK;
  for (std::size_t left = text.size(); status == Z_OK && !stop.stop_requested();) {
    stream.avail_in = static_cast<uInt>(std::min(left, at_once));
    left -= stream.avail_in;
    status = deflate(&stream, left > 0 ? Z_NO_FLUSH : Z_FINISH);
  }
  out.resize(stream.total_out);
  deflateEnd(&stream);
  stop_if_asked(stop);
  if (status != Z_STREAM_END) throw Error(Fault::failed, Position{path.string()}, "zlib could not pack the file");
  return out;
}

}  // namespace tailor
