// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// What the kernels of pipelines.cu, groups.cu, matrices.cu, halves_more.cu and layers.cu must leave in their buffers,
// by plain loops over the inputs. In: a kernel with its buffers filled. Out: the same buffers as they have to be.
// Called through the tables at the end by compute_results.
#include <algorithm>
#include <array>
#include <cmath>
#include <set>

#include "profiler/simulator/corpus_results.h"

namespace corpus {

namespace {

/// c = a b of rows x inner and inner x columns, as many of them as c holds.
void multiply(Kernel& k, std::int64_t rows, std::int64_t inner, std::int64_t columns) {
  each(k.at("c"), [&](auto at) {
    const std::int64_t batch = at / (rows * columns), i = at % (rows * columns) / columns, j = at % columns;
    double sum = 0;
    for (std::int64_t x = 0; x < inner; ++x)
      sum += k.at("a")[batch * rows * inner + i * inner + x] * k.at("b")[batch * inner * columns + x * columns + j];
    return sum;
  });
}

void largest_after_rounds(Kernel& k) {
  CorpusBuffer s = k.at("x");
  for (std::int64_t step = 1; step < 96; step *= 3) {
    const CorpusBuffer before = s;
    each(s, [&](auto i) { return std::max(before[i], before[(i + step) % 96]); });
  }
  k.at("y").bytes = s.bytes;
}

void tile_votes(Kernel& k) {
  each(k.at("y"), [&](auto i) {
    std::uint32_t bits = 0;
    bool any = false, all = true;
    for (std::int64_t j = 0; j < 8; ++j) {
      const double v = k.at("x")[i / 8 * 8 + j];
      bits |= v > 3 ? 1u << j : 0;
      any = any || v == 7;
      all = all && v < 7;
    }
    return bits + (any ? 256u : 0u) + (all ? 512u : 0u);
  });
}

void visited(Kernel& k) {
  std::set<std::uint32_t> seen;
  for (std::int64_t i = 0; i < 128; ++i) {
    const std::uint32_t to = u32(k.at("target")[i]);
    seen.insert(to);
    k.at("level").set(to, std::max(k.at("level")[to], static_cast<double>(i / 2 + 1)));
  }
  k.at("changed").set(0, static_cast<double>(seen.size()));
}

void least_labels(Kernel& k) {
  CorpusBuffer& label = k.at("label");
  for (int round = 0; round < 8; ++round) {
    const CorpusBuffer before = label;
    each(label, [&](auto i) {
      const double v = std::min(before[i], before[i ^ 1]);
      return i >= 4 ? std::min(v, before[i - 4]) : v;
    });
  }
}

void softmax_of_bf16(Kernel& k) {
  each(k.at("y"), [&](auto i) {
    double sum = 0;
    for (std::int64_t j = i / 64 * 64; j < i / 64 * 64 + 64; ++j) sum += std::exp(k.at("x")[j]);
    return std::exp(k.at("x")[i]) / sum;
  });
}

void compared_halves(Kernel& k) {
  each(k.at("y"), [&](auto i) {
    const double v = k.at("x")[i];
    CorpusBuffer product = k.at("x");
    product.set(i, v * 10);
    return (v > 0) + 2 * (v <= 0.5) + 4 + 16 * std::nearbyint(product[i]);
  });
}

void attended(Kernel& k) {
  for (std::int64_t row = 0; row < 4; ++row) {
    std::array<double, 16> weight{};
    double sum = 0;
    for (std::int64_t i = 0; i < 16; ++i) {
      double s = 0;
      for (std::int64_t t = 0; t < 32; ++t) s += k.at("q")[row * 32 + t] * k.at("k")[i * 32 + t];
      sum += weight[static_cast<std::size_t>(i)] = std::exp(s);
    }
    for (std::int64_t t = 0; t < 32; ++t) {
      double out = 0;
      for (std::int64_t i = 0; i < 16; ++i) out += weight[static_cast<std::size_t>(i)] * k.at("v")[i * 32 + t];
      k.at("y").set(row * 32 + t, out / sum);
    }
  }
}

void distance(Kernel& k) {
  std::array<std::array<int, 17>, 17> d{};
  for (std::size_t i = 0; i <= 16; ++i)
    for (std::size_t j = 0; j <= 16; ++j) {
      if (i == 0 || j == 0) {
        d[i][j] = static_cast<int>(i + j);
        continue;
      }
      const int other = k.at("a")[static_cast<std::int64_t>(i) - 1] != k.at("b")[static_cast<std::int64_t>(j) - 1];
      d[i][j] = std::min({d[i - 1][j] + 1, d[i][j - 1] + 1, d[i - 1][j - 1] + other});
    }
  k.at("y").set(0, d[16][16]);
}

void escapes(Kernel& k) {
  each(k.at("y"), [](auto i) {
    const float cr = -2.0f + 0.0625f * static_cast<float>(i), ci = 0.125f;
    float zr = 0, zi = 0;
    int n = 0;
    for (; n < 40; ++n) {
      const float a = zr * zr, b = zi * zi;
      if (!(a + b < 4.0f)) break;
      const float r = a - b + cr;
      zi = 2 * zr * zi + ci;
      zr = r;
    }
    return n;
  });
}

void hashed(Kernel& k) {
  each(k.at("y"), [&](auto t) {
    std::uint32_t h = 0;
    for (std::int64_t i = 0; i < 4; ++i) {
      const std::uint32_t at = (h ^ u32(k.at("x")[4 * t + i])) % 256;
      h = h >> 8 ^ at * 2654435761u;
    }
    return h;
  });
}

void transformed(Kernel& k) {
  each(k.at("y"), [&](auto i) {
    double sum = 0;
    for (std::int64_t j = 0; j < 64; ++j) {
      bool odd = false;
      for (std::int64_t both = i & j; both != 0; both &= both - 1) odd = !odd;
      sum += odd ? -k.at("x")[j] : k.at("x")[j];
    }
    return sum;
  });
}

void attracted(Kernel& k) {
  each(k.at("y"), [&](auto i) {
    double force = 0;
    for (std::int64_t j = 0; j < 64; ++j) {
      const double d = k.at("x")[j] - k.at("x")[i];
      force += d / (std::fabs(d) + 0.1);
    }
    return force;
  });
}

void stepped(Kernel& k) {
  for (std::int64_t i = 0; i < 128; ++i) {
    const double g = k.at("g")[i];
    k.at("m").set(i, 0.1 * g);
    k.at("v").set(i, 0.01 * g * g);
    k.at("w").add(i, -0.01 * g / (std::fabs(g) + 1e-3));
  }
}

}  // namespace

const Results pipeline_results = {
    {"double_buffered_sum",
     [](Kernel& k) { each(k.at("y"), [&](auto i) { return sum_of(k.at("x"), i / 64 * 512 + 63 - i % 64, 8, 64); }); }},
    {"three_stages",
     [](Kernel& k) { each(k.at("y"), [&](auto i) { return sum_of(k.at("x"), (i / 32 * 32 + 31 - i % 32) * 4, 4); }); }},
    {"filled_edge", [](Kernel& k) { each(k.at("y"), [&](auto i) { return (i ^ 1) < 50 ? k.at("x")[i ^ 1] : 0; }); }},
    {"copies_arrive", [](Kernel& k) { each(k.at("y"), [&](auto i) { return k.at("x")[i / 64 * 64 + 63 - i % 64]; }); }},
    {"bulk_row_scale", [](Kernel& k) { each(k.at("y"), [&](auto i) { return 0.5 * k.at("x")[i]; }); }},
    {"specialised_warps",
     [](Kernel& k) { each(k.at("y"), [&](auto i) { return k.at("x")[i / 64 * 64 + 63 - i % 64]; }); }},
    {"cluster_halo",
     [](Kernel& k) { each(k.at("y"), [&](auto i) { return k.at("x")[(i + 1) % 128] - k.at("x")[i]; }); }},
    {"cluster_scan",
     [](Kernel& k) { each(k.at("y"), [&](auto i) { return sum_of(k.at("x"), i / 128 * 128, i % 128 + 1); }); }},
    {"remote_arrival", [](Kernel& k) { each(k.at("y"), [&](auto i) { return k.at("x")[i ^ 63]; }); }},
    {"tile_sums", [](Kernel& k) { each(k.at("y"), [&](auto i) { return sum_of(k.at("x"), i * 16, 16); }); }},
    {"coalesced_count",
     [](Kernel& k) {
       for (std::int64_t i = 0; i < 64; ++i) k.at("y").add(0, std::fmod(k.at("x")[i], 2));
     }},
    {"tile_ballots", tile_votes},
    {"block_group_rounds", largest_after_rounds},
    {"split_arrival", [](Kernel& k) { each(k.at("y"), [&](auto i) { return 2 * k.at("x")[63 - (i ^ 33)]; }); }},
};

const Results layer_results = {
    {"tiled_product", [](Kernel& k) { multiply(k, 32, 32, 32); }},
    {"register_tiles", [](Kernel& k) { multiply(k, 32, 16, 32); }},
    {"split_k", [](Kernel& k) { multiply(k, 8, 64, 8); }},
    {"batched_small", [](Kernel& k) { multiply(k, 4, 4, 4); }},
    {"warp_per_row",
     [](Kernel& k) {
       each(k.at("y"), [&](auto row) {
         double sum = 0;
         for (std::int64_t i = 0; i < 70; ++i) sum += k.at("a")[row * 70 + i] * k.at("x")[i];
         return sum;
       });
     }},
    {"tensor_tile",
     [](Kernel& k) {
       each(k.at("c"), [&](auto i) {
         double sum = 0;
         for (std::int64_t j = 0; j < 16; ++j) sum += k.at("a")[i / 8 * 16 + j] * k.at("b")[i % 8 * 16 + j];
         return sum;
       });
     }},
    {"sparse_rows",
     [](Kernel& k) {
       each(k.at("y"), [&](auto row) {
         double sum = 0;
         for (std::int64_t i = 4 * row; i < 4 * row + 4; ++i)
           sum += k.at("value")[i] * k.at("x")[u32(k.at("column")[i])];
         return sum;
       });
     }},
    {"sparse_triples",
     [](Kernel& k) {
       for (std::int64_t i = 0; i < 128; ++i)
         k.at("y").add(u32(k.at("row")[i]), k.at("value")[i] * k.at("x")[u32(k.at("column")[i])]);
     }},
    {"padded_rows",
     [](Kernel& k) {
       each(k.at("y"), [&](auto t) {
         double sum = 0;
         for (std::int64_t i = 0; i < 4; ++i) sum += k.at("x")[u32(k.at("column")[i * 32 + t])];
         return sum;
       });
     }},
    {"frontier_step", visited},
    {"rank_step",
     [](Kernel& k) {
       for (std::int64_t i = 0; i < 64; ++i) k.at("next").add(u32(k.at("target")[i]), 0.85 * k.at("rank")[i]);
     }},
    {"union_by_min", least_labels},
    {"half2_axpy", [](Kernel& k) { each(k.at("y"), [&](auto i) { return 0.5 * k.at("x")[i] + k.at("y")[i]; }); }},
    {"bf16_softmax", softmax_of_bf16},
    {"half_dot",
     [](Kernel& k) {
       double sum = 0;
       for (std::int64_t i = 0; i < 64; ++i) sum += k.at("a")[i] * k.at("b")[i];
       k.at("y").set(0, sum);
     }},
    {"half_max_block",
     [](Kernel& k) {
       double most = -2;
       for (std::int64_t i = 0; i < 128; ++i) most = std::max(most, k.at("x")[i]);
       k.at("y").set(0, most);
     }},
    {"half_compare", compared_halves},
    {"bf16_norm",
     [](Kernel& k) {
       each(k.at("y"), [&](auto i) {
         double sum = 0;
         for (std::int64_t j = i / 128 * 128; j < i / 128 * 128 + 128; ++j) sum += k.at("x")[j] * k.at("x")[j];
         return k.at("x")[i] / std::sqrt(sum / 128);
       });
     }},
    {"half_atomics",
     [](Kernel& k) {
       for (std::int64_t i = 0; i < 64; ++i) k.at("y").add(i % 8, k.at("x")[i]);
     }},
    {"half_functions",
     [](Kernel& k) {
       each(k.at("y"), [&](auto i) {
         const double v = k.at("x")[i / 4];
         const std::array<double, 4> made = {std::exp(v), std::sin(v), std::trunc(8 * v), std::sqrt(std::fabs(v))};
         return made[static_cast<std::size_t>(i % 4)];
       });
     }},
    {"packed_int8_dot",
     [](Kernel& k) {
       each(k.at("y"), [&](auto t) {
         double sum = 0;
         for (std::int64_t i = 16 * t; i < 16 * t + 16; ++i) sum += k.at("a")[i] * k.at("b")[i];
         return sum;
       });
     }},
    {"nibbles",
     [](Kernel& k) {
       each(k.at("y"), [&](auto i) {
         const std::uint32_t v = u32(k.at("x")[i / 2]);
         return static_cast<double>(i % 2 == 0 ? v & 15 : v >> 4) - 8;
       });
     }},
    {"embedding",
     [](Kernel& k) {
       each(k.at("y"), [&](auto i) { return k.at("table")[u32(k.at("index")[i / 32]) * 32 + i % 32]; });
     }},
    {"embedding_gradient",
     [](Kernel& k) {
       for (std::int64_t i = 0; i < 256; ++i) k.at("table").add(u32(k.at("index")[i / 32]) * 32 + i % 32, k.at("g")[i]);
     }},
    {"rotary",
     [](Kernel& k) {
       each(k.at("y"), [&](auto at) {
         const std::int64_t first = at / 32 * 32, i = at % 16;
         const double angle = static_cast<double>(at / 32) * 0.1 * static_cast<double>(i + 1);
         const double a = k.at("x")[first + i], b = k.at("x")[first + i + 16];
         return at % 32 < 16 ? a * std::cos(angle) - b * std::sin(angle) : a * std::sin(angle) + b * std::cos(angle);
       });
     }},
    {"max_pool",
     [](Kernel& k) {
       each(k.at("y"), [&](auto i) {
         const std::int64_t at = i / 8 * 32 + i % 8 * 2;
         const CorpusBuffer& x = k.at("x");
         return std::max({x[at], x[at + 1], x[at + 16], x[at + 17]});
       });
     }},
    {"columns_of_windows",
     [](Kernel& k) {
       each(k.at("y"), [&](auto i) {
         const std::int64_t w = i / 36, t = i % 36;
         return k.at("x")[(t / 6 + w / 3) * 8 + t % 6 + w % 3];
       });
     }},
    {"batch_statistics",
     [](Kernel& k) {
       each(k.at("y"), [&](auto at) {
         double sum = 0;
         for (std::int64_t i = 0; i < 256; ++i) {
           const double v = k.at("x")[i * 3 + at / 2];
           sum += at % 2 == 0 ? v : v * v;
         }
         return sum;
       });
     }},
    {"adam_step", stepped},
    {"online_attention", attended},
    {"butterflies", transformed},
    {"edit_distance", distance},
    {"bodies", attracted},
    {"table_hash", hashed},
    {"mandelbrot", escapes},
};

}  // namespace corpus
