// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Our occupancy rules against the vendor's calculator, over registers x threads x shared memory for every compute
// capability it knows; and the law that asking for more never gives more blocks. The vendor's header is used where a
// CUDA toolkit is installed, else that case is skipped. Part of the suite `costmodel`.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "costmodel/occupancy.h"
#include "support/paths.h"
#include "support/skip.h"

#ifdef TAILOR_CUDA_OCCUPANCY
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wold-style-cast"
#pragma GCC diagnostic ignored "-Wconversion"
#include <cuda_occupancy.h>
#pragma GCC diagnostic pop
#endif

using namespace tailor;
using costmodel::occupancy;

TEST_CASE("asking for more registers, threads or shared memory never gives more resident warps than the limits") {
  const std::string folder = source_folder() + "/data/devices";
  for (const std::string& name : ir::device_names(folder)) {
    const ir::Limits limits = ir::limits(ir::find_device(name, folder));
    for (int threads = 32; threads <= 1024; threads += 32)
      for (int registers = 16; registers <= 255; ++registers) {
        const auto now = occupancy(limits, threads, registers, 4096);
        CHECK(now.blocks_per_sm <= occupancy(limits, threads, registers - 1, 4096).blocks_per_sm);
        CHECK(now.blocks_per_sm >= occupancy(limits, threads, registers, 5000).blocks_per_sm);
        CHECK(now.fraction <= 1);
      }
  }
}

TEST_CASE("the limiter names what stops the next block") {
  const std::string folder = source_folder() + "/data/devices";
  const ir::Limits h200 = ir::limits(ir::find_device("h200", folder));
  CHECK(occupancy(h200, 1024, 32, 0) == costmodel::Occupancy{2, costmodel::Limiter::threads, 1.0});
  CHECK(occupancy(h200, 32, 16, 0) == costmodel::Occupancy{32, costmodel::Limiter::blocks, 0.5});
  CHECK(occupancy(h200, 128, 255, 0) == costmodel::Occupancy{2, costmodel::Limiter::registers, 0.125});
  CHECK(occupancy(h200, 128, 32, 100 * 1024) == costmodel::Occupancy{2, costmodel::Limiter::shared, 0.125});
  CHECK(occupancy(h200, 1024, 65, 0).blocks_per_sm == 0);
  CHECK(occupancy(h200, 128, 32, 228 * 1024).blocks_per_sm == 0);
  CHECK(name(costmodel::Limiter::shared) == "shared memory");
}

TEST_CASE("the most registers for so many resident blocks allow them, and one more does not") {
  const std::string folder = source_folder() + "/data/devices";
  std::int64_t bound = 0;
  for (const std::string& name : ir::device_names(folder)) {
    const ir::Limits limits = ir::limits(ir::find_device(name, folder));
    for (int threads = 32; threads <= 1024; threads += 32)
      for (int blocks = 1; blocks <= limits.blocks_per_sm && blocks * threads <= limits.threads_per_sm; ++blocks) {
        const int most = costmodel::most_registers(limits, threads, blocks);
        CHECK(most > 0);
        CHECK(occupancy(limits, threads, most, 0).blocks_per_sm >= blocks);
        if (most == limits.registers_per_thread) continue;
        CHECK(occupancy(limits, threads, most + 1, 0).blocks_per_sm < blocks);
        ++bound;
      }
  }
  CHECK(bound > 1000);
  const ir::Limits h200 = ir::limits(ir::find_device("h200", folder));
  CHECK(costmodel::most_registers(h200, 256, 8) == 32);
  CHECK(costmodel::most_registers(h200, 1024, 2) == 32);
  CHECK(costmodel::most_registers(h200, 128, 3) == 168);
}

#ifdef TAILOR_CUDA_OCCUPANCY
namespace {

struct Capability {
  int major, minor, threads_per_sm, shared_per_sm_kib, optin_kib;
};

/// What the header does not say itself: threads and shared memory per SM (CUDA programming guide).
constexpr Capability capabilities[] = {{6, 0, 2048, 64, 48},    {6, 1, 2048, 96, 48},    {7, 0, 2048, 96, 96},
                                       {7, 5, 1024, 64, 64},    {8, 0, 2048, 164, 163},  {8, 6, 1536, 100, 99},
                                       {8, 7, 1536, 164, 163},  {8, 9, 1536, 100, 99},   {9, 0, 2048, 228, 227},
                                       {10, 0, 2048, 228, 227}, {10, 1, 1536, 228, 227}, {10, 3, 2048, 228, 227},
                                       {11, 0, 1536, 228, 227}, {12, 0, 1536, 100, 99},  {12, 1, 1536, 100, 99}};

cudaOccDeviceProp properties(const Capability& c) {
  cudaOccDeviceProp p;
  p.computeMajor = c.major;
  p.computeMinor = c.minor;
  p.maxThreadsPerBlock = 1024;
  p.maxThreadsPerMultiprocessor = c.threads_per_sm;
  p.regsPerBlock = p.regsPerMultiprocessor = 65536;
  p.warpSize = 32;
  p.sharedMemPerBlock = 48 * 1024;
  p.sharedMemPerMultiprocessor = static_cast<size_t>(c.shared_per_sm_kib) * 1024;
  p.numSms = 1;
  p.sharedMemPerBlockOptin = static_cast<size_t>(c.optin_kib) * 1024;
  p.reservedSharedMemPerBlock = c.major >= 8 ? 1024 : 0;
  return p;
}

ir::Limits limits_of(const Capability& c, const cudaOccDeviceProp& p) {
  ir::Limits l;
  l.compute_capability = c.major * 10 + c.minor;
  l.sms = 1;
  l.warp_size = 32;
  l.threads_per_block = 1024;
  l.threads_per_sm = c.threads_per_sm;
  cudaOccMaxBlocksPerMultiprocessor(&l.blocks_per_sm, &p);
  l.registers_per_sm = l.registers_per_block = 65536;
  cudaOccRegAllocationMaxPerThread(&l.registers_per_thread, &p);
  cudaOccRegAllocationGranularity(&l.register_unit, &p);
  cudaOccSubPartitionsPerMultiprocessor(&l.sub_partitions, &p);
  l.launch_partitions = 4;  // also for 6.0: a kernel must run on every chip of the family
  l.shared_per_sm = c.shared_per_sm_kib * 1024;
  l.shared_per_block = 48 * 1024;
  l.shared_per_block_optin = c.optin_kib * 1024;
  l.shared_reserved_per_block = c.major >= 8 ? 1024 : 0;
  cudaOccSMemAllocationGranularity(&l.shared_unit, &p);
  return l;
}

int vendor_blocks(const cudaOccDeviceProp& p, int threads, int registers, int shared) {
  cudaOccFuncAttributes f;
  f.maxThreadsPerBlock = 1024;
  f.numRegs = registers;
  f.sharedSizeBytes = 0;
  f.partitionedGCConfig = PARTITIONED_GC_OFF;
  f.shmemLimitConfig = FUNC_SHMEM_LIMIT_OPTIN;
  f.maxDynamicSharedSizeBytes = static_cast<size_t>(shared);
  f.numBlockBarriers = 1;
  f.virtualResourceCount = 0;
  cudaOccDeviceState state;
  cudaOccResult result;
  const cudaOccError fault =
      cudaOccMaxActiveBlocksPerMultiprocessor(&result, &p, &f, &state, threads, static_cast<size_t>(shared));
  return fault == CUDA_OCC_SUCCESS ? result.activeBlocksPerMultiprocessor : -1;
}

}  // namespace
#endif

TEST_CASE("occupancy equals the vendor's calculator for every compute capability it knows") {
#ifdef TAILOR_CUDA_OCCUPANCY
  const std::vector<int> shares{0,         1,         128,           1000,       1024,          4096,
                                10000,     20000,     32767,         48 * 1024,  48 * 1024 + 1, 64 * 1024,
                                65 * 1024, 99 * 1024, 99 * 1024 + 1, 163 * 1024, 200000,        227 * 1024,
                                228 * 1024};
  std::int64_t compared = 0, differing = 0;
  for (const Capability& capability : capabilities) {
    const cudaOccDeviceProp vendor = properties(capability);
    const ir::Limits limits = limits_of(capability, vendor);
    for (int threads = 1; threads <= 1056; threads += threads < 64 ? 31 : 16)
      for (int registers = 1; registers <= 256; registers += 3)
        for (const int shared : shares) {
          ++compared;
          differing += occupancy(limits, threads, registers, shared).blocks_per_sm !=
                       vendor_blocks(vendor, threads, registers, shared);
        }
  }
  CHECK(compared > 1'000'000);
  CHECK(differing == 0);
#else
  skip("cuda_occupancy.h is not installed");
#endif
}
