// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Instructions of machine code by operation and pipe, in the code and as a launch executes them. In: bytes, extents of
// a launch. Out: counts. Called for every binary whose counts somebody asks for.
//
// A launch is cut into boxes of warps that are shown to be alike (cover.h). Where that takes too many runs, because
// ways depend on indices in a form that is not followed, some warps stand for others. Warps whose ways through the code
// are the same are a class. Of a block, warp 0, its neighbour, one in the middle and the last are run; where all but
// the first agree, so do those between them. Else all are run, of more than eight as many as show that they repeat
// (rows of several warps), and where in a row they change. Of a grid, some blocks are run, evenly spread, with both
// ends; between two neighbours that differ, the place where that begins is looked for by halving, with one warp. That
// is right for guards that cut off the end of a grid and for loops over a grid, whose blocks take one turn more or
// less. The requests of the program the code was made from say whether it was: if they come out otherwise, every block
// is run, as long as that takes no more than a moment; else a few more warps are, and where one of these is not like
// what stands for it, nothing is counted. What was found by running stands where it differs from the program: the
// assembler may move a load below a branch, where fewer warps come.
//
// Data. Where a branch depends on what was loaded, all is counted twice: over code that may be left out, and through it
// with every second lane. The program's requests choose between both, or a mixture: of blocks that share a result one
// goes on, which is a share of the warps. Where they cannot tell, because the code in question makes no requests, it is
// taken to be entered.
#include "profiler/compile/machine_work.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <memory>
#include <optional>
#include <tuple>
#include <utility>

#include "base/error.h"
#include "base/indexed.h"
#include "profiler/compile/compile.h"
#include "profiler/compile/cover.h"
#include "profiler/compile/cubin.h"
#include "profiler/compile/machine_flow.h"
#include "profiler/compile/operation.h"
#include "profiler/compile/warp_run.h"

namespace tailor::profiler {

namespace {

constexpr std::size_t patterns = 4096;  ///< of the 12 bits that say what an instruction is

/// The instructions of a code by their 12 bits and pipe, as kinds of which it has a few dozen. Of a name there is one
/// for each pipe: HADD2 also widens.
struct ByKind {
  struct Kind {
    unsigned pattern = 0;
    ir::MachinePipe pipe = ir::MachinePipe::other;
    std::int64_t instructions = 0;
  };
  std::vector<Kind> kinds{};
  std::vector<std::uint16_t> of{};  ///< the kind of each instruction

  ByKind(std::span<const std::byte> code, const std::vector<std::uint32_t>& words, const Operations& operations) {
    std::array<std::uint16_t, patterns> plain{}, widening{};  // numbers of kinds from 1; 0: none
    of.resize(words.size());
    const std::span<const std::uint32_t> from = words;  // what the loop reads and writes is not looked up in each turn
    const std::span<std::uint16_t> to = of;
    for (std::size_t i = 0; i < from.size(); ++i) {
      const unsigned pattern = from[i] & 0xfff;
      std::uint16_t number = plain[pattern];
      if (number == 0 || (pattern & 0x1ff) == bases::half_add) {
        const ir::MachinePipe pipe = pipe_of(instruction_at(code, i), operations);
        std::uint16_t& place = (pipe == ir::MachinePipe::widen ? widening : plain)[pattern];
        if (place == 0) {
          kinds.push_back({pattern, pipe, 0});
          place = static_cast<std::uint16_t>(kinds.size());
        }
        number = place;
      }
      to[i] = static_cast<std::uint16_t>(number - 1);
    }
    // One kind often stands twice in a row, so neighbours are added up apart.
    std::vector<std::int64_t> sums(2 * kinds.size(), 0);
    const std::span<std::int64_t> even(sums.data(), kinds.size()), odd(sums.data() + kinds.size(), kinds.size());
    std::size_t i = 0;
    for (; i + 1 < to.size(); i += 2) {
      ++even[to[i]];
      ++odd[to[i + 1]];
    }
    if (i < to.size()) ++even[to[i]];
    for (std::size_t kind = 0; kind < kinds.size(); ++kind) kinds[kind].instructions = even[kind] + odd[kind];
  }
};

std::string name_of(unsigned pattern, const Operations& operations) {
  const Operation* operation = operations.find(pattern);
  return operation == nullptr ? fmt::format("{:#05x}", pattern) : std::string(operation->name);
}

void add(std::vector<ir::MachineOperation>& rows, const std::string& name, ir::MachinePipe pipe, std::int64_t count) {
  if (count == 0) return;
  const auto at = std::find_if(rows.begin(), rows.end(),
                               [&](const ir::MachineOperation& row) { return row.pipe == pipe && row.name == name; });
  if (at != rows.end())
    at->instructions += count;
  else
    rows.push_back({name, pipe, count, 0});
}

}  // namespace

namespace {

/// One architecture's part of the table, kept from launch to launch: nearly all are for the same one.
const Operations& operations_of(int arch) {
  thread_local Operations kept(arch);
  if (kept.arch != arch) kept = Operations(arch);
  return kept;
}

ir::MachineWork contents_of(const ByKind& code, const Operations& operations) {
  ir::MachineWork made;
  made.arch = fmt::format("sm_{}", operations.arch);
  for (const ByKind::Kind& kind : code.kinds) {
    add(made.operations, name_of(kind.pattern, operations), kind.pipe, kind.instructions);
    row_for(made.instructions, kind.pipe) += kind.instructions;
  }
  std::sort(made.operations.begin(), made.operations.end(), [](const auto& a, const auto& b) {
    return std::tie(b.instructions, a.name, a.pipe) < std::tie(a.instructions, b.name, b.pipe);
  });
  return made;
}

}  // namespace

ir::MachineWork machine_contents(std::span<const std::byte> code, int arch) {
  const Operations& operations = operations_of(arch);
  const MachineFlow flow = read_flow(code, operations, FlowContents::left_out);
  return contents_of(ByKind(code, flow.words, operations), operations);
}

namespace {

using Class = std::size_t;

/// Warps of one kind, and what they do.
struct Classes {
  const ControlCode& code;
  const MachineLaunch& launch;
  Following how;  ///< with what is left of the blocks that may be executed
  WarpScratch& scratch;
  std::vector<WarpCounts> counts{};
  std::int64_t warps_run = 0;
  bool by_block = false, by_warp = false;  ///< of any warp that was run
  std::string refused{};
  std::map<std::pair<std::int64_t, std::uint32_t>, Class> met{};

  /// Of a warp that was met before, what it was.
  Class of(std::int64_t block, std::uint32_t warp) {
    const auto [known, is_new] = met.try_emplace({block, warp}, 0);
    if (is_new) known->second = run(block, warp);
    return known->second;
  }

  Class run(std::int64_t block, std::uint32_t warp) {
    ++warps_run;
    WarpCounts made = run_warp(code, place_of(launch.shape, block, warp), how, scratch);
    how.most_runs -= made.followed;
    if (!made.refused.empty()) refused = made.refused;
    by_block = by_block || made.by_block;
    by_warp = by_warp || made.by_warp;
    for (Class i = 0; i < counts.size(); ++i)
      if (counts[i].runs == made.runs && counts[i].requests == made.requests) return i;
    counts.push_back(std::move(made));
    return counts.size() - 1;
  }
};

constexpr std::int64_t a_moment = 256;         ///< warps that may all be run
constexpr std::int64_t a_while = 8192;         ///< the same where some blocks do not stand for the others
constexpr std::int64_t launch_runs = 400'000;  ///< of blocks of the code, before a launch is given up

Classes classes_of(const ControlCode& code, const MachineLaunch& launch, Unknown unknown, WarpScratch& scratch) {
  return {code, launch, {unknown, launch_runs, launch.every_trip, {}}, scratch};
}

/// The class of each warp of a block.
using BlockKind = std::vector<Class>;

/// Warps of one block, each run once, when it is first asked for.
class WarpsOfBlock {
 public:
  WarpsOfBlock(Classes& classes, std::int64_t block, std::uint32_t warps)
      : classes_(classes), block_(block), kind_(warps), is_run_(warps, false) {}

  Class at(std::uint32_t warp) {
    if (!is_run_[warp]) kind_[warp] = classes_.of(block_, warp);
    is_run_[warp] = true;
    return kind_[warp];
  }
  /// Those between two that are alike are taken to be like them; where two differ, the place where that begins is
  /// looked for by halving.
  void between(std::uint32_t low, std::uint32_t high) {
    const Class below = at(low), above = at(high);
    if (high - low < 2) return;
    std::uint32_t middle = low + (high - low) / 2;
    const auto known = std::find(is_run_.begin() + low + 1, is_run_.begin() + high, true);
    if (known != is_run_.begin() + high)
      middle = static_cast<std::uint32_t>(known - is_run_.begin());
    else if (below == above)
      return std::fill(kind_.begin() + low, kind_.begin() + high, below);
    between(low, middle);
    between(middle, high);
  }
  /// Whether warps from `period` on are like those before, as far as some of them show.
  bool repeats(std::uint32_t period) {
    const auto warps = static_cast<std::uint32_t>(kind_.size());
    const std::array shown = {period, period + 1, warps / 2, warps / 2 + period / 2, warps - 1};
    return std::all_of(shown.begin(), shown.end(), [&](std::uint32_t one) { return at(one) == kind_[one % period]; });
  }
  BlockKind repeated(std::uint32_t period) && {
    for (std::size_t warp = period; warp < kind_.size(); ++warp) kind_[warp] = kind_[warp % period];
    return std::move(kind_);
  }

 private:
  Classes& classes_;
  std::int64_t block_;
  BlockKind kind_;
  std::vector<bool> is_run_;
};

/// Every warp is run, or as many as show that the others are like them. Rows of several warps repeat, and within a row
/// warps are alike up to where it ends.
BlockKind kind_of(Classes& classes, std::int64_t block, std::uint32_t warps, bool every_warp) {
  WarpsOfBlock all(classes, block, warps);
  const Class first = all.at(0);
  if (!every_warp && (warps == 1 || !classes.by_warp)) return BlockKind(warps, first);
  constexpr std::uint32_t few = 4, several = 8;
  const std::uint32_t last = warps - 1;
  const bool alike = !every_warp && warps > few && all.at(1) == all.at(warps / 2) && all.at(1) == all.at(last);
  for (std::uint32_t period = 2; !every_warp && !alike && warps > several && 2 * period <= warps; period *= 2) {
    all.between(1, period - 1);
    if (all.repeats(period)) return std::move(all).repeated(period);
  }
  if (alike || (!every_warp && warps > several)) {
    all.between(1, last);
    return std::move(all).repeated(warps);
  }
  for (std::uint32_t warp = 1; warp < warps; ++warp) all.at(warp);
  return std::move(all).repeated(warps);
}

/// The same for a block whose warps are apart where those of two other blocks are: of each run of classes there, one
/// warp is run, and the last warp of the block. Where that one is not like its own, every warp is.
BlockKind kind_like(Classes& classes, std::int64_t block, const BlockKind& one, const BlockKind& other) {
  std::map<std::pair<Class, Class>, Class> found;
  BlockKind kind(one.size());
  for (std::size_t warp = 0; warp < kind.size(); ++warp) {
    const auto [known, is_new] = found.try_emplace({one[warp], other[warp]}, 0);
    const bool is_last = warp + 1 == kind.size();
    if (is_new || is_last) kind[warp] = classes.of(block, static_cast<std::uint32_t>(warp));
    if (is_last && !is_new && kind[warp] != known->second)
      return kind_of(classes, block, static_cast<std::uint32_t>(kind.size()), false);
    if (is_new) known->second = kind[warp];
    kind[warp] = known->second;
  }
  return kind;
}

struct Blocks {
  std::int64_t number = 0;
  BlockKind kind;
};

/// What all warps of a launch do, under one assumption about data.
struct LaunchSum {
  std::vector<Blocks> known;  ///< ascending; each stands for those up to the next one
  IndexedVector<std::int64_t> runs;
  ir::MachineRequests requests;
  std::vector<int> assumed;
  std::int64_t busiest_block = 0;
  bool whole = false;  ///< no block stands for others that may differ
  std::string refused;
};

/// The first block behind `below` in which a warp that is not the same in both is as in `above`, or as in neither: by
/// halving, with that warp alone.
std::int64_t change_between(Classes& classes, const Blocks& below, const Blocks& above) {
  const auto warp = static_cast<std::uint32_t>(
      std::mismatch(below.kind.begin(), below.kind.end(), above.kind.begin()).first - below.kind.begin());
  std::int64_t low = below.number, high = above.number;
  while (high - low > 1) {
    const std::int64_t middle = low + (high - low) / 2;
    (classes.of(middle, warp) == below.kind[warp] ? low : high) = middle;
  }
  return std::min(high, above.number - 1);
}

/// Blocks from which the others follow: the kind of each holds up to the next one.
std::vector<Blocks> representatives(Classes& classes, bool every) {
  constexpr std::int64_t probes = 6, most = 400;
  const std::int64_t blocks = blocks_of(classes.launch.shape);
  const auto warps = static_cast<std::uint32_t>(warps_of(classes.launch.shape));
  std::vector<Blocks> known;
  const auto look = [&](std::int64_t block) { return Blocks{block, kind_of(classes, block, warps, every)}; };
  if (every) {
    for (std::int64_t i = 0; i < blocks && classes.refused.empty(); ++i) known.push_back(look(i));
    return known;
  }
  known.push_back(look(0));
  if (!classes.by_block || blocks == 1) return known;
  const auto like = [&](std::int64_t block, const BlockKind& one, const BlockKind& other) {
    return Blocks{block, kind_like(classes, block, one, other)};
  };
  const BlockKind first = known.front().kind;
  if (blocks <= probes) {
    for (std::int64_t i = 1; i < blocks && classes.refused.empty(); ++i) known.push_back(look(i));
    return known;
  }
  std::vector<Blocks> open{like(blocks - 1, first, first)};  // descending
  for (std::int64_t i = probes - 2; i > 0; --i) {
    const std::int64_t block = i * (blocks - 1) / (probes - 1);
    open.push_back(like(block, first, open.front().kind));
  }
  while (!open.empty() && classes.refused.empty()) {
    const Blocks &below = known.back(), &above = open.back();
    if (below.kind != above.kind && above.number - below.number > 1 && std::ssize(known) < most) {
      const std::int64_t block = change_between(classes, below, above);
      const BlockKind behind = above.kind;  // which moves as `open` grows
      open.push_back(like(block, below.kind, behind));
      if (block > below.number + 1) open.push_back(like(block - 1, below.kind, behind));
      continue;
    }
    known.push_back(std::move(open.back()));
    open.pop_back();
  }
  return known;
}

std::int64_t instructions_of(const MachineFlow& flow, const WarpCounts& counts) {
  std::int64_t sum = 0;
  for (int i = 0; i < std::ssize(flow.blocks); ++i) sum += counts.runs[i] * (flow.blocks[i].end - flow.blocks[i].first);
  return sum;
}

void sort_and_unique(std::vector<int>& numbers) {
  std::sort(numbers.begin(), numbers.end());
  numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
}

void add_warps(LaunchSum& sum, const WarpCounts& counts, std::int64_t times) {
  for (int block = 0; block < std::ssize(sum.runs); ++block) sum.runs[block] += counts.runs[block] * times;
  sum.requests += counts.requests * times;
  sum.assumed.insert(sum.assumed.end(), counts.assumed.begin(), counts.assumed.end());
}

/// Of a launch that few runs show to be made of boxes of warps that are alike; nothing of another one.
std::optional<LaunchSum> sum_of_boxes(Classes& classes) {
  const Cover all = cover(classes.code, classes.launch.shape, classes.how, a_moment, classes.scratch);
  classes.warps_run += all.warps_run;
  if (!all.whole) return {};
  LaunchSum sum;
  sum.runs.assign(classes.code.flow->blocks.size(), 0);
  for (const auto& [box, counts] : all.parts) {
    add_warps(sum, counts, box.blocks * box.groups * box.warps);
    std::int64_t instructions = 0;  // of the first block of this part
    for (const auto& [other, of_other] : all.parts)
      if (box.block >= other.block && box.block < other.block + other.blocks)
        instructions += instructions_of(*classes.code.flow, of_other) * other.groups * other.warps;
    sum.busiest_block = std::max(sum.busiest_block, instructions);
  }
  sum.whole = true;
  return sum;
}

LaunchSum sum_of(Classes& classes, bool every) {
  const MachineFlow& flow = *classes.code.flow;
  const std::int64_t blocks = blocks_of(classes.launch.shape);
  LaunchSum sum;
  if (!every) {
    std::optional<LaunchSum> boxes = sum_of_boxes(classes);
    if (boxes) {
      sort_and_unique(boxes->assumed);
      return std::move(*boxes);
    }
  }
  sum.runs.assign(flow.blocks.size(), 0);
  sum.known = representatives(classes, every);
  const std::vector<Blocks>& known = sum.known;
  std::vector<std::int64_t> times(classes.counts.size(), 0);
  for (std::size_t i = 0; i < known.size(); ++i) {
    const std::int64_t until = i + 1 < known.size() ? known[i + 1].number : blocks;
    std::int64_t instructions = 0;
    for (const Class one : known[i].kind) {
      times[one] += until - known[i].number;
      instructions += instructions_of(flow, classes.counts[one]);
    }
    sum.busiest_block = std::max(sum.busiest_block, instructions);
  }
  for (Class i = 0; i < times.size(); ++i) add_warps(sum, classes.counts[i], times[i]);
  sort_and_unique(sum.assumed);
  sum.whole = every || !classes.by_block || std::ssize(known) == blocks;
  sum.refused = classes.refused;
  return sum;
}

/// The share of `entered` in a mixture with `skipped` that makes as many requests as expected, of the kind in which
/// they differ most; below 0: none does.
double share_of(const LaunchSum& skipped, const LaunchSum& entered, const ir::MachineRequests& expected) {
  double most = 0, share = -1;
  for (const ir::RequestKind& kind : ir::request_kinds()) {
    const auto skip = static_cast<double>(skipped.requests.*kind.count);
    const auto enter = static_cast<double>(entered.requests.*kind.count);
    if (std::abs(enter - skip) <= most) continue;
    most = std::abs(enter - skip);
    share = (static_cast<double>(expected.*kind.count) - skip) / (enter - skip);
  }
  return share <= 1 ? share : -1;
}

/// "it makes 11 global_loads where the program has 12"; empty where they are the same.
std::string difference(const ir::MachineRequests& found, const ir::MachineRequests& expected) {
  for (const ir::RequestKind& kind : ir::request_kinds())
    if (found.*kind.count != expected.*kind.count)
      return fmt::format("it makes {} {} where the program has {}", found.*kind.count, kind.name, expected.*kind.count);
  return "";
}

/// Executed instructions by block as those by operation.
void put_executed(ir::MachineWork& made, const ByKind& code, const Operations& operations, const MachineFlow& flow,
                  const IndexedVector<std::int64_t>& runs) {
  std::vector<std::int64_t> sums(code.kinds.size(), 0);
  const std::span<std::int64_t> counts = sums;
  for (int b = 0; b < std::ssize(flow.blocks); ++b) {
    const CodeBlock& block = flow.blocks[b];
    if (const std::int64_t times = runs[b]; times != 0)
      for (const std::uint16_t kind : std::span(code.of).subspan(static_cast<std::size_t>(block.first),
                                                                 static_cast<std::size_t>(block.end - block.first)))
        counts[kind] += times;
  }
  for (std::size_t i = 0; i < counts.size(); ++i) {
    const ByKind::Kind& kind = code.kinds[i];
    const std::string name = name_of(kind.pattern, operations);
    for (ir::MachineOperation& row : made.operations)
      if (row.pipe == kind.pipe && row.name == name) row.executed += counts[i];
    row_for(made.executed, kind.pipe) += counts[i];
  }
}

LaunchSum mixed(const LaunchSum& skipped, const LaunchSum& entered, double share) {
  LaunchSum sum = entered;
  const auto mix = [&](std::int64_t a, std::int64_t b) { return a + std::llround(share * static_cast<double>(b - a)); };
  for (int i = 0; i < std::ssize(sum.runs); ++i) sum.runs[i] = mix(skipped.runs[i], entered.runs[i]);
  for (const ir::RequestKind& kind : ir::request_kinds())
    sum.requests.*kind.count = mix(skipped.requests.*kind.count, entered.requests.*kind.count);
  return sum;
}

void append(std::string& note, const std::string& words) {
  if (!words.empty()) note += (note.empty() ? "" : "; ") + words;
}

/// What is to be believed of both assumptions about data, and says in `note` what was assumed.
LaunchSum decided(const LaunchSum& skipped, const LaunchSum& entered, const ir::MachineRequests* expected,
                  std::string& note) {
  const std::size_t places = std::max(skipped.assumed.size(), entered.assumed.size());
  if (places == 0) return entered;
  note = fmt::format("data decides at {} place{} of the code: ", places, places == 1 ? "" : "s");
  const bool matches = expected == nullptr || entered.requests == *expected;
  const double share = matches ? -1 : share_of(skipped, entered, *expected);
  if (share < 0) {
    note += "both ways are taken";
    return entered;
  }
  note += fmt::format("entered in {:.3g} % of cases, by the program's requests", 100 * share);
  return mixed(skipped, entered, share);
}

/// Whether warps that were not run are like those that stand for them: some, far from each other, are run to see.
bool stands_for_all(Classes& classes, const std::vector<Blocks>& known) {
  const std::int64_t blocks = blocks_of(classes.launch.shape);
  constexpr std::int64_t looks = 24;
  std::uint64_t place = 0;
  const auto drawn = [&](std::size_t below) {
    place = place * 6364136223846793005u + 1442695040888963407u;  // Knuth's linear congruential generator (MMIX)
    return (place >> 33) % below;
  };
  for (std::int64_t i = 0; i < looks && classes.refused.empty(); ++i) {
    const auto block = static_cast<std::int64_t>(drawn(static_cast<std::size_t>(blocks)));
    const auto after = std::upper_bound(known.begin(), known.end(), block,
                                        [](std::int64_t at, const Blocks& one) { return at < one.number; });
    const BlockKind& kind = std::prev(after)->kind;
    const std::size_t warp = drawn(kind.size());
    if (classes.of(block, static_cast<std::uint32_t>(warp)) != kind[warp]) return false;
  }
  return true;
}

}  // namespace

ir::MachineWork machine_work(std::span<const std::byte> code, int arch, const MachineLaunch& launch) {
  const Operations& operations = operations_of(arch);
  const MachineFlow flow = read_flow(code, operations, FlowContents::left_out);
  const ByKind kinds(code, flow.words, operations);
  ir::MachineWork made = contents_of(kinds, operations);
  const ControlCode control = control_code(code, operations, flow);
  made.warps_total = blocks_of(launch.shape) * warps_of(launch.shape);
  const auto scratch = std::make_unique_for_overwrite<WarpScratch>();
  bool every = launch.every_warp;
  while (true) {
    Classes skipping = classes_of(control, launch, Unknown::skip, *scratch);
    const LaunchSum skipped = sum_of(skipping, every);
    const bool depends = !skipped.assumed.empty();
    Classes entering = classes_of(control, launch, Unknown::enter, *scratch);
    const LaunchSum entered = depends ? sum_of(entering, every) : skipped;
    Classes& classes = depends ? entering : skipping;
    made.warps_run = std::max(skipping.warps_run, entering.warps_run);  // both ways of a warp are one
    made.note = skipped.refused.empty() ? entered.refused : skipped.refused;
    if (!made.note.empty()) return made;
    const LaunchSum sum = decided(skipped, entered, launch.expected, made.note);
    const std::string differs = launch.expected == nullptr ? "" : difference(sum.requests, *launch.expected);
    if (!differs.empty() && !every && !sum.whole) {
      every = made.warps_total <= a_while;
      if (every) continue;
      const std::int64_t before = classes.warps_run;
      const bool stands = stands_for_all(classes, entered.known);
      made.warps_run += classes.warps_run - before;
      if (!stands) {
        made.note = "its blocks go more ways than some of them show";
        return made;
      }
    }
    append(made.note, differs);
    made.counted = true;
    made.assumed = std::ssize(entered.assumed);
    made.requests = sum.requests;
    made.busiest_block = sum.busiest_block;
    put_executed(made, kinds, operations, flow, sum.runs);
    return made;
  }
}

ir::MachineWork machine_work(const ir::Binary& binary, const MachineLaunch& launch) {
  return machine_work(binary, binary, launch);
}

ir::MachineWork machine_work(const ir::Binary& binary, const ir::CompiledEntry& entry, const MachineLaunch& launch) {
  const int arch = arch_number(binary.arch);
  const std::vector<CubinKernel> kernels = read_cubin(binary.cubin);
  const auto kernel =
      std::find_if(kernels.begin(), kernels.end(), [&](const CubinKernel& one) { return one.name == entry.entry; });
  ir::MachineWork none;
  none.arch = binary.arch;
  if (kernel == kernels.end())
    none.note = fmt::format("the machine code has no kernel {}", entry.entry);
  else if (arch < first_decoded_arch)
    none.note =
        fmt::format("machine code of {} is encoded otherwise than from sm_{} on", binary.arch, first_decoded_arch);
  else
    return machine_work(kernel->code, arch, launch);
  return none;
}

}  // namespace tailor::profiler
