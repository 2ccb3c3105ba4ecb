// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The price of a group: what fusion is decided by. In: the summary of a group, a calibrated device, a regime. Out: an
// Estimate. Called by the search for every move, so it costs a few additions, and by tables that set strategies side by
// side. docs/model.md has the formula.
//
// A group is one kernel, launched once, with as many grid barriers as its summary says. Its bytes pass once at the
// bandwidth that long streams reach, beside its instructions on their pipes. A barrier costs its two trips through L2
// and the trip to memory that refills the loads behind it; a result that is there only when all blocks are done costs
// two trips through L2 once. What a later phase reads again, values of the group and arrays from outside, stays in
// shared memory while all of it fits into that of all SMs; else it is written and read through L2 while it fits there;
// else through memory. Everything that sol counts is counted here too, no faster, so the price is never below it.
//
// Rows that are gone through again are a block's each, or those of a cluster share them, or as many of the grid as
// there are SMs for, whichever is cheapest.
//
// A reduction over windows goes through its taps: what stands before it in the group is computed for each, and what
// that reads is loaded for each, from L1 where neighbours have the same. Where a thread can make several results one
// below the other, taps count that these do not share (ir/graph/window_strips.h).
//
// An array that is turned is moved in tiles. A loop has tiles for one turn of arrays of one size: of every other turn
// each element takes a sector of its own.
//
// A scatter changes elements in L2, a sector for each that lies together. Where it is not in place it takes a launch
// more, which makes its array.
//
// Left out: how well a plan fills the machine (rows too few for all SMs, registers, waves), which the levels that see a
// plan decide; that phases may be bound by different pipes.
#include <algorithm>
#include <cmath>

#include "costmodel/model.h"
#include "costmodel/parts.h"
#include "costmodel/work.h"

namespace tailor::costmodel {

namespace {

constexpr double register_bytes = 4;

double rows_of(const GroupSummary& summary) { return summary.rows / static_cast<double>(summary.row_sums); }
bool adds_across(const GroupSummary& summary) { return summary.row_sums > 0 && summary.carried > 0; }

/// What a block adds up from row to row, elements. Each of its sums goes over as many elements of a row as it has
/// results for that row's set: a sum over all rows has no others, one over a batch has more.
double carried(const GroupSummary& summary) { return std::min(summary.carried, summary.reduced / rows_of(summary)); }

/// Sets of rows that are added up apart from one another.
double sets_of(const GroupSummary& summary) { return std::max(1.0, summary.carried / carried(summary)); }

/// Seconds that rows wait for one another where blocks add up across them. Such a block keeps what it adds up, and the
/// row at hand, in registers. So few rows are resident at once, the others follow in turns, and of each turn the trip
/// to memory and the steps of its reductions lie behind nothing.
double exposed(const GroupSummary& summary, const CalibratedDevice& device) {
  if (!adds_across(summary)) return 0;
  const double held = rows_of(summary) * carried(summary) * register_bytes + summary.read;
  const double turns = held / (device.sms * device.registers_per_sm * register_bytes);
  const double step = std::log2(device.warp_size) * (device.shuffle_latency + device.fma_latency) +
                      2 * device.shared_latency + 2 * device.barrier_latency;
  const double turn = device.dram_latency + static_cast<double>(summary.arguments - 1) * device.trip_spread +
                      static_cast<double>(summary.steps.size()) * step / device.clock;
  return std::max(0.0, turns - 1) * turn;
}

bool goes_again(const GroupSummary& summary) { return summary.row_sums > 0 && walks_again(summary) > 0; }

/// Turns in which SMs have all rows that are gone through again, one block of such a row each; below 1 some have none.
double row_turns(const GroupSummary& summary, const CalibratedDevice& device, double blocks) {
  return rows_of(summary) * blocks / device.sms;
}

/// The share of the SMs that have rows to go through again: all other rows can be shared by as many as there are.
double busy_sms(const GroupSummary& summary, const CalibratedDevice& device, double blocks) {
  return goes_again(summary) ? std::min(1.0, row_turns(summary, device, blocks)) : 1;
}

/// Seconds of a meeting of a cluster's blocks, and of blocks of the grid: what they wrote arrives in L2, their number
/// does, and each sees those of the others; then it reads the parts.
double cluster_meets(const CalibratedDevice& device) {
  return (device.cluster_latency + device.distributed_latency) / device.clock;
}
double grid_meets(const CalibratedDevice& device) {
  return 4 * device.l2_latency + 2 * device.barrier_latency / device.clock;
}

/// Bytes that are read again because a block cannot hold all of a row, and those of them that L2 does not have by then.
/// A block of such a row is so large that an SM has one.
struct Walked {
  double bytes = 0, far = 0;
};
Walked walked_again(const GroupSummary& summary, const CalibratedDevice& device, double blocks) {
  if (!goes_again(summary)) return {};
  const double row = summary.read / rows_of(summary), registers = device.registers_per_block * register_bytes;
  const double room =
      blocks * std::max(device.shared_per_block_optin, registers / 2);  // the other half is for what is at hand
  if (row <= room) return {};
  const auto times = static_cast<double>(walks_again(summary));
  const double once = summary.read * (1 - room / row), l2_room = device.l2_bytes * device.l2_share;
  const double at_hand = summary.read * std::min(1.0, 1 / row_turns(summary, device, blocks));
  // What needs all reductions and is none goes through the row the other way round.
  const auto reductions = std::count_if(summary.steps.begin(), summary.steps.end(), [](auto many) { return many > 0; });
  const double turned = times >= static_cast<double>(reductions) ? 1 : 0;
  const double missed =
      (times - turned) * miss(at_hand, l2_room, device) + turned * miss_backward(at_hand, l2_room, device);
  return {times * once, once * missed};
}

/// Seconds that going through rows again lies behind nothing: where all rows are at hand at once, memory idles while L2
/// is read again. Of several turns one hides behind another.
double passes_apart(const GroupSummary& summary, const Walked& walked, double l2, const CalibratedDevice& device,
                    double blocks) {
  if (walked.bytes == 0) return 0;
  return (walked.bytes - walked.far) / l2 / std::max(1.0, row_turns(summary, device, blocks));
}

/// Accesses of lanes that ask for rows piece by piece: once for each time that rows are gone through.
double pieces(const GroupSummary& summary) {
  double all = 0;
  for (const RowWalk& walk : summary.walks)
    if (walk.in_pieces > 0) all += walk.pieces / static_cast<double>(walk.in_pieces);
  return all;
}

/// Lane instructions that find such a piece, by its length: a quotient, a rest and what follows of them; and that ask
/// which half of several arrays has the element. Both as the machine code of kernels has them.
constexpr double find_piece = 12, find_half = 2;

/// Arrays that follow one another are asked for each time that rows are gone through.
double times_chosen(const GroupSummary& summary) { return 1 + static_cast<double>(walks_again(summary)); }

/// Lanes of a block that goes through a row, and the loads that each has on their way when they are no vectors.
constexpr double lanes_of_block = 1024, loads_of_lane = 8;

/// Seconds until all that lies in pieces has come: few rows are few blocks, which have so many loads on their way.
double pieces_come(const GroupSummary& summary, const CalibratedDevice& device, double blocks) {
  if (!goes_again(summary)) return 0;
  const double lanes = device.sms * busy_sms(summary, device, blocks) * lanes_of_block;
  const double accesses = std::max(pieces(summary), summary.chosen * times_chosen(summary));
  return accesses / (lanes * loads_of_lane) * device.dram_latency;
}

/// Seconds of the end of sums across rows. Each block writes what it added up. Of about as many families as each has
/// members, the last block adds up what its family wrote, and the last family what they did: alone, each time it has so
/// many loads on their way as its lanes can have. Blocks of a set meet apart from others; where a block has one or
/// several, nobody meets.
double end_of_sums(const GroupSummary& summary, const CalibratedDevice& device) {
  if (!adds_across(summary)) return 0;
  const double sets = sets_of(summary), blocks = std::min(rows_of(summary), device.sms);
  if (sets >= blocks) return 0;
  const double members = std::sqrt(blocks / sets), bytes = carried(summary) * register_bytes;
  const double trips = std::ceil(members * carried(summary) / (lanes_of_block * 4 * loads_of_lane));
  return 2 * blocks * bytes / l2_peak(device) +
         2 * (std::max(trips * device.l2_latency, members * bytes / (device.sm_bandwidth * device.clock)) +
              device.l2_latency);
}

/// Seconds that sums across rows take: rows that wait for one another, and the end.
struct AcrossSums {
  double exposed = 0, end = 0;
};
/// At most what it takes to go through the input once more, for the columns alone: as another body, or behind a
/// barrier.
AcrossSums across_sums(const GroupSummary& summary, const CalibratedDevice& device, double memory) {
  const AcrossSums with_rows{exposed(summary, device), end_of_sums(summary, device)};
  const double apart = summary.read / memory + 2 * device.l2_latency + device.dram_latency;
  return with_rows.exposed + with_rows.end <= apart ? with_rows : AcrossSums{0, apart};
}

/// Rows that are gone through again are shared by so many blocks; 1: they are a block's each. Seconds of each meeting.
struct Sharing {
  double blocks = 1, meets = 0;
};

ir::Estimate priced(const GroupSummary& summary, const CalibratedDevice& device, const ir::Regime& regime,
                    const Sharing& sharing) {
  const double blocks = sharing.blocks;
  ir::Estimate estimate;
  estimate.level = ir::Level::sol;
  const double bytes = summary.read + summary.written;
  const double lanes = device.sms * busy_sms(summary, device, blocks) * device.clock;
  const double memory = device.dram_bandwidth * std::min(1.0, device.dram_efficiency);
  const WarmShares warm = warm_shares(bytes, device, regime);
  const double far = bytes - warm.read * summary.read - warm.written * summary.written;
  part(estimate, ir::Part::launch) = launch_part(device, regime);
  if (summary.fills > 0)
    part(estimate, ir::Part::launch) = part(estimate, ir::Part::launch) + launch_part(device, regime);
  const Walked walked = walked_again(summary, device, blocks);
  part(estimate, ir::Part::dram) = {(far + walked.far) / memory};
  const double l2 = std::min(device.l2_bandwidth, lanes * device.sm_bandwidth);
  // What windows load for each tap comes out of L1, a number at a time.
  const double taps = std::max(summary.near / device.l1_bandwidth, summary.loads / device.lsu_rate) / lanes;
  part(estimate, ir::Part::l2) = {std::max((bytes + walked.bytes + across(summary)) / l2, taps)};
  part(estimate, ir::Part::atomic) = {summary.scattered / sector_bytes / (device.atomic_rate * device.clock)};
  part(estimate, ir::Part::fma) = {std::max(summary.fma / device.fma_rate, summary.f64 / device.f64_rate) / lanes};
  part(estimate, ir::Part::alu) = {summary.alu / device.alu_rate / lanes};
  part(estimate, ir::Part::xu) = {summary.xu / device.xu_rate / lanes};
  // Where rows are as many as SMs, some plan gives each lane elements of one array.
  const double others = busy_sms(summary, device, blocks) < 1 ? summary.others : 0;
  const double chosen = find_half * summary.choices + find_piece * others;
  const double places = find_piece * pieces(summary) + chosen * times_chosen(summary);
  part(estimate, ir::Part::issue) = {(summary.fma + summary.alu + summary.xu + summary.loads + places) /
                                     (device.issue_rate * device.warp_size) / lanes};
  const ir::Part busiest = greatest(estimate, {ir::Part::dram, ir::Part::l2, ir::Part::atomic, ir::Part::fma,
                                               ir::Part::alu, ir::Part::xu, ir::Part::issue});
  const double waits = static_cast<double>(barriers(summary));
  const double kept = summary.crossing + summary.read_again, through = 2 * summary.crossing + summary.read_again;
  double crossing = 0;
  if (waits > 0) {
    if (kept <= device.sms * device.shared_per_block_optin)
      crossing = 2 * kept / (device.sms * device.clock * device.shared_bandwidth);
    else if (kept <= device.l2_bytes * device.l2_share)
      crossing = through / l2_peak(device);
    else
      crossing = through / memory;
  }
  const bool ends_late = summary.tails > 0 || (summary.column_sums > 0 && !goes_again(summary));
  const AcrossSums sums = across_sums(summary, device, memory);
  const double tail = (ends_late ? 2 * device.l2_latency : 0) + sums.end;
  part(estimate, ir::Part::barrier) = {waits * (2 * device.l2_latency + device.dram_latency) + tail};
  part(estimate, ir::Part::shared) = {crossing};
  part(estimate,
       ir::Part::latency) = {sums.exposed + static_cast<double>(summary.steps.size()) * sharing.meets +
                             passes_apart(summary, walked, l2, device, blocks) +
                             std::max(0.0, pieces_come(summary, device, blocks) - part(estimate, busiest).value)};
  const Seconds body = part(estimate, busiest) + part(estimate, ir::Part::barrier) + part(estimate, ir::Part::shared) +
                       part(estimate, ir::Part::latency);
  estimate.bottleneck = busiest;
  for (const ir::Part other : {ir::Part::launch, ir::Part::barrier, ir::Part::shared, ir::Part::latency})
    if (part(estimate, other) > part(estimate, estimate.bottleneck)) estimate.bottleneck = other;
  close(estimate, with_floor(part(estimate, ir::Part::launch) + body, device, regime), device.sol_low, device.sol_high);
  return estimate;
}

}  // namespace

ir::Estimate group(const GroupSummary& summary, const CalibratedDevice& device, const ir::Regime& regime) {
  ir::Estimate best = priced(summary, device, regime, {});
  // Blocks that add up across rows have a row each.
  if (!goes_again(summary) || adds_across(summary)) return best;
  const auto try_it = [&](const Sharing& sharing) {
    if (sharing.blocks < 2) return;
    const ir::Estimate shared = priced(summary, device, regime, sharing);
    if (shared.total < best.total) best = shared;
  };
  try_it({device.blocks_per_cluster, cluster_meets(device)});
  try_it({std::floor(device.sms / rows_of(summary)), grid_meets(device)});
  return best;
}

}  // namespace tailor::costmodel
