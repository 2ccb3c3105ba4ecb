// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Basic blocks and natural loops of machine code. In: bytes. Out: MachineFlow. Called by machine_work.cpp.
//
// A block begins at the first instruction, at the target of a branch, of a call and of a BSSY, and below an instruction
// that may go elsewhere or wait for other lanes. Distances are counted in bytes from the instruction below. Until sm_89
// they are the signed number in bits 32 to 63; from sm_90 on branches have the bits above the tenth in 34 to 63 and
// bits 2 to 9 in 16 to 23, while BSSY, which keeps a register there, stays as it was. Both were read off cubins with
// the vendor's disassembler, which a test repeats where it is installed.
//
// Dominators are those of Cooper, Harvey and Kennedy ("A Simple, Fast Dominance Algorithm", 2001): in reverse
// postorder, the meet of the predecessors is found by climbing the tree. A branch to a block that dominates it closes a
// natural loop; its body is what reaches the branch backwards without passing the head.
#include "profiler/compile/machine_flow.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "base/indexed.h"

namespace tailor::profiler {

namespace {

/// Whether a block ends with it, and how.
bool ends_block(const Instruction& one, BlockEnd& how) {
  switch (one.base()) {
    case bases::bra:
      how = BlockEnd::branch;
      return true;
    case bases::exit:
    case bases::kill:
      how = BlockEnd::exit;
      return true;
    case bases::bsync:
      how = BlockEnd::sync;
      return true;
    case bases::call:
    case bases::call_absolute:
      how = BlockEnd::call;
      return true;
    case bases::ret:
      how = BlockEnd::returns;
      return true;
    case bases::brx:
    case bases::brxu:
    case bases::jmp:
    case bases::jmx:
    case bases::jmxu:
      how = BlockEnd::jump;
      return true;
    default:
      return false;
  }
}

/// No guard, and no condition of its own.
bool is_always(const Instruction& one) {
  const bool asks = is_uniform_branch(one) || is_division_branch(one);
  return one.bits(12, 4) == 7 && one.bits(87, 4) == 7 && !asks;
}

/// Whether lanes may go on below: a guard, a condition of its own, or a call that comes back.
bool may_fall(const Instruction& one, BlockEnd how) {
  if (how == BlockEnd::falls || how == BlockEnd::sync || how == BlockEnd::call) return true;
  if (how == BlockEnd::jump || how == BlockEnd::returns) return one.bits(12, 4) != 7;
  return !is_always(one);
}

struct Edges {
  IndexedVector<std::vector<int>> before;  ///< predecessors of a block
  std::vector<int> order;                  ///< reverse postorder of what is reached
  IndexedVector<int> place;                ///< in it; -1: not reached
};

Edges edges_of(const IndexedVector<CodeBlock>& blocks) {
  Edges edges;
  edges.before.resize(blocks.size());
  edges.place.assign(blocks.size(), -1);
  if (blocks.empty()) return edges;
  IndexedVector<char> seen(blocks.size(), 0);
  std::vector<std::pair<int, int>> open{{0, 0}};  // a block, and which of its successors is next
  seen[0] = 1;
  while (!open.empty()) {
    const int of = open.back().first, turn = open.back().second++;
    if (turn == 2) {
      edges.order.push_back(of);
      open.pop_back();
      continue;
    }
    const int to = turn == 0 ? blocks[of].next : blocks[of].target;
    if (to < 0 || (turn == 1 && to == blocks[of].next)) continue;
    edges.before[to].push_back(of);
    if (seen[to] != 0) continue;
    seen[to] = 1;
    open.emplace_back(to, 0);
  }
  std::reverse(edges.order.begin(), edges.order.end());
  for (std::size_t i = 0; i < edges.order.size(); ++i) edges.place[edges.order[i]] = static_cast<int>(i);
  return edges;
}

/// The nearest block that every way to a block passes; -1: not reached. The first block is its own.
IndexedVector<int> dominators_of(const Edges& edges) {
  IndexedVector<int> nearest(edges.before.size(), -1);
  if (edges.order.empty()) return nearest;
  nearest[0] = 0;
  const auto meet = [&](int a, int b) {
    while (a != b) {
      while (edges.place[a] > edges.place[b]) a = nearest[a];
      while (edges.place[b] > edges.place[a]) b = nearest[b];
    }
    return a;
  };
  for (bool changed = true; changed;) {
    changed = false;
    for (const int block : std::span(edges.order).subspan(1)) {
      int found = -1;
      for (const int from : edges.before[block])
        if (nearest[from] >= 0) found = found < 0 ? from : meet(found, from);
      changed = changed || found != nearest[block];
      nearest[block] = found;
    }
  }
  return nearest;
}

bool dominates(const IndexedVector<int>& nearest, int head, int block) {
  while (block != head && block != 0) block = nearest[block];
  return block == head;
}

/// Loops of the same head are one.
std::vector<CodeLoop> loops_of(const IndexedVector<CodeBlock>& blocks, const Edges& edges) {
  const IndexedVector<int> nearest = dominators_of(edges);
  std::vector<CodeLoop> loops;
  IndexedVector<int> mark(blocks.size(), -1);
  for (int head = 0; head < std::ssize(blocks); ++head) {
    if (edges.place[head] < 0) continue;
    std::vector<int> body{head}, open;
    mark[head] = head;
    for (const int from : edges.before[head])
      if (dominates(nearest, head, from)) open.push_back(from);
    if (open.empty()) continue;
    while (!open.empty()) {
      const int block = open.back();
      open.pop_back();
      if (mark[block] == head) continue;
      mark[block] = head;
      body.push_back(block);
      open.insert(open.end(), edges.before[block].begin(), edges.before[block].end());
    }
    std::sort(body.begin(), body.end());
    loops.push_back({head, std::move(body)});
  }
  return loops;
}

/// Instructions that only fill up the last line: none of them is reached.
int without_filling(std::span<const std::byte> code) {
  int count = static_cast<int>(code.size() / instruction_bytes);
  while (count > 0 && instruction_at(code, static_cast<std::size_t>(count - 1)).base() == bases::nop) --count;
  return count;
}

/// The instructions at which a block begins, ascending.
std::vector<int> heads_of(std::span<const std::byte> code, const std::vector<std::uint32_t>& words, int arch) {
  const int count = static_cast<int>(words.size());
  std::vector<char> head(words.size() + 1, 0);
  head[0] = 1;
  for (int i = 0; i < count; ++i) {
    const unsigned base = words[static_cast<std::size_t>(i)] & 0x1ff;
    if (base < bases::first_control || base > bases::last_control) continue;
    const Instruction one = instruction_at(code, static_cast<std::size_t>(i));
    BlockEnd how = BlockEnd::falls;
    if (ends_block(one, how)) head[static_cast<std::size_t>(i) + 1] = 1;
    int distance = 0;
    if (!relative_target(one, arch, distance)) continue;
    const std::int64_t to = std::int64_t{i} + 1 + distance;
    if (to >= 0 && to < count) head[static_cast<std::size_t>(to)] = 1;
  }
  std::vector<int> heads;
  for (auto at = head.begin(); (at = std::find(at, head.end() - 1, 1)) != head.end() - 1; ++at)
    heads.push_back(static_cast<int>(at - head.begin()));
  return heads;
}

void fill_block(CodeBlock& block, std::span<const std::byte> code, const Operations& operations) {
  for (int i = block.first; i < block.end; ++i) {
    const Instruction one = instruction_at(code, static_cast<std::size_t>(i));
    ++row_for(block.pipes, pipe_of(one, operations));
    block.stalls += static_cast<int>(one.bits(105, 4));
    if (one.bits(116, 6) != 0) ++block.waits;
  }
}

}  // namespace

bool relative_target(const Instruction& one, int arch, int& distance) {
  const unsigned base = one.base();
  const bool names_block = base == bases::bssy;
  if (!names_block && base != bases::bra && base != bases::call) return false;
  // Bits 32 and 33 are no part of it: some branches keep a flag there.
  auto bytes = static_cast<std::int64_t>(static_cast<std::int32_t>(one.low >> 32 & ~std::uint64_t{3}));
  if (arch >= 90 && !names_block) bytes = (bytes >> 2) * 1024 + std::int64_t{one.bits(16, 8)} * 4;
  if (bytes % static_cast<std::int64_t>(instruction_bytes) != 0) return false;
  const std::int64_t whole = bytes / static_cast<std::int64_t>(instruction_bytes);
  distance = static_cast<int>(whole);
  return whole == distance;
}

int MachineFlow::block_at(int instruction) const {
  const auto after = std::upper_bound(blocks.begin(), blocks.end(), instruction,
                                      [](int at, const CodeBlock& block) { return at < block.first; });
  return static_cast<int>(after - blocks.begin()) - 1;
}

MachineFlow read_flow(std::span<const std::byte> code, const Operations& operations, FlowContents contents) {
  if (operations.arch < first_decoded_arch)
    throw Error(Fault::failed, fmt::format("found machine code for sm_{}, expected sm_{} or later", operations.arch,
                                           first_decoded_arch));
  if (code.size() % instruction_bytes != 0)
    throw Error(Fault::failed, fmt::format("found {} bytes of machine code, expected a multiple of {}", code.size(),
                                           instruction_bytes));
  MachineFlow flow;
  flow.arch = operations.arch;
  flow.instructions = without_filling(code);
  flow.words.resize(static_cast<std::size_t>(flow.instructions));
  for (std::size_t i = 0; i < flow.words.size(); ++i) flow.words[i] = first_word(code, i);
  const std::vector<int> heads = heads_of(code, flow.words, flow.arch);
  flow.blocks.resize(heads.size());
  for (std::size_t i = 0; i < heads.size(); ++i) {
    CodeBlock& block = flow.blocks[i];
    block.first = heads[i];
    block.end = i + 1 < heads.size() ? heads[i + 1] : flow.instructions;
  }
  for (std::size_t i = 0; i < heads.size(); ++i) {
    CodeBlock& block = flow.blocks[i];
    if (contents == FlowContents::counted) fill_block(block, code, operations);
    const Instruction last = instruction_at(code, static_cast<std::size_t>(block.end - 1));
    ends_block(last, block.how);
    if (may_fall(last, block.how) && i + 1 < heads.size()) block.next = static_cast<int>(i) + 1;
    int distance = 0;
    if ((block.how != BlockEnd::branch && block.how != BlockEnd::call) || !relative_target(last, flow.arch, distance))
      continue;
    const std::int64_t to = std::int64_t{block.end} + distance;
    if (to >= 0 && to < flow.instructions) block.target = flow.block_at(static_cast<int>(to));
  }
  const Edges edges = edges_of(flow.blocks);
  for (const int block : edges.order) flow.blocks[block].reachable = true;
  flow.loops = loops_of(flow.blocks, edges);
  for (const CodeLoop& loop : flow.loops)
    for (const int block : loop.blocks) ++flow.blocks[block].loop_depth;
  return flow;
}

}  // namespace tailor::profiler
