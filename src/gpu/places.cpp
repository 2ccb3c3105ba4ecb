// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// A look into /usr/local; nothing is opened.
#include "gpu/places.h"

#include "gpu/library.h"

namespace tailor::gpu {

Places usual_places(std::vector<std::filesystem::path> virtual_environments) {
  Places places;
  places.virtual_environments = std::move(virtual_environments);
  places.toolkits = entries("/usr/local", "cuda");
  return places;
}

}  // namespace tailor::gpu
