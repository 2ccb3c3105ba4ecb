// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Simulated memory, inside: one address range with buffers in order of address. A guard zone lies before, between and
// after them, so an index that runs over meets no other buffer. In: an address. Out: the buffer that holds it, or the
// nearest one for a message. Used by the machine for every access, and by the fake GPU for its allocations.
//
// A buffer that is made lazily shows itself through windows: pieces that are there, next to one another. Whoever leaves
// a window asks for another, by which the pieces in it are made.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/indexed.h"
#include "profiler/simulator/machine/launch.h"

namespace tailor::simulator {

/// How a range will be used. Dense: most of it, so large pages spare faults. Sparse: a few places far apart, for which
/// a large page would be filled with zeros each.
enum class PageUse : std::uint8_t { dense, sparse };

/// A range of pages from the system, zeros until written, returned when it dies.
class Pages {
 public:
  Pages() = default;
  explicit Pages(std::size_t bytes,
                 PageUse use = PageUse::dense);  ///< Throws Error(failed) when there is not that much.
  ~Pages();
  Pages(Pages&& other) noexcept;
  Pages& operator=(Pages&& other) noexcept;
  std::byte* data() const { return data_; }
  std::size_t size() const { return size_; }

 private:
  std::byte* data_ = nullptr;
  std::size_t size_ = 0;
};

/// Which pieces of a buffer are there, and how the others are made.
struct LazyPieces {
  Contents contents;
  std::size_t count = 0;
  Pages made;                       ///< by piece a byte, not 0 where it is there
  std::vector<std::int64_t> there;  ///< pieces, as they were made: of a buffer of terabytes nobody asks all
  std::mutex mutex;                 ///< held while a piece is made

  std::atomic_ref<std::byte> mark(std::size_t piece) { return std::atomic_ref<std::byte>(made.data()[piece]); }
  bool is_made(std::size_t piece) { return mark(piece).load(std::memory_order_acquire) != std::byte{0}; }
};

struct MemoryBuffer {
  std::string name;
  std::int64_t bytes = 0;
  int element_bytes = 1;
  BufferUse use = BufferUse::input;
  std::int64_t offset = 0;             ///< in the arena
  std::vector<std::uint32_t> written;  ///< of an output: a bit per byte that a launch wrote; empty: none
  std::unique_ptr<LazyPieces> lazy;    ///< null: all of it is there
};

struct Memory::Body {
  IndexedVector<MemoryBuffer> buffers;
  /// Chunks of address space: each buffer has pages of its own, so buffers never move.
  IndexedVector<Pages> pages;
  std::int64_t end = 0;  ///< of the address range used so far, relative to global_base
  /// Bytes that were made lazily, of inputs and of the others.
  mutable std::atomic<std::int64_t> lazily_read{0}, lazily_written{0};

  /// The buffer that holds simulated address `address`, or -1.
  int holding(std::uint64_t address) const;
  /// Makes the pieces that hold `bytes` bytes from `offset` on. Returns what is there around them: all of a buffer that
  /// is not lazy. Safe to call from several threads. Precondition: they lie in the buffer.
  ByteRange window(int buffer, std::int64_t offset, std::int64_t bytes) const;
  /// The buffer nearest to an address outside all of them, for messages; -1 without buffers.
  int nearest(std::uint64_t address) const;
};

inline constexpr std::byte poison_byte{0xcd};

}  // namespace tailor::simulator
