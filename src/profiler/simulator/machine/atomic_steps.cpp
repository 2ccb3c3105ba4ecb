// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Atomics and reductions. In: a warp and a micro-operation. Out: memory changed, and old values in slots. Lanes go one
// after the other, in order of their number; on a GPU the order is not defined, so sums of floats may differ there in
// the last bits. One function per row of atomics.def, found by operation and type when a program is decoded.
#include <array>
#include <bit>
#include <cstring>

#include "profiler/simulator/lanes/half.h"
#include "profiler/simulator/machine/machine.h"
#include "profiler/simulator/machine/steps.h"

namespace tailor::simulator {

void translate_atomic(Warp& warp, const Micro& micro, Request& request);

namespace {

/// Operand `slot` of a lane, as the low bytes of a double word.
std::uint64_t value_in(const Warp& warp, Slot slot, int lane, bool wide) {
  return wide ? double_words(warp, slot)[lane] : words(warp, slot)[lane];
}

void put(const Warp& warp, Slot slot, int lane, bool wide, std::uint64_t value) {
  if (slot == no_slot) return;
  if (wide) {
    double_words(warp, slot)[lane] = value;
  } else {
    words(warp, slot)[lane] = static_cast<std::uint32_t>(value);
  }
}

void fill_addresses(Warp& warp, const Micro& micro, Request& request) {
  request.mask = warp.active;
  for (std::uint32_t left = warp.active; left != 0; left &= left - 1) {
    const int lane = std::countr_zero(left);
    const auto offset = static_cast<std::uint64_t>(micro.immediate);
    request.address[lane] = micro.extra & access_wide ? double_words(warp, micro.a)[lane] + offset
                                                      : static_cast<std::uint32_t>(words(warp, micro.a)[lane] + offset);
  }
}

/// Applies `next(old, operand, second)` to `vector` elements of type T per lane.
template <class T, int vector, class Next>
void apply(Warp& warp, const Micro& micro, const Next& next) {
  Request request;
  fill_addresses(warp, micro, request);
  translate_atomic(warp, micro, request);
  constexpr bool wide = sizeof(T) == 8;
  bool changed = false;
  for (std::uint32_t left = warp.active & ~request.mask; left != 0; left &= left - 1)  // as loads that may not
    for (int k = 0; k < vector; ++k) {
      const bool listed = vector > 1 && micro.writes != 0;
      const Slot result = listed ? warp.lists[micro.list + static_cast<std::uint32_t>(k)] : micro.d;
      put(warp, result, std::countr_zero(left), wide, 0xcdcdcdcdcdcdcdcdu);
    }
  for (std::uint32_t left = request.mask; left != 0; left &= left - 1) {
    const int lane = std::countr_zero(left);
    // With a list: results first, when there are any, then operands; a register may be both, so operands are read
    // first.
    const std::uint32_t results = vector > 1 && micro.writes != 0 ? vector : 0;
    T values[vector], second{};
    for (int k = 0; k < vector; ++k) {
      const Slot operand = vector > 1 ? warp.lists[micro.list + results + static_cast<std::uint32_t>(k)] : micro.b;
      const std::uint64_t bits = value_in(warp, operand, lane, wide);
      std::memcpy(&values[k], &bits, sizeof(T));
    }
    if (micro.c != no_slot) {
      const std::uint64_t more = value_in(warp, micro.c, lane, wide);
      std::memcpy(&second, &more, sizeof second);
    }
    for (int k = 0; k < vector; ++k) {
      std::byte* at = request.host[lane] + static_cast<std::size_t>(k) * sizeof(T);
      T old;
      std::memcpy(&old, at, sizeof old);
      const Slot result = vector == 1    ? micro.d
                          : results != 0 ? warp.lists[micro.list + static_cast<std::uint32_t>(k)]
                                         : no_slot;
      const T made = next(old, values[k], second);
      changed = changed || std::memcmp(&made, &old, sizeof old) != 0;
      std::memcpy(at, &made, sizeof made);
      std::uint64_t out = 0;
      std::memcpy(&out, &old, sizeof old);
      put(warp, result, lane, wide, out);
    }
  }
  // One that leaves memory as it was has only looked at it, as a lock that is taken does.
  WarpState& state = state_of(warp);
  if (changed)
    ++state.machine->progress;
  else if (request.mask != 0)
    state.poll(micro.site, request.address[std::countr_zero(request.mask)]);
}

std::uint16_t f16_sum(std::uint16_t a, std::uint16_t b) { return f16_of(float_of_f16(a) + float_of_f16(b)); }
std::uint16_t bf16_sum(std::uint16_t a, std::uint16_t b) { return bf16_of(float_of_bf16(a) + float_of_bf16(b)); }

std::uint32_t pair_of(std::uint32_t a, std::uint32_t b, std::uint16_t (*sum)(std::uint16_t, std::uint16_t)) {
  const std::uint16_t low = sum(static_cast<std::uint16_t>(a), static_cast<std::uint16_t>(b));
  const std::uint16_t high = sum(static_cast<std::uint16_t>(a >> 16), static_cast<std::uint16_t>(b >> 16));
  return low | static_cast<std::uint32_t>(high) << 16;
}

#define ATOMIC(id, operation, types, T, vector, expression)               \
  void id(Warp& warp, const Micro& micro) {                               \
    apply<T, vector>(warp, micro, [](T old, T b, T c) -> T {              \
      static_cast<void>(old), static_cast<void>(b), static_cast<void>(c); \
      return expression;                                                  \
    });                                                                   \
  }
#include "profiler/simulator/machine/atomics.def"
#undef ATOMIC

struct AtomicRow {
  std::string_view operation, types;
  int vector;
  Step step;
};
constexpr auto atomic_table = std::to_array<AtomicRow>({
#define ATOMIC(id, operation, types, T, vector, expression) {operation, types, vector, &id},
#include "profiler/simulator/machine/atomics.def"
#undef ATOMIC
});

/// Whether a word occurs in a list of words.
bool lists(std::string_view words_of, std::string_view word) {
  for (std::size_t at = words_of.find(word); at != std::string_view::npos; at = words_of.find(word, at + 1)) {
    const bool begins = at == 0 || words_of[at - 1] == ' ';
    const std::size_t end = at + word.size();
    if (begins && (end == words_of.size() || words_of[end] == ' ')) return true;
  }
  return false;
}

}  // namespace

Step find_atomic_step(std::string_view operation, std::string_view type, int vector) {
  for (const AtomicRow& row : atomic_table)
    if (row.operation == operation && row.vector == vector && lists(row.types, type)) return row.step;
  return nullptr;
}

}  // namespace tailor::simulator
