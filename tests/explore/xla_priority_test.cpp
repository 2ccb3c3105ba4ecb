// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// XLA's fusion on graphs written by hand. In: small graphs and an H200 as XLA sees it, from the files that ship. Out:
// the kernels that XLA's queue and its multi-output pass make of them. Each case is one rule of theirs, turned round
// where it can be, so that a case fails when its rule does.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <set>
#include <stop_token>

#include "base/error.h"
#include "explore/strategy.h"
#include "explore/xla/instructions.h"
#include "support/search_setting.h"
#include "support/thorough.h"

using namespace tailor;
using namespace tailor::ir;
using namespace tailor::explore;

namespace {

using Kernels = std::set<std::set<std::string>>;

Kernels kernels_of(std::string_view lines) {
  const Graph graph = parse_graph(fmt::format("graph g {{\n{}}}\n", lines));
  Kernels found;
  for (const std::vector<NodeId>& kernel : xla_kernels(graph, *search_gpu().xla)) {
    std::set<std::string> names;
    for (const NodeId id : kernel)
      if (graph[id].op != Op::constant) names.insert(graph[id].name);
    found.insert(std::move(names));
  }
  return found;
}

}  // namespace

TEST_CASE("a chain of elementwise operations is one kernel, with its constants") {
  CHECK(kernels_of(R"(  %x = parameter 0 : f32[4096]
  %c = constant 2 : f32[]
  %cs = broadcast %c, axes={} : f32[4096]
  %a = multiply %x, %cs : f32[4096]
  %b = exp %a : f32[4096]
  output %b
)") == Kernels{{"cs", "a", "b"}});
}

TEST_CASE("what runs beside the rest is fused into no kernel, in whichever order the groups of its node stand") {
  const std::string lines = R"(  %x = parameter 0 : f32[4096]
  %a = negate %x : f32[4096]
  %b = exp %a : f32[4096]
  output %b
)";
  const std::string beside = "  given start async { %a }\n", fusion = "  given fusion.1 kLoop { %a, %b }\n";
  CHECK(kernels_of(lines) == Kernels{{"a", "b"}});
  CHECK(kernels_of(lines + fusion) == Kernels{{"a", "b"}});
  CHECK(kernels_of(lines + beside) == Kernels{{"b"}});
  CHECK(kernels_of(lines + fusion + beside) == Kernels{{"b"}});
  CHECK(kernels_of(lines + beside + fusion) == Kernels{{"b"}});
}

TEST_CASE("a cheap producer is computed in each of its users") {
  CHECK(kernels_of(R"(  %x = parameter 0 : f32[65536]
  %a = negate %x : f32[65536]
  %b = exp %a : f32[65536]
  %s = slice %a, ranges={0:32768:1} : f32[32768]
  %d = log %s : f32[32768]
  output %b, %d
)") == Kernels{{"a", "b"}, {"a", "s", "d"}});
}

TEST_CASE("what the world reads is not fused away, but may be computed along with a user") {
  CHECK(kernels_of(R"(  %x = parameter 0 : f32[1048576]
  %a = exp %x : f32[1048576]
  %b = negate %a : f32[1048576]
  output %a, %b
)") == Kernels{{"a", "b"}});
}

TEST_CASE("a reduction stays the end of its kernel, and two large ones do not share one by an edge") {
  CHECK(kernels_of(R"(  %x = parameter 0 : f32[1024,1024]
  %zero = constant 0 : f32[]
  %e = exp %x : f32[1024,1024]
  %r = reduce add %e, %zero, axes={1} : f32[1024]
  %rb = broadcast %r, axes={0} : f32[1024,1024]
  %d = divide %x, %rb : f32[1024,1024]
  %s = reduce add %d, %zero, axes={1} : f32[1024]
  output %s
)") == Kernels{{"e", "r"}, {"rb", "d", "s"}});
}

TEST_CASE("reductions of one array over the same rows become one kernel, over rows and columns they do not") {
  const auto two = [](std::string_view second) {
    return kernels_of(fmt::format(R"(  %x = parameter 0 : f32[1024,1024]
  %zero = constant 0 : f32[]
  %a = exp %x : f32[1024,1024]
  %b = reduce add %a, %zero, axes={{1}} : f32[1024]
  %c = negate %x : f32[1024,1024]
  %d = reduce add %c, %zero, axes={{{}}} : f32[1024]
  output %b, %d
)",
                                  second));
  };
  CHECK(two("1") == Kernels{{"a", "b", "c", "d"}});
  CHECK(two("0") == Kernels{{"a", "b"}, {"c", "d"}});
}

TEST_CASE("a reduction that XLA cut in two is younger than what stands behind it") {
  // d / -sum(x): the sum is cut at 128 x 250. Sum and negation gain equally much, and the younger goes first.
  const auto of = [](std::string_view rows) {
    return kernels_of(fmt::format(R"(  %x = parameter 0 : f32[2048,32000]
  %d = parameter 1 : f32[2048]
  %zero = constant 0 : f32[]
{}  %n = negate %s : f32[2048]
  %q = divide %d, %n : f32[2048]
  output %q
)",
                                  rows));
  };
  CHECK(of(R"(  %v = bitcast %x : f32[2048,128,250]
  %r = reduce add %v, %zero, axes={2} : f32[2048,128]
  %s = reduce add %r, %zero, axes={1} : f32[2048]
)") == Kernels{{"v", "r"}, {"s", "n"}, {"q"}});
  // By another function the first is no half of the second.
  CHECK(of(R"(  %v = bitcast %x : f32[2048,128,250]
  %r = reduce maximum %v, %zero, axes={2} : f32[2048,128]
  %s = reduce add %r, %zero, axes={1} : f32[2048]
)") == Kernels{{"v", "r"}, {"s"}, {"n", "q"}});
}

TEST_CASE("the first half of a cut reduction stands behind the other users of its array") {
  // What XLA makes of x.std((0, 2)), x.max(2): the maximum joins the sum of squares and not the first half.
  CHECK(kernels_of(R"(  %x = parameter 0 : f32[64,200,129]
  %zero = constant 0 : f32[]
  %low = constant -1 : f32[]
  %r = reduce add %x, %zero, axes={2} : f32[64,200]
  %s = reduce add %r, %zero, axes={0} : f32[200]
  %b = broadcast %s, axes={1} : f32[64,200,129]
  %d = subtract %x, %b : f32[64,200,129]
  %dd = multiply %d, %d : f32[64,200,129]
  %m = reduce add %dd, %zero, axes={2} : f32[64,200]
  %t = reduce add %m, %zero, axes={0} : f32[200]
  %top = reduce maximum %x, %low, axes={2} : f32[64,200]
  output %t, %top
)") == Kernels{{"r"}, {"s"}, {"b", "d", "dd", "m", "top"}, {"t"}});
}

TEST_CASE("nothing is fused into the output of a scatter, or into the array it writes over") {
  const Kernels found = kernels_of(R"(  %x = parameter 0 : f32[4096]
  %u = parameter 1 : f32[64]
  %zero = constant 0 : f32[]
  %at = constant 0 : s32[]
  %y = negate %x : f32[4096]
  %v = exp %u : f32[64]
  %up = dynamic_update_slice %y, %v, %at : f32[4096]
  output %up
)");
  CHECK(found == Kernels{{"v", "up", "y"}});
}

TEST_CASE("an array that is updated in place is not read at other places by the same kernel") {
  CHECK(kernels_of(R"(  %x = parameter 0 : f32[4096]
  %at = parameter 1 : s32[]
  %back = reverse %x, axes={0} : f32[4096]
  %part = slice %back, ranges={0:64:1} : f32[64]
  %up = dynamic_update_slice %x, %part, %at : f32[4096]
  output %up
)") == Kernels{{"back", "part"}, {"up"}});
}

TEST_CASE("a slice is read by the kernel that updates the same part of the array, to the element") {
  const auto of = [](std::string_view ranges, std::string_view at) {
    return kernels_of(fmt::format(R"(  %x = parameter 0 : f32[4096]
  %at = constant {} : s32[]
  %part = slice %x, ranges={{{}}} : f32[64]
  %n = exp %part : f32[64]
  %up = dynamic_update_slice %x, %n, %at : f32[4096]
  output %up
)",
                                  at, ranges));
  };
  const Kernels together{{"part", "n", "up"}}, apart{{"part"}, {"n", "up"}};
  CHECK(of("0:64:1", "0") == together);
  CHECK(of("7:71:1", "7") == together);
  CHECK(of("8:72:1", "7") == apart);
  CHECK(of("0:127:2", "0") == apart);
}

TEST_CASE("several results count as arrays and the tuple that holds them as one more") {
  // Users of one array, each with an array of its own and one result: 1 + n in, n + 1 out. `more` arrays beside.
  const auto of = [](int users, int more) {
    std::string lines = "  %x = parameter 0 : f32[64,64]\n", results;
    for (int i = 0; i < users + more; ++i) lines += fmt::format("  %p{0} = parameter {1} : f32[64,64]\n", i, i + 1);
    for (int i = 0; i < users; ++i) {
      lines += fmt::format("  %a{0} = add %x, %p{0} : f32[64,64]\n", i);
      std::string last = fmt::format("%a{}", i);
      for (int j = 0; i == 0 && j < more; ++j) {
        lines += fmt::format("  %m{0} = add {1}, %p{2} : f32[64,64]\n", j, last, users + j);
        last = fmt::format("%m{}", j);
      }
      lines += fmt::format("  %b{} = tanh {} : f32[64,64]\n", i, last);
      results += fmt::format("{}%b{}", i == 0 ? "" : ", ", i);
    }
    return kernels_of(lines + "  output " + results + "\n").size();
  };
  CHECK(of(47, 0) == 1);  // 96 arrays
  CHECK(of(48, 0) == 2);
  CHECK(of(46, 1) == 1);  // 95
  CHECK(of(47, 1) == 2);  // 97
}

TEST_CASE("users of a value of which one waits for the other stay two kernels, whichever is looked at first") {
  // A fusion is looked at before a single operation.
  const auto of = [](std::string_view early, std::string_view late) {
    return kernels_of(
        fmt::format("  %x = parameter 0 : f32[64,64]\n{}"
                    "  %l = custom_call %a, target=\"lib\" : f32[64,64]\n{}  output %a, %b\n",
                    early, late));
  };
  const std::string one = "  %a = tanh %x : f32[64,64]\n", other = "  %b = add %x, %l : f32[64,64]\n";
  const std::string two = "  %a1 = tanh %x : f32[64,64]\n  %a = negate %a1 : f32[64,64]\n";
  const std::string others = "  %b1 = add %x, %l : f32[64,64]\n  %b = tanh %b1 : f32[64,64]\n";
  CHECK(of(one, other) == Kernels{{"a"}, {"b"}});
  CHECK(of(two, other) == Kernels{{"a", "a1"}, {"b"}});
  CHECK(of(one, others) == Kernels{{"a"}, {"b", "b1"}});
  CHECK(of(two, others) == Kernels{{"a", "a1"}, {"b", "b1"}});
}

TEST_CASE("a kernel takes no more than 96 arrays in and out") {
  std::string lines;
  for (int i = 0; i < 120; ++i) lines += fmt::format("  %p{0} = parameter {0} : f32[1048576]\n", i);
  lines += "  %s1 = add %p0, %p1 : f32[1048576]\n";
  for (int i = 2; i < 120; ++i) lines += fmt::format("  %s{} = add %s{}, %p{} : f32[1048576]\n", i, i - 1, i);
  lines += "  output %s119\n";
  const Kernels found = kernels_of(lines);
  CHECK(found.size() == 2);
  for (const std::set<std::string>& kernel : found) CHECK(kernel.size() < 96);
}

TEST_CASE("users of one value, more of them than a kernel takes, are joined in time that is near linear") {
  std::string lines = "  %x = parameter 0 : f32[64,64]\n", results;
  const int users = testing::effort(1500, 3000, 3000);
  for (int i = 0; i < users; ++i) {
    lines += fmt::format("  %p{0} = parameter {1} : f32[64,64]\n  %a{0} = add %x, %p{0} : f32[64,64]\n", i, i + 1);
    lines += fmt::format("  %b{0} = tanh %a{0} : f32[64,64]\n", i);
    results += fmt::format("{}%b{}", i == 0 ? "" : ", ", i);
  }
  const std::clock_t begin = std::clock();  // of the processor: others may run beside
  const Kernels found = kernels_of(lines + "  output " + results + "\n");
  CHECK(static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC < testing::effort(1.25, 5.0, 5.0));
  CHECK(found.size() < 100);
}

TEST_CASE("a long chain that reads one value throughout is fused within seconds" *
          doctest::test_suite(tailor::testing::in_broad_runs)) {
  const auto seconds = [](int length) {
    std::string lines = "  %y = parameter 0 : f32[1024]\n  %x0 = negate %y : f32[1024]\n";
    for (int i = 1; i < length; ++i) lines += fmt::format("  %x{} = add %x{}, %y : f32[1024]\n", i, i - 1);
    lines += fmt::format("  output %x{}\n", length - 1);
    const std::clock_t begin = std::clock();
    CHECK(kernels_of(lines).size() <= 1 + static_cast<std::size_t>(length) / 1000);
    return static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
  };
  CHECK(seconds(testing::effort(4000, 8000, 8000)) < testing::effort(2.0, 5.0, 5.0));
}

TEST_CASE("equal graphs give equal kernels, and a stopped strategy answers") {
  const Graph graph = parse_graph(
      "graph g {\n  %x = parameter 0 : f32[4096]\n  %a = exp %x : f32[4096]\n  %b = negate %a : f32[4096]\n"
      "  output %b\n}\n");
  FusionSetting setting = search_setting();
  const Fusion once = fuse(find_strategy("xla-priority"), graph, setting);
  CHECK(fuse(find_strategy("xla-priority"), graph, setting) == once);
  REQUIRE(once.edges.size() == 1);
  CHECK(once.edges[0].reason == "fused: by XLA's model");
  CHECK(once.device == "h200");
  std::stop_source source;
  source.request_stop();
  setting.stop = source.get_token();
  CHECK(fuse(find_strategy("xla-priority"), graph, setting).edges.empty());
}

TEST_CASE("without XLA's description of the GPU the strategy is refused") {
  const Graph graph = parse_graph("graph g {\n  %x = parameter 0 : f32[4]\n  %a = exp %x : f32[4]\n  output %a\n}\n");
  FusionSetting setting = search_setting();
  CHECK_THROWS_WITH_AS(fuse(find_strategy("xla-priority"), graph, FusionSetting{}),
                       "strategy 'xla-priority' decides for one GPU and none was named", Error);
  costmodel::CalibratedDevice other = *setting.device;
  other.name = "l4";
  other.xla = nullptr;
  setting.device = &other;
  CHECK_THROWS_WITH_AS(fuse(find_strategy("xla-priority"), graph, setting),
                       "strategy 'xla-priority' decides as XLA does and has no description of 'l4' as XLA sees it",
                       Error);
}
