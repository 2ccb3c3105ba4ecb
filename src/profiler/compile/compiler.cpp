// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Both ends of a compiler's process. In: requests. Out: binaries, on the wire in the form of the cache. A request names
// the library and the folders of headers that this process has found, so both compile with the same.
//
// The limit is one of processor time, which the system is asked for now and then: what compiles in time on a machine
// alone does so beside other work too, and an answer "takes too long" may be kept.
#include "profiler/compile/compiler.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <limits>
#include <optional>
#include <utility>

#include "base/error.h"
#include "base/text.h"
#include "profiler/compile/cache.h"
#include "profiler/compile/packing.h"

namespace tailor::profiler {
namespace {

using Timer = std::chrono::steady_clock;

constexpr Seconds endless{std::numeric_limits<double>::infinity()};

Seconds patience_of(const CompilerSetup& setup) {
  constexpr double times = 10, least = 10;
  return setup.patience.value > 0 ? setup.patience : Seconds{std::max(times * setup.limit.value, least)};
}

constexpr Seconds at_once{0.02};  ///< to be gone: an interrupt waits for it

struct Question {
  std::string library;
  std::vector<std::string> include_folders;
  CompileRequest request;
};

template <class Visit, class Fields>
void visit_question(Visit& visit, Fields& question) {
  visit(question.library);
  visit(question.include_folders);
  visit(question.request.cuda);
  visit(question.request.file);
  visit(question.request.entry);
  visit(question.request.followers);
  visit(question.request.arch);
  visit(question.request.line_info);
  visit(question.request.options);
}

std::string question_text(const Nvrtc& api, const CompileRequest& request) {
  Question question{api.library.string(), {}, request};
  for (const auto& folder : api.include_folders) question.include_folders.push_back(folder.string());
  packing::Packer packer;
  visit_question(packer, std::as_const(question));
  return std::move(packer.bytes);
}

}  // namespace

Compiler::~Compiler() { process_.kill(at_once); }  // it holds nothing that could be lost

bool Compiler::accepts(const ir::Binary& kept) const {
  if (kept.outcome != ir::CompileOutcome::too_long) return true;
  return !setup_.command.empty() && setup_.limit.value <= kept.compile_time.value;
}

ir::Binary Compiler::compile(const CompileRequest& request, const std::stop_token& stop) {
  if (setup_.command.empty() || unsupported(api_, request.arch)) return profiler::compile(api_, request, stop);
  return ask(request, stop);
}

/// Waits for the answer to begin. too_late: one of the two limits is passed, and `computed` says which.
ReceiveResult Compiler::await_answer(const std::stop_token& stop, bool& computed) {
  constexpr double shortest_look = 0.005;
  const std::chrono::duration<double> patience(patience_of(setup_).value);
  const Timer::time_point end = Timer::now() + std::chrono::duration_cast<Timer::duration>(patience);
  const double before = process_.processor_time().value_or(Seconds{}).value;
  for (;;) {
    const double used = process_.processor_time().value_or(Seconds{}).value - before;
    const double left = setup_.limit.value - used;
    const double on_clock = std::chrono::duration<double>(end - Timer::now()).count();
    computed = left <= 0;
    if (computed || on_clock <= 0) return ReceiveResult::too_late;
    const ReceiveResult heard =
        await_message(process_.socket(), {std::min(std::max(left, shortest_look), on_clock)}, stop);
    if (heard != ReceiveResult::too_late) return heard;
  }
}

ir::Binary Compiler::ask(const CompileRequest& request, const std::stop_token& stop) {
  if (!process_.is_running())
    if (const std::string reason = process_.start(setup_.command); !reason.empty())
      throw Error(Fault::failed, "no process to compile in: " + reason);
  ir::Binary binary = uncompiled(api_, request);
  bool computed = false;
  Message message;
  ReceiveResult heard = ReceiveResult::ended;
  if (send_message(process_.socket(), question_text(api_, request), {})) heard = await_answer(stop, computed);
  if (heard == ReceiveResult::message) heard = receive_message(process_.socket(), endless, stop, message);
  switch (heard) {
    case ReceiveResult::message:
      if (std::optional<ir::Binary> answer = unpacked(message.text); answer && answer->source == binary.source)
        return *std::move(answer);
      process_.kill(at_once);
      cut_short(binary, CutShort::died, "its answer cannot be read");
      return binary;
    case ReceiveResult::ended:
      cut_short(binary, CutShort::died, process_.ending());
      return binary;
    case ReceiveResult::stopped:
      process_.kill(at_once);
      cut_short(binary, CutShort::interrupted);
      return binary;
    case ReceiveResult::too_late:
      break;
  }
  process_.kill(at_once);
  binary.compile_time = computed ? setup_.limit : patience_of(setup_);
  cut_short(binary, computed ? CutShort::too_long : CutShort::waited, humane_seconds(binary.compile_time.value));
  return binary;
}

int serve_compiler(int socket) {
  if (!begin_as_child(socket)) return 1;
  FoundNvrtc found;
  std::string loaded;
  Message message;
  while (receive_message(socket, endless, {}, message) == ReceiveResult::message) {
    Question question;
    packing::Unpacker unpacker{message.text};
    visit_question(unpacker, question);
    if (!unpacker.whole) return 2;
    if (!found || loaded != question.library) {
      NvrtcPaths paths;
      paths.library = loaded = question.library;
      for (const std::string& folder : question.include_folders) paths.include_folders.emplace_back(folder);
      found = find_nvrtc(paths);
    }
    if (!found) {
      std::fprintf(stderr, "%s\n", found.reason.c_str());
      return 2;
    }
    if (!send_message(socket, packed(compile(*found.api, question.request)), {})) break;
  }
  return 0;
}

}  // namespace tailor::profiler
