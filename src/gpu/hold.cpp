// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The word is pinned memory that the GPU sees; a turn is a number, the stream waits until the word has reached it.
#include "gpu/hold.h"

#include <atomic>

namespace tailor::gpu {
Hold::~Hold() {
  {
    const std::lock_guard lock(mutex_);
    ended_ = true;
  }
  changed_.notify_all();
  if (watcher_.joinable()) watcher_.join();
}

void Hold::prepare(const Driver& driver, CUstream stream) {
  driver_ = &driver;
  if (driver.cuStreamWaitValue32 == nullptr) {
    why_ = "the driver has no cuStreamWaitValue32";
    return;
  }
  void* word = nullptr;
  if (Trouble trouble = told(driver, driver.cuMemHostAlloc(&word, sizeof(std::uint32_t), CU_MEMHOSTALLOC_DEVICEMAP),
                             "cuMemHostAlloc")) {
    why_ = trouble.reason;
    return;
  }
  memory_ = PinnedMemory(driver, word);
  *static_cast<std::uint32_t*>(word) = 0;
  const Trouble trouble =
      told(driver, driver.cuMemHostGetDevicePointer(&address_, word, 0), "cuMemHostGetDevicePointer");
  why_ = trouble.reason;
  if (trouble || begin(stream)) return;
  end();
}

Trouble Hold::begin(CUstream stream) {
  if (!watcher_.joinable()) watcher_ = std::thread(&Hold::watch, this);
  const std::lock_guard lock(mutex_);
  ++turn_;
  Trouble trouble = told(*driver_, driver_->cuStreamWaitValue32(stream, address_, turn_, CU_STREAM_WAIT_VALUE_GEQ),
                         "cuStreamWaitValue32");
  if (trouble) {
    why_ = trouble.reason;
    return trouble;
  }
  holding_ = true;
  changed_.notify_all();
  return {};
}

bool Hold::end() {
  const std::lock_guard lock(mutex_);
  holding_ = false;
  let_go();
  changed_.notify_all();
  if (stuck_) why_ = "the driver stopped taking launches while the stream waited";
  return !stuck_;
}

void Hold::let_go() {
  std::atomic_ref<std::uint32_t>(*static_cast<std::uint32_t*>(*memory_)).store(turn_, std::memory_order_release);
}

void Hold::watch() {
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
