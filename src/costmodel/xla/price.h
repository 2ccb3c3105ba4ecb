// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// XLA's price of a kernel: the time its performance model gives for loop, reduction, transpose, concatenation and
// scatter kernels, to the quarter of a nanosecond. In: a kernel and XLA's view of a GPU. Out: the price with what it
// rests on. Called by the cost model xla-model, by the strategy xla-priority for every pair it thinks of, and by the
// table that sets prices beside XLA's own. Pure functions; thread-safe.
#pragma once

#include <cstdint>

#include "costmodel/xla/launch.h"
#include "costmodel/xla/work.h"

namespace tailor::costmodel::xla {

/// A time as XLA keeps it: whole quarters of a nanosecond.
using Quarters = std::int64_t;
Quarters quarters(double seconds);
double seconds(Quarters time);

/// A kernel with all that a decision about it asks.
struct Priced {
  Kernel kernel;
  Work work;
  Analysis analysis;
  Launch launch;
  bool coalesced = true;  ///< a transposition of the innermost dimension makes every load of the kernel a bad one
  Quarters compute = 0, read = 0, write = 0;
  Quarters time = 0;  ///< of one run, without launch overhead
};
Priced priced(Kernel kernel, const Target& target);

/// The time of both as one kernel, as XLA estimates it before it fuses: from the work of the two, not of the whole.
/// `keep`: what the producer computes is written as well. Precondition: the consumer takes a result of the producer.
Quarters time_together(const Priced& producer, const Priced& consumer, const Kernel& together, const Analysis& analysis,
                       const Target& target, bool keep = false);

}  // namespace tailor::costmodel::xla
