// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// tailor microbench: what a GPU's ceilings are: how fast it copies, what a launch and a barrier cost, how much must be
// under way to fill its memory. Measured like any kernel: in a worker, outputs checked, raw samples stored.
#include "profiler/measure/microbench.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "base/error.h"
#include "base/text.h"
#include "cli/chosen_plans.h"
#include "cli/gpu_access.h"
#include "cli/inputs.h"
#include "cli/output.h"
#include "cli/profile_options.h"
#include "cli/profiling.h"
#include "profiler/measure/sampled.h"
#include "profiler/measure/sequence_cache.h"
#include "study/pipeline/manifest.h"
#include "study/pipeline/replay.h"
#include "study/pipeline/to_rows.h"

namespace tailor::cli {

using namespace study;

namespace {

using profiler::Microbench;
using report::Cell;
using report::Hint;

/// One microbenchmark and what came of it.
struct BenchItem {
  Microbench bench;
  std::optional<ir::Binary> binary;
  ir::Measurement measured;
  std::optional<profiler::BenchResult> result;
};

std::vector<BenchItem> wanted_items(const MicrobenchCommand& options, const ir::Device& device) {
  std::vector<std::string_view> known;
  for (const profiler::BenchFamily& family : profiler::bench_families()) known.push_back(family.name);
  std::vector<std::string_view> families;
  if (!options.families.empty())
    for (const std::string_view word : split(options.families, ',')) families.push_back(trim(word));
  for (const std::string_view family : families)
    if (std::find(known.begin(), known.end(), family) == known.end())
      throw Error(Fault::usage, fmt::format("--only: no microbenchmark is called '{}'", family),
                  suggestion(family, known));
  profiler::BenchSizes sizes;
  const auto too_large = [&](std::int64_t bytes) { return options.most_bytes > 0 && bytes > options.most_bytes; };
  sizes.bytes.erase(std::remove_if(sizes.bytes.begin(), sizes.bytes.end(), too_large), sizes.bytes.end());
  if (options.most_bytes > 0) sizes.streamed = options.most_bytes;
  std::vector<BenchItem> items;
  for (Microbench& bench : profiler::microbenchmarks(device, sizes)) {
    if (!families.empty() && std::find(families.begin(), families.end(), bench.family->name) == families.end())
      continue;
    items.emplace_back().bench = std::move(bench);
  }
  return items;
}

std::span<const std::byte> load_code(const ir::Binary& binary, profiler::ImageForm form, gpu::Image& holder) {
  holder = profiler::image_of(binary, form);
  return holder.code;
}

/// Runs once, checks, then samples until the rule is satisfied.
class Running {
 public:
  Running(profiler::Worker& worker, const profiler::MeasureOptions& how) : worker_(worker), how_(how) {}

  void run(BenchItem& item) {
    item.measured =
        profiler::blank_measurement(worker_, item.bench.cache, how_.timed_by, item.bench.launch, how_.stop_rule);
    if (!item.binary || item.binary->outcome != ir::CompileOutcome::ok) {
      item.measured.outcome = item.binary ? ir::Outcome::unloadable : ir::Outcome::stopped;
      item.measured.reason = item.binary ? "it does not compile: " + item.binary->log : "stopped";
      return;
    }
    profiler::SequenceCache bench(worker_, how_.time_limit);
    gpu::Image image;
    const int number = bench.add(
        {profiler::with_code(item.bench, load_code(*item.binary, how_.image, image)), make_contents(item.bench)});
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
  /// Large ones take a second to make, and many want the same.
  std::shared_ptr<const std::vector<std::byte>> make_contents(const Microbench& bench) {
    std::vector<std::int64_t> sizes;
    for (const gpu::Buffer& buffer : bench.sequence.buffers)
      if (buffer.role == gpu::BufferRole::input) sizes.push_back(buffer.bytes);
    if (!contents_ || sizes != sizes_) {
      contents_ = std::make_shared<std::vector<std::byte>>(profiler::inputs_of(bench));
      sizes_ = std::move(sizes);
    }
    return contents_;
  }

  profiler::Worker& worker_;
  const profiler::MeasureOptions& how_;
  std::vector<std::int64_t> sizes_;  ///< of the inputs that are in contents_
  std::shared_ptr<const std::vector<std::byte>> contents_;
};

report::Table bench_table(const std::vector<BenchItem>& items) {
  report::Table table;
  table.columns = {column("name", "microbenchmark"),
                   column("value", "value", Hint::number),
                   column("low", "from", Hint::number, 4),
                   column("high", "to", Hint::number, 4),
                   column("unit", "unit"),
                   column("median", "time", Hint::seconds),
                   column("samples", "samples", Hint::integer, 2),
                   column("sm_clock_mhz", "SM MHz", Hint::number, 3),
                   column("outcome", "outcome"),
                   column("reason", "reason", Hint::text, 1)};
  for (const BenchItem& item : items) {
    const bool known = item.result.has_value();
    const std::vector<double> seconds = profiler::durations(item.measured.samples);
    table.rows.push_back({item.bench.name, known ? Cell(item.result->value) : Cell(),
                          known ? Cell(item.result->low) : Cell(), known ? Cell(item.result->high) : Cell(),
                          std::string(item.bench.family->unit), seconds.empty() ? Cell() : Cell(median_of(seconds)),
                          static_cast<std::int64_t>(seconds.size()),
                          item.measured.sm_clock > 0 ? Cell(item.measured.sm_clock / 1e6) : Cell(),
                          std::string(ir::name(item.measured.outcome)), item.measured.reason});
  }
  return table;
}

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

void store_items(const MicrobenchCommand& options, const Context& context, const ir::Device& device,
                 const std::vector<BenchItem>& items, const gpu::Response& opened) {
  store::Store store = store::Store::open(options.database);
  const std::string toolchain = items.empty() || !items[0].binary ? "none" : items[0].binary->compiler;
  store::RunRow run = begun_run(context.command, toolchain, 1, "");
  name_gpu(run, opened);
  const store::DeviceRow device_row = load_device_row(context, options.device, device);
  store::Store::Transaction unit(store);
  store.save(device_row);
  store.save(run);
  for (const BenchItem& item : items) {
    if (!item.binary) continue;
    const store::KernelRow kernel =
        make_kernel_row(item.bench, profiler::compile_request(item.bench, device.arch).cuda);
    store.save(kernel);
    // Sizes share a text: each is a kernel of its own with the binary of that text.
    store::BinaryRow binary = binary_row(*item.binary, kernel.id);
    binary.id = id_of(hex(item.binary->source) + hex(kernel.id));
    store.save(binary);
    const Spread time = profiler::time_of(item.measured);
    store.save(
        store::measurement_row(item.measured, run.id, binary.id, device_row.id, Seconds{time.low}, Seconds{time.high}));
  }
  run.finished_at = time_now();
  run.outcome = "done";
  store.save(run);
  unit.commit();
  context.console->note(fmt::format("stored in {}", options.database));
}

/// Answers from records, by activity where that was recorded.
void replay_items(const MicrobenchCommand& options, const Context& context, const ir::Device& device,
                  std::vector<BenchItem>& items) {
  const profiler::Lookup lookup = recorded_lookup(options.recorded, context.data, device);
  const profiler::StopRule& rule = profiler::stop_rule(options.stop_rule);
  const std::optional<ir::TimedBy> asked = parse_timed_by(options.timed_by);
  for (BenchItem& item : items) {
    const Id kernel = make_kernel_row(item.bench, profiler::compile_request(item.bench, device.arch).cuda).id;
    ir::Protocol protocol{item.bench.cache, asked.value_or(ir::TimedBy::activity), item.bench.launch,
                          std::string(rule.name)};
    item.measured = lookup(kernel, protocol);
    if (!asked && item.measured.outcome == ir::Outcome::not_recorded) {
      protocol.timed_by = ir::TimedBy::events;
      item.measured = lookup(kernel, protocol);
    }
    if (!item.measured.samples.empty())
      item.result = profiler::evaluate(item.bench, item.measured.samples, rule.confidence);
  }
}

/// Throws when some gave no answer.
void refuse_unanswered(const std::vector<BenchItem>& items) {
  std::int64_t failed = 0;
  bool recorded = true;
  for (const BenchItem& item : items) {
    failed += item.measured.outcome == ir::Outcome::ok ? 0 : 1;
    recorded = recorded && item.measured.outcome != ir::Outcome::not_recorded;
  }
  if (failed > 0)
    throw Error(recorded ? Fault::failed : Fault::missing,
                fmt::format("{} of {} microbenchmarks gave no answer", failed, items.size()),
                "the answer says which and why");
}

}  // namespace

void run_microbench(const MicrobenchCommand& options, const Context& context) {
  const ir::Device device = load_device(context, options.device);
  std::vector<BenchItem> items = wanted_items(options, device);
  if (options.profiler != "gpu" && options.profiler != "replay")
    throw Error(Fault::usage, fmt::format("--profiler: found '{}', expected gpu or replay", options.profiler));
  if (options.profiler == "replay") {
    replay_items(options, context, device, items);
    show(context, {"tailor.microbench/1", device.name, {{"microbenchmarks", bench_table(items)}}, ""});
    return refuse_unanswered(items);
  }
  const profiler::FoundNvrtc nvrtc = find_compiler(options.nvrtc);
  if (!nvrtc) throw Error(Fault::missing, "microbench needs NVRTC: " + nvrtc.reason, nvrtc.remedy);
  const InterruptWatch interrupts;
  ProfileCommand words;
  words.timed_by = options.timed_by;
  words.stop_rule = options.stop_rule;
  words.counters = "none";
  words.image = options.image;
  words.time_limit = options.time_limit;
  const profiler::MeasureOptions how = measure_options(words, context, device, interrupts.token());
  std::optional<profiler::Worker> worker;
  if (!options.compile_only) require_gpu(worker.emplace(worker_setup(options.gpu, interrupts.token())), device);
  std::vector<std::string> texts;
  for (const BenchItem& item : items) texts.push_back(profiler::compile_request(item.bench, device.arch).cuda);
  std::vector<std::optional<ir::Binary>> binaries =
      compiled_texts(context, *nvrtc.api, {device.arch, options.cache, 0, interrupts.token()}, texts);
  if (options.compile_only) {
    context.console->finish();
    context.console->note(fmt::format("{} texts compiled for {}", texts.size(), device.arch));
    return;
  }
  Running running(*worker, how);
  for (std::size_t i = 0; i < items.size(); ++i) {
    items[i].binary = std::move(binaries[i]);
    context.console->progress(
        {items[i].bench.name, static_cast<std::int64_t>(i), static_cast<std::int64_t>(items.size()), {}});
    if (interrupts.requested()) break;
    running.run(items[i]);
  }
  context.console->finish();
  if (!options.database.empty()) store_items(options, context, device, items, worker->opened());
  show(context, {"tailor.microbench/1", device.name, {{"microbenchmarks", bench_table(items)}}, ""});
  stop_if_asked(interrupts);
  refuse_unanswered(items);
}

}  // namespace tailor::cli
