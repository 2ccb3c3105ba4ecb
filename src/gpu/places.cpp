// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// A look into /usr/local; nothing is opened.
#include "gpu/places.h"

#include <algorithm>
#include <system_error>

namespace tailor::gpu {

Places usual_places(std::vector<std::filesystem::path> virtual_environments) {
  Places places;
  places.virtual_environments = std::move(virtual_environments);
  std::error_code none;
  for (const std::filesystem::directory_entry& entry : std::filesystem::directory_iterator("/usr/local", none))
    if (entry.path().filename().string().starts_with("cuda")) places.toolkits.push_back(entry.path());
  std::sort(places.toolkits.begin(), places.toolkits.end());
  return places;
}

}  // namespace tailor::gpu
