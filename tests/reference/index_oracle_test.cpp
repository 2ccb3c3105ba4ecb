// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The evaluator's moves, look-ups, reductions and windows against a second way to say each: index by index as HLO
// defines them, with windows on an array in which padding and holes are written out. Dimensions differ from one
// another, permutations are no inverses of themselves, rows are longer than the blocks that the evaluator works in.
// Inputs are drawn with fixed seeds. Part of the suite `reference`.
#include <doctest/doctest.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "reference/evaluate.h"
#include "reference/memory_layout.h"

using namespace tailor;
using namespace tailor::ir;
using namespace tailor::reference;

namespace {

using Index = std::vector<std::int64_t>;

std::int64_t count_of(const Index& dims) {
  std::int64_t count = 1;
  for (const std::int64_t dim : dims) count *= dim;
  return count;
}

std::int64_t place_of(const Index& index, const Index& dims) {
  std::int64_t place = 0;
  for (std::size_t d = 0; d < dims.size(); ++d) place = place * dims[d] + index[d];
  return place;
}

template <class Visit>
void each_index(const Index& dims, Visit&& visit) {
  for (std::int64_t i = 0; i < count_of(dims); ++i) {
    Index index(dims.size());
    std::int64_t rest = i;
    for (std::size_t d = dims.size(); d-- > 0; rest /= dims[d]) index[d] = rest % dims[d];
    visit(index);
  }
}

/// An array of whole numbers by index.
struct Numbers {
  Index dims;
  std::vector<double> values;

  explicit Numbers(Index of, double value = 0)
      : dims(std::move(of)), values(static_cast<std::size_t>(count_of(dims)), value) {}
  double& operator[](const Index& index) { return values[static_cast<std::size_t>(place_of(index, dims))]; }
  double operator[](const Index& index) const { return values[static_cast<std::size_t>(place_of(index, dims))]; }
  bool operator==(const Numbers&) const = default;
};

Numbers drawn(const Index& dims, std::mt19937_64& random, std::int64_t low = -9, std::int64_t high = 9) {
  Numbers made(dims);
  for (double& value : made.values)
    value = static_cast<double>(low + static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(high - low + 1)));
  return made;
}

std::string type_of(const Index& dims) { return fmt::format("s32[{}]", fmt::join(dims, ",")); }

/// What the line, which reads %x0, %x1, ..., makes of the arrays; %z is the number 5.
Numbers evaluated(const std::string& line, const Index& result, const std::vector<Numbers>& inputs,
                  std::string_view bodies = "") {
  std::string text = fmt::format("graph g {{\n{}\n  %z = constant 5 : s32[]\n", bodies);
  std::vector<Tensor> given;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    text += fmt::format("  %x{0} = parameter {0} : {1}\n", i, type_of(inputs[i].dims));
    Dims dims;
    for (const std::int64_t dim : inputs[i].dims) dims.push_back(dim);
    given.push_back(zeros(make_shape(DType::s32, dims)));
    for (std::size_t k = 0; k < inputs[i].values.size(); ++k)
      store_integer(given.back(), static_cast<std::int64_t>(k), static_cast<std::int64_t>(inputs[i].values[k]));
  }
  text += fmt::format("  %y = {} : {}\n  output %y\n}}\n", line, type_of(result));
  const Graph graph = parse_graph(text);
  verify(graph);
  const Tensor found = evaluate(graph, given).front();
  Numbers made(result);
  for (std::size_t k = 0; k < made.values.size(); ++k)
    made.values[k] = static_cast<double>(as_integer(found, static_cast<std::int64_t>(k)));
  return made;
}

std::string list(const Index& numbers) { return fmt::format("{{{}}}", fmt::join(numbers, ",")); }

/// One dimension of a window, and an array of it with padding and holes written out. `nothing` where there is none.
struct Window {
  std::int64_t size = 1, stride = 1, low = 0, high = 0, base = 1, dilation = 1;
  bool reversed = false;

  std::int64_t padded(std::int64_t extent) const { return (extent - 1) * base + 1 + low + high; }
  std::int64_t positions(std::int64_t extent) const {
    const std::int64_t room = padded(extent) - ((size - 1) * dilation + 1);
    return room < 0 ? 0 : room / stride + 1;
  }
};

constexpr double nothing = 1e9;

Window drawn_window(std::mt19937_64& random) {
  const auto pick = [&](int low, int high) {
    return low + static_cast<std::int64_t>(random() % static_cast<unsigned>(high - low + 1));
  };
  return {pick(1, 3), pick(1, 2), pick(-1, 2), pick(-1, 3), pick(1, 2), pick(1, 2), pick(0, 1) == 1};
}

std::string words(const std::vector<Window>& windows, bool reversal) {
  const auto each = [&](auto&& of) {
    std::string out;
    for (const Window& w : windows) out += (out.empty() ? "" : "x") + of(w);
    return out;
  };
  std::string out = fmt::format("window={{size={} stride={} pad={} lhs_dilate={} rhs_dilate={}",
                                each([](const Window& w) { return std::to_string(w.size); }),
                                each([](const Window& w) { return std::to_string(w.stride); }),
                                each([](const Window& w) { return fmt::format("{}_{}", w.low, w.high); }),
                                each([](const Window& w) { return std::to_string(w.base); }),
                                each([](const Window& w) { return std::to_string(w.dilation); }));
  if (reversal) out += " rhs_reversal=" + each([](const Window& w) { return std::string(w.reversed ? "1" : "0"); });
  return out + "}";
}

/// The array with what the windows put around and between its elements; what is cut off is not there.
Numbers spread_out(const Numbers& from, const std::vector<Window>& windows) {
  Index dims;
  for (std::size_t d = 0; d < windows.size(); ++d)
    dims.push_back(std::max<std::int64_t>(windows[d].padded(from.dims[d]), 0));
  Numbers made(dims, nothing);
  each_index(from.dims, [&](const Index& index) {
    Index to(index.size());
    bool inside = true;
    for (std::size_t d = 0; d < to.size(); ++d) {
      to[d] = windows[d].low + index[d] * windows[d].base;
      inside = inside && to[d] >= 0 && to[d] < dims[d];
    }
    if (inside) made[to] = from[index];
  });
  return made;
}

}  // namespace

TEST_CASE("every transpose of an array of unequal dimensions, and every choice of dimensions to reverse") {
  std::mt19937_64 random(1);
  const Numbers x = drawn({2, 3, 4, 5}, random);
  Index axes{0, 1, 2, 3};
  do {
    CAPTURE(list(axes));
    Index result;
    for (const std::int64_t axis : axes) result.push_back(x.dims[static_cast<std::size_t>(axis)]);
    Numbers expected(result);
    each_index(x.dims, [&](const Index& from) {
      Index to;
      for (const std::int64_t axis : axes) to.push_back(from[static_cast<std::size_t>(axis)]);
      expected[to] = x[from];
    });
    CHECK(evaluated("transpose %x0, axes=" + list(axes), result, {x}) == expected);
  } while (std::next_permutation(axes.begin(), axes.end()));
  for (unsigned choice = 0; choice < 16; ++choice) {
    Index turned;
    for (std::int64_t d = 0; d < 4; ++d)
      if ((choice >> d & 1) != 0) turned.push_back(d);
    Numbers expected(x.dims);
    each_index(x.dims, [&](const Index& from) {
      Index to = from;
      for (const std::int64_t d : turned)
        to[static_cast<std::size_t>(d)] = x.dims[static_cast<std::size_t>(d)] - 1 - from[static_cast<std::size_t>(d)];
      expected[to] = x[from];
    });
    CHECK(evaluated("reverse %x0, axes=" + list(turned), x.dims, {x}) == expected);
  }
}

TEST_CASE("slices with strides, pads that grow, cut and spread, broadcasts in any order of dimensions") {
  std::mt19937_64 random(2);
  const auto pick = [&](std::int64_t low, std::int64_t high) {
    return low + static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(high - low + 1));
  };
  for (int round = 0; round < 60; ++round) {
    CAPTURE(round);
    const Numbers x = drawn({pick(1, 5), pick(1, 6), pick(1, 4)}, random);
    std::string slices, pads;
    Index cut, grown, starts, steps;
    std::vector<Window> edges;
    for (const std::int64_t dim : x.dims) {
      const std::int64_t start = pick(0, dim), limit = pick(start, dim), step = pick(1, 3);
      slices += fmt::format("{}{}:{}:{}", slices.empty() ? "" : ", ", start, limit, step);
      cut.push_back((limit - start + step - 1) / step);
      starts.push_back(start);
      steps.push_back(step);
      Window edge{1, 1, pick(-2, 2), 0, pick(1, 3), 1, false};
      edge.high = std::max(pick(-2, 2), -edge.padded(dim));
      edges.push_back(edge);
      grown.push_back(edge.padded(dim));
      pads += fmt::format("{}{}:{}:{}", pads.empty() ? "" : ", ", edge.low, edge.high, edge.base - 1);
    }
    Numbers sliced(cut);
    each_index(cut, [&](const Index& to) {
      sliced[to] = x[{starts[0] + to[0] * steps[0], starts[1] + to[1] * steps[1], starts[2] + to[2] * steps[2]}];
    });
    CHECK(evaluated(fmt::format("slice %x0, ranges={{{}}}", slices), cut, {x}) == sliced);
    Numbers padded = spread_out(x, edges);
    std::replace(padded.values.begin(), padded.values.end(), nothing, 5.0);
    CHECK(evaluated(fmt::format("pad %x0, %z, ranges={{{}}}", pads), grown, {x}) == padded);
    Index axes{0, 1, 2, 3};
    std::shuffle(axes.begin(), axes.end(), random);
    axes.pop_back();
    Index wide(4, pick(1, 3));
    for (std::size_t d = 0; d < 3; ++d) wide[static_cast<std::size_t>(axes[d])] = x.dims[d];
    Numbers spread(wide);
    each_index(wide, [&](const Index& to) {
      spread[to] = x[{to[static_cast<std::size_t>(axes[0])], to[static_cast<std::size_t>(axes[1])],
                      to[static_cast<std::size_t>(axes[2])]}];
    });
    CHECK(evaluated("broadcast %x0, axes=" + list(axes), wide, {x}) == spread);
    const std::int64_t axis = pick(0, 2);
    Numbers both = x;
    both.dims[static_cast<std::size_t>(axis)] += x.dims[static_cast<std::size_t>(axis)];
    both.values.resize(2 * x.values.size());
    each_index(x.dims, [&](const Index& from) {
      Index to = from;
      both[to] = -x[from];
      to[static_cast<std::size_t>(axis)] += x.dims[static_cast<std::size_t>(axis)];
      both[to] = x[from];
    });
    Numbers negative = x;
    for (double& value : negative.values) value = -value;
    CHECK(evaluated(fmt::format("concatenate %x1, %x0, axes={{{}}}", axis), both.dims, {x, negative}) == both);
  }
}

TEST_CASE("reductions over any dimensions of arrays whose rows are longer than a block") {
  std::mt19937_64 random(3);
  struct Kind {
    std::string_view word;
    double (*combine)(double, double);
  };
  for (const Index& dims : {Index{2, 3, 2500}, Index{2500, 3}, Index{3, 1025, 2}, Index{1024, 2}, Index{2, 1024}})
    for (unsigned choice = 1; choice < 1U << dims.size(); ++choice) {
      Index axes, kept;
      for (std::size_t d = 0; d < dims.size(); ++d)
        (choice >> d & 1) != 0 ? axes.push_back(static_cast<std::int64_t>(d)) : kept.push_back(dims[d]);
      const Numbers x = drawn(dims, random);
      CAPTURE(list(dims));
      CAPTURE(list(axes));
      for (const Kind& kind : {Kind{"add", [](double a, double b) { return a + b; }},
                               Kind{"max", [](double a, double b) { return std::max(a, b); }},
                               Kind{"min", [](double a, double b) { return std::min(a, b); }}}) {
        Numbers expected(kept, 5);
        each_index(dims, [&](const Index& from) {
          Index to;
          for (std::size_t d = 0; d < dims.size(); ++d)
            if ((choice >> d & 1) == 0) to.push_back(from[d]);
          expected[to] = kind.combine(expected[to], x[from]);
        });
        CHECK(evaluated(fmt::format("reduce {} %x0, %z, axes={}", kind.word, list(axes)), kept, {x}) == expected);
      }
    }
}

TEST_CASE("sums over windows with padding, strides and holes on either side") {
  std::mt19937_64 random(4);
  for (int round = 0; round < 80; ++round) {
    CAPTURE(round);
    const Numbers x =
        drawn({1 + static_cast<std::int64_t>(random() % 5), 2 + static_cast<std::int64_t>(random() % 4)}, random);
    const std::vector<Window> windows{drawn_window(random), drawn_window(random)};
    if (windows[0].padded(x.dims[0]) <= 0 || windows[1].padded(x.dims[1]) <= 0) continue;
    const Numbers padded = spread_out(x, windows);
    Numbers expected({windows[0].positions(x.dims[0]), windows[1].positions(x.dims[1])}, 5);
    each_index(expected.dims, [&](const Index& at) {
      each_index({windows[0].size, windows[1].size}, [&](const Index& tap) {
        const double value = padded[{at[0] * windows[0].stride + tap[0] * windows[0].dilation,
                                     at[1] * windows[1].stride + tap[1] * windows[1].dilation}];
        if (value != nothing) expected[at] += value;
      });
    });
    const std::string text = words(windows, false);
    CAPTURE(text);
    CHECK(evaluated(fmt::format("reduce_window add %x0, %z, text=\"{}\"", text), expected.dims, {x}) == expected);
  }
}

TEST_CASE("convolutions with every part of a window, groups of features and of batches, labels in two orders") {
  std::mt19937_64 random(5);
  for (int round = 0; round < 80; ++round) {
    CAPTURE(round);
    const std::int64_t groups = 1 + round % 2, batches = round % 4 == 2 ? 2 : 1;
    const std::int64_t per_group = 2, features = per_group * groups, made = 2 * groups * batches, batch = 2 * batches;
    const std::vector<Window> windows{drawn_window(random), drawn_window(random)};
    const Index image{3 + static_cast<std::int64_t>(random() % 2), 4};
    const Index positions{windows[0].positions(image[0]), windows[1].positions(image[1])};
    if (windows[0].padded(image[0]) <= 0 || windows[1].padded(image[1]) <= 0 || count_of(positions) == 0) continue;
    const Numbers x = drawn({batch, image[0], image[1], features}, random);
    const Numbers k = drawn({windows[0].size, windows[1].size, per_group, made}, random);
    Numbers expected({batch / batches, positions[0], positions[1], made});
    each_index(expected.dims, [&](const Index& to) {
      const std::int64_t group = to[3] / (made / groups), of_batch = to[3] / (made / batches);
      for (std::int64_t f = 0; f < per_group; ++f) {
        Numbers plane(image);
        each_index(image, [&](const Index& at) {
          plane[at] = x[{to[0] + of_batch * (batch / batches), at[0], at[1], group * per_group + f}];
        });
        const Numbers padded = spread_out(plane, windows);
        each_index({windows[0].size, windows[1].size}, [&](const Index& tap) {
          Index from(2), of(2);
          for (std::size_t d = 0; d < 2; ++d) {
            from[d] = to[d + 1] * windows[d].stride + tap[d] * windows[d].dilation;
            of[d] = windows[d].reversed ? windows[d].size - 1 - tap[d] : tap[d];
          }
          if (padded[from] != nothing) expected[to] += padded[from] * k[{of[0], of[1], f, to[3]}];
        });
      }
    });
    const std::string text = fmt::format("{}, dim_labels=b01f_01io->b01f, feature_group_count={}, batch_group_count={}",
                                         words(windows, true), groups, batches);
    CAPTURE(text);
    CHECK(evaluated(fmt::format("convolution %x0, %x1, text=\"{}\"", text), expected.dims, {x, k}) == expected);
    // The same with the labels, and so the arrays, in another order: batch and features change places, and so on.
    const auto turned = [](const Numbers& from, const Index& axes) {
      Index dims;
      for (const std::int64_t axis : axes) dims.push_back(from.dims[static_cast<std::size_t>(axis)]);
      Numbers to(dims);
      each_index(from.dims, [&](const Index& index) {
        Index place;
        for (const std::int64_t axis : axes) place.push_back(index[static_cast<std::size_t>(axis)]);
        to[place] = from[index];
      });
      return to;
    };
    const Numbers other = turned(expected, {3, 2, 0, 1});
    std::string labels = text;
    labels.replace(labels.find("b01f_01io->b01f"), 15, "fb10_1oi0->f1b0");
    CHECK(evaluated(fmt::format("convolution %x0, %x1, text=\"{}\"", labels), other.dims,
                    {turned(x, {3, 0, 2, 1}), turned(k, {1, 3, 2, 0})}) == other);
  }
}

TEST_CASE("a gather reads, and a scatter adds to, what its dimension numbers say, wherever the index vector stands") {
  std::mt19937_64 random(6);
  struct Form {
    std::string_view numbers;  ///< G: gather's names, S: scatter's are put in
    Index indices, batch;      ///< dimensions of the indices and of what is read or added
    /// The element of the array that an element of the batch is, by array[3,5,4] and the indices.
    std::function<Index(const Numbers& indices, const Index& at)> element;
  };
  const auto whole = [](double value) { return static_cast<std::int64_t>(value); };
  const Form forms[] = {
      {"offset_dims={2}, collapsed_slice_dims={1}, start_index_map={1}, operand_batching_dims={0}, "
       "start_indices_batching_dims={1}, index_vector_dim=2",
       {2, 3, 1},
       {2, 3, 4},
       [&](const Numbers& i, const Index& at) {
         return Index{at[1], whole(i[{at[0], at[1], 0}]), at[2]};
       }},
      {"offset_dims={2}, collapsed_slice_dims={1}, start_index_map={1}, operand_batching_dims={0}, "
       "start_indices_batching_dims={2}, index_vector_dim=0",
       {1, 2, 3},
       {2, 3, 4},
       [&](const Numbers& i, const Index& at) {
         return Index{at[1], whole(i[{0, at[0], at[1]}]), at[2]};
       }},
      {"offset_dims={2}, collapsed_slice_dims={1}, start_index_map={1}, operand_batching_dims={0}, "
       "start_indices_batching_dims={0}, index_vector_dim=1",
       {3, 1, 2},
       {3, 2, 4},
       [&](const Numbers& i, const Index& at) {
         return Index{at[0], whole(i[{at[0], 0, at[1]}]), at[2]};
       }},
      {"offset_dims={0}, collapsed_slice_dims={0,2}, start_index_map={2,0}, index_vector_dim=0",
       {2, 6},
       {5, 6},
       [&](const Numbers& i, const Index& at) {
         return Index{whole(i[{1, at[1]}]), at[0], whole(i[{0, at[1]}])};
       }},
      {"offset_dims={0,2}, collapsed_slice_dims={1}, start_index_map={1}, index_vector_dim=1",
       {6},
       {3, 6, 4},
       [&](const Numbers& i, const Index& at) {
         return Index{at[0], whole(i[{at[1]}]), at[2]};
       }},
  };
  for (const Form& form : forms) {
    CAPTURE(form.numbers);
    const Numbers array = drawn({3, 5, 4}, random);
    const Numbers indices = drawn(form.indices, random, 0, 2);  // inside along every dimension
    const std::string sizes = form.numbers.find("{0,2}, start") != std::string_view::npos &&
                                      form.numbers.find("collapsed_slice_dims={0,2}") != std::string_view::npos
                                  ? "{1,5,1}"
                              : form.numbers.find("operand_batching") != std::string_view::npos ? "{1,1,4}"
                                                                                                : "{3,1,4}";
    Numbers read(form.batch);
    each_index(form.batch, [&](const Index& at) { read[at] = array[form.element(indices, at)]; });
    CHECK(evaluated(fmt::format("gather %x0, %x1, text=\"{}, slice_sizes={}\"", form.numbers, sizes), form.batch,
                    {array, indices}) == read);
    std::string of_scatter(form.numbers);
    for (const auto& [from, to] : {std::pair{"offset_dims", "update_window_dims"},
                                   {"collapsed_slice_dims", "inserted_window_dims"},
                                   {"start_index_map", "scatter_dims_to_operand_dims"},
                                   {"operand_batching_dims", "input_batching_dims"},
                                   {"start_indices_batching_dims", "scatter_indices_batching_dims"}})
      if (const std::size_t at = of_scatter.find(from); at != of_scatter.npos)
        of_scatter.replace(at, std::strlen(from), to);
    const Numbers updates = drawn(form.batch, random);
    Numbers added = array;
    each_index(form.batch, [&](const Index& at) { added[form.element(indices, at)] += updates[at]; });
    CHECK(evaluated(fmt::format("scatter add %x0, %x1, %x2, text=\"{}\"", of_scatter), array.dims,
                    {array, indices, updates}) == added);
  }
}

TEST_CASE("a gather's window is moved back until it fits, a scatter's that does not fit is dropped") {
  const Numbers array = [] {
    std::mt19937_64 random(7);
    return drawn({5, 4}, random);
  }();
  for (std::int64_t start = -2; start < 7; ++start) {
    CAPTURE(start);
    Numbers index({1});
    index.values[0] = static_cast<double>(start);
    const std::int64_t moved = std::clamp<std::int64_t>(start, 0, 3);
    Numbers read({2, 4});
    each_index(read.dims, [&](const Index& at) { read[at] = array[{moved + at[0], at[1]}]; });
    CHECK(evaluated("gather %x0, %x1, text=\"offset_dims={0,1}, collapsed_slice_dims={}, start_index_map={0}, "
                    "index_vector_dim=0, slice_sizes={2,4}\"",
                    read.dims, {array, index}) == read);
    Numbers written = array;
    if (start == moved) each_index(read.dims, [&](const Index& at) { written[{start + at[0], at[1]}] += 5; });
    CHECK(evaluated("scatter add %x0, %x1, %x2, text=\"update_window_dims={0,1}, inserted_window_dims={}, "
                    "scatter_dims_to_operand_dims={0}, index_vector_dim=0\"",
                    array.dims, {array, index, Numbers({2, 4}, 5)}) == written);
    Numbers both({2});
    both.values = {static_cast<double>(start), 7};
    Numbers corner({2, 3});
    each_index(corner.dims, [&](const Index& at) { corner[at] = array[{moved + at[0], 1 + at[1]}]; });
    CHECK(evaluated("dynamic_slice %x0, %x1", corner.dims, {array, both}) == corner);
    Numbers replaced = array;
    each_index(corner.dims, [&](const Index& at) { replaced[{moved + at[0], 1 + at[1]}] = 50; });
    CHECK(evaluated("dynamic_update_slice %x0, %x2, %x1", array.dims, {array, both, Numbers({2, 3}, 50)}) == replaced);
  }
}

TEST_CASE("the gradient of a pool goes to the first of the largest, summed where windows overlap") {
  std::mt19937_64 random(8);
  constexpr std::string_view at_least =
      "  graph ge {\n    %a = parameter 0 : s32[]\n    %b = parameter 1 : s32[]\n    %r = compare ge %a, %b : pred[]\n"
      "    output %r\n  }";
  for (int round = 0; round < 40; ++round) {
    CAPTURE(round);
    const Numbers x = drawn({2 + static_cast<std::int64_t>(random() % 4), 5}, random, -2, 2);
    std::vector<Window> windows{drawn_window(random), drawn_window(random)};
    for (Window& w : windows)
      w.base = w.dilation = 1, w.low = std::max<std::int64_t>(w.low, 0), w.high = std::max<std::int64_t>(w.high, 0);
    const Index positions{windows[0].positions(x.dims[0]), windows[1].positions(x.dims[1])};
    if (count_of(positions) == 0) continue;
    const Numbers source = drawn(positions, random);
    Numbers expected(x.dims, 5);
    each_index(positions, [&](const Index& at) {
      const Index* best = nullptr;
      Index chosen;
      each_index({windows[0].size, windows[1].size}, [&](const Index& tap) {
        const Index from{at[0] * windows[0].stride + tap[0] - windows[0].low,
                         at[1] * windows[1].stride + tap[1] - windows[1].low};
        if (from[0] < 0 || from[1] < 0 || from[0] >= x.dims[0] || from[1] >= x.dims[1]) return;
        if (best != nullptr && x[from] <= x[*best]) return;
        chosen = from;
        best = &chosen;
      });
      if (best != nullptr) expected[*best] += source[at];
    });
    CHECK(
        evaluated(fmt::format("select_and_scatter add %x0, %x1, %z, text=\"{}\", bodies={{0}}", words(windows, false)),
                  x.dims, {x, source}, at_least) == expected);
  }
}

TEST_CASE("arrays of every layout lie in memory as their layout says, and are read back from there") {
  Index order{0, 1, 2, 3};  // minor to major
  const Index dims{2, 3, 4, 5};
  do {
    CAPTURE(list(order));
    Shape shape = make_shape(DType::s16, {2, 3, 4, 5});
    for (int d = 0; d < 4; ++d) shape.minor_to_major[d] = static_cast<std::int8_t>(order[static_cast<std::size_t>(d)]);
    Tensor tensor = zeros(shape);
    std::vector<std::int16_t> expected(120);
    each_index(dims, [&](const Index& index) {
      std::int64_t physical = 0, step = 1;
      for (const std::int64_t d : order) {
        physical += index[static_cast<std::size_t>(d)] * step;
        step *= dims[static_cast<std::size_t>(d)];
      }
      store_integer(tensor, place_of(index, dims), 1000 + place_of(index, dims));
      expected[static_cast<std::size_t>(physical)] = static_cast<std::int16_t>(1000 + place_of(index, dims));
    });
    std::vector<std::byte> memory(memory_bytes(shape));
    REQUIRE(memory.size() == 240);
    to_memory(tensor, memory);
    CHECK(std::memcmp(memory.data(), expected.data(), memory.size()) == 0);
    CHECK(from_memory(shape, memory).bytes == tensor.bytes);
  } while (std::next_permutation(order.begin(), order.end()));
}
