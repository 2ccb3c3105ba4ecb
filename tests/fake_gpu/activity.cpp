// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// How records are kept and flushed. In: the end of a kernel. Out: records in the order of the kernels' ends, when a
// flush finds that they may be seen. A buffer that is missing, too small or not aligned loses the records that should
// have gone into it.
#include "fake_gpu/activity.h"

#include <algorithm>
#include <cstring>

namespace tailor::fake {
namespace {

constexpr std::size_t record_bytes = sizeof(CUpti_ActivityKernel10);
static_assert(record_bytes % 8 == 0);

}  // namespace

CUptiResult Activity::register_callbacks(CUpti_BuffersCallbackRequestFunc request,
                                         CUpti_BuffersCallbackCompleteFunc complete) {
  if (request == nullptr || complete == nullptr) return CUPTI_ERROR_INVALID_PARAMETER;
  request_ = request;
  complete_ = complete;
  return CUPTI_SUCCESS;
}

CUptiResult Activity::enable(CUpti_ActivityKind kind, bool on) {
  if (kind <= CUPTI_ACTIVITY_KIND_INVALID || kind >= CUPTI_ACTIVITY_KIND_COUNT) return CUPTI_ERROR_INVALID_KIND;
  if (on)
    enabled_.insert(kind);
  else
    enabled_.erase(kind);
  return CUPTI_SUCCESS;
}

bool Activity::records_kernels() const {
  return enabled_.count(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL) + enabled_.count(CUPTI_ACTIVITY_KIND_KERNEL) != 0;
}

void Activity::add(KernelRecord record) {
  if (!records_kernels()) return;
  if (config_.drop_activity > 0 && ++seen_ % config_.drop_activity == 0) {
    ++dropped_;
    return;
  }
  running_.push_back(std::move(record));
}

void Activity::waited_for(std::uint32_t stream) {
  std::erase_if(running_, [&](KernelRecord& one) {
    if (one.stream != stream) return false;
    finished_.push_back(std::move(one));
    return true;
  });
}

void Activity::waited_for_all() {
  while (!running_.empty()) waited_for(running_.front().stream);
}

CUpti_ActivityKernel10 Activity::made_of(const KernelRecord& record) {
  CUpti_ActivityKernel10 made;
  std::memset(&made, 0, sizeof made);
  made.kind = enabled_.count(CUPTI_ACTIVITY_KIND_KERNEL) != 0 ? CUPTI_ACTIVITY_KIND_KERNEL
                                                              : CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL;
  made.registersPerThread = static_cast<std::uint16_t>(record.registers);
  const auto stamp = [&](std::int64_t at) {
    return config_.activity_without_times
               ? 0
               : static_cast<std::uint64_t>(epoch + at / config_.chip.tick * config_.chip.tick);
  };
  made.start = stamp(record.start);
  made.end = stamp(record.end);
  made.contextId = 1;
  made.streamId = record.stream;
  made.gridX = static_cast<std::int32_t>(record.grid[0]);
  made.gridY = static_cast<std::int32_t>(record.grid[1]);
  made.gridZ = static_cast<std::int32_t>(record.grid[2]);
  made.blockX = static_cast<std::int32_t>(record.block[0]);
  made.blockY = static_cast<std::int32_t>(record.block[1]);
  made.blockZ = static_cast<std::int32_t>(record.block[2]);
  made.clusterX = record.cluster[0];
  made.clusterY = record.cluster[1];
  made.clusterZ = record.cluster[2];
  made.staticSharedMemory = static_cast<std::int32_t>(record.static_shared);
  made.dynamicSharedMemory = static_cast<std::int32_t>(record.dynamic_shared);
  made.correlationId = record.correlation;
  made.gridId = static_cast<std::int64_t>(record.correlation);
  made.graphId = record.graph;
  made.graphNodeId = record.graph_node;
  made.name = names_.insert(record.name).first->c_str();
  return made;
}

bool Activity::deliver_one_buffer() {
  std::uint8_t* buffer = nullptr;
  std::size_t size = 0, most = 0;
  request_(&buffer, &size, &most);
  const bool usable = buffer != nullptr && size >= record_bytes &&
                      reinterpret_cast<std::uintptr_t>(buffer) % ACTIVITY_RECORD_ALIGNMENT == 0;
  if (!usable) {
    dropped_ += finished_.size();
    finished_.clear();
    if (buffer != nullptr) complete_(nullptr, 0, buffer, size, 0);
    return false;
  }
  std::size_t count = std::min(size / record_bytes, finished_.size());
  if (most != 0) count = std::min(count, most);
  for (std::size_t k = 0; k < count; ++k) {
    const CUpti_ActivityKernel10 made = made_of(finished_.front());
    std::memcpy(buffer + k * record_bytes, &made, record_bytes);
    finished_.pop_front();
  }
  complete_(nullptr, 0, buffer, size, count * record_bytes);
  return true;
}

CUptiResult Activity::flush() {
  if (request_ == nullptr) return CUPTI_ERROR_INVALID_OPERATION;
  while (!finished_.empty() && deliver_one_buffer()) {
  }
  return CUPTI_SUCCESS;
}

CUptiResult Activity::next(std::uint8_t* buffer, std::size_t valid, CUpti_Activity** record) {
  if (buffer == nullptr || record == nullptr) return CUPTI_ERROR_INVALID_PARAMETER;
  const std::size_t at =
      *record == nullptr ? 0
                         : static_cast<std::size_t>(reinterpret_cast<std::uint8_t*>(*record) - buffer) + record_bytes;
  if (at + record_bytes > valid) return CUPTI_ERROR_MAX_LIMIT_REACHED;
  *record = reinterpret_cast<CUpti_Activity*>(buffer + at);
  return CUPTI_SUCCESS;
}

std::size_t Activity::take_dropped() {
  const std::size_t count = dropped_;
  dropped_ = 0;
  return count;
}

}  // namespace tailor::fake
