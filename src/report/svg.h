// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// SVG text written by hand: a canvas that collects shapes, axes that map values to places, and ticks at round numbers.
// The text is deterministic (one decimal of a pixel), so charts have golden files. Colours are CSS classes only; the
// palette with its dark and print variants is chart.css.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace tailor::report {

/// Where a label's anchor lies.
enum class Anchor { start, middle, end };

/// Collects shapes; coordinates in pixels of the viewBox, y downwards. `title` is the tooltip, "" for none.
class Canvas {
 public:
  Canvas(double width, double height, std::string_view description);
  void rect(double x, double y, double width, double height, std::string_view css, std::string_view title = "");
  void line(double x0, double y0, double x1, double y1, std::string_view css, std::string_view title = "");
  void circle(double x, double y, double radius, std::string_view css, std::string_view title = "");
  void polygon(const std::vector<std::pair<double, double>>& corners, std::string_view css,
               std::string_view title = "");
  void label(double x, double y, std::string_view words, std::string_view css = "", Anchor anchor = Anchor::start);
  /// As label(), as wide as said, whatever font there is.
  void fitted_label(double x, double y, std::string_view words, double width, std::string_view css);
  /// A line through points, which bends softly from one to the next.
  void path(const std::vector<std::pair<double, double>>& points, std::string_view css, std::string_view title = "");
  void label_upright(double x, double y, std::string_view words, std::string_view css = "");  ///< read bottom to top
  /// What `draw` adds is a link; `target` is a place of the page ("#group-12ab") or a file beside it.
  void linked(std::string_view target, const std::function<void()>& draw);
  /// The whole <svg> element.
  std::string text() const;

 private:
  std::string body_;
};

/// Maps [low, high] to pixels [from, to], linearly or by logarithm (then 0 < low).
struct Axis {
  double low = 0, high = 1;
  double from = 0, to = 1;
  bool log = false;
  double at(double value) const;
};

/// Round numbers inside [low, high]: about `wanted` of them; on a log axis decades, or 1-2-5 within few decades.
std::vector<double> ticks(const Axis& axis, int wanted);
/// A tick's or value's label: at most three figures, no needless zeros, "1e6" beyond a million.
std::string tick_text(double value);

/// "33.0 %" of 0.33; "under 0.1 %" of what is above 0 and would need more digits.
std::string percent(double share);

/// A unit for one axis: divide by `size` and append `name`.
struct AxisUnit {
  double size = 1;
  std::string_view name;
};
/// s, ms, us or ns, so that `largest` is at least 1 of it.
AxisUnit seconds_unit(double largest);
/// TB ... B (powers of 1000).
AxisUnit bytes_unit(double largest);

/// The element with chart.css inside, so that the file stands alone.
std::string standalone(std::string_view svg);

}  // namespace tailor::report
