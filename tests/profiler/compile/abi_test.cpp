// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Our declarations against the vendor's header, where a toolkit is installed: values at compile time, and every
// function called through our type compiles only if the types agree. Part of the suite `profiler`; without a toolkit a
// case that says so takes its place.
#include <doctest/doctest.h>

#include "profiler/compile/nvrtc_abi.h"
#include "support/skip.h"

#ifdef TAILOR_NVRTC_HEADER
#include <nvrtc.h>

#include <type_traits>

namespace abi = tailor::profiler::nvrtc_abi;

static_assert(sizeof(abi::Result) == sizeof(nvrtcResult));
static_assert(sizeof(abi::Program) == sizeof(nvrtcProgram));
static_assert(int{abi::success} == int{NVRTC_SUCCESS});
static_assert(int{abi::out_of_memory} == int{NVRTC_ERROR_OUT_OF_MEMORY});
static_assert(int{abi::invalid_option} == int{NVRTC_ERROR_INVALID_OPTION});
static_assert(int{abi::compilation_failed} == int{NVRTC_ERROR_COMPILATION});
static_assert(int{abi::internal_error} == int{NVRTC_ERROR_INTERNAL_ERROR});

namespace {

// Our lists, with the vendor's result and program types put in the place of ours.
using Program = nvrtcProgram;
#define NVRTC_FUNCTION(name, need, parameters)   \
  using Ours_##name = nvrtcResult(*) parameters; \
  static_assert(std::is_same_v<Ours_##name, decltype(&::name)>, "the type of " #name);
#include "profiler/compile/nvrtc.def"
#undef NVRTC_FUNCTION
static_assert(std::is_same_v<const char* (*)(nvrtcResult), decltype(&::nvrtcGetErrorString)>);

}  // namespace

TEST_CASE("our declarations of NVRTC agree with the vendor's header") { CHECK(sizeof(abi::Program) == sizeof(void*)); }
#else
TEST_CASE("our declarations of NVRTC agree with the vendor's header") { skip("no nvrtc.h on this machine"); }
#endif
