// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The stages of the one pipeline: choose, lower, add a shape, print, compile, check, measure, estimate. Candidates come
// in, the same candidates with more known of them go out; nothing is stored (recorder.h) and nothing is said but
// through the observer. Each stage is the only place that asks the right arm for its part. A sweep runs all of them
// over every group of its models; the commands run the few that they need.
//
// What a plan lowers to is kept: choosing lowers each plan of the space once, and a plan that comes out of a database
// is lowered once by lower().
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "costmodel/model.h"
#include "explore/plans/tune.h"
#include "profiler/check/check_pool.h"
#include "profiler/compile/pool.h"
#include "profiler/measure/measure.h"
#include "study/pipeline/candidate.h"
#include "study/pipeline/observer.h"

namespace tailor::study {

/// How plans of a group are chosen.
struct Choosing {
  const costmodel::Model* model = nullptr;
  std::vector<explore::AxisLimit> limits = {};  ///< restrictions of the default axes
  std::optional<std::int64_t> max_plans = {};   ///< score at most so many of the space
  bool heuristics = true;                       ///< apply heuristic rules, not only sound ones
  std::int64_t keep = 4;                        ///< different kernels; explore::keep_all: every one
  bool short_list = false;                      ///< `keep` differ in more than blocks; the usual one is among them
  bool with_xla = false;                        ///< the kernel that XLA would write is marked, or comes last
  std::int64_t random = 0;                      ///< further ones, drawn from the rest of the ranking: see below
  std::uint64_t seed = 1;                       ///< of the draw
};

/// The space of a group on a device as it was searched, and its best as candidates: `tuned.best` has moved into them.
struct Choice {
  explore::Tuned tuned;
  std::vector<Candidate> candidates;
};

/// Searches the plan space. Precondition: the group is ready. Pure; may run in several threads. The best cannot tell
/// whether the model ranks: `random` plans more come from as many equal stretches of the ranking behind them, one of
/// each.
Choice choose(const PreparedGroup& group, const Target& on, const Choosing& how, std::stop_token stop);

/// The plan that `text` spells, lowered and estimated, or why it is not legal. Throws Error(usage) for text that is no
/// plan.
std::variant<Candidate, ir::Rejection> written_plan(const PreparedGroup& group, const Target& on, const Choosing& how,
                                                    const std::string& text);
/// The same for a command that needs it; "xla" is the one that XLA would write (xla_beside.h), with its
/// errors. Throws Error(failed) for a plan that is not legal, with the reason.
Candidate named_plan(const PreparedGroup& group, const Target& on, const Choosing& how, const std::string& text);
/// What the model says of any plan of the group, lowered and counted as the search does; nothing where it is not legal.
std::optional<Seconds> price_of(const PreparedGroup& group, const Target& on, const costmodel::Model& model,
                                const ir::Plan& plan);

/// Why lists lack the plan of a group, and what lists it: a heuristic, or a value that axes have only when it is named.
/// Empty where nothing does, where `listed`, a plan of a list, shows that it gave way, and for plans of several bodies,
/// whose lists are those of the bodies.
std::string left_out(const PreparedGroup& group, const Target& on, const ir::Plan& plan, const ir::Plan& listed);

/// Lowers and counts those that are not; returns how many that were. Precondition: the plans were legal once.
std::int64_t lower(std::span<Candidate> candidates);

/// Adds the other shape that a stage wants, or says in `other_is` why there is none.
enum class ShapeKind : std::uint8_t {
  small,  ///< few rows, so that executing takes little; in the kernel's place
  odd,    ///< rows that divide by nothing; checked beside the kernel
};
void add_shapes(std::span<Candidate> candidates, ShapeKind kind);

/// Prints what has no text yet.
void print(std::span<Candidate> candidates);

/// Which shapes of a candidate a stage is about.
enum class Shapes : std::uint8_t {
  own,
  both,
  executed,  ///< what a check executes: the other shape where there is one, else the own
};

/// How texts are compiled.
struct Compiling {
  const profiler::Nvrtc* api = nullptr;
  std::string arch = {};    ///< empty: that of each candidate's device, or the nearest that the compiler knows
  bool for_device = false;  ///< what is run on the device itself is compiled for its own architecture or for none
  std::filesystem::path cache = {};       ///< folder of compiled kernels; empty: none is kept
  profiler::CompilerSetup compiler = {};  ///< without a command nothing ends a compile that takes long
  int workers = 0;                        ///< threads; 0: one per processor
  Shapes shapes = Shapes::both;
  std::int64_t done = 0, total = 0;  ///< of a longer work that this is a part of, for progress; 0: it is the whole
};
/// Texts as they are, in their order; empty where stopped.
profiler::CompiledAll compile_texts(std::span<const profiler::CompileRequest> requests, const Compiling& how,
                                    const Watch& watch);
/// Why a binary does not let as many blocks be resident on an SM as its kernel demands, with the figures; nothing where
/// it does, where the kernel demands none, and of text that did not compile.
std::optional<ir::Rejection> too_few_residents(const ir::Kernel& kernel, const ir::Binary& binary,
                                               const ir::Limits& limits);

/// Fills the binaries that are missing, and refuses candidates whose binaries do not let enough blocks be resident.
profiler::CompileAccount compile(std::span<Candidate> candidates, const Compiling& how, const Watch& watch);

/// How many plans of each group are to be chosen so that the `top` best of `considered` may be kept; top 0 is all.
std::int64_t plans_to_consider(std::int64_t considered, std::int64_t top);
/// Where these are more than `top`: compiles, and of the first `considered` plans of each group, by the model that
/// chose them, the `top` best by their machine code stay, in the order they had; so do plans that were drawn or named.
/// A group of which nothing compiled keeps its first. Throws Error(interrupted) when asked to stop.
void keep_best_compiled(std::vector<Candidate>& candidates, std::int64_t considered, std::int64_t top,
                        const Compiling& how, const Watch& watch);

/// How kernels are executed. `executor` is the simulator, or a stand-in of the tests.
struct Checking {
  profiler::CheckOptions each = {};
  int seeds = 1;  ///< executions of each kernel
  /// By number of a group, what its kernels are checked on; null, and groups that are not there: inputs are drawn.
  const std::map<std::size_t, profiler::GivenArrays>* given = nullptr;
  std::int64_t memory = 0;  ///< bytes that checks may hold; 0: the default, see profiler::CheckStage
  int workers = 0;          ///< threads; 0: one per processor
  std::function<profiler::Executor(const ir::Kernel&, const ir::Binary&)> executor = {};  ///< empty: the simulator
  std::int64_t done = 0, total = 0;                                                       ///< as of Compiling
  std::mutex* reading = nullptr;  ///< held while a verdict is put into its candidate: for who reads them meanwhile
};
/// Executes what compiled, at the other shape where there is one, and fills the verdicts; a candidate whose kernel is
/// wrong is out of the climb.
profiler::CheckAccount check(std::span<Candidate> candidates, const Checking& how, const Watch& watch);
/// Compiles and executes candidates, as many groups at a time as have `at_once` of them; `finished` is told of each
/// part, also of one that was stopped half-way, so that nothing is lost when the rest is not reached. Candidates of a
/// group stand next to one another. Stops where it is asked to.
profiler::CheckAccount check_in_parts(std::span<Candidate> candidates, Compiling compiling, Checking checking,
                                      const std::function<void(std::span<Candidate>)>& finished, const Watch& watch,
                                      std::size_t at_once = 16);

/// Measures the plans of one group: profiler::measure_group on a worker, or replayed_group.
using MeasureGroup =
    std::function<profiler::MeasuredGroup(std::span<const profiler::MeasureRequest>, const profiler::MeasureOptions&)>;

/// Candidates of one group, next to one another, with how their race went.
struct RacedGroup {
  std::size_t first = 0, count = 0;         ///< of the candidates
  std::vector<profiler::Ranking> rankings;  ///< orders are numbers from `first` on
  std::string unjudged;
  profiler::LaunchFloor floor;
};

/// Who measures, and how. Records know a kernel by its program, a GPU needs the machine code.
struct Measuring {
  MeasureGroup by;
  bool needs_binary = true;  ///< candidates that did not compile are left out
  profiler::MeasureOptions how;
};
/// Measures group by group; `finished` is told of each, so that nothing is lost when the rest is not reached. Stops
/// where `how.stop` asks to.
std::vector<RacedGroup> measure(std::span<Candidate> candidates, const Measuring& how,
                                const std::function<void(const RacedGroup&)>& finished);

/// What a level says that a time of a regime should be. Nothing where the level lacks what it looks at: a candidate
/// that is not lowered, that did not compile, whose counters are not there or are another shape's; and for level
/// profiled.
std::optional<ir::Estimate> predict(const Candidate& candidate, ir::Level level, const ir::Regime& regime);
/// The total that the model which ranked the candidate predicts for a time under a protocol: what stands beside that
/// time wherever it is shown. Nothing where no model did.
std::optional<Seconds> predicted_for(const Candidate& candidate, const ir::Protocol& protocol);

/// What level `compiled` or `counted` says, of candidates whose binaries or counters are there; in the place of what
/// it said before.
void estimate(std::span<Candidate> candidates, ir::Level level);

/// The folder where compiled kernels are kept unless somebody says otherwise; empty without a home.
std::filesystem::path default_cache_folder();

}  // namespace tailor::study
