// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// What commands read, looked up in the data folder of their context (base/installation.h says where it lies). What the
// names mean is study's (study/pipeline/question.h). In: a context and a name. Out: the model, device or calibration.
// Called by nearly every command.
#pragma once

#include <filesystem>
#include <span>
#include <string>

#include "cli/commands.h"
#include "study/pipeline/question.h"

namespace tailor::cli {

hlo::Imported load_model(const Context& context, const std::string& path);
ir::Device load_device(const Context& context, const std::string& name);
ir::Calibration load_calibration(const Context& context, const std::string& name);

/// Warns where a kernel lies outside of what its calibration's observations covered: its time is extrapolated.
void warn_beyond(const Context& context, const ir::Calibration& calibration, const study::Candidate& candidate);

/// Throws Error(usage) for an amount that has to be a number above 0 and is not.
void refuse_not_above_zero(std::string_view option, double amount, std::string_view unit);

/// The folder that --cache names, else the usual one.
std::filesystem::path cache_folder(const std::string& word);

/// A model fused for a device, and one group of it.
struct ChosenGroup {
  ChosenGroup(const Context& context, const GroupOptions& options);
  study::FusedModel model;
  std::size_t number;

  const study::PreparedGroup& group() { return model.group(number); }
};

/// Throws Error(usage) for a word that is there twice.
void refuse_twice(std::string_view option, std::span<const std::string> words);

}  // namespace tailor::cli
