// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Kernels by hand: their text, identity and check, and the interpreter that later judges lowered ones: its values
// against plain loops, its counts against arithmetic on paper, and its alarms against kernels with one defect each.
// Part of the suite `ir`.
#include "ir/kernel/kernel.h"

#include <doctest/doctest.h>

#include <cmath>
#include <cstring>
#include <functional>
#include <random>
#include <stdexcept>

#include "ir/kernel/index_text.h"
#include "support/golden.h"
#include "support/interpret.h"
#include "support/kernel_builder.h"

using namespace tailor;
using namespace tailor::ir;

namespace {

using Contents = std::vector<std::vector<std::byte>>;

std::vector<std::byte> bytes_of(const std::vector<float>& values) {
  std::vector<std::byte> bytes(values.size() * sizeof(float));
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

std::vector<float> floats_of(const std::vector<std::byte>& bytes) {
  std::vector<float> values(bytes.size() / sizeof(float));
  std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

std::vector<float> random_floats(std::int64_t count, unsigned seed) {
  std::mt19937 generator(seed);
  std::vector<float> values;
  for (std::int64_t i = 0; i < count; ++i) values.push_back(static_cast<float>(generator() % 4096) / 1024.0f - 2.0f);
  return values;
}

Contents zeroed(const Kernel& kernel) {
  Contents contents;
  for (const Buffer& b : kernel.buffers)
    contents.emplace_back(static_cast<std::size_t>(b.elements * row(b.dtype).bits / 8));
  return contents;
}

/// What the interpreter says about a small kernel of 64 threads with shared float s[64], input x[64] and output y[64].
std::vector<std::string> problems_of(const std::function<void(KernelBuilder&, VarId tid, ArrayId s)>& write) {
  KernelBuilder b("defect", 64, 1);
  const VarId tid = b.thread("tid", 1, 64);
  b.in("x", DType::f32, 64), b.out("y", DType::f32, 64);
  write(b, tid, b.shared("s", DType::f32, 64));
  return interpret(b.kernel, zeroed(b.kernel)).violations;
}

bool mentions(const std::vector<std::string>& violations, std::string_view what) {
  return !violations.empty() && violations[0].find(what) != std::string::npos;
}

void check_layer_norm(std::int64_t rows, int trips, int lanes) {
  const Kernel kernel = example_layer_norm(rows, trips, lanes);
  const std::int64_t n = static_cast<std::int64_t>(lanes) * trips * 4;
  const auto x = random_floats(rows * n, 1), gamma = random_floats(n, 2), beta = random_floats(n, 3);
  Contents contents = zeroed(kernel);
  contents[0] = bytes_of(x), contents[1] = bytes_of(gamma), contents[2] = bytes_of(beta);
  const KernelRun run = interpret(kernel, contents);
  CAPTURE(rows);
  CAPTURE(lanes);
  for (const std::string& violation : run.violations) FAIL_CHECK(violation);
  const auto y = floats_of(run.buffers[3]);
  double worst = 0;
  for (std::int64_t r = 0; r < rows; ++r) {
    const float* row_of = x.data() + r * n;
    double mean = 0, variance = 0;
    for (std::int64_t i = 0; i < n; ++i) mean += static_cast<double>(row_of[i]) / static_cast<double>(n);
    for (std::int64_t i = 0; i < n; ++i)
      variance += std::pow(static_cast<double>(row_of[i]) - mean, 2) / static_cast<double>(n);
    for (std::int64_t i = 0; i < n; ++i) {
      const auto k = static_cast<std::size_t>(i);
      const double expected =
          (static_cast<double>(row_of[i]) - mean) / std::sqrt(variance + 1e-5) * static_cast<double>(gamma[k]) +
          static_cast<double>(beta[k]);
      worst = std::max(worst, std::fabs(expected - static_cast<double>(y[static_cast<std::size_t>(r * n + i)])));
    }
  }
  CHECK(worst < 1e-5);
  // On paper: every vector once, 32 threads of 16 bytes per request.
  const std::int64_t requests = rows * n / 128;
  CHECK(run.counts.buffers[0][0] == Traffic{requests, requests * 16, rows * n * 4});
  CHECK(run.counts.buffers[1][0].requests == requests);
  CHECK(run.counts.buffers[3][1] == Traffic{requests, requests * 16, rows * n * 4});
  CHECK(run.counts.shuffles == kernel.virtual_blocks * kernel.threads / 32 * 10);
  CHECK(run.counts.barriers == (lanes > 32 ? kernel.virtual_blocks * kernel.threads / 32 * 2 : 0));
}

}  // namespace

TEST_CASE("a map kernel has its golden text") {
  check_golden("map_f16.kernel", text(example_map(37, 768, DType::f16)));
}

TEST_CASE("LayerNorm kernels have their golden texts") {
  check_golden("layer_norm.kernel",
               text(example_layer_norm(4096, 6, 32)) + "\n" + text(example_layer_norm(37, 2, 128)));
}

TEST_CASE("index expressions evaluate to what their text says") {
  KernelBuilder b("index", 64, 10);
  const VarId tid = b.thread("tid", 1, 64);
  const ExprId two = b.sum({b.var(b.vb, 3), b.var(tid, 5), b.number(7)});
  const ExprId all = b.sum({b.div(two, 4), b.var(tid, -2), b.mod(b.var(b.vb), 3),
                            b.select(b.var(tid), b.number(9), b.var(tid), b.var(b.vb)),
                            b.exclusive_or(b.var(tid), b.mod(b.var(b.vb), 8))});
  const IndexPool& pool = b.kernel.indices;
  CHECK(text(pool, two) == "vb * 3 + tid * 5 + 7");
  CHECK(coefficient(pool, two, tid) == 5);
  CHECK(coefficient(pool, all, tid) == -2);
  CHECK(is_nested(pool, all, tid));
  CHECK_FALSE(is_nested(pool, two, tid));
  for (std::int64_t vb = 0; vb < 10; ++vb)
    for (std::int64_t t = 0; t < 64; ++t) {
      std::vector<std::int64_t> values(pool.vars.size());
      values[b.vb] = vb, values[tid] = t;
      CHECK(evaluate(pool, all, values) ==
            (vb * 3 + t * 5 + 7) / 4 - t * 2 + vb % 3 + (t < 9 ? t : vb) + (t ^ (vb % 8)));
    }
}

TEST_CASE("a named index replaces the part of a sum it covers") {
  KernelBuilder b("names", 64, 10);
  const VarId tid = b.thread("tid", 1, 64), t = b.loop_var("t", 4);
  const ExprId base = b.sum({b.var(tid, 4), b.var(b.vb, 256)}), all = b.sum({base, b.var(t, 64), b.number(3)});
  IndexSpelling spelling = plain_spelling(b.kernel.indices);
  spelling.named.push_back({base, "i"});
  CHECK(text(spelling, all) == "i + t * 64 + 3");
  CHECK(text(spelling, b.mod(all, 7)) == "(i + t * 64 + 3) % 7");
  CHECK(text(spelling, b.mod(base, 7)) == "i % 7");
  CHECK(text(spelling, b.var(tid, 4)) == "tid * 4");
}

TEST_CASE("the id passes over names, index names and pool order, and over nothing else") {
  const Kernel kernel = example_layer_norm(37, 2, 128);
  Kernel same = kernel;
  same.name = "another";
  for (Let& let : same.lets) let.name = "v";
  for (Buffer& buffer : same.buffers) buffer.name = "b";
  for (Array& array : same.arrays) array.name = "a";
  for (Var& var : same.indices.vars) var.name = "k";
  same.index_cache = false;
  CHECK(id_of(same) == id_of(kernel));
  Kernel plain = kernel;
  std::size_t at = 0;
  while (plain.body[at].kind != StmtKind::index) ++at;
  plain.body.erase(plain.body.begin() + static_cast<std::ptrdiff_t>(at));
  for (Stmt& s : plain.body)
    if (s.end > static_cast<std::int32_t>(at)) --s.end;
  CHECK(id_of(plain) == id_of(kernel));
  for (std::size_t i = 0; i < kernel.body.size(); ++i) {
    Kernel other = kernel;
    Stmt& s = other.body[i];
    if (s.kind == StmtKind::load)
      s.policy = Policy::reload;
    else if (s.kind == StmtKind::loop)
      s.unrolled = !s.unrolled;
    else if (s.kind == StmtKind::assign)
      s.op = Op::minimum;
    else if (s.kind == StmtKind::barrier)
      s.scope = StitchLevel::warp;
    else
      continue;
    CHECK(id_of(other) != id_of(kernel));
  }
  CHECK(id_of(example_layer_norm(37, 2, 128)) != id_of(example_layer_norm(38, 2, 128)));
}

TEST_CASE("a kernel that breaks a contract fails its check") {
  const Kernel good = example_layer_norm(37, 2, 128);
  CHECK_NOTHROW(verify(good));
  const auto broken = [&](StmtKind kind, const std::function<void(Kernel&, Stmt&)>& change) {
    Kernel kernel = good;
    for (Stmt& s : kernel.body)
      if (s.kind == kind) {
        change(kernel, s);
        break;
      }
    CHECK_THROWS_AS(verify(kernel), std::logic_error);
  };
  broken(StmtKind::load, [](Kernel&, Stmt& s) { s.width = 3; });
  broken(StmtKind::load, [](Kernel&, Stmt& s) { s.width = 8; });
  broken(StmtKind::load, [](Kernel& k, Stmt&) { k.buffers[0].dtype = DType::f16; });
  broken(StmtKind::load, [](Kernel& k, Stmt&) { k.buffers[0].elements -= 1; });
  broken(StmtKind::load, [](Kernel&, Stmt& s) { s.target.array = 1; });
  broken(StmtKind::load, [](Kernel&, Stmt& s) { s.target.subs[0] = no_expr; });
  broken(StmtKind::store, [](Kernel& k, Stmt&) { k.shared_bytes = 4; });
  broken(StmtKind::store, [](Kernel& k, Stmt&) { k.buffers[3].role = BufferRole::input; });
  broken(StmtKind::loop, [](Kernel& k, Stmt& s) { k.arrays[0].dims[0] = k.indices.vars[s.var].extent - 1; });
  broken(StmtKind::loop, [](Kernel&, Stmt& s) { s.end += 1000; });
  broken(StmtKind::let, [](Kernel& k, Stmt& s) { k.lets[s.let].dtype = DType::s32; });
  broken(StmtKind::shuffle, [](Kernel&, Stmt& s) { s.lanes = 12; });
  broken(StmtKind::guard,
         [](Kernel& k, Stmt& s) { k.body[static_cast<std::size_t>(&s - k.body.data()) + 1].kind = StmtKind::barrier; });
  broken(StmtKind::declare, [](Kernel&, Stmt& s) { s.target.array = 1; });
  broken(StmtKind::index, [](Kernel& k, Stmt& s) { s.expr = static_cast<ExprId>(k.indices.exprs.size()); });
}

TEST_CASE("a guard stands for what another leaves out only where it stands behind it and asks the opposite") {
  struct Pair {
    std::string_view what;
    bool stands, otherwise_first = false, between = false, equal = false;
    std::int64_t bound = 4, opposite = 3;
  };
  for (const Pair& pair : {Pair{"the opposite", true},
                           {"another bound", false, false, false, false, 4, 2},
                           {"the same question", false, false, false, false, 4, 4},
                           {"a statement between", false, false, true},
                           {"an equality", false, false, false, true},
                           {"nothing before it", false, true}}) {
    CAPTURE(pair.what);
    KernelBuilder b("arms", 32, 1);
    const VarId tid = b.thread("tid", 1, 32);
    const BufferId x = b.in("x", DType::f32, 32), w = b.in("w", DType::f32, 32), y = b.out("y", DType::f32, 32);
    const ArrayId v = b.array("v", DType::f32);
    b.declare(v);
    if (!pair.otherwise_first) {
      pair.equal ? b.guard_equal(b.var(tid), b.number(pair.bound)) : b.guard_less(b.var(tid), b.number(pair.bound));
      b.load(b.ref(v), x, b.var(tid), 1);
      b.end();
    }
    if (pair.between) b.let("one", b.real(DType::f32, 1));
    b.guard_less(b.number(pair.opposite), b.var(tid));
    const std::size_t second = b.kernel.body.size() - 1;
    b.load(b.ref(v), w, b.var(tid), 1);
    b.end();
    b.store(y, b.var(tid), 1, b.ref(v));
    const Id alone = id_of(b.kernel);
    b.kernel.body[second].otherwise = true;
    CHECK(id_of(b.kernel) != alone);
    CHECK((text(b.kernel).find("else:") != std::string::npos));
    if (!pair.stands) {
      CHECK_THROWS_AS(verify(b.kernel), std::logic_error);
      continue;
    }
    verify(b.kernel);
    CHECK(interpret(b.kernel, zeroed(b.kernel)).violations.empty());
  }
}

TEST_CASE("interpreted LayerNorm rows equal plain loops and count what paper says") {
  for (const std::int64_t rows : {1, 4, 5, 37})
    for (const int lanes : {32, 128}) check_layer_norm(rows, 2, lanes);
}

TEST_CASE("an interpreted f16 map rounds each result once") {
  const Kernel kernel = example_map(3, 64, DType::f16);
  Contents contents = zeroed(kernel);
  for (std::size_t i = 0; i < contents[0].size() / 2; ++i) {
    const std::uint16_t half = static_cast<std::uint16_t>(0x3800 + i);  // from 0.5 up in steps of 2^-11
    std::memcpy(contents[0].data() + 2 * i, &half, 2);
  }
  const KernelRun run = interpret(kernel, contents);
  CHECK(run.violations.empty());
  for (std::size_t i = 0; i < contents[0].size() / 2; ++i) {
    std::uint16_t half = 0;
    std::memcpy(&half, run.buffers[2].data() + 2 * i, 2);
    const float wanted = static_cast<float>(std::tanh(0.5 + std::ldexp(static_cast<double>(i), -11)));
    const double found = half < 0x3800 ? 0.25 + std::ldexp(half - 0x3400, -12) : 0.5 + std::ldexp(half - 0x3800, -11);
    CHECK(std::fabs(found - static_cast<double>(wanted)) <= std::ldexp(1.0, -12));
  }
  CHECK(run.counts.buffers[1][0].requests == 2);
}

TEST_CASE("the interpreter raises an alarm for each kind of defect") {
  const BufferId x = 0, y = 1;
  CHECK(problems_of([&](KernelBuilder& b, VarId tid, ArrayId) {
          const LetId v = b.load_let("v", x, b.var(tid));
          b.store(y, b.var(tid), b.get(v));
        }).empty());
  CHECK(mentions(problems_of([&](KernelBuilder& b, VarId tid, ArrayId) {
                   b.load_let("v", x, b.sum({b.var(tid), b.number(1)}));
                 }),
                 "accesses element 64"));
  CHECK(mentions(problems_of([&](KernelBuilder& b, VarId, ArrayId) {
                   const ArrayId v = b.array("v", DType::f32, {0, 0}, 4);
                   b.declare(v);
                   b.load(b.ref(v), x, b.number(2), 4);
                 }),
                 "misaligned"));
  CHECK(mentions(problems_of([&](KernelBuilder& b, VarId tid, ArrayId) {
                   const ArrayId v = b.array("v", DType::f32);
                   b.declare(v);
                   b.store(y, b.var(tid), b.element(b.ref(v)));
                 }),
                 "before it is set"));
  CHECK(mentions(problems_of([&](KernelBuilder& b, VarId tid, ArrayId s) {
                   const ArrayId v = b.array("v", DType::f32);
                   b.declare(v);
                   b.load_shared(b.ref(v), s, b.var(tid), 1);
                 }),
                 "before it is set"));
  CHECK(mentions(problems_of([&](KernelBuilder& b, VarId tid, ArrayId s) {
                   b.store_shared(s, b.var(tid), b.real(DType::f32, 1));
                   const ArrayId v = b.array("v", DType::f32);
                   b.declare(v);
                   b.load_shared(b.ref(v), s, b.mod(b.sum({b.var(tid), b.number(1)}), 64), 1);
                 }),
                 "since the last barrier"));
  CHECK(mentions(
      problems_of([&](KernelBuilder& b, VarId, ArrayId s) { b.store_shared(s, b.number(0), b.real(DType::f32, 1)); }),
      "since the last barrier"));
  CHECK(mentions(problems_of([&](KernelBuilder& b, VarId tid, ArrayId) {
                   b.guard_less(b.var(tid), b.number(32));
                   b.barrier();
                   b.end();
                 }),
                 "some threads do not reach"));
  CHECK(mentions(problems_of([&](KernelBuilder& b, VarId tid, ArrayId) {
                   const ArrayId v = b.array("v", DType::f32);
                   b.declare(v, b.real(DType::f32, 1));
                   b.guard_less(b.var(tid), b.number(16));
                   b.shuffle(b.ref(v), Op::add, 16);
                   b.end();
                 }),
                 "divergent warp"));
}

TEST_CASE("an exchange gives what the lane across a bit has, or the first of the group, and counts as a shuffle") {
  for (const auto& [stride, lanes] : {std::pair(1, 8), {4, 8}, {16, 32}, {0, 4}, {0, 32}}) {
    CAPTURE(stride);
    CAPTURE(lanes);
    KernelBuilder b("exchanged", 64, 1);
    const VarId tid = b.thread("tid", 1, 64);
    const BufferId y = b.out("y", DType::s64, 64);
    const LetId own = b.let("own", b.index(DType::s64, b.var(tid, 3)));
    b.store(y, b.var(tid), b.get(b.exchange("other", b.get(own), stride, lanes)));
    const Kernel kernel = b.finished();
    const KernelRun run = interpret(kernel, zeroed(kernel));
    CHECK(run.violations.empty());
    std::array<std::int64_t, 64> found{};
    std::memcpy(found.data(), run.buffers[0].data(), sizeof(found));
    for (std::int64_t t = 0; t < 64; ++t)
      CHECK(found[static_cast<std::size_t>(t)] == 3 * (stride == 0 ? t / lanes * lanes : t ^ stride));
    CHECK(run.counts.shuffles == 2 * 2);  // 64 bits, two warps
  }
}

TEST_CASE("atomics add once per thread and count a request per warp") {
  KernelBuilder b("histogram", 64, 3);
  const VarId tid = b.thread("tid", 1, 64);
  const BufferId y = b.out("y", DType::s32, 4);
  b.atomic(y, b.mod(b.var(tid), 4), Op::add, b.integer(DType::s32, 2));
  const Kernel kernel = b.finished();
  const KernelRun run = interpret(kernel, zeroed(kernel));
  std::array<std::int32_t, 4> found{};
  std::memcpy(found.data(), run.buffers[0].data(), sizeof(found));
  CHECK(found == std::array<std::int32_t, 4>{96, 96, 96, 96});
  CHECK(run.counts.buffers[0][2] == Traffic{6, 6, 768});
}

namespace {

/// Four blocks of 32 threads take numbers; the one with the last writes how many there are, if `spoil` leaves it so.
Kernel last_block(const std::function<void(Kernel&)>& spoil) {
  KernelBuilder b("last", 32, 4);
  const VarId tid = b.thread("tid", 1, 32);
  const BufferId y = b.out("y", DType::u32, 1), t = b.in("t", DType::u32, 1);
  b.kernel.buffers[t].role = BufferRole::ticket;
  const ArrayId number = b.shared("number", DType::u32, 1);
  const auto put = [&](Stmt stmt, std::string_view name) {
    b.kernel.lets.push_back({std::string(name), DType::u32});
    stmt.let = static_cast<LetId>(b.kernel.lets.size() - 1);
    b.kernel.body.push_back(stmt);
    return b.get(stmt.let);
  };
  b.guard_equal(b.var(tid), b.number(0));
  Stmt fence;
  fence.kind = StmtKind::fence;
  b.kernel.body.push_back(fence);
  Stmt take;
  take.kind = StmtKind::atomic;
  take.op = Op::add;
  take.memory = t;
  take.expr = b.number(0);
  take.value = b.integer(DType::u32, 1);
  const ValueId taken = put(take, "taken");
  b.store_shared(number, b.number(0), taken);
  b.end();
  b.barrier();
  Stmt hear;
  hear.kind = StmtKind::load;
  hear.space = Space::shared;
  hear.memory = number;
  hear.expr = b.number(0);
  const ValueId arrived = put(hear, "arrived");
  const ValueId is_last = b.compare(Comparison::eq, arrived, b.integer(DType::u32, 3));
  b.guard_equal(b.var(b.vb), b.number(3));
  b.kernel.body.back().value = is_last;
  b.barrier();
  b.guard_equal(b.var(tid), b.number(0));
  b.store(y, b.number(0), b.op(Op::add, {arrived, b.integer(DType::u32, 1)}));
  b.atomic(t, b.number(0), Op::minimum, b.integer(DType::u32, 0));
  b.end();
  b.end();
  Kernel kernel = b.finished();
  spoil(kernel);
  return kernel;
}

Stmt& find(Kernel& kernel, StmtKind kind, bool with_value) {
  for (Stmt& stmt : kernel.body)
    if (stmt.kind == kind && (stmt.value != no_value) == with_value) return stmt;
  throw std::logic_error("no such statement");
}

}  // namespace

TEST_CASE("the block with the last number goes on, alone, and leaves the ticket at zero") {
  const Kernel kernel = last_block([](Kernel&) {});
  verify(kernel);
  const std::string shown = text(kernel);
  CHECK(shown.find("    fence\n    taken <- atomic t[0] add= 1\n") != std::string::npos);
  CHECK(shown.find("  if eq(arrived, 3) (counted as vb == 3):\n") != std::string::npos);
  CHECK(is_idempotent(kernel));
  const KernelRun run = interpret(kernel, zeroed(kernel));
  CHECK(run.violations.empty());
  std::array<std::uint32_t, 2> found{};
  std::memcpy(&found[0], run.buffers[0].data(), 4);
  std::memcpy(&found[1], run.buffers[1].data(), 4);
  CHECK(found == std::array<std::uint32_t, 2>{4, 0});
  CHECK(run.counts.barriers == 4 + 1);
  CHECK(run.counts.buffers[0][1].requests == 1);
  CHECK(run.counts.buffers[1][2].requests == 4 + 1);
}

TEST_CASE("a guard asks only what the threads of a block agree on, and has a condition that stands for it") {
  const auto refused = [](const std::function<void(Kernel&)>& spoil) {
    try {
      verify(last_block(spoil));
    } catch (const std::logic_error& error) {
      return std::string(error.what());
    }
    return std::string("accepted");
  };
  CHECK(refused([](Kernel&) {}) == "accepted");
  CHECK(refused([](Kernel& k) {  // what each thread loads for itself
          Stmt& hear = find(k, StmtKind::load, false);
          hear.space = Space::global;
          hear.memory = 0;
          hear.policy = Policy::reload;
        })
            .find("on which threads of the block may differ") != std::string::npos);
  CHECK(refused([](Kernel& k) {
          find(k, StmtKind::guard, true).conditions = {};
        }).find("has no condition of blocks that stands for it") != std::string::npos);
  CHECK(refused([](Kernel& k) {
          Stmt& asks = find(k, StmtKind::guard, true);
          asks.conditions = find(k, StmtKind::guard, false).conditions;  // tid == 0
        }).find("has no condition of blocks that stands for it") != std::string::npos);
  CHECK(refused([](Kernel& k) {
          Stmt& asks = find(k, StmtKind::guard, true);
          asks.value = k.values[asks.value].operands[0];
        }).find("no predicate") != std::string::npos);
}

TEST_CASE("the id of a kernel sees which number is asked for and who takes one") {
  const Kernel kernel = last_block([](Kernel&) {});
  const auto changed = [&](const std::function<void(Kernel&)>& spoil) {
    return id_of(last_block(spoil)) != id_of(kernel);
  };
  CHECK(!changed([](Kernel&) {}));
  CHECK(changed([](Kernel& k) { find(k, StmtKind::guard, true).value = no_value; }));
  CHECK(changed([](Kernel& k) { find(k, StmtKind::atomic, true).let = no_id; }));
  CHECK(changed([](Kernel& k) { find(k, StmtKind::fence, false).kind = StmtKind::issue; }));
}
