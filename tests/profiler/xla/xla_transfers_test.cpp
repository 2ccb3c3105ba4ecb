// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Copies and fills of XLA's launch list: which bytes they move is read off the optimised module and the buffer
// assignment, they stand in a module's sequence in XLA's order, and what is not known is left out with its reason.
// Kernels are those that ship with the tests; what runs, runs on the simulator. Part of the suite `profiler`.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <filesystem>

#include "base/text.h"
#include "profiler/xla/shipped.h"
#include "profiler/xla/xla_sequence.h"
#include "support/sequence_run.h"
#include "tests/profiler/kernels.h"

using namespace tailor;
using namespace tailor::profiler;
namespace fs = std::filesystem;

namespace {

std::string launch(std::string_view name, std::string_view thunk, std::string_view more = "") {
  return fmt::format(R"({{"name":"{}","launches":[{{"thunk":"{}"{}}}]}})", name, thunk, more);
}

/// A digest of this module with these launches.
XlaModule digested(const std::string& hlo, const std::vector<std::string>& launches) {
  const kernels::OwnFolder folder("xla-transfers");
  write_file(folder.path / "m.optimized.hlo", hlo);
  write_file(folder.path / "m.json", fmt::format(R"({{"kernels":[{}]}})", fmt::join(launches, ",")));
  XlaModule module = read_xla(choose_module(xla_modules(folder.path), "m"));
  for (XlaKernel& kernel : module.kernels) {  // the folder is gone, what ships stays
    kernel.ptx = kernel_named(shipped_module(), kernel.entry).ptx;
    kernel.reason.clear();
  }
  return module;
}

const XlaTransfer& transfer_of(const XlaModule& module, std::size_t step) {
  REQUIRE(step < module.steps.size());
  REQUIRE(module.steps[step].transfer.has_value());
  return *module.steps[step].transfer;
}

/// The bytes of a buffer in what was brought, or in what came back.
std::span<const std::byte> part_of(const gpu::Sequence& sequence, std::span<const std::byte> blob, int buffer,
                                   bool brought) {
  std::size_t at = 0;
  for (int i = 0;; ++i) {
    const gpu::Buffer& one = sequence.buffers[static_cast<std::size_t>(i)];
    const bool there = brought ? gpu::brings_contents(one) : one.role != gpu::BufferRole::input;
    if (i == buffer) return there ? blob.subspan(at, static_cast<std::size_t>(one.bytes)) : blob.first(0);
    at += there ? static_cast<std::size_t>(one.bytes) : 0;
  }
}

template <class Value>
std::vector<Value> values(std::span<const std::byte> bytes) {
  std::vector<Value> all(bytes.size() / sizeof(Value));
  std::memcpy(all.data(), bytes.data(), bytes.size());
  return all;
}

/// XLA's program of an update that the caller's cache must outlive: the cache and the place are copied, and the kernel
/// works in place on the copy.
const std::string updated_copy = R"(HloModule m, is_scheduled=true

%fused_dynamic_update_slice (p: f32[32,64], u: f32[8,64], i: s32[]) -> f32[32,64] {
  %p = f32[32,64]{1,0} parameter(0)
  %u = f32[8,64]{1,0} parameter(1)
  %i = s32[] parameter(2)
  %zero = s32[] constant(0)
  ROOT %kept = f32[32,64]{1,0} dynamic-update-slice(%p, %u, %i, %zero)
}

ENTRY %main (cache: f32[32,64], new: f32[8,64], place: s32[]) -> f32[32,64] {
  %cache = f32[32,64]{1,0} parameter(0)
  %new = f32[8,64]{1,0} parameter(1)
  %place = s32[] parameter(2)
  %copy.1 = s32[] copy(%place)
  %copy.3 = s32[] copy(%copy.1)
  %copy.2 = f32[32,64]{1,0} copy(%cache)
  ROOT %loop_dynamic_update_slice_fusion = f32[32,64]{1,0} fusion(%copy.2, %new, %copy.3), kind=kLoop, calls=%fused_dynamic_update_slice
}
)";
const std::string update_launch =
    launch("loop_dynamic_update_slice_fusion", "CustomKernel",
           R"(,"entry":"loop_dynamic_update_slice_fusion","grid":[4,1,1],"block":[128,1,1],"smem":0)");

}  // namespace

TEST_CASE("what XLA copies before it updates in place is copied before the kernel, and the caller's array stays") {
  const XlaModule module = digested(
      updated_copy, {launch("copy.1", "Copy"), launch("copy.3", "Copy"), launch("copy.2", "Copy"), update_launch});
  REQUIRE(module.steps.size() == 4);
  for (std::size_t i = 0; i < 3; ++i) CHECK(transfer_of(module, i).reason.empty());
  CHECK(transfer_of(module, 2).bytes == 32 * 64 * 4);
  for (std::uint64_t seed = 1; seed <= 8; ++seed) {
    CAPTURE(seed);
    const XlaModuleSequence all = module_sequence(module, seed);
    CHECK(all.left_out.empty());
    CHECK(all.library_launches == 0);
    CHECK(all.launches == 4);
    CHECK(gpu::transfers(all.sequence) == 3);
    REQUIRE(all.sequence.launches.size() == 4);
    const gpu::Launch &copy = all.sequence.launches[2], &kernel = all.sequence.launches[3];
    CHECK(copy.kind == gpu::StepKind::copy);
    CHECK(gpu::is_kernel(kernel));
    CHECK(copy.arguments[0].buffer == kernel.arguments[0].buffer);
    CHECK(kernel.arguments[0].buffer == kernel.arguments[3].buffer);
    const int source = copy.arguments[1].buffer, target = copy.arguments[0].buffer;
    CHECK(all.sequence.buffers[static_cast<std::size_t>(source)].role == gpu::BufferRole::input);
    CHECK(all.sequence.buffers[static_cast<std::size_t>(target)].role == gpu::BufferRole::output);
    // A copied place is one: it is drawn for whoever reads the last copy of it.
    const int place = all.sequence.launches[0].arguments[1].buffer;
    const auto drawn = values<std::int32_t>(part_of(all.sequence, all.contents, place, true));
    REQUIRE(drawn.size() == 1);
    CHECK(drawn[0] >= 0);
    CHECK(drawn[0] <= 32);
    const testing::SequenceRun run = testing::run_sequence(all.sequence, all.contents);
    CHECK(run.reason.empty());
    const auto before = values<float>(part_of(all.sequence, all.contents, source, true));
    const auto update = values<float>(part_of(all.sequence, all.contents, kernel.arguments[1].buffer, true));
    const auto after = values<float>(part_of(all.sequence, run.outputs, target, false));
    REQUIRE(after.size() == 32 * 64);
    const std::int32_t first = std::clamp(drawn[0], 0, 24);
    for (std::int32_t row = 0; row < 32; ++row)
      for (std::int32_t column = 0; column < 64; ++column) {
        const bool updated = row >= first && row < first + 8;
        const auto at = static_cast<std::size_t>(row * 64 + column);
        CHECK(after[at] == (updated ? update[at - static_cast<std::size_t>(first) * 64] : before[at]));
      }
  }
}

TEST_CASE("of the dump that ships the copy and the kernel leave the cache with one row replaced, over XLA's memory") {
  const XlaModule module = shipped_copy();
  const XlaModuleSequence all = module_sequence(module, 1);
  CHECK(all.assignment_known);
  CHECK(all.left_out.empty());
  CHECK(all.library_launches == 0);
  REQUIRE(all.sequence.launches.size() == 2);
  const gpu::Launch &copy = all.sequence.launches[0], &kernel = all.sequence.launches[1];
  CHECK(copy.kind == gpu::StepKind::copy);
  CHECK(copy.bytes == 4 * 16 * 8 * 4);
  const testing::SequenceRun run = testing::run_sequence(all.sequence, all.contents);
  CHECK(run.reason.empty());
  const auto of_contents = [&](const gpu::Argument& place) {
    return part_of(all.sequence, all.contents, place.buffer, true);
  };
  const auto before = values<float>(of_contents(copy.arguments[1]));
  const auto update = values<float>(of_contents(kernel.arguments[2]));
  const auto place = values<std::int32_t>(of_contents(kernel.arguments[1])).front();
  const auto after = values<float>(part_of(all.sequence, run.outputs, copy.arguments[0].buffer, false));
  REQUIRE(after.size() == 4 * 16 * 8);
  const auto row = static_cast<std::size_t>(std::clamp(place, 0, 15));
  for (std::size_t i = 0; i < after.size(); ++i)
    CHECK(after[i] == (i / 8 % 16 == row ? 0.5F * update[i / 128 * 8 + i % 8] : before[i]));
}

TEST_CASE("fills write their constant, zeros or a word, over the whole result") {
  const std::string hlo = R"(HloModule m, is_scheduled=true

%fused (q: f32[4]) -> bf16[6] {
  %q = f32[4]{0} parameter(0)
  %half = bf16[] constant(-0.5)
  ROOT %many = bf16[6]{0} broadcast(%half), dimensions={}
}

ENTRY %main (p: f32[4]) -> (f32[4], f32[3], bf16[6], f32[4], f64[2]) {
  %p = f32[4]{0} parameter(0)
  %one = f32[] constant(1)
  %zeros = f32[4]{0} broadcast(%one), dimensions={}
  %ones = f32[3]{0} broadcast(%one), dimensions={}
  %halves = bf16[6]{0} fusion(%p), kind=kLoop, calls=%fused
  %sum = f32[4]{0} add(%p, %p)
  %wide = f64[] constant(0.1)
  %long = f64[2]{0} broadcast(%wide), dimensions={}
  ROOT %out = (f32[4]{0}, f32[3]{0}, bf16[6]{0}, f32[4]{0}, f64[2]{0}) tuple(%zeros, %ones, %halves, %sum, %long)
}
)";
  const XlaModule module =
      digested(hlo, {launch("zeros", "Memzero"), launch("ones", "Memset32BitValue"),
                     launch("halves", "Memset32BitValue"), launch("sum", "Memset32BitValue"),
                     launch("long", "Memset32BitValue"), launch("out", "Memzero"), launch("absent", "Memzero")});
  REQUIRE(module.steps.size() == 7);
  const XlaModuleSequence all = module_sequence(module, 1);
  REQUIRE(all.sequence.launches.size() == 3);
  CHECK(all.launches == 3);
  CHECK(all.library_launches == 0);
  const std::vector<std::pair<std::int64_t, std::uint32_t>> wanted = {{16, 0}, {12, 0x3f800000}, {12, 0xbf00bf00}};
  for (std::size_t i = 0; i < 3; ++i) {
    const gpu::Launch& fill = all.sequence.launches[i];
    CHECK(fill.kind == gpu::StepKind::fill);
    CHECK(fill.bytes == wanted[i].first);
    CHECK(fill.word == wanted[i].second);
  }
  const testing::SequenceRun run = testing::run_sequence(all.sequence, all.contents);
  CHECK(values<float>(part_of(all.sequence, run.outputs, all.sequence.launches[1].arguments[0].buffer, false)) ==
        std::vector<float>(3, 1.0F));
  std::vector<std::pair<std::string, std::int64_t>> reasons;
  for (const XlaLeftOut& left : all.left_out) reasons.emplace_back(left.reason, left.launches);
  CHECK(reasons == std::vector<std::pair<std::string, std::int64_t>>{
                       {"Memset32BitValue: not known: what it fills with", 2},
                       {"Memzero: not bound: 'out' has 5 results", 1},
                       {"Memzero: not found: instruction 'absent' in the optimised module", 1}});
}

TEST_CASE("a fusion that is a contiguous part of an operand is a copy of that part, another one is refused") {
  const std::string hlo = R"(HloModule m, is_scheduled=true

%rows (a: f32[8,16]) -> f32[32] {
  %a = f32[8,16]{1,0} parameter(0)
  %part = f32[2,16]{1,0} slice(%a), slice={[3:5], [0:16]}
  ROOT %seen = f32[32]{0} bitcast(%part)
}

%columns (b: f32[8,16]) -> f32[8,2] {
  %b = f32[8,16]{1,0} parameter(0)
  ROOT %narrow = f32[8,2]{1,0} slice(%b), slice={[0:8], [3:5]}
}

%turned (c: f32[8,16]) -> f32[8,2] {
  %c = f32[8,16]{0,1} parameter(0)
  ROOT %wide = f32[8,2]{0,1} slice(%c), slice={[0:8], [3:5]}
}

%summed (d: f32[8,16]) -> f32[8,16] {
  %d = f32[8,16]{1,0} parameter(0)
  ROOT %twice = f32[8,16]{1,0} add(%d, %d)
}

%unknown (e: f32[8,16], n: s32[]) -> f32[1,16] {
  %e = f32[8,16]{1,0} parameter(0)
  %n = s32[] parameter(1)
  %zero = s32[] constant(0)
  ROOT %one = f32[1,16]{1,0} dynamic-slice(%e, %n, %zero), dynamic_slice_sizes={1,16}
}

ENTRY %main (x: f32[8,16], y: f32[8,16], k: s32[]) -> f32[32] {
  %x = f32[8,16]{1,0} parameter(0)
  %y = f32[8,16]{0,1} parameter(1)
  %k = s32[] parameter(2)
  %r = f32[32]{0} fusion(%x), kind=kLoop, calls=%rows
  %c.1 = f32[8,2]{1,0} fusion(%x), kind=kLoop, calls=%columns
  %t = f32[8,2]{0,1} fusion(%y), kind=kLoop, calls=%turned
  %s = f32[8,16]{1,0} fusion(%x), kind=kLoop, calls=%summed
  %u = f32[1,16]{1,0} fusion(%x, %k), kind=kLoop, calls=%unknown
  ROOT %last = f32[32]{0} copy(%r)
}
)";
  const XlaModule module =
      digested(hlo, {launch("r", "Copy"), launch("c.1", "Copy"), launch("t", "Copy"), launch("s", "Copy"),
                     launch("u", "Copy"), launch("last", "DeviceToDeviceCopy"), launch("r", "HostToDeviceCopy")});
  REQUIRE(module.steps.size() == 6);
  CHECK(transfer_of(module, 0).parts == std::vector<XlaRange>{{3 * 16 * 4, 0, 0}, {}});
  CHECK(transfer_of(module, 0).bytes == 2 * 16 * 4);
  CHECK(transfer_of(module, 1).reason == "Copy: not bound: it takes a part that is no single range of bytes");
  CHECK(transfer_of(module, 2).parts == std::vector<XlaRange>{{3 * 8 * 4, 0, 0}, {}});
  CHECK(transfer_of(module, 3).reason == "Copy: not bound: 'twice' is a 'add', expected a part of an operand");
  CHECK(transfer_of(module, 4).reason == "Copy: not known: where its slice begins, as only the run tells");
  const XlaModuleSequence all = module_sequence(module, 1);
  CHECK(all.launches == 3);
  CHECK(all.library_launches == 1);  // what comes from the host
  REQUIRE(all.sequence.launches.size() == 3);
  const gpu::Launch &rows = all.sequence.launches[0], &last = all.sequence.launches[2];
  const testing::SequenceRun run = testing::run_sequence(all.sequence, all.contents);
  const auto source = values<float>(part_of(all.sequence, all.contents, rows.arguments[1].buffer, true));
  const auto copied = values<float>(part_of(all.sequence, run.outputs, last.arguments[0].buffer, false));
  REQUIRE(source.size() == 128);
  CHECK(copied == std::vector<float>(source.begin() + 48, source.begin() + 80));
}

namespace {

/// A loop of four trips that takes slice by slice from the end of one array and puts it at the front of another; with
/// the files of a dump.
const std::string slice_loop = R"(HloModule m, is_scheduled=true

%take (from: f32[4,8], i: s32[]) -> f32[1,8] {
  %from = f32[4,8]{1,0} parameter(0)
  %i = s32[] parameter(1)
  %zero = s32[] constant(0)
  %slice = f32[1,8]{1,0} dynamic-slice(%from, %i, %zero), dynamic_slice_sizes={1,8}, backend_config={"dynamic_slice_config":{"loop_index":"0","byte_offset":"96","byte_stride":"-32"}}
  ROOT %copy.7 = f32[1,8]{1,0} copy(%slice)
}

%put (into: f32[4,8], j: s32[], one: f32[1,8]) -> f32[4,8] {
  %into = f32[4,8]{1,0} parameter(0)
  %j = s32[] parameter(1)
  %one = f32[1,8]{1,0} parameter(2)
  %copy.8 = f32[1,8]{1,0} copy(%one)
  %nil = s32[] constant(0)
  ROOT %update = f32[4,8]{1,0} dynamic-update-slice(%into, %copy.8, %j, %nil), backend_config={"dynamic_slice_config":{"loop_index":"0","byte_offset":"0","byte_stride":"32"}}
}

%body (t: (s32[], f32[4,8], f32[4,8])) -> (s32[], f32[4,8], f32[4,8]) {
  %t = (s32[], f32[4,8]{1,0}, f32[4,8]{1,0}) parameter(0)
  %n = s32[] get-tuple-element(%t), index=0
  %a = f32[4,8]{1,0} get-tuple-element(%t), index=1
  %b = f32[4,8]{1,0} get-tuple-element(%t), index=2
  %taken = f32[1,8]{1,0} fusion(%a, %n), kind=kCustom, calls=%take
  %given = f32[4,8]{1,0} fusion(%b, %n, %taken), kind=kCustom, calls=%put
  ROOT %next = (s32[], f32[4,8]{1,0}, f32[4,8]{1,0}) tuple(%n, %a, %given)
}

%condition (c: (s32[], f32[4,8], f32[4,8])) -> pred[] {
  %c = (s32[], f32[4,8]{1,0}, f32[4,8]{1,0}) parameter(0)
  ROOT %go = pred[] constant(true)
}

ENTRY %main (x: f32[4,8], y: f32[4,8]) -> f32[4,8] {
  %x = f32[4,8]{1,0} parameter(0)
  %y = f32[4,8]{1,0} parameter(1)
  %start = s32[] constant(5)
  %copy.9 = s32[] copy(%start)
  %state = (s32[], f32[4,8]{1,0}, f32[4,8]{1,0}) tuple(%copy.9, %x, %y)
  %loop = (s32[], f32[4,8]{1,0}, f32[4,8]{1,0}) while(%state), condition=%condition, body=%body, backend_config={"known_trip_count":{"n":"4"}}
  ROOT %result = f32[4,8]{1,0} get-tuple-element(%loop), index=2
}
)";
constexpr std::string_view loop_thunks =
    "001: kCopy [source | next=002 (1)] kCopy\n002: kWhile [prev=001 (1) | sink]\ncondition:\n  body:\n"
    "    003: kDynamicSliceFusion [source | next=005 (1)] params=1, results=1\n        004: kCopy [source | sink] "
    "kCopy\n"
    "    005: kDynamicSliceFusion [prev=003 (1) | sink] params=1, results=1\n        006: kCopy [source | sink] "
    "kCopy\n";
constexpr std::string_view loop_values =
    "allocation 0: size 128\n value: <1 x @0> (size=128,offset=0): f32[4,8]{1,0}\n"
    "allocation 1: size 256\n value: <2 y @0> (size=128,offset=64): f32[4,8]{1,0}\n"
    "allocation 2: size 32\n value: <3 taken @0> (size=32,offset=0): f32[1,8]{1,0}\n"
    "allocation 3: size 4\n value: <4 start @0> (size=4,offset=0): s32[]\n"
    "allocation 4: size 4\n value: <5 copy.9 @0> (size=4,offset=0): s32[]\n";
constexpr std::string_view loop_places =
    "<1 x @0>\n positions:\n  x\n uses:\n  taken, operand 0\n<2 y @0>\n positions:\n  y\n  given\n uses:\n"
    "  given, operand 0\n<3 taken @0>\n positions:\n  taken\n uses:\n  given, operand 2\n<4 start @0>\n positions:\n"
    "  start\n uses:\n  copy.9, operand 0\n<5 copy.9 @0>\n positions:\n  copy.9\n uses:\n  taken, operand 1\n"
    "  given, operand 1\n";

XlaModule loop_dump(std::string hlo, std::string_view places = loop_places) {
  const kernels::OwnFolder folder("xla-transfers");
  const std::string stem = "module_0000.m.sm_9.0a_gpu_after_optimizations";
  std::string metadata;
  constexpr const char* names[] = {"copy.9", "loop", "taken", "copy.7", "given", "copy.8"};
  for (int i = 0; i < 6; ++i)
    metadata +=
        fmt::format("thunk_metadata {{\n  thunk_info {{\n    profile_annotation: \"{}\"\n    thunk_id: {}\n  }}\n}}\n",
                    names[i], i + 1);
  write_file(folder.path / (stem + ".txt"), hlo);
  write_file(folder.path / "module_0000.m.thunk_sequence.txt", std::string(loop_thunks));
  write_file(folder.path / "module_0000.m.thunk_metadata.txt", metadata);
  write_file(folder.path / (stem + "-buffer-assignment.txt"), std::string(loop_values));
  write_file(folder.path / (stem + "-buffer-assignment-values.txt"), std::string(places));
  return read_xla(choose_module(xla_modules(folder.path), ""));
}

std::string changed(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  REQUIRE(at != text.npos);
  return text.replace(at, from.size(), to);
}

}  // namespace

TEST_CASE("copies inside of slice fusions move on with each trip of the loop, over the memory that XLA assigned") {
  const XlaModule module = loop_dump(slice_loop);
  REQUIRE(module.steps.size() == 3);
  for (std::size_t i = 0; i < 3; ++i) CHECK(transfer_of(module, i).reason.empty());
  CHECK(transfer_of(module, 1).parts == std::vector<XlaRange>{{96, -32, 0}, {}});
  CHECK(transfer_of(module, 2).parts == std::vector<XlaRange>{{}, {0, 32, 0}});
  REQUIRE(module.others.size() == 1);
  CHECK(module.others[0].times == 9);
  const XlaModuleSequence all = module_sequence(module, 1);
  CHECK(all.assignment_known);
  CHECK(all.launches == 3);
  REQUIRE(all.sequence.launches.size() == 9);
  for (int trip = 0; trip < 4; ++trip) {
    const gpu::Launch &take = all.sequence.launches[static_cast<std::size_t>(1 + 2 * trip)],
                      &put = all.sequence.launches[static_cast<std::size_t>(2 + 2 * trip)];
    CHECK(take.bytes == 32);
    CHECK(take.arguments[0] == gpu::Argument{take.arguments[0].buffer, 0, {}});
    CHECK(take.arguments[1] == gpu::Argument{take.arguments[1].buffer, 96 - 32 * trip, {}});
    CHECK(put.arguments[0] == gpu::Argument{put.arguments[0].buffer, 32 * trip, {}});
    CHECK(put.arguments[1] == take.arguments[0]);
  }
  // What is copied of a constant is the constant.
  const gpu::Launch& count = all.sequence.launches[0];
  CHECK(values<std::int32_t>(part_of(all.sequence, all.contents, count.arguments[1].buffer, true)) ==
        std::vector<std::int32_t>{5});
  const testing::SequenceRun run = testing::run_sequence(all.sequence, all.contents);
  const auto from =
      values<float>(part_of(all.sequence, all.contents, all.sequence.launches[1].arguments[1].buffer, true));
  const auto into =
      values<float>(part_of(all.sequence, run.outputs, all.sequence.launches[2].arguments[0].buffer, false));
  REQUIRE(into.size() == 32);
  for (std::size_t i = 0; i < 32; ++i) CHECK(into[i] == from[(3 - i / 8) * 8 + i % 8]);
  // A loop that is too long runs once, and what its other trips write keeps contents.
  const XlaModuleSequence few = module_sequence(module, 1, 4);
  CHECK(few.sequence.launches.size() == 3);
  CHECK(few.shortened_loops == 1);
  CHECK(few.sequence.buffers[static_cast<std::size_t>(few.sequence.launches[2].arguments[0].buffer)].role ==
        gpu::BufferRole::in_place);
}

TEST_CASE("a copy whose bytes are not known, leave an array or meet is left out, and the others stay") {
  const auto reason = [](const XlaModule& module, std::int64_t launches) {
    const XlaModuleSequence all = module_sequence(module, 1);
    CHECK(all.launches == launches);
    REQUIRE(all.left_out.size() == 1);
    CHECK(all.left_out[0].launches == 3 - launches);
    return all.left_out[0].reason;
  };
  CHECK(reason(loop_dump(changed(slice_loop, R"("byte_stride":"-32")", R"("byte_stride":"-64")")), 2) ==
        "Copy: not bound: it reaches past the end of an array");
  CHECK(reason(loop_dump(changed(slice_loop, R"("byte_offset":"96")", R"("byte_offset":"100")")), 2) ==
        "Copy: not bound: it reaches past the end of an array");
  CHECK(reason(loop_dump(changed(slice_loop, R"("loop_index":"0")", R"("loop_index":"1")")), 2) ==
        "Copy: not bound: it moves with a loop that is not around it");
  CHECK(reason(loop_dump(changed(slice_loop, R"("byte_stride":"-32")", R"("other":"-32")")), 2)
            .starts_with("Copy: not found: a number after"));
  CHECK(reason(loop_dump(slice_loop, changed(std::string(loop_places), "  given\n", "")), 2) ==
        "Copy: not known: where its result lies");
  CHECK(reason(loop_dump(changed(slice_loop, "copy(%one)", "negate(%one)")), 2).starts_with("Copy: not "));
  // The source becomes the array that is written, whose slices do not move together.
  const std::string one_array = changed(changed(std::string(loop_places), "  taken, operand 0\n", "  nobody\n"),
                                        "  given, operand 0\n", "  given, operand 0\n  taken, operand 0\n");
  const XlaModule apart = loop_dump(slice_loop, one_array);
  CHECK(module_sequence(apart, 1).left_out.empty());  // it is read here and written there
  const std::string onto =
      changed(changed(one_array, "<3 taken @0>\n positions:\n  taken\n", "<3 z @0>\n positions:\n  z\n"), "  given\n",
              "  given\n  taken\n");
  CHECK(reason(loop_dump(slice_loop, onto), 2) == "Copy: not run: what it reads and what it writes overlap");
}

TEST_CASE("a copy onto itself is none, as for XLA") {
  const std::string apart = changed(std::string(loop_places), "  copy.9\n uses", "  z\n uses");
  const XlaModule module = loop_dump(slice_loop, changed(apart, "  start\n uses", "  start\n  copy.9\n uses"));
  CHECK(transfer_of(module, 0).reason.empty());
  const XlaModuleSequence all = module_sequence(module, 1);
  CHECK(all.left_out.empty());
  CHECK(all.launches == 2);
}
