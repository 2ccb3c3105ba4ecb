// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// A record with others of its kind behind it, as one list. In: the first and those that follow it, wherever each lies.
// Out: a view to loop over in order. Used for whatever there is one of for each launch of a program: its kernels, their
// work, what the compiler says of each (kernels_of, works_of, entries_of). It holds no copy, so what it views stays.
#pragma once

#include <cstddef>
#include <iterator>
#include <span>
#include <vector>

namespace tailor {

template <class One>
class Chain {
 public:
  Chain(const One& first, std::span<const One> rest) : first_(&first), rest_(rest) {}

  std::size_t size() const { return 1 + rest_.size(); }
  const One& operator[](std::size_t i) const { return i == 0 ? *first_ : rest_[i - 1]; }
  /// Those from `first` up to `end`, of which there is at least one.
  Chain part(std::size_t first, std::size_t end) const {
    return {(*this)[first], rest_.subspan(first, end - first - 1)};
  }

  class iterator {
   public:
    using iterator_category = std::forward_iterator_tag;
    using value_type = One;
    using difference_type = std::ptrdiff_t;
    using pointer = const One*;
    using reference = const One&;

    iterator() = default;
    iterator(const One* first, const One* rest, std::size_t at) : first_(first), rest_(rest), at_(at) {}
    reference operator*() const { return at_ == 0 ? *first_ : rest_[at_ - 1]; }
    pointer operator->() const { return &**this; }
    iterator& operator++() {
      ++at_;
      return *this;
    }
    iterator operator++(int) {
      iterator before = *this;
      ++at_;
      return before;
    }
    bool operator==(const iterator& other) const { return at_ == other.at_; }

   private:
    const One *first_ = nullptr, *rest_ = nullptr;
    std::size_t at_ = 0;
  };
  iterator begin() const { return {first_, rest_.data(), 0}; }
  iterator end() const { return {first_, rest_.data(), size()}; }

 private:
  const One* first_;
  std::span<const One> rest_;
};

/// The chain in parts, of which each but the first begins where `starts` says so of a record.
template <class One, class Starts>
std::vector<Chain<One>> parts_of(const Chain<One>& all, const Starts& starts) {
  std::vector<Chain<One>> parts;
  for (std::size_t first = 0, end = 1; first < all.size(); first = end++) {
    while (end < all.size() && !starts(all[end])) ++end;
    parts.push_back(all.part(first, end));
  }
  return parts;
}

}  // namespace tailor
