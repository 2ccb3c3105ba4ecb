// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// What XLA's GPU compiler leaves behind, read back: which kernels it made of a module, how each is launched, which
// fusion each computes and which arrays it takes. Two kinds of folder are understood: XLA's own dump (--xla_dump_to, as
// tools/xla-dump makes it) and a digest (NAME.json with the launches, NAME.optimized.hlo[.gz], ptx/NAME/ENTRY.ptx).
//
// Reading is by XLA's conventions: a fusion's kernel takes pointers to its operands in order, then to its results in
// order, nothing else; an entry is named after the first of the identical fusions that share it. What is missing of one
// kernel is said in its `reason` and costs no other kernel.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "base/indexed.h"
#include "hlo/hlo_module.h"
#include "ir/kernel/launch.h"

namespace tailor::profiler {

enum class XlaFolder : std::uint8_t { dump, digest };

/// One module of a folder: its files, found by their names alone. Absent files have empty paths.
struct XlaSource {
  std::string name;  ///< "module_0000.jit_f", or the digest's name
  XlaFolder kind = XlaFolder::dump;
  std::filesystem::path hlo;         ///< the optimised module
  std::filesystem::path launches;    ///< thunk_sequence.txt, or the digest's JSON
  std::filesystem::path metadata;    ///< thunk_metadata.txt: which instruction a thunk belongs to
  std::filesystem::path assignment;  ///< buffer-assignment.txt: where each value lies
  std::filesystem::path values;      ///< buffer-assignment-values.txt: who reads each value
  std::filesystem::path before;      ///< the module as the fusion passes receive it
  std::filesystem::path record;      ///< priority_fusion_dump.txt: steps of priority fusion with their prices
  std::filesystem::path between;     ///< the module between priority fusion and multi-output fusion
  std::filesystem::path merges;      ///< multi_output_merges.txt: what multi-output fusion logged
  std::filesystem::path after;       ///< the module after multi-output fusion
  std::vector<std::filesystem::path> ptx;
};

/// The modules of a folder by name; a path to one of its files means the module of that file. Throws Error(failed) when
/// there is none, saying what was looked for.
std::vector<XlaSource> xla_modules(const std::filesystem::path& path);

/// The module called `name` (the whole name, or a part that fits one only); the only one when `name` is empty. Throws
/// Error(usage) naming the modules there are.
const XlaSource& choose_module(const std::vector<XlaSource>& modules, std::string_view name);

/// One launch of the thunk list.
struct XlaLaunch : ir::LaunchShape {
  std::string instruction;  ///< that asked for it; empty: the dump does not say
  std::string thunk;        ///< "CustomKernel", "CublasLtMatmul", ...
  std::string entry;        ///< of the PTX; empty for what is no kernel of XLA's own
  std::string fault;        ///< what of its line could not be read; else empty
};

/// Launches in the order of the list. A line of another form is a launch with a `fault`. Throws Error(failed) without a
/// list, and for a digest of another form.
std::vector<XlaLaunch> read_launches(const XlaSource& source);

/// An array a kernel is given, in the layout XLA chose.
struct XlaArgument {
  std::string name;  ///< the instruction it comes from, "fusion.3" or "fusion.3{1}"
  ir::Shape shape;
  std::int32_t shares = -1;                  ///< an earlier argument that lies in the same memory; -1: none
  std::int64_t allocation = -1, offset = 0;  ///< where it lies by the buffer assignment; -1: not told
  /// Whose bytes they are without an assignment: the name seen through tuples and bitcasts.
  std::string value;
  /// The constant whose bytes it always has, seen through bitcasts: an index into HloModule::instructions; -1: none.
  std::int32_t constant = -1;
};

struct XlaKernel {
  std::string entry;
  std::filesystem::path ptx;  ///< holds the entry
  XlaLaunch launch;           ///< the first
  /// Instructions that launch it, in order, and how often one run of the module does: loops by their trip counts.
  std::vector<std::string> call_sites;
  double times = 0;
  std::string kind;         ///< of the fusion: "kLoop", "kInput", "kCustom __triton_gemm"
  std::string computation;  ///< what it computes
  std::vector<XlaArgument> arguments;
  std::int32_t operands = 0;      ///< the first so many arguments; the others are results
  bool assignment_known = false;  ///< `shares` comes from a buffer assignment; else results lie apart as far as known
  std::string reason;             ///< empty, or what is missing to run it: "not found: ..."
};

/// A loop around a launch.
struct XlaLoop {
  std::string_view instruction;
  double trips = 1;
  bool operator==(const XlaLoop&) const = default;
};

/// Bytes of an argument that a copy or a fill moves: where they begin, and how much further with each trip of the loop
/// around it whose number counts from the innermost.
struct XlaRange {
  std::int64_t begin = 0, stride = 0;
  std::int32_t loop = 0;
  bool operator==(const XlaRange&) const = default;
};

/// What XLA has the driver do instead of launching a kernel: a copy within the GPU's memory, or a fill of it.
struct XlaTransfer {
  bool fills = false;
  std::int64_t bytes = 0;
  std::uint32_t word = 0;       ///< that a fill repeats
  std::vector<XlaRange> parts;  ///< parallel to the step's arguments
  std::string reason;           ///< empty, or what of it is not known: it cannot be run
  bool operator==(const XlaTransfer&) const = default;
};

/// One launch of the list with what it is given there, which differs between the places of one kernel. A copy has its
/// source and then its destination as arguments, a fill its destination, as whole as the values are.
struct XlaStep {
  std::int32_t kernel = -1;  ///< index into XlaModule::kernels; -1: `transfer`
  std::string instruction;
  std::vector<XlaArgument> arguments;  ///< empty for a kernel or a transfer with a `reason`
  bool assignment_known = false;       ///< as of the kernel
  std::vector<XlaLoop> loops;          ///< around it, the outermost first
  std::optional<XlaTransfer> transfer = {};
};

/// A launch that is no kernel of XLA's own, copies and fills included.
struct XlaOther {
  std::string thunk;
  std::int64_t launches = 0;
  double times = 0;
};

/// A module read and tied together. Movable; `hlo` and loops' names view `text`.
struct XlaModule {
  XlaSource source;
  std::shared_ptr<const std::string> text;
  hlo::HloModule hlo;
  IndexedVector<XlaKernel> kernels;  ///< one per entry, in the order of their first launch
  std::vector<XlaStep> steps;        ///< launches of kernels, copies and fills in the order of the list, a loop's once
  std::vector<XlaOther> others;      ///< by thunk
  std::vector<std::string> unused_entries;
};

/// Throws Error(failed) when the optimised module or the launch list cannot be read at all.
XlaModule read_xla(const XlaSource& source, const std::stop_token& stop = {});

}  // namespace tailor::profiler
