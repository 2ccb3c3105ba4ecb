// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Asynchronous copies (cp.async, cp.async.bulk) and mbarriers. In: an instruction of the walk (decode.cpp). Out: one
// micro-operation, whose `list` holds what the four plain operands do not. Addresses of shared memory may be 32 or 64
// bits wide in PTX; here they are made 64 bits. A wait that may fail ends its block, because another warp may have to
// run first.
#include <algorithm>

#include "profiler/simulator/decode/decoder.h"

namespace tailor::simulator {
namespace {

bool has_prefix(const std::vector<std::string_view>& parts, std::string_view prefix) {
  return std::any_of(parts.begin(), parts.end(), [&](std::string_view one) { return one.starts_with(prefix); });
}

}  // namespace

/// The address as a 64-bit slot with its offset added.
Slot Decoder::whole_address(const PtxOperand& operand) {
  const Address at = address_of(operand);
  Slot slot = at.slot;
  if (!at.wide) {
    slot = temporary(64);
    emit_row("cvt.u64.u32", slot, at.slot);
  }
  if (at.offset == 0) return slot;
  const Slot sum = temporary(64);
  emit_row("add.s64", sum, slot, bits_constant(static_cast<std::uint64_t>(at.offset), 64));
  return sum;
}

bool Decoder::async_instruction() {
  const auto& parts = current_.parts;
  if (parts[0] == "mbarrier") return mbarrier_instruction(), true;
  if (parts[0] != "cp" || parts.size() < 3 || parts[1] != "async") return false;
  const bool bulk = parts[2] == "bulk";
  program_.uses_async = true;
  Micro micro;
  const auto finish = [&](Step step) {
    micro.full = micro.some = step;
    emit(micro);
    return true;
  };
  if (has(parts, "commit_group")) {
    count(Pipe::control);
    micro.extra = bulk;
    return finish(steps_.async.commit_group);
  }
  if (has(parts, "wait_group") || has(parts, "wait_all")) {
    count(Pipe::control);
    micro.extra = bulk;
    micro.immediate = -1;
    if (has(parts, "wait_group")) {
      if (operand(0).kind != PtxOperandKind::immediate) malformed("the number of groups must be a constant");
      micro.immediate = operand(0).value;
    }
    return finish(steps_.async.wait_group);
  }
  if (parts[2] == "mbarrier") {
    count(Pipe::memory);
    micro.a = whole_address(operand(0));
    micro.extra = arrive_counts | arrive_copies | arrive_releases | (has(parts, "noinc") ? arrive_no_increment : 0) |
                  (has_prefix(parts, "shared") ? 0 : arrive_wide);
    return finish(steps_.async.mbarrier_arrive);
  }
  count(Pipe::memory);
  ++drafts_.back().code.async_copies;
  if (bulk) {
    bulk_copy();
  } else {
    thread_copy();
  }
  return true;
}

/// cp.async: a thread copies 4, 8 or 16 bytes.
void Decoder::thread_copy() {
  const auto& parts = current_.parts;
  Micro micro;
  if (!has_prefix(parts, "shared") || !has(parts, "global")) return unsupported("these spaces");
  if (operand_count() < 3 || operand(2).kind != PtxOperandKind::immediate) malformed("the size must be a constant");
  micro.a = whole_address(operand(0));
  micro.b = whole_address(operand(1));
  micro.immediate = operand(2).value;
  if (micro.immediate != 4 && micro.immediate != 8 && micro.immediate != 16) malformed("the size must be 4, 8 or 16");
  micro.extra = static_cast<std::uint32_t>(micro.immediate) << access_bytes_shift | memory_site(SiteKind::load)
                                                                                        << access_site_shift;
  const bool policy = has(parts, "L2::cache_hint");
  if (operand_count() > 3u + policy) {
    if (operand(3).kind == PtxOperandKind::reg && register_bits(operand(3)) == 1) return unsupported("ignore-src");
    micro.c = source(operand(3), LaneType::u32);
  }
  micro.full = micro.some = steps_.async.copy;
  emit(micro);
}

/// cp.async.bulk between global and shared memory, or shared memories of a cluster.
void Decoder::bulk_copy() {
  const auto& parts = current_.parts;
  Micro micro;
  if (has(parts, "tensor") || has(parts, "prefetch") || has_prefix(parts, "cp_mask"))
    return unsupported("tensor maps and prefetches");
  const bool to_shared = parts.size() > 3 && parts[3].starts_with("shared");
  const bool from_shared = parts.size() > 4 && parts[4].starts_with("shared");
  if (!to_shared && !from_shared) return unsupported("these spaces");
  if (has(parts, "multicast::cluster")) program_.uses_clusters = true;
  micro.a = whole_address(operand(0));
  micro.b = whole_address(operand(1));
  micro.c = source(operand(2), LaneType::u32);
  micro.extra = (to_shared ? bulk_to_shared_bit : 0) | (from_shared ? bulk_from_shared_bit : 0) |
                (has(parts, "multicast::cluster") ? bulk_multicast_bit : 0) |
                memory_site(to_shared ? SiteKind::load : SiteKind::store) << access_site_shift;
  std::vector<Slot> more;
  if (to_shared) more.push_back(whole_address(operand(3)));
  if (has(parts, "multicast::cluster")) more.push_back(source(operand(4), LaneType::u16));
  micro.list = list_of(more);
  micro.count = static_cast<std::uint8_t>(more.size());
  micro.full = micro.some = steps_.async.bulk_copy;
  emit(micro);
}

/// mbarrier.init, .inval, .arrive and its kin, .expect_tx, .complete_tx, .test_wait, .try_wait, .pending_count.
void Decoder::mbarrier_instruction() {
  const auto& parts = current_.parts;
  const std::string_view what = parts.size() > 1 ? parts[1] : "";
  count(Pipe::memory);
  program_.uses_async = program_.may_spin = true;
  const bool generic = !has_prefix(parts, "shared");
  Micro micro;
  const auto finish = [&](Step step) {
    micro.full = micro.some = step;
    emit(micro);
  };
  if (what == "pending_count") {
    micro.a = source(operand(1), LaneType::u64);
    micro.d = destination(operand(0), LaneType::u32);
    return finish(steps_.async.mbarrier_pending);
  }
  if (what == "init" || what == "inval") {
    micro.a = whole_address(operand(0));
    micro.extra = generic;
    if (what == "inval") return finish(steps_.async.mbarrier_invalidate);
    micro.b = source(operand(1), LaneType::u32);
    return finish(steps_.async.mbarrier_init);
  }
  if (what == "arrive" || what == "arrive_drop") {
    const bool expects = has(parts, "expect_tx");
    micro.a = whole_address(operand(1));
    micro.extra = arrive_counts | (what == "arrive_drop" ? arrive_drops : 0) | (expects ? arrive_expects : 0) |
                  (generic ? arrive_wide : 0) | (has(parts, "relaxed") ? 0 : arrive_releases) |
                  (has(parts, "cta") ? arrive_of_block : 0);
    if (operand_count() > 2) micro.b = source(operand(2), LaneType::u32);
    if (operand(0).kind != PtxOperandKind::discard) micro.d = destination(operand(0), LaneType::u64);
    return finish(steps_.async.mbarrier_arrive);
  }
  if (what == "expect_tx" || what == "complete_tx") {
    micro.a = whole_address(operand(0));
    micro.b = source(operand(1), LaneType::u32);
    micro.extra = (what == "expect_tx" ? arrive_expects : arrive_completes) | (generic ? arrive_wide : 0);
    return finish(steps_.async.mbarrier_arrive);
  }
  if (what == "test_wait" || what == "try_wait") {
    const bool parity = has(parts, "parity");
    micro.a = whole_address(operand(1));
    micro.b = source(operand(2), parity ? LaneType::u32 : LaneType::u64);
    micro.d = destination(operand(0), LaneType::pred);
    micro.extra = (parity ? wait_parity : 0) | (generic ? wait_wide : 0) | (has(parts, "relaxed") ? 0 : wait_acquires) |
                  (has(parts, "cta") ? wait_of_block : 0);
    micro.full = micro.some = steps_.async.mbarrier_wait;
    if (what == "test_wait") return emit(micro);
    return op_ending(Ending::pause, micro);  // the thread may be suspended here
  }
  unsupported("this form is not known");
}

}  // namespace tailor::simulator
