// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// CUPTI as a table of functions, with the types of its own headers, filled from a library that is found at run time or
// by a test. In: where to look. Out: a Cupti, or a capability that says why there is none. Functions belong to parts; a
// part whose functions are not all there is not used, the others are. A library stays loaded until the process ends:
// its own threads may outlive any owner.
#pragma once

#include <cuda.h>
#include <cupti.h>
#include <cupti_profiler_host.h>
#include <cupti_profiler_target.h>
#include <cupti_range_profiler.h>
#include <cupti_target.h>

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

#include "base/indexed.h"
#include "profiler/gpu/request/request.h"

namespace tailor::gpu {

/// owner: the name of who else profiles.
enum class CuptiPart : std::uint8_t { common, activity, host, range, owner };

struct Cupti {
#define CUPTI_FUNCTION(name, part) decltype(&::name) name = nullptr;
#include "profiler/gpu/cupti/cupti.def"
#undef CUPTI_FUNCTION
  std::uint32_t version = 0;           ///< CUPTI_API_VERSION of the library: 28 for CUDA 12.9.1, 130001 for 13.0.1
  std::filesystem::path file;          ///< links resolved; empty for functions that came from no library
  std::array<std::string, 5> missing;  ///< by part: the first function that is not there; empty when all are
  bool has(CuptiPart part) const { return row_for(missing, part).empty(); }
};

/// The named file; else the first that loads of toolkits, Python environments and what the system's loader knows. Or,
/// as a capability named "CUPTI", why there is none and what to do.
std::variant<Cupti, Capability> find_cupti(const LibraryPaths& paths);

/// Fills `missing` from the functions that are null.
void note_missing(Cupti& api);

/// "CUPTI 13.0.1", or for releases before 13 "CUPTI API 28".
std::string cupti_text(std::uint32_t version);
/// "cuptiActivityEnable: CUPTI_ERROR_NOT_INITIALIZED"; empty for success.
std::string error_text(const Cupti& api, CUptiResult result, std::string_view call);

}  // namespace tailor::gpu
