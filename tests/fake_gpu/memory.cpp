// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Allocations on the simulator's memory. In: sizes. Out: addresses. Freed allocations give their pages back and keep
// their position among the simulator's buffers, which stand in order of address; an allocation that fits takes the
// first such position.
#include "fake_gpu/memory.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>

#include "profiler/simulator/machine/memory.h"

namespace tailor::fake {
namespace {

constexpr std::size_t grain = 512;
constexpr std::byte rubbish{0xa7};
constexpr std::size_t most_rubbish = std::size_t{1} << 22;  // more only costs time

std::size_t rounded(std::size_t bytes) { return (bytes + grain - 1) / grain * grain; }

}  // namespace

int DeviceMemory::fresh(std::size_t bytes) {
  simulator::Memory::Body& body = memory_.body();
  body.end = static_cast<std::int64_t>(rounded(static_cast<std::size_t>(body.end)));
  const int buffer = memory_.add("allocation", static_cast<std::int64_t>(bytes), 1, simulator::BufferUse::both);
  room_.push_back(bytes);
  uniform_.push_back(-1);
  return buffer;
}

std::optional<std::uint64_t> DeviceMemory::add(std::size_t bytes, std::int64_t capacity) {
  if (used_ + static_cast<std::int64_t>(rounded(bytes)) > capacity) return {};
  int buffer = -1;
  const auto fits = std::find_if(freed_.begin(), freed_.end(), [&](const Freed& one) { return one.room >= bytes; });
  if (fits != freed_.end()) {
    buffer = fits->buffer;
    freed_.erase(fits);
    simulator::Memory::Body& body = memory_.body();
    body.pages[static_cast<std::size_t>(buffer)] = simulator::Pages(bytes);
    body.buffers[static_cast<std::size_t>(buffer)].bytes = static_cast<std::int64_t>(bytes);
  } else {
    buffer = fresh(bytes);
  }
  uniform(buffer, -1);
  const std::span<std::byte> all = memory_.bytes(buffer);
  std::memset(all.data(), static_cast<int>(rubbish), std::min(all.size(), most_rubbish));
  used_ += static_cast<std::int64_t>(rounded(bytes));
  const std::uint64_t address = memory_.address(buffer);
  live_[address] = buffer;
  return address;
}

bool DeviceMemory::release(std::uint64_t address) {
  const auto at = live_.find(address);
  if (at == live_.end()) return false;
  const auto buffer = static_cast<std::size_t>(at->second);
  simulator::Memory::Body& body = memory_.body();
  used_ -= static_cast<std::int64_t>(rounded(static_cast<std::size_t>(body.buffers[buffer].bytes)));
  body.buffers[buffer].bytes = 0;
  body.pages[buffer] = simulator::Pages(1);
  freed_.push_back({at->second, room_[buffer]});
  live_.erase(at);
  return true;
}

void DeviceMemory::release_all() {
  while (!live_.empty()) release(live_.begin()->first);
}

void DeviceMemory::clear(int buffer) {
  const std::int64_t all = bytes(buffer);
  memory_.body().pages[static_cast<std::size_t>(buffer)] = simulator::Pages(static_cast<std::size_t>(all));
}

int DeviceMemory::holding(std::uint64_t address) const {
  const auto after = live_.upper_bound(address);
  if (after == live_.begin()) return -1;
  const auto at = std::prev(after);
  return address - at->first < static_cast<std::uint64_t>(bytes(at->second)) ? at->second : -1;
}

std::int64_t DeviceMemory::bytes(int buffer) const {
  return memory_.body().buffers[static_cast<std::size_t>(buffer)].bytes;
}

std::span<std::byte> DeviceMemory::range(std::uint64_t address, std::size_t bytes) {
  const int buffer = holding(address);
  if (buffer < 0) return {};
  const std::span<std::byte> all = memory_.bytes(buffer);
  const std::size_t offset = address - memory_.address(buffer);
  if (bytes > all.size() - offset) return {};
  return all.subspan(offset, bytes);
}

HostMemory::~HostMemory() {
  while (!live_.empty()) release(reinterpret_cast<void*>(live_.begin()->first));
}

void* HostMemory::add(std::size_t bytes) {
  const std::size_t whole = (bytes + 4095) / 4096 * 4096;
  void* got = mmap(reinterpret_cast<void*>(next_), whole, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (got == MAP_FAILED) return nullptr;
  next_ += whole + 4096;
  live_[reinterpret_cast<std::uint64_t>(got)] = whole;
  return got;
}

bool HostMemory::release(void* at) {
  const auto found = live_.find(reinterpret_cast<std::uint64_t>(at));
  if (found == live_.end()) return false;
  munmap(at, found->second);
  live_.erase(found);
  return true;
}

bool HostMemory::holds(std::uint64_t address, std::size_t bytes) const {
  const auto after = live_.upper_bound(address);
  if (after == live_.begin()) return false;
  const auto at = std::prev(after);
  return address - at->first + bytes <= at->second;
}

}  // namespace tailor::fake
