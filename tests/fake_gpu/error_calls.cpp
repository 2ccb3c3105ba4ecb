// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// What errors are called: cuGetErrorName and cuGetErrorString. In: an error. Out: its
// name and words from errors.def. Works before anything else and with any error that
// stays.
#include "fake_gpu/call.h"

namespace tailor::fake {
namespace {

struct ErrorRow {
  CUresult error;
  const char *name, *words;
};
constexpr ErrorRow errors[] = {
#define DRIVER_ERROR(name, words) {name, #name, words},
#include "fake_gpu/errors.def"
#undef DRIVER_ERROR
};

const ErrorRow* row_of(CUresult error) {
  for (const ErrorRow& row : errors)
    if (row.error == error) return &row;
  return nullptr;
}

CUresult put(const char** to, const char* text) {
  if (to == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *to = text;
  return text == nullptr ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

}  // namespace
}  // namespace tailor::fake

using namespace tailor::fake;

extern "C" {

CUresult cuGetErrorName(CUresult error, const char** name) {
  const ErrorRow* row = row_of(error);
  return driver_call("cuGetErrorName", Needs::nothing,
                     [&](State&) { return put(name, row == nullptr ? nullptr : row->name); });
}

CUresult cuGetErrorString(CUresult error, const char** words) {
  const ErrorRow* row = row_of(error);
  return driver_call("cuGetErrorString", Needs::nothing,
                     [&](State&) { return put(words, row == nullptr ? nullptr : row->words); });
}

}  // extern "C"
