// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The steps of plan_oracle.h. Different programs of the space are picked by a fixed stride, printed and compiled
// together by the compile stage, executed at full shape, and compared: outputs within their bounds, requests and
// sectors equal to exact counting, no finding. Instructions per pipe may differ, because arithmetic is the compiler's
// to change; the factor between both is recorded.
#include "profiler/simulator/plan_oracle.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "codegen/cuda/cuda.h"
#include "codegen/lower/lower.h"
#include "costmodel/calibration.h"
#include "costmodel/count.h"
#include "costmodel/model.h"
#include "explore/plans/walk.h"
#include "explore/plans/xla_style.h"
#include "profiler/check/simulate.h"
#include "profiler/compile/machine_work.h"
#include "profiler/compile/pool.h"
#include "profiler/kernels.h"
#include "support/group_family.h"
#include "support/kernel_cache.h"
#include "support/paths.h"

namespace tailor::simulator {
namespace {

/// As the oracle of lowering has it: small enough that small shapes meet persistent grids.
constexpr ir::Limits small_limits{90, 2, 32, 256, 512, 4, 65536, 65536, 255, 256, 4, 4, 16384, 8192, 15360, 0, 128, 8};

struct Candidate {
  std::string plan;
  ir::Kernel kernel;
};

std::vector<Candidate> candidates(const ir::Group& group, const explore::SpaceCase& which, int one_in, int most,
                                  PlanOracleRun& run) {
  const auto prepared = codegen::prepare(group);
  if (const ir::Rejection* no = std::get_if<ir::Rejection>(&prepared)) FAIL(no->reason);
  const auto& ready = explore::structure_of(which, std::get<codegen::Prepared>(prepared));
  explore::Axes axes = explore::default_axes(ready, small_limits);
  axes[ir::PlanField::value_cache] = {1, 0};
  axes[ir::PlanField::threads] = {64, 256};
  axes[ir::PlanField::split] = {1, 3, 18};
  axes[ir::PlanField::cluster] = {0, 2, 3};
  axes[ir::PlanField::meet] = {static_cast<int>(ir::Meeting::last), static_cast<int>(ir::Meeting::grid),
                               static_cast<int>(ir::Meeting::kernel)};
  explore::Plans plans(ready, axes, small_limits);
  codegen::LowerScratch scratch;
  std::map<Id, bool> seen;
  std::vector<Candidate> found;
  std::uint64_t number = 0;
  while (const auto plan = plans.next()) {
    if (static_cast<int>(found.size()) >= most) break;
    if ((++number * 0x9e3779b97f4a7c15ULL >> 33) % static_cast<std::uint64_t>(one_in) != 0) continue;
    codegen::Lowered lowered = codegen::lower(ready, *plan, small_limits, scratch);
    if (!std::holds_alternative<ir::Kernel>(lowered)) continue;
    ++run.plans;
    ir::Kernel& kernel = std::get<ir::Kernel>(lowered);
    if (seen.emplace(ir::id_of(kernel), true).second) found.push_back({text(*plan), std::move(kernel)});
  }
  return found;
}

std::string line(std::string_view what, const RequestCounts& seen, std::int64_t requests, std::int64_t sectors,
                 std::int64_t bytes) {
  if (seen == RequestCounts{requests, sectors, bytes}) return {};
  return fmt::format("{}: executed {} requests, {} sectors, {} bytes; counted {}, {}, {}", what, seen.requests,
                     seen.sectors, seen.bytes, requests, sectors, bytes);
}

std::string line(std::string_view what, std::int64_t executed, std::int64_t counted) {
  return executed == counted ? std::string() : fmt::format("{}: executed {}, counted {}", what, executed, counted);
}

/// Whether any statement of any launch is so.
template <class Holds>
bool any_of_program(const ir::Kernel& program, const Holds& holds) {
  const Chain<ir::Kernel> kernels = ir::kernels_of(program);
  return std::any_of(kernels.begin(), kernels.end(), [&](const ir::Kernel& kernel) {
    return std::any_of(kernel.body.begin(), kernel.body.end(),
                       [&](const ir::Stmt& stmt) { return holds(kernel, stmt); });
  });
}

bool is_placed(const ir::Kernel& kernel, ir::ExprId e) {
  for (std::size_t v = 0; e != ir::no_expr && v < kernel.indices.vars.size(); ++v)
    if ((kernel.indices.vars[v].kind == ir::VarKind::data || kernel.indices.vars[v].kind == ir::VarKind::picked) &&
        kernel.indices[e].vars.has(v))
      return true;
  return false;
}

/// What execution and exact counting disagree on; empty when nothing. Executed accesses to what is written in place are
/// those of its memory. Where data decides the place, counting takes it for 0, or for numbers that differ: how it lies
/// to sectors may be otherwise, and which warps a guard that asks for it lets in. How often an exchange is tried, and
/// whether it is, depends on what is there.
std::string difference(const ir::Kernel& kernel, const Simulation& seen, const costmodel::Work& work) {
  const bool looks_up =
      any_of_program(kernel, [](const ir::Kernel&, const ir::Stmt& stmt) { return stmt.kind == ir::StmtKind::bind; });
  const bool guarded = any_of_program(kernel, [](const ir::Kernel& one, const ir::Stmt& stmt) {
    return stmt.kind == ir::StmtKind::guard &&
           std::any_of(stmt.conditions.begin(), stmt.conditions.end(), [&](const ir::Condition& condition) {
             return is_placed(one, condition.a) || is_placed(one, condition.b);
           });
  });
  // Updates of a scatter whose window does not lie inside are dropped; counting has none of these.
  const bool drops = any_of_program(kernel, [](const ir::Kernel& one, const ir::Stmt& stmt) {
    const bool writes = stmt.kind == ir::StmtKind::atomic || stmt.kind == ir::StmtKind::store;
    return writes && stmt.space == ir::Space::global && is_placed(one, stmt.expr) &&
           one.buffers[stmt.memory].role != ir::BufferRole::ticket;
  });
  const bool exchanges =
      any_of_program(kernel, [](const ir::Kernel&, const ir::Stmt& stmt) { return stmt.by_exchange; });
  std::vector<std::string> all;
  for (std::size_t b = 0; b < work.buffers.size(); ++b) {
    const ir::BufferId memory = ir::owner(kernel, static_cast<ir::BufferId>(b));
    const costmodel::BufferWork& counted = work.buffers[b];
    const auto add = [&](std::string_view kind, const RequestCounts& executed, const costmodel::Traffic& c) {
      all.push_back(line(fmt::format("{} of buffer {}", kind, b), executed, guarded ? executed.requests : c.requests,
                         looks_up ? executed.sectors : c.sectors,
                         exchanges && kind == "atomics" ? executed.bytes
                         : drops                        ? std::min(executed.bytes, c.bytes)
                                                        : c.bytes));
    };
    std::size_t place = 0;
    for (ir::BufferId before = 0; before < memory; ++before) place += ir::owner(kernel, before) == before;
    // How often blocks look at what they wait for, nobody can say: each does so once, or again.
    if (kernel.cooperative && kernel.buffers[b].role == ir::BufferRole::ticket) {
      const RequestCounts& looks = seen.buffers[place].load;
      if (looks.requests < counted.load.requests || looks.sectors != looks.requests)
        all.push_back(
            fmt::format("looks at buffer {}: executed {}, counted {}", b, looks.requests, counted.load.requests));
      add("atomics", seen.buffers[place].atomic, counted.atomic);
      continue;
    }
    const bool shares = ir::memory_role(kernel, memory) == ir::BufferRole::in_place;
    costmodel::Traffic loads = counted.load;
    for (std::size_t over = 0; shares && over < work.buffers.size(); ++over)
      if (over != b && ir::owner(kernel, static_cast<ir::BufferId>(over)) == b) {
        loads.requests += work.buffers[over].load.requests;
        loads.bytes += work.buffers[over].load.bytes;
        loads.sectors += work.buffers[over].load.sectors;
      }
    if (!shares || memory == b) add("loads", seen.buffers[place].load, loads);
    if (!shares || memory != b) add("stores", seen.buffers[place].store, counted.store);
    if (!shares || memory != b) add("atomics", seen.buffers[place].atomic, counted.atomic);
  }
  const Counters& c = seen.counters;
  all.push_back(line("shared loads", {c.shared_load_requests, c.shared_load_wavefronts, c.shared_load_bytes},
                     work.shared_load.requests, work.shared_load.wavefronts, work.shared_load.bytes));
  all.push_back(line("shared stores", {c.shared_store_requests, c.shared_store_wavefronts, c.shared_store_bytes},
                     work.shared_store.requests, work.shared_store.wavefronts, work.shared_store.bytes));
  all.push_back(line("shuffles", c.shuffles, work.shuffles));
  all.push_back(line("block barriers", c.block_barriers, work.barriers));
  all.push_back(line("cluster barriers", c.cluster_barriers, work.cluster_barriers));
  all.push_back(line("local requests", c.local_load_requests + c.local_store_requests, 0));
  for (const std::string& one : all)
    if (!one.empty()) return one;
  return {};
}

void record(Factor& factor, std::int64_t executed, std::int64_t counted) {
  if (counted == 0) return;
  factor.ratios.push_back(static_cast<double>(executed) / static_cast<double>(counted));
  factor.executed += static_cast<double>(executed);
  factor.counted += static_cast<double>(counted);
}

/// What the machine code of a kernel executes is found, and the warps that stood for others did so rightly. Programs of
/// which it makes other requests are noted.
std::string machine_difference(const ir::Kernel& kernel, const ir::Binary& binary, const ir::CompiledEntry& entry,
                               const costmodel::Work& work, PlanOracleRun& run) {
  const ir::MachineRequests expected = costmodel::program_requests(work);
  const auto followed = [&](bool every_warp, bool every_trip) {
    return profiler::machine_work(binary, entry, {ir::launch_shape(kernel), &expected, every_warp, every_trip});
  };
  const ir::MachineWork some = followed(false, false);
  if (!some.counted) return some.note;
  if (some.requests != expected) run.moved.push_back(some.note);
  if (ir::total(some.executed) <= 0) return "the machine code executes nothing";
  if (followed(false, true) != some) return "trips of loops that were left out are not like those that were executed";
  const ir::MachineWork all = followed(true, false);
  if (!all.counted) return "of all warps: " + all.note;
  return line("instructions", ir::total(some.executed), ir::total(all.executed));
}

/// Compiles and executes the kernels, at full shape.
void check_candidates(const profiler::Nvrtc& nvrtc, std::string_view of, const ir::Group& group,
                      const std::vector<Candidate>& chosen, PlanOracleRun& run) {
  std::vector<profiler::CompileRequest> requests;
  for (const Candidate& one : chosen) {
    profiler::CompileRequest request;
    request.cuda = codegen::cuda(one.kernel);
    request.entry = one.kernel.name;
    for (const ir::Kernel& follower : one.kernel.followers) request.followers.push_back(follower.name);
    requests.push_back(std::move(request));
  }
  const profiler::CompiledAll compiled = profiler::compile_all(nvrtc, requests, {.cache = &kernels::cache()});
  const profiler::Reference reference = profiler::evaluate_reference(group, 1);
  REQUIRE(reference.reason == "");
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    const std::string label = fmt::format("{}, {}", of, chosen[i].plan);
    const ir::Binary& binary = *compiled.binaries[i];
    if (binary.outcome != ir::CompileOutcome::ok) {
      FAIL_CHECK(fmt::format("{}: {}", label, binary.log));
      continue;
    }
    ++run.programs;
    const profiler::Executor plain = profiler::make_simulator(chosen[i].kernel, binary);
    Simulation seen;
    const profiler::Executor keeping = [&](std::span<const reference::Tensor> inputs,
                                           const SimulationOptions& options) {
      profiler::Executed executed = plain(inputs, options);
      seen = executed.simulation;
      return executed;
    };
    profiler::CheckOptions options;
    options.seed = i + 1;
    const profiler::Checked checked = profiler::check(chosen[i].kernel, reference, keeping, options);
    run.findings += static_cast<int>(checked.findings.size());
    if (checked.state != profiler::Verdict::passed)
      FAIL_CHECK(fmt::format("{}: {}: {}", label, name(checked.state), checked.reason));
    const costmodel::Work program = costmodel::count(chosen[i].kernel, costmodel::Mode::exact);
    const costmodel::Work work = costmodel::together(program);
    if (const std::string found = difference(chosen[i].kernel, seen, work); !found.empty())
      FAIL_CHECK(fmt::format("{}: {}", label, found));
    for (std::size_t k = 0; k < ir::kernels_of(chosen[i].kernel).size(); ++k)
      if (const std::string found = machine_difference(ir::kernels_of(chosen[i].kernel)[k], binary,
                                                       ir::entries_of(binary)[k], costmodel::works_of(program)[k], run);
          !found.empty())
        FAIL_CHECK(fmt::format("{}: machine code of launch {}: {}", label, k, found));
    const Counters& c = seen.counters;
    record(run.pipes[0], c.fma, work.pipes.fma);
    record(run.pipes[1], c.alu, work.pipes.alu + work.pipes.address);
    record(run.pipes[2], c.xu, work.pipes.xu);
    record(run.pipes[3], c.convert, work.pipes.widen + work.pipes.narrow);
  }
}

/// An H200, with XLA's description of it.
const costmodel::CalibratedDevice& h200() {
  static const costmodel::CalibratedDevice device = [] {
    const std::string data = source_folder() + "/data";
    costmodel::CalibratedDevice gpu = costmodel::calibrated(
        ir::find_device("h200", data + "/devices"), ir::read_calibration(data + "/calibrations/uncalibrated.json"));
    gpu.xla = costmodel::xla::find_target("h200", data + "/xla");
    return gpu;
  }();
  return device;
}

}  // namespace

void check_plans(const explore::SpaceCase& which, int one_in, int most_programs, PlanOracleRun& run) {
  const profiler::Nvrtc* nvrtc = kernels::nvrtc_or_skip();
  if (nvrtc == nullptr) return;
  const ir::Group group = ir::make_group(ir::family_member(which.member), which.rows, which.columns);
  check_candidates(*nvrtc, fmt::format("{} {}x{}", which.member, which.rows, which.columns), group,
                   candidates(group, which, one_in, most_programs, run), run);
}

std::string check_xla_plan(const ir::Group& group, PlanOracleRun& run) {
  const profiler::Nvrtc* nvrtc = kernels::nvrtc_or_skip();
  if (nvrtc == nullptr) return "";
  const auto prepared = codegen::prepare(group);
  REQUIRE(std::holds_alternative<codegen::Prepared>(prepared));
  const auto& ready = std::get<codegen::Prepared>(prepared);
  const explore::XlaStyle style = explore::xla_style(ready, h200().limits, *h200().xla);
  if (!style.plan) return "";
  codegen::LowerScratch scratch;
  codegen::Lowered lowered = codegen::lower(ready, *style.plan, h200().limits, scratch);
  if (const auto* no = std::get_if<ir::Rejection>(&lowered)) {
    FAIL_CHECK(fmt::format("{}: {}", ir::text(group.graph), no->reason));
    return "";
  }
  ++run.plans;
  check_candidates(*nvrtc, group.graph.name, group, {{text(*style.plan), std::get<ir::Kernel>(std::move(lowered))}},
                   run);
  return std::string(name(style.form));
}

}  // namespace tailor::simulator
