// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// A digest: what XLA's compiler did with one module, in one JSON file with its texts beside it. In: NAME.json. Out: its
// kernels with members, bytes, prices and launches. Called by the reader of launches and by the score beside XLA.
//
// Who only launches kernels needs their names and launches; the rest may be absent. What is there must be of its form.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "profiler/xla/xla_dump.h"

namespace tailor::profiler {

struct XlaDigestKernel {
  std::string name, kind;            ///< of its instruction in the optimised module; "loop", "input", "triton", ...
  std::vector<std::string> members;  ///< instructions of the module before fusion
  bool exact = true;                 ///< the members are those of the final body
  double bytes = 0;                  ///< in and out
  std::optional<double> us;          ///< XLA's price
  std::vector<XlaLaunch> launches;
  std::optional<ir::LaunchShape> shape;  ///< of the first launch, where it is told
};

struct XlaDigest {
  std::string target;   ///< what XLA calls the device
  std::string release;  ///< of jaxlib
  std::vector<XlaDigestKernel> kernels;
};

/// Throws Error(failed) with the place for a file of another form.
XlaDigest read_digest(const std::filesystem::path& file);

/// NAME.KIND.hlo or NAME.KIND.hlo.gz beside NAME.json; empty when neither is there. KIND: "prefusion", "optimized".
std::filesystem::path text_beside(const std::filesystem::path& digest, std::string_view kind);

}  // namespace tailor::profiler
