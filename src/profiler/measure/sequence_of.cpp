// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Buffers and arguments of a kernel's sequence. In: a kernel. Out: buffers with their roles, a launch for it and for
// each of its followers. Arguments are buffers in
// order, inputs first; that is how the printed kernel declares them. What is written in place gets the address of its
// input and no memory of its own.
#include "profiler/measure/sequence_of.h"

#include <algorithm>
#include <stdexcept>

#include "ir/graph/number.h"
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
  std::vector<gpu::Argument> arguments;
  std::vector<int> place;  // of each of the kernel's buffers in the sequence
  for (std::size_t i = 0; i < kernel.buffers.size(); ++i) {
    const auto id = static_cast<ir::BufferId>(i);
    const bool own = ir::owner(kernel, id) == id;
    place.push_back(own ? static_cast<int>(sequence.buffers.size()) : place[ir::owner(kernel, id)]);
    arguments.push_back({place.back(), 0, {}});
    if (own)
      sequence.buffers.push_back({kernel.buffers[i].name, bytes_of(kernel.buffers[i]), ir::memory_role(kernel, id)});
  }
  const std::vector<Chain<ir::Kernel>> launches = launches_of(kernel);
  const Chain<ir::CompiledEntry> entries = entries_of(binary);
  if (entries.size() != launches.size())
    throw std::logic_error("a binary has another number of kernels than its program");
  for (std::size_t i = 0; i < launches.size(); ++i)
    sequence.launches.push_back({launch_shape(launches[i]), 0, entries[i].entry, arguments});
  return sequence;
}

std::vector<std::byte> contents_of(const ir::Kernel& kernel, std::span<const reference::Tensor> inputs) {
  std::vector<std::byte> contents;
  std::size_t input = 0;
  for (const ir::Buffer& buffer : kernel.buffers) {
    if (buffer.role != ir::BufferRole::input) continue;
    const std::size_t at = contents.size();
    contents.resize(at + static_cast<std::size_t>(bytes_of(buffer)));
    reference::to_memory(inputs[input++], std::span(contents).subspan(at));
  }
  return contents;
}

std::vector<std::span<const std::byte>> outputs_in(const ir::Kernel& kernel, std::span<const std::byte> blob) {
  // The blob holds all memory that the kernel may have written, each piece once.
  std::vector<std::span<const std::byte>> pieces(kernel.buffers.size()), outputs;
  for (std::size_t i = 0; i < kernel.buffers.size(); ++i) {
    const auto id = static_cast<ir::BufferId>(i);
    if (ir::owner(kernel, id) != id || !is_written(ir::memory_role(kernel, id))) continue;
    pieces[i] = blob.first(std::min(static_cast<std::size_t>(bytes_of(kernel.buffers[i])), blob.size()));
    blob = blob.subspan(pieces[i].size());
  }
  for (std::size_t i = 0; i < kernel.buffers.size(); ++i)
    if (is_result(kernel.buffers[i].role)) outputs.push_back(pieces[ir::owner(kernel, static_cast<ir::BufferId>(i))]);
  return outputs;
}

}  // namespace tailor::profiler
