// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The merger of fusions of 2020 and 2022. In: instructions as they stand. Out: the same after fusions of loops went
// into all their users. Called by the pipelines of those years (era.cpp).
//
// By service/gpu/fusion_merger.cc: a fusion goes into all users or none. It must not raise the bytes that it and its
// users move by more than a tenth, nor repeat dear operations, unless that saves most of the bytes (and, in 2022,
// unless there is one user alone, none of whose elements are asked for twice). In 2020 every user had to be a fusion
// already.
#include <algorithm>

#include "explore/xla/era_rules.h"

namespace tailor::explore {

using ir::NodeId;
using ir::Op;
using xla::Year;

namespace {

constexpr double most_bytes = 1.10;   // after to before
constexpr double few_bytes = 0.3;     // after to before, for which dear operations may be repeated
constexpr double worth_bytes = 1024;  // that are moved before, at least, for that

double bytes_of(const ir::Node& node) { return static_cast<double>(xla::bytes_of(node)); }

/// Of an operand of which only slices are taken, the slices.
double bytes_read(const xla::Kernel& kernel) {
  const auto users = xla::users_of(kernel);
  double bytes = 0;
  for (const std::int32_t operand : kernel.operands) {
    const auto& readers = users[static_cast<std::size_t>(operand)];
    const bool sliced = std::all_of(readers.begin(), readers.end(), [&](std::int32_t reader) {
      return node(kernel, reader).op == Op::slice || node(kernel, reader).op == Op::dynamic_slice;
    });
    if (!sliced) bytes += bytes_of(node(kernel, operand));
    for (const std::int32_t reader : readers) bytes += sliced ? bytes_of(node(kernel, reader)) : 0;
  }
  return bytes;
}

bool merges(XlaInstructions& all, std::int32_t fusion, const std::vector<std::int32_t>& users) {
  const xla::Kernel& kernel = all[fusion].kernel();
  if (!all[fusion].loop_kind || kernel.results.size() > 1 || all.is_stored_any(fusion)) return false;
  for (const std::int32_t user : users) {
    if (all.year() == Year::y2020 ? !all[user].fused() : is_lone_bitcast(all[user])) return false;
    if (!era_fusible_pair(all, fusion, user)) return false;
  }
  const auto count = static_cast<double>(users.size());
  const double read = bytes_read(kernel), written = bytes_of(node(kernel, kernel.results[0]));
  const double before = read + written * (count + 1), ratio = read * count / std::max(1.0, before);
  if (ratio > most_bytes) return false;
  bool may_repeat = ratio < few_bytes && before > worth_bytes;
  if (all.year() == Year::y2022)
    may_repeat = (may_repeat || users.size() == 1) && std::none_of(users.begin(), users.end(), [&](std::int32_t user) {
                   return era_reuses(all, fusion, user);
                 });
  const auto is_dear = [&](const xla::Item& one) {
    return !one.outside && era_expensive(*one.node, all.graph(), all.year());
  };
  if (!may_repeat && std::any_of(kernel.items.begin(), kernel.items.end(), is_dear)) return false;
  return std::none_of(users.begin(), users.end(), [&](std::int32_t user) {
    return era_emits_too_often(all, fusion, user) || !over_budget(all, fusion, user, false).empty();
  });
}

}  // namespace

bool era_merge_fusions(XlaInstructions& all, const std::stop_token& stop) {
  bool changed = false;
  for (const std::int32_t fusion : all.post_order()) {
    if (stop.stop_requested()) break;
    if (!all[fusion].alive || !all[fusion].fused()) continue;
    const std::vector<std::int32_t> users = all.users_of(fusion);
    if (users.empty() || !merges(all, fusion, users)) continue;
    for (const std::int32_t user : users) {
      const bool loop = all[user].fused() ? all[user].loop_kind : !era_input_fusible(all, user);
      all.fuse(fusion, user);
      all.set_loop_kind(user, loop);
    }
    (void)all.remove_unused(fusion);
    changed = true;
  }
  return changed;
}

}  // namespace tailor::explore
