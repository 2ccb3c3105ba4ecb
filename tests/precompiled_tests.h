// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// As src/precompiled.h, for test programs: with doctest.
#pragma once

#include "precompiled.h"

#include <doctest/doctest.h>
