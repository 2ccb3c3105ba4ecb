// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// A fusion as a file that other programs read, known by its ending: .hlo (fusion instructions), .dot (graphviz), .svg
// (a picture), .partition (names of nodes). Comes in: a path, a graph, its fusion, and a device for prices if there is
// one. Goes out: the file. Called by `tailor fuse --to`.
#pragma once

#include <filesystem>
#include <stop_token>
#include <string>

#include "costmodel/model.h"
#include "explore/partition.h"
#include "ir/fusion.h"

namespace tailor::study {

/// Throws Error(usage) unless the path has an ending that is known and names no file that is read (`model`): what
/// cannot be written is said before anything is searched.
void check_fusion_file(const std::string& path, const std::string& model);

/// The same for --write-partition, whose ending is .partition.
void check_partition_path(const std::string& path);

/// What the path's ending says is written there. `device` may be null: prices are left out. Throws Error(interrupted).
std::string fusion_file_text(const std::string& path, const ir::Graph& graph, const ir::Fusion& fusion,
                             const costmodel::CalibratedDevice* device, const std::stop_token& stop = {});

}  // namespace tailor::study
