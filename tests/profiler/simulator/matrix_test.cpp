// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Matrix instructions against plain loops. Where an element lies is written here element by element, as PTX ISA states
// it for each width, and not by the simulator's rule for words; what reads tiles and multiplies them is also checked as
// one, by the usual kernel that knows only rows and columns.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <random>
#include <vector>

#include "doctest/doctest.h"
#include "profiler/simulator/decode/matrix.h"
#include "profiler/simulator/lanes/half.h"
#include "profiler/simulator/machine/launch.h"

namespace tailor::simulator {
namespace {

using Words = std::vector<std::uint32_t>;

struct MatrixRun {
  Simulation simulation;
  std::string unsupported;
  std::vector<Words> buffers;  ///< after it
};

/// An entry whose parameters are pointers %rd0, %rd1, ... to buffers of words; the last buffer is the output. %r0 is
/// the thread, %rd9 four times it.
MatrixRun run(const std::string& body, const std::vector<Words>& buffers, std::uint32_t threads = 32) {
  std::string text = ".version 8.4\n.target sm_90\n.address_size 64\n.visible .entry k(";
  for (std::size_t i = 0; i < buffers.size(); ++i) text += fmt::format("{}.param .u64 p{}", i ? ", " : "", i);
  text +=
      ")\n{\n.reg .b32 %r<64>;\n.reg .b64 %rd<64>;\n.reg .b32 %a<8>, %b<8>, %c<8>, %d<8>;\n.reg .b64 %wa<8>, %wb<8>, "
      "%wc<8>;\n.reg .pred %p<4>;\n.shared .align 128 .b8 tile[4096];\nmov.u32 %r0, %tid.x;\nmul.wide.u32 %rd9, %r0, "
      "4;\n";
  for (std::size_t i = 0; i < buffers.size(); ++i) text += fmt::format("ld.param.u64 %rd{0}, [p{0}];\n", i);
  text += body + "ret;\n}\n";
  const PtxModule module = parse_ptx(text, "matrix.ptx");
  const Program program(module, module.functions.at(0));
  MatrixRun made;
  made.unsupported = program.unsupported();
  if (!made.unsupported.empty()) return made;
  Memory memory;
  Launch launch;
  launch.block = {threads, 1, 1};
  for (std::size_t i = 0; i < buffers.size(); ++i) {
    const auto bytes = static_cast<std::int64_t>(buffers[i].size() * 4);
    const int buffer =
        memory.add(fmt::format("p{}", i), bytes, 4, i + 1 == buffers.size() ? BufferUse::both : BufferUse::input);
    std::memcpy(memory.bytes(buffer).data(), buffers[i].data(), buffers[i].size() * 4);
    launch.arguments.push_back({buffer, 0, {}});
  }
  made.simulation = simulate(program, launch, memory);
  for (std::size_t i = 0; i < buffers.size(); ++i) {
    made.buffers.push_back(buffers[i]);
    std::memcpy(made.buffers[i].data(), memory.bytes(static_cast<int>(i)).data(), buffers[i].size() * 4);
  }
  return made;
}

std::uint64_t seed() { return 20260421; }

struct Coordinate {
  int row, column;
};

/// Element i of lane's part of A (row, k), by width, as PTX ISA lists them for m16; m8 has only the first rows.
Coordinate coordinate_of_a(int bits, int m, int lane, int i) {
  const int g = lane / 4, t = lane % 4;
  if (m == 8) return {g, t * std::max(32 / bits, 1) + i};
  switch (bits) {
    case 64:
      return {i % 2 == 0 ? g : g + 8, i % 2 == 0 ? i * 2 + t : i * 2 - 2 + t};
    case 32:
      return {i == 0 || i == 2 ? g : g + 8, i < 2 ? t : t + 4};
    case 16:
      return {i < 2 || (i >= 4 && i < 6) ? g : g + 8, t * 2 + (i & 1) + (i >= 4 ? 8 : 0)};
    case 8:
      return {i < 4 || (i >= 8 && i < 12) ? g : g + 8, t * 4 + (i & 3) + (i >= 8 ? 16 : 0)};
    case 4:
      return {i < 8 || (i >= 16 && i < 24) ? g : g + 8, t * 8 + (i & 7) + (i >= 16 ? 32 : 0)};
    default:
      return {i < 32 || (i >= 64 && i < 96) ? g : g + 8, t * 32 + (i & 31) + (i >= 64 ? 128 : 0)};
  }
}

/// Element i of lane's part of B: (k, column).
Coordinate coordinate_of_b(int bits, int lane, int i) {
  const int g = lane / 4, t = lane % 4;
  switch (bits) {
    case 64:
    case 32:
      return {t + i * 4, g};
    case 16:
      return {t * 2 + (i & 1) + (i >= 2 ? 8 : 0), g};
    case 8:
      return {t * 4 + (i & 3) + (i >= 4 ? 16 : 0), g};
    case 4:
      return {t * 8 + (i & 7) + (i >= 8 ? 32 : 0), g};
    default:
      return {t * 32 + (i & 31) + (i >= 32 ? 128 : 0), g};
  }
}

/// Element i of lane's part of C and D.
Coordinate coordinate_of_c(int lane, int i) { return {i < 2 ? lane / 4 : lane / 4 + 8, lane % 4 * 2 + (i & 1)}; }

double value_of(MatrixElement type, std::uint64_t bits) {
  switch (type) {
    case MatrixElement::f16:
      return float_of_f16(static_cast<std::uint16_t>(bits));
    case MatrixElement::bf16:
      return float_of_bf16(static_cast<std::uint16_t>(bits));
    case MatrixElement::tf32:
      return std::bit_cast<float>(static_cast<std::uint32_t>(bits) & ~0x1fffu);
    case MatrixElement::f32:
      return std::bit_cast<float>(static_cast<std::uint32_t>(bits));
    case MatrixElement::f64:
      return std::bit_cast<double>(bits);
    case MatrixElement::e4m3:
    case MatrixElement::e5m2: {
      const int fraction = type == MatrixElement::e4m3 ? 3 : 2, bias = type == MatrixElement::e4m3 ? 7 : 15;
      const int exponent = static_cast<int>(bits & 0x7f) >> fraction;
      const int mantissa = static_cast<int>(bits) & ((1 << fraction) - 1);
      const double magnitude = exponent == 0 ? std::ldexp(mantissa, 1 - bias - fraction)
                                             : std::ldexp(mantissa + (1 << fraction), exponent - bias - fraction);
      return bits & 0x80 ? -magnitude : magnitude;
    }
    case MatrixElement::s8:
      return static_cast<std::int8_t>(bits);
    case MatrixElement::s4:
      return bits & 8 ? static_cast<double>(bits) - 16 : static_cast<double>(bits);
    case MatrixElement::s32:
      return static_cast<std::int32_t>(bits);
    default:
      return static_cast<double>(bits);
  }
}

/// Bits of a number that is not infinite, near 1 for floats.
std::uint64_t random_bits(MatrixElement type, std::mt19937_64& random) {
  const double real = std::uniform_real_distribution<double>(-2, 2)(random);
  switch (type) {
    case MatrixElement::f16:
      return f16_of(static_cast<float>(real));
    case MatrixElement::bf16:
      return bf16_of(static_cast<float>(real));
    case MatrixElement::tf32:
    case MatrixElement::f32:
      return std::bit_cast<std::uint32_t>(static_cast<float>(real));
    case MatrixElement::f64:
      return std::bit_cast<std::uint64_t>(real);
    case MatrixElement::e4m3:
    case MatrixElement::e5m2:
      return (random() & 0x80) | random() % (type == MatrixElement::e4m3 ? 0x50 : 0x44);
    case MatrixElement::s32:
      return random() & 0xffff;
    default:
      return random() & ((std::uint64_t{1} << element_bits(type)) - 1);
  }
}

std::uint64_t element(const Words& words, int bits, int lane, int i) {
  if (bits == 64) {
    const auto at = static_cast<std::size_t>(i * 32 + lane) * 2;
    return words[at] | std::uint64_t{words[at + 1]} << 32;
  }
  const int per = 32 / bits;
  const std::uint32_t word = words[static_cast<std::size_t>(i / per * 32 + lane)];
  return word >> i % per * bits & (bits == 32 ? ~0u : (1u << bits) - 1);
}

void put_element(Words& words, int bits, int lane, int i, std::uint64_t value) {
  if (bits == 64) {
    const auto at = static_cast<std::size_t>(i * 32 + lane) * 2;
    words[at] = static_cast<std::uint32_t>(value);
    words[at + 1] = static_cast<std::uint32_t>(value >> 32);
    return;
  }
  const int per = 32 / bits;
  words[static_cast<std::size_t>(i / per * 32 + lane)] |= static_cast<std::uint32_t>(value) << i % per * bits;
}

Words random_part(MatrixElement type, int registers, std::mt19937_64& random) {
  const int bits = element_bits(type), per = std::max(32 / bits, 1);
  Words made(static_cast<std::size_t>(registers * 32 * (bits == 64 ? 2 : 1)));
  for (int lane = 0; lane < 32; ++lane)
    for (int i = 0; i < registers * per; ++i) put_element(made, bits, lane, i, random_bits(type, random));
  return made;
}

std::string names(std::string_view prefix, int count) {
  std::string text = "{";
  for (int i = 0; i < count; ++i) text += fmt::format("{}{}{}", i ? ", " : "", prefix, i);
  return text + "}";
}

/// Loads the lane's registers from buffers 0 to 2, multiplies, stores to buffer 3.
std::string product_text(const std::string& opcode, const MatrixForm& form) {
  const MatrixRegisters many = registers_of(form);
  const bool wide = form.a == MatrixElement::f64;
  const auto moves = [&](int buffer, const char* prefix, int count, bool load) {
    std::string text = fmt::format("add.s64 %rd2{0}, %rd{0}, %rd9;\n", buffer);
    if (wide) text += fmt::format("add.s64 %rd2{0}, %rd2{0}, %rd9;\n", buffer);
    for (int i = 0; i < count; ++i) {
      const std::string at = fmt::format("[%rd2{}+{}]", buffer, i * (wide ? 256 : 128));
      const std::string value = fmt::format("{}{}", prefix, i);
      const char* type = wide ? "b64" : "b32";
      text += load ? fmt::format("ld.global.{} {}, {};\n", type, value, at)
                   : fmt::format("st.global.{} {}, {};\n", type, at, value);
    }
    return text;
  };
  const char *a = wide ? "%wa" : "%a", *b = wide ? "%wb" : "%b", *c = wide ? "%wc" : "%c";
  return moves(0, a, many.a, true) + moves(1, b, many.b, true) + moves(2, c, many.sum, true) +
         fmt::format("{} {}, {}, {}, {};\n", opcode, names(c, many.sum), names(a, many.a), names(b, many.b),
                     names(c, many.sum)) +
         moves(3, c, many.sum, false);
}

/// The largest error, each relative to the sum of magnitudes that it came from.
double product_error(const std::string& opcode, std::mt19937_64& random, const std::optional<MatrixForm>& parsed) {
  const MatrixForm form = *parsed;
  const MatrixRegisters many = registers_of(form);
  const std::vector<Words> in{random_part(form.a, many.a, random), random_part(form.b, many.b, random),
                              random_part(form.sum, many.sum, random)};
  Words out(in[2].size());
  const MatrixRun done = run(product_text(opcode, form), {in[0], in[1], in[2], out});
  REQUIRE_MESSAGE(done.unsupported.empty(), done.unsupported);
  REQUIRE(done.simulation.outcome == SimulationOutcome::finished);
  CHECK(done.simulation.findings.empty());
  CHECK(done.simulation.counters.matrix == 1);
  const int bits = element_bits(form.a), sum_bits = element_bits(form.sum), k = form.k;
  std::vector<double> a(static_cast<std::size_t>(form.m * k)), b(static_cast<std::size_t>(k * 8));
  for (int lane = 0; lane < 32; ++lane) {
    for (int i = 0; i < form.m * k / 32; ++i) {
      const Coordinate at = coordinate_of_a(bits, form.m, lane, i);
      a[static_cast<std::size_t>(at.row * k + at.column)] = value_of(form.a, element(in[0], bits, lane, i));
    }
    for (int i = 0; i < k * 8 / 32; ++i) {
      const Coordinate at = coordinate_of_b(bits, lane, i);
      b[static_cast<std::size_t>(at.row * 8 + at.column)] = value_of(form.b, element(in[1], bits, lane, i));
    }
  }
  double worst = 0;
  for (int lane = 0; lane < 32; ++lane)
    for (int i = 0; i < form.m / 4; ++i) {
      const Coordinate at = coordinate_of_c(lane, i);
      double expected = value_of(form.sum, element(in[2], sum_bits, lane, i)), scale = std::abs(expected);
      for (int j = 0; j < k; ++j) {
        const double left = a[static_cast<std::size_t>(at.row * k + j)];
        const double right = b[static_cast<std::size_t>(j * 8 + at.column)];
        const bool ands = form.flags & matrix_ands;
        const double product = form.a != MatrixElement::b1 ? left * right : ands ? left * right : left != right;
        expected += product;
        scale += std::abs(product);
      }
      const double got = value_of(form.sum, element(done.buffers[3], sum_bits, lane, i));
      worst = std::max(worst, std::abs(got - expected) / std::max(scale, 1e-30));
    }
  return worst;
}

std::vector<std::string_view> split(std::string_view text) {
  std::vector<std::string_view> parts;
  while (!text.empty()) {
    const std::size_t dot = std::min(text.find('.'), text.size());
    parts.push_back(text.substr(0, dot));
    text.remove_prefix(std::min(dot + 1, text.size()));
  }
  return parts;
}

TEST_CASE("every product agrees with a plain loop") {
  struct Row {
    const char *shapes, *types;
    double tolerance;
  };
  constexpr Row rows[] = {
      {"m16n8k8 m16n8k16", "f32.f16.f16.f32", 1e-6},
      {"m16n8k8 m16n8k16", "f16.f16.f16.f16", 6e-4},
      {"m16n8k8 m16n8k16", "f32.bf16.bf16.f32", 1e-6},
      {"m16n8k4 m16n8k8", "f32.tf32.tf32.f32", 1e-6},
      {"m16n8k16 m16n8k32", "f32.e4m3.e4m3.f32", 1e-6},
      {"m16n8k16 m16n8k32", "f32.e4m3.e5m2.f32", 1e-6},
      {"m16n8k16 m16n8k32", "f32.e5m2.e5m2.f32", 1e-6},
      {"m16n8k16 m16n8k32", "f16.e5m2.e4m3.f16", 6e-4},
      {"m8n8k16 m16n8k16 m16n8k32", "s32.s8.s8.s32", 0},
      {"m8n8k16 m16n8k16 m16n8k32", "s32.u8.s8.s32", 0},
      {"m8n8k16 m16n8k16 m16n8k32", "s32.s8.u8.s32", 0},
      {"m8n8k16 m16n8k16 m16n8k32", "s32.u8.u8.s32", 0},
      {"m8n8k32 m16n8k32 m16n8k64", "s32.s4.s4.s32", 0},
      {"m8n8k32 m16n8k32 m16n8k64", "s32.u4.s4.s32", 0},
      {"m8n8k32 m16n8k32 m16n8k64", "s32.u4.u4.s32", 0},
      {"m8n8k128 m16n8k128 m16n8k256", "s32.b1.b1.s32.xor.popc", 0},
      {"m8n8k128 m16n8k128 m16n8k256", "s32.b1.b1.s32.and.popc", 0},
      {"m8n8k4 m16n8k4 m16n8k8 m16n8k16", "f64.f64.f64.f64", 1e-15},
  };
  std::mt19937_64 random(seed());
  for (const Row& row : rows)
    for (std::string_view shapes = row.shapes; !shapes.empty();) {
      const std::size_t space = std::min(shapes.find(' '), shapes.size());
      const std::string opcode = fmt::format("mma.sync.aligned.{}.row.col.{}", shapes.substr(0, space), row.types);
      shapes.remove_prefix(std::min(space + 1, shapes.size()));
      INFO(opcode, " seed ", seed());
      const std::optional<MatrixForm> form = matrix_form(split(opcode));
      REQUIRE(form.has_value());
      CHECK(product_error(opcode, random, form) <= row.tolerance);
    }
}

TEST_CASE("a saturating product stays at the ends of the range, any other wraps") {
  for (const bool clamps : {true, false}) {
    const std::string opcode =
        fmt::format("mma.sync.aligned.m8n8k16.row.col{}.s32.s8.s8.s32", clamps ? ".satfinite" : "");
    Words a(32, 0x01010101u), b(32, 0x01010101u), c(64, 0x7ffffff8u), d(64);
    for (std::size_t i = 0; i < 32; ++i)
      if (i / 4 == 3) a[i] = 0xffffffffu, c[i] = c[i + 32] = 0x80000008u;  // row 3 falls below
    const MatrixRun done = run(product_text(opcode, *matrix_form(split(opcode))), {a, b, c, d});
    for (std::size_t i = 0; i < 64; ++i) {
      const bool low = i % 32 / 4 == 3;
      CHECK(done.buffers[3][i] == (clamps ? (low ? 0x80000000u : 0x7fffffffu) : (low ? 0x7ffffff8u : 0x80000008u)));
    }
  }
}

/// Copies buffer 0 (1024 words at most) to `tile`, word by word.
std::string fill_tile(int words) {
  std::string text = "add.s64 %rd10, %rd0, %rd9;\nmov.u32 %r1, tile;\nshl.b32 %r2, %r0, 2;\nadd.u32 %r2, %r1, %r2;\n";
  for (int i = 0; i < words; i += 32)
    text += fmt::format("ld.global.b32 %r3, [%rd10+{0}];\nst.shared.b32 [%r2+{0}], %r3;\n", i * 4);
  return text + "bar.sync 0;\n";
}

std::string store_words(int count, int buffer = 1) {
  std::string text = fmt::format("add.s64 %rd11, %rd{}, %rd9;\n", buffer);
  for (int i = 0; i < count; ++i) text += fmt::format("st.global.b32 [%rd11+{}], %a{};\n", i * 128, i);
  return text;
}

Words counted(int words) {
  Words made;
  for (std::uint32_t i = 0; i < static_cast<std::uint32_t>(words); ++i) made.push_back(2 * i | (2 * i + 1) << 16);
  return made;
}

TEST_CASE("tiles are read row by row, transposed by columns") {
  for (const int tiles : {1, 2, 4})
    for (const bool transposed : {false, true}) {
      const std::string body = fill_tile(128) + "shl.b32 %r4, %r0, 4;\nadd.u32 %r4, %r1, %r4;\n" +
                               fmt::format("ldmatrix.sync.aligned.m8n8.x{}{}.shared.b16 {}, [%r4];\n", tiles,
                                           transposed ? ".trans" : "", names("%a", tiles)) +
                               store_words(tiles);
      const MatrixRun done = run(body, {counted(128), Words(128)});
      CHECK(done.simulation.findings.empty());
      for (int tile = 0; tile < tiles; ++tile)
        for (int lane = 0; lane < 32; ++lane)
          for (int i = 0; i < 2; ++i) {
            const int row = lane / 4, column = lane % 4 * 2 + i;
            const int expected = tile * 64 + (transposed ? column * 8 + row : row * 8 + column);
            const std::uint32_t word = done.buffers[1][static_cast<std::size_t>(tile * 32 + lane)];
            CHECK(static_cast<int>(word >> 16 * i & 0xffff) == expected);
          }
    }
}

TEST_CASE("what stmatrix writes ldmatrix reads, through any address") {
  for (const char* transposed : {"", ".trans"})
    for (const int tiles : {1, 2, 4}) {
      std::string body = "add.s64 %rd10, %rd0, %rd9;\nmov.u32 %r1, tile;\n";
      for (int i = 0; i < tiles; ++i) body += fmt::format("ld.global.b32 %b{}, [%rd10+{}];\n", i, i * 128);
      body +=
          "and.b32 %r5, %r0, 31;\nshl.b32 %r4, %r5, 5;\nadd.u32 %r4, %r1, %r4;\ncvt.u64.u32 %rd12, %r4;\n"
          "cvta.shared.u64 %rd13, %rd12;\n";
      body += fmt::format("stmatrix.sync.aligned.m8n8.x{}{}.shared::cta.b16 [%rd12+16], {};\nbar.warp.sync -1;\n",
                          tiles, transposed, names("%b", tiles));
      body +=
          fmt::format("ldmatrix.sync.aligned.m8n8.x{}{}.b16 {}, [%rd13+16];\n", tiles, transposed, names("%a", tiles));
      const MatrixRun done = run(body + store_words(tiles), {counted(128), Words(128)});
      REQUIRE_MESSAGE(done.unsupported.empty(), done.unsupported);
      CHECK(done.simulation.findings.empty());
      CHECK(done.simulation.counters.shared_store_requests == 1);
      CHECK(done.simulation.counters.shared_store_bytes == tiles * 128);
      for (int i = 0; i < tiles * 32; ++i)
        CHECK(done.buffers[1][static_cast<std::size_t>(i)] == done.buffers[0][static_cast<std::size_t>(i)]);
    }
}

TEST_CASE("movmatrix is a transposed store and a load") {
  const std::string body =
      "add.s64 %rd10, %rd0, %rd9;\nld.global.b32 %b0, [%rd10];\nmovmatrix.sync.aligned.m8n8.trans.b16 %a0, %b0;\n";
  const MatrixRun done = run(body + store_words(1), {counted(32), Words(32)});
  for (std::uint32_t lane = 0; lane < 32; ++lane) {
    const std::uint32_t row = lane / 4, column = lane % 4 * 2;
    CHECK(done.buffers[1][lane] == ((column * 8 + row) | (column * 8 + 8 + row) << 16));
  }
}

TEST_CASE("a product of tiles read from shared memory is the product of the matrices") {
  std::mt19937_64 random(seed());
  Words in(192), out(128);  // A: 16 x 16, B: 16 x 8, both row by row, halves
  std::vector<float> values;
  for (std::uint32_t& word : in) {
    for (int i = 0; i < 2; ++i) {
      const auto half = static_cast<std::uint16_t>(random_bits(MatrixElement::f16, random));
      values.push_back(float_of_f16(half));
      word |= static_cast<std::uint32_t>(half) << 16 * i;
    }
  }
  // A's tiles: rows 0-7 then 8-15 of columns 0-7, then of 8-15. B's: rows 0-7, 8-15, transposed.
  const std::string body =
      fill_tile(192) +
      "and.b32 %r5, %r0, 15;\nshl.b32 %r6, %r5, 5;\nshr.u32 %r7, %r0, 4;\nshl.b32 %r7, %r7, 4;\nadd.u32 %r6, %r6, "
      "%r7;\n"
      "add.u32 %r6, %r6, %r1;\nldmatrix.sync.aligned.m8n8.x4.shared.b16 {%a0, %a1, %a2, %a3}, [%r6];\n"
      "shl.b32 %r8, %r5, 4;\nadd.u32 %r8, %r8, %r1;\nldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%b0, %b1}, "
      "[%r8+512];\nmov.b32 %c0, 0;\nmma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%d0, %d1, %d2, %d3}, "
      "{%a0, %a1, %a2, %a3}, {%b0, %b1}, {%c0, 0f00000000, %c0, %c0};\n"
      "mov.b32 %a0, %d0;\nmov.b32 %a1, %d1;\nmov.b32 %a2, %d2;\nmov.b32 %a3, %d3;\n";
  const MatrixRun done = run(body + store_words(4), {in, out});
  REQUIRE_MESSAGE(done.unsupported.empty(), done.unsupported);
  CHECK(done.simulation.findings.empty());
  for (int lane = 0; lane < 32; ++lane)
    for (int i = 0; i < 4; ++i) {
      const Coordinate at = coordinate_of_c(lane, i);
      double expected = 0;
      for (int k = 0; k < 16; ++k)
        expected += double{values[static_cast<std::size_t>(at.row * 16 + k)]} *
                    values[static_cast<std::size_t>(256 + k * 8 + at.column)];
      const float got = std::bit_cast<float>(done.buffers[1][static_cast<std::size_t>(i * 32 + lane)]);
      CHECK(std::abs(got - expected) < 1e-5);
    }
}

TEST_CASE("a tile takes one wavefront when its rows are in different banks") {
  struct Row {
    int shift, wavefronts;
  };
  // Rows 16 bytes apart fill the banks; 32 apart use half of them, twice; 128 apart all stand in the same four.
  for (const Row row : {Row{4, 4}, Row{5, 8}, Row{6, 16}, Row{7, 32}}) {
    const std::string body = fmt::format(
        "mov.u32 %r1, tile;\nshl.b32 %r4, %r0, {}\n;add.u32 %r4, %r1, %r4;\nmov.b32 %a0, 7;\n"
        "stmatrix.sync.aligned.m8n8.x4.shared.b16 [%r4], {{%a0, %a0, %a0, %a0}};\nbar.warp.sync -1;\n"
        "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {{%a0, %a1, %a2, %a3}}, [%r4];\n",
        row.shift);
    const MatrixRun done = run(body + store_words(1, 0), {Words(32)});
    const Counters& counters = done.simulation.counters;
    CHECK(done.simulation.findings.empty());
    CHECK(counters.shared_load_requests == 1);
    CHECK(counters.shared_load_bytes == 512);
    CHECK(counters.shared_load_wavefronts == row.wavefronts);
    CHECK(counters.shared_store_wavefronts == row.wavefronts);
    CHECK(counters.bank_conflicts == 2 * (row.wavefronts - 4));
  }
}

bool found(const MatrixRun& done, FindingKind kind) {
  const auto& findings = done.simulation.findings;
  return std::any_of(findings.begin(), findings.end(), [&](const Finding& one) { return one.kind == kind; });
}

TEST_CASE("rows of tiles are checked like any access to shared memory") {
  const std::string load = "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%a0, %a1, %a2, %a3}, ";
  const std::string rows = fill_tile(1024) + "shl.b32 %r4, %r0, 4;\nadd.u32 %r4, %r1, %r4;\n";
  const auto kinds = [&](const std::string& body) { return run(body + store_words(1), {Words(1024), Words(32)}); };
  CHECK(kinds(rows + load + "[%r4];\n").simulation.findings.empty());
  CHECK(found(kinds(rows + load + "[%r4+8];\n"), FindingKind::misaligned));
  CHECK(found(kinds(rows + load + "[%r4+3600];\n"), FindingKind::out_of_bounds));
  CHECK(found(kinds("mov.u32 %r4, tile;\n" + load + "[%r4];\n"), FindingKind::uninitialised_read));
  CHECK(found(kinds("ldmatrix.sync.aligned.m8n8.x1.b16 {%a0}, [%rd0];\n"), FindingKind::out_of_bounds));
}

TEST_CASE("two warps race for a tile unless they store the same") {
  for (const bool same : {true, false}) {
    const std::string body = fmt::format(
        "and.b32 %r5, %r0, 31;\nshl.b32 %r4, %r5, 4;\nmov.u32 %r1, tile;\nadd.u32 %r4, %r1, %r4;\nmov.b32 %a0, {};\n"
        "stmatrix.sync.aligned.m8n8.x4.shared.b16 [%r4], {{%a0, %a0, %a0, %a0}};\n",
        same ? "5" : "%r0");
    const MatrixRun done = run(body, {Words(32)}, 64);
    CHECK(found(done, FindingKind::race) == !same);
  }
}

TEST_CASE("a matrix needs every lane of its warp") {
  const std::string product =
      "mov.b32 %a0, 0;\nmma.sync.aligned.m8n8k16.row.col.s32.s8.s8.s32 {%c0, %c1}, {%a0}, {%a0}, {%a0, %a0};\n";
  CHECK(run(product, {Words(32)}).simulation.findings.empty());
  CHECK(found(run(product, {Words(32)}, 48), FindingKind::bad_mask));
  // Both halves of a warp that come one after the other are waited for.
  const std::string apart =
      "setp.lt.u32 %p0, %r0, 16;\n@%p0 bra A;\nmov.b32 %a0, 0;\nbra B;\nA:\nmov.b32 %a0, 1;\nB:\n";
  CHECK(run(apart + product.substr(product.find("mma")), {Words(32)}).simulation.findings.empty());
  CHECK(found(run("setp.lt.u32 %p0, %r0, 16;\nmov.b32 %a0, 0;\n@%p0 " + product.substr(product.find("mma")) +
                      "bar.warp.sync -1;\n",
                  {Words(32)}),
              FindingKind::bad_mask));
}

TEST_CASE("forms that are not known are refused, never guessed") {
  for (const char* one : {
           "mma.sync.aligned.m8n8k4.row.col.f32.f16.f16.f32 {%d0, %d1}, {%a0}, {%b0}, {%c0, %c1}",
           "mma.sync.aligned.m16n8k16.row.col.f32.f16.bf16.f32 {%d0, %d1}, {%a0}, {%b0}, {%c0, %c1}",
           "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f16 {%d0, %d1}, {%a0}, {%b0}, {%c0, %c1}",
           "mma.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32 {%d0, %d1}, {%a0}, {%b0}, {%c0, %c1}",
           "mma.sync.aligned.m16n8k16.col.col.f32.f16.f16.f32 {%d0, %d1}, {%a0}, {%b0}, {%c0, %c1}",
           "mma.sync.aligned.m16n8k16.row.col.satfinite.f32.f16.f16.f32 {%d0, %d1}, {%a0}, {%b0}, {%c0, %c1}",
           "mma.sync.aligned.m8n8k128.row.col.s32.b1.b1.s32.or.popc {%d0, %d1}, {%a0}, {%b0}, {%c0, %c1}",
           "mma.sp.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32 {%d0}, {%a0}, {%b0}, {%c0}, %r1, 0",
           "ldmatrix.sync.aligned.m16n16.x1.trans.shared.b8 {%a0, %a1}, [%r1]",
           "ldmatrix.sync.aligned.m8n8.x8.shared.b16 {%a0, %a1}, [%r1]",
           "stmatrix.sync.aligned.m8n8.x1.global.b16 [%r1], {%a0}",
           "movmatrix.sync.aligned.m8n8.b16 %a0, %a1",
           "wgmma.fence.sync.aligned",
           "tcgen05.wait::ld.sync.aligned",
           "wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32 {%d0}, {%a0}, {%b0}, {%c0}",
       }) {
    INFO(one);
    CHECK_FALSE(run(std::string(one) + ";\n", {Words(32)}).unsupported.empty());
  }
}

}  // namespace
}  // namespace tailor::simulator
