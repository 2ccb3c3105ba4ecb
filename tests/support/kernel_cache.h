// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Kernels that an earlier run of the suites compiled. In: a compile request. Out: its binary, from a folder of the
// build tree where one is kept. Compiling the same texts again took most of the suites' time. What comes out depends on
// the text, the options and the compiler, which the cache's ids hold, and on our code around the compiler, whose
// sources name the folder. Used where a test needs a kernel; tests of compiling itself compile.
#pragma once

#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <string>

#include "base/hash.h"
#include "profiler/compile/pool.h"
#include "support/paths.h"

namespace kernels {

/// build/tests/kernels/ID; a folder in the system's place for temporary files when the program lies elsewhere.
inline const tailor::profiler::BinaryCache& cache() {
  static const tailor::profiler::BinaryCache kept = [] {
    namespace fs = std::filesystem;
    std::set<fs::path> sources;
    for (const char* folder : {"/src/profiler/compile", "/src/ir"})
      for (const fs::directory_entry& file : fs::directory_iterator(tailor::source_folder() + folder))
        if (file.is_regular_file() && (std::string(folder) != "/src/ir" || file.path().stem() == "binary"))
          sources.insert(file.path());
    std::string all;
    for (const fs::path& path : sources) {
      std::ifstream file(path, std::ios::binary);
      all.append(std::istreambuf_iterator<char>(file), {});
    }
    fs::path folder = fs::read_symlink("/proc/self/exe").parent_path();
    while (folder.has_relative_path() && folder.filename() != "tests") folder = folder.parent_path();
    if (!folder.has_relative_path()) folder = fs::temp_directory_path() / "tailor";
    return tailor::profiler::BinaryCache{folder / "kernels" / tailor::short_hex(tailor::id_of(all))};
  }();
  return kept;
}

/// What compile() gives.
inline tailor::ir::Binary compiled(const tailor::profiler::Nvrtc& api,
                                   const tailor::profiler::CompileRequest& request) {
  tailor::profiler::CompileStage stage;
  stage.workers = 1;
  stage.cache = &cache();
  return *tailor::profiler::compile_all(api, {&request, 1}, stage).binaries[0];
}

}  // namespace kernels
