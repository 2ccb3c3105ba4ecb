// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Bounds of reductions by a function of one's own. In: a reduction with its values, what bounds its operands have, its
// function on arrays with bounds. Out: the bounds of its results. Called by error_bound.cpp.
//
// Of such a function f nothing is known but its lines, and each line has a rule. So the terms are put together once
// more, two by two: the second half of them with the first, element by element, then the halves of what came of it,
// each step a few long arrays with their bounds. What f makes of its operands' bounds, the cancellation in Welford's
// differences, a maximum that either side may be: the rules of its lines say it for the numbers that are there.
//
// That is the bound of one order of steps, and a kernel takes another: a chain of many steps in each thread, then a
// tree. An exact f gives the same in each order, so two orders differ by what rounding adds in each. A tree of n terms
// rounds d = ceil(log2 n) + 1 times on the way to a result, where a chain does n times; roundings are as good as
// independent, so a chain's come to no more than 6 sqrt(n) of one (as for sums, error_bound.h), and to no more than n
// of one. The rounding's part of the tree's bound is multiplied by min(n, 6 sqrt(n)) / d for that; what the operands'
// own bounds add is not.
//
// Whether f gives the same in each order is put to the test with the numbers at hand: the tree, which takes the later
// half first; steps in reverse, and both halves by turns; the initial value before all, after all, and not at all. A
// result of which one of these lies outside the bound has none: XLA says that the order is anybody's.
#include "reference/bounds/fold.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

#include "base/memory.h"
#include "ir/graph/region_reduction.h"
#include "reference/bounds/reduction.h"
#include "reference/error_bound.h"
#include "reference/evaluate_memory.h"

namespace tailor::reference {

namespace {

/// Terms of all results of a block, or of a part of one result that has more: so much is held at once.
constexpr std::int64_t block_terms = std::int64_t{1} << 18;

std::int64_t results_in_block(std::int64_t terms) { return std::max<std::int64_t>(1, block_terms / terms); }
std::int64_t terms_in_part(std::int64_t terms) { return std::min(terms, block_terms); }

Tensor array_of(ir::DType dtype, std::int64_t count) { return unwritten(ir::make_shape(dtype, {count})); }

/// `count` elements of an array of one dimension from `first` on.
Tensor part_of(const Tensor& array, std::int64_t first, std::int64_t count) {
  Tensor part = array_of(array.shape.dtype, count);
  const std::int64_t bytes = element_bytes(array.shape.dtype);
  std::memcpy(part.bytes.data(), array.bytes.data() + first * bytes, static_cast<std::size_t>(count * bytes));
  return part;
}

FoldedArrays part_of(const FoldedArrays& all, std::int64_t first, std::int64_t count) {
  FoldedArrays part;
  for (std::size_t k = 0; k < all.values.size(); ++k) {
    part.values.push_back(part_of(all.values[k], first, count));
    part.errors.push_back(all.errors[k] == nullptr ? nullptr : shared(part_of(*all.errors[k], first, count)));
  }
  return part;
}

Tensor joined(const Tensor& first, const Tensor& second) {
  Tensor both = array_of(first.shape.dtype, elements(first.shape) + elements(second.shape));
  std::copy(first.bytes.begin(), first.bytes.end(), both.bytes.begin());
  std::copy(second.bytes.begin(), second.bytes.end(),
            both.bytes.begin() + static_cast<std::ptrdiff_t>(first.bytes.size()));
  return both;
}

Errors joined(const Errors& first, std::int64_t first_count, const Errors& second, std::int64_t second_count) {
  if (first == nullptr && second == nullptr) return nullptr;
  const auto all = [](const Errors& errors, std::int64_t count) {
    return errors != nullptr ? *errors : zeros(ir::make_shape(ir::DType::f64, {count}));
  };
  return shared(joined(all(first, first_count), all(second, second_count)));
}

FoldedArrays joined(const FoldedArrays& first, const FoldedArrays& second) {
  FoldedArrays both;
  for (std::size_t k = 0; k < first.values.size(); ++k) {
    const Tensor &a = first.values[k], &b = second.values[k];
    both.values.push_back(joined(a, b));
    both.errors.push_back(joined(first.errors[k], elements(a.shape), second.errors[k], elements(b.shape)));
  }
  return both;
}

double error_at(const Errors& errors, std::int64_t i) { return errors == nullptr ? 0 : error_bounds(*errors)[i]; }

/// A reduction's terms put together in one block of results after the other.
class Fold {
 public:
  Fold(const Call& call, const std::vector<Errors>& operands, std::span<const Tensor* const> results,
       const FoldStep& step)
      : call_(call),
        operands_(operands),
        results_(results),
        step_(step),
        places_(places_of_terms(call)),
        terms_(std::ssize(places_.steps)),
        others_(reduce_in_other_orders(call)) {
    for (const Tensor* result : results) errors_.push_back(as_tensor(result->shape, nullptr));
  }

  /// Whether each step had a rule.
  bool run() {
    const std::int64_t all = std::ssize(places_.starts), at_once = results_in_block(terms_);
    for (std::int64_t first = 0; first < all; first += at_once) {
      call_.may_stop();
      if (!block(first, std::min(at_once, all - first))) return false;
    }
    return true;
  }
  std::vector<Errors> take() {
    std::vector<Errors> all;
    for (Tensor& one : errors_) all.push_back(shared(std::move(one)));
    return all;
  }

 private:
  /// Terms from `begin` up to `end` of results from `first` on, those of one step side by side.
  FoldedArrays terms_of(std::int64_t first, std::int64_t count, std::int64_t begin, std::int64_t end,
                        bool bounded) const {
    FoldedArrays terms;
    const auto gather = [&](const Tensor& from) {
      const auto bytes = static_cast<std::size_t>(element_bytes(from.shape.dtype));
      Tensor to = array_of(from.shape.dtype, (end - begin) * count);
      std::byte* out = to.bytes.data();
      for (std::int64_t term = begin; term < end; ++term)
        for (std::int64_t i = 0; i < count; ++i, out += bytes)
          std::memcpy(
              out,
              from.bytes.data() + static_cast<std::size_t>(places_.starts[first + i] + places_.steps[term]) * bytes,
              bytes);
      return to;
    };
    for (std::size_t k = 0; k < results_.size(); ++k) {
      terms.values.push_back(gather(call_.operand(k)));
      terms.errors.push_back(bounded && operands_[k] != nullptr ? shared(gather(*operands_[k])) : nullptr);
    }
    return terms;
  }

  FoldedArrays start_of(std::int64_t count) const {
    FoldedArrays start;
    for (std::size_t k = results_.size(); k < call_.operands.size(); ++k) {
      const Tensor& from = call_.operand(k);
      Tensor all = array_of(from.shape.dtype, count);
      for (std::size_t at = 0; at < all.bytes.size(); at += from.bytes.size())
        std::copy(from.bytes.begin(), from.bytes.end(), all.bytes.begin() + static_cast<std::ptrdiff_t>(at));
      start.values.push_back(std::move(all));
      Tensor errors = zeros(ir::make_shape(ir::DType::f64, {count}));
      std::fill_n(error_bounds(errors), count, error_at(operands_[k], 0));
      start.errors.push_back(operands_[k] == nullptr ? nullptr : shared(std::move(errors)));
    }
    return start;
  }

  /// The tree over all terms of `count` results, part after part.
  std::optional<FoldedArrays> tree(std::int64_t first, std::int64_t count, bool bounded) const {
    std::optional<FoldedArrays> parts;
    std::int64_t number = 0;
    for (std::int64_t begin = 0; begin < terms_; begin += terms_in_part(terms_), ++number) {
      const std::int64_t end = std::min(terms_, begin + terms_in_part(terms_));
      std::optional<FoldedArrays> part = tree(terms_of(first, count, begin, end, bounded), end - begin, count);
      if (!part) return {};
      parts = parts ? joined(*parts, *part) : *std::move(part);
    }
    return tree(*std::move(parts), number, count);
  }
  /// Over `left` terms of `count` results each.
  std::optional<FoldedArrays> tree(FoldedArrays terms, std::int64_t left, std::int64_t count) const {
    for (; left > 1; left -= left / 2) {
      call_.may_stop();
      const std::int64_t half = left / 2 * count;
      std::optional<FoldedArrays> next = step_(part_of(terms, half, half), part_of(terms, 0, half));
      if (!next) return {};
      terms = left % 2 == 0 ? *std::move(next) : joined(*next, part_of(terms, 2 * half, count));
    }
    return terms;
  }

  bool block(std::int64_t first, std::int64_t count) {
    const bool exact = std::all_of(operands_.begin(), operands_.end(), [](const Errors& e) { return e == nullptr; });
    const FoldedArrays start = start_of(count);
    const std::optional<FoldedArrays> rounded = tree(first, count, false);
    if (!rounded) return false;
    const std::optional<FoldedArrays> found = exact ? rounded : tree(first, count, true);
    if (!found) return false;
    const std::optional<FoldedArrays> before = step_(start, *found), after = step_(*found, start);
    if (!before || !after) return false;
    for (std::size_t k = 0; k < results_.size(); ++k) {
      for (std::int64_t i = 0; i < count; ++i) {
        // An initial value that changes nothing adds no rounding, though a rule may not see it: -inf, say.
        const bool kept = lie_within(before->values[k], i, found->values[k], i, 0);
        const double whole = error_at(kept ? found->errors[k] : before->errors[k], i);
        const double more = growth_ * error_at(rounded->errors[k], i);
        const double error = whole + more;
        const auto is_within = [&](const Tensor& one, std::int64_t at) {
          return lie_within(one, at, *results_[k], first + i, error);
        };
        const bool agree = is_within(found->values[k], i) && is_within(before->values[k], i) &&
                           is_within(after->values[k], i) && is_within(others_[0][k], first + i) &&
                           is_within(others_[1][k], first + i);
        error_bounds(errors_[k])[first + i] = agree && !std::isnan(error) ? error : infinity;
      }
    }
    return true;
  }

  const Call& call_;
  const std::vector<Errors>& operands_;
  std::span<const Tensor* const> results_;
  const FoldStep& step_;
  const TermPlaces places_;
  const std::int64_t terms_;
  const std::array<std::vector<Tensor>, 2> others_;
  /// What a chain's rounding adds to the tree's, as a multiple of it.
  const double growth_ = more_in_a_chain(static_cast<double>(terms_));
  std::vector<Tensor> errors_;

  static double more_in_a_chain(double terms) {
    const double depth = std::ceil(std::log2(terms)) + 1;
    return std::max(0.0, std::min(terms, deviations * std::sqrt(terms)) / depth - 1);
  }
};

}  // namespace

std::optional<std::vector<Errors>> fold_errors(const Call& call, const std::vector<Errors>& operands,
                                               std::span<const Tensor* const> results, const FoldStep& step) {
  if (elements(call.operand(0).shape) == 0) return std::vector<Errors>(results.size());
  Fold fold(call, operands, results, step);
  if (!fold.run()) return {};
  return fold.take();
}

std::int64_t bytes_to_fold(const ir::Graph& graph, const ir::Node& reduce) {
  const std::size_t arrays = ir::reduced_count(reduce);
  const std::int64_t outputs = std::max<std::int64_t>(1, elements(result_shapes(reduce)[0]));
  const std::int64_t terms = std::max<std::int64_t>(1, elements(graph[reduce.operands[0]].shape) / outputs);
  const std::int64_t in_block = terms_in_part(terms) * std::min(outputs, results_in_block(terms));
  std::int64_t term_bytes = 0, result_bytes = 0;
  for (std::size_t k = 0; k < arrays; ++k) {
    const ir::DType dtype = graph[reduce.operands[k]].shape.dtype;
    term_bytes += element_bytes(dtype) + static_cast<std::int64_t>(sizeof(double));
    result_bytes += 2 * element_bytes(dtype) + static_cast<std::int64_t>(sizeof(double));
  }
  // The terms and their halves; of the step's lines half as many terms each, and all of them at the worst.
  const auto lines = static_cast<std::int64_t>(ir::body(graph, reduce, 0).nodes.size());
  const std::int64_t of_lines = lines * in_block / 2 * static_cast<std::int64_t>(2 * sizeof(double));
  const std::int64_t places = static_cast<std::int64_t>(sizeof(std::int64_t)) * (outputs + terms);
  return 3 * in_block * term_bytes + of_lines + outputs * result_bytes + places;
}

}  // namespace tailor::reference
