// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The page's style and script as text. The build puts them into the program (assets.cpp.in) from page.css, chart.css
// and page.js, so that the page needs no file beside it and no network. Read by the page, the index page and the
// charts.
#pragma once

#include <string_view>

namespace tailor::report {

extern const std::string_view page_css;
extern const std::string_view chart_css;
extern const std::string_view picture_css;
extern const std::string_view page_js;

}  // namespace tailor::report
