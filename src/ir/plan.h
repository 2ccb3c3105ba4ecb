// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Plan: PAI's CodeGen plan of one group, everything a person would decide before writing the kernel by hand. Its fields
// are rows of plan_fields.def and its skeletons rows of skeletons.def: text form, axes, lists and stored columns derive
// from them. Enumeration, people and sweep files make plans, lowering reads them. The text form round-trips; the id
// hashes it together with the group's. Nodes are named by their index in the group's graph (%5).
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/hash.h"
#include "base/indexed.h"
#include "ir/fusion.h"
#include "ir/graph/arithmetic.h"
#include "ir/kernel/stitch_level.h"

namespace tailor::ir {

/// Loop structure of the kernel.
enum class Skeleton : std::uint8_t {
#define SKELETON(name, unit, what, ...) name,
#include "ir/skeletons.def"
#undef SKELETON
};

/// Where values wait between two phases of a row. registers: what later phases need stays in registers. shared: in
/// shared memory. reload: inputs are read again and the rest is computed again. recompute: inputs stay in registers,
/// the rest is computed again.
enum class Residence : std::uint8_t { registers, shared, reload, recompute };

/// tile: one tile per block. persistent: a fixed number of blocks loop over the tiles.
enum class GridShape : std::uint8_t { tile, persistent };

/// A value that others of the group wait for, and the level at which it gets to them.
struct SubRoot {
  NodeId node = no_node;
  StitchLevel stitch = StitchLevel::registers;
  bool operator==(const SubRoot&) const = default;
};

struct Plan {
  Skeleton skeleton = Skeleton::map;
#define PLAN_FIELD(name, type, kind, start, turn, head, example) type name = start;
#include "ir/plan_fields.def"
#undef PLAN_FIELD
  bool operator==(const Plan&) const = default;
};

enum class PlanField : std::uint8_t {
#define PLAN_FIELD(name, type, kind, start, turn, head, example) name,
#include "ir/plan_fields.def"
#undef PLAN_FIELD
};

inline constexpr std::size_t plan_field_count = 0
#define PLAN_FIELD(name, type, kind, start, turn, head, example) +1
#include "ir/plan_fields.def"
#undef PLAN_FIELD
    ;

enum class FieldKind : std::uint8_t { node, stitches, number, choice, flag };

/// A row of plan_fields.def.
struct PlanFieldRow {
  PlanField field;
  std::string_view name;
  FieldKind kind;
  int turn;
  std::string_view head, example;
  std::span<const std::string_view> words;  ///< choice, flag: the word of each value
};

/// What the work of a skeleton is counted in.
enum class WorkUnit : std::uint8_t { elements, columns, rows };

/// A row of skeletons.def.
struct SkeletonRow {
  Skeleton skeleton;
  std::string_view name;
  WorkUnit unit;
  std::string_view what;
  std::uint32_t fields;  ///< one bit per PlanField
  bool has(PlanField field) const { return (fields >> static_cast<int>(field) & 1) != 0; }
};

/// In the order of the text.
std::span<const PlanFieldRow> plan_fields();
std::span<const SkeletonRow> skeletons();
inline const PlanFieldRow& row(PlanField field) { return row_for(plan_fields(), field); }
inline const SkeletonRow& row(Skeleton skeleton) { return row_for(skeletons(), skeleton); }
/// The field with this name, or nothing.
std::optional<PlanField> plan_field_named(std::string_view name);

/// A field's value as a number: the node, the number, the place of the word. Precondition: not of kind stitches.
int value(const Plan& plan, PlanField field);
void set_value(Plan& plan, PlanField field, int value);
/// The value as the plan's text has it: "%3", "128", "shared", "on".
std::string value_text(PlanField field, int value);
/// The reverse; nothing when the word does not read. Numbers are not negative.
std::optional<int> parse_value(PlanField field, std::string_view word);

/// "row dominant=%3 sub_roots=%3@warp,%9@warp threads=128 threads_per_row=32 vector=4 in_flight=1 residence=registers
/// grid=tile index_cache=on value_cache=on arithmetic=xla".
std::string text(const Plan& plan);
/// Throws Error(usage) naming the word that does not fit, a field that the skeleton does not have among them.
Plan parse_plan(std::string_view text);
Id id_of(const Plan& plan, Id group);

std::string_view name(Skeleton skeleton);
std::string_view name(Residence residence);
std::string_view name(GridShape grid);

/// Why a plan (or a whole group) cannot be lowered, with the numbers. `rule` is a stable short name ("registers",
/// "skeleton-column"), `reason` a sentence with figures.
struct Rejection {
  std::string rule;
  std::string reason;
  bool sound = true;  ///< lower itself says so, or a rule proved to imply it; false: a heuristic shortcut
  bool operator==(const Rejection&) const = default;
};

}  // namespace tailor::ir
