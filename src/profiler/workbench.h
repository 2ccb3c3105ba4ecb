// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Sequences on a worker's GPU, loaded when first needed and again after the worker was restarted: one candidate's crash
// must not be seen by the others. Several may use one
// worker: numbers of sequences are the worker's. Each question gets the worker's time limit and a share for what has to
// be copied.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "profiler/worker.h"

namespace tailor::profiler {

/// A sequence with what its inputs hold; shared, as the plans of a group have the same inputs.
struct Loadable {
  gpu::Sequence sequence;
  std::shared_ptr<const std::vector<std::byte>> contents;
};

class Workbench {
 public:
  Workbench(Worker& worker, Seconds limit) : worker_(worker), limit_(limit) {}
  ~Workbench();
  Workbench(const Workbench&) = delete;
  Workbench& operator=(const Workbench&) = delete;

  /// The number under which questions name it. Nothing is loaded yet.
  int add(Loadable one);
  /// Asks about a sequence, loading it before when the worker does not hold it. `ask` has the number as its id.
  gpu::Answer ask(int number, const gpu::Ask& ask);
  /// Loads now; the answer of the load.
  const gpu::Answer& loaded(int number);
  /// Frees its memory on the GPU and here.
  void drop(int number);
  Worker& worker() { return worker_; }

 private:
  struct Entry {
    Loadable what;
    int generation = -1;  ///< of the worker that holds it
    gpu::Answer load;
  };
  Seconds limit_of(const Entry& entry) const;

  Worker& worker_;
  Seconds limit_;
  std::map<int, Entry> entries_;  ///< by number
};

}  // namespace tailor::profiler
