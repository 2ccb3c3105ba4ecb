// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// gpu_self_test: asks a GPU for everything that measuring takes for granted, one line a test: ok, failed or skipped,
// what was seen, what was expected. It needs nothing but the GPU's own libraries, and is its own worker.
//
//   gpu_self_test [--driver FILE] [--cupti FILE] [--nvml FILE] [--gpu N] [--worker PROGRAM] [--json FILE]
//                 [--bytes N] [--hang SECONDS] [--only NAME,...] [--kinds KIND,...] [--hold SECONDS]
//     --worker PROGRAM  another program that serves, as tailor does (default: this one)
//     --json FILE       the findings once more, for programs
//     --bytes N         of the copies that are timed and counted, a multiple of 512 (default 16 MiB)
//     --hang SECONDS    how long an endless kernel is waited for (default 2)
//     --only NAMES      these tests alone
//     --kinds KINDS     of right, times, counts and faults, these (default: all)
//     --hold SECONDS    test nothing: open the GPU and keep it open so long, so that the driver does not let go of it
//
// Without a library named, the usual places are searched, as tailor does.
//
// The exit code is 0 when nothing failed, 1 when something did, 2 for arguments it does not know.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <exception>
#include <nlohmann/json.hpp>
#include <thread>

#include "base/error.h"
#include "base/text.h"
#include "profiler/gpu/request/library_paths.h"
#include "profiler/gpu/self_test/suite.h"

namespace tailor::tests {

namespace {

constexpr std::string_view serve_word = "--serve", tailor_serve_word = "--worker";

struct Wanted {
  gpu::LibraryPaths paths;
  std::string worker, json, only, kinds = "right,times,counts,faults";
  int ordinal = 0;
  std::int64_t bytes = std::int64_t{1} << 24;
  double hang = 2, hold = 0;
};

/// One test and what came of it.
struct Finding {
  const SelfTest* test = nullptr;
  Observed seen;
  double seconds = 0;
};

double number_of(std::string_view option, const std::string& word) {
  char* end = nullptr;
  const double value = std::strtod(word.c_str(), &end);
  if (word.empty() || *end != '\0' || !(value >= 0) || value > 1e12)
    throw Error(Fault::usage, fmt::format("{}: found '{}', expected a number", option, word));
  return value;
}

Wanted wanted(std::span<char* const> words) {
  Wanted made;
  made.paths = gpu::default_library_paths({});
  for (std::size_t i = 1; i < words.size(); i += 2) {
    const std::string_view option = words[i];
    const bool known =
        std::string_view(" --driver --cupti --nvml --gpu --worker --json --bytes --hang --only --kinds --hold ")
            .find(fmt::format(" {} ", option)) != std::string_view::npos;
    if (!known) throw Error(Fault::usage, fmt::format("there is no option '{}'", option));
    if (i + 1 == words.size()) throw Error(Fault::usage, fmt::format("{} needs a value", option));
    const std::string value = words[i + 1];
    if (option == "--driver") made.paths.driver = value;
    if (option == "--cupti") made.paths.cupti = value;
    if (option == "--nvml") made.paths.nvml = value;
    if (option == "--worker") made.worker = value;
    if (option == "--json") made.json = value;
    if (option == "--only") made.only = value;
    if (option == "--kinds") made.kinds = value;
    if (option == "--hold") made.hold = number_of(option, value);
    if (option == "--gpu") made.ordinal = static_cast<int>(number_of(option, value));
    if (option == "--bytes") made.bytes = static_cast<std::int64_t>(number_of(option, value));
    if (option == "--hang") made.hang = number_of(option, value);
  }
  if (made.bytes < 512 || made.bytes % 512 != 0)
    throw Error(Fault::usage, fmt::format("--bytes: found {}, expected a multiple of 512", made.bytes));
  return made;
}

std::vector<const SelfTest*> chosen(const Wanted& how) {
  std::vector<const SelfTest*> all, some;
  const std::pair<std::string_view, std::span<const SelfTest>> kinds[] = {
      {"right", right_tests()}, {"times", time_tests()}, {"counts", count_tests()}, {"faults", fault_tests()}};
  for (const std::string_view word : split(how.kinds, ','))
    if (std::none_of(std::begin(kinds), std::end(kinds), [&](const auto& kind) { return kind.first == word; }))
      throw Error(Fault::usage, fmt::format("--kinds: found '{}', expected right, times, counts or faults", word));
  for (const auto& [kind, tests] : kinds)
    for (const SelfTest& test : tests)
      if (fmt::format(",{},", how.kinds).find(fmt::format(",{},", kind)) != std::string::npos) all.push_back(&test);
  if (how.only.empty()) return all;
  for (const std::string_view word : split(how.only, ',')) {
    const auto found = std::find_if(all.begin(), all.end(), [&](const SelfTest* test) { return test->name == word; });
    if (found == all.end()) throw Error(Fault::usage, fmt::format("--only: no test is called '{}'", word));
    some.push_back(*found);
  }
  return some;
}

Finding looked(const SelfTest& test, Subject& subject) {
  const auto begun = std::chrono::steady_clock::now();
  Finding finding{&test, {}, 0};
  const bool first = &test == right_tests().data();  // tells why the GPU does not open
  if (!first && subject.opened().outcome != ir::Outcome::ok)
    finding.seen = skipped("no GPU: " + subject.opened().reason);
  else
    finding.seen = test.look(subject);
  finding.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count();
  fmt::print("{:<24} {:<8} {}\n{:34}expected: {}\n", test.name, name(finding.seen.verdict), finding.seen.figure, "",
             test.expectation);
  std::fflush(stdout);
  return finding;
}

std::string json_of(const std::vector<Finding>& findings, const gpu::GpuProperties& properties) {
  nlohmann::ordered_json out = {{"schema", "tailor.self-test/1"},
                                {"gpu", properties.name},
                                {"uuid", properties.uuid},
                                {"driver", properties.driver},
                                {"driver_api", properties.driver_api},
                                {"cupti_api", properties.cupti_api}};
  for (const Finding& finding : findings)
    out["tests"].push_back({{"name", finding.test->name},
                            {"verdict", name(finding.seen.verdict)},
                            {"figure", finding.seen.figure},
                            {"expectation", finding.test->expectation},
                            {"seconds", finding.seconds}});
  return out.dump(1) + "\n";
}

/// Keeps a context open: 0 when it could, 1 when there is no GPU.
int hold(const Wanted& how) {
  profiler::WorkerSetup setup;
  setup.command = own_command({std::string(serve_word)});
  setup.paths = how.paths;
  setup.ordinal = how.ordinal;
  setup.use = gpu::Use::events;
  profiler::Worker worker(std::move(setup));
  const bool opened = worker.opened().outcome == ir::Outcome::ok;
  fmt::print("{}\n", opened ? "held" : worker.opened().reason);
  std::fflush(stdout);
  if (opened) std::this_thread::sleep_for(std::chrono::duration<double>(how.hold));
  return opened ? 0 : 1;
}

int test_all(std::span<char* const> words) {
  const Wanted how = wanted(words);
  if (how.hold > 0) return hold(how);
  const std::vector<const SelfTest*> tests = chosen(how);
  profiler::WorkerSetup setup;
  setup.command = how.worker.empty() ? own_command({std::string(serve_word)})
                                     : std::vector<std::string>{how.worker, std::string(tailor_serve_word)};
  setup.paths = how.paths;
  setup.ordinal = how.ordinal;
  profiler::Worker worker(setup);
  setup.use = gpu::Use::count;
  profiler::Worker counting(std::move(setup));
  Subject subject(worker, counting, how.bytes, Seconds{how.hang});
  const gpu::GpuProperties properties = subject.properties();
  std::vector<Finding> findings;
  std::array<int, 3> tally{};
  for (const SelfTest* test : tests) {
    findings.push_back(looked(*test, subject));
    ++tally[static_cast<std::size_t>(findings.back().seen.verdict)];
    // After every test, so that being cut off keeps what was found.
    if (!how.json.empty()) write_file(how.json, json_of(findings, properties));
  }
  fmt::print("{} ok, {} failed, {} skipped\n", tally[0], tally[1], tally[2]);
  return tally[1] > 0 ? 1 : 0;
}

}  // namespace

}  // namespace tailor::tests

int main(int count, char** words) {
  using namespace tailor;
  try {
    if (count == 2 && std::string_view(words[1]) == tests::serve_word) return profiler::serve(profiler::worker_socket);
    return tests::test_all({words, static_cast<std::size_t>(count)});
  } catch (const Error& error) {
    fmt::print(stderr, "{}", error_text(error));
    return 2;
  } catch (const std::exception& error) {
    fmt::print(stderr, "error: {}\n", error.what());
    return 2;
  }
}
