// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Streams, the progress line, and interrupts. In: words of the stages, a signal. Out: text on stderr, a request to
// stop.
//
// Ctrl-C is received and not handled: SIGINT is blocked in every thread, and one thread of ours waits for it. So no
// function runs in the middle of another, and a library that installs a handler of its own, as NVRTC does while it
// compiles, never gets to run it. The second one ends the process as if nobody had listened.
#include "cli/terminal.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cassert>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <utility>

#include "base/error.h"
#include "base/text.h"
#include "report/width.h"

namespace tailor::cli {

namespace {

constexpr int unknown_width = 100;
constexpr int unknown_help_width = 80;
constexpr double shortest_gap = 0.1;  ///< seconds between two drawings of the progress line
/// Between two lines of progress where no line can be redrawn, the first of an activity's among them.
constexpr Seconds first_gap{10}, longest_gap{60};
constexpr double least_share = 0.01;  ///< of work whose items differ, before the rest is estimated from it
constexpr std::string_view erase_line = "\r\x1b[K";

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

int stream_width(int descriptor) {
  winsize size{};
  return ioctl(descriptor, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 0;
}

/// What COLUMNS asks for; 0 when it holds no width. Shells set it for themselves, so it counts only where it was
/// exported.
int columns_asked() {
  const std::string word = environment("COLUMNS");
  int width = 0;
  const auto [end, fault] = std::from_chars(word.data(), word.data() + word.size(), width);
  return fault == std::errc{} && end == word.data() + word.size() && width > 0 ? width : 0;
}

std::string remaining(double seconds) {
  if (seconds < 100) return fmt::format("{:.0f} s left", seconds);
  if (seconds < 6000) return fmt::format("{:.0f} min left", seconds / 60);
  return fmt::format("{:.1f} h left", seconds / 3600);
}

std::atomic<bool> watched = false;  ///< an InterruptWatch lives

}  // namespace

Terminal current_terminal() {
  Terminal out;
  out.output_is_terminal = isatty(STDOUT_FILENO) == 1;
  out.errors_is_terminal = isatty(STDERR_FILENO) == 1;
  const int output = stream_width(STDOUT_FILENO), errors = stream_width(STDERR_FILENO);
  const auto first = [](std::initializer_list<int> widths) {
    for (const int width : widths)
      if (width > 0) return width;
    return unknown_width;
  };
  out.width = first({output, columns_asked(), errors});
  out.errors_width = first({errors, output});
  out.help_width = output > 0 ? output : columns_asked() > 0 ? columns_asked() : unknown_help_width;
  out.dumb = environment("TERM") == "dumb";
  out.no_colour = !environment("NO_COLOR").empty();
  return out;
}

std::string broken_lines(std::string_view text, int width) {
  std::vector<std::string> out;
  for (const std::string_view line : split(text, '\n')) {
    if (report::display_width(line) <= width) {
      out.emplace_back(line);
      continue;
    }
    const std::size_t begin = std::min(line.find_first_not_of(' '), line.size());
    std::string lead(begin, ' ');
    const int room = std::max(20, width - static_cast<int>(begin) - 2);
    for (const std::string& part : report::wrapped(line.substr(begin), room, true)) {
      out.push_back(lead + part);
      lead = std::string(begin + 2, ' ');
    }
  }
  return fmt::format("{}", fmt::join(out, "\n"));
}

bool coloured(Colour choice, const Terminal& terminal, bool stream_is_terminal) {
  if (choice != Colour::automatic) return choice == Colour::always;
  return stream_is_terminal && !terminal.dumb && !terminal.no_colour;
}

bool coloured_output(Colour choice, const Terminal& terminal) {
  return coloured(choice, terminal, terminal.output_is_terminal);
}

bool coloured_errors(Colour choice, const Terminal& terminal) {
  return coloured(choice, terminal, terminal.errors_is_terminal);
}

Sink standard_error() {
  return [](std::string_view text) {
    std::fwrite(text.data(), 1, text.size(), stderr);
    std::fflush(stderr);
  };
}

std::string progress_line(const Progress& progress, Seconds elapsed, int width) {
  std::string line = fmt::format("{} {}", progress.what, with_commas(progress.done));
  const auto done = static_cast<double>(progress.done);
  const auto total = static_cast<double>(progress.total);
  if (progress.total > 0) line += fmt::format("/{} ({:.0f} %)", with_commas(progress.total), 100 * done / total);
  if (progress.done > 0 && elapsed.value > 0) line += fmt::format(", {}/s", three_figures(done / elapsed.value));
  const double share = progress.share > 0 ? progress.share : progress.done > 1 && total > 0 ? done / total : 0;
  // What one small item among large ones took says nothing of these.
  const bool is_known = share >= (progress.share > 0 ? least_share : 0);
  if (share > 0 && share < 1 && is_known)
    line += ", " + remaining(elapsed.value / share * (1 - share));
  else if ((share == 0 ? progress.done <= 1 : !is_known) && elapsed.value >= 1)
    line += fmt::format(", {:.0f} s so far", elapsed.value);
  if (!progress.best.empty()) line += ", best " + progress.best;
  return report::elided(report::printable(line), width);
}

Console::Console(Sink sink, Options options, Clock clock)
    : sink_(std::move(sink)), options_(options), clock_(std::move(clock)) {}

Console::~Console() {
  if (pulse_.joinable()) {
    pulse_.request_stop();
    pulse_.join();
  }
  finish();
}

void Console::warning(std::string_view words) {
  {
    const std::scoped_lock lock(mutex_);
    if (!warned_.emplace(words).second) return;
  }
  say("warning: ", "1;33", words);
}

void Console::note(std::string_view words) {
  if (options_.verbosity != Verbosity::quiet) say("", "", words);
}

void Console::detail(std::string_view words) {
  if (options_.verbosity == Verbosity::verbose) say("", "2", words);
}

void Console::say(std::string_view lead, std::string_view code, std::string_view words) {
  const std::scoped_lock lock(mutex_);
  say_line(lead, code, words);
}

void Console::say_line(std::string_view lead, std::string_view code, std::string_view words) {
  const std::string line = std::exchange(line_, "");
  if (!line.empty()) sink_(erase_line);
  std::string text = fmt::format("{}{}", lead, words);
  if (options_.wrap) text = broken_lines(text, options_.width);
  if (options_.colour && !code.empty()) {
    const std::size_t painted = lead.empty() ? text.size() : lead.size();
    text = fmt::format("\x1b[{}m{}\x1b[0m{}", code, text.substr(0, painted), text.substr(painted));
  }
  sink_(text + "\n");
  if (line.empty()) return;
  sink_(line);
  line_ = line;
}

void Console::progress(const Progress& progress) {
  if (options_.verbosity == Verbosity::quiet) return;
  const std::scoped_lock lock(mutex_);
  const Seconds now = clock_();
  if (what_.empty()) next_line_ = now + first_gap;
  if (progress.what != what_) {
    if (!what_.empty()) spent_[what_] += now - started_;
    what_ = progress.what;
    started_ = now;
    drawn_.reset();
  }
  last_ = progress;
  show_progress(now);
  if (pulse_.joinable() || options_.pulse.value <= 0) return;
  pulse_ = std::jthread([this](const std::stop_token& stop) {
    const std::chrono::duration<double> gap(options_.pulse.value);
    while (!stop.stop_requested()) {
      {
        std::unique_lock waiting(mutex_);
        beat_.wait_for(waiting, stop, gap, [] { return false; });
      }
      if (!stop.stop_requested()) tick();
    }
  });
}

void Console::tick() {
  const std::scoped_lock lock(mutex_);
  if (!what_.empty()) show_progress(clock_());
}

void Console::show_progress(Seconds now) {
  const Seconds elapsed = spent_[what_] + (now - started_);
  if (!options_.redraw) {
    if (now < next_line_) return;
    next_line_ = now + std::clamp(elapsed, first_gap, longest_gap);
    return say_line("", "", progress_line(last_, elapsed, options_.width));
  }
  if (drawn_ && (now - *drawn_).value < shortest_gap) return;
  drawn_ = now;
  // A line as wide as the screen would wrap on some terminals, and a wrapped line cannot be erased.
  std::string line = progress_line(last_, elapsed, options_.width - 1);
  sink_(std::string(erase_line) + line);
  line_ = std::move(line);
}

void Console::erase() {
  if (!line_.empty()) sink_(erase_line);
  line_.clear();
  what_.clear();
  spent_.clear();
  drawn_.reset();
}

void Console::finish() {
  const std::scoped_lock lock(mutex_);
  erase();
}

namespace {

sigset_t interrupt_alone() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGINT);
  return set;
}

/// Without destructors: other threads may be anywhere.
[[noreturn]] void end_interrupted(const std::string& message, const std::string& hint) {
  const Error why(Fault::interrupted, message, hint);
  const std::string words = error_text(why);
  [[maybe_unused]] const auto written = write(STDERR_FILENO, words.data(), words.size());
  std::_Exit(static_cast<int>(why.fault));
}

/// As if nobody had listened.
void die_of_interrupt(const sigset_t& interrupt) {
  signal(SIGINT, SIG_DFL);
  pthread_sigmask(SIG_UNBLOCK, &interrupt, nullptr);
  raise(SIGINT);
}

}  // namespace

InterruptWatch::InterruptWatch(Seconds patience) : usual_patience_(patience.value), patience_(patience.value) {
  assert(!watched);
  watched = true;
  const sigset_t interrupt = interrupt_alone();
  sigset_t before;
  pthread_sigmask(SIG_BLOCK, &interrupt, &before);  // threads inherit it
  was_blocked_ = sigismember(&before, SIGINT) == 1;
  listener_ = std::thread([this] { listen(); });
}

InterruptWatch::~InterruptWatch() {
  {
    const std::scoped_lock lock(words_mutex_);  // not while the last resort ends the process: that goes on from there
    over_ = true;
  }
  pthread_kill(listener_.native_handle(), SIGINT);  // wakes the listener alone
  listener_.join();
  watched = false;
  if (was_blocked_) return;  // by a program that lets nothing end it but this
  const sigset_t interrupt = interrupt_alone();
  pthread_sigmask(SIG_UNBLOCK, &interrupt, nullptr);
}

void InterruptWatch::set_last_words(std::function<std::string()> words) const {
  const std::scoped_lock lock(words_mutex_);
  last_words_ = std::move(words);
  if (last_words_) usual_patience_ = std::min(usual_patience_.load(), 0.2);
  if (last_words_) stored();
}

namespace {

/// Seconds in all that the main thread was ready and other programs had the processors, as Linux counts them; 0 where
/// nobody does. They do not count as patience: on a busy machine work comes later to where it looks at the token.
double waits_for_processor() {
  std::ifstream file("/proc/self/schedstat");
  double running = 0, waiting = 0;  // nanoseconds
  return file >> running >> waiting ? waiting / 1e9 : 0;
}
constexpr double most_behind = 1;  ///< seconds, however busy the machine is

}  // namespace

void InterruptWatch::listen() {
  const sigset_t interrupt = interrupt_alone();
  int signal = 0;
  if (sigwait(&interrupt, &signal) != 0 || over_) return;
  source_.request_stop();
  constexpr double slice = 0.05;
  double behind_others = waits_for_processor();
  for (double waited = 0, all = 0; waited < patience_ && all < patience_ + most_behind; all += slice) {
    const double before = std::exchange(behind_others, waits_for_processor());
    waited += std::max(0.0, slice - std::max(0.0, behind_others - before));
    const timespec wait{0, static_cast<long>(slice * 1e9)};
    const int heard = sigtimedwait(&interrupt, nullptr, &wait);
    if (over_) return;
    // A second one right behind the first is the same one: timeout(1) sends it to the process and to its group.
    if (heard == SIGINT && all > 0) die_of_interrupt(interrupt);
  }
  const std::scoped_lock lock(words_mutex_);
  if (over_) return;
  ::signal(SIGINT, SIG_DFL);  // who cannot wait for the words kills
  pthread_sigmask(SIG_UNBLOCK, &interrupt, nullptr);
  const std::string message = last_words_ ? last_words_() : "interrupted";
  end_interrupted(message, holds_nothing_ ? ""
                                          : "the step at hand does not look for an interrupt and was cut off; what "
                                            "was shown or stored before it is complete");
}

}  // namespace tailor::cli
