// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Launch shapes read back what they wrote, and kernels with every role of a buffer, clusters and grid barriers keep
// their contracts in the text form, the id and the check, though no lowering makes them yet. Kernels are built by
// hand. Part of the suite `ir`.
#include "ir/kernel/launch.h"

#include <doctest/doctest.h>

#include <functional>
#include <random>
#include <stdexcept>
#include <vector>

#include "base/error.h"
#include "ir/kernel/kernel.h"
#include "support/kernel_builder.h"

using namespace tailor;
using namespace tailor::ir;

namespace {

std::string launch_complaint(std::string_view text) {
  try {
    parse_launch_shape(text);
  } catch (const Error& error) {
    return error.message;
  }
  return {};
}

}  // namespace

TEST_CASE("a launch shape reads back what it wrote") {
  CHECK(text(LaunchShape{}) == "grid=1 block=1");
  CHECK(text(LaunchShape{{8, 2, 1}, {1, 1, 4}, {2, 1, 1}, 16, 1024, 2, true, true}) ==
        "grid=8,2 block=1,1,4 cluster=2 static_shared=16 dynamic_shared=1024 min_blocks=2 cooperative dependent");
  std::mt19937_64 random(7);
  const auto extent = [&] {
    return Extent3{static_cast<std::uint32_t>(random() % 3), static_cast<std::uint32_t>(1 + random() % 2),
                   static_cast<std::uint32_t>(random())};
  };
  for (int i = 0; i < 200; ++i) {
    const LaunchShape shape{extent(),
                            extent(),
                            extent(),
                            static_cast<std::int64_t>(random() % 2),
                            static_cast<std::int64_t>(random() >> 2),
                            static_cast<int>(random() % 5),
                            random() % 2 == 0,
                            random() % 2 == 0};
    INFO(text(shape));
    CHECK((parse_launch_shape(text(shape)) == shape));
  }
}

TEST_CASE("a launch text that does not read names the word") {
  CHECK(launch_complaint("grid=8 blok=64") == "launch: found 'blok=64', expected a word of a launch");
  CHECK(launch_complaint("grid=1,2,3,4") == "launch: found '1,2,3,4', expected up to three extents such as 8,2");
  CHECK(launch_complaint("grid=-1") == "launch: found '-1', expected a number");
  CHECK(launch_complaint("cooperative=1") == "launch: found 'cooperative=1', expected a word of a launch");
}

TEST_CASE("each role says what the kernel is owed") {
  const Kernel kernel = example_in_place();
  CHECK(owner(kernel, 1) == 0);
  CHECK(owner(kernel, 2) == 2);
  CHECK(memory_role(kernel, 0) == BufferRole::in_place);
  CHECK(memory_role(kernel, 3) == BufferRole::ticket);
  CHECK(!is_idempotent(kernel));
  CHECK((launch_shape(kernel) == LaunchShape{{4, 1, 1}, {64, 1, 1}, {2, 1, 1}, 0, 0, 3, true}));
  const std::string shown = text(kernel);
  CHECK(shown.starts_with(
      "kernel twice threads=64 vblocks=4 cluster=2 min_blocks=3 cooperative\n"
      "  in x: f32[256]\n  in-place y: f32[256] over x\n  workspace w: f32[256]\n  ticket t: u32[1]\n"));
  CHECK(shown.find("barrier cluster\n") != std::string::npos);
  CHECK(shown.find("barrier grid at t[0] as vb\n") != std::string::npos);
}

TEST_CASE("a result that a kernel adds into starts as zero, one that it stores does not") {
  KernelBuilder b("sums", 32, 1);
  const BufferId sum = b.out("sum", DType::f32, 1), most = b.out("most", DType::s32, 1);
  b.atomic(most, b.number(0), Op::maximum, b.integer(DType::s32, 1));
  Kernel kernel = b.finished();
  CHECK(is_idempotent(kernel));
  b.atomic(sum, b.number(0), Op::add, b.real(DType::f32, 1));
  kernel = b.finished();
  CHECK(!is_idempotent(kernel));
  CHECK(memory_role(kernel, sum) == BufferRole::workspace);
  CHECK(memory_role(kernel, most) == BufferRole::output);
}

TEST_CASE("a workspace starts as zero where any kernel of the program adds into it, else it may hold anything") {
  Kernel kernel = example_in_place();
  const BufferId w = 2;
  REQUIRE(kernel.buffers[w].role == BufferRole::workspace);
  CHECK(holds_anything(kernel, w));
  Kernel adding = kernel;
  Stmt atomic;
  atomic.kind = StmtKind::atomic;
  atomic.space = Space::global;
  atomic.memory = w;
  atomic.op = Op::maximum;
  adding.body.push_back(atomic);
  CHECK(!holds_anything(adding, w));
  kernel.followers.push_back(std::move(adding));
  CHECK(!holds_anything(kernel, w));
}

TEST_CASE("a kernel writes for another one what that one loads or writes in the same memory, whatever it calls it") {
  KernelBuilder one("one", 32, 1), two("two", 32, 1);
  const BufferId x = one.in("x", DType::f32, 1), y = one.out("y", DType::f32, 1);
  two.in("x", DType::f32, 1), two.out("y", DType::f32, 1);
  one.atomic(y, one.number(0), Op::add, one.real(DType::f32, 1));
  Kernel writer = one.finished(), reader = two.finished();
  CHECK(writes(writer, y));
  CHECK(!writes(writer, x));
  CHECK(!writes_for(writer, reader));
  Stmt load;
  load.kind = StmtKind::load;
  load.space = Space::global;
  load.memory = x;
  reader.body.push_back(load);
  CHECK(!writes_for(writer, reader));
  for (Kernel* each : {&writer, &reader}) {  // the result lies over the input
    each->buffers[y].role = BufferRole::in_place;
    each->buffers[y].of = x;
  }
  CHECK(writes_for(writer, reader) == y);
  CHECK(!writes_for(reader, writer));
}

TEST_CASE("shared arrays lie one behind the other, each on a multiple of 16 bytes") {
  KernelBuilder b("arrays", 32, 1);
  b.shared("first", DType::f32, 3);  // 12 bytes, so 16
  b.array("own", DType::f32, {7, 0}, 4);
  b.shared("second", DType::f16, 9);  // 18 bytes, so 32
  b.shared("third", DType::f64, 4);
  b.shared("fourth", DType::u8, 16);
  CHECK(shared_offsets(b.kernel) == std::vector<std::int64_t>{0, 0, 16, 48, 80, 96});
  CHECK(b.kernel.shared_bytes == 96);
  CHECK(launch_shape(b.kernel).static_shared == 96);
  CHECK(launch_shape(b.kernel).dynamic_shared == 0);
  b.kernel.dynamic_shared = true;
  CHECK(launch_shape(b.kernel).static_shared == 0);
  CHECK(launch_shape(b.kernel).dynamic_shared == 96);
}

TEST_CASE("a kernel may run again where it adds into no result and reads nothing that it writes over") {
  const auto again = [](BufferRole role, Op op, bool reads) {
    KernelBuilder b("again", 32, 1);
    const VarId tid = b.thread("tid", 1, 32);
    const BufferId x = b.in("x", DType::s32, 32), y = b.out("y", DType::s32, 32);
    b.kernel.buffers[y].role = role;
    if (role == BufferRole::in_place) b.kernel.buffers[y].of = x;
    const LetId value = b.let("v", b.integer(DType::s32, 3));
    if (op == Op::copy)
      b.store(y, b.var(tid), b.get(value));
    else
      b.atomic(y, b.var(tid), op, b.get(value));
    if (reads) b.load_let("read", x, b.var(tid), Policy::reload);
    return is_idempotent(b.kernel);
  };
  for (const bool reads : {false, true}) {
    CHECK(again(BufferRole::output, Op::copy, reads));
    CHECK(again(BufferRole::output, Op::maximum, reads));
    CHECK(again(BufferRole::output, Op::minimum, reads));
    CHECK_FALSE(again(BufferRole::output, Op::add, reads));
    CHECK(again(BufferRole::workspace, Op::add, reads));  // it is zero again before the next run
    CHECK(again(BufferRole::ticket, Op::add, reads));
  }
  CHECK(again(BufferRole::in_place, Op::copy, false));
  CHECK_FALSE(again(BufferRole::in_place, Op::copy, true));
}

TEST_CASE("what the launch says is part of a kernel's id") {
  const Kernel kernel = example_in_place();
  const auto changed = [&](const std::function<void(Kernel&)>& change) {
    Kernel other = kernel;
    change(other);
    CHECK(id_of(other) != id_of(kernel));
  };
  changed([](Kernel& k) { k.cluster = 4; });
  changed([](Kernel& k) { k.min_blocks = 0; });
  changed([](Kernel& k) { k.cooperative = false; });
  changed([](Kernel& k) { k.buffers[2].role = BufferRole::ticket; });
  changed([](Kernel& k) { k.buffers[1].role = BufferRole::output; });
}

TEST_CASE("roles and launches that contradict each other fail the check") {
  const auto broken = [](const std::function<void(Kernel&)>& change) {
    Kernel kernel = example_in_place();
    change(kernel);
    CHECK_THROWS_AS(verify(kernel), std::logic_error);
  };
  broken([](Kernel& k) { k.cluster = 3; });          // does not divide four blocks
  broken([](Kernel& k) { k.cluster = 1; });          // a cluster barrier without clusters
  broken([](Kernel& k) { k.cooperative = false; });  // a grid barrier that may wait for ever
  broken([](Kernel& k) { k.min_blocks = -1; });
  broken([](Kernel& k) { k.buffers[1].of = no_id; });
  broken([](Kernel& k) { k.buffers[1].of = 2; });
  broken([](Kernel& k) { k.buffers[1].elements = 128; });
  broken([](Kernel& k) { std::swap(k.buffers[0], k.buffers[3]); });
  broken([](Kernel& k) {
    for (Stmt& s : k.body)
      if (s.kind == StmtKind::load) s.policy = Policy::once;
  });
  broken([](Kernel& k) {
    for (Stmt& s : k.body)
      if (s.kind == StmtKind::barrier) s.scope = StitchLevel::registers;
  });
}
