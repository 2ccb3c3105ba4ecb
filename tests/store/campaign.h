// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// A made-up campaign: what a database holds after plans were measured on a GPU, with failures of each kind, a kernel
// of another compiler and two strategies timed in turns. No number in it was measured. Called by the tests of exports,
// observations and `tailor db`, and by write_campaign.cpp.
#pragma once

#include "store/store.h"

namespace tailor::store {

/// A group with every plan of threads {64, 128, 256} x vector {1, 2, 4} x value cache {off, on}, timed cold; one did
/// not compile, one was wrong on the GPU, one on the simulator, one hung; four were also timed warm. A kernel of
/// another compiler for that group, and a copy that belongs to no group. Two strategies of a model in turns. The device
/// has the figures of `device_file`, a text as in data/devices.
void save_campaign(Store& store, const std::string& device_file);
/// The fastest plan of the campaign, cold: threads 128, vector 4, with value cache; its median in seconds.
inline constexpr double campaign_best = 4e-6;
/// One measurement more, of another device.
void save_other_device(Store& store);

}  // namespace tailor::store
