// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Advice: a table of rules, most telling first. A rule looks at counted or estimated numbers and, when they exceed its
// threshold, says one sentence with the number in it. Thresholds are about what is worth saying, not about hardware.
// What a rule proposes to turn is priced by the model where that can be asked, so no sentence names a plan
// that the model itself does not find faster. In: an estimate, the work and the device. Out: sentences, none when
// nothing is worth saying. Called by tailor explain; a report has advice of its own (report/advice.h).
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/counted.h"
#include "base/text.h"
#include "costmodel/model.h"
#include "costmodel/parts.h"

namespace tailor::costmodel {

namespace {

using ir::Part;

// ---- plans that advice proposes

/// A way to change a plan: a number that is halved down to its least, or doubled; a word that is replaced.
struct Change {
  enum class Way { less, more, word } way;
  ir::PlanField field;
  int to = 0;                 ///< of a word: the value
  std::string_view but = {};  ///< what else it changes; empty: nothing
};

/// A plan that differs in one field, of one of its bodies where it has some.
struct Proposal {
  std::string words;  ///< "unroll=1 in place of 8", "vector=2 in place of 4 in body 2"
  Seconds time;
  std::string left_out;  ///< as Changeable::left_out says
};
constexpr int most_doublings = 6;

/// The plan itself, or its bodies, those of stages that are packs among them.
void add_leaves(ir::Plan& plan, std::vector<ir::Plan*>& leaves) {
  if (plan.bodies.empty()) leaves.push_back(&plan);
  for (ir::Plan& body : plan.bodies) add_leaves(body, leaves);
}

std::vector<int> changed_values(const Change& change, int now) {
  if (change.way == Change::Way::word) return now == change.to ? std::vector<int>() : std::vector<int>{change.to};
  std::vector<int> values;
  int value = std::max(1, now);
  for (int i = 0; i < most_doublings; ++i) {
    if (change.way == Change::Way::less && value == 1) break;
    value = change.way == Change::Way::less ? value / 2 : 2 * value;
    values.push_back(value);
  }
  return values;
}

/// What holds for the whole plan is said by its bodies too, and changes in all of them.
void change(ir::Plan& plan, std::size_t leaf, ir::PlanField field, int value) {
  if (!plan.bodies.empty() && has_field(ir::shared_fields(plan.skeleton), field)) {
    set_value(plan, field, value);
    copy_fields(plan, plan, plan.skeleton);
    return;
  }
  std::vector<ir::Plan*> leaves;
  add_leaves(plan, leaves);
  set_value(*leaves[leaf], field, value);
}

/// What the model says of all plans that one change makes.
struct Asked {
  std::optional<Proposal> faster;        ///< the fastest, where it is faster by more than a model can tell apart
  std::vector<std::string_view> turned;  ///< fields of which another value has a kernel
};
/// Precondition: it can be asked.
Asked ask(const Changeable& changeable, std::span<const Change> changes, Seconds now) {
  ir::Plan plan = *changeable.plan;
  std::vector<ir::Plan*> leaves;
  add_leaves(plan, leaves);
  Asked all;
  std::optional<Proposal>& best = all.faster;
  for (std::size_t leaf = 0; leaf < leaves.size(); ++leaf)
    for (const Change& one : changes) {
      if (!row(leaves[leaf]->skeleton).has(one.field)) continue;
      const bool shared = !plan.bodies.empty() && has_field(ir::shared_fields(plan.skeleton), one.field);
      if (shared && leaf > 0) continue;
      const int old = value(*leaves[leaf], one.field);
      for (const int wanted : changed_values(one, old)) {
        ir::Plan changed = plan;
        change(changed, leaf, one.field, wanted);
        const std::optional<Seconds> time = changeable.price(changed);
        if (!time) continue;
        const std::string_view name = row(one.field).name;
        if (std::find(all.turned.begin(), all.turned.end(), name) == all.turned.end()) all.turned.push_back(name);
        const Seconds least = best ? best->time : Seconds{now.value * (1 - ir::model_resolution)};
        if (*time >= least) continue;
        std::string where = leaves.size() == 1 || shared ? "" : fmt::format(" in body {}", leaf + 1);
        best = {fmt::format("{}={} in place of {}{}{}", name, value_text(one.field, wanted), value_text(one.field, old),
                            where, one.but),
                *time, changeable.left_out ? changeable.left_out(changed) : std::string()};
      }
    }
  return all;
}
bool can_ask(const Changeable& changeable) { return changeable.price && changeable.plan != nullptr; }

/// A sentence's end: the proposal with its time; or that there is none, of the fields that were turned; or `unasked`
/// where nobody can be asked.
std::string proposed(const Changeable& changeable, std::span<const Change> changes, Seconds now, std::string unasked) {
  if (!can_ask(changeable)) return unasked;
  const Asked all = ask(changeable, changes, now);
  if (all.faster)
    return fmt::format("{} would take {}{}", all.faster->words, humane_seconds(all.faster->time.value),
                       all.faster->left_out.empty() ? "" : fmt::format(" ({})", all.faster->left_out));
  if (all.turned.empty()) return "no other plan that could help can be written";
  const std::span<const std::string_view> first = std::span(all.turned).first(all.turned.size() - 1);
  return fmt::format("no plan that differs in {}{}{} alone is predicted to be faster", fmt::join(first, ", "),
                     first.empty() ? "" : " or ", all.turned.back());
}

// ---- rules

struct Situation {
  const ir::Estimate& estimate;
  const Work& work;
  std::int64_t code = 0;    ///< instructions that its launches hold
  std::int64_t blocks = 0;  ///< of the launch with most of them
  const CalibratedDevice& device;
  const Changeable& changeable;
  double total() const { return std::max(estimate.total.value, 1e-12); }
  double percent(Part which) const { return 100 * part(estimate, which).value / total(); }
  /// "3.1 us of 9.2 us".
  std::string of_total(double seconds) const {
    return fmt::format("{} of {}", humane_seconds(seconds), humane_seconds(total()));
  }
  std::string proposed(std::span<const Change> changes, std::string unasked) const {
    return costmodel::proposed(changeable, changes, estimate.total, std::move(unasked));
  }
};

/// What a thread does less often, so that there is less code and fewer copies that wait for one another.
constexpr Change fewer_copies[] = {{Change::Way::less, ir::PlanField::unroll},
                                   {Change::Way::less, ir::PlanField::vector},
                                   {Change::Way::less, ir::PlanField::in_flight},
                                   {Change::Way::more, ir::PlanField::threads_per_row}};
constexpr Change simpler[] = {
    {Change::Way::word, ir::PlanField::arithmetic, static_cast<int>(ir::Arithmetic::approx), ", less exact,"}};
constexpr Change more_of_them[] = {
    {Change::Way::less, ir::PlanField::threads},         {Change::Way::less, ir::PlanField::vector},
    {Change::Way::less, ir::PlanField::unroll},          {Change::Way::less, ir::PlanField::in_flight},
    {Change::Way::more, ir::PlanField::threads_per_row}, {Change::Way::more, ir::PlanField::split},
    {Change::Way::more, ir::PlanField::cluster},         {Change::Way::more, ir::PlanField::blocks_per_sm}};
constexpr Change on_their_way[] = {
    {Change::Way::more, ir::PlanField::unroll},          {Change::Way::less, ir::PlanField::unroll},
    {Change::Way::more, ir::PlanField::in_flight},       {Change::Way::less, ir::PlanField::in_flight},
    {Change::Way::more, ir::PlanField::vector},          {Change::Way::less, ir::PlanField::vector},
    {Change::Way::more, ir::PlanField::threads_per_row}, {Change::Way::less, ir::PlanField::threads_per_row},
    {Change::Way::more, ir::PlanField::threads},         {Change::Way::less, ir::PlanField::threads}};

/// Results may change with simpler arithmetic, so it is proposed where nothing else helps.
std::string fewer_or_simpler(const Situation& s) {
  constexpr std::string_view unasked = "fewer copies (unroll, vector, in_flight) are less code, and wait less";
  if (can_ask(s.changeable) && !ask(s.changeable, fewer_copies, s.estimate.total).faster &&
      ask(s.changeable, simpler, s.estimate.total).faster)
    return s.proposed(simpler, {});
  return s.proposed(fewer_copies, std::string(unasked));
}

std::string on_launch(const Situation& s) {
  if (s.percent(Part::launch) < 50) return {};
  return fmt::format("{:.0f} % of the time is launch and ramp: {}", s.percent(Part::launch),
                     s.changeable.has_neighbours
                         ? "fuse the kernel into a neighbour"
                         : "the model has no other kernel to fuse it with; more work in one run (a larger batch) "
                           "spreads them");
}
std::string on_code(const Situation& s) {
  if (s.percent(Part::code) < 15) return {};
  const double code = part(s.estimate, Part::code).value;
  const double first = static_cast<double>(s.code) * s.device.cold_code / s.device.clock;
  const bool again = s.device.code_room > 0 && code > 1.01 * first;
  return fmt::format("{} go to fetching {} that an SM sees for the first time{}: {}", s.of_total(code),
                     tailor::counted(s.code, "instruction"), again ? ", or again for lack of room" : "",
                     fewer_or_simpler(s));
}
constexpr double moved_again = 1.25;  ///< times what must be moved: above it something is read again
std::string on_dram(const Situation& s) {
  if (s.estimate.bottleneck != Part::dram || s.percent(Part::dram) < 80) return {};
  const double moved = part(s.estimate, Part::dram).value * s.device.dram_bandwidth;
  const auto least = static_cast<double>(compulsory_bytes(s.work));
  if (least > 0 && moved > moved_again * least)
    return fmt::format(
        "{:.0f} % of the time is memory bandwidth, for {} where {} have to be moved once: what is read "
        "again comes from memory again, unless caches hold more of it than the model takes them to",
        s.percent(Part::dram), humane_bytes(moved), humane_bytes(least));
  return fmt::format("{:.0f} % of the time is memory bandwidth at its reachable peak: only moving fewer bytes helps",
                     s.percent(Part::dram));
}
/// What makes more blocks of the same work, by the skeleton and the plan.
std::string more_blocks(const Situation& s) {
  const ir::Plan* plan = s.changeable.plan;
  if (plan == nullptr) return "smaller blocks, or each with less to do";
  switch (plan->skeleton) {
    case ir::Skeleton::map:
      if (plan->threads <= 32 && plan->vector <= 1) break;
      return "smaller blocks (threads) or narrower vectors make more of them";
    case ir::Skeleton::transpose:
      return "smaller tiles (threads, threads_per_row, unroll) make more of them";
    case ir::Skeleton::row:
      if (plan->threads > plan->threads_per_row)
        return "give each row more threads (threads_per_row), or each block fewer rows (threads)";
      if (plan->cluster > 0) return "each row has the blocks of a cluster already; the array is small for the GPU";
      if (plan->split > 1)
        return "blocks share each row already; more of them may (split), or the array is small for the GPU";
      return fmt::format(
          "each row has a block already; blocks can share one (split), and where rows are gone through again those "
          "that meet in {}the grid (meet)",
          s.device.blocks_per_cluster > 1 ? "a cluster (cluster) or in " : "");
    case ir::Skeleton::column:
      return "smaller blocks (threads), or blocks that share columns (split)";
    case ir::Skeleton::pack:
      return "smaller blocks (threads), or more bodies beside these";
    case ir::Skeleton::stages:
      return "more blocks on each SM (blocks_per_sm), or smaller ones (threads)";
  }
  return "the arrays are too small to fill the GPU; a larger batch does";
}
std::string on_grid(const Situation& s) {
  // Of a launch in steps the blocks are the grid's, whatever one step has; of several launches one with the most
  // counts.
  const double idle = s.device.sms - static_cast<double>(s.blocks);
  if (idle <= 0) return {};
  return fmt::format("{} {:.0f} of {:.0f} SMs idle: {}", tailor::counted(s.blocks, "block", "leaves", "leave"), idle,
                     s.device.sms, s.proposed(more_of_them, more_blocks(s)));
}
/// Seconds of the latency view that copies wait for one another because they branch.
double waits_in_turn(const Situation& s) {
  const CriticalPath& c = s.work.critical_path;
  if (c.turns == 0) return 0;
  const double cycles = c.arithmetic * s.device.fma_latency + c.xu * s.device.xu_latency;
  return s.estimate.waves * cycles / s.device.clock * c.turns / (c.arithmetic + c.xu);
}
/// More copies are more on their way, but not where each waits for the one before.
std::string on_latency(const Situation& s) {
  if (s.estimate.bottleneck != Part::latency) return {};
  if (const double turns = waits_in_turn(s), all = part(s.estimate, Part::latency).value; turns > 0.4 * all)
    return fmt::format(
        "latency binds: of its {} {} are copies of operations that branch (sine, power, division), one after the "
        "other: {}",
        humane_seconds(all), humane_seconds(turns), fewer_or_simpler(s));
  const ir::Plan* plan = s.changeable.plan;
  return fmt::format(
      "latency binds with {:.0f} B per thread in flight at {:.0f} % occupancy and {}: {}", s.work.bytes_in_flight,
      100 * s.estimate.occupancy, tailor::counted(s.estimate.registers, "register"),
      s.proposed(on_their_way, fmt::format("more loads on their way at once{} or fewer registers",
                                           plan == nullptr                                  ? ""
                                           : row(plan->skeleton).has(ir::PlanField::unroll) ? " (unroll)"
                                                                                            : " (in_flight)")));
}
std::string on_address(const Situation& s) {
  const double share =
      100 * static_cast<double>(s.work.pipes.address) / std::max(1.0, static_cast<double>(instructions(s.work.pipes)));
  if (share < 25) return {};
  return fmt::format("{:.0f} % of issue slots are address arithmetic: wider vectors or a flatter index", share);
}
std::string on_sectors(const Situation& s) {
  double read = 0, written = 0, read_moved = 0, written_moved = 0;
  for (const BufferWork& b : s.work.buffers) {
    read += static_cast<double>(b.load.bytes), written += static_cast<double>(b.store.bytes);
    read_moved += 32 * static_cast<double>(b.load.sectors), written_moved += 32 * static_cast<double>(b.store.sectors);
  }
  const double useful = read + written, moved = read_moved + written_moved;
  if (moved == 0 || useful > 0.7 * moved) return {};
  return fmt::format(
      "only {:.0f} % of the bytes in the sectors moved are used: neighbouring lanes should {} "
      "neighbouring elements",
      100 * useful / moved, read_moved - read >= written_moved - written ? "read" : "write");
}
std::string on_banks(const Situation& s) {
  const double requests = static_cast<double>(s.work.shared_load.bytes + s.work.shared_store.bytes) / 128;
  const double passes = static_cast<double>(s.work.shared_load.wavefronts + s.work.shared_store.wavefronts);
  if (s.estimate.bottleneck != Part::shared || passes < 1.5 * requests || requests == 0) return {};  // or shuffles bind
  return fmt::format("shared memory takes {:.1f} passes where {:.1f} would do: pad or swizzle its rows",
                     passes / std::max(requests, 1.0), 1.0);
}
std::string on_spills(const Situation& s) {
  if (part(s.estimate, Part::spill).value == 0) return {};
  return fmt::format("spills take {:.0f} % of the time at {}: keep fewer values in registers", s.percent(Part::spill),
                     tailor::counted(s.estimate.registers, "register"));
}
std::string on_xu(const Situation& s) {
  if (s.estimate.bottleneck != Part::xu) return {};
  return fmt::format(
      "{:.0f} % of the time the transcendental and conversion pipe is full: {} transcendental and {} "
      "conversion instructions",
      s.percent(Part::xu), s.work.pipes.xu, conversions(s.work.pipes));
}

/// What a line says to do, with the colon before it; nothing where it says why alone. Two reasons to do one thing are
/// one line.
std::string_view proposal_of(std::string_view line) { return line.substr(std::min(line.find(": "), line.size())); }

constexpr std::string (*rules[])(const Situation&) = {on_spills,  on_grid,  on_launch,  on_code, on_sectors,
                                                      on_latency, on_banks, on_address, on_xu,   on_dram};

}  // namespace

std::vector<std::string> advice(const ir::Estimate& estimate, const Work& work, const CalibratedDevice& device,
                                const Changeable& changeable) {
  const Work launches = by_launch(work), all = together(launches);
  std::int64_t code = 0, blocks = 0;
  for (const Work& one : works_of(launches)) {
    code += one.code_instructions;
    blocks = std::max<std::int64_t>({blocks, one.virtual_blocks, one.grid});
  }
  std::vector<std::string> lines;
  for (const auto rule : rules) {
    std::string line = rule({estimate, all, code, blocks, device, changeable});
    if (line.empty()) continue;
    const std::size_t reason = line.size() - proposal_of(line).size();
    const auto same = std::find_if(lines.begin(), lines.end(), [&](const std::string& other) {
      return reason < line.size() && proposal_of(other) == proposal_of(line);
    });
    if (same != lines.end())
      same->insert(same->size() - proposal_of(*same).size(), ", and " + line.substr(0, reason));
    else
      lines.push_back(std::move(line));
    if (lines.size() == 2) break;
  }
  return lines;
}

}  // namespace tailor::costmodel
