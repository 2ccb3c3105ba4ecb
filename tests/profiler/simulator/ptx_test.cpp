// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The PTX reader: each form of declaration and operand on a text of its own, what is refused and where the message
// points, and on every file at hand that all indexes are in range. Part of the suite `simulator`; kernels of another
// compiler are skipped without the data folder.
#include "profiler/simulator/ptx/ptx.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <filesystem>

#include "base/error.h"
#include "base/text.h"
#include "doctest/doctest.h"
#include "support/paths.h"
#include "support/ptx_check.h"
#include "support/skip.h"

namespace tailor::simulator {
namespace {

/// A file with one kernel `k` whose body is `body`.
PtxModule kernel(std::string_view body, std::string_view before = {}) {
  PtxModule module = parse_ptx(
      fmt::format(".version 9.0\n.target sm_90\n.address_size 64\n{}\n.entry k(.param .u64 a, .param .u32 n)\n{{\n"
                  ".reg .pred %p<8>; .reg .b16 %rs<8>; .reg .b32 %r<9>; .reg .b64 %rd<9>; .reg .f32 %f<9>;\n{}\n}}\n",
                  before, body),
      "k.ptx");
  CHECK(broken_invariant(module) == "");
  return module;
}

const PtxOperand& operand(const PtxFunction& function, std::size_t instruction, std::size_t place) {
  return function.operands.at(function.instructions.at(instruction).first + place);
}

std::string_view name_of(const PtxFunction& function, const PtxOperand& operand) {
  return function.registers.at(operand.index).name;
}

TEST_CASE("a file says its version, target and address size") {
  const PtxModule module = parse_ptx(".version 8.7 .target sm_90a, debug .address_size 64");
  CHECK(module.version == "8.7");
  CHECK(module.target == "sm_90a");
  CHECK(module.address_size == 64);
  CHECK(parse_ptx("").functions.empty());
}

TEST_CASE("an entry keeps its parameters and what it asks of a launch") {
  const PtxModule module = parse_ptx(R"(
.visible .entry k(
  .param .u64 .ptr .global .align 16 p,  // alignment of what it points to
  .param .u64 .ptr .align 256 q,
  .param .align 4 .b8 s[12],
  .param .f16 h,
  .param .b8 c
)
.maxntid 256
.reqntid 128, 2
.minnctapersm 2
.maxnreg 64
.reqnctapercluster 4, 1, 1
.explicitcluster
.maxclusterrank 8
.blocksareclusters
.noreturn
.pragma "nounroll";
{ ret; })");
  const PtxFunction& k = entry_of(module, "k");
  REQUIRE(k.params.size() == 5);
  const std::array<std::pair<std::int64_t, std::uint32_t>, 5> bytes_and_align = {
      {{8, 8}, {8, 8}, {12, 4}, {2, 2}, {1, 1}}};
  for (std::size_t i = 0; i < 5; ++i) {
    CHECK(k.params[i].bytes == bytes_and_align[i].first);
    CHECK(k.params[i].align == bytes_and_align[i].second);
    CHECK(k.params[i].space == PtxSpace::param);
  }
  CHECK(k.maxntid == std::array<std::uint32_t, 3>{256, 1, 1});
  CHECK(k.reqntid == std::array<std::uint32_t, 3>{128, 2, 1});
  CHECK(k.cluster == std::array<std::uint32_t, 3>{4, 1, 1});
  CHECK(k.explicit_cluster);
  CHECK(k.line == 2);
}

TEST_CASE("device functions have results, bodies or only declarations") {
  const PtxModule module = parse_ptx(R"(
.extern .func (.param .b32 r) vprintf(.param .b64 a, .param .b64 b);
.func nothing;
.func (.param .b32 out) twice(.param .b32 x)
{ .reg .b32 %r<3>; ld.param.b32 %r1, [x]; add.s32 %r2, %r1, %r1; st.param.b32 [out+0], %r2; ret; })");
  REQUIRE(module.functions.size() == 3);
  CHECK_FALSE(module.functions[0].defined);
  CHECK(module.functions[0].params.size() == 2);
  CHECK_FALSE(module.functions[1].defined);
  const PtxFunction& twice = module.functions[2];
  CHECK(twice.defined);
  CHECK_FALSE(twice.entry);
  CHECK(variable_of(module, twice, operand(twice, 0, 1)).name == "x");
  CHECK(variable_of(module, twice, operand(twice, 2, 0)).name == "out");
  CHECK(broken_invariant(module) == "");
}

TEST_CASE("initialisers become bytes, addresses stay symbols") {
  const PtxModule module = parse_ptx(R"(
.global .align 16 .b8 bytes[6] = {1, 0x2, 017, 0b11, 5U, -1};
.const .f32 reals[5] = {0f3F800000, 1.5, -2.0, 0d4000000000000000};
.global .f64 wide = 0f3F800000;
.global .s32 rows[2][3] = {{1}, {2, 3, 4}};
.global .v4 .f32 quad[2] = {{0f3F800000}, {0f40000000}};
.global .b16 open[] = {1, 2, 3};
.global .u64 places[4] = {bytes, generic(rows)+4, reals + 8, generic(rows - 4)};
.global .b8 masked[16] = {7, 0xFF(bytes+3), 0xFF00(bytes+3), 0xFF0000(bytes+3)};
.extern .shared .align 16 .b8 dynamic[];
.visible .shared .u32 one, two[2];
.weak .global .attribute(.managed) .u32 managed;)");
  CHECK(broken_invariant(module) == "");
  const auto variable = [&](std::string_view name) -> const PtxVariable& {
    for (const PtxVariable& each : module.variables)
      if (each.name == name) return each;
    FAIL("no such variable");
    return module.variables.front();
  };
  const auto initial = [&]<class T>(std::string_view name, T) {
    const PtxVariable& found = variable(name);
    std::vector<T> values(found.initial.size() / sizeof(T));
    std::memcpy(values.data(), found.initial.data(), found.initial.size());
    return values;
  };
  CHECK(initial("bytes", std::uint8_t{}) == std::vector<std::uint8_t>{1, 2, 15, 3, 5, 255});
  CHECK(variable("bytes").align == 16);
  CHECK(initial("reals", 0.0f) == std::vector<float>{1.0f, 1.5f, -2.0f, 2.0f});
  CHECK(variable("reals").bytes == 20);
  CHECK(variable("reals").space == PtxSpace::constant);
  CHECK(initial("wide", 0.0) == std::vector<double>{1.0});
  CHECK(initial("rows", 0) == std::vector<int>{1, 0, 0, 2, 3, 4});
  CHECK(initial("quad", 0.0f) == std::vector<float>{1, 0, 0, 0, 2});
  CHECK(variable("quad").bytes == 32);
  CHECK(variable("quad").align == 16);
  CHECK(variable("open").bytes == 6);
  const auto& places = variable("places").addresses;
  REQUIRE(places.size() == 4);
  CHECK(places[0].symbol == "bytes");
  CHECK(places[1].symbol == "rows");
  CHECK(places[1].addend == 4);
  CHECK(places[1].offset == 8);
  CHECK(places[2].addend == 8);
  CHECK(places[3].addend == -4);
  REQUIRE(variable("masked").addresses.size() == 1);
  CHECK(variable("masked").addresses[0].offset == 1);
  CHECK(variable("masked").addresses[0].addend == 3);
  CHECK(variable("dynamic").external);
  CHECK(variable("dynamic").bytes == 0);
  CHECK(variable("two").bytes == 8);
  CHECK(variable("two").space == PtxSpace::shared);
}

TEST_CASE("constants are read in every spelling") {
  struct Row {
    std::string_view text;
    std::uint64_t value;
    int real_bits;
  };
  constexpr auto rows = std::to_array<Row>({{"0", 0, 0},
                                            {"42", 42, 0},
                                            {"42U", 42, 0},
                                            {"-1", ~0ull, 0},
                                            {"0x1F", 31, 0},
                                            {"0xffffffffffffffff", ~0ull, 0},
                                            {"18446744073709551615", ~0ull, 0},
                                            {"-9223372036854775808", 1ull << 63, 0},
                                            {"0777", 511, 0},
                                            {"0b101U", 5, 0},
                                            {"WARP_SZ", 32, 0},
                                            {"4 + 8 - 2", 10, 0},
                                            {"0f3F800000", 0x3f800000, 32},
                                            {"0F3f800000", 0x3f800000, 32},
                                            {"-0f3F800000", 0xbf800000, 32},
                                            {"0d3FF0000000000000", 0x3ff0000000000000, 64},
                                            {"1.0", 0x3ff0000000000000, 64},
                                            {"-1.0", 0xbff0000000000000, 64},
                                            {"1e0", 0x3ff0000000000000, 64}});
  for (const Row& row : rows) {
    CAPTURE(row.text);
    const PtxModule module = kernel(fmt::format("mov.b64 %rd1, {};", row.text));
    const PtxOperand& found = operand(module.functions[0], 0, 1);
    CHECK(found.kind == PtxOperandKind::immediate);
    CHECK(static_cast<std::uint64_t>(found.value) == row.value);
    CHECK(found.real_bits == row.real_bits);
  }
}

TEST_CASE("special registers are known by name, others must be declared") {
  for (const std::string_view name : {"%tid.x",
                                      "%ntid.y",
                                      "%ctaid.z",
                                      "%nctaid.x",
                                      "%laneid",
                                      "%warpid",
                                      "%clock",
                                      "%clock64",
                                      "%globaltimer_lo",
                                      "%lanemask_lt",
                                      "%envreg1",
                                      "%envreg31",
                                      "%pm0",
                                      "%pm3_64",
                                      "%cluster_ctarank",
                                      "%cluster_ctaid.x",
                                      "%is_explicit_cluster",
                                      "%smid",
                                      "%nsmid",
                                      "%gridid",
                                      "%dynamic_smem_size",
                                      "%reserved_smem_offset_1"}) {
    CAPTURE(name);
    const PtxModule module = kernel(fmt::format("mov.u32 %r1, {};", name));
    CHECK(operand(module.functions[0], 0, 1).kind == PtxOperandKind::special);
    CHECK(operand(module.functions[0], 0, 1).name == name);
  }
  CHECK_THROWS_AS(kernel("mov.u32 %r1, %speed;"), const Error&);
}

TEST_CASE("addresses have a register, a variable or a number as base, and an offset") {
  const PtxModule module = kernel(R"(
ld.u32 %r1, [%rd1]; ld.u32 %r1, [%rd1+8]; ld.u32 %r1, [%rd1+-4]; ld.u32 %r1, [%rd1 - 4]; ld.u32 %r1, [64];
ld.u32 %r1, [-8]; ld.shared.u32 %r1, [tile]; ld.shared.u32 %r1, [tile+12]; ld.param.u32 %r1, [n]; mov.u64 %rd1, tile;
mov.u64 %rd1, tile+16; ld.global.u32 %r1, [outside+4];)",
                                  ".shared .b8 tile[64]; .global .u32 outside[4];");
  const PtxFunction& k = module.functions[0];
  const auto at = [&](std::size_t i) -> const PtxOperand& { return operand(k, i, 1); };
  for (const auto& [i, offset] : {std::pair{0, 0}, {1, 8}, {2, -4}, {3, -4}}) {
    CHECK(at(i).kind == PtxOperandKind::address);
    CHECK(name_of(k, at(i)) == "%rd1");
    CHECK(at(i).value == offset);
  }
  CHECK(at(4).index == PtxOperand::no_index);
  CHECK(at(4).value == 64);
  CHECK(at(5).value == -8);
  CHECK(at(6).in_brackets);
  CHECK(at(6).kind == PtxOperandKind::variable);
  CHECK(at(7).value == 12);
  CHECK(at(7).space == PtxSpace::shared);
  CHECK(variable_of(module, k, at(8)).name == "n");
  CHECK_FALSE(at(9).in_brackets);
  CHECK(at(10).value == 16);
  CHECK(at(11).space == PtxSpace::global);
  CHECK(variable_of(module, k, at(11)).name == "outside");
}

TEST_CASE("groups: vectors, pairs, lists, tensors, discards and negated predicates") {
  const PtxModule module = kernel(R"(
ld.global.v4.f32 {%f1, _, %f2, %f3}, [%rd1];
shfl.sync.bfly.b32 %r1|%p1, %r2, 16, 31, -1;
setp.lt.and.s32 %p1|%p2, %r1, %r2, !%p3;
elect.sync _|%p1, 0xffffffff;
mov.b64 {%r1, %r2}, %rd1;
cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], [%rd1, {%r2, %r3}], [%r4];
mbarrier.arrive.expect_tx.release.cta.shared::cta.b64 _, [%r1], 64;
ld.global.L2::128B.f32 %f1, [%rd1];)");
  const PtxFunction& k = module.functions[0];
  const PtxOperand& four = operand(k, 0, 0);
  CHECK(four.kind == PtxOperandKind::vector);
  REQUIRE(four.count == 4);
  CHECK(name_of(k, k.operands[four.index]) == "%f1");
  CHECK(k.operands[four.index + 1].kind == PtxOperandKind::discard);
  CHECK(operand(k, 1, 0).kind == PtxOperandKind::pair);
  CHECK(name_of(k, k.operands[operand(k, 1, 0).index + 1]) == "%p1");
  CHECK(operand(k, 1, 4).value == -1);
  CHECK(operand(k, 2, 3).negated);
  CHECK(k.operands[operand(k, 3, 0).index].kind == PtxOperandKind::discard);
  CHECK(operand(k, 4, 0).count == 2);
  const PtxOperand& tensor = operand(k, 5, 1);
  CHECK(tensor.kind == PtxOperandKind::list);
  CHECK(tensor.in_brackets);
  CHECK(k.operands[tensor.index].kind == PtxOperandKind::address);
  CHECK(k.operands[tensor.index + 1].kind == PtxOperandKind::vector);
  CHECK(k.instructions[5].opcode == "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes");
  CHECK(operand(k, 6, 0).kind == PtxOperandKind::discard);
  CHECK(k.instructions[7].opcode == "ld.global.L2::128B.f32");
}

TEST_CASE("instructions of matrix units and copy engines have no shape of their own") {
  const PtxModule module = kernel(R"(
wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f1, %f2, %f3, %f4}, %rd1, %rd2, %p1, 1, -1, 0, 1;
tcgen05.mma.cta_group::1.kind::f16 [%r1 + 4], %rd1, %rd2, %r2, {%r3, %r4, %r5, %r6}, %p1;
cp.async.bulk.tensor.3d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes [%r1], [%rd1, {%r2, %r3, %r4}], [%r5], {%rs1};
cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f32 [%rd1], [%r1], 64;
ld.global.L1::evict_last.L2::cache_hint.v2.f32 {%f1, %f2}, [%rd1+32], %rd2;
st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.u32 [%r1], %r2, [%r3];
multimem.ld_reduce.global.add.v4.f32 {%f1, %f2, %f3, %f4}, [%rd1];
tex.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%rd1, %rd2, {%f5, %f6}];
sust.b.2d.b32.trap [%rd1, {%r1, %r2}], {%r3};
createpolicy.fractional.L2::evict_first.b64 %rd3, 0f3F800000;
cp.async.commit_group;)");
  const PtxFunction& k = module.functions[0];
  CHECK(k.instructions.size() == 11);
  CHECK(k.instructions[0].count == 8);
  CHECK(k.instructions[2].count == 4);
  CHECK(operand(k, 7, 1).count == 3);
  CHECK(k.instructions[10].count == 0);
}

TEST_CASE("guards name a predicate, plain or negated") {
  const PtxModule module = kernel("@%p1 ret; @!%p2 bra end; @ %p3 st.global.u32 [%rd1], 1; end: ret;");
  const PtxFunction& k = module.functions[0];
  for (std::size_t i = 0; i < 3; ++i) {
    CHECK(k.registers[k.instructions[i].guard].name == fmt::format("%p{}", i + 1));
    CHECK(k.instructions[i].guard_negated == (i == 1));
  }
  CHECK(k.instructions[3].guard == PtxOperand::no_index);
  CHECK_THROWS_AS(kernel("@%r1 ret;"), const Error&);
}

TEST_CASE("names in braces hide those outside, and labels stay inside") {
  const PtxModule module = kernel(R"(
.reg .b32 x; mov.u32 x, 1;
{ .reg .b64 x; .reg .b64 %r<2>; mov.u64 x, 2; mov.u64 %r1, 3; mov.u32 %r5, 3; again: bra again; bra out; }
{ .reg .b16 x; mov.u16 x, 4; again: bra again; { bra again; } }
mov.u32 x, 5; mov.u32 %r1, 6;
out: ret;)");
  const PtxFunction& k = module.functions[0];
  const auto bits = [&](std::size_t i) { return int{k.registers[operand(k, i, 0).index].bits}; };
  CHECK(bits(0) == 32);
  CHECK(bits(1) == 64);
  CHECK(bits(2) == 64);
  CHECK(bits(3) == 32);  // beyond the inner range: the outer one
  CHECK(operand(k, 4, 0).index == 4);
  CHECK(operand(k, 5, 0).index == 11);
  CHECK(bits(6) == 16);
  CHECK(operand(k, 7, 0).index == 7);
  CHECK(operand(k, 8, 0).index == 7);
  CHECK(bits(9) == 32);
  CHECK(operand(k, 9, 0).index == operand(k, 0, 0).index);
  CHECK(bits(10) == 32);
  CHECK_THROWS_AS(kernel("{ inner: ret; } bra inner;"), const Error&);
  CHECK_THROWS_AS(kernel("{ .reg .b32 y; } mov.u32 y, 1;"), const Error&);
}

TEST_CASE("a range is one declaration and its registers exist once each, in the order they are named") {
  const PtxModule module = kernel("add.s32 %r7, %r3, %r7; add.s32 %r3, %r8, 1;");
  const PtxFunction& k = module.functions[0];
  REQUIRE(k.registers.size() == 3);
  CHECK(k.registers[0].name == "%r7");
  CHECK(k.registers[1].name == "%r3");
  CHECK(k.registers[2].name == "%r8");
  CHECK_THROWS_AS(kernel("mov.u32 %r9, 1;"), const Error&);   // %r<9> ends at %r8
  CHECK_THROWS_AS(kernel("mov.u32 %r01, 1;"), const Error&);  // not how ranges count
}

TEST_CASE("calls keep results, callee, arguments and prototype") {
  const PtxModule module = kernel(R"(
{ .param .b32 x; .param .b32 r; st.param.b32 [x], %r1; call.uni (r), twice, (x); ld.param.b32 %r2, [r]; }
{ .param .b32 x; call nothing; call twice, (x, 7); }
proto : .callprototype (.param .b32 _) _ (.param .b64 _, .param .align 8 .b8 _[16]) .noreturn;
call (%r1), %rd1, (%rd2), proto;
calls: .calltargets twice, nothing;
call (%r1), %rd1, (%rd2), calls;)",
                                  ".func (.param .b32 r) twice(.param .b32 x); .func nothing;");
  const PtxFunction& k = entry_of(module);
  CHECK(operand(k, 1, 0).kind == PtxOperandKind::list);
  CHECK(operand(k, 1, 1).kind == PtxOperandKind::function);
  CHECK(operand(k, 1, 1).name == "twice");
  CHECK(variable_of(module, k, k.operands[operand(k, 1, 2).index]).name == "x");
  CHECK(k.instructions[3].count == 1);
  CHECK(operand(k, 4, 1).count == 2);
  CHECK(operand(k, 5, 1).kind == PtxOperandKind::reg);
  CHECK(operand(k, 5, 3).kind == PtxOperandKind::label);
  CHECK(operand(k, 6, 3).name == "calls");
}

TEST_CASE("indirect branches list their targets") {
  const PtxModule module = kernel("ts: .branchtargets L1, L2, L1; brx.idx %r1, ts; L1: add.s32 %r1, %r1, 1; L2:");
  const PtxFunction& k = module.functions[0];
  REQUIRE(k.branch_targets.size() == 1);
  CHECK(k.branch_targets[0].name == "ts");
  CHECK(k.branch_targets[0].instructions == std::vector<std::uint32_t>{1, 2, 1});
  CHECK(operand(k, 0, 1).name == "ts");
}

TEST_CASE("lines of the PTX and of the source are kept") {
  const PtxModule module = parse_ptx(R"(.version 9.0
.file 2 "b.h", 17, 18
.file 1 "a.cu"
.entry k() {
  .loc 1 7 3
  bar.sync 0; /* two
  lines */ membar.gl;
  .loc 2 9 1, function_name $L__info_string0+4, inlined_at 1 8 5
  ret;
}
.section .debug_info { .b8 1, 2 // } no end
}
.section	.debug_loc	{	}
)");
  CHECK(module.source_files == std::vector<std::string>{"", "a.cu", "b.h"});
  const auto& code = module.functions[0].instructions;
  CHECK(code[0].line == 6);
  CHECK(code[0].source.line == 7);
  CHECK(code[1].line == 7);
  CHECK(code[2].source.file == 1);  // a line of a header: the line that called it
  CHECK(code[2].source.line == 8);
}

TEST_CASE("a line that was inlined from a header is the line of the kernel's file that called it, however deep") {
  const PtxModule module = parse_ptx(R"(.version 8.0
.target sm_80
.address_size 64
.file 1 "a.cu"
.file 2 "b.h"
.entry k() {
  .loc 1 20 3, function_name $L0, inlined_at 1 7 5
  bar.sync 0;
  .loc 2 9 1, function_name $L0, inlined_at 1 20 3
  bar.sync 0;
  .loc 2 30 1, function_name $L0, inlined_at 2 9 1
  bar.sync 0;
  .loc 1 20 3
  bar.sync 0;
  .loc 2 9 1
  ret;
}
)");
  const auto& code = module.functions[0].instructions;
  const auto at = [&](std::size_t i) { return std::pair(code[i].source.file, code[i].source.line); };
  CHECK(at(0) == std::pair(1u, 20u));  // a function of the same file: its own line
  CHECK(at(1) == std::pair(1u, 20u));
  CHECK(at(2) == std::pair(1u, 20u));
  CHECK(at(3) == std::pair(1u, 20u));
  CHECK(at(4) == std::pair(2u, 9u));  // not inlined
}

TEST_CASE("a declaration needs no space before its type") {
  const PtxModule module = kernel("{.reg.b32 f; .reg.b16 h; .shared.align 16 .b8 s[32]; mov.u32 f, s; }");
  const PtxFunction& body = module.functions[0];
  REQUIRE(body.variables.size() == 1);
  CHECK(body.variables[0].align == 16);
  CHECK(body.variables[0].bytes == 32);
  CHECK(body.instructions.size() == 1);
}

TEST_CASE("variables of a function come with their space") {
  const PtxModule module = kernel(R"(
.shared .align 16 .b8 tile[32]; .local .align 8 .b8 depot[16]; .extern .shared .b8 dynamic[];
mov.u32 %r1, tile; mov.u64 %rd1, depot; mov.u32 %r1, dynamic; mov.u32 %r1, outer;)",
                                  ".shared .u32 outer; .global .u32 tile;");
  const PtxFunction& k = module.functions[0];
  CHECK(operand(k, 0, 1).space == PtxSpace::shared);
  CHECK(operand(k, 1, 1).space == PtxSpace::local);
  CHECK(variable_of(module, k, operand(k, 2, 1)).external);
  CHECK(variable_of(module, k, operand(k, 3, 1)).name == "outer");
  REQUIRE(k.variables.size() == 3);
  CHECK(k.variables[0].bytes == 32);
}

TEST_CASE("what is wrong is said with its place") {
  struct Row {
    std::string_view text;
    std::int64_t line, column;
    std::string_view says;
  };
  constexpr auto rows = std::to_array<Row>({
      {"HloModule m", 1, 1, "expected a declaration"},
      {".entry k(.param .u64 a {}", 1, 24, "expected ')'"},
      {".entry k() {\n ret\n}", 3, 1, "operand of ret"},
      {".entry k() {\n ret;\n", 3, 1, "the end of the text"},
      {".entry k() {\n mov.u32 %r1, 2;\n}", 2, 10, "'%r1'"},
      {".entry k() { bra nowhere; }", 1, 18, "expected a label"},
      {".entry k() { L: L: ret; }", 1, 17, "second label"},
      {".entry k() { .reg .b32 x, x; }", 1, 27, "second 'x'"},
      {".entry k() { .reg .b99 x; }", 1, 19, "'.b99'"},
      {".entry k() { .reg .v2 .b32 x; }", 1, 28, "registers of one value"},
      {".entry k() { .reg .b32 %r<99999999>; }", 1, 27, "at most"},
      {".entry k() { mov.b32 1 2; }", 1, 24, "',' or ';'"},
      {".entry k() { ld.u32 1, [; }", 1, 25, "an address"},
      {".entry k() { st.f32 [0], 0f123; }", 1, 26, "8 hexadecimal"},
      {".entry k() { st.u32 [0], 99999999999999999999; }", 1, 26, "64 bits"},
      {".entry k() { st.u32 [0], 0x; }", 1, 26, "hexadecimal digits"},
      {".global .u32 x[2] = {1, 2, 3};", 1, 21, "12 bytes"},
      {".global .u32 x = {{1}};", 1, 19, "a value"},
      {".global .u32 x[1099511627776][9999];", 1, 15, "terabyte"},
      {".global .align 3 .u32 x;", 1, 16, "power of two"},
      {".global .u16 x = y;", 1, 18, "a number"},
      {"/* no end", 1, 1, "does not end"},
      {".file 1 \"no end", 1, 9, "does not end"},
      {".section .debug { {", 1, 17, "without its '}'"},
  });
  for (const Row& row : rows) {
    CAPTURE(row.text);
    try {
      parse_ptx(std::string(row.text), "bad.ptx");
      FAIL_CHECK("it was accepted");
    } catch (const Error& error) {
      CHECK(error.fault == Fault::failed);
      CHECK(error.at == Position{"bad.ptx", row.line, row.column});
      INFO(error.message);
      CHECK(error.message.find(row.says) != std::string::npos);
    }
  }
}

TEST_CASE("text of any shape ends in time and bounded depth") {
  std::string nested = ".entry k() {";
  for (int i = 0; i < 100000; ++i) nested += '{';
  CHECK_THROWS_AS(parse_ptx(nested), const Error&);
  CHECK_THROWS_AS(parse_ptx(".entry k() { mov " + std::string(100000, '(')), const Error&);
  CHECK_THROWS_AS(parse_ptx(".global .u8 x[1] = " + std::string(100000, '{')), const Error&);
  CHECK_THROWS_AS(parse_ptx(".global .u8 x[2][1000000000] = {{}, {}, {}};"), const Error&);
}

TEST_CASE("an entry is found by name, or as the only one") {
  const PtxModule two = parse_ptx(".entry first() { ret; } .entry second() { ret; } .extern .entry third();");
  CHECK(entry_of(two, "second").name == "second");
  CHECK_THROWS_WITH_AS(entry_of(two), doctest::Contains("2 entries"), const Error&);
  CHECK_THROWS_WITH_AS(entry_of(two, "secund"), doctest::Contains("no entry 'secund'"), const Error&);
  CHECK_THROWS_AS(entry_of(two, "third"), const Error&);
  CHECK(entry_of(parse_ptx(".entry only() { ret; }")).name == "only");
  CHECK_THROWS_WITH_AS(entry_of(parse_ptx(".func f() { ret; }")), doctest::Contains("no entry"), const Error&);
}

TEST_CASE("the corpus of the fuzzer parses with every index in range") {
  for (const auto& file : std::filesystem::directory_iterator(source_folder() + "/tests/fuzz/corpus/ptx")) {
    CAPTURE(file.path().string());
    CHECK(broken_invariant(parse_ptx(read_file(file.path()), file.path().string())) == "");
  }
}

TEST_CASE("kernels of another compiler parse with every index in range") {
  const std::filesystem::path folder = std::filesystem::path(third_party_folder()) / "xla_reference";
  if (third_party_folder().empty() || !std::filesystem::exists(folder)) return skip("no folder of third-party data");
  int files = 0;
  for (const auto& file : std::filesystem::recursive_directory_iterator(folder)) {
    if (file.path().extension() != ".ptx") continue;
    CAPTURE(file.path().string());
    ++files;
    CHECK(broken_invariant(parse_ptx(read_file(file.path()), file.path().string())) == "");
  }
  CHECK(files > 0);
}

}  // namespace
}  // namespace tailor::simulator
