// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Loading when first needed, asking, forgetting. In: a sequence that can be made again, and a request
// about it. Out: the worker's response. A worker's generation tells whether what was loaded is still
// there.
#include "profiler/measure/sequence_cache.h"

#include <algorithm>
#include <utility>

namespace tailor::profiler {

namespace {

/// What copying takes at worst, per byte: far slower than any bus, so that only a hang exceeds it.
constexpr double slowest_copy = 1e-8;

}  // namespace

SequenceCache::~SequenceCache() {
  for (const auto& [number, entry] : entries_) drop(number);
}

int SequenceCache::add(LoadableSequence one) {
  const int number = worker_.new_number();
  entries_[number] = {std::move(one), -1, {}};
  return number;
}

Seconds SequenceCache::limit_of(const Entry& entry) const {
  double bytes = 0;
  for (const gpu::Buffer& buffer : entry.what.sequence.buffers) bytes += static_cast<double>(buffer.bytes);
  return limit_ + Seconds{bytes * slowest_copy};
}

const gpu::Response& SequenceCache::loaded(int number) {
  Entry& entry = entries_.at(number);
  // Opening first: it may start a new worker, and the generation is that worker's.
  const gpu::Response ready = worker_.call(gpu::StateRequest{}, {}, limit_);
  if (ready.outcome != ir::Outcome::ok) {
    entry.load = ready;
    entry.generation = -1;
    return entry.load;
  }
  if (entry.generation == worker_.generation()) return entry.load;
  const bool filled = is_filled(entry.what.arena);
  std::span<const std::byte> contents;
  if (entry.what.contents && !filled) contents = *entry.what.contents;
  const gpu::LoadRequest request{number, entry.what.sequence, entry.what.arena, entry.what.arena_bytes, filled};
  entry.load = worker_.call(request, contents, limit_of(entry));
  entry.generation = entry.load.outcome == ir::Outcome::ok ? worker_.generation() : -1;
  return entry.load;
}

gpu::Response SequenceCache::call(int number, const gpu::Request& request) {
  Entry& entry = entries_.at(number);
  if (entry.generation != worker_.generation() || !worker_.is_running())
    if (const gpu::Response& load = loaded(number); load.outcome != ir::Outcome::ok) return load;
  gpu::Response response = worker_.call(request, {}, limit_of(entry));
  // Whatever it wrote to may have been the inputs of the others.
  if (response.outcome == ir::Outcome::overrun && entry.what.arena >= 0) forget(entry.what.arena);
  return response;
}

/// Whether a sequence that is loaded has put contents into an arena.
bool SequenceCache::is_filled(int arena) const {
  return arena >= 0 && std::any_of(entries_.begin(), entries_.end(), [&](const auto& one) {
           return one.second.what.arena == arena && one.second.generation == worker_.generation();
         });
}

/// Everything in an arena is loaded anew when it is next asked for.
void SequenceCache::forget(int arena) {
  for (auto& [number, entry] : entries_) {
    if (entry.what.arena != arena || entry.generation != worker_.generation()) continue;
    worker_.call(gpu::UnloadRequest{number}, {}, limit_);
    entry.generation = -1;
  }
}

void SequenceCache::drop(int number) {
  Entry& entry = entries_.at(number);
  if (entry.generation == worker_.generation() && worker_.is_running())
    worker_.call(gpu::UnloadRequest{number}, {}, limit_);
  entry.generation = -1;
  entry.what = {};
}

}  // namespace tailor::profiler
