// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Compiles a kernel of the corpus with NVRTC and parses the PTX, keeping each result for the life of the process.
// Contraction into fused multiply-adds is off, so that results do not depend on what the compiler would have fused. A
// planted bug is a macro that is defined for the compile.
#include "profiler/simulator/corpus_compile.h"

#include <fmt/format.h>

#include <map>

#include "base/error.h"
#include "profiler/compile/compile.h"
#include "support/kernel_cache.h"

namespace corpus {

const tailor::simulator::PtxModule& compiled(const tailor::profiler::Nvrtc& api, const CorpusKernel& kernel,
                                             std::string_view planted) {
  static std::map<std::string, tailor::simulator::PtxModule> modules;
  const std::string name = fmt::format("{} {}", kernel.name, planted);
  const auto known = modules.find(name);
  if (known != modules.end()) return known->second;
  tailor::profiler::CompileRequest request;
  request.cuda = kernel.text;
  request.entry = kernel.name;
  request.arch = kernel.arch;
  request.line_info = true;
  request.options = kernel.defines(planted);
  request.options.emplace_back("--fmad=false");
  const tailor::ir::Binary binary = kernels::compiled(api, request);
  if (binary.outcome != tailor::ir::CompileOutcome::ok)
    throw tailor::Error(tailor::Fault::failed, fmt::format("{} does not compile:\n{}", name, binary.log));
  return modules.emplace(name, tailor::simulator::parse_ptx(binary.ptx, name)).first->second;
}

}  // namespace corpus
