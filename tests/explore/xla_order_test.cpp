// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Who stands before whom while XLA's passes fuse: what the searches say that questions share, against a search of its
// own for each question. In: drawn graphs, in which fusions are made between the questions. Part of the suite
// `explore`.
#include <doctest/doctest.h>

#include <random>
#include <set>
#include <vector>

#include "explore/xla/instructions.h"
#include "support/random_graph.h"

using namespace tailor;
using explore::XlaInstructions;

namespace {

/// By users alone, without places.
bool reaches_plainly(const XlaInstructions& all, std::int32_t from, std::int32_t to) {
  std::set<std::int32_t> seen;
  std::vector<std::int32_t> pending{from};
  while (!pending.empty()) {
    const std::int32_t at = pending.back();
    pending.pop_back();
    for (const std::int32_t user : all.users_of(at)) {
      if (user == to) return true;
      if (seen.insert(user).second) pending.push_back(user);
    }
  }
  return false;
}

}  // namespace

TEST_CASE("whether one instruction reaches another is said as by a search of its own, whatever was fused between") {
  int pairs = 0, related = 0, fused = 0;
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    CAPTURE(seed);
    const ir::Graph graph = well_formed_graph(seed, 40);
    XlaInstructions all(graph, costmodel::xla::Year::y2022);
    std::mt19937_64 random(seed);
    const auto any = [&] { return static_cast<std::int32_t>(random() % static_cast<std::uint64_t>(all.size())); };
    std::int32_t fixed = 0;
    for (int round = 0; round < 60; ++round) {
      if (round % 6 == 0) fixed = any();  // asked again after what was fused since
      if (!all[fixed].alive) continue;
      std::int32_t apart = -1;
      for (int question = 0; question < 8; ++question) {
        const std::int32_t other = any();
        if (other == fixed || !all[other].alive) continue;
        const bool down = reaches_plainly(all, fixed, other), up = reaches_plainly(all, other, fixed);
        CAPTURE(fixed);
        CAPTURE(other);
        CHECK(all.are_ordered(fixed, other) == (down || up));
        CHECK(all.reaches(fixed, other) == down);
        CHECK(all.reaches(other, fixed) == up);
        ++pairs;
        related += down || up;
        if (!down && !up && all[fixed].fusible && all[other].fusible) apart = other;
      }
      if (apart < 0) continue;
      if (round % 2 == 0)
        all.fuse_siblings(fixed, apart);
      else
        all.fuse_siblings(apart, fixed);
      ++fused;
    }
  }
  MESSAGE(pairs, " pairs, ", related, " of them ordered; ", fused, " fusions between");
  CHECK(related > pairs / 20);
  CHECK(fused > 100);
}
