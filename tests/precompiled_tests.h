// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// As src/precompiled.h, for test programs: with doctest, and with the JSON library that many tests hold our own writer
// against. Every test program is compiled with it where the compiler is GCC. doctest's fast assertions leave out a
// try block around each one: an exception then ends the test case, which fails, and the build takes a fifth less time.
#pragma once

#define DOCTEST_CONFIG_SUPER_FAST_ASSERTS
#include "precompiled.h"

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>
