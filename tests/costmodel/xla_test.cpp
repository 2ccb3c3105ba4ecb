// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// XLA's launches and prices, on kernels written by hand. In: small graphs, XLA's descriptions of GPUs as they ship.
// Out: what XLA's own tests and dumps say of such kernels: cycles of two additions on the GPU of its test suite, grids
// and blocks of each emitter.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/text.h"
#include "costmodel/model.h"
#include "costmodel/xla/price.h"
#include "ir/device.h"
#include "support/approx.h"
#include "support/paths.h"

namespace tailor::costmodel::xla {

namespace {

std::string joined(std::string_view first, std::string_view second) { return std::string(first).append(second); }

const std::string xla_data = joined(source_folder(), "/data");

Target shipped(std::string_view device) {
  const auto found = find_target(device, xla_data + "/xla");
  REQUIRE(found != nullptr);
  return *found;
}

/// The GPU of XLA's test suite: an RTX A6000, whose table has no row for additions.
Target of_the_test_suite() {
  Target gpu = shipped("h200");
  gpu.sms = 84;
  gpu.fpus_per_sm = 128;
  gpu.threads_per_sm = 1536;
  gpu.l2_bytes = 6 << 20;
  gpu.clock = 1.41;
  gpu.bandwidth = 768.096e9;
  gpu.cycles.clear();
  return gpu;
}

Priced price_of(const ir::Graph& graph, const Target& target) { return priced(kernel_of(graph), target); }

ir::Graph graph_of_lines(std::string_view lines) { return ir::parse_graph(fmt::format("graph k {{\n{}}}\n", lines)); }

Launch launch_on(std::string_view device, std::string_view lines) {
  return price_of(graph_of_lines(lines), shipped(device)).launch;
}

ir::Graph addition(std::int64_t elements) {
  return graph_of_lines(
      fmt::format("  %a = parameter 0 : f32[{0}]\n  %b = parameter 1 : f32[{0}]\n"
                  "  %c = add %a, %b : f32[{0}]\n  output %c\n",
                  elements));
}

}  // namespace

TEST_CASE("additions take the cycles that XLA's own tests expect") {
  const Target gpu = of_the_test_suite();
  const auto cycles_of = [&](std::int64_t elements) {
    const ir::Graph graph = addition(elements);
    return seconds(price_of(graph, gpu).time) * gpu.clock * 1e9;
  };
  CHECK(std::abs(cycles_of(1000) - 38.4) < 0.1);
  CHECK(std::abs(cycles_of(10'000'000) - 220'284) < 100);
}

TEST_CASE(
    "a time is kept in quarters of a nanosecond, and XLA prices a kernel that is too small for its blocks dearer") {
  CHECK(quarters(1e-9) == 4);
  CHECK(seconds(quarters(1.1e-9)) == 1e-9);
  const Target gpu = shipped("h200");
  const ir::Graph one = addition(1), warp = addition(32), large = addition(1 << 24);
  CHECK(price_of(one, gpu).time < price_of(large, gpu).time);
  CHECK(price_of(one, gpu).compute > price_of(warp, gpu).compute);  // one thread has one unit
}

TEST_CASE("a loop has one element a thread until the GPU is full, then four") {
  const auto loop = [](std::string_view shape) {
    return fmt::format("  %a = parameter 0 : {0}\n  %b = negate %a : {0}\n  output %b\n", shape);
  };
  CHECK(launch_on("h200", loop("f32[1]")) == Launch{{1, 1, 1}, 1});
  CHECK(launch_on("h200", loop("f32[100]")) == Launch{{1, 1, 1}, 100});
  CHECK(launch_on("h200", loop("f32[4096]")) == Launch{{32, 1, 1}, 128});
  CHECK(launch_on("h200", loop("f32[4096,768]")) == Launch{{6144, 1, 1}, 128});
  CHECK(launch_on("h200", loop("f32[2048,131]")) == Launch{{2096, 1, 1}, 128});  // not full
  CHECK(launch_on("v100", loop("f32[2048,131]")) == Launch{{524, 1, 1}, 128});   // full
  CHECK(launch_on("h200", loop("f32[4096,769,3]")) == Launch{{18456, 1, 1}, 128});
}

TEST_CASE("reductions of rows, short rows, columns and few columns have XLA's launches") {
  const auto reduce = [](std::string_view from, std::string_view to, int axis) {
    return fmt::format(
        "  %a = parameter 0 : {0}\n  %zero = constant 0 : f32[]\n"
        "  %b = reduce add %a, %zero, axes={{{2}}} : {1}\n  output %b\n",
        from, to, axis);
  };
  CHECK(launch_on("a100_80gb", reduce("f32[4096,768]", "f32[4096]", 1)) == Launch{{1024, 1, 1}, 256});
  CHECK(launch_on("a100_80gb", reduce("f32[64,15000]", "f32[64]", 1)) == Launch{{64, 1, 1}, 960});
  CHECK(launch_on("a100_80gb", reduce("f32[750000,32]", "f32[750000]", 1)) == Launch{{46875, 1, 1}, 256});
  CHECK(launch_on("a100_80gb", reduce("f32[512,256]", "f32[256]", 0)) == Launch{{4, 1, 1}, 1024});
  CHECK(launch_on("a100_80gb", reduce("f32[512,8]", "f32[8]", 0)) == Launch{{1, 1, 1}, 128});
  // So few elements per result that a loop computes them.
  CHECK(launch_on("a100_80gb", reduce("f32[8,4096]", "f32[4096]", 0)) == Launch{{32, 1, 1}, 128});
}

TEST_CASE("the emitter follows the hero: through elementwise operations, not through a slice") {
  const auto emitter_of = [](std::string_view lines) {
    const ir::Graph graph = graph_of_lines(lines);
    return analyse(kernel_of(graph)).emitter;
  };
  constexpr std::string_view row =
      "  %a = parameter 0 : f32[64,512]\n  %zero = constant 0 : f32[]\n"
      "  %r = reduce add %a, %zero, axes={1} : f32[64]\n";
  CHECK(emitter_of(joined(row, "  %n = negate %r : f32[64]\n  output %n\n")) == Emitter::reduction);
  CHECK(emitter_of(joined(row, "  %s = slice %r, ranges={0:32:1} : f32[32]\n  output %s\n")) == Emitter::loop);
  constexpr std::string_view moved =
      "  %a = parameter 0 : f32[64,512]\n  %t = transpose %a, axes={1,0} : f32[512,64]\n";
  CHECK(emitter_of(joined(moved, "  %n = add %t, %t : f32[512,64]\n  output %n\n")) == Emitter::transpose);
  CHECK(emitter_of("  %a = parameter 0 : f32[8,4]\n  %t = transpose %a, axes={1,0} : f32[4,8]\n  output %t\n") ==
        Emitter::loop);
}

TEST_CASE("a transposition that no tile serves makes every load one element of a transaction") {
  const ir::Graph small = graph_of_lines(
      "  %a = parameter 0 : f32[1048576,4]\n  %t = transpose %a, axes={1,0} : f32[4,1048576]\n  output %t\n");
  const ir::Graph plain = graph_of_lines(
      "  %a = parameter 0 : f32[1048576,4]\n  %t = negate %a : f32[1048576,4]\n"
      "  output %t\n");
  const Target gpu = shipped("h200");
  const Priced bad = price_of(small, gpu), good = price_of(plain, gpu);
  CHECK_FALSE(bad.coalesced);
  CHECK(good.coalesced);
  CHECK(std::abs(static_cast<double>(bad.read) / static_cast<double>(good.read) - 16) < 0.01);
}

TEST_CASE("what is read over comes from a cache where it fits, and is counted as often as it is needed") {
  const ir::Graph graph =
      graph_of_lines("  %a = parameter 0 : f32[768]\n  %b = broadcast %a, axes={1} : f32[4096,768]\n  output %b\n");
  const Priced one = price_of(graph, shipped("h200"));
  CHECK(one.work.read == std::vector<float>{4096 * 768 * 4});
  CHECK(one.work.utilization == std::vector<float>{4096});
  CHECK(one.read < one.write);  // 20 times the bandwidth of memory
}

TEST_CASE("equal instructions of two merged kernels stay two until they are merged") {
  const ir::Graph graph = graph_of_lines(
      "  %a = parameter 0 : f32[64]\n  %b = exp %a : f32[64]\n  %c = negate %b : f32[64]\n  %d = add %c, %b : f32[64]\n"
      "  output %d\n");
  const Kernel c = merged(bare_kernel(graph, 1), bare_kernel(graph, 2));
  const Kernel d = merged(bare_kernel(graph, 1), bare_kernel(graph, 3));
  Kernel both = merged(c, d);
  const auto exponentials = [&] {
    return std::count_if(both.items.begin(), both.items.end(),
                         [](const Item& one) { return !one.outside && one.node->op == ir::Op::exp; });
  };
  CHECK(exponentials() == 2);
  CHECK(both.operands.size() == 1);
  merge_equal(both);
  CHECK(exponentials() == 1);
  CHECK(members(both) == std::vector<ir::NodeId>{1, 2, 3});
}

TEST_CASE("every description is of a device that ships, and bad ones say what is wrong") {
  for (const std::string& name : ir::device_names(xla_data + "/xla")) {
    const Target target = shipped(name);
    CHECK(ir::find_device(name, xla_data + "/devices").arch == target.arch);
    CHECK(find_target_of_xla(target.xla_name, xla_data + "/xla")->name == name);
    CHECK(cycles(target, ir::Op::add, ir::DType::bf16) == target.default_cycles);
  }
  CHECK(find_target("l4", xla_data + "/xla") == nullptr);
  CHECK(find_target_of_xla("tpu", xla_data + "/xla") == nullptr);
  const std::string good = read_file(xla_data + "/xla/h200.json");
  const auto message = [&](const std::string& from, const std::string& to) {
    std::string text = good;
    text.replace(text.find(from), from.size(), to);
    try {
      (void)parse_target(text, "x.json");
    } catch (const Error& error) {
      return error.message;
    }
    return std::string();
  };
  CHECK(message("\"sms\"", "\"sm\"") == "found no 'sms'");
  CHECK(message("\"unit\": \"SM\"", "\"unit\": \"B\"") == "found 'sms' in B, expected SM");
  CHECK(message("\"value\": 132", "\"value\": 1.5") == "found 1.5 for 'sms', expected a whole number");
  CHECK(message("\"value\": 132", "\"value\": 0") == "found no value for 'sms', expected a number above 0");
  CHECK(message("\"f32\"", "\"f33\"") == "found 'f33', expected an element type with its operations");
  CHECK(message("\"tanh\"", "\"tanhh\"") == "found 'tanhh', expected an operation of HLO");
}

TEST_CASE("the cost model is the price with XLA's launch, and refuses a GPU that XLA has no description of") {
  const ir::Graph graph = addition(4096);
  CalibratedDevice device;
  device.name = "l4";
  const Model* const model = find_model("xla-model");
  REQUIRE(model != nullptr);
  CHECK_THROWS_WITH_AS(model->estimate({.device = &device, .graph = &graph}),
                       "xla-model has no description of 'l4' as XLA sees it", Error);
  device.xla = find_target("h200", xla_data + "/xla");
  const ir::Estimate estimate = model->estimate({.device = &device, .graph = &graph});
  CHECK(estimate.total.value == approx(1e-6 + seconds(price_of(graph, *device.xla).time)));
  ir::Regime alone;
  alone.includes = {};
  CHECK(model->estimate({.device = &device, .graph = &graph, .regime = alone}).total.value ==
        approx(seconds(price_of(graph, *device.xla).time)));
}

}  // namespace tailor::costmodel::xla
