// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// What the machine executes for each element. In: softmax at several widths and a GELU, as HLO text. Checked: the
// machine code of the plan that the model of times ranks first for the H200, followed, takes no more than so many
// instructions for each element, all of the kernel's counted.
// Part of the suite `study`; skipped without NVRTC.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <fstream>
#include <string>

#include "folder.h"
#include "study/pipeline/question.h"
#include "study/pipeline/stages.h"
#include "support/kernel_cache.h"
#include "support/listener.h"
#include "support/skip.h"
#include "support/thorough.h"

using namespace tailor;
using namespace tailor::study;

namespace {

constexpr std::int64_t lanes = 32;

std::string softmax(std::string_view type, std::int64_t rows, std::int64_t columns) {
  return fmt::format(R"(HloModule softmax

larger {{
  a = {0}[] parameter(0)
  b = {0}[] parameter(1)
  ROOT c = {0}[] maximum(a, b)
}}

sum {{
  a = {0}[] parameter(0)
  b = {0}[] parameter(1)
  ROOT c = {0}[] add(a, b)
}}

ENTRY main {{
  x = {0}[{1},{2}]{{1,0}} parameter(0)
  least = {0}[] constant(-inf)
  m = {0}[{1}]{{0}} reduce(x, least), dimensions={{1}}, to_apply=larger
  ms = {0}[{1},{2}]{{1,0}} broadcast(m), dimensions={{0}}
  d = {0}[{1},{2}]{{1,0}} subtract(x, ms)
  e = {0}[{1},{2}]{{1,0}} exponential(d)
  zero = {0}[] constant(0)
  s = {0}[{1}]{{0}} reduce(e, zero), dimensions={{1}}, to_apply=sum
  ss = {0}[{1},{2}]{{1,0}} broadcast(s), dimensions={{0}}
  ROOT y = {0}[{1},{2}]{{1,0}} divide(e, ss)
}}
)",
                     type, rows, columns);
}

std::string bias_gelu(std::string_view type, std::int64_t rows, std::int64_t columns) {
  return fmt::format(R"(HloModule bias_gelu

ENTRY main {{
  x = {0}[{1},{2}]{{1,0}} parameter(0)
  b = {0}[{2}]{{0}} parameter(1)
  bs = {0}[{1},{2}]{{1,0}} broadcast(b), dimensions={{1}}
  v = {0}[{1},{2}]{{1,0}} add(x, bs)
  v2 = {0}[{1},{2}]{{1,0}} multiply(v, v)
  v3 = {0}[{1},{2}]{{1,0}} multiply(v2, v)
  c = {0}[] constant(0.044708)
  cs = {0}[{1},{2}]{{1,0}} broadcast(c), dimensions={{}}
  p = {0}[{1},{2}]{{1,0}} multiply(v3, cs)
  q = {0}[{1},{2}]{{1,0}} add(v, p)
  r = {0}[] constant(0.79785)
  rs = {0}[{1},{2}]{{1,0}} broadcast(r), dimensions={{}}
  u = {0}[{1},{2}]{{1,0}} multiply(q, rs)
  t = {0}[{1},{2}]{{1,0}} tanh(u)
  one = {0}[] constant(1)
  ones = {0}[{1},{2}]{{1,0}} broadcast(one), dimensions={{}}
  w = {0}[{1},{2}]{{1,0}} add(t, ones)
  half = {0}[] constant(0.5)
  halves = {0}[{1},{2}]{{1,0}} broadcast(half), dimensions={{}}
  h = {0}[{1},{2}]{{1,0}} multiply(w, halves)
  ROOT y = {0}[{1},{2}]{{1,0}} multiply(v, h)
}}
)",
                     type, rows, columns);
}

/// Of the plan that is ranked first, by its machine code.
double instructions_for_each_element(const profiler::Nvrtc& api, const std::string& hlo, std::string_view arithmetic,
                                     std::int64_t elements) {
  const Folder folder;
  Question question;
  question.model = folder.path / "model.hlo";
  std::ofstream(question.model) << hlo;
  question.device = "h200";
  question.axes = {fmt::format("arithmetic={}", arithmetic)};
  Listener listener;
  FusedModel model(question, source / "data", {listener});
  const PreparedGroup& group = model.group(model.chosen_group());
  REQUIRE(model.partition.groups.size() == 1);
  Choice choice = choose(group, model.target, model.choosing(1), {});
  REQUIRE(choice.candidates.front().rank == 1);
  const std::span<Candidate> first(choice.candidates.data(), 1);
  print(first);
  Compiling how;
  how.api = &api;
  how.cache = kernels::cache().folder;
  how.shapes = Shapes::own;
  compile(first, how, {listener});
  REQUIRE(first[0].compiled());
  REQUIRE(first[0].machine);
  const ir::MachineWork machine = together(*first[0].machine);
  REQUIRE_MESSAGE(machine.counted, machine.note);
  REQUIRE_MESSAGE(machine.assumed == 0, machine.note);
  return static_cast<double>(ir::total(machine.executed) * lanes) / static_cast<double>(elements);
}

struct Wanted {
  std::string_view what, type, arithmetic;
  std::int64_t rows, columns;
  double most;
};

}  // namespace

TEST_CASE("the plan ranked first executes few machine instructions for each element") {
  const profiler::FoundNvrtc compiler = profiler::find_nvrtc(profiler::default_nvrtc_paths({source / ".venv"}));
  if (!compiler) return skip(compiler.reason);
  int number = 0;
  for (const Wanted& one : std::to_array<Wanted>({{"softmax", "f32", "xla", 4096, 256, 16},
                                                  {"softmax", "f32", "xla", 4096, 768, 16},
                                                  {"softmax", "f32", "xla", 4096, 1024, 16},
                                                  {"softmax", "f32", "xla", 4096, 2048, 16},
                                                  {"softmax", "f32", "xla", 4096, 4096, 16},
                                                  {"softmax", "f32", "xla", 4096, 8192, 16},
                                                  // Clusters of four blocks: 3.7 vectors a thread, of which each
                                                  // carries its guard, and sums of 16 warps.
                                                  {"softmax", "f32", "xla", 64, 30000, 18.5},
                                                  {"softmax", "f16", "xla", 4096, 1024, 18},
                                                  {"bias_gelu", "f16", "approx", 4096, 3072, 18}})) {
    if (!testing::broad() && number++ % 3 != 2) continue;  // of each kind one
    const std::string hlo =
        one.what == "softmax" ? softmax(one.type, one.rows, one.columns) : bias_gelu(one.type, one.rows, one.columns);
    CAPTURE(one.columns);
    const double found = instructions_for_each_element(*compiler.api, hlo, one.arithmetic, one.rows * one.columns);
    CHECK_MESSAGE(found <= one.most, fmt::format("{} {} [{},{}] in {}: {:.2f}", one.what, one.type, one.rows,
                                                 one.columns, one.arithmetic, found));
  }
}
