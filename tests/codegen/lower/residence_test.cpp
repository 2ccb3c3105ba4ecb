// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Where a value waits between two phases of a row, and whether it is computed once or again, changes no bit of the
// results: a value of 16 bits that some plan keeps is rounded under every plan. The row groups of the family in their
// own types and in 16-bit ones, interpreted under all residences. Part of the suite `codegen`.
#include <doctest/doctest.h>

#include <array>
#include <optional>

#include "codegen/lower/lower.h"
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
  for (const Buffer& buffer : kernel.buffers)
    if (is_result(buffer.role))
      buffers.emplace_back(static_cast<std::size_t>(bytes(make_shape(buffer.dtype, {buffer.elements}))));
  KernelRun run = interpret(kernel, std::move(buffers));
  REQUIRE(run.violations.empty());
  run.buffers.erase(run.buffers.begin(), run.buffers.begin() + static_cast<std::ptrdiff_t>(inputs.size()));
  return std::move(run.buffers);
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
