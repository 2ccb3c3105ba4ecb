// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Runs of kernels that are written down as PTX: results against expected arrays, arguments that do not fit, entries by
// their names, several schedules, samples of blocks. No compiler is needed, so they run everywhere.
// Part of the suite `profiler`.
#include "profiler/run/run_kernel.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cmath>
#include <cstdio>
#include <cstring>
#include <limits>

#include "base/error.h"
#include "support/approx.h"

using namespace tailor;
using namespace tailor::profiler;

namespace {

/// y[block * 32 + thread] = x[...] + a; with `store` another instruction than the plain store.
std::string add_text(std::string_view name, std::string_view store = "st.global.f32 [%rd4], %f3;") {
  return fmt::format(
      ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry {}(.param .u64 p0, .param .u64 p1, .param .f32 "
      "p2)\n"
      "{{\n.reg .b32 %r<5>;\n.reg .b64 %rd<6>;\n.reg .f32 %f<4>;\nld.param.u64 %rd1, [p0];\nld.param.u64 %rd2, [p1];\n"
      "ld.param.f32 %f1, [p2];\nmov.u32 %r1, %ctaid.x;\nmov.u32 %r2, %tid.x;\nmad.lo.s32 %r3, %r1, 32, %r2;\n"
      "mul.wide.s32 %rd5, %r3, 4;\nadd.s64 %rd3, %rd1, %rd5;\nadd.s64 %rd4, %rd2, %rd5;\nld.global.f32 %f2, [%rd3];\n"
      "add.f32 %f3, %f2, %f1;\n{}\nret;\n}}\n",
      name, store);
}

RunSpec add_spec(int blocks = 4) {
  RunSpec spec;
  read_launch_word(spec, fmt::format("grid={}", blocks));
  read_launch_word(spec, "block=32");
  read_argument(spec, fmt::format("x f32[{}] input iota", 32 * blocks), "t", ".");
  read_argument(spec, fmt::format("y f32[{}] output", 32 * blocks), "t", ".");
  read_argument(spec, "f32 0.5", "t", ".");
  return spec;
}

KernelRun run(const std::string& text, const RunSpec& spec, const RunOptions& options = {}) {
  const simulator::PtxModule module = simulator::parse_ptx(text);
  return run_kernel(module, find_entry(module, ""), spec, options);
}

NpyArray sums(int count, float added) {
  NpyArray array{ir::DType::f32, {count}, std::vector<std::byte>(static_cast<std::size_t>(count) * 4)};
  for (int i = 0; i < count; ++i) {
    const float value = static_cast<float>(i) + added;
    std::memcpy(array.bytes.data() + i * 4, &value, 4);
  }
  return array;
}

std::string fault_words(const auto& work) {
  try {
    work();
  } catch (const Error& error) {
    CHECK(error.fault == Fault::usage);
    return error.message;
  }
  return "accepted";
}

/// A kernel of `threads` threads in blocks of two that prints its number, the text and the values with one format.
/// Values are PTX instructions behind the store's address: the type, what is stored, where.
struct PrintedValue {
  std::string type, bits;
  int at = 0;
};

std::string print_text(std::string_view format, const std::vector<PrintedValue>& values) {
  std::string bytes, stores;
  for (const char c : format) bytes += fmt::format("{}, ", static_cast<int>(static_cast<unsigned char>(c)));
  for (const PrintedValue& one : values)
    stores += fmt::format("mov.{0} %{1}, {2};\nst.local.{0} [values + {3}], %{1};\n", one.type,
                          one.type == "b32" ? "r1" : "rd1", one.bits, one.at);
  return fmt::format(
      ".version 8.0\n.target sm_80\n.address_size 64\n.extern .func (.param .b32 result) vprintf (.param .b64 p0, "
      ".param .b64 p1);\n.global .align 1 .b8 form[{}] = {{{}0}};\n.global .align 1 .b8 word[4] = {{97, 98, 99, 0}};\n"
      ".visible .global .align 4 .u32 count = 7;\n.visible .entry say()\n{{\n.local .align 8 .b8 values[64];\n"
      ".reg .b32 %r<3>;\n.reg .b64 %rd<5>;\n.reg .pred %p<2>;\n{}mov.u32 %r2, %tid.x;\nst.local.b32 [values], %r2;\n"
      "ld.global.u32 %r2, [count];\nst.local.b32 [values + 4], %r2;\nmov.u64 %rd2, values;\n"
      "cvta.local.u64 %rd3, %rd2;\nmov.u64 %rd4, form;\n{{\n.param .b64 param0;\nst.param.b64 [param0], %rd4;\n"
      ".param .b64 param1;\nst.param.b64 [param1], %rd3;\n.param .b32 retval0;\ncall.uni (retval0), vprintf, (param0, "
      "param1);\nld.param.b32 %r1, [retval0];\n}}\nret;\n}}\n",
      format.size() + 1, bytes, stores);
}

}  // namespace

TEST_CASE("what a kernel prints is what the host's printf prints, thread by thread and block by block") {
  RunSpec spec;
  read_launch_word(spec, "grid=3");
  read_launch_word(spec, "block=2");
  const std::string_view form = "%d of %u|%+5d|%-8.3lld|%#llx|%hhu|%hd|%c|%%|%7.2f|%e|%5%z|%\n";
  const KernelRun said = run(print_text(form, {{"b32", "-17", 8},
                                               {"b64", "-5000000000", 16},
                                               {"b64", "0x123456789a", 24},
                                               {"b32", "300", 32},
                                               {"b32", "70000", 36},
                                               {"b32", "65", 40},
                                               {"b64", "0d400921FB54442D18", 48},
                                               {"b64", "0d3F50624DD2F1A9FC", 56}}),
                             spec);
  CHECK(said.simulation.outcome == simulator::SimulationOutcome::finished);
  CHECK(said.simulation.findings.empty());
  std::string expected;
  for (int block = 0; block < 3; ++block)
    for (int thread = 0; thread < 2; ++thread) {
      char line[200];
      std::snprintf(line, sizeof line, "%d of %u|%+5d|%-8.3lld|%#llx|%hhu|%hd|%c|%%|%7.2f|%e|", thread, 7u, -17,
                    -5000000000ll, 0x123456789all, static_cast<unsigned char>(300), static_cast<short>(70000), 65,
                    3.141592653589793, 0.001);
      expected += std::string(line) + "%5%z|%\n";
    }
  CHECK(said.simulation.printed == expected);
  CHECK(said.simulation.printed_all);
  RunOptions many;
  many.simulation.threads = 3;
  const simulator::PtxModule module = simulator::parse_ptx(print_text(form, {}));
  CHECK(run_kernel(module, find_entry(module, ""), spec, many).simulation.printed ==
        run(print_text(form, {}), spec).simulation.printed);
}

TEST_CASE("texts are read from the kernel's memory, widths from its values, and a null format is said so") {
  RunSpec spec;
  read_launch_word(spec, "block=1");
  std::string text = print_text("%d%d [%*d] [%-6s] [%.2s] [%s] %p", {{"b32", "5", 8},
                                                                     {"b32", "42", 12},
                                                                     {"b64", "word", 16},
                                                                     {"b64", "word", 24},
                                                                     {"b64", "0", 32},
                                                                     {"b64", "0x7f00", 40}});
  CHECK(run(text, spec).simulation.printed == "07 [   42] [abc   ] [ab] [(?)] 0x7f00");
  text.replace(text.find("mov.u64 %rd4, form"), 18, "mov.u64 %rd4, 0   ");
  CHECK(run(text, spec).simulation.printed == "(?)");
}

TEST_CASE("the first mebibyte of what is printed is kept, of the first blocks, whatever the number of threads") {
  RunSpec spec;
  read_launch_word(spec, "grid=700");
  read_launch_word(spec, "block=1");
  const std::string text = print_text("%2000d%d", {});
  const KernelRun one = run(text, spec);
  CHECK(one.simulation.printed.size() == std::size_t{1} << 20);
  CHECK_FALSE(one.simulation.printed_all);
  RunOptions four;
  four.simulation.threads = 4;
  CHECK(run(text, spec, four).simulation.printed == one.simulation.printed);
}

TEST_CASE("a variable of the file holds what the launch says, or the launch is refused") {
  const std::string text = print_text("%d%d", {});
  RunSpec spec;
  read_launch_word(spec, "block=1");
  CHECK(run(text, spec).simulation.printed == "07");
  read_variable(spec, "count:u32:4000000000", "t", ".");
  CHECK(run(text, spec).simulation.printed == "0-294967296");
  spec.launch.variables.clear();
  read_variable(spec, "form u8[5] below:1", "t", ".");
  CHECK(run(text, spec).simulation.printed.empty());
  for (const auto& [variable, reason] :
       {std::pair("counter i32 1", "the file has no variable counter in global or constant memory"),
        std::pair("count i64 1", "variable count was given 8 bytes, it has 4")}) {
    spec.launch.variables.clear();
    read_variable(spec, variable, "t", ".");
    const simulator::PtxModule module = simulator::parse_ptx(text);
    simulator::Memory memory;
    const simulator::Simulation refused =
        simulate(simulator::Program(module, find_entry(module, "")), spec.launch, memory);
    CHECK(refused.outcome == simulator::SimulationOutcome::refused);
    CHECK(refused.reason == reason);
  }
  spec.launch.variables.clear();
  for (const char* bad : {"count", "count:u32", "count:u33:1", "count:u8:300", "count:u32[1]:ones"})
    CHECK_THROWS_AS(read_variable(spec, bad, "t", "."), Error);
  read_variable(spec, "count:u32:1", "t", ".");
  CHECK_THROWS_WITH_AS(read_variable(spec, "count:u32:2", "t", "."), "found variable 'count' twice", Error);
}

TEST_CASE("a run leaves what the kernel computes, and says how far that is from what was expected") {
  RunOptions options;
  options.seeds = 3;
  options.expected = {{"y", sums(128, 0.5f)}};
  const KernelRun good = run(add_text("add"), add_spec(), options);
  CHECK(good.simulation.outcome == simulator::SimulationOutcome::finished);
  CHECK(good.simulation.findings.empty());
  CHECK(good.schedules == 3);
  CHECK(good.buffers.at(1).bytes == sums(128, 0.5f).bytes);
  CHECK_FALSE(good.buffers[1].differs);
  CHECK(good.buffers[0].counters.load.bytes == 512);
  CHECK(good.buffers[1].counters.store.sectors == 16);
  REQUIRE(good.buffers[1].compared);
  CHECK(good.buffers[1].compared->wrong == 0);
  CHECK(good.buffers[1].compared->elements == 128);
  options.expected = {{"y", sums(128, 0.625f)}};
  const KernelRun bad = run(add_text("add"), add_spec(), options);
  CHECK(bad.buffers[1].compared->wrong == 128);
  CHECK(bad.buffers[1].compared->worst == 0.125);  // where |expected| is below 1
  CHECK(bad.buffers[1].compared->reason == "y[0] is 0.5, expected 0.625");
  options.tolerance = 0.2;
  CHECK(run(add_text("add"), add_spec(), options).buffers[1].compared->wrong == 0);
}

TEST_CASE("NaN equals NaN and nothing else, whatever the tolerance") {
  RunSpec spec = add_spec(1);
  const float nan = std::numeric_limits<float>::quiet_NaN();
  std::memcpy(spec.buffers[0].bytes.data(), &nan, 4);
  RunOptions options;
  options.tolerance = 1e9;
  NpyArray expected = sums(32, 0.5f);
  options.expected = {{"y", expected}};
  CHECK(run(add_text("add"), spec, options).buffers[1].compared->wrong == 1);
  const float other = -nan;  // another NaN's bits
  std::memcpy(expected.bytes.data(), &other, 4);
  options.expected = {{"y", expected}};
  CHECK(run(add_text("add"), spec, options).buffers[1].compared->wrong == 0);
}

TEST_CASE("what a kernel does wrong is found, and a schedule adds what another did not meet") {
  RunSpec spec = add_spec();
  spec.launch.grid = {5, 1, 1};  // one block too many
  const KernelRun beyond = run(add_text("add"), spec);
  REQUIRE(beyond.simulation.findings.size() == 2);
  CHECK(beyond.simulation.findings[0].kind == simulator::FindingKind::out_of_bounds);
  const KernelRun input = run(add_text("add", "st.global.f32 [%rd3], %f3;"), add_spec());
  REQUIRE_FALSE(input.simulation.findings.empty());
  CHECK(input.simulation.findings[0].kind == simulator::FindingKind::store_to_input);
  const KernelRun unknown = run(add_text("add", "wmma.nothing.at.all %f3, %f2;"), add_spec());
  CHECK(unknown.simulation.outcome == simulator::SimulationOutcome::unsupported);
}

TEST_CASE("a sample runs the first, the last and some blocks between") {
  RunOptions options;
  options.sample_blocks = 5;
  const KernelRun some = run(add_text("add"), add_spec(64), options);
  CHECK(some.simulation.blocks_total == 64);
  CHECK(some.simulation.blocks_run >= 2);
  CHECK(some.simulation.blocks_run <= 5);
  const NpyArray whole = sums(2048, 0.5f);
  for (const std::size_t at : {std::size_t{0}, std::size_t{2047 * 4}})
    CHECK(std::memcmp(some.buffers[1].bytes.data() + at, whole.bytes.data() + at, 4) == 0);
}

TEST_CASE("arguments and entries that do not fit are named") {
  const std::string text = add_text("_Z3addPKfPff");
  const simulator::PtxModule module = simulator::parse_ptx(text);
  CHECK(find_entry(module, "add").name == "_Z3addPKfPff");
  CHECK(find_entry(module, "").name == "_Z3addPKfPff");
  CHECK(fault_words([&] { find_entry(module, "ad"); }) != "accepted");
  RunSpec spec = add_spec();
  spec.parameters.pop_back();
  CHECK(fault_words([&] { run(text, spec); }) ==
        "found 2 arguments, expected 3 of _Z3addPKfPff: 8 bytes, 8 bytes, 4 bytes");
  spec = add_spec();
  std::swap(spec.parameters[0], spec.parameters[2]);
  CHECK(fault_words([&] { run(text, spec); }) == "argument 1: found a value of 4 bytes, expected 8 bytes");
  RunOptions options;
  options.expected = {{"z", sums(128, 0)}};
  CHECK(fault_words([&] { run(text, add_spec(), options); }) == "no buffer is called 'z'");
  options.expected = {{"y", sums(127, 0)}};
  CHECK(fault_words([&] { run(text, add_spec(), options); }) ==
        "found f32[127] expected of buffer y, which is f32[128]");
}

TEST_CASE("a launch that a driver would not start is refused with its numbers, and leaves the buffers as they were") {
  RunSpec spec = add_spec();
  spec.launch.cluster = {3, 1, 1};
  const KernelRun uneven = run(add_text("add"), spec);
  CHECK(uneven.simulation.outcome == simulator::SimulationOutcome::refused);
  CHECK(uneven.simulation.reason == "the grid 4 x 1 x 1 is no multiple of the cluster 3 x 1 x 1");
  REQUIRE(uneven.buffers.size() == 2);
  CHECK(uneven.buffers[0].bytes == spec.buffers[0].bytes);
  CHECK(uneven.buffers[1].counters == simulator::BufferCounters{});
  spec = add_spec();
  spec.launch.block = {2000, 1, 1};
  CHECK(run(add_text("add"), spec).simulation.reason == "the block is 2000 x 1 x 1, more than 1024 threads");
}

TEST_CASE("a cooperative grid is bounded by what an SM can hold, where nothing says how many blocks that is") {
  RunSpec spec = add_spec();
  spec.launch.cooperative = true;
  spec.machine.sms = 1;
  spec.machine.threads_per_sm = 128;
  CHECK(run(add_text("add"), spec).simulation.outcome == simulator::SimulationOutcome::finished);
  spec.machine.threads_per_sm = 96;
  CHECK(run(add_text("add"), spec).simulation.reason ==
        "a cooperative launch of 4 blocks, of which 3 can be resident: 3 on each of 1 SMs");
  spec.launch.dynamic_shared = 1000;
  spec.machine.shared_per_sm = 2 * 1024;
  spec.machine.shared_reserved = 24;
  CHECK(run(add_text("add"), spec).simulation.reason ==
        "a cooperative launch of 4 blocks, of which 2 can be resident: 2 on each of 1 SMs");
}

TEST_CASE("an output that nothing is stored to is an error, one that is filled in part advice") {
  const auto findings = [&](std::string_view store, const RunSpec& spec, const RunOptions& options = {}) {
    return run(add_text("add", store), spec, options).simulation.findings;
  };
  const auto none = findings("", add_spec());
  REQUIRE(none.size() == 1);
  CHECK(describe(none[0]) == "unwritten output: nothing is stored to output y");
  CHECK(errors(none) == 1);
  RunSpec spec = add_spec();
  spec.launch.grid = {3, 1, 1};
  RunOptions options;
  options.seeds = 2;
  const auto some = findings("st.global.f32 [%rd4], %f3;", spec, options);
  REQUIRE(some.size() == 1);
  CHECK(describe(some[0]) == "unwritten output: 32 of 128 elements of output y are not stored");
  CHECK(errors(some) == 0);
  options.sample_blocks = 2;  // what the others would store is not known
  CHECK(findings("st.global.f32 [%rd4], %f3;", add_spec(64), options).empty());
  options.sample_blocks = 0;
  options.simulation.sanitize = false;
  CHECK(findings("", add_spec(), options).empty());
}

TEST_CASE("each schedule has a seed of its own: the second is that of the next seed, and what it finds is added") {
  // Threads draw tickets one by one: who gets which depends on the order of the warps alone.
  const std::string text = add_text("draw", "atom.global.add.u32 %r4, [%rd1], 1;\nst.global.u32 [%rd4], %r4;");
  RunSpec spec;
  read_launch_word(spec, "grid=1");
  read_launch_word(spec, "block=128");
  for (const char* argument : {"x u32[128] both zero", "y u32[128] output", "f32 0"})
    read_argument(spec, argument, "t", ".");
  const auto drawn = [&](std::uint64_t seed, std::int64_t seeds) {
    RunOptions options;
    options.simulation.seed = seed;
    options.seeds = seeds;
    return run(text, spec, options).buffers.at(1);
  };
  int apart = 0;
  for (std::uint64_t seed = 1; seed <= 6; ++seed) {
    const bool differs = drawn(seed, 1).bytes != drawn(seed + 1, 1).bytes;
    CHECK(drawn(seed, 2).differs == differs);
    CHECK(drawn(seed, 2).bytes == drawn(seed, 1).bytes);
    apart += differs ? 1 : 0;
  }
  CHECK(apart > 0);
}

TEST_CASE("a difference counts over the larger of 1 and what is expected, up to what the type allows and not beyond") {
  CHECK(default_tolerance(ir::DType::f64) == 1e-12);
  CHECK(default_tolerance(ir::DType::f32) == 2e-5);
  CHECK(default_tolerance(ir::DType::f16) == 0x1p-10);
  CHECK(default_tolerance(ir::DType::bf16) == 0x1p-7);
  for (const ir::DType whole : {ir::DType::s32, ir::DType::u8, ir::DType::s64, ir::DType::pred})
    CHECK(default_tolerance(whole) == 0);
  struct Row {
    int element;
    float expected;  ///< of what is 0.5 more than its number
    double tolerance;
    std::int64_t wrong;
  };
  for (const Row& row : {Row{0, 0.75f, 0.25, 0}, Row{0, 0.75f, 0.2499, 1}, Row{0, 0.25f, 0.25, 0},
                         Row{0, 0.25f, 0.2499, 1}, Row{100, 64.f, 0.5703125, 0}, Row{100, 64.f, 0.57, 1},
                         Row{100, 128.f, 0.21484375, 0}, Row{100, 128.f, 0.2148, 1}, Row{0, 0.50001f, -1, 0},
                         Row{0, 0.50003f, -1, 1}, Row{100, 100.5015f, -1, 0}, Row{100, 100.503f, -1, 1}}) {
    NpyArray expected = sums(128, 0.5f);
    std::memcpy(expected.bytes.data() + row.element * 4, &row.expected, 4);
    RunOptions options;
    options.tolerance = row.tolerance;
    options.expected = {{"y", expected}};
    const BufferComparison found = *run(add_text("add"), add_spec(), options).buffers[1].compared;
    CAPTURE(row.expected);
    CAPTURE(row.tolerance);
    CHECK(found.wrong == row.wrong);
    CHECK(found.worst == approx(std::abs(row.element + 0.5 - static_cast<double>(row.expected)) /
                                std::max(1.0, static_cast<double>(row.expected))));
  }
}

TEST_CASE("a sample of two blocks is the first and the last, and a sample of all is all") {
  RunOptions options;
  for (const auto& [wanted, ran] : {std::pair(2, 2), std::pair(64, 64), std::pair(0, 64)}) {
    options.sample_blocks = wanted;
    const KernelRun some = run(add_text("add"), add_spec(64), options);
    CHECK(some.simulation.blocks_run == ran);
    float last = 0;
    std::memcpy(&last, some.buffers[1].bytes.data() + 2047 * 4, 4);
    CHECK(last == 2047.5f);
  }
}
