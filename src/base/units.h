// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Physical quantities that cannot be mixed up. In: doubles. Out: values that carry their dimension in their type, so
// that seconds do not add to bytes. Used by models, records and reports. Only the laws that the models need exist.
// Counts that index memory stay std::int64_t.
#pragma once

#include <compare>

namespace tailor {

template <class Dimension>
struct Quantity {
  double value = 0;

  constexpr auto operator<=>(const Quantity&) const = default;
  constexpr Quantity& operator+=(Quantity other) { return value += other.value, *this; }
  friend constexpr Quantity operator+(Quantity a, Quantity b) { return {a.value + b.value}; }
  friend constexpr Quantity operator-(Quantity a, Quantity b) { return {a.value - b.value}; }
  friend constexpr Quantity operator*(Quantity a, double scale) { return {a.value * scale}; }
  friend constexpr Quantity operator*(double scale, Quantity a) { return {a.value * scale}; }
  friend constexpr Quantity operator/(Quantity a, double scale) { return {a.value / scale}; }
  friend constexpr double operator/(Quantity a, Quantity b) { return a.value / b.value; }
};

using Seconds = Quantity<struct SecondsDimension>;
using Bytes = Quantity<struct BytesDimension>;
using Cycles = Quantity<struct CyclesDimension>;
using Hertz = Quantity<struct HertzDimension>;
using BytesPerSecond = Quantity<struct BytesPerSecondDimension>;

constexpr Seconds operator/(Bytes bytes, BytesPerSecond rate) { return {bytes.value / rate.value}; }
constexpr Seconds operator/(Cycles cycles, Hertz clock) { return {cycles.value / clock.value}; }
constexpr Bytes operator*(BytesPerSecond rate, Seconds time) { return {rate.value * time.value}; }
constexpr Cycles operator*(Hertz clock, Seconds time) { return {clock.value * time.value}; }

}  // namespace tailor
