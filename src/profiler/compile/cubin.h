// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// What a cubin says about its kernels. A cubin is an ELF64 file with NVIDIA's own sections; registers and stack sizes
// are attributes in .nv.info, shared memory is the size of .nv.shared.KERNEL. Spilled bytes are in no section: only the
// assembler's log has them (compile.cpp). The code itself is machine_code.cpp's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace tailor::profiler {

struct CubinKernel {
  std::string name;
  int registers = 0;                ///< per thread
  int frame_bytes = 0;              ///< the kernel's own stack frame, per thread
  int stack_bytes = 0;              ///< with the functions it calls, per thread
  std::int64_t shared_section = 0;  ///< bytes; includes what the system reserves where `reserves_shared`
  bool reserves_shared = false;     ///< the architecture keeps a part of each block's shared memory for itself
  std::span<const std::byte> code;  ///< machine code, inside the cubin that was read
};

/// The kernels of a cubin in the order of its sections. Throws Error(failed) when it is not a well-formed cubin: cut
/// off, an offset outside the file, a name without an end.
std::vector<CubinKernel> read_cubin(std::span<const std::byte> cubin);

}  // namespace tailor::profiler
