// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The product's own GPU on the fake: a sequence is loaded, run, timed in every protocol
// and counted. What comes back is what the arithmetic of the kernel and the fake's own
// laws say.
#include <doctest/doctest.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <numeric>

#include "fake_gpu/fake_kernels.h"
#include "profiler/gpu/session/gpu.h"
#include "support/approx.h"
#include "support/fake_gpu.h"

namespace tailor::fake {
namespace {

constexpr int product_elements = 1 << 16;

struct Folder {
  Folder() : path(std::filesystem::temp_directory_path() / fmt::format("tailor_fake_product_{}", getpid())) {}
  ~Folder() { std::filesystem::remove_all(path); }
  std::filesystem::path path;
};

gpu::LibraryPaths places(const FakeGpu& fake) { return {fake.library, fake.library, fake.library, {}, {}}; }

gpu::Sequence addition() {
  gpu::Sequence made;
  const auto* text = reinterpret_cast<const std::byte*>(kernels);
  made.images.push_back({"kernels", {text, text + std::strlen(kernels)}});
  for (const char* name : {"a", "b"}) made.buffers.push_back({name, 4 * product_elements, gpu::BufferRole::input});
  made.buffers.push_back({"out", 4 * product_elements, gpu::BufferRole::output});
  gpu::Launch launch;
  launch.entry = "add";
  launch.grid = {product_elements / 256, 1, 1};
  launch.block = {256, 1, 1};
  for (const int buffer : {0, 1, 2}) launch.arguments.push_back({buffer, 0, {}});
  const std::int32_t n = product_elements;
  gpu::Argument size;
  size.value.resize(sizeof n);
  std::memcpy(size.value.data(), &n, sizeof n);
  launch.arguments.push_back(size);
  made.launches.push_back(launch);
  return made;
}

std::vector<std::byte> numbers() {
  std::vector<float> values(2 * product_elements);
  std::iota(values.begin(), values.end(), 0.0f);
  const auto bytes = std::as_bytes(std::span(values));
  return {bytes.begin(), bytes.end()};
}

constexpr const char* small_chip = R"({"chip": {"l2_bytes": 4194304}, "noise": 0})";

double median(const gpu::Response& response) {
  std::vector<double> all;
  for (const ir::Sample& one : response.samples) all.push_back(one.duration.value);
  std::sort(all.begin(), all.end());
  return all.empty() ? 0 : all[all.size() / 2];
}

}  // namespace

TEST_CASE("the product opens, runs, times and counts on the fake") {
  const Folder folder;
  const FakeGpu fake = fake_gpu(folder.path, small_chip);
  gpu::Gpu gpu;
  const gpu::Response opened = gpu.answer(gpu::OpenRequest{places(fake), 0});
  REQUIRE_MESSAGE(opened.outcome == ir::Outcome::ok, opened.reason);
  CHECK(opened.properties.name == "Stand-in for an NVIDIA H200");
  CHECK(opened.properties.can_time_activity);
  for (const gpu::Capability& capability : opened.capabilities)
    CHECK_MESSAGE(capability.state == "ok", capability.name << ": " << capability.detail);

  const gpu::Response loaded = gpu.answer(gpu::LoadRequest{1, addition()}, numbers());
  REQUIRE_MESSAGE(loaded.outcome == ir::Outcome::ok, loaded.reason);
  const gpu::Response ran = gpu.answer(gpu::RunRequest{1, 7, true});
  REQUIRE_MESSAGE(ran.outcome == ir::Outcome::ok, ran.reason);
  REQUIRE(ran.blob.size() == 4 * product_elements);
  std::vector<float> out(product_elements);
  std::memcpy(out.data(), ran.blob.data(), ran.blob.size());
  for (int i = 0; i < product_elements; ++i)
    REQUIRE(out[static_cast<std::size_t>(i)] == static_cast<float>(i) + static_cast<float>(product_elements + i));

  for (const ir::TimedBy by : {ir::TimedBy::activity, ir::TimedBy::events})
    for (const ir::LaunchMode mode : {ir::LaunchMode::stream, ir::LaunchMode::graph}) {
      std::vector<double> times;
      for (const ir::CacheState cache : {ir::CacheState::warm, ir::CacheState::produced, ir::CacheState::cold}) {
        const gpu::Response timed = gpu.answer(gpu::TimeRequest{1, cache, by, mode, 5, 0, false});
        REQUIRE_MESSAGE(timed.outcome == ir::Outcome::ok, timed.reason);
        REQUIRE(timed.samples.size() == 5);
        times.push_back(median(timed));
        CHECK(timed.samples[1].sm_clock == approx(1.98e9).epsilon(0.005));
      }
      CHECK(times[0] <= times[1] + 64e-9);  // all of it stays in L2: they differ by the grain of the clock
      CHECK(times[1] < times[2]);
    }

  gpu::Gpu counter;
  REQUIRE(counter.answer(gpu::OpenRequest{places(fake), 0, gpu::Use::count}).properties.chip == "GH100");
  REQUIRE(counter.answer(gpu::LoadRequest{1, addition()}, numbers()).outcome == ir::Outcome::ok);
  const gpu::Response counted =
      counter.answer(gpu::CountRequest{1, ir::CacheState::cold, {"dram__bytes_read.sum", "dram__bytes_write.sum"}});
  REQUIRE_MESSAGE(counted.outcome == ir::Outcome::ok, counted.reason);
  CHECK(counted.values == std::vector<double>{8.0 * product_elements, 0});  // what is written stays in L2
}

}  // namespace tailor::fake
