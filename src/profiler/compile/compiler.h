// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// A compiler that can be ended. Some texts take the assembler minutes, in which NVRTC asks nobody whether to go on: so
// it is called in a process of its own (base/child_process.h), which is killed at a limit or when a stop is asked for,
// and started again for the next text. Requests come in, a Binary goes out in any case. Called by the compile stage,
// one for each of its threads.
#pragma once

#include <stop_token>
#include <string>
#include <vector>

#include "base/child_process.h"
#include "base/units.h"
#include "profiler/compile/compile.h"

namespace tailor::profiler {

struct CompilerSetup {
  /// Program and arguments of a process that calls serve_compiler(child_socket); empty: NVRTC is called in this one,
  /// and no limit holds.
  std::vector<std::string> command = {};
  /// Of the time that one text may take on a processor: the same on a busy machine.
  Seconds limit{60};
  /// Of the time on the clock, for a machine that gives no processor; 0: ten times the limit, ten seconds at least.
  Seconds patience{};
};

class Compiler {
 public:
  /// `api` must outlive it. A process is started by the first text.
  Compiler(const Nvrtc& api, CompilerSetup setup) : api_(api), setup_(std::move(setup)) {}
  ~Compiler();
  Compiler(const Compiler&) = delete;
  Compiler& operator=(const Compiler&) = delete;

  /// As profiler::compile(). One that takes too long has the outcome too_long, one that takes the process down failed,
  /// with how it ended. Throws Error(failed) where no process can be started: that says nothing of the text.
  ir::Binary compile(const CompileRequest& request, const std::stop_token& stop);

  /// Whether a binary that was kept is an answer here: all but one that was given up sooner than it would be now.
  bool accepts(const ir::Binary& kept) const;

 private:
  ir::Binary ask(const CompileRequest& request, const std::stop_token& stop);
  ReceiveResult await_answer(const std::stop_token& stop, bool& computed);

  const Nvrtc& api_;
  CompilerSetup setup_;
  ChildProcess process_;
};

/// The process's side: answers requests until the other end closes. 1 when `socket` is no socket, 2 without NVRTC,
/// else 0.
int serve_compiler(int socket);

}  // namespace tailor::profiler
