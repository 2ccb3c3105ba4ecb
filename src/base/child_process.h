// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// A process for work that may hang, crash or take too long: this program started again, with a socket to it
// (base/channel.h). In: a command. Out: the socket, how long the process has computed, how it ended. Used by what owns
// a GPU and by what owns a compiler; both sides of the boundary are here.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "base/channel.h"
#include "base/units.h"

namespace tailor {

/// The descriptor on which a child finds its socket.
inline constexpr int child_socket = 3;

/// None, or one that runs: ended with its owner. Killing means the process and all that it started.
class ChildProcess {
 public:
  ChildProcess() = default;
  ~ChildProcess();
  ChildProcess(ChildProcess&& other) noexcept;
  ChildProcess& operator=(ChildProcess&& other) noexcept;

  /// Empty, or why none could be started. Precondition: none runs.
  std::string start(const std::vector<std::string>& command);
  bool is_running() const { return process_ >= 0; }
  int socket() const { return socket_.number(); }
  /// That it has spent on processors; nothing where the system does not say.
  std::optional<Seconds> processor_time() const;

  /// The other end sees the socket close and leaves; one that stays for a second is killed.
  void quit();
  /// Waits so long for it to be gone: what it held (a GPU) may be needed by the next, and freeing much takes a moment.
  /// One that takes longer is left to die alone.
  void kill(Seconds patience = {2});
  /// Of one whose socket has ended: how it did, with the last line that it printed. None runs afterwards.
  std::string ending();

 private:
  pid_t process_ = -1;
  Descriptor socket_, words_;
};

/// Program and arguments that start this very program again with other arguments, also when it was started through a
/// loader given on the command line.
std::vector<std::string> own_command(std::vector<std::string> arguments);

/// The child's side: false where `socket` is none. Keeps it from processes that libraries start, and ends this process
/// once its parent is gone, also within a call that does not return.
bool begin_as_child(int socket);

}  // namespace tailor
