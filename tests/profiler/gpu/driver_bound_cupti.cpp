// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// A shared library that looks like CUPTI of CUDA 13.2: it has the functions and each of them crashes the process, as
// that release does when it is asked where no driver is. Built for metrics_test.cpp, which checks that Tailor does not
// ask it there.
#include <cstdlib>

extern "C" {
int cuptiGetVersion() { std::abort(); }
int cuptiGetResultString() { std::abort(); }
int cuptiSubscribe() { std::abort(); }
int cuptiUnsubscribe() { std::abort(); }
int cuptiActivityEnable_v2() { std::abort(); }
}
