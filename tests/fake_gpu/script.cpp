// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Counting calls and finding the row of the script that is due. What only the first
// process shall do is claimed by making a file; who finds it there goes on as if nothing
// was asked.
#include "fake_gpu/script.h"

#include <fcntl.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <thread>

namespace tailor::fake {

Script::Script(const Config& config) : config_(config) {
  if (config.log) log_.open(config.folder / "calls.txt", std::ios::app);
}

bool Script::applies(const Failure& one, std::int64_t count, std::size_t row) {
  if (one.nth != 0 && (count < one.nth || count >= one.nth + one.times)) return false;
  if (!one.once) return true;
  const auto known = claimed_.find(row);
  if (known != claimed_.end()) return known->second;
  const auto mark = config_.folder / ("fake_gpu.once." + std::to_string(row));
  const int made = open(mark.c_str(), O_CREAT | O_EXCL | O_WRONLY, 0644);
  if (made >= 0) close(made);
  return claimed_[row] = made >= 0;
}

void Script::act(const Failure& one) {
  if (one.act == "abort") std::abort();
  if (one.act == "exit") _exit(one.error);
  if (one.act == "fault") {
    std::signal(SIGSEGV, SIG_DFL);
    std::raise(SIGSEGV);
  }
  hangs_ = one.act == "hang";
  if (one.act == "slow") waits_ += one.seconds;
}

int Script::arrive(std::string_view call) {
  if (log_.is_open()) log_ << call << '\n' << std::flush;
  hangs_ = false;
  waits_ = 0;
  auto at = counts_.find(call);
  if (at == counts_.end()) at = counts_.emplace(std::string(call), 0).first;
  const std::int64_t count = ++at->second;
  for (std::size_t row = 0; row < config_.failures.size(); ++row) {
    const Failure& one = config_.failures[row];
    if (one.call != call || !applies(one, count, row)) continue;
    if (one.act == "fail") return one.error;
    act(one);
  }
  return 0;
}

void Script::hang_for_ever() {
  for (;;) std::this_thread::sleep_for(std::chrono::seconds(1));
}

}  // namespace tailor::fake
