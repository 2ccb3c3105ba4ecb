// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Whether the price chooses well: norms and softmaxes that nobody wrote down, on GPUs with little and much shared
// memory. In: graphs drawn with a fixed seed, of any rank, any reduced dimensions, 64 thousand to 16 million elements;
// alone, of several arrays behind one another, and with a sum of the result over what the norm keeps.
// Each is fused by `tailor` and by strategies that ask no price, and every kernel's best plan is projected. What the
// search formed must have plans, and may not be slower than what the others formed. A program of its own in the slow
// suite.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "explore/partition.h"
#include "explore/plans/space.h"
#include "explore/plans/tune.h"
#include "explore/strategy.h"
#include "ir/graph/graph_parse.h"
#include "support/search_setting.h"

using namespace tailor;

namespace {

/// One norm as text, line by line.
class Writer {
 public:
  Writer(std::vector<int> dims, std::vector<int> reduced, std::string stored)
      : dims_(std::move(dims)), reduced_(std::move(reduced)), stored_(std::move(stored)) {
    lines_ = "  %zero = constant 0 : f32[]\n  %low = constant -inf : f32[]\n";
    for (int i = 0; i < static_cast<int>(dims_.size()); ++i)
      if (!has(reduced_, i)) kept_.push_back(i);
  }

  std::string whole() const { return shape("f32", true); }
  std::string results() const { return shape("f32", false); }

  /// Inputs are this many arrays behind one another in a dimension, where there are several.
  void concatenate_inputs(int arrays, int dimension) { arrays_ = arrays, along_ = dimension; }

  std::string input() {
    const std::string name = arrays_ > 1 ? joined_input() : parameter(shape(stored_, true));
    return stored_ == "f32" ? name : line(fmt::format("convert {} : {}", name, whole()));
  }
  std::string parameter(const std::string& type) { return line(fmt::format("parameter {} : {}", parameters_++, type)); }
  std::string op(std::string_view what, const std::string& a, const std::string& b) {
    return line(fmt::format("{} {}, {} : {}", what, a, b, whole()));
  }
  std::string op(std::string_view what, const std::string& a) {
    return line(fmt::format("{} {} : {}", what, a, whole()));
  }
  std::string of_results(std::string_view what, const std::string& a) {
    return line(fmt::format("{} {} : {}", what, a, results()));
  }
  std::string reduce(std::string_view what, const std::string& a) {
    return line(fmt::format("reduce {} {}, {}, axes={} : {}", what, a, what == "max" ? "%low" : "%zero", list(reduced_),
                            results()));
  }
  std::string spread(const std::string& a) {
    return line(fmt::format("broadcast {}, axes={} : {}", a, list(kept_), whole()));
  }
  /// A sum of the elements over what is not reduced.
  void sum_beside(const std::string& a) {
    std::vector<int> left;
    for (const int i : reduced_) left.push_back(dims_[static_cast<std::size_t>(i)]);
    outputs_ +=
        fmt::format("  output {}\n",
                    line(fmt::format("reduce add {}, %zero, axes={} : f32[{}]", a, list(kept_), fmt::join(left, ","))));
  }
  void output(const std::string& a, bool of_elements = true) {
    if (of_elements && sums_beside) sum_beside(a);
    const bool narrow = of_elements && stored_ != "f32";
    outputs_ +=
        fmt::format("  output {}\n", narrow ? line(fmt::format("convert {} : {}", a, shape(stored_, true))) : a);
  }
  std::string text() const { return "graph norm {\n" + lines_ + outputs_ + "}\n"; }

  bool sums_beside = false;

 private:
  std::string joined_input() {
    std::string names;
    const int whole = dims_[static_cast<std::size_t>(along_)];
    for (int i = 0; i < arrays_; ++i) {
      std::vector<int> part = dims_;
      part[static_cast<std::size_t>(along_)] = whole * (i + 1) / arrays_ - whole * i / arrays_;
      names += (i == 0 ? "" : ", ") + parameter(fmt::format("{}[{}]", stored_, fmt::join(part, ",")));
    }
    return line(fmt::format("concatenate {}, axes={{{}}} : {}", names, along_, shape(stored_, true)));
  }
  static bool has(const std::vector<int>& all, int one) { return std::find(all.begin(), all.end(), one) != all.end(); }
  static std::string list(const std::vector<int>& all) { return fmt::format("{{{}}}", fmt::join(all, ",")); }
  std::string shape(const std::string& type, bool all) const {
    std::vector<int> sizes;
    for (int i = 0; i < static_cast<int>(dims_.size()); ++i)
      if (all || !has(reduced_, i)) sizes.push_back(dims_[static_cast<std::size_t>(i)]);
    return fmt::format("{}[{}]", type, fmt::join(sizes, ","));
  }
  std::string line(const std::string& what) {
    lines_ += fmt::format("  %v{} = {}\n", values_, what);
    return fmt::format("%v{}", values_++);
  }

  std::vector<int> dims_, reduced_, kept_;
  std::string stored_, lines_, outputs_;
  int parameters_ = 0, values_ = 0, arrays_ = 1, along_ = 0;
};

void write_softmax(Writer& w) {
  const std::string x = w.input(), e = w.op("exp", w.op("subtract", x, w.spread(w.reduce("max", x))));
  w.output(w.op("divide", e, w.spread(w.reduce("add", e))));
}

void write_norm(Writer& w) {
  const std::string x = w.input(), scale = w.parameter(w.results());
  const std::string d = w.op("subtract", x, w.spread(w.reduce("add", x)));
  const std::string r = w.of_results("rsqrt", w.reduce("add", w.op("multiply", d, d)));
  w.output(w.op("multiply", w.op("multiply", d, w.spread(r)), w.spread(scale)));
  w.output(r, false);
}

void write_root_mean_square(Writer& w) {
  const std::string x = w.input();
  w.output(w.op("multiply", x, w.spread(w.of_results("rsqrt", w.reduce("add", w.op("multiply", x, x))))));
}

void write_gradient(Writer& w) {
  const std::string x = w.input(), g = w.input(), scale = w.parameter(w.results());
  const std::string a = w.reduce("add", g), b = w.reduce("add", w.op("multiply", g, x));
  w.output(w.op("multiply", w.op("subtract", w.op("subtract", g, w.spread(a)), w.op("multiply", x, w.spread(b))),
                w.spread(scale)));
  w.output(a, false);
  w.output(b, false);
}

struct Norm {
  std::string name, text;
};

/// What a norm is drawn with, beside its shape.
struct Company {
  bool arrays = false;  ///< its inputs are several arrays behind one another
  bool sums = false;    ///< its result is summed over what it keeps
};

Norm draw_norm(std::mt19937& engine, Company with) {
  const auto pick = [&](int least, int most) { return std::uniform_int_distribution<int>(least, most)(engine); };
  constexpr int sizes[] = {2,  3,   4,   6,   8,   10,  12,  16,  24,   32,   49,   64,
                           96, 100, 128, 196, 256, 384, 512, 768, 1000, 1024, 3136, 4096};
  std::vector<int> dims;
  double elements = 0;
  do {
    dims.assign(static_cast<std::size_t>(pick(2, 4)), 0);
    elements = 1;
    for (int& size : dims) size = sizes[pick(0, static_cast<int>(std::size(sizes)) - 1)], elements *= size;
  } while (elements < 1 << 16 || elements > 1 << 24);
  std::vector<int> reduced;
  const int rank = static_cast<int>(dims.size());
  while (reduced.empty() || static_cast<int>(reduced.size()) == rank) {
    reduced.clear();
    for (int i = 0; i < rank; ++i)
      if (pick(0, i == rank - 1 ? 3 : 1) != 0) reduced.push_back(i);
  }
  constexpr std::pair<std::string_view, void (*)(Writer&)> kinds[] = {
      {"softmax", write_softmax}, {"norm", write_norm}, {"rms", write_root_mean_square}, {"gradient", write_gradient}};
  const auto& [kind, write] = kinds[pick(0, 3)];
  const std::string stored = pick(0, 1) == 0 ? "f32" : "f16";
  Writer writer(dims, reduced, stored);
  writer.sums_beside = with.sums;
  int arrays = 1, along = 0;
  if (with.arrays) {
    along = pick(0, rank - 1);
    constexpr int several[] = {2, 3, 16};
    arrays = std::min(several[pick(0, 2)], dims[static_cast<std::size_t>(along)]);
    writer.concatenate_inputs(arrays, along);
  }
  write(writer);
  return {
      fmt::format("{} {}[{}] over {}{}{}", kind, stored, fmt::join(dims, ","), fmt::join(reduced, ","),
                  arrays > 1 ? fmt::format(", of {} arrays in {}", arrays, along) : "", with.sums ? ", summed" : ""),
      writer.text()};
}

/// Seconds of one run by the best plan of each kernel; endless where one has no plan.
double projected_by(const char* strategy, const ir::Graph& graph, const explore::FusionSetting& setting) {
  const ir::Fusion fusion = explore::fuse(explore::find_strategy(strategy), graph, setting);
  double seconds = 0;
  for (const explore::DistinctGroup& group : explore::partition(graph, fusion).groups) {
    const auto prepared = codegen::prepare(group.group);
    if (!std::holds_alternative<codegen::Prepared>(prepared)) return std::numeric_limits<double>::infinity();
    const auto& ready = std::get<codegen::Prepared>(prepared);
    explore::TuneOptions options;
    options.model = costmodel::find_model("projected");
    options.max_plans = 400;
    const explore::Tuned tuned =
        explore::tune(ready, explore::default_axes(ready, setting.device->limits), *setting.device, options);
    if (tuned.ranked.empty()) return std::numeric_limits<double>::infinity();
    seconds += group.times * tuned.ranked.front().estimate.total.value;
  }
  return seconds;
}

costmodel::CalibratedDevice device_named(const std::string& name) {
  const std::string data = source_folder() + "/data/";
  return costmodel::calibrated(ir::find_device(name, data + "devices"),
                               ir::find_calibration("uncalibrated", data + "calibrations"));
}

}  // namespace

TEST_CASE("the search by price forms kernels that have plans and are not slower than those formed by rules") {
  constexpr unsigned seed = 20261124;
  // How much slower one may be, and all in the mean. Short pieces and little work keep a price from being exact.
  struct Kind {
    Company with;
    int norms;
    double most_slower, in_the_mean;
  };
  for (const Kind kind :
       {Kind{{}, 80, 0.05, 0.001}, {{true, false}, 40, 0.12, 0.001}, {{false, true}, 40, 0.12, 0.001}})
    for (const char* name : {"h200", "v100", "t4"}) {
      const costmodel::CalibratedDevice device = device_named(name);
      explore::FusionSetting setting;
      setting.device = &device;
      setting.price = costmodel::find_model("group");
      std::mt19937 engine(seed);
      double gain = 0, worst = 0;
      std::string worst_of;
      for (int i = 0; i < kind.norms; ++i) {
        const Norm norm = draw_norm(engine, kind.with);
        CAPTURE(name);
        CAPTURE(norm.name);
        const ir::Graph graph = ir::parse_graph(norm.text);
        const double own = projected_by("tailor", graph, setting), stitched = projected_by("stitch-v1", graph, setting),
                     rules = projected_by("xla-2022", graph, setting), apart = projected_by("unfused", graph, setting);
        REQUIRE(std::isfinite(own));
        const double best = std::min({stitched, rules, apart});
        CHECK(own <= best * (1 + kind.most_slower));
        gain += std::log(best / own);
        if (own / best > worst) worst = own / best, worst_of = norm.name;
      }
      MESSAGE(fmt::format(
          "{}, seed {}: {} norms, {:.3f} times as fast as the best of the others, at worst {:.3f} as long ({})", name,
          seed, kind.norms, std::exp(gain / kind.norms), worst, worst_of));
      CHECK(gain >= -kind.in_the_mean * kind.norms);
    }
}
