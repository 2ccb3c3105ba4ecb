// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// All that the fake driver holds, and what a handle points to. One state per loaded copy of the library, behind one
// lock. Handles are checked against the registry of their kind, so a stale or foreign one is an error instead of a
// crash. Time is the fake's own: `now` is the host's, a stream's `ready` the GPU's, both in nanoseconds.
#pragma once

#include <cuda.h>

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "fake_gpu/activity.h"
#include "fake_gpu/config.h"
#include "fake_gpu/memory.h"
#include "fake_gpu/range.h"
#include "fake_gpu/script.h"
#include "fake_gpu/timing.h"
#include "profiler/simulator/machine/launch.h"

namespace tailor::fake {

/// Objects of one kind by their handle.
template <class Object>
class Registry {
 public:
  Object* add(std::shared_ptr<Object> made) {
    Object* key = made.get();
    live_[key] = std::move(made);
    return key;
  }
  std::shared_ptr<Object> find(const void* handle) const {
    const auto at = live_.find(handle);
    return at == live_.end() ? nullptr : at->second;
  }
  bool remove(const void* handle) { return live_.erase(handle) != 0; }
  void clear() { live_.clear(); }
  const auto& all() const { return live_; }

 private:
  std::map<const void*, std::shared_ptr<Object>> live_;
};

struct Context {
  int device = 0, retained = 0;
};

/// A launch whose kernel stores nothing: two that are equal count equal.
struct StorelessLaunch {
  simulator::Extent3 grid{}, block{};
  std::vector<std::vector<std::byte>> arguments;
  std::vector<int> filled_with;  ///< the byte, of each memory it was given
  bool operator==(const StorelessLaunch&) const = default;
};

/// What a launch depends on: how it was launched, and what the allocations that it touched held, as it left them.
struct RepeatedLaunch {
  simulator::Extent3 grid{}, block{}, cluster{};
  std::int64_t dynamic_shared = 0;
  bool cooperative = false;
  std::vector<std::vector<std::byte>> arguments;
  std::vector<std::pair<int, std::vector<std::byte>>> memory;
  bool settled = false;  ///< it was launched on this memory and left it as it was
};

/// An entry of a loaded module.
struct Function {
  std::shared_ptr<const simulator::PtxModule> module;
  const simulator::PtxFunction* entry = nullptr;
  std::unique_ptr<simulator::Program> program;
  int registers = 0, threads = 0;    ///< threads: most per block
  std::int64_t dynamic_allowed = 0;  ///< bytes of dynamic shared memory
  bool large_clusters = false;
  bool launched = false;
  bool reads_clock = false;
  bool storeless = false;                      ///< has no instruction that could change memory
  std::optional<StorelessLaunch> last_launch;  ///< of a storeless one
  std::optional<RepeatedLaunch> repeated;      ///< of another one
  simulator::Simulation last_ran;              ///< what one of the two did
  std::vector<bool> writes;  ///< by parameter: points to what the kernel writes; known after a first launch
};

struct Module {
  std::vector<std::shared_ptr<Function>> functions;
};

struct Event {
  unsigned flags = 0;
  std::uint64_t recorded = 0, reached = 0;  ///< numbers of records asked for and come to pass
  std::int64_t time = 0;                    ///< ns, of the last one that came to pass
  bool captured = false;
};

struct KernelWork {
  std::shared_ptr<Function> function;
  simulator::Launch launch;
  bool early = false;  ///< it may begin before the work in front of it has ended; here it begins at once behind that
};
struct FillWork {
  std::uint64_t to = 0;
  std::size_t count = 0;
  int width = 1;  ///< bytes of an element
  std::uint32_t value = 0;
};
struct CopyWork {
  std::uint64_t to = 0, from = 0;
  std::size_t bytes = 0;
};
struct RecordWork {
  std::shared_ptr<Event> event;
  std::uint64_t number = 0;
};
/// Holds the stream until the host has written.
struct WaitWork {
  const volatile std::uint32_t* where = nullptr;
  std::uint32_t value = 0;
  unsigned flags = 0;
};
struct Graph;
struct GraphWork {
  std::shared_ptr<const Graph> graph;
};
using AnyWork = std::variant<KernelWork, FillWork, CopyWork, RecordWork, WaitWork, GraphWork>;

struct Graph {
  std::vector<AnyWork> nodes;
  std::uint32_t id = 0;
};
struct GraphExec {
  std::shared_ptr<const Graph> graph;
  bool launched = false;
};

struct Queued {
  AnyWork work;
  std::uint64_t number = 0;   ///< over all streams
  std::int64_t asked_at = 0;  ///< ns of the host
};

struct Capture {
  CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_GLOBAL;
  bool broken = false;
  Graph graph;
};

struct Stream {
  unsigned flags = 0;
  std::uint32_t id = 0;
  std::deque<Queued> queue;
  std::int64_t ready = 0;
  bool hung = false;
  std::optional<Capture> capture;
};

struct State {
  explicit State(Config read);

  Config config;
  Script script;
  DeviceMemory memory;
  HostMemory host;
  Timing timing;
  Activity activity;
  RangeProfiler range;
  bool initialised = false;
  CUresult pending = CUDA_SUCCESS;  ///< what a kernel did, not told yet
  CUresult sticky = CUDA_SUCCESS;   ///< what every call tells from now on
  std::int64_t now = 1'000'000;
  std::uint64_t queued = 0;
  std::uint32_t ids = 0;
  int nvml_users = 0;
  std::vector<Context> contexts;
  Registry<Module> modules;
  Registry<Function> functions;
  Registry<Stream> streams;
  Registry<Event> events;
  Registry<Graph> graphs;
  Registry<GraphExec> graph_execs;
  std::shared_ptr<Stream> legacy;  ///< the stream that is meant by none

  void spend(double seconds) { now += static_cast<std::int64_t>(seconds * 1e9 + 0.5); }
};

/// Of this library; made at the first call.
State& state();
std::recursive_mutex& guard();
/// The context that is current on this thread; null: none.
Context*& current();

/// The stream of a handle; null when there is no such. Null and the two special handles mean the legacy stream.
std::shared_ptr<Stream> find_stream(State& gpu, CUstream handle);

/// Puts work into a stream, or into the graph that the stream is being captured into, and runs what can run.
CUresult enqueue(State& gpu, CUstream handle, AnyWork work);
/// Whether a launch has to wait before it is taken: the stream's queue is full, or code or a graph must be brought to
/// the GPU for the first time while a stream is held, which waits for it.
bool must_wait(State& gpu, CUstream handle, bool first_time);
/// Runs what can run in all streams.
void pump(State& gpu);
/// `not_yet` until the stream is empty; then what happened.
CUresult drained(State& gpu, Stream& stream);
CUresult drained_all(State& gpu);
/// What a call that must not stand in a capture gives while a stream is captured; the capture is broken by it.
CUresult unless_capturing(State& gpu);

/// Runs one piece of work at the stream's time.
void run(State& gpu, Stream& stream, const AnyWork& work, std::int64_t asked_at);

bool is_sticky(CUresult error);

}  // namespace tailor::fake
