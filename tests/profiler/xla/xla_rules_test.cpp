// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Rules by which a dump of XLA's becomes kernels: how often a loop's body runs, what a line of the launch list says,
// which operand a result shares memory with, which arrays are one buffer, and whose error is told of several results
// and seeds. In: texts and arguments written here, and the dump that ships with places moved. Part of the suite
// `profiler`.
#include <doctest/doctest.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cstring>
#include <set>

#include "base/text.h"
#include "hlo/hlo_module.h"
#include "profiler/xla/shipped.h"
#include "profiler/xla/xla_case.h"
#include "profiler/xla/xla_check.h"
#include "profiler/xla/xla_inplace.h"
#include "profiler/xla/xla_schedule.h"
#include "profiler/xla/xla_sequence.h"
#include "reference/memory_layout.h"
#include "support/approx.h"

using namespace tailor;
using namespace tailor::profiler;
namespace fs = std::filesystem;

namespace {

XlaArgument of_shape(ir::DType dtype, std::int64_t elements) {
  XlaArgument argument;
  argument.shape = ir::make_shape(dtype, {elements});
  return argument;
}

}  // namespace

TEST_CASE("the body of a loop runs once a trip, and that of a loop in it as often again") {
  const std::string text = R"(HloModule m
f { q = f32[4] parameter(0)
  ROOT e = f32[4] exponential(q) }
inner_body { t = (f32[4]) parameter(0)
  x = f32[4] get-tuple-element(t), index=0
  deep = f32[4] fusion(x), kind=kLoop, calls=f
  ROOT r = (f32[4]) tuple(deep) }
inner_go { t.1 = (f32[4]) parameter(0)
  ROOT go = pred[] constant(true) }
outer_body { t.2 = (f32[4]) parameter(0)
  x.2 = f32[4] get-tuple-element(t.2), index=0
  middle = f32[4] fusion(x.2), kind=kLoop, calls=f
  s = (f32[4]) tuple(middle)
  ROOT inner = (f32[4]) while(s), condition=inner_go, body=inner_body, backend_config={"known_trip_count":{"n":"3"}} }
outer_go { t.3 = (f32[4]) parameter(0)
  ROOT go.1 = pred[] constant(true) }
unknown_body { t.4 = (f32[4]) parameter(0)
  x.4 = f32[4] get-tuple-element(t.4), index=0
  once = f32[4] fusion(x.4), kind=kLoop, calls=f
  ROOT r.4 = (f32[4]) tuple(once) }
unknown_go { t.5 = (f32[4]) parameter(0)
  ROOT go.2 = pred[] constant(true) }
ENTRY main { p = f32[4] parameter(0)
  top = f32[4] fusion(p), kind=kLoop, calls=f
  a = (f32[4]) tuple(top)
  outer = (f32[4]) while(a), condition=outer_go, body=outer_body, backend_config={"known_trip_count":{"n":"5"}}
  ROOT last = (f32[4]) while(outer), condition=unknown_go, body=unknown_body }
)";
  const hlo::HloModule module = hlo::parse_module(text, "m");
  const XlaSchedule schedule(module);
  struct Row {
    const char* name;
    double times;
    std::vector<XlaLoop> loops;
  };
  for (const Row& row : {Row{"top", 1, {}}, Row{"middle", 5, {{"outer", 5}}},
                         Row{"deep", 15, {{"outer", 5}, {"inner", 3}}}, Row{"once", 1, {{"last", 1}}}}) {
    CAPTURE(row.name);
    const XlaScheduled* place = schedule.find(row.name);
    REQUIRE(place != nullptr);
    CHECK(place->times == row.times);
    CHECK(place->loops == row.loops);
  }
  CHECK(schedule.find("e") == nullptr);  // inside of a fusion
  CHECK(schedule.named_like("middle") == "middle");
}

TEST_CASE("a line of the launch list: grid, block, cluster and shared memory, each extent its own") {
  const fs::path folder = fs::temp_directory_path() / fmt::format("tailor_xla_rules_{}", ::getpid());
  fs::create_directories(folder);
  XlaSource source;
  source.name = "m";
  source.launches = folder / "thunk_sequence.txt";
  source.metadata = folder / "thunk_metadata.txt";
  write_file(source.launches,
             "000: kSequential\n"
             "001: kCustomKernel [a] one_kernel grid: [2, 3, 4] threads: [5, 6, 7] cluster: [8, 9, 10] shared_memory: "
             "11 bytes\n"
             "002: kCustomKernel [b] other_kernel grid: [12, 1, 1] threads: [13, 1, 1]  shared_memory: 0 bytes\n"
             "003: kCublasLtMatmul\n");
  write_file(source.metadata,
             "thunk_metadata {\n  profile_annotation: \"fusion.7\"\n  thunk_id: 1\n}\n"
             "thunk_metadata {\n  profile_annotation: \"fusion.8\"\n  thunk_id: 2\n}\n");
  const std::vector<XlaLaunch> launches = read_launches(source);
  fs::remove_all(folder);
  REQUIRE(launches.size() == 3);
  using Extent = std::array<std::uint32_t, 3>;
  CHECK(launches[0].entry == "one_kernel");
  CHECK(launches[0].instruction == "fusion.7");
  CHECK(launches[0].grid == Extent{2, 3, 4});
  CHECK(launches[0].block == Extent{5, 6, 7});
  CHECK(launches[0].cluster == Extent{8, 9, 10});
  CHECK(launches[0].dynamic_shared == 11);
  CHECK(launches[0].fault.empty());
  CHECK(launches[1].entry == "other_kernel");
  CHECK(launches[1].instruction == "fusion.8");
  CHECK(launches[1].grid == Extent{12, 1, 1});
  CHECK(launches[1].cluster == Extent{1, 1, 1});
  CHECK(launches[2].thunk == "CublasLtMatmul");
  CHECK(launches[2].entry.empty());
}

TEST_CASE(
    "each result that the kernel never names shares one operand that is stored to, of its shape if there is one") {
  using ir::DType;
  struct Row {
    std::vector<XlaArgument> arguments;  ///< three operands, then results
    std::vector<bool> named, stored;
    std::vector<std::int32_t> shares;
    bool all;
  };
  const XlaArgument words = of_shape(DType::f32, 8), halves = of_shape(DType::f16, 16), few = of_shape(DType::f32, 4);
  for (const Row& row : {
           // Two results of one shape: two operands, not one twice.
           Row{{words, words, words, words, words}, {1, 1, 1, 0, 0}, {1, 0, 1, 0, 0}, {0, 2}, true},
           Row{{words, words, words, words, words}, {1, 1, 1, 0, 0}, {0, 1, 0, 0, 0}, {1, -1}, false},
           // Its own shape before one of as many bytes; that one where there is no other; never one of fewer.
           Row{{halves, words, few, words}, {1, 1, 1, 0}, {1, 1, 1, 0}, {1}, true},
           Row{{halves, few, few, words}, {1, 1, 1, 0}, {1, 1, 1, 0}, {0}, true},
           Row{{few, few, few, words}, {1, 1, 1, 0}, {1, 1, 1, 0}, {-1}, false},
           // What is written by itself shares nothing.
           Row{{words, words, words, words}, {1, 1, 1, 1}, {1, 1, 1, 1}, {-1}, true},
       }) {
    std::vector<XlaArgument> arguments = row.arguments;
    CHECK(share_in_place({row.named, row.stored}, 3, arguments) == row.all);
    std::vector<std::int32_t> shares;
    for (std::size_t i = 3; i < arguments.size(); ++i) shares.push_back(arguments[i].shares);
    CHECK(shares == row.shares);
  }
}

TEST_CASE("arrays of a module that overlap are one buffer, and those that only touch are not") {
  XlaModule module = shipped_module();
  const auto step = std::find_if(module.steps.begin(), module.steps.end(), [&](const XlaStep& one) {
    return module.kernels[one.kernel].entry == "loop_divide_transpose_fusion";
  });
  REQUIRE(step != module.steps.end());
  const XlaStep only = *step;
  REQUIRE(only.arguments.size() == 5);
  for (const std::int64_t overlap : {std::int64_t{0}, std::int64_t{4}}) {
    XlaStep one = only;
    one.assignment_known = true;
    std::int64_t end = 0;
    for (XlaArgument& argument : one.arguments) {
      argument.allocation = 3;
      argument.offset = end;
      argument.shares = -1;
      end += ir::bytes(argument.shape);
      if (&argument == &one.arguments[1]) end -= overlap;  // the third begins within the second
    }
    module.steps = {one};
    const XlaModuleSequence all = module_sequence(module, 1);
    CHECK(all.sequence.buffers.size() == (overlap > 0 ? 4 : 5));
    REQUIRE(all.sequence.launches.size() == 1);
    std::int64_t bytes = 0;
    for (const gpu::Buffer& buffer : all.sequence.buffers) bytes += buffer.bytes;
    CHECK(bytes == end);
    const auto& given = all.sequence.launches[0].arguments;
    CHECK((given[1].buffer == given[2].buffer) == (overlap > 0));
    CHECK(given[2].offset == (overlap > 0 ? ir::bytes(only.arguments[1].shape) - overlap : 0));
    for (std::size_t i = 0; i < 3; ++i)  // operands are read, results written
      CHECK(all.sequence.buffers[static_cast<std::size_t>(given[i].buffer)].role == gpu::BufferRole::input);
    for (std::size_t i = 3; i < 5; ++i)
      CHECK(all.sequence.buffers[static_cast<std::size_t>(given[i].buffer)].role == gpu::BufferRole::output);
  }
}

TEST_CASE("of several results the largest error is told, whichever has it, and of wrong ones the first") {
  const XlaModule module = shipped_module();
  const XlaKernel& kernel = kernel_named(module, "loop_divide_transpose_fusion");
  const XlaCase one = std::get<XlaCase>(xla_case(module, kernel, 1, 0));
  const auto expected = reference::evaluate_with_error_bounds(one.graph, one.inputs, bounds_of(one));
  REQUIRE(expected.size() == 2);
  /// Each result off by so many of its bounds, in an element that has one.
  const auto verdict = [&](double first, double second) {
    std::vector<std::vector<std::byte>> memory(one.memory.size());
    for (std::size_t r = 0; r < 2; ++r) {
      reference::Tensor value = expected[r].value;
      std::size_t at = 0;
      while (!(expected[r].error.at(at) > 0)) ++at;
      float number = 0;
      std::memcpy(&number, value.bytes.data() + 4 * at, 4);
      number = static_cast<float>(number + (r == 0 ? first : second) * expected[r].error[at]);
      std::memcpy(value.bytes.data() + 4 * at, &number, 4);
      const XlaArgument& result = one.arguments[static_cast<std::size_t>(one.operands) + r];
      value.shape = result.shape;
      std::vector<std::byte>& bytes =
          memory[static_cast<std::size_t>(one.memory_of[static_cast<std::size_t>(one.operands) + r])];
      bytes.resize(reference::memory_bytes(result.shape));
      reference::to_memory(value, bytes);
    }
    return judge(one, std::vector<std::span<const std::byte>>(memory.begin(), memory.end()));
  };
  CHECK(verdict(0, 0).worst == 0);
  for (const auto& [first, second] : {std::pair(0.8, 0.4), std::pair(0.4, 0.8), std::pair(0.8, 0.0)}) {
    const XlaVerdict found = verdict(first, second);
    CHECK(found.outcome == XlaOutcome::matched);
    CHECK(found.worst == approx(0.8).epsilon(0.2));
  }
  CHECK(verdict(30, 0).outcome == XlaOutcome::differs);
  CHECK(verdict(30, 60).worst == approx(60).epsilon(0.1));
  CHECK(verdict(30, 60).reason.starts_with("loop_divide_transpose_fusion{0}: "));
  CHECK(verdict(0, 60).reason.starts_with("loop_divide_transpose_fusion{1}: "));
}

TEST_CASE("further seeds are other inputs: their largest error and all their results are told") {
  const XlaModule module = shipped_module();
  int later_is_worst = 0;
  for (const XlaKernel& kernel : module.kernels) {
    CAPTURE(kernel.entry);
    double worst = 0;
    std::int64_t results = 0;
    XlaCheckOptions options;
    for (options.seed = 7; options.seed < 10; ++options.seed) {
      const XlaCheck alone = check(module, kernel, options);
      later_is_worst += options.seed > 7 && alone.worst > worst ? 1 : 0;
      worst = std::max(worst, alone.worst);
      results += alone.results;
    }
    options.seed = 7;
    options.seeds = 3;
    const XlaCheck all = check(module, kernel, options);
    CHECK(all.worst == worst);
    CHECK(all.results == results);
  }
  CHECK(later_is_worst > 0);
}

TEST_CASE("an array that ends within a vector has room for all of it, and for no more") {
  const fs::path folder = fs::temp_directory_path() / fmt::format("tailor_xla_room_{}", ::getpid());
  fs::create_directories(folder / "ptx" / "m");
  write_file(folder / "m.optimized.hlo", R"(HloModule m, is_scheduled=true
f { q = f32[5]{0} parameter(0)
  ROOT n = f32[5]{0} negate(q) }
ENTRY main { p = f32[5]{0} parameter(0)
  ROOT negated = f32[5]{0} fusion(p), kind=kLoop, calls=f }
)");
  write_file(
      folder / "m.json",
      R"({"kernels":[{"name":"negated","launches":[{"thunk":"CustomKernel","entry":"negated","grid":[1,1,1],"block":[1,1,1],"smem":0}]}]})");
  // One thread negates four numbers and then one, which it takes out of a vector that begins at byte `from`.
  for (const auto& [from, outcome] : {std::pair(16, XlaOutcome::matched), std::pair(32, XlaOutcome::findings)}) {
    write_file(folder / "ptx" / "m" / "negated.ptx", fmt::format(R"(.version 8.0
.target sm_90
.address_size 64
.visible .entry negated(.param .u64 in, .param .u64 out)
{{
.reg .f32 %f<12>;
.reg .b64 %d<4>;
ld.param.u64 %d0, [in];
ld.param.u64 %d1, [out];
ld.global.v4.f32 {{%f0, %f1, %f2, %f3}}, [%d0];
ld.global.v4.f32 {{%f4, %f5, %f6, %f7}}, [%d0+{}];
neg.f32 %f0, %f0;
neg.f32 %f1, %f1;
neg.f32 %f2, %f2;
neg.f32 %f3, %f3;
neg.f32 %f4, %f4;
st.global.v4.f32 [%d1], {{%f0, %f1, %f2, %f3}};
st.global.f32 [%d1+16], %f4;
ret;
}}
)",
                                                                 from));
    const XlaModule module = read_xla(choose_module(xla_modules(folder), "m"));
    REQUIRE(module.kernels.size() == 1);
    const XlaCheck found = check(module, module.kernels[0]);
    CHECK_MESSAGE(found.outcome == outcome, found.reason);
  }
  fs::remove_all(folder);
}
