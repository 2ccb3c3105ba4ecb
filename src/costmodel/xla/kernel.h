// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// A kernel as XLA's passes and cost model handle it: one instruction on its own, or a fusion, which is a list of
// instructions with the values it takes and gives. In: nodes of a graph; two kernels to be made one. Out: a Kernel.
// Called by the price of a finished kernel and by the strategy xla-priority, which merges kernels as XLA does: what a
// producer computes is cloned into each consumer, a value that is taken twice is taken once, and equal instructions
// stay apart until the common ones are merged at the end (merge_equal).
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "ir/graph/graph.h"

namespace tailor::costmodel::xla {

/// Places of what an item takes. Kernels are copied for every pair that a strategy thinks of, and most instructions
/// take few values: so many are kept without memory of their own.
class Operands {
 public:
  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  std::int32_t* begin() { return data(); }
  std::int32_t* end() { return data() + size_; }
  const std::int32_t* begin() const { return data(); }
  const std::int32_t* end() const { return data() + size_; }
  std::int32_t& operator[](std::size_t i) { return data()[i]; }
  std::int32_t operator[](std::size_t i) const { return data()[i]; }

  void push_back(std::int32_t place) {
    if (size_ == few) many_.assign(few_.begin(), few_.end());
    if (size_ >= few)
      many_.push_back(place);
    else
      few_[size_] = place;
    ++size_;
  }
  friend bool operator==(const Operands& a, const Operands& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end());
  }
  friend bool operator<(const Operands& a, const Operands& b) {
    return std::lexicographical_compare(a.begin(), a.end(), b.begin(), b.end());
  }

 private:
  static constexpr std::size_t few = 6;
  std::int32_t* data() { return size_ > few ? many_.data() : few_.data(); }
  const std::int32_t* data() const { return size_ > few ? many_.data() : few_.data(); }

  std::array<std::int32_t, few> few_{};
  std::size_t size_ = 0;
  std::vector<std::int32_t> many_;  ///< all of them, where they are more
};

/// One instruction, or a value from outside.
struct Item {
  const ir::Node* node = nullptr;  ///< what is computed; of a value from outside what computes it there
  ir::NodeId id = ir::no_node;     ///< of the node in the graph the kernel came from
  bool outside = false;
  Operands operands = {};  ///< into Kernel::items
};

/// Nodes are not owned: the graph outlives the kernel. Items stand with operands before users.
struct Kernel {
  const ir::Graph* graph = nullptr;  ///< holds the bodies of the nodes
  std::vector<Item> items;
  std::vector<std::int32_t> operands;  ///< outside items in the order the kernel takes them; of a bare one with repeats
  std::vector<std::int32_t> results;   ///< items whose values it writes, the first decides how it loops
  bool fused = false;                  ///< a fusion instruction; else a single instruction
};

inline const Item& item(const Kernel& kernel, std::int32_t i) { return kernel.items[static_cast<std::size_t>(i)]; }
inline const ir::Node& node(const Kernel& kernel, std::int32_t i) { return *item(kernel, i).node; }
/// The array that operand `which` of an item reads.
const ir::Shape& operand_shape(const Kernel& kernel, const Item& of, std::size_t which);
/// The single instruction of a kernel that is not a fusion.
std::int32_t only_item(const Kernel& kernel);

/// Users of each item inside a kernel, each once, ascending.
class Users {
 public:
  explicit Users(const Kernel& kernel);
  std::size_t size() const { return ends_.size(); }
  std::span<const std::int32_t> operator[](std::size_t item) const& {
    return std::span(list_).subspan(starts_[item], ends_[item] - starts_[item]);
  }
  std::vector<std::int32_t> operator[](std::size_t item) && {
    return {list_.begin() + static_cast<std::ptrdiff_t>(starts_[item]),
            list_.begin() + static_cast<std::ptrdiff_t>(ends_[item])};
  }

 private:
  std::vector<std::size_t> starts_, ends_;  ///< per item, into list_
  std::vector<std::int32_t> list_;
};
inline Users users_of(const Kernel& kernel) { return Users(kernel); }

/// A node alone.
Kernel bare_kernel(const ir::Graph& graph, ir::NodeId id);
/// The same as a fusion of one instruction.
Kernel wrapped(Kernel bare);
/// A whole graph as one fusion: its parameters are what it takes, its outputs what it writes.
Kernel kernel_of(const ir::Graph& graph);

/// Where a producer's results stand in a kernel that reads them: the operands with their ids.
bool takes(const Kernel& kernel, ir::NodeId value);
std::int32_t operand_index(const Kernel& kernel, ir::NodeId value);  ///< the first; -1: it does not take the value

/// Both as one fusion. `keep`: the producer's results stay results, behind the consumer's.
/// Precondition: the consumer takes a result of the producer.
Kernel merged(const Kernel& producer, const Kernel& consumer, bool keep = false);
/// Both as one fusion that writes the results of both, though neither may take anything of the other.
Kernel siblings(const Kernel& first, const Kernel& second);
/// Equal instructions become one, as XLA's pass does after fusing.
void merge_equal(Kernel& kernel);

/// Ids of the nodes inside, each once, ascending.
std::vector<ir::NodeId> members(const Kernel& kernel);

}  // namespace tailor::costmodel::xla
