// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// A set of 64-bit keys that were mixed well already, which is emptied in one step and keeps its memory. In: keys. Out:
// whether one is known. Used by costmodel, which asks it for every operand of every kernel: a node for each key, as
// std::unordered_set has, took a tenth of counting.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace tailor {

class KeySet {
 public:
  void clear() {
    ++round_;
    size_ = 0;
  }
  bool contains(std::uint64_t key) const { return !slots_.empty() && is_held(slots_[place_of(key)]); }
  /// Whether it is new.
  bool insert(std::uint64_t key) {
    if (2 * (size_ + 1) > slots_.size()) grow();
    Slot& slot = slots_[place_of(key)];
    if (is_held(slot)) return false;
    slot = {key, round_};
    ++size_;
    return true;
  }
  std::size_t size() const { return size_; }

 private:
  struct Slot {
    std::uint64_t key = 0, round = 0;  ///< held where the round is the present one
  };

  bool is_held(const Slot& slot) const { return slot.round == round_; }
  /// The key's slot, or the free one where it belongs. There is always a free one. The high bits of a product know
  /// more of its factors than the low ones.
  std::size_t place_of(std::uint64_t key) const {
    const std::size_t mask = slots_.size() - 1;
    std::size_t at = (key ^ key >> 32) & mask;
    while (is_held(slots_[at]) && slots_[at].key != key) at = (at + 1) & mask;
    return at;
  }
  void grow() {
    std::vector<Slot> old(slots_.empty() ? 256 : 2 * slots_.size());
    old.swap(slots_);
    for (const Slot& slot : old)
      if (is_held(slot)) slots_[place_of(slot.key)] = slot;
  }

  std::vector<Slot> slots_;  // a power of two, at most half of them held
  std::uint64_t round_ = 1;
  std::size_t size_ = 0;
};

}  // namespace tailor
