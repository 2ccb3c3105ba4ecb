// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// From an entry to a Program: variables get their places, instructions become blocks, blocks their order, registers
// their slots.
#include "profiler/simulator/machine/program.h"

#include <algorithm>

#include "base/error.h"
#include "profiler/simulator/decode/decode.h"
#include "profiler/simulator/machine/align.h"
#include "profiler/simulator/machine/handlers.h"

namespace tailor::simulator {
/// Parameters in order at their alignment; shared variables in order, `extern` ones after them; module variables are
/// placed in memory at launch.
void Decoder::allocate_variables() {
  for (const PtxVariable& param : entry_.params) {
    body_.param_bytes = aligned(body_.param_bytes, param.align);
    body_.params.push_back({body_.param_bytes, param.bytes});
    body_.param_bytes += param.bytes;
  }
  body_.variables.push_back({});  // the parameter block
  std::vector<const PtxVariable*> dynamic;
  const auto allocate = [&](const PtxVariable& variable) {
    if (variable.space == PtxSpace::shared) {
      if (variable.bytes == 0) return dynamic.push_back(&variable);
      body_.static_shared = aligned(body_.static_shared, variable.align);
      body_.variables.push_back({&variable, true, body_.static_shared});
      body_.static_shared += variable.bytes;
    } else if (variable.space == PtxSpace::global || variable.space == PtxSpace::constant) {
      body_.variables.push_back({&variable, false, 0});
    }
  };
  for (const PtxVariable& variable : module_.variables) allocate(variable);
  std::vector<const PtxFunction*> seen;
  for (const CallInstance& one : flat_.instances) {
    if (std::find(seen.begin(), seen.end(), one.function) != seen.end()) continue;
    seen.push_back(one.function);
    for (const PtxVariable& variable : one.function->variables) allocate(variable);
  }
  std::int64_t align = 1;
  for (const PtxVariable* variable : dynamic) align = std::max<std::int64_t>(align, variable->align);
  body_.dynamic_offset = aligned(body_.static_shared, align);
  for (const PtxVariable* variable : dynamic) body_.variables.push_back({variable, true, body_.dynamic_offset});
}

/// Drafts into the program's arrays; targets given as flat indices become blocks.
void Decoder::build_code() {
  for (DraftBlock& draft : drafts_) {
    CodeBlock& code = draft.code;
    code.first = static_cast<std::uint32_t>(body_.micros.size());
    body_.micros.insert(body_.micros.end(), draft.micros.begin(), draft.micros.end());
    code.last = static_cast<std::uint32_t>(body_.micros.size());
    if (draft.target_flat != no_block) code.target = block_at_[draft.target_flat];
    if (code.ending == Ending::indirect) {
      code.op = static_cast<std::uint32_t>(body_.targets.size());
      body_.targets.push_back(static_cast<std::uint32_t>(draft.indirect.size()));
      for (const std::uint32_t flat : draft.indirect) body_.targets.push_back(block_at_[flat]);
    }
    body_.code.push_back(code);
  }
}

void Decoder::run() {
  flat_ = flatten(module_, entry_);
  body_.unsupported = flat_.unsupported;
  body_.local_bytes = flat_.local_bytes;
  allocate_variables();
  for (const CallInstance& one : flat_.instances)
    for (const PtxRegister& reg : one.function->registers)
      register_slot_bits_.push_back(reg.bits == 1 ? 1 : reg.bits >= 64 ? 64 : 32);
  const std::size_t count_flat = flat_.instructions.size();
  std::vector<bool> leads(count_flat + 1, false);
  for (const FlatInstruction& one : flat_.instructions)
    if (one.target != no_block) leads[one.target] = true;
  for (const auto& table : flat_.targets)
    for (const std::uint32_t at : table) leads[at] = true;
  block_at_.assign(count_flat + 1, no_block);
  for (std::uint32_t i = 0; i < count_flat; ++i) {
    if (leads[i]) {
      open_block();
      block_at_[i] = static_cast<std::uint32_t>(drafts_.size() - 1);
    }
    instruction(flat_.instructions[i]);
  }
  // Where control falls off the end, the lanes are done; branches may lead there too.
  open_block();
  block_at_[count_flat] = static_cast<std::uint32_t>(drafts_.size() - 1);
  end_block(Ending::exit);
  build_code();
  order_blocks(body_.code, body_.targets);
  forward_constants(body_, register_slot_bits_.size());
  give_slots(body_, register_slot_bits_);
  for (Micro& micro : body_.micros)
    if (micro.full == nullptr) micro.full = micro.some = guard_step();
}

Program::Program(const PtxModule& module, const PtxFunction& entry, std::string_view instruction_set)
    : body_(std::make_unique<Body>()) {
  body_->file = module.file;
  body_->entry = entry.name;
  body_->module = std::make_shared<const PtxModule>(module);
  for (const PtxFunction& one : body_->module->functions)
    if (one.name == entry.name && one.defined) body_->function = &one;
  if (body_->function == nullptr)
    throw Error(Fault::failed, {module.file, static_cast<std::int64_t>(entry.line)},
                std::string(entry.name) + " is declared here and has no body", "link the file that defines it");
  body_->lanes = lane_table(instruction_set);
  Decoder(*body_, *body_->module, *body_->function).run();
}

std::string source_name(const Program::Body& program, const PtxSource& source) {
  const auto& files = program.module->source_files;
  if (source.file >= files.size()) return {};
  const std::string& path = files[source.file];
  return path.substr(path.rfind('/') + 1);  // compilers put the folder they ran in before it
}

Program::~Program() = default;
Program::Program(Program&&) noexcept = default;
Program& Program::operator=(Program&&) noexcept = default;

const std::string& Program::unsupported() const { return body_->unsupported; }
std::int64_t Program::static_shared() const { return body_->static_shared; }
std::int64_t Program::instructions() const { return static_cast<std::int64_t>(body_->sites.size()); }

}  // namespace tailor::simulator
