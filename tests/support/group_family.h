// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// A family of small groups that between them use every feature of the lowering: one to three dependent reductions along
// rows and columns, batched and turned in memory, outputs of rows, columns and elements, broadcasts over odd extents,
// 16-bit types, reshapes to other ranks, transposes, slices, padding, concatenation, iota and predicates, rows that do
// not lie together. The sizes are the callers'.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "ir/fusion.h"

namespace tailor::ir {

struct FamilyMember {
  std::string_view name;
  /// Text form with {R} rows and {N} columns to fill in.
  std::string_view text;
};

const std::vector<FamilyMember>& group_family();
/// Those of the family that read at places from memory.
const std::vector<FamilyMember>& gather_family();
/// Those of the family that write where data says.
const std::vector<FamilyMember>& scatter_family();
/// Those of the family that add up across rows.
const std::vector<FamilyMember>& across_family();
/// Those of the family whose rows do not lie together.
const std::vector<FamilyMember>& mixed_family();
/// Those of the family whose elements come from one of several places.
const std::vector<FamilyMember>& stack_family();
/// Those of the family that write in another order than they read.
const std::vector<FamilyMember>& turned_family();
/// Those of the family that join equal pieces.
const std::vector<FamilyMember>& pieces_family();
/// Those of the family whose rows are read at other places than they were computed for.
const std::vector<FamilyMember>& moved_family();
/// Those of the family that reduce over windows.
const std::vector<FamilyMember>& windows_family();
/// Those of the family that are made of bits of numbers.
const std::vector<FamilyMember>& bits_family();
/// Those of the family that reduce several arrays at once, or by a function of their own.
const std::vector<FamilyMember>& region_family();
/// Those of the family whose vectors lie close together in memory, but in no order of steps.
const std::vector<FamilyMember>& spread_family();
const FamilyMember& family_member(std::string_view name);

/// The member at a size, as a group.
Group make_group(const FamilyMember& member, std::int64_t rows, std::int64_t columns);

/// Several groups as one: what each reads and writes stands behind what those before it do.
Group side_by_side(const std::vector<Group>& groups);

}  // namespace tailor::ir
