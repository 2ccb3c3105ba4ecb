// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// A library that looks like CUPTI of CUDA 13.2, which crashes when it is asked where there is no driver.
#include <cstdlib>

extern "C" {
int cuptiGetVersion() { std::abort(); }
int cuptiGetResultString() { std::abort(); }
int cuptiSubscribe() { std::abort(); }
int cuptiUnsubscribe() { std::abort(); }
int cuptiActivityEnable_v2() { std::abort(); }
}
