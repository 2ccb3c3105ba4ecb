// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Each schedule gets memory of its own, filled as the spec says, so that schedules cannot see one another. The first
// gives counters and contents; the others add what they find and whether they left the same bytes. Called through
// run_kernel.h.
#include "profiler/run/run_kernel.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>
#include <random>

#include "base/error.h"
#include "base/text.h"
#include "ir/graph/number.h"

namespace tailor::profiler {

namespace {

using simulator::BufferUse;

double value_at(const std::byte* at, ir::DType dtype) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, at, static_cast<std::size_t>(ir::element_bytes(dtype)));
  if (is_floating(dtype)) return ir::decode(dtype, bits);
  const std::int64_t value = ir::wrap_to(dtype, static_cast<std::int64_t>(bits));
  return is_signed(dtype) ? static_cast<double>(value) : static_cast<double>(static_cast<std::uint64_t>(value));
}

BufferComparison compare(const RunBuffer& buffer, std::span<const std::byte> found, const NpyArray& expected,
                         double tolerance) {
  BufferComparison made;
  const auto width = static_cast<std::size_t>(ir::element_bytes(buffer.dtype));
  made.elements = static_cast<std::int64_t>(found.size() / width);
  const double allowed = tolerance >= 0 ? tolerance : default_tolerance(buffer.dtype);
  for (std::int64_t i = 0; i < made.elements; ++i) {
    const std::size_t at = static_cast<std::size_t>(i) * width;
    // Equal bits are equal values, 64-bit integers among them, which a double does not hold.
    if (std::equal(found.begin() + static_cast<std::ptrdiff_t>(at),
                   found.begin() + static_cast<std::ptrdiff_t>(at + width),
                   expected.bytes.begin() + static_cast<std::ptrdiff_t>(at)))
      continue;
    const double is = value_at(found.data() + at, buffer.dtype),
                 should = value_at(expected.bytes.data() + at, buffer.dtype);
    const bool both_nan = std::isnan(is) && std::isnan(should);
    const double error = both_nan || is == should ? 0 : std::fabs(is - should) / std::max(1.0, std::fabs(should));
    const bool integers_differ = !is_floating(buffer.dtype) && allowed == 0;
    if (!integers_differ && error <= allowed) {
      made.worst = std::max(made.worst, error);
      continue;
    }
    if (made.wrong++ == 0) made.reason = fmt::format("{}[{}] is {}, expected {}", buffer.name, i, is, should);
    made.worst = std::max(made.worst, std::isnan(error) ? HUGE_VAL : error);
  }
  return made;
}

/// The first and the last block, and others at random: ascending.
std::vector<std::int64_t> sampled(const simulator::Launch& launch, std::int64_t wanted, std::uint64_t seed) {
  const std::int64_t blocks =
      std::accumulate(launch.grid.begin(), launch.grid.end(), std::int64_t{1}, std::multiplies<>());
  if (wanted <= 0 || wanted >= blocks || launch.cooperative) return {};
  std::vector<std::int64_t> chosen{0, blocks - 1};
  std::mt19937_64 random(seed);
  while (std::ssize(chosen) < wanted)
    chosen.push_back(static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(blocks)));
  std::sort(chosen.begin(), chosen.end());
  chosen.erase(std::unique(chosen.begin(), chosen.end()), chosen.end());
  return chosen;
}

const ExpectedBuffer* expected_of(const RunOptions& options, const std::string& name) {
  for (const ExpectedBuffer& one : options.expected)
    if (one.buffer == name) return &one;
  return nullptr;
}

void refuse_expected(const RunSpec& spec, const RunOptions& options) {
  for (const ExpectedBuffer& one : options.expected) {
    const auto buffer = std::find_if(spec.buffers.begin(), spec.buffers.end(),
                                     [&](const RunBuffer& each) { return each.name == one.buffer; });
    if (buffer == spec.buffers.end()) throw Error(Fault::usage, fmt::format("no buffer is called '{}'", one.buffer));
    if (buffer->dtype != one.array.dtype || buffer->bytes.size() != one.array.bytes.size())
      throw Error(Fault::usage, fmt::format("found {}[{}] expected of buffer {}, which is {}[{}]",
                                            name(one.array.dtype), fmt::join(one.array.dims, ","), one.buffer,
                                            name(buffer->dtype), fmt::join(buffer->dims, ",")));
  }
}

/// What another schedule found and this list has not.
void add_findings(std::vector<simulator::Finding>& all, const std::vector<simulator::Finding>& more) {
  for (const simulator::Finding& one : more) {
    const auto known = std::find_if(all.begin(), all.end(), [&](const simulator::Finding& each) {
      return each.kind == one.kind && each.ptx_line == one.ptx_line;
    });
    if (known == all.end())
      all.push_back(one);
    else if (one.severity < known->severity)
      *known = one;
  }
}

/// Outputs that the launch left alone. A buffer that is only to be filled in part is better declared `both`.
void add_unwritten(const RunSpec& spec, const simulator::Simulation& simulation, std::vector<simulator::Finding>& all) {
  for (std::size_t b = 0; b < spec.buffers.size(); ++b) {
    const RunBuffer& buffer = spec.buffers[b];
    const std::int64_t width = ir::element_bytes(buffer.dtype), unwritten = simulation.unwritten[b];
    if (unwritten == 0) continue;
    const bool nothing = unwritten == std::ssize(buffer.bytes);
    simulator::Finding made;
    made.kind = simulator::FindingKind::unwritten_output;
    made.severity = nothing ? simulator::Severity::error : simulator::Severity::advice;
    made.text = nothing ? fmt::format("nothing is stored to output {}", buffer.name)
                        : fmt::format("{} of {} elements of output {} are not stored", (unwritten + width - 1) / width,
                                      std::ssize(buffer.bytes) / width, buffer.name);
    made.buffer = static_cast<int>(b);
    all.push_back(std::move(made));
  }
}

}  // namespace

double default_tolerance(ir::DType dtype) {
  switch (dtype) {
    case ir::DType::f64:
      return 1e-12;
    case ir::DType::f32:
      return 2e-5;
    default:
      return is_floating(dtype) ? std::ldexp(1.0, -ir::float_format(dtype).mantissa_bits) : 0;
  }
}

std::optional<std::string> refuse_arguments(const simulator::PtxFunction& entry, const RunSpec& spec) {
  const auto sizes = [&] {
    std::vector<std::string> words;
    for (const simulator::PtxVariable& one : entry.params) words.push_back(fmt::format("{} bytes", one.bytes));
    return fmt::format("{}", fmt::join(words, ", "));
  };
  if (spec.parameters.size() != entry.params.size())
    return fmt::format("found {} arguments, expected {} of {}: {}", spec.parameters.size(), entry.params.size(),
                       entry.name, sizes());
  for (std::size_t i = 0; i < entry.params.size(); ++i) {
    const RunParameter& given = spec.parameters[i];
    const std::int64_t bytes = given.buffer >= 0 ? 8 : std::ssize(given.value);
    if (bytes != entry.params[i].bytes)
      return fmt::format("argument {}: found {} of {} bytes, expected {} bytes", i + 1,
                         given.buffer >= 0 ? "the address of a buffer" : "a value", bytes, entry.params[i].bytes);
  }
  return std::nullopt;
}

const simulator::PtxFunction& find_entry(const simulator::PtxModule& module, std::string_view name) {
  const simulator::PtxFunction* found = nullptr;
  const std::string mangled = fmt::format("{}{}", name.size(), name);
  int matches = 0;
  for (const simulator::PtxFunction& one : module.functions) {
    if (!one.entry || name.empty()) continue;
    if (one.name == name) return one;
    if (one.name.starts_with("_Z") && one.name.find(mangled) != one.name.npos) {
      found = &one;
      ++matches;
    }
  }
  return matches == 1 ? *found : entry_of(module, name);
}

KernelRun run_kernel(const simulator::PtxModule& module, const simulator::PtxFunction& entry, const RunSpec& spec,
                     const RunOptions& options) {
  if (const auto reason = refuse_arguments(entry, spec)) throw Error(Fault::usage, *reason);
  refuse_expected(spec, options);
  const simulator::Program program(module, entry);
  KernelRun run;
  if (!program.unsupported().empty()) {
    run.simulation.outcome = simulator::SimulationOutcome::unsupported;
    run.simulation.reason = program.unsupported();
    return run;
  }
  simulator::Launch launch = spec.launch;
  for (const RunParameter& one : spec.parameters) launch.arguments.push_back({one.buffer, 0, one.value});
  simulator::SimulationOptions how = options.simulation;
  how.machine = spec.machine;
  how.warp_instructions = spec.limit;
  how.blocks = sampled(launch, options.sample_blocks, how.seed);
  for (std::int64_t k = 0; k < options.seeds && !how.stop.stop_requested(); ++k, ++how.seed) {
    simulator::Memory memory;
    for (const RunBuffer& buffer : spec.buffers) {
      const int at = memory.add(buffer.name, std::ssize(buffer.bytes), ir::element_bytes(buffer.dtype), buffer.use);
      if (buffer.use == BufferUse::input || buffer.use == BufferUse::both)
        std::copy(buffer.bytes.begin(), buffer.bytes.end(), memory.bytes(at).begin());
    }
    simulator::Simulation simulation = simulate(program, launch, memory, how);
    ++run.schedules;
    if (k == 0) run.buffers.resize(spec.buffers.size());
    for (std::size_t b = 0; b < spec.buffers.size(); ++b) {
      const auto left = memory.bytes(static_cast<int>(b));
      BufferAfter& after = run.buffers[b];
      if (k == 0) {
        after.bytes.assign(left.begin(), left.end());
        if (!simulation.buffers.empty()) after.counters = simulation.buffers[b];  // a refused launch counted nothing
      }
      after.differs = after.differs || !std::equal(left.begin(), left.end(), after.bytes.begin());
      const ExpectedBuffer* const expected = expected_of(options, spec.buffers[b].name);
      if (expected == nullptr) continue;
      BufferComparison found = compare(spec.buffers[b], left, expected->array, options.tolerance);
      if (!after.compared || found.wrong > after.compared->wrong) after.compared = std::move(found);
    }
    const bool ended = simulation.outcome != simulator::SimulationOutcome::finished;
    if (!ended && how.blocks.empty() && errors(simulation.findings) == 0)
      add_unwritten(spec, simulation, simulation.findings);
    if (k == 0) {
      run.simulation = std::move(simulation);
    } else {
      add_findings(run.simulation.findings, simulation.findings);
      if (ended)
        std::tie(run.simulation.outcome, run.simulation.reason) = std::tie(simulation.outcome, simulation.reason);
    }
    if (ended) break;
  }
  return run;
}

}  // namespace tailor::profiler
