// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Reading what XLA left behind: the small dump that ships, the same as a digest, damaged ones, and the reference
// folders where they are at hand. What the buffer assignment says of kernels that work in place is held against what
// their PTX shows, two sources that know nothing of each other.
#include "profiler/xla/xla_dump.h"
#include "reference/memory_layout.h"

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <functional>

#include "base/error.h"
#include "base/text.h"
#include "profiler/xla/shipped.h"
#include "profiler/xla/xla_check.h"
#include "profiler/xla/xla_inplace.h"
#include "support/paths.h"
#include "support/skip.h"

using namespace tailor;
using namespace tailor::profiler;
namespace fs = std::filesystem;

namespace {

const std::string dump_data = third_party_folder();

/// A folder of its own, gone afterwards.
class Folder {
 public:
  explicit Folder(const std::string& name)
      : path(fs::temp_directory_path() / fmt::format("tailor_xla_{}_{}", name, ::getpid())) {
    fs::remove_all(path);
    fs::create_directories(path);
  }
  ~Folder() { fs::remove_all(path); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  const fs::path path;
};

/// A copy of the shipped dump without the files whose names end so.
void copy_without(const fs::path& to, const std::vector<std::string>& endings) {
  for (const fs::directory_entry& file : fs::directory_iterator(shipped)) {
    const std::string name = file.path().filename().string();
    if (std::none_of(endings.begin(), endings.end(), [&](const std::string& end) { return name.ends_with(end); }))
      fs::copy_file(file.path(), to / name);
  }
}

XlaModule read_only_module(const fs::path& folder) {
  const auto modules = xla_modules(folder);
  return read_xla(choose_module(modules, ""));
}

/// The module of a dump again as a digest.
void write_digest(const XlaModule& module, const fs::path& folder, const std::string& name) {
  std::vector<std::string> kernels;
  for (const XlaLaunch& launch : read_launches(module.source)) {
    const auto dims = [](const auto& d) { return fmt::format("[{}]", fmt::join(d, ",")); };
    const std::string body =
        launch.entry.empty()
            ? fmt::format(R"({{"thunk":"{}"}})", launch.thunk)
            : fmt::format(R"({{"thunk":"{}","entry":"{}","grid":{},"block":{},"smem":{}}})", launch.thunk, launch.entry,
                          dims(launch.grid), dims(launch.block), launch.dynamic_shared);
    kernels.push_back(fmt::format(R"({{"name":"{}","launches":[{}]}})", launch.instruction, body));
  }
  write_file(folder / (name + ".json"), fmt::format(R"({{"kernels":[{}]}})", fmt::join(kernels, ",\n")));
  write_file(folder / (name + ".optimized.hlo"), *module.text);
  fs::create_directories(folder / "ptx" / name);
  for (const XlaKernel& kernel : module.kernels)
    fs::copy_file(kernel.ptx, folder / "ptx" / name / (kernel.entry + ".ptx"));
}

std::string error_of(const std::function<void()>& work) {
  try {
    work();
  } catch (const Error& error) {
    return error_text(error);
  }
  return {};
}

simulator::PtxModule parsed(const XlaKernel& kernel) {
  return simulator::parse_ptx(read_file(kernel.ptx), kernel.ptx.string());
}

/// What the PTX of a kernel says of its results, by itself.
std::vector<XlaArgument> told_by_ptx(const XlaKernel& kernel) {
  std::vector<XlaArgument> arguments = kernel.arguments;
  for (std::size_t i = 0; i < arguments.size(); ++i) arguments[i].shares = -1;
  const simulator::PtxModule ptx = parsed(kernel);
  CHECK(share_in_place(pointer_use(simulator::entry_of(ptx, kernel.entry)), kernel.operands, arguments));
  return arguments;
}

std::vector<fs::path> reference_folders() {
  std::vector<fs::path> folders;
  for (const char* name : {"xla_reference", "xla_reference/workloads"})
    if (!dump_data.empty() && fs::exists(fs::path(dump_data) / name)) folders.push_back(fs::path(dump_data) / name);
  return folders;
}

}  // namespace

TEST_CASE("a dump's kernels are tied to their fusions") {
  const XlaModule module = read_only_module(shipped);
  CHECK(module.source.name == "module_0000.xla_small");
  CHECK(module.kernels.size() == 8);
  CHECK(module.unused_entries.empty());
  REQUIRE(module.others.size() == 1);
  CHECK(module.others[0].thunk == "CublasLtMatmul");
  for (const XlaKernel& kernel : module.kernels) {
    CAPTURE(kernel.entry);
    CHECK(kernel.reason.empty());
    CHECK(kernel.assignment_known);
    CHECK(kernel.times == 1);
    CHECK(kernel.call_sites.size() == 1);
    const simulator::PtxModule ptx = parsed(kernel);
    const simulator::PtxFunction& entry = simulator::entry_of(ptx, kernel.entry);
    CHECK(entry.params.size() == kernel.arguments.size());
    CHECK(entry.reqntid[0] == kernel.launch.block[0]);
    const ir::Graph graph = graph_of(module, kernel);
    CHECK(static_cast<std::int32_t>(ir::parameters(graph).size()) == kernel.operands);
    CHECK(graph.outputs.size() + static_cast<std::size_t>(kernel.operands) == kernel.arguments.size());
  }
}

TEST_CASE("a result that is written in place shares its operand's memory") {
  const XlaModule module = read_only_module(shipped);
  const XlaKernel& update = kernel_named(module, "loop_dynamic_update_slice_fusion");
  REQUIRE(update.arguments.size() == 4);
  CHECK(update.operands == 3);
  CHECK(update.arguments[0].name == "cache");
  CHECK(update.arguments[3].shares == 0);
  CHECK(update.kind == "kLoop");
  const XlaKernel& two = kernel_named(module, "loop_divide_transpose_fusion");
  REQUIRE(two.arguments.size() == 5);
  CHECK(two.arguments[3].name == "loop_divide_transpose_fusion{0}");
  CHECK(ir::text(two.arguments[4].shape) == "f32[64,8]");
}

TEST_CASE("a digest says of a module what its dump says") {
  const Folder folder("digest");
  const XlaModule dump = read_only_module(shipped);
  write_digest(dump, folder.path, "small.h200.notriton");
  const XlaModule digest = read_only_module(folder.path);
  CHECK(digest.source.kind == XlaFolder::digest);
  REQUIRE(digest.kernels.size() == dump.kernels.size());
  for (std::size_t i = 0; i < dump.kernels.size(); ++i) {
    const XlaKernel &one = dump.kernels[i], &other = digest.kernels[i];
    CAPTURE(one.entry);
    CHECK(one.entry == other.entry);
    CHECK(one.call_sites == other.call_sites);
    CHECK(one.launch.grid == other.launch.grid);
    CHECK(one.launch.block == other.launch.block);
    CHECK(one.computation == other.computation);
    CHECK(one.operands == other.operands);
    CHECK(other.reason.empty());
    CHECK_FALSE(other.assignment_known);
  }
}

TEST_CASE("what is missing of one kernel costs no other") {
  const Folder folder("holes");
  const std::string lost = read_only_module(shipped).kernels[2].ptx.filename().string();
  copy_without(folder.path, {lost, "buffer-assignment.txt"});
  const XlaModule module = read_only_module(folder.path);
  REQUIRE(module.kernels.size() == 8);
  for (std::size_t i = 0; i < 8; ++i)
    CHECK(module.kernels[i].reason ==
          (i == 2 ? "not found: PTX with the entry '" + module.kernels[2].entry + "'" : ""));
  CHECK_FALSE(module.kernels[0].assignment_known);
  const XlaCheck told = check(module, module.kernels[2]);
  CHECK(told.outcome == XlaOutcome::not_bound);
  CHECK(told.reason == module.kernels[2].reason);
}

TEST_CASE("without metadata a launch finds its fusion by name") {
  const Folder folder("names");
  copy_without(folder.path, {"thunk_metadata.txt"});
  const XlaModule module = read_only_module(folder.path);
  const XlaModule whole = read_only_module(shipped);
  REQUIRE(module.kernels.size() == whole.kernels.size());
  for (std::size_t i = 0; i < module.kernels.size(); ++i) {
    CHECK(module.kernels[i].reason.empty());
    CHECK(module.kernels[i].computation == whole.kernels[i].computation);
  }
}

TEST_CASE("a launch whose line cannot be read is not run, and the others are") {
  const Folder folder("line");
  copy_without(folder.path, {});
  const XlaModule whole = read_only_module(folder.path);
  const fs::path list = folder.path / "module_0000.xla_small.thunk_sequence.txt";
  const std::string right = read_file(list);
  const auto broken = [&](const std::string& from, const std::string& to) {
    std::string text = right;
    const std::size_t at = text.find(from);
    REQUIRE(at != text.npos);
    write_file(list, text.replace(at, from.size(), to));
    const XlaModule module = read_only_module(folder.path);
    REQUIRE(module.kernels.size() == whole.kernels.size());
    std::vector<std::string> reasons;
    for (const XlaKernel& kernel : module.kernels)
      if (!kernel.reason.empty()) reasons.push_back(kernel.reason);
    REQUIRE(reasons.size() == 1);
    return reasons[0];
  };
  CHECK(broken("grid: [1, ", "grid: [x, ").find("expected a number") != std::string::npos);
  CHECK(broken("threads: [", "threads: [-").find("expected sizes of 1 and more") != std::string::npos);
  CHECK(broken(" bytes", " words").find("thunk_sequence.txt line ") != std::string::npos);
  CHECK(broken("threads: [", "threads: [7, ").find("expected three numbers") != std::string::npos);
}

TEST_CASE("a folder that cannot be read says what was looked for") {
  const Folder folder("bad");
  CHECK(error_of([&] { xla_modules(folder.path / "none"); }).find("no such folder") != std::string::npos);
  CHECK(error_of([&] { xla_modules(folder.path); }).find("gpu_after_optimizations.txt") != std::string::npos);
  copy_without(folder.path, {"thunk_sequence.txt"});
  CHECK(error_of([&] { read_only_module(folder.path); }).find("not found: module_0000.xla_small.thunk_sequence.txt") !=
        std::string::npos);
  write_file(folder.path / "x.json", "{\"kernels\": 3}");
  write_file(folder.path / "x.optimized.hlo", "HloModule m\nENTRY e {\n  ROOT p = f32[] parameter(0)\n}\n");
  CHECK(error_of([&] { read_xla(choose_module(xla_modules(folder.path / "x.json"), "")); }).find("list of kernels") !=
        std::string::npos);
}

TEST_CASE("of several modules one must be named") {
  const Folder folder("several");
  const XlaModule dump = read_only_module(shipped);
  for (const char* name : {"first", "second", "third.again"}) write_digest(dump, folder.path, name);
  const auto modules = xla_modules(folder.path);
  CHECK(modules.size() == 3);
  CHECK(error_of([&] { choose_module(modules, ""); }).find("first, second, third.again") != std::string::npos);
  CHECK(choose_module(modules, "again").name == "third.again");
  CHECK(choose_module(modules, "second").name == "second");
  CHECK(error_of([&] { choose_module(modules, "secnd"); }).find("did you mean 'second'?") != std::string::npos);
  CHECK(xla_modules(folder.path / "first.json").size() == 1);
}

TEST_CASE("PTX and buffer assignment agree on what is written in place") {
  const XlaModule module = read_only_module(shipped);
  for (const XlaKernel& kernel : module.kernels) {
    CAPTURE(kernel.entry);
    const std::vector<XlaArgument> told = told_by_ptx(kernel);
    for (std::size_t i = static_cast<std::size_t>(kernel.operands); i < told.size(); ++i)
      CHECK(told[i].shares == kernel.arguments[i].shares);
  }
}

TEST_CASE("memory holds an array by its layout, and gives it back") {
  const ir::Shape base = ir::make_shape(ir::DType::s32, {3, 4, 5});
  std::array<std::int8_t, 3> order{0, 1, 2};
  do {
    ir::Shape shape = base;
    std::copy(order.begin(), order.end(), shape.minor_to_major.begin());
    reference::Tensor tensor = reference::zeros(shape);
    for (std::int64_t i = 0; i < 60; ++i) reference::store_integer(tensor, i, i);
    reference::Tensor memory = reference::zeros(ir::make_shape(ir::DType::s32, {60}));
    reference::to_memory(tensor, memory.bytes);
    const ir::Dims strides = ir::strides(shape);
    for (std::int64_t a = 0; a < 3; ++a)
      for (std::int64_t b = 0; b < 4; ++b)
        for (std::int64_t c = 0; c < 5; ++c)
          CHECK(reference::as_integer(memory, a * strides[0] + b * strides[1] + c * strides[2]) == (a * 4 + b) * 5 + c);
    CHECK(reference::from_memory(shape, memory.bytes).bytes == tensor.bytes);
  } while (std::next_permutation(order.begin(), order.end()));
}

TEST_CASE("every kernel of the reference folders is bound, and has a reference") {
  if (reference_folders().empty()) return skip("no third-party data");
  std::int64_t kernels = 0, with_ptx = 0;
  for (const fs::path& folder : reference_folders())
    for (const XlaSource& source : xla_modules(folder)) {
      if (source.name.find(".h200.") == std::string::npos) continue;
      const XlaModule module = read_xla(source);
      for (const XlaKernel& kernel : module.kernels) {
        CAPTURE(source.name);
        CAPTURE(kernel.entry);
        ++kernels;
        const ir::Graph graph = graph_of(module, kernel);
        CHECK(static_cast<std::int32_t>(ir::parameters(graph).size()) == kernel.operands);
        for (std::size_t i = 0; i < graph.nodes.size(); ++i)
          CHECK_MESSAGE(reference::can_evaluate(graph, static_cast<ir::NodeId>(i)), graph.nodes[i].name);
        if (source.ptx.empty()) continue;
        ++with_ptx;
        CHECK(kernel.reason.empty());
        const simulator::PtxModule ptx = parsed(kernel);
        const simulator::PtxFunction& entry = simulator::entry_of(ptx, kernel.entry);
        CHECK(entry.params.size() == kernel.arguments.size());
        CHECK(entry.reqntid[0] == kernel.launch.block[0]);
        told_by_ptx(kernel);
      }
    }
  MESSAGE(kernels << " kernels bound, " << with_ptx << " with PTX");
  CHECK(with_ptx >= 100);
}
