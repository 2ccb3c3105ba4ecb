// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Scopes as one table with an undo list. In: a name. Out: its meaning in one or two probes, however deep the braces
// are. The end of a scope costs what was declared in it: each declaration wrote down what it hid, and that is put back.
// Called by the parser.
#include "profiler/simulator/ptx/ptx_scope.h"

#include <algorithm>

namespace tailor::simulator {

namespace {

constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// The number a name ends in, as ranges count: no leading zeros, short. nothing: a name of its own.
std::optional<std::uint64_t> number_of(std::string_view name, std::size_t& prefix) {
  prefix = name.size();
  while (prefix > 0 && is_digit(name[prefix - 1])) --prefix;
  const std::size_t digits = name.size() - prefix;
  if (digits == 0 || digits > 9 || (digits > 1 && name[prefix] == '0')) return std::nullopt;
  std::uint64_t number = 0;
  for (const char c : name.substr(prefix)) number = 10 * number + static_cast<std::uint64_t>(c - '0');
  return number;
}

}  // namespace

void PtxScopes::reset() {
  names_.clear();
  ranges_.clear();
  all_ranges_.clear();
  scopes_.clear();
  hidden_.clear();
  hidden_ranges_.clear();
  pending_.clear();
  registers_ = 0;
  open();
}

void PtxScopes::open() { scopes_.push_back({hidden_.size(), hidden_ranges_.size(), pending_.size(), {}}); }

void PtxScopes::close(PtxFunction& function) {
  Scope& scope = scopes_.back();
  std::size_t kept = scope.pending;
  for (std::size_t i = scope.pending; i < pending_.size(); ++i) {
    const PendingLabel use = pending_[i];
    const auto label = scope.labels.find(use.name);
    if (label == scope.labels.end())
      pending_[kept++] = use;
    else if (use.targets == PtxOperand::no_index)
      function.operands[use.operand].index = label->second;
    else
      function.branch_targets[use.targets].instructions[use.operand] = label->second;
  }
  pending_.resize(kept);
  for (; hidden_.size() > scope.hidden; hidden_.pop_back()) {
    const auto& [name, entry] = hidden_.back();
    if (entry.depth == 0)
      names_.erase(name);
    else
      names_[name] = entry;
  }
  for (; hidden_ranges_.size() > scope.hidden_ranges; hidden_ranges_.pop_back()) {
    const auto& [prefix, range] = hidden_ranges_.back();
    std::uint32_t& now = ranges_[prefix];
    all_ranges_[now].index = {};
    if (range == PtxOperand::no_index)
      ranges_.erase(prefix);
    else
      now = range;
  }
  scopes_.pop_back();
}

bool PtxScopes::declare(std::string_view name, Named named) {
  const auto depth = static_cast<std::uint32_t>(scopes_.size());
  const auto [place, fresh] = names_.try_emplace(name, Entry{named, depth});
  if (fresh) {
    hidden_.emplace_back(name, Entry{});
    return true;
  }
  if (place->second.depth == depth) return false;
  hidden_.emplace_back(name, place->second);
  place->second = {named, depth};
  return true;
}

bool PtxScopes::declare_range(std::string_view prefix, std::uint8_t bits, std::uint64_t count) {
  const auto depth = static_cast<std::uint32_t>(scopes_.size());
  const auto next = static_cast<std::uint32_t>(all_ranges_.size());
  const auto [place, fresh] = ranges_.try_emplace(prefix, next);
  const std::uint32_t outer = fresh ? PtxOperand::no_index : place->second;
  if (!fresh && all_ranges_[outer].depth == depth) return false;
  registers_ += count;
  hidden_ranges_.emplace_back(prefix, outer);
  place->second = next;
  all_ranges_.push_back({bits, depth, count, outer, {}});
  return true;
}

bool PtxScopes::declare_label(std::string_view name, std::uint32_t instruction) {
  return scopes_.back().labels.try_emplace(name, instruction).second;
}

PtxScopes::Range* PtxScopes::range_of(std::string_view name, std::uint64_t& number) {
  std::size_t length = 0;
  const auto found = number_of(name, length);
  if (!found) return nullptr;
  number = *found;
  const auto place = ranges_.find(name.substr(0, length));
  std::uint32_t next = place == ranges_.end() ? PtxOperand::no_index : place->second;
  while (next != PtxOperand::no_index && number >= all_ranges_[next].count) next = all_ranges_[next].outer;
  return next == PtxOperand::no_index ? nullptr : &all_ranges_[next];
}

std::optional<PtxScopes::Named> PtxScopes::find(std::string_view name, PtxFunction& function) {
  const auto own = names_.find(name);
  std::uint64_t number = 0;
  Range* const range = range_of(name, number);
  if (range == nullptr || (own != names_.end() && own->second.depth >= range->depth)) {
    if (own == names_.end()) return std::nullopt;
    return own->second.named;
  }
  if (range->index.size() <= number)
    range->index.resize(static_cast<std::size_t>(std::min(2 * number + 16, range->count)));
  std::uint32_t& index = range->index[number];
  if (index == 0) {
    function.registers.push_back({name, range->bits});
    index = static_cast<std::uint32_t>(function.registers.size());
  }
  return Named{Kind::reg, index - 1};
}

}  // namespace tailor::simulator
