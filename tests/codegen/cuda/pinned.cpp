// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The two countings. Over a kernel: its statements are walked, and what stands in an unrolled loop counts once for
// each trip, or for each in which a thread can pass its guards. Over PTX: every line's mnemonic is taken apart into
// kind, memory space and bytes. Both give the same keys, so that comparing is `==`. Loads of parameters are left out;
// accesses to local memory are counted, and as no statement asks for one, a spill is a difference.
#include "codegen/cuda/pinned.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <optional>
#include <vector>

#include "base/text.h"

namespace tailor::ir {

namespace {

std::string access_key(bool store, std::string_view space, bool ordered, std::int64_t bytes) {
  return fmt::format("{}.{}{} {}", store ? "st" : "ld", space, store || ordered ? "" : ".nc", bytes);
}

void count(const Kernel& kernel, const Stmt& s, InstructionCounts& counts) {
  const auto size = [](DType dtype) { return row(dtype).bits / 8; };
  switch (s.kind) {
    case StmtKind::load:
    case StmtKind::store: {
      const bool shared = is_array(s.space);
      const DType dtype = shared ? kernel.arrays[s.memory].dtype : kernel.buffers[s.memory].dtype;
      counts[access_key(s.kind == StmtKind::store, shared ? "shared" : "global", shared || s.policy != Policy::again,
                        s.width * size(dtype))] += 1;
      return;
    }
    case StmtKind::shuffle: {
      const int words = std::max(1, size(kernel.arrays[s.target.array].dtype) / 4);
      counts["shfl"] += words * std::countr_zero(static_cast<unsigned>(s.lanes));
      return;
    }
    case StmtKind::exchange:
      counts["shfl"] += std::max(1, size(kernel.lets[s.let].dtype) / 4);
      return;
    case StmtKind::barrier:
      if (is_grid_barrier(s)) {  // between two of the block one thread counts, and looks in a loop that may be turned
        counts["bar"] += 2;
        counts["atom"] += 1;
        return;
      }
      counts[s.scope == StitchLevel::warp      ? "bar.warp"
             : s.scope == StitchLevel::cluster ? "bar.cluster"
                                               : "bar"] +=
          s.scope == StitchLevel::cluster && s.half == Half::both ? 2 : 1;
      return;
    case StmtKind::atomic:
      counts["atom"] += 1;
      return;
    default:
      return;
  }
}

/// The trip of each unrolled loop that stands open.
using Trips = std::vector<std::optional<std::int64_t>>;

/// The least that an index can be in these trips; `sign` -1: the greatest, negated.
std::int64_t least(const IndexPool& pool, ExprId expr, const Trips& trips, int sign) {
  std::int64_t sum = sign * pool[expr].constant;
  for (const Linear& one : pool.linear(expr)) {
    const Term& term = pool.terms[one.term];
    const std::int64_t by = sign * one.coefficient;
    if (term.kind == TermKind::var && trips[term.var])
      sum += by * *trips[term.var];
    else
      sum += by * (by > 0 ? term.range.low : term.range.high);
  }
  return sum;
}

/// Whether no thread passes, as in later trips over a short edge.
bool is_closed(const Kernel& kernel, const Stmt& guard, const Trips& trips) {
  return std::any_of(guard.conditions.begin(), guard.conditions.end(), [&](const Condition& condition) {
    return condition.a != no_expr && !condition.equal &&
           least(kernel.indices, condition.a, trips, 1) >= -least(kernel.indices, condition.b, trips, -1);
  });
}

/// Statements [from, end), each as often as its unrolled loops have trips.
void count(const Kernel& kernel, std::size_t from, std::size_t end, Unreached unreached, Trips& trips,
           InstructionCounts& counts) {
  for (std::size_t at = from; at < end; ++at) {
    const Stmt& s = kernel.body[at];
    if (s.kind == StmtKind::loop && s.unrolled) {
      for (std::int64_t trip = 0; trip < kernel.indices.vars[s.var].extent; ++trip) {
        trips[s.var] = trip;
        count(kernel, at + 1, static_cast<std::size_t>(s.end), unreached, trips, counts);
      }
      trips[s.var].reset();
      at = static_cast<std::size_t>(s.end) - 1;
    } else if (s.kind == StmtKind::guard && unreached == Unreached::left_out && is_closed(kernel, s, trips)) {
      at = static_cast<std::size_t>(s.end) - 1;
    } else {
      count(kernel, s, counts);
    }
  }
}

/// Bytes of "v4.f32" or "u8" at the end of a mnemonic.
std::int64_t bytes_of(std::string_view mnemonic) {
  std::int64_t vector = 1, bits = 0;
  for (const std::string_view part : split(mnemonic, '.')) {
    int number = 0;
    if (part.size() < 2) continue;
    std::from_chars(part.data() + 1, part.data() + part.size(), number);
    if (part[0] == 'v') vector = number;
    bits = number;
  }
  return vector * bits / 8;
}

}  // namespace

InstructionCounts instructions_of(const Kernel& kernel, Unreached unreached) {
  InstructionCounts counts;
  for (const Kernel& one : kernels_of(kernel)) {
    Trips trips(one.indices.vars.size());
    count(one, 0, one.body.size(), unreached, trips, counts);
  }
  return counts;
}

InstructionCounts instructions_of(std::string_view ptx) {
  InstructionCounts counts;
  for (const std::string_view line : split(ptx, '\n')) {
    std::size_t start = line.find_first_not_of(" \t{");
    if (start == line.npos) continue;
    if (line[start] == '@') start = line.find_first_not_of(" \t", line.find_first_of(" \t", start));
    if (start == line.npos) continue;
    const std::string_view word = line.substr(start, line.find_first_of(" \t;", start) - start);
    const bool store = word.starts_with("st.");
    if (word.starts_with("ld.acquire."))
      continue;
    else if (word.starts_with("ld.relaxed.cta.global"))
      ++counts[access_key(false, "global", true, bytes_of(word))];
    else if (word.starts_with("ld.global") || word.starts_with("ld.shared") || word.starts_with("st.global") ||
             word.starts_with("st.shared"))
      ++counts[access_key(store, word.substr(3, 6), word.find(".nc") == word.npos, bytes_of(word))];
    else if (word.starts_with("ld.local") || word.starts_with("st.local"))
      ++counts["local"];
    else if (word.starts_with("shfl."))
      ++counts["shfl"];
    else if (word.starts_with("bar.warp"))
      ++counts["bar.warp"];
    else if (word.starts_with("bar."))
      ++counts["bar"];
    else if (word.starts_with("barrier.cluster."))
      ++counts["bar.cluster"];
    else if (word.starts_with("barrier."))
      ++counts["bar"];
    else if (word.starts_with("atom.") || word.starts_with("red."))
      ++counts["atom"];
  }
  return counts;
}

std::string text(const InstructionCounts& counts) {
  std::string out;
  for (const auto& [what, number] : counts) out += fmt::format("{}{}: {}", out.empty() ? "" : ", ", what, number);
  return out;
}

}  // namespace tailor::ir
