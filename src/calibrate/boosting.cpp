// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Trees by XGBoost's C interface. Numbers come in; its trees come back as the JSON that it dumps, and go out as ours.
// Called by learn.cpp. The library is loaded when trees are first grown: to load it takes a third of the time in which
// a command starts, and nearly no command learns. One thread, exact splits and no sampling: equal rows, equal trees.
// Numbers are cut to five digits here, so that what is kept in files is what cross-validation judged.
#include "calibrate/boosting.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>

#include "base/error.h"
#include "base/json.h"
#include "base/library.h"
#include "base/stop.h"

#ifdef TAILOR_XGBOOST
#include <dlfcn.h>
#include <xgboost/c_api.h>
#endif

namespace tailor::calibrate {

std::string boosting_remedy() { return "install libxgboost-dev (tools/setup does) and build again"; }

#ifndef TAILOR_XGBOOST

std::string boosting_library() { return ""; }
std::vector<ir::Tree> boosted(std::span<const double>, std::span<const double>, std::span<const double>,
                              const Boosting&, const std::stop_token&) {
  throw Error(Fault::missing, "this build has no XGBoost, which grows the trees of what is learned", boosting_remedy());
}

#else

namespace {

/// What is called of the library; none where it is not there.
struct XGBoost {
  Library library;
  bool is_whole = true;  ///< whether it has all of these
  decltype(&XGBoostVersion) version = nullptr;
  decltype(&XGBGetLastError) last_error = nullptr;
  decltype(&XGDMatrixCreateFromMat) create_matrix = nullptr;
  decltype(&XGDMatrixSetFloatInfo) set_floats = nullptr;
  decltype(&XGDMatrixFree) free_matrix = nullptr;
  decltype(&XGBoosterCreate) create_booster = nullptr;
  decltype(&XGBoosterSetParam) set_parameter = nullptr;
  decltype(&XGBoosterUpdateOneIter) grow_tree = nullptr;
  decltype(&XGBoosterDumpModelEx) dump = nullptr;
  decltype(&XGBoosterFree) free_booster = nullptr;

  XGBoost() {
    const std::filesystem::path files[] = {"libxgboost.so.0", "libxgboost.so"};
    library = open_library(files, "XGBoost (libxgboost.so)", "XGBoostVersion");
    find("XGBoostVersion", version);
    find("XGBGetLastError", last_error);
    find("XGDMatrixCreateFromMat", create_matrix);
    find("XGDMatrixSetFloatInfo", set_floats);
    find("XGDMatrixFree", free_matrix);
    find("XGBoosterCreate", create_booster);
    find("XGBoosterSetParam", set_parameter);
    find("XGBoosterUpdateOneIter", grow_tree);
    find("XGBoosterDumpModelEx", dump);
    find("XGBoosterFree", free_booster);
  }
  template <class Function>
  void find(const char* name, Function& function) {
    function = library ? reinterpret_cast<Function>(dlsym(library.handle, name)) : nullptr;
    is_whole = is_whole && function != nullptr;
  }
};

const XGBoost& xgboost() {
  static const XGBoost loaded;
  return loaded;
}

void expect(int state) {
  if (state != 0) throw Error(Fault::failed, fmt::format("XGBoost: {}", xgboost().last_error()));
}

struct Table {
  DMatrixHandle handle = nullptr;
  Table() = default;
  Table(const Table&) = delete;
  Table& operator=(const Table&) = delete;
  ~Table() {
    if (handle != nullptr) xgboost().free_matrix(handle);
  }
};
struct Booster {
  BoosterHandle handle = nullptr;
  Booster() = default;
  Booster(const Booster&) = delete;
  Booster& operator=(const Booster&) = delete;
  ~Booster() {
    if (handle != nullptr) xgboost().free_booster(handle);
  }
};

/// The shortest decimal of five digits.
double five_digits(double value) { return std::stod(fmt::format("{:.5g}", value)); }

std::int32_t add_node(ir::Tree& tree, const Json& node) {
  const auto place = static_cast<std::int32_t>(tree.size());
  tree.emplace_back();
  if (const Json* leaf = node.find("leaf")) {
    tree.back().value = five_digits(leaf->number().value_or(0));
    return place;
  }
  const Json *split = node.find("split"), *threshold = node.find("split_condition"), *children = node.find("children");
  const Json* yes = node.find("yes");
  if (split == nullptr || split->string() == nullptr || threshold == nullptr || children == nullptr ||
      children->array() == nullptr || children->array()->size() != 2 || yes == nullptr)
    throw Error(Fault::failed, "XGBoost dumped a tree in an unknown form");
  const Json::Array& both = *children->array();
  const Json* first = both[0].find("nodeid");
  const bool in_order = first != nullptr && first->integer() == yes->integer();
  ir::TreeNode made{std::stoi(split->string()->substr(1)), five_digits(threshold->number().value_or(0)), 0, 0};
  made.left = add_node(tree, both[in_order ? 0 : 1]);
  made.right = add_node(tree, both[in_order ? 1 : 0]);
  tree[static_cast<std::size_t>(place)] = made;
  return place;
}

std::vector<float> floats(std::span<const double> values) { return {values.begin(), values.end()}; }

}  // namespace

std::string boosting_library() {
  if (!xgboost().is_whole) return "";
  int major = 0, minor = 0, patch = 0;
  xgboost().version(&major, &minor, &patch);
  return fmt::format("XGBoost {}.{}.{}", major, minor, patch);
}

std::vector<ir::Tree> boosted(std::span<const double> rows, std::span<const double> targets,
                              std::span<const double> weights, const Boosting& options, const std::stop_token& stop) {
  if (!xgboost().is_whole)
    throw Error(Fault::missing, "XGBoost, which grows the trees of what is learned, was not found", boosting_remedy());
  const std::vector<float> cells = floats(rows), labels = floats(targets), shares = floats(weights);
  Table matrix;
  expect(xgboost().create_matrix(cells.data(), targets.size(), options.laws.size(), NAN, &matrix.handle));
  expect(xgboost().set_floats(matrix.handle, "label", labels.data(), labels.size()));
  expect(xgboost().set_floats(matrix.handle, "weight", shares.data(), shares.size()));
  Booster booster;
  expect(xgboost().create_booster(&matrix.handle, 1, &booster.handle));
  const std::pair<const char*, std::string> settings[] = {
      {"verbosity", "0"},
      {"nthread", "1"},
      {"objective", "reg:squarederror"},
      {"base_score", "0"},
      {"tree_method", "exact"},
      {"max_depth", fmt::format("{}", options.depth)},
      {"eta", fmt::format("{}", options.rate)},
      {"min_child_weight", fmt::format("{}", options.least_weight)},
      {"monotone_constraints", fmt::format("({})", fmt::join(options.laws, ","))},
  };
  for (const auto& [key, value] : settings) expect(xgboost().set_parameter(booster.handle, key, value.c_str()));
  for (int i = 0; i < options.trees; ++i) {
    stop_if_asked(stop);
    expect(xgboost().grow_tree(booster.handle, i, matrix.handle));
  }
  bst_ulong count = 0;
  const char** dumped = nullptr;
  expect(xgboost().dump(booster.handle, "", 0, "json", &count, &dumped));
  std::vector<ir::Tree> trees;
  for (bst_ulong i = 0; i < count; ++i) {
    ir::Tree tree;
    add_node(tree, parse_json(dumped[i], "a tree of XGBoost"));
    trees.push_back(std::move(tree));
  }
  return trees;
}

#endif

}  // namespace tailor::calibrate
