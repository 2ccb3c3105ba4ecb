// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Stands where the engine will be: everything that uses the simulator can be built and says that it cannot simulate.
#include "base/error.h"
#include "simulator/launch.h"

namespace tailor::simulator {

struct Memory::Body {
  std::vector<std::vector<std::byte>> buffers;
};
Memory::Memory() : body_(std::make_unique<Body>()) {}
Memory::~Memory() = default;
Memory::Memory(Memory&&) noexcept = default;
Memory& Memory::operator=(Memory&&) noexcept = default;
int Memory::add(std::string, std::int64_t bytes, int, BufferUse) {
  body_->buffers.emplace_back(static_cast<std::size_t>(bytes));
  return static_cast<int>(body_->buffers.size()) - 1;
}
std::span<std::byte> Memory::bytes(int buffer) { return body_->buffers[static_cast<std::size_t>(buffer)]; }
std::span<const std::byte> Memory::bytes(int buffer) const { return body_->buffers[static_cast<std::size_t>(buffer)]; }

struct Program::Body {
  std::string unsupported = "anything: this program is built without the simulator";
};
Program::Program(const PtxModule&, const PtxFunction&, std::string_view) : body_(std::make_unique<Body>()) {}
Program::~Program() = default;
Program::Program(Program&&) noexcept = default;
Program& Program::operator=(Program&&) noexcept = default;
const std::string& Program::unsupported() const { return body_->unsupported; }

Simulation simulate(const Program& program, const Launch&, Memory&, const SimulationOptions&) {
  Simulation simulation;
  simulation.outcome = SimulationOutcome::unsupported;
  simulation.reason = program.unsupported();
  return simulation;
}

std::string describe(const Finding& finding) { return finding.text; }

}  // namespace tailor::simulator
