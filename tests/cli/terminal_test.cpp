// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The console: what stands on a terminal after each call, at a clock that the test sets by hand. The oracle is a small
// model of a terminal that applies carriage return, erase and line feed to what was written. Also when colour is used,
// and what the first and the second Ctrl-C do. Part of the suite `cli`.
#include "cli/terminal.h"

#include <doctest/doctest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

#include "base/error.h"
#include "cli/commands.h"
#include "report/width.h"

using namespace tailor;
using namespace tailor::cli;

namespace {

/// Applies "\r", "\x1b[K" and "\n"; other escapes stay as text.
struct FakeScreen {
  std::string finished;  ///< lines that were ended
  std::string current;   ///< the line the cursor stands on
  int writes = 0;

  Sink sink() {
    return [this](std::string_view text) {
      ++writes;
      for (std::size_t i = 0; i < text.size(); ++i) {
        if (text.substr(i, 4) == "\r\x1b[K") {
          current.clear();
          i += 3;
        } else if (text[i] == '\n') {
          finished += current + "\n";
          current.clear();
        } else {
          current += text[i];
        }
      }
    };
  }
};

struct FakeClock {
  double now = 5;
  Clock clock() {
    return [this] { return Seconds{now}; };
  }
};

/// As a terminal sends it: to the process, whichever thread may take it.
void interrupt() { kill(getpid(), SIGINT); }

/// Waits for the process, and how it ended.
int status_of(pid_t child) {
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  return status;
}

/// Whether `condition` holds within two seconds.
template <class Condition>
bool soon(Condition condition) {
  for (int i = 0; i < 2000; ++i) {
    if (condition()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return false;
}

}  // namespace

TEST_CASE("colour needs a terminal that wants it, unless a person insists") {
  const Terminal good{.output_is_terminal = true, .errors_is_terminal = false};
  CHECK(coloured_output(Colour::automatic, good));
  CHECK_FALSE(coloured_errors(Colour::automatic, good));
  CHECK_FALSE(coloured_output(Colour::never, good));
  CHECK(coloured_errors(Colour::always, good));
  Terminal dumb = good;
  dumb.dumb = true;
  CHECK_FALSE(coloured_output(Colour::automatic, dumb));
  Terminal plain = good;
  plain.no_colour = true;
  CHECK_FALSE(coloured_output(Colour::automatic, plain));
  CHECK(coloured_output(Colour::always, plain));
}

TEST_CASE("NO_COLOR counts when it is set to anything, TERM when it is dumb") {
  const char* term = std::getenv("TERM");
  const std::string before = term == nullptr ? "" : term;
  setenv("NO_COLOR", "1", 1);
  setenv("TERM", "dumb", 1);
  CHECK(current_terminal().no_colour);
  CHECK(current_terminal().dumb);
  setenv("NO_COLOR", "", 1);
  setenv("TERM", "xterm", 1);
  CHECK_FALSE(current_terminal().no_colour);
  CHECK_FALSE(current_terminal().dumb);
  CHECK(current_terminal().width > 0);
  unsetenv("NO_COLOR");
  setenv("TERM", before.c_str(), 1);
}

TEST_CASE("a line that is too long goes on below between words, one that fits stays as it is") {
  CHECK(broken_lines("short  and   spaced", 40) == "short  and   spaced");
  CHECK(broken_lines("one two three four five six seven", 20) == "one two three four\n  five six seven");
  CHECK(broken_lines("error: a\n  hint: one two three four five", 24) ==
        "error: a\n  hint: one two three\n    four five");
  const std::string path = "/a/very/long/path/that/somebody/copies/into/a/shell";
  CHECK(broken_lines("see " + path + " for more", 20).find(path) != std::string::npos);
}

TEST_CASE("messages are broken on a terminal, and stay one line each in a file") {
  FakeScreen screen;
  FakeClock clock;
  const std::string long_one = "one two three four five six seven";
  {
    Console console(screen.sink(), {.width = 24, .wrap = true}, clock.clock());
    console.warning(long_one);
    CHECK(screen.finished == "warning: one two three\n  four five six seven\n");
  }
  screen.finished.clear();
  Console console(screen.sink(), {.width = 24}, clock.clock());
  console.note(long_one);
  CHECK(screen.finished == long_one + "\n");
}

TEST_CASE("COLUMNS says how wide an answer is that goes to no terminal; what is no width is not looked at") {
  if (current_terminal().output_is_terminal) return;
  const char* was = std::getenv("COLUMNS");
  const std::string before = was == nullptr ? "" : was;
  const auto width_with = [](const char* columns) {
    setenv("COLUMNS", columns, 1);
    return current_terminal().width;
  };
  CHECK(width_with("60") == 60);
  CHECK(width_with("213") == 213);
  unsetenv("COLUMNS");
  const int unasked = current_terminal().width;
  for (const char* word : {"", "0", "-3", "wide", "80x", "99999999999"})
    CHECK_MESSAGE(width_with(word) == unasked, word);
  setenv("COLUMNS", "60", 1);
  CHECK(current_terminal().errors_width != 60);
  unsetenv("COLUMNS");
  if (was != nullptr) setenv("COLUMNS", before.c_str(), 1);
}

TEST_CASE("an error is coloured as --color says, wherever the words went wrong") {
  const Error error(Fault::usage, "no");
  const auto said = [&](std::initializer_list<const char*> words, bool terminal) {
    std::vector<char*> typed;
    for (const char* word : words) typed.push_back(const_cast<char*>(word));
    return refusal_text(error, typed, {.errors_is_terminal = terminal});
  };
  const std::string plain = "error: no\n", coloured = "\x1b[1;31merror:\x1b[0m no\n";
  CHECK(said({"tailor", "fuse"}, true) == coloured);
  CHECK(said({"tailor", "fuse"}, false) == plain);
  CHECK(said({"tailor", "fuse", "--color", "never"}, true) == plain);
  CHECK(said({"tailor", "fuse", "--colour=never", "--nonsense"}, true) == plain);
  CHECK(said({"tailor", "fuse", "--color=always"}, false) == coloured);
  CHECK(said({"tailor", "fuse", "--color", "sometimes"}, false) == plain);
  CHECK(said({"tailor", "fuse", "--color"}, true) == coloured);
}

TEST_CASE("verbosity decides what is said; warnings always are") {
  const auto said = [](Verbosity verbosity) {
    FakeScreen screen;
    Console console(screen.sink(), {.verbosity = verbosity}, steady_clock());
    console.warning("w");
    console.note("n");
    console.detail("d");
    return screen.finished;
  };
  CHECK(said(Verbosity::quiet) == "warning: w\n");
  CHECK(said(Verbosity::normal) == "warning: w\nn\n");
  CHECK(said(Verbosity::verbose) == "warning: w\nn\nd\n");
}

TEST_CASE("colour wraps the word warning, not its text") {
  FakeScreen screen;
  Console console(screen.sink(), {.colour = true}, steady_clock());
  console.warning("low memory");
  CHECK(screen.finished == "\x1b[1;33mwarning: \x1b[0mlow memory\n");
}

TEST_CASE("the progress line says how far, how fast, how long and how good") {
  CHECK(progress_line({"compiling", 120, 640, "6.81 us"}, {3.0}, 100) ==
        "compiling 120/640 (19 %), 40.0/s, 13 s left, best 6.81 us");
  CHECK(progress_line({"compiling", 0, 640, ""}, {0.0}, 100) == "compiling 0/640 (0 %)");
  CHECK(progress_line({"reading", 1200, 0, ""}, {2.0}, 100) == "reading 1,200, 600/s");
  CHECK(progress_line({"compiling", 640, 640, ""}, {64.0}, 100) == "compiling 640/640 (100 %), 10.0/s");
  CHECK(progress_line({"x", 10, 5000, ""}, {10.0}, 100).find("83 min left") != std::string::npos);
  CHECK(progress_line({"x", 10, 100000, ""}, {10.0}, 100).find("27.8 h left") != std::string::npos);
  // Nothing is done yet, and somebody waits; then a share of the work is done, though it is no whole item.
  CHECK(progress_line({"executing", 0, 40, ""}, {12.0}, 100) == "executing 0/40 (0 %), 12 s so far");
  CHECK(progress_line({"executing", 0, 40, "", 0.25}, {12.0}, 100) == "executing 0/40 (0 %), 36 s left");
  CHECK(progress_line({"executing", 30, 40, "", 0.5}, {12.0}, 100) == "executing 30/40 (75 %), 2.50/s, 12 s left");
  CHECK(progress_line({"executing", 1, 2, "", 1e-4}, {5.0}, 100) == "executing 1/2 (50 %), 0.200/s, 5 s so far");
  for (int width = 0; width < 80; ++width)
    CHECK(report::display_width(progress_line({"compiling 漢字", 120, 640, "6.81 us"}, {3.0}, width)) <= width);
}

TEST_CASE("the progress line is redrawn at most ten times a second and erased at the end") {
  FakeScreen screen;
  FakeClock clock;
  {
    Console console(screen.sink(), {.redraw = true, .width = 60}, clock.clock());
    for (int i = 0; i <= 1000; ++i) {
      console.progress({"compiling", i, 1000, ""});
      clock.now += 0.001;
    }
    CHECK(screen.writes >= 9);
    CHECK(screen.writes <= 11);
    CHECK(screen.current.find("compiling") == 0);
    console.finish();
    CHECK(screen.current == "");
    console.progress({"checking", 1, 2, ""});
    CHECK(screen.current == "checking 1/2 (50 %)");
  }
  CHECK(screen.current == "");
  CHECK(screen.finished == "");
}

TEST_CASE("activities that take turns have a clock each") {
  FakeScreen screen;
  FakeClock clock;
  Console console(screen.sink(), {.redraw = true}, clock.clock());
  console.progress({"compiling", 0, 40, ""});
  clock.now += 100;
  console.progress({"executing", 0, 40, ""});
  clock.now += 10;
  console.progress({"executing", 10, 40, ""});
  CHECK(screen.current == "executing 10/40 (25 %), 1.00/s, 30 s left");
  console.progress({"compiling", 20, 40, ""});
  CHECK(screen.current == "compiling 20/40 (50 %), 0.200/s, 2 min left");
  clock.now += 100;
  console.progress({"executing", 20, 40, ""});
  CHECK(screen.current == "executing 20/40 (50 %), 2.00/s, 10 s left");
}

TEST_CASE("a note during progress stands above the line, which comes back") {
  FakeScreen screen;
  FakeClock clock;
  Console console(screen.sink(), {.redraw = true}, clock.clock());
  console.progress({"compiling", 1, 4, ""});
  console.note("kernel 3 spills");
  CHECK(screen.finished == "kernel 3 spills\n");
  CHECK(screen.current == "compiling 1/4 (25 %)");
}

TEST_CASE("a step that takes long goes on being said") {
  FakeScreen screen;
  FakeClock clock;
  Console console(screen.sink(), {.redraw = true}, clock.clock());
  console.tick();  // nothing is under way
  CHECK(screen.writes == 0);
  console.progress({"compiling", 0, 4, ""});
  CHECK(screen.current == "compiling 0/4 (0 %)");
  clock.now += 7;
  console.tick();
  CHECK(screen.current == "compiling 0/4 (0 %), 7 s so far");
  console.progress({"compiling", 2, 4, ""});
  clock.now += 13;
  console.tick();
  CHECK(screen.current == "compiling 2/4 (50 %), 0.100/s, 20 s left");
  console.finish();
  console.tick();
  CHECK(screen.current == "");
}

TEST_CASE("a file gets a line of progress after ten seconds, and then ever fewer") {
  FakeScreen screen;
  FakeClock clock;
  Console console(screen.sink(), {.redraw = false}, clock.clock());
  std::vector<int> said;
  for (int second = 0; second <= 200; ++second) {
    const std::string before = screen.finished;
    console.progress({second % 2 == 0 ? "compiling" : "executing", second, 400, ""});  // in turns, as batches do
    console.tick();
    if (screen.finished != before) said.push_back(second);
    clock.now += 1;
  }
  REQUIRE(said.size() >= 3);
  CHECK(said.size() <= 12);
  CHECK(said.front() == 10);
  CHECK(screen.finished.starts_with("compiling 10/400 (2 %), "));
  for (std::size_t i = 1; i < said.size(); ++i) CHECK(said[i] - said[i - 1] >= 10);
  for (std::size_t i = 2; i < said.size(); ++i) CHECK(said[i] - said[i - 1] >= said[i - 1] - said[i - 2]);
  CHECK(screen.current == "");
}

TEST_CASE("the console's own thread ticks, and ends with it") {
  FakeScreen screen;
  std::atomic<int> asked = 0;
  {
    Console console(screen.sink(), {.redraw = true, .pulse = Seconds{0.001}}, [&] { return Seconds{double(++asked)}; });
    console.progress({"compiling", 0, 4, ""});
    CHECK(soon([&] { return asked > 3; }));
  }
  CHECK(screen.current == "");
}

TEST_CASE("no progress when quiet, and at first none without a terminal") {
  for (const Console::Options& options :
       {Console::Options{.redraw = false}, Console::Options{.verbosity = Verbosity::quiet, .redraw = true}}) {
    FakeScreen screen;
    Console console(screen.sink(), options, steady_clock());
    console.progress({"compiling", 1, 4, ""});
    console.tick();
    console.finish();
    CHECK(screen.writes == 0);
  }
}

TEST_CASE("the first Ctrl-C asks to stop") {
  InterruptWatch watch{Seconds{60}};
  CHECK_FALSE(watch.requested());
  interrupt();
  CHECK(soon([&] { return watch.requested(); }));
  CHECK(watch.token().stop_requested());
}

TEST_CASE("a watch can follow another and starts unasked") {
  { InterruptWatch first; }
  InterruptWatch second{Seconds{60}};
  CHECK_FALSE(second.requested());
  interrupt();
  CHECK(soon([&] { return second.requested(); }));
}

TEST_CASE("a Ctrl-C while a library has a handler of its own installed asks to stop and does not run the handler") {
  static volatile sig_atomic_t handled = 0;
  InterruptWatch watch{Seconds{60}};
  struct sigaction theirs {
  }, before{};
  theirs.sa_handler = [](int) { handled = 1; };
  sigaction(SIGINT, &theirs, &before);
  interrupt();
  CHECK(soon([&] { return watch.requested(); }));
  sigaction(SIGINT, &before, nullptr);
  CHECK(handled == 0);
}

TEST_CASE("without a watch Ctrl-C has its default effect again") {
  const pid_t child = fork();
  if (child == 0) {
    signal(SIGINT, SIG_DFL);  // the tests' framework has a handler
    { InterruptWatch watch; }
    interrupt();
    sleep(60);
    _exit(0);
  }
  const int status = status_of(child);
  CHECK(WIFSIGNALED(status));
}

TEST_CASE("work that does not hear of a Ctrl-C is ended with the exit code of an interrupt") {
  const pid_t child = fork();
  if (child == 0) {
    InterruptWatch watch{Seconds{0.1}};
    interrupt();
    sleep(60);
    _exit(0);
  }
  const int status = status_of(child);
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == static_cast<int>(Fault::interrupted));
}

TEST_CASE("what a command holds is shown before work that does not hear of a Ctrl-C is ended") {
  int pipes[2];
  REQUIRE(pipe(pipes) == 0);
  const pid_t child = fork();
  if (child == 0) {
    dup2(pipes[1], STDERR_FILENO);
    InterruptWatch watch{Seconds{0.1}};
    watch.set_last_words([&] {
      [[maybe_unused]] const auto written = write(pipes[1], "a table\n", 8);
      return std::string("interrupted: 3 of 5 checked");
    });
    interrupt();
    sleep(60);
    _exit(0);
  }
  close(pipes[1]);
  std::string said;
  std::array<char, 256> some;
  for (ssize_t count = 0; (count = read(pipes[0], some.data(), some.size())) > 0;)
    said.append(some.data(), static_cast<std::size_t>(count));
  close(pipes[0]);
  const int status = status_of(child);
  CHECK(WEXITSTATUS(status) == static_cast<int>(Fault::interrupted));
  CHECK(said.starts_with("a table\nerror: interrupted: 3 of 5 checked\n"));
}

TEST_CASE("the last resort is as patient after something was stored as before") {
  const pid_t child = fork();
  if (child == 0) {
    InterruptWatch watch{Seconds{0.1}};
    watch.let_store();
    watch.stored();
    interrupt();
    sleep(2);  // the patience of who stores is longer
    _exit(0);
  }
  const int status = status_of(child);
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == static_cast<int>(Fault::interrupted));
}

TEST_CASE("what is being stored when somebody asks to stop is not cut off") {
  const pid_t child = fork();
  if (child == 0) {
    InterruptWatch watch{Seconds{0.1}};
    interrupt();
    watch.let_store();
    usleep(300'000);
    _exit(0);
  }
  const int status = status_of(child);
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 0);
}

TEST_CASE("two interrupts at once are one, as timeout(1) sends them") {
  // A busy machine may hold the child up between the two until they are two, so it is tried again.
  int status = 0;
  for (int attempt = 0; attempt < 5 && (attempt == 0 || WIFSIGNALED(status)); ++attempt) {
    const pid_t child = fork();
    if (child == 0) {
      InterruptWatch watch{Seconds{0.3}};
      interrupt();
      while (!watch.requested()) usleep(100);
      interrupt();
      sleep(60);
      _exit(0);
    }
    status = status_of(child);
  }
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == static_cast<int>(Fault::interrupted));
}

TEST_CASE("the second Ctrl-C kills") {
  const pid_t child = fork();
  if (child == 0) {
    InterruptWatch watch{Seconds{60}};
    interrupt();
    while (!watch.requested()) usleep(1000);  // two signals that nobody has taken yet are one
    usleep(200'000);
    interrupt();
    sleep(60);
    _exit(0);
  }
  const int status = status_of(child);
  CHECK(WIFSIGNALED(status));
  CHECK(WTERMSIG(status) == SIGINT);
}
