// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The two countings. Over a kernel: its statements are walked, and what stands in an unrolled loop counts once for
// each trip. Over PTX: every line's mnemonic is taken apart into kind, memory space and bytes. Both give the same
// keys, so that comparing is `==`. Loads of parameters are left out; accesses to local memory are counted, and as no
// statement asks for one, a spill is a difference.
#include "codegen/cuda/pinned.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <vector>

#include "base/text.h"

namespace tailor::ir {

namespace {

std::string access_key(bool store, std::string_view space, bool ordered, std::int64_t bytes) {
  return fmt::format("{}.{}{} {}", store ? "st" : "ld", space, store || ordered ? "" : ".nc", bytes);
}

void count(const Kernel& kernel, const Stmt& s, std::int64_t times, InstructionCounts& counts) {
  const auto size = [](DType dtype) { return row(dtype).bits / 8; };
  switch (s.kind) {
    case StmtKind::load:
    case StmtKind::store: {
      const bool shared = s.space == Space::shared;
      const DType dtype = shared ? kernel.arrays[s.memory].dtype : kernel.buffers[s.memory].dtype;
      counts[access_key(s.kind == StmtKind::store, shared ? "shared" : "global", shared || s.policy != Policy::again,
                        s.width * size(dtype))] += times;
      return;
    }
    case StmtKind::shuffle: {
      const int words = std::max(1, size(kernel.arrays[s.target.array].dtype) / 4);
      counts["shfl"] += times * words * std::countr_zero(static_cast<unsigned>(s.lanes));
      return;
    }
    case StmtKind::barrier:
      counts[s.scope == StitchLevel::warp ? "bar.warp" : "bar"] += times;
      return;
    case StmtKind::atomic:
      counts["atom"] += times;
      return;
    default:
      return;
  }
}

/// Bytes of "v4.f32" or "u8" at the end of a mnemonic.
std::int64_t bytes_of(std::string_view mnemonic) {
  std::int64_t vector = 1, bits = 0;
  for (const std::string_view part : split(mnemonic, '.')) {
    int number = 0;
    if (part.size() < 2) continue;
    std::from_chars(part.data() + 1, part.data() + part.size(), number);
    if (part[0] == 'v') vector = number;
    bits = number;
  }
  return vector * bits / 8;
}

}  // namespace

InstructionCounts instructions_of(const Kernel& kernel) {
  InstructionCounts counts;
  struct Open {
    std::size_t end;
    std::int64_t times;
  };
  std::vector<Open> open{{kernel.body.size(), 1}};
  for (std::size_t at = 0; at < kernel.body.size(); ++at) {
    while (open.back().end <= at) open.pop_back();
    const Stmt& s = kernel.body[at];
    const std::int64_t times = open.back().times;
    if (s.kind == StmtKind::loop)
      open.push_back({static_cast<std::size_t>(s.end), times * (s.unrolled ? kernel.indices.vars[s.var].extent : 1)});
    else
      count(kernel, s, times, counts);
  }
  return counts;
}

InstructionCounts instructions_of(std::string_view ptx) {
  InstructionCounts counts;
  for (const std::string_view line : split(ptx, '\n')) {
    std::size_t start = line.find_first_not_of(" \t{");
    if (start == line.npos) continue;
    if (line[start] == '@') start = line.find_first_not_of(" \t", line.find_first_of(" \t", start));
    if (start == line.npos) continue;
    const std::string_view word = line.substr(start, line.find_first_of(" \t;", start) - start);
    const bool store = word.starts_with("st.");
    if (word.starts_with("ld.relaxed.cta.global"))
      ++counts[access_key(false, "global", true, bytes_of(word))];
    else if (word.starts_with("ld.global") || word.starts_with("ld.shared") || word.starts_with("st.global") ||
             word.starts_with("st.shared"))
      ++counts[access_key(store, word.substr(3, 6), word.find(".nc") == word.npos, bytes_of(word))];
    else if (word.starts_with("ld.local") || word.starts_with("st.local"))
      ++counts["local"];
    else if (word.starts_with("shfl."))
      ++counts["shfl"];
    else if (word.starts_with("bar.warp"))
      ++counts["bar.warp"];
    else if (word.starts_with("bar."))
      ++counts["bar"];
    else if (word.starts_with("barrier."))
      ++counts["bar"];
    else if (word.starts_with("atom.") || word.starts_with("red."))
      ++counts["atom"];
  }
  return counts;
}

std::string text(const InstructionCounts& counts) {
  std::string out;
  for (const auto& [what, number] : counts) out += fmt::format("{}{}: {}", out.empty() ? "" : ", ", what, number);
  return out;
}

}  // namespace tailor::ir
