// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Reads and writes .npy. In: the bytes of a file, or an array. Out: the other of the two. The header is one line of
// Python, {'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }, of which three keys matter; they may stand in
// any order. The words of types are a table. Called through npy.h.
#include "profiler/run/npy.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>

#include "base/error.h"
#include "base/text.h"
#include "ir/graph/number.h"

namespace tailor::profiler {

namespace {

constexpr std::string_view magic = "\x93NUMPY";

struct NpyWord {
  ir::DType dtype;
  std::string_view word;  ///< without the character of the byte order
};
constexpr auto npy_words = std::to_array<NpyWord>({{ir::DType::pred, "b1"},
                                                   {ir::DType::s8, "i1"},
                                                   {ir::DType::s16, "i2"},
                                                   {ir::DType::s32, "i4"},
                                                   {ir::DType::s64, "i8"},
                                                   {ir::DType::u8, "u1"},
                                                   {ir::DType::u16, "u2"},
                                                   {ir::DType::u32, "u4"},
                                                   {ir::DType::u64, "u8"},
                                                   {ir::DType::f16, "f2"},
                                                   {ir::DType::bf16, "V2"},
                                                   {ir::DType::f32, "f4"},
                                                   {ir::DType::f64, "f8"},
                                                   {ir::DType::c64, "c8"},
                                                   {ir::DType::c128, "c16"}});

[[noreturn]] void refuse_file(const std::string& file, const std::string& what, const std::string& hint = {}) {
  throw Error(Fault::failed, Position{file}, what, hint);
}

/// What stands behind 'key': in the header, blanks skipped.
std::string_view value_of(std::string_view header, std::string_view key, const std::string& file) {
  for (const char quote : {'\'', '"'}) {
    const std::string word = fmt::format("{0}{1}{0}", quote, key);
    const std::size_t at = header.find(word);
    if (at == header.npos) continue;
    const std::size_t colon = header.find(':', at + word.size());
    if (colon == header.npos) break;
    return trim(header.substr(colon + 1));
  }
  refuse_file(file, fmt::format("found a header without '{}', expected a .npy file", key));
}

std::vector<std::int64_t> shape_of(std::string_view text, const std::string& file) {
  const std::size_t end = text.find(')');
  if (!text.starts_with('(') || end == text.npos) refuse_file(file, "found a header whose shape is no tuple");
  std::vector<std::int64_t> dims;
  for (const std::string_view part : split(text.substr(1, end - 1), ',')) {
    const std::string_view word = trim(part);
    if (word.empty()) continue;
    std::int64_t dim = 0;
    const auto [stop, fault] = std::from_chars(word.data(), word.data() + word.size(), dim);
    if (fault != std::errc{} || stop != word.data() + word.size() || dim < 0)
      refuse_file(file, fmt::format("found dimension '{}', expected a number", word));
    dims.push_back(dim);
  }
  return dims;
}

ir::DType type_of(std::string_view text, const std::string& file) {
  const std::string_view quoted = text.size() > 1 ? text.substr(1, text.find(text[0], 1) - 1) : "";
  if (quoted.starts_with('>'))
    refuse_file(file, fmt::format("found big-endian elements '{}'", quoted), "write array.astype('<f4') or the like");
  std::vector<std::string_view> words;
  for (const NpyWord& row : npy_words)
    if (words.push_back(row.word); !quoted.empty() && quoted.substr(1) == row.word) return row.dtype;
  refuse_file(file, fmt::format("found elements of type '{}', expected one of {}", quoted, fmt::join(words, ", ")));
}

}  // namespace

NpyArray parse_npy(std::string_view content, const std::string& file) {
  if (!content.starts_with(magic) || content.size() < 10)
    refuse_file(file, "found no .npy file", "numpy.save writes one; .npz holds several and is to be taken apart");
  const int version = content[6];
  const std::size_t prefix = version == 1 ? 10 : 12;
  std::size_t length = 0;
  for (std::size_t i = prefix; i-- > 8 && i < content.size();)
    length = length << 8 | static_cast<unsigned char>(content[i]);
  if (version < 1 || version > 3 || content.size() < prefix || length > content.size() - prefix)
    refuse_file(file, "found a .npy file that is cut off or of an unknown version");
  const std::string_view header = content.substr(prefix, length);
  if (!value_of(header, "fortran_order", file).starts_with("False"))
    refuse_file(file, "found elements in column-major order", "save numpy.ascontiguousarray(array)");
  NpyArray array;
  array.dtype = type_of(value_of(header, "descr", file), file);
  array.dims = shape_of(value_of(header, "shape", file), file);
  const std::string_view rest = content.substr(prefix + length);
  std::size_t wanted = static_cast<std::size_t>(ir::element_bytes(array.dtype));
  for (const std::int64_t dim : array.dims)
    if (__builtin_mul_overflow(wanted, static_cast<std::size_t>(dim), &wanted)) wanted = SIZE_MAX;
  if (rest.size() != wanted)
    refuse_file(file,
                fmt::format("found {} bytes of elements, expected {} by the header's shape", rest.size(), wanted));
  array.bytes.resize(wanted);
  if (wanted > 0) std::memcpy(array.bytes.data(), rest.data(), wanted);  // Ctrl-C waits for no loop over bytes
  return array;
}

NpyArray read_npy(const std::filesystem::path& path) { return parse_npy(read_file(path), path.string()); }

std::optional<std::string> npy_text(const NpyArray& array) {
  const auto row =
      std::find_if(npy_words.begin(), npy_words.end(), [&](const NpyWord& one) { return one.dtype == array.dtype; });
  if (row == npy_words.end()) return std::nullopt;
  const char order = ir::element_bytes(array.dtype) == 1 || row->word.front() == 'V' ? '|' : '<';
  std::string header = fmt::format("{{'descr': '{}{}', 'fortran_order': False, 'shape': ({}{}), }}", order, row->word,
                                   fmt::join(array.dims, ", "), array.dims.size() == 1 ? "," : "");
  header.append(63 - (10 + header.size()) % 64, ' ');  // elements begin at a multiple of 64 bytes
  header += '\n';
  std::string text(magic);
  text += {'\1', '\0', static_cast<char>(header.size() & 255), static_cast<char>(header.size() >> 8)};
  text += header;
  text.append(reinterpret_cast<const char*>(array.bytes.data()), array.bytes.size());
  return text;
}

}  // namespace tailor::profiler
