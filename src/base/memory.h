// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Memory of the machine. In: a size, or nothing. Out: memory for which the system was asked to use huge pages before
// the first touch (a hint only; arrays are the same without it), and how much this process may still take. Called by
// the evaluator and the simulator, and by the checks, which ask before they start.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <vector>

namespace tailor {

/// Bytes that this process can still take without being killed or swapped out: what the system calls available, or what
/// its control groups leave of their limits, whichever is least. `root` is where proc and sys lie; the largest number
/// where the system says nothing.
std::int64_t free_memory(const std::filesystem::path& root = "/");

/// Bytes of memory this process holds now; 0 where the system does not say.
std::int64_t held_memory(const std::filesystem::path& root = "/");

/// Says that `bytes` bytes from `first` on will all be used. Precondition: they are the caller's.
void expect_all(const void* first, std::size_t bytes);

/// Has the system hand out fresh memory at once, by several threads: it clears pages, which takes as long as most of
/// what is written to them. Contents stay. Small arrays are left to the first touch.
void take_all(const void* first, std::size_t bytes);

/// Zeros (of the type) in memory that was announced so.
template <class Element>
std::vector<Element> large_array(std::size_t count) {
  std::vector<Element> array;
  array.reserve(count);
  expect_all(array.data(), count * sizeof(Element));
  take_all(array.data(), count * sizeof(Element));
  array.resize(count);
  return array;
}

}  // namespace tailor
