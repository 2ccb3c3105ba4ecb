// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The program of a flat loop, gone through. In: a kernel, the one it is held against, and a visitor. Out: what the
// visitor is told: scopes, and accesses in them. Called by learn.cpp, which makes scopes, and by flat.cpp, which finds
// them again in another kernel.
//
// Loops over trips, and the guard that asks whether a vector exists, are passed through: they make up the vector's
// number and tell nothing about the vector.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>

#include "costmodel/scratch.h"

namespace tailor::costmodel {

/// Whether a known loop has a variable of this name; others are trips.
inline bool is_known(const ir::Kernel& like, const ir::Var& var) {
  return std::any_of(like.indices.vars.begin(), like.indices.vars.end(),
                     [&](const ir::Var& other) { return other.name == var.name; });
}

/// Whether the expression is one number for all vectors.
inline bool is_fixed(const ir::Kernel& kernel, ir::ExprId expr) {
  for (std::size_t v = 0; v < kernel.indices.vars.size(); ++v) {
    const ir::VarKind kind = kernel.indices.vars[v].kind;
    if (kernel.indices[expr].vars.has(v) && kind != ir::VarKind::data && kind != ir::VarKind::picked) return false;
  }
  return true;
}

inline bool holds(const ir::Kernel& kernel, const ir::Stmt& guard, std::span<const std::int64_t> values) {
  for (const ir::Condition& one : guard.conditions) {
    if (!has_condition(one)) continue;
    const std::int64_t a = evaluate(kernel.indices, one.a, values), b = evaluate(kernel.indices, one.b, values);
    if (one.equal ? a != b : a >= b) return false;
  }
  return true;
}

/// Where a statement stands.
struct Standing {
  static constexpr std::int32_t apart = -1;
  std::int32_t scope = 0;
  bool exists = false;     ///< in the guard that asks whether the vector exists
  std::int64_t trips = 1;  ///< around it
};

/// Goes through a program, its trips and the guard of existence passed through. `Visitor` has enter(at, standing),
/// which says the scope that a guard or loop opens, or none to give up; leave(at); access(at, standing), false to give
/// up; ahead(at), the same for what is done once for all trips; plain(at, standing) for every statement; and apart(at,
/// in_loop) for guards outside of all trips: true where what is in it is not part of the loop and is not to be visited.
template <class Visitor>
class Walk {
 public:
  Walk(const ir::Kernel& kernel, const ir::Kernel& like, std::int64_t vectors, Visitor& visitor)
      : kernel_(kernel), like_(like), vectors_(vectors), visitor_(visitor) {}

  /// `position` is filled before anything is visited.
  bool run(Position& position) {
    position_ = &position;
    if (!find_position(kernel_, position)) return false;
    for (const ir::Stmt& stmt : kernel_.body) {
      if (stmt.kind != ir::StmtKind::loop || is_known(like_, kernel_.indices.vars[stmt.var])) continue;
      if (position.trip != Position::no_var && position.trip != static_cast<int>(stmt.var)) return false;
      position.trip = static_cast<int>(stmt.var);
      position.trips = kernel_.indices.vars[stmt.var].extent;
    }
    return scope(0, static_cast<std::int32_t>(kernel_.body.size()), {});
  }

 private:
  /// Whether all vectors come by there.
  bool is_in_loop(const Standing& standing) const {
    const std::int64_t all = std::int64_t{kernel_.threads} * kernel_.virtual_blocks * position_->trips;
    return standing.exists || standing.scope != 0 || (all == vectors_ && standing.trips == position_->trips);
  }

  /// Whether each thread of the grid does it once, in front of all its trips, and alike in all blocks.
  bool is_ahead(const ir::Stmt& stmt, const Standing& standing) const {
    const ir::VarSet thread = ir::VarSet::only(static_cast<std::size_t>(position_->thread));
    return position_->trips > 1 && standing.scope == 0 && !standing.exists && standing.trips == 1 &&
           stmt.space == ir::Space::global && kernel_.indices[stmt.expr].vars.without(thread).empty();
  }

  bool scope(std::int32_t from, std::int32_t to, const Standing& standing) {
    for (std::int32_t at = from; at < to; ++at) {
      const ir::Stmt& stmt = kernel_.body[static_cast<std::size_t>(at)];
      visitor_.plain(at, standing);
      if (ir::is_memory(stmt)) {
        const bool fixed = standing.scope == 0 && stmt.space == ir::Space::global && is_fixed(kernel_, stmt.expr);
        if (!fixed && !is_in_loop(standing) ? !is_ahead(stmt, standing) || !visitor_.ahead(at)
                                            : !visitor_.access(at, standing, fixed))
          return false;
      }
      if (stmt.kind == ir::StmtKind::barrier || exchanges_lanes(stmt) || stmt.kind == ir::StmtKind::fence) return false;
      if (stmt.kind != ir::StmtKind::guard && stmt.kind != ir::StmtKind::loop) continue;
      Standing inside = standing;
      bool opens = false;
      if (stmt.kind == ir::StmtKind::guard && standing.scope == 0 && !standing.exists && standing.trips == 1 &&
          !asks_existence(kernel_, stmt, vectors_, *position_) && visitor_.apart(at, is_in_loop(standing))) {
        at = stmt.end - 1;
        continue;
      }
      if (stmt.kind == ir::StmtKind::loop && static_cast<int>(stmt.var) == position_->trip) {
        if (standing.scope != 0 || standing.exists) return false;
        inside.trips *= position_->trips;
      } else if (stmt.kind == ir::StmtKind::guard && standing.scope == 0 && !standing.exists &&
                 asks_existence(kernel_, stmt, vectors_, *position_)) {
        inside.exists = true;
      } else {
        const std::optional<std::int32_t> entered =
            is_in_loop(standing) && stmt.value == ir::no_value ? visitor_.enter(at, standing) : std::nullopt;
        if (!entered) return false;
        inside.scope = *entered;
        opens = true;
      }
      if (!scope(at + 1, stmt.end, inside)) return false;
      if (opens) visitor_.leave(at);
      at = stmt.end - 1;
    }
    return true;
  }

  const ir::Kernel& kernel_;
  const ir::Kernel& like_;
  std::int64_t vectors_;
  Visitor& visitor_;
  const Position* position_ = nullptr;
};

}  // namespace tailor::costmodel
