// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Indices that the printed text computes again: where the rule says so and nowhere else, by kernels of two phases that
// differ in one thing each; what the text is there; and that a kernel of rows in pieces keeps fewer registers by it.
// Part of the suite `codegen`.
#include <doctest/doctest.h>

#include <string>
#include <string_view>

#include "base/text.h"
#include "codegen/cuda/cuda.h"
#include "codegen/cuda/renewal.h"
#include "support/kernel_builder.h"

using namespace tailor;
using namespace tailor::ir;

namespace {

/// Two phases of a block of 32 threads that each go over `copies` elements of a thread, with or without a barrier
/// between them, and ask the same index.
struct Phases {
  enum class Asks : std::uint8_t { sum, quotient, of_block, value, guard };
  enum class Loop : std::uint8_t { unrolled, rolled };
  enum class Around : std::uint8_t { nothing, loop };
  Asks asks = Asks::quotient;
  std::int64_t copies = 8;
  int phases = 2;
  bool waits = true;
  Loop loop = Loop::unrolled;
  Around around = Around::nothing;
  bool names = false;
};

Kernel made(const Phases& what) {
  KernelBuilder b("phases", 32, 2);
  const VarId tid = b.thread("tid", 1, 32), t = b.loop_var("t", what.copies), turn = b.loop_var("turn", 2);
  const BufferId y = b.out("y", DType::s32, 4096);
  const ExprId own = b.sum({b.var(tid), b.var(t, 32)}), of_block = b.sum({b.var(b.vb), b.var(t, 2)});
  const ExprId quotient = b.div(what.asks == Phases::Asks::of_block ? of_block : own, 7);
  const bool divides = what.asks == Phases::Asks::quotient || what.asks == Phases::Asks::of_block;
  const ExprId place = divides ? b.sum({own, quotient}) : own;
  if (what.around == Phases::Around::loop) b.loop(turn);
  if (what.names) b.name_index(b.sum({b.var(tid), b.var(b.vb, 1024)}));
  for (int phase = 0; phase < what.phases; ++phase) {
    if (phase > 0 && what.waits) b.barrier();
    b.loop(t, what.loop == Phases::Loop::unrolled);
    if (what.asks == Phases::Asks::guard) b.guard_less(quotient, b.number(5));
    b.store(y, what.names ? b.sum({place, b.var(b.vb, 1024)}) : place,
            what.asks == Phases::Asks::value ? b.index(DType::s32, own) : b.integer(DType::s32, phase));
    if (what.asks == Phases::Asks::guard) b.end();
    b.end();
  }
  if (what.around == Phases::Around::loop) b.end();
  return b.finished();
}

std::size_t renewed(const Phases& what) { return codegen::renewals(made(what)).size(); }

}  // namespace

TEST_CASE("indices that eight copies have for themselves are computed again behind a wait, and no others") {
  using Asks = Phases::Asks;
  CHECK(renewed({}) == 1);
  CHECK(renewed({.copies = 7}) == 0);
  CHECK(renewed({.phases = 1}) == 0);
  CHECK(renewed({.phases = 3}) == 2);
  CHECK(renewed({.waits = false}) == 0);
  CHECK(renewed({.loop = Phases::Loop::rolled}) == 0);
  CHECK(renewed({.around = Phases::Around::loop}) == 0);
  CHECK(renewed({.asks = Asks::sum}) == 0);
  CHECK(renewed({.asks = Asks::of_block}) == 0);
  CHECK(renewed({.asks = Asks::value}) == 1);
  CHECK(renewed({.asks = Asks::guard}) == 1);
  Kernel kernel = made({});
  kernel.persistent = true;
  kernel.grid = 1;
  CHECK(codegen::renewals(kernel).empty());
}

TEST_CASE("numbers of threads are renewed in front of the loop, and names of indices are made of them") {
  const auto printed = [](const Phases& what) { return codegen::cuda(made(what), std::string_view()); };
  const std::string text = printed({.names = true});
  CHECK(text.find("\n  int tid = ") != text.npos);
  CHECK(text.find("\n  int i = ") != text.npos);
  const std::string_view again =
      "  __syncthreads();\n  // Computed again by the copies below, not kept by them.\n  renew(tid);\n"
      "  i = tid + vb * 1024;\n  #pragma unroll\n  for (int t = 0; t < 8; ++t) {\n";
  CHECK(text.find(again) != text.npos);
  const std::string usual = printed({.waits = false, .names = true});
  CHECK(usual.find("renew") == usual.npos);
  CHECK(usual.find("\n  const int tid = ") != usual.npos);
  CHECK(usual.find("\n  const int i = ") != usual.npos);
}
