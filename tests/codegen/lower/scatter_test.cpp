// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Updates that go where data says: scatters with random dimension numbers do what the evaluator does, in place and
// behind a launch that stores what they find, for every type and operation, wherever indices point; accesses are as
// wide as the GPU has atomics; what a kernel cannot do is refused with a reason. Plans of whole groups are the business
// of lower_oracle_test.cpp (the members scatter_* of the family). Part of the suite `codegen lower`.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <random>

#include "codegen/lower/lower.h"
#include "codegen/lower/random_gather.h"
#include "costmodel/count.h"
#include "reference/evaluate.h"
#include "support/cells.h"
#include "support/interpret.h"
#include "support/text_group.h"

using namespace tailor;
using namespace tailor::ir;

namespace {

constexpr Limits scatter_limits(int capability) {
  return {capability, 2, 32, 1024, 2048, 32, 65536, 65536, 255, 256, 4, 8, 233472, 49152, 232448, 1024, 128};
}

codegen::Lowered lowered_scatter(const Group& group, int dominant, int vector, int unroll = 1, int capability = 90) {
  return codegen::lower(group,
                        parse_plan(fmt::format("map dominant=%{} threads=64 vector={} unroll={} grid=tile "
                                               "index_cache=on value_cache=on",
                                               dominant, vector, unroll)),
                        scatter_limits(capability));
}

Kernel scatter_kernel(const Group& group, int dominant, int vector = 1, int unroll = 1, int capability = 90) {
  codegen::Lowered made = lowered_scatter(group, dominant, vector, unroll, capability);
  if (const auto* no = std::get_if<Rejection>(&made)) FAIL(no->rule << ": " << no->reason);
  verify(std::get<Kernel>(made));
  return std::get<Kernel>(std::move(made));
}

/// A gather's words as a scatter's.
std::string scatter_words(std::string words) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 5> names{
      {{"start_indices_batching_dims", "scatter_indices_batching_dims"},
       {"offset_dims", "update_window_dims"},
       {"collapsed_slice_dims", "inserted_window_dims"},
       {"start_index_map", "scatter_dims_to_operand_dims"},
       {"operand_batching_dims", "input_batching_dims"}}};
  words.resize(words.find(", slice_sizes"));
  for (const auto& [from, to] : names) words.replace(words.find(from), from.size(), to);
  return words;
}

/// Rows of `width` that are put into a table of ten.
Group rows_into(std::string_view dtype, std::string_view what, std::int64_t places, std::int64_t width, bool in_place,
                std::string_view more = "", std::string_view index = "s32") {
  const std::string region = fmt::format(
      "  graph second {{\n    %a = parameter 0 : {0}[]\n    %b = parameter 1 : {0}[]\n    output %b\n  }}\n", dtype);
  return group_of_lines(fmt::format(
      "{7}  %t = parameter 0 : {0}[10,{3}]\n  %i = parameter 1 : {6}[{2}]\n  %x = parameter 2 : {0}[{2},{3}]\n"
      "  %y = scatter {1} %t, %i, %x, text=\"update_window_dims={{1}}, inserted_window_dims={{0}}, "
      "scatter_dims_to_operand_dims={{0}}, index_vector_dim=1{5}\"{8} : {0}[10,{3}]\n  output %y\n{4}",
      dtype, what, places, width, in_place ? "  in_place 0 of 0\n" : "", more, index,
      what == "custom" ? region : std::string(), what == "custom" ? ", bodies={0}" : ""));
}

/// Runs the kernel of the group, and says whether its result is what the evaluator has.
void check_scatter(const Group& group, const Kernel& kernel, const std::vector<reference::Tensor>& inputs) {
  const std::vector<reference::Tensor> expected = reference::evaluate(group.graph, inputs);
  std::vector<std::vector<std::byte>> buffers;
  for (const reference::Tensor& input : inputs) buffers.push_back(input.bytes);
  buffers.emplace_back(expected[0].bytes.size(), std::byte{0xab});
  const KernelRun run = interpret(kernel, std::move(buffers));
  REQUIRE_MESSAGE(run.violations.empty(), run.violations.front());
  const bool in_place = !group.graph.in_place.empty();
  REQUIRE(run.buffers[in_place ? 0 : inputs.size()] == expected[0].bytes);
}

void fill_indices(reference::Tensor& indices, const std::vector<std::int64_t>& numbers) {
  const DType dtype = indices.shape.dtype;
  for (std::size_t i = 0; i < numbers.size(); ++i)
    write_cell(dtype, indices.bytes.data() + i * static_cast<std::size_t>(row(dtype).bits / 8),
               fitted(dtype, integer_cell(numbers[i])));
}

int widest_write(const Kernel& program) {
  int widest = 0;
  for (const Stmt& s : kernels_of(program)[kernels_of(program).size() - 1].body)
    if (s.kind == StmtKind::atomic || s.kind == StmtKind::store) widest = std::max(widest, static_cast<int>(s.width));
  return widest;
}

}  // namespace

TEST_CASE("scatters with random dimension numbers do what the evaluator does, wherever indices point") {
  std::mt19937 random(20261128);
  int looked_at = 0;
  for (int turn = 0; turn < 300; ++turn) {
    const testing::GatherText numbers = testing::random_gather(random);
    if (std::find(numbers.indices.begin(), numbers.indices.end(), 0) != numbers.indices.end()) continue;
    const bool in_place = random() % 2 == 0;
    constexpr std::array<std::string_view, 3> ways{"add", "max", "xor"};
    const Group group = group_of_lines(
        fmt::format("  %x = parameter 0 : s32[{0}]\n  %i = parameter 1 : s32[{1}]\n  %u = parameter 2 : s32[{3}]\n"
                    "  %y = scatter {4} %x, %i, %u, text=\"{2}\" : s32[{0}]\n  output %y\n{5}",
                    testing::list(numbers.array), testing::list(numbers.indices), scatter_words(numbers.text),
                    testing::list(numbers.result), ways[random() % 3], in_place ? "  in_place 0 of 0\n" : ""));
    CAPTURE(text(group.graph));
    std::vector<reference::Tensor> inputs{reference::random_tensor(group.graph.nodes[0].shape, 1),
                                          reference::zeros(group.graph.nodes[1].shape),
                                          reference::random_tensor(group.graph.nodes[2].shape, 2)};
    std::vector<std::int64_t> places;
    for (std::int64_t i = 0; i < elements(inputs[1].shape); ++i)
      places.push_back(static_cast<std::int64_t>(random() % 13) - 4);
    fill_indices(inputs[1], places);
    for (const int vector : {1, 2}) {
      if (vector == 2 && elements(inputs[2].shape) < 2) continue;
      codegen::Lowered made = lowered_scatter(group, 2, vector);
      REQUIRE(std::holds_alternative<Kernel>(made));
      verify(std::get<Kernel>(made));
      CHECK(std::get<Kernel>(made).followers.size() == (in_place ? 0 : 1));
      check_scatter(group, std::get<Kernel>(made), inputs);
    }
    ++looked_at;
  }
  CHECK(looked_at > 200);
}

TEST_CASE("every type and operation has a scatter, by an instruction, by exchange or alone") {
  const std::vector<std::int64_t> often{3, 3, -1, 9, 10, 0, 3, 70000, 9}, once{3, 4, -1, 9, 10, 0, 2, 70000, 8};
  for (const DType dtype : {DType::s8, DType::u16, DType::s32, DType::u32, DType::s64, DType::u64, DType::f16,
                            DType::bf16, DType::f32, DType::f64})
    for (const std::string_view what : {"add", "multiply", "max", "min", "and", "or", "xor", "custom"})
      for (const bool unique : {false, true})
        for (const int capability : {70, 80, 90}) {
          const bool bits = what == "and" || what == "or" || what == "xor";
          if (bits && is_floating(dtype)) continue;
          CAPTURE(name(dtype));
          CAPTURE(what);
          CAPTURE(unique);
          CAPTURE(capability);
          const Group group = rows_into(name(dtype), what, 9, 8, true, unique ? ", unique_indices=true" : "");
          if (row(dtype).bits < 16 && !unique && what != "custom") {
            const codegen::Classified refused = codegen::classify(group);
            REQUIRE(std::holds_alternative<Rejection>(refused));
            CHECK(std::get<Rejection>(refused).rule == "operation-scatter");
            continue;
          }
          std::vector<reference::Tensor> inputs;
          for (int k = 0; k < 3; ++k)
            inputs.push_back(reference::random_tensor(group.graph.nodes[static_cast<std::size_t>(k)].shape, 7 + k));
          fill_indices(inputs[1], unique || what == "custom" ? once : often);
          const bool is_sum = is_floating(dtype) && (what == "add" || what == "multiply");
          if (is_sum) fill_indices(inputs[1], once);  // else the order counts
          for (const int vector : {1, 8}) check_scatter(group, scatter_kernel(group, 2, vector, 1, capability), inputs);
        }
}

TEST_CASE("indices of any type are looked at as the evaluator does, whatever the type can hold") {
  const std::vector<std::int64_t> places{
      0, 5, 127, 255, -1, -128, 9, 10, 65535, std::int64_t{1} << 31, std::int64_t{1} << 62};
  for (const std::string_view index : {"s8", "u8", "s16", "u16", "s32", "u32", "s64", "u64"}) {
    const Group group = rows_into("s32", "add", std::ssize(places), 4, false, "", index);
    std::vector<reference::Tensor> inputs;
    for (std::size_t k = 0; k < 3; ++k) inputs.push_back(reference::random_tensor(group.graph.nodes[k].shape, 3 + k));
    fill_indices(inputs[1], places);
    CAPTURE(index);
    check_scatter(group, scatter_kernel(group, 2, 4), inputs);
  }
}

TEST_CASE("updates are written as wide as the GPU has atomics for, under one guard for their window") {
  const auto widest = [](std::string_view dtype, std::string_view what, int width, int capability, int vector = 8) {
    return widest_write(scatter_kernel(rows_into(dtype, what, 64, width, true), 2, vector, 1, capability));
  };
  CHECK(widest("f32", "add", 64, 90) == 4);
  CHECK(widest("f32", "add", 64, 80) == 1);
  CHECK(widest("f16", "add", 64, 90) == 8);
  CHECK(widest("f16", "add", 64, 80) == 2);
  CHECK(widest("bf16", "add", 64, 90) == 8);
  CHECK(widest("bf16", "add", 64, 80) == 1);  // by exchange
  CHECK(widest("f32", "add", 66, 90, 2) == 2);
  CHECK(widest("f32", "add", 66, 90) == 1);  // a vector of 8 goes on into the next window
  CHECK(widest("f32", "add", 65, 90) == 1);
  CHECK(widest("s32", "add", 64, 90) == 1);
  CHECK(widest("f32", "custom", 64, 80) == 4);
  const Kernel kernel = scatter_kernel(rows_into("s32", "add", 64, 64, true), 2, 4);
  const auto is_guard = [](const Stmt& s) { return s.kind == StmtKind::guard; };
  CHECK(std::count_if(kernel.body.begin(), kernel.body.end(), is_guard) == 1);
  const auto exchanges = [](const Kernel& one) {
    return std::any_of(one.body.begin(), one.body.end(), [](const Stmt& s) { return s.by_exchange; });
  };
  CHECK(exchanges(scatter_kernel(rows_into("f32", "max", 64, 64, true), 2)));
  CHECK_FALSE(exchanges(scatter_kernel(rows_into("f32", "max", 64, 64, true, ", unique_indices=true"), 2)));
  CHECK_FALSE(exchanges(scatter_kernel(rows_into("s64", "max", 64, 64, true), 2)));
}

TEST_CASE("a scatter that is not in place stores what it finds first, with all that computes it") {
  const Group group = group_of_lines(R"(
  %i = parameter 0 : s32[64]
  %x = parameter 1 : f32[64,32]
  %p = parameter 2 : f32[100,32]
  %n = negate %p : f32[100,32]
  %y = scatter add %n, %i, %x, text="update_window_dims={1}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1" : f32[100,32]
  output %y
)");
  const Kernel kernel = scatter_kernel(group, 1, 4);
  REQUIRE(kernel.followers.size() == 1);
  CHECK(memory_role(kernel, 3) == BufferRole::output);  // nobody need set it to zero
  CHECK(is_idempotent(kernel));
  CHECK(kernel.virtual_blocks == 13);              // 100 x 32 in vectors of 4, 64 threads
  CHECK(kernel.followers[0].virtual_blocks == 8);  // 64 x 32
  CHECK(launch_shape(kernel.followers[0]).dependent);
  const Kernel in_place = scatter_kernel(rows_into("f32", "add", 64, 32, true), 2, 4);
  CHECK_FALSE(is_idempotent(in_place));
  CHECK(memory_role(in_place, 0) == BufferRole::in_place);
}

TEST_CASE("counted places of a scatter lie inside, so every guard lets them pass") {
  for (const int vector : {1, 4}) {
    const Kernel kernel = scatter_kernel(rows_into("f32", "add", 64, 32, true), 2, vector);
    const costmodel::Work exact = costmodel::count(kernel, costmodel::Mode::exact),
                          fast = costmodel::count(kernel, costmodel::Mode::fast);
    CHECK(exact.buffers[3].atomic.bytes == 64 * 32 * 4);
    CHECK(fast.buffers[3].atomic == exact.buffers[3].atomic);
    CHECK(fast == exact);
  }
}

TEST_CASE("what no kernel scatters is refused by name") {
  const auto rule = [](const Group& group) {
    const codegen::Classified found = codegen::classify(group);
    return std::holds_alternative<Rejection>(found) ? std::get<Rejection>(found).rule : std::string();
  };
  const std::string head =
      "  %t = parameter 0 : f32[10,8]\n  %i = parameter 1 : s32[4]\n  %x = parameter 2 : f32[4,8]\n"
      "  %z = constant 0 : f32[]\n";
  const std::string words =
      "text=\"update_window_dims={1}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1\"";
  CHECK(rule(group_of_lines(head + "  %y = scatter add %t, %i, %x, " + words +
                            " : f32[10,8]\n  %n = negate %y : f32[10,8]\n  output %n\n")) == "scatter-result");
  CHECK(rule(group_of_lines(head + "  %y = scatter add %t, %i, %x, " + words +
                            " : f32[10,8]\n  %s = reduce add %x, %z, axes={1} : f32[4]\n  output %y, %s\n")) ==
        "scatter-beside");
  CHECK(rule(group_of_lines("  graph twice {\n    %a = parameter 0 : f32[]\n    %b = parameter 1 : f32[]\n"
                            "    %s = add %a, %b : f32[]\n    %d = add %s, %b : f32[]\n    output %d\n  }\n" +
                            head + "  %y = scatter custom %t, %i, %x, " + words +
                            ", bodies={0} : f32[10,8]\n  output %y\n")) == "skeleton-scatter");
  // The array is written where it lies: a result in another order would be read at other places.
  CHECK(rule(group_of_lines(head + "  %y = scatter add %t, %i, %x, " + words + " : f32[10,8]{0,1}\n  output %y\n")) ==
        "operation-scatter");
}
