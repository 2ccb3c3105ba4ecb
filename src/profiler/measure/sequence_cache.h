// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Sequences on a worker's GPU, loaded when first needed and again after the worker was restarted: one candidate's crash
// must not be seen by the others. Used by measure.cpp, sampled.cpp and xla_measure.cpp. Several caches may use one
// worker: numbers of sequences are the worker's. Each request gets the worker's time limit and a share for what has to
// be copied.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "profiler/measure/worker.h"

namespace tailor::profiler {

/// A sequence with what its inputs hold; shared, as the plans of a group have the same inputs.
struct LoadableSequence {
  gpu::Sequence sequence;
  std::shared_ptr<const std::vector<std::byte>> contents;
  int arena = -1;                ///< of those that share it: a number of the worker's, see gpu::LoadRequest
  std::int64_t arena_bytes = 0;  ///< what the largest of them needs
};

class SequenceCache {
 public:
  SequenceCache(Worker& worker, Seconds limit) : worker_(worker), limit_(limit) {}
  ~SequenceCache();
  SequenceCache(const SequenceCache&) = delete;
  SequenceCache& operator=(const SequenceCache&) = delete;

  /// The number under which questions name it. Nothing is loaded yet.
  int add(LoadableSequence one);
  /// What was added under a number that was not dropped.
  const LoadableSequence& at(int number) const { return entries_.at(number).what; }
  /// Asks about a sequence, loading it before when the worker does not hold it. `request` has the number as its id.
  gpu::Response call(int number, const gpu::Request& request);
  /// Loads now; the answer of the load.
  const gpu::Response& loaded(int number);
  /// Frees its memory on the GPU and here.
  void drop(int number);
  Worker& worker() { return worker_; }

 private:
  struct Entry {
    LoadableSequence what;
    int generation = -1;  ///< of the worker that holds it
    gpu::Response load;
  };
  Seconds limit_of(const Entry& entry) const;
  bool is_filled(int arena) const;
  void forget(int arena);

  Worker& worker_;
  Seconds limit_;
  std::map<int, Entry> entries_;  ///< by number
};

}  // namespace tailor::profiler
