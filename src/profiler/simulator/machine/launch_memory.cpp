// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Parameters, module variables and the slots of a launch. The parameter block and the module's variables become buffers
// behind the caller's own and are taken away at the end; addresses inside initialisers are filled in once all variables
// lie somewhere. Limits of a launch are those that are the same on every compute capability; the others come from the
// device file.
#include "profiler/simulator/machine/launch_memory.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "profiler/simulator/decode/special.h"

namespace tailor::simulator {
namespace {

void fill_slot(std::byte* at, int bits, std::uint64_t value) {
  if (bits == 64) {
    auto* to = reinterpret_cast<std::uint64_t*>(at);
    std::fill(to, to + lanes_per_warp, value);
  } else {
    auto* to = reinterpret_cast<std::uint32_t*>(at);
    std::fill(to, to + lanes_per_warp, static_cast<std::uint32_t>(value));
  }
}

std::uint64_t param_value(const std::vector<std::byte>& params, const LaunchConstant& one) {
  std::uint64_t value = 0;
  std::memcpy(&value, params.data() + one.value, one.bytes);
  if (one.sign && one.bytes < 8) {
    const int shift = 64 - 8 * one.bytes;
    value = static_cast<std::uint64_t>(static_cast<std::int64_t>(value << shift) >> shift);
  }
  return value;
}

std::uint64_t special_value(const LaunchState& state, SpecialId id) {
  const Launch& launch = state.launch;
  const auto clusters = [&](std::size_t d) { return launch.grid[d] / state.cluster[d]; };
  switch (id) {
    case SpecialId::ntid_x:
      return launch.block[0];
    case SpecialId::ntid_y:
      return launch.block[1];
    case SpecialId::ntid_z:
      return launch.block[2];
    case SpecialId::nctaid_x:
      return launch.grid[0];
    case SpecialId::nctaid_y:
      return launch.grid[1];
    case SpecialId::nctaid_z:
      return launch.grid[2];
    case SpecialId::nwarpid:
      return static_cast<std::uint64_t>(state.warps_per_block);
    case SpecialId::nsmid:
      return static_cast<std::uint64_t>(std::max(state.options.machine.sms, 1));
    case SpecialId::gridid:
      return 1;
    case SpecialId::warp_size:
      return lanes_per_warp;
    case SpecialId::dynamic_smem_size:
      return static_cast<std::uint64_t>(launch.dynamic_shared);
    case SpecialId::total_smem_size:
    case SpecialId::aggr_smem_size:
      return static_cast<std::uint64_t>(state.shared_bytes - state.program.guard_bytes);
    case SpecialId::is_explicit_cluster:
      return state.program.function->explicit_cluster ? all_lanes : 0;
    case SpecialId::nclusterid_x:
      return clusters(0);
    case SpecialId::nclusterid_y:
      return clusters(1);
    case SpecialId::nclusterid_z:
      return clusters(2);
    case SpecialId::cluster_nctaid_x:
      return state.cluster[0];
    case SpecialId::cluster_nctaid_y:
      return state.cluster[1];
    case SpecialId::cluster_nctaid_z:
      return state.cluster[2];
    case SpecialId::cluster_nctarank:
      return static_cast<std::uint64_t>(volume(state.cluster));
    default:
      return 0;
  }
}

/// cooperative_groups/details/driver_abi.h: a driver leaves the address of a grid's workspace in %envreg1 (upper half)
/// and %envreg2. It holds the workspace's size and the word that grid.sync() counts in.
constexpr std::int64_t workspace_bytes = 8;

bool is_special(const LaunchConstant& one, SpecialId id) {
  return one.kind == LaunchConstant::Kind::special && static_cast<SpecialId>(one.special) == id;
}

bool is_called(const PtxVariable& variable, std::string_view name) {
  return variable.name == name || source_symbol(std::string(variable.name)) == name;
}

/// Empty: each is one of the program's variables in global memory, and as large.
std::string refused_variables(const DecodedProgram& program, const Launch& launch) {
  for (const VariableContents& given : launch.variables) {
    const auto at = std::find_if(program.variables.begin(), program.variables.end(), [&](const AllocatedVariable& one) {
      return one.variable != nullptr && !one.shared && is_called(*one.variable, given.name);
    });
    if (at == program.variables.end())
      return fmt::format("the file has no variable {} in global or constant memory", given.name);
    if (at->variable->bytes != static_cast<std::int64_t>(given.bytes.size()))
      return fmt::format("variable {} was given {} bytes, it has {}", given.name, given.bytes.size(),
                         at->variable->bytes);
  }
  return {};
}

bool asks_for_workspace(const DecodedProgram& program) {
  return std::any_of(program.constants.begin(), program.constants.end(), [](const LaunchConstant& one) {
    return is_special(one, SpecialId::envreg1) || is_special(one, SpecialId::envreg2);
  });
}

}  // namespace

/// Why a driver would refuse the launch; empty: it would not.
std::string refusal(const DecodedProgram& program, const Launch& launch, const Memory& memory, const Extent3& cluster,
                    const SimulationOptions& options) {
  const auto text = [](const Extent3& e) { return fmt::format("{} x {} x {}", e[0], e[1], e[2]); };
  // CUDA C++ Programming Guide, technical specifications: the same on every compute capability.
  if (launch.grid[0] > 0x7fffffffu || launch.grid[1] > 65535 || launch.grid[2] > 65535)
    return fmt::format("the grid is {}, more than 2147483647 x 65535 x 65535", text(launch.grid));
  if (volume(launch.grid) <= 0 || volume(launch.block) <= 0)
    return fmt::format("the grid is {} and the block {}; no extent may be 0", text(launch.grid), text(launch.block));
  if (volume(launch.block) > 1024) return fmt::format("the block is {}, more than 1024 threads", text(launch.block));
  const PtxFunction& entry = *program.function;
  if (entry.reqntid[0] != 0) {
    Extent3 wanted = entry.reqntid;
    for (std::uint32_t& one : wanted) one = std::max(one, 1u);
    if (wanted != launch.block)
      return fmt::format("the block is {}, the entry asks for {}", text(launch.block), text(wanted));
  }
  if (entry.maxntid[0] != 0) {
    std::int64_t most = 1;
    for (const std::uint32_t one : entry.maxntid) most *= std::max(one, 1u);
    if (volume(launch.block) > most)
      return fmt::format("the block is {}, the entry allows {} threads", text(launch.block), most);
  }
  for (std::size_t d = 0; d < 3; ++d)
    if (cluster[d] == 0 || launch.grid[d] % cluster[d] != 0)
      return fmt::format("the grid {} is no multiple of the cluster {}", text(launch.grid), text(cluster));
  if (launch.arguments.size() != program.params.size())
    return fmt::format("{} arguments were given, {} takes {}", launch.arguments.size(), program.entry,
                       program.params.size());
  for (std::size_t k = 0; k < launch.arguments.size(); ++k) {
    const Argument& one = launch.arguments[k];
    const std::int64_t given = one.buffer >= 0 ? 8 : static_cast<std::int64_t>(one.value.size());
    if (given != program.params[k].bytes)
      return fmt::format("argument {} has {} bytes, parameter {} has {}", k, given, k, program.params[k].bytes);
    if (one.buffer >= memory.buffers())
      return fmt::format("argument {} names buffer {} of {}", k, one.buffer, memory.buffers());
  }
  if (std::string variables = refused_variables(program, launch); !variables.empty()) return variables;
  constexpr std::int64_t most_local = 512 << 10;  // per thread on every compute capability (CUDA C++ Programming Guide)
  if (program.local_bytes > most_local)
    return fmt::format("a thread needs {} bytes of local memory, more than {}", program.local_bytes, most_local);
  const std::int64_t shared = program.dynamic_offset - program.guard_bytes + launch.dynamic_shared;
  if (const std::int64_t most = options.machine.shared_per_block; most != 0 && shared > most)
    return fmt::format("a block needs {} bytes of shared memory, the machine allows {}", shared, most);
  if (shared >= std::int64_t{1} << shared_rank_shift)
    return fmt::format("{} bytes of shared memory in a block", shared);
  return {};
}

LaunchMemory::LaunchMemory(const DecodedProgram& program, const Launch& launch, Memory& memory)
    : memory_(memory), first_(memory.buffers()) {
  params_.resize(static_cast<std::size_t>(program.param_bytes));
  for (std::size_t k = 0; k < launch.arguments.size(); ++k) {
    const Argument& one = launch.arguments[k];
    std::byte* to = params_.data() + program.params[k].offset;
    if (one.buffer >= 0) {
      const std::uint64_t address = memory.address(one.buffer) + static_cast<std::uint64_t>(one.offset);
      std::memcpy(to, &address, sizeof address);
    } else {
      std::memcpy(to, one.value.data(), one.value.size());
    }
  }
  const int block = memory.add("parameters", std::max<std::int64_t>(program.param_bytes, 8), 1, BufferUse::input);
  std::memcpy(memory.bytes(block).data(), params_.data(), params_.size());
  addresses_.push_back(memory.address(block));
  for (std::size_t k = 1; k < program.variables.size(); ++k) {
    const PtxVariable* variable = program.variables[k].variable;
    if (program.variables[k].shared) {
      addresses_.push_back(0);
      continue;
    }
    const bool constant = variable->space == PtxSpace::constant;
    const int made = memory.add(std::string(variable->name), variable->bytes, static_cast<int>(variable->element_bytes),
                                constant ? BufferUse::input : BufferUse::both);
    if (!variable->initial.empty())
      std::memcpy(memory.bytes(made).data(), variable->initial.data(),
                  std::min(variable->initial.size(), memory.bytes(made).size()));
    for (const VariableContents& given : launch.variables)
      if (is_called(*variable, given.name))
        std::copy(given.bytes.begin(), given.bytes.end(), memory.bytes(made).begin());
    addresses_.push_back(memory.address(made));
  }
  for (std::size_t k = 1; k < program.variables.size(); ++k) relocate(program, k);
  if (launch.cooperative && asks_for_workspace(program))
    grid_workspace_ = memory.address(memory.add("grid workspace", workspace_bytes, 4, BufferUse::scratch));
}

LaunchMemory::~LaunchMemory() {
  Memory::Body& body = memory_.body();
  body.buffers.resize(static_cast<std::size_t>(first_));
  body.pages.resize(static_cast<std::size_t>(first_));
  if (!addresses_.empty()) body.end = static_cast<std::int64_t>(addresses_[0] - global_base);
}
void LaunchMemory::relocate(const DecodedProgram& program, std::size_t k) {
  const AllocatedVariable& one = program.variables[k];
  if (one.shared) return;
  for (const PtxVariable::Address& part : one.variable->addresses) {
    if (const std::uint64_t function = function_address(*program.module, part.symbol); function != 0)
      std::memcpy(memory_.bytes(memory_.body().holding(addresses_[k])).data() + part.offset, &function,
                  sizeof function);
    for (std::size_t other = 1; other < program.variables.size(); ++other) {
      if (program.variables[other].variable->name != part.symbol) continue;
      const std::uint64_t value = addresses_[other] + static_cast<std::uint64_t>(part.addend);
      Memory::Body& body = memory_.body();
      const int buffer = body.holding(addresses_[k]);
      std::memcpy(memory_.bytes(buffer).data() + part.offset, &value, sizeof value);
    }
  }
}

AlignedBytes make_launch_bank(const LaunchState& state, const LaunchMemory& launch_memory) {
  AlignedBytes bank(std::max<std::size_t>(state.program.launch_bytes, slot_bytes));
  for (const LaunchConstant& one : state.program.constants) {
    std::uint64_t value = one.value;
    if (one.kind == LaunchConstant::Kind::param) value = param_value(launch_memory.params(), one);
    if (one.kind == LaunchConstant::Kind::address) value += launch_memory.address(one.variable);
    if (one.kind == LaunchConstant::Kind::special) value = special_value(state, static_cast<SpecialId>(one.special));
    if (is_special(one, SpecialId::envreg1)) value = launch_memory.grid_workspace() >> 32;
    if (is_special(one, SpecialId::envreg2)) value = launch_memory.grid_workspace();
    fill_slot(bank.data + (one.slot & slot_offset_mask), one.slot_bits, value);
  }
  return bank;
}

AlignedBytes make_thread_bank(const LaunchState& state) {
  AlignedBytes made(static_cast<std::size_t>(state.warps_per_block) * thread_bank_slots * slot_bytes);
  std::byte* bank = made.data;

  const Extent3& block = state.launch.block;
  for (int warp = 0; warp < state.warps_per_block; ++warp) {
    std::byte* mine = bank + static_cast<std::size_t>(warp) * thread_bank_slots * slot_bytes;
    const auto put = [&](SpecialId id, int lane, std::uint32_t value) {
      reinterpret_cast<std::uint32_t*>(mine + special_row(id).index * slot_bytes)[lane] = value;
    };
    for (int lane = 0; lane < lanes_per_warp; ++lane) {
      const auto thread = static_cast<std::uint32_t>(warp * lanes_per_warp + lane);
      put(SpecialId::tid_x, lane, thread % block[0]);
      put(SpecialId::tid_y, lane, thread / block[0] % block[1]);
      put(SpecialId::tid_z, lane, thread / block[0] / block[1]);
      put(SpecialId::laneid, lane, static_cast<std::uint32_t>(lane));
      put(SpecialId::warpid, lane, static_cast<std::uint32_t>(warp));
      const std::uint32_t bit = 1u << lane;
      put(SpecialId::lanemask_eq, lane, bit);
      put(SpecialId::lanemask_lt, lane, bit - 1);
      put(SpecialId::lanemask_le, lane, bit | (bit - 1));
      put(SpecialId::lanemask_ge, lane, ~(bit - 1));
      put(SpecialId::lanemask_gt, lane, ~(bit | (bit - 1)));
    }
  }
  return made;
}

}  // namespace tailor::simulator
