// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The precompiled header of test programs: what src/precompiled.h has, and doctest, which nearly every test file
// includes. It only saves time of the build; a file still includes what it uses. The Meson files of the tests name it
// for their programs.
#pragma once

#include "precompiled.h"

#include <doctest/doctest.h>
