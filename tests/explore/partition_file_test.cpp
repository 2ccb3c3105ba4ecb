// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Partition files: what is written reads back as the same fusion, for every strategy on random graphs, on the models
// that ship and on every dump; and what a person can get wrong is named with its line and a hint. Part of the suite
// `explore`; dumps are skipped without the data folder.
#include "explore/partition_file.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <random>

#include "base/error.h"
#include "base/text.h"
#include "explore/runnable.h"
#include "explore/strategy.h"
#include "hlo/import.h"
#include "support/partition_sample.h"
#include "support/paths.h"
#include "support/random_graph.h"
#include "support/search_setting.h"
#include "support/skip.h"
#include "support/thorough.h"

using namespace tailor;
using namespace tailor::ir;
using namespace tailor::explore;

namespace {

/// What a file keeps of a fusion: all but who made it and why.
Fusion kept(Fusion fusion) {
  fusion.strategy.clear();
  fusion.device.clear();
  fusion.price.clear();
  for (EdgeNote& note : fusion.edges) {
    note.reason.clear();
    note.seconds.reset();
  }
  for (Fusion& body : fusion.bodies) body = kept(std::move(body));
  return fusion;
}

void check_round_trip(const Graph& graph, const Fusion& fusion) {
  const std::string written = partition_text(graph, fusion);
  const Fusion found = read_fusion(parse_partition(written, "a.partition"), graph);
  CHECK((kept(found) == kept(fusion)));
  CHECK(found.strategy == "a.partition");
  Fusion again = found;
  again.strategy = fusion.strategy;
  again.device = fusion.device;
  again.price = fusion.price;
  CHECK(partition_text(graph, again) == written);
}

std::vector<std::filesystem::path> models_under(const std::filesystem::path& root) {
  std::vector<std::filesystem::path> found;
  if (!std::filesystem::exists(root)) return found;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(root))
    if (entry.path().string().ends_with(".hlo") || entry.path().string().ends_with(".hlo.gz"))
      found.push_back(entry.path());
  std::sort(found.begin(), found.end());
  return found;
}

/// A cover of the working nodes by random groups that can run: some nodes are in several.
Fusion random_cover(const Graph& graph, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  const DefUse facts = def_use(graph);
  Fusion fusion = fuse(find_strategy("unfused"), graph);
  for (int attempt = 0; attempt < 30 && fusion.groups.size() > 1; ++attempt) {
    std::vector<std::vector<NodeId>> changed = fusion.groups;
    const std::size_t a = random() % changed.size(), b = random() % changed.size();
    if (a == b) continue;
    std::vector<NodeId>& into = changed[a];
    into.insert(into.end(), changed[b].begin(), changed[b].end());
    std::sort(into.begin(), into.end());
    into.erase(std::unique(into.begin(), into.end()), into.end());
    if (random() % 2 == 0) changed.erase(changed.begin() + static_cast<std::ptrdiff_t>(b));
    if (find_circle(graph, facts, changed).empty()) fusion.groups = changed;
  }
  return fusion;
}

/// The message, the hint and the place of the error that a file gives: "2:7 message / hint".
std::string fault(std::string_view text, const Graph& graph) {
  try {
    (void)read_fusion(parse_partition(text, "f.partition"), graph);
  } catch (const Error& error) {
    CHECK(error.fault == Fault::failed);
    CHECK(error.at.file == "f.partition");
    return fmt::format("{}:{} {} / {}", error.at.line, error.at.column, error.message, error.hint);
  }
  return "no error";
}

/// A file that fits, with its entry groups exchanged.
std::string with(std::string_view entry) {
  return fmt::format("partition 1\n{}body 0\ngroup %sum %go\nbody 1\ngroup next\n", entry);
}

}  // namespace

TEST_CASE(
    "a partition that is written reads back as the same fusion: random graphs, every strategy and random covers") {
  for (std::uint64_t seed = 1; seed <= testing::effort<std::uint64_t>(14, 40, 200); ++seed) {
    const Graph graph = well_formed_graph(seed, 40);
    INFO("seed ", seed);
    for (const Strategy& strategy : strategies()) check_round_trip(graph, fuse(strategy, graph, search_setting()));
    const Fusion cover = random_cover(graph, seed);
    const Fusion found = read_fusion(parse_partition(partition_text(graph, cover), "a.partition"), graph);
    CHECK(found.groups == cover.groups);
    check_round_trip(graph, found);
  }
}

TEST_CASE("the same for every model that ships" * doctest::test_suite(testing::in_broad_runs)) {
  const std::vector<std::filesystem::path> models =
      models_under(std::filesystem::path(source_folder()) / "data" / "models");
  REQUIRE_FALSE(models.empty());
  for (const std::filesystem::path& path : models) {
    const Graph graph = hlo::import_file(path.string()).graph;
    INFO(path.string());
    for (const Strategy& strategy : strategies()) check_round_trip(graph, fuse(strategy, graph, search_setting()));
  }
}

TEST_CASE("the same for every dump, XLA's own partitions among them") {
  std::vector<std::filesystem::path> dumps;
  if (!third_party_folder().empty())
    for (const std::string_view folder : {"hlo", "workloads", "xla_reference"})
      for (std::filesystem::path& path : models_under(std::filesystem::path(third_party_folder()) / folder))
        dumps.push_back(std::move(path));
  if (dumps.empty()) return skip("no dumps configured");
  for (std::size_t at = 0; at < dumps.size(); at += testing::effort<std::size_t>(40, 1)) {
    const std::filesystem::path& path = dumps[at];
    const Graph graph = hlo::import_file(path.string()).graph;
    INFO(path.string());
    // What a file holds does not depend on who chose it: searches, which take most of the time, on one folder.
    const bool searched =
        path.parent_path().filename() == "hlo" && path.string().find("workloads") == std::string::npos;
    for (const Strategy& strategy : strategies()) {
      if (strategy.needs.price && !searched) continue;
      INFO(strategy.name);
      check_round_trip(graph, fuse(strategy, graph, search_setting()));
    }
  }
}

TEST_CASE("a file written by hand reads: comments, names without '%', quoted names, free and duplicated nodes") {
  const Graph& graph = partition_sample();
  const Fusion fusion = read_fusion(parse_partition("# by hand\n\npartition 1 strategy=\"my own\" # head\n"
                                                    "group a   # first\r\n"
                                                    "\tgroup %a %b %\"c d\"\n"
                                                    "group y %flat\n"
                                                    "body 0\ngroup %sum %go\nbody 1\ngroup next",
                                                    "f.partition"),
                                    graph);
  const auto id = [&](std::string_view name) {
    const auto found =
        std::find_if(graph.nodes.begin(), graph.nodes.end(), [&](const Node& n) { return n.name == name; });
    return static_cast<NodeId>(found - graph.nodes.begin());
  };
  REQUIRE(fusion.groups.size() == 3);
  CHECK(fusion.groups[0] == std::vector<NodeId>{id("a")});
  CHECK(fusion.groups[1] == std::vector<NodeId>{id("a"), id("b"), id("c d")});
  CHECK(fusion.groups[2] == std::vector<NodeId>{id("flat"), id("y")});
  REQUIRE(fusion.bodies.size() == 2);
  CHECK(fusion.bodies[1].groups.size() == 1);
  REQUIRE(fusion.edges.size() == 2);
  CHECK(fusion.edges[0].decision == EdgeDecision::recomputed);
  CHECK(fusion.edges[0].reason == "file: both in the group of line 5");
  CHECK(fusion.bodies[0].edges[0].level == StitchLevel::grid);
}

TEST_CASE("what does not fit the graph is named with its line and a hint") {
  const Graph& graph = partition_sample();
  CHECK(fault(with("group a\ngroup b \"c d\"\ngroup y\n"), graph) == "no error");
  CHECK(fault(with("group a\ngroup bb\ngroup \"c d\" y\n"), graph) ==
        "3:7 sample has no node 'bb' / did you mean 'b'?");
  CHECK(fault(with("group a\ngroup b utterly_else\n"), graph) ==
        "3:9 sample has no node 'utterly_else' / tailor import MODEL --text prints all names");
  CHECK(fault(with("group a\ngroup b\n"), graph) ==
        "1:1 2 working nodes of sample are in no group: %c d, %y / each needs a kernel: add them to groups, or a line "
        "'group %c d'");
  CHECK(
      fault("partition 1\ngroup a\ngroup b \"c d\"\ngroup y\nbody 0\ngroup sum go\n", graph) ==
      "1:1 1 working node of body 1 (step) is in no group: %next / each needs a kernel: add them to groups, or a line "
      "'group %next', under a line 'body 1'");
  CHECK(
      fault(with("group \"c d\"\ngroup a b\ngroup y\n"), graph) ==
      "3:1 groups wait for each other in a circle: the group of line 3 waits for %l of %l (custom_call), %l "
      "(custom_call) waits for %a of the group of line 3 / split one of these groups, or put the values into the group "
      "that waits for them");
  CHECK(fault(with("group a a\n"), graph) ==
        "2:9 %a stands twice in this group / name it once; it may stand in other groups too");
  CHECK(fault(with("group a x\n"), graph) == "2:9 %x is a parameter: no kernel can hold it / leave it out");
  CHECK(fault(with("group a w\n"), graph) == "2:9 %w is a while_loop: no kernel can hold it / leave it out");
  CHECK(
      fault(with("group flat\n"), graph) ==
      "2:1 %flat and its group need no kernel / constants, reshapes and broadcasts are computed by whoever needs them: "
      "remove the line");
  CHECK(fault(with("group a\ngroup b \"c d\"\ngroup y\n") + "body 1/7\n", graph) ==
        "9:1 body 1/7 is no body of a loop or branch of sample / there are: 0, 1");
}

TEST_CASE("two groups of a circle are both named") {
  const Graph graph = parse_graph(R"(graph crossed {
  %x = parameter 0 : f32[4]
  %a = exp %x : f32[4]
  %b = negate %a : f32[4]
  %c = exp %b : f32[4]
  output %c
}
)");
  CHECK(fault("partition 1\ngroup a c\ngroup b\n", graph) ==
        "2:1 groups wait for each other in a circle: the group of line 2 waits for %b of the group of line 3, the "
        "group of "
        "line 3 waits for %a of the group of line 2 / split one of these groups, or put the values into the group that "
        "waits for them");
}

TEST_CASE("a file for another graph is refused, and says how to use it all the same") {
  const Graph& graph = partition_sample();
  Graph other = graph;
  other.name = "other";
  const std::string written = partition_text(graph, fuse(find_strategy("unfused"), graph));
  CHECK(fault(written, graph) == "no error");
  const std::string message = fault(written, other);
  CHECK(message.starts_with("2:1 the file was written for graph "));
  CHECK(message.find("remove graph= from the line") != message.npos);
  const std::size_t at = written.find(" graph=");
  CHECK(fault(written.substr(0, at) + written.substr(at + 7 + 32), other) == "no error");
}

TEST_CASE("what is no partition file is named with its place") {
  const Graph& graph = partition_sample();
  CHECK(fault("", graph).starts_with("0:0 the file is empty, expected a head line"));
  CHECK(fault("# nothing\n\n", graph).starts_with("0:0 the file is empty, expected a head line"));
  CHECK(fault("group a\n", graph).starts_with("1:1 found 'group', expected a head line"));
  CHECK(fault("partition 2\n", graph) ==
        "1:11 the file is of version 2, this tailor reads version 1 / write it again "
        "with tailor fuse MODEL --write-partition FILE");
  CHECK(fault("partition\n", graph).starts_with("1:10 found '', expected the version of the format, 1"));
  CHECK(fault("partition 1 stratgy=x\n", graph) == "1:13 the head line has no 'stratgy' / did you mean 'strategy'?");
  CHECK(fault("partition 1 graph=12\n", graph).starts_with("1:19 '12' is no graph id"));
  CHECK(fault("partition 1 graph\n", graph).starts_with("1:18 found the end of the line, expected '='"));
  CHECK(fault("partition 1\ngroups a\n", graph) ==
        "2:1 found 'groups', expected a line that begins with group or body / did you mean 'group'?");
  CHECK(fault("partition 1\ngroup\n", graph).starts_with("2:6 a group without nodes"));
  CHECK(fault("partition 1\ngroup a, b\n", graph).starts_with("2:8 found ',', expected a name"));
  CHECK(fault("partition 1\ngroup \"a\n", graph).starts_with("2:9 found the end of the line inside a name"));
  CHECK(fault("partition 1\nbody one\n", graph).starts_with("2:6 found 'one', expected the place of a body"));
  CHECK(fault("partition 1\nbody 0\nbody 0\n", graph).starts_with("3:6 body 0 was opened before, on line 2"));
}

TEST_CASE("a graph of library calls alone has a file without groups") {
  const Graph graph = parse_graph(R"(graph calls {
  %x = parameter 0 : f32[4]
  %l = custom_call %x, target="lib" : f32[4]
  output %l
}
)");
  for (const Strategy& strategy : strategies()) check_round_trip(graph, fuse(strategy, graph, search_setting()));
}

TEST_CASE("a path that ends in .partition is a strategy") {
  const std::filesystem::path folder = std::filesystem::temp_directory_path() / "tailor_partition_file_test";
  std::filesystem::create_directories(folder);
  const std::string path = (folder / "own.partition").string();
  const Graph& graph = partition_sample();
  write_file(path, with("group a\ngroup b \"c d\"\ngroup y\n"));
  const Fusion fusion = fuse(find_strategy(path), graph);
  CHECK(fusion.strategy == path);
  CHECK(fusion.groups.size() == 3);
  std::filesystem::remove_all(folder);
  CHECK_THROWS_AS((void)find_strategy(path), Error);
}
