// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Instructions on several values in one register that no row of the opcode table has as a whole: arithmetic of two f32
// in 64 bits, and differences of bytes and half words. In: an instruction of the walk (decode.cpp). Out: the parts
// taken out, the rows of one part for each, and the parts put together again. Called by the walk before the table is
// asked.
#include "profiler/simulator/decode/decoder.h"

namespace tailor::simulator {

bool Decoder::packed_instruction() {
  const auto& parts = current_.parts;
  if (parts.back() == "f32x2") return float_pairs();
  if (parts[0] == "vabsdiff4" || parts[0] == "vabsdiff2") return absolute_differences(), true;
  return false;
}

/// {add,sub,mul,fma}{.rnd}{.ftz}.f32x2: the row of f32 for the lower and for the upper half.
bool Decoder::float_pairs() {
  std::string key(current_.ptx->opcode);
  key.resize(key.size() - 2);
  const std::optional<LaneMatch> match = find_lane_opcode(key);
  const std::string_view op = current_.parts[0];
  if (!match || (op != "add" && op != "sub" && op != "mul" && op != "fma")) return false;
  const LaneOpcode& row = *match->row;
  const auto sources = static_cast<std::uint32_t>(row.source_count);
  if (operand_count() != sources + 1)
    malformed(std::string(current_.ptx->opcode) + " has " + std::to_string(operand_count()) + " operands, expected " +
              std::to_string(sources + 1));
  count(row.pipe);
  Slot in[2][3] = {{no_slot, no_slot, no_slot}, {no_slot, no_slot, no_slot}};
  for (std::uint32_t k = 0; k < sources; ++k) {
    const std::vector<Slot> halves = {temporary(32), temporary(32)};
    Micro micro;
    micro.a = source(operand(k + 1), LaneType::u64);
    micro.list = list_of(halves);
    micro.count = 2;
    micro.writes = 3;
    micro.full = program_.lanes->lane[find_unpack(64, 2)->handler][0];
    micro.some = program_.lanes->lane[find_unpack(64, 2)->handler][1];
    emit(micro);
    for (std::size_t half = 0; half < 2; ++half)
      in[half][k] = match->flush ? flushed(halves[half], LaneType::f32) : halves[half];
  }
  std::vector<Slot> made;
  for (const auto& half : in) {
    made.push_back(temporary(32));
    emit(program_.lanes->lane[row.handler], made.back(), half[0], half[1], half[2]);
    if (match->flush) emit(program_.lanes->flush_f32, made.back(), made.back());
  }
  Micro micro;
  micro.d = destination(operand(0), LaneType::u64);
  micro.list = list_of(made);
  micro.count = 2;
  micro.full = program_.lanes->lane[find_pack(64, 2)->handler][0];
  micro.some = program_.lanes->lane[find_pack(64, 2)->handler][1];
  emit(micro);
  return true;
}

/// vabsdiff{2,4}.dtype.atype.btype{.add} d, a, b, c: |a - b| part by part, or their sum added to c.
void Decoder::absolute_differences() {
  const auto& parts = current_.parts;
  const bool adds = parts.back() == "add";
  const bool plain = parts.size() == 4u + adds && operand_count() == 4;
  if (!plain || (parts[2] != "u32" && parts[2] != "s32") || parts[2] != parts[3])
    return unsupported("this form of the difference of packed integers");
  count(Pipe::alu);
  const int width = parts[0] == "vabsdiff4" ? 8 : 16;
  const std::string type(parts[2]);
  const Slot a = source(operand(1), LaneType::u32), b = source(operand(2), LaneType::u32);
  const Slot c = source(operand(3), LaneType::u32), zero = bits_constant(0, 32);
  const Slot length = bits_constant(static_cast<std::uint64_t>(width), 32);
  Slot sum = adds ? c : zero;
  for (int at = 0; at < 32; at += width) {
    const Slot place = bits_constant(static_cast<std::uint64_t>(at), 32);
    const Slot left = temporary(32), right = temporary(32), next = temporary(32);
    emit_row("bfe." + type, left, a, place, length);
    emit_row("bfe." + type, right, b, place, length);
    if (adds) {
      emit_row("sad." + type, next, left, right, sum);
    } else {
      const Slot one = temporary(32), moved = temporary(32);
      emit_row("sad." + type, one, left, right, zero);
      emit_row("shl.b32", moved, one, place);
      emit_row("or.b32", next, moved, sum);
    }
    sum = next;
  }
  emit(program_.lanes->copy32, destination(operand(0), LaneType::u32), sum);
}

}  // namespace tailor::simulator
