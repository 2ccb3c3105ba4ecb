// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Running, checking, sampling, storing. In: a worker and a list of microbenchmarks. Out: their times. Each is checked
// in one run before any of its times is taken. Called by tailor microbench. A microbenchmark whose outputs are wrong
// has an outcome and no time.
#include "study/pipeline/microbench_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <span>

#include "base/error.h"
#include "base/statistics.h"
#include "base/text.h"
#include "profiler/measure/sampled.h"
#include "profiler/measure/sequence_cache.h"
#include "study/pipeline/manifest.h"
#include "study/pipeline/recorder.h"
#include "study/pipeline/replay.h"
#include "study/pipeline/to_rows.h"

namespace tailor::study {

using profiler::Microbench;

namespace {

std::span<const std::byte> load_code(const ir::Binary& binary, profiler::ImageForm form, gpu::Image& holder) {
  holder = profiler::image_of(binary, form);
  return holder.code;
}

/// Runs once, checks, then samples until the rule is satisfied.
class Running {
 public:
  Running(profiler::Worker& worker, profiler::Worker& untraced, const profiler::MeasureOptions& how)
      : traced_(worker), untraced_(untraced), how_(how) {}

  void run(BenchItem& item) {
    const bool by_events = item.bench.family->by_events;
    profiler::Worker& worker = by_events ? untraced_ : traced_;
    const std::optional<ir::TimedBy> timed_by = by_events ? ir::TimedBy::events : how_.timed_by;
    item.measured = profiler::blank_measurement(worker, item.bench.cache, timed_by, item.bench.launch, how_.stop_rule);
    if (!item.binary || item.binary->outcome != ir::CompileOutcome::ok) {
      item.measured.outcome = item.binary ? ir::Outcome::unloadable : ir::Outcome::stopped;
      item.measured.reason = item.binary ? "it does not compile: " + item.binary->log : "stopped";
      return;
    }
    profiler::SequenceCache bench(worker, how_.time_limit);
    gpu::Image image;
    const std::span<const std::byte> code = load_code(*item.binary, how_.image, image);
    const int number = add_fitting(bench, item, code);
    if (number < 0) return;
    const gpu::Response checked = bench.call(number, gpu::RunRequest{number, how_.seed, true});
    item.measured.outcome = checked.outcome;
    item.measured.reason = checked.reason;
    if (checked.outcome != ir::Outcome::ok) return;
    if (std::string wrong = profiler::complaint(item.bench, checked.blob); !wrong.empty()) {
      item.measured.outcome = ir::Outcome::wrong;
      item.measured.reason = std::move(wrong);
      return;
    }
    profiler::sample(bench, number, how_.stop, item.measured);
    if (!item.measured.samples.empty())
      item.result =
          profiler::evaluate(item.bench, item.measured.samples, profiler::stop_rule(how_.stop_rule).confidence);
  }

 private:
  /// The sequence's number in the cache, with as many clusters as fit; negative where the outcome says why there is
  /// none.
  int add_fitting(profiler::SequenceCache& cache, BenchItem& item, std::span<const std::byte> code) {
    const auto add = [&] { return cache.add({profiler::with_code(item.bench, code), make_contents(item.bench)}); };
    const int number = add();
    const gpu::Response& load = cache.loaded(number);
    item.measured.outcome = load.outcome;
    item.measured.reason = load.reason;
    if (load.outcome != ir::Outcome::ok) return -1;
    std::optional<Microbench> fitting =
        profiler::with_clusters(item.bench, load.entries.empty() ? -1 : load.entries.front().clusters);
    if (!fitting) {
      item.measured.outcome = ir::Outcome::refused;
      item.measured.reason = "by its driver, not one cluster of so many blocks fits into this GPU";
      return -1;
    }
    if (fitting->sequence == item.bench.sequence) return number;
    cache.drop(number);
    item.bench = *std::move(fitting);
    return add();
  }

  /// Large ones take a second to make, and many want the same.
  std::shared_ptr<const std::vector<std::byte>> make_contents(const Microbench& bench) {
    std::vector<std::int64_t> sizes;
    for (const gpu::Buffer& buffer : bench.sequence.buffers)
      if (brings_contents(buffer)) sizes.push_back(buffer.bytes);
    if (!contents_ || sizes != sizes_) {
      contents_ = std::make_shared<std::vector<std::byte>>(profiler::inputs_of(bench));
      sizes_ = std::move(sizes);
    }
    return contents_;
  }

  profiler::Worker &traced_, &untraced_;
  const profiler::MeasureOptions& how_;
  std::vector<std::int64_t> sizes_;  ///< of the inputs that are in contents_
  std::shared_ptr<const std::vector<std::byte>> contents_;
};

/// A microbenchmark as the row of a kernel: its name says what it asks, its text how.
store::KernelRow make_kernel_row(const Microbench& bench, const std::string& cuda) {
  const gpu::Launch& launch = bench.sequence.launches.front();
  store::KernelRow row;
  row.name = "microbench: " + bench.name;
  row.text = fmt::format("{}: {} {}, {} launches", bench.family->name, bench.size, bench.family->size_is,
                         bench.sequence.launches.size());
  row.cuda = cuda;
  row.threads = static_cast<int>(launch.block[0]);
  row.blocks = launch.grid[0];
  row.shared = launch.dynamic_shared;
  row.id = id_of(row.name + "\n" + row.text + "\n" + row.cuda);
  return row;
}

}  // namespace

std::vector<BenchItem> wanted_benches(const std::string& words, std::int64_t most_bytes, const ir::Device& device) {
  std::vector<std::string_view> known;
  for (const profiler::BenchFamily& family : profiler::bench_families()) known.push_back(family.name);
  std::vector<std::string_view> families;
  if (!words.empty())
    for (const std::string_view word : split(words, ',')) families.push_back(trim(word));
  for (const std::string_view family : families)
    if (std::find(known.begin(), known.end(), family) == known.end())
      throw Error(Fault::usage, fmt::format("--only: no microbenchmark is called '{}'", family),
                  suggestion(family, known));
  profiler::BenchSizes sizes;
  const auto too_large = [&](std::int64_t bytes) { return most_bytes > 0 && bytes > most_bytes; };
  std::erase_if(sizes.bytes, too_large);
  std::erase_if(sizes.large, too_large);
  std::erase_if(sizes.resident, too_large);
  if (most_bytes > 0) {
    sizes.streamed = most_bytes;
    while (sizes.far > most_bytes) sizes.far /= 2;
    sizes.near = std::min(sizes.near, sizes.far);
  }
  std::vector<BenchItem> items;
  for (Microbench& bench : profiler::microbenchmarks(device, sizes)) {
    if (!families.empty() && std::find(families.begin(), families.end(), bench.family->name) == families.end())
      continue;
    items.emplace_back().bench = std::move(bench);
  }
  return items;
}

void compile_benches(std::vector<BenchItem>& items, const std::string& arch, const Compiling& how, const Watch& watch) {
  std::vector<profiler::CompileRequest> requests;
  for (const BenchItem& item : items)
    requests.push_back({.cuda = profiler::compile_request(item.bench, arch).cuda, .arch = arch});
  profiler::CompiledAll compiled = compile_texts(requests, how, watch);
  for (std::size_t i = 0; i < items.size(); ++i) items[i].binary = std::move(compiled.binaries[i]);
}

void run_benches(std::vector<BenchItem>& items, profiler::Worker& worker, profiler::Worker& untraced,
                 const profiler::MeasureOptions& how, const Watch& watch) {
  Running running(worker, untraced, how);
  for (std::size_t i = 0; i < items.size() && !watch.stopped(); ++i) {
    watch.observer.progress(
        {items[i].bench.name, static_cast<std::int64_t>(i), static_cast<std::int64_t>(items.size()), {}});
    running.run(items[i]);
  }
}

void replay_benches(std::vector<BenchItem>& items, const MeasureWords& words, const std::filesystem::path& data,
                    const ir::Device& device) {
  const auto records = recorded_files(words.recorded, data, device);
  const profiler::StopRule& rule = profiler::stop_rule(words.stop_rule);
  const std::optional<ir::TimedBy> asked = parse_timed_by(words.timed_by);
  for (BenchItem& item : items) {
    const store::KernelRow row = make_kernel_row(item.bench, profiler::compile_request(item.bench, device.arch).cuda);
    const ir::TimedBy usual = item.bench.family->by_events ? ir::TimedBy::events : ir::TimedBy::activity;
    ir::Protocol protocol{item.bench.cache, asked.value_or(usual), item.bench.launch, std::string(rule.name)};
    item.measured = ask(*records, row.id, protocol, row.name);
    if (!asked && item.measured.outcome == ir::Outcome::not_recorded) {
      protocol.timed_by = ir::TimedBy::events;
      item.measured = ask(*records, row.id, protocol, row.name);
    }
    if (!item.measured.samples.empty())
      item.result = profiler::evaluate(item.bench, item.measured.samples, rule.confidence);
  }
}

void store_benches(const std::filesystem::path& database, const std::string& command, const Target& target,
                   const std::vector<BenchItem>& items, const gpu::Response& opened) {
  const std::string toolchain = items.empty() || !items[0].binary ? "none" : items[0].binary->compiler;
  store::RunRow run = begun_run(command, toolchain, 1, "");
  name_gpu(run, opened);
  Recorder recorder(database, std::move(run));
  recorder.unit([&] {
    recorder.save(target);
    for (const BenchItem& item : items) {
      if (!item.binary) continue;
      const store::KernelRow kernel =
          make_kernel_row(item.bench, profiler::compile_request(item.bench, target.device.arch).cuda);
      recorder.store().save(kernel);
      // Sizes share a text: each is a kernel of its own with the binary of that text.
      store::BinaryRow binary = binary_row(*item.binary, kernel.id);
      binary.id = id_of(hex(item.binary->source) + hex(kernel.id));
      recorder.store().save(binary);
      const Spread time = profiler::time_of(item.measured);
      recorder.store().save(store::measurement_row(item.measured, recorder.run(), binary.id, target.id,
                                                   Seconds{time.low}, Seconds{time.high}));
    }
    recorder.close("done");
  });
}

}  // namespace tailor::study
