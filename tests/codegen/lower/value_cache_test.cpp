// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Which value a use gets: one that was computed under a condition is not used where the condition need not hold,
// constants have the number of their own type, no group of threads is left out of a sum, windows begin at the index of
// their own dimension, what a later phase loads again is marked as such, and what goes backward then. Groups
// written here, lowered under many plans and interpreted; the oracle is the evaluator. Part of the suite `codegen
// lower`.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "codegen/lower/lower.h"
#include "costmodel/count.h"
#include "explore/every_plan.h"
#include "ir/graph/number.h"
#include "reference/evaluate.h"
#include "support/cells.h"
#include "support/group_family.h"
#include "support/interpret.h"
#include "support/text_group.h"

using namespace tailor;
using namespace tailor::ir;

namespace {

constexpr Limits cache_limits{90, 2, 32, 1024, 2048, 16, 65536, 65536, 255, 256, 4, 4, 65536, 49152, 65536, 0, 128};

Kernel map_kernel(const Group& group, int vector) {
  const auto ready = codegen::prepare(group);
  const auto* prepared = std::get_if<codegen::Prepared>(&ready);
  if (prepared == nullptr) FAIL(std::get<Rejection>(ready).reason);
  Plan plan;
  plan.skeleton = prepared->skeleton;
  plan.dominant = prepared->dominants.front();
  plan.threads = 64;
  plan.vector = vector;
  codegen::LowerScratch scratch;
  codegen::Lowered lowered = codegen::lower(*prepared, plan, cache_limits, scratch);
  if (const auto* refused = std::get_if<Rejection>(&lowered)) FAIL(refused->rule << ": " << refused->reason);
  return std::get<Kernel>(std::move(lowered));
}

/// Whether the kernel stores the evaluator's bytes.
bool computes(const Group& group, const Kernel& kernel, const std::vector<reference::Tensor>& inputs) {
  std::vector<std::vector<std::byte>> buffers;
  for (const reference::Tensor& input : inputs) buffers.push_back(input.bytes);
  const std::vector<reference::Tensor> expected = reference::evaluate(group.graph, inputs);
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const InPlace* over = i < group.graph.in_place.size() ? &group.graph.in_place[i] : nullptr;
    buffers.push_back(over ? inputs[static_cast<std::size_t>(over->parameter)].bytes
                           : std::vector<std::byte>(expected[i].bytes.size(), std::byte{0xab}));
  }
  const KernelRun run = interpret(kernel, std::move(buffers));
  if (!run.violations.empty()) return false;
  for (std::size_t i = 0; i < expected.size(); ++i)
    if (run.buffers[kernel.buffers[inputs.size() + i].role == BufferRole::in_place
                        ? kernel.buffers[inputs.size() + i].of
                        : inputs.size() + i] != expected[i].bytes)
      return false;
  return true;
}

}  // namespace

TEST_CASE("a value that is needed under a condition and without one is right in both places") {
  // %e is the same number wherever it is read: under the condition of a concatenation or a pad, and everywhere.
  struct Source {
    std::string_view parameter, narrow, wide;
  };
  int programs = 0;
  for (const Source& source : {Source{"[]", "", ""}, Source{"[5]", ", axes={0}", ", axes={0}"}})
    for (const std::string_view move : {"concatenate %c, %x, axes={1}", "concatenate %x, %c, axes={1}",
                                        "pad %c, %z, ranges={0:0:0, 8:0:0}", "pad %c, %z, ranges={0:0:0, 0:8:0}"})
      for (const bool condition_first : {false, true}) {
        const std::string narrow =
            fmt::format("  %c = broadcast %e{} : f32[5,8]\n  %k = {} : f32[5,16]\n", source.narrow, move);
        const std::string wide =
            fmt::format("  %b = broadcast %e{} : f32[5,16]\n  %n = negate %b : f32[5,16]\n", source.wide);
        const Group group = group_of_lines(
            fmt::format("  %s = parameter 0 : f32{0}\n  %x = parameter 1 : f32[5,8]\n  %z = constant 3 : f32[]\n"
                        "  %e = exp %s : f32{0}\n{1}{2}  %y = {3} : f32[5,16]\n  output %y\n",
                        source.parameter, condition_first ? narrow : wide, condition_first ? wide : narrow,
                        condition_first ? "subtract %k, %n" : "subtract %n, %k"));
        CAPTURE(text(group.graph));
        programs += explore::check_every_plan(group, {3}, true).programs;
      }
  CHECK(programs > 60);
}

namespace {

struct LoadCount {
  int all = 0, guarded = 0;
};
/// Loads of a buffer.
LoadCount count_loads(const Kernel& kernel, std::uint16_t memory) {
  LoadCount found;
  std::size_t end_of_guard = 0;
  for (std::size_t at = 0; at < kernel.body.size(); ++at) {
    const Stmt& stmt = kernel.body[at];
    if (stmt.kind == StmtKind::guard) end_of_guard = std::max<std::size_t>(end_of_guard, stmt.end);
    if (stmt.kind != StmtKind::load || is_array(stmt.space) || stmt.memory != memory) continue;
    ++found.all;
    found.guarded += at < end_of_guard ? 1 : 0;
  }
  return found;
}

}  // namespace

TEST_CASE("what a window reads at all its taps alike is loaded once, where most taps are inside") {
  const auto loads = [](std::string_view moved) {
    const Group group = group_of_lines(
        fmt::format("  %x = parameter 0 : f32[12,64]\n  %s = parameter 1 : f32[64]\n  %z = constant 0 : f32[]\n"
                    "  %e = exp %s : f32[64]\n  %b = broadcast %e, axes={{1}} : f32[12,64]\n  %y = multiply %x, %b : "
                    "f32[12,64]\n{}",
                    moved));
    CAPTURE(text(group.graph));
    CHECK(explore::check_every_plan(group, {5}, true).programs > 3);
    return count_loads(map_kernel(group, 1), 1);
  };
  const LoadCount padded = loads(
      "  %p = pad %y, %z, ranges={1:1:0, 0:0:0} : f32[14,64]\n"
      "  %w = reduce_window add %p, %z, text=\"window={size=3x1}\" : f32[12,64]\n  output %w\n");
  CHECK(padded.all == 1);
  CHECK(padded.guarded == 0);
  const LoadCount window =
      loads("  %w = reduce_window add %y, %z, text=\"window={size=3x1 pad=1_1x0_0}\" : f32[12,64]\n  output %w\n");
  CHECK(window.all == 1);
  CHECK(window.guarded == 0);
  // Around a small part, and of what is joined, most elements have no use for it.
  CHECK(loads("  %p = pad %y, %z, ranges={12:0:0, 0:0:0} : f32[24,64]\n  output %p\n").guarded == 0);
  CHECK(loads("  %p = pad %y, %z, ranges={13:0:0, 0:0:0} : f32[25,64]\n  output %p\n").guarded == 1);
  CHECK(loads("  %p = concatenate %y, %x, axes={0} : f32[24,64]\n  output %p\n").guarded == 1);
  // Another place of it for each tap: its own edges are asked for.
  const LoadCount along =
      loads("  %w = reduce_window add %y, %z, text=\"window={size=1x3 pad=0_0x1_1}\" : f32[12,64]\n  output %w\n");
  CHECK(along.all == 3);
  CHECK(along.guarded == 2);
}

TEST_CASE("columns are the sums of all groups of threads, odd numbers of them too") {
  // Groups are added in halves down to a few; an odd number of more than those cannot be halved.
  const Group group = make_group(family_member("column_sum"), 100, 64);
  const auto prepared = std::get<codegen::Prepared>(codegen::prepare(group));
  reference::Tensor x = reference::zeros(group.graph.nodes[0].shape);
  for (std::int64_t i = 0; i < 6400; ++i) reference::store(x, i, static_cast<double>(i * 7 % 64));  // sums are exact
  for (const int groups : {1, 2, 3, 7, 15, 16, 17, 18, 19, 21, 24, 25, 27, 31, 32}) {
    CAPTURE(groups);
    Plan plan;
    plan.skeleton = Skeleton::column;
    plan.dominant = prepared.dominants.front();
    plan.threads = 32 * groups;
    plan.threads_per_row = 32;
    plan.vector = 2;
    plan.in_flight = 1;
    codegen::LowerScratch scratch;
    const codegen::Lowered lowered = codegen::lower(prepared, plan, cache_limits, scratch);
    if (const auto* refused = std::get_if<Rejection>(&lowered)) FAIL(refused->rule << ": " << refused->reason);
    CHECK(computes(group, std::get<Kernel>(lowered), {x}));
  }
}

TEST_CASE("a constant of every type is its own number in a kernel, the ends of its range included") {
  struct Numbers {
    DType dtype;
    std::vector<std::string_view> words;
  };
  const Numbers all[] = {
      {DType::s8, {"-1", "-128", "127"}},
      {DType::u8, {"1", "128", "255"}},
      {DType::s16, {"-1", "-32768", "32767"}},
      {DType::u16, {"32768", "65535"}},
      {DType::s32, {"-1", "-2147483648", "2147483647"}},
      {DType::u32, {"2147483648", "4294967295"}},
      {DType::s64, {"-1", "-9223372036854775808", "9223372036854775807"}},
      {DType::u64, {"9223372036854775808", "18446744073709551615"}},
      {DType::f16, {"-0.099975586", "65504", "-inf"}},
      {DType::bf16, {"-0.10009766", "3.3895e38", "inf"}},
      {DType::f32, {"-0.1", "3.4028235e38", "-inf"}},
      {DType::f64, {"-0.1", "1e308", "inf"}},
  };
  for (const Numbers& one : all)
    for (const std::string_view word : one.words)
      for (const int vector : {1, 2}) {
        const Group group = group_of_lines(
            fmt::format("  %x = parameter 0 : {0}[64]\n  %c = constant {1} : {0}[]\n  %b = broadcast %c : {0}[64]\n"
                        "  %m = maximum %x, %b : {0}[64]\n  %n = minimum %x, %b : {0}[64]\n"
                        "  %p = compare eq %x, %b : pred[64]\n  output %m, %n, %p\n",
                        name(one.dtype), word));
        CAPTURE(name(one.dtype));
        CAPTURE(word);
        reference::Tensor x = reference::random_tensor(group.graph.nodes[0].shape, 3);
        // The constant itself stands in the first element.
        const auto* literal = known_literal(group.graph.nodes[1]);
        REQUIRE(literal != nullptr);
        std::copy(literal->bytes.begin(), literal->bytes.end(), x.bytes.begin());
        const Kernel kernel = map_kernel(group, vector);
        CHECK(computes(group, kernel, {x}));
        // As it will be printed: the interpreter would cut a number that its type lacks.
        for (const Value& value : kernel.values)
          if (value.kind == ValueKind::constant && is_integer(value.dtype))
            CHECK(value.integer == wrap_to(value.dtype, value.integer));
      }
}

TEST_CASE("a window that moves along several dimensions begins at the index of each") {
  const auto index = [](std::int64_t value) {
    reference::Tensor one = reference::zeros(make_shape(DType::s32, {}));
    reference::store_integer(one, 0, value);
    return one;
  };
  const Group read = group_of_lines(
      "  %x = parameter 0 : s32[6,7,8]\n  %i = parameter 1 : s32[]\n  %j = parameter 2 : s32[]\n"
      "  %k = parameter 3 : s32[]\n  %y = dynamic_slice %x, %i, %j, %k : s32[2,3,4]\n  output %y\n");
  const Group by_list = group_of_lines(
      "  %x = parameter 0 : s32[6,7,8]\n  %i = parameter 1 : s32[3]\n  %y = dynamic_slice %x, %i : s32[2,3,4]\n"
      "  output %y\n");
  const std::string update =
      "  %x = parameter 0 : s32[6,7,8]\n  %n = parameter 1 : s32[2,3,4]\n  %i = parameter 2 : s32[]\n"
      "  %j = parameter 3 : s32[]\n  %k = parameter 4 : s32[]\n"
      "  %y = dynamic_update_slice %x, %n, %i, %j, %k : s32[6,7,8]\n  output %y\n";
  const Group copied = group_of_lines(update), in_place = group_of_lines(update + "  in_place 0 of 0\n");
  const reference::Tensor x = reference::random_tensor(read.graph.nodes[0].shape, 1),
                          part = reference::random_tensor(copied.graph.nodes[1].shape, 2);
  for (const std::array<std::int64_t, 3>& at :
       {std::array<std::int64_t, 3>{0, 1, 2}, {1, 2, 0}, {4, 3, 1}, {5, 6, 7}, {-1, 2, 9}}) {
    CAPTURE(at);
    const std::vector<reference::Tensor> starts{index(at[0]), index(at[1]), index(at[2])};
    CHECK(computes(read, map_kernel(read, 1), {x, starts[0], starts[1], starts[2]}));
    reference::Tensor list = reference::zeros(make_shape(DType::s32, {3}));
    for (std::size_t d = 0; d < 3; ++d) reference::store_integer(list, static_cast<std::int64_t>(d), at[d]);
    CHECK(computes(by_list, map_kernel(by_list, 1), {x, list}));
    CHECK(computes(copied, map_kernel(copied, 1), {x, part, starts[0], starts[1], starts[2]}));
    CHECK(computes(in_place, map_kernel(in_place, 1), {x, part, starts[0], starts[1], starts[2]}));
  }
}

namespace {

/// Rows of a warp each, an element of each thread at a time: of 128 columns in four turns of a loop.
Kernel rows_of_warps(std::string_view member, HomesWord homes) {
  const Group group = make_group(family_member(member), 6, 128);
  const auto prepared = std::get<codegen::Prepared>(codegen::prepare(group));
  Plan plan;
  plan.skeleton = Skeleton::row;
  plan.dominant = prepared.dominants.front();
  plan.threads = 64;
  plan.threads_per_row = 32;
  plan.vector = 1;
  plan.homes = codegen::homes_of(prepared, homes);
  codegen::LowerScratch scratch;
  return std::get<Kernel>(codegen::lower(prepared, plan, cache_limits, scratch));
}

/// Which way the rolled loops go around loads from the first buffer, in the order of the program.
std::vector<bool> backward_walks(const Kernel& kernel) {
  std::vector<bool> found;
  for (const Stmt& loop : kernel.body) {
    if (loop.kind != StmtKind::loop || loop.unrolled) continue;
    const std::span inside(kernel.body.begin() + (&loop - kernel.body.data()), kernel.body.begin() + loop.end);
    if (std::any_of(inside.begin(), inside.end(), [](const Stmt& s) {
          return s.kind == StmtKind::load && s.space == Space::global && s.memory == 0;
        }))
      found.push_back(loop.backward);
  }
  return found;
}

}  // namespace

TEST_CASE("a row that is read again, and not added up, is read from its end, and counted so") {
  const Kernel softmax = rows_of_warps("softmax", HomesWord::reload);
  CHECK(backward_walks(softmax) == std::vector<bool>{false, false, true});
  for (const costmodel::Mode mode : {costmodel::Mode::exact, costmodel::Mode::fast}) {
    const costmodel::BufferWork row = costmodel::count(softmax, mode).buffers[0];
    CHECK(row.reload_sectors == 2 * 6 * 16);  // six rows of 512 bytes
    CHECK(row.turned_sectors == 6 * 16);
  }
  Kernel other = softmax;
  int loops = 0;
  for (Stmt& s : other.body)
    if (s.kind == StmtKind::loop && !s.unrolled) s.backward = loops++ == 1;  // forth, back and forth again
  CHECK(costmodel::count(other, costmodel::Mode::fast).buffers[0].turned_sectors == 2 * 6 * 16);
  for (Stmt& s : other.body) s.backward = false;
  CHECK(costmodel::count(other, costmodel::Mode::fast).buffers[0].turned_sectors == 0);
  CHECK(costmodel::count(other, costmodel::Mode::fast).buffers[0].reload_sectors == 2 * 6 * 16);
  for (const bool backward : backward_walks(rows_of_warps("softmax", HomesWord::registers))) CHECK_FALSE(backward);
}

TEST_CASE(
    "what a phase loads for the first time is new, what a later one loads again is not, a row's scale is neither") {
  const auto policies = [](std::string_view member, HomesWord homes, BufferId buffer) {
    const Kernel kernel = rows_of_warps(member, homes);
    std::vector<Policy> found;
    for (const Stmt& s : kernel.body)
      if (s.kind == StmtKind::load && s.space == Space::global && s.memory == buffer &&
          (found.empty() || found.back() != s.policy || homes == HomesWord::reload))
        found.push_back(s.policy);
    return found;
  };
  const std::vector<Policy> again = policies("softmax", HomesWord::reload, 0);
  REQUIRE(again.size() == 3);
  CHECK(again == std::vector<Policy>{Policy::once, Policy::reload, Policy::reload});
  CHECK(policies("softmax", HomesWord::registers, 0) == std::vector<Policy>{Policy::once});
  for (const Policy policy : policies("layernorm_f16", HomesWord::registers, 1))
    CHECK((policy == Policy::again || policy == Policy::early));
}
