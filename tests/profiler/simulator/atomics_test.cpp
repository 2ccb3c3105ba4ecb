// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Atomic operations on whole numbers, each with operands at the ends of its type, against what the manual says of it.
// In: PTX written here, in which each thread works on a place of its own. Out: what is left in memory and what the
// thread was told, held against 128-bit arithmetic. Part of the suite `simulator`.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cstring>
#include <string>
#include <vector>

#include "profiler/simulator/machine/launch.h"

namespace tailor::simulator {
namespace {

struct Left {
  std::uint64_t memory = 0, told = 0;
  bool operator==(const Left&) const = default;
};

/// Four threads do the same; the first two say the halves of what is left, the others those of what they were told.
Left executed(const std::string& op, const std::string& type, int bits, const std::vector<std::uint64_t>& operands) {
  const bool wide = bits == 64;
  const std::string kind = wide ? "b64" : "b32", reg = wide ? "%v" : "%w";
  std::string body =
      "  .reg .pred %p<4>;\n  .reg .b32 %t, %a, %w<8>, %h<8>, %out;\n  .reg .b64 %v<8>, %d<4>;\n"
      "  .shared .align 8 .b8 s[32];\n  mov.u32 %t, %tid.x;\n  mov.u32 %a, s;\n  mad.lo.u32 %a, %t, 8, %a;\n";
  for (std::size_t i = 0; i < operands.size(); ++i)
    body += fmt::format("  mov.{} {}{}, 0x{:x};\n", kind, reg, i, wide ? operands[i] : operands[i] & 0xffffffffu);
  body += fmt::format("  st.shared.{} [%a], {}0;\n  atom.shared.{}.{} {}4, [%a], {}1{};\n  ld.shared.{} {}5, [%a];\n",
                      kind, reg, op, type, reg, reg, operands.size() > 2 ? fmt::format(", {}2", reg) : "", kind, reg);
  if (wide)
    body += "  mov.b64 {%h0, %h1}, %v5;\n  mov.b64 {%h2, %h3}, %v4;\n";
  else
    body += "  mov.b32 %h0, %w5;\n  mov.b32 %h1, 0;\n  mov.b32 %h2, %w4;\n  mov.b32 %h3, 0;\n";
  body += "  mov.b32 %out, %h0;\n";
  for (int i = 1; i < 4; ++i)
    body += fmt::format("  setp.eq.u32 %p{0}, %t, {0};\n  selp.b32 %out, %h{0}, %out, %p{0};\n", i);
  const PtxModule module =
      parse_ptx(".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 y)\n{\n" + body +
                    "  ld.param.u64 %d1, [y];\n  mul.wide.u32 %d2, %t, 4;\n  add.s64 %d3, %d1, %d2;\n"
                    "  st.global.u32 [%d3], %out;\n  ret;\n}\n",
                "k.ptx");
  Memory memory;
  const int y = memory.add("y", 16, 4, BufferUse::output);
  Launch launch;
  launch.block = {4, 1, 1};
  launch.arguments = {{y, 0, {}}};
  const Simulation simulation = simulate(Program(module, entry_of(module)), launch, memory, {});
  for (const Finding& one : simulation.findings) FAIL_CHECK(describe(one));
  CHECK_MESSAGE(simulation.outcome == SimulationOutcome::finished, simulation.reason);
  Left left;
  std::memcpy(&left.memory, memory.bytes(y).data(), 8);
  std::memcpy(&left.told, memory.bytes(y).data() + 8, 8);
  return left;
}

__extension__ using Wide = __int128;

/// A word as a number of its type.
Wide number(std::uint64_t word, bool with_sign, int bits) {
  if (bits == 32) return with_sign ? Wide{static_cast<std::int32_t>(word)} : Wide{static_cast<std::uint32_t>(word)};
  return with_sign ? Wide{static_cast<std::int64_t>(word)} : Wide{word};
}

Wide expected(const std::string& op, Wide old, Wide b) {
  if (op == "add") return old + b;
  if (op == "min") return b < old ? b : old;
  if (op == "max") return old < b ? b : old;
  if (op == "inc") return old >= b ? 0 : old + 1;
  if (op == "dec") return old == 0 || old > b ? b : old - 1;
  if (op == "and") return old & b;
  if (op == "or") return old | b;
  if (op == "xor") return old ^ b;
  return b;  // exch
}

}  // namespace

TEST_CASE("atomics on whole numbers leave what their definition says, and tell what was there") {
  struct Row {
    std::string op;
    std::vector<std::string> types;
  };
  const std::vector<Row> rows{{"add", {"u32", "s32", "u64"}},
                              {"min", {"u32", "s32", "u64", "s64"}},
                              {"max", {"u32", "s32", "u64", "s64"}},
                              {"inc", {"u32"}},
                              {"dec", {"u32"}},
                              {"and", {"b32", "b64"}},
                              {"or", {"b32", "b64"}},
                              {"xor", {"b32", "b64"}},
                              {"exch", {"b32", "b64"}}};
  for (const Row& row : rows)
    for (const std::string& type : row.types) {
      const int bits = type.ends_with("64") ? 64 : 32;
      const std::uint64_t all = bits == 64 ? ~0ull : 0xffffffffull, top = 1ull << (bits - 1);
      for (const std::uint64_t old : {std::uint64_t{0}, std::uint64_t{5}, top - 1, top, all - 2, all})
        for (const std::uint64_t b : {std::uint64_t{0}, std::uint64_t{5}, std::uint64_t{6}, top, all}) {
          CAPTURE(row.op);
          CAPTURE(type);
          CAPTURE(old);
          CAPTURE(b);
          const bool with_sign = type[0] == 's';
          const Wide is = expected(row.op, number(old, with_sign, bits), number(b, with_sign, bits));
          CHECK(executed(row.op, type, bits, {old, b}) == Left{static_cast<std::uint64_t>(is) & all, old});
        }
    }
}

TEST_CASE("a compare and swap stores where memory holds what was expected, and nothing else") {
  for (const int bits : {32, 64}) {
    const std::uint64_t all = bits == 64 ? ~0ull : 0xffffffffull;
    for (const std::uint64_t old : {std::uint64_t{0}, std::uint64_t{7}, all})
      for (const std::uint64_t wanted : {std::uint64_t{0}, std::uint64_t{7}, all}) {
        const Left left = executed("cas", bits == 64 ? "b64" : "b32", bits, {old, wanted, 9});
        CHECK(left == Left{old == wanted ? 9 : old, old});
      }
  }
}

}  // namespace tailor::simulator
