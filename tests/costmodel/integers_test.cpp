// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Instructions of integers of 32 bits: what the program's counts and a group's bound give, by hand for operations that
// machine code joins or gives to another unit, and both the same for random chains of them. Part of the suite
// `costmodel`.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <string>

#include "costmodel/count.h"
#include "costmodel/model.h"
#include "lowered.h"
#include "support/approx.h"

using namespace tailor;
using namespace tailor::costmodel;

namespace {

constexpr std::int64_t length = 4096;

/// A map of two arrays of u32, one line an operation; `result` names the last one.
ir::Group map_of(const std::string& lines, const std::string& result) {
  return group_of(
      fmt::format("graph g {{\n  %x = parameter 0 : u32[{0}]\n  %y = parameter 1 : u32[{0}]\n{1}"
                  "  output %{2}\n}}\n",
                  length, lines, result));
}

/// Lines that make %name of two names: of an operation, or of one with a number.
std::string line(std::string_view name, std::string_view op, std::string_view a, std::string_view b) {
  return fmt::format("  %{} = {} %{}, %{} : u32[{}]\n", name, op, a, b, length);
}
std::string with_number(std::string_view name, std::string_view op, std::string_view a, std::uint32_t number) {
  return fmt::format(
      "  %{0}_c = constant {4} : u32[]\n  %{0}_n = broadcast %{0}_c, axes={{}} : u32[{3}]\n"
      "  %{0} = {1} %{2}, %{0}_n : u32[{3}]\n",
      name, op, a, length, number);
}

/// The number stands in an array.
std::string from_array(std::string_view name, std::string_view op, std::string_view a, std::uint32_t number) {
  return fmt::format(
      "  %{0}_c = constant {{{4}}} : u32[1]\n  %{0}_s = reshape %{0}_c : u32[]\n"
      "  %{0}_n = broadcast %{0}_s, axes={{}} : u32[{3}]\n  %{0} = {1} %{2}, %{0}_n : u32[{3}]\n",
      name, op, a, length, number);
}

struct PerElement {
  double fma = 0, alu = 0;
  bool operator==(const PerElement&) const = default;
};

/// Of every plan of a small space; they all have the same, but for what vectors share of numbers made of indices: up to
/// `apart`, of which the most is given.
PerElement counted(const ir::Group& group, double apart = 0) {
  PerElement found;
  const int kernels = for_each_kernel(group, limits_of("h200"), [&](const ir::Plan& plan, const ir::Kernel& kernel) {
    const Work work = count(kernel, Mode::fast);
    constexpr double warps = static_cast<double>(length) / 32;
    const PerElement one{static_cast<double>(work.pipes.fma) / warps, static_cast<double>(work.pipes.alu) / warps};
    CAPTURE(plan.threads);
    if (found == PerElement{}) found = one;
    CHECK(one.fma == approx(found.fma));
    CHECK(std::abs(one.alu - found.alu) <= apart + 1e-9);
    found.alu = std::max(found.alu, one.alu);
  });
  CHECK(kernels > 0);
  return found;
}

PerElement bound(const ir::Group& group) {
  const GroupWork work = group_work(group);
  return {work.fma / static_cast<double>(length), work.alu / static_cast<double>(length)};
}

}  // namespace

TEST_CASE("bits that are turned round take one instruction, sums and shifts to the left are multiply-adds") {
  const auto rotated = [](std::uint32_t left, std::uint32_t right) {
    return with_number("l", "shift_left", "x", left) + with_number("r", "shift_right_logical", "x", right);
  };
  struct Row {
    const char* what;
    std::string lines;
    PerElement wanted;
  };
  for (const Row& row : {
           Row{"a rotation", rotated(13, 19) + line("z", "bit_or", "l", "r"), {0, 1}},
           Row{"by numbers that stand in arrays of one element",
               from_array("l", "shift_left", "x", 13) + from_array("r", "shift_right_logical", "x", 19) +
                   line("z", "bit_or", "l", "r"),
               {0, 1}},
           Row{"and an exclusive or behind it",
               rotated(13, 19) + line("o", "bit_or", "l", "r") + line("z", "bit_xor", "o", "y"),
               {0, 2}},
           Row{"shifts that leave bits out", rotated(13, 18) + line("z", "bit_or", "l", "r"), {1, 2}},
           Row{"the rotated number and its half are read",
               rotated(13, 19) + line("o", "bit_or", "l", "r") + line("z", "bit_and", "o", "r"),
               {1, 2}},
           Row{"a sum", line("z", "add", "x", "y"), {1, 0}},
           Row{"a sum with a number", with_number("z", "add", "x", 7), {0, 1}},
           Row{"a shift to the left", with_number("z", "shift_left", "x", 5), {1, 0}},
           Row{"a shift to the right", with_number("z", "shift_right_logical", "x", 5), {0, 1}},
       }) {
    CAPTURE(row.what);
    const ir::Group group = map_of(row.lines, "z");
    const PerElement found = counted(group);
    CHECK(found.fma == row.wanted.fma);
    CHECK(found.alu == row.wanted.alu);
  }
}

TEST_CASE("a truth value joined with a comparison is part of it, and a number made of indices is made once") {
  const auto compared = [](std::string_view name, std::string_view with) {
    return fmt::format("  %{} = compare eq %x, %{} : pred[{}]\n", name, with, length);
  };
  const auto chosen = fmt::format("  %z = select %t, %x, %y : u32[{}]\n", length);
  const std::string iota = fmt::format("  %i = iota, axes={{0}} : u32[{}]\n", length);
  const auto known = fmt::format("  %on = constant 1 : pred[]\n  %ons = broadcast %on, axes={{}} : pred[{}]\n", length);
  const auto joined = [](std::string_view op) { return fmt::format("  %t = {} %a, %b : pred[{}]\n", op, length); };
  struct Row {
    const char* what;
    std::string lines;
    double alu;
  };
  for (const Row& row : {
           Row{"one comparison", compared("t", "y") + chosen, 2},
           Row{"either of two", iota + compared("a", "y") + compared("b", "i") + joined("bit_or") + chosen, 4},
           Row{"both", iota + compared("a", "y") + compared("b", "i") + joined("bit_and") + chosen, 4},
           Row{"one where the other is not",
               iota + known + compared("a", "y") + compared("b", "i") +
                   fmt::format("  %t = select %a, %ons, %b : pred[{}]\n", length) + chosen,
               4},
           Row{"one of two others",
               compared("a", "y") +
                   fmt::format("  %b = compare gt %x, %y : pred[{0}]\n  %c = compare lt %x, %y : "
                               "pred[{0}]\n  %t = select %a, %b, %c : pred[{0}]\n",
                               length) +
                   chosen,
               5},
           Row{"the same index twice, as it is",
               fmt::format("  %i = iota, axes={{0}} : s32[{0}]\n  %xs = convert %x : s32[{0}]\n"
                           "  %ys = convert %y : s32[{0}]\n  %a = compare eq %xs, %i : pred[{0}]\n"
                           "  %b = compare gt %ys, %i : pred[{0}]\n",
                           length) +
                   joined("bit_or") + chosen,
               4},
       }) {
    CAPTURE(row.what);
    const double most = counted(map_of(row.lines, "z"), 0.5).alu;
    CHECK(most >= row.alu);
    CHECK(most <= row.alu + 0.5);
  }
}

TEST_CASE("chains of integers take in kernels what the bound of their group says") {
  std::mt19937 engine(5);
  const auto random = [&] { return static_cast<std::uint32_t>(engine()); };
  int joined = 0, divided = 0;
  for (int round = 0; round < 60; ++round) {
    std::string lines, last = "x", before = "y";
    std::uint32_t kind = 0;
    for (int k = 0; k < 8; ++k) {
      const std::string name = fmt::format("v{}", k);
      const std::uint32_t by = 1 + random() % 31;
      std::uint32_t next = random() % 5;
      while (next == 1 && kind == 1) next = random() % 5;  // LOP3 does two at once, which no bound knows of
      if (random() % 4 == 0) {                             // a division in between, by a power of two or not
        lines += with_number(name + "d", random() % 2 == 0 ? "divide" : "remainder", last,
                             random() % 2 == 0 ? 1U << (1 + random() % 20) : 3 + 2 * (random() % 1000));
        last = name + "d";
        ++divided;
      }
      switch (kind = next) {
        case 0:
          lines += line(name, "add", last, before);
          break;
        case 1:
          lines += line(name, "bit_xor", last, before);
          break;
        case 2:
          lines += with_number(name, "shift_left", last, by);
          break;
        case 3:
          lines += with_number(name, "shift_right_logical", last, by);
          break;
        default:
          lines += with_number(name + "l", "shift_left", last, by) +
                   with_number(name + "r", "shift_right_logical", last, 32 - by) +
                   line(name, "bit_or", name + "l", name + "r");
          ++joined;
      }
      before = last;
      last = name;
    }
    CAPTURE(lines);
    const ir::Group group = map_of(lines, last);
    const PerElement found = counted(group), least = bound(group);
    CHECK(found.fma == approx(least.fma));
    CHECK(found.alu == approx(least.alu));
  }
  CHECK(joined > 30);
  CHECK(divided > 30);
}
