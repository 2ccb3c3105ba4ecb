// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// What was found, summed per site and fault, and as sentences. A race between resident sets is told by the later block
// of the grid, whichever the host ran first.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "profiler/simulator/shadow/shadow_resident.h"

namespace tailor::simulator {
namespace {

std::uint64_t finding_key(const ShadowFinding& finding) {
  return std::uint64_t{finding.here.site} << 2 | static_cast<std::uint64_t>(finding.fault);
}

std::string thread_of(const ShadowSide& side, int lanes) {
  return fmt::format("thread {}", side.warp * lanes + side.lane);
}

std::string describe_location(const ShadowFinding& finding, const ShadowNames& names) {
  if (finding.space == ShadowSpace::global) return names.global(finding.region, finding.offset, finding.bytes);
  return fmt::format("{}[{}..{})", finding.space == ShadowSpace::shared ? "shared" : "local", finding.offset,
                     finding.offset + finding.bytes);
}

std::string race_text(const ShadowFinding& f, const ShadowNames& names) {
  const bool other_block = f.other.block != f.here.block;
  const std::string here = thread_of(f.here, names.threads_per_warp), place = describe_location(f, names);
  std::string other = thread_of(f.other, names.threads_per_warp);
  if (other_block) other += fmt::format(" of block {}", f.other.block);
  const char* verb = f.here.write ? "writes" : "reads";
  if (f.same_instruction)
    return fmt::format("race: {} of block {} writes {} and so does {} with another value, in one instruction", here,
                       f.here.block, place, other);
  const std::string at = f.other.site == no_site ? "" : " at " + names.line(f.other.site);
  const char* why = other_block                   ? "and nothing orders the two blocks"
                    : f.other.warp == f.here.warp ? "without a warp or block barrier between"
                                                  : "without a barrier between";
  return fmt::format("race: {} of block {} {} {} that {} {}{} {}", here, f.here.block, verb, place, other,
                     f.other.write ? "wrote" : "read", at, why);
}

}  // namespace

void ResidentShadow::Body::add(const ShadowFinding& finding) {
  const auto [at, fresh] = found.try_emplace(finding_key(finding), findings.size());
  if (fresh)
    findings.push_back(finding);
  else
    findings[at->second].times += finding.times;
}

void ResidentShadow::Body::report_race(Judged& j, const ShadowPiece& piece, int cell, std::uint32_t lane,
                                       ShadowWord word, std::uint32_t other_lane, bool word_writes) {
  if ((j.faulty >> lane & 1) != 0) return;
  j.faulty |= 1u << lane;
  ShadowFinding finding;
  finding.space = j.access.space;
  finding.region = j.access.space == ShadowSpace::global ? j.access.region : -1;
  finding.offset = (std::int64_t{piece.line} * 32 + cell) << j.region.granule_shift();
  finding.bytes = 1 << j.region.granule_shift();
  finding.here = {blocks[static_cast<std::size_t>(j.block)].linear, j.access.warp % shape.warps_per_block,
                  static_cast<int>(lane), j.access.site, j.write};
  finding.same_instruction = word == 0;
  if (word == 0) {
    finding.other = finding.here;
    finding.other.lane = static_cast<int>(other_lane);
    add(finding);
    return;
  }
  const std::uint32_t site = word_site(word);
  finding.other = {-1, static_cast<int>(word_warp(word)), static_cast<int>(other_lane),
                   site > last_remembered_site ? no_site : site, word_writes};
  const std::uint32_t id = word_block(word);
  const auto resident = std::ranges::find(blocks, id, &BlockShadow::id);
  if (j.access.space == ShadowSpace::shared) {
    finding.other.block = blocks[id - 1].linear;
  } else if (resident != blocks.end()) {
    finding.other.block = resident->linear;
  } else {
    finding.other.block = std::int64_t{id} - 1;
    global.raced.store(true, std::memory_order_relaxed);
    if (finding.other.block > finding.here.block) std::swap(finding.here, finding.other);
  }
  add(finding);
}

std::vector<ShadowFinding> merged_findings(std::span<const std::vector<ShadowFinding>> parts) {
  const auto order = [](const ShadowFinding& f) {
    return std::tuple(f.here.block, f.here.site, f.fault, f.region, f.offset, f.here.warp, f.here.lane, f.here.write,
                      f.other.block, f.other.warp, f.other.lane, f.other.site, f.other.write);
  };
  std::map<std::uint64_t, ShadowFinding> sums;
  for (const std::vector<ShadowFinding>& part : parts)
    for (const ShadowFinding& finding : part) {
      const auto [at, fresh] = sums.try_emplace(finding_key(finding), finding);
      if (fresh) continue;
      const std::int64_t times = at->second.times + finding.times;
      if (order(finding) < order(at->second)) at->second = finding;
      at->second.times = times;
    }
  std::vector<ShadowFinding> merged;
  for (const auto& [key, finding] : sums) merged.push_back(finding);
  std::ranges::sort(merged, {}, order);
  return merged;
}

std::string text(const ShadowFinding& finding, const ShadowNames& names) {
  if (finding.fault == ShadowFault::race) return race_text(finding, names);
  const std::string here = thread_of(finding.here, names.threads_per_warp), place = describe_location(finding, names);
  if (finding.fault == ShadowFault::pending)
    return fmt::format("{} of block {} reads {} before the copy into it was waited for", here, finding.here.block,
                       place);
  return fmt::format("uninitialised: {} of block {} reads {}, which nobody wrote", here, finding.here.block, place);
}

}  // namespace tailor::simulator
