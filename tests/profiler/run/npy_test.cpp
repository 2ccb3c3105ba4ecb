// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// NumPy's files. Bytes that NumPy wrote are written down here and read; arrays of every type go out and come back;
// every prefix and every changed byte of a file is read or refused, and neither crashes.
// Part of the suite `profiler`.
#include "profiler/run/npy.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "base/error.h"
#include "ir/graph/number.h"

using namespace tailor;
using namespace tailor::profiler;

namespace {

/// numpy.save of numpy.array([[1, 2, 3]], dtype='<i2'), as NumPy 1.24 writes it.
std::string written_by_numpy() {
  std::string text("\x93NUMPY\x01\x00\x76\x00", 10);
  text += "{'descr': '<i2', 'fortran_order': False, 'shape': (1, 3), }";
  text.append(127 - text.size(), ' ');
  text += '\n';
  text += std::string("\x01\x00\x02\x00\x03\x00", 6);
  return text;
}

std::string npy_refusal(const std::string& text) {
  try {
    parse_npy(text, "a.npy");
  } catch (const Error& error) {
    return error.message;
  }
  return "accepted";
}

std::string changed(std::string_view from, std::string_view to) {
  std::string text = written_by_numpy();
  return text.replace(text.find(from), from.size(), to);
}

}  // namespace

TEST_CASE("a file that NumPy wrote reads as the array it was made of") {
  const NpyArray array = parse_npy(written_by_numpy(), "a.npy");
  CHECK(array.dtype == ir::DType::s16);
  CHECK(array.dims == std::vector<std::int64_t>{1, 3});
  const std::vector<std::byte> expected{std::byte{1}, {}, std::byte{2}, {}, std::byte{3}, {}};
  CHECK(array.bytes == expected);
}

TEST_CASE("arrays of every type and rank come back from their files, elements at a multiple of 64") {
  int written = 0;
  for (const ir::DTypeRow& row : ir::dtype_table)
    for (const std::vector<std::int64_t>& dims : {std::vector<std::int64_t>{}, {5}, {2, 3}, {4, 0, 2}, {1, 2, 3, 4}}) {
      NpyArray array{row.dtype, dims, {}};
      std::size_t bytes = static_cast<std::size_t>(ir::element_bytes(row.dtype));
      for (const std::int64_t dim : dims) bytes *= static_cast<std::size_t>(dim);
      for (std::size_t i = 0; i < bytes; ++i) array.bytes.push_back(static_cast<std::byte>(i * 7));
      const std::optional<std::string> text = npy_text(array);
      if (!text) continue;
      ++written;
      CAPTURE(row.name);
      CHECK(parse_npy(*text, "a.npy") == array);
      CHECK((text->size() - bytes) % 64 == 0);
    }
  CHECK(written == 15 * 5);
  CHECK_FALSE(npy_text({ir::DType::f8e4m3fn, {}, {std::byte{}}}));
}

TEST_CASE("headers are what NumPy writes: the type with its byte order, a shape that is a tuple also of one") {
  struct Row {
    ir::DType dtype;
    std::vector<std::int64_t> dims;
    std::string_view header;
  };
  for (const Row& row : {Row{ir::DType::f32, {5}, "{'descr': '<f4', 'fortran_order': False, 'shape': (5,), }"},
                         Row{ir::DType::u8, {}, "{'descr': '|u1', 'fortran_order': False, 'shape': (), }"},
                         Row{ir::DType::s64, {2, 3}, "{'descr': '<i8', 'fortran_order': False, 'shape': (2, 3), }"},
                         Row{ir::DType::pred, {1}, "{'descr': '|b1', 'fortran_order': False, 'shape': (1,), }"},
                         Row{ir::DType::bf16, {0, 4}, "{'descr': '|V2', 'fortran_order': False, 'shape': (0, 4), }"}}) {
    std::size_t bytes = static_cast<std::size_t>(ir::element_bytes(row.dtype));
    for (const std::int64_t dim : row.dims) bytes *= static_cast<std::size_t>(dim);
    const std::string text = *npy_text({row.dtype, row.dims, std::vector<std::byte>(bytes)});
    CHECK(text.substr(0, 8) == std::string("\x93NUMPY\x01\x00", 8));
    CHECK(text[8] + 256 * text[9] == 118);  // little-endian; all headers here fit the first 128 bytes
    CHECK(text.substr(10, row.header.size()) == row.header);
    CHECK(text[127] == '\n');
    CHECK(text.size() == 128 + bytes);
  }
}

TEST_CASE("a length of two bytes in version 1, of four in versions 2 and 3, all of them read") {
  const std::string words = written_by_numpy().substr(10, 118), elements = written_by_numpy().substr(128);
  for (const int version : {2, 3}) {
    std::string text("\x93NUMPY", 6);
    text += {static_cast<char>(version), '\0', '\x76', '\0', '\0', '\0'};
    CHECK(parse_npy(text + words + elements, "a.npy") == parse_npy(written_by_numpy(), "a.npy"));
    // A header of 0x10176 bytes: the third byte of its length counts.
    text[10] = '\1';
    text[9] = '\1';
    const std::string blanks(0x10000 + 0x100, ' ');
    CHECK(parse_npy(text + words.substr(0, 117) + blanks + "\n" + elements, "a.npy").dims ==
          std::vector<std::int64_t>{1, 3});
  }
  std::string later = written_by_numpy();
  later[6] = 4;
  CHECK(npy_refusal(later).find("unknown version") != std::string::npos);
}

TEST_CASE("what is no array is refused in words, and no prefix is taken for one") {
  CHECK(npy_refusal("") == "found no .npy file");
  CHECK(npy_refusal("PK\x03\x04 a zip file") == "found no .npy file");
  CHECK(npy_refusal(changed("False", "True ")) == "found elements in column-major order");
  CHECK(npy_refusal(changed("<i2", ">i2")) == "found big-endian elements '>i2'");
  CHECK(npy_refusal(changed("<i2", "<U8")).starts_with("found elements of type '<U8', expected one of b1, i1"));
  CHECK(npy_refusal(changed("(1, 3)", "(1, 4)")) == "found 6 bytes of elements, expected 8 by the header's shape");
  CHECK(npy_refusal(changed("(1, 3)", "(1,-3)")) == "found dimension '-3', expected a number");
  CHECK(npy_refusal(changed("descr", "what?")).starts_with("found a header without 'descr'"));
  CHECK(npy_refusal(changed("(1, 3), }", "(9999999999,9999999999,99)}")).starts_with("found "));
  const std::string whole = written_by_numpy();
  for (std::size_t size = 0; size < whole.size(); ++size) CHECK(npy_refusal(whole.substr(0, size)) != "accepted");
  int accepted = 0;
  for (std::size_t at = 0; at < whole.size(); ++at)
    for (const int bits : {1, 4, 32, 127}) {
      std::string damaged = whole;
      damaged[at] = static_cast<char>(static_cast<unsigned char>(damaged[at]) ^ static_cast<unsigned char>(bits));
      accepted += npy_refusal(damaged) == "accepted" ? 1 : 0;
    }
  CHECK(accepted > 0);  // a blank of the header or an element
}
