// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Changing single instructions of a kernel's PTX and running what is left. In: a kernel. Out: counts in a Score. Called
// through mutation.h.
//
// A change is a text edit of one line that holds an instruction; which edits fit is read off its opcode and operands. A
// changed kernel is run on the inputs of two seeds as the check of XLA's kernels runs it. One that is not seen is run
// once more with a trap in the instruction's place, guard and all: where nothing traps, no lane ever came there.
#include "profiler/xla/mutation.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <random>
#include <variant>

#include "base/error.h"
#include "base/text.h"
#include "profiler/check/simulated_launch.h"
#include "profiler/xla/xla_case.h"

namespace mutation {

using namespace tailor;
using namespace tailor::profiler;

namespace {

/// A line of PTX that holds an instruction: "  @%p1 add.s32 %r1, %r2, 3;".
struct Line {
  std::string indent, guard, opcode;
  std::vector<std::string> operands;
  std::string text(const std::string& op, const std::vector<std::string>& ops) const {
    return fmt::format("{}{}{} {};", indent, guard, op, fmt::join(ops, ", "));
  }
};

/// Operands are split at commas outside brackets and braces. false: no instruction of one line.
bool read_line(std::string_view raw, Line& line) {
  const std::size_t first = raw.find_first_not_of(" \t"), end = raw.find(';');
  if (first == raw.npos || end == raw.npos) return false;
  std::string_view rest = raw.substr(first, end - first);
  line.indent = raw.substr(0, first);
  if (rest.starts_with("@")) {
    const std::size_t blank = rest.find_first_of(" \t");
    if (blank == rest.npos) return false;
    line.guard = std::string(rest.substr(0, blank)) + " ";
    rest = trim(rest.substr(blank));
  }
  const std::size_t blank = rest.find_first_of(" \t");
  line.opcode = rest.substr(0, blank);
  if (line.opcode.empty() || line.opcode.front() < 'a' || line.opcode.front() > 'z') return false;
  if (line.opcode.find(':') == line.opcode.size() - 1) return false;
  int depth = 0;
  std::string one;
  for (const char c : blank == rest.npos ? std::string_view() : rest.substr(blank)) {
    depth += c == '[' || c == '{' || c == '(' ? 1 : c == ']' || c == '}' || c == ')' ? -1 : 0;
    if (c == ',' && depth == 0) {
      line.operands.emplace_back(trim(one));
      one.clear();
    } else {
      one += c;
    }
  }
  if (!trim(one).empty()) line.operands.emplace_back(trim(one));
  return true;
}

/// Parts of opcodes that are put for one another.
constexpr auto swaps = std::to_array<std::pair<std::string_view, std::string_view>>({{"add", "sub"},
                                                                                     {"sub", "add"},
                                                                                     {"mul", "add"},
                                                                                     {"fma", "fma"},
                                                                                     {"min", "max"},
                                                                                     {"max", "min"},
                                                                                     {"and", "or"},
                                                                                     {"or", "and"},
                                                                                     {"xor", "or"},
                                                                                     {"shl", "shr"},
                                                                                     {"lt", "ge"},
                                                                                     {"le", "gt"},
                                                                                     {"gt", "le"},
                                                                                     {"ge", "lt"},
                                                                                     {"eq", "ne"},
                                                                                     {"ne", "eq"},
                                                                                     {"down", "up"},
                                                                                     {"bfly", "down"}});

std::string swapped(const std::string& opcode) {
  std::vector<std::string> parts;
  for (const std::string_view part : split(opcode, '.')) parts.emplace_back(part);
  for (std::string& part : parts)
    for (const auto& [from, to] : swaps) {
      if (part != from || from == to) continue;
      part = to;
      // A product has a part that a sum has not, and shifts to the right have a sign.
      std::erase_if(parts, [](const std::string& each) { return each == "lo" || each == "wide"; });
      if (to == "shr" && parts.back() == "b32") parts.back() = "u32";
      if (to == "shr" && parts.back() == "b64") parts.back() = "u64";
      return fmt::format("{}", fmt::join(parts, "."));
    }
  return {};
}

struct Change {
  std::string what, line;
};

std::vector<Change> changes_of(const Line& line) {
  std::vector<Change> all;
  const std::string_view op = std::string_view(line.opcode).substr(0, line.opcode.find('.'));
  static constexpr std::string_view kept[] = {"bra", "ret", "exit", "cvta", "call", "bar", "brx"};
  const bool structural = std::find(std::begin(kept), std::end(kept), op) != std::end(kept);
  const bool reads_parameter = line.opcode.starts_with("ld.param");
  if (!line.guard.empty())
    all.push_back(
        {"guard turned round", fmt::format("{}@{}{} {};", line.indent,
                                           line.guard[1] == '!' ? line.guard.substr(2) : "!" + line.guard.substr(1),
                                           line.opcode, fmt::join(line.operands, ", "))});
  if (op == "bar") all.push_back({"left out", line.indent});
  if (structural || reads_parameter) return all;
  if (const std::string other = swapped(line.opcode); !other.empty())
    all.push_back({line.opcode + " to " + other, line.text(other, line.operands)});
  all.push_back({"left out", line.indent});
  for (std::size_t k = 1; k < line.operands.size(); ++k) {
    std::vector<std::string> with = line.operands;
    const std::string& one = line.operands[k];
    const bool digits =
        !one.empty() && std::all_of(one.begin(), one.end(), [](char c) { return c >= '0' && c <= '9'; });
    if (digits) {
      with[k] = std::to_string(std::stoll(one) + 1);
      all.push_back({"constant and one more", line.text(line.opcode, with)});
    }
    if (k + 1 < line.operands.size() && one.starts_with("%") && line.operands[k + 1].starts_with("%") &&
        one != line.operands[k + 1]) {
      with = line.operands;
      with[k] = line.operands[k + 1];
      all.push_back({"one operand for another", line.text(line.opcode, with)});
    }
  }
  for (std::size_t k = 0; k < line.operands.size(); ++k) {
    const std::string& one = line.operands[k];
    if (!one.starts_with("[%") || !one.ends_with("]")) continue;
    std::vector<std::string> with = line.operands;
    const std::size_t plus = one.find('+');
    const std::int64_t offset = plus == one.npos ? 0 : std::strtoll(one.c_str() + plus + 1, nullptr, 10);
    with[k] = fmt::format("{}+{}]", one.substr(0, plus == one.npos ? one.size() - 1 : plus), offset + 16);
    all.push_back({"16 bytes further", line.text(line.opcode, with)});
  }
  return all;
}

struct Ran {
  XlaOutcome outcome = XlaOutcome::cannot_simulate;
  bool traps = false;
  bool runs = true;  ///< it is PTX still
  std::vector<std::vector<std::byte>> results;
  std::int64_t judged = 0, unjudged = 0;
};

/// `right`: what the kernel itself leaves; the same bits need no comparison with the reference.
Ran run_text(const XlaKernel& kernel, XlaCase& one, const std::string& ptx, const Ran* right = nullptr) {
  Ran ran;
  try {
    one.ptx = simulator::parse_ptx(ptx, kernel.entry);
    const simulator::Program program(one.ptx, simulator::entry_of(one.ptx, kernel.entry));
    if (!program.unsupported().empty()) {
      ran.runs = false;
      return ran;
    }
    simulator::Memory memory;
    for (std::size_t i = 0; i < one.memory.size(); ++i) {
      const XlaMemory& each = one.memory[i];
      fill(one, i, memory.bytes(memory.add(each.name, (each.bytes + 15) / 16 * 16, each.width, buffer_use(each.role))));
    }
    simulator::Launch launch = simulated_launch(kernel.launch);
    for (const int at : one.memory_of) launch.arguments.push_back({at, 0, {}});
    simulator::SimulationOptions options;
    options.warp_instructions = 2'000'000;
    const simulator::Simulation simulation = simulate(program, launch, memory, options);
    for (const simulator::Finding& found : simulation.findings)
      ran.traps = ran.traps || found.kind == simulator::FindingKind::trap;
    if (simulation.outcome != simulator::SimulationOutcome::finished) return ran;
    std::vector<std::span<const std::byte>> left;
    for (std::size_t i = 0; i < one.memory.size(); ++i) left.push_back(memory.bytes(static_cast<int>(i)));
    for (std::size_t k = static_cast<std::size_t>(one.operands); k < one.arguments.size(); ++k) {
      const auto bytes = left[static_cast<std::size_t>(one.memory_of[k])];
      ran.results.emplace_back(bytes.begin(), bytes.end());
    }
    const bool found = first_error(simulation.findings) != nullptr;
    if (right != nullptr && (found || ran.results == right->results)) {
      ran.outcome = found ? XlaOutcome::findings : right->outcome;
      ran.unjudged = right->unjudged;
      return ran;
    }
    const XlaVerdict verdict = judge(one, left);
    ran.outcome = found ? XlaOutcome::findings : verdict.outcome;
    ran.judged = verdict.results;
    ran.unjudged = verdict.unjudged;
  } catch (const Error&) {
    ran.runs = false;
  }
  return ran;
}

struct Candidate {
  std::size_t line;
  std::string guard;
  Change change;
};

std::string replaced(std::vector<std::string> lines, std::size_t at, const std::string& by) {
  lines[at] = by;
  return fmt::format("{}", fmt::join(lines, "\n"));
}

}  // namespace

void try_mutants(Score& score, const XlaModule& module, const XlaKernel& kernel, int most, std::int64_t most_elements,
                 std::uint64_t seed) {
  constexpr int input_seeds = 2;
  std::vector<XlaCase> cases;
  std::vector<Ran> right;
  for (int k = 1; k <= input_seeds; ++k) {
    auto made = xla_case(module, kernel, static_cast<std::uint64_t>(k), most_elements);
    if (std::holds_alternative<XlaRefusal>(made)) return;
    cases.push_back(std::move(std::get<XlaCase>(made)));
    if (!cases.back().unjudged.empty()) return;
    right.push_back(run_text(kernel, cases.back(), *cases.back().ptx.text));
    if (right.back().outcome != XlaOutcome::matched || 10 * right.back().unjudged > right.back().judged) return;
  }
  std::vector<std::string> lines;
  for (const std::string_view line : split(*cases[0].ptx.text, '\n')) lines.emplace_back(line);
  std::vector<Candidate> all;
  bool inside = false;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (lines[i].find(".entry") != lines[i].npos) inside = lines[i].find(kernel.entry + "(") != lines[i].npos;
    if (!inside) continue;
    Line line;
    if (!read_line(lines[i], line)) continue;
    for (Change& change : changes_of(line)) all.push_back({i, line.guard, std::move(change)});
  }
  std::mt19937_64 random(seed);
  std::shuffle(all.begin(), all.end(), random);
  if (std::ssize(all) > most) all.resize(static_cast<std::size_t>(most));
  ++score.kernels;
  for (const Candidate& one : all) {
    const std::string text = replaced(lines, one.line, one.change.line);
    bool seen = false, same = true, runs = true;
    for (std::size_t k = 0; k < cases.size() && !seen; ++k) {
      const Ran ran = run_text(kernel, cases[k], text, &right[k]);
      runs = ran.runs;
      seen = ran.outcome != XlaOutcome::matched || ran.unjudged != right[k].unjudged;
      same = same && ran.results == right[k].results;
    }
    if (!runs) {  // an assembler tells these: no merit of the check
      ++score.not_ptx;
      continue;
    }
    ++score.mutants;
    if (seen) {
      ++score.seen;
      continue;
    }
    bool reached = false;
    for (XlaCase& each : cases)
      reached = reached || run_text(kernel, each, replaced(lines, one.line, one.guard + "trap;"), &right[0]).traps;
    if (!reached) {
      ++score.not_run;
    } else if (same) {
      ++score.same_bits;
    } else {
      ++score.within;
      score.survivors.push_back(
          fmt::format("{} line {}: {} ({})", kernel.entry, one.line + 1, one.change.what, trim(lines[one.line])));
    }
  }
}

std::string text(const Score& score) {
  std::string made = fmt::format(
      "{} mutants of {} kernels ({} more are no PTX): {} seen, {} of instructions that no lane comes to, {} with the "
      "kernel's own results "
      "to "
      "the bit, {} within bounds; {:.1f} % of those that a run can show",
      score.mutants, score.kernels, score.not_ptx, score.seen, score.not_run, score.same_bits, score.within,
      100 * score.share());
  for (const std::string& one : score.survivors) made += "\n  " + one;
  return made;
}

}  // namespace mutation
