// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The index algebra: random expressions keep their value under every rewrite, for every assignment of their variables;
// shapes cancel as the head comment of index_build.cpp says. The oracle is a plain function that is built beside each
// expression. Inputs are seeded random trees and all shapes of small dimensions. Part of the suite `codegen lower`.
#include "codegen/lower/index_build.h"

#include <doctest/doctest.h>

#include <array>
#include <functional>
#include <random>

#include "codegen/lower/index_map.h"
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
      Twin b = random_twin(build, random, depth - 1);
      return {build.select(a.expr, b.expr, b.expr, a.expr),
              [a, b](auto values) { return a.value(values) < b.value(values) ? b.value(values) : a.value(values); }};
    }
  }
}

}  // namespace

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
      for (int lane = 0; lane < lanes; ++lane)
        REQUIRE(columns.value(expr, lane) == evaluate(build.pool(), expr, values[lane]));
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
