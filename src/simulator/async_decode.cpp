// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Asynchronous copies and mbarriers.
#include "simulator/decode.h"

namespace tailor::simulator {

bool Decoder::async_instruction() { return false; }

}  // namespace tailor::simulator
