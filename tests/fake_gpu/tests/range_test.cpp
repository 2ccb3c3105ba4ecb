// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The fake's range profiler: values, passes, and the order that calls must have. Values are
// compared with what the simulator counts of the same launches; a call out of order must be
// refused.
#include <doctest/doctest.h>

#include <cmath>

#include "fake_gpu/fake_kernels.h"
#include "fake_gpu/tests/fake_library.h"
#include "support/approx.h"

namespace tailor::fake {
namespace {

constexpr std::size_t elements = 4096;

template <class Params>
Params sized(std::size_t size) {
  Params made = {};
  made.structSize = size;
  return made;
}
#define SIZED(name) sized<name>(name##_STRUCT_SIZE)

/// A kernel and all that counting it takes.
struct Counting : FakeLibrary {
  explicit Counting(std::vector<const char*> names, std::string_view json = R"({"metrics_per_pass": 2})")
      : FakeLibrary(json), metrics(std::move(names)) {
    x = floats(std::vector<float>(elements, 1));
    twice = entry(kernels, "twice");
    auto begin = SIZED(CUpti_Profiler_Initialize_Params);
    REQUIRE(cuptiProfilerInitialize(&begin) == CUPTI_SUCCESS);
  }

  CUptiResult plan() {
    auto host = SIZED(CUpti_Profiler_Host_Initialize_Params);
    host.pChipName = "GH100";
    if (const CUptiResult wrong = cuptiProfilerHostInitialize(&host); wrong != CUPTI_SUCCESS) return wrong;
    object = host.pHostObject;
    auto add = SIZED(CUpti_Profiler_Host_ConfigAddMetrics_Params);
    add.pHostObject = object;
    add.ppMetricNames = metrics.data();
    add.numMetrics = metrics.size();
    if (const CUptiResult wrong = cuptiProfilerHostConfigAddMetrics(&add); wrong != CUPTI_SUCCESS) return wrong;
    auto size = SIZED(CUpti_Profiler_Host_GetConfigImageSize_Params);
    size.pHostObject = object;
    if (const CUptiResult wrong = cuptiProfilerHostGetConfigImageSize(&size); wrong != CUPTI_SUCCESS) return wrong;
    config.resize(size.configImageSize);
    auto get = SIZED(CUpti_Profiler_Host_GetConfigImage_Params);
    get.pHostObject = object;
    get.configImageSize = config.size();
    get.pConfigImage = config.data();
    return cuptiProfilerHostGetConfigImage(&get);
  }

  CUptiResult enable() {
    auto params = SIZED(CUpti_RangeProfiler_Enable_Params);
    const CUptiResult result = cuptiRangeProfilerEnable(&params);
    ranges = params.pRangeProfilerObject;
    return result;
  }

  CUptiResult configure(CUpti_ProfilerRange mode = CUPTI_UserRange,
                        CUpti_ProfilerReplayMode replay = CUPTI_UserReplay) {
    auto size = SIZED(CUpti_RangeProfiler_GetCounterDataSize_Params);
    size.pRangeProfilerObject = ranges;
    size.pMetricNames = metrics.data();
    size.numMetrics = metrics.size();
    size.maxNumOfRanges = size.maxNumRangeTreeNodes = 4;
    if (const CUptiResult wrong = cuptiRangeProfilerGetCounterDataSize(&size); wrong != CUPTI_SUCCESS) return wrong;
    counters.resize(size.counterDataSize);
    auto prepare = SIZED(CUpti_RangeProfiler_CounterDataImage_Initialize_Params);
    prepare.pRangeProfilerObject = ranges;
    prepare.counterDataSize = counters.size();
    prepare.pCounterData = counters.data();
    if (const CUptiResult wrong = cuptiRangeProfilerCounterDataImageInitialize(&prepare); wrong != CUPTI_SUCCESS)
      return wrong;
    auto set = SIZED(CUpti_RangeProfiler_SetConfig_Params);
    set.pRangeProfilerObject = ranges;
    set.configSize = config.size();
    set.pConfig = config.data();
    set.counterDataImageSize = counters.size();
    set.pCounterDataImage = counters.data();
    set.range = mode;
    set.replayMode = replay;
    set.maxRangesPerPass = 4;
    set.numNestingLevels = set.minNestingLevel = 1;
    return cuptiRangeProfilerSetConfig(&set);
  }

  CUptiResult start() {
    auto params = SIZED(CUpti_RangeProfiler_Start_Params);
    params.pRangeProfilerObject = ranges;
    return cuptiRangeProfilerStart(&params);
  }
  CUptiResult push(const char* name = "range") {
    auto params = SIZED(CUpti_RangeProfiler_PushRange_Params);
    params.pRangeProfilerObject = ranges;
    params.pRangeName = name;
    return cuptiRangeProfilerPushRange(&params);
  }
  CUptiResult pop() {
    auto params = SIZED(CUpti_RangeProfiler_PopRange_Params);
    params.pRangeProfilerObject = ranges;
    return cuptiRangeProfilerPopRange(&params);
  }
  CUptiResult stop(bool& all) {
    auto params = SIZED(CUpti_RangeProfiler_Stop_Params);
    params.pRangeProfilerObject = ranges;
    const CUptiResult result = cuptiRangeProfilerStop(&params);
    all = params.isAllPassSubmitted != 0;
    return result;
  }
  CUptiResult decode() {
    auto params = SIZED(CUpti_RangeProfiler_DecodeData_Params);
    params.pRangeProfilerObject = ranges;
    return cuptiRangeProfilerDecodeData(&params);
  }
  void go() { REQUIRE(launch(twice, elements / 128, 128, {&x}) == CUDA_SUCCESS); }

  /// One pass over the kernel; whether it was the last.
  bool pass() {
    bool all = false;
    REQUIRE(start() == CUPTI_SUCCESS);
    go();  // before the range: not counted
    REQUIRE(push() == CUPTI_SUCCESS);
    go();
    REQUIRE(pop() == CUPTI_SUCCESS);
    REQUIRE(stop(all) == CUPTI_SUCCESS);
    return all;
  }

  std::vector<double> values(std::size_t range = 0) {
    std::vector<double> all(metrics.size());
    auto params = SIZED(CUpti_Profiler_Host_EvaluateToGpuValues_Params);
    params.pHostObject = object;
    params.pCounterDataImage = counters.data();
    params.counterDataImageSize = counters.size();
    params.rangeIndex = range;
    params.ppMetricNames = metrics.data();
    params.numMetrics = metrics.size();
    params.pMetricValues = all.data();
    REQUIRE(cuptiProfilerHostEvaluateToGpuValues(&params) == CUPTI_SUCCESS);
    return all;
  }
  std::size_t kept() {
    auto params = SIZED(CUpti_RangeProfiler_GetCounterDataInfo_Params);
    params.pCounterDataImage = counters.data();
    params.counterDataImageSize = counters.size();
    REQUIRE(cuptiRangeProfilerGetCounterDataInfo(&params) == CUPTI_SUCCESS);
    return params.numTotalRanges;
  }

  std::vector<const char*> metrics;
  std::vector<std::uint8_t> config, counters;
  CUpti_Profiler_Host_Object* object = nullptr;
  CUpti_RangeProfiler_Object* ranges = nullptr;
  CUdeviceptr x = 0;
  CUfunction twice = nullptr;
};

const std::vector<const char*> five = {"l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum",
                                       "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum", "sm__ctas_launched.sum",
                                       "dram__bytes_write.sum", "smsp__sass_data_bytes_mem_global_op_ld.sum"};
/// What it writes stays in L2, which is larger: nothing of it reaches DRAM.
const std::vector<double> of_twice = {elements / 32, elements / 8, elements / 128, 0, 4 * elements};

}  // namespace

TEST_CASE("all passes give all values, of what ran in the range") {
  Counting gpu(five);
  REQUIRE(gpu.plan() == CUPTI_SUCCESS);
  REQUIRE(gpu.enable() == CUPTI_SUCCESS);
  REQUIRE(gpu.configure() == CUPTI_SUCCESS);
  CHECK(!gpu.pass());
  CHECK(!gpu.pass());
  CHECK(gpu.pass());
  CHECK(gpu.start() == CUPTI_ERROR_INVALID_OPERATION);
  REQUIRE(gpu.decode() == CUPTI_SUCCESS);
  CHECK(gpu.kept() == 1);
  CHECK(gpu.values() == of_twice);
}

TEST_CASE("a metric whose pass did not run has no value") {
  Counting gpu(five);
  REQUIRE(gpu.plan() == CUPTI_SUCCESS);
  REQUIRE(gpu.enable() == CUPTI_SUCCESS);
  REQUIRE(gpu.configure() == CUPTI_SUCCESS);
  CHECK(!gpu.pass());
  REQUIRE(gpu.decode() == CUPTI_SUCCESS);
  const std::vector<double> values = gpu.values();
  for (std::size_t m = 0; m < values.size(); ++m) CHECK(std::isnan(values[m]) == (m >= 2));
}

TEST_CASE("kernel replay makes a range of each kernel and needs one pass") {
  Counting gpu(five);
  bool all = false;
  REQUIRE(gpu.plan() == CUPTI_SUCCESS);
  REQUIRE(gpu.enable() == CUPTI_SUCCESS);
  CHECK(gpu.configure(CUPTI_UserRange, CUPTI_KernelReplay) == CUPTI_ERROR_INVALID_PARAMETER);
  REQUIRE(gpu.configure(CUPTI_AutoRange, CUPTI_KernelReplay) == CUPTI_SUCCESS);
  REQUIRE(gpu.start() == CUPTI_SUCCESS);
  gpu.go();
  gpu.go();
  REQUIRE(gpu.stop(all) == CUPTI_SUCCESS);
  CHECK(all);
  REQUIRE(gpu.decode() == CUPTI_SUCCESS);
  CHECK(gpu.kept() == 2);
  CHECK(gpu.values(1) == of_twice);
}

TEST_CASE("the range profiler of the fake refuses calls out of order") {
  Counting gpu(five);
  bool all = false;
  REQUIRE(gpu.plan() == CUPTI_SUCCESS);
  REQUIRE(gpu.enable() == CUPTI_SUCCESS);
  CHECK(gpu.enable() == CUPTI_ERROR_INVALID_OPERATION);
  CHECK(gpu.start() == CUPTI_ERROR_INVALID_PARAMETER);  // the second enable gave no object
  auto* object = gpu.ranges;
  CHECK(object == nullptr);
  Counting fresh(five);
  REQUIRE(fresh.plan() == CUPTI_SUCCESS);
  REQUIRE(fresh.enable() == CUPTI_SUCCESS);
  CHECK(fresh.start() == CUPTI_ERROR_INVALID_OPERATION);
  REQUIRE(fresh.configure() == CUPTI_SUCCESS);
  CHECK(fresh.push() == CUPTI_ERROR_INVALID_OPERATION);
  CHECK(fresh.stop(all) == CUPTI_ERROR_INVALID_OPERATION);
  REQUIRE(fresh.start() == CUPTI_SUCCESS);
  CHECK(fresh.start() == CUPTI_ERROR_INVALID_OPERATION);
  CHECK(fresh.pop() == CUPTI_ERROR_INVALID_OPERATION);
  REQUIRE(fresh.push() == CUPTI_SUCCESS);
  CHECK(fresh.push() == CUPTI_ERROR_INVALID_OPERATION);
  CHECK(fresh.stop(all) == CUPTI_ERROR_INVALID_OPERATION);
  CHECK(fresh.decode() == CUPTI_ERROR_INVALID_OPERATION);
}

TEST_CASE("nobody counts where kernels are recorded, and nobody records them where one counts") {
  Counting gpu(five);
  REQUIRE(gpu.plan() == CUPTI_SUCCESS);
  REQUIRE(gpu.cuptiActivityEnable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL) == CUPTI_SUCCESS);
  CHECK(gpu.enable() == CUPTI_ERROR_NOT_COMPATIBLE);
  REQUIRE(gpu.cuptiActivityDisable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL) == CUPTI_SUCCESS);
  REQUIRE(gpu.enable() == CUPTI_SUCCESS);
  CHECK(gpu.cuptiActivityEnable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL) == CUPTI_ERROR_NOT_COMPATIBLE);
}

TEST_CASE("the time of a range that the caller names holds the launch and the waiting") {
  const auto time_of = [](CUpti_ProfilerRange mode, CUpti_ProfilerReplayMode replay) {
    Counting gpu({"gpu__time_duration.sum"}, R"({"noise": 0, "times": [{"kernel": "twice", "seconds": 5e-6}]})");
    REQUIRE(gpu.plan() == CUPTI_SUCCESS);
    REQUIRE(gpu.enable() == CUPTI_SUCCESS);
    REQUIRE(gpu.configure(mode, replay) == CUPTI_SUCCESS);
    bool all = false;
    REQUIRE(gpu.start() == CUPTI_SUCCESS);
    if (mode == CUPTI_UserRange) REQUIRE(gpu.push() == CUPTI_SUCCESS);
    gpu.go();
    REQUIRE(gpu.cuCtxSynchronize() == CUDA_SUCCESS);
    if (mode == CUPTI_UserRange) REQUIRE(gpu.pop() == CUPTI_SUCCESS);
    REQUIRE(gpu.stop(all) == CUPTI_SUCCESS);
    REQUIRE(gpu.decode() == CUPTI_SUCCESS);
    return gpu.values().front();
  };
  const double of_kernel = time_of(CUPTI_AutoRange, CUPTI_KernelReplay);
  const double named = time_of(CUPTI_UserRange, CUPTI_UserReplay);
  CHECK(of_kernel == approx(1.4 * 5000));
  CHECK(named > of_kernel + 2000);
}

TEST_CASE("counting fails where a machine forbids it") {
  struct Row {
    const char* json;
    CUptiResult enable, configure;
  };
  const Row rows[] = {
      {R"({"counters_permitted": false})", CUPTI_ERROR_INSUFFICIENT_PRIVILEGES, CUPTI_SUCCESS},
      {R"({"mig": true})", CUPTI_ERROR_MIG_DEVICE_NOT_SUPPORTED, CUPTI_SUCCESS},
      {R"({"other_profiler": true})", CUPTI_SUCCESS, CUPTI_ERROR_HARDWARE_BUSY},
  };
  for (const Row& row : rows) {
    CAPTURE(row.json);
    Counting gpu(five, row.json);
    REQUIRE(gpu.plan() == CUPTI_SUCCESS);
    CHECK(gpu.enable() == row.enable);
    if (row.enable == CUPTI_SUCCESS) CHECK(gpu.configure() == row.configure);
  }
}

TEST_CASE("a metric that the fake does not know is refused, unless its value is planted") {
  CHECK(Counting({"nonsense.sum"}).plan() == CUPTI_ERROR_INVALID_PARAMETER);
  CHECK(Counting({"dram__bytes_read.total"}).plan() == CUPTI_ERROR_INVALID_PARAMETER);
  Counting gpu({"nonsense.sum"}, R"({"metrics": {"nonsense.sum": 42}})");
  REQUIRE(gpu.plan() == CUPTI_SUCCESS);
  REQUIRE(gpu.enable() == CUPTI_SUCCESS);
  REQUIRE(gpu.configure() == CUPTI_SUCCESS);
  CHECK(gpu.pass());
  REQUIRE(gpu.decode() == CUPTI_SUCCESS);
  CHECK(gpu.values() == std::vector<double>{42});
}

}  // namespace tailor::fake
