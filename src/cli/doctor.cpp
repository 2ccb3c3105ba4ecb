// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// tailor doctor: what this program found on this machine, what it misses, and what to do about it. Missing things are
// findings, not failures: the exit code is 0. Libraries, data, GPU and folders are looked at one after the other, and
// each finding is a row of a table.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <system_error>

#include "base/stop.h"
#include "cli/inputs.h"
#include "cli/output.h"
#include "store/store.h"
#include "study/evidence/calibrating.h"
#include "study/pipeline/gpu_access.h"

namespace tailor::cli {

namespace {

namespace fs = std::filesystem;
using report::Table;

struct Findings {
  Table table;
  std::int64_t missing = 0;
  void found(std::string what, std::string detail) {
    table.rows.push_back({std::move(what), std::string("found"), std::move(detail), {}});
  }
  void absent(std::string what, std::string detail, std::string remedy) {
    ++missing;
    table.rows.push_back({std::move(what), std::string("MISSING"), std::move(detail), std::move(remedy)});
  }
};

std::int64_t files_in(const fs::path& folder) {
  std::error_code none;
  std::int64_t count = 0;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, none))
    count += entry.is_regular_file(none) ? 1 : 0;
  return count;
}

void look_at_data(const Context& context, Findings& findings) {
  for (const std::string_view kind : {"devices", "calibrations", "models"}) {
    const fs::path folder = context.data / kind;
    const std::int64_t count = files_in(folder);
    if (count > 0)
      findings.found(std::string(kind), fmt::format("{} in {}", count, folder.string()));
    else
      findings.absent(std::string(kind), fmt::format("none in {}", folder.string()), "--data names the data folder");
  }
}

void look_for_compiler(const DoctorOptions& options, const Context& context, Findings& findings) {
  const profiler::FoundNvrtc nvrtc = study::find_compiler(options.nvrtc);
  for (const std::string& line : nvrtc.looked) context.console->detail(line);
  if (!nvrtc) {
    findings.absent("NVRTC", nvrtc.reason + "; kernels are not compiled, everything else works", nvrtc.remedy);
    return;
  }
  const std::vector<int>& archs = nvrtc.api->archs;
  findings.found("NVRTC", fmt::format("{}, {}", profiler::version(*nvrtc.api), nvrtc.api->library.string()));
  findings.found("architectures", fmt::format("sm_{}", fmt::join(archs, " sm_")));
  if (nvrtc.api->headers_reason.empty())
    findings.found("CUDA headers", fmt::format("{}", nvrtc.api->include_folders.front().string()));
  else
    findings.absent("CUDA headers", nvrtc.api->headers_reason, "install the toolkit's headers or run ./run once");
}

/// What the measuring arm finds, capability by capability.
void look_at_gpu(const DoctorOptions& options, const Context& context, Findings& findings) {
  context.console->progress({"looking for a GPU", 0, 0, {}});
  const gpu::Response response = study::find_capabilities(options.gpu, context.stop());
  context.console->finish();
  stop_if_asked(context.stop());
  if (response.capabilities.empty())
    findings.absent("GPU", response.reason, "nvidia-smi may say more; without a GPU everything but measuring works");
  for (const gpu::Capability& capability : response.capabilities) {
    if (capability.state == "missing")
      findings.absent(capability.name, capability.detail, capability.remedy);
    else
      findings.table.rows.push_back({capability.name,
                                     capability.state == "ok" ? std::string("found") : capability.state,
                                     capability.detail, capability.remedy});
  }
}

}  // namespace

void run_doctor(const DoctorOptions& options, const Context& context) {
  Findings findings;
  findings.table.columns = {column("what", "what"), column("status", "state"), column("detail", "detail"),
                            column("remedy", "what to do")};
  findings.found("Tailor", std::string(tool_name));
  look_at_data(context, findings);
  look_for_compiler(options, context, findings);
  if (const std::string library = study::learning_library(); !library.empty())
    findings.found("XGBoost", library);
  else
    findings.absent("XGBoost", "tailor calibrate learns no residual", study::learning_remedy());
  findings.found("SQLite", store::sqlite_version());
  look_at_gpu(options, context, findings);
  show(context, {"tailor.doctor/1", "", {{"findings", findings.table}}, ""});
  context.console->note(findings.missing == 0
                            ? "nothing is missing"
                            : fmt::format("{} missing: the last column says what to do", findings.missing));
}

}  // namespace tailor::cli
