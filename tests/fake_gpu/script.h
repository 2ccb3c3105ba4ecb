// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// What a test wants to go wrong: counts the calls by name and tells when one of them shall fail, hang or end the
// process. Asked by call.h before every call. Names are those of src/profiler/gpu/*/*.def ("cuMemAlloc"), whatever
// suffix the exported symbol has.
#pragma once

#include <fstream>
#include <map>
#include <string>
#include <string_view>

#include "fake_gpu/config.h"

namespace tailor::fake {

class Script {
 public:
  explicit Script(const Config& config);

  /// A call came in. Returns the error it shall give (0: none); aborts, exits, hangs or waits where the script says so.
  int arrive(std::string_view call);
  /// Whether to hang at this call; asked after arrive, without the lock.
  static void hang_for_ever();
  bool hangs() const { return hangs_; }
  double waits() const { return waits_; }

 private:
  bool applies(const Failure& one, std::int64_t count, std::size_t row);
  void act(const Failure& one);

  const Config& config_;
  std::map<std::string, std::int64_t, std::less<>> counts_;
  std::map<std::size_t, bool> claimed_;
  std::ofstream log_;
  bool hangs_ = false;
  double waits_ = 0;
};

}  // namespace tailor::fake
