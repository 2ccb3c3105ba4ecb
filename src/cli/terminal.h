// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The person at the other end. stdout is data and is written elsewhere; this is the console on stderr (notes, warnings,
// one progress line) and what is known about the terminal. The only place that reads the environment: NO_COLOR, TERM
// and COLUMNS. Output goes through a sink, so tests read what a person would see.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>

#include "base/clock.h"
#include "study/pipeline/observer.h"

namespace tailor::cli {

enum class Colour : std::uint8_t { automatic, always, never };
/// quiet: warnings only. normal: notes. verbose: details too.
enum class Verbosity : std::uint8_t { quiet, normal, verbose };

/// What the process was started on.
struct Terminal {
  bool output_is_terminal = false;  ///< stdout
  bool errors_is_terminal = false;  ///< stderr
  int width = 100;                  ///< columns of answers; of what is no terminal COLUMNS, or 100 when nobody knows
  int errors_width = 100;           ///< columns of the terminal that the progress line stands on
  int help_width = 80;              ///< columns of pages of help: 80 when nobody knows
  bool dumb = false;                ///< TERM=dumb: no colour, no redrawn line
  bool no_colour = false;           ///< NO_COLOR is set and not empty
};

/// Asks the system and the environment.
Terminal current_terminal();

/// Lines for a person at a screen of this width, broken between words only; each line that is too long goes on below,
/// two columns further in than it began.
std::string broken_lines(std::string_view text, int width);
/// Whether to colour a stream. `always` wins over the environment, since a person typed it.
bool coloured(Colour choice, const Terminal& terminal, bool stream_is_terminal);
bool coloured_output(Colour choice, const Terminal& terminal);
bool coloured_errors(Colour choice, const Terminal& terminal);

using Sink = std::function<void(std::string_view)>;
/// Writes to stderr.
Sink standard_error();

using study::Progress;

/// One line of progress without escapes, at most `width` columns: "compiling 120/640 (18 %), 41.2/s, 13 s left, best
/// 6.81 us". The time left is known from the second item on, or once a share of the work is done; before, "12 s so
/// far".
std::string progress_line(const Progress& progress, Seconds elapsed, int width);

/// Notes and the progress line share one stream: a note erases the line, speaks, and the line comes back. Safe to call
/// from several threads.
class Console final : public study::Observer {
 public:
  struct Options {
    Verbosity verbosity = Verbosity::normal;
    bool colour = false;
    bool redraw = false;  ///< the stream is a terminal that can redraw a line
    int width = 100;
    bool wrap = false;  ///< the stream is a terminal: lines are broken between words. In a file each stays one line
    /// How often a thread of its own calls tick(), so that a step which takes long is no silence; 0: nobody does.
    Seconds pulse = {0};
  };
  Console(Sink sink, Options options, Clock clock);
  ~Console() override;
  Console(const Console&) = delete;
  Console& operator=(const Console&) = delete;

  void warning(std::string_view words) override;  ///< shown at every verbosity
  void note(std::string_view words) override;     ///< not with -q
  void detail(std::string_view words) override;   ///< with -v only
  /// Starts or moves the progress line; each `what` has a clock of its own, which stands still while there is another.
  /// Redrawn at most ten times a second. Where no line can be redrawn it is a line of its own after ten seconds of an
  /// activity, and again after ten more, later after a minute.
  void progress(const Progress& progress) override;
  /// Erases the progress line.
  void finish() override;
  /// Says again how far the activity is that was last heard of, with the time that has passed since.
  void tick();

 private:
  void say(std::string_view lead, std::string_view code, std::string_view words);
  void say_line(std::string_view lead, std::string_view code, std::string_view words);
  void show_progress(Seconds now);
  void erase();

  Sink sink_;
  Options options_;
  Clock clock_;
  std::mutex mutex_;
  std::set<std::string, std::less<>> warned_;  ///< a warning is said once, however many batches of work give it
  std::string what_;
  std::string line_;  ///< what stands on the screen now
  Seconds started_;
  std::map<std::string, Seconds> spent_;  ///< on each activity before it was last begun
  std::optional<Seconds> drawn_;
  Progress last_;      ///< of `what_`
  Seconds next_line_;  ///< when a stream that cannot redraw gets the next one
  std::condition_variable_any beat_;
  std::jthread pulse_;
};

/// While one lives, the first Ctrl-C asks to stop and the second kills. At most one at a time; every command has one,
/// and makes it before it starts a thread. Work ends by itself where it looks at the token. The last resort is for what
/// cannot look: a call into another library (one text in NVRTC, a driver that hangs) or a read from a pipe. What has
/// not ended `patience` after the first Ctrl-C, the time not counted that other programs had the processors, is ended
/// from here, with the word and the exit code that Error(interrupted) has; what a database was told is stored by then,
/// and what a command holds is shown.
class InterruptWatch {
 public:
  explicit InterruptWatch(Seconds patience = {0.3});
  ~InterruptWatch();
  InterruptWatch(const InterruptWatch&) = delete;
  InterruptWatch& operator=(const InterruptWatch&) = delete;
  std::stop_token token() const { return source_.get_token(); }
  bool requested() const { return source_.stop_requested(); }
  /// For commands that hold nothing but what they read, and write at most a file in one go: they may be ended from here
  /// sooner, and nothing is lost by that. Taking half a million nodes down one by one takes longer than ending may.
  void holds_nothing() const {
    patience_ = usual_patience_ = 0.2;
    holds_nothing_ = true;
  }
  /// For the moment in which what was found is stored: a disk may be slow, and nothing is to be lost to the last
  /// resort.
  void let_store() const { patience_ = 5; }
  /// That moment is over. After a Ctrl-C the command is about to end by itself.
  void stored() const {
    if (!requested()) patience_ = usual_patience_.load();
  }
  /// What the last resort does before it ends the process: shows what the command holds, and returns the word for it.
  /// Called from another thread, while the command is stuck, and sooner than without, because nothing is lost by it.
  /// Empty: nothing is held any more.
  void set_last_words(std::function<std::string()> words) const;

 private:
  void listen();

  mutable std::atomic<double> usual_patience_, patience_;  ///< seconds; what it is now
  mutable std::mutex words_mutex_;
  mutable std::function<std::string()> last_words_;
  mutable std::atomic<bool> holds_nothing_ = false;
  std::stop_source source_;
  std::atomic<bool> over_ = false;
  bool was_blocked_ = false;  ///< SIGINT, when this was made
  std::thread listener_;
};

}  // namespace tailor::cli
