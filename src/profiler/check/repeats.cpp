// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Places in an array that repeats. In: a shape, which dimension repeats, and a place in memory. Out: the place among
// what is kept, or the bytes from there. Called by make_reference.cpp, simulate.cpp and check.cpp. Everything is in the
// order of memory, so that a layout changes strides alone.
#include "profiler/check/repeats.h"

#include <cassert>
#include <cstring>

#include "codegen/lower/shrink.h"
#include "ir/graph/number.h"

namespace tailor::profiler {

ir::Graph kept_graph(const Repeats& repeats) {
  return codegen::shrunk(repeats.parts.graph, repeats.parts.extent, repeats.kept).graph;
}

std::int64_t steps_to_keep(std::int64_t steps, std::int64_t wanted) {
  constexpr std::int64_t fewest = 3;
  return std::min(std::max(wanted, fewest) | 1, steps);
}

RepeatedPlaces repeated_places(const ir::Shape& whole, int dim, std::int64_t steps, std::int64_t kept) {
  RepeatedPlaces places;
  places.elements = elements(whole);
  if (dim < 0 || kept == steps) {
    places.extent = places.kept = std::max<std::int64_t>(places.elements, 1);
    return places;
  }
  places.inner = ir::strides(whole)[dim];
  places.extent = whole.dims[dim];
  places.kept = places.extent / steps * kept;
  return places;
}

void copy_repeated(const RepeatedPlaces& places, std::span<const std::byte> kept, std::int64_t width,
                   std::int64_t first, std::span<std::byte> to) {
  assert(first % width == 0 && std::ssize(to) % width == 0);
  places.each_run(first / width, std::ssize(to) / width, [&](std::int64_t at, std::int64_t from, std::int64_t run) {
    std::memcpy(to.data() + at * width, kept.data() + from * width, static_cast<std::size_t>(run * width));
  });
}

}  // namespace tailor::profiler
