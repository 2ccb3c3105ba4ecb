// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// What derives from the tables of skeletons and plan fields: plans with any values read back from their text, a field
// of another skeleton is refused by name, and every field is reached under its name. Plans are drawn at random with a
// fixed seed. Part of the suite `ir`.
#include "ir/plan.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <random>

#include "base/error.h"

using namespace tailor;
using namespace tailor::ir;

namespace {

std::string plan_complaint(std::string_view text) {
  try {
    parse_plan(text);
  } catch (const Error& error) {
    return error.message;
  }
  return {};
}

/// Any values in the fields that the skeleton has.
Plan drawn(Skeleton skeleton, std::mt19937_64& random) {
  Plan plan;
  plan.skeleton = skeleton;
  for (const PlanFieldRow& field : plan_fields()) {
    if (!row(skeleton).has(field.field) || field.kind == FieldKind::homes) continue;
    const std::uint64_t values = field.words.empty() ? 1 << 20 : field.words.size();
    set_value(plan, field.field, static_cast<int>(random() % values));
  }
  NodeId node = 0;
  for (std::uint64_t i = row(skeleton).has(PlanField::homes) ? random() % 4 : 0; i-- > 0; ++node) {
    node += static_cast<NodeId>(random() % 100);
    plan.homes.push_back({node, stitch_levels()[static_cast<std::size_t>(random() % stitch_levels().size())]});
  }
  if (row(skeleton).unit != WorkUnit::bodies) return plan;
  const auto below = static_cast<std::uint64_t>(skeleton);  // stages hold packs too
  for (std::uint64_t i = 1 + random() % 4; i-- > 0;)
    plan.bodies.push_back(drawn(skeletons()[static_cast<std::size_t>(random() % below)].skeleton, random));
  copy_fields(plan, plan, skeleton);
  return plan;
}

}  // namespace

TEST_CASE("plans of every skeleton read back from their text") {
  std::mt19937_64 random(11);
  for (const SkeletonRow& skeleton : skeletons())
    for (int i = 0; i < 200; ++i) {
      const Plan plan = drawn(skeleton.skeleton, random);
      INFO(text(plan));
      CHECK((parse_plan(text(plan)) == plan));
    }
}

TEST_CASE("a plan says its fields in the order of the table and only its own") {
  Plan plan;
  plan.dominant = 3;
  CHECK(text(plan) ==
        "map dominant=%3 threads=128 vector=4 unroll=1 grid=tile index_cache=on value_cache=on arithmetic=xla");
  plan.skeleton = Skeleton::row;
  plan.homes = {{3, StitchLevel::registers}, {9, StitchLevel::block}};
  plan.grid = GridShape::persistent;
  plan.blocks_per_sm = 4;
  CHECK(text(plan) ==
        "row dominant=%3 threads=128 threads_per_row=32 vector=4 in_flight=1 split=1 homes=%3@register,%9@block "
        "grid=persistent blocks_per_sm=4 index_cache=on value_cache=on arithmetic=xla");
  plan.homes.clear();
  CHECK(text(plan) ==
        "row dominant=%3 threads=128 threads_per_row=32 vector=4 in_flight=1 split=1 grid=persistent "
        "blocks_per_sm=4 index_cache=on value_cache=on arithmetic=xla");
}

TEST_CASE("every value of a field reads back from its word, and other words do not") {
  for (const PlanFieldRow& field : plan_fields()) {
    INFO(field.name);
    CHECK((plan_field_named(field.name) == field.field));
    const int values = field.words.empty() ? 5 : static_cast<int>(field.words.size());
    for (int value = 0; value < values; ++value) {
      // What counts something is at least 1, and a cluster of one block is none.
      const bool counts = field.kind == FieldKind::number && ir::value(Plan{}, field.field) > 0;
      const int meant = field.field == PlanField::cluster && value == 1 ? 0 : value;
      const std::optional<int> read = parse_value(field.field, value_text(field.field, value));
      CHECK(read == (counts && value == 0 ? std::nullopt : std::optional(meant)));
    }
    for (const std::string_view word : {"", "-1", "1x", "%", "%x", "perhaps", "4.5", "2147483648", "%2147483648"})
      CHECK(!parse_value(field.field, word));
  }
}

TEST_CASE("a field of older plans is refused with what says the same today") {
  for (const char* field : {"residence=shared", "sub_roots=%3@warp"})
    for (const char* skeleton : {"map", "column", "row"}) try {
        parse_plan(fmt::format("{} dominant=%3 {} threads=64", skeleton, field));
        FAIL("it was read");
      } catch (const Error& error) {
        const std::string_view name = std::string_view(field).substr(0, std::string_view(field).find('='));
        CHECK(error.message == fmt::format("plan: found '{}', expected a field of a plan", name));
        CHECK(error.hint == successor_of(name));
        CHECK(error.hint.find("homes=") != std::string::npos);
        CHECK(older_field_in(fmt::format("row threads=64 {} grid=tile", field)) == name);
      }
  CHECK(successor_of("homes").empty());
  CHECK(older_field_in("row threads=64 homes=%3@register grid=tile").empty());
  CHECK(older_field_in("").empty());
}

TEST_CASE("a home that is named by its memory is told the word for who shares it") {
  const auto hint = [](const char* text) -> std::string {
    try {
      (void)parse_plan(text);
    } catch (const Error& error) {
      return error.hint;
    }
    return "read";
  };
  CHECK(hint("row dominant=%3 homes=%1@shared") == "shared is a word of --axis homes=; of one value that is block");
  CHECK(hint("row dominant=%3 homes=%1@registers") ==
        "registers is a word of --axis homes=; of one value that is register");
  CHECK(hint("row dominant=%3 homes=%1@blok") == "did you mean 'block'?");
  CHECK(hint("row dominant=%3 homes=%1@block") == "read");
}

TEST_CASE("a plan's text with letters changed is refused as a word, or reads back as it is") {
  std::mt19937_64 random(5);
  const std::string letters = "%@,= 0139abdefghilmoprstvw_-";
  int read = 0, refused = 0;
  for (int i = 0; i < 20000; ++i) {
    std::string changed = "row dominant=%3 threads=64 homes=%1@register,%12@block,%40@warp grid=tile";
    for (std::uint64_t times = 1 + random() % 3; times-- > 0;) {
      const std::size_t at = random() % changed.size();
      if (random() % 3 == 0) changed.erase(at, 1 + random() % 4);
      if (random() % 2 == 0) changed.insert(std::min(at, changed.size()), 1, letters[random() % letters.size()]);
      if (at < changed.size()) changed[at] = letters[random() % letters.size()];
    }
    INFO(changed);
    try {
      const Plan plan = parse_plan(changed);
      ++read;
      CHECK((parse_plan(text(plan)) == plan));
      for (std::size_t k = 1; k < plan.homes.size(); ++k) CHECK(plan.homes[k - 1].node < plan.homes[k].node);
    } catch (const Error& error) {
      ++refused;
      CHECK(error.fault == Fault::usage);
      CHECK(error.message.starts_with("plan: found "));
      // Of a value it says where it stands.
      if (const std::size_t at = error.message.find(" at character "); at != error.message.npos) {
        const std::size_t quote = error.message.find('\''), place = std::stoul(error.message.substr(at + 14));
        const std::string word = error.message.substr(quote + 1, at - quote - 2);
        CHECK(changed.substr(place - 1, word.size()) == word);
      }
    }
  }
  CHECK(read > 100);
  CHECK(refused > 5000);
}

TEST_CASE("plans agree in a field where they say the same, of homes in the whole list") {
  Plan a, b;
  a.skeleton = b.skeleton = Skeleton::row;
  a.homes = {{1, StitchLevel::registers}, {4, StitchLevel::block}};
  b.homes = {{1, StitchLevel::block}, {4, StitchLevel::registers}};
  b.threads = 64;
  for (const PlanFieldRow& field : plan_fields()) {
    CAPTURE(field.name);
    CHECK(agree(a, a, field.field));
    CHECK(agree(a, b, field.field) == (field.field != PlanField::homes && field.field != PlanField::threads));
  }
  CHECK(field_text(a, PlanField::homes) == "%1@register,%4@block");
  CHECK(field_text(Plan{}, PlanField::homes).empty());
  CHECK(field_text(b, PlanField::threads) == "64");
  CHECK(field_text(b, PlanField::grid) == "tile");
}

TEST_CASE("a pack says once what holds for all of its bodies, and each body the rest") {
  const std::string words =
      "pack threads=256 index_cache=on value_cache=on arithmetic=ieee min_blocks=2 | map dominant=%3 vector=4 unroll=2 "
      "grid=tile | row dominant=%7 threads_per_row=32 vector=2 in_flight=1 split=1 homes=%1@register grid=tile";
  const Plan pack = parse_plan(words);
  CHECK(text(pack) == words);
  REQUIRE(pack.bodies.size() == 2);
  for (const Plan& body : pack.bodies) {
    CHECK(body.threads == 256);
    CHECK(body.arithmetic == Arithmetic::ieee);
    CHECK(body.min_blocks == 2);
  }
  CHECK(pack.bodies[1].homes == std::vector<Home>{{1, StitchLevel::registers}});
  const Id group = tailor::id_of("g");
  Plan turned = pack;
  std::swap(turned.bodies[0], turned.bodies[1]);
  CHECK(id_of(turned, group) != id_of(pack, group));
  CHECK(plan_complaint("pack threads=256") ==
        "plan: found '', expected the bodies of pack behind bars, pack threads=256 | map dominant=%3 | ...");
  CHECK(plan_complaint("pack threads=256 | map threads=128") ==
        "plan: found 'threads', expected a field of the body alone");
  CHECK(plan_complaint("pack threads=256 | pack vector=2") ==
        "plan: found 'pack', expected the skeleton of a body: no pack holds another one, nor stages");
  CHECK(plan_complaint("pack threads=256 vector=4 | map") ==
        "plan: found 'vector', expected a field of a plan of skeleton pack");
  CHECK(plan_complaint("pack threads=256 | ") ==
        "plan: found '', expected a plan behind each bar, that of a body or a stage, which begins with its skeleton");
  CHECK(plan_complaint("map dominant=%3 | map dominant=%4") ==
        "plan: found '|', expected the end of a plan of skeleton map");
}

TEST_CASE("stages stand behind double bars, and a stage may be a pack") {
  const std::string words =
      "stages threads=256 homes=%5@grid,%7@grid grid=persistent blocks_per_sm=2 index_cache=on value_cache=on "
      "arithmetic=xla || pack | row dominant=%5 threads_per_row=32 vector=2 in_flight=1 split=1 homes=%1@register | "
      "map "
      "dominant=%3 vector=4 unroll=2 || map dominant=%9 vector=1 unroll=1";
  const Plan stages = parse_plan(words);
  CHECK(text(stages) == words);
  REQUIRE(stages.bodies.size() == 2);
  REQUIRE(stages.bodies[0].bodies.size() == 2);
  CHECK(stages.homes.size() == 2);
  for (const Plan* one :
       {&stages.bodies[0], &stages.bodies[0].bodies[0], &stages.bodies[0].bodies[1], &stages.bodies[1]}) {
    CHECK(one->threads == 256);
    CHECK(one->grid == GridShape::persistent);
    CHECK(one->blocks_per_sm == 2);
  }
  CHECK(stages.bodies[0].bodies[0].homes == std::vector<Home>{{1, StitchLevel::registers}});
  CHECK(stages.bodies[1].homes.empty());
  CHECK(plan_complaint("stages threads=256") ==
        "plan: found '', expected the bodies of stages behind bars, stages threads=256 || map dominant=%3 || ...");
  CHECK(plan_complaint("stages threads=256 | map") == "plan: found '|', expected the end of a plan of skeleton stages");
  CHECK(plan_complaint("pack threads=256 || map") == "plan: found '||', expected the end of a plan of skeleton pack");
  CHECK(plan_complaint("stages threads=256 || stages") ==
        "plan: found 'stages', expected the skeleton of a body: no pack holds another one, nor stages");
  CHECK(plan_complaint("stages threads=256 || pack | map grid=tile") ==
        "plan: found 'grid', expected a field of the body alone");
  CHECK(plan_complaint("stages threads=256 || map threads=64") ==
        "plan: found 'threads', expected a field of the body alone");
}

TEST_CASE("a plan that contradicts its skeleton names the word") {
  CHECK(plan_complaint("map dominant=%3 in_flight=2") ==
        "plan: found 'in_flight', expected a field of a plan of skeleton map");
  CHECK(plan_complaint("row unroll=2") == "plan: found 'unroll', expected a field of a plan of skeleton row");
  CHECK(plan_complaint("row speed=2") == "plan: found 'speed', expected a field of a plan");
  CHECK(plan_complaint("row vector=2 threads=64 vector=4") == "plan: found 'vector', expected each field once");
  CHECK(plan_complaint("row homes=%3@lane") ==
        "plan: found 'lane', expected one of register, warp, block, cluster, grid");
  CHECK(plan_complaint("row homes=shared") == "plan: found 'shared', expected node@level such as %3@register");
  CHECK(plan_complaint("row homes=") == "plan: found '', expected node@level such as %3@register");
  CHECK(plan_complaint("row homes=%3@register,") == "plan: found '', expected node@level such as %3@register");
  CHECK(plan_complaint("row homes=%-3@register") ==
        "plan: found '%-3@register', expected node@level such as %3@register");
  for (const char* second : {"%3@block", "%2@register"})
    CHECK(plan_complaint("row homes=%3@register," + std::string(second)) ==
          fmt::format("plan: found '{}', expected a node behind %3: homes ascend, each node once", second));
  CHECK(plan_complaint("map homes=%3@register") == "plan: found 'homes', expected a field of a plan of skeleton map");
  CHECK(plan_complaint("row arithmetic=fast") ==
        "plan: found arithmetic='fast' at character 16, expected one of ieee, xla, approx");
  CHECK(plan_complaint("row threads=many") ==
        "plan: found threads='many' at character 13, expected a whole number from 1 to 2,147,483,647");
  CHECK(plan_complaint("row vector=4  cluster=2147483648") ==
        "plan: found cluster='2147483648' at character 23, expected a whole number from 0 to 2,147,483,647");
  CHECK(plan_complaint("pack threads=64 | map vector=4 | map dominant=3") ==
        "plan: found dominant='3' at character 47, expected a node such as %5");
  CHECK(plan_complaint("row threads") == "plan: found 'threads', expected key=value");
  CHECK(plan_complaint("diagonal threads=64") ==
        "plan: found 'diagonal', expected one of map, transpose, column, row, pack, stages");
  CHECK(plan_complaint("") == "plan: found '', expected one of map, transpose, column, row, pack, stages");
}
