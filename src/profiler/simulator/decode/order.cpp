// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The order in which diverged lanes run. In: code blocks and their successors. Out: a number for each block; among the
// lanes of a warp, those at the block with the least number run first.
//
// Why there must be an order: when lanes part at a branch, those at the earlier block should catch up with the others,
// so that all lanes meet again as soon as their paths do and run together from there. For that, the order must be
// topological apart from back edges, and a loop must be in one piece: what leaves the loop comes after all of it, or
// lanes that are done would run ahead of those still inside.
//
// Method: find the loops (the natural loop of every back edge of a depth-first walk), sort each block's successors so
// that those outside of more loops come first, walk again, and number the blocks in reverse post-order. Looking at the
// ways out of a loop before the ways on puts what is outside behind all of the loop. The order decides how fast
// diverged code runs, never what it computes.
#include "profiler/simulator/decode/order.h"

#include <algorithm>

namespace tailor::simulator {
namespace {

using Lists = BlockLists;

/// Post-order of a walk from block 0; back edges (to a block on the path) are collected when `back` is given.
std::vector<std::uint32_t> post_order(const Lists& next, std::vector<std::pair<std::uint32_t, std::uint32_t>>* back) {
  enum : std::uint8_t { fresh, on_path, done };
  std::vector<std::uint8_t> state(next.size(), fresh);
  std::vector<std::uint32_t> order;
  std::vector<std::pair<std::uint32_t, std::size_t>> path;
  if (!next.empty()) path.emplace_back(0, 0), state[0] = on_path;
  while (!path.empty()) {
    auto& [block, at] = path.back();
    if (at == next[block].size()) {
      state[block] = done;
      order.push_back(block);
      path.pop_back();
      continue;
    }
    const std::uint32_t to = next[block][at++];
    if (state[to] == on_path && back != nullptr) back->emplace_back(block, to);
    if (state[to] != fresh) continue;
    state[to] = on_path;
    path.emplace_back(to, 0);
  }
  return order;
}

/// How many loops hold each block, and the innermost one's header (as a loop number; -1: none).
std::vector<std::vector<std::uint32_t>> loops_holding(const Lists& next) {
  std::vector<std::pair<std::uint32_t, std::uint32_t>> back;
  post_order(next, &back);
  Lists before(next.size());
  for (std::uint32_t b = 0; b < next.size(); ++b)
    for (const std::uint32_t to : next[b]) before[to].push_back(b);
  std::sort(back.begin(), back.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  std::vector<std::vector<std::uint32_t>> holding(next.size());
  std::vector<std::uint32_t> mark(next.size(), no_block), work;
  for (std::size_t i = 0; i < back.size();) {
    const std::uint32_t header = back[i].second;
    work.clear();
    mark[header] = header;
    holding[header].push_back(header);
    for (; i < back.size() && back[i].second == header; ++i)
      if (mark[back[i].first] != header) mark[back[i].first] = header, work.push_back(back[i].first);
    while (!work.empty()) {
      const std::uint32_t block = work.back();
      work.pop_back();
      holding[block].push_back(header);
      for (const std::uint32_t from : before[block])
        if (mark[from] != header) mark[from] = header, work.push_back(from);
    }
  }
  return holding;
}

}  // namespace

BlockLists find_successors(const std::vector<CodeBlock>& code, const std::vector<std::uint32_t>& targets) {
  BlockLists next(code.size());
  for (std::size_t b = 0; b < code.size(); ++b) {
    const CodeBlock& block = code[b];
    if (block.ending == Ending::exit || block.ending == Ending::trap) continue;
    if (block.ending == Ending::indirect) {
      const std::uint32_t count = targets[block.op];
      for (std::uint32_t k = 0; k < count; ++k) next[b].push_back(targets[block.op + 1 + k]);
      continue;
    }
    if (block.ending == Ending::jump || block.ending == Ending::branch) next[b].push_back(block.target);
    if (block.ending != Ending::jump && block.next != no_block) next[b].push_back(block.next);
  }
  return next;
}

void order_blocks(std::vector<CodeBlock>& code, const std::vector<std::uint32_t>& targets) {
  Lists next = find_successors(code, targets);
  const auto holding = loops_holding(next);
  const auto left_by = [&](std::uint32_t from, std::uint32_t to) {  // loops of `from` that do not hold `to`
    std::size_t left = 0;
    for (const std::uint32_t loop : holding[from])
      left += std::find(holding[to].begin(), holding[to].end(), loop) == holding[to].end();
    return left;
  };
  for (std::uint32_t b = 0; b < next.size(); ++b)
    std::stable_sort(next[b].begin(), next[b].end(),
                     [&](std::uint32_t x, std::uint32_t y) { return left_by(b, x) > left_by(b, y); });
  const std::vector<std::uint32_t> order = post_order(next, nullptr);
  for (CodeBlock& block : code) block.priority = static_cast<std::uint32_t>(code.size());
  for (std::size_t i = 0; i < order.size(); ++i)
    code[order[order.size() - 1 - i]].priority = static_cast<std::uint32_t>(i);
}

}  // namespace tailor::simulator
