// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// A kernel of XLA's made ready to run anywhere: what it computes as a graph, its PTX, seeded inputs, which arguments
// lie in the same memory; and the verdict on what it wrote. The simulator and a GPU are given the same case, so both
// are held against the same reference.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "base/indexed.h"
#include "base/units.h"
#include "ir/kernel/launch.h"
#include "profiler/simulator/machine/launch.h"
#include "profiler/simulator/ptx/ptx.h"
#include "profiler/xla/xla_check.h"
#include "reference/error_bound.h"
#include "reference/evaluate.h"

namespace tailor::profiler {

/// Memory of one or several arguments.
struct XlaMemory {
  std::string name;        ///< of the first argument that lies there
  std::int64_t bytes = 0;  ///< as long as the longest of them
  int width = 1;           ///< bytes of an element
  ir::BufferRole role = ir::BufferRole::input;
  std::int32_t input = -1;  ///< the operand whose contents it has before a run; -1: none
};

struct XlaCase {
  ir::Graph graph;
  std::int64_t elements = 0;  ///< computed by the graph, all nodes together
  std::string unjudged;       ///< why there is no reference: an operation without semantics; else empty
  simulator::PtxModule ptx;
  std::vector<XlaArgument> arguments;  ///< the kernel's, with what they share
  std::int32_t operands = 0;
  IndexedVector<XlaMemory> memory;
  IndexedVector<int> memory_of;             ///< by argument
  IndexedVector<reference::Tensor> inputs;  ///< one per operand, or none where only the rest was asked for
};

/// Why there is no case, or no verdict.
struct XlaRefusal {
  XlaOutcome outcome = XlaOutcome::not_bound;
  std::string reason;
};

/// Reads what the kernel needs and makes its inputs; constants of the module keep their values. `most_elements` 0: no
/// kernel is too large. Never throws for what is wrong with one kernel; Error(interrupted) when asked to stop.
std::variant<XlaCase, XlaRefusal> xla_case(const XlaModule& module, const XlaKernel& kernel, std::uint64_t seed,
                                           std::int64_t most_elements, const std::stop_token& stop = {});
/// The same for a kernel of any size, without inputs.
std::variant<XlaCase, XlaRefusal> xla_case_without_inputs(const XlaModule& module, const XlaKernel& kernel,
                                                          const std::stop_token& stop = {});

/// What an operand always holds; nothing where it is no constant, or the dump left its contents out.
std::optional<reference::Tensor> constant_of(const XlaModule& module, const XlaArgument& argument);

/// How exactly the kernel has to be right: as its multiplications are.
reference::ErrorBoundOptions bounds_of(const XlaCase& one);

/// Fills `bytes` with what memory `number` holds before a run: its operand, or nothing at all.
void fill(const XlaCase& one, std::size_t number, std::span<std::byte> bytes);

struct XlaVerdict {
  XlaOutcome outcome = XlaOutcome::matched;  ///< or differs, or why nothing could be said
  std::string reason;
  double worst = 0;           ///< largest error over its tolerance
  std::int64_t results = 0;   ///< elements compared
  std::int64_t unjudged = 0;  ///< of them, those without a bound
  Seconds evaluation{0};      ///< time of the reference
};

/// Holds what lies in memory after a run, by number, against the reference. Only results are looked at; other memory
/// may be empty.
XlaVerdict judge(const XlaCase& one, std::span<const std::span<const std::byte>> memory,
                 const std::stop_token& stop = {});

}  // namespace tailor::profiler
