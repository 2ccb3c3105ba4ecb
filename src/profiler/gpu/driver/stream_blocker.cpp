// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The word is pinned memory that the GPU sees. A turn is a number that grows; the stream waits until the word has
// reached the turn. The watching thread sleeps until something is held, and writes the word itself when the owner has
// not done so within the patience.
#include "profiler/gpu/driver/stream_blocker.h"

#include <atomic>

namespace tailor::gpu {
StreamBlocker::~StreamBlocker() {
  {
    const std::lock_guard lock(mutex_);
    ended_ = true;
  }
  changed_.notify_all();
  if (watcher_.joinable()) watcher_.join();
}

void StreamBlocker::prepare(const Driver& driver, CUstream stream) {
  driver_ = &driver;
  if (driver.cuStreamWaitValue32 == nullptr) {
    reason_ = "the driver has no cuStreamWaitValue32";
    return;
  }
  void* word = nullptr;
  if (CudaStatus status = to_status(
          driver, driver.cuMemHostAlloc(&word, sizeof(std::uint32_t), CU_MEMHOSTALLOC_DEVICEMAP), "cuMemHostAlloc");
      !status.ok()) {
    reason_ = status.reason;
    return;
  }
  memory_ = PinnedMemory(driver, word);
  *static_cast<std::uint32_t*>(word) = 0;
  const CudaStatus status =
      to_status(driver, driver.cuMemHostGetDevicePointer(&address_, word, 0), "cuMemHostGetDevicePointer");
  reason_ = status.reason;
  if (!status.ok() || !begin(stream).ok()) return;
  end();
}

CudaStatus StreamBlocker::begin(CUstream stream) {
  if (!watcher_.joinable()) watcher_ = std::thread(&StreamBlocker::watch, this);
  const std::lock_guard lock(mutex_);
  ++turn_;
  CudaStatus status = to_status(
      *driver_, driver_->cuStreamWaitValue32(stream, address_, turn_, CU_STREAM_WAIT_VALUE_GEQ), "cuStreamWaitValue32");
  if (!status.ok()) {
    reason_ = status.reason;
    return status;
  }
  holding_ = true;
  changed_.notify_all();
  return {};
}

bool StreamBlocker::end() {
  const std::lock_guard lock(mutex_);
  holding_ = false;
  let_go();
  changed_.notify_all();
  if (stuck_) reason_ = "the driver stopped taking launches while the stream waited";
  return !stuck_;
}

void StreamBlocker::let_go() {
  std::atomic_ref<std::uint32_t>(*static_cast<std::uint32_t*>(*memory_)).store(turn_, std::memory_order_release);
}

void StreamBlocker::watch() {
  std::unique_lock lock(mutex_);
  while (!ended_) {
    changed_.wait(lock, [this] { return holding_ || ended_; });
    const std::uint32_t turn = turn_;
    const bool over = changed_.wait_for(lock, patience_, [&] { return !holding_ || ended_ || turn_ != turn; });
    if (over) continue;
    stuck_ = true;
    holding_ = false;
    let_go();
  }
}

}  // namespace tailor::gpu
