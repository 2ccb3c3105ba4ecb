// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Who is told how work goes while it goes: the stages of a study speak, a console, a test or nobody listens. Beside
// the words stands the token that asks the work to stop; every stage takes both as one Watch. Implemented by cli's
// console and by the tests' listener.
#pragma once

#include <cstdint>
#include <stop_token>
#include <string>
#include <string_view>

namespace tailor::study {

/// What a progress line says. `best` is a finished phrase: "6.81 us".
struct Progress {
  std::string what;  ///< "compiling"
  std::int64_t done = 0;
  std::int64_t total = 0;  ///< 0: unknown
  std::string best;
  double share = 0;  ///< of the work that is done, where items differ much; 0: items count alike
};

/// Calls may come from several threads at once.
class Observer {
 public:
  virtual ~Observer() = default;
  virtual void warning(std::string_view words) = 0;  ///< something a reader of the results must know
  virtual void note(std::string_view words) = 0;     ///< what was done, in a sentence
  virtual void detail(std::string_view words) = 0;   ///< for those who asked for more
  /// A new `what` begins a new activity.
  virtual void progress(const Progress& progress) = 0;
  virtual void finish() = 0;  ///< the activity is over
};

/// Listens to nothing.
class Silent final : public Observer {
 public:
  void warning(std::string_view) override {}
  void note(std::string_view) override {}
  void detail(std::string_view) override {}
  void progress(const Progress&) override {}
  void finish() override {}
};

inline Silent& silent() {
  static Silent nobody;
  return nobody;
}

/// Who listens, and who may ask to stop. The observer outlives the work.
struct Watch {
  Observer& observer;
  std::stop_token stop = {};

  bool stopped() const { return stop.stop_requested(); }
};

}  // namespace tailor::study
