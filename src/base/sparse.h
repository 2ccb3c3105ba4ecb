// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// A vector of records of which only those are held that somebody changed; any other one reads as a fresh record. In:
// how many there are. Out: records by number. Used by costmodel, where each kernel of a launch has a record of each
// buffer: a launch of many loops has hundreds of buffers and each of its loops touches a few, so what is kept for every
// buffer of every loop grows with the square of their number, and so does each sum over it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <vector>

#include "base/indexed.h"

namespace tailor {

template <class Of>
class Sparse {
 public:
  Sparse() = default;
  explicit Sparse(std::size_t size) : size_(size) {}
  /// All of them, in order.
  Sparse(std::initializer_list<Of> all) {
    for (const Of& one : all) push_back(one);
  }

  std::size_t size() const { return size_; }
  /// Those beyond are gone, and new ones are fresh.
  void resize(std::size_t size) {
    const std::size_t kept = place_of(size);
    numbers_.resize(kept);
    held_.resize(kept);
    size_ = size;
  }
  void push_back(const Of& one) { (*this)[size_++] = one; }
  void clear() { resize(0); }

  const Of& operator[](std::size_t number) const {
    static const Of fresh{};
    const std::size_t at = place_of(number);
    return at < numbers_.size() && numbers_[at] == number ? held_[at] : fresh;
  }
  /// Holds it from now on. A reference ends when another record comes to be held.
  Of& operator[](std::size_t number) {
    const std::size_t at = place_of(number);
    if (at == numbers_.size() || numbers_[at] != number) {
      numbers_.insert(numbers_.begin() + static_cast<std::ptrdiff_t>(at), static_cast<std::uint32_t>(number));
      held_.emplace(held_.begin() + static_cast<std::ptrdiff_t>(at));
    }
    return held_[at];
  }

  /// The records that are held, in order.
  auto begin() const { return held_.begin(); }
  auto end() const { return held_.end(); }
  auto begin() { return held_.begin(); }
  auto end() { return held_.end(); }
  /// Calls act(number, record) for each of them.
  template <class Act>
  void each(const Act& act) const {
    for (std::size_t i = 0; i < held_.size(); ++i) act(std::size_t{numbers_[i]}, held_[i]);
  }

  bool operator==(const Sparse& other) const {
    if (size_ != other.size_) return false;
    const auto agree = [](const Sparse& a, const Sparse& b) {
      return std::all_of(a.numbers_.begin(), a.numbers_.end(),
                         [&](std::uint32_t number) { return a[number] == b[number]; });
    };
    return agree(*this, other) && agree(other, *this);
  }

 private:
  std::size_t place_of(std::size_t number) const {
    return static_cast<std::size_t>(std::lower_bound(numbers_.begin(), numbers_.end(), number) - numbers_.begin());
  }

  std::size_t size_ = 0;
  IndexedVector<std::uint32_t> numbers_;  ///< ascends
  IndexedVector<Of> held_;                ///< parallel to it
};

}  // namespace tailor
