// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Finds NVRTC with dlopen, takes the six functions of it that a compile needs, and calls them through types declared
// here. It shares no code with profiler/compile, whose tests would otherwise judge themselves: both must call the
// library alike.
#include "codegen/cuda/compile.h"

#include <dlfcn.h>

#include <array>

namespace {

using Program = void*;

void* library() {
  static void* const loaded = [] {
    for (const char* name : {"libnvrtc.so", "libnvrtc.so.13", "libnvrtc.so.12", "/usr/local/cuda/lib64/libnvrtc.so"})
      if (void* handle = dlopen(name, RTLD_NOW)) return handle;
    return static_cast<void*>(nullptr);
  }();
  return loaded;
}

template <class Signature>
Signature* function(const char* name) {
  return reinterpret_cast<Signature*>(dlsym(library(), name));
}

std::string text_of(Program program, const char* size_name, const char* text_name) {
  std::size_t size = 0;
  function<int(Program, std::size_t*)>(size_name)(program, &size);
  std::string text(size, ' ');
  function<int(Program, char*)>(text_name)(program, text.data());
  return text;
}

}  // namespace

std::optional<std::string> ptx_of(const std::string& source, const std::string& arch) {
  if (library() == nullptr) return std::nullopt;
  Program program = nullptr;
  function<int(Program*, const char*, const char*, int, const char* const*, const char* const*)>("nvrtcCreateProgram")(
      &program, source.c_str(), "kernel.cu", 0, nullptr, nullptr);
  const std::string target = "-arch=" + arch;
  const std::array options = {target.c_str(), "-std=c++17"};
  const int status = function<int(Program, int, const char* const*)>("nvrtcCompileProgram")(program, 2, options.data());
  std::string result = status == 0 ? text_of(program, "nvrtcGetPTXSize", "nvrtcGetPTX")
                                   : "error: " + text_of(program, "nvrtcGetProgramLogSize", "nvrtcGetProgramLog");
  function<int(Program*)>("nvrtcDestroyProgram")(&program);
  return result;
}
