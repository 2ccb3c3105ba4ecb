// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Which instructions each fusion of XLA's was made of. In: the texts of a dump. Out: one record per launched fusion.
// Called by study/module/xla_agreement.
//
// A final text does not say it: what goes into a fusion gets a new number ("sub.15.0" becomes "sub.15.3"), and equal
// fusions are merged. XLA's own record of its steps does. Replayed from the module before fusion, where every name
// stands for itself, each step joins the members of a producer to those of its consumer; so does each merge that the
// multi-output pass logged. After that pass the names of fused instructions no longer change, so a final fusion is the
// recorded one that holds most of its instructions. Only what fusion itself did not record (a constant pulled in, a
// single instruction wrapped later) is found by name, operation and shape, and left out where two would do.
//
// A record that was cut or is another module's would still give members, but not XLA's. So names that a step takes have
// to be there, a fusion before the multi-output pass holds no more of an operation than the members its steps gave it
// (equal instructions become one, so it may hold less), and what that pass took away is what its log says.
#include "profiler/xla/xla_partition.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "base/error.h"
#include "base/json.h"
#include "base/stop.h"
#include "base/text.h"

namespace tailor::profiler {

namespace {

using hlo::HloInstruction;
using hlo::HloModule;
using Names = std::set<std::string, std::less<>>;
using NamedSets = std::map<std::string, Names, std::less<>>;

/// A text of the dump and the module read from it, which views it.
struct Parsed {
  std::shared_ptr<const std::string> text;
  HloModule module;
};

Parsed parsed(const std::filesystem::path& path, const std::stop_token& stop) {
  Parsed file{std::make_shared<const std::string>(read_file(path)), {}};
  file.module = hlo::parse_module(*file.text, path.string(), stop);
  return file;
}

/// Parameters, constants, tuples and bitcasts launch nothing and are no work of a kernel.
bool is_work(const HloInstruction& instruction) {
  constexpr auto none =
      std::to_array<std::string_view>({"parameter", "constant", "tuple", "get-tuple-element", "bitcast"});
  return std::find(none.begin(), none.end(), instruction.opcode) == none.end();
}

/// What a fusion computes; nullptr for other instructions.
const hlo::HloComputation* body_of(const HloModule& module, const HloInstruction& instruction) {
  if (instruction.opcode != "fusion") return nullptr;
  const std::int32_t index = module.computation_named(module.attribute(instruction, "calls"));
  return index < 0 ? nullptr : &module.computations[index];
}

bool is_number(std::string_view word) {
  return !word.empty() && std::all_of(word.begin(), word.end(), [](char c) { return c >= '0' && c <= '9'; });
}

/// "sub.15.3", "sub.15.clone", "sub.15.3.clone.1" -> "sub.15": the name without what copies get behind it.
std::string_view stem_of(std::string_view name) {
  const auto last = [&] { return name.substr(std::min(name.rfind('.'), name.size() - 1) + 1); };
  const auto drop = [&] { name = name.substr(0, name.rfind('.')); };
  for (std::size_t clone = name.rfind(".clone"); clone != name.npos; clone = name.rfind(".clone")) {
    const std::string_view behind = name.substr(clone + std::string_view(".clone").size());
    if (!behind.empty() && !is_number(behind.substr(1))) break;
    name = name.substr(0, clone);
  }
  if (name.find('.') != name.npos && is_number(last())) drop();
  return name;
}

/// What a copy of an instruction keeps.
std::string trait_of(const HloModule& module, const HloInstruction& instruction) {
  std::string trait = fmt::format("{} {}", stem_of(instruction.name), instruction.opcode);
  for (const ir::Shape& shape : module.shapes_of(module.type_of(instruction))) trait += " " + ir::text(shape);
  return trait;
}

/// The module before fusion: what a name, or what a copy keeps of it, stands for.
struct Originals {
  std::map<std::string, std::string_view, std::less<>> opcodes;  ///< of what is work
  std::set<std::string, std::less<>> names;                      ///< of all instructions
  std::map<std::string, std::vector<std::string>> by_trait;
  NamedSets fused;  ///< of fusions that are there already
};

Originals originals_in(const HloModule& before) {
  Originals originals;
  for (const HloInstruction& instruction : before.instructions) {
    originals.names.emplace(instruction.name);
    if (!is_work(instruction)) continue;
    originals.opcodes.emplace(instruction.name, instruction.opcode);
    originals.by_trait[trait_of(before, instruction)].emplace_back(instruction.name);
    if (const hlo::HloComputation* body = body_of(before, instruction))
      for (const HloInstruction& inner : before.instructions_of(*body))
        originals.fused[std::string(instruction.name)].emplace(inner.name);
  }
  return originals;
}

/// Originals of a body's instructions, where one alone would do.
Names matched(const Originals& originals, const HloModule& module, const hlo::HloComputation& body) {
  Names found;
  for (const HloInstruction& instruction : module.instructions_of(body))
    if (const auto known = originals.by_trait.find(trait_of(module, instruction));
        is_work(instruction) && known != originals.by_trait.end() && known->second.size() == 1)
      found.insert(known->second.front());
  return found;
}

/// Members of fusions by their names, while XLA's steps are replayed.
class Replay {
 public:
  Replay(const Originals& originals, std::vector<std::string>& faults) : members_(originals.fused), faults_(&faults) {
    for (const std::string& name : originals.names)
      members_.try_emplace(name, originals.opcodes.contains(name) ? Names{name} : Names{});
  }

  void join(std::string_view producer, std::string_view consumer, std::string_view into, std::string_view file) {
    for (const std::string_view name : {producer, consumer})
      if (!knows(name)) faults_->push_back(fmt::format("{} fuses '{}', which is not there", file, name));
    Names both = of(consumer);
    both.merge(Names(of(producer)));
    members_[std::string(into)] = std::move(both);
  }
  void add(std::string_view fusion, Names members) { members_.try_emplace(std::string(fusion), std::move(members)); }
  bool knows(std::string_view name) const { return members_.find(name) != members_.end(); }
  Names of(std::string_view name) const {
    const auto known = members_.find(name);
    return known == members_.end() ? Names{} : known->second;
  }

 private:
  NamedSets members_;
  std::vector<std::string>* faults_;
};

/// "producer_name: "add.1"" -> add.1
std::string_view quoted(std::string_view line) {
  const std::size_t first = line.find('"'), last = line.rfind('"');
  return first == line.npos || last == first ? std::string_view() : line.substr(first + 1, last - first - 1);
}

/// Joins of the record: a text proto of steps, of which a `fusion` block is one that was taken.
void replay_steps(const std::string& text, const std::string& file, Replay& replay, const std::stop_token& stop) {
  bool taken = false;
  std::string_view fusion, producer, consumer;
  for (const std::string_view raw : split(text, '\n')) {
    const std::string_view line = trim(raw);
    if (line == "fusion_steps {") stop_if_asked(stop);
    if (line == "fusion {") taken = true, fusion = producer = consumer = {};
    if (line.starts_with("fusion_name:")) fusion = quoted(line);
    if (line.starts_with("producer_name:")) producer = quoted(line);
    if (line.starts_with("consumer_name:")) consumer = quoted(line);
    if (line == "}" && taken) {
      replay.join(producer, consumer, fusion, file);
      taken = false;
    }
  }
}

/// "Fuse siblings A and B", "Fuse producer P into its consumer C", "Fuse producer P and its consumer C into F". Returns
/// what they take away.
Names replay_merges(const std::string& text, const std::filesystem::path& path, Replay& replay) {
  const std::string file = path.string(), short_file = path.filename().string();
  std::int64_t number = 0;
  Names taken_away;
  for (const std::string_view line : split(text, '\n')) {
    ++number;
    std::vector<std::string_view> words;
    for (const std::string_view word : split(line, ' '))
      if (!word.empty()) words.push_back(word);
    if (words.empty()) continue;
    const bool siblings = words.size() >= 5 && words[1] == "siblings";
    const bool pair = words.size() >= 7 && words[1] == "producer" && words[5] == "consumer";
    if (!siblings && !pair)
      throw Error(Fault::failed, Position{file, number, 1}, fmt::format("found '{}'", line.substr(0, 120)),
                  "expected 'Fuse siblings A and B' or 'Fuse producer A into its consumer B'");
    const std::string_view gone = siblings ? words[4] : words[2], kept = siblings ? words[2] : words[6];
    const bool renamed = pair && words.size() >= 9 && words[7] == "into";
    replay.join(gone, kept, renamed ? words[8] : kept, short_file);
    taken_away.emplace(gone);
    if (!renamed) continue;
    taken_away.emplace(kept);
    taken_away.erase(std::string(words[8]));
  }
  return taken_away;
}

std::string plain_kind(const HloModule& module, const HloInstruction& fusion) {
  if (module.attribute(fusion, "backend_config").find("triton") != std::string_view::npos) return "triton";
  std::string kind(module.attribute(fusion, "kind"));
  if (kind.starts_with('k')) kind.erase(0, 1);
  std::transform(kind.begin(), kind.end(), kind.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? char(c - 'A' + 'a') : c; });
  return kind;
}

/// The time of the model that XLA decides by; Triton's kernels have one of their own.
std::optional<double> price_of(const HloModule& module, const HloInstruction& fusion, bool triton) {
  const std::optional<Json> config = try_parse_json(std::string(module.attribute(fusion, "backend_config")));
  const Json* const costs = config ? config->find("reification_cost") : nullptr;
  if (costs == nullptr || costs->array() == nullptr) return std::nullopt;
  for (const Json& cost : *costs->array()) {
    const Json *const name = cost.find("name"), *const time = cost.find("exec_time_us");
    const std::string model = name != nullptr && name->string() != nullptr ? *name->string() : std::string();
    if (time != nullptr && model == (triton ? "indexing-cost-model" : "")) return time->number();
  }
  return std::nullopt;
}

/// Operations of a body or of originals, so often each.
using Opcodes = std::map<std::string_view, int>;

/// What is known when the last steps are replayed, asked for one final fusion after another.
struct Ending {
  const Originals& originals;
  const Replay& replay;
  std::map<std::string_view, std::string_view> holders;  ///< a fused instruction's name -> its fusion after the passes

  XlaPart part(const HloModule& module, const HloInstruction& fusion, const hlo::HloComputation& body) const {
    XlaPart part;
    part.name = fusion.name;
    part.kind = plain_kind(module, fusion);
    part.us = price_of(module, fusion, part.kind == "triton");
    Opcodes final_ones;
    std::map<std::string_view, int> votes;
    for (const HloInstruction& instruction : module.instructions_of(body)) {
      if (!is_work(instruction)) continue;
      ++final_ones[instruction.opcode];
      if (const auto holder = holders.find(instruction.name); holder != holders.end()) ++votes[holder->second];
    }
    const auto most =
        std::max_element(votes.begin(), votes.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
    Opcodes first_ones;
    const auto take = [&](const Names& names) {
      for (const std::string& name : names)
        if (const auto known = originals.opcodes.find(name); known != originals.opcodes.end()) {
          part.members.push_back(name);
          ++first_ones[known->second];
        }
    };
    if (most != votes.end()) take(replay.of(most->first));
    if (part.members.empty()) take(matched(originals, module, body));
    part.exact = first_ones == final_ones;
    return part;
  }
};

/// Fusions that no step made: single instructions that were wrapped. One of several is a fault.
void add_unrecorded(const HloModule& after, const Originals& originals, const std::string& file, Replay& replay,
                    std::vector<std::string>& faults) {
  for (const HloInstruction& instruction : after.instructions) {
    const hlo::HloComputation* const body = body_of(after, instruction);
    if (body == nullptr || replay.knows(instruction.name)) continue;
    replay.add(instruction.name, matched(originals, after, *body));
    const auto inside = after.instructions_of(*body);
    if (std::count_if(inside.begin(), inside.end(), is_work) > 1)
      faults.push_back(fmt::format("{} has no step that makes {}", file, instruction.name));
  }
}

/// A fusion that the recorded steps did not make whole. `after`: the module when they were taken.
void check_steps(const HloModule& after, const Originals& originals, const Replay& replay, const std::string& file,
                 std::vector<std::string>& faults) {
  for (const HloInstruction& instruction : after.instructions) {
    const hlo::HloComputation* const body = body_of(after, instruction);
    if (body == nullptr) continue;
    std::map<std::string_view, int> inside, members;
    for (const HloInstruction& inner : after.instructions_of(*body))
      if (is_work(inner)) ++inside[inner.opcode];
    for (const std::string& name : replay.of(instruction.name))
      if (const auto known = originals.opcodes.find(name); known != originals.opcodes.end()) ++members[known->second];
    const auto more =
        std::find_if(inside.begin(), inside.end(), [&](const auto& one) { return one.second > members[one.first]; });
    if (more != inside.end())
      faults.push_back(
          fmt::format("{} has no step that brings all of '{}' into {}", file, more->first, instruction.name));
  }
}

/// A fusion that is gone and no merge took away, or one that a merge took away and is there.
void check_merges(const HloModule& before, const HloModule& after, const Names& taken_away, const std::string& file,
                  std::vector<std::string>& faults) {
  Names left;
  for (const HloInstruction& instruction : after.instructions)
    if (instruction.opcode != "parameter") left.emplace(instruction.name);
  for (const HloInstruction& instruction : before.instructions)
    if (instruction.opcode == "fusion" && !left.contains(instruction.name) && !taken_away.contains(instruction.name))
      faults.push_back(fmt::format("{} does not say where {} went", file, instruction.name));
  for (const std::string& name : taken_away)
    if (left.contains(name)) faults.push_back(fmt::format("{} takes {} away, which is still there", file, name));
}

}  // namespace

bool has_partition(const XlaSource& source) {
  return !source.before.empty() && !source.record.empty() && !source.between.empty() && !source.merges.empty() &&
         !source.after.empty();
}

XlaPartition read_partition(const XlaSource& source, const std::stop_token& stop) {
  if (!has_partition(source))
    throw Error(
        Fault::failed, Position{source.hlo.string()},
        "found no record of XLA's fusion beside it, expected the module before fusion, priority_fusion_dump.txt, "
        "the modules around multi_output_fusion and multi_output_merges.txt",
        "tools/xla-dump keeps them");
  const Parsed before = parsed(source.before, stop), between = parsed(source.between, stop);
  const Parsed after = parsed(source.after, stop), final_one = parsed(source.hlo, stop);
  const Originals originals = originals_in(before.module);
  XlaPartition found;
  Replay replay(originals, found.faults);
  const std::string record = source.record.filename().string(), merges = source.merges.filename().string();
  replay_steps(read_file(source.record), record, replay, stop);
  add_unrecorded(between.module, originals, record, replay, found.faults);
  check_steps(between.module, originals, replay, record, found.faults);
  const Names taken_away = replay_merges(read_file(source.merges), source.merges, replay);
  check_merges(between.module, after.module, taken_away, merges, found.faults);

  Ending ending{originals, replay, {}};
  for (const HloInstruction& instruction : after.module.instructions)
    if (const hlo::HloComputation* body = body_of(after.module, instruction))
      for (const HloInstruction& inner : after.module.instructions_of(*body))
        if (is_work(inner)) ending.holders.emplace(inner.name, instruction.name);
  std::set<std::string, std::less<>> launched;
  for (const XlaLaunch& launch : read_launches(source)) launched.insert(launch.instruction);
  for (const HloInstruction& instruction : final_one.module.instructions) {
    stop_if_asked(stop);
    const hlo::HloComputation* const body = body_of(final_one.module, instruction);
    if (body != nullptr && launched.contains(instruction.name))
      found.parts.push_back(ending.part(final_one.module, instruction, *body));
  }
  return found;
}

}  // namespace tailor::profiler
