// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Instructions that need other lanes, other warps or other blocks: they end their code block, because the lanes may
// have to wait there.
#include "simulator/decode.h"
#include "simulator/handlers.h"

namespace tailor::simulator {
namespace {

/// The value or predicate results of "d" or "d|p".
struct Results {
  const PtxOperand* value = nullptr;
  const PtxOperand* predicate = nullptr;
};

bool has(const std::vector<std::string_view>& parts, std::string_view part) {
  for (const std::string_view one : parts)
    if (one == part) return true;
  return false;
}

}  // namespace

/// shfl.sync.mode.b32 d|p, a, b, c, mask; vote.sync.mode.pred|b32 d, a, mask; match.mode.sync.type d|p, a, mask;
/// redux.sync.op.type d, a, mask; elect.sync d|p, mask; activemask.b32 d; bar.warp.sync mask.
bool Decoder::warp_instruction() {
  const auto& parts = current_.parts;
  const std::string_view op = parts[0];
  const bool barrier = op == "bar" && has(parts, "warp");
  if (op != "shfl" && op != "vote" && op != "match" && op != "redux" && op != "elect" && op != "activemask" && !barrier)
    return false;
  const auto refuse = [&](const char* why) {
    unsupported(why);
    return true;
  };
  if (op != "activemask" && !has(parts, "sync")) return refuse("the form without .sync ended with sm_70");
  Results to;
  if (!barrier) {
    const PtxOperand& first = operand(0);
    const bool pair = first.kind == PtxOperandKind::pair;
    to.value = pair ? &nested(first.index) : &first;
    if (pair) to.predicate = &nested(first.index + 1);
  }
  Micro micro;
  Slot mask = no_slot, predicate = no_slot;
  if (op == "shfl") {
    count(Pipe::shuffle);
    micro.full = shuffle_step(parts.size() > 2 ? parts[2] : "");
    micro.a = source(operand(1), LaneType::u32);
    micro.b = source(operand(2), LaneType::u32);
    micro.c = source(operand(3), LaneType::u32);
    mask = source(operand(4), LaneType::u32);
    micro.d = destination(*to.value, LaneType::u32);
  } else if (op == "vote") {
    count(Pipe::vote);
    const std::string_view mode = parts.size() > 2 ? parts[2] : "";
    micro.full = vote_step(mode);
    micro.a = source(operand(1), LaneType::pred);
    mask = source(operand(2), LaneType::u32);
    micro.d = destination(*to.value, mode == "ballot" ? LaneType::u32 : LaneType::pred);
  } else if (op == "match") {
    count(Pipe::vote);
    const bool wide = parts.back() == "b64";
    micro.full = match_step(parts.size() > 1 ? parts[1] : "", wide ? 64 : 32);
    micro.a = source(operand(1), wide ? LaneType::u64 : LaneType::u32);
    mask = source(operand(2), LaneType::u32);
    micro.d = destination(*to.value, LaneType::u32);
  } else if (op == "redux") {
    count(Pipe::vote);
    micro.full = parts.size() == 4 ? redux_step(parts[2], parts[3]) : nullptr;
    micro.a = source(operand(1), LaneType::u32);
    mask = source(operand(2), LaneType::u32);
    micro.d = destination(*to.value, LaneType::u32);
  } else if (op == "elect") {
    count(Pipe::vote);
    micro.full = elect_step();
    mask = source(operand(1), LaneType::u32);
    micro.d = destination(*to.value, LaneType::u32);
  } else if (op == "activemask") {
    count(Pipe::vote);
    micro.full = active_mask_step();
    micro.d = destination(*to.value, LaneType::u32);
    micro.some = micro.full;
    emit(micro);  // asks for nobody: no ending needed
    return true;
  } else {
    count(Pipe::barrier);
    ++drafts_.back().code.warp_barriers;
    micro.full = nothing_step();
    mask = source(operand(0), LaneType::u32);
  }
  if (micro.full == nullptr) return refuse("this form is not known");
  micro.some = micro.full;
  if (to.predicate != nullptr) predicate = destination(*to.predicate, LaneType::pred);
  micro.list = list_of({mask, predicate});
  micro.count = 2;
  micro.writes = 2;
  micro.extra = barrier;
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
    body_.uses_clusters = true;
    ++drafts_.back().code.cluster_barriers;
    micro.extra = has(parts, "arrive") ? cluster_arrive : cluster_wait;
    if (!has(parts, "aligned")) micro.extra |= barrier_unaligned;
    if (has(parts, "relaxed")) micro.extra |= barrier_relaxed;
    op_ending(Ending::cluster, micro);
    return true;
  }
  ++drafts_.back().code.block_barriers;
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
