// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// A graph while XLA's fusion passes work on it. In: a graph and, for today's passes, XLA's view of a GPU. Every node is
// an instruction, a kernel in the sense of costmodel/xla; fusing makes a larger one of two and takes away what nobody
// needs any more. Out: the instructions that are left. Called by the strategies xla-priority (priority.cpp), xla-2020
// and xla-2022 (era.cpp), by the pass that gives kernels several results (multi_output.cpp), and by the rules all ask.
//
// Values are named by the node of the original graph that computes them, whatever instruction gives them now.
// Instructions keep a topological order, so that asking whether one reaches another looks only at those between.
#pragma once

#include <cstdint>
#include <memory>
#include <stop_token>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "costmodel/xla/price.h"
#include "explore/xla/growing.h"
#include "ir/fusion.h"

namespace tailor::explore {

struct XlaInstruction {
  xla::Priced price;  ///< of the old passes, which ask no model, the kernel alone
  bool alive = true;
  bool fusible = false;         ///< XLA's native emitters can hold it
  bool loop_kind = false;       ///< of a fusion: XLA calls it kLoop, else kInput
  std::int64_t order = 0;       ///< decides between equal priorities: what was made later comes first
  std::int64_t version = 0;     ///< grows when the kernel changes
  std::int64_t shared = 0;      ///< bytes of shared memory that XLA's emitters may take
  std::int64_t reductions = 0;  ///< tiled ones
  bool reduces_much = false;    ///< holds a reduction of 16 elements or more into one
  /// Several of no relation behind one another, as slices of a long array: nothing joins it any more (2020, 2022).
  bool laid_end_to_end = false;
  std::shared_ptr<GrowingFusion> growing;  ///< what was asked of the fusion since it last changed
  bool grown = false;                      ///< `growing` holds more than `price.kernel`, until settle()

  const xla::Kernel& kernel() const { return price.kernel; }
  bool fused() const { return price.kernel.fused || growing != nullptr; }
};

class XlaInstructions {
 public:
  XlaInstructions(const ir::Graph& graph, const xla::Target& target);
  /// For the passes of 2020 and 2022, which know no device. Precondition: not today.
  XlaInstructions(const ir::Graph& graph, xla::Year year);

  const ir::Graph& graph() const { return graph_; }
  const xla::Target& target() const { return *target_; }  ///< precondition: made with one
  xla::Year year() const { return year_; }
  std::int32_t size() const { return static_cast<std::int32_t>(all_.size()); }
  const XlaInstruction& operator[](std::int32_t i) const { return all_[static_cast<std::size_t>(i)]; }
  void set_loop_kind(std::int32_t i, bool loop) { all_[static_cast<std::size_t>(i)].loop_kind = loop; }
  void lay_end_to_end(std::int32_t i) { all_[static_cast<std::size_t>(i)].laid_end_to_end = true; }

  /// The instruction that gives a value.
  std::int32_t owner(ir::NodeId value) const { return owner_[ir::index(value)]; }
  /// Instructions that take a value, in the order they began to.
  const std::vector<std::int32_t>& users(ir::NodeId value) const { return users_[ir::index(value)]; }
  /// The same of all values that an instruction gives, each once.
  std::vector<std::int32_t> users_of(std::int32_t instruction) const;
  /// An output of the graph: the world outside takes it, and no kernel can be fused into that.
  bool is_stored(ir::NodeId value) const { return stored_[ir::index(value)]; }
  bool is_stored_any(std::int32_t instruction) const;
  std::vector<ir::NodeId> values(std::int32_t instruction) const;
  /// Values it takes, each once.
  std::vector<ir::NodeId> operands(std::int32_t instruction) const;
  /// How many; of a single instruction a value it takes twice counts twice.
  std::int64_t operand_count(std::int32_t instruction) const;

  /// The consumer computes what the producer computes. The producer stays; see remove_unused.
  void fuse(std::int32_t producer, std::int32_t consumer);
  /// The same, but what the producer gives is given by the consumer from now on, and the producer is gone.
  void fuse_keeping(std::int32_t producer, std::int32_t consumer);
  /// One instruction gives the results of both.
  void fuse_siblings(std::int32_t first, std::int32_t second);
  /// As fuse, of a producer that is one instruction, in time that does not hang on how large the consumer is. The
  /// consumer's kernel is made by settle().
  void grow(std::int32_t producer, std::int32_t consumer);
  /// The fusion as grow() sees it, also before its first producer. Precondition: fused.
  const GrowingFusion& growing(std::int32_t fusion);
  void settle(std::int32_t instruction);
  void settle_all();
  /// Takes the instruction away when nobody needs what it gives. Whether it did.
  bool remove_unused(std::int32_t instruction);
  /// Equal instructions inside each fusion become one.
  void merge_equal();
  /// A single instruction becomes a fusion of one.
  void wrap(std::int32_t instruction);

  /// Instructions with operands before users as XLA walks: from the outputs in their order, operands in theirs.
  std::vector<std::int32_t> post_order() const;
  /// Its place in the topological order.
  std::int32_t place(std::int32_t instruction) const { return place_[static_cast<std::size_t>(instruction)]; }
  /// Whether what `from` gives reaches `to`, through anything. Questions about one `from` share their search until
  /// something is fused.
  bool reaches(std::int32_t from, std::int32_t to) const;
  /// Whether one of the two reaches the other. Questions about one `fixed` share their searches, in both directions.
  /// Precondition: no fusion has grown that is not settled.
  bool are_ordered(std::int32_t fixed, std::int32_t other) const;

 private:
  /// What one instruction reaches, or what reaches it: as far, in the topological order, as somebody has asked.
  struct Cone {
    std::int32_t of = -1;
    std::int64_t changes = -1;          ///< when it was begun
    std::int32_t number = 0;            ///< of this search
    std::vector<std::int32_t> seen;     ///< by the search with this number
    std::vector<std::int32_t> pending;  ///< a heap of places not looked behind yet
  };
  XlaInstructions(const ir::Graph& graph, const xla::Target* target, xla::Year year);
  void begin(Cone& cone, std::int32_t of) const;
  bool is_reached_by(std::int32_t from, std::int32_t to) const;
  XlaInstruction& at(std::int32_t i) { return all_[static_cast<std::size_t>(i)]; }
  void replace(std::int32_t instruction, xla::Kernel kernel);
  void place_together(std::int32_t kept, std::int32_t gone);
  void forget_use(ir::NodeId value, std::int32_t instruction);
  void note_use(ir::NodeId value, std::int32_t instruction);
  std::size_t place_among_users(ir::NodeId value, std::int32_t instruction) const;
  void measure(XlaInstruction& one);

  const ir::Graph& graph_;
  const xla::Target* target_;
  xla::Year year_;
  std::vector<XlaInstruction> all_;
  std::vector<std::int32_t> place_, at_place_;  ///< a topological order, and who stands where
  mutable std::vector<std::int32_t> seen_;      ///< by the search with this number
  mutable std::int32_t searches_ = 0;
  std::int64_t changes_ = 0;  ///< of who uses what
  mutable Cone below_, above_;
  std::vector<std::int32_t> owner_;
  std::vector<std::vector<std::int32_t>> users_;
  /// Of a value with many users the place of each in its list; others have none.
  std::vector<std::unique_ptr<std::unordered_map<std::int32_t, std::size_t>>> user_places_;
  std::vector<bool> stored_;
  std::int64_t next_order_ = 0;
};

/// A bitcast on its own, which XLA computes for nothing.
bool is_lone_bitcast(const XlaInstruction& one);
bool is_constant(const XlaInstruction& one);

/// Why one may not be fused into the other by XLA's native emitters; empty: it may. The first is known without making
/// one kernel of both, which costs most; `together` is that kernel's.
std::string_view refusal_apart(const XlaInstructions& all, std::int32_t producer, std::int32_t consumer);
std::string_view refusal_together(const XlaInstructions& all, std::int32_t producer, const xla::Analysis& together);
/// The parts of the first that the multi-output pass asks as well. `edge`: one is the other's producer.
std::string_view over_budget(const XlaInstructions& all, std::int32_t first, std::int32_t second, bool edge);
/// The rule of 2022: the producer, a single instruction, reads at other places the array that the consumer writes over.
bool conflicts_in_place(const XlaInstructions& all, std::int32_t producer, std::int32_t consumer);
bool becomes_too_large(const XlaInstructions& all, std::int32_t producer, std::int32_t consumer);
/// Scatter has no form that is computed per element. Empty: it may.
std::string_view scatter_refusal(const XlaInstructions& all, std::int32_t producer, std::int32_t consumer);
/// Values of an instruction's operands that XLA writes its results over.
std::vector<ir::NodeId> written_over(const XlaInstruction& one);

/// Those of the instructions that are left for which `is_kernel` holds, each as its nodes, in an order in which they
/// can run. So of kernels that compute a value the first has it early enough for all who read it.
std::vector<std::vector<ir::NodeId>> kernels_in_order(const XlaInstructions& all,
                                                      bool (*is_kernel)(const XlaInstruction&));

/// The kernels that XLA makes of one graph, bodies not included, each as its nodes: those that are only free nodes too
/// (a broadcast that a library call reads). Stops early, with what there is, when it is asked to.
std::vector<std::vector<ir::NodeId>> xla_kernels(const ir::Graph& graph, const xla::Target& target,
                                                 const std::stop_token& stop = {});

/// XLA's pass that gives kernels several results, after the queue is empty.
void fuse_multi_output(XlaInstructions& all, const std::stop_token& stop);

/// The same with the rule-based passes of 2020 or 2022. `is_body`: of a loop or branch, which one of them skipped.
std::vector<std::vector<ir::NodeId>> xla_era_kernels(const ir::Graph& graph, xla::Year year, bool is_body = false,
                                                     const std::stop_token& stop = {});

}  // namespace tailor::explore
