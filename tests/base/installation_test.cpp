// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Where a program finds its data: in prefixes, in build folders inside and outside of the sources, and nowhere. The
// folders are made for the test, and what must be found is written down beside each.
// Part of the suite `base`.
#include "base/installation.h"

#include <doctest/doctest.h>
#include <unistd.h>

#include <filesystem>
#include <string>

using namespace tailor;
namespace fs = std::filesystem;

namespace {

struct Tree {
  fs::path root = fs::canonical(fs::temp_directory_path()) / ("tailor_installation_" + std::to_string(::getpid()));
  Tree() { fs::remove_all(root); }
  ~Tree() { fs::remove_all(root); }
  void has_data(const std::string& path) const {
    fs::create_directories(root / path / "devices");
    fs::create_directories(root / path / "calibrations");
  }
};

}  // namespace

TEST_CASE("a program in a prefix finds the data of that prefix, wherever it was moved") {
  const Tree tree;
  for (const std::string prefix : {"opt/tailor", "moved here"}) {
    tree.has_data(prefix + "/share/tailor");
    const Installation found = installation_of(tree.root / prefix / "bin" / "tailor");
    CHECK(found.data == tree.root / prefix / "share/tailor");
    CHECK(found.environments == std::vector<fs::path>{tree.root / prefix / ".venv", tree.root / prefix});
  }
}

TEST_CASE("a program in a build folder finds the data of its sources, inside them or by the folder's link") {
  const Tree tree;
  tree.has_data("src of it/data");
  for (const std::string build : {"src of it/build", "elsewhere/build"}) {
    fs::create_directories(tree.root / build / "src/cli");
    fs::create_directory_symlink(tree.root / "src of it/data", tree.root / build / "data");
    const Installation found = installation_of(tree.root / build / "src/cli/tailor");
    CHECK(found.data == tree.root / "src of it/data");
    CHECK(found.environments.front() == tree.root / "src of it/.venv");
  }
}

TEST_CASE("of a prefix inside the sources and the sources the prefix decides") {
  const Tree tree;
  tree.has_data("data");
  tree.has_data("prefix/share/tailor");
  CHECK(installation_of(tree.root / "prefix/bin/tailor").data == tree.root / "prefix/share/tailor");
}

TEST_CASE("a folder of another's data is no data, and a program without any names the place where it would lie") {
  const Tree tree;
  fs::create_directories(tree.root / "prefix/share/tailor/devices");
  fs::create_directories(tree.root / "data/models");
  CHECK(installation_of(tree.root / "prefix/bin/tailor").data == tree.root / "prefix/share/tailor");
  CHECK(installation_of(tree.root / "data/bin/tailor").data == tree.root / "data/share/tailor");
  CHECK(installation_of("tailor").data == fs::path("share/tailor"));
}
