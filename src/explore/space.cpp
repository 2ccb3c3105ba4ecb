// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Enumeration of plans.
#include "explore/space.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "base/error.h"
#include "base/text.h"

namespace tailor::explore {

namespace {

using ir::Plan;

/// One row per axis: how many values, and how the chosen one enters the plan.
struct AxisRow {
  std::string_view name;
  bool row_only;
  std::size_t (*size)(const Axes&);
  void (*apply)(const Axes&, std::size_t, Plan&);
  /// Reads one value from text; false when it does not fit. The first call of a limit clears the axis.
  bool (*add)(Axes&, std::string_view, bool first);
};

template <class T>
void append(std::vector<T>& list, T value, bool first) {
  if (first) list.clear();
  list.push_back(value);
}

bool add_number(std::vector<int>& list, std::string_view word, bool first) {
  int value = 0;
  const auto [end, fault] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (fault != std::errc{} || end != word.data() + word.size() || value < 1) return false;
  append(list, value, first);
  return true;
}

bool add_switch(std::vector<bool>& list, std::string_view word, bool first) {
  if (word != "on" && word != "off") return false;
  if (first) list.clear();
  list.push_back(word == "on");
  return true;
}

template <class T>
bool add_name(std::vector<T>& list, std::string_view word, std::initializer_list<T> known, bool first) {
  for (const T value : known)
    if (name(value) == word) {
      append(list, value, first);
      return true;
    }
  return false;
}

bool add_dominant(Axes& axes, std::string_view word, bool first) {
  int node = 0;
  if (word.empty() || word[0] != '%') return false;
  const auto [end, fault] = std::from_chars(word.data() + 1, word.data() + word.size(), node);
  if (fault != std::errc{} || end != word.data() + word.size()) return false;
  append(axes.dominant, node, first);
  return true;
}

constexpr std::array axis_table = std::to_array<AxisRow>({
    {"dominant", false, [](const Axes& a) { return a.dominant.size(); },
     [](const Axes& a, std::size_t i, Plan& p) { p.dominant = a.dominant[i]; }, add_dominant},
    {"threads", false, [](const Axes& a) { return a.threads.size(); },
     [](const Axes& a, std::size_t i, Plan& p) { p.threads = a.threads[i]; },
     [](Axes& a, std::string_view w, bool first) { return add_number(a.threads, w, first); }},
    {"threads_per_row", true, [](const Axes& a) { return a.threads_per_row.size(); },
     [](const Axes& a, std::size_t i, Plan& p) { p.threads_per_row = a.threads_per_row[i]; },
     [](Axes& a, std::string_view w, bool first) { return add_number(a.threads_per_row, w, first); }},
    {"vector", false, [](const Axes& a) { return a.vector.size(); },
     [](const Axes& a, std::size_t i, Plan& p) { p.vector = a.vector[i]; },
     [](Axes& a, std::string_view w, bool first) { return add_number(a.vector, w, first); }},
    {"residence", true, [](const Axes& a) { return a.residence.size(); },
     [](const Axes& a, std::size_t i, Plan& p) { p.residence = a.residence[i]; },
     [](Axes& a, std::string_view w, bool first) {
       using enum ir::Residence;
       return add_name(a.residence, w, {registers, shared, reload, recompute}, first);
     }},
    {"grid", false, [](const Axes& a) { return a.grid.size(); },
     [](const Axes& a, std::size_t i, Plan& p) { p.grid = a.grid[i]; },
     [](Axes& a, std::string_view w, bool first) {
       using enum ir::GridShape;
       return add_name(a.grid, w, {tile, persistent}, first);
     }},
    {"index_cache", false, [](const Axes& a) { return a.index_cache.size(); },
     [](const Axes& a, std::size_t i, Plan& p) { p.index_cache = a.index_cache[i]; },
     [](Axes& a, std::string_view w, bool first) { return add_switch(a.index_cache, w, first); }},
    {"value_cache", false, [](const Axes& a) { return a.value_cache.size(); },
     [](const Axes& a, std::size_t i, Plan& p) { p.value_cache = a.value_cache[i]; },
     [](Axes& a, std::string_view w, bool first) { return add_switch(a.value_cache, w, first); }},
    {"in_flight", false, [](const Axes& a) { return a.in_flight.size(); },
     [](const Axes& a, std::size_t i, Plan& p) { p.in_flight = a.in_flight[i]; },
     [](Axes& a, std::string_view w, bool first) { return add_number(a.in_flight, w, first); }},
});

std::vector<int> powers_of_two(int from, int to) {
  std::vector<int> values;
  for (int value = from; value <= to; value *= 2) values.push_back(value);
  return values;
}

}  // namespace

std::vector<std::string_view> axis_names() {
  std::vector<std::string_view> names;
  for (const AxisRow& axis : axis_table) names.push_back(axis.name);
  return names;
}

Axes default_axes(const codegen::Prepared& prepared, const ir::Limits& limits) {
  Axes axes;
  axes.dominant = prepared.dominants;
  axes.threads = powers_of_two(2 * limits.warp_size, limits.threads_per_block);
  axes.threads_per_row = powers_of_two(1, limits.threads_per_block);
  axes.vector = powers_of_two(1, prepared.widest_vector);
  axes.in_flight = powers_of_two(1, 8);
  using enum ir::Residence;
  axes.residence = {registers};
  if (prepared.phases.size() > 1) axes.residence = {registers, shared, reload, recompute};
  axes.grid = {ir::GridShape::tile, ir::GridShape::persistent};
  axes.index_cache = {true};
  axes.value_cache = {true};
  return axes;
}

void restrict_axis(Axes& axes, const AxisLimit& limit) {
  const auto names = axis_names();
  for (const AxisRow& axis : axis_table) {
    if (axis.name != limit.axis) continue;
    bool first = true;
    for (const std::string& value : limit.values)
      if (!axis.add(axes, value, std::exchange(first, false)))
        throw Error(Fault::usage, fmt::format("axis {}: found '{}', which is no value of it", limit.axis, value),
                    "values are written as in a plan's text: tailor list axes");
    return;
  }
  throw Error(Fault::usage, fmt::format("found axis '{}', expected an axis of the plan space", limit.axis),
              suggestion(limit.axis, names));
}

Plans::Plans(const codegen::Prepared& prepared, const Axes& axes, const ir::Limits& limits)
    : prepared_(&prepared), axes_(&axes), limits_(&limits) {
  for (const AxisRow& axis : axis_table) {
    const bool used = !axis.row_only || prepared.skeleton == ir::Skeleton::row;
    sizes_.push_back(used ? axis.size(axes) : 1);
    done_ = done_ || sizes_.back() == 0;
  }
  cursor_.assign(sizes_.size(), 0);
}

std::int64_t Plans::size() const {
  std::int64_t product = 1;
  for (const std::size_t size : sizes_) product *= static_cast<std::int64_t>(size);
  return product;
}

bool Plans::advance() {
  for (std::size_t i = cursor_.size(); i-- > 0;) {
    if (++cursor_[i] < sizes_[i]) return true;
    cursor_[i] = 0;
  }
  return false;
}

Plan Plans::at_cursor() const {
  Plan plan;
  plan.skeleton = prepared_->skeleton;
  const bool rows = plan.skeleton == ir::Skeleton::row;
  for (std::size_t i = 0; i < axis_table.size(); ++i)
    if (!axis_table[i].row_only || rows) axis_table[i].apply(*axes_, cursor_[i], plan);
  // Half the threads an SM holds: enough to cover latency, and room for the registers the kernel will really need.
  if (plan.grid == ir::GridShape::persistent)
    plan.blocks_per_sm = std::clamp(limits_->threads_per_sm / 2 / plan.threads, 1, limits_->blocks_per_sm);
  if (rows) plan.sub_roots = codegen::sub_roots(*prepared_, plan.threads_per_row, limits_->warp_size);
  return plan;
}

std::optional<Plan> Plans::next() {
  while (!done_) {
    Plan plan = at_cursor();
    done_ = !advance();
    if (plan.skeleton == ir::Skeleton::row && plan.threads_per_row > plan.threads) continue;
    return plan;
  }
  return std::nullopt;
}

}  // namespace tailor::explore
