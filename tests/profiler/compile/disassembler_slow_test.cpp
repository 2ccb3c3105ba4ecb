// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Names and branches of machine code against NVIDIA's own disassembler, for every architecture that NVRTC compiles for.
// In: texts whose kernels hold many kinds of operations, as cubins. Checked: the same instructions under the same
// names, and the same targets. Skipped where nvdisasm is not on the path, in CUDA's folder or in .venv (Triton's wheel
// carries it). A slow test: the disassembler takes a quarter of a second for each cubin.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <regex>

#include "base/files.h"
#include "base/text.h"
#include "profiler/compile/compile.h"
#include "profiler/compile/cubin.h"
#include "profiler/compile/machine_flow.h"
#include "profiler/compile/machine_work.h"
#include "profiler/kernels.h"

using namespace tailor;
using namespace tailor::profiler;

namespace {

std::string found_disassembler() {
  std::vector<std::filesystem::path> places;
  for (const std::string_view folder : split(std::getenv("PATH") == nullptr ? "" : std::getenv("PATH"), ':'))
    places.emplace_back(std::filesystem::path(folder) / "nvdisasm");
  places.emplace_back("/usr/local/cuda/bin/nvdisasm");
  std::error_code none;
  for (const auto& python : std::filesystem::directory_iterator(source_folder() + "/.venv/lib", none))
    places.emplace_back(python.path() / "site-packages/triton/backends/nvidia/bin/nvdisasm");
  for (const auto& place : places)
    if (std::filesystem::exists(place, none)) return place.string();
  return "";
}

std::string output_of(const std::string& command) {
  std::string text;
  FILE* pipe = ::popen(command.c_str(), "r");
  REQUIRE(pipe != nullptr);
  std::array<char, 4096> part{};
  while (const std::size_t read = std::fread(part.data(), 1, part.size(), pipe)) text.append(part.data(), read);
  CHECK(::pclose(pipe) == 0);
  return text;
}

struct Named {
  std::map<std::string, std::int64_t> count;  ///< of each name
  std::map<int, int> target;                  ///< of an instruction that names a label
  int instructions = 0;                       ///< up to the last that is not NOP
};

/// "   /*0040*/   @!P0 BRA `(.L_x_1) ;" and labels, of the only kernel.
Named disassembled(const std::string& text) {
  static const std::regex line(R"(^\s+/\*([0-9a-f]{4,})\*/\s+(?:@!?U?P\w+\s+)?(\w+)([^;]*);)");
  static const std::regex label(R"(^(\.L_x_\d+):)"), named(R"(`\((\.L_x_\d+)\))");
  Named all;
  std::map<std::string, int> places;
  std::vector<std::string> open;
  std::map<int, std::string> wanted;
  std::smatch match;
  for (const std::string_view one : split(text, '\n')) {
    const std::string words(one);
    if (std::regex_search(words, match, label)) {
      open.push_back(match[1]);
      continue;
    }
    if (!std::regex_search(words, match, line)) continue;
    const int at = std::stoi(match[1], nullptr, 16) / 16;
    const std::string name = match[2], rest = match[3];
    for (const std::string& which : open) places[which] = at;
    open.clear();
    ++all.count[name];
    if (name != "NOP") all.instructions = at + 1;
    if (std::regex_search(rest, match, named)) wanted[at] = match[1];
  }
  for (const auto& [at, which] : wanted)
    if (places.contains(which)) all.target[at] = places[which];
  return all;
}

/// Texts that hold what kernels of the family do not.
const std::array<std::string_view, 4> texts = {
    R"(extern "C" __global__ void special(float* p, int* q, double* d, int n) {
  int i = threadIdx.x + blockIdx.x * blockDim.x;
  unsigned m = __ballot_sync(~0u, p[i] > 0), all = __match_any_sync(~0u, q[i]);
  q[i] = __popc(m) + __clz(n) + __brev(n) + __ffs(all) + __dp4a(n, i, 3) + __byte_perm(n, i, q[i + 1]) + __reduce_add(m);
  p[i] = rsqrtf(p[i]) + sinf(p[i + 1]) + __fdividef(p[i], p[n]) + p[i] / p[n] + fmodf(p[i], p[2]) + powf(p[i], p[3]);
  d[i] = d[i] * d[n] + sqrt(d[n]) + (double)p[i] + (long long)d[i];
  atomicAdd(&p[n], 1.0f); atomicMin(&q[n], 3); if (atomicCAS(&q[n], 1, 2) == 3) p[n] = 0;
  for (int k = 0; k < n; k++) p[k] += p[k + i];
})",
    R"(extern "C" __global__ void shared(float* p, int n) {
  extern __shared__ float s[];
  s[threadIdx.x] = p[threadIdx.x]; __syncthreads();
  for (int k = n; k > 0; k /= 2) { if (threadIdx.x < k) s[threadIdx.x] += s[threadIdx.x + k]; __syncthreads(); }
  atomicAdd(&s[n], 1.0f); __threadfence(); __syncwarp();
  p[threadIdx.x] = s[0] + __shfl_xor_sync(~0u, s[1], 1);
})",
    R"(extern "C" __global__ void cases(float* p, int n) {
  switch (n) { case 0: p[0] = 1; break; case 1: p[1] *= 2; break; case 2: p[3] += p[7]; break; case 3: p[9] = p[1] / p[2]; break;
  case 4: p[5] = expf(p[2]); break; case 5: p[0] = logf(p[5]); break; case 6: p[1] = p[2]; break; default: p[3] = 0; }
  float v[64]; for (int i = 0; i < 64; i++) v[i] = p[i * n]; for (int i = 0; i < n; i++) p[i] = v[(i * 7 + n) % 64];
})",
    R"(extern "C" __global__ void longs(long long* a, unsigned long long* b, int n) {
  int i = threadIdx.x;
  a[i] = a[i] * b[n] + (a[n] >> n) - a[i] / (b[i] | 1) + min(a[i], a[n]);
  b[i] = (b[i] << n) ^ b[n] | (b[i] % 1000007); if (a[i] > a[n] && b[i] != 7) a[n] = max(n, i);
})"};

std::string text_for(std::string_view text, int arch) {
  std::string all(text);
  const std::string_view reduce = "__reduce_add(m)";
  if (const std::size_t at = all.find(reduce); at != all.npos)
    all.replace(at, reduce.size(), arch >= 80 ? "__reduce_add_sync(~0u, m)" : "m");
  return all;
}

void compare(const std::string& disassembler, const ir::Binary& binary, int arch) {
  const kernels::OwnFolder folder("disassembler");
  const std::filesystem::path file = folder.path / "one.cubin";
  REQUIRE(try_write_file(
              file, std::string_view(reinterpret_cast<const char*>(binary.cubin.data()), binary.cubin.size())) == "");
  const std::vector<CubinKernel> all = read_cubin(binary.cubin);
  REQUIRE(all.size() == 1);
  const Named theirs = disassembled(output_of(fmt::format("'{}' -c '{}' 2>/dev/null", disassembler, file.string())));
  REQUIRE(theirs.instructions > 0);
  const ir::MachineWork ours = machine_contents(all.front().code, arch);
  std::map<std::string, std::int64_t> count;
  for (const ir::MachineOperation& row : ours.operations) count[row.name] += row.instructions;
  std::map<std::string, std::int64_t> expected = theirs.count;
  const std::int64_t filling = std::ssize(all.front().code) / 16 - theirs.instructions;
  if ((expected["NOP"] -= filling) == 0) expected.erase("NOP");
  std::string differing;
  for (const auto& [name, number] : expected) {
    if (count[name] != number) differing += fmt::format("{}: {}, not {}; ", name, count[name], number);
    count.erase(name);
  }
  for (const auto& [name, number] : count) differing += fmt::format("{}: {}, not 0; ", name, number);
  CHECK_MESSAGE(differing == "", fmt::format("{} for sm_{}", binary.entry, arch));
  const Operations operations(arch);
  const MachineFlow flow = read_flow(all.front().code, operations);
  for (const auto& [at, target] : theirs.target) {
    const Instruction one = instruction_at(all.front().code, static_cast<std::size_t>(at));
    int distance = 0;
    if (!relative_target(one, arch, distance)) continue;
    CHECK_MESSAGE(at + 1 + distance == target, fmt::format("{} sm_{} instruction {}", binary.entry, arch, at));
    CHECK(flow.blocks[flow.block_at(target)].first == target);
  }
}

}  // namespace

TEST_CASE("instructions of machine code have the disassembler's names and targets, on every architecture") {
  const Nvrtc* api = kernels::nvrtc_or_skip();
  if (api == nullptr) return;
  const std::string disassembler = found_disassembler();
  if (disassembler.empty()) return skip("no nvdisasm: it comes with CUDA, and in the wheel triton");
  for (const int arch : api->archs) {
    if (arch < first_decoded_arch) continue;
    CAPTURE(arch);
    for (const std::string_view text : texts) {
      const ir::Binary binary = compile(*api, {.cuda = text_for(text, arch), .arch = fmt::format("sm_{}", arch)});
      REQUIRE_MESSAGE(binary.outcome == ir::CompileOutcome::ok, binary.log);
      compare(disassembler, binary, arch);
    }
  }
}
