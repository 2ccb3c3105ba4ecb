// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// A fused model as HLO text that other tools and Tailor itself read: the groups become fusion instructions. Comes in: a
// graph and its fusion. Goes out: the text, which strategy `imported` reads back as the same groups. Called by
// `tailor fuse --to FILE.hlo` and by the tests of that round trip.
#pragma once

#include <stop_token>
#include <string>

#include "hlo/hlo_text.h"
#include "ir/fusion.h"

namespace tailor::study {

/// What the writer of HLO needs to know of the groups: their borders as a partition counts them, a name that says what
/// a group computes, and XLA's word for its kind. A group that the file brought along keeps its name and kind.
hlo::WrittenGroups written_groups(const ir::Graph& graph, const ir::Fusion& fusion, const std::stop_token& stop = {});

/// Throws as hlo::hlo_text() does.
std::string fusion_text(const ir::Graph& graph, const ir::Fusion& fusion, const std::stop_token& stop = {});

}  // namespace tailor::study
