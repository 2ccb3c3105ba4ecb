// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Which instructions a fusion of XLA's was made of. In: a dump written by hand, whole and spoiled, and the dump of the
// JAX function that ships, whose merges are those of XLA's log. Out: members by name, held against what the steps say,
// and what is said of dumps that lack something.
#include "profiler/xla/xla_partition.h"

#include <doctest/doctest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "base/error.h"
#include "base/text.h"
#include "support/paths.h"

using namespace tailor;
using namespace tailor::profiler;
namespace fs = std::filesystem;

namespace {

/// exp is computed in both of its users, which the multi-output pass joins; the sum's constant is pulled in unrecorded.
constexpr std::string_view before = R"(HloModule m

add {
  x = f32[] parameter(0)
  y = f32[] parameter(1)
  ROOT z = f32[] add(x, y)
}

ENTRY e {
  p = f32[64]{0} parameter(0)
  a.1.0 = f32[64]{0} exponential(p)
  b.2.0 = f32[64]{0} negate(a.1.0)
  c.3.0 = f32[64]{0} abs(a.1.0)
  zero = f32[] constant(0)
  d.4.0 = f32[] reduce(p, zero), dimensions={0}, to_apply=add
  ROOT t = (f32[64]{0}, f32[64]{0}, f32[]) tuple(b.2.0, c.3.0, d.4.0)
}
)";
constexpr std::string_view record = R"(fusion_steps {
  update_priority {
    producer_name: "a.1.0"
    consumer_names: "b.2.0"
    us_fused: 1
    us_unfused: 2
  }
}
fusion_steps {
  fusion {
    fusion_name: "fusion"
    producer_name: "a.1.0"
    consumer_name: "b.2.0"
  }
}
fusion_steps {
  fusion {
    fusion_name: "fusion.1"
    producer_name: "a.1.0"
    consumer_name: "c.3.0"
  }
}
fusion_steps {
  producer_ineligible {
    producer_name: "c.3.0"
    reason: "it is an output"
  }
}
)";
constexpr std::string_view sum_body = R"(sum_body {
  s = f32[64]{0} parameter(0)
  zero.1 = f32[] constant(0)
  ROOT d.4.1 = f32[] reduce(s, zero.1), dimensions={0}, to_apply=add
}
)";
constexpr std::string_view adder = R"(HloModule m

add {
  x = f32[] parameter(0)
  y = f32[] parameter(1)
  ROOT z = f32[] add(x, y)
}

)";
constexpr std::string_view between = R"(f0 {
  q = f32[64]{0} parameter(0)
  a.1.1 = f32[64]{0} exponential(q)
  ROOT b.2.1 = f32[64]{0} negate(a.1.1)
}

f1 {
  q.1 = f32[64]{0} parameter(0)
  a.1.2 = f32[64]{0} exponential(q.1)
  ROOT c.3.1 = f32[64]{0} abs(a.1.2)
}

ENTRY e {
  p = f32[64]{0} parameter(0)
  fusion = f32[64]{0} fusion(p), kind=kLoop, calls=f0
  fusion.1 = f32[64]{0} fusion(p), kind=kLoop, calls=f1
  fusion.2 = f32[] fusion(p), kind=kInput, calls=sum_body
  ROOT t = (f32[64]{0}, f32[64]{0}, f32[]) tuple(fusion, fusion.1, fusion.2)
}
)";
constexpr std::string_view joined = R"({0} {{
  q = f32[64]{{0}} parameter(0)
  a.1.1 = f32[64]{{0}} exponential(q)
  b.2.1 = f32[64]{{0}} negate(a.1.1)
  c.3.3 = f32[64]{{0}} abs(a.1.1)
  ROOT u = (f32[64]{{0}}, f32[64]{{0}}) tuple(b.2.1, c.3.3)
}}

ENTRY e {{
  p = f32[64]{{0}} parameter(0)
  {1} = (f32[64]{{0}}, f32[64]{{0}}) fusion(p), kind=kLoop, calls={0}, backend_config={{"reification_cost":[{{"exec_time_us":0.5,"name":""}},{{"exec_time_us":9,"name":"sol"}}]}}
  {2} = f32[] fusion(p), kind=kInput, calls=sum_body
  g0 = f32[64]{{0}} get-tuple-element({1}), index=0
  g1 = f32[64]{{0}} get-tuple-element({1}), index=1
  ROOT t = (f32[64]{{0}}, f32[64]{{0}}, f32[]) tuple(g0, g1, {2})
}}
)";

struct Dump {
  Dump() : path(fs::temp_directory_path() / fmt::format("tailor_partition_{}_{}", ::getpid(), made++)) {
    fs::create_directories(path);
    const auto texts = [&](std::string_view body, std::string_view loop, std::string_view sum) {
      return fmt::format("{}{}\n{}", adder, sum_body, fmt::format(fmt::runtime(joined), body, loop, sum));
    };
    write("0000.before_priority-fusion.txt", before);
    write("priority_fusion_dump.txt", record);
    write("0002.before_multi_output_fusion.txt", fmt::format("{}{}\n{}", adder, sum_body, between));
    write("multi_output_merges.txt", "Fuse siblings fusion and fusion.1\n");
    write("0003.after_multi_output_fusion.before_cse.txt", texts("f0", "fusion", "fusion.2"));
    write("sm_9.0a_gpu_after_optimizations.txt", texts("fused", "loop_fusion", "input_fusion"));
    write("thunk_sequence.txt",
          "000: kCustomKernel [sink] loop_fusion grid: [1, 1, 1] threads: [64, 1, 1]  shared_memory: 0 bytes\n"
          "001: kCustomKernel [sink] input_fusion grid: [1, 1, 1] threads: [64, 1, 1]  shared_memory: 0 bytes\n");
    write("thunk_metadata.txt",
          "thunk_metadata {\n  profile_annotation: \"loop_fusion\"\n  thunk_id: 0\n}\n"
          "thunk_metadata {\n  profile_annotation: \"input_fusion\"\n  thunk_id: 1\n}\n");
  }
  ~Dump() { fs::remove_all(path); }
  Dump(const Dump&) = delete;
  Dump& operator=(const Dump&) = delete;

  void write(std::string_view name, std::string_view text) const {
    std::ofstream(path / fmt::format("module_0000.m.{}", name)) << text;
  }
  void remove(std::string_view name) const { fs::remove(path / fmt::format("module_0000.m.{}", name)); }
  XlaSource source() const { return xla_modules(path).front(); }

  static inline int made = 0;
  const fs::path path;
};

using Words = std::vector<std::string>;

}  // namespace

TEST_CASE("steps and merges are replayed, and what no step recorded is found by what copies keep") {
  const Dump dump;
  REQUIRE(has_partition(dump.source()));
  const auto [parts, faults] = read_partition(dump.source());
  CHECK(faults.empty());
  REQUIRE(parts.size() == 2);
  CHECK(parts[0].name == "loop_fusion");
  CHECK(parts[0].kind == "loop");
  CHECK(parts[0].members == Words{"a.1.0", "b.2.0", "c.3.0"});
  CHECK(parts[0].us == 0.5);
  CHECK(parts[0].exact);
  CHECK(parts[1].kind == "input");
  CHECK(parts[1].members == Words{"d.4.0"});
  CHECK(!parts[1].us);
}

TEST_CASE("an operation that a copy may stand for is a member where it alone may, and none of two is guessed") {
  for (const auto& [line, members] :
       {std::pair("  d.4.5 = f32[] reduce(p, zero), dimensions={0}, to_apply=add\n",
                  Words{}),  // the same but for a number
        std::pair("  d.5.5 = f32[] reduce(p, zero), dimensions={0}, to_apply=add\n", Words{"d.4.0"}),
        std::pair("  d.4.5 = f32[64]{0} abs(p)\n", Words{"d.4.0"})}) {
    const Dump dump;
    std::string text(before);
    text.insert(text.find("  ROOT t ="), line);
    dump.write("0000.before_priority-fusion.txt", text);
    const auto [parts, faults] = read_partition(dump.source());
    REQUIRE(parts.size() == 2);
    CHECK(parts[1].name == "input_fusion");
    CHECK(parts[1].members == members);
    CHECK(parts[1].exact == !members.empty());
    CHECK(parts[0].members == Words{"a.1.0", "b.2.0", "c.3.0"});
  }
}

TEST_CASE("a producer that joins its consumer, into it and under a new name") {
  for (const std::string_view line : {"Fuse producer fusion into its consumer fusion.1\n",
                                      "Fuse producer fusion and its consumer fusion.1 into fusion\n"}) {
    const Dump dump;
    dump.write("multi_output_merges.txt", line);
    if (line.find(" into fusion\n") == line.npos)  // the joined one goes on under the consumer's name
      dump.write(
          "0003.after_multi_output_fusion.before_cse.txt",
          fmt::format("{}{}\n{}", adder, sum_body, fmt::format(fmt::runtime(joined), "f1", "fusion.1", "fusion.2")));
    const auto [parts, faults] = read_partition(dump.source());
    CHECK(faults == Words{});
    CHECK(parts[0].members == Words{"a.1.0", "b.2.0", "c.3.0"});
  }
}

TEST_CASE("without the merge the members are fewer than the body, and that is said") {
  const Dump dump;
  dump.write("multi_output_merges.txt", "");
  const auto [parts, faults] = read_partition(dump.source());
  CHECK(parts[0].members == Words{"a.1.0", "b.2.0"});
  CHECK(!parts[0].exact);
  CHECK(faults == Words{"module_0000.m.multi_output_merges.txt does not say where fusion.1 went"});
}

TEST_CASE("a record that is not that of its modules is told by the first place that does not fit") {
  const Dump empty;
  empty.write("priority_fusion_dump.txt", "");
  CHECK(read_partition(empty.source()).faults ==
        Words{"module_0000.m.priority_fusion_dump.txt has no step that makes fusion",
              "module_0000.m.priority_fusion_dump.txt has no step that makes fusion.1"});
  const Dump cut;  // the second step has another producer: exp comes in by none
  std::string without = read_file(cut.source().record);
  without.replace(without.rfind("producer_name: \"a.1.0\""), 22, "producer_name: \"p\"");
  cut.write("priority_fusion_dump.txt", without);
  CHECK(read_partition(cut.source()).faults ==
        Words{"module_0000.m.priority_fusion_dump.txt has no step that brings all of 'exponential' into fusion.1"});
  const Dump renamed;
  std::string record = read_file(renamed.source().record);
  const std::size_t at = record.rfind("producer_name: \"a.1.0\"");
  REQUIRE(at != record.npos);
  renamed.write("priority_fusion_dump.txt", record.replace(at, 22, "producer_name: \"z.1.0\""));
  REQUIRE(!read_partition(renamed.source()).faults.empty());
  CHECK(read_partition(renamed.source()).faults[0] ==
        "module_0000.m.priority_fusion_dump.txt fuses 'z.1.0', which is not there");
  const Dump twice;
  twice.write("multi_output_merges.txt", "Fuse siblings fusion.1 and fusion\n");
  CHECK(read_partition(twice.source()).faults.back() ==
        "module_0000.m.multi_output_merges.txt takes fusion away, which is still there");
}

TEST_CASE("a missing file of the record and a line of another form are told by name") {
  const Dump lacking;
  lacking.remove("priority_fusion_dump.txt");
  CHECK(!has_partition(lacking.source()));
  CHECK_THROWS_WITH_AS(read_partition(lacking.source()),
                       doctest::Contains("expected the module before fusion, priority_fusion_dump.txt"), Error);
  const Dump other;
  other.write("multi_output_merges.txt", "Fuse siblings fusion and fusion.1\nJoin fusion with fusion.1\n");
  CHECK_THROWS_WITH_AS(read_partition(other.source()), doctest::Contains("found 'Join fusion with fusion.1'"), Error);
}

TEST_CASE("of the JAX function that ships each kernel has the operations of its members") {
  const XlaSource source = xla_modules(fs::path(source_folder()) / "tests/data/xla_jax/dump").front();
  const auto [parts, faults] = read_partition(source);
  CHECK(faults.empty());
  REQUIRE(parts.size() == 7);
  for (const XlaPart& part : parts) {
    CHECK_MESSAGE(part.exact, part.name);
    CHECK_MESSAGE(!part.members.empty(), part.name);
    CHECK_MESSAGE(part.us.value_or(0) > 0, part.name);
  }
  // XLA's log: a producer into the sum of exponentials, then two siblings to it.
  const auto several = std::find_if(parts.begin(), parts.end(), [](const XlaPart& part) {
    return part.name == "input_exponential_multiply_reduce_fusion";
  });
  REQUIRE(several != parts.end());
  for (const char* const name : {"exp.2.0", "reduce_sum.38.0", "reduce_sum.37.0", "mul.33.0"})
    CHECK(std::count(several->members.begin(), several->members.end(), name) == 1);
}
