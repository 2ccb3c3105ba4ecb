// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// What each kernel of the corpus must leave in its outputs, by plain loops over the inputs: one row per kernel,
// written from what the kernel is for and not from how it does it. Called by the tests that execute the corpus on the
// simulator.
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <map>

#include "profiler/simulator/corpus_results.h"

namespace corpus {

namespace {

void dropout(Kernel& k) {
  for (std::int64_t i = 0; i < k.at("y").size(); ++i) {
    std::uint32_t a = static_cast<std::uint32_t>(i), b = 0x9E3779B9u;
    for (std::uint32_t round = 0; round < 7; ++round) {
      const std::uint64_t product = std::uint64_t{a} * 0xD2511F53u;
      a = static_cast<std::uint32_t>(product >> 32) ^ b ^ (0x1BD11BDAu + round);
      b = static_cast<std::uint32_t>(product);
    }
    k.at("bits").set(i, a);
    k.at("y").set(i, a >= 0x40000000u ? k.at("x")[i] * 4 / 3 : 0);
  }
}

void quantise(Kernel& k) {
  for (std::int64_t row = 0; row < 4; ++row) {
    float most = 0;
    for (std::int64_t c = 0; c < 128; ++c)
      most = std::max(most, static_cast<float>(std::fabs(k.at("x")[row * 128 + c])));
    const float scale = most / 127.0f;
    k.at("scale").set(row, scale);
    for (std::int64_t c = 0; c < 128; ++c)
      k.at("q").set(row * 128 + c, std::nearbyintf(static_cast<float>(k.at("x")[row * 128 + c]) / scale));
  }
}

void online_softmax(Kernel& k) {
  for (std::int64_t row = 0; row < 4; ++row) {
    double sum = 0;
    for (std::int64_t c = 0; c < 96; ++c) sum += std::exp(4 * k.at("x")[row * 96 + c]);
    for (std::int64_t c = 0; c < 96; ++c) k.at("y").set(row * 96 + c, std::exp(4 * k.at("x")[row * 96 + c]) / sum);
  }
}

std::uint32_t divergent_steps(std::uint32_t i, std::uint32_t v) {
  std::uint32_t steps = 0;
  if (v % 7 == 3) return v;
  for (; v != 1 && v != 0; ++steps) {
    v = v % 2 == 0 ? v / 2 : 3 * v + 1;
    for (std::uint32_t k = 0; k < v % 5 && k != i % 4; ++k)
      if ((k ^ v) % 3 != 0) steps += k + 1;
  }
  switch (steps % 6) {
    case 0:
      return steps + 10;
    case 1:
      return steps * 3;
    case 2:
      return (steps ^ 0x55) + 7;
    case 3:
      return steps + 7;
    case 5:
      return ~steps;
    default:
      return steps - 1;
  }
}

void local_array(Kernel& k) {
  for (std::int64_t t = 0; t < 64; ++t) {
    std::array<std::uint32_t, 16> count{};
    for (std::uint32_t i = 0; i < 16; ++i) count[i] = i;
    const auto x = [&](std::int64_t i) { return u32(k.at("x")[t * 10 + i]); };
    for (std::int64_t i = 0; i < 10; ++i) count[x(i)] += static_cast<std::uint32_t>(t + i);
    std::uint32_t sum = 0;
    for (std::int64_t i = 9; i >= 0; --i) sum = sum * 3 + count[x(i)];
    k.at("y").set(t, sum);
  }
}

void votes(Kernel& k) {
  for (std::int64_t t = 0; t < 64; ++t) {
    const std::int64_t warp = t / 32 * 32;
    std::array<std::uint32_t, 8> made{};
    std::uint32_t any = 0, all = 1, most = 0, least = 99;
    for (std::int64_t lane = 0; lane < 32; ++lane) {
      const std::uint32_t v = u32(k.at("x")[warp + lane]), bit = 1u << lane;
      made[0] |= v > 3 ? bit : 0;
      any |= v == 7;
      all &= v < 8;
      made[2] |= v == u32(k.at("x")[t]) ? bit : 0;
      made[3] += v;
      most = std::max(most, v);
      least = std::min(least, v);
      made[5] ^= 1u << v;
      if (lane < 12 && t % 32 < 12) {
        made[6] |= (v & 1) != 0 ? bit : 0;
        made[7] |= 1u << v;
      }
    }
    made[1] = any * 2 + all + static_cast<std::uint32_t>(std::popcount(made[7]));
    made[4] = most * 16 + least;
    for (std::int64_t i = 0; i < 8; ++i) k.at("y").set(t * 8 + i, made[static_cast<std::size_t>(i)]);
  }
}

void active_shuffle(Kernel& k) {
  for (std::int64_t i = 0; i < 64; ++i) {
    const double v = k.at("x")[i];
    k.at("y").set(i, i + 8 < 50 && i % 32 + 8 < 32 ? v + k.at("x")[i + 8] : v);
  }
  for (std::int64_t warp = 0; warp < 2; ++warp) k.at("sum").set(warp, sum_of(k.at("x"), warp * 32, 16));
}

/// Their order is not defined: what the kernel left is compared in order of value.
void warp_aggregated(Kernel& k) {
  std::int64_t count = 0;
  for (std::int64_t i = 0; i < 256; ++i)
    if (k.at("x")[i] >= 40) k.at("y").set(count++, k.at("x")[i]);
  k.at("count").set(0, static_cast<double>(count));
}

void tables(Kernel& k) {
  constexpr std::array<double, 16> weights = {1, 2, 4, 8, 16, 32, 64, 128, -1, -2, -4, -8};
  constexpr std::array<std::array<double, 2>, 4> offsets = {{{1, -1}, {300, -300}, {7, 0}, {0, 9}}};
  constexpr std::array<double, 3> places = {0.5, 20, 0.25};
  each(k.at("y"), [&](std::int64_t t) {
    const std::uint32_t v = u32(k.at("x")[t]);
    return (weights[v] + offsets[v % 4][static_cast<std::size_t>(t % 2)]) * places[v % 3];
  });
}

void cluster_sum(Kernel& k) {
  for (std::int64_t block = 0; block < 8; ++block) {
    double all = 0;
    for (std::int64_t rank = 0; rank < 4; ++rank)
      all += static_cast<double>(rank + 1) * sum_of(k.at("x"), (block / 4 * 4 + rank) * 32, 32);
    k.at("y").set(block, all);
  }
}

void uneven_barriers(Kernel& k) {
  each(k.at("y"), [&](std::int64_t t) {
    double v = k.at("x")[95 - t];
    for (std::int64_t i = 0; i < 3 * ((95 - t) / 32); ++i) v = v * 0.5 + 1;
    return v;
  });
}

void bytes(Kernel& k) {
  const auto x = [&](std::int64_t i) { return k.at("x")[i]; };
  for (std::int64_t t = 0; t < 64; ++t) {
    const std::int64_t low = 2 * t, high = 2 * (127 - t);
    const std::array<double, 4> four = {x(low), x(high + 1), x(low + 1), x(high)};
    for (std::int64_t i = 0; i < 4; ++i) k.at("y").set(4 * t + i, four[static_cast<std::size_t>(i)]);
  }
}

void subwarp(Kernel& k) {
  const auto x = [&](std::int64_t i) { return k.at("x")[i]; };
  for (std::int64_t i = 0; i < 128; ++i) {
    const std::int64_t lane = i % 32, warp = i - lane;
    const std::array<double, 5> made = {x(lane % 8 >= 3 ? i - 3 : i), x(lane % 16 + 5 < 16 ? i + 5 : i),
                                        x(warp + lane / 4 * 4 + lane * 3 % 4), x(i ^ 6), lane < 7 ? x(warp + 6) : 0};
    for (std::int64_t j = 0; j < 5; ++j) k.at("y").set(5 * i + j, made[static_cast<std::size_t>(j)]);
  }
}

void block_votes(Kernel& k) {
  for (std::int64_t first = 0; first < 288; first += 96) {
    double made = 0, any = 0, all = 1;
    for (std::int64_t i = first; i < first + 96; ++i) {
      const double v = k.at("x")[i];
      made += v > 4;
      any += v == 9;
      all *= v < 9;
    }
    for (std::int64_t i = first; i < first + 96; ++i) k.at("y").set(i, made + 1000 * (any > 0) + 10000 * (all > 0));
  }
}

void atomics(Kernel& k) {
  std::array<std::uint32_t, 9> a = {128, 1, 2, 3, 4, 5, 6, (7 + 128) % 100, (8 + 200 - 128) % 100};
  std::array<std::uint64_t, 5> b = {0, 1, 2, 3, 4};
  for (std::int64_t i = 0; i < 128; ++i) {
    const std::uint32_t v = u32(k.at("x")[i]);
    const std::uint64_t wide = v;
    k.at("old").set(i, static_cast<double>(i));
    a[1] -= v;
    a[2] = std::min(a[2], v + 1);
    a[3] = std::max(a[3], v);
    a[4] &= v | 0xff00ffffu;
    a[5] |= v & 0x1111u;
    a[6] ^= v;
    b[0] += wide * 100000;
    b[1] = std::max(b[1], wide * 70000);
    b[2] = wide > 50000 ? std::max(b[2], wide - 50000) : b[2];
    b[3] ^= wide * 90000;
    b[4] += wide;
  }
  for (std::int64_t i = 0; i < 9; ++i) k.at("a").set(i, a[static_cast<std::size_t>(i)]);
  for (std::int64_t i = 0; i < 5; ++i) k.at("b").set(i, static_cast<double>(b[static_cast<std::size_t>(i)]));
}

std::array<std::uint32_t, 20> integer_steps(std::uint32_t a, std::uint32_t b) {
  const std::uint32_t s = b % 32;
  const auto sa = static_cast<std::int32_t>(a), sb = static_cast<std::int32_t>(b);
  const std::uint64_t wide = std::uint64_t{a} << 32 | b, swapped = std::uint64_t{b} << 32 | a;
  const auto cut = [](auto value) { return static_cast<std::uint32_t>(value); };
  const auto first_set = [](auto value) { return value == 0 ? 0 : std::countr_zero(value) + 1; };
  std::array<std::uint32_t, 20> made{};
  made[0] = cut(std::popcount(a) + 100 * std::countl_zero(b >> s) + 10000 * first_set(a));
  for (std::uint32_t i = 0; i < 32; ++i) made[1] |= (a >> i & 1) << (31 - i);
  for (std::uint32_t i = 0; i < 4; ++i) made[2] |= cut(swapped >> 8 * (b >> 4 * i & 7) & 255) << 8 * i;
  made[3] = cut(swapped << s >> 32);
  made[4] = cut(swapped >> s);
  made[5] = cut(std::uint64_t{a} * b >> 32);
  made[6] = cut(std::int64_t{sa} * sb >> 32);
  made[7] = a / (b % 1000 + 1);
  made[8] = cut(sa % (sb % 1000 * 2 + 1));
  made[9] = cut(std::abs(std::int64_t{sa} - sb) + 5);
  made[10] = 7;
  for (std::uint32_t i = 0; i < 32; i += 8)
    made[10] += cut(static_cast<std::int8_t>(a >> i) * static_cast<std::int8_t>(b >> i));
  made[11] = cut(wide / (a % 100000 + 1));
  made[12] = cut(static_cast<std::int64_t>(wide) % (sb % 5000 * 2 + 1));
  const std::uint64_t other = wide * 3, low = wide & 0xffffffffu, high = wide >> 32;
  const std::uint64_t other_low = other & 0xffffffffu, other_high = other >> 32;
  const std::uint64_t middle = high * other_low + ((low * other_low) >> 32);
  made[13] = cut(high * other_high + (middle >> 32) + (((middle & 0xffffffffu) + low * other_high) >> 32));
  made[14] = cut(sa >> s);
  made[15] = cut(std::max(sa, sb)) ^ std::min(a, b);
  made[16] = cut(static_cast<std::int8_t>(a) + static_cast<std::int16_t>(b) + static_cast<std::uint8_t>(b >> 8));
  made[17] = cut(std::popcount(wide) + 100 * std::countl_zero(wide >> s) + 100000 * first_set(wide << 7));
  made[18] = cut(static_cast<std::int32_t>(cut(std::int64_t{sa} >> s) << 23) >> 23);
  const std::uint32_t field = cut(std::uint64_t{0x7ff} << s);
  made[19] = (b & ~field) | (cut(std::uint64_t{a} << s) & field);
  return made;
}

void integers(Kernel& k) {
  for (std::int64_t t = 0; t < 128; ++t) {
    const auto made = integer_steps(u32(k.at("x")[2 * t]), u32(k.at("x")[2 * t + 1]));
    for (std::size_t i = 0; i < made.size(); ++i) k.at("y").set(20 * t + static_cast<std::int64_t>(i), made[i]);
  }
}

void floats(Kernel& k) {
  for (std::int64_t i = 0; i < 128; ++i) {
    const double v = k.at("x")[i], large = f32(v * f32(40)), positive = f32(std::fabs(v) + f32(0.01));
    const std::array<double, 16> made = {
        std::exp(f32(v * 20)),
        std::log(f32(positive * 100)),
        std::sin(large),
        std::cos(f32(large * 100)),
        std::tanh(v * 3),
        std::erf(v * 2),
        std::pow(positive, f32(2.7)),
        std::sqrt(positive),
        1 / std::sqrt(positive),
        std::fmod(large, f32(1.7)),
        std::nearbyint(large) + 3 * std::floor(large) + 5 * std::ceil(large) + 7 * std::trunc(large),
        std::min(v, f32(0.1)) + v,
        std::copysign(positive, v),
        1 / positive,
        std::log1p(positive) + std::expm1(v),
        std::exp2(f32(v * 8)) + std::log2(positive)};
    for (std::int64_t j = 0; j < 16; ++j) k.at("y").set(16 * i + j, made[static_cast<std::size_t>(j)]);
  }
}

void double_functions(Kernel& k) {
  for (std::int64_t i = 0; i < 64; ++i) {
    const double v = k.at("x")[i], positive = std::fabs(v) + 0.01;
    const std::array<double, 8> made = {std::exp(v * 30),
                                        std::log(positive),
                                        std::sin(v * 1000),
                                        std::tanh(v),
                                        std::pow(positive, 3.3),
                                        1 / positive + 1 / std::sqrt(positive),
                                        std::floor(v * 100) + std::nearbyint(v * 57),
                                        f32(v) + std::trunc(v * 1e12) + std::trunc(v * 1e5)};
    for (std::int64_t j = 0; j < 8; ++j) k.at("y").set(8 * i + j, made[static_cast<std::size_t>(j)]);
  }
}

void halves(Kernel& k) {
  for (std::int64_t i = 0; i < 128; ++i) {
    const double a = k.at("a")[i], b = k.at("b")[i];
    const std::array<double, 4> made = {a + b, a * b, i / 2 % 3 == 1 ? a * a + b : a * b + a, std::max(a, b)};
    for (std::int64_t j = 0; j < 4; ++j) k.at("y").set(i / 2 * 8 + 2 * j + i % 2, made[static_cast<std::size_t>(j)]);
  }
}

/// Element by element of the first kind, sums of the second.
const Results element_results = {
    {"patient", [](Kernel& k) { each(k.at("y"), [](auto) { return 2; }); }},
    {"map", [](Kernel& k) { each(k.at("y"), [&](auto i) { return k.at("x")[i] * 2 + 1; }); }},
    {"map_float4", [](Kernel& k) { each(k.at("y"), [&](auto i) { return std::max(k.at("x")[i], 0.0); }); }},
    {"map_f16", [](Kernel& k) { each(k.at("y"), [&](auto i) { return f32(k.at("x")[i] * k.at("x")[i]) + 0.25; }); }},
    {"map_bf16", [](Kernel& k) { each(k.at("y"), [&](auto i) { return k.at("x")[i] * 3; }); }},
    {"dropout", dropout},
    {"quantise", quantise},
    {"online_softmax", online_softmax},
    {"divergent",
     [](Kernel& k) {
       each(k.at("y"), [&](auto i) { return divergent_steps(static_cast<std::uint32_t>(i), u32(k.at("x")[i])); });
     }},
    {"transpose", [](Kernel& k) { each(k.at("y"), [&](auto i) { return k.at("x")[i % 96 * 64 + i / 96]; }); }},
    {"named_barriers",
     [](Kernel& k) { each(k.at("y"), [&](auto i) { return 2 * k.at("x")[i / 64 * 64 + 63 - i % 64]; }); }},
    {"cp_async",
     [](Kernel& k) {
       each(k.at("y"), [&](auto i) { return -k.at("x")[i / 128 * 128 + (31 - i % 128 / 4) * 4 + i % 4]; });
     }},
    {"bulk_pipeline",
     [](Kernel& k) { each(k.at("y"), [&](auto i) { return k.at("x")[i / 64 * 64 + 63 - i % 64] + 1; }); }},
    {"bulk_store", [](Kernel& k) { each(k.at("y"), [&](auto i) { return 3 * k.at("x")[i]; }); }},
    {"grid_barrier", [](Kernel& k) { each(k.at("y"), [&](auto i) { return k.at("x")[(i + 96) % 128] + 1; }); }},
    {"grid_workspace",
     [](Kernel& k) {
       for (std::int64_t i = 0; i < 128; ++i) k.at("x").set(i, 2 * k.at("x")[i]);
       each(k.at("y"), [&](auto i) { return k.at("x")[i ^ 127]; });
     }},
    {"local_array", local_array},
    {"call",
     [](Kernel& k) {
       each(k.at("y"), [&](auto i) {
         const double v = 4 * k.at("x")[i];
         return std::floor(v) * 4 + (v - std::floor(v)) * 8;
       });
     }},
    {"votes", votes},
    {"active_shuffle", active_shuffle},
    {"read_only",
     [](Kernel& k) {
       for (std::int64_t i = 0; i < 128; ++i) k.at("x").set(i, k.at("x")[i] + 1);
       each(k.at("y"), [&](auto i) { return k.at("x")[i ^ 1] * k.at("w")[i]; });
     }},
    {"warp_exchange", [](Kernel& k) { each(k.at("y"), [&](auto i) { return k.at("x")[i ^ 31]; }); }},
    {"stencil",
     [](Kernel& k) {
       each(k.at("y"), [&](auto i) {
         const CorpusBuffer& x = k.at("x");
         return (i > 0 ? x[i - 1] : 0) + 2 * x[i] + (i < 255 ? x[i + 1] : 0);
       });
     }},
    {"tables", tables},
    {"mbarrier_wait", [](Kernel& k) { each(k.at("y"), [&](auto i) { return k.at("x")[i ^ 32]; }); }},
    {"early_warps",
     [](Kernel& k) {
       each(k.at("y"),
            [&](auto i) { return i % 128 >= 64 ? -k.at("x")[i] : k.at("x")[i / 128 * 128 + (i % 128 + 33) % 64]; });
     }},
    {"bytes", bytes},
    {"grid_stride",
     [](Kernel& k) { each(k.at("y"), [&](auto i) { return (static_cast<int>(k.at("x")[i]) - 2500) / 7 % 13; }); }},
    {"uneven_barriers", uneven_barriers},
    {"subwarp", subwarp},
    {"block_votes", block_votes},
    {"integers", integers},
    {"floats", floats},
    {"double_functions", double_functions},
    {"halves", halves},
    {"printer", [](Kernel& k) { each(k.at("y"), [&](auto i) { return k.at("x")[i]; }); }},
    {"prints", [](Kernel& k) { each(k.at("y"), [&](auto i) { return 100 - k.at("x")[i]; }); }},
};

const Results sum_results = {
    {"warp_row_sum", [](Kernel& k) { each(k.at("y"), [&](auto i) { return sum_of(k.at("x"), i * 40, 40); }); }},
    {"block_row_sum", [](Kernel& k) { each(k.at("y"), [&](auto i) { return sum_of(k.at("x"), i * 256, 256); }); }},
    {"column_sum", [](Kernel& k) { each(k.at("y"), [&](auto i) { return sum_of(k.at("x"), i, 64, 32); }); }},
    {"last_block", [](Kernel& k) { k.at("y").set(0, sum_of(k.at("x"), 0, 384)); }},
    {"last_resets",
     [](Kernel& k) {
       k.at("y").set(0, sum_of(k.at("x"), 0, 384));
       k.at("y").set(1, 6);
     }},
    {"scatter",
     [](Kernel& k) {
       std::map<std::int64_t, double> sums;
       for (std::int64_t i = 0; i < 256; ++i) sums[u32(k.at("index")[i])] += k.at("x")[i];
       each(k.at("y"), [&](auto i) { return sums[i]; });
     }},
    {"histogram",
     [](Kernel& k) {
       for (std::int64_t i = 0; i < 512; ++i) k.at("y").add(u32(k.at("x")[i]), 1);
     }},
    {"swap_loop",
     [](Kernel& k) {
       double sum = 0, most = 0;
       for (std::int64_t i = 0; i < 256; ++i) {
         sum += std::fabs(k.at("x")[i]);
         most = std::max(most, std::fabs(k.at("x")[i]));
       }
       k.at("y").set(0, sum);
       k.at("y").set(1, most);
     }},
    {"cluster_sum", cluster_sum},
    {"warp_aggregated", warp_aggregated},
    {"atomics", atomics},
    {"polling", [](Kernel& k) { each(k.at("y"), [&](auto i) { return sum_of(k.at("x"), i / 4 * 4, i % 4 + 1); }); }},
    {"spin_lock", [](Kernel& k) { k.at("y").set(0, sum_of(k.at("x"), 0, 64)); }},
    {"tight_lock",
     [](Kernel& k) {
       double sum = 0;
       for (std::int64_t i = 0; i < 64; i += 4) sum += k.at("x")[i];
       k.at("y").set(0, sum);
       k.at("y").set(1, 16);
     }},
    {"flag_wait", [](Kernel& k) { each(k.at("y"), [&](auto i) { return sum_of(k.at("x"), 0, 32 * (i + 1)); }); }},
    {"scan", [](Kernel& k) { each(k.at("y"), [&](auto i) { return sum_of(k.at("x"), i / 128 * 128, i % 128 + 1); }); }},
    {"doubles",
     [](Kernel& k) {
       double sum = 0;
       for (std::int64_t i = 0; i < 128; ++i) {
         const double v = std::fma(k.at("x")[i], k.at("x")[i], 0.5);
         k.at("y").set(i, std::sqrt(v) / (1 + v));
         sum += v;
       }
       k.at("sum").set(0, sum);
     }},
    {"dynamic_shared",
     [](Kernel& k) {
       each(k.at("y"), [&](auto row) {
         double sum = 0;
         for (std::int64_t c = 0; c < 128; ++c) sum += k.at("a")[row * 128 + c] * k.at("x")[c];
         return sum;
       });
     }},
    {"largest",
     [](Kernel& k) {
       float most = 0;
       for (std::int64_t i = 0; i < 128; ++i) most = std::max(most, static_cast<float>(std::fabs(k.at("x")[i])));
       k.at("y").set(0, std::bit_cast<std::int32_t>(most));
     }},
    {"cluster_push",
     [](Kernel& k) {
       for (std::int64_t i = 0; i < 256; ++i) k.at("y").add(i / 128 * 32 + u32(k.at("x")[i]), 1);
     }},
};

}  // namespace

bool compute_results(CorpusKernel& kernel) {
  for (const Results* results : {&element_results, &sum_results, &reduction_results, &exchange_results, &order_results,
                                 &pipeline_results, &layer_results}) {
    const auto row = results->find(kernel.name);
    if (row == results->end()) continue;
    row->second(kernel);
    return true;
  }
  return false;
}

}  // namespace corpus
