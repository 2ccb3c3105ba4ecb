// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Images as the driver takes them. In: PTX text or the bytes of a cubin. Out: programs of the simulator, by entry. A
// cubin is judged by its architecture and then refused, because nothing here executes machine code. Used by
// module_calls.cpp.
#pragma once

#include "fake_gpu/state.h"

namespace tailor::fake {

struct Loaded {
  CUresult result = CUDA_SUCCESS;
  std::string log;  ///< what the driver's compiler says; empty when all is well
  std::shared_ptr<Module> module;
};
/// `image`: PTX that ends with a zero byte, or an ELF file.
Loaded load(const void* image, const Chip& chip);

/// A program that reads these clocks, whenever it looks.
struct TimedProgram {
  std::unique_ptr<simulator::PtxModule> module;
  std::unique_ptr<simulator::Program> program;
};
TimedProgram program_at(const Function& function, std::uint64_t cycles, std::int64_t nanoseconds);

std::int64_t static_shared(const Function& function);
/// What the driver's occupancy calculator says: blocks of so many threads and dynamic bytes on one SM.
int resident_blocks(const Function& function, int threads, std::int64_t dynamic, const Chip& chip);
/// Clusters of so many such blocks that the chip holds at once: each within one of its parts.
int resident_clusters(const Function& function, int threads, std::int64_t dynamic, std::int64_t blocks,
                      const Chip& chip);

}  // namespace tailor::fake
