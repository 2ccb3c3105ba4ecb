// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The main of every test executable: doctest with a TAP reporter, one line per case, so Meson shows each case by name.
// Under TAP the runner exits 0 and the "not ok" lines carry the failures. A case may say skip("reason") and return.
// What took a second of the processor or more says so, its own processes included: meson-logs/testlog-quick.txt has it
// all. With any command-line argument the executable behaves as plain doctest. Cases marked for broad runs are left out
// of quick ones (support/thorough.h), unless the arguments name cases.
#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>
#include <sys/resource.h>

#include <algorithm>
#include <cstdio>
#include <sstream>
#include <string>
#include <string_view>

#include "support/skip.h"
#include "support/thorough.h"

namespace {

std::string& skip_reason() {
  static std::string reason;
  return reason;
}

/// Of the processor, by this process and those that it waited for: others may run beside.
double seconds_spent() {
  double seconds = 0;
  for (const int who : {RUSAGE_SELF, RUSAGE_CHILDREN}) {
    rusage used{};
    getrusage(who, &used);
    for (const timeval& part : {used.ru_utime, used.ru_stime})
      seconds += static_cast<double>(part.tv_sec) + static_cast<double>(part.tv_usec) * 1e-6;
  }
  return seconds;
}

/// Whether an argument says which cases are to run.
bool names_cases(std::string_view argument) {
  argument.remove_prefix(std::min(argument.find_first_not_of('-'), argument.size()));
  const auto names = {"tc=", "ts=", "sf=", "test-case=", "test-suite=", "source-file="};
  return std::any_of(names.begin(), names.end(), [&](std::string_view name) { return argument.starts_with(name); });
}

struct TapReporter : doctest::IReporter {
  explicit TapReporter(const doctest::ContextOptions&) {}

  void report_query(const doctest::QueryData&) override {}
  void test_run_start() override {}
  void test_run_end(const doctest::TestRunStats&) override { std::printf("1..%d\n", count_); }
  void test_case_start(const doctest::TestCaseData& in) override {
    name_ = in.m_name;
    problems_.clear();
    skip_reason().clear();
    begun_ = seconds_spent();
  }
  void test_case_reenter(const doctest::TestCaseData&) override {}
  void test_case_end(const doctest::CurrentTestCaseStats& stats) override {
    const bool ok = stats.testCaseSuccess;
    std::printf("%s %d - %s", ok ? "ok" : "not ok", ++count_, name_.c_str());
    if (ok && !skip_reason().empty()) std::printf(" # SKIP %s", skip_reason().c_str());
    std::printf("\n%s", problems_.c_str());
    if (const double took = seconds_spent() - begun_; took >= 1) std::printf("# %.1f s of the processor\n", took);
    std::fflush(stdout);
  }
  void test_case_exception(const doctest::TestCaseException& e) override {
    problems_ += std::string("# exception: ") + e.error_string.c_str() + "\n";
  }
  void subcase_start(const doctest::SubcaseSignature&) override {}
  void subcase_end() override {}
  void log_assert(const doctest::AssertData& in) override {
    if (!in.m_failed) return;
    std::string text =
        std::string(in.m_file) + ":" + std::to_string(in.m_line) + ": " + in.m_expr + " -> " + in.m_decomp.c_str();
    if (in.m_threw) text += std::string(" threw ") + in.m_exception.c_str();
    for (int i = 0; i < get_num_active_contexts(); ++i) {
      std::ostringstream context;
      get_active_contexts()[i]->stringify(&context);
      text += " | " + context.str();
    }
    add(text);
  }
  void log_message(const doctest::MessageData& in) override { add(in.m_string.c_str()); }
  void test_case_skipped(const doctest::TestCaseData&) override {}

 private:
  void add(std::string text) {
    for (std::size_t at = 0; (at = text.find('\n', at)) != text.npos; at += 3) text.replace(at, 1, "\n# ");
    problems_ += "# " + text + "\n";
  }
  std::string name_, problems_;
  int count_ = 0;
  double begun_ = 0;
};

REGISTER_REPORTER("tap", 1, TapReporter);

}  // namespace

void skip(const std::string& reason) { skip_reason() = reason; }

int main(int argc, char** argv) {
  doctest::Context context;
  if (!tailor::testing::broad() && std::none_of(argv + 1, argv + argc, names_cases))
    context.addFilter("test-suite-exclude", tailor::testing::in_broad_runs);
  if (argc > 1) {
    context.applyCommandLine(argc, argv);
    return context.run();
  }
  context.setOption("reporters", "tap");
  context.run();
  return 0;
}
