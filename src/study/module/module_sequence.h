// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// A whole model as one stream of launches: every group at every place, in an order that its data allows, over buffers
// that producers and consumers share. Library calls are left out: what they would have written is an array of random
// numbers. So the same walk over two strategies gives two sequences that differ in nothing but the fusion.
//
// Simple on purpose: each value has a buffer of its own (a framework would reuse memory), a loop's body repeats on the
// same buffers, and every branch of a conditional runs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "explore/partition.h"
#include "ir/binary.h"
#include "ir/kernel/kernel.h"
#include "profiler/gpu/request/sequence.h"
#include "profiler/measure/sequence_of.h"

namespace tailor::study {

/// The kernel of a distinct group; nulls where it has none.
struct GroupKernel {
  const ir::Kernel* kernel = nullptr;
  const ir::Binary* binary = nullptr;
};

struct ModuleSequence {
  gpu::Sequence sequence;
  std::vector<std::byte> contents;
  std::int64_t launched_groups = 0;   ///< groups that are launched, each place once
  std::int64_t groups_left_out = 0;   ///< groups without a kernel; of XLA's program its kernels, copies and fills
  std::int64_t library_launches = 0;  ///< of XLA's program: what is none of these, and is left out of all strategies
  std::int64_t shortened_loops = 0;   ///< loops whose body runs once because all trips would be too many launches
  std::int64_t buffer_bytes = 0;
};

/// `kernels` is parallel to `partition.groups`. Sequences stay below `most_launches` by running loop bodies once.
ModuleSequence module_sequence(const ir::Graph& graph, const explore::Partition& partition,
                               std::span<const GroupKernel> kernels, profiler::ImageForm form,
                               std::int64_t most_launches = 20'000);

/// Working nodes by the path of their graph, with their names.
using WorkPlaces = std::map<std::pair<std::string, ir::NodeId>, std::string>;

/// The work of a partition that none of these kernels does. Two strategies of a graph that leave out the same are timed
/// over the same work, however they cut it.
WorkPlaces work_left_out(const ir::Graph& graph, const explore::Partition& partition,
                         std::span<const GroupKernel> kernels);

/// Why times of the one are not of the same work as times of the other; empty when they are. `left_out` as above, and
/// the loops that were shortened.
std::string work_difference(const std::string& one, const WorkPlaces& left_out, std::int64_t shortened,
                            const std::string& other, const WorkPlaces& others_left_out, std::int64_t others_shortened);

}  // namespace tailor::study
