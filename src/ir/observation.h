// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Observation: "this kernel took this long there". What calibration fits and validation scores, whoever measured it:
// our own campaigns (made from the store's measurements), published tables, other people's kernels. On which side of
// the split one falls is fixed when it is made and depends on operation and shape only, so that repeats, plans and GPUs
// of one shape never stand on both sides. The id tells what was observed and leaves the side out: whoever keeps
// observations by id keeps the side that each was given first.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "base/hash.h"
#include "base/units.h"
#include "ir/regime.h"

namespace tailor::ir {

/// train: fitted to. validate: chooses between models. test: only scored.
enum class Split : std::uint8_t { train, validate, test };
std::string_view name(Split split);
std::optional<Split> split_named(std::string_view name);

/// A plan of ours as it was compiled. A group is an operation with its shapes.
struct OwnKernel {
  Id group, plan;
  int registers = 0;  ///< per thread; 0: not known
  bool operator==(const OwnKernel&) const = default;
};

/// Anybody else's kernel, as far as a model can use it.
struct ForeignKernel {
  std::string operation;         ///< "softmax f32", or the id of the group it computes, which has the shape in it
  std::string shape;             ///< "512x1024"; empty beside the id of a group
  std::int64_t blocks = 0;       ///< of the launch
  std::int64_t threads = 0;      ///< per block
  std::int64_t shared = 0;       ///< bytes per block
  std::int64_t registers = 0;    ///< per thread; 0: not known
  double read = 0, written = 0;  ///< bytes, each once; 0 and 0: not known

  // What else is known of it. Nothing ("", 0) is not written, and a model takes the least that it can be.
  std::string variant = {};  ///< which of several ways to write it, "block=128 tile=4": no part of operation and shape
  double reread = 0;          ///< bytes that threads load again which their block loaded before
  double far_trips = 0;       ///< round trips of a warp for data nobody has read before, one after the other
  double near_trips = 0;      ///< the same for data that the block has loaded before
  double shuffles = 0;        ///< of a warp, one after the other
  double barriers = 0;        ///< of a block
  double instructions = 0;    ///< warp instructions of the launch
  double transcendental = 0;  ///< lane results of the transcendental pipe, of the launch
  bool operator==(const ForeignKernel&) const = default;
};
using Subject = std::variant<OwnKernel, ForeignKernel>;

struct Observation {
  Id id;  ///< hash of the rest of the text, without the split
  Split split = Split::train;
  std::string device;  ///< name, as in data/devices
  Regime regime;
  Seconds time, low, high;  ///< low and high: interval of `time`, equal to it where not known
  std::string source;       ///< where it is from: "measurement 5f0c...", "neusight_train.csv row 17"
  Subject subject;
  bool operator==(const Observation&) const = default;
};

/// Six tenths of all shapes are train, two validate, two test.
Split split_of(const Subject& subject);

/// Fills in id and split. `time` is above 0 and lies in low .. high.
Observation make_observation(std::string device, const Regime& regime, Seconds time, Seconds low, Seconds high,
                             std::string source, Subject subject);

/// One line without its end:
///   observation <id> split=train device="h200" regime="cold, ..." time=1.2e-05 low=1.1e-05 high=1.3e-05 source="..."
///     own group=<id> plan=<id> registers=32
///   ... foreign operation="softmax f32" shape="512x1024" blocks=64 threads=128 shared=0 registers=0 read=.. written=..
///     variant=".." reread=.. far_trips=.. near_trips=.. shuffles=.. barriers=.. instructions=.. transcendental=..
/// where those of the last line that say nothing are left out.
std::string text(const Observation& observation);
/// Reads it back. A line may also go on with device=... right after its first word, as people write down what others
/// have published: id and split are made then. Throws Error(failed) naming the field, what was found and what was
/// expected; also for a time that is not above 0 or outside its interval, for an id that is not the text's, and for a
/// split that is not the subject's.
Observation parse_observation(std::string_view line);

}  // namespace tailor::ir
