// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Kernels whose blocks meet in the grid, by hand: what one computes and asks for in the interpreter and by both ways of
// counting; what the check refuses; the numbers with which blocks count, in every order in which few of them can come.
// Part of the suite `ir`.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cstring>
#include <functional>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "ir/kernel/kernel.h"
#include "support/interpret.h"
#include "support/kernel_builder.h"

using namespace tailor;
using namespace tailor::ir;

namespace {

constexpr int threads = 32, tiles = 3, ranks = 4;
constexpr std::int64_t blocks = tiles * ranks;

/// Blocks of a tile each leave their number's double, meet, and store what the next of them left; `meetings` times.
Kernel neighbours(int meetings = 1) {
  KernelBuilder b("neighbours", threads, blocks);
  b.kernel.cooperative = true;
  b.kernel.min_blocks = 1;
  b.kernel.indices.vars[b.vb] = {"tile", VarKind::block, tiles, ranks};
  b.kernel.indices.vars.push_back({"rank", VarKind::block, ranks, 1});
  const auto rank = static_cast<VarId>(b.kernel.indices.vars.size() - 1);
  const VarId lane = b.thread("lane", 1, threads);
  const BufferId x = b.in("x", DType::f32, blocks), y = b.out("y", DType::f32, blocks * meetings);
  std::vector<BufferId> parts;
  for (int i = 0; i < meetings; ++i) {
    parts.push_back(b.in(fmt::format("parts_{}", i), DType::f32, blocks));
    b.kernel.buffers[parts.back()].role = BufferRole::workspace;
  }
  const BufferId ticket = b.in("ticket", DType::u32, tiles);
  b.kernel.buffers[ticket].role = BufferRole::ticket;
  const ExprId own = b.sum({b.var(rank), b.var(b.vb, ranks)});
  const ExprId next = b.sum({b.mod(b.sum({b.var(rank), b.number(1)}), ranks), b.var(b.vb, ranks)});
  const LetId value = b.load_let("value", x, own);
  for (int i = 0; i < meetings; ++i) {
    b.guard_equal(b.var(lane), b.number(0));
    b.store(parts[static_cast<std::size_t>(i)], own, b.op(Op::add, {b.get(value), b.get(value)}));
    b.end();
    Stmt& meet = b.barrier(StitchLevel::grid);
    meet.memory = ticket;
    meet.expr = b.var(b.vb);
    meet.rank = b.var(rank);
    b.guard_equal(b.var(lane), b.number(0));
    const LetId theirs =
        b.load_let(fmt::format("theirs_{}", i), parts[static_cast<std::size_t>(i)], next, Policy::reload);
    b.store(y, b.sum({own, b.number(i * blocks)}), b.get(theirs));
    b.end();
  }
  return b.finished();
}

Stmt& meeting_of(Kernel& kernel) {
  for (Stmt& stmt : kernel.body)
    if (is_grid_barrier(stmt)) return stmt;
  throw std::logic_error("no meeting");
}

std::string refused(const std::function<void(Kernel&)>& spoil) {
  Kernel kernel = neighbours();
  spoil(kernel);
  try {
    verify(kernel);
  } catch (const std::logic_error& error) {
    return error.what();
  }
  return "accepted";
}

bool says(const std::string& text, std::string_view part) { return text.find(part) != text.npos; }

KernelRun run(const Kernel& kernel) {
  std::vector<std::vector<std::byte>> buffers;
  for (const Buffer& buffer : kernel.buffers) buffers.emplace_back(static_cast<std::size_t>(4 * buffer.elements));
  for (std::size_t i = 0; i < static_cast<std::size_t>(blocks); ++i) {
    const auto value = static_cast<float>(i);
    std::memcpy(buffers[0].data() + 4 * i, &value, 4);
  }
  return interpret(kernel, std::move(buffers));
}

/// Blocks that come and go on in every order there is: what each has done is how many meetings it has behind it, and
/// whether it has counted at the next.
class Orders {
 public:
  Orders(int count, int meetings) : count_(count), meetings_(meetings) {}

  void explore(std::vector<int> steps, std::uint32_t ticket) {
    if (!seen_.insert({steps, ticket}).second) return;
    bool stuck = true, done = true;
    for (int block = 0; block < count_; ++block) {
      const auto at = static_cast<std::size_t>(block);
      if (steps[at] == 2 * meetings_) continue;
      done = false;
      const int met = steps[at] / 2;
      const Arrival how = arrival(count_, met, meetings_);
      if (steps[at] % 2 == 0) {
        std::vector<int> next = steps;
        ++next[at];
        explore(next, ticket + (block == 0 ? how.first_adds : 1u));
        stuck = false;
        continue;
      }
      if (ticket - how.from < how.count) continue;
      for (const int other : steps) CHECK(other > 2 * met);  // nobody goes on before all have counted
      std::vector<int> next = steps;
      ++next[at];
      explore(next, ticket);
      stuck = false;
    }
    if (done) {
      CHECK(ticket == 0);
      ++ends;
    }
    CHECK((done || !stuck));
  }
  int ends = 0;

 private:
  int count_, meetings_;
  std::set<std::pair<std::vector<int>, std::uint32_t>> seen_;
};

}  // namespace

TEST_CASE("blocks that meet in the grid see what the others wrote") {
  for (const int meetings : {1, 3}) {
    CAPTURE(meetings);
    const Kernel kernel = neighbours(meetings);
    verify(kernel);
    const KernelRun found = run(kernel);
    CHECK(found.violations == std::vector<std::string>());
    for (int i = 0; i < meetings * blocks; ++i) {
      const int own = i % static_cast<int>(blocks), tile = own / ranks;
      float value = 0;
      std::memcpy(&value, found.buffers[1].data() + 4 * i, 4);
      CHECK(value == static_cast<float>(2 * (tile * ranks + (own + 1) % ranks)));
    }
    CHECK(found.counts.barriers == 2 * blocks * meetings);  // a warp each
    const std::array<Traffic, 3>& ticket = found.counts.buffers.back();
    CHECK(ticket[2].requests == blocks * meetings);
    CHECK(ticket[0].requests == blocks * meetings);
  }
}

TEST_CASE("a meeting says in the kernel's text where blocks count and as whom, and is part of its id") {
  Kernel kernel = neighbours();
  CHECK(says(text(kernel), "  barrier grid at ticket[tile] as rank\n"));
  CHECK(says(text(kernel), " min_blocks=1 cooperative"));
  const Id plain = id_of(kernel);
  Stmt& meeting = meeting_of(kernel);
  std::swap(meeting.rank, meeting.expr);
  CHECK(id_of(kernel) != plain);
}

TEST_CASE("the check refuses meetings that some blocks would miss, or where they would count for others") {
  CHECK(refused([](Kernel&) {}) == "accepted");
  CHECK(says(refused([](Kernel& k) { k.cooperative = false; }), "a grid barrier in a launch that may queue"));
  CHECK(says(refused([](Kernel& k) { k.persistent = true; }), "a grid barrier in a launch that may queue"));
  CHECK(says(refused([](Kernel& k) { meeting_of(k).memory = no_id; }), "a grid barrier without a ticket"));
  CHECK(says(refused([](Kernel& k) { meeting_of(k).memory = 0; }), "a grid barrier that counts in no ticket"));
  CHECK(says(refused([](Kernel& k) { k.buffers.back().dtype = DType::s32; }), "counts in no ticket"));
  CHECK(
      says(refused([](Kernel& k) { k.buffers.back().elements = 5; }), "a grid barrier that some blocks do not reach"));
  CHECK(says(refused([](Kernel& k) { k.buffers.back().elements = 2; }), "ticket: index tile is in [0, 2]"));
  CHECK(says(refused([](Kernel& k) { k.buffers.back().elements = 4; }), "blocks that meet: index rank is in [0, 3]"));
  CHECK(says(refused([](Kernel& k) { meeting_of(k).rank = k.body.front().expr; }), "blocks that meet: index"));
  const auto lane = [](Kernel& k) {
    for (const Stmt& stmt : k.body)
      if (stmt.kind == StmtKind::guard) return stmt.conditions[0].a;
    return no_expr;
  };
  CHECK(says(refused([&](Kernel& k) {
               k.buffers.back().elements = 1;
               meeting_of(k).expr = k.body[1].conditions[0].b;  // counter 0, of twelve blocks
               meeting_of(k).rank = lane(k);
               k.threads = 8;
             }),
             "kernel neighbours, statement"));
  CHECK(says(refused([](Kernel& k) {
               for (std::size_t i = 0; i < k.body.size(); ++i)
                 if (is_grid_barrier(k.body[i])) std::swap(k.body[i], k.body[i - 1]);
             }),
             "in a guard"));
}

TEST_CASE("in whichever order blocks come and go on, nobody leaves a meeting early and the ticket ends at zero") {
  for (const int count : {2, 3, 4})
    for (const int meetings : {1, 2, 3}) {
      CAPTURE(count);
      CAPTURE(meetings);
      Orders orders(count, meetings);
      orders.explore(std::vector<int>(static_cast<std::size_t>(count), 0), 0);
      CHECK(orders.ends == 1);
    }
}
