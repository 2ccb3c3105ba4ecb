// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Programs of several launches, by hand: their text, what they compute in the interpreter, what is said of their
// buffers as a whole, what makes their id, and each thing that the check refuses, planted into a right program one at a
// time. Part of the suite `ir`.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

#include "ir/kernel/kernel.h"
#include "support/interpret.h"
#include "support/kernel_builder.h"

using namespace tailor;
using namespace tailor::ir;

namespace {

std::vector<std::byte> bytes_of(const std::vector<float>& numbers) {
  std::vector<std::byte> bytes(numbers.size() * sizeof(float));
  std::memcpy(bytes.data(), numbers.data(), bytes.size());
  return bytes;
}

std::vector<float> numbers_in(const std::vector<std::byte>& bytes) {
  std::vector<float> numbers(bytes.size() / sizeof(float));
  std::memcpy(numbers.data(), bytes.data(), bytes.size());
  return numbers;
}

/// Why the check refuses a program after a change; empty when it does not.
std::string refused(const std::function<void(Kernel&)>& change, int launches = 2) {
  Kernel program = example_split_rows(5, 1024, 4, launches);
  change(program);
  try {
    verify(program);
  } catch (const std::logic_error& error) {
    return error.what();
  }
  return {};
}

std::size_t at_wait(const Kernel& kernel) {
  const auto found =
      std::find_if(kernel.body.begin(), kernel.body.end(), [](const Stmt& s) { return s.kind == StmtKind::wait; });
  REQUIRE(found != kernel.body.end());
  return static_cast<std::size_t>(found - kernel.body.begin());
}

/// Moves a statement without scopes of its own; ends of scopes move with what they enclose.
void move_statement(Kernel& kernel, std::size_t from, std::size_t to) {
  const Stmt moved = kernel.body[from];
  kernel.body.erase(kernel.body.begin() + static_cast<std::ptrdiff_t>(from));
  for (Stmt& s : kernel.body)
    if (s.end > static_cast<std::int32_t>(from)) --s.end;
  kernel.body.insert(kernel.body.begin() + static_cast<std::ptrdiff_t>(to), moved);
  for (std::size_t i = 0; i < kernel.body.size(); ++i)
    if (i != to && kernel.body[i].end > static_cast<std::int32_t>(to)) ++kernel.body[i].end;
}

bool says(const std::string& complaint, std::string_view words) { return complaint.find(words) != std::string::npos; }

}  // namespace

TEST_CASE("the kernels of a program are one list in the order of their launches") {
  const Kernel program = example_split_rows(4, 1024, 4, 3);
  std::vector<std::string> names;
  for (const Kernel& kernel : kernels_of(program)) names.push_back(kernel.name);
  CHECK(names == std::vector<std::string>{"split_rows", "split_rows_2", "split_rows_3"});
  CHECK(kernels_of(program).size() == 3);
  CHECK(&kernels_of(program)[0] == &program);
  CHECK(&kernels_of(program)[2] == &program.followers[1]);
  const Kernel alone = example_map(4, 128, DType::f32);
  CHECK(kernels_of(alone).size() == 1);
  CHECK(std::distance(kernels_of(alone).begin(), kernels_of(alone).end()) == 1);
}

TEST_CASE("launches of a program run one behind the other over one memory") {
  constexpr std::int64_t rows = 5, columns = 1024, parts = 4;
  std::vector<float> x, w, sums;
  for (std::int64_t i = 0; i < rows * columns; ++i) x.push_back(static_cast<float>(i % 13) - 5);
  for (std::int64_t r = 0; r < rows; ++r) {
    w.push_back(static_cast<float>(r) + 0.5F);
    float sum = 0;
    for (std::int64_t c = 0; c < columns; ++c) sum += x[static_cast<std::size_t>(r * columns + c)];
    sums.push_back(sum * w.back());
  }
  for (const bool backwards : {false, true}) {
    std::vector<std::vector<std::byte>> buffers{bytes_of(x), bytes_of(w), std::vector<std::byte>(rows * 4),
                                                std::vector<std::byte>(rows * parts * 4)};
    const KernelRun two = interpret(example_split_rows(rows, columns, parts, 2), buffers, backwards);
    CHECK(two.violations.empty());
    CHECK(numbers_in(two.buffers[2]) == sums);
    CHECK(two.counts.buffers[3][1].requests == rows * parts);  // each block a part
    CHECK(two.counts.buffers[3][0].requests == rows);          // each warp a row's
    CHECK(two.counts.shuffles == rows * parts * 2 * 5 + 6 * 5);
    buffers[2].resize(x.size() * 4);
    buffers.emplace_back(rows * 4);
    const KernelRun three = interpret(example_split_rows(rows, columns, parts, 3), buffers, backwards);
    CHECK(three.violations.empty());
    std::vector<float> rest = x;
    for (std::size_t i = 0; i < rest.size(); ++i) rest[i] -= sums[i / columns];
    CHECK(numbers_in(three.buffers[2]) == rest);
    CHECK(numbers_in(three.buffers[4]) == sums);
  }
}

TEST_CASE("a program is shown kernel by kernel, its buffers once") {
  const std::string shown = text(example_split_rows(3, 512, 2, 2));
  CHECK(
      shown.starts_with("kernel split_rows threads=64 vblocks=6 shared=16 idempotent\n"
                        "  in x: f32[1536]\n  in w: f32[3]\n  out y: f32[3]\n  workspace partials: f32[6]\n"));
  const std::size_t second = shown.find("\nthen split_rows_2 threads=64 vblocks=2\n  index lane = tid % 32\n");
  REQUIRE(second != std::string::npos);
  CHECK(shown.find("wait for the launches before\n", second) != std::string::npos);
  CHECK(shown.find("wait") > second);
  CHECK(shown.find("f32[1536]", second) == std::string::npos);
}

TEST_CASE("what is said of a program's buffers is said of all its launches") {
  Kernel program = example_split_rows(4, 1024, 4, 2);
  CHECK(is_idempotent(program));
  CHECK(memory_role(program, 2) == BufferRole::output);
  CHECK_FALSE(launch_shape(program).dependent);
  CHECK(launch_shape(program.followers[0]).dependent);
  CHECK(launch_shape(program.followers[0]).grid[0] == 2);
  // A follower that adds into the result makes it one that must start as zero, and that no second run gives again.
  for (Stmt& s : program.followers[0].body)
    if (s.kind == StmtKind::store) s.kind = StmtKind::atomic, s.op = Op::add;
  verify(program);
  CHECK_FALSE(is_idempotent(program));
  CHECK(memory_role(program, 2) == BufferRole::workspace);
  CHECK(memory_role(program, 3) == BufferRole::workspace);
  CHECK(memory_role(program, 0) == BufferRole::input);
}

TEST_CASE("the id of a program is made of all its kernels, in their order, and not of their names") {
  const Kernel program = example_split_rows(4, 1024, 4, 3);
  const auto changed = [&](const std::function<void(Kernel&)>& change) {
    Kernel other = program;
    change(other);
    return id_of(other) != id_of(program);
  };
  CHECK_FALSE(changed([](Kernel& k) { k.followers[0].name = "another"; }));
  CHECK_FALSE(changed([](Kernel& k) { k.followers[1].arrays[0].name = "another"; }));
  CHECK(changed([](Kernel& k) { k.followers.clear(); }));
  CHECK(changed([](Kernel& k) { k.followers.pop_back(); }));
  CHECK(changed([](Kernel& k) { std::swap(k.followers[0], k.followers[1]); }));
  CHECK(changed([](Kernel& k) { k.followers[0].threads = 128; }));
  CHECK(changed([](Kernel& k) { k.followers[1].min_blocks = 2; }));
  CHECK(changed([](Kernel& k) { k.followers[1].body.pop_back(); }));
  CHECK(changed([](Kernel& k) { k.followers[0].body[at_wait(k.followers[0])].kind = StmtKind::fence; }));
  Kernel alone = program;
  alone.followers.clear();
  Kernel first = example_split_rows(4, 1024, 4, 3);
  first.followers.clear();
  CHECK(id_of(alone) == id_of(first));
}

TEST_CASE("kernels of a program have the same buffers, class and index cache, names of their own and no followers") {
  CHECK(refused([](Kernel&) {}).empty());
  CHECK(refused([](Kernel&) {}, 3).empty());
  CHECK(says(refused([](Kernel& k) { k.followers[0].buffers.pop_back(); }), "other buffers than the one"));
  CHECK(says(refused([](Kernel& k) { k.followers[0].buffers[2].elements += 1; }), "other buffers than the one"));
  CHECK(says(refused([](Kernel& k) { k.followers[0].buffers[1].name = "v"; }), "other buffers than the one"));
  CHECK(
      says(refused([](Kernel& k) { k.followers[0].arithmetic = Arithmetic::ieee; }), "computed or written otherwise"));
  CHECK(says(refused([](Kernel& k) { k.followers[0].index_cache = false; }), "computed or written otherwise"));
  CHECK(says(refused([](Kernel& k) { k.followers[0].name = k.name; }), "one name"));
  CHECK(says(refused([](Kernel& k) { k.followers[1].name = k.followers[0].name; }, 3), "one name"));
  CHECK(says(refused(
                 [](Kernel& k) {
                   Kernel last = std::move(k.followers.back());
                   k.followers.pop_back();
                   k.followers[0].followers.push_back(std::move(last));
                 },
                 3),
             "has followers"));
  // What is wrong with a follower alone is seen too.
  CHECK(says(refused([](Kernel& k) { k.followers[0].shared_bytes = 4; }), "shared_bytes"));
}

TEST_CASE("a follower waits once, outermost, and touches before it nothing but inputs that nobody writes") {
  const auto wait_at = [](std::size_t to) {
    return [to](Kernel& k) { move_statement(k.followers[0], at_wait(k.followers[0]), to); };
  };
  // In front of or behind the declarations and the guard around the load of w; not within a guard, not behind another.
  std::vector<std::size_t> accepted;
  for (std::size_t to = 0; to < example_split_rows(5, 1024, 4, 2).followers[0].body.size(); ++to)
    if (refused(wait_at(to)).empty()) accepted.push_back(to);
  CHECK(accepted == std::vector<std::size_t>{0, 1, 3, 4});
  CHECK(says(refused(wait_at(2)), "inside a loop or a guard"));
  CHECK(says(refused(wait_at(7)), "partials is loaded before the launches that may write it"));
  CHECK(says(refused([](Kernel& k) {
               Kernel& second = k.followers[0];
               second.body.resize(at_wait(second));
             }),
             "never waits"));
  CHECK(says(refused([](Kernel& k) {
               Stmt& wait = k.followers[0].body[at_wait(k.followers[0])];
               wait.kind = StmtKind::fence;
             }),
             "partials is loaded before"));
  CHECK(says(refused([](Kernel& k) {
               Kernel& second = k.followers[0];
               for (Stmt& s : second.body)
                 if (s.kind == StmtKind::load && s.memory == 3) s.memory = 1, s.policy = Policy::once;
               second.body[at_wait(second)].kind = StmtKind::fence;
             }),
             "a store before"));
  CHECK(says(refused([](Kernel& k) {
               Kernel& second = k.followers[0];
               const std::size_t at = at_wait(second);
               second.body.push_back(second.body[at]);
             }),
             "a second wait"));
  CHECK(says(refused([](Kernel& k) {
               const Stmt wait = k.followers[0].body[at_wait(k.followers[0])];
               k.body.push_back(wait);
             }),
             "before the first one"));
  // An input that the first launch writes over is no input to the others.
  CHECK(says(refused([](Kernel& k) {
               for (Kernel* one : {&k, &k.followers[0]}) {
                 one->buffers[2].role = BufferRole::in_place;
                 one->buffers[2].of = 1;
               }
             }),
             "a load of memory that the program writes"));
  CHECK(says(refused([](Kernel& k) {
               for (Kernel* one : {&k, &k.followers[0]}) {
                 one->buffers[2].role = BufferRole::in_place;
                 one->buffers[2].of = 1;
               }
               for (Stmt& s : k.followers[0].body)
                 if (s.kind == StmtKind::load) s.policy = Policy::reload;
             }),
             "w is loaded before"));
}

TEST_CASE("nothing is loaded from a workspace or a result that no launch so far has written") {
  const auto no_store = [](Kernel& k) {
    for (Stmt& s : k.body)
      if (s.kind == StmtKind::store && s.space == Space::global) s.memory = 2, s.expr = 0;
  };
  CHECK(says(refused(no_store), "partials is loaded, which nobody has written"));
  // What a later launch writes is not there yet.
  CHECK(says(refused([](Kernel& k) { std::swap(k.followers[0], k.followers[1]); }, 3), "totals is loaded"));
}
