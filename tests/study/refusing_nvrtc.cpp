// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// A compiler that refuses every program: the functions of NVRTC that Tailor loads go in by name, out comes a failed
// compilation with a log of one line. Loaded by the study tests in NVRTC's place, to see what a sweep makes of it.
// It needs no CUDA, so the test runs on every machine.
#include <algorithm>
#include <cstddef>
#include <iterator>

namespace {

constexpr char refusal[] = "kernel.cu(1): error: this compiler refuses every program";
constexpr int success = 0, compilation_failed = 6;

}  // namespace

extern "C" {
int nvrtcVersion(int* major, int* minor) {
  *major = 0;
  *minor = 1;
  return success;
}
int nvrtcGetNumSupportedArchs(int* count) {
  *count = 1;
  return success;
}
int nvrtcGetSupportedArchs(int* archs) {
  *archs = 90;
  return success;
}
int nvrtcCreateProgram(void** program, const char*, const char*, int, const char* const*, const char* const*) {
  static int one = 0;
  *program = &one;
  return success;
}
int nvrtcDestroyProgram(void** program) {
  *program = nullptr;
  return success;
}
int nvrtcCompileProgram(void*, int, const char* const*) { return compilation_failed; }
int nvrtcGetPTXSize(void*, std::size_t* size) {
  *size = 0;
  return success;
}
int nvrtcGetPTX(void*, char*) { return success; }
int nvrtcGetCUBINSize(void*, std::size_t* size) {
  *size = 0;
  return success;
}
int nvrtcGetCUBIN(void*, char*) { return success; }
int nvrtcGetProgramLogSize(void*, std::size_t* size) {
  *size = sizeof refusal;
  return success;
}
int nvrtcGetProgramLog(void*, char* log) {
  std::copy(std::begin(refusal), std::end(refusal), log);
  return success;
}
const char* nvrtcGetErrorString(int result) { return result == success ? "success" : "compilation failed"; }
}
