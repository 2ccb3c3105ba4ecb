// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Device memory: the simulator's memory itself, so an address is the same for driver calls and for kernels, wherever a
// kernel finds it. Used by memory_calls.cpp and run.cpp. Each allocation is a buffer apart by guard zones: an access
// outside is found, also one that hardware would let pass because it falls into the same page. Freed memory holds
// nothing until it is given out again.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "profiler/simulator/machine/launch.h"

namespace tailor::fake {

class DeviceMemory {
 public:
  /// Addresses are multiples of 512 as the driver's; what is in the memory is rubbish. Nothing when it does not fit.
  std::optional<std::uint64_t> add(std::size_t bytes, std::int64_t capacity);
  /// false: no allocation starts there.
  bool release(std::uint64_t address);
  void release_all();
  /// The bytes of a range that lies in one allocation; no data when it does not.
  std::span<std::byte> range(std::uint64_t address, std::size_t bytes);
  /// The allocation that holds the address, or -1.
  int holding(std::uint64_t address) const;
  std::int64_t used() const { return used_; }
  std::int64_t bytes(int buffer) const;
  std::uint64_t address(int buffer) const { return memory_.address(buffer); }

  /// Zeros all over an allocation.
  void clear(int buffer);
  /// The byte that all of an allocation is known to hold, or -1: filling it so again may be left out.
  int uniform(int buffer) const { return uniform_[static_cast<std::size_t>(buffer)]; }
  void uniform(int buffer, int byte) { uniform_[static_cast<std::size_t>(buffer)] = byte; }
  simulator::Memory& simulated() { return memory_; }

 private:
  struct Freed {
    int buffer = 0;
    std::size_t room = 0;
  };
  int fresh(std::size_t bytes);

  simulator::Memory memory_;
  std::map<std::uint64_t, int> live_;  ///< buffer by first address
  std::vector<std::size_t> room_;      ///< by buffer
  std::vector<int> uniform_;           ///< by buffer
  std::vector<Freed> freed_;
  std::int64_t used_ = 0;
};

/// Memory of the host that a GPU may read: at a fixed place of the address space, so runs are alike.
class HostMemory {
 public:
  ~HostMemory();
  void* add(std::size_t bytes);  ///< null: there is none
  bool release(void* at);
  bool holds(std::uint64_t address, std::size_t bytes) const;

 private:
  std::map<std::uint64_t, std::size_t> live_;
  std::uint64_t next_ = 0x2000'0000'0000;
};

}  // namespace tailor::fake
