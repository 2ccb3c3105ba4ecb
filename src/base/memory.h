// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Large arrays with fewer page faults. In: a size. Out: memory for which the system was asked to use
// huge pages before the first touch. Called by the evaluator and the simulator. It is a hint only;
// arrays are the same without it.
#pragma once

#include <cstddef>
#include <vector>

namespace tailor {

/// Says that `bytes` bytes from `first` on will all be used. Precondition: they are the caller's.
void expect_all(const void* first, std::size_t bytes);

/// Zeros (of the type) in memory that was announced so.
template <class Element>
std::vector<Element> large_array(std::size_t count) {
  std::vector<Element> array;
  array.reserve(count);
  expect_all(array.data(), count * sizeof(Element));
  array.resize(count);
  return array;
}

}  // namespace tailor
