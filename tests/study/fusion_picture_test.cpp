// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// What a picture of a fused model holds: every kernel and call once, every note on an edge as a line, shares that add
// up; and what is summed up or left out of it is counted. The oracle is the partition of the same fusion. Part of the
// suite `study`.
#include "study/module/fusion_picture.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "base/error.h"
#include "explore/strategy.h"
#include "hlo/import.h"
#include "hlo/normalise.h"
#include "support/approx.h"
#include "support/paths.h"
#include "support/random_graph.h"
#include "support/search_setting.h"

using namespace tailor;
using namespace tailor::study;

namespace {

struct Marks {
  std::int64_t kernels = 0, calls = 0, operations = 0, left_out = 0;
  std::size_t inside = 0, between = 0;
  double share = 0;
};

Marks marks_of(const report::Picture& picture) {
  Marks count;
  for (const report::PicturePanel& panel : picture.panels) {
    count.left_out += panel.left_out;
    count.between += panel.lines.size();
    for (const report::PictureBox& box : panel.boxes) {
      count.calls += box.kind == report::PictureKind::library ? 1 : 0;
      if (box.kind != report::PictureKind::kernel) continue;
      count.kernels += box.times;
      count.operations += box.operations;
      count.inside += box.lines.size();
      count.share += box.share;
    }
  }
  return count;
}

struct Case {
  ir::Graph graph;
  ir::Fusion fusion;
  explore::Partition partition;
};

Case fused(ir::Graph graph, std::string_view strategy) {
  Case made{std::move(graph), {}, {}};
  made.fusion = explore::fuse(explore::find_strategy(strategy), made.graph, search_setting());
  made.partition = explore::partition(made.graph, made.fusion);
  return made;
}

/// What nobody needs is in no kernel's way from its reads to its writes.
ir::Graph without_dead_nodes(ir::Graph graph) {
  hlo::Ledger ledger;
  hlo::run_passes(graph, ledger);
  return graph;
}

report::Picture picture_of(const Case& of, const PictureLimits& limits) {
  return fusion_picture(of.graph, of.fusion, of.partition, &search_gpu(), limits);
}

ir::Graph bert() { return hlo::import_file(source_folder() + "/data/models/bert_infer_l12_b1_s128_f16.hlo").graph; }

}  // namespace

TEST_CASE("a whole picture has every kernel, call and edge of the fusion, and its shares add up") {
  for (std::uint64_t seed = 1; seed <= 40; ++seed)
    for (const std::string_view strategy : {"unfused", "stitch-v1", "tailor"}) {
      CAPTURE(seed);
      const Case of = fused(without_dead_nodes(well_formed_graph(seed, 40)), strategy);
      const Marks count = marks_of(picture_of(of, {}));
      CHECK(count.kernels == of.partition.kernels);
      CHECK(count.calls == static_cast<std::int64_t>(of.partition.library.size()));
      CHECK(count.left_out == 0);
      if (count.kernels > 0) CHECK(count.share == approx(1));
      std::size_t kept = 0;
      std::set<std::tuple<std::int32_t, ir::NodeId, ir::NodeId>> cut;
      for (const ir::EdgeNote& note : of.fusion.edges) {
        if (note.decision == ir::EdgeDecision::cut)
          cut.insert({note.group, note.producer, note.consumer});
        else
          ++kept;
      }
      CHECK(count.inside <= kept);  // a cover may hold members that nothing there needs
      if (strategy != "tailor") CHECK(count.inside == kept);
      if (strategy == "unfused") CHECK(count.between == cut.size());
    }
}

TEST_CASE("twelve equal layers share no box, kernels between the same boxes do, and none is lost") {
  const Case of = fused(bert(), "stitch-v1");
  const report::Picture whole = picture_of(of, {}), drawn = picture_of(of, drawn_limits);
  CHECK(marks_of(whole).kernels == of.partition.kernels);
  CHECK(marks_of(drawn).kernels + marks_of(drawn).left_out == of.partition.kernels);
  CHECK(marks_of(drawn).calls == marks_of(whole).calls);
  CHECK(marks_of(drawn).between <= marks_of(whole).between);
}

TEST_CASE("what is left out of a picture is the cheapest, and is counted") {
  const Case of = fused(bert(), "stitch-v1");
  const report::Picture few = picture_of(of, {.kernels = 5, .calls = 3});
  const Marks count = marks_of(few);
  CHECK(count.kernels == 5);
  CHECK(count.calls == 3);
  CHECK(count.left_out == of.partition.kernels + static_cast<std::int64_t>(of.partition.library.size()) - 8);
  double least = 1;
  for (const report::PictureBox& box : few.panels[0].boxes)
    if (box.kind == report::PictureKind::kernel) least = std::min(least, box.share);
  const report::Picture whole = picture_of(of, {});
  const auto dearer = std::count_if(whole.panels[0].boxes.begin(), whole.panels[0].boxes.end(),
                                    [&](const report::PictureBox& box) { return box.share > least; });
  CHECK(dearer <= 5);
  const report::Picture without = picture_of(of, {.operations = 100});
  for (const report::PictureBox& box : without.panels[0].boxes) CHECK(box.nodes.empty());
}

TEST_CASE("an optimiser that treats arrays alike is one box for all of them") {
  std::string text = "HloModule m\nENTRY e {\n";
  std::string outputs, types;
  for (int i = 0; i < 50; ++i) {
    text += fmt::format("p{0} = f32[64] parameter({0})\n", i);
    text += fmt::format("c{0} = f32[64] custom-call(p{0}), custom_call_target=\"a\"\ns{0} = f32[64] sine(p{0})\n", i);
    outputs += fmt::format("{}s{}", i == 0 ? "" : ", ", i);
    types += fmt::format("{}f32[64]", i == 0 ? "" : ", ");
  }
  text += fmt::format("ROOT t = ({}) tuple({})\n}}\n", types, outputs);
  const Case of = fused(hlo::import_hlo(text, "alike.hlo").graph, "unfused");
  const report::Picture drawn = picture_of(of, drawn_limits);
  REQUIRE(drawn.panels.size() == 1);
  REQUIRE(drawn.panels[0].boxes.size() == 1);
  CHECK(drawn.panels[0].boxes[0].times == 50);
}

TEST_CASE("a loop's body is a panel of its own that says how often it runs") {
  const ir::Graph graph = hlo::import_hlo(R"(HloModule m
c { s = (s32[], f32[8]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  n = s32[] constant(7)
  ROOT l = pred[] compare(i, n), direction=LT }
b { s = (s32[], f32[8]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  one = s32[] constant(1)
  j = s32[] add(i, one)
  x = f32[8] get-tuple-element(s), index=1
  y = f32[8] tanh(x)
  ROOT t = (s32[], f32[8]) tuple(j, y) }
ENTRY e { x = f32[8] parameter(0)
  z = s32[] constant(0)
  y = f32[8] sine(x)
  s = (s32[], f32[8]) tuple(z, y)
  w = (s32[], f32[8]) while(s), condition=c, body=b, backend_config={"known_trip_count":{"n":"7"}}
  o = f32[8] get-tuple-element(w), index=1
  ROOT q = f32[8] cosine(o) }
)",
                                          "loop.hlo")
                              .graph;
  const report::Picture picture = picture_of(fused(graph, "unfused"), {});
  REQUIRE(picture.panels.size() == 2);
  CHECK(picture.panels[1].title == "m/w.body, 7 times in a run");
  CHECK(picture.panels[0].boxes.size() == 3);
  CHECK(picture.panels[0].lines.size() == 2);  // into the loop and out of it
  CHECK(marks_of(picture).share == approx(1));
}

TEST_CASE("a model of library calls alone, and one of nothing, have pictures without kernels") {
  const Case calls =
      fused(hlo::import_hlo("HloModule m\nENTRY e {\n x = f32[4,4] parameter(0)\n ROOT d = f32[4,4] dot(x, x), "
                            "lhs_contracting_dims={1}, rhs_contracting_dims={0}\n}\n",
                            "calls.hlo")
                .graph,
            "stitch-v1");
  CHECK(marks_of(picture_of(calls, drawn_limits)).calls == 1);
  const Case nothing = fused(
      hlo::import_hlo("HloModule m\nENTRY e {\n ROOT x = f32[4,4] parameter(0)\n}\n", "nothing.hlo").graph, "unfused");
  const report::Picture empty = picture_of(nothing, drawn_limits);
  CHECK(marks_of(empty).kernels == 0);
  CHECK(report::picture_svg(empty).find("nothing runs here") != std::string::npos);
}

TEST_CASE("a picture that is asked to stop throws") {
  const Case of = fused(bert(), "stitch-v1");
  std::stop_source source;
  source.request_stop();
  CHECK_THROWS_AS(fusion_picture(of.graph, of.fusion, of.partition, nullptr, {}, source.get_token()), Error);
}
