// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The critical path of one warp. In: a kernel. Out: trips to memory, to shared memory, shuffles, barriers and steps of
// arithmetic that must follow one another, and the bytes that are in flight on one trip. Called by count(); the models
// multiply it by the latencies of a device.
//
// One walk over the statements carries two numbers: `times`, how often a scope is passed one after the other, and
// `copies`, how many of it stand side by side. All loads between two waits travel together and cost one round trip. A
// wait is a shuffle, a barrier, an index that comes from memory, or the turn of a rolled loop, whose next pass begins
// when this one has used its values.
//
// An unrolled loop without a wait inside is straight-line code: its copies stand side by side and their loads travel
// together. Shuffles alone do not part them: the assembler takes the steps of independent ones in turns, so shuffles
// that follow one another without a statement between are as long as the longest, and a run of exchanges is one step.
// Any other loop multiplies what is inside. A load of new data (policy once) makes the trip a far one, which may go to
// memory; the other trips may end in a cache. A fence or an atomic asks L2 in any case, a barrier of the grid three
// times. Buffers that a trip waits for beside its first are added up: the slowest of several answers comes later than
// one.
//
// Accumulations and shuffles are a chain through their target, so each copy that has the same target adds a step. Other
// values add the depth of their expression once per pass, and those with an operation whose machine code branches
// (branches.def) once for each copy. A warp is taken to run every guard, in those copies that are known to pass it, and
// of exclusive arms the longest. Bytes in flight are all bytes that a thread moves over the number of trips.
#include <algorithm>
#include <bit>
#include <optional>

#include "costmodel/scratch.h"

namespace tailor::costmodel {

namespace {

using ir::StmtKind;

struct Depth {
  double arithmetic = 0, xu = 0;
  bool branches = false;  ///< in any of the operations
};

Depth depth_of(const ir::Kernel& kernel, ir::ValueId id) {
  Depth deepest;
  if (id == ir::no_value) return deepest;
  const ir::Value& value = kernel.values[id];
  for (const ir::ValueId operand : value.operands) {
    const Depth d = depth_of(kernel, operand);
    const bool branches = d.branches || deepest.branches;
    if (d.arithmetic + d.xu > deepest.arithmetic + deepest.xu) deepest = d;
    deepest.branches = branches;
  }
  if (value.kind == ir::ValueKind::op) {
    const ir::Computed& row = ir::computed(value.op, value.dtype, kernel.arithmetic);
    deepest.xu += row.xu;
    deepest.arithmetic += row.fma + row.alu;
    deepest.branches = deepest.branches || ir::branching(value.op, value.dtype, kernel.arithmetic) != nullptr;
  } else if (value.kind == ir::ValueKind::convert) {
    deepest.arithmetic += 1;
  }
  return deepest;
}

class CriticalPathWalk {
 public:
  explicit CriticalPathWalk(const ir::Kernel& kernel) : kernel_(kernel) {}

  /// `times` passes one after the other, `copies` side by side in each.
  void walk(std::int32_t from, std::int32_t to, double times, double copies) {
    for (std::int32_t at = from; at < to; ++at) {
      const ir::Stmt& stmt = kernel_.body[at];
      if (stmt.value != ir::no_value) {
        const Depth depth = depth_of(kernel_, stmt.value);
        const bool accumulates = stmt.kind == StmtKind::assign && stmt.op != ir::Op::copy;
        const double in_turn = depth.branches ? times * copies : times;
        critical_path.arithmetic += depth.arithmetic * in_turn + (accumulates ? times * copies_of(stmt.target) : 0);
        critical_path.xu += depth.xu * in_turn;
        critical_path.turns += (depth.arithmetic + depth.xu) * (in_turn - times);
      }
      if (stmt.kind != StmtKind::shuffle && stmt.kind != StmtKind::loop) shuffled_.clear();
      switch (stmt.kind) {
        case StmtKind::load:
          load(stmt, times, copies);
          break;
        case StmtKind::store:
          if (stmt.space == ir::Space::global) bytes += access_bytes(stmt) * times * copies;
          break;
        case StmtKind::shuffle:
          shuffle(stmt, times);
          break;
        case StmtKind::exchange:
          exchange(at, times);
          break;
        case StmtKind::barrier:
          if (stmt.half == ir::Half::both)  // of halves what stands between hides the rest
            (stmt.scope == ir::StitchLevel::cluster ? critical_path.cluster : critical_path.barrier) += times;
          if (is_grid_barrier(stmt)) {  // what was written arrives, the count does, and the others' is seen
            constexpr double trips = 3;
            critical_path.barrier += times;
            critical_path.memory += trips * times;
            critical_path.coherent += trips * times;
          }
          wait();
          break;
        case StmtKind::fence:  // waits until what was written has arrived
          critical_path.memory += times;
          critical_path.coherent += times;
          wait();
          break;
        case StmtKind::atomic:
          if (stmt.let == ir::no_id) break;  // nobody waits for it
          critical_path.memory += times;
          critical_path.coherent += times;
          wait();
          break;
        case StmtKind::loop:
          loop(at, stmt, times, copies);
          break;
        case StmtKind::guard:
          if (stmt.end < to && kernel_.body[stmt.end].otherwise)
            at = arms(at, times, copies);
          else
            walk(at + 1, stmt.end, times, copies * known_share(stmt));
          break;
        case StmtKind::bind:  // addresses below are made of the number
          wait();
          break;
        case StmtKind::declare:
        case StmtKind::index:
        case StmtKind::let:
        case StmtKind::assign:
        case StmtKind::issue:  // of the loads above; their data is waited for at their first use
        case StmtKind::wait:   // for other launches, whose time is theirs; what was loaded above comes meanwhile
          break;
      }
      if (stmt.kind == StmtKind::loop || stmt.kind == StmtKind::guard) at = std::max(at, stmt.end - 1);
    }
  }

  /// What was asked for so far must be there.
  void wait() {
    global_open_ = shared_open_ = distributed_open_ = far_open_ = false;
    most_together = std::max(most_together, together_);
    together_ = 0;
    buffers_ = 0;
  }

  CriticalPath critical_path;
  double bytes = 0;
  double most_together = 0;  ///< loads from global memory between two waits

 private:
  /// What lies behind and what is on its way.
  struct State {
    CriticalPath path;
    double bytes = 0, together = 0;
    bool global_open = false, shared_open = false, distributed_open = false, far_open = false;
    std::uint64_t buffers = 0;
  };
  State state() const {
    return {critical_path, bytes, together_, global_open_, shared_open_, distributed_open_, far_open_, buffers_};
  }
  void go_on_from(const State& state) {
    critical_path = state.path;
    bytes = state.bytes;
    together_ = state.together;
    global_open_ = state.global_open;
    shared_open_ = state.shared_open;
    distributed_open_ = state.distributed_open;
    far_open_ = state.far_open;
    buffers_ = state.buffers;
  }

  /// A guard and the one for all whom it leaves out: a warp goes through the longer of them. Returns the last statement
  /// of both.
  std::int32_t arms(std::int32_t at, double times, double copies) {
    const std::int32_t between = kernel_.body[at].end, end = kernel_.body[between].end;
    const State before = state();
    walk(at + 1, between, times, copies);
    const State one = state();
    go_on_from(before);
    walk(between + 1, end, times, copies);
    shuffled_.clear();
    const State other = state();
    State both = other;
    static constexpr double CriticalPath::*fields[] = {
        &CriticalPath::memory,     &CriticalPath::shared,  &CriticalPath::shuffle,     &CriticalPath::barrier,
        &CriticalPath::xu,         &CriticalPath::far,     &CriticalPath::coherent,    &CriticalPath::further,
        &CriticalPath::arithmetic, &CriticalPath::cluster, &CriticalPath::distributed, &CriticalPath::turns};
    for (const auto field : fields) both.path.*field = std::max(one.path.*field, other.path.*field);
    both.bytes = std::max(one.bytes, other.bytes);
    both.together = std::max(one.together, other.together);
    both.global_open = one.global_open || other.global_open;
    both.shared_open = one.shared_open || other.shared_open;
    both.distributed_open = one.distributed_open || other.distributed_open;
    both.far_open = one.far_open || other.far_open;
    if (one.path.memory > other.path.memory) both.buffers = one.buffers;
    go_on_from(both);
    return end - 1;
  }

  /// Of the copies that stand side by side, the share that passes a guard which asks for their numbers alone.
  double known_share(const ir::Stmt& guard) const {
    if (guard.value != ir::no_value) return 1;
    double share = 1;
    for (const ir::VarId var : beside_) {
      const std::int64_t extent = kernel_.indices.vars[var].extent;
      std::int64_t pass = 0;
      for (std::int64_t copy = 0; copy < extent; ++copy)
        pass += std::all_of(guard.conditions.begin(), guard.conditions.end(), [&](const ir::Condition& condition) {
          if (condition.a == ir::no_expr) return true;
          const std::optional<std::int64_t> a = number_in(kernel_.indices, condition.a, var, copy),
                                            b = number_in(kernel_.indices, condition.b, var, copy);
          return !a || !b || (condition.equal ? *a == *b : *a < *b);
        });
      share *= static_cast<double>(pass) / static_cast<double>(extent);
    }
    return share;
  }

  double access_bytes(const ir::Stmt& stmt) const { return element_bytes(kernel_, stmt) * stmt.width; }

  /// Of the copies that stand side by side, those that write the same element.
  double copies_of(const ir::Ref& target) const {
    ir::VarSet told;
    for (const ir::ExprId expr : {target.subs[0], target.subs[1], target.lane})
      if (expr != ir::no_expr) told |= kernel_.indices.exprs[expr].vars;
    double same = 1;
    for (const ir::VarId var : beside_)
      if (!told.has(var)) same *= static_cast<double>(kernel_.indices.vars[var].extent);
    return same;
  }

  /// What a run of shuffles takes beyond those of it that were met already. One into an array that the run has goes on
  /// from there.
  void shuffle(const ir::Stmt& stmt, double times) {
    const double steps = std::countr_zero(static_cast<unsigned>(stmt.lanes)) * copies_of(stmt.target);
    if (std::find(shuffled_.begin(), shuffled_.end(), stmt.target.array) != shuffled_.end()) shuffled_.clear();
    const double covered = shuffled_.empty() ? 0 : longest_shuffle_;
    longest_shuffle_ = std::max(covered, steps);
    shuffled_.push_back(stmt.target.array);
    critical_path.shuffle += (longest_shuffle_ - covered) * times;
    critical_path.arithmetic += (longest_shuffle_ - covered) * times;
    wait();
  }

  /// Exchanges that follow one another do not need one another: the first of a run is its one step.
  void exchange(std::int32_t at, double times) {
    if (at == 0 || kernel_.body[at - 1].kind != StmtKind::exchange) critical_path.shuffle += times;
    wait();
  }

  void load(const ir::Stmt& stmt, double times, double copies) {
    const bool global = stmt.space == ir::Space::global;
    if (global) bytes += access_bytes(stmt) * times * copies;
    if (global) together_ += copies;
    const bool other = stmt.space == ir::Space::distributed;
    bool& open = global ? global_open_ : other ? distributed_open_ : shared_open_;
    if (global) {
      const std::uint64_t buffer = std::uint64_t{1} << stmt.memory % 64;
      if (buffers_ != 0 && (buffers_ & buffer) == 0) critical_path.further += times;
      buffers_ |= buffer;
    }
    if (!open) (global ? critical_path.memory : other ? critical_path.distributed : critical_path.shared) += times;
    open = true;
    const bool found_anew =
        stmt.policy == ir::Policy::fresh || (stmt.policy == ir::Policy::reload && !reads_again(kernel_, stmt));
    if (!global || (stmt.policy != ir::Policy::once && !found_anew)) return;
    if (!far_open_) critical_path.far += times;
    far_open_ = true;
  }

  /// Whether copies of these statements have to follow one another: loads stay behind the shuffles in front of them.
  bool has_wait(std::int32_t from, std::int32_t to) const {
    bool shuffles = false, loads = false;
    std::int32_t arms = from;  // where exclusive arms end: what is read in one cannot be asked for in front of another
    for (std::int32_t at = from; at < to; ++at) {
      const ir::Stmt& stmt = kernel_.body[at];
      if (stmt.kind == StmtKind::guard && stmt.otherwise) arms = std::max(arms, stmt.end);
      if (stmt.kind == StmtKind::bind && at < arms) return true;
      if (stmt.kind == StmtKind::barrier || (stmt.kind == StmtKind::loop && !stmt.unrolled)) return true;
      shuffles = shuffles || exchanges_lanes(stmt);
      loads = loads || stmt.kind == StmtKind::load;
    }
    return shuffles && loads;
  }

  void loop(std::int32_t at, const ir::Stmt& stmt, double times, double copies) {
    const auto extent = static_cast<double>(kernel_.indices.vars[stmt.var].extent);
    if (stmt.unrolled && !has_wait(at + 1, stmt.end)) {
      beside_.push_back(stmt.var);
      walk(at + 1, stmt.end, times, copies * extent);
      beside_.pop_back();
      return;
    }
    shuffled_.clear();
    wait();
    walk(at + 1, stmt.end, times * extent, copies);
    shuffled_.clear();
    wait();
  }

  const ir::Kernel& kernel_;
  bool global_open_ = false, shared_open_ = false, distributed_open_ = false, far_open_ = false;
  double together_ = 0;
  std::uint64_t buffers_ = 0;          ///< those that the open trip loads from, a bit each
  std::vector<ir::VarId> beside_;      ///< of the loops whose copies stand side by side here
  std::vector<ir::ArrayId> shuffled_;  ///< targets of the run of shuffles that ends here
  double longest_shuffle_ = 0;         ///< steps of the longest of the run
};

}  // namespace

void fill_chain(const ir::Kernel& kernel, Work& work) {
  CriticalPathWalk walk(kernel);
  walk.walk(0, static_cast<std::int32_t>(kernel.body.size()), 1, 1);
  walk.wait();
  work.critical_path = walk.critical_path;
  work.loads_in_flight = static_cast<std::int64_t>(walk.most_together);
  work.bytes_in_flight = walk.bytes / std::max(1.0, walk.critical_path.memory);
}

}  // namespace tailor::costmodel
