// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// GlobalShadow and ResidentShadow from outside: made for a launch, started for a resident set, told of accesses.
// Judging an access is in shadow_access.cpp, what threads know in shadow_sync.cpp. Clocks go on from resident set to
// resident set, so the words that earlier blocks left in shared memory are old rather than wrong and need no clearing;
// only when clocks run out is all forgotten.
#include "profiler/simulator/shadow/shadow.h"

#include <algorithm>
#include <cassert>

#include "profiler/simulator/shadow/shadow_resident.h"

namespace tailor::simulator {

GlobalShadow::GlobalShadow(std::span<const ShadowBuffer> buffers, bool concurrent) : body_(std::make_unique<Body>()) {
  body_->concurrent = concurrent;
  for (const ShadowBuffer& buffer : buffers) {
    body_->buffers.emplace_back(buffer.bytes, buffer.granule, buffer.tracked, !buffer.initialised);
    body_->buffers.back().mark_written(buffer.written);
  }
}

GlobalShadow::~GlobalShadow() = default;

bool GlobalShadow::sets_raced() const { return body_->raced.load(std::memory_order_relaxed); }

std::vector<std::uint32_t> GlobalShadow::written(int buffer) const {
  return body_->buffers[static_cast<std::size_t>(buffer)].written();
}

ResidentShadow::Body::Body(GlobalShadow::Body& launch, const ResidentShape& its_shape)
    : global(launch), shape(its_shape), warps(static_cast<std::size_t>(its_shape.blocks * its_shape.warps_per_block)) {
  assert(shape.warps_per_block <= 32);
  for (int block = 0; block < shape.blocks; ++block)
    shared.emplace_back(shape.shared_bytes, shape.shared_granule, true, true);
  const auto words = static_cast<std::size_t>((shape.local_bytes_per_warp + 31) / 32);
  local.assign(warps.size(), IndexedVector<std::uint32_t>(words));
}

ResidentShadow::ResidentShadow(GlobalShadow& global, const ResidentShape& shape)
    : body_(std::make_unique<Body>(global.body(), shape)) {}

ResidentShadow::~ResidentShadow() = default;

void ResidentShadow::start(std::span<const std::int64_t> linear) {
  Body& set = *body_;
  assert(std::cmp_less_equal(linear.size(), set.shape.blocks));
  std::uint32_t latest = set.start_clock;
  for (const WarpShadow& warp : set.warps) latest = std::max(latest, warp.clock);
  const bool restart = latest > most_clock / 2 || set.shape.cluster_blocks > 1;
  set.start_clock = restart ? 0 : latest;
  for (ShadowRegion& region : set.shared) restart ? region.forget_all() : region.forget_contents();
  for (IndexedVector<std::uint32_t>& bits : set.local) std::ranges::fill(bits, 0u);
  for (WarpShadow& warp : set.warps) {
    warp.clock = set.start_clock + 1;
    warp.self_floor = 0;
    warp.more = nullptr;
    warp.lanes = nullptr;
  }
  set.blocks.assign(linear.size(), {});
  for (std::size_t i = 0; i < linear.size(); ++i) {
    set.blocks[i].linear = linear[i];
    set.blocks[i].id = static_cast<std::uint32_t>(linear[i] % most_blocks) + 1;
    set.blocks[i].floor = set.start_clock;
  }
  set.releases.clear();
}

bool ResidentShadow::load(const ShadowAccess& access) { return body_->run(access, true, false, nullptr); }

bool ResidentShadow::store(const ShadowAccess& access, const ShadowValues* values) {
  return body_->run(access, false, true, values);
}

bool ResidentShadow::atomic(const ShadowAccess& access) { return body_->run(access, true, true, nullptr); }

void ResidentShadow::pending(const ShadowAccess& access) {
  ShadowRegion& region = body_->shared[access.region];
  IndexedArray<ShadowPiece, most_pieces> pieces{};
  const int count = split_access(access, region.granule_shift(), true, pieces.data());
  for (int i = 0; i < count; ++i) {
    const ShadowPiece& piece = pieces[i];
    region.line(piece.line).pending |= piece.cells;
  }
}

void ResidentShadow::initialised(ShadowSpace space, int region, std::int64_t offset, std::int64_t bytes) {
  if (space == ShadowSpace::local) {
    IndexedVector<std::uint32_t>& bits = body_->local[region];
    for (std::int64_t at = offset; at < offset + bytes; ++at) bits[at / 32] |= 1u << at % 32;
    return;
  }
  assert(space == ShadowSpace::shared);
  ShadowRegion& memory = body_->shared[region];
  const std::int64_t granule = std::int64_t{1} << memory.granule_shift();
  for (std::int64_t at = offset / granule; at * granule < offset + bytes; ++at)
    memory.line(static_cast<std::uint32_t>(at / 32)).initialised |= 1u << at % 32;
}

const std::vector<ShadowFinding>& ResidentShadow::findings() const { return body_->findings; }

}  // namespace tailor::simulator
