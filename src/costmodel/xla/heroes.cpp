// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The emitter of a kernel. In: a kernel. Out: its heroes and the emitter that follows them. Called for every pair of
// kernels that the strategy thinks of, so it looks at each item at most a few times.
//
// From a result upwards: a chain of operations with one operand that only change elements or read them through another
// shape leads to a reduction, the hero of a row or column reduction. For transposes and concatenations the way may lead
// through elementwise operations with up to three operands, as long as there is only one such hero and everything that
// uses it is elementwise. The first reduction decides, then a transpose that fits all results, then scatter, sort and
// concatenation, which must be alone. All else is a loop over the first result.
#include <algorithm>
#include <limits>

#include "costmodel/xla/launch.h"

namespace tailor::costmodel::xla {

using ir::Node;
using ir::Op;

namespace {

/// XLA's emitters can compute the item from its operands' elements at the same place.
bool is_intermediate(const Kernel& kernel, const Item& one, std::size_t most_operands) {
  if (one.outside || one.operands.empty() || one.operands.size() > most_operands) return false;
  const ir::Shape& operand = operand_shape(kernel, one, 0);
  if (is_elementwise(*one.node)) return one.node->op != Op::copy || one.node->shape == operand;
  if (one.node->op == Op::transpose) return transpose_keeps_place(operand, one.node->shape, ir::axes(*one.node));
  return is_bitcast(*one.node, operand) || one.node->op == Op::bitcast;
}

/// The only item that `wanted` accepts on the elementwise way up from `from`; -1 for none or several.
template <class Wanted>
std::int32_t find_hero(const Kernel& kernel, const Users& users, std::int32_t from, const Wanted& wanted) {
  // Most kernels have none, and to look through all of one is cheaper than to walk in it.
  if (std::none_of(kernel.items.begin(), kernel.items.end(),
                   [&](const Item& one) { return !one.outside && wanted(one); }))
    return -1;
  std::int32_t hero = -1;
  std::vector<bool> seen(kernel.items.size(), false);
  std::vector<std::int32_t> pending{from};
  seen[static_cast<std::size_t>(from)] = true;
  for (std::size_t next = 0; next < pending.size(); ++next) {
    const Item& one = item(kernel, pending[next]);
    if (one.outside) continue;
    if (wanted(one)) {
      if (hero >= 0) return -1;
      hero = pending[next];
      continue;
    }
    if (!is_intermediate(kernel, one, 3)) continue;
    for (const std::int32_t operand : one.operands) {
      if (seen[static_cast<std::size_t>(operand)]) continue;
      seen[static_cast<std::size_t>(operand)] = true;
      pending.push_back(operand);
    }
  }
  if (hero < 0) return -1;
  std::fill(seen.begin(), seen.end(), false);
  pending.assign(1, hero);
  for (std::size_t next = 0; next < pending.size(); ++next)
    for (const std::int32_t user : users[static_cast<std::size_t>(pending[next])]) {
      if (seen[static_cast<std::size_t>(user)]) continue;
      seen[static_cast<std::size_t>(user)] = true;
      if (!is_intermediate(kernel, item(kernel, user), 3)) return -1;
      pending.push_back(user);
    }
  return hero;
}

std::optional<Transposed> transposed_item(const Kernel& kernel, std::int32_t i) {
  const Item& one = item(kernel, i);
  if (one.outside || one.node->op != Op::transpose) return std::nullopt;
  return tiled_transpose(*one.node, operand_shape(kernel, one, 0));
}

std::optional<Transposed> common_transpose(const Kernel& kernel, const std::vector<std::int32_t>& heroes) {
  std::optional<Transposed> found;
  const ir::Shape* input = nullptr;
  std::vector<bool> is_transpose;
  for (const std::int32_t hero : heroes) {
    const std::optional<Transposed> one = transposed_item(kernel, hero);
    is_transpose.push_back(one.has_value());
    if (!one) continue;
    if (found && !(*found == *one)) return std::nullopt;
    if (!found) {
      found = one;
      input = &operand_shape(kernel, item(kernel, hero), 0);
    }
  }
  if (!found) return std::nullopt;
  for (std::size_t r = 0; r < heroes.size(); ++r)
    if (!is_transpose[r] && !same_place(first_shape(node(kernel, kernel.results[r])), *input)) return std::nullopt;
  return found;
}

Reduced reduced_item(const Kernel& kernel, std::int32_t i) {
  return reduced(operand_shape(kernel, item(kernel, i), 0), ir::axes(node(kernel, i)));
}

/// The reduction that the emitter follows; -1: none, or the results do not go together.
std::int32_t leading_reduction(const Kernel& kernel, const std::vector<std::int32_t>& heroes) {
  std::int32_t first = -1;
  for (std::size_t r = 0; r < heroes.size() && first < 0; ++r)
    if (is_reduction_hero(kernel, kernel.results[r], heroes[r])) first = heroes[r];
  if (first < 0) return -1;
  const std::int64_t wanted = ir::elements(operand_shape(kernel, item(kernel, first), 0));
  for (std::size_t r = 0; r < heroes.size(); ++r) {
    if (kernel.results[r] == first) continue;
    if (!is_reduction_hero(kernel, kernel.results[r], heroes[r])) {
      if (ir::elements(first_shape(node(kernel, kernel.results[r]))) != wanted) return -1;
    } else if (!(reduced_item(kernel, heroes[r]) == reduced_item(kernel, first))) {
      return -1;
    }
  }
  return first;
}

int least_bits(const Kernel& kernel, const std::vector<std::int32_t>& items) {
  int least = std::numeric_limits<int>::max();
  for (const std::int32_t i : items)
    if (node(kernel, i).results.empty()) least = std::min(least, storage_bits(node(kernel, i).shape.dtype));
  return least;
}

}  // namespace

std::int32_t hero_of(const Kernel& kernel, const Users& users, std::int32_t result) {
  std::int32_t hero = result;
  while (is_intermediate(kernel, item(kernel, hero), 1) && !item(kernel, item(kernel, hero).operands[0]).outside)
    hero = item(kernel, hero).operands[0];
  const auto is_transpose = [&](const Item& one) {
    return one.node->op == Op::transpose && tiled_transpose(*one.node, operand_shape(kernel, one, 0)).has_value();
  };
  if (const std::int32_t found = find_hero(kernel, users, hero, is_transpose); found >= 0) return found;
  const auto is_concatenation = [](const Item& one) { return one.node->op == Op::concatenate; };
  if (const std::int32_t found = find_hero(kernel, users, hero, is_concatenation); found >= 0) return found;
  return node(kernel, hero).op == Op::reduce ? hero : result;
}

bool is_reduction_hero(const Kernel& kernel, std::int32_t result, std::int32_t hero) {
  const Item& one = item(kernel, hero);
  if (one.outside || one.node->op != Op::reduce) return false;
  if (!is_tiled_reduction(*one.node, operand_shape(kernel, one, 0))) return false;
  return result == hero || is_race_free(reduced_item(kernel, hero));
}

Analysis analyse(const Kernel& kernel) {
  Analysis found;
  const auto users = users_of(kernel);
  for (const std::int32_t result : kernel.results) found.heroes.push_back(hero_of(kernel, users, result));
  found.least_input_bits = least_bits(kernel, kernel.operands);
  found.least_output_bits = least_bits(kernel, kernel.results);
  found.reduction = leading_reduction(kernel, found.heroes);
  const Op root = node(kernel, kernel.results[0]).op;
  if (found.reduction >= 0) {
    found.emitter = Emitter::reduction;
  } else if ((found.transposed = common_transpose(kernel, found.heroes))) {
    found.emitter = Emitter::transpose;
  } else if (kernel.results.size() > 1) {
    found.emitter = Emitter::loop;
  } else if (root == Op::scatter) {
    found.emitter = Emitter::scatter;
  } else if (root == Op::sort) {
    found.emitter = Emitter::sort;
  } else if (node(kernel, found.heroes[0]).op == Op::concatenate && node(kernel, kernel.results[0]).results.empty() &&
             item(kernel, found.heroes[0]).operands.size() <= 4) {
    found.emitter = Emitter::concatenate;
  }
  if (found.emitter == Emitter::loop) found.heroes = kernel.results;
  return found;
}

std::string_view name(Emitter emitter) {
  constexpr std::array<std::string_view, 6> names = {"loop",        "reduction", "transpose",
                                                     "concatenate", "scatter",   "sort"};
  return names[static_cast<std::size_t>(emitter)];
}

}  // namespace tailor::costmodel::xla
