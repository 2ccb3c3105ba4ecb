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
#include <initializer_list>
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
#include "ir/refusal.h"

namespace tailor::ir {

/// Loop structure of the kernel.
enum class Skeleton : std::uint8_t {
#define SKELETON(name, unit, what, ...) name,
#include "ir/skeletons.def"
#undef SKELETON
};

/// Where a value waits that later phases of a row need: `registers` of the thread that has it, shared memory of the
/// `block`, or that of the blocks of a `cluster` for all of them; or global memory of the `grid`, where another stage
/// needs it. Other levels can be said, and are refused by the lowering. A value without a home is computed again, an
/// input read again.
struct Home {
  NodeId node = no_node;
  StitchLevel level = StitchLevel::registers;
  bool operator==(const Home&) const = default;
};

/// Lists of homes that are worth asking about, by name: the values of the axis `homes`. Which list it is for a group,
/// codegen/lower/prepare.h says. registers: all that later phases need, in its most computed form, stays in registers.
/// shared: the same in shared memory. recompute: the inputs of that stay in registers, the rest is computed again.
/// reload: nothing stays. widest_shared: as registers, but the widest value is in shared memory. widest_reload: as
/// registers, but the widest input is read again. moved_shared, moved_cluster: as registers, but what a later phase
/// reads at other places of its row is in shared memory, of the block alone or of all blocks of a cluster.
/// recompute_shared: as recompute, in shared memory. recompute_mixed: as recompute, but the widest input is there.
enum class HomesWord : std::uint8_t {
  registers,
  shared,
  recompute,
  reload,
  widest_shared,
  widest_reload,
  moved_shared,
  moved_cluster,
  recompute_shared,
  recompute_mixed
};
inline constexpr std::size_t homes_words = 10;

/// tile: one tile per block. persistent: a fixed number of blocks loop over the tiles.
enum class GridShape : std::uint8_t { tile, persistent };

/// What becomes of the parts that blocks have of a shared row or column. last: the block that comes last puts them
/// together and goes on alone. grid: all blocks are resident and wait for one another; each gets what it needs and goes
/// on with its part. kernel: the launch ends there, and blocks of the next one get what they need and go on.
enum class Meeting : std::uint8_t { last, grid, kernel };

struct Plan {
  Skeleton skeleton = Skeleton::map;
#define PLAN_FIELD(name, type, kind, start, turn, head, example) type name = start;
#include "ir/plan_fields.def"
#undef PLAN_FIELD
  /// Of a pack: the plan of each body, in the order of the group's bodies; of stages that of each stage, which may be a
  /// pack. They say of the fields that these have what these say, but for homes. Other plans have none.
  std::vector<Plan> bodies = {};
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

/// A set of fields, one bit each.
constexpr std::uint32_t field_bits(std::initializer_list<PlanField> fields) {
  std::uint32_t bits = 0;
  for (const PlanField field : fields) bits |= std::uint32_t{1} << static_cast<int>(field);
  return bits;
}

constexpr bool has_field(std::uint32_t bits, PlanField field) { return (bits >> static_cast<int>(field) & 1) != 0; }

enum class FieldKind : std::uint8_t { node, homes, number, choice, option, flag };

/// A row of plan_fields.def.
struct PlanFieldRow {
  PlanField field;
  std::string_view name;
  FieldKind kind;
  int turn;
  std::string_view head, example;
  std::span<const std::string_view> words;  ///< choice, option, flag: the word of each value; homes: those of the axis
};

/// What the work of a skeleton is counted in.
enum class WorkUnit : std::uint8_t { elements, columns, rows, bodies };

/// A row of skeletons.def.
struct SkeletonRow {
  Skeleton skeleton;
  std::string_view name;
  WorkUnit unit;
  std::string_view what;
  std::uint32_t fields;  ///< one bit per PlanField
  bool has(PlanField field) const { return has_field(fields, field); }
};

/// In the order of the text.
std::span<const PlanFieldRow> plan_fields();
std::span<const SkeletonRow> skeletons();
inline const PlanFieldRow& row(PlanField field) { return row_for(plan_fields(), field); }
inline const SkeletonRow& row(Skeleton skeleton) { return row_for(skeletons(), skeleton); }
/// The field with this name, or nothing.
std::optional<PlanField> plan_field_named(std::string_view name);

/// A field's value as a number: the node, the number, the place of the word. Precondition: not of kind homes.
int value(const Plan& plan, PlanField field);
void set_value(Plan& plan, PlanField field, int value);
/// The fields that the plan of a pack or of stages and those of its bodies share: all that it has but homes.
std::uint32_t shared_fields(Skeleton skeleton);
/// Gives `to` and its bodies the values of `from` in these fields.
void copy_fields(Plan& to, const Plan& from, Skeleton skeleton);
/// A value of the axis as its lists and restrictions have it: "%3", "128", "tile", "on", "shared".
std::string value_text(PlanField field, int value);
/// The reverse; nothing when the word does not read. Numbers are at least 1, where they start at 0 at least 0; a
/// cluster of one block is none, so 1 reads as 0 there.
std::optional<int> parse_value(PlanField field, std::string_view word);
/// What parse_value() takes, for messages: "a whole number from 1 to 2,147,483,647", "one of tile, persistent".
std::string values_read(PlanField field);
/// What the plan says there: as value_text(), but of homes the list, "%0@register,%7@block"; empty where it is.
std::string field_text(const Plan& plan, PlanField field);
/// Whether both plans say the same there.
bool agree(const Plan& a, const Plan& b, PlanField field);

/// "row dominant=%3 threads=128 threads_per_row=32 vector=4 in_flight=1 split=1 homes=%0@register,%7@block grid=tile
/// index_cache=on value_cache=on arithmetic=xla". An empty list of homes is not written, nor an option at its start.
/// The bodies of a pack stand behind bars, without what the pack has said: "pack threads=256 ... arithmetic=xla | map
/// dominant=%3 vector=4 unroll=1 grid=tile | row ...". Stages stand behind double bars.
std::string text(const Plan& plan);
/// Throws Error(usage) naming the word that does not fit: a field that the skeleton does not have, one that plans of
/// older versions had, homes that are not in the order of their nodes. Of a value it says the field, and at which
/// character of the text it stands.
Plan parse_plan(std::string_view text);
Id id_of(const Plan& plan, Id group);

/// What says today what a field of older versions said, as a hint for whoever still writes it; empty for other words.
std::string_view successor_of(std::string_view field);
/// The first field of older versions in a plan's text; empty where it has none.
std::string_view older_field_in(std::string_view text);

std::string_view name(Skeleton skeleton);
std::string_view name(HomesWord word);
std::string_view name(GridShape grid);
std::string_view name(Meeting meeting);

}  // namespace tailor::ir
