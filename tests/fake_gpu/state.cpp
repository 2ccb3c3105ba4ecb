// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The state's beginning: configuration read, a device made, nothing allocated; and the lock and the
// wait that the frame of every call uses (call.h). There is one state for each loaded copy of the
// library.
#include "fake_gpu/state.h"

#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <cstdio>

#include "fake_gpu/call.h"

namespace tailor::fake {
namespace {

/// The folder of this shared object.
std::filesystem::path own_folder() {
  Dl_info place = {};
  if (dladdr(reinterpret_cast<void*>(&own_folder), &place) == 0 || place.dli_fname == nullptr) return ".";
  const std::filesystem::path file = place.dli_fname;
  return file.has_parent_path() ? file.parent_path() : std::filesystem::path(".");
}

struct Arrival {
  int error = 0;
  bool hangs = false;
  double waits = 0;
};

Arrival arrive(std::string_view name) {
  const std::lock_guard lock(guard());
  State& gpu = state();
  gpu.spend(gpu.config.chip.call_time);
  Arrival made;
  made.error = gpu.script.arrive(name);
  made.hangs = gpu.script.hangs();
  made.waits = gpu.script.waits();
  return made;
}

void wait_out(const Arrival& arrival) {
  if (arrival.hangs) Script::hang_for_ever();
  if (arrival.waits > 0) std::this_thread::sleep_for(std::chrono::duration<double>(arrival.waits));
}

bool is_live(const State& gpu, const Context* context) {
  return std::any_of(gpu.contexts.begin(), gpu.contexts.end(),
                     [&](const Context& one) { return &one == context && one.retained > 0; });
}

}  // namespace

State::State(Config read) : config(std::move(read)), script(config), timing(config), activity(config), range(config) {
  legacy = std::make_shared<Stream>();
  legacy->id = ++ids;
  for (int k = 0; k < config.chip.count; ++k) contexts.push_back({k, 0});
}

// Neither ends before the process does: somebody may call while it ends.
State& state() {
  static State& made = *new State(config_in(own_folder()));
  return made;
}

std::recursive_mutex& guard() {
  static std::recursive_mutex& made = *new std::recursive_mutex;
  return made;
}

Context*& current() {
  static thread_local Context* context = nullptr;
  return context;
}

bool is_sticky(CUresult error) {
  constexpr std::array all = {
      CUDA_ERROR_ILLEGAL_ADDRESS,       CUDA_ERROR_LAUNCH_TIMEOUT,      CUDA_ERROR_ASSERT,
      CUDA_ERROR_HARDWARE_STACK_ERROR,  CUDA_ERROR_ILLEGAL_INSTRUCTION, CUDA_ERROR_MISALIGNED_ADDRESS,
      CUDA_ERROR_INVALID_ADDRESS_SPACE, CUDA_ERROR_INVALID_PC,          CUDA_ERROR_LAUNCH_FAILED,
      CUDA_ERROR_ECC_UNCORRECTABLE};
  return std::find(all.begin(), all.end(), error) != all.end();
}

CUresult before_call(std::string_view name, Needs needs) {
  const Arrival arrival = arrive(name);
  wait_out(arrival);
  const std::lock_guard lock(guard());
  State& gpu = state();
  const auto scripted = static_cast<CUresult>(arrival.error);
  if (is_sticky(scripted)) gpu.sticky = scripted;
  if (scripted != CUDA_SUCCESS || needs == Needs::nothing) return scripted;
  if (!gpu.initialised) return CUDA_ERROR_NOT_INITIALIZED;
  if (needs == Needs::init) return CUDA_SUCCESS;
  if (current() == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
  if (!is_live(gpu, current())) return CUDA_ERROR_CONTEXT_IS_DESTROYED;
  return gpu.sticky;
}

int before_other_call(std::string_view name) {
  const Arrival arrival = arrive(name);
  wait_out(arrival);
  return arrival.error;
}

void tell(std::string_view name, std::string_view what) {
  std::fprintf(stderr, "fake GPU: %.*s: %.*s\n", static_cast<int>(name.size()), name.data(),
               static_cast<int>(what.size()), what.data());
}

}  // namespace tailor::fake
