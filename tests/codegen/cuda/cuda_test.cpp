// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Printed kernels: golden texts, every element type and width compiles, and the machine's memory instructions are
// those of the program (the pin). What the compiled code computes is the simulator's to check. Kernels are built by
// hand (support/kernel_builder.h). Part of the suite `codegen`; without NVRTC the cases that compile are skipped.
#include "codegen/cuda/cuda.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <limits>
#include <map>
#include <sstream>

#include "codegen/cuda/compile.h"
#include "codegen/cuda/prelude.h"
#include "support/golden.h"
#include "support/kernel_builder.h"
#include "support/thorough.h"

using namespace tailor;
using namespace tailor::ir;
using namespace tailor::codegen;

namespace {

/// Memory instructions, shuffles and barriers by mnemonic, spaces of parameters and generic addresses left out.
std::map<std::string, int> pinned_instructions(const std::string& ptx) {
  std::map<std::string, int> counts;
  std::istringstream words(ptx);
  for (std::string word; words >> word;) {
    const bool memory = word.starts_with("ld.global") || word.starts_with("ld.relaxed") ||
                        word.starts_with("st.global") || word.starts_with("ld.shared") || word.starts_with("st.shared");
    if (memory || word.starts_with("shfl.") || word.starts_with("bar.") || word.starts_with("barrier.")) ++counts[word];
  }
  return counts;
}

/// The sum of a row through a shuffle, with an accumulator and an input of the given names.
Kernel named_sum(const std::string& accumulator, const std::string& input) {
  KernelBuilder b("named_sum", 32, 4);
  const VarId lane = b.thread("lane", 1, 32);
  const BufferId x = b.in(input, DType::f32, 128), y = b.out("y", DType::f32, 4);
  const ArrayId sum = b.array(accumulator, DType::f32);
  b.declare(sum, b.real(DType::f32, 0));
  const LetId v = b.load_let("v", x, b.sum({b.var(lane), b.var(b.vb, 32)}));
  b.assign(b.ref(sum), b.get(v), Op::add);
  b.shuffle(b.ref(sum), Op::add, 32);
  b.guard_less(b.var(lane), b.number(1));
  b.store(y, b.var(b.vb), b.element(b.ref(sum)));
  b.end();
  return b.finished();
}

/// The text without its comments.
std::string without_comments(const std::string& text) {
  std::istringstream lines(text);
  std::string out;
  for (std::string line; std::getline(lines, line);) out += line.substr(0, line.find("//")) + "\n";
  return out;
}

std::string compiled(const Kernel& kernel) {
  const auto ptx = ptx_of(codegen::cuda(kernel, std::string_view("by hand")));
  if (!ptx) skip("no NVRTC on this machine");
  return ptx.value_or("");
}

/// y = (x as another type) for one type and width.
Kernel copy_kernel(DType from, DType to, int width, Policy policy) {
  KernelBuilder b("copy", 64, 3);
  const VarId tid = b.thread("tid", 1, 64), e = b.loop_var("e", width);
  const BufferId x = b.in("x", from, 192 * width), y = b.out("y", to, 192 * width);
  const ArrayId x_v = b.array("x_v", from, {0, 0}, width), y_v = b.array("y_v", to, {0, 0}, width);
  const ArrayId staged = b.shared("staged", from, 64 * width);
  const ExprId i = b.sum({b.var(tid, width), b.var(b.vb, 64 * width)});
  b.declare(x_v);
  b.load(b.ref(x_v), x, i, width, policy);
  b.store_shared(staged, b.var(tid, width), width, b.ref(x_v));
  b.barrier();
  b.load_shared(b.ref(x_v), staged, b.var(tid, width), width);
  b.declare(y_v);
  b.each(e);
  b.assign(b.ref(y_v, b.var(e)), b.convert(to, b.element(b.ref(x_v, b.var(e)))));
  b.end();
  b.store(y, i, width, b.ref(y_v));
  return b.finished();
}

constexpr auto types =
    std::to_array<DType>({DType::pred, DType::s8, DType::s16, DType::s32, DType::s64, DType::u8, DType::u16, DType::u32,
                          DType::u64, DType::f16, DType::bf16, DType::f32, DType::f64});

int total(const std::map<std::string, int>& counts, std::string_view start) {
  int sum = 0;
  for (const auto& [word, count] : counts)
    if (word.starts_with(start)) sum += count;
  return sum;
}

}  // namespace

TEST_CASE("names of any length and with any letter leave comments in comments") {
  const std::string plain = without_comments(codegen::cuda(named_sum("total", "x"), std::string_view("by hand")));
  for (const std::size_t length : {1u, 90u, 104u, 105u, 106u, 130u, 400u})
    for (const std::string_view end : {"", "\\", "*/", "/*", "\nint broken", "\xc3\xa9", "\r", "\"", "?\?/"}) {
      CAPTURE(length);
      CAPTURE(end);
      const std::string name = "t" + std::string(length, 'o') + std::string(end);
      const Kernel kernel = named_sum(name, "i" + name);
      const std::string text = without_comments(codegen::cuda(kernel, std::string_view("by " + name)));
      CHECK(text.find('\\') == plain.find('\\'));
      for (const std::string_view words : {" a sum", "Phase", "results", "broken;", "lanes, for each"})
        CHECK((text.find(words) == text.npos) == (plain.find(words) == plain.npos));
      CHECK(std::count(text.begin(), text.end(), '{') == std::count(plain.begin(), plain.end(), '{'));
      CHECK(std::count(text.begin(), text.end(), ';') == std::count(plain.begin(), plain.end(), ';'));
      if (length != 106 && !testing::thorough()) continue;
      if (const auto ptx = ptx_of(codegen::cuda(kernel, std::string_view("by hand")))) CHECK_FALSE(ptx->empty());
    }
}

TEST_CASE("a map kernel prints as its golden text") {
  check_golden("map_f16.cu", codegen::cuda(example_map(37, 768, DType::f16), std::string_view("map, by hand")));
}

TEST_CASE("a LayerNorm kernel prints as its golden text") {
  check_golden("layer_norm.cu", codegen::cuda(example_layer_norm(4096, 6, 32), std::string_view("row, by hand")));
}

TEST_CASE("a LayerNorm kernel across warps prints as its golden text") {
  check_golden("layer_norm_block.cu", codegen::cuda(example_layer_norm(37, 2, 128), std::string_view("row, by hand")));
}

TEST_CASE("a program prints as its golden text: the plan and what is owed once, each launch with its own words") {
  check_golden("split_rows.cu", codegen::cuda(example_split_rows(5, 1024, 4, 3), std::string_view("program, by hand")));
}

TEST_CASE("the entries of a text are found in it, in the order of their launches") {
  const std::string text = codegen::cuda(example_split_rows(4, 1024, 4, 3), std::string_view("by hand"));
  CHECK(entries_in(text) == std::vector<std::string>{"split_rows", "split_rows_2", "split_rows_3"});
  Kernel in_clusters = named_sum("sum", "x");
  in_clusters.cluster = 2;
  CHECK(entries_in(codegen::cuda(in_clusters)) == std::vector<std::string>{"named_sum"});
  CHECK(entries_in(codegen::cuda(named_sum("sum", "x"))) == std::vector<std::string>{"named_sum"});
  CHECK(entries_in("no kernel").empty());
}

TEST_CASE("a follower waits in its machine's own words, behind its inputs and in front of what others wrote") {
  const Kernel program = example_split_rows(4, 1024, 4, 3);
  for (const auto& [arch, waits] : {std::pair{"compute_90", std::size_t{2}}, std::pair{"compute_80", std::size_t{0}}}) {
    const auto ptx = ptx_of(codegen::cuda(program), arch);
    if (!ptx) return skip("no NVRTC on this machine");
    std::size_t found = 0;
    for (std::size_t at = 0; (at = ptx->find("griddepcontrol.wait", at)) != ptx->npos; ++at) ++found;
    CHECK(found == waits);
    if (waits == 0) continue;
    const std::size_t third = ptx->find(".entry split_rows_3"), wait = ptx->find("griddepcontrol.wait", third);
    const std::size_t input = ptx->find("ld.relaxed.cta.global.v4.f32", third),
                      total = ptx->find("ld.relaxed.cta.global.f32", third);
    CHECK(third < input);
    CHECK(input < wait);
    CHECK(wait < total);
    CHECK(total != ptx->npos);
  }
}

TEST_CASE("memory statements of a LayerNorm are the memory instructions of its PTX") {
  const std::string ptx = compiled(example_layer_norm(37, 6, 128));
  if (ptx.empty()) return;
  const auto counts = pinned_instructions(ptx);
  INFO(ptx);
  CHECK(total(counts, "ld.relaxed.cta.global.v4.f32") == 6);
  CHECK(total(counts, "ld.global.nc.v4.f32") == 12);
  CHECK(total(counts, "st.global.v4.f32") == 6);
  CHECK(total(counts, "st.shared.f32") == 2);
  CHECK(total(counts, "ld.shared.v4.f32") == 2);
  CHECK(total(counts, "shfl.sync.bfly") == 10);
  CHECK(total(counts, "bar") == 2);
  CHECK(total(counts, "") == 40);
}

TEST_CASE("every type and width compiles, with exactly its four accesses") {
  int number = 0;
  for (const DType from : types)
    for (int width = 1; width * row(from).bits <= 128; width *= 2) {
      // A quick run has each width of some types, and some width of each.
      if (!testing::broad() && (number++ % 3) != 0) continue;
      DType to = row(from).bits == 32 ? DType::f32 : from;
      if (from == DType::f16) to = DType::bf16;
      const Policy policy = width == 1   ? Policy::once
                            : width == 2 ? Policy::reload
                            : width == 4 ? Policy::early
                                         : Policy::again;
      const std::string ptx = compiled(copy_kernel(from, to, width, policy));
      if (ptx.empty()) return;
      CAPTURE(name(from));
      CAPTURE(width);
      CHECK_MESSAGE(ptx.find("error:") == ptx.npos, ptx);
      const auto counts = pinned_instructions(ptx);
      CHECK(total(counts, "ld.") == 2);
      CHECK(total(counts, "ld.relaxed.cta.global.") == (policy == Policy::again ? 0 : 1));
      CHECK(total(counts, "ld.global.nc.") == (policy == Policy::again ? 1 : 0));
      CHECK(total(counts, "st.global.") == 1);
      CHECK(total(counts, "ld.shared.") == 1);
      CHECK(total(counts, "st.shared.") == 1);
      CHECK(total(counts, "bar") == 1);
    }
}

TEST_CASE("loads that are asked for together wait for no others: each time it is another question") {
  // Of the same question the assembler knows the answer, and lets the loads sink to their uses.
  KernelBuilder b("phases", 64, 2);
  const BufferId x = b.in("x", DType::f32, 1024), y = b.out("y", DType::f32, 1024);
  const ExprId own = b.sum({b.var(b.thread("tid", 1, 64)), b.var(b.vb, 64)});
  for (int i = 0; i < 3; ++i) {
    const LetId v = b.load_let("v", x, own);
    b.kernel.body.emplace_back().kind = StmtKind::issue;
    b.store(y, own, b.get(v));
  }
  const Kernel kernel = b.finished();
  const std::string text = codegen::cuda(kernel);
  for (const char* size : {"ntid.x", "ntid.y", "ntid.z"}) {
    CAPTURE(size);
    CHECK(text.find("ISSUE_LOADS(" + std::string(size) + ");") != text.npos);
  }
  const std::string ptx = compiled(kernel);
  if (ptx.empty()) return;
  for (const char* size : {"%ntid.x", "%ntid.y", "%ntid.z"}) {
    CAPTURE(size);
    CHECK(ptx.find(size) != ptx.npos);
  }
}

TEST_CASE("what is written in place claims no pointer for itself, and the launch's wishes are declared") {
  Kernel kernel = example_in_place();
  const std::string text = cuda(kernel, std::string_view("by hand"));
  CHECK(
      text.find("    const float* x,\n    float* y,\n    float* __restrict__ w,\n    unsigned int* __restrict__ t)") !=
      text.npos);
  CHECK(text.find("__cluster_dims__(2, 1, 1) __launch_bounds__(64, 3) void twice(") != text.npos);
  for (const std::string_view said :
       {"// y is written over x: pass the same address twice.\n",
        "// Memory to work in, whatever it holds before: w.\n",
        "// t must be zero before the first run; every run leaves it zero.\n", "launch it as a cooperative kernel",
        "  meet(t, vb == 0 ? 4294967293u : 1u, 1u, 4294967295u);\n"})
    CHECK(text.find(said) != text.npos);
}

TEST_CASE("names that C++, CUDA or the prelude own are not taken, and repeated ones are numbered") {
  KernelBuilder b("maximum", 32, 1);
  const VarId tid = b.thread("exp", 1, 32);
  const BufferId x = b.in("float", DType::f32, 32), y = b.out("float", DType::f32, 32);
  const LetId a = b.load_let("threadIdx", x, b.var(tid)), c = b.let("%maximum.7", b.op(Op::exp, {b.get(a)}));
  b.store(y, b.var(tid), b.op(Op::maximum, {b.get(c), b.real(DType::f32, -std::numeric_limits<double>::infinity())}));
  const std::string source = codegen::cuda(b.finished(), std::string_view());
  CHECK(source.find("const float threadIdx ") == source.npos);
  const auto ptx = ptx_of(source);
  if (ptx) CHECK_MESSAGE(ptx->find("error:") == ptx->npos, *ptx);
}

TEST_CASE("an index that needs 64 bits is computed in 64 bits, others are not") {
  KernelBuilder b("wide", 32, 1 << 28);
  const VarId tid = b.thread("tid", 1, 32);
  const BufferId x = b.in("x", DType::s8, std::int64_t{1} << 33), y = b.out("y", DType::s8, 32);
  const LetId v = b.load_let("v", x, b.sum({b.var(tid), b.var(b.vb, 32)}));
  b.store(y, b.var(tid), b.get(v));
  const std::string source = codegen::cuda(b.finished(), std::string_view());
  CHECK(source.find("&x[(long long)tid + (long long)vb * 32]") != source.npos);
  CHECK(source.find("&y[tid]") != source.npos);
}

TEST_CASE("a guard in an unrolled loop says in which turns it holds for all threads and blocks") {
  enum class Loop : std::uint8_t { unrolled, rolled };
  const auto printed = [](Loop how, std::int64_t of_block, std::int64_t bound) {
    KernelBuilder b("turns", 32, 2);
    const VarId tid = b.thread("tid", 1, 32), t = b.loop_var("t", 5);
    const BufferId y = b.out("y", DType::s32, 512);
    const ExprId place = b.sum({b.var(tid), b.var(t, 32), b.var(b.vb, of_block)});
    b.loop(t, how == Loop::unrolled);
    b.guard_less(place, b.number(bound));
    b.store(y, b.sum({b.var(tid), b.var(t, 32), b.var(b.vb, 160)}), b.integer(DType::s32, 1));
    b.end();
    b.end();
    const std::string source = codegen::cuda(b.finished(), std::string_view());
    const std::size_t at = source.find("if (t");
    return source.substr(at, source.find('\n', at) - at);
  };
  CHECK(printed(Loop::unrolled, 0, 100) == "if (t < 3 || tid + t * 32 < 100) {");
  CHECK(printed(Loop::unrolled, 0, 96) == "if (t < 3 || tid + t * 32 < 96) {");
  CHECK(printed(Loop::unrolled, 0, 95) == "if (t < 2 || tid + t * 32 < 95) {");
  CHECK(printed(Loop::unrolled, 32, 100) == "if (t < 2 || tid + t * 32 + vb * 32 < 100) {");
  CHECK(printed(Loop::unrolled, 0, 31) == "if (tid + t * 32 < 31) {");
  CHECK(printed(Loop::rolled, 0, 100) == "if (tid + t * 32 < 100) {");
}

TEST_CASE("only the prelude functions a kernel uses are printed") {
  const std::string source = codegen::cuda(example_layer_norm(4, 1, 32), std::string_view());
  CHECK(source.find("struct Vec") != source.npos);
  CHECK(source.find("f16") == source.npos);
  CHECK(source.find("integer_divide") == source.npos);
}
