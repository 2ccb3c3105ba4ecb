// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Each kernel becomes a namespace of a generated C++ file behind host_shim.h, which runs the threads of a block as
// fibres. A file holds some dozens of kernels, because starting the compiler costs more than compiling one. Files
// become shared objects, which the next run finds again, and are opened with dlopen; every kernel is called once on its
// inputs, with margins around its buffers that must stay as they were. An element may be off by half the digits of its
// type.
#include "codegen/cuda/host_run.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <filesystem>

#include "base/hash.h"
#include "base/text.h"
#include "codegen/cuda/cuda.h"
#include "reference/memory_layout.h"
#include "support/kernel_cache.h"
#include "support/paths.h"

namespace tailor::ir {

using namespace reference;
using namespace codegen;

namespace {

std::string source_of(const std::vector<HostCase>& cases, std::size_t first, std::size_t end) {
  std::string out = "#include \"codegen/cuda/host_shim.h\"\n";
  for (std::size_t i = first; i < end; ++i) {
    Kernel kernel = cases[i].kernel;
    kernel.name = fmt::format("kernel_{}", i);
    std::int64_t shared = kernel.dynamic_shared ? kernel.shared_bytes : 0;
    for (std::size_t k = 0; k < kernel.followers.size(); ++k) {
      kernel.followers[k].name = fmt::format("kernel_{}_{}", i, k + 2);
      if (kernel.followers[k].dynamic_shared) shared = std::max(shared, kernel.followers[k].shared_bytes);
    }
    codegen::Options options;
    options.portable = true;
    const std::string source = codegen::cuda(kernel, std::string_view(), options);
    out += fmt::format("namespace n{} {{\n", i);
    if (shared > 0) out += fmt::format("thread_local __align__(16) unsigned char shared_memory[{}];\n", shared);
    out += source + "}\n";
    out += fmt::format("extern \"C\" void run_{0}(void** buffers) {{\n", i);
    for (const Kernel& one : kernels_of(kernel))
      out += fmt::format("  host::launch_on<n{0}::{1}>(n{0}::{1}, {2}u, {3}, buffers);\n", i, one.name, one.grid,
                         one.threads);
    out += "}\n";
  }
  return out;
}

/// The loaded object, or nothing and a `reason`. What an earlier run made of the same text, shim and compiler is taken
/// from where the suites keep kernels.
void* compiled(const std::string& source, const std::filesystem::path& folder, int number, std::string& reason) {
  static const std::string shim = read_file(source_folder() + "/tests/codegen/cuda/host_shim.h");
  const std::string command =
      fmt::format("{} -std=c++20 -O0 -w -fPIC -shared -I{}/tests", TAILOR_HOST_COMPILER, source_folder());
  const std::filesystem::path kept = kernels::cache().folder;
  const std::filesystem::path object = kept / (hex(tailor::id_of(command + __VERSION__ + shim + source)) + ".so");
  if (!std::filesystem::exists(object)) {
    const std::filesystem::path file = folder / fmt::format("kernels_{}.cpp", number);
    const std::filesystem::path made = file.string() + ".so";
    write_file(file, source);
    if (std::system(fmt::format("{0} -o {1} {2} > {2}.log 2>&1", command, made.string(), file.string()).c_str()) != 0) {
      reason = read_file(file.string() + ".log").substr(0, 4000);
      return nullptr;
    }
    // Under its name at once, since other suites may be looking for it.
    std::filesystem::create_directories(kept);
    const std::filesystem::path beside = fmt::format("{}.{}", object.string(), ::getpid());
    std::filesystem::copy_file(made, beside, std::filesystem::copy_options::overwrite_existing);
    std::filesystem::rename(beside, object);
  }
  void* const library = dlopen(object.c_str(), RTLD_NOW);
  if (library == nullptr) reason = dlerror();
  return library;
}

/// Largest error over its tolerance: half the digits of the type, relative to the magnitude.
double worst_error(const Tensor& expected, const std::vector<std::byte>& found) {
  const Tensor result = reference::from_memory(expected.shape, found);
  const DType dtype = expected.shape.dtype;
  const double step = dtype == DType::f16 ? 1e-3 : dtype == DType::bf16 ? 8e-3 : is_floating(dtype) ? 2e-5 : 0;
  double worst = 0;
  for (std::int64_t i = 0; i < elements(expected.shape); ++i) {
    if (step == 0) {
      if (reference::as_integer(expected, i) != reference::as_integer(result, i)) return 1e9;
      continue;
    }
    const double a = reference::as_double(expected, i), b = as_double(result, i);
    if (a == b || (std::isnan(a) && std::isnan(b))) continue;
    if (std::isnan(a) || std::isnan(b) || std::isinf(a) || std::isinf(b)) return 1e9;
    worst = std::max(worst, std::abs(a - b) / (step * (1 + std::abs(a))));
  }
  return worst;
}

void run_case(const HostCase& which, void (*run)(void**), std::vector<std::string>& failures) {
  // Bytes before and after each buffer, to see a write beside it.
  constexpr std::size_t margin = 64;
  std::vector<std::vector<std::byte>> memory;
  for (const Tensor& input : which.inputs)
    reference::to_memory(input, memory.emplace_back(reference::memory_bytes(input.shape)));
  for (const Tensor& output : which.expected) memory.emplace_back(zeros(output.shape).bytes.size(), std::byte{0xab});
  for (const Buffer& own : which.kernel.buffers)
    if (own.role == BufferRole::workspace || own.role == BufferRole::ticket)
      memory.emplace_back(static_cast<std::size_t>(own.elements * row(own.dtype).bits / 8));
  std::vector<void*> pointers;
  for (std::vector<std::byte>& bytes : memory) {
    bytes.insert(bytes.begin(), margin, std::byte{0x5a});
    bytes.insert(bytes.end(), margin, std::byte{0x5a});
    pointers.push_back(bytes.data() + margin);
  }
  run(pointers.data());
  for (std::size_t i = 0; i < memory.size(); ++i) {
    const std::vector<std::byte>& bytes = memory[i];
    const auto is_margin = [](std::byte b) { return b == std::byte{0x5a}; };
    if (!std::all_of(bytes.begin(), bytes.begin() + margin, is_margin) ||
        !std::all_of(bytes.end() - margin, bytes.end(), is_margin))
      failures.push_back(fmt::format("{}: writes beside buffer {}", which.label, i));
    if (i < which.inputs.size() || i >= which.inputs.size() + which.expected.size()) continue;
    const std::size_t output = i - which.inputs.size();
    const double error = worst_error(which.expected[output], {bytes.begin() + margin, bytes.end() - margin});
    if (error > 1) failures.push_back(fmt::format("{}: output {} is off by {} tolerances", which.label, output, error));
  }
}

}  // namespace

std::vector<std::string> host_failures(std::vector<HostCase> cases) {
  // The loader knows libraries by their path: each call has its own.
  static int calls = 0;
  const std::filesystem::path folder =
      std::filesystem::temp_directory_path() / fmt::format("tailor-host-{}-{}", ::getpid(), calls++);
  std::filesystem::create_directories(folder);
  std::vector<std::string> failures;
  constexpr std::size_t per_file = 64;
  for (std::size_t first = 0; first < cases.size(); first += per_file) {
    const std::size_t end = std::min(cases.size(), first + per_file);
    std::string reason;
    void* const library = compiled(source_of(cases, first, end), folder, static_cast<int>(first / per_file), reason);
    if (library == nullptr) {
      failures.push_back(fmt::format("{} ... do not compile: {}", cases[first].label, reason));
      continue;
    }
    for (std::size_t i = first; i < end; ++i)
      run_case(cases[i], reinterpret_cast<void (*)(void**)>(dlsym(library, fmt::format("run_{}", i).c_str())),
               failures);
  }
  std::filesystem::remove_all(folder);
  return failures;
}

void fill_expected(const Graph& graph, HostCase& which) {
  std::uint64_t seed = 1;
  for (const NodeId id : parameters(graph)) which.inputs.push_back(reference::random_tensor(graph[id].shape, seed++));
  which.expected = evaluate(graph, which.inputs);
}

}  // namespace tailor::ir
