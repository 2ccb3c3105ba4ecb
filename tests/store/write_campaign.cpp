// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Writes the made-up campaign (campaign.h) into a database, for tests that are not written in C++: `write_campaign DB
// [two]`, where `two` adds a second device. Started by readers.py, which asks other tools' readers what they make of
// the exports.
#include <cstdio>
#include <string_view>

#include "base/text.h"
#include "store/campaign.h"
#include "support/paths.h"

int main(int words, char** word) {
  if (words < 2) return 2;
  tailor::store::Store store = tailor::store::Store::open(word[1]);
  tailor::store::save_campaign(store, tailor::read_file(tailor::source_folder() + "/data/devices/h200.json"));
  if (words > 2 && std::string_view(word[2]) == "two") tailor::store::save_other_device(store);
  return 0;
}
