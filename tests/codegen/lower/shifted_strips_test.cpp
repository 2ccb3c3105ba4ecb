// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Loops in strips of what a model writes as sums of shifted arrays: slices, pads and rolls along each dimension, places
// side by side and far apart, results that fill the last strip and that do not, several types and layouts. Plans of
// each are interpreted, compared and counted as every_plan.h says; what neighbours share is held against places that
// are counted one by one. Part of the suite `codegen lower`.
#include <doctest/doctest.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "codegen/lower/lower.h"
#include "codegen/structure/shared_reads.h"
#include "explore/every_plan.h"

#include "support/group_family.h"
#include "support/thorough.h"

using namespace tailor;

namespace {

enum class Written { slices, padded, rolled };

/// A weighted sum of one array at several places of a dimension.
struct Stencil {
  Written written = Written::slices;
  std::vector<std::int64_t> offsets = {0, 1, 2};
  std::vector<std::int64_t> dims = {16, 20};  ///< of the results
  int along = 0;
  std::string_view type = "f32", layout = {};
};

std::string shape_of(const Stencil& stencil, const std::vector<std::int64_t>& dims) {
  return fmt::format("{}[{}]{}", stencil.type, fmt::join(dims, ","), stencil.layout);
}

/// `slice` of places low .. high of the dimension.
std::string slice_of(const Stencil& stencil, std::string_view name, std::string_view from, std::int64_t low,
                     std::int64_t high) {
  std::vector<std::int64_t> dims = stencil.dims;
  dims[static_cast<std::size_t>(stencil.along)] = high - low;
  std::vector<std::string> ranges;
  for (std::size_t d = 0; d < dims.size(); ++d)
    ranges.push_back(std::ssize(ranges) == stencil.along ? fmt::format("{}:{}:1", low, high)
                                                         : fmt::format("0:{}:1", dims[d]));
  return fmt::format("  %{} = slice %{}, ranges={{{}}} : {}\n", name, from, fmt::join(ranges, ", "),
                     shape_of(stencil, dims));
}

/// The array at one of the places, as %t<number>.
std::string tap_of(const Stencil& stencil, int number, std::string_view source) {
  const std::int64_t offset = stencil.offsets[static_cast<std::size_t>(number)];
  const std::int64_t all = stencil.dims[static_cast<std::size_t>(stencil.along)];
  const std::string name = fmt::format("t{}", number);
  if (stencil.written != Written::rolled) return slice_of(stencil, name, source, offset, offset + all);
  if (offset == 0) return fmt::format("  %{} = copy %{} : {}\n", name, source, shape_of(stencil, stencil.dims));
  return slice_of(stencil, name + "a", source, offset, all) + slice_of(stencil, name + "b", source, 0, offset) +
         fmt::format("  %{0} = concatenate %{0}a, %{0}b, axes={{{1}}} : {2}\n", name, stencil.along,
                     shape_of(stencil, stencil.dims));
}

std::string text_of_stencil(const Stencil& stencil) {
  const std::int64_t reach = stencil.offsets.back();
  const std::string result = shape_of(stencil, stencil.dims);
  std::vector<std::int64_t> wide = stencil.dims;
  wide[static_cast<std::size_t>(stencil.along)] += reach;
  const int last = static_cast<int>(stencil.dims.size()) - 1;
  std::string text = "graph stencil {\n";
  text +=
      fmt::format("  %x = parameter 0 : {}\n", stencil.written == Written::slices ? shape_of(stencil, wide) : result);
  text += fmt::format("  %w = parameter 1 : {}[{}]\n", stencil.type, stencil.dims.back());
  text += fmt::format("  %wb = broadcast %w, axes={{{}}} : {}\n", last, result);
  if (stencil.written == Written::padded) {
    text += fmt::format("  %zero = constant 0 : {}[]\n", stencil.type);
    std::vector<std::string> ranges(stencil.dims.size(), "0:0:0");
    ranges[static_cast<std::size_t>(stencil.along)] = fmt::format("{}:0:0", reach);
    text += fmt::format("  %p = pad %x, %zero, ranges={{{}}} : {}\n", fmt::join(ranges, ", "), shape_of(stencil, wide));
  }
  for (int k = 0; k < static_cast<int>(stencil.offsets.size()); ++k) {
    text += tap_of(stencil, k, stencil.written == Written::padded ? "p" : "x");
    text += fmt::format("  %m{0} = {1} %t{0}, %wb : {2}\n", k, k % 2 == 0 ? "multiply" : "subtract", result);
    text += k == 0 ? fmt::format("  %s0 = negate %m0 : {}\n", result)
                   : fmt::format("  %s{0} = add %s{1}, %m{0} : {2}\n", k, k - 1, result);
  }
  return text + fmt::format("  output %s{}\n}}", stencil.offsets.size() - 1);
}

ir::Group group_of(const Stencil& stencil) { return ir::make_group({"stencil", text_of_stencil(stencil)}, 1, 1); }

/// Programs of all its strips.
int check_strips(const Stencil& stencil) {
  const std::string text = text_of_stencil(stencil);
  CAPTURE(text);
  const ir::Group group = group_of(stencil);
  const auto ready = codegen::prepare(group);
  REQUIRE(std::holds_alternative<codegen::Prepared>(ready));
  int programs = 0;
  for (const explore::Loop loop :
       {explore::Loop::strips_2, explore::Loop::strips_3, explore::Loop::strips_4, explore::Loop::strips_8})
    if (explore::strips_in(loop, std::get<codegen::Prepared>(ready)) != nullptr)
      programs += explore::check_every_plan(group, {testing::effort(4, 1)}, false, loop).programs;
  return programs;
}

/// Different places that so many results read along the dimension, far from the edges.
std::int64_t places_read(const Stencil& stencil, int rows) {
  std::set<std::int64_t> places;
  for (int row = 0; row < rows; ++row)
    for (const std::int64_t offset : stencil.offsets) places.insert(row + offset);
  return std::ssize(places);
}

}  // namespace

TEST_CASE("every strip of sums of shifted arrays computes what the evaluator computes and is counted as executed") {
  int programs = 0;
  for (const Written written : {Written::slices, Written::padded, Written::rolled})
    for (const std::vector<std::int64_t>& offsets : {std::vector<std::int64_t>{0, 1}, {0, 1, 2, 3}, {0, 2}, {1, 4, 5}})
      for (const std::int64_t all : {16, 18, 15, 3})
        if (written != Written::rolled || offsets.back() < all) programs += check_strips({written, offsets, {all, 20}});
  CHECK(programs > 200);
}

TEST_CASE("strips of sums along each dimension, of every width and layout") {
  int programs = 0;
  for (const std::string_view type : {"f32", "bf16", "f16", "s32", "u8", "f64"})
    for (const Written written : {Written::slices, Written::padded}) {
      Stencil stencil{written, {0, 1, 3}, {2, 8, 24}, 1};
      stencil.type = type;
      programs += check_strips(stencil);
    }
  CHECK(programs > 60);
  Stencil turned{Written::padded, {0, 1, 2}, {24, 16}, 1};
  turned.layout = "{0,1}";  // rows lie side by side: strips go along the second dimension
  CHECK(check_strips(turned) > 0);
}

TEST_CASE("what neighbours share is what their places have in common") {
  for (const std::vector<std::int64_t>& offsets : {std::vector<std::int64_t>{0, 1}, {0, 1, 2, 3}, {0, 2}, {0, 4, 8}})
    for (const int rows : {2, 4, 8}) {
      const Stencil stencil{Written::slices, offsets, {32, 24}};
      const ir::Group group = group_of(stencil);
      const auto shared = codegen::shared_reads(group.graph, group.graph.outputs, 0, rows);
      REQUIRE(shared.has_value());
      constexpr std::int64_t bytes = 4;
      const std::int64_t taps = std::ssize(offsets);
      CHECK(shared->apart == rows * (taps + 1) * bytes);
      CHECK(shared->together == (places_read(stencil, rows) + 1) * bytes);
      CHECK(shared->overlaps == (places_read(stencil, rows) < rows * taps));
      // Along the other dimension nothing is shared but by nothing: each result reads places of its own.
      const auto across = codegen::shared_reads(group.graph, group.graph.outputs, 1, rows);
      REQUIRE(across.has_value());
      CHECK(across->together == across->apart);
      CHECK_FALSE(across->overlaps);
    }
}

TEST_CASE("strips go along the dimension in which neighbours share, and there are none where they share nothing") {
  const auto dims_of_strips = [](const Stencil& stencil) {
    const ir::Group group = group_of(stencil);
    const auto ready = codegen::prepare(group);
    std::set<int> dims;
    for (const auto& strips : std::get<codegen::Prepared>(ready).in_strips) dims.insert(strips->strip.dim);
    return dims;
  };
  CHECK(dims_of_strips({Written::slices, {0, 1}, {16, 8, 24}, 0}) == std::set<int>{0});
  CHECK(dims_of_strips({Written::slices, {0, 1}, {16, 8, 24}, 1}) == std::set<int>{1});
  // All places of a dimension are places of each result: what is written out of a sum over the channels.
  const ir::Group channels = ir::make_group({"channels", R"(graph channels {
  %x = parameter 0 : f32[4,3,32]
  %r = slice %x, ranges={0:4:1, 0:1:1, 0:32:1} : f32[4,1,32]
  %g = slice %x, ranges={0:4:1, 2:3:1, 0:32:1} : f32[4,1,32]
  %s = add %r, %g : f32[4,1,32]
  %f = reshape %s : f32[4,32]
  %a = broadcast %f, axes={0,2} : f32[4,3,32]
  %y = subtract %x, %a : f32[4,3,32]
  output %y
})"},
                                            1, 1);
  const auto ready = codegen::prepare(channels);
  const auto& in_strips = std::get<codegen::Prepared>(ready).in_strips;
  REQUIRE(in_strips.size() == 1);
  CHECK(in_strips[0]->strip.rows == 3);
  CHECK(in_strips[0]->strip.dim == 1);
  CHECK(explore::check_every_plan(channels, {testing::effort(2, 1)}, false, explore::Loop::strips_3).programs > 0);
  // Threads lie along what is contiguous, and one array at one place is no stencil, whatever is broadcast beside it.
  CHECK(dims_of_strips({Written::slices, {0, 1}, {16, 8, 24}, 2}).empty());
  CHECK(dims_of_strips({Written::slices, {3}, {16, 8, 24}, 1}).empty());
  CHECK(dims_of_strips({Written::slices, {0, 64}, {128, 24}, 0}).empty());
}
