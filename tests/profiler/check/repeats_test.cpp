// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Inputs that repeat: the place of every element of the whole among those that are kept, in any layout, against plain
// index arithmetic; and that a group on such inputs gives what its few rows say, element by element. Part of the suite
// `profiler`.
#include "profiler/check/repeats.h"

#include <doctest/doctest.h>

#include <fmt/format.h>

#include <cstring>

#include "ir/graph/number.h"
#include "profiler/check/check.h"
#include "reference/memory_layout.h"
#include "support/group_family.h"

using namespace tailor;
using namespace tailor::profiler;

namespace {

/// The whole of an array, row-major, of which `kept` has the first `kept` of `steps` steps along `dim`.
reference::Tensor repeated_whole(const reference::Tensor& kept, const ir::Shape& shape, int dim, std::int64_t steps) {
  reference::Tensor whole = reference::zeros(shape);
  const std::int64_t width = ir::element_bytes(shape.dtype), period = dim < 0 ? 1 : kept.shape.dims[dim];
  REQUIRE((dim < 0 || shape.dims[dim] % steps == 0));
  for (std::int64_t i = 0; i < ir::elements(shape); ++i) {
    std::int64_t rest = i, from = 0, stride = 1;
    for (int d = shape.rank() - 1; d >= 0; --d) {
      const std::int64_t at = rest % shape.dims[d];
      rest /= shape.dims[d];
      from += (d == dim ? at % period : at) * stride;
      stride *= kept.shape.dims[d];
    }
    std::memcpy(whole.bytes.data() + i * width, kept.bytes.data() + from * width, static_cast<std::size_t>(width));
  }
  return whole;
}

}  // namespace

TEST_CASE("an odd number of steps is kept, at least three, and all where there are not more") {
  CHECK(steps_to_keep(1000, 64) == 65);
  CHECK(steps_to_keep(1000, 65) == 65);
  CHECK(steps_to_keep(1000, 1) == 3);
  CHECK(steps_to_keep(40, 64) == 40);
  CHECK(steps_to_keep(2, 1) == 2);
}

TEST_CASE("memory of the whole is filled from what is kept, whichever dimension repeats and however it lies") {
  for (const char* layout : {"{2,1,0}", "{0,1,2}", "{1,2,0}", "{0,2,1}"})
    for (int dim = 0; dim < 3; ++dim)
      for (const std::int64_t kept_steps : {1, 3, 4, 7}) {
        CAPTURE(layout);
        CAPTURE(dim);
        CAPTURE(kept_steps);
        // Seven steps of two in the dimension that repeats.
        std::int64_t extents[3] = {4, 5, 3};
        extents[dim] = 14;
        const auto shape_of = [&] {
          return ir::parse_graph(fmt::format("graph g {{\n  %x = parameter 0 : f32[{},{},{}]{}\n  output %x\n}}\n",
                                             extents[0], extents[1], extents[2], layout))
              .nodes[0]
              .shape;
        };
        const ir::Shape whole = shape_of();
        extents[dim] = 2 * kept_steps;
        const reference::Tensor kept = reference::random_tensor(shape_of(), 3);
        std::vector<std::byte> source(reference::memory_bytes(kept.shape)), wanted(reference::memory_bytes(whole));
        reference::to_memory(kept, source);
        reference::to_memory(repeated_whole(kept, whole, dim, 7), wanted);
        const RepeatedPlaces places = repeated_places(whole, dim, 7, kept_steps);
        for (const std::int64_t piece : {4L, 20L, 4096L}) {
          std::vector<std::byte> found(wanted.size());
          for (std::int64_t first = 0; first < std::ssize(found); first += piece)
            copy_repeated(
                places, source, 4, first,
                std::span(found).subspan(static_cast<std::size_t>(first),
                                         static_cast<std::size_t>(std::min(piece, std::ssize(found) - first))));
          CHECK(found == wanted);
        }
      }
}

TEST_CASE("a group on inputs that repeat gives what its kept rows give") {
  for (const char* member : {"softmax", "layernorm_f16", "bias_gelu_f16"}) {
    CAPTURE(member);
    const ir::Group group = ir::make_group(ir::family_member(member), 4096, 64);
    const std::shared_ptr<const Repeats> repeats = repeats_of(group.graph);
    REQUIRE(repeats != nullptr);
    CHECK(repeats->kept % 2 == 1);
    CHECK(repeats->kept < repeats->parts.extent.steps);
    const Reference few = evaluate_reference(group, 5, repeats);
    CHECK(few.repeats == repeats);
    CHECK(few.judged == 1);
    const std::vector<ir::NodeId> nodes = parameters(group.graph);
    std::vector<reference::Tensor> inputs;
    for (std::size_t i = 0; i < nodes.size(); ++i)
      inputs.push_back(repeated_whole(few.inputs[i], group.graph[nodes[i]].shape, repeats->parts.input_dims[i],
                                      repeats->parts.extent.steps));
    const auto whole = reference::evaluate_with_error_bounds(group.graph, inputs);
    REQUIRE(whole.size() == few.outputs.size());
    for (std::size_t k = 0; k < whole.size(); ++k)
      CHECK(repeated_whole(few.outputs[k].value, whole[k].value.shape, repeats->parts.output_dims[k],
                           repeats->parts.extent.steps)
                .bytes == whole[k].value.bytes);
  }
}

TEST_CASE("results of a group on inputs that repeat get the verdicts of the whole, and the same place of an error") {
  const ir::Group group = ir::make_group(ir::family_member("softmax"), 4096, 64);
  const Reference few = evaluate_reference(group, 3, repeats_of(group.graph));
  REQUIRE(few.repeats);
  Reference whole = few;
  whole.repeats = nullptr;
  whole.inputs = {repeated_whole(few.inputs[0], group.graph[parameters(group.graph)[0]].shape,
                                 few.repeats->parts.input_dims[0], few.repeats->parts.extent.steps)};
  whole.outputs = reference::evaluate_with_error_bounds(group.graph, whole.inputs);
  ir::Kernel kernel;
  kernel.buffers.push_back({"in", ir::DType::f32, 4096 * 64, ir::BufferRole::input});
  kernel.buffers.push_back({"out", ir::DType::f32, 4096 * 64, ir::BufferRole::output});
  const std::vector<std::byte>& right = whole.outputs[0].value.bytes;
  std::vector<std::byte> bytes = right;
  const auto of = [&](const Reference& reference) {
    const std::span<const std::byte> one = bytes;
    return judge(kernel, reference, {&one, 1});
  };
  CHECK(of(few).reason.empty());
  CHECK(of(few).elements == 4096 * 64);
  CHECK(of(few).judged == of(whole).judged);
  CHECK(of(few).telling == of(whole).telling);
  CHECK(of(few).worst == of(whole).worst);
  bytes[4 * (64 * 3023 + 5) + 3] ^= std::byte{0x10};
  CHECK(of(few).reason == of(whole).reason);
  CHECK(of(few).reason.find("1 of 262,144 elements is wrong; [3023,5] is") != std::string::npos);
  // A row that is not its own, as a wrong stride would give it.
  bytes = right;
  std::copy_n(right.begin() + 4 * 64 * 1024, 4 * 64, bytes.begin());
  CHECK(of(few).worst > 1);
  // Of a sample only what changed is looked at, whether all of the outputs is handed over or pieces of them.
  std::vector<std::byte> before(right.size(), std::byte{0xab}), after = before;
  std::copy_n(right.begin() + 4 * 64 * 9, 4 * 64 * 2, after.begin() + 4 * 64 * 9);
  const std::span<const std::byte> is = after, was = before;
  const Judgement sampled = judge(kernel, few, {&is, 1}, {&was, 1});
  CHECK(sampled.reason.empty());
  CHECK(sampled.elements == 2 * 64);
  kernel.grid = 4096;
  CheckOptions options;
  options.sample_blocks = 20;
  std::int64_t rows = 0;
  const auto execute = [&](std::int64_t shift) {
    return [&, shift](const GivenInputs& given, const simulator::SimulationOptions& how) {
      CHECK(given.repeats == few.repeats.get());
      Executed run;
      run.pieces.resize(1);
      run.before.resize(1);
      run.after.resize(1);
      for (const std::int64_t block : how.blocks) {  // one row each, of which a sector is touched besides
        const std::int64_t first = 4 * 64 * block;
        run.pieces[0].push_back({first, 4 * 64});
        run.before[0].resize(run.before[0].size() + 4 * 64, std::byte{0xab});
        const std::int64_t from = 4 * 64 * ((block + shift) % 4096);
        run.after[0].insert(run.after[0].end(), right.begin() + from, right.begin() + from + 4 * 64);
      }
      rows += std::ssize(how.blocks);
      run.simulation.blocks_run = std::ssize(how.blocks);
      run.simulation.blocks_total = 4096;
      return run;
    };
  };
  CHECK(check(kernel, few, execute(0), options).state == Verdict::passed);
  CHECK(rows > 10);
  const Checked wrong = check(kernel, few, execute(1024), options);
  CHECK(wrong.state == Verdict::wrong);
  CHECK(wrong.reason.starts_with("out: "));
  // A reference of the whole serves pieces as well.
  Reference plain = whole;
  const auto given_whole = [&](const GivenInputs&, const simulator::SimulationOptions& how) {
    return execute(0)({few.inputs, few.repeats.get()}, how);
  };
  CHECK(check(kernel, plain, given_whole, options).state == Verdict::passed);
}
