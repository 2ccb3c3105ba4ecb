// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// What was found, summed per site and fault, and as sentences. In: findings of several resident sets. Out: one per site
// and fault, of the lowest block; and English for people. A race between resident sets is told by the later block of
// the grid, whichever the host ran first. Called by machine/simulate.cpp.
#include "profiler/simulator/shadow/shadow_finding.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

namespace tailor::simulator {
namespace {

std::string thread_of(const ShadowSide& side, int lanes) {
  return fmt::format("thread {}", side.warp * lanes + side.lane);
}

std::string describe_location(const ShadowFinding& finding, const ShadowNames& names) {
  if (finding.space == ShadowSpace::global) return names.global(finding.region, finding.offset, finding.bytes);
  if (finding.space == ShadowSpace::shared && names.shared) return names.shared(finding.offset, finding.bytes);
  return fmt::format("{}[{}..{})", finding.space == ShadowSpace::shared ? "shared" : "local", finding.offset,
                     finding.offset + finding.bytes);
}

std::string race_text(const ShadowFinding& f, const ShadowNames& names) {
  const bool other_block = f.other.block != f.here.block;
  const std::string here = thread_of(f.here, names.threads_per_warp), location = describe_location(f, names);
  std::string other = thread_of(f.other, names.threads_per_warp);
  if (other_block) other += fmt::format(" of block {}", f.other.block);
  const char* verb = f.here.write ? "writes" : "reads";
  if (f.fault == ShadowFault::stale)
    return fmt::format("race: {} of block {} reads {} as if nothing stored there (ld.global.nc), and {} did{}", here,
                       f.here.block, location, other, f.other.site == no_site ? "" : " at " + names.line(f.other.site));
  if (f.same_instruction)
    return fmt::format("race: {} of block {} writes {} and so does {} with another value, in one instruction", here,
                       f.here.block, location, other);
  const std::string at = f.other.site == no_site ? "" : " at " + names.line(f.other.site);
  const char* reason = other_block                   ? "and nothing orders the two blocks"
                       : f.other.warp == f.here.warp ? "without a warp or block barrier between"
                                                     : "without a barrier between";
  return fmt::format("race: {} of block {} {} {} that {} {}{} {}", here, f.here.block, verb, location, other,
                     f.other.write ? "wrote" : "read", at, reason);
}

}  // namespace

std::uint64_t finding_key(const ShadowFinding& finding) {
  return std::uint64_t{finding.here.site} << 2 | static_cast<std::uint64_t>(finding.fault);
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
  if (finding.fault == ShadowFault::race || finding.fault == ShadowFault::stale) return race_text(finding, names);
  const std::string here = thread_of(finding.here, names.threads_per_warp),
                    location = describe_location(finding, names);
  if (finding.fault == ShadowFault::pending)
    return fmt::format("{} of block {} reads {} before the copy into it was waited for", here, finding.here.block,
                       location);
  return fmt::format("uninitialised: {} of block {} reads {}, which nobody wrote", here, finding.here.block, location);
}

}  // namespace tailor::simulator
