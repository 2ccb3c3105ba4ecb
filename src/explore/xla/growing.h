// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// A fusion while XLA's older passes put producers into it one after the other. In: a kernel. Out: what those passes ask
// of it before each step, and the kernel at the end. Called by XlaInstructions, which opens and closes one, and by the
// rules of 2020 and 2022 (era_rules.cpp).
//
// XLA computed its answers anew for every producer, so that a fusion cost the square of its size. Here items stand with
// users before operands: a new producer goes to the end, all who use it are known, and each answer is kept up to date
// from those of the users. The answers: whether elements of an operand are read several times, how often the code of an
// operand would be emitted, whether an operand leads to an operation that loops.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "costmodel/xla/kernel.h"
#include "costmodel/xla/shapes.h"

namespace tailor::explore {

namespace xla = costmodel::xla;

/// How elements of a value are used: each once, each once in another order (whose), or some several times.
struct ElementUse {
  enum class Kind : std::uint8_t { none, once, several } kind = Kind::none;
  std::int32_t order = -1;  ///< the item whose order it is; -1: that of the value itself
  bool operator==(const ElementUse&) const = default;
};
/// What a node does with elements of one operand; `item` names the node where it turns their order.
ElementUse element_use(const ir::Node& node, std::size_t operand, const ir::Shape& operand_shape, std::int32_t item);

/// The operation walks over elements for each element it makes, and so reads some of them several times: a reduction
/// that no tiled emitter takes, a window that moves by less than its size.
bool reads_in_a_loop(const ir::Node& node, const ir::Shape& operand, xla::Year year);

class GrowingFusion {
 public:
  GrowingFusion(const xla::Kernel& kernel, xla::Year year);

  /// Values it takes, in XLA's order: what a producer brings comes last.
  const std::vector<ir::NodeId>& operands() const { return taken_; }
  bool reuses(ir::NodeId operand) const;
  bool leads_to_loop(ir::NodeId operand) const;
  /// How often what computes this operand would be emitted.
  std::int64_t emitted(ir::NodeId operand) const;
  /// Code of all instructions inside, repeats counted, and the number of entries it is counted over (2020).
  std::int64_t emitted_in_all() const { return emitted_in_all_; }
  std::int64_t entries() const { return static_cast<std::int64_t>(items_.size()) + (several_results_ ? 2 : 1); }
  /// Users inside of an operand.
  std::int64_t inner_users(ir::NodeId operand) const;
  /// Whether some instruction would be emitted too often when all of it is emitted `times` times (2022).
  bool emits_too_often(std::int64_t times) const;
  /// Instructions, values from outside and the tuple of several results: XLA's count of a fusion's instructions.
  std::int64_t instructions() const;

  /// The node that computes an operand joins. Returns the values it brings.
  std::vector<ir::NodeId> add(ir::NodeId producer);
  xla::Kernel kernel() const;

 private:
  /// Who asks for an item's elements by an index of its own; ascending, shared among items that are asked alike.
  using Askers = std::shared_ptr<const std::vector<std::int32_t>>;
  static constexpr std::int32_t whole = -1, tuple = -2;  ///< the fusion itself and the tuple of its results, as askers

  struct Seen {  ///< what the users of an item or operand make of it
    ElementUse use;
    Askers askers;
    bool loop = false;
    std::int64_t users = 0;
  };
  struct Inner {
    const ir::Node* node = nullptr;
    ir::NodeId id = ir::no_node;
    std::vector<std::int32_t> operands;  ///< items, or ~place in outer_
    Seen seen;
    std::int64_t emitted = 0;
  };
  struct Outer {
    const ir::Node* node = nullptr;
    ir::NodeId id = ir::no_node;
    std::vector<std::pair<std::int32_t, std::size_t>> uses;  ///< item and which of its operands
    Seen seen;
  };

  void see(Seen& operand, const Inner& user, std::int32_t item, std::size_t which, const ir::Node& value) const;
  void count(Inner& one);
  std::int64_t count_of(std::int32_t asker) const;
  const Outer* outer(ir::NodeId value) const;
  std::int32_t outside(const ir::Node& node, ir::NodeId id);
  void take_operands(std::int32_t item, std::span<const ir::NodeId> values);
  void append(const xla::Kernel& kernel);

  const ir::Graph* graph_;
  xla::Year year_;
  std::vector<Inner> items_;
  std::vector<Outer> outer_;
  std::vector<ir::NodeId> taken_;
  std::vector<std::int32_t> results_;
  bool several_results_ = false;
  std::int64_t emitted_in_all_ = 0;
  std::int64_t most_emitted_ = 0, most_emitted_of_barriers_ = 0;
  bool barrier_with_users_ = false;
};

/// Its code starts a block of instructions of its own, so that values computed before it are not reused after it.
bool starts_a_block(ir::Op op);

/// 2020 and 2022: more repeats of an instruction's code than this are too many.
inline constexpr std::int64_t most_repeats = 15;

}  // namespace tailor::explore
