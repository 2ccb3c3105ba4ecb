// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Where a value waits between two phases of a row, and whether it is computed once or again, changes no bit of the
// results: a value of 16 bits that some plan keeps is rounded under every plan. The row groups of the family in their
// own types and in 16-bit ones, interpreted under all residences; and indices that a narrow type has no number for.
// Part of the suite `codegen lower`.
#include <doctest/doctest.h>

#include <fmt/format.h>

#include <array>
#include <optional>

#include "codegen/lower/lower.h"
#include "reference/evaluate.h"
#include "reference/inputs.h"
#include "support/group_family.h"
#include "support/interpret.h"

using namespace tailor;
using namespace tailor::ir;

namespace {

constexpr Limits roomy{90, 2, 32, 1024, 2048, 16, 65536, 65536, 255, 256, 4, 4, 65536, 49152, 65536, 0, 128};
constexpr std::array all_residences{Residence::registers, Residence::shared, Residence::reload, Residence::recompute};

/// The member with all its f32 arrays of another type.
FamilyMember in_type(const FamilyMember& member, std::string_view dtype, std::string& text) {
  text = member.text;
  for (std::size_t at = text.find("f32["); at != text.npos; at = text.find("f32[", at + 1)) text.replace(at, 3, dtype);
  return {member.name, text};
}

std::vector<std::vector<std::byte>> results_of(const Kernel& kernel, const std::vector<reference::Tensor>& inputs) {
  std::vector<std::vector<std::byte>> buffers;
  for (const reference::Tensor& input : inputs) buffers.push_back(input.bytes);
  for (const Buffer& buffer : std::span(kernel.buffers).subspan(inputs.size()))
    buffers.emplace_back(static_cast<std::size_t>(bytes(make_shape(buffer.dtype, {buffer.elements}))));
  KernelRun run = interpret(kernel, std::move(buffers));
  REQUIRE(run.violations.empty());
  std::vector<std::vector<std::byte>> results;
  for (std::size_t i = 0; i < kernel.buffers.size(); ++i)
    if (is_result(kernel.buffers[i].role)) results.push_back(std::move(run.buffers[i]));
  return results;
}

}  // namespace

TEST_CASE("all residences of a row group give the same bits, whatever its types") {
  int groups = 0, compared = 0;
  for (const FamilyMember& original : group_family())
    for (const std::string_view dtype : {"f32", "f16", "bf16"}) {
      std::string source;
      const Group group = make_group(in_type(original, dtype, source), 5, 96);
      const auto ready = codegen::prepare(group);
      const auto* prepared = std::get_if<codegen::Prepared>(&ready);
      if (prepared == nullptr || prepared->skeleton != Skeleton::row || prepared->phases.size() < 2) continue;
      ++groups;
      const std::vector<reference::Tensor> inputs =
          reference::sensible_inputs(group.graph, 7, reference::Edges::none, {}, {});
      codegen::LowerScratch scratch;
      for (const auto& [lanes, vector] : {std::pair(1, 1), std::pair(8, 4), std::pair(64, 1)}) {
        std::optional<std::vector<std::vector<std::byte>>> first;
        for (const Residence residence : all_residences)
          for (const bool value_cache : {true, false}) {
            Plan plan;
            plan.skeleton = Skeleton::row;
            plan.dominant = prepared->dominants.front();
            plan.threads = 64;
            plan.threads_per_row = lanes;
            plan.vector = vector;
            plan.residence = residence;
            plan.value_cache = value_cache;
            plan.sub_roots = codegen::sub_roots(*prepared, lanes, 32);
            const codegen::Lowered lowered = codegen::lower(*prepared, plan, roomy, scratch);
            if (!std::holds_alternative<Kernel>(lowered)) continue;
            const auto results = results_of(std::get<Kernel>(lowered), inputs);
            if (!first) first = results;
            CAPTURE(original.name);
            CAPTURE(dtype);
            CAPTURE(text(plan));
            CHECK((*first == results));
            ++compared;
          }
      }
    }
  CHECK(groups >= 12);
  CHECK(compared > 100);
}

TEST_CASE("an index becomes a number of its own type before anything is done with it") {
  for (const std::string_view dtype : {"bf16", "f16", "s8", "u8", "s16", "s32", "f32"})
    for (const std::string_view use : {"convert %i : f32[3000]", "convert %d : f32[3000]"}) {
      if (dtype.ends_with("f16") && use.starts_with("convert %d")) continue;  // the difference need not be rounded
      const std::string source = fmt::format(
          "graph indices {{\n  %x = parameter 0 : f32[3000]\n  %i = iota, axes={{0}} : {0}[3000]\n"
          "  %t = constant 100 : {0}[]\n  %b = broadcast %t : {0}[3000]\n  %d = subtract %i, %b : {0}[3000]\n"
          "  %c = {1}\n  %y = add %c, %x : f32[3000]\n  output %y\n}}\n",
          dtype, use);
      const Group group = make_group({"indices", source}, 1, 1);
      const auto ready = codegen::prepare(group);
      const auto* prepared = std::get_if<codegen::Prepared>(&ready);
      REQUIRE(prepared != nullptr);
      reference::Tensor zeros{make_shape(DType::f32, {3000}), std::vector<std::byte>(12000)};
      codegen::LowerScratch scratch;
      for (const int vector : {1, 4}) {
        Plan plan;
        plan.dominant = prepared->dominants.front();
        plan.threads = 64;
        plan.vector = vector;
        const codegen::Lowered lowered = codegen::lower(*prepared, plan, roomy, scratch);
        CAPTURE(dtype);
        CAPTURE(use);
        REQUIRE(std::holds_alternative<Kernel>(lowered));
        const auto results = results_of(std::get<Kernel>(lowered), {zeros});
        CHECK((results.front() == reference::evaluate(group.graph, std::array{zeros}).front().bytes));
      }
    }
}
