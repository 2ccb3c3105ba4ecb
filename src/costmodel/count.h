// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The counter: walks a kernel's statements and says what they ask of a machine. Two ways to the same numbers. exact:
// every warp of every block, lane by lane, as the machine would. fast: statement by statement over domains of the loop
// and block variables; guards cut a domain into parts where they hold for all, for none, or lane by lane, and the
// sectors of a part follow from how its addresses fall modulo 32 bytes. Its time does not grow with the elements.
//
// Fast equals exact unless Work::sampled says otherwise. It does where an index divides by an extent that shares few
// factors with what a block takes at once. Then the sectors of that access come from a sample of the starts of its
// period; requests, bytes and instructions stay exact. Only when a kernel's guards cut its blocks into more parts than
// a fixed number of looks allows, everything comes from a stratified sample of at least 32 blocks, or all there are.
//
// Assumed: buffers and shared arrays start on a multiple of 32 bytes; sectors of one request count once.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "costmodel/work.h"
#include "ir/kernel/kernel.h"

namespace tailor::costmodel {

enum class Mode : std::uint8_t { exact, fast };

/// Memory that counting reuses from call to call; one per thread.
class Scratch {
 public:
  Scratch();
  ~Scratch();
  Scratch(Scratch&&) noexcept;
  Scratch& operator=(Scratch&&) noexcept;
  struct Body;
  Body& body() { return *body_; }
  /// At warps, by all fast counting so far: what its time goes into.
  std::int64_t looks() const;

 private:
  std::unique_ptr<Body> body_;
};

// Of a program each kernel is counted by itself, and its Work carries the others'.

/// Overwrites `work`; allocates nothing once scratch and work have grown to the size of the kernels.
void count(const ir::Kernel& kernel, Mode mode, Scratch& scratch, Work& work);
Work count(const ir::Kernel& kernel, Mode mode);

}  // namespace tailor::costmodel
