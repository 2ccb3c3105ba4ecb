// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// PTX written by hand, and launching it.
// In: the body of a kernel, a launch. Out: a program, or what the launch found and left in a buffer of words. Used by
// launch_test.cpp and launch_memory_test.cpp.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "profiler/simulator/machine/launch.h"

namespace tailor::simulator {

inline std::string entry(const std::string& params, const std::string& body, const std::string& before = {}) {
  return ".version 8.0\n.target sm_90\n.address_size 64\n" + before + ".visible .entry k(" + params + ")\n{\n" + body +
         "\n}\n";
}

/// y[i] = 2 * i + 1 for the threads of all blocks of 64.
inline const std::string numbering = entry(".param .u64 y",
                                           "  .reg .b32 %r<9>;\n  .reg .b64 %rd<5>;\n"
                                           "  ld.param.u64 %rd1, [y];\n"
                                           "  mov.u32 %r1, %ctaid.x;\n  mov.u32 %r2, %ntid.x;\n  mov.u32 %r3, %tid.x;\n"
                                           "  mad.lo.s32 %r4, %r1, %r2, %r3;\n  mad.lo.s32 %r5, %r4, 2, 1;\n"
                                           "  mul.wide.u32 %rd2, %r4, 4;\n  add.s64 %rd3, %rd1, %rd2;\n"
                                           "  st.global.u32 [%rd3], %r5;\n  ret;");

inline Program program_of(const std::string& text) {
  const PtxModule module = parse_ptx(text, "k.ptx");
  return Program(module, entry_of(module));
}

struct Run {
  Simulation simulation;
  std::vector<std::uint32_t> y;
};

/// `use`: an output holds poison first, any other buffer zeros.
inline Run run(const std::string& text, Launch launch, int elements, SimulationOptions options = {},
               BufferUse use = BufferUse::output) {
  Memory memory;
  const int y = memory.add("y", elements * 4, 4, use);
  if (launch.arguments.empty()) launch.arguments.push_back({y, 0, {}});
  Run made;
  made.simulation = simulate(program_of(text), launch, memory, options);
  made.y.resize(static_cast<std::size_t>(elements));
  std::memcpy(made.y.data(), memory.bytes(y).data(), memory.bytes(y).size());
  return made;
}

}  // namespace tailor::simulator
