// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Finding NVRTC: the reason and the remedy that are told when it is not there, is not a library, or lacks a function,
// and what a found one says of itself. Folders with such files are made in a temporary place. Part of the suite
// `profiler`; the last two cases are skipped without NVRTC.
#include "profiler/compile/nvrtc.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <fstream>

#include "profiler/compile/compile.h"
#include "profiler/kernels.h"
#include "support/paths.h"

using namespace tailor::profiler;

TEST_CASE("no place to look gives a reason and a remedy") {
  const FoundNvrtc found = find_nvrtc({});
  CHECK_FALSE(found);
  CHECK(found.reason == "NVRTC was not found: no place to look in holds a libnvrtc.so");
  CHECK(found.remedy.find("tools/setup") != std::string::npos);
  CHECK(found.looked.empty());
}

TEST_CASE("a file that is no library is named with the loader's words") {
  const kernels::OwnFolder folder("nvrtc");
  const auto file = folder.path / "libnvrtc.so";
  std::ofstream(file) << "not a library";
  const FoundNvrtc found = find_nvrtc({.library = file});
  CHECK_FALSE(found);
  REQUIRE(found.looked.size() == 1);
  CHECK(found.looked[0].starts_with(file.string() + ": "));
  CHECK(found.reason.find(file.string()) != std::string::npos);
}

TEST_CASE("another library is refused for the function it lacks") {
  const FoundNvrtc found = find_nvrtc({.library = "libm.so.6"});
  CHECK_FALSE(found);
  REQUIRE(found.looked.size() == 1);
  CHECK(found.looked[0] == "libm.so.6: has no nvrtcVersion");
}

TEST_CASE("a broken virtual environment does not hide a later place") {
  const Nvrtc* api = kernels::nvrtc_or_skip();
  if (api == nullptr) return;
  const kernels::OwnFolder folder("venv");
  const auto libraries = folder.path / "lib/python3.11/site-packages/nvidia/cu13/lib";
  std::filesystem::create_directories(libraries);
  std::ofstream(libraries / "libnvrtc.so.13") << "half a download";
  NvrtcPaths paths = default_nvrtc_paths({folder.path, tailor::source_folder() + "/.venv"});
  const FoundNvrtc found = find_nvrtc(paths);
  REQUIRE(found);
  CHECK(found.looked.size() >= 2);
  CHECK(found.looked.front().find("half") == std::string::npos);
  CHECK(found.api->library == api->library);
}

TEST_CASE("a found NVRTC lies beside its builtins and knows its architectures") {
  const Nvrtc* api = kernels::nvrtc_or_skip();
  if (api == nullptr) return;
  CHECK(api->major >= 12);
  CHECK(std::is_sorted(api->archs.begin(), api->archs.end()));
  for (const int arch : api->archs) CHECK(nearest_arch(*api, fmt::format("sm_{}", arch)) == fmt::format("sm_{}", arch));
  CHECK(nearest_arch(*api, "sm_10") == fmt::format("sm_{}", api->archs.front()));
  CHECK(nearest_arch(*api, "sm_999") == fmt::format("sm_{}", api->archs.back()));
  CHECK(std::count(api->archs.begin(), api->archs.end(), 90) == 1);
  CHECK(api->library.is_absolute());
  CHECK(api->library_bytes > 0);
  if (!api->headers_reason.empty()) return;
  const auto holds_half = [](const auto& folder) { return std::filesystem::exists(folder / "cuda_fp16.h"); };
  CHECK(std::any_of(api->include_folders.begin(), api->include_folders.end(), holds_half));
}
