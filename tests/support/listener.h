// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// An observer for tests: keeps what a study said, a line each, by the weight of the words. Progress is counted, not
// kept; a test that wants to act in the middle of a study, for instance to stop it, gives `on_progress`. Used by the
// suite `study` in the place of a terminal.
#pragma once

#include <functional>
#include <mutex>
#include <string>

#include "study/pipeline/observer.h"

namespace tailor::study {

class Listener final : public Observer {
 public:
  void warning(std::string_view words) override { keep(warnings, words); }
  void note(std::string_view words) override { keep(notes, words); }
  void detail(std::string_view words) override { keep(details, words); }
  void progress(const Progress& progress) override {
    const std::scoped_lock lock(mutex_);
    if (on_progress) on_progress(progress);
  }
  void finish() override {}

  std::string warnings, notes, details;
  std::function<void(const Progress&)> on_progress;

 private:
  void keep(std::string& into, std::string_view words) {
    const std::scoped_lock lock(mutex_);
    into += words;
    into += "\n";
  }

  std::mutex mutex_;
};

}  // namespace tailor::study
