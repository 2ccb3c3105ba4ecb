// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The reader of ELF files on damaged input: it gives kernels or one Error, never anything else. A real cubin is
// compiled once, then cut off at every length and changed at random bytes with a fixed seed. Part of the suite
// `profiler`; those cases are skipped without NVRTC.
#include "profiler/compile/cubin.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <random>

#include "base/error.h"
#include "profiler/compile/compile.h"
#include "profiler/kernels.h"

using namespace tailor;
using namespace tailor::profiler;

namespace {

/// Whether the reader took the bytes; anything thrown but an Error fails the test by itself.
bool reads(std::span<const std::byte> bytes) {
  try {
    read_cubin(bytes);
    return true;
  } catch (const Error&) {
    return false;
  }
}

}  // namespace

TEST_CASE("every proper beginning of a cubin is refused") {
  const Nvrtc* api = kernels::nvrtc_or_skip();
  if (api == nullptr) return;
  const std::vector<std::byte> cubin = compile(*api, {.cuda = kernels::reversed}).cubin;
  REQUIRE(reads(cubin));
  // The section headers end the part that is read; what follows them (program headers) may go.
  std::uint64_t headers = 0;
  std::copy_n(cubin.data() + 40, 8, reinterpret_cast<std::byte*>(&headers));
  for (std::size_t size = 0; size < cubin.size(); ++size) {
    // Each prefix in memory of its own, so that a sanitizer sees a read past its end.
    const std::vector<std::byte> prefix(cubin.begin(), cubin.begin() + static_cast<std::ptrdiff_t>(size));
    const bool accepted = reads(prefix);
    if (size < headers) REQUIRE_FALSE(accepted);
  }
}

TEST_CASE("a cubin with any bytes changed is read or refused, never more") {
  const Nvrtc* api = kernels::nvrtc_or_skip();
  if (api == nullptr) return;
  const std::vector<std::byte> cubin = compile(*api, {.cuda = kernels::stacked}).cubin;
  REQUIRE(reads(cubin));
  const unsigned seed = 20261121;
  CAPTURE(seed);
  std::mt19937 random(seed);
  int refused = 0;
  for (int round = 0; round < 20'000; ++round) {
    std::vector<std::byte> damaged = cubin;
    for (int changes = 1 + static_cast<int>(random() % 4); changes > 0; --changes) {
      // Half of the damage goes to the header and the first sections, where the structure is.
      const std::size_t reach = random() % 2 == 0 ? std::min<std::size_t>(damaged.size(), 64) : damaged.size();
      damaged[random() % reach] = static_cast<std::byte>(random());
    }
    refused += reads(damaged) ? 0 : 1;
  }
  CHECK(refused > 1000);
  CHECK(refused < 20'000);
}

TEST_CASE("what is no cubin is refused with what was found") {
  CHECK_FALSE(reads({}));
  const std::string text = "not a cubin, though long enough to hold the header of one: sixty-four bytes";
  CHECK_THROWS_WITH_AS(read_cubin(std::as_bytes(std::span(text))),
                       "found bytes that do not start a little-endian ELF64 file, expected a cubin", Error);
}
