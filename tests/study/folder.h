// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Where the tests of studies find models and keep databases. In: nothing. Out: the root of the source tree, and folders
// that are empty at first and gone with the object. Included by the tests of this folder.
// Each folder has a number, so two of them may live at a time.
#pragma once

#include <unistd.h>

#include <filesystem>
#include <string>

#include "support/paths.h"

namespace tailor::study {

inline const std::filesystem::path source = source_folder();

/// A folder of its own for each object.
struct Folder {
  Folder() : path(std::filesystem::temp_directory_path() / name()) {
    std::filesystem::remove_all(path);
    std::filesystem::create_directories(path);
  }
  ~Folder() { std::filesystem::remove_all(path); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  std::filesystem::path path;

 private:
  static std::string name() {
    static int made = 0;
    return "tailor_study_" + std::to_string(::getpid()) + "_" + std::to_string(made++);
  }
};

}  // namespace tailor::study
