// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Registers as the program tells them beside those that the compiler takes. In: models' files. Out: CSV, one line for
// each short-listed plan of `imported`, `stitch-v1` and `tailor`, then how many plans are within a quarter, by
// structure and by the direction in which the others are off, and how many have three quarters of the loads that they
// ask for together on their way at once, by the machine code of the first launch. Run by hand:
//
//   registers_bench DEVICE CACHE MODEL... > registers.csv
//
// CACHE is a folder that keeps compiled kernels from run to run. With TEXTS, a folder that is there beside it, the
// program and the machine code of each plan are written there, for a disassembler.
#include <fmt/format.h>

#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "costmodel/model.h"
#include "profiler/compile/nvrtc.h"
#include "study/pipeline/question.h"
#include "study/pipeline/stages.h"
#include "support/paths.h"

using namespace tailor;

namespace {

constexpr std::int64_t short_list = 4;
constexpr double quarter = 0.25;

struct Tally {
  std::int64_t plans = 0, within = 0, low = 0, high = 0;
  std::int64_t with_loads = 0, on_their_way = 0;  ///< plans of which loads are asked for together; those that get them
  void add_loads(std::int64_t planned, std::int64_t outstanding) {
    if (planned <= 1) return;
    ++with_loads;
    on_their_way += 4 * outstanding >= 3 * planned;
  }
  void add(int guessed, int real) {
    ++plans;
    const double off = static_cast<double>(guessed - real) / real;
    within += std::abs(off) <= quarter;
    low += off < -quarter;
    high += off > quarter;
  }
};

void print(const std::string& name, const Tally& tally) {
  const auto percent = [](std::int64_t part, std::int64_t of) {
    return 100.0 * static_cast<double>(part) / static_cast<double>(std::max<std::int64_t>(1, of));
  };
  fmt::print(
      "# {}: {} plans, {:.1f} % within 25 %, {} too low, {} too high; loads: {} plans, {:.1f} % with three "
      "quarters on their way\n",
      name, tally.plans, percent(tally.within, tally.plans), tally.low, tally.high, tally.with_loads,
      percent(tally.on_their_way, tally.with_loads));
}

void write(const std::filesystem::path& file, std::string_view bytes) {
  std::ofstream(file, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

void write_texts(const std::filesystem::path& folder, const study::Candidate& candidate) {
  const std::string stem = short_hex(candidate.kernel_id);
  write(folder / (stem + ".txt"), ir::text(candidate.plan) + "\n" + ir::text(candidate.kernel));
  write(folder / (stem + ".cu"), candidate.cuda);
  const std::vector<std::byte>& code = candidate.binary->cubin;
  write(folder / (stem + ".cubin"), {reinterpret_cast<const char*>(code.data()), code.size()});
}

}  // namespace

int main(int count, char** words) {
  if (count < 4) {
    std::fputs("usage: registers_bench DEVICE CACHE MODEL...\n", stderr);
    return 2;
  }
  const std::filesystem::path root = tailor::source_folder(), cache = words[2];
  const std::filesystem::path texts = cache.string() + ".texts";
  const profiler::FoundNvrtc compiler = profiler::find_nvrtc(profiler::default_nvrtc_paths({root / ".venv"}));
  if (!compiler.api) {
    std::fputs("there is no NVRTC here\n", stderr);
    return 3;
  }
  study::Compiling how;
  how.api = compiler.api.get();
  how.cache = cache;
  how.shapes = study::Shapes::own;
  std::map<std::string, Tally> by_structure;
  Tally all;
  std::set<Id> known;
  std::puts("model,strategy,group,structure,kernel,threads,live,early,guessed,real,spilled,loads,outstanding,plan");
  for (int i = 3; i < count; ++i)
    for (const char* strategy : {"imported", "stitch-v1", "tailor"}) {
      study::Question question;
      question.model = words[i];
      question.device = words[1];
      question.strategy = strategy;
      study::FusedModel model(question, root / "data", {study::silent()});
      std::vector<study::Candidate> candidates;
      for (std::size_t g = 0; g < model.partition.groups.size(); ++g) {
        const study::PreparedGroup& group = model.group(g);
        if (group.ready() == nullptr || !known.insert(group.group.id).second) continue;
        study::Choice choice = study::choose(group, model.target, model.choosing(short_list), {});
        for (study::Candidate& candidate : choice.candidates) candidates.push_back(std::move(candidate));
      }
      study::print(candidates);
      study::compile(candidates, how, {study::silent()});
      for (const study::Candidate& candidate : candidates) {
        if (!candidate.compiled() || candidate.binary->registers == 0) continue;
        const std::string structure(row(candidate.plan.skeleton).name);
        const int guessed = candidate.standing.estimates.front().registers,
                  real = most_of(*candidate.binary, &ir::CompiledEntry::registers);
        by_structure[structure].add(guessed, real);
        all.add(guessed, real);
        const std::int64_t planned = candidate.work.loads_in_flight, outstanding = candidate.binary->loads_outstanding;
        by_structure[structure].add_loads(planned, outstanding);
        all.add_loads(planned, outstanding);
        fmt::print("{},{},{},{},{},{},{},{},{},{},{},{},{},\"{}\"\n", std::filesystem::path(words[i]).stem().string(),
                   strategy, short_hex(candidate.of->group.id), structure, short_hex(candidate.kernel_id),
                   candidate.kernel.threads, candidate.work.live_registers, candidate.work.early_registers, guessed,
                   real, candidate.binary->spill_stores, planned, outstanding, text(candidate.plan));
        if (std::filesystem::is_directory(texts)) write_texts(texts, candidate);
      }
    }
  for (const auto& [structure, tally] : by_structure) print(structure, tally);
  print("all", all);
  return 0;
}
