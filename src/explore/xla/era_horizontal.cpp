// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Horizontal fusion of 2020 and 2022: kernels without an edge between them that one instruction reads. In: instructions
// after all other passes. Out: the same with such kernels joined. Called by the pipelines of those years (era.cpp).
//
// Loops (service/gpu/horizontal_fusion.cc, later horizontal_loop_fusion.cc): small ones with results of one type and as
// many instructions each, up to 32 of them, are laid end to end as one long array. Reductions of equal inputs
// (horizontal_input_fusion.cc, 2022 alone) become one kernel with several results. Whoever else needs what they give
// must be the world outside; the world itself is a reader like any other.
#include <algorithm>
#include <map>

#include "explore/xla/era_rules.h"

namespace tailor::explore {

using ir::DType;
using ir::Node;
using ir::NodeId;
using ir::Op;
using xla::Year;

namespace {

constexpr std::int64_t largest_loop = 128 * 2048;    // elements
constexpr std::int64_t most_instructions = 30;       // of one of them
constexpr std::int64_t most_at_once = 32;            // loops in a kernel
constexpr std::int64_t most_parameter_bytes = 4000;  // of CUDA's 4 KB, at 8 an array
constexpr std::int32_t world = -1;                   // as a reader: what takes the results of the graph

/// Who reads a value beside the world.
bool is_only_reader(const XlaInstructions& all, std::int32_t candidate, std::int32_t reader) {
  const std::vector<NodeId>& outputs = all.graph().outputs;
  // A graph of one result ends in the instruction that gives it, others in a tuple.
  const std::int32_t end = outputs.size() == 1 ? all.owner(outputs[0]) : world;
  const std::vector<std::int32_t> users = all.users_of(candidate);
  return std::all_of(users.begin(), users.end(), [&](std::int32_t user) { return user == reader || user == end; });
}

std::int64_t instructions_in(const XlaInstructions& all, std::int32_t i) {
  if (!all[i].fused()) return 1;
  const xla::Kernel& kernel = all[i].kernel();
  return std::ssize(kernel.items) + (kernel.results.size() > 1 ? 1 : 0);
}

const ir::Shape& first_result(const XlaInstructions& all, std::int32_t i) {
  return xla::first_shape(node(all[i].kernel(), all[i].kernel().results[0]));
}

std::vector<NodeId> read_by(const XlaInstructions& all, std::int32_t reader) {
  return reader == world ? std::vector<NodeId>(all.graph().outputs.begin(), all.graph().outputs.end())
                         : all.operands(reader);
}

/// Instructions that one reads, each once, those for which `wanted` holds.
std::vector<std::int32_t> sources(const XlaInstructions& all, std::int32_t reader, const auto& wanted) {
  std::vector<std::int32_t> found;
  for (const NodeId value : read_by(all, reader)) {
    std::int32_t from = all.owner(value);
    if (all.graph()[from].op == Op::get_tuple_element) from = all.owner(all.graph()[from].operands[0]);
    if (wanted(from) && std::find(found.begin(), found.end(), from) == found.end()) found.push_back(from);
  }
  return found;
}

std::vector<std::int32_t> readers(const XlaInstructions& all, bool from_results) {
  std::vector<std::int32_t> order = all.post_order();
  if (all.graph().outputs.size() > 1) order.push_back(world);
  if (from_results) std::reverse(order.begin(), order.end());
  return order;
}

class HorizontalLoops {
 public:
  HorizontalLoops(XlaInstructions& all, const std::stop_token& stop) : all_(all), stop_(stop) {}

  bool run() {
    bool changed = false;
    for (const std::int32_t reader : readers(all_, all_.year() == Year::y2022)) {
      if (stop_.stop_requested()) break;
      if (reader != world && !all_[reader].alive) continue;
      const std::vector<std::int32_t> candidates = candidates_of(reader);
      for (std::size_t first = 0; first < candidates.size();) {
        const std::size_t behind = end_of_batch(candidates, first);
        if (behind - first > 1) {
          lay_end_to_end(std::vector<std::int32_t>(candidates.begin() + static_cast<std::ptrdiff_t>(first),
                                                   candidates.begin() + static_cast<std::ptrdiff_t>(behind)));
          changed = true;
        }
        first = behind;
      }
    }
    return changed;
  }

 private:
  bool is_candidate(std::int32_t i) const {
    if (!all_[i].alive || all_[i].laid_end_to_end || !all_[i].fusible) return false;
    const xla::Kernel& kernel = all_[i].kernel();
    if (!all_[i].fused())
      return all_.year() == Year::y2022 && era_elementwise(node(kernel, only_item(kernel)), all_.graph());
    const DType type = first_result(all_, i).dtype;
    return all_[i].loop_kind && std::all_of(kernel.results.begin(), kernel.results.end(), [&](std::int32_t result) {
             return node(kernel, result).results.empty() && node(kernel, result).shape.dtype == type;
           });
  }

  bool is_small(std::int32_t i) const {
    const xla::Kernel& kernel = all_[i].kernel();
    if (ir::elements(first_result(all_, i)) > largest_loop || instructions_in(all_, i) > most_instructions)
      return false;
    if (all_.year() == Year::y2020 && kernel.results.size() == 1 &&
        node(kernel, kernel.results[0]).op == Op::dynamic_update_slice)
      return false;
    return std::all_of(kernel.items.begin(), kernel.items.end(), [&](const xla::Item& one) {
      if (one.outside && !all_[i].fused()) return true;
      return !one.node->results.empty() || is_row_major(one.node->shape);
    });
  }

  std::vector<std::int32_t> candidates_of(std::int32_t reader) const {
    const auto all = sources(all_, reader, [&](std::int32_t i) { return is_candidate(i); });
    // An array of the caller's that two of them read could not be given up to either.
    std::map<NodeId, int> readers_of_parameter;
    for (const std::int32_t one : all)
      for (const NodeId value : all_.operands(one))
        if (all_.graph()[value].op == Op::parameter) ++readers_of_parameter[value];
    const auto shares = [&](std::int32_t one) {
      const auto taken = all_.operands(one);
      return std::any_of(taken.begin(), taken.end(), [&](NodeId value) {
        const auto found = readers_of_parameter.find(value);
        return found != readers_of_parameter.end() && found->second > 1;
      });
    };
    std::vector<std::int32_t> found;
    for (const std::int32_t one : all) {
      if (!is_only_reader(all_, one, reader) || !is_small(one)) continue;
      if (all_.year() == Year::y2022 && shares(one)) continue;
      found.push_back(one);
    }
    std::stable_sort(found.begin(), found.end(), [&](std::int32_t a, std::int32_t b) { return key(a) < key(b); });
    return found;
  }

  /// Only equal ones are laid together.
  std::tuple<DType, std::size_t, std::int64_t> key(std::int32_t i) const {
    return {first_result(all_, i).dtype, all_[i].kernel().results.size(), instructions_in(all_, i)};
  }

  std::size_t end_of_batch(const std::vector<std::int32_t>& all, std::size_t first) const {
    std::size_t behind = first + 1;
    std::int64_t arrays = 0;
    for (; behind < all.size() && key(all[behind]) == key(all[first]); ++behind) {
      if (behind - first >= most_at_once) break;
      arrays += all_.operand_count(all[behind]) + std::ssize(all_[all[behind]].kernel().results);
      if (arrays * 8 >= most_parameter_bytes) break;
    }
    return behind;
  }

  void lay_end_to_end(const std::vector<std::int32_t>& batch) {
    for (const std::int32_t one : batch) all_.wrap(one);
    for (std::size_t i = 1; i < batch.size(); ++i) all_.fuse_siblings(batch[0], batch[i]);
    all_.set_loop_kind(batch[0], false);
    all_.lay_end_to_end(batch[0]);
  }

  XlaInstructions& all_;
  const std::stop_token& stop_;
};

/// What a reduction reads, by which equal ones are found; the first tiled one decides.
const ir::Shape& input_of(const XlaInstructions& all, std::int32_t i) {
  const xla::Kernel& kernel = all[i].kernel();
  for (const std::int32_t result : kernel.results) {
    const xla::Item& one = item(kernel, result);
    if (one.node->op == Op::reduce && xla::is_tiled_reduction(*one.node, operand_shape(kernel, one, 0), all.year()))
      return operand_shape(kernel, one, 0);
  }
  return first_result(all, i);
}

}  // namespace

bool era_fuse_horizontal_loops(XlaInstructions& all, const std::stop_token& stop) {
  return HorizontalLoops(all, stop).run();
}

bool era_fuse_horizontal_inputs(XlaInstructions& all, const std::stop_token& stop) {
  bool changed = false;
  for (const std::int32_t reader : readers(all, false)) {
    if (stop.stop_requested()) break;
    if (reader != world && !all[reader].alive) continue;
    std::vector<std::int32_t> found = sources(all, reader, [&](std::int32_t i) {
      return all[i].fusible && era_reduces(all, i) && is_only_reader(all, i, reader);
    });
    if (found.size() < 2) continue;
    const auto key = [&](std::int32_t i) {
      const ir::Shape& shape = input_of(all, i);
      return std::tuple(shape.rank(), std::vector<std::int64_t>(shape.dims.begin(), shape.dims.end()),
                        instructions_in(all, i));
    };
    std::stable_sort(found.begin(), found.end(), [&](std::int32_t a, std::int32_t b) { return key(a) < key(b); });
    for (const std::int32_t one : found) all.wrap(one);
    std::size_t anchor = 0;
    for (std::size_t i = 1; i < found.size(); ++i) {
      if (!era_loops_agree(all, found[anchor], found[i]) || !over_budget(all, found[anchor], found[i], false).empty()) {
        anchor = i;
        continue;
      }
      all.fuse_siblings(found[anchor], found[i]);
      changed = true;
    }
  }
  return changed;
}

}  // namespace tailor::explore
