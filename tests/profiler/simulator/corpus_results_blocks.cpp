// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// What the kernels of reductions.cu, scans.cu, exchanges.cu, waits.cu, sorts.cu and queues.cu must leave in their
// buffers, by plain loops over the inputs. In: a kernel with its buffers filled. Out: the same buffers as they have to
// be. Called through the tables at the end of each part by compute_results.
#include <algorithm>
#include <cmath>
#include <vector>

#include "profiler/simulator/corpus_results.h"

namespace corpus {

namespace {

/// Running sums of `count` elements each, with or without the element itself.
void running_sums(Kernel& k, std::int64_t count, bool inclusive) {
  each(k.at("y"), [&](auto i) { return sum_of(k.at("x"), i / count * count, i % count + (inclusive ? 1 : 0)); });
}

void sorted_parts(Kernel& k, std::int64_t count) {
  for (std::int64_t first = 0; first < k.at("x").size(); first += count) {
    std::vector<double> values;
    for (std::int64_t i = first; i < first + count; ++i) values.push_back(k.at("x")[i]);
    std::sort(values.begin(), values.end());
    for (std::int64_t i = first; i < first + count; ++i) k.at("y").set(i, values[static_cast<std::size_t>(i - first)]);
  }
}

void block_sums(Kernel& k, std::int64_t count) {
  each(k.at("y"), [&](auto i) { return sum_of(k.at("x"), i * count, std::min(count, k.at("x").size() - i * count)); });
}

double squares(const CorpusBuffer& x, std::int64_t first, std::int64_t count, std::int64_t step = 1) {
  double sum = 0;
  for (std::int64_t i = 0; i < count; ++i) sum += x[first + i * step] * x[first + i * step];
  return sum;
}

void find_largest(Kernel& k) {
  for (std::int64_t b = 0; b < 3; ++b) {
    std::int64_t best = 0;
    for (std::int64_t i = 1; i < 96; ++i)
      if (k.at("x")[b * 96 + i] > k.at("x")[b * 96 + best]) best = i;
    k.at("value").set(b, k.at("x")[b * 96 + best]);
    k.at("place").set(b, static_cast<double>(best));
  }
}

void kept_values(Kernel& k, double (*keeps)(double)) {
  std::int64_t count = 0;
  for (std::int64_t i = 0; i < k.at("x").size(); ++i)
    if (keeps(k.at("x")[i]) != 0) k.at("y").set(count++, k.at("x")[i]);
  k.at("count").set(0, static_cast<double>(count));
}

void wide_sums(Kernel& k) {
  for (std::int64_t i = 0; i < 128; ++i) {
    std::uint64_t carry = 0;
    for (std::int64_t j = 0; j < 4; ++j) {
      const std::uint64_t a = u32(k.at("x")[i * 4 + j]), b = u32(k.at("x")[(127 - i) * 4 + j]), sum = a + b + carry;
      k.at("y").set(i * 4 + j, static_cast<std::uint32_t>(i % 2 == 1 ? sum : a));
      carry = sum >> 32;
    }
  }
}

void restarted_sums(Kernel& k) {
  double sum = 0;
  each(k.at("y"), [&](auto i) {
    if (i == 0 || k.at("head")[i] == 0) sum = 0;
    return sum += k.at("x")[i];
  });
}

void counted(Kernel& k) {
  for (std::int64_t i = 0; i < k.at("x").size(); ++i) k.at("y").add(u32(k.at("x")[i]), 1);
}

/// y[r][c] of `rows` x `columns` from the other way round.
void turned(Kernel& k, std::int64_t rows, std::int64_t columns) {
  each(k.at("y"), [&](auto i) { return k.at("x")[i % columns * rows + i / columns]; });
}

void averaged_steps(CorpusBuffer& x, int steps, bool ring) {
  const std::int64_t n = x.size();
  for (int step = 0; step < steps; ++step) {
    const CorpusBuffer before = x;
    for (std::int64_t i = ring ? 0 : 1; i < (ring ? n : n - 1); ++i)
      x.set(i, 0.5 * (before[(i + n - 1) % n] + before[(i + 1) % n]));
  }
}

void live_cells(Kernel& k) {
  const auto alive = [&](std::int64_t r, std::int64_t c) {
    return r >= 0 && r < 8 && c >= 0 && c < 32 && (u32(k.at("x")[r]) >> c & 1) != 0;
  };
  each(k.at("y"), [&](auto r) {
    std::uint32_t bits = 0;
    for (std::int64_t c = 0; c < 32; ++c) {
      int around = 0;
      for (std::int64_t i = -1; i <= 1; ++i)
        for (std::int64_t j = -1; j <= 1; ++j) around += (i != 0 || j != 0) && alive(r + i, c + j);
      if (around == 3 || (around == 2 && alive(r, c))) bits |= 1u << c;
    }
    return bits;
  });
}

void blurred(Kernel& k) {
  const auto x = [&](std::int64_t r, std::int64_t c) {
    return k.at("x")[std::clamp<std::int64_t>(r, 0, 15) * 16 + std::clamp<std::int64_t>(c, 0, 15)];
  };
  each(k.at("y"), [&](auto i) {
    double sum = 0;
    for (std::int64_t r = -1; r <= 1; ++r)
      for (std::int64_t c = -1; c <= 1; ++c) sum += x(i / 16 + r, i % 16 + c);
    return sum / 9;
  });
}

void two_largest(Kernel& k) {
  for (std::int64_t row = 0; row < 4; ++row) {
    std::vector<double> values;
    for (std::int64_t i = 0; i < 100; ++i) values.push_back(k.at("x")[row * 100 + i]);
    std::sort(values.rbegin(), values.rend());
    for (std::size_t i = 0; i < 2; ++i) k.at("y").set(row * 2 + static_cast<std::int64_t>(i), values[i]);
  }
}

}  // namespace

const Results reduction_results = {
    {"tree_sum", [](Kernel& k) { block_sums(k, 128); }},
    {"sequential_sum", [](Kernel& k) { block_sums(k, 128); }},
    {"volatile_tail", [](Kernel& k) { block_sums(k, 64); }},
    {"shuffled_block_sum", [](Kernel& k) { block_sums(k, 256); }},
    {"argmax", find_largest},
    {"vector_extremes",
     [](Kernel& k) {
       double least = 2, most = -2;
       for (std::int64_t i = 0; i < 512; ++i) {
         least = std::min(least, k.at("x")[i]);
         most = std::max(most, k.at("x")[i]);
       }
       k.at("y").set(0, least);
       k.at("y").set(1, most);
     }},
    {"welford",
     [](Kernel& k) {
       for (std::int64_t b = 0; b < 2; ++b) {
         const double mean = sum_of(k.at("x"), b * 512, 512) / 512;
         k.at("y").set(2 * b, mean);
         k.at("y").set(2 * b + 1, squares(k.at("x"), b * 512, 512) / 512 - mean * mean);
       }
     }},
    {"dot_product",
     [](Kernel& k) {
       double sum = 0;
       for (std::int64_t i = 0; i < 1000; ++i) sum += k.at("a")[i] * k.at("b")[i];
       k.at("y").set(0, sum);
     }},
    {"row_norms",
     [](Kernel& k) {
       each(k.at("y"), [&](auto i) { return k.at("x")[i] / std::sqrt(squares(k.at("x"), i / 100 * 100, 100)); });
     }},
    {"segment_sums",
     [](Kernel& k) {
       each(k.at("y"), [](auto) { return 0; });
       for (std::int64_t i = 0; i < 128; ++i) k.at("y").add(i / 64 * 5 + u32(k.at("segment")[i]), k.at("x")[i]);
     }},
    {"strided_columns", [](Kernel& k) { each(k.at("y"), [&](auto i) { return sum_of(k.at("x"), i, 32, 64); }); }},
    {"double_max",
     [](Kernel& k) {
       double most = -2;
       for (std::int64_t i = 0; i < 256; ++i) most = std::max(most, k.at("x")[i]);
       k.at("y").set(0, most);
     }},
    {"hillis_steele", [](Kernel& k) { running_sums(k, 128, true); }},
    {"blelloch", [](Kernel& k) { running_sums(k, 128, false); }},
    {"two_level_scan", [](Kernel& k) { running_sums(k, 1024, false); }},
    {"compact", [](Kernel& k) { kept_values(k, [](double v) -> double { return std::fmod(v, 3) == 0; }); }},
    {"look_back", [](Kernel& k) { running_sums(k, 192, true); }},
    {"segmented_scan", restarted_sums},
    {"row_offsets", [](Kernel& k) { each(k.at("offset"), [&](auto i) { return sum_of(k.at("count"), 0, i); }); }},
    {"max_scan",
     [](Kernel& k) {
       each(k.at("y"), [&](auto i) {
         double most = -2;
         for (std::int64_t j = i / 32 * 32; j <= i; ++j) most = std::max(most, k.at("x")[j]);
         return most;
       });
     }},
};

const Results exchange_results = {
    {"padded_transpose", [](Kernel& k) { turned(k, 64, 96); }},
    {"swizzled_transpose", [](Kernel& k) { turned(k, 32, 32); }},
    {"transpose_bytes", [](Kernel& k) { turned(k, 16, 16); }},
    {"transpose_in_place",
     [](Kernel& k) {
       const CorpusBuffer before = k.at("x");
       each(k.at("x"), [&](auto i) { return before[i % 32 * 32 + i / 32]; });
     }},
    {"private_histograms", counted},
    {"matched_histogram", counted},
    {"packed_counters",
     [](Kernel& k) {
       each(k.at("y"), [](auto) { return 0; });
       counted(k);
     }},
    {"stencil_radius_3",
     [](Kernel& k) {
       each(k.at("y"), [&](auto i) {
         double sum = 0;
         for (std::int64_t j = 0; j < 7; ++j) sum += static_cast<double>(j + 1) * k.at("x")[i + j];
         return sum;
       });
     }},
    {"five_points",
     [](Kernel& k) {
       const auto x = [&](std::int64_t r, std::int64_t c) {
         return r < 0 || r > 31 || c < 0 || c > 31 ? 0 : k.at("x")[r * 32 + c];
       };
       each(k.at("y"), [&](auto i) {
         const std::int64_t r = i / 32, c = i % 32;
         return x(r - 1, c) + x(r + 1, c) + x(r, c - 1) + x(r, c + 1) - 4 * x(r, c);
       });
     }},
    {"jacobi_steps",
     [](Kernel& k) {
       k.at("y").bytes = k.at("x").bytes;
       averaged_steps(k.at("y"), 5, false);
     }},
    {"marching_columns",
     [](Kernel& k) {
       each(k.at("y"), [&](auto i) {
         const CorpusBuffer& x = k.at("x");
         return (i >= 32 ? x[i - 32] : 0) + (i < 480 ? x[i + 32] : 0) - 2 * x[i];
       });
     }},
    {"constant_convolution",
     [](Kernel& k) {
       each(k.at("y"), [&](auto i) {
         double sum = 0;
         for (std::int64_t j = -2; j <= 2; ++j)
           if (i + j >= 0 && i + j < 256) sum += (j == 0 ? 6 : std::abs(j) == 1 ? 4 : 1) * k.at("x")[i + j];
         return sum / 16;
       });
     }},
    {"separable_blur", blurred},
    {"by_table",
     [](Kernel& k) {
       const auto &x = k.at("x"), &w = k.at("w");
       each(k.at("y"), [&](auto i) { return w[i] == 0 ? x[i] + x[i] : w[i] == 1 ? x[i] * x[i] : -x[i]; });
     }},
    {"by_argument",
     [](Kernel& k) {
       const auto& x = k.at("x");
       each(k.at("y"), [&](auto i) {
         double all = x[i / 8 * 8];
         for (auto j = i / 8 * 8 + 1; j < i / 8 * 8 + 8; ++j) all = i % 8 < 4 ? std::max(all, x[j]) : all + x[j];
         return all;
       });
     }},
    {"by_kind",
     [](Kernel& k) {
       const auto& x = k.at("x");
       each(k.at("y"), [&](auto i) { return i % 3 == 0 ? x[i] : i % 3 == 1 ? 3 * x[i] : x[i] * x[i] + 1; });
     }},
    {"game_of_life", live_cells},
    {"tail_counts",
     [](Kernel& k) {
       for (std::int64_t i = 0; i < 105; ++i) {
         k.at("bins").add(i % 5, 101);
         if (i % 3 == 0) k.at("bins").add(5, 10);
         if (i % 2 == 0) k.at("even").add(0, 1);
       }
     }},
    {"two_places",
     [](Kernel& k) {
       const auto& x = k.at("x");
       each(k.at("y"), [&](auto i) { return (i % 32 < 13 ? 3 * x[i] : x[i] + 7) + x[i ^ 31]; });
     }},
    {"wide_sums", wide_sums},
    {"leaving_lanes", [](Kernel& k) { each(k.at("y"), [&](auto i) { return k.at("x")[i / 80 * 96 + 79 - i % 80]; }); }},
    {"counted_phase", [](Kernel& k) { each(k.at("y"), [&](auto i) { return k.at("x")[i ^ 63]; }); }},
    {"counted_neighbour", [](Kernel& k) { each(k.at("y"), [&](auto i) { return k.at("x")[i ^ 63]; }); }},
    {"iterated_grid", [](Kernel& k) { averaged_steps(k.at("x"), 4, true); }},
};

const Results order_results = {
    {"bitonic_block", [](Kernel& k) { sorted_parts(k, 128); }},
    {"bitonic_warp", [](Kernel& k) { sorted_parts(k, 32); }},
    {"odd_even", [](Kernel& k) { sorted_parts(k, 64); }},
    {"rank_sort", [](Kernel& k) { sorted_parts(k, 64); }},
    {"radix_split", [](Kernel& k) { sorted_parts(k, 64); }},
    {"merge_paths", [](Kernel& k) { each(k.at("y"), [](auto i) { return i / 2; }); }},
    {"counting_sort", [](Kernel& k) { sorted_parts(k, 128); }},
    {"insertion_per_thread", [](Kernel& k) { sorted_parts(k, 8); }},
    {"top_two", two_largest},
    {"unique_marks",
     [](Kernel& k) { each(k.at("y"), [&](auto i) { return i == 0 || k.at("x")[i] != k.at("x")[i - 1]; }); }},
    {"dynamic_rows", [](Kernel& k) { block_sums(k, 32); }},
    {"ticket_lock", [](Kernel& k) { each(k.at("data"), [](auto i) { return i == 0 ? 12 : 4; }); }},
    {"ring_of_warps", [](Kernel& k) { each(k.at("y"), [&](auto i) { return k.at("x")[i / 32 * 32 + 31 - i % 32]; }); }},
    {"stack_by_swap", [](Kernel& k) { each(k.at("y"), [](auto) { return 1; }); }},
    {"mailbox",
     [](Kernel& k) {
       each(k.at("y"), [&](auto i) { return 2 * k.at("x")[std::max<std::int64_t>(i / 32 - 1, 0) * 32 + 31 - i % 32]; });
     }},
    {"acquire_release_flag", [](Kernel& k) { each(k.at("y"), [&](auto i) { return k.at("x")[63 - i] + 1; }); }},
    {"push_by_warp", [](Kernel& k) { kept_values(k, [](double v) -> double { return v >= 50; }); }},
    {"once_per_grid", [](Kernel& k) { each(k.at("y"), [](auto i) { return 10 + i; }); }},
    {"all_arrive", [](Kernel& k) { each(k.at("y"), [&](auto i) { return k.at("x")[i] / sum_of(k.at("x"), 0, 96); }); }},
};

}  // namespace corpus
