// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// What the files of results share: rows of a kernel's name and a function that writes into its buffers what the kernel
// must leave there, and the few loops that many of them are made of. In: a kernel of the corpus with its buffers
// filled. Called by the corpus_results*.cpp and by compute_results alone.
#pragma once

#include <map>
#include <string_view>

#include "profiler/simulator/corpus.h"

namespace corpus {

using Kernel = CorpusKernel;
using Results = std::map<std::string_view, void (*)(Kernel&)>;

/// Rounded as a float of the machine is.
inline double f32(double value) { return static_cast<float>(value); }
inline std::uint32_t u32(double value) { return static_cast<std::uint32_t>(value); }

template <class Value>
void each(CorpusBuffer& y, Value value) {
  for (std::int64_t i = 0; i < y.size(); ++i) y.set(i, static_cast<double>(value(i)));
}

inline double sum_of(const CorpusBuffer& x, std::int64_t first, std::int64_t count, std::int64_t step = 1) {
  double sum = 0;
  for (std::int64_t i = 0; i < count; ++i) sum += x[first + i * step];
  return sum;
}

/// By theme, a file each.
extern const Results reduction_results, exchange_results, order_results, pipeline_results, layer_results;

}  // namespace corpus
