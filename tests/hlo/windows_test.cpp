// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Windows that the import takes apart: long ones, those with a region of their own, those over several arrays and over
// operands that are spread apart. The oracle are loops over what HLO says a window is. Numbers are whole and wrap, so
// that every order of additions gives the same bits; one of the regions does not commute. Part of the suite `hlo`.
#include <doctest/doctest.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <numeric>
#include <random>

#include "hlo/import.h"
#include "hlo/normalise.h"
#include "ir/graph/attribute_text.h"
#include "ir/graph/window_strips.h"
#include "reference/evaluate.h"
#include "reference/evaluate_moves.h"
#include "support/ledger.h"

using namespace tailor;
using namespace tailor::ir;
using namespace tailor::reference;

namespace {

using Elements = std::vector<std::int32_t>;  ///< one for each array

/// What windows do: over one array, or two.
struct FoldCase {
  std::string_view region;  ///< HLO of the computation r
  Elements start;           ///< changes nothing
  std::function<Elements(const Elements&, const Elements&)> of;
  bool is_associative = true;
};

std::int32_t wrapped(std::int64_t value) { return static_cast<std::int32_t>(static_cast<std::uint64_t>(value)); }
std::int32_t times(std::int32_t a, std::int32_t b) { return wrapped(std::int64_t{a} * b); }
std::int32_t plus(std::int32_t a, std::int32_t b) { return wrapped(std::int64_t{a} + b); }

const std::vector<FoldCase>& fold_cases() {
  static const std::vector<FoldCase> all = {
      {"r { p = s32[] parameter(0) q = s32[] parameter(1) ROOT s = s32[] add(p, q) }",
       {0},
       [](const Elements& a, const Elements& b) { return Elements{plus(a[0], b[0])}; }},
      {"r { p = s32[] parameter(0) q = s32[] parameter(1) ROOT s = s32[] maximum(p, q) }",
       {std::numeric_limits<std::int32_t>::min()},
       [](const Elements& a, const Elements& b) { return Elements{std::max(a[0], b[0])}; }},
      // Of two linear functions a x + b the one, then the other: does not commute.
      {"r { p = s32[] parameter(0) q = s32[] parameter(1) s = s32[] parameter(2) t = s32[] parameter(3) "
       "u = s32[] multiply(p, s) v = s32[] multiply(q, s) w = s32[] add(v, t) ROOT z = (s32[], s32[]) tuple(u, w) }",
       {1, 0},
       [](const Elements& a, const Elements& b) {
         return Elements{times(a[0], b[0]), plus(times(a[1], b[0]), b[1])};
       }},
      // The greatest of the second, and the first of where it stands.
      {"r { p = s32[] parameter(0) q = s32[] parameter(1) s = s32[] parameter(2) t = s32[] parameter(3) "
       "c = pred[] compare(t, q), direction=GT u = s32[] select(c, s, p) v = s32[] select(c, t, q) "
       "ROOT z = (s32[], s32[]) tuple(u, v) }",
       {-1, std::numeric_limits<std::int32_t>::min()},
       [](const Elements& a, const Elements& b) { return b[1] > a[1] ? b : a; }},
      // A sum of squares with a constant in it, which only the text's own order gives.
      {"r { p = s32[] parameter(0) q = s32[] parameter(1) u = s32[] multiply(q, q) k = s32[] constant(3) "
       "v = s32[] multiply(u, k) ROOT s = s32[] add(p, v) }",
       {0},
       [](const Elements& a, const Elements& b) { return Elements{plus(a[0], times(times(b[0], b[0]), 3))}; },
       false},
  };
  return all;
}

struct WindowCase {
  const FoldCase* fold = nullptr;
  Dims dims, made;
  IndexedVector<WindowDim> windows;

  std::string window() const {
    std::string size, stride, pad, lhs, rhs;
    for (int i = 0; i < dims.size(); ++i) {
      const char* x = i > 0 ? "x" : "";
      const WindowDim& one = windows[i];
      size += fmt::format("{}{}", x, one.size);
      stride += fmt::format("{}{}", x, one.stride);
      pad += fmt::format("{}{}_{}", x, one.pad_low, one.pad_high);
      lhs += fmt::format("{}{}", x, one.base_dilation);
      rhs += fmt::format("{}{}", x, one.window_dilation);
    }
    return fmt::format("window={{size={} stride={} pad={} lhs_dilate={} rhs_dilate={}}}", size, stride, pad, lhs, rhs);
  }
  std::string text() const {
    const std::string in = fmt::format("s32[{}]", fmt::join(dims, ",")),
                      out = fmt::format("s32[{}]", fmt::join(made, ","));
    std::string lines, names, starts, results;
    for (std::size_t k = 0; k < fold->start.size(); ++k) {
      lines += fmt::format("  x{0} = {1} parameter({0})\n  i{0} = s32[] constant({2})\n", k, in, fold->start[k]);
      names += fmt::format("x{}, ", k);
      starts += fmt::format("{}i{}", k > 0 ? ", " : "", k);
      results += fmt::format("{}{}", k > 0 ? ", " : "", out);
    }
    if (fold->start.size() > 1) results = "(" + results + ")";
    return fmt::format("HloModule m\n\n{}\n\nENTRY e {{\n{}  ROOT y = {} reduce-window({}{}), {}, to_apply=r\n}}\n",
                       fold->region, lines, results, names, starts, window());
  }
};

/// What stands at `place` of a window that begins at `at`: nothing in the padding and between elements.
std::optional<std::int64_t> element_at(const WindowCase& one, const Dims& at, const Dims& tap) {
  std::int64_t element = 0;
  for (int i = 0; i < at.size(); ++i) {
    const WindowDim& w = one.windows[i];
    const std::int64_t place = at[i] * w.stride + tap[i] * w.window_dilation - w.pad_low;
    if (place < 0 || place % w.base_dilation != 0 || place / w.base_dilation >= one.dims[i]) return std::nullopt;
    element = element * one.dims[i] + place / w.base_dilation;
  }
  return element;
}

std::vector<Elements> by_loops(const WindowCase& one, const std::vector<Elements>& arrays) {
  std::vector<Elements> made(arrays.size());
  Dims at = zero_index(one.made.size()), sizes;
  for (const WindowDim& window : one.windows) sizes.push_back(window.size);
  do {
    Elements sum = one.fold->start;
    Dims tap = zero_index(at.size());
    do {
      if (const auto element = element_at(one, at, tap)) {
        Elements next;
        for (const Elements& array : arrays) next.push_back(array[static_cast<std::size_t>(*element)]);
        sum = one.fold->of(sum, next);
      }
    } while (next_index(tap, sizes));
    for (std::size_t k = 0; k < sum.size(); ++k) made[k].push_back(sum[k]);
  } while (next_index(at, one.made));
  return made;
}

/// Whether every node has loops of at most 64 elements, is a scan or no window; reductions are rows.
bool is_taken_apart(const Graph& graph) {
  return std::all_of(graph.nodes.begin(), graph.nodes.end(), [](const Node& node) {
    return node.op != Op::reduce_window ||
           (node.bodies.empty() && (scan_of(node) || window_elements(hlo_text(node), node.shape.rank()) <= 64));
  });
}

void check_windows(const WindowCase& one, std::mt19937_64& random) {
  const std::string text = one.text();
  CAPTURE(text);
  const hlo::Imported imported = hlo::import_hlo(text, "test.hlo");
  verify(imported.graph);
  CHECK(nodes_by_ledger(imported) == hlo::nodes_in_all(imported.graph));
  CHECK(is_taken_apart(imported.graph));
  std::vector<Elements> arrays(one.fold->start.size());
  std::vector<Tensor> inputs;
  for (Elements& array : arrays) {
    inputs.push_back(zeros(make_shape(DType::s32, one.dims)));
    for (std::int64_t i = 0; i < elements(inputs.back().shape); ++i) {
      array.push_back(static_cast<std::int32_t>(random() % 13) - 6);
      store(inputs.back(), i, array.back());
    }
  }
  const std::vector<Tensor> found = evaluate(imported.graph, inputs);
  const std::vector<Elements> wanted = by_loops(one, arrays);
  REQUIRE(found.size() == wanted.size());
  for (std::size_t k = 0; k < found.size(); ++k) {
    REQUIRE(elements(found[k].shape) == std::ssize(wanted[k]));
    std::int64_t wrong = 0;
    for (std::int64_t i = 0; i < std::ssize(wanted[k]); ++i)
      wrong += as_double(found[k], i) == static_cast<double>(wanted[k][static_cast<std::size_t>(i)]) ? 0 : 1;
    CHECK(wrong == 0);
  }
}

/// Windows per dimension, or 0.
std::int64_t windows_along(const WindowDim& one, std::int64_t length) {
  const std::int64_t room = (length - 1) * one.base_dilation + 1 + one.pad_low + one.pad_high;
  const std::int64_t reach = (one.size - 1) * one.window_dilation + 1;
  return room < reach ? 0 : (room - reach) / one.stride + 1;
}

/// One long dimension among short ones.
WindowCase drawn_window(std::mt19937_64& random, const FoldCase& fold) {
  const auto below = [&](std::int64_t most) { return static_cast<std::int64_t>(random() % most); };
  for (;;) {
    WindowCase one{&fold, {}, {}, {}};
    const int rank = 1 + static_cast<int>(below(3)), along = static_cast<int>(below(rank));
    for (int i = 0; i < rank; ++i) {
      WindowDim w;
      const std::int64_t length = i == along ? 1 + below(150) : 1 + below(6);
      w.size = i == along ? 1 + below(fold.is_associative ? 150 : 16) : 1 + below(4);
      w.stride = below(3) == 0 ? 1 + below(i == along ? 160 : 4) : 1;
      w.pad_low = below(3) == 0 ? below(w.size) : -below(2);
      w.pad_high = below(3) == 0 ? below(w.size) : 0;
      w.base_dilation = below(4) == 0 ? 1 + below(3) : 1;
      w.window_dilation = below(4) == 0 ? 1 + below(3) : 1;
      if (below(5) == 0 && w.size > 1 && fold.is_associative)
        w = {length, 1, below(2) == 0 ? length - 1 : 0, 0, 1, 1, false}, w.pad_high = length - 1 - w.pad_low;
      one.dims.push_back(length);
      one.windows.push_back(w);
      one.made.push_back(windows_along(w, length));
    }
    std::int64_t taps = 1;
    for (const WindowDim& w : one.windows) taps *= w.size;
    const auto product = [](const Dims& dims) {
      return std::accumulate(dims.begin(), dims.end(), std::int64_t{1}, std::multiplies<>());
    };
    if (!fold.is_associative && taps > 64) continue;
    if (product(one.made) > 0 && product(one.made) < 700) return one;
  }
}

}  // namespace

TEST_CASE("windows of any length, stride, padding and region are what their elements come to") {
  std::mt19937_64 random(29);
  for (int round = 0; round < 300; ++round) {
    CAPTURE(round);
    const FoldCase& fold = fold_cases()[static_cast<std::size_t>(round) % fold_cases().size()];
    check_windows(drawn_window(random, fold), random);
  }
}

TEST_CASE("every length of a window up to 140, side by side and one behind the other") {
  std::mt19937_64 random(31);
  for (std::int64_t size = 1; size <= 140; ++size)
    for (const std::int64_t stride : {std::int64_t{1}, size + size % 3}) {
      const FoldCase& fold = fold_cases()[static_cast<std::size_t>(size % 4)];
      WindowCase one{&fold, {2 * size + 3}, {}, {}};
      one.windows.push_back({size, stride, 0, 0, 1, 1, false});
      one.made.push_back(windows_along(one.windows[0], one.dims[0]));
      check_windows(one, random);
    }
}

TEST_CASE("windows of two long dimensions are one and then the other; few elements stay one window") {
  std::mt19937_64 random(37);
  const auto windows_in = [&](const FoldCase& fold, const Dims& dims, const std::vector<std::int64_t>& sizes) {
    WindowCase one{&fold, dims, {}, {}};
    for (int i = 0; i < dims.size(); ++i) {
      one.windows.push_back({sizes[static_cast<std::size_t>(i)], 1, 0, 0, 1, 1, false});
      one.made.push_back(windows_along(one.windows[i], dims[i]));
    }
    check_windows(one, random);
    const Graph graph = hlo::import_hlo(one.text(), "test.hlo").graph;
    return std::count_if(graph.nodes.begin(), graph.nodes.end(),
                         [](const Node& node) { return node.op == Op::reduce_window; });
  };
  const FoldCase& sum = fold_cases()[0];
  CHECK(windows_in(sum, {20, 21}, {8, 8}) == 1);
  CHECK(windows_in(sum, {20, 21}, {9, 9}) == 2);
  CHECK(windows_in(sum, {20, 21}, {13, 13}) == 2);
  CHECK(windows_in(sum, {9, 10, 11}, {3, 5, 7}) == 2);
  CHECK(windows_in(sum, {300}, {129}) == 2);              // 16 * 8 + 1
  CHECK(windows_in(sum, {20, 300}, {1, 300}) == 0);       // a row
  CHECK(windows_in(sum, {3, 14, 15}, {1, 14, 15}) == 0);  // two dimensions that are reduced at once
  CHECK(windows_in(fold_cases()[2], {20, 21}, {3, 3}) == 0);
}

TEST_CASE("a window is left where its padding is most of it, and where its region is no arithmetic of numbers") {
  const auto stays = [](std::string_view region, std::string_view shape, std::string_view window,
                        std::string_view made) {
    const Graph graph =
        hlo::import_hlo(fmt::format("HloModule m\n\n{}\n\nENTRY e {{\n  x = {} parameter(0)\n  i = f32[] constant(0)\n"
                                    "  ROOT y = {} reduce-window(x, i), window={{{}}}, to_apply=r\n}}\n",
                                    region, shape, made, window),
                        "test.hlo")
            .graph;
    return graph.nodes.back().op == Op::reduce_window && graph.nodes.size() == 3;
  };
  constexpr std::string_view add = "r { p = f32[] parameter(0) q = f32[] parameter(1) ROOT s = f32[] add(p, q) }";
  constexpr std::string_view rows =
      "r { p = f32[] parameter(0) q = f32[] parameter(1) b = f32[2] broadcast(q), dimensions={} c = f32[1] slice(b), "
      "slice={[1:2]} d = f32[] reshape(c) ROOT s = f32[] add(p, d) }";
  constexpr std::string_view clipped =
      "r { p = f32[] parameter(0) q = f32[] parameter(1) s = f32[] add(p, q) t = f32[] constant(9) ROOT u = f32[] "
      "minimum(s, t) }";
  CHECK(stays(clipped, "f32[800]", "size=100", "f32[701]"));  // no bound holds for every order of its sums
  CHECK_FALSE(stays(clipped, "f32[800]", "size=60", "f32[741]"));
  CHECK(stays(add, "f32[8]", "size=100000000 pad=99999999_0", "f32[8]"));
  CHECK_FALSE(stays(add, "f32[800]", "size=100 pad=99_0", "f32[800]"));
  CHECK(stays(rows, "f32[8]", "size=3", "f32[6]"));
  CHECK(stays(add, "f32[0]", "size=100 pad=100_0", "f32[1]"));
}
