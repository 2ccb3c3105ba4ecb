// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Runs of a domain. In: a shape and its reduced dimensions, or a broadcast. Out: runs. Called through domain.h.
//
// Method. The dimensions are gone through from the fastest in memory on. Neighbours that both stay or are both reduced
// make one run, because going over them is one loop whatever their number. A broadcast is the reverse of a reduction of
// the dimensions that it adds. It keeps the order of its source where the dimensions that stay come in the same order
// in both memories, those of size 1 aside.
#include "ir/graph/domain.h"

#include <fmt/format.h>

#include <array>

#include "base/indexed.h"

namespace tailor::ir {

std::vector<int> wide_dimensions(const Shape& shape) {
  std::vector<int> found;
  for (int i = 0; i < shape.rank(); ++i)
    if (const int dim = shape.minor_to_major[i]; shape.dims[dim] != 1) found.push_back(dim);
  return found;
}

Domain domain_of(const Shape& shape, const Dims& reduced) {
  Domain domain;
  for (int i = 0; i < shape.rank(); ++i) {
    const int dim = shape.minor_to_major[i];
    if (shape.dims[dim] == 1) continue;
    const bool goes = reduced.contains(dim);
    if (domain.runs.empty()) domain.reduces_fastest = goes;
    if (domain.runs.empty() || domain.is_reduced(domain.runs.size() - 1) != goes) domain.runs.push_back(1);
    domain.runs[domain.runs.size() - 1] *= shape.dims[dim];
  }
  return domain;
}

Domain Domain::unbundled() const {
  if (bundle() == 1) return *this;
  Domain apart;
  apart.runs.push_back(runs[0] * runs[1]);
  for (int i = 2; i < runs.size(); ++i) apart.runs.push_back(runs[i]);
  return apart;
}

std::string_view name(ReduceKind kind) {
  constexpr auto names = std::to_array<std::string_view>({"row", "column", "full"});
  return row_for(names, kind);
}

std::string text(const Domain& domain) {
  std::string out;
  for (int i = domain.runs.size(); i-- > 0;) {
    if (!out.empty()) out += " x ";
    out += domain.is_reduced(i) ? fmt::format("[{}]", domain.runs[i]) : fmt::format("{}", domain.runs[i]);
  }
  return out.empty() ? "1" : out;
}

std::optional<Domain> spread_domain(const Node& broadcast, const Shape& source) {
  const Shape& result = broadcast.shape;
  int from = 0;  // of the source's dimensions, the fastest first, the next one that must come
  const auto skip_ones = [&] {
    while (from < source.rank() && source.dims[source.minor_to_major[from]] == 1) ++from;
  };
  Dims repeated;
  for (int i = 0; i < result.rank(); ++i) {
    const int dim = result.minor_to_major[i];
    skip_ones();
    const bool is_next = from < source.rank() && axes(broadcast)[source.minor_to_major[from]] == dim;
    if (is_next)
      ++from;
    else if (!axes(broadcast).contains(dim))
      repeated.push_back(dim);
    else if (result.dims[dim] != 1)
      return std::nullopt;
  }
  skip_ones();
  if (from < source.rank()) return std::nullopt;
  return domain_of(result, repeated);
}

}  // namespace tailor::ir
