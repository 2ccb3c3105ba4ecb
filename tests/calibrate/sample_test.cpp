// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// A kernel of others as work: its bytes, sectors, trips and instructions are those of its description, and what a model
// says of it follows them: more bytes are never faster, and no time is below the bound. Inputs are descriptions made
// here. Part of the suite `calibrate`.
#include "calibrate/sample.h"

#include <doctest/doctest.h>

#include "base/error.h"
#include "support/approx.h"
#include "support/paths.h"

using namespace tailor;
using namespace tailor::calibrate;

namespace {

const std::string sample_data = source_folder() + "/data";

ir::Observation observed(const ir::ForeignKernel& kernel) {
  return ir::make_observation("h200", {}, {1e-5}, {1e-5}, {1e-5}, "a", kernel);
}

}  // namespace

TEST_CASE("the work of a description is what it says") {
  const ir::ForeignKernel k{"softmax f32", "64x4096", 64, 256, 1024, 40,     1 << 20, 1 << 19, "", 0,
                            1 << 21,       3,         6,  10,  4,    100000, 3200};
  const costmodel::Work work = foreign_work(k);
  CHECK(work.threads == 256);
  CHECK(work.grid == 64);
  CHECK(work.virtual_blocks == 64);
  CHECK(work.shared_bytes == 1024);
  CHECK(work.live_registers == 40);
  CHECK(costmodel::compulsory_bytes(work) == (1 << 20) + (1 << 19));
  CHECK(costmodel::sectors(work) == (3 * (1 << 20) + (1 << 19)) / 32);
  CHECK(work.buffers[0].reload_sectors == (1 << 21) / 32);
  CHECK(work.critical_path.far == 3);
  CHECK(work.critical_path.memory == 9);
  CHECK(work.barriers == 4 * 8 * 64);
  CHECK(work.pipes.xu == 100);
  CHECK(costmodel::instructions(work.pipes) >= 100000);
  CHECK(foreign_group(k).bytes_read == 1 << 20);
  // Nothing said is the least it can be.
  const costmodel::Work plain = foreign_work({"scale f32", "", 64, 256, 0, 0, 1e6, 1e6});
  CHECK(plain.critical_path.memory == 1);
  CHECK(plain.pipes.xu == 0);
  CHECK(plain.live_registers > 0);
}

TEST_CASE("models answer for a description, never below the bound, and more of anything is never faster") {
  const ir::Device device = ir::find_device("h200", sample_data + "/devices");
  const Machine machine(device, ir::find_calibration("uncalibrated", sample_data + "/calibrations"));
  const costmodel::Model& projected = *costmodel::find_model("projected");
  const costmodel::Model& sol = *costmodel::find_model("sol");
  const auto time = [&](const ir::ForeignKernel& k, const costmodel::Model& model) {
    return estimate(model, foreign_sample(observed(k)), machine.of("any")).total.value;
  };
  const ir::ForeignKernel base{"row f32", "", 4096, 256, 0, 32, 64e6, 64e6, "", 0, 64e6, 2, 2, 5, 2, 1e6, 1e6};
  CHECK(time(base, projected) >= time(base, sol));
  const auto more = [&](auto member, auto value) {
    ir::ForeignKernel k = base;
    k.*member = value;
    return time(k, projected);
  };
  CHECK(more(&ir::ForeignKernel::read, 640e6) > time(base, projected));
  CHECK(more(&ir::ForeignKernel::reread, 6400e6) > time(base, projected));
  CHECK(more(&ir::ForeignKernel::far_trips, 100.0) > time(base, projected));
  CHECK(more(&ir::ForeignKernel::instructions, 1e9) > time(base, projected));
  CHECK(more(&ir::ForeignKernel::transcendental, 1e10) > time(base, projected));
  CHECK(more(&ir::ForeignKernel::near_trips, 50.0) >= time(base, projected));
}

TEST_CASE("a description without launch or traffic is refused: no model can say its time") {
  CHECK_THROWS_AS(foreign_sample(observed({"a", "", 0, 128, 0, 0, 1e6, 1e6})), Error);
  CHECK_THROWS_AS(foreign_sample(observed({"a", "", 64, 128, 0, 0, 0, 0})), Error);
}
