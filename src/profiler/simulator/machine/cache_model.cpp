// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The cache model's two halves. In: sectors that blocks touch, in the order of their accesses. Out: bytes to and from
// DRAM, per launch. What is modelled and what is left out is told in cache_model.h. Called by the machine for every
// request to global memory, and by simulate.cpp when blocks are done.
//
// The first half runs with the blocks, on any host thread. A block filters its loads through an L1 of its own where
// the model has one (a slot per sector, direct mapped, emptied by a store there); the machine asks for none today.
// What is left is written down as runs of neighbouring sectors. The second half replays the runs in the blocks' order,
// whoever finished first, so the result does not depend on host threads.
//
// L2 is judged by reuse distance. A sector remembers how much had gone to L2 when it was last used; the difference to
// now is its distance. When that exceeds the capacity, and so do the distinct sectors of the launch so far, the sector
// was evicted meanwhile: it is read again, and written out once if it was dirty. One subtraction per sector replaces a
// list of recent ones.
#include "profiler/simulator/machine/cache_model.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <map>
#include <mutex>
#include <span>

#include "base/indexed.h"
#include "profiler/simulator/machine/memory.h"
#include "profiler/simulator/machine/requests.h"

namespace tailor::simulator {

BlockTraffic::BlockTraffic(const CacheShape& shape)
    : loaded_(static_cast<std::size_t>(shape.l1_bytes / sector_bytes)) {}

void BlockTraffic::touch(std::uint64_t sector, bool read, bool write) {
  if (!runs_.empty()) {
    Run& last = runs_.back();
    if (last.first + last.count == sector && last.read == read && last.write == write) {
      ++last.count;
      return;
    }
  }
  runs_.push_back({sector, 1, read, write});
}

void BlockTraffic::request(CacheAccess access, const std::uint64_t* address, std::uint32_t lanes, int bytes) {
  std::array<std::uint64_t, 64> sectors;
  const int count = list_sectors(address, lanes, bytes, sectors.data());
  for (const std::uint64_t sector : prefix(sectors, count)) {
    std::uint64_t* slot = loaded_.empty() ? nullptr : &loaded_[sector % loaded_.size()];
    if (access == CacheAccess::load) {
      if (slot != nullptr && *slot == sector + 1) continue;
      if (slot != nullptr) *slot = sector + 1;
    } else if (slot != nullptr && *slot == sector + 1) {
      *slot = 0;
    }
    touch(sector, access != CacheAccess::store, access != CacheAccess::load);
  }
}

struct CacheModel::Body {
  /// Of one sector: 1 + sectors that had gone to L2 when it was last used, twice that plus one when it is dirty.
  using Mark = std::uint64_t;
  using Runs = std::vector<BlockTraffic::Run>;

  void replay(const Runs& runs);

  std::uint64_t base = 0, count = 0;
  CacheShape shape;
  Pages pages;  ///< the marks; zeros that take no memory until touched, however wide the range is
  std::span<Mark> marks;
  std::uint64_t now = 0;       ///< requests for sectors that went to L2
  std::uint64_t distinct = 0;  ///< sectors among them
  std::uint64_t dirty = 0;     ///< sectors in L2 that DRAM must get
  CacheTraffic sum;
  std::int64_t next = 0;
  std::map<std::int64_t, Runs> early;
  std::mutex mutex;
};

void CacheModel::Body::replay(const Runs& runs) {
  const auto capacity = static_cast<std::uint64_t>(shape.l2_bytes / sector_bytes);
  for (const BlockTraffic::Run& run : runs)
    for (std::uint64_t sector = run.first; sector < run.first + run.count; ++sector) {
      assert(sector >= base && sector - base < count);
      Mark& mark = marks[sector - base];
      const bool used = mark != 0;
      bool is_dirty = (mark & 1) != 0;
      if (!used) ++distinct;
      const bool here = used && capacity != 0 && (distinct <= capacity || now - (mark / 2 - 1) <= capacity);
      if (run.read) sum.l2_read_bytes += sector_bytes;
      if (run.write) sum.l2_write_bytes += sector_bytes;
      if (!here && is_dirty) {
        sum.dram_write_bytes += sector_bytes;
        --dirty;
        is_dirty = false;
      }
      if (!here && run.read) sum.dram_read_bytes += sector_bytes;
      if (run.write && !is_dirty) {
        ++dirty;
        is_dirty = true;
      }
      ++now;
      mark = (now + 1) * 2 + (is_dirty ? 1 : 0);
    }
}

CacheModel::CacheModel(std::uint64_t base, std::int64_t bytes, const CacheShape& shape)
    : body_(std::make_unique<Body>()) {
  body_->base = base / sector_bytes;
  body_->count = static_cast<std::uint64_t>((bytes + sector_bytes - 1) / sector_bytes);
  body_->shape = shape;
  const std::size_t count = std::max<std::size_t>(body_->count, 1);
  body_->pages = Pages(count * sizeof(Body::Mark), PageUse::sparse);
  body_->marks = {reinterpret_cast<Body::Mark*>(body_->pages.data()), count};
}

CacheModel::~CacheModel() = default;

void CacheModel::commit(std::int64_t position, BlockTraffic& traffic) {
  const std::lock_guard lock(body_->mutex);
  if (position == body_->next) {
    body_->replay(traffic.runs_);
    ++body_->next;
    while (!body_->early.empty() && body_->early.begin()->first == body_->next) {
      body_->replay(body_->early.begin()->second);
      body_->early.erase(body_->early.begin());
      ++body_->next;
    }
  } else {
    body_->early.emplace(position, std::move(traffic.runs_));
  }
  traffic.runs_.clear();
  std::ranges::fill(traffic.loaded_, 0u);
}

CacheTraffic CacheModel::total() const {
  assert(body_->early.empty());
  CacheTraffic total = body_->sum;
  total.dram_write_bytes += static_cast<std::int64_t>(body_->dirty) * sector_bytes;
  return total;
}

}  // namespace tailor::simulator
