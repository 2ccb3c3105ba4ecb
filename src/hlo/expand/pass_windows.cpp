// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Windows that no kernel goes through tap by tap: more than 64 elements, a region of their own, several arrays, or an
// operand spread apart. In: such a reduce-window. Out: short windows, slices, pads, reductions and elementwise
// operations of which each has a kernel. Called by the walk (graph_builder.cpp).
//
//   more than 64 elements    what a window takes all of is reduced, all such dimensions at once. Others come one after
//                            the other, 13 x 13 are 13 and then 13, as many together as have 64 elements; one alone
//     that is cumulative       stays where a kernel goes along it, else is a tree of shorter ones (pass_scans.cpp)
//     of more than 64          is rows of a window each where these lie side by side, and else windows of windows:
//                              n = a b + r elements are b windows of a that begin a apart, and a window of r behind
//                              them. 129 = 16 * 8 + 1 are 25 elements to go through
//   a region of its own      the region's operations on whole arrays, once for each element of a window, in the order
//                            of the text; more than 64 elements by doubling: windows of 2, of those windows of 4 ...,
//                            of which those put together that make up the length
//   an operand spread apart  a pad between its elements
//
// All of it holds since reducers are associative, as HLO asks of them; a region of up to 64 elements is taken as it is.
// Floats are added in another order than in the text, as any kernel does.
#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "hlo/expand/scan.h"

namespace tailor::hlo {

namespace {

using Windows = IndexedVector<ir::WindowDim>;

/// Padded operands may be so much larger than what is read and written; beyond, a window is left as it is.
constexpr double most_padding = 4, little = 1 << 20;

/// How many windows of `size`, `apart` from each other, fit, one every `stride`.
std::int64_t places(std::int64_t length, std::int64_t size, std::int64_t apart, std::int64_t stride) {
  return (length - (size - 1) * apart - 1) / stride + 1;
}

/// a * b + r elements. Those with the fewest to go through.
struct Factors {
  std::int64_t inner = 1, outer = 1, rest = 0;
};

Factors factors_of(std::int64_t size) {
  Factors best;
  std::int64_t least = std::numeric_limits<std::int64_t>::max();
  for (std::int64_t inner = 2; inner <= most_taps; ++inner) {
    const Factors one{inner, size / inner, size % inner};
    const std::int64_t taps = one.inner + one.outer + (one.rest > 0 ? one.rest + 1 : 0);
    if (taps < least) best = one, least = taps;
  }
  return best;
}

bool is_idle(const ir::WindowDim& one) {
  return one.size == 1 && one.stride == 1 && one.pad_low == 0 && one.pad_high == 0;
}

class WindowParts : Scans {
 public:
  WindowParts(GraphBuilder& builder, const HloInstruction& instruction, const ir::Node& node, Windows windows)
      : Scans(builder, instruction, node),
        windows_(std::move(windows)),
        made_(node.results.empty() ? node.shape : node.results[0]) {}

  /// `is_long`: of more elements, or cumulative over more, than a region is applied to one by one.
  HloValue finish(const ir::Node& node, bool is_long) {
    Arrays x(node.operands.begin(), node.operands.begin() + static_cast<std::ptrdiff_t>(node.operands.size() / 2));
    x = without_base_dilation(x);
    x = has_region() && !is_long ? chain(x) : by_dimensions(x);
    return Combination::finish(scans_ > 0 ? Pass::scans : Pass::windows, x, node);
  }

 private:
  /// Missing elements are where it leaves room.
  Arrays without_base_dilation(const Arrays& x) {
    ir::PadRanges ranges;
    for (ir::WindowDim& one : windows_) {
      ranges.ranges.push_back({0, 0, one.base_dilation - 1});
      one.base_dilation = 1;
    }
    return filled("apart", x, ranges);
  }

  /// The region once for each element, in the order of the text.
  Arrays chain(const Arrays& x) {
    ir::PadRanges ranges;
    for (const ir::WindowDim& one : windows_) ranges.ranges.push_back({one.pad_low, one.pad_high, 0});
    const Arrays all = filled("filled", x, ranges);
    ir::Dims counts, tap;
    for (int i = 0; i < dims_of(all).size(); ++i) {
      const ir::WindowDim& one = windows_[i];
      counts.push_back(places(dims_of(all)[i], one.size, one.window_dilation, one.stride));
      tap.push_back(0);
    }
    Arrays sum = missing("start", counts);
    for (int number = 0;; ++number) {
      const std::string word = fmt::format("tap{}", number);
      Arrays one = all;
      for (int i = 0; i < counts.size(); ++i) {
        const std::int64_t low = tap[i] * windows_[i].window_dilation;
        one = cut(fmt::format("{}/at{}", word, i), one, i, low, low + (counts[i] - 1) * windows_[i].stride + 1,
                  windows_[i].stride);
      }
      sum = combined(word, sum, one);
      int i = static_cast<int>(counts.size()) - 1;
      for (; i >= 0 && ++tap[i] == windows_[i].size; --i) tap[i] = 0;
      if (i < 0) return sum;
    }
  }

  /// Dimensions of which a window has all, at once; their windows are of one element then.
  Arrays reduce_whole(const Arrays& x) {
    ir::Dims axes, dims;
    for (int i = 0; i < dims_of(x).size(); ++i) {
      ir::WindowDim& one = windows_[i];
      const bool has_all = one.size > 1 && one.size == dims_of(x)[i] && one.pad_low == 0 && one.pad_high == 0 &&
                           one.window_dilation == 1;
      dims.push_back(has_all ? 1 : dims_of(x)[i]);
      if (has_all) axes.push_back(i), one = {};
    }
    return axes.empty() ? x : reshaped("whole", reduced("whole/reduced", x, axes), dims);
  }

  Arrays by_dimensions(Arrays x) {
    x = reduce_whole(x);
    Windows together(static_cast<std::size_t>(dims_of(x).size()));
    std::int64_t taps = 1;
    const auto flush = [&](int before) {
      if (taps == 1 && std::all_of(together.begin(), together.end(), is_idle)) return;
      x = windows(fmt::format("before{}", before), x, together);
      together = Windows(static_cast<std::size_t>(dims_of(x).size()));
      taps = 1;
    };
    for (int i = static_cast<int>(dims_of(x).size()) - 1; i >= 0; --i) {
      const ir::WindowDim one = windows_[i];
      const auto direction = long_scan(one, dims_of(x)[i]);
      if (direction && !is_short(one.size)) {
        ++scans_;
        const std::string word = scans_ == 1 ? "" : fmt::format("along{}/", i);
        x = scan(word, laid_along(word, x, i, made_), i, *direction);
      } else if (has_region() || one.size > most_taps) {
        const std::string word = fmt::format("along{}", i);
        x = along(word, filled(word + "/filled", x, i, one.pad_low, one.pad_high), i, one.size, one.window_dilation,
                  one.stride);
      } else {
        if (taps * one.size > most_taps) flush(i + 1);
        together[i] = one;
        taps *= one.size;
      }
    }
    flush(0);
    return has_region() ? x : with_init(x);
  }

  /// Windows of `size` elements, `apart` from each other, one every `stride`, where they fit into x.
  Arrays along(const std::string& word, const Arrays& x, int axis, std::int64_t size, std::int64_t apart,
               std::int64_t stride) {
    const std::int64_t length = dims_of(x)[axis], count = places(length, size, apart, stride);
    if (size == 1) return cut(word, x, axis, 0, (count - 1) * stride + 1, stride);
    if (apart == 1 && (count == 1 || stride >= size)) return rows(word, x, axis, size, count == 1 ? length : stride);
    if (has_region()) return doubled(word, x, axis, size, apart, stride);
    if (size <= most_taps) {
      Windows dims(static_cast<std::size_t>(dims_of(x).size()));
      dims[axis].size = size;
      dims[axis].window_dilation = apart;
      dims[axis].stride = stride;
      return windows(word, x, dims);
    }
    const auto [inner, outer, rest] = factors_of(size);
    const Arrays within = along(word + "/inner", x, axis, inner, apart, 1);
    Arrays all = along(word + "/outer", within, axis, outer, inner * apart, stride);
    all = cut(word + "/kept", all, axis, 0, count);
    if (rest == 0) return all;
    const Arrays behind = cut(word + "/behind", x, axis, inner * outer * apart, length);
    return combined(word + "/all", all, along(word + "/rest", behind, axis, rest, apart, stride));
  }

  /// Windows that share no element, one for each row of `stride`.
  Arrays rows(const std::string& word, const Arrays& x, int axis, std::int64_t size, std::int64_t stride) {
    const std::int64_t length = dims_of(x)[axis], count = places(length, size, 1, stride);
    const std::int64_t all = count * stride;
    Arrays y = length < all ? filled(word + "/full", x, axis, 0, all - length) : cut(word + "/full", x, axis, 0, all);
    ir::Dims dims;
    for (int i = 0; i < dims_of(x).size(); ++i) {
      dims.push_back(i == axis ? count : dims_of(x)[i]);
      if (i == axis) dims.push_back(stride);
    }
    y = cut(word + "/windows", reshaped(word + "/rows", y, dims), axis + 1, 0, size);
    return reduced(word + "/reduced", y, {axis + 1});
  }

  /// Windows of 1, 2, 4 ... elements, and of these the ones whose lengths make up `size`.
  Arrays doubled(const std::string& word, const Arrays& x, int axis, std::int64_t size, std::int64_t apart,
                 std::int64_t stride) {
    const std::int64_t count = places(dims_of(x)[axis], size, apart, stride);
    Arrays power = x, all;
    std::int64_t done = 0;
    for (std::int64_t length = 1; length <= size; length *= 2) {
      if ((size & length) != 0) {
        const std::string part = fmt::format("{}/{}", word, length);
        const Arrays next =
            cut(part + "/part", power, axis, done * apart, done * apart + (count - 1) * stride + 1, stride);
        all = all.empty() ? next : combined(part + "/all", all, next);
        done += length;
      }
      if (2 * length > size) break;
      const std::string twice = fmt::format("{}/{}", word, 2 * length);
      const std::int64_t rest = dims_of(power)[axis] - length * apart;
      power = combined(twice, cut(twice + "/first", power, axis, 0, rest),
                       cut(twice + "/second", power, axis, length * apart, length * apart + rest));
    }
    return all;
  }

  Windows windows_;
  ir::Shape made_;
  int scans_ = 0;
};

/// Whether the region gives the same whatever is put together first, as far as a check can tell: it chooses, or adds
/// and multiplies whole numbers, or goes through functions whose errors are known to be larger than those of any order.
/// A sum of floats by a region has no bound that holds for every order, as one by a reducer has.
bool may_be_reordered(const ir::Graph& region) {
  bool chooses = true, has_function = false;
  for (const ir::Node& node : region.nodes) {
    const bool is_float = ir::is_floating(node.shape.dtype);
    const bool is_choice = node.op == ir::Op::parameter || node.op == ir::Op::constant || node.op == ir::Op::select ||
                           node.op == ir::Op::maximum || node.op == ir::Op::minimum || node.op == ir::Op::compare ||
                           class_of(node.op) == ir::OpClass::index;
    const bool adds = node.op == ir::Op::add || node.op == ir::Op::multiply || node.op == ir::Op::bit_and ||
                      node.op == ir::Op::bit_or || node.op == ir::Op::bit_xor;
    chooses = chooses && (is_choice || (adds && !is_float));
    has_function = has_function || (is_float && (node.op == ir::Op::exp || node.op == ir::Op::log ||
                                                 node.op == ir::Op::expm1 || node.op == ir::Op::log1p));
  }
  const bool hands_on = std::any_of(region.outputs.begin(), region.outputs.end(),
                                    [&](ir::NodeId id) { return region[id].op == ir::Op::parameter; });
  return !hands_on && (chooses || has_function);
}

/// Elements of one window, and whether padded operands stay within bounds.
struct Extent {
  double taps = 1, padded = 1;
};

Extent extent_of(const Windows& windows, const ir::Shape& array) {
  Extent extent;
  for (int i = 0; i < array.rank(); ++i) {
    const ir::WindowDim& one = windows[i];
    const auto length = static_cast<double>(array.dims[i]), apart = static_cast<double>(one.base_dilation);
    extent.taps *= static_cast<double>(one.size);
    extent.padded *= (length - 1) * apart + 1 + std::max(0.0, static_cast<double>(one.pad_low)) +
                     std::max(0.0, static_cast<double>(one.pad_high));
  }
  return extent;
}

/// Whether a kernel goes through these windows as they are, or nothing here takes them apart. Precondition: `node` is
/// well formed.
bool stays(GraphBuilder& builder, const ir::Node& node, const Windows& windows, const Extent& extent) {
  const ir::Shape& array = builder.node(node.operands[0]).shape;
  const ir::Shape& made = node.results.empty() ? node.shape : node.results[0];
  const auto sizes = static_cast<double>(elements(array)) + static_cast<double>(elements(made));
  if (elements(array) == 0 || elements(made) == 0 || array.rank() >= ir::max_rank) return true;
  if (extent.padded > most_padding * sizes + little) return true;
  if (std::any_of(windows.begin(), windows.end(), [](const ir::WindowDim& one) { return one.reversed; })) return true;
  if (node.bodies.empty()) {
    const bool is_spread =
        std::any_of(windows.begin(), windows.end(), [](const ir::WindowDim& one) { return one.base_dilation > 1; });
    const std::optional<ir::Scan> scan = ir::scan_of(node);
    const bool walks =
        scan && is_walked(array, scan->dim) && ir::is_neutral(builder.node(node.operands[1]), reducer(node));
    return walks || !has_neutral(reducer(node), array.dtype) || (extent.taps <= most_taps && !is_spread);
  }
  return false;
}

}  // namespace

HloValue resolve_reduce_window(GraphBuilder& builder, const Frame& frame, const HloInstruction& instruction) {
  const HloType& type = builder.module().type_of(instruction);
  ir::Node node = builder.plain_node(instruction, frame, instruction.op, type);
  builder.check(node, instruction);
  const ir::Shape array = builder.node(node.operands[0]).shape;
  Windows windows = ir::parse_window(ir::hlo_text(node), array.rank());
  const Extent extent = extent_of(windows, array);
  bool is_long = extent.taps > most_taps;
  for (int i = 0; i < array.rank(); ++i) is_long = is_long || long_scan(windows[i], array.dims[i]);
  const bool fits = node.bodies.empty() ||
                    (is_pointwise(builder, node) && (!is_long || may_be_reordered(builder.body(node.bodies[0]))));
  if (!fits || stays(builder, node, windows, extent)) return builder.add_result(std::move(node), type, instruction);
  return WindowParts(builder, instruction, node, std::move(windows)).finish(node, is_long);
}

}  // namespace tailor::hlo
