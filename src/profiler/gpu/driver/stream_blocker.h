// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// StreamBlocker: keeps a stream waiting on a word of the host's memory until everything that is to run back to back has
// been queued, so that the host's pace is not in the time. Used by sampling.cpp. If the host itself gets stuck while it
// queues (a driver that cannot take more while the stream waits), a second thread lets the stream go after a while, and
// the caller is told, so that the sample is dropped.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "profiler/gpu/driver/driver.h"
#include "profiler/gpu/driver/owned.h"

namespace tailor::gpu {

class StreamBlocker {
 public:
  /// `patience`: after how long the stream goes on whatever the host does.
  explicit StreamBlocker(std::chrono::milliseconds patience = std::chrono::seconds(2)) : patience_(patience) {}
  ~StreamBlocker();
  StreamBlocker(const StreamBlocker&) = delete;
  StreamBlocker& operator=(const StreamBlocker&) = delete;

  /// Finds out whether this stream can be held, by doing it; why not is in reason(). `driver` must outlive this.
  void prepare(const Driver& driver, CUstream stream);
  bool works() const { return reason_.empty(); }
  const std::string& reason() const { return reason_; }

  /// Queues the waiting; precondition: works().
  CudaStatus begin(CUstream stream);
  /// Lets the stream go. False: it had been let go before, and what was queued may have run with gaps.
  bool end();

 private:
  void watch();
  void let_go();

  std::chrono::milliseconds patience_;  ///< queueing a thousand launches takes a few
  const Driver* driver_ = nullptr;
  PinnedMemory memory_;
  CUdeviceptr address_ = 0;
  std::uint32_t turn_ = 0;  ///< of the last begin(); the stream goes on when the word reaches it
  std::string reason_ = "not prepared";
  std::mutex mutex_;
  std::condition_variable changed_;
  bool holding_ = false, stuck_ = false, ended_ = false;
  std::thread watcher_;
};

}  // namespace tailor::gpu
