// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Which of a group's plans is better, and whose kernels are kept while they come. In: scored plans one by one, with
// what they lower to. Out: the order of the ranking, the best kernels, a short list of them. Called by tune.cpp and by
// packs.cpp.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "explore/plans/tune.h"

namespace tailor::explore {

/// Where a plan stands; the least is the best. Whole nanoseconds first: less than that is noise of the arithmetic, not
/// a prediction. Among equals the plan that issues fewer instructions leaves more room for what the model does not see.
/// The database ranks by the same key.
struct Place {
  double nanoseconds = 0, issue = 0;
  int from_usual = 0;
  Id plan;
  auto operator<=>(const Place&) const = default;
};
Place place_of(const Scored& one);
Place place_of(const Listed& one);

/// Fastest first.
void sort_by_place(std::vector<Scored>& ranked);

/// The best plans so far of different keys. One plan may be among the best of several orders.
template <class Order>
class Best {
 public:
  explicit Best(std::int64_t most) : most_(most) {}

  /// Whether a plan there would be taken, if its key is new.
  bool wants(const Order& place) const {
    return most_ > 0 && (static_cast<std::int64_t>(best_.size()) < most_ || place < best_.rbegin()->first);
  }

  void offer(const Order& place, Id key, const std::shared_ptr<Listed>& listed) {
    const auto [known, fresh] = places_.try_emplace(key, place);
    if (!fresh && known->second < place) return;
    if (!fresh) best_.erase(std::exchange(known->second, place));
    best_.emplace(place, std::pair(key, listed));
    if (static_cast<std::int64_t>(best_.size()) <= most_) return;
    places_.erase(best_.rbegin()->second.first);
    best_.erase(std::prev(best_.end()));
  }

  /// Best first.
  std::vector<std::shared_ptr<Listed>> take() {
    std::vector<std::shared_ptr<Listed>> list;
    for (auto& [place, entry] : best_) list.push_back(std::move(entry.second));
    return list;
  }

 private:
  std::int64_t most_;
  std::map<Order, std::pair<Id, std::shared_ptr<Listed>>> best_;
  std::map<Id, Order> places_;  ///< of the keys in best_
};

/// What is kept on the way: the best kernels, and for a short list the best shapes and the plan nearest to the usual.
class Keeping {
 public:
  Keeping(const TuneOptions& options, Id group);

  /// Whether its kernel would be kept, if it is a new one.
  bool wants(const Scored& scored) const;
  void offer(const Scored& scored, const ir::Kernel& kernel, const costmodel::Work& work);
  /// The short list in the order of the ranking, then the other kernels.
  std::vector<Listed> take();

 private:
  std::int64_t most_, short_list_;
  Id group_;
  Best<Place> kernels_, shapes_;
  Best<std::pair<int, Place>> usual_;
};

}  // namespace tailor::explore
