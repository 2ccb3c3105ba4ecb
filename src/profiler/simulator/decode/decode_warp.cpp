// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Instructions that need other lanes, other warps or other blocks: shuffles, votes, barriers. In: an instruction of the
// walk (decode.cpp). Out: an ending of its code block, because the lanes may have to wait there; its operation and
// operands are in DecodedProgram::ops.
#include "profiler/simulator/decode/decoder.h"

namespace tailor::simulator {
namespace {}  // namespace

/// Fills a warp operation's step and operands; its result is the slot of the mask.
Slot Decoder::warp_operands(Micro& micro, const PtxOperand& to) {
  const auto& parts = current_.parts;
  const std::string_view op = parts[0], mode = parts.size() > 2 ? parts[2] : "";
  count(op == "shfl" ? Pipe::shuffle : Pipe::vote);
  if (op == "shfl") {
    micro.full = steps_.warp.shuffle(mode);
    micro.a = source(operand(1), LaneType::u32);
    micro.b = source(operand(2), LaneType::u32);
    micro.c = source(operand(3), LaneType::u32);
    micro.d = destination(to, LaneType::u32);
    return source(operand(4), LaneType::u32);
  }
  if (op == "elect") {
    micro.full = steps_.warp.elect;
    micro.d = destination(to, LaneType::u32);
    return source(operand(1), LaneType::u32);
  }
  LaneType from = LaneType::u32, result = LaneType::u32;
  if (op == "vote") {
    micro.full = steps_.warp.vote(mode);
    from = LaneType::pred;
    if (mode != "ballot") result = LaneType::pred;
  } else if (op == "match") {
    const bool wide = parts.back() == "b64";
    micro.full = steps_.warp.match(parts[1], wide ? 64 : 32);
    if (wide) from = LaneType::u64;
  } else {
    micro.full = parts.size() == 4 ? steps_.warp.redux(parts[2], parts[3]) : nullptr;
  }
  micro.a = source(operand(1), from);
  micro.d = destination(to, result);
  return source(operand(2), LaneType::u32);
}

/// shfl.sync.mode.b32 d|p, a, b, c, mask; vote.sync.mode.pred|b32 d, a, mask; match.mode.sync.type d|p, a, mask;
/// redux.sync.op.type d, a, mask; elect.sync d|p, mask; activemask.b32 d; bar.warp.sync mask.
bool Decoder::warp_instruction() {
  const auto& parts = current_.parts;
  const std::string_view op = parts[0];
  const bool barrier = op == "bar" && has(parts, "warp");
  Micro micro;
  if (op == "activemask") {  // asks for nobody: no ending needed
    count(Pipe::vote);
    micro.full = micro.some = steps_.warp.active_mask;
    micro.d = destination(operand(0), LaneType::u32);
    return emit(micro), true;
  }
  if (op != "shfl" && op != "vote" && op != "match" && op != "redux" && op != "elect" && !barrier) return false;
  if (!has(parts, "sync")) return unsupported("the form without .sync ended with sm_70"), true;
  Slot mask = no_slot, predicate = no_slot;
  if (barrier) {
    count(Pipe::barrier);
    ++drafts_.back().code.warp_barriers;
    micro.full = steps_.warp.nothing;
    mask = source(operand(0), LaneType::u32);
    micro.extra = 1;
  } else {
    const PtxOperand& first = operand(0);
    const bool pair = first.kind == PtxOperandKind::pair;
    mask = warp_operands(micro, pair ? nested(first.index) : first);
    if (pair) predicate = destination(nested(first.index + 1), LaneType::pred);
  }
  if (micro.full == nullptr) return unsupported("this form is not known"), true;
  micro.some = micro.full;
  micro.list = list_of({mask, predicate});
  micro.count = 2;
  micro.writes = 2;
  op_ending(Ending::warp, micro);
  return true;
}

/// bar{.cta}.sync a{, b}; bar.arrive a, b; bar.red.op.type d, a{, b}, p; barrier.cluster.arrive and .wait.
bool Decoder::barrier_instruction() {
  const auto& parts = current_.parts;
  if (parts[0] != "bar" && parts[0] != "barrier") return false;
  count(Pipe::barrier);
  Micro micro;
  if (has(parts, "cluster")) {
    program_.uses_clusters = true;
    ++drafts_.back().code.cluster_barriers;
    micro.extra = has(parts, "arrive") ? cluster_arrive : cluster_wait;
    if (!has(parts, "aligned")) micro.extra |= barrier_unaligned;
    if (has(parts, "relaxed")) micro.extra |= barrier_relaxed;
    op_ending(Ending::cluster, micro);
    return true;
  }
  ++drafts_.back().code.block_barriers;
  program_.has_barriers = true;
  const bool reduce = has(parts, "red"), arrive = has(parts, "arrive");
  // "bar" is short for "barrier.aligned".
  if (parts[0] == "barrier" && !has(parts, "aligned")) micro.extra |= barrier_unaligned;
  std::uint32_t at = 0;
  if (reduce) {
    const bool popc = has(parts, "popc");
    micro.extra |= popc ? barrier_popc : has(parts, "and") ? barrier_and : barrier_or;
    micro.d = destination(operand(at++), popc ? LaneType::u32 : LaneType::pred);
  } else if (arrive) {
    micro.extra |= barrier_arrive;
  } else if (!has(parts, "sync")) {
    unsupported("this form is not known");
    return true;
  }
  micro.a = source(operand(at++), LaneType::u32);
  const std::uint32_t rest = operand_count() - at;
  if (rest > (reduce ? 1u : 0u)) micro.b = source(operand(at++), LaneType::u32);
  if (reduce) micro.c = source(operand(at++), LaneType::pred);
  if (arrive && micro.b == no_slot) malformed("bar.arrive needs a thread count");
  op_ending(Ending::barrier, micro);
  return true;
}

}  // namespace tailor::simulator
