// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// What windows and reductions do to their elements: a reducer, or a region of its own, over one array or several of
// equal dimensions. In: a reduce-window, a reduce. Out: nodes that put arrays together element by element, and what is
// in the place of elements that are missing. Called by the passes that take them apart (pass_scans.cpp,
// pass_short_reductions.cpp, pass_windows.cpp).
//
// A reducer's missing elements are its neutral element, and what the text begins with is combined once, at the end. Of
// a region nobody knows the neutral element, so what the text begins with has to be it, as HLO asks.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "hlo/expand/expansion.h"
#include "ir/graph/attribute_text.h"

namespace tailor::hlo {

/// Nodes of equal dimensions, one for each array that is reduced.
using Arrays = std::vector<ir::NodeId>;

/// Whether the node's region can be applied to the whole arrays that it reduces, which are the first half of its
/// operands: 2 n numbers in, n of the same types out, all of them elementwise.
bool is_pointwise(GraphBuilder& builder, const ir::Node& node);

/// The windows as HLO prints them, without base dilation.
std::string window_text(const IndexedVector<ir::WindowDim>& dims);

class Combination : protected Expansion {
 public:
  /// `node`: a reduce-window or reduce that verify() accepts; its reducer has a neutral element, or its body
  /// is_pointwise().
  Combination(GraphBuilder& builder, const HloInstruction& instruction, const ir::Node& node);

 protected:
  bool has_region() const { return region_ >= 0; }
  const ir::Dims& dims_of(const Arrays& x) const { return shape_of(x[0]).dims; }

  /// Of each pair: what stands first in the windows, and what stands behind it.
  Arrays combined(std::string_view word, const Arrays& before, const Arrays& after);
  /// What the text begins with, then `x`; `x` itself where that is the neutral element. Precondition: a reducer.
  Arrays with_init(const Arrays& x);
  /// What is combined with anything without a change, everywhere.
  Arrays missing(std::string_view word, const ir::Dims& dims);
  /// Elements low, low + stride .. below high along `axis`.
  Arrays cut(std::string_view word, const Arrays& x, int axis, std::int64_t low, std::int64_t high,
             std::int64_t stride = 1);
  /// `x` among missing elements.
  Arrays filled(std::string_view word, const Arrays& x, const ir::PadRanges& ranges);
  Arrays filled(std::string_view word, const Arrays& x, int axis, std::int64_t low, std::int64_t high);
  Arrays reshaped(std::string_view word, const Arrays& x, const ir::Dims& dims);
  Arrays spread(std::string_view word, const Arrays& x, const ir::Dims& dims, const ir::Dims& kept);
  /// All elements along `axes`, which are gone then.
  Arrays reduced(std::string_view word, const Arrays& x, const ir::Dims& axes);
  /// A reduce-window that goes through its elements one by one. Precondition: a reducer.
  Arrays windows(std::string_view word, const Arrays& x, const IndexedVector<ir::WindowDim>& dims);
  /// `x` under the instruction's name, as `node` has it.
  HloValue finish(Pass pass, const Arrays& x, const ir::Node& node);

 private:
  std::string of_array(std::string_view word, std::size_t k) const;
  /// `make(word, array, missing)` of each array.
  template <class Make>
  Arrays each(std::string_view word, const Arrays& x, Make&& make) const {
    Arrays made;
    for (std::size_t k = 0; k < x.size(); ++k) made.push_back(make(of_array(word, k), x[k], missing_[k]));
    return made;
  }
  Arrays applied(std::string_view word, const Arrays& before, const Arrays& after);

  ir::Reducer reducer_;
  std::int32_t region_ = -1;
  Arrays inits_, missing_;
  bool starts_neutral_ = false;
};

}  // namespace tailor::hlo
