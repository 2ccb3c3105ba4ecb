// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Loading when first needed, asking, forgetting. In: a sequence that can be made again, and a request
// about it. Out: the worker's response. A worker's generation tells whether what was loaded is still
// there.
#include "profiler/measure/sequence_cache.h"

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
  const std::span<const std::byte> contents = entry.what.contents ? *entry.what.contents : std::span<const std::byte>{};
  entry.load = worker_.call(gpu::LoadRequest{number, entry.what.sequence}, contents, limit_of(entry));
  entry.generation = entry.load.outcome == ir::Outcome::ok ? worker_.generation() : -1;
  return entry.load;
}

gpu::Response SequenceCache::call(int number, const gpu::Request& request) {
  Entry& entry = entries_.at(number);
  if (entry.generation != worker_.generation() || !worker_.is_running())
    if (const gpu::Response& load = loaded(number); load.outcome != ir::Outcome::ok) return load;
  return worker_.call(request, {}, limit_of(entry));
}

void SequenceCache::drop(int number) {
  Entry& entry = entries_.at(number);
  if (entry.generation == worker_.generation() && worker_.is_running())
    worker_.call(gpu::UnloadRequest{number}, {}, limit_);
  entry.generation = -1;
  entry.what = {};
}

}  // namespace tailor::profiler
