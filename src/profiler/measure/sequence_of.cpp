// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Buffers and arguments of a kernel's sequence. In: a kernel. Out: buffers with their roles.
// Arguments are buffers in order, inputs first; that is how the printed kernel declares
// them.
#include "profiler/measure/sequence_of.h"

#include <algorithm>

#include "ir/number.h"
#include "reference/memory_layout.h"

namespace tailor::profiler {

namespace {

std::int64_t bytes_of(const ir::Buffer& buffer) { return buffer.elements * ir::element_bytes(buffer.dtype); }

}  // namespace

std::optional<ImageForm> image_form_named(std::string_view name) {
  if (name == "cubin") return ImageForm::cubin;
  if (name == "ptx") return ImageForm::ptx;
  return {};
}

gpu::Image image_of(const ir::Binary& binary, ImageForm form) {
  gpu::Image image{binary.entry, {}};
  if (form == ImageForm::cubin) {
    image.code = binary.cubin;
    return image;
  }
  const auto text = std::as_bytes(std::span(binary.ptx));
  image.code.assign(text.begin(), text.end());
  image.code.push_back(std::byte{0});
  return image;
}

gpu::Sequence sequence_of(const ir::Kernel& kernel, const ir::Binary& binary, ImageForm form) {
  gpu::Sequence sequence;
  sequence.images.push_back(image_of(binary, form));
  gpu::Launch launch;
  launch.entry = binary.entry;
  launch.grid[0] = static_cast<std::uint32_t>(kernel.grid);
  launch.block[0] = static_cast<std::uint32_t>(kernel.threads);
  launch.dynamic_shared = kernel.dynamic_shared ? kernel.shared_bytes : 0;
  launch.cooperative = std::any_of(kernel.body.begin(), kernel.body.end(), [](const ir::Stmt& stmt) {
    return stmt.kind == ir::StmtKind::barrier && stmt.scope == ir::Scope::grid;
  });
  for (const ir::Buffer& buffer : kernel.buffers) {
    // A kernel that adds into its outputs finds zeros there.
    const gpu::BufferRole role = !buffer.output      ? gpu::BufferRole::input
                                 : kernel.idempotent ? gpu::BufferRole::output
                                                     : gpu::BufferRole::scratch;
    launch.arguments.push_back({static_cast<int>(sequence.buffers.size()), 0, {}});
    sequence.buffers.push_back({buffer.name, bytes_of(buffer), role});
  }
  sequence.launches.push_back(std::move(launch));
  return sequence;
}

std::vector<std::byte> contents_of(const ir::Kernel& kernel, std::span<const reference::Tensor> inputs) {
  std::vector<std::byte> contents;
  std::size_t input = 0;
  for (const ir::Buffer& buffer : kernel.buffers) {
    if (buffer.output) continue;
    const std::size_t at = contents.size();
    contents.resize(at + static_cast<std::size_t>(bytes_of(buffer)));
    reference::to_memory(inputs[input++], std::span(contents).subspan(at));
  }
  return contents;
}

std::vector<std::span<const std::byte>> outputs_in(const ir::Kernel& kernel, std::span<const std::byte> blob) {
  std::vector<std::span<const std::byte>> outputs;
  for (const ir::Buffer& buffer : kernel.buffers) {
    if (!buffer.output) continue;
    const auto bytes = std::min(static_cast<std::size_t>(bytes_of(buffer)), blob.size());
    outputs.push_back(blob.first(bytes));
    blob = blob.subspan(bytes);
  }
  return outputs;
}

}  // namespace tailor::profiler
