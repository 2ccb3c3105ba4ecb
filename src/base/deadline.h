// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Work that is given up after so long. In: the token by which somebody may ask to stop, and a limit. Out: a token that
// asks when the other one does or when the time is up, and which of the two it was. Called around loops that know
// tokens and no clocks: the reference of a check.
#pragma once

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <stop_token>
#include <thread>

#include "base/units.h"

namespace tailor {

class Deadline {
 public:
  /// From now on. A limit that is not above zero is over at once.
  Deadline(const std::stop_token& asked, Seconds limit);
  Deadline(const Deadline&) = delete;
  Deadline& operator=(const Deadline&) = delete;

  std::stop_token token() const { return source_.get_token(); }
  /// The time was up before anybody asked to stop.
  bool is_over() const { return over_; }

 private:
  struct Ask {
    std::stop_source* source;
    void operator()() const { source->request_stop(); }
  };

  void end();

  std::stop_source source_;
  std::atomic<bool> over_ = false;
  std::mutex mutex_;
  std::condition_variable_any woken_;
  std::stop_callback<Ask> asked_;
  std::jthread timer_;  // last: it ends before what it uses
};

}  // namespace tailor
