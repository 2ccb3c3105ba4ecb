// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Simulated memory: addresses are given out in order, whatever the host's own addresses are, so that a launch computes
// the same on every machine. Pages come from the system untouched and cost nothing until they are used; outputs are
// filled with poison. Called through Memory (launch.h).
#include "profiler/simulator/machine/memory.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/error.h"
#include "base/text.h"
#include "profiler/simulator/decode/align.h"
#include "profiler/simulator/decode/program.h"

namespace tailor::simulator {
namespace {

constexpr std::int64_t guard_bytes = 1 << 16, buffer_alignment = 256;

}  // namespace

Pages::Pages(std::size_t bytes, PageUse use) : size_(bytes) {
  void* got = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (got == MAP_FAILED)
    throw Error(Fault::failed, "this machine has no " + humane_bytes(static_cast<double>(bytes)) + " of memory to give",
                "simulate a smaller shape");
  data_ = static_cast<std::byte*>(got);
  constexpr std::size_t huge = std::size_t{1} << 21;
  if (bytes >= huge && use == PageUse::dense)
    madvise(got, bytes, MADV_HUGEPAGE);  // a hint: most of a launch's system time is faults
}

Pages::~Pages() {
  if (data_ != nullptr) munmap(data_, size_);
}

Pages::Pages(Pages&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}

Pages& Pages::operator=(Pages&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  return *this;
}

Memory::Memory() : body_(std::make_unique<Body>()) { body_->end = guard_bytes; }
Memory::~Memory() = default;
Memory::Memory(Memory&&) noexcept = default;
Memory& Memory::operator=(Memory&&) noexcept = default;

int Memory::add(std::string name, std::int64_t bytes, int element_bytes, BufferUse use) {
  MemoryBuffer made{std::move(name), bytes, element_bytes, use, body_->end, {}};
  body_->pages.emplace_back(static_cast<std::size_t>(std::max<std::int64_t>(bytes, 1)));
  body_->end = aligned(body_->end + bytes + guard_bytes, buffer_alignment);
  if (use == BufferUse::output)
    std::memset(body_->pages.back().data(), static_cast<int>(poison_byte), static_cast<std::size_t>(bytes));
  body_->buffers.push_back(std::move(made));
  return static_cast<int>(body_->buffers.size()) - 1;
}

std::span<std::byte> Memory::bytes(int buffer) {
  return {body_->pages[buffer].data(), static_cast<std::size_t>(body_->buffers[buffer].bytes)};
}

std::span<const std::byte> Memory::bytes(int buffer) const {
  return {body_->pages[buffer].data(), static_cast<std::size_t>(body_->buffers[buffer].bytes)};
}

int Memory::buffers() const { return static_cast<int>(body_->buffers.size()); }

std::uint64_t Memory::address(int buffer) const {
  return global_base + static_cast<std::uint64_t>(body_->buffers[buffer].offset);
}

void Memory::poison_outputs() {
  for (std::size_t i = 0; i < body_->buffers.size(); ++i) {
    MemoryBuffer& one = body_->buffers[i];
    if (one.use != BufferUse::output) continue;
    std::memset(body_->pages[i].data(), static_cast<int>(poison_byte), static_cast<std::size_t>(one.bytes));
    one.written.clear();
  }
}

int Memory::Body::holding(std::uint64_t address) const {
  const int before = nearest(address);
  if (before < 0) return -1;
  const MemoryBuffer& buffer = buffers[before];
  const std::uint64_t offset = address - global_base - static_cast<std::uint64_t>(buffer.offset);
  return offset < static_cast<std::uint64_t>(buffer.bytes) ? before : -1;
}

/// The last buffer that starts at or before the address.
int Memory::Body::nearest(std::uint64_t address) const {
  if (buffers.empty()) return -1;
  if (address < global_base) return 0;
  const auto offset = static_cast<std::int64_t>(address - global_base);
  const auto after = std::upper_bound(buffers.begin(), buffers.end(), offset,
                                      [](std::int64_t at, const MemoryBuffer& one) { return at < one.offset; });
  return after == buffers.begin() ? 0 : static_cast<int>(after - buffers.begin()) - 1;
}

}  // namespace tailor::simulator
