// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Recording kernels with CUPTI. Buffers are made when CUPTI asks and freed when it gives them back; their records go to
// one list for the process. Of a record only what all releases since CUDA 11 have at the same offset is read. Records
// that CUPTI dropped make the samples unavailable and are never guessed.
#include "profiler/gpu/cupti/trace.h"

#include <fmt/format.h>

#include <array>
#include <cstdlib>
#include <mutex>
#include <utility>

#include "base/indexed.h"

namespace tailor::gpu {
namespace {

using ir::Outcome;

constexpr std::size_t buffer_bytes = std::size_t{1} << 20, buffer_alignment = 8;
/// What nobody takes does not pile up.
constexpr std::size_t most_spans = std::size_t{1} << 20;
/// CUDA 13.0 before its first update: disabling the recording of kernels can hang.
constexpr std::uint32_t hangs_when_disabled = 130000;

struct Recorded {
  std::mutex mutex;
  Cupti api;  ///< a copy: records may come when whoever asked is gone
  std::vector<KernelSpan> spans;
  std::size_t dropped = 0;
  std::string status;
};

/// Never ended: records may come while the process ends.
Recorded& recorded() {
  static Recorded& one = *new Recorded;
  return one;
}

void CUPTIAPI give_buffer(std::uint8_t** buffer, std::size_t* size, std::size_t* most_records) {
  *buffer = static_cast<std::uint8_t*>(std::aligned_alloc(buffer_alignment, buffer_bytes));
  *size = *buffer == nullptr ? 0 : buffer_bytes;
  *most_records = 0;  // as many as fit
}

void keep(Recorded& to, const CUpti_Activity* record) {
  if (record->kind != CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL && record->kind != CUPTI_ACTIVITY_KIND_KERNEL) return;
  const auto* kernel = reinterpret_cast<const CUpti_ActivityKernel10*>(record);
  if (to.spans.size() < most_spans)
    to.spans.push_back({kernel->name == nullptr ? "" : kernel->name, kernel->start, kernel->end});
}

void CUPTIAPI take_buffer(CUcontext context, std::uint32_t stream, std::uint8_t* buffer, std::size_t,
                          std::size_t valid) {
  Recorded& to = recorded();
  const std::lock_guard lock(to.mutex);
  CUpti_Activity* record = nullptr;
  for (CUptiResult next = CUPTI_SUCCESS; valid > 0 && next == CUPTI_SUCCESS;) {
    next = to.api.cuptiActivityGetNextRecord(buffer, valid, &record);
    if (next == CUPTI_SUCCESS) keep(to, record);
    // An incomplete record ends a buffer as its end does; the count tells what is missing.
    if (next != CUPTI_SUCCESS && next != CUPTI_ERROR_MAX_LIMIT_REACHED && next != CUPTI_ERROR_INVALID_KIND)
      to.status = error_text(to.api, next, "cuptiActivityGetNextRecord");
  }
  std::size_t dropped = 0;
  if (to.api.cuptiActivityGetNumDroppedRecords(context, stream, &dropped) == CUPTI_SUCCESS) to.dropped += dropped;
  std::free(buffer);
}

void CUPTIAPI ignore(void*, CUpti_CallbackDomain, CUpti_CallbackId, const void*) {}

/// Subscribes; in words why not, with the other's name where CUPTI tells it.
std::string subscribe(const Cupti& api, CUpti_SubscriberHandle& subscriber) {
  if (!api.has(CuptiPart::owner))
    return error_text(api, api.cuptiSubscribe(&subscriber, ignore, nullptr), "cuptiSubscribe");
  std::array<char, 4 * CUPTI_OLD_SUBSCRIBER_NAME_MIN_LEN> other = {};
  CUpti_SubscriberParams parameters = {};
  parameters.structSize = CUpti_SubscriberParams_STRUCT_SIZE;
  parameters.subscriberName = "Tailor";
  parameters.oldSubscriberName = other.data();
  parameters.oldSubscriberSize = other.size() - 1;
  const CUptiResult result = api.cuptiSubscribe_v2(&subscriber, ignore, nullptr, &parameters);
  std::string reason = error_text(api, result, "cuptiSubscribe_v2");
  if (!reason.empty() && other[0] != 0) reason += fmt::format(", held by '{}'", other.data());
  return reason;
}

CudaStatus unavailable(std::string reason) {
  if (reason.empty()) return {};
  return {Outcome::unavailable, std::move(reason), false};
}

}  // namespace

std::string held_by_another(const Cupti& api) {
  CUpti_SubscriberHandle subscriber = nullptr;
  std::string reason = subscribe(api, subscriber);
  if (reason.empty()) static_cast<void>(api.cuptiUnsubscribe(subscriber));
  return reason;
}

KernelTrace::~KernelTrace() { end(); }

CudaStatus KernelTrace::begin(const Cupti& api) {
  if (on()) return {};
  if (!api.has(CuptiPart::activity)) return unavailable("CUPTI has no " + row_for(api.missing, CuptiPart::activity));
  if (subscriber_ == nullptr) {
    if (CudaStatus status = unavailable(subscribe(api, subscriber_)); !status.ok()) return status;
  }
  {
    const std::lock_guard lock(recorded().mutex);
    recorded().api = api;
  }
  api_ = &api;
  std::string reason =
      error_text(api, api.cuptiActivityRegisterCallbacks(give_buffer, take_buffer), "cuptiActivityRegisterCallbacks");
  if (reason.empty())
    reason = error_text(api, api.cuptiActivityEnable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL), "cuptiActivityEnable");
  if (reason.empty()) return {};
  static_cast<void>(api.cuptiUnsubscribe(subscriber_));
  subscriber_ = nullptr;
  api_ = nullptr;
  return unavailable(std::move(reason));
}

void KernelTrace::end() {
  if (!on() || api_->version == hangs_when_disabled) return;
  static_cast<void>(api_->cuptiActivityDisable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL));
  static_cast<void>(clear());
  static_cast<void>(api_->cuptiUnsubscribe(subscriber_));
  subscriber_ = nullptr;
  api_ = nullptr;
}

CudaStatus KernelTrace::flush(std::uint32_t flag) {
  return unavailable(error_text(*api_, api_->cuptiActivityFlushAll(flag), "cuptiActivityFlushAll"));
}

CudaStatus KernelTrace::clear() {
  CudaStatus status = flush(0);
  Recorded& all = recorded();
  const std::lock_guard lock(all.mutex);
  all.spans.clear();
  all.dropped = 0;
  all.status.clear();
  return status;
}

CudaStatus KernelTrace::take(std::size_t expected, std::vector<KernelSpan>& spans) {
  if (CudaStatus status = flush(0); !status.ok()) return status;
  Recorded& all = recorded();
  const auto count = [&] {
    const std::lock_guard lock(all.mutex);
    return all.spans.size();
  };
  if (count() < expected) {
    if (CudaStatus status = flush(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED); !status.ok()) return status;
  }
  const std::lock_guard lock(all.mutex);
  spans = std::exchange(all.spans, {});
  if (!all.status.empty()) return unavailable(std::exchange(all.status, {}));
  if (const std::size_t dropped = std::exchange(all.dropped, 0); dropped != 0)
    return unavailable(fmt::format("CUPTI dropped {} records of kernels", dropped));
  return {};
}

}  // namespace tailor::gpu
