// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The walk over plan spaces, held against a flat one: the product of all values by a cursor, every rule asked about
// every whole plan. In: groups of the family and of the models that ship, a large GPU and a tiny one, default and drawn
// axes, all and few rules. And the ground it stands on: over whole products, prefixes that mean nothing included, parts
// of a tiling and verdicts of rules are the same for all plans that agree in the fields said to be behind them. Part of
// the suite `explore`.
#include "explore/plans/walk.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <random>
#include <string>
#include <unordered_map>

#include "base/indexed.h"
#include "codegen/lower/lower.h"
#include "explore/partition.h"
#include "explore/plans/tune.h"
#include "explore/strategy.h"
#include "hlo/import.h"
#include "support/group_family.h"
#include "support/paths.h"
#include "support/search_setting.h"
#include "support/thorough.h"

namespace tailor::explore {

namespace {

using ir::PlanField;

constexpr ir::Limits tiny_limits{90, 2, 32, 256, 512, 4, 65536, 65536, 255, 256, 4, 4, 16384, 8192, 15360, 0, 128, 8};

const ir::Limits& large_limits() { return search_gpu().limits; }

/// All members of all families.
std::vector<ir::FamilyMember> all_members() {
  std::vector<ir::FamilyMember> all;
  for (const auto* family : {&ir::group_family(), &ir::gather_family(), &ir::across_family(), &ir::mixed_family(),
                             &ir::stack_family(), &ir::spread_family()})
    for (const ir::FamilyMember& member : *family)
      if (std::none_of(all.begin(), all.end(), [&](const auto& known) { return known.name == member.name; }))
        all.push_back(member);
  return all;
}

/// Every combination of values that means something, by a cursor that knows the dependences there are.
std::vector<ir::Plan> flat_plans(const codegen::Prepared& prepared, const Axes& axes, const ir::Limits& limits) {
  const std::vector<PlanField> order = axes_of(prepared.skeleton);
  std::vector<std::vector<int>> values;
  for (const PlanField axis : order)
    values.push_back(axis == PlanField::homes ? different_homes(prepared, axes[axis]) : axes[axis]);
  std::vector<std::size_t> cursor(order.size(), 0);
  std::vector<ir::Plan> all;
  for (bool more = true; more;) {
    ir::Plan plan;
    plan.skeleton = prepared.skeleton;
    bool means = true;
    for (std::size_t i = 0; i < order.size(); ++i) {
      if (order[i] == PlanField::homes)
        plan.homes = codegen::homes_of(prepared, static_cast<ir::HomesWord>(values[i][cursor[i]]));
      else
        set_value(plan, order[i], values[i][cursor[i]]);
      if (order[i] == PlanField::blocks_per_sm && plan.grid == ir::GridShape::tile) {
        means = means && cursor[i] == 0;
        plan.blocks_per_sm = 0;
      }
    }
    if (plan.grid == ir::GridShape::persistent && plan.blocks_per_sm == 0)
      plan.blocks_per_sm = std::clamp(limits.threads_per_sm / 2 / plan.threads, 1, limits.blocks_per_sm);
    if (row(plan.skeleton).has(PlanField::threads_per_row)) means = means && plan.threads_per_row <= plan.threads;
    means = means && (plan.split > 1 || plan.meet == ir::Meeting::last);
    if (means) all.push_back(plan);
    more = false;
    for (std::size_t i = cursor.size(); i-- > 0 && !more;) {
      more = ++cursor[i] < values[i].size();
      if (!more) cursor[i] = 0;
    }
  }
  return all;
}

/// How many axes have to be fixed before the part can be asked.
int axes_needed(const RulePart& part, ir::Skeleton skeleton) {
  const std::uint32_t behind = fields_behind(part.reads, skeleton);
  int last = 1, at = 0;
  for (const PlanField axis : axes_of(skeleton)) {
    ++at;
    if ((behind & ir::field_bits({axis})) != 0) last = at;
  }
  return last;
}

struct Asked {
  int axes = 0;
  const Rule* rule = nullptr;
  const RulePart* part = nullptr;
};

/// Parts in the order in which a plan is noted under them: those that need the fewest axes, of these the first of the
/// table.
std::vector<Asked> in_order(std::span<const Rule> rules, ir::Skeleton skeleton) {
  std::vector<Asked> all;
  for (const Rule& rule : rules)
    if (rule.is_asked_of(skeleton))
      for (const RulePart& part : rule.parts()) all.push_back({axes_needed(part, skeleton), &rule, &part});
  std::stable_sort(all.begin(), all.end(), [](const Asked& a, const Asked& b) { return a.axes < b.axes; });
  return all;
}

struct Noted {
  std::int64_t plans = 0;
  std::string example;
  bool operator==(const Noted&) const = default;
};

/// Both walks give the same plans in the same order, and note the same of those that they drop.
void compare_walks(const codegen::Prepared& prepared, const Axes& axes, const ir::Limits& limits,
                   std::span<const std::size_t> rules_in_force) {
  const std::vector<ir::Plan> all = flat_plans(prepared, axes, limits);
  for (const std::size_t count : rules_in_force) {
    CAPTURE(count);
    const std::span<const Rule> in_force = rules().first(count);
    Plans walk(prepared, axes, limits, in_force);
    const std::vector<Asked> asked = in_order(in_force, prepared.skeleton);
    std::map<const Rule*, Noted> expected, found;
    std::int64_t differ = 0;
    for (const ir::Plan& plan : all) {
      const Candidate candidate{prepared, plan, limits, tiling_of(prepared, plan, limits)};
      const auto first =
          std::find_if(asked.begin(), asked.end(), [&](const Asked& one) { return one.part->drops(candidate); });
      const Rule* rule = first == asked.end() ? nullptr : first->rule;
      differ += (rule == nullptr) != (dropped_by(prepared, plan, limits, count) == nullptr) ? 1 : 0;
      if (rule != nullptr) {
        Noted& noted = expected[rule];
        if (noted.plans++ == 0) noted.example = text(plan);
        continue;
      }
      const std::optional<ir::Plan> next = walk.next();
      if (next != plan) FAIL(text(plan), " comes next, found ", next ? text(*next) : "the end");
    }
    CHECK(differ == 0);
    CHECK_FALSE(walk.next().has_value());
    CHECK_FALSE(walk.next().has_value());
    for (const Dropped& one : walk.dropped()) found[one.rule] = {one.plans, text(one.example)};
    CHECK(found == expected);
    CHECK(walk.passed() == static_cast<std::int64_t>(all.size()));
    CHECK(walk.counts().mappings <= walk.counts().prefixes);
  }
}

/// Some of the default values of each axis and some odd ones, so that the product has some thousand plans.
Axes drawn_axes(const codegen::Prepared& prepared, const ir::Limits& limits, std::mt19937_64& random) {
  Axes axes = default_axes(prepared, limits);
  axes[PlanField::split] = {1, 3, 16};
  if (row(prepared.skeleton).has(PlanField::cluster)) axes[PlanField::cluster] = {0, 2, 4};
  axes[PlanField::blocks_per_sm] = {0, 1, 2, 6};
  axes[PlanField::threads].insert(axes[PlanField::threads].end(), {16, 96});  // less than a warp has a mapping too
  axes[PlanField::threads_per_row].push_back(48);
  axes[PlanField::min_blocks] = {0, 2};
  axes[PlanField::index_cache] = {1, 0};
  for (const PlanField axis : axes_of(prepared.skeleton)) {
    std::vector<int>& values = axes[axis];
    std::shuffle(values.begin(), values.end(), random);
    const std::size_t most = axis == PlanField::threads || axis == PlanField::threads_per_row ? 4 : 2;
    values.resize(std::min<std::size_t>(values.size(), 1 + random() % most));
  }
  return axes;
}

/// Bits that tell which value of an axis a plan has, and where they stand in its key.
int bits_of(std::size_t field) {
  const ir::FieldKind kind = ir::plan_fields()[field].kind;
  return kind == ir::FieldKind::choice || kind == ir::FieldKind::option || kind == ir::FieldKind::flag ? 2 : 4;
}
int place_of(std::size_t field) {
  int place = 0;
  for (std::size_t i = 0; i < field; ++i) place += bits_of(i);
  return place;
}

/// A product of few values of every axis, those that mean nothing together included.
struct Product {
  std::vector<PlanField> order;
  std::vector<std::vector<int>> values;

  Product(const codegen::Prepared& prepared, const ir::Limits& limits) : order(axes_of(prepared.skeleton)) {
    if (place_of(ir::plan_field_count) > 64)
      FAIL("the fields of a plan need " << place_of(ir::plan_field_count) << " bits");
    Axes axes = default_axes(prepared, limits);
    axes[PlanField::threads] = {64, 256};
    axes[PlanField::threads_per_row] = {1, 2, 32, 256};
    axes[PlanField::in_flight] = axes[PlanField::unroll] = {1, 2, 4};
    axes[PlanField::split] = {1, 3, 16};
    axes[PlanField::cluster] = {0, 4};
    axes[PlanField::blocks_per_sm] = {1, 4};
    axes[PlanField::value_cache] = {1, 0};
    axes[PlanField::min_blocks] = {0, 2};
    for (const PlanField axis : order)
      values.push_back(axis == PlanField::homes ? different_homes(prepared, axes[axis]) : axes[axis]);
  }

  template <class Each>
  void for_each(const codegen::Prepared& prepared, Each each) const {
    ir::Plan plan;
    plan.skeleton = prepared.skeleton;
    fix(prepared, plan, 0, 0, each);
  }

  template <class Each>
  void fix(const codegen::Prepared& prepared, ir::Plan& plan, std::size_t depth, std::uint64_t key, Each& each) const {
    if (depth == order.size()) return each(plan, key);
    for (std::size_t i = 0; i < values[depth].size(); ++i) {
      if (order[depth] == PlanField::homes)
        plan.homes = codegen::homes_of(prepared, static_cast<ir::HomesWord>(values[depth][i]));
      else
        set_value(plan, order[depth], values[depth][i]);
      fix(prepared, plan, depth + 1, key | std::uint64_t{i} << place_of(static_cast<std::size_t>(order[depth])), each);
    }
  }
};

/// The bits of a product's key that tell these fields.
std::uint64_t key_of(std::uint32_t fields) {
  std::uint64_t key = 0;
  for (std::size_t i = 0; i < ir::plan_field_count; ++i)
    if ((fields >> i & 1) != 0) key |= ((std::uint64_t{1} << bits_of(i)) - 1) << place_of(i);
  return key;
}

std::int64_t part_of(const Tiling& tiling, TilingPart part) {
  switch (part) {
#define TILING(name, type, start, map, transpose, column, row) \
  case TilingPart::name:                                       \
    return static_cast<std::int64_t>(tiling.name);
#include "explore/plans/tiling.def"
#undef TILING
  }
  return 0;
}

/// Numbers that no plan has, in the parts of a tiling that a rule does not name.
Tiling odd_tiling(Tiling tiling, std::uint32_t named, int number) {
#define TILING(name, type, start, map, transpose, column, row) \
  if ((named >> static_cast<int>(TilingPart::name) & 1) == 0) tiling.name = static_cast<type>(number);
#include "explore/plans/tiling.def"
#undef TILING
  return tiling;
}

/// The same in the fields of a plan.
ir::Plan odd_plan(ir::Plan plan, const codegen::Prepared& prepared, std::uint32_t named, int number) {
  for (const ir::PlanFieldRow& field : ir::plan_fields()) {
    if ((named & ir::field_bits({field.field})) != 0) continue;
    if (field.kind == ir::FieldKind::number) set_value(plan, field.field, number);
    if (field.field == PlanField::homes)
      plan.homes = codegen::homes_of(prepared, number % 2 == 0 ? ir::HomesWord::widest_shared : ir::HomesWord::shared);
    if (field.field == PlanField::grid) plan.grid = number % 2 == 0 ? ir::GridShape::persistent : ir::GridShape::tile;
  }
  return plan;
}

/// Groups of every skeleton: short and long rows, odd ones, rows in parts, sums across rows.
struct Place {
  const char* member;
  std::int64_t rows, columns;
};
constexpr Place places[] = {{"softmax", 4, 65536},          {"softmax", 300, 1000},
                            {"layernorm_f16", 64, 96},      {"row_sum", 3, 4096},
                            {"row_statistics_f16", 40, 33}, {"cross_entropy", 16, 2048},
                            {"column_sum", 512, 64},        {"bias_gradient_bf16", 4096, 96},
                            {"bias_gelu_f16", 64, 96},      {"concatenate_pad", 16, 40},
                            {"column_sum", 512, 66},        {"bias_gelu_f16", 7, 97},
                            {"turned", 512, 400},           {"turned", 40, 33},
                            {"turned_batch", 2048, 96}};

struct Ready {
  ir::Group group;
  std::variant<codegen::Prepared, ir::Rejection> prepared;

  Ready(const ir::FamilyMember& member, std::int64_t rows, std::int64_t columns)
      : group(ir::make_group(member, rows, columns)), prepared(codegen::prepare(group)) {}
  Ready(const Ready&) = delete;
  /// Of a loop; members whose sums take parts of rows are stages where a doubt stands against them.
  const codegen::Prepared* get() const {
    const auto* found = std::get_if<codegen::Prepared>(&prepared);
    return found == nullptr || !found->bodies.empty() ? nullptr : found;
  }
  /// The tiles of a group that is turned.
  const codegen::Prepared* tiles() const { return get() == nullptr ? nullptr : get()->turned.get(); }
  const codegen::Prepared* tiles_or_all() const { return tiles() != nullptr ? tiles() : get(); }
};

}  // namespace

TEST_CASE("the walk gives what no rule drops, in the order of the product, and notes each other plan once") {
  const std::size_t counts[] = {0, sound_rules(), sound_rules() + 7, rules().size()};
  int groups = 0;
  for (const ir::FamilyMember& member : all_members()) {
    const Ready ready(member, 48, 136);
    if (ready.get() == nullptr) continue;
    ++groups;
    CAPTURE(member.name);
    // A quick run looks at every third member under one number of rules, by turns.
    if (!testing::broad() && groups % 3 != 0) continue;
    const std::span<const std::size_t> in_force =
        testing::broad() ? std::span<const std::size_t>(counts)
                         : std::span<const std::size_t>(counts).subspan(static_cast<std::size_t>(groups) % 4, 1);
    compare_walks(*ready.get(), default_axes(*ready.get(), tiny_limits), tiny_limits, in_force);
    if (groups % testing::effort(54, 6, 1) == 0)
      compare_walks(*ready.get(), default_axes(*ready.get(), large_limits()), large_limits(),
                    std::span(counts).last(1));
    if (ready.tiles() != nullptr)
      compare_walks(*ready.tiles(), default_axes(*ready.tiles(), tiny_limits), tiny_limits, in_force);
  }
  CHECK(groups > 40);
}

TEST_CASE("so it does where axes are restricted and rules give way") {
  std::mt19937_64 random(7);
  for (const ir::FamilyMember& member : all_members()) {
    const Ready ready(member, 24, 96);
    if (ready.get() == nullptr) continue;
    CAPTURE(member.name);
    for (int draw = 0; draw < testing::effort(3, 20); ++draw) {
      CAPTURE(draw);
      const ir::Limits& limits = draw % 2 == 0 ? tiny_limits : large_limits();
      const std::size_t counts[] = {sound_rules() + random() % (rules().size() - sound_rules()), rules().size()};
      compare_walks(*ready.get(), drawn_axes(*ready.get(), limits, random), limits, counts);
    }
  }
}

TEST_CASE("so it does for the groups of the models that ship") {
  const std::size_t counts[] = {sound_rules(), rules().size()};
  int groups = 0;
  for (const char* model :
       {"bert_infer_l12_b1_s128_f16", "layernorm_fwd_tf_f32_4096x768", "softmax_fwd_f32_4096x1024"}) {
    const ir::Graph graph = hlo::import_file(fmt::format("{}/data/models/{}.hlo", source_folder(), model)).graph;
    for (const DistinctGroup& group : partition(graph, fuse(find_strategy("stitch-v1"), graph)).groups) {
      const auto prepared = codegen::prepare(group.group);
      const auto* ready = std::get_if<codegen::Prepared>(&prepared);
      if (ready == nullptr || (++groups % testing::effort(5, 1) != 0)) continue;
      CAPTURE(short_hex(group.group.id));
      for (const ir::Limits* limits : {&tiny_limits, &large_limits()})
        compare_walks(*ready, default_axes(*ready, *limits), *limits,
                      std::span(counts).last(limits == &tiny_limits ? 2 : 1));
    }
  }
  CHECK(groups >= 10);
}

TEST_CASE("plans that agree in the fields behind a part of a tiling agree in it, and each such field matters") {
  std::map<std::pair<ir::Skeleton, std::size_t>, std::uint32_t> matter;  // by part
  for (const Place& place : places) {
    const Ready ready(ir::family_member(place.member), place.rows, place.columns);
    const codegen::Prepared& prepared = *ready.tiles_or_all();
    CAPTURE(place.member);
    const Product product(prepared, large_limits());
    std::array<std::unordered_map<std::uint64_t, std::int64_t>, tiling_parts> known;
    std::int64_t plans = 0, differ = 0;
    product.for_each(prepared, [&](const ir::Plan& plan, std::uint64_t key) {
      ++plans;
      const Tiling tiling = tiling_of(prepared, plan, large_limits());
      for (std::size_t p = 0; p < known.size(); ++p) {
        const auto part = static_cast<TilingPart>(p);
        const std::uint64_t agreed = key & key_of(fields_behind(part, prepared.skeleton));
        const auto [at, fresh] = known[p].try_emplace(agreed, part_of(tiling, part));
        differ += at->second == part_of(tiling, part) ? 0 : 1;
      }
    });
    CHECK(plans > 200);
    CHECK(differ == 0);
    for (std::size_t p = 0; p < known.size(); ++p)
      for (std::size_t f = 0; f < ir::plan_field_count; ++f) {
        std::unordered_map<std::uint64_t, std::int64_t> without;
        for (const auto& [key, number] : known[p])
          if (without.try_emplace(key & ~key_of(std::uint32_t{1} << f), number).first->second != number)
            matter[{prepared.skeleton, p}] |= std::uint32_t{1} << f;
      }
  }
  for (const ir::SkeletonRow& skeleton : ir::skeletons())
    for (std::size_t p = 0; p < tiling_parts; ++p) {
      CAPTURE(skeleton.name);
      CAPTURE(p);
      const std::uint32_t said = fields_behind(static_cast<TilingPart>(p), skeleton.skeleton);
      CHECK((said & ~skeleton.fields) == 0);
      // No group here has dominant nodes whose runs differ.
      CHECK((said & ~ir::field_bits({PlanField::dominant})) == matter[{skeleton.skeleton, p}]);
    }
}

TEST_CASE("a field that a rule does not declare never changes its verdict" *
          doctest::test_suite(tailor::testing::in_broad_runs)) {
  std::int64_t dropped = 0;
  int number = 0;
  for (const Place& place : places)
    for (const ir::Limits* limits : {&tiny_limits, &large_limits()}) {
      if (!testing::thorough() && number++ % 4 % 3 != 0) continue;  // one for each place, by turns
      const Ready ready(ir::family_member(place.member), place.rows, place.columns);
      const codegen::Prepared& prepared = *ready.tiles_or_all();
      CAPTURE(place.member);
      const Product product(prepared, *limits);
      std::vector<Tiling> tilings;  // of its plans in order
      product.for_each(prepared, [&](const ir::Plan& plan, std::uint64_t) {
        tilings.push_back(tiling_of(prepared, plan, *limits));
      });
      for (const Rule& rule : rules()) {
        if (!rule.is_asked_of(prepared.skeleton)) continue;
        CAPTURE(rule.name);
        std::int64_t differ = 0, misled = 0;
        std::vector<std::unordered_map<std::uint64_t, bool>> known(rule.parts().size());
        std::size_t at = 0;
        product.for_each(prepared, [&](const ir::Plan& plan, std::uint64_t key) {
          const Tiling& tiling = tilings[at++];
          for (std::size_t p = 0; p < known.size(); ++p) {
            const RulePart& part = rule.parts()[p];
            const std::uint64_t agreed = key & key_of(fields_behind(part.reads, prepared.skeleton));
            const bool drops = part.drops({prepared, plan, *limits, tiling});
            const auto [first, fresh] = known[p].try_emplace(agreed, drops);
            differ += first->second == drops ? 0 : 1;
            if (!fresh) continue;
            dropped += drops ? 1 : 0;
            for (const int odd : {3, 1 << 14}) {
              const ir::Plan other = odd_plan(plan, prepared, part.reads.fields, odd);
              const Candidate candidate{prepared, other, *limits, odd_tiling(tiling, part.reads.tiling, odd)};
              misled += part.drops(candidate) == drops ? 0 : 1;
            }
          }
        });
        CHECK(differ == 0);
        CHECK(misled == 0);
      }
    }
  CHECK(dropped > testing::effort(500, 1000));
}

TEST_CASE("values of axes depend on those before them alone, as the table says") {
  for (const Dependence& row : dependences()) {
    CAPTURE(ir::row(row.axis).name);
    for (const ir::SkeletonRow& skeleton : ir::skeletons()) {
      if (!skeleton.has(row.axis)) continue;
      std::uint32_t before = 0;
      for (const PlanField axis : axes_of(skeleton.skeleton)) {
        if (axis == row.axis) break;
        before |= ir::field_bits({axis});
      }
      CHECK((row.on & ~before) == 0);
    }
    const Ready ready(ir::family_member("softmax"), 40, 96);
    const Product product(*ready.get(), large_limits());
    for (const int value : {0, 1, 64, 256})
      for (const bool first : {false, true}) {
        std::unordered_map<std::uint64_t, std::optional<int>> known;
        std::int64_t differ = 0;
        product.for_each(*ready.get(), [&](const ir::Plan& plan, std::uint64_t key) {
          const std::optional<int> meaning = row.meaning(plan, large_limits(), value, first);
          differ += known.try_emplace(key & key_of(row.on), meaning).first->second == meaning ? 0 : 1;
        });
        CHECK(differ == 0);
      }
  }
}

TEST_CASE("a tile plan comes once for all numbers of resident blocks, a persistent one for each") {
  const Ready ready(ir::family_member("row_sum"), 4096, 128);
  Axes axes = default_axes(*ready.get(), large_limits());
  axes[PlanField::threads] = {128};
  for (const std::vector<int>& numbers : {std::vector<int>{0}, {2}, {2, 4}, {4, 0}, {0, 4}}) {
    axes[PlanField::blocks_per_sm] = numbers;
    std::map<int, int> tiles, loops;
    Plans plans(*ready.get(), axes, large_limits());
    while (const auto plan = plans.next()) ++(plan->grid == ir::GridShape::tile ? tiles : loops)[plan->blocks_per_sm];
    CHECK(tiles.size() == 1);
    CHECK(tiles.contains(0));
    CHECK(loops.size() == numbers.size());
    for (const int number : numbers) CHECK(loops[number == 0 ? 8 : number] == tiles[0]);
  }
}

TEST_CASE("a copy goes on where the walk stood, and a stop ends it before the next prefix") {
  const Ready ready(ir::family_member("softmax"), 4096, 1024);
  const Axes axes = default_axes(*ready.get(), large_limits());
  std::stop_source stop;
  Plans walk(*ready.get(), axes, large_limits(), rules(), stop.get_token());
  for (int i = 0; i < 20; ++i) REQUIRE(walk.next().has_value());
  Plans bookmark = walk;
  const std::optional<ir::Plan> next = walk.next();
  REQUIRE(next.has_value());
  CHECK(bookmark.next() == next);
  CHECK(bookmark.passed() == walk.passed());
  stop.request_stop();
  const std::int64_t prefixes = walk.counts().prefixes;
  CHECK_FALSE(walk.next().has_value());
  CHECK(walk.stopped());
  CHECK(walk.counts().prefixes == prefixes);
  Plans fresh(*ready.get(), axes, large_limits(), rules());
  while (fresh.next()) continue;
  CHECK_FALSE(fresh.stopped());
  CHECK(fresh.passed() > walk.passed());
}

TEST_CASE("where heuristics leave no plan the last of them give way, as few as a look at every plan says") {
  int given_way = 0;
  for (const char* member : {"softmax", "row_sum", "column_sum", "layernorm_f16", "bias_gradient_bf16"})
    for (const int threads_per_row : {1, 4, 128}) {
      CAPTURE(member);
      CAPTURE(threads_per_row);
      const Ready ready(ir::family_member(member), 264, 1024);
      const codegen::Prepared& prepared = *ready.get();
      Axes axes = default_axes(prepared, large_limits());
      axes[PlanField::threads_per_row] = {threads_per_row};
      axes[PlanField::vector] = {1};
      axes[PlanField::threads] = {128, 1024};
      const std::vector<ir::Plan> all = flat_plans(prepared, axes, large_limits());
      // The row that drops a plan first, of the plan of which that row stands last.
      std::size_t in_force = 0;
      for (const ir::Plan& plan : all) {
        const Rule* rule = dropped_by(prepared, plan, large_limits());
        in_force =
            std::max(in_force, rule == nullptr ? rules().size() : static_cast<std::size_t>(rule - rules().data()));
      }
      REQUIRE(in_force > sound_rules());
      given_way += in_force < rules().size() ? 1 : 0;
      std::vector<std::string> expected, found;
      codegen::LowerScratch scratch;
      for (const ir::Plan& plan : all)
        if (dropped_by(prepared, plan, large_limits(), in_force) == nullptr &&
            std::holds_alternative<ir::Kernel>(codegen::lower(prepared, plan, large_limits(), scratch)))
          expected.push_back(text(plan));
      const Tuned tuned = tune(prepared, axes, search_gpu(), {});
      for (const Scored& one : tuned.ranked) found.push_back(text(one.plan));
      std::sort(expected.begin(), expected.end());
      std::sort(found.begin(), found.end());
      REQUIRE_FALSE(expected.empty());
      CHECK(found == expected);
      std::int64_t told = std::ssize(found);
      for (const RejectedPlans& one : tuned.rejections) told += one.plans;
      CHECK(told == tuned.enumerated);
      CHECK(tuned.enumerated == std::ssize(all));
    }
  CHECK(given_way > 3);
}

TEST_CASE("of few long rows most of the space is never looked at") {
  const Ready ready(ir::family_member("softmax"), 4, 65536);
  const Axes axes = default_axes(*ready.get(), large_limits());
  Plans walk(*ready.get(), axes, large_limits(), rules());
  while (walk.next()) continue;
  CHECK(walk.size() > 100000);
  CHECK(walk.passed() > 50000);
  CHECK(20 * walk.counts().prefixes < walk.passed());
  // An axis that no rule reads comes last and multiplies the plans, but hardly what is looked at.
  Axes more = axes;
  more[PlanField::min_blocks] = {0, 1, 2, 4};
  Plans longer(*ready.get(), more, large_limits(), rules());
  while (longer.next()) continue;
  CHECK(longer.size() == 4 * walk.size());
  CHECK(longer.passed() == 4 * walk.passed());
  CHECK(longer.counts().mappings == walk.counts().mappings);
  CHECK(longer.counts().asked == walk.counts().asked);
}

}  // namespace tailor::explore
