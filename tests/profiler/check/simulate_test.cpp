// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// From plan to verdict with the real compiler and the real simulator: kernels of the family pass under plans of all
// stitch levels, and the same kernels with one mistake in their text do not. Part of the suite `profiler`; skipped
// without NVRTC.
#include "profiler/check/simulate.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/memory.h"
#include "base/text.h"
#include "codegen/cuda/cuda.h"
#include "codegen/lower/lower.h"
#include "profiler/compile/compile.h"
#include "support/group_family.h"
#include "support/kernel_cache.h"
#include "support/thorough.h"
#include "tests/profiler/kernels.h"

using namespace tailor;
using namespace tailor::profiler;

namespace {

constexpr ir::Limits test_limits{90, 2, 32, 256, 512, 4, 65536, 65536, 255, 256, 4, 4, 16384, 1024, 15360, 0, 128};

struct Printed {
  ir::Kernel kernel;
  std::string cuda;
};

/// The member's first candidate under one plan, when that is legal.
std::optional<Printed> printed(const ir::Group& group, int threads_per_row, int vector, int split = 1,
                               const std::vector<ir::Home>* homes = nullptr) {
  const auto ready = codegen::prepare(group);
  const auto* prepared = std::get_if<codegen::Prepared>(&ready);
  if (prepared == nullptr) return {};
  ir::Plan plan;
  plan.skeleton = prepared->skeleton;
  plan.dominant = prepared->dominants.front();
  plan.vector = vector;
  plan.threads_per_row = row(plan.skeleton).has(ir::PlanField::threads_per_row) ? threads_per_row : 1;
  plan.split = split;
  plan.homes = homes != nullptr ? *homes : codegen::homes_of(*prepared, ir::HomesWord::registers);
  codegen::LowerScratch scratch;
  codegen::Lowered lowered = codegen::lower(*prepared, plan, test_limits, scratch);
  if (!std::holds_alternative<ir::Kernel>(lowered)) return {};
  Printed result{std::get<ir::Kernel>(std::move(lowered)), {}};
  result.cuda = codegen::cuda(result.kernel, &plan);
  return result;
}

Checked verdict(const Nvrtc& api, const Printed& what, const Reference& reference) {
  CompileRequest request{.cuda = what.cuda, .entry = what.kernel.name};
  for (const ir::Kernel& one : what.kernel.followers)
    if (one.begins == ir::Begins::launch) request.followers.push_back(one.name);
  const ir::Binary binary = kernels::compiled(api, request);
  REQUIRE_MESSAGE(binary.outcome == ir::CompileOutcome::ok, binary.log);
  return check(what.kernel, reference, make_simulator(what.kernel, binary), CheckOptions{});
}

/// Replaces the first `from`, which must be there.
Printed spoiled(Printed what, const std::string& from, const std::string& to) {
  const std::size_t at = what.cuda.find(from);
  INFO(what.cuda);
  REQUIRE(at != std::string::npos);
  what.cuda.replace(at, from.size(), to);
  return what;
}

bool has(const Checked& checked, simulator::FindingKind kind) {
  return std::any_of(checked.findings.begin(), checked.findings.end(),
                     [&](const simulator::Finding& one) { return one.kind == kind; });
}

}  // namespace

TEST_CASE("compiled kernels of the family pass on the simulator" *
          doctest::test_suite(tailor::testing::in_broad_runs)) {
  const Nvrtc* api = kernels::nvrtc_or_skip();
  if (api == nullptr) return;
  int passed = 0;
  std::size_t number = 0;
  for (const ir::FamilyMember& member : ir::group_family()) {
    const ir::Group group = ir::make_group(member, 5, 96);
    const Reference reference = evaluate_reference(group, 1);
    constexpr std::array mappings = {std::pair(1, 1), std::pair(32, 1), std::pair(128, 1), std::pair(8, 4)};
    ++number;
    for (std::size_t i = 0; i < mappings.size(); ++i) {
      const auto& [lanes, vector] = mappings[i];
      if (!testing::thorough() && (number + i) % mappings.size() != 0) continue;  // one for each member, by turns
      const std::optional<Printed> kernel = printed(group, lanes, vector);
      if (!kernel) continue;
      const Checked checked = verdict(*api, *kernel, reference);
      CAPTURE(member.name);
      CAPTURE(lanes);
      CHECK_MESSAGE(checked.state == Verdict::passed, checked.reason);
      std::int64_t blocks = kernel->kernel.grid;
      for (const ir::Kernel& behind : kernel->kernel.followers) blocks += behind.grid;
      CHECK(checked.counts.blocks_run == blocks);
      ++passed;
    }
  }
  CHECK(passed > 15);
}

TEST_CASE("blocks that must be resident take registers from the compiler and change no result") {
  const Nvrtc* api = kernels::nvrtc_or_skip();
  if (api == nullptr) return;
  // An SM of 65,536 registers and 2,048 threads.
  constexpr ir::Limits large{90,  132, 32, 1024,   2048,  32,     65536, 65536, 255,
                             256, 4,   4,  233472, 49152, 232448, 1024,  128,   8};
  const ir::Group group = ir::make_group(ir::family_member("rms_residual_bf16"), 9, 384);
  const auto ready = codegen::prepare(group);
  const codegen::Prepared& prepared = std::get<codegen::Prepared>(ready);
  const Reference reference = evaluate_reference(group, 1);
  ir::Plan plan;
  plan.skeleton = prepared.skeleton;
  plan.dominant = prepared.dominants.front();
  plan.homes = codegen::homes_of(prepared, ir::HomesWord::registers);
  std::vector<int> registers;
  codegen::LowerScratch scratch;
  for (const int blocks : {0, 10, 12, 16}) {
    CAPTURE(blocks);
    plan.min_blocks = blocks;
    const codegen::Lowered lowered = codegen::lower(prepared, plan, large, scratch);
    if (const auto* refused = std::get_if<ir::Rejection>(&lowered)) FAIL(refused->reason);
    const auto& kernel = std::get<ir::Kernel>(lowered);
    const Printed text{kernel, codegen::cuda(kernel, &plan)};
    CHECK(text.cuda.find(blocks == 0 ? "__launch_bounds__(128) "
                                     : fmt::format("__launch_bounds__(128, {}) ", blocks)) != std::string::npos);
    registers.push_back(kernels::compiled(*api, {.cuda = text.cuda}).registers);
    const Checked checked = verdict(*api, text, reference);
    CHECK_MESSAGE(checked.state == Verdict::passed, checked.reason);
  }
  CHECK(registers[0] > 48);
  CHECK(registers[1] <= 48);
  CHECK(registers[2] <= 40);
  CHECK(registers[3] <= 32);
}

TEST_CASE("two values that wait in registers and shared memory, or of which one is read again, pass on the simulator") {
  const Nvrtc* api = kernels::nvrtc_or_skip();
  if (api == nullptr) return;
  // The gradient of a normalisation of rows with an odd end: both inputs are needed after their sums.
  const ir::Group group = ir::make_group({"gradient", R"(graph gradient {
  %x = parameter 0 : f16[{R},{N}]
  %dy = parameter 1 : f32[{R},{N}]
  %w = convert %x : f32[{R},{N}]
  %p = multiply %w, %dy : f32[{R},{N}]
  %z = constant 0 : f32[]
  %s = reduce add %p, %z, axes={1} : f32[{R}]
  %t = reduce add %dy, %z, axes={1} : f32[{R}]
  %sb = broadcast %s, axes={0} : f32[{R},{N}]
  %tb = broadcast %t, axes={0} : f32[{R},{N}]
  %a = multiply %w, %sb : f32[{R},{N}]
  %b = subtract %dy, %tb : f32[{R},{N}]
  %r = subtract %b, %a : f32[{R},{N}]
  output %r
})"},
                                         5, 299);
  const Reference reference = evaluate_reference(group, 1);
  using enum ir::StitchLevel;
  for (const std::vector<ir::Home>& homes : {std::vector<ir::Home>{{0, registers}, {1, block}}, {{1, registers}}}) {
    const std::optional<Printed> kernel = printed(group, 32, 4, 1, &homes);
    REQUIRE(kernel);
    CHECK((kernel->kernel.shared_bytes > 0) == (homes.size() > 1));
    const Checked checked = verdict(*api, *kernel, reference);
    CHECK_MESSAGE(checked.state == Verdict::passed, checked.reason);
  }
}

TEST_CASE(
    "whole turns of an unrolled loop have no branch, guarded accesses share one address: both take instructions away "
    "and "
    "change no result") {
  const Nvrtc* api = kernels::nvrtc_or_skip();
  if (api == nullptr) return;
  const ir::Group group = ir::make_group(ir::family_member("softmax"), 7, 197);
  const Reference reference = evaluate_reference(group, 1);
  const Printed told = printed(group, 8, 4).value();
  const std::string whole_turns = "t < 6 || ";
  CHECK(told.cuda.find("if (" + whole_turns) != std::string::npos);
  // Of both buffers; the edge of a row is one access.
  CHECK(told.cuda.find("const float* const x_at = held(x + i_1);") != std::string::npos);
  CHECK(told.cuda.find("&x_at[t * 32]") != std::string::npos);
  Printed held = told;  // a branch in each turn
  while (held.cuda.find(whole_turns) != std::string::npos) held = spoiled(held, whole_turns, "");
  const Printed taken_apart = spoiled(held, "asm(\"\" : \"+l\"(a));", "");
  const auto instructions = [&](const Printed& what) {
    const ir::Binary binary = kernels::compiled(*api, {.cuda = what.cuda});
    REQUIRE_MESSAGE(binary.outcome == ir::CompileOutcome::ok, binary.log);
    return binary.machine_instructions;
  };
  // Seven trips of a load and of a store: each took two or three more.
  CHECK(instructions(held) + 14 <= instructions(taken_apart));
  // Six turns of a load, a maximum, a sum and a store: a comparison for each turn, a branch and where it meets for
  // most.
  CHECK(instructions(told) + 6 * 3 * 3 <= instructions(held));
  CHECK(verdict(*api, told, reference).state == Verdict::passed);
  CHECK(verdict(*api, held, reference).state == Verdict::passed);
}

TEST_CASE("a kernel without one of its barriers races, and the finding names the CUDA line") {
  const Nvrtc* api = kernels::nvrtc_or_skip();
  if (api == nullptr) return;
  const ir::Group group = ir::make_group(ir::family_member("softmax"), 5, 256);
  const Printed right = printed(group, 128, 1).value();
  const Checked checked = verdict(*api, spoiled(right, "__syncthreads();", ";"), evaluate_reference(group, 1));
  CHECK(checked.state == Verdict::unsound);
  CHECK((has(checked, simulator::FindingKind::race) || has(checked, simulator::FindingKind::uninitialised_read)));
  REQUIRE(!checked.findings.empty());
  CHECK(checked.findings.front().ptx_line > 0);
  CHECK(checked.findings.front().source_line > 0);
}

TEST_CASE("a kernel whose guard lets one row too many pass reads out of bounds") {
  const Nvrtc* api = kernels::nvrtc_or_skip();
  if (api == nullptr) return;
  const ir::Group group = ir::make_group(ir::family_member("softmax"), 5, 96);
  const Printed right = printed(group, 32, 1).value();
  const Checked checked = verdict(*api, spoiled(right, " < 5)", " < 6)"), evaluate_reference(group, 1));
  CHECK(checked.state == Verdict::unsound);
  CHECK(has(checked, simulator::FindingKind::out_of_bounds));
}

TEST_CASE("a kernel that computes something near is wrong without any finding") {
  const Nvrtc* api = kernels::nvrtc_or_skip();
  if (api == nullptr) return;
  const ir::Group group = ir::make_group(ir::family_member("layernorm_f16"), 5, 96);
  const Printed right = printed(group, 32, 1).value();
  const Checked checked = verdict(*api, spoiled(right, "0.001", "0.002"), evaluate_reference(group, 1));
  CHECK(checked.state == Verdict::wrong);
  CHECK(checked.worst > 1);
  CHECK(checked.findings.empty());
}

TEST_CASE("a sample of a launch on two gigabytes takes what its blocks touch, and finds what is wrong") {
  const Nvrtc* api = kernels::nvrtc_or_skip();
  if (api == nullptr) return;
  for (const char* member : {"softmax", "layernorm_f16"}) {
    CAPTURE(member);
    const ir::Group group = ir::make_group(ir::family_member(member), 1 << 20, 256);
    const std::shared_ptr<const Repeats> repeats = repeats_of(group.graph);
    REQUIRE(repeats != nullptr);
    const Reference reference = evaluate_reference(group, 1, repeats);
    const Printed right = printed(group, 32, 4).value();
    CheckOptions options;
    options.most_elements = default_most_elements;
    options.sample_blocks = 100;
    const auto checked = [&](const Printed& what) {
      const ir::Binary binary = kernels::compiled(*api, {.cuda = what.cuda});
      REQUIRE_MESSAGE(binary.outcome == ir::CompileOutcome::ok, binary.log);
      return check(what.kernel, reference, make_simulator(what.kernel, binary), options);
    };
    const std::int64_t before = held_memory();
    const Checked passed = checked(right);
    CHECK_MESSAGE(passed.state == Verdict::passed, passed.reason);
    CHECK(passed.judged == 1);
    CHECK(passed.counts.blocks_run < 110);
    CHECK(held_memory() - before < 200'000'000);
    if (member != std::string_view("layernorm_f16")) continue;
    const Checked found = checked(spoiled(right, "0.001", "0.002"));
    CHECK(found.state == Verdict::wrong);
    const Checked reads_on = checked(spoiled(right, "(blockIdx.x", "(blockIdx.x + 1u"));
    CHECK(reads_on.state == Verdict::unsound);  // the last block leaves the buffers
  }
}

TEST_CASE("a sample of a launch whose blocks share results runs all that share one, and judges it") {
  const Nvrtc* api = kernels::nvrtc_or_skip();
  if (api == nullptr) return;
  for (const auto& [member, rows, columns, lanes] :
       {std::tuple("row_sum", 64, 4096, 128), std::tuple("column_sum", 1024, 1024, 8)}) {
    CAPTURE(member);
    const ir::Group group = ir::make_group(ir::family_member(member), rows, columns);
    const Reference reference = evaluate_reference(group, 1);
    const Printed right = printed(group, lanes, 4, 4).value();
    CheckOptions options;
    options.sample_blocks = 2;
    const auto checked = [&](const Printed& what) {
      const ir::Binary binary = kernels::compiled(*api, {.cuda = what.cuda});
      REQUIRE_MESSAGE(binary.outcome == ir::CompileOutcome::ok, binary.log);
      return check(what.kernel, reference, make_simulator(what.kernel, binary), options);
    };
    const Checked passed = checked(right);
    CHECK_MESSAGE(passed.state == Verdict::passed, passed.reason);
    CHECK(passed.judged == 1);
    CHECK(passed.counts.blocks_run <= 6 * 4);
    CHECK(passed.counts.blocks_run < passed.counts.blocks_total);
    const Checked whole = verdict(*api, right, reference);
    CHECK(std::abs(passed.counts.instructions / whole.counts.instructions - 1) < 0.02);
    const std::string question = "arrived == 3u";
    CHECK(checked(spoiled(right, question, "arrived == 2u")).state != Verdict::passed);  // one part is missing
    // Fewer results than a sample has batches: all blocks run.
    const ir::Group few = ir::make_group(ir::family_member(member), rows == 64 ? 4 : 1024, rows == 64 ? 4096 : 64);
    const Printed shared = printed(few, lanes, 4, 4).value();
    CHECK(blocks_to_run(shared.kernel, options) == 0);
  }
}

TEST_CASE("text that is no PTX is not executed, and says why") {
  const ir::Group group = ir::make_group(ir::family_member("softmax"), 5, 96);
  const Printed right = printed(group, 32, 1).value();
  ir::Binary binary;
  binary.ptx = "not PTX";
  binary.entry = "kernel";
  const Checked checked = check(right.kernel, evaluate_reference(group, 1), make_simulator(right.kernel, binary), {});
  CHECK(checked.state == Verdict::not_executed);
  CHECK(checked.reason.starts_with("cannot simulate"));
}

namespace {

/// PTX of `rounds(ticket)`: one thread adds one to the ticket, and takes it off again where `resets`.
ir::Binary ticket_binary(bool resets) {
  ir::Binary binary;
  binary.entry = "rounds";
  binary.ptx = fmt::format(R"(.version 8.0
.target sm_90
.address_size 64
.visible .entry rounds(.param .u64 p0) {{
  .reg .b32 %r<3>;
  .reg .b64 %rd<3>;
  ld.param.u64 %rd1, [p0];
  cvta.to.global.u64 %rd2, %rd1;
  atom.global.add.u32 %r1, [%rd2], 1;
  {}
  ret;
}}
)",
                           resets ? "mov.u32 %r2, 0; st.global.u32 [%rd2], %r2;" : "");
  return binary;
}

}  // namespace

TEST_CASE("a kernel that does not leave its ticket at zero is found out") {
  ir::Kernel kernel;
  kernel.name = "rounds";
  kernel.threads = 1;
  kernel.virtual_blocks = kernel.grid = 1;
  kernel.buffers = {{"turn", ir::DType::u32, 1, ir::BufferRole::ticket}};
  for (const bool resets : {true, false}) {
    const ir::Binary binary = ticket_binary(resets);
    const Executed run = make_simulator(kernel, binary)({}, {});
    REQUIRE_MESSAGE(run.simulation.outcome == simulator::SimulationOutcome::finished, run.simulation.reason);
    CHECK(run.simulation.findings.empty() == resets);
    if (!resets) CHECK(run.simulation.findings.at(0).text == "ticket 'turn' is not zero after the launch");
  }
}
