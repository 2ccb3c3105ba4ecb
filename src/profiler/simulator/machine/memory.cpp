// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Simulated memory: addresses are given out in order, whatever the host's own addresses are, so that a launch computes
// the same on every machine. Pages come from the system untouched and cost nothing until they are used; outputs are
// filled with poison. Of buffers that are made lazily the machine makes a piece when it first comes to it, which costs
// nothing elsewhere: a site's fast path knows one window of one buffer, and at its end it asks here. Called through
// Memory (launch.h).
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

/// A window reaches at most so many pieces beyond what was asked for, to either side.
constexpr std::int64_t most_pieces_around = 16;

/// Whether it had to be made.
bool make_piece(LazyPieces& lazy, std::int64_t piece, std::span<std::byte> buffer) {
  const auto number = static_cast<std::size_t>(piece);
  if (lazy.is_made(number)) return false;
  const std::lock_guard lock(lazy.mutex);
  if (lazy.is_made(number)) return false;
  const auto first = static_cast<std::size_t>(piece * lazy_piece_bytes);
  lazy.contents(static_cast<std::int64_t>(first),
                buffer.subspan(first, std::min<std::size_t>(lazy_piece_bytes, buffer.size() - first)));
  lazy.there.push_back(piece);
  lazy.mark(number).store(std::byte{1}, std::memory_order_release);
  return true;
}

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

namespace {

int append(Memory::Body& to, MemoryBuffer buffer, PageUse pages) {
  buffer.offset = to.end;
  to.pages.emplace_back(static_cast<std::size_t>(std::max<std::int64_t>(buffer.bytes, 1)), pages);
  to.end = aligned(to.end + buffer.bytes + guard_bytes, buffer_alignment);
  to.buffers.push_back(std::move(buffer));
  return static_cast<int>(to.buffers.size()) - 1;
}

}  // namespace

int Memory::add(std::string name, std::int64_t bytes, int element_bytes, BufferUse use) {
  const int made = append(*body_, {std::move(name), bytes, element_bytes, use, 0, {}, {}}, PageUse::dense);
  if (use == BufferUse::output)
    std::memset(body_->pages[made].data(), static_cast<int>(poison_byte), static_cast<std::size_t>(bytes));
  return made;
}

int Memory::add_lazily(std::string name, std::int64_t bytes, int element_bytes, BufferUse use, Contents contents) {
  auto lazy = std::make_unique<LazyPieces>();
  lazy->count = static_cast<std::size_t>((bytes + lazy_piece_bytes - 1) / lazy_piece_bytes);
  lazy->made = Pages(std::max<std::size_t>(lazy->count, 1), PageUse::sparse);
  lazy->contents = std::move(contents);
  if (!lazy->contents)
    lazy->contents = [use](std::int64_t, std::span<std::byte> to) {
      if (use == BufferUse::output) std::memset(to.data(), static_cast<int>(poison_byte), to.size());
    };
  return append(*body_, {std::move(name), bytes, element_bytes, use, 0, {}, std::move(lazy)}, PageUse::sparse);
}

std::vector<ByteRange> Memory::touched(int buffer) const {
  const MemoryBuffer& of = body_->buffers[buffer];
  if (of.lazy == nullptr) return {{0, of.bytes}};
  std::vector<ByteRange> ranges;
  std::vector<std::int64_t> pieces;
  {
    const std::lock_guard lock(of.lazy->mutex);
    pieces = of.lazy->there;
  }
  std::sort(pieces.begin(), pieces.end());
  for (const std::int64_t piece : pieces) {
    const std::int64_t first = piece * lazy_piece_bytes;
    const std::int64_t bytes = std::min(lazy_piece_bytes, of.bytes - first);
    if (!ranges.empty() && ranges.back().first + ranges.back().bytes == first)
      ranges.back().bytes += bytes;
    else
      ranges.push_back({first, bytes});
  }
  return ranges;
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
    if (one.lazy != nullptr) {
      for (const std::int64_t piece : std::exchange(one.lazy->there, {}))
        one.lazy->mark(static_cast<std::size_t>(piece)).store(std::byte{0});
      continue;
    }
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

ByteRange Memory::Body::window(int buffer, std::int64_t offset, std::int64_t bytes) const {
  const MemoryBuffer& of = buffers[buffer];
  if (of.lazy == nullptr) return {0, of.bytes};
  LazyPieces& lazy = *of.lazy;
  const std::span<std::byte> all(pages[buffer].data(), static_cast<std::size_t>(of.bytes));
  std::int64_t first = offset / lazy_piece_bytes,
               last = (offset + std::max<std::int64_t>(bytes, 1) - 1) / lazy_piece_bytes;
  std::atomic<std::int64_t>& lazily_made = of.use == BufferUse::input ? lazily_read : lazily_written;
  for (std::int64_t piece = first; piece <= last; ++piece)
    if (make_piece(lazy, piece, all)) lazily_made.fetch_add(lazy_piece_bytes, std::memory_order_relaxed);
  const auto is_made = [&](std::int64_t piece) { return lazy.is_made(static_cast<std::size_t>(piece)); };
  for (const std::int64_t least = std::max<std::int64_t>(first - most_pieces_around, 0);
       first > least && is_made(first - 1);)
    --first;
  for (const std::int64_t most = std::min(last + most_pieces_around, static_cast<std::int64_t>(lazy.count) - 1);
       last < most && is_made(last + 1);)
    ++last;
  return {first * lazy_piece_bytes, std::min((last + 1) * lazy_piece_bytes, of.bytes) - first * lazy_piece_bytes};
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
