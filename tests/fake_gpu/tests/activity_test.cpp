// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The fake's activity records: when they come, what they say, and how they get
// lost. Each case calls CUPTI as a program would and compares what reaches it with
// what ran.
#include <doctest/doctest.h>

#include <cstdlib>

#include "fake_gpu/fake_kernels.h"
#include "fake_gpu/tests/fake_library.h"

namespace tailor::fake {
namespace {

/// What is looked at of a record; the record itself is packed.
struct ModelInputs {
  CUpti_ActivityKind kind;
  std::string name;
  std::uint64_t start = 0, end = 0, graph_node = 0;
  std::uint32_t graph = 0, correlation = 0;
  int grid = 0, block = 0, registers = 0;
};

/// What came through the callbacks, which have no room for an owner.
struct Received {
  FakeLibrary* gpu = nullptr;
  std::vector<ModelInputs> records;
  std::size_t buffers = 0;
  std::size_t bytes = 1 << 16, most = 0, skew = 0;
};
Received received;

void CUPTIAPI request(std::uint8_t** buffer, std::size_t* size, std::size_t* most) {
  *buffer = static_cast<std::uint8_t*>(std::aligned_alloc(64, (received.bytes + 127) / 64 * 64)) + received.skew;
  *size = received.bytes;
  *most = received.most;
}

void CUPTIAPI complete(CUcontext, std::uint32_t, std::uint8_t* buffer, std::size_t, std::size_t valid) {
  CUpti_Activity* record = nullptr;
  while (received.gpu->cuptiActivityGetNextRecord(buffer, valid, &record) == CUPTI_SUCCESS) {
    const auto& one = *reinterpret_cast<const CUpti_ActivityKernel10*>(record);
    received.records.push_back({one.kind, one.name, one.start, one.end, one.graphNodeId, one.graphId, one.correlationId,
                                one.gridX, one.blockX, one.registersPerThread});
  }
  ++received.buffers;
  std::free(buffer - received.skew);
}

struct Traced : FakeLibrary {
  explicit Traced(std::string_view json = R"({"noise": 0})") : FakeLibrary(json) {
    received = {};
    received.gpu = this;
    x = floats(std::vector<float>(64, 1));
    twice = entry(kernels, "twice");
    REQUIRE(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING) == CUDA_SUCCESS);
    REQUIRE(cuptiActivityRegisterCallbacks(request, complete) == CUPTI_SUCCESS);
    REQUIRE(cuptiActivityEnable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL) == CUPTI_SUCCESS);
  }
  void go(int times) {
    for (int k = 0; k < times; ++k) REQUIRE(launch(twice, 2, 32, {&x}, stream) == CUDA_SUCCESS);
  }
  std::size_t flushed() {
    REQUIRE(cuptiActivityFlushAll(0) == CUPTI_SUCCESS);
    return received.records.size();
  }
  CUdeviceptr x = 0;
  CUfunction twice = nullptr;
  CUstream stream = nullptr;
};

}  // namespace

TEST_CASE("records come after somebody waited, in order, and say what ran") {
  Traced gpu;
  gpu.go(3);
  CHECK(gpu.flushed() == 0);
  REQUIRE(gpu.cuStreamSynchronize(gpu.stream) == CUDA_SUCCESS);
  REQUIRE(gpu.flushed() == 3);
  for (std::size_t k = 0; k < 3; ++k) {
    const ModelInputs& one = received.records[k];
    CHECK(one.kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
    CHECK(one.name == "twice");
    CHECK(one.grid == 2);
    CHECK(one.block == 32);
    CHECK(one.registers >= 16);
    CHECK(one.start < one.end);
    CHECK(one.graph == 0);
    if (k > 0) CHECK(received.records[k - 1].end <= one.start);
  }
  CHECK(gpu.flushed() == 3);
  REQUIRE(gpu.cuptiActivityDisable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL) == CUPTI_SUCCESS);
  gpu.go(1);
  REQUIRE(gpu.cuCtxSynchronize() == CUDA_SUCCESS);
  CHECK(gpu.flushed() == 3);
}

TEST_CASE("kernels of a graph have records with the graph's number and nodes of their own") {
  Traced gpu;
  CUgraph graph = nullptr;
  CUgraphExec exec = nullptr;
  REQUIRE(gpu.cuStreamBeginCapture(gpu.stream, CU_STREAM_CAPTURE_MODE_GLOBAL) == CUDA_SUCCESS);
  gpu.go(2);
  REQUIRE(gpu.cuStreamEndCapture(gpu.stream, &graph) == CUDA_SUCCESS);
  REQUIRE(gpu.cuGraphInstantiateWithFlags(&exec, graph, 0) == CUDA_SUCCESS);
  REQUIRE(gpu.cuGraphLaunch(exec, gpu.stream) == CUDA_SUCCESS);
  REQUIRE(gpu.cuStreamSynchronize(gpu.stream) == CUDA_SUCCESS);
  REQUIRE(gpu.flushed() == 2);
  CHECK(received.records[0].graph != 0);
  CHECK(received.records[0].graph == received.records[1].graph);
  CHECK(received.records[0].graph_node != received.records[1].graph_node);
  CHECK(received.records[0].correlation == received.records[1].correlation);
}

TEST_CASE("small buffers are asked for again until all records are out") {
  Traced gpu;
  received.bytes = 2 * sizeof(CUpti_ActivityKernel10) + 8;
  gpu.go(5);
  REQUIRE(gpu.cuCtxSynchronize() == CUDA_SUCCESS);
  CHECK(gpu.flushed() == 5);
  CHECK(received.buffers == 3);
  received.most = 1;
  gpu.go(2);
  REQUIRE(gpu.cuCtxSynchronize() == CUDA_SUCCESS);
  CHECK(gpu.flushed() == 7);
  CHECK(received.buffers == 5);
}

TEST_CASE("records are lost in buffers that are too small or askew, and where the script says so") {
  std::size_t dropped = 0;
  for (const std::size_t skew : {std::size_t{0}, std::size_t{4}}) {
    CAPTURE(skew);
    Traced gpu;
    received.skew = skew;
    if (skew == 0) received.bytes = 64;
    gpu.go(3);
    REQUIRE(gpu.cuCtxSynchronize() == CUDA_SUCCESS);
    CHECK(gpu.flushed() == 0);
    REQUIRE(gpu.cuptiActivityGetNumDroppedRecords(nullptr, 0, &dropped) == CUPTI_SUCCESS);
    CHECK(dropped == 3);
    REQUIRE(gpu.cuptiActivityGetNumDroppedRecords(nullptr, 0, &dropped) == CUPTI_SUCCESS);
    CHECK(dropped == 0);
  }
  Traced gpu(R"({"drop_activity": 3})");
  gpu.go(7);
  REQUIRE(gpu.cuCtxSynchronize() == CUDA_SUCCESS);
  CHECK(gpu.flushed() == 5);
  REQUIRE(gpu.cuptiActivityGetNumDroppedRecords(nullptr, 0, &dropped) == CUPTI_SUCCESS);
  CHECK(dropped == 2);
}

TEST_CASE("CUPTI of the fake has one subscriber, and tells who the other is") {
  FakeLibrary gpu;
  CUpti_SubscriberHandle one = nullptr, two = nullptr;
  const auto ignore = [](void*, CUpti_CallbackDomain, CUpti_CallbackId, const void*) {};
  CHECK(gpu.cuptiSubscribe(&one, ignore, nullptr) == CUPTI_SUCCESS);
  CHECK(gpu.cuptiSubscribe(&two, ignore, nullptr) == CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED);
  CHECK(gpu.cuptiUnsubscribe(one) == CUPTI_SUCCESS);
  CHECK(gpu.cuptiUnsubscribe(one) == CUPTI_ERROR_INVALID_PARAMETER);
  FakeLibrary held(R"({"other_subscriber": true})");
  char name[64] = {};
  CUpti_SubscriberParams params = {};
  params.structSize = CUpti_SubscriberParams_STRUCT_SIZE;
  params.oldSubscriberName = name;
  params.oldSubscriberSize = sizeof name;
  CHECK(held.cuptiSubscribe_v2(&one, ignore, nullptr, &params) == CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED);
  CHECK(std::string(name) == "Nsight Systems");
}

TEST_CASE("the fake may record kernels without their times") {
  Traced gpu(R"({"activity_without_times": true})");
  gpu.go(1);
  REQUIRE(gpu.cuCtxSynchronize() == CUDA_SUCCESS);
  REQUIRE(gpu.flushed() == 1);
  CHECK(received.records[0].start == 0);
  CHECK(received.records[0].end == 0);
}

}  // namespace tailor::fake
