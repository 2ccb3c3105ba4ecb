// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// How far our XLA is XLA. In: a digest written by hand, whole and spoiled; and, where the build option third_party_data
// names them, digests of what XLA's compiler really did. Out: scores, reasons, notes; on the real ones the least shares
// that xla-model and xla-priority promise.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <fstream>

#include "base/error.h"
#include "folder.h"
#include "study/module/xla_agreement.h"
#include "support/approx.h"
#include "support/paths.h"
#include "support/skip.h"
#include "support/thorough.h"

namespace tailor::study {

namespace {

const std::filesystem::path targets = source / "data/xla";

constexpr std::string_view before =
    "HloModule m\n\nENTRY e {\n  p = f32[4096]{0} parameter(0)\n  a = f32[4096]{0} exponential(p)\n"
    "  ROOT b = f32[4096]{0} negate(a)\n}\n";
constexpr std::string_view after =
    "HloModule m\n\nf {\n  q = f32[4096]{0} parameter(0)\n  a.1 = f32[4096]{0} exponential(q)\n"
    "  ROOT b.1 = f32[4096]{0} negate(a.1)\n}\n\nENTRY e {\n  p = f32[4096]{0} parameter(0)\n"
    "  ROOT k = f32[4096]{0} fusion(p), kind=kLoop, calls=f\n}\n";

/// One kernel of two operations on an H200. By hand: 82 clocks an element on 32 blocks are 20.75 ns, reading at their
/// 2.03 TB/s 8 ns, writing 3.5 ns, of which 95 % hides: 21.25 ns.
struct Digest {
  std::string target = "h200", release = "0.10.2", members = R"("a", "b")", kind = "loop", us = "0.02125";
  std::string launches = R"([{"grid": [32, 1, 1], "block": [128, 1, 1]}])";

  void write(const std::filesystem::path& folder, bool with_texts = true) const {
    std::ofstream(folder / "m.json") << fmt::format(
        R"({{"target": "{}", "jaxlib": "{}", "kernels": [{{"name": "k", "kind": "{}", "members": [{}],
            "bytes_in": 16384, "bytes_out": 16384, "us": {}, "launches": {}}}]}})",
        target, release, kind, members, us, launches);
    if (!with_texts) return;
    std::ofstream(folder / "m.prefusion.hlo") << before;
    std::ofstream(folder / "m.optimized.hlo") << after;
  }
};

Agreement score(const Digest& digest) {
  Folder folder;
  digest.write(folder.path);
  return agreement_of(folder.path / "m.json", targets);
}

}  // namespace

TEST_CASE("a kernel with XLA's members, launch and price agrees in all three") {
  const Agreement found = score({});
  CHECK(found.module == "m");
  CHECK(found.device == "h200");
  CHECK(found.note.empty());
  CHECK(found.kernels.same == 1);
  CHECK(found.launches.same == 1);
  CHECK(found.prices.same == 1);
  CHECK(found.prices.all_bytes == 32768);
  CHECK(found.reasons.empty());
}

TEST_CASE("each difference is counted under its reason") {
  Digest fewer, unknown, other_launch, other_price;
  fewer.members = R"("a")";
  unknown.members = R"("a", "b", "zebra")";
  other_launch.launches = R"([{"grid": [16, 1, 1], "block": [256, 1, 1]}])";
  other_price.us = "0.03";
  CHECK(score(fewer).reasons.contains({"kernel", "a kernel of ours holds all of it and more"}));
  CHECK(score(unknown).reasons.contains({"kernel", "names that the module does not have"}));
  CHECK(score(other_launch).reasons.contains({"launch", "kernel of the loop emitter"}));
  CHECK(score(other_price).reasons.contains({"price", "kernel of the loop emitter"}));
  for (const Digest& digest : {fewer, unknown, other_launch, other_price}) {
    const Agreement found = score(digest);
    REQUIRE(found.reasons.size() == 1);
    CHECK(found.named.begin()->second == std::vector<std::string>{"k"});
    const report::Table table = disagreement_table({found, found});
    CHECK(table.columns.back().key == "first_kernels");
    CHECK(std::get<std::string>(table.rows[0].back()) == "m: k; m: k");
  }
}

TEST_CASE("of many kernels of a reason the first are named") {
  Agreement all{.module = "m"};
  const Disagreement what{"kernel", "cut at other places"};
  for (int i = 0; i < 9; ++i) all.reasons[what].add(false, 1);
  all.named[what] = {"a", "b", "c", "d"};
  CHECK(std::get<std::string>(disagreement_table({all}).rows[0].back()) == "m: a, b, c, d, and 5 more");
}

TEST_CASE("another release is scored and said, another GPU and Triton's kernels are left out and said") {
  Digest older, tpu, triton;
  older.release = "0.4.30";
  tpu.target = "tpu";
  triton.kind = "triton";
  CHECK(score(older).note == "made by jaxlib 0.4.30, our rules are those of jaxlib 0.10.2");
  CHECK(score(older).kernels.same == 1);
  CHECK(score(tpu).note.starts_with("not scored: data/xla has no description of XLA's target 'tpu', only of "));
  CHECK(score(tpu).kernels.all == 0);
  CHECK(score(triton).note.starts_with("kernels not scored: 1 are Triton's"));
  CHECK(score(triton).prices.all == 0);
}

TEST_CASE("a digest without its texts, without kernels, and a folder without digests say what was expected") {
  Folder folder;
  Digest{}.write(folder.path, false);
  const Agreement found = agreement_of(folder.path / "m.json", targets);
  CHECK(found.note.find("found no prefusion.hlo") != std::string::npos);
  CHECK(found.note.find("found no optimized.hlo") != std::string::npos);
  CHECK_THROWS_WITH_AS(agreements(folder.path, "", "", targets), doctest::Contains("found no module of XLA's"), Error);
  std::ofstream(folder.path / "n.json") << "{}";
  CHECK_THROWS_WITH_AS(agreement_of(folder.path / "n.json", targets), "found a digest without a list of kernels",
                       Error);
  Digest{}.write(folder.path);
  CHECK(agreements(folder.path, "", "h200", targets).size() == 1);
  CHECK_THROWS_WITH_AS(agreements(folder.path, "x", "", targets), "found 1 module, none with 'x' in its name", Error);
}

TEST_CASE("of several modules one that cannot be read is said so and the others are scored") {
  Folder folder;
  Digest{}.write(folder.path);
  for (const char* text : {".prefusion.hlo", ".optimized.hlo"})
    std::filesystem::copy_file(folder.path / ("m" + std::string(text)), folder.path / ("n" + std::string(text)));
  std::ofstream(folder.path / "n.json") << "{\n  \"target\": \"h200\",\n";
  const std::vector<Agreement> all = agreements(folder.path, "", "", targets);
  REQUIRE(all.size() == 2);
  CHECK(all[0].kernels.same == 1);
  CHECK_FALSE(all[0].unread);
  CHECK(all[1].unread);
  CHECK(all[1].note.starts_with("not read: n.json:3: not JSON"));
  CHECK(what_failed(all) == "1 of 2 modules could not be read; the notes say why");
  CHECK(what_failed({all[0]}).empty());
  CHECK_THROWS_WITH_AS(agreements(folder.path, "n", "", targets), doctest::Contains("not JSON"), Error);
}

TEST_CASE("an answer in which no kernel was judged is a failure") {
  CHECK(what_failed({Agreement{.module = "a", .device = "tpu"}}) ==
        "nothing was scored: found no kernel to judge in 1 module");
}

TEST_CASE("a dump of a user's own function is scored as it is: members, launches and prices of all seven kernels") {
  const std::filesystem::path shipped = source / "tests/data/xla_jax/dump";
  const std::vector<Agreement> all = agreements(shipped, "", "", targets);
  REQUIRE(all.size() == 1);
  CHECK(all[0].module == "module_0000.jit_layer");
  CHECK(all[0].device == "h200");
  CHECK(all[0].note.empty());
  CHECK(all[0].kernels.all == 7);
  CHECK(all[0].kernels.same == 7);
  CHECK(all[0].launches.same == 7);
  CHECK(all[0].prices.same == 7);
  CHECK(all[0].kernels.all_bytes > 7 * 128 * 64);
  Folder folder;
  for (const std::filesystem::directory_entry& file : std::filesystem::directory_iterator(shipped))
    std::filesystem::copy_file(file.path(), folder.path / file.path().filename());
  std::ofstream(folder.path / "manifest.json") << R"({"target": "h200", "target_of": "the device file"})";
  const std::vector<Agreement> other = agreements(folder.path, "", "", targets);
  CHECK(other[0].note.starts_with("not scored: XLA compiled for the device file"));
  CHECK(other[0].kernels.all == 0);
  std::ofstream(folder.path / "manifest.json") << R"({"target": "h200", "target_of": "XLA's specification"})";
  CHECK(agreements(folder.path, "", "", targets)[0].note == "made by jaxlib ?, our rules are those of jaxlib 0.10.2");
  for (const std::filesystem::directory_entry& file : std::filesystem::directory_iterator(folder.path))
    if (file.path().string().ends_with("merges.txt")) std::filesystem::remove(file.path());
  CHECK_THROWS_WITH_AS(agreements(folder.path, "", "", targets),
                       doctest::Contains("found nothing that says which instructions a kernel of XLA's was made of"),
                       Error);
}

TEST_CASE("of a dump whose record is not that of its modules no kernel is scored, and that is a failure") {
  const auto spoiled = [](std::string_view end, const std::string& text) {
    Folder folder;
    std::filesystem::copy(source / "tests/data/xla_jax/dump", folder.path, std::filesystem::copy_options::recursive);
    for (const auto& entry : std::filesystem::directory_iterator(folder.path))
      if (entry.path().string().ends_with(end)) std::ofstream(entry.path()) << text;
    return agreements(folder.path, "", "", targets);
  };
  for (const std::string_view file : {"priority_fusion_dump.txt", "multi_output_merges.txt"}) {
    const std::vector<Agreement> all = spoiled(file, "");
    CHECK(all[0].misfit);
    CHECK(all[0].note.starts_with("kernels not scored: the record of XLA's fusion is not that of its modules in "));
    CHECK(all[0].kernels.all == 0);
    CHECK(all[0].launches.same == 7);
    CHECK(what_failed(all) == "1 of 1 module has a record of XLA's fusion that is not its own; the notes say where");
  }
  const std::string manifest = R"({{"target": "{}", "target_of": "{}", "jaxlib": "0.10.2"}})";
  CHECK(spoiled("manifest.json", fmt::format(fmt::runtime(manifest), "b17", "XLA's specification"))[0].note ==
        "not scored: data/xla has no 'b17', expected XLA's own specification of one of a100_80gb, h200, v100");
  CHECK(
      spoiled("manifest.json", fmt::format(fmt::runtime(manifest), "h200", "the device file"))[0].note ==
      "not scored: XLA compiled for the device file, expected XLA's own specification of one of a100_80gb, h200, v100");
}

TEST_CASE("what the module before fusion lacks, and what of it is not known here, is named") {
  Digest unknown;
  unknown.members = R"("a", "zebra")";
  CHECK(score(unknown).note ==
        "1 kernel has names that m.prefusion.hlo does not have, the first 'zebra' of kernel k: is it the module XLA "
        "fused?");
  Folder folder;
  Digest{}.write(folder.path);
  std::string text(before);
  std::ofstream(folder.path / "m.prefusion.hlo") << text.replace(text.find("negate"), 6, "frobnicate");
  const Agreement later = agreement_of(folder.path / "m.json", targets);
  CHECK(later.note == "operations not known here, left unfused: frobnicate");
  CHECK(later.kernels.all == 1);
  CHECK(later.prices.same == 1);
}

TEST_CASE("a device that no digest is of is refused with those there are") {
  Folder folder;
  Digest{}.write(folder.path);
  CHECK_THROWS_WITH_AS(agreements(folder.path, "", "v100", targets), "found modules compiled for h200, none for 'v100'",
                       Error);
}

TEST_CASE("what a digest says in another form is refused with its place, what it leaves out is not") {
  Digest no_list, no_grid, no_price;
  no_list.members = "7";
  no_grid.launches = R"([{"grid": [1, "x", 1], "block": [1, 1, 1]}])";
  no_price.us = "null";
  no_price.launches = "null";
  CHECK_THROWS_WITH_AS(score(no_list), "found a digest with a number among the members", Error);
  CHECK_THROWS_WITH_AS(score(no_grid), "found a digest whose 'grid' is no list of numbers", Error);
  CHECK(score(no_price).prices.all == 0);
  CHECK(score(no_price).launches.all == 0);
  CHECK(score(no_price).kernels.same == 1);
}

TEST_CASE("the tables have a row each and their sum") {
  Folder folder;
  Digest{}.write(folder.path);
  const Agreement one = agreement_of(folder.path / "m.json", targets);
  const report::Table table = agreement_table({one, one});
  REQUIRE(table.rows.size() == 3);
  CHECK(std::get<std::int64_t>(table.rows.back()[2]) == 2);
  CHECK(std::get<double>(table.rows.back()[4]) == 1);
  CHECK(agreement_table({one}).rows.size() == 1);
  CHECK(disagreement_table({one}).rows.empty());
}

TEST_CASE("what is published of scores is their sum for each device, without what was not scored") {
  Folder folder;
  Digest{}.write(folder.path);
  const Agreement one = agreement_of(folder.path / "m.json", targets);
  Agreement other = one, none = one;
  other.release = "jaxlib 0.4.30";
  other.kernels.same = 0;
  none.kernels = {};
  none.device = "l4";
  const report::XlaScores found = published({one, other, none}, "tailor");
  REQUIRE(found.scores.size() == 1);
  CHECK(found.scores[0] ==
        report::XlaScore{"xla-priority", "h200", "jaxlib 0.10.2, jaxlib 0.4.30", 2, 1, 2, 1, 2, 2, 2, 2});
  CHECK(report::parse_xla_scores(text(found), "a.json") == found);
}

TEST_CASE("a module is chosen by a word between dots before any part of a name") {
  Folder folder;
  Digest{}.write(folder.path);
  for (const std::string_view name : {"n.plain", "n.plainer"})
    for (const std::string_view end : {".json", ".prefusion.hlo", ".optimized.hlo"})
      std::filesystem::copy_file(folder.path / ("m" + std::string(end)),
                                 folder.path / (std::string(name) + std::string(end)));
  CHECK(agreements(folder.path, "plain", "", targets).size() == 1);
  CHECK(agreements(folder.path, "plai", "", targets).size() == 2);
  CHECK(agreements(folder.path, "", "", targets).size() == 3);
}

TEST_CASE("the scores that ship are those of the modules at hand" * doctest::test_suite(testing::in_broad_runs)) {
  const std::filesystem::path root = third_party_folder();
  if (root.empty() || !std::filesystem::exists(root / "xla_reference")) return skip("no folder of digests");
  const report::XlaScores shipped = report::read_xla_scores(source / "data/agreement.json");
  const report::XlaScores found =
      published(agreements(root / "xla_reference", "notriton", "", targets), shipped.command);
  CHECK(found == shipped);
}

TEST_CASE("xla-model and xla-priority say what XLA said of its own modules" *
          doctest::test_suite(tailor::testing::in_broad_runs)) {
  const std::filesystem::path root = third_party_folder();
  if (root.empty() || !std::filesystem::exists(root / "xla_reference")) return skip("no folder of digests");
  Agreement sum;
  for (const std::string_view module : {"diffrax", "dlrm", "layer_norm", "mean_axis", "mha_block", "resnet50"})
    for (const Agreement& one : agreements(root / "xla_reference", std::string(module), "", targets)) {
      sum.kernels += one.kernels;
      sum.launches += one.launches;
      sum.prices += one.prices;
    }
  REQUIRE(sum.kernels.all > 500);
  CHECK(static_cast<double>(sum.kernels.same) >= 0.95 * static_cast<double>(sum.kernels.all));
  CHECK(sum.kernels.same_bytes >= 0.95 * sum.kernels.all_bytes);
  CHECK(static_cast<double>(sum.launches.same) >= 0.99 * static_cast<double>(sum.launches.all));
  CHECK(static_cast<double>(sum.prices.same) >= 0.95 * static_cast<double>(sum.prices.all));
}

}  // namespace tailor::study
