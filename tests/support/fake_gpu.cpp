// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Copies the fake driver's library into a folder with its configuration. A function is taken away by misspelling it in
// the copy's table of symbols: its hash no longer leads to it, so the dynamic loader does not find it. Returns the
// paths that a GPU is opened with.
#include "support/fake_gpu.h"

#include <fstream>
#include <sstream>
#include <stdexcept>

#include "base/text.h"

bool has_fake_gpu() {
  if (TAILOR_FAKE_GPU[0] == '\0') return false;
  if (!std::filesystem::exists(TAILOR_FAKE_GPU))
    throw std::runtime_error(TAILOR_FAKE_GPU " is not built: ninja -C build tests/fake_gpu/libfake_gpu.so");
  return true;
}

std::vector<std::string> FakeGpu::calls() const {
  std::vector<std::string> names;
  std::ifstream file(folder / "calls.txt");
  for (std::string line; std::getline(file, line);) names.push_back(std::move(line));
  return names;
}

FakeGpu fake_gpu(const std::filesystem::path& folder, std::string_view json, const std::vector<std::string>& without) {
  std::filesystem::create_directories(folder);
  FakeGpu made{folder, folder / "libfake_gpu.so"};
  if (without.empty()) {
    std::filesystem::copy_file(TAILOR_FAKE_GPU, made.library, std::filesystem::copy_options::overwrite_existing);
  } else {
    std::string bytes = tailor::read_file(TAILOR_FAKE_GPU);
    for (const std::string& symbol : without) {
      const std::string name = std::string(1, '\0') + symbol + std::string(1, '\0');
      const std::size_t at = bytes.find(name);
      if (at == bytes.npos) throw std::runtime_error("the fake GPU has no symbol " + symbol);
      bytes[at + 1] = '_';
    }
    tailor::write_file(made.library, bytes);
  }
  tailor::write_file(folder / "fake_gpu.json", json);
  return made;
}
