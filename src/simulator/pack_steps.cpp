// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// mov between a register and a vector of narrower ones; the first part is the lowest.
#include "simulator/handlers.h"

namespace tailor::simulator {
namespace {

std::uint32_t* words_at(const Warp& warp, Slot slot) {
  return reinterpret_cast<std::uint32_t*>(warp.bank[slot >> slot_bank_shift] + (slot & slot_offset_mask));
}

template <class Whole, int part>
void pack(Warp& warp, const Micro& micro) {
  constexpr int parts = static_cast<int>(sizeof(Whole)) * 8 / part;
  auto* d = reinterpret_cast<Whole*>(words_at(warp, micro.d));
  Whole made[lanes_per_warp] = {};
  for (int k = 0; k < parts; ++k) {
    const std::uint32_t* from = words_at(warp, warp.lists[micro.list + static_cast<std::uint32_t>(k)]);
    for (int l = 0; l < lanes_per_warp; ++l)
      made[l] |= static_cast<Whole>(part == 32 ? from[l] : from[l] & ((1u << (part & 31)) - 1)) << (k * part);
  }
  for (int l = 0; l < lanes_per_warp; ++l) d[l] = warp.lanes[l] ? made[l] : d[l];
}

template <class Whole, int part>
void unpack(Warp& warp, const Micro& micro) {
  constexpr int parts = static_cast<int>(sizeof(Whole)) * 8 / part;
  Whole from[lanes_per_warp];
  const auto* a = reinterpret_cast<const Whole*>(words_at(warp, micro.a));
  for (int l = 0; l < lanes_per_warp; ++l) from[l] = a[l];
  for (int k = 0; k < parts; ++k) {
    std::uint32_t* to = words_at(warp, warp.lists[micro.list + static_cast<std::uint32_t>(k)]);
    for (int l = 0; l < lanes_per_warp; ++l)
      to[l] = warp.lanes[l] ? static_cast<std::uint32_t>(from[l] >> (k * part)) : to[l];
  }
}

using U32 = std::uint32_t;
using U64 = std::uint64_t;
const Step none[2] = {nullptr, nullptr};
const Step pack_16_32[2] = {&pack<U32, 16>, &pack<U32, 16>}, pack_32_64[2] = {&pack<U64, 32>, &pack<U64, 32>},
           pack_16_64[2] = {&pack<U64, 16>, &pack<U64, 16>}, pack_8_32[2] = {&pack<U32, 8>, &pack<U32, 8>};
const Step unpack_16_32[2] = {&unpack<U32, 16>, &unpack<U32, 16>},
           unpack_32_64[2] = {&unpack<U64, 32>, &unpack<U64, 32>},
           unpack_16_64[2] = {&unpack<U64, 16>, &unpack<U64, 16>}, unpack_8_32[2] = {&unpack<U32, 8>, &unpack<U32, 8>};

}  // namespace

const Step (&pack_steps(int part, int bits))[2] {
  if (part == 16 && bits == 32) return pack_16_32;
  if (part == 32 && bits == 64) return pack_32_64;
  if (part == 16 && bits == 64) return pack_16_64;
  if (part == 8 && bits == 32) return pack_8_32;
  return none;
}

const Step (&unpack_steps(int part, int bits))[2] {
  if (part == 16 && bits == 32) return unpack_16_32;
  if (part == 32 && bits == 64) return unpack_32_64;
  if (part == 16 && bits == 64) return unpack_16_64;
  if (part == 8 && bits == 32) return unpack_8_32;
  return none;
}

}  // namespace tailor::simulator
