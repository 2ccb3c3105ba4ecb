// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// A fake GPU in a folder of its own: a copy of the library (tests/fake_gpu) and the file that says what it is and what
// goes wrong. Each copy is a library of its own to the loader, so several can be in one process, and worker processes
// that load it behave alike. Built without CUDA's headers there is no fake and the tests that want one are skipped.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

/// Whether this build has a fake GPU.
bool has_fake_gpu();

struct FakeGpu {
  std::filesystem::path folder;
  std::filesystem::path library;  ///< of the driver, CUPTI and NVML alike
  /// The names of calls so far, in order; needs "log": true.
  std::vector<std::string> calls() const;
};

/// Makes one in `folder`, which is made when it is not there. `json`: of tests/fake_gpu/config.h, "{}" for a healthy
/// GPU. `without`: exported symbols that the copy shall not have, as an older library ("cuStreamWaitValue32_v2").
FakeGpu fake_gpu(const std::filesystem::path& folder, std::string_view json = "{}",
                 const std::vector<std::string>& without = {});
