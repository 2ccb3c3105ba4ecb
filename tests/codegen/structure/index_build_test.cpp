// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The index algebra: random expressions keep their value under every rewrite, for every assignment of their variables;
// shapes cancel as the head comment of index_build.cpp says. The oracle is a plain function that is built beside each
// expression. Inputs are seeded random trees and all shapes of small dimensions. Part of the suite `codegen lower`.
#include "codegen/structure/index_build.h"

#include <doctest/doctest.h>

#include <array>
#include <functional>
#include <random>

#include "codegen/structure/index_map.h"
#include "ir/kernel/index_columns.h"

using namespace tailor::ir;
using namespace tailor::codegen;

namespace {

/// An expression beside the plain function it stands for.
struct Twin {
  ExprId expr = 0;
  std::function<std::int64_t(std::span<const std::int64_t>)> value;
};

Twin random_twin(IndexBuilder& build, std::mt19937_64& random, int depth) {
  const auto pick = [&](std::int64_t n) { return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(n)); };
  if (depth == 0) {
    if (pick(4) == 0) {
      const std::int64_t c = pick(20);
      return {build.constant(c), [c](auto) { return c; }};
    }
    const auto v = static_cast<VarId>(pick(3));
    return {build.var(v), [v](auto values) { return values[v]; }};
  }
  Twin a = random_twin(build, random, depth - 1);
  switch (pick(6)) {
    case 0:
    case 1: {
      Twin b = random_twin(build, random, depth - 1);
      const std::int64_t k = 1 + pick(8);
      return {build.add_scaled(a.expr, b.expr, k),
              [a, b, k](auto values) { return a.value(values) + k * b.value(values); }};
    }
    case 2: {
      const std::int64_t k = 1 + pick(12);
      return {build.scale(a.expr, k), [a, k](auto values) { return a.value(values) * k; }};
    }
    case 3: {
      const std::int64_t k = 1 + pick(12);
      return {build.div(a.expr, k), [a, k](auto values) { return a.value(values) / k; }};
    }
    case 4: {
      const std::int64_t k = 1 + pick(12);
      return {build.mod(a.expr, k), [a, k](auto values) { return a.value(values) % k; }};
    }
    default: {
      Twin b = random_twin(build, random, depth - 1), c = random_twin(build, random, depth - 1);
      return {build.select(a.expr, b.expr, c.expr, a.expr),
              [a, b, c](auto values) { return a.value(values) < b.value(values) ? c.value(values) : a.value(values); }};
    }
  }
}

}  // namespace

TEST_CASE("a quotient that was made before is the same again, and another kernel's is its own") {
  IndexBuilder build;
  for (const std::int64_t step : {6, 10, 9}) {  // the same ids each time, of other expressions
    build.reset();
    const VarId v = build.add_var({"v", VarKind::loop, 1000, 1}), w = build.add_var({"w", VarKind::loop, 7, 1});
    const ExprId sum = build.add_constant(build.add_scaled(build.var(w), build.var(v), step), 5);
    const auto first = build.divide(sum, 12);
    const std::size_t made = build.pool().exprs.size();
    CHECK(build.divide(sum, 12) == first);
    CHECK(build.pool().exprs.size() == made);
    for (std::int64_t at = 0; at < 1000; at += 13) {
      const std::array<std::int64_t, 2> values{at, at % 7};
      const std::int64_t wanted = step * at + at % 7 + 5;
      CHECK(evaluate(build.pool(), first.first, values) == wanted / 12);
      CHECK(evaluate(build.pool(), first.second, values) == wanted % 12);
    }
  }
}

TEST_CASE("random index expressions keep their value and stay within their range") {
  std::mt19937_64 random(20261);
  IndexBuilder build;
  for (int round = 0; round < 4000; ++round) {
    CAPTURE(round);
    build.reset();
    const std::array<std::int64_t, 3> extents{2 + static_cast<std::int64_t>(random() % 5),
                                              1 + static_cast<std::int64_t>(random() % 4),
                                              2 + static_cast<std::int64_t>(random() % 7)};
    for (const std::int64_t extent : extents) build.add_var({"v", VarKind::loop, extent, 1});
    const Twin twin = random_twin(build, random, 4);
    const ExprId expanded = build.expand(twin.expr);
    std::array<std::int64_t, 3> v{};
    for (v[0] = 0; v[0] < extents[0]; ++v[0])
      for (v[1] = 0; v[1] < extents[1]; ++v[1])
        for (v[2] = 0; v[2] < extents[2]; ++v[2]) {
          const std::int64_t expected = twin.value(v);
          const Interval range = build.pool()[twin.expr].range;
          REQUIRE(evaluate(build.pool(), twin.expr, v) == expected);
          REQUIRE(evaluate(build.pool(), expanded, v) == expected);
          REQUIRE((range.low <= expected && expected <= range.high));
        }
  }
}

TEST_CASE("a selection folds where the ranges of its sides decide, and is asked where they only touch") {
  IndexBuilder build;
  const ExprId x = build.var(build.add_var({"x", VarKind::loop, 4, 1}));  // 0 .. 3
  const ExprId one = build.constant(10), other = build.constant(20);
  const auto selected = [&](ExprId a, ExprId b) { return build.select(a, b, one, other); };
  CHECK(selected(x, build.constant(4)) == one);
  CHECK(selected(x, build.constant(0)) == other);
  CHECK(selected(build.constant(3), x) == other);
  CHECK(selected(build.add_constant(x, 5), x) == other);
  CHECK(selected(x, build.add_constant(x, 4)) == one);
  CHECK(build.select(x, build.constant(2), one, one) == one);
  for (const ExprId limit : {build.constant(3), build.constant(1), build.add_constant(x, 3)}) {
    const ExprId asked = selected(x, limit);
    for (std::int64_t value = 0; value < 4; ++value) {
      const std::array values{value};
      CHECK(evaluate(build.pool(), asked, values) == (value < evaluate(build.pool(), limit, values) ? 10 : 20));
    }
  }
  // Equal ends: 3 is not below 3.
  const VarId y = build.add_var({"y", VarKind::loop, 2, 1});
  const ExprId touching = selected(x, build.add_constant(build.var(y), 3));
  CHECK(evaluate(build.pool(), touching, std::array<std::int64_t, 2>{3, 0}) == 20);
  CHECK(evaluate(build.pool(), touching, std::array<std::int64_t, 2>{3, 1}) == 10);
}

TEST_CASE("quotients and remainders of sums, of each other too, are those of plain numbers for all small factors") {
  IndexBuilder build;
  constexpr std::array<std::int64_t, 2> extents{3, 4};
  const auto holds = [&](ExprId expr, auto&& plain) {
    const Interval range = build.pool()[expr].range;
    std::int64_t wrong = 0;
    for (std::int64_t a = 0; a < extents[0]; ++a)
      for (std::int64_t b = 0; b < extents[1]; ++b) {
        const std::int64_t found = evaluate(build.pool(), expr, std::array{a, b});
        wrong += found == plain(a, b) && range.low <= found && found <= range.high ? 0 : 1;
      }
    return wrong == 0;
  };
  for (std::int64_t f = -2; f <= 6; ++f)
    for (std::int64_t g = 1; g <= 4; ++g)
      for (std::int64_t c = 0; c <= 3; ++c)
        for (std::int64_t d = 1; d <= 8; ++d) {
          build.reset();
          const ExprId u = build.var(build.add_var({"u", VarKind::loop, extents[0], 1}));
          const ExprId v = build.var(build.add_var({"v", VarKind::loop, extents[1], 1}));
          const std::int64_t lift = c + (f < 0 ? 2 * -f : 0);  // so that no value is negative
          const ExprId sum = build.add_constant(build.add_scaled(build.scale(u, f), v, g), lift);
          const auto plain = [&](std::int64_t a, std::int64_t b) { return f * a + g * b + lift; };
          CAPTURE(f);
          CAPTURE(g);
          CAPTURE(lift);
          CAPTURE(d);
          const ExprId quotient = build.div(sum, d), rest = build.mod(sum, d);
          REQUIRE(holds(quotient, [&](auto a, auto b) { return plain(a, b) / d; }));
          REQUIRE(holds(rest, [&](auto a, auto b) { return plain(a, b) % d; }));
          REQUIRE(holds(build.add_scaled(rest, quotient, d), plain));
          for (const std::int64_t e : {2, 3, 4, 6}) {
            CAPTURE(e);
            REQUIRE(holds(build.div(quotient, e), [&](auto a, auto b) { return plain(a, b) / d / e; }));
            REQUIRE(holds(build.mod(quotient, e), [&](auto a, auto b) { return plain(a, b) / d % e; }));
            REQUIRE(holds(build.div(rest, e), [&](auto a, auto b) { return plain(a, b) % d / e; }));
            REQUIRE(holds(build.mod(rest, e), [&](auto a, auto b) { return plain(a, b) % d % e; }));
          }
        }
}

TEST_CASE("a row's number is one expression for all elements of a vector, whatever of a place was split off before") {
  // Rows of images of so many columns and channels; vectors of 4, in blocks of so many threads. Channels that 4 divides
  // not, though a row's elements are a multiple of it.
  IndexBuilder build;
  int rows = 0;
  for (const std::int64_t channels : {5, 13, 37, 65})
    for (const std::int64_t columns : {4, 28, 56})
      for (const std::int64_t threads : {32, 64, 128, 1024}) {
        build.reset();
        const VarId block = build.add_var({"vb", VarKind::block, 977, 1});
        const VarId thread = build.add_var({"tid", VarKind::thread, threads, 1});
        const VarId element = build.add_var({"e", VarKind::loop, 4, 1});
        const ExprId vector = build.add_scaled(build.var(thread), build.var(block), threads);
        const ExprId place = build.add_scaled(build.var(element), vector, 4);
        const ExprId row = build.div(build.div(place, channels), columns);
        CAPTURE(channels);
        CAPTURE(columns);
        CAPTURE(threads);
        CHECK(row == build.div(vector, channels * columns / 4));
        CHECK_FALSE(build.pool()[row].vars.has(element));
        ++rows;
      }
  CHECK(rows == 48);
}

TEST_CASE("what was worked out under a guard holds wherever the guard does") {
  std::mt19937_64 random(20263);
  IndexBuilder build;
  int held = 0;
  for (int round = 0; round < 2000; ++round) {
    CAPTURE(round);
    build.reset();
    for (int v = 0; v < 3; ++v) build.add_var({"v", VarKind::loop, 4, 1});
    const Twin guarded = random_twin(build, random, 2);
    const Interval range = build.pool()[guarded.expr].range;
    const Interval kept{range.low + static_cast<std::int64_t>(random() % 3),
                        range.high - static_cast<std::int64_t>(random() % 3)};
    if (kept.low > kept.high || range.low < 0) continue;
    const std::int64_t factor = 1 + static_cast<std::int64_t>(random() % 4),
                       divisor = 1 + static_cast<std::int64_t>(random() % 9);
    const ExprId narrow = build.scale(build.narrow(guarded.expr, kept), factor);
    const ExprId quotient = build.expand(build.div(narrow, divisor)), rest = build.expand(build.mod(narrow, divisor));
    std::array<std::int64_t, 3> v{};
    for (v[0] = 0; v[0] < 4; ++v[0])
      for (v[1] = 0; v[1] < 4; ++v[1])
        for (v[2] = 0; v[2] < 4; ++v[2]) {
          const std::int64_t value = guarded.value(v);
          if (value < kept.low || value > kept.high) continue;
          REQUIRE(evaluate(build.pool(), quotient, v) == value * factor / divisor);
          REQUIRE(evaluate(build.pool(), rest, v) == value * factor % divisor);
          ++held;
        }
  }
  CHECK(held > 10000);
}

TEST_CASE(
    "columns of an index expression are its value in each lane, whatever was set since they were last asked for") {
  std::mt19937_64 random(20262);
  constexpr int lanes = 5;
  IndexBuilder build;
  for (int round = 0; round < 300; ++round) {
    CAPTURE(round);
    build.reset();
    for (int v = 0; v < 3; ++v) build.add_var({"v", VarKind::loop, 9, 1});
    std::vector<ExprId> asked;
    for (int i = 0; i < 4; ++i) asked.push_back(random_twin(build, random, 4).expr);
    IndexColumns columns(build.pool(), lanes);
    std::array<std::array<std::int64_t, 3>, lanes> values{};
    for (int step = 0; step < 12; ++step) {
      const auto var = static_cast<VarId>(random() % 3);
      std::array<std::int64_t, lanes> given;
      for (std::int64_t& one : given) one = static_cast<std::int64_t>(random() % 9);
      if (random() % 2 == 0) given.fill(given[0]);
      for (int lane = 0; lane < lanes; ++lane) values[lane][var] = given[lane];
      if (given == std::array{given[0], given[0], given[0], given[0], given[0]})
        columns.set(var, given[0]);
      else
        columns.set(var, given);
      const ExprId expr = asked[random() % asked.size()];
      for (int lane = 0; lane < lanes; ++lane) {
        const std::int64_t wanted = evaluate(build.pool(), expr, values[lane]);
        REQUIRE(columns.value(expr, lane) == wanted);
        if (step % 3 != 0) REQUIRE(columns.column(expr)[static_cast<std::size_t>(lane)] == wanted);
        if (const auto one = columns.one(expr)) REQUIRE(*one == wanted);
      }
    }
  }
}

TEST_CASE("linearising a delinearised index gives it back, for every shape of up to four small dimensions") {
  IndexBuilder build;
  for (std::int64_t a = 1; a <= 4; ++a)
    for (std::int64_t b = 1; b <= 4; ++b)
      for (std::int64_t c = 1; c <= 4; ++c)
        for (std::int64_t d = 1; d <= 3; ++d) {
          build.reset();
          const std::int64_t count = a * b * c * d;
          const ExprId linear = build.var(build.add_var({"i", VarKind::loop, count, 1}));
          const Shape shape = make_shape(DType::f32, {a, b, c, d});
          const Coordinates coordinates = delinearize(build, shape, linear);
          CHECK(linear_index(build, shape, coordinates) == linear);
          CHECK(memory_index(build, shape, coordinates) == linear);
        }
}

TEST_CASE("what is repeated is read at one remainder of where it goes, whatever blocks and lanes count that by") {
  // A bias of a windows' scores, b x c x d, repeated over what is in front: its place is i % (b c d).
  IndexBuilder build;
  int judged = 0;
  for (const std::int64_t tile : {6, 8, 32, 100})
    for (std::int64_t b = 1; b <= 4; ++b)
      for (std::int64_t c = 2; c <= 7; ++c)
        for (std::int64_t d = 2; d <= 7; ++d) {
          build.reset();
          const std::int64_t whole = b * c * d, blocks = (5 * whole + tile - 1) / tile;
          const ExprId block = build.var(build.add_var({"vb", VarKind::block, blocks, 1}));
          const ExprId lane = build.var(build.add_var({"tid", VarKind::thread, tile, 1}));
          const ExprId place = build.add_scaled(lane, block, tile);
          const Coordinates front = delinearize(build, make_shape(DType::f32, {5 + tile, b, c, d}), place);
          Coordinates own;
          for (int i = 1; i < 4; ++i) own[own.rank++] = front[i];
          CHECK(linear_index(build, make_shape(DType::f32, {b, c, d}), own) == build.mod(place, whole));
          ++judged;
        }
  CHECK(judged == 576);
}

TEST_CASE("an index through a reshape to another rank and back leaves no division") {
  IndexBuilder build;
  const ExprId row = build.var(build.add_var({"row", VarKind::loop, 4096, 1}));
  const ExprId lane = build.var(build.add_var({"lane", VarKind::thread, 192, 1}));
  const ExprId e = build.var(build.add_var({"e", VarKind::loop, 4, 1}));
  const ExprId column = build.add(build.scale(lane, 4), e);
  const ExprId linear = build.add_scaled(column, row, 768);
  const Coordinates coordinates = delinearize(build, make_shape(DType::f32, {32, 128, 12, 64}), linear);
  CHECK(linear_index(build, make_shape(DType::f32, {32, 128, 12, 64}), coordinates) == linear);
  CHECK(delinearize(build, make_shape(DType::f32, {4096, 768}), linear)[0] == row);
  CHECK(delinearize(build, make_shape(DType::f32, {4096, 768}), linear)[1] == column);
}

TEST_CASE("a narrowed index keeps its range in a sum, whatever range the whole had before") {
  IndexBuilder build;
  const ExprId i = build.var(build.add_var({"i", VarKind::thread, 9, 1}));
  const ExprId row = build.var(build.add_var({"r", VarKind::thread, 2, 1}));
  const ExprId back = build.add_constant(build.scale(i, -1), 7);  // -1 .. 7
  for (const ExprId place : {back, build.assume(back, {0, 7})}) {
    const ExprId sum = build.add(build.scale(row, 8), build.narrow(place, {0, 7}));
    CHECK(build.pool()[sum].range.low == 0);
    CHECK(build.pool()[sum].range.high == 15);
    CHECK(build.pool()[build.div(sum, 4)].range.high == 3);
  }
}

TEST_CASE("a narrowed index divides as its guard allows and expands to the same address") {
  IndexBuilder build;
  const VarId t = build.add_var({"t", VarKind::loop, 2, 1});
  const VarId lane = build.add_var({"lane", VarKind::thread, 128, 1});
  const ExprId j = build.add_scaled(build.var(lane), build.var(t), 128);  // 0 .. 255, guarded below 192
  const ExprId column = build.scale(build.narrow(j, {0, 191}), 4);
  CHECK(is_constant(build.pool(), build.div(column, 768)));
  CHECK(build.mod(column, 768) == column);
  CHECK(build.expand(column) == build.scale(j, 4));
  CHECK(build.is_multiple(build.expand(column), 4));
}
