// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Members that reduce several arrays at once, or by a function of their own: places of the greatest and the least along
// rows and across them, beside a softmax, used again by the rows; what lies farthest from zero; three arrays at once;
// sums of values and of their squares, which is how a variance is taken in one go. The few greatest and least, one
// after another, as import spells them out; a function of each element that stands in a body.
#include <fmt/format.h>

#include "support/group_family.h"

namespace tailor::ir {

namespace {

/// The `found` first of each row or column in an order, and their places.
struct FewFirst {
  std::string_view name, dtype, comparison;
  int axis = 1, found = 2;
};

std::string text_of(const FewFirst& few) {
  const std::string_view order = few.dtype[0] == 's' || few.dtype[0] == 'u' ? "" : ", total_order";
  const std::string_view length = few.axis == 1 ? "{N}" : "{R}", kept = few.axis == 1 ? "{R}" : "{N}";
  std::string text = fmt::format(
      "graph {0} {{\n  graph first {{\n    %a = parameter 0 : {1}[]\n    %i = parameter 1 : s32[]\n"
      "    %b = parameter 2 : {1}[]\n    %j = parameter 3 : s32[]\n    %n = constant {3} : s32[]\n"
      "    %alone = compare ge %j, %n : pred[]\n    %there = compare lt %i, %n : pred[]\n"
      "    %before = compare {2} %a, %b{4} : pred[]\n    %equal = compare eq %a, %b{4} : pred[]\n"
      "    %left = compare lt %i, %j : pred[]\n    %first = bit_and %equal, %left : pred[]\n"
      "    %either = bit_or %before, %first : pred[]\n    %both = bit_and %there, %either : pred[]\n"
      "    %keeps = bit_or %alone, %both : pred[]\n    %value = select %keeps, %a, %b : {1}[]\n"
      "    %place = select %keeps, %i, %j : s32[]\n    output %value, %place\n  }}\n"
      "  %x = parameter 0 : {1}[{{R}},{{N}}]\n  %p0 = iota, axes={{{5}}} : s32[{{R}},{{N}}]\n"
      "  %any = constant 77 : {1}[]\n  %n = constant {3} : s32[]\n",
      few.name, few.dtype, few.comparison, length, order, few.axis);
  std::string outputs;
  for (int k = 0; k < few.found; ++k) {
    if (k == 1) text += "  %none = broadcast %n : s32[{R},{N}]\n";
    if (k > 0)
      text += fmt::format(
          "  %s{0} = broadcast %i{1}, axes={{{2}}} : s32[{{R}},{{N}}]\n"
          "  %f{0} = compare eq %p0, %s{0} : pred[{{R}},{{N}}]\n"
          "  %p{0} = select %f{0}, %none, %p{1} : s32[{{R}},{{N}}]\n",
          k, k - 1, 1 - few.axis);
    text += fmt::format(
        "  %r{0} = reduce custom %x, %p{0}, %any, %n, axes={{{1}}}, bodies={{0}}, results={{{2}[{3}], s32[{3}]}} : "
        "tuple\n  %v{0} = get_tuple_element %r{0}, number=0 : {2}[{3}]\n"
        "  %i{0} = get_tuple_element %r{0}, number=1 : s32[{3}]\n",
        k, few.axis, few.dtype, kept);
    outputs += fmt::format("{}%v{}, %i{}", k > 0 ? ", " : "", k, k);
  }
  return text + "  output " + outputs + "\n}\n";
}

}  // namespace

const std::vector<FamilyMember>& region_family() {
  static const std::string greatest = text_of({"three_greatest", "f32", "gt", 1, 3});
  static const std::string least = text_of({"two_least_of_columns_bf16", "bf16", "lt", 0, 2});
  static const std::string first = text_of({"greatest_u8", "u8", "gt", 1, 1});
  static const std::vector<FamilyMember> family = {
      {"three_greatest", greatest},
      {"two_least_of_columns_bf16", least},
      {"greatest_u8", first},
      {"mapped", R"(graph mapped {
  graph soft_threshold {
    %v = parameter 0 : f32[]
    %t = parameter 1 : f32[]
    %zero = constant 0 : f32[]
    %size = abs %v : f32[]
    %rest = subtract %size, %t : f32[]
    %least = maximum %rest, %zero : f32[]
    %side = sign %v : f32[]
    %y = multiply %side, %least : f32[]
    output %y
  }
  %x = parameter 0 : f32[{R},{N}]
  %level = parameter 1 : f32[{R},{N}]
  %y = map %x, %level, bodies={0} : f32[{R},{N}]
  %zero = constant 0 : f32[]
  %sum = reduce add %y, %zero, axes={1} : f32[{R}]
  output %y, %sum
})"},
      {"argmax", R"(graph argmax {
  graph greatest {
    %v = parameter 0 : f32[]
    %i = parameter 1 : s32[]
    %w = parameter 2 : f32[]
    %j = parameter 3 : s32[]
    %more = compare gt %v, %w : pred[]
    %none = compare ne %v, %v : pred[]
    %first = bit_or %more, %none : pred[]
    %same = compare eq %v, %w : pred[]
    %before = compare lt %i, %j : pred[]
    %tie = bit_and %same, %before : pred[]
    %place = bit_or %first, %tie : pred[]
    %x = select %first, %v, %w : f32[]
    %n = select %place, %i, %j : s32[]
    output %x, %n
  }
  %x = parameter 0 : f32[{R},{N}]
  %places = iota, axes={1} : s32[{R},{N}]
  %lowest = constant -inf : f32[]
  %zero = constant 0 : s32[]
  %r = reduce custom %x, %places, %lowest, %zero, axes={1}, bodies={0}, results={f32[{R}], s32[{R}]} : tuple
  %m = get_tuple_element %r, number=0 : f32[{R}]
  %n = get_tuple_element %r, number=1 : s32[{R}]
  output %m, %n
})"},
      {"argmin_columns_bf16", R"(graph argmin {
  graph least {
    %v = parameter 0 : bf16[]
    %i = parameter 1 : s64[]
    %w = parameter 2 : bf16[]
    %j = parameter 3 : s64[]
    %less = compare lt %v, %w : pred[]
    %same = compare eq %v, %w : pred[]
    %before = compare lt %i, %j : pred[]
    %tie = bit_and %same, %before : pred[]
    %place = bit_or %less, %tie : pred[]
    %x = select %less, %v, %w : bf16[]
    %n = select %place, %i, %j : s64[]
    output %x, %n
  }
  %x = parameter 0 : bf16[{R},{N}]
  %places = iota, axes={0} : s64[{R},{N}]
  %most = constant inf : bf16[]
  %zero = constant 0 : s64[]
  %r = reduce custom %x, %places, %most, %zero, axes={0}, bodies={0}, results={bf16[{N}], s64[{N}]} : tuple
  %m = get_tuple_element %r, number=0 : bf16[{N}]
  %n = get_tuple_element %r, number=1 : s64[{N}]
  output %n, %m
})"},
      {"greedy", R"(graph greedy {
  graph greatest {
    %v = parameter 0 : f32[]
    %i = parameter 1 : s32[]
    %w = parameter 2 : f32[]
    %j = parameter 3 : s32[]
    %more = compare gt %v, %w : pred[]
    %same = compare eq %v, %w : pred[]
    %before = compare lt %i, %j : pred[]
    %tie = bit_and %same, %before : pred[]
    %place = bit_or %more, %tie : pred[]
    %x = select %more, %v, %w : f32[]
    %n = select %place, %i, %j : s32[]
    output %x, %n
  }
  %x = parameter 0 : f32[{R},{N}]
  %places = iota, axes={1} : s32[{R},{N}]
  %lowest = constant -inf : f32[]
  %none = constant 0 : s32[]
  %zero = constant 0 : f32[]
  %r = reduce custom %x, %places, %lowest, %none, axes={1}, bodies={0}, results={f32[{R}], s32[{R}]} : tuple
  %m = get_tuple_element %r, number=0 : f32[{R}]
  %n = get_tuple_element %r, number=1 : s32[{R}]
  %mb = broadcast %m, axes={0} : f32[{R},{N}]
  %d = subtract %x, %mb : f32[{R},{N}]
  %e = exp %d : f32[{R},{N}]
  %s = reduce add %e, %zero, axes={1} : f32[{R}]
  %sb = broadcast %s, axes={0} : f32[{R},{N}]
  %y = divide %e, %sb : f32[{R},{N}]
  %nb = broadcast %n, axes={0} : s32[{R},{N}]
  %is = compare eq %nb, %places : pred[{R},{N}]
  output %y, %is, %n
})"},
      {"farthest", R"(graph farthest {
  graph far {
    %a = parameter 0 : f16[]
    %b = parameter 1 : f16[]
    %c = abs %a : f16[]
    %d = abs %b : f16[]
    %more = compare gt %c, %d : pred[]
    %same = compare eq %c, %d : pred[]
    %up = compare gt %a, %b : pred[]
    %tie = bit_and %same, %up : pred[]
    %first = bit_or %more, %tie : pred[]
    %r = select %first, %a, %b : f16[]
    output %r
  }
  %x = parameter 0 : f16[{R},{N}]
  %zero = constant 0 : f16[]
  %f = reduce custom %x, %zero, axes={1}, bodies={0} : f16[{R}]
  %fb = broadcast %f, axes={0} : f16[{R},{N}]
  %y = divide %x, %fb : f16[{R},{N}]
  output %y
})"},
      {"three_at_once", R"(graph three {
  graph all {
    %a = parameter 0 : f32[]
    %b = parameter 1 : f64[]
    %c = parameter 2 : pred[]
    %d = parameter 3 : f32[]
    %e = parameter 4 : f64[]
    %f = parameter 5 : pred[]
    %least = minimum %a, %d : f32[]
    %most = maximum %b, %e : f64[]
    %any = bit_or %c, %f : pred[]
    output %least, %most, %any
  }
  %x = parameter 0 : f32[{R},{N}]
  %y = parameter 1 : f64[{R},{N}]
  %z = parameter 2 : f32[{R},{N}]
  %p = compare lt %x, %z : pred[{R},{N}]
  %high = constant inf : f32[]
  %low = constant -inf : f64[]
  %no = constant 0 : pred[]
  %r = reduce custom %x, %y, %p, %high, %low, %no, axes={1}, bodies={0}, results={f32[{R}], f64[{R}], pred[{R}]} : tuple
  %a = get_tuple_element %r, number=0 : f32[{R}]
  %b = get_tuple_element %r, number=1 : f64[{R}]
  %c = get_tuple_element %r, number=2 : pred[{R}]
  output %a, %b, %c
})"},
      {"moments_columns", R"(graph moments {
  graph both {
    %a = parameter 0 : f32[]
    %b = parameter 1 : f32[]
    %c = parameter 2 : f32[]
    %d = parameter 3 : f32[]
    %s = add %a, %c : f32[]
    %q = add %b, %d : f32[]
    output %s, %q
  }
  %x = parameter 0 : f32[{R},{N}]
  %xx = multiply %x, %x : f32[{R},{N}]
  %zero = constant 0 : f32[]
  %r = reduce custom %x, %xx, %zero, %zero, axes={0}, bodies={0}, results={f32[{N}], f32[{N}]} : tuple
  %s = get_tuple_element %r, number=0 : f32[{N}]
  %q = get_tuple_element %r, number=1 : f32[{N}]
  %ss = multiply %s, %s : f32[{N}]
  %v = subtract %q, %ss : f32[{N}]
  %vb = broadcast %v, axes={1} : f32[{R},{N}]
  %y = multiply %x, %vb : f32[{R},{N}]
  output %y, %s
})"},
  };
  return family;
}

}  // namespace tailor::ir
