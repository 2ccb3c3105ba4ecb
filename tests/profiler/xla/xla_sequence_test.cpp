// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// XLA's kernels as sequences, executed on the simulator as a GPU would: one kernel alone is held against the
// reference, a whole module must compute what its kernels compute one by one, and lie in memory as XLA's assignment
// says. Part of the suite `profiler`; modules of the reference folders are skipped without them.
#include "profiler/xla/xla_sequence.h"
#include "reference/memory_layout.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>

#include "base/stop.h"
#include "base/text.h"
#include "profiler/xla/shipped.h"
#include "support/approx.h"
#include "support/paths.h"
#include "support/sequence_run.h"
#include "support/skip.h"
#include "tests/profiler/kernels.h"

using namespace tailor;
using namespace tailor::profiler;
namespace fs = std::filesystem;

namespace {

/// Reads past the end of an array are XLA's own: vectors of 16 bytes, which arenas have room for.
const simulator::SimulationOptions as_on_gpu = [] {
  simulator::SimulationOptions options;
  options.sanitize = false;
  return options;
}();

XlaCase case_of(const XlaModule& module, const XlaKernel& kernel, std::uint64_t seed = 1) {
  auto made = xla_case(module, kernel, seed, 0);
  REQUIRE(std::holds_alternative<XlaCase>(made));
  return std::get<XlaCase>(std::move(made));
}

/// A digest of a module: the optimised text, a launch list in JSON, PTX of the shipped kernels by entry.
XlaModule digest(const kernels::OwnFolder& folder, const std::string& hlo, const std::string& launches,
                 const std::vector<std::string>& entries) {
  write_file(folder.path / "m.optimized.hlo", hlo);
  write_file(folder.path / "m.json", launches);
  fs::create_directories(folder.path / "ptx" / "m");
  const XlaModule from = shipped_module();
  for (const std::string& entry : entries)
    fs::copy_file(kernel_named(from, entry).ptx, folder.path / "ptx" / "m" / (entry + ".ptx"),
                  fs::copy_options::overwrite_existing);
  return read_xla(choose_module(xla_modules(folder.path), "m"));
}

}  // namespace

TEST_CASE("every kernel alone, run as a sequence, gives what the reference says, and another kernel's bytes do not") {
  const XlaModule module = shipped_module();
  for (const XlaKernel& kernel : module.kernels)
    for (std::uint64_t seed = 1; seed <= 3; ++seed) {
      CAPTURE(kernel.entry);
      CAPTURE(seed);
      const XlaCase one = case_of(module, kernel, seed);
      const gpu::Sequence sequence = sequence_of(kernel, one);
      testing::SequenceRun run = testing::run_sequence(sequence, contents_of(one), as_on_gpu);
      CHECK(run.reason.empty());
      const XlaVerdict verdict = judge_fetched(one, run.outputs);
      CHECK_MESSAGE(verdict.outcome == XlaOutcome::matched, verdict.reason);
      CHECK(verdict.results > 0);
      CHECK(verdict.unjudged == 0);
      std::fill(run.outputs.begin(), run.outputs.end(), std::byte{0x42});
      CHECK(judge_fetched(one, run.outputs).outcome == XlaOutcome::differs);
      CHECK(judge_fetched(one, std::span(run.outputs).first(1)).outcome == XlaOutcome::cannot_evaluate);
    }
}

TEST_CASE("a kernel that works in place is given one buffer of both roles, with and without a buffer assignment") {
  const XlaModule module = shipped_module();
  XlaKernel kernel = kernel_named(module, "loop_dynamic_update_slice_fusion");
  for (const bool told : {true, false}) {
    CAPTURE(told);
    if (!told) {
      kernel.assignment_known = false;
      for (XlaArgument& argument : kernel.arguments) argument.shares = -1;
    }
    const XlaCase one = case_of(module, kernel);
    const gpu::Sequence sequence = sequence_of(kernel, one);
    REQUIRE(sequence.launches.size() == 1);
    const auto& arguments = sequence.launches[0].arguments;
    REQUIRE(arguments.size() == 4);
    CHECK(arguments[0].buffer == arguments[3].buffer);
    CHECK(sequence.buffers.size() == 3);
    CHECK(sequence.buffers[0].role == gpu::BufferRole::in_place);
    CHECK(sequence.buffers[0].bytes == 32 * 64 * 4);
    CHECK(sequence.buffers[1].role == gpu::BufferRole::input);
    const testing::SequenceRun run = testing::run_sequence(sequence, contents_of(one), as_on_gpu);
    CHECK(judge_fetched(one, run.outputs).outcome == XlaOutcome::matched);
  }
}

TEST_CASE("the image of a kernel is its PTX, ended by a zero") {
  const XlaModule module = shipped_module();
  const XlaKernel& kernel = module.kernels[0];
  const gpu::Sequence sequence = sequence_of(kernel, case_of(module, kernel));
  REQUIRE(sequence.images.size() == 1);
  const std::string text = read_file(kernel.ptx);
  REQUIRE(sequence.images[0].code.size() == text.size() + 1);
  CHECK(sequence.images[0].code.back() == std::byte{0});
  CHECK(std::equal(text.begin(), text.end(), sequence.images[0].code.begin(),
                   [](char c, std::byte b) { return std::byte(c) == b; }));
}

TEST_CASE("a module's kernels are launched in the order of the list over the memory that XLA assigned") {
  const XlaModule module = shipped_module();
  const XlaModuleSequence all = module_sequence(module, 1);
  CHECK(all.assignment_known);
  CHECK(all.left_out.empty());
  CHECK(all.library_launches == 1);
  CHECK(all.launches == 8);
  std::vector<std::string> entries;
  for (const XlaLaunch& launch : read_launches(module.source))
    if (!launch.entry.empty()) entries.push_back(launch.entry);
  REQUIRE(all.sequence.launches.size() == entries.size());
  std::map<std::pair<std::int64_t, std::int64_t>, std::pair<int, std::int64_t>> where;  // allocation, offset -> buffer
  std::int64_t bytes = 0;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const gpu::Launch& launch = all.sequence.launches[i];
    CHECK(launch.entry == entries[i]);
    const XlaStep& step = module.steps[i];
    REQUIRE(launch.arguments.size() == step.arguments.size());
    for (std::size_t k = 0; k < step.arguments.size(); ++k) {
      CAPTURE(step.arguments[k].name);
      const std::pair<int, std::int64_t> found{launch.arguments[k].buffer, launch.arguments[k].offset};
      const auto [known, fresh] = where.try_emplace({step.arguments[k].allocation, step.arguments[k].offset}, found);
      CHECK(known->second == found);
      const gpu::Buffer& buffer = all.sequence.buffers[static_cast<std::size_t>(found.first)];
      CHECK(found.second + ir::bytes(step.arguments[k].shape) <= buffer.bytes);
    }
  }
  for (const gpu::Buffer& buffer : all.sequence.buffers) bytes += buffer.bytes;
  CHECK(bytes == all.buffer_bytes);
  // The library call's workspace of 32 MiB is nobody's here.
  CHECK(bytes < (1 << 16));
}

TEST_CASE("a module run whole leaves what its kernels leave one after the other") {
  const XlaModule module = shipped_module();
  const XlaModuleSequence all = module_sequence(module, 1);
  const testing::SequenceRun run = testing::run_sequence(all.sequence, all.contents, as_on_gpu);
  CHECK(run.reason.empty());
  // Softmax over rows of the library call's result, which is random here: rows of the quotient add up to 1.
  const XlaStep& step = module.steps[6];
  REQUIRE(step.instruction == "loop_divide_transpose_fusion");
  const gpu::Launch& launch = all.sequence.launches[6];
  const auto target = static_cast<std::size_t>(launch.arguments[3].buffer);
  std::size_t at = static_cast<std::size_t>(launch.arguments[3].offset);
  for (std::size_t i = 0; i < target; ++i)
    if (all.sequence.buffers[i].role != gpu::BufferRole::input)
      at += static_cast<std::size_t>(all.sequence.buffers[i].bytes);
  const reference::Tensor weights =
      reference::from_memory(step.arguments[3].shape, std::span<const std::byte>(run.outputs).subspan(at));
  for (std::int64_t row = 0; row < 8; ++row) {
    double sum = 0;
    for (std::int64_t i = 0; i < 64; ++i) sum += reference::as_double(weights, row * 64 + i);
    CHECK(sum == approx(1).epsilon(1e-5));
  }
}

TEST_CASE("places of one kernel keep their own operands, loops repeat by their trip counts, and a bitcast is no copy") {
  const kernels::OwnFolder folder("xla-sequence");
  const std::string hlo = R"(HloModule m, is_scheduled=true

%add_two (a: f32[], b: f32[]) -> f32[] {
  %a = f32[] parameter(0)
  %b = f32[] parameter(1)
  ROOT %sum = f32[] add(%a, %b)
}

%fused_reduce (p: f32[8,64]) -> f32[64] {
  %p = f32[8,64]{1,0} parameter(0)
  %zero = f32[] constant(0)
  ROOT %r = f32[64]{0} reduce(%p, %zero), dimensions={0}, to_apply=%add_two
}

%fused_reduce.1 (p.1: f32[8,64]) -> f32[64] {
  %p.1 = f32[8,64]{1,0} parameter(0)
  %zero.1 = f32[] constant(0)
  ROOT %r.1 = f32[64]{0} reduce(%p.1, %zero.1), dimensions={0}, to_apply=%add_two
}

%body (t: (f32[8,64], s32[])) -> (f32[8,64], s32[]) {
  %t = (f32[8,64]{1,0}, s32[]) parameter(0)
  %x = f32[8,64]{1,0} get-tuple-element(%t), index=0
  %i = s32[] get-tuple-element(%t), index=1
  %in_loop = f32[64]{0} fusion(%x), kind=kLoop, calls=%fused_reduce.1
  ROOT %next = (f32[8,64]{1,0}, s32[]) tuple(%x, %i)
}

%condition (c: (f32[8,64], s32[])) -> pred[] {
  %c = (f32[8,64]{1,0}, s32[]) parameter(0)
  ROOT %go = pred[] constant(true)
}

ENTRY %main (one: f32[8,64], two: f32[512], n: s32[]) -> (f32[64], f32[64]) {
  %one = f32[8,64]{1,0} parameter(0)
  %two = f32[512]{0} parameter(1)
  %n = s32[] parameter(2)
  %seen = f32[8,64]{1,0} bitcast(%two)
  %loop_reduce_fusion = f32[64]{0} fusion(%one), kind=kLoop, calls=%fused_reduce
  %again = f32[64]{0} fusion(%seen), kind=kLoop, calls=%fused_reduce.1
  %start = (f32[8,64]{1,0}, s32[]) tuple(%one, %n)
  %loop = (f32[8,64]{1,0}, s32[]) while(%start), condition=%condition, body=%body, backend_config={"known_trip_count":{"n":"3"}}
  %last = f32[64]{0} fusion(%seen), kind=kLoop, calls=%fused_reduce.1
  ROOT %out = (f32[64]{0}, f32[64]{0}) tuple(%loop_reduce_fusion, %again)
}
)";
  std::vector<std::string> launches;
  for (const char* name : {"loop_reduce_fusion", "again", "in_loop", "last"})
    launches.push_back(fmt::format(
        R"({{"name":"{}","launches":[{{"thunk":"CustomKernel","entry":"loop_reduce_fusion","grid":[1,1,1],"block":[64,1,1],"smem":0}}]}})",
        name));
  const XlaModule module =
      digest(folder, hlo, fmt::format(R"({{"kernels":[{}]}})", fmt::join(launches, ",")), {"loop_reduce_fusion"});
  REQUIRE(module.kernels.size() == 1);
  CHECK(module.kernels[0].times == 6);
  REQUIRE(module.steps.size() == 4);
  CHECK(module.steps[1].arguments[0].value == "two");
  CHECK(module.steps[2].loops.size() == 1);

  const XlaModuleSequence all = module_sequence(module, 1);
  CHECK_FALSE(all.assignment_known);
  CHECK(all.sequence.images.size() == 1);
  REQUIRE(all.sequence.launches.size() == 6);
  const auto given = [&](std::size_t launch, std::size_t argument) {
    return all.sequence.launches[launch].arguments[argument].buffer;
  };
  CHECK(given(0, 0) != given(1, 0));
  CHECK(given(1, 0) == given(5, 0));
  for (const std::size_t trip : {3, 4}) CHECK(all.sequence.launches[trip] == all.sequence.launches[2]);
  CHECK(given(0, 1) != given(1, 1));
  CHECK(all.sequence.buffers[static_cast<std::size_t>(given(0, 0))].role == gpu::BufferRole::input);
  CHECK(all.sequence.buffers[static_cast<std::size_t>(given(0, 1))].role == gpu::BufferRole::output);

  const XlaModuleSequence few = module_sequence(module, 1, 4);
  CHECK(few.sequence.launches.size() == 4);
  CHECK(few.shortened_loops == 1);
}

TEST_CASE("values that overlap in one allocation are one buffer, neighbours that only touch are two") {
  for (const std::int64_t between : {0, 16, 31, 32, 64}) {
    CAPTURE(between);
    XlaModule module = shipped_module();
    XlaArgument& first = module.steps[0].arguments.back();
    XlaArgument& second = module.steps[1].arguments.back();
    REQUIRE(ir::bytes(first.shape) == 32);
    REQUIRE(ir::bytes(second.shape) == 32);
    first.allocation = second.allocation = 900;
    first.offset = 512;
    second.offset = 512 + between;
    const XlaModuleSequence all = module_sequence(module, 1);
    const gpu::Argument a = all.sequence.launches[0].arguments.back(), b = all.sequence.launches[1].arguments.back();
    const bool one = between < 32;
    CHECK((a.buffer == b.buffer) == one);
    CHECK(a.offset == 0);
    CHECK(b.offset == (one ? between : 0));
    CHECK(all.sequence.buffers[static_cast<std::size_t>(a.buffer)].bytes == (one ? 32 + between : 32));
    CHECK(all.sequence.buffers[static_cast<std::size_t>(a.buffer)].role == gpu::BufferRole::output);
  }
}

TEST_CASE("a judgement ends when it is asked to, however much there is to evaluate") {
  const XlaModule module = shipped_module();
  const XlaKernel& kernel = module.kernels[0];
  const XlaCase one = case_of(module, kernel);
  const testing::SequenceRun run = testing::run_sequence(sequence_of(kernel, one), contents_of(one), as_on_gpu);
  std::stop_source asked;
  CHECK(judge_fetched(one, run.outputs, asked.get_token()).outcome == XlaOutcome::matched);
  asked.request_stop();
  CHECK_FALSE(done_unless_stopped([&] { judge_fetched(one, run.outputs, asked.get_token()); }));
}

TEST_CASE("what is read has contents wherever nobody wrote it before, also in a range that was written in part") {
  for (const std::int64_t shift : {-1'000'000, -48, -32, -28, -4, 0, 4, 16, 28, 32, 1'000'000}) {
    CAPTURE(shift);
    XlaModule module = shipped_module();
    XlaArgument& written = module.steps[0].arguments.back();
    XlaArgument& read = module.steps[1].arguments.front();
    REQUIRE(ir::bytes(written.shape) == 32);
    const std::int64_t size = ir::bytes(read.shape);
    REQUIRE(size % 4 == 0);
    REQUIRE(size >= 32);
    written.allocation = read.allocation = 900;
    written.offset = 2'000'000;
    read.offset = written.offset + shift;
    const XlaModuleSequence all = module_sequence(module, 1);
    const gpu::Argument place = all.sequence.launches[1].arguments.front();
    std::size_t at = static_cast<std::size_t>(place.offset);  // in the contents of all buffers
    for (int i = 0; i < place.buffer; ++i)
      if (has_contents(all.sequence.buffers[static_cast<std::size_t>(i)].role))
        at += static_cast<std::size_t>(all.sequence.buffers[static_cast<std::size_t>(i)].bytes);
    // Words of four bytes, one by one: random numbers are hardly ever zero.
    std::int64_t fresh = 0, filled = 0;
    for (std::int64_t word = 0; word < size; word += 4) {
      if (read.offset + word >= written.offset && read.offset + word < written.offset + 32) continue;
      ++fresh;
      const auto from = all.contents.begin() + static_cast<std::ptrdiff_t>(at) + word;
      filled += std::any_of(from, from + 4, [](std::byte one) { return one != std::byte{0}; }) ? 1 : 0;
    }
    const bool apart = shift <= -size || shift >= 32;
    const gpu::BufferRole role = all.sequence.buffers[static_cast<std::size_t>(place.buffer)].role;
    CHECK(role == (apart ? gpu::BufferRole::input : fresh == 0 ? gpu::BufferRole::output : gpu::BufferRole::in_place));
    CHECK(filled * 10 >= fresh * 9);
  }
}

TEST_CASE("modules of the reference folders are launched as often as their kernels run, nothing left out") {
  const fs::path folder = fs::path(third_party_folder()) / "xla_reference";
  if (third_party_folder().empty() || !fs::exists(folder / "ptx")) return skip("no third-party data");
  constexpr double most_bytes = 3e7;  // what is filled takes time
  std::int64_t modules = 0, sharing = 0;
  for (const fs::path& base : {folder, folder / "workloads"})
    for (const XlaSource& source : xla_modules(base)) {
      if (source.ptx.empty()) continue;
      CAPTURE(source.name);
      const XlaModule module = read_xla(source);
      double times = 0, bytes = 0;
      for (const XlaKernel& kernel : module.kernels) {
        times += kernel.times;
        for (const XlaArgument& argument : kernel.arguments) bytes += static_cast<double>(ir::bytes(argument.shape));
      }
      if (bytes > most_bytes) continue;
      ++modules;
      const XlaModuleSequence all = module_sequence(module, 1);
      CHECK(all.left_out.empty());
      CHECK(static_cast<double>(all.sequence.launches.size()) == times);
      CHECK_FALSE(all.assignment_known);
      // Producers and consumers share buffers, unless library calls stand between them all.
      std::size_t arguments = 0;
      for (const XlaStep& step : module.steps) arguments += step.arguments.size();
      CHECK(all.sequence.buffers.size() <= arguments);
      sharing += all.sequence.buffers.size() < arguments ? 1 : 0;
    }
  MESSAGE(modules << " modules laid out");
  CHECK(modules >= 5);
  CHECK(sharing >= 5);
}

TEST_CASE("a kernel without PTX is left out of the module and named, the others stay") {
  XlaModule module = shipped_module();
  module.kernels[2].reason = "not found: PTX";
  const XlaModuleSequence all = module_sequence(module, 1);
  CHECK(all.sequence.launches.size() == 7);
  REQUIRE(all.left_out.size() == 1);
  CHECK(all.left_out[0].reason == "not found: PTX");
  CHECK(all.left_out[0].launches == 1);
  const testing::SequenceRun run = testing::run_sequence(all.sequence, all.contents, as_on_gpu);
  CHECK(run.reason.empty());
}
