// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// What is left of the budget of one graph's fusion. In: what a strategy was told it may spend, and what it spends. Out:
// whether to end now. Made by a strategy when it begins, asked by each of its loops: before every move that is priced,
// every group that is asked for its structure.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>

#include "explore/strategy.h"

namespace tailor::explore {

class Spending {
 public:
  explicit Spending(const FusionSetting& setting)
      : stop_(setting.stop), budget_(setting.budget), begin_(std::chrono::steady_clock::now()) {}

  /// Asked to stop, or the evaluations or the seconds are spent. Cheap enough for inner loops; asking the clock too.
  bool over() const {
    if (stop_.stop_requested()) return true;
    if (budget_.evaluations > 0 && evaluations >= budget_.evaluations) return true;
    return late();
  }
  /// The seconds alone. Once they are spent they stay so.
  bool late() const { return budget_.seconds > 0 && elapsed() >= budget_.seconds; }
  /// The same without a limit of evaluations: for words about edges, which price what they tell.
  Spending for_words() const {
    Spending words = *this;
    words.budget_.evaluations = 0;
    return words;
  }
  /// Seconds that are left of a limit; at least some, for 0 would mean no limit. 0 without a limit.
  double left() const { return budget_.seconds > 0 ? std::max(1e-9, budget_.seconds - elapsed()) : 0; }

  std::int64_t evaluations = 0;  ///< of the price, so far
  std::int64_t asked_nodes = 0;  ///< of merges whose structure was asked for, so far: what most of a search went into

 private:
  double elapsed() const { return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count(); }

  std::stop_token stop_;
  SearchBudget budget_;
  std::chrono::steady_clock::time_point begin_;
};

}  // namespace tailor::explore
