// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Binding XLA's kernels to memory. In: a kernel with a case of inputs, or a whole module. Out: a sequence of launches
// over buffers with their contents, and what had to be left out with the reason. Called by measurements on a GPU, by
// profile --module --xla, and by tests that run it on the simulator.
//
// A module is bound in walks over its steps.
//
// First each kernel is looked at once: its PTX must have as many parameters as the launch has arguments, and where no
// buffer assignment is known, a result that the PTX never writes must share an operand's memory (xla_inplace.h). A
// kernel that cannot be launched is left out; the others go on.
//
// Then every argument of every step gets its bytes: a part of an allocation by XLA's assignment, or an allocation of
// its own for each value. Extents of one allocation that overlap become one buffer, since a sequence must not have two
// buffers over the same bytes; those that only touch stay apart.
//
// Then the steps are followed in order to see which bytes are read before anything wrote them. These want contents,
// random numbers in the range that the reader asks for; a buffer that is read first and written later has both roles.
// A copy asks for what its destination is read for, so that an index that is copied is one; of a constant it is the
// constant, as loops count from one.
//
// Last the launches are made, copies and fills among them where XLA has them. Steps that stand in the same loop are
// launched together as often as the loop turns, a copy of a slice one slice further each time; a loop that would make
// the sequence too long runs once.
#include "profiler/xla/xla_sequence.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <map>
#include <optional>
#include <utility>

#include "base/counted.h"
#include "base/error.h"
#include "base/indexed.h"
#include "base/text.h"
#include "profiler/xla/xla_inplace.h"
#include "reference/inputs.h"
#include "reference/memory_layout.h"

namespace tailor::profiler {

namespace {

gpu::Image image_of(const XlaKernel& kernel) {
  const std::string text = read_file(kernel.ptx);
  gpu::Image image{kernel.entry, {}};
  const auto bytes = std::as_bytes(std::span(text));
  image.code.assign(bytes.begin(), bytes.end());
  image.code.push_back(std::byte{0});
  return image;
}

gpu::Launch launch_of(const XlaKernel& kernel, int image) { return {kernel.launch, image, kernel.entry, {}}; }

/// Elements that are drawn for an array of a module; longer ones repeat them.
constexpr std::int64_t drawn_elements = 1 << 18;

/// Random bytes of an array that nobody wrote before it is read.
std::vector<std::byte> filling(const ir::Shape& shape, reference::InputRange range, std::uint64_t seed) {
  range.distinct = false;  // cannot hold for a repeated pattern
  const std::int64_t total = ir::elements(shape);
  const ir::Shape drawn = ir::make_shape(shape.dtype, {std::min(total, drawn_elements)});
  const std::vector<std::byte> pattern = reference::input_tensor(drawn, range, seed).bytes;
  std::vector<std::byte> bytes;
  if (total == 0) return bytes;
  bytes.resize(pattern.size() / element_count(drawn) * static_cast<std::size_t>(total));
  for (std::size_t i = 0; i < bytes.size(); i += pattern.size())
    std::copy_n(pattern.begin(), std::min(pattern.size(), bytes.size() - i),
                bytes.begin() + static_cast<std::ptrdiff_t>(i));
  return bytes;
}

/// Bytes of an allocation.
struct Extent {
  std::int64_t allocation = 0, begin = 0, end = 0;
  auto operator<=>(const Extent&) const = default;
};

/// An argument of a step: where it lies.
struct ArgumentSlice {
  Extent extent;
  int buffer = -1;
  std::int64_t offset = 0;  ///< in the buffer
};

class ModuleWalk {
 public:
  ModuleWalk(const XlaModule& module, std::uint64_t seed, std::int64_t most_launches)
      : module_(module), seed_(seed), most_launches_(most_launches) {}

  XlaModuleSequence made() {
    for (const XlaOther& other : module_.others) all_.library_launches += other.launches;
    bind_kernels();
    bind_transfers();
    assign_memory();
    make_buffers();
    drop_overlapping();
    fill_buffers();
    const std::vector<std::size_t> all = usable_steps();
    launch_steps(all, 0);
    return std::move(all_);
  }

 private:
  /// What a kernel needs wherever it is launched.
  struct Ready {
    bool usable = false;
    int image = -1;
    std::vector<reference::InputRange> ranges;  ///< by operand
    std::vector<XlaArgument> arguments;         ///< of the first place, with what they share by the PTX
  };

  void leave_out(const std::string& reason, std::int64_t launches) {
    for (XlaLeftOut& known : all_.left_out)
      if (known.reason == reason) {
        known.launches += launches;
        return;
      }
    all_.left_out.push_back({reason, launches});
  }

  static std::int64_t sites(const XlaKernel& kernel) { return std::ssize(kernel.call_sites); }

  /// Copies and fills stand among the launches that are no kernels too.
  void bind_transfers() {
    for (const XlaStep& step : module_.steps) {
      if (!step.transfer) continue;
      --all_.library_launches;
      if (!step.transfer->reason.empty()) leave_out(step.transfer->reason, 1);
    }
  }

  void bind_kernels() {
    for (const XlaKernel& kernel : module_.kernels) {
      Ready ready;
      try {
        if (std::string reason = bind(kernel, ready); !reason.empty()) leave_out(reason, sites(kernel));
      } catch (const Error& error) {
        leave_out(error.message, sites(kernel));
        ready.usable = false;
      }
      ready_.push_back(std::move(ready));
    }
  }

  /// Why a kernel cannot be launched; empty when it can.
  std::string bind(const XlaKernel& kernel, Ready& ready) {
    if (!kernel.reason.empty()) return kernel.reason;
    ready.arguments = kernel.arguments;
    const simulator::PtxModule ptx = simulator::parse_ptx(read_file(kernel.ptx), kernel.ptx.filename().string());
    const simulator::PtxFunction& entry = simulator::entry_of(ptx, kernel.entry);
    if (entry.params.size() != kernel.arguments.size()) return "the entry takes another number of parameters";
    if (!kernel.assignment_known && !share_in_place(pointer_use(entry), kernel.operands, ready.arguments))
      return "a result is never written, and no operand is that it could share memory with";
    ready.ranges = reference::input_ranges(graph_of(module_, kernel));
    if (static_cast<std::int32_t>(ready.ranges.size()) != kernel.operands)
      return "the computation has another number of parameters than the fusion";
    ready.image = static_cast<int>(all_.sequence.images.size());
    all_.sequence.images.push_back(image_of(kernel));
    ready.usable = true;
    return {};
  }

  std::vector<std::size_t> usable_steps() const {
    std::vector<std::size_t> usable;
    for (std::size_t i = 0; i < module_.steps.size(); ++i)
      if (!slices_[i].empty()) usable.push_back(i);
    return usable;
  }

  void assign_memory() {
    slices_.resize(module_.steps.size());
    for (std::size_t i = 0; i < module_.steps.size(); ++i) {
      const XlaStep& step = module_.steps[i];
      if ((!step.transfer && !ready_[step.kernel].usable) || step.arguments.empty()) continue;
      for (std::size_t k = 0; k < step.arguments.size(); ++k) {
        const XlaArgument& argument = step.arguments[k];
        const bool shared = !step.transfer && !step.assignment_known;
        const std::int32_t shares = shared ? ready_[step.kernel].arguments[k].shares : -1;
        Extent extent;
        if (argument.allocation < 0 && shares >= 0) {
          extent = slices_[i][static_cast<std::size_t>(shares)].extent;
        } else {
          all_.assignment_known = all_.assignment_known && argument.allocation >= 0;
          extent.allocation = argument.allocation >= 0 ? argument.allocation : own_allocation(argument.value);
          extent.begin = argument.allocation >= 0 ? argument.offset : 0;
          extent.end = extent.begin + ir::bytes(argument.shape);
        }
        slices_[i].push_back({extent, -1, 0});
      }
    }
  }

  /// Of a value without a known place: one that no assignment has.
  std::int64_t own_allocation(const std::string& value) {
    const auto next = -2 - static_cast<std::int64_t>(values_.size());
    return values_.try_emplace(value, next).first->second;
  }

  /// Extents that overlap are one buffer.
  void make_buffers() {
    std::vector<ArgumentSlice*> all;
    for (std::vector<ArgumentSlice>& step : slices_)
      for (ArgumentSlice& one : step) all.push_back(&one);
    std::sort(all.begin(), all.end(),
              [](const ArgumentSlice* a, const ArgumentSlice* b) { return a->extent < b->extent; });
    Extent open{-1, 0, -1};
    for (ArgumentSlice* one : all) {
      const bool inside = one->extent.allocation == open.allocation &&
                          (one->extent.begin < open.end || one->extent.begin == open.begin);
      if (!inside) {
        open = one->extent;
        all_.sequence.buffers.push_back({"", 0, gpu::BufferRole::input});
      }
      open.end = std::max(open.end, one->extent.end);
      one->buffer = static_cast<int>(all_.sequence.buffers.size()) - 1;
      one->offset = one->extent.begin - open.begin;
      all_.sequence.buffers.back().bytes = open.end - open.begin;
    }
  }

  /// What the bytes of a buffer were before the launch that looks at them.
  struct Known {
    std::map<std::int64_t, std::int64_t> touched;  ///< ranges by their begin, with their end; no two of them meet
    bool written = false, filled = false;
    std::vector<std::byte> contents;

    /// The parts of [begin, end) that nobody touched, ascending; from now on they are touched.
    std::vector<std::pair<std::int64_t, std::int64_t>> take(std::int64_t begin, std::int64_t end) {
      std::vector<std::pair<std::int64_t, std::int64_t>> fresh;
      std::int64_t reached = begin, first = begin, last = end;
      auto at = touched.upper_bound(begin);
      if (at != touched.begin() && std::prev(at)->second >= begin) --at;
      while (at != touched.end() && at->first <= end) {
        if (at->first > reached) fresh.emplace_back(reached, at->first);
        reached = std::max(reached, at->second);
        first = std::min(first, at->first);
        last = std::max(last, at->second);
        at = touched.erase(at);
      }
      if (reached < end) fresh.emplace_back(reached, end);
      touched.emplace(first, last);
      return fresh;
    }
  };

  /// The driver must not be given a copy whose ends meet. One onto itself is none: XLA skips it too.
  void drop_overlapping() {
    for (std::size_t i = 0; i < module_.steps.size(); ++i) {
      const XlaStep& step = module_.steps[i];
      if (!step.transfer || step.transfer->fills || slices_[i].empty()) continue;
      const XlaRange &from = step.transfer->parts.front(), &to = step.transfer->parts.back();
      const ArgumentSlice &source = slices_[i].front(), &target = slices_[i].back();
      if (source.buffer != target.buffer) continue;
      const bool together = from.stride == to.stride && from.loop == to.loop;
      const std::int64_t apart = target.offset + to.begin - source.offset - from.begin;
      const bool whole_apart = target.extent.begin >= source.extent.end || source.extent.begin >= target.extent.end;
      if (whole_apart || (together && std::abs(apart) >= step.transfer->bytes)) continue;
      if (!together || apart != 0) leave_out("Copy: not run: what it reads and what it writes overlap", 1);
      slices_[i].clear();
    }
  }

  /// In the order of the list: reads of bytes that nobody touched want contents.
  void fill_buffers() {
    std::vector<Known> known(all_.sequence.buffers.size());
    for (const std::size_t i : usable_steps()) {
      const XlaStep& step = module_.steps[i];
      for (std::size_t k = 0; k < step.arguments.size(); ++k) {
        gpu::Buffer& buffer = all_.sequence.buffers[static_cast<std::size_t>(slices_[i][k].buffer)];
        if (buffer.name.empty()) buffer.name = step.arguments[k].name;
      }
      if (step.transfer) {
        touch_transfer(known, i);
        continue;
      }
      const XlaKernel& kernel = module_.kernels[step.kernel];
      for (std::size_t k = 0; k < step.arguments.size(); ++k) {
        if (static_cast<std::int32_t>(k) >= kernel.operands)
          write(known, slices_[i][k]);
        else
          read(known, slices_[i][k], [&] { return drawn(step.arguments[k].shape, range_of(step, k)); });
      }
    }
    gather(known);
  }

  /// A copy reads its source, which without an earlier writer holds what the readers of the destination ask for. Where
  /// the part that is written moves, the rest keeps what it held, so it wants contents too.
  void touch_transfer(std::vector<Known>& known, std::size_t number) {
    const XlaStep& step = module_.steps[number];
    ArgumentSlice target = slices_[number].back();
    const XlaRange& to = step.transfer->parts.back();
    const auto make = [&](const XlaArgument& argument) {
      if (const std::optional<reference::Tensor> constant = constant_of(module_, argument)) {
        std::vector<std::byte> bytes(reference::memory_bytes(argument.shape));
        reference::to_memory(*constant, bytes);
        return bytes;
      }
      std::vector<bool> asked(module_.steps.size(), false);
      return drawn(argument.shape, wanted_of(number, asked));
    };
    if (!step.transfer->fills) read(known, slices_[number].front(), [&] { return make(step.arguments.front()); });
    if (to.stride != 0) {
      read(known, target, [&] { return make(step.arguments.back()); });
    } else {
      target.offset += to.begin;
      target.extent.begin += to.begin;
      target.extent.end = target.extent.begin + step.transfer->bytes;
    }
    write(known, target);
  }

  /// What whoever reads the destination of a copy first asks for, itself seen through copies. A loop's reader may stand
  /// before the copy.
  reference::InputRange wanted_of(std::size_t copy, std::vector<bool>& asked) const {
    asked[copy] = true;
    const ArgumentSlice& target = slices_[copy].back();
    const auto meets = [&](const ArgumentSlice& place) {
      return place.buffer == target.buffer && place.extent.begin < target.extent.end &&
             target.extent.begin < place.extent.end;
    };
    for (std::size_t n = 1; n < module_.steps.size(); ++n) {
      const std::size_t i = (copy + n) % module_.steps.size();
      const XlaStep& step = module_.steps[i];
      if (slices_[i].empty()) continue;
      if (step.transfer) {
        if (!step.transfer->fills && !asked[i] && meets(slices_[i].front())) return wanted_of(i, asked);
        continue;
      }
      for (std::int32_t k = 0; k < module_.kernels[step.kernel].operands; ++k)
        if (meets(slices_[i][static_cast<std::size_t>(k)])) return range_of(step, static_cast<std::size_t>(k));
    }
    return {};
  }

  /// Roles, and contents one after the other: of large models gigabytes, so never twice in memory.
  void gather(std::vector<Known>& known) {
    std::size_t wanted = 0;
    for (std::size_t i = 0; i < known.size(); ++i) {
      gpu::Buffer& buffer = all_.sequence.buffers[i];
      all_.buffer_bytes += buffer.bytes;
      if (known[i].written) buffer.role = known[i].filled ? gpu::BufferRole::in_place : gpu::BufferRole::output;
      wanted += has_contents(buffer.role) ? static_cast<std::size_t>(buffer.bytes) : 0;
    }
    all_.contents.reserve(wanted);
    for (std::size_t i = 0; i < known.size(); ++i) {
      if (!has_contents(all_.sequence.buffers[i].role)) continue;
      all_.contents.insert(all_.contents.end(), known[i].contents.begin(), known[i].contents.end());
      known[i].contents = {};
    }
  }

  const reference::InputRange& range_of(const XlaStep& step, std::size_t operand) const {
    return ready_[step.kernel].ranges[operand];
  }

  std::vector<std::byte> drawn(const ir::Shape& shape, const reference::InputRange& range) {
    return filling(shape, range, seed_ * 1000 + drawn_++);
  }

  static std::int64_t end_of(const ArgumentSlice& place) {
    return place.offset + (place.extent.end - place.extent.begin);
  }

  static void write(std::vector<Known>& known, const ArgumentSlice& place) {
    Known& of = known[static_cast<std::size_t>(place.buffer)];
    of.take(place.offset, end_of(place));
    of.written = true;
  }

  /// `make`: the bytes that are read, where nobody touched some of them before.
  void read(std::vector<Known>& known, const ArgumentSlice& place,
            const std::function<std::vector<std::byte>()>& make) const {
    const auto number = static_cast<std::size_t>(place.buffer);
    Known& of = known[number];
    const std::int64_t begin = place.offset;
    const auto fresh = of.take(begin, end_of(place));
    if (fresh.empty()) return;
    of.contents.resize(static_cast<std::size_t>(all_.sequence.buffers[number].bytes));
    const std::vector<std::byte> bytes = make();
    const std::int64_t drawn_end = begin + std::ssize(bytes);
    for (const auto& [from, to] : fresh)
      if (const std::int64_t size = std::min(to, drawn_end) - from; size > 0)
        std::copy_n(bytes.begin() + (from - begin), size, of.contents.begin() + from);
    of.filled = true;
  }

  /// Launches steps that stand in the same loops down to `depth`; runs of one further loop repeat.
  void launch_steps(std::span<const std::size_t> steps, std::size_t depth) {
    for (std::size_t first = 0; first < steps.size();) {
      const XlaStep& step = module_.steps[steps[first]];
      if (step.loops.size() <= depth) {
        launch(steps[first++]);
        continue;
      }
      const auto other = std::find_if(steps.begin() + static_cast<std::ptrdiff_t>(first), steps.end(), [&](auto i) {
        const std::vector<XlaLoop>& loops = module_.steps[i].loops;
        return loops.size() <= depth || !(loops[depth] == step.loops[depth]);
      });
      const auto last = static_cast<std::size_t>(other - steps.begin());
      repeat(steps.subspan(first, last - first), depth, whole_count(step.loops[depth].trips));
      first = last;
    }
  }

  void repeat(std::span<const std::size_t> body, std::size_t depth, std::int64_t trips) {
    std::vector<gpu::Launch>& launches = all_.sequence.launches;
    const std::size_t before = launches.size();
    launch_steps(body, depth + 1);
    const std::vector<gpu::Launch> once(launches.begin() + static_cast<std::ptrdiff_t>(before), launches.end());
    if (once.empty()) return;
    if (trips > 1 && trips > (most_launches_ - static_cast<std::int64_t>(before)) / std::ssize(once)) {
      ++all_.shortened_loops;
      return;
    }
    for (std::int64_t trip = 1; trip < trips; ++trip) {
      const std::size_t first = launches.size();
      launches.insert(launches.end(), once.begin(), once.end());
      for (std::size_t i = 0; i < once.size(); ++i) {
        made_by_.push_back(made_by_[before + i]);
        move_on(launches[first + i], module_.steps[made_by_.back()], depth, trip);
      }
    }
  }

  /// Of a copy: to where, from where it goes in this trip of the loop at `depth`.
  static void move_on(gpu::Launch& launch, const XlaStep& step, std::size_t depth, std::int64_t trip) {
    if (!step.transfer) return;
    for (std::size_t k = 0; k < step.transfer->parts.size(); ++k) {
      const XlaRange& part = step.transfer->parts[k];
      if (part.stride != 0 && step.loops.size() - 1 - static_cast<std::size_t>(part.loop) == depth)
        launch.arguments[launch.arguments.size() - 1 - k].offset += trip * part.stride;
    }
  }

  void launch(std::size_t number) {
    const XlaStep& step = module_.steps[number];
    made_by_.push_back(number);
    ++all_.launches;
    if (step.transfer) return all_.sequence.launches.push_back(transfer(step, slices_[number]));
    gpu::Launch launch = launch_of(module_.kernels[step.kernel], ready_[step.kernel].image);
    for (const ArgumentSlice& place : slices_[number]) launch.arguments.push_back({place.buffer, place.offset, {}});
    all_.sequence.launches.push_back(std::move(launch));
  }

  static gpu::Launch transfer(const XlaStep& step, std::span<const ArgumentSlice> places) {
    const auto place = [&](std::size_t k) {
      return gpu::Argument{places[k].buffer, places[k].offset + step.transfer->parts[k].begin, {}};
    };
    const XlaTransfer& what = *step.transfer;
    return what.fills ? gpu::fill_step(step.instruction, place(0), what.bytes, what.word)
                      : gpu::copy_step(step.instruction, place(1), place(0), what.bytes);
  }

  const XlaModule& module_;
  std::uint64_t seed_;
  std::int64_t most_launches_;
  XlaModuleSequence all_;
  IndexedVector<Ready> ready_;                      ///< by kernel
  std::vector<std::vector<ArgumentSlice>> slices_;  ///< by step, by argument; empty: left out
  std::map<std::string, std::int64_t> values_;      ///< allocations of values without a known place
  std::vector<std::size_t> made_by_;                ///< parallel to the launches: of which step each is
  std::uint64_t drawn_ = 0;
};

}  // namespace

gpu::Sequence sequence_of(const XlaKernel& kernel, const XlaCase& one) {
  gpu::Sequence sequence;
  sequence.images.push_back(image_of(kernel));
  for (const XlaMemory& memory : one.memory) sequence.buffers.push_back({memory.name, memory.bytes, memory.role});
  sequence.launches.push_back(launch_of(kernel, 0));
  for (const int memory : one.memory_of) sequence.launches.front().arguments.push_back({memory, 0, {}});
  return sequence;
}

std::vector<std::byte> contents_of(const XlaCase& one) {
  std::vector<std::byte> contents;
  for (std::size_t i = 0; i < one.memory.size(); ++i) {
    if (!has_contents(one.memory[i].role)) continue;
    const std::size_t at = contents.size();
    contents.resize(at + static_cast<std::size_t>(one.memory[i].bytes));
    fill(one, i, std::span(contents).subspan(at));
  }
  return contents;
}

XlaVerdict judge_fetched(const XlaCase& one, std::span<const std::byte> blob, const std::stop_token& stop) {
  std::vector<std::span<const std::byte>> memory(one.memory.size());
  for (std::size_t i = 0; i < one.memory.size(); ++i) {
    if (!is_written(one.memory[i].role)) continue;
    const auto bytes = static_cast<std::size_t>(one.memory[i].bytes);
    if (bytes > blob.size()) return {XlaOutcome::cannot_evaluate, "fewer bytes came back than the results have"};
    memory[i] = blob.first(bytes);
    blob = blob.subspan(bytes);
  }
  return judge(one, memory, stop);
}

XlaModuleSequence module_sequence(const XlaModule& module, std::uint64_t seed, std::int64_t most_launches) {
  return ModuleWalk(module, seed, most_launches).made();
}

}  // namespace tailor::profiler
