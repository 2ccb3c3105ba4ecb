// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Members of the family whose elements come from one of several places, as text for group_family.cpp: stacks of few and
// many arrays, of equal and unequal extents (0 and 1 among them), along any dimension, in each width of types; halves
// that change places inside a norm; stacks in stacks with pads around and inside; stacks of windows that data places,
// in order and not; pads of different constants, of which no array can hold both.
#include <string>

#include "support/group_family.h"

namespace tailor::ir {

namespace {

/// Many arrays, one behind the other.
std::string many_stacked() {
  std::string text = "graph many_stacked {\n", operands;
  constexpr int arrays = 19;
  for (int i = 0; i < arrays; ++i) {
    text += "  %x" + std::to_string(i) + " = parameter " + std::to_string(i) + " : f16[1,{R},{N}]\n";
    operands += (i == 0 ? "%x" : ", %x") + std::to_string(i);
  }
  const std::string type = " : f16[" + std::to_string(arrays) + ",{R},{N}]\n";
  return text + "  %s = concatenate " + operands + ", axes={0}" + type + "  %y = add %s, %s" + type + "  output %y\n}";
}

/// Windows of an array, whose starts count from the end where they are negative: number `of(i)` of the starts says
/// where window `i` begins.
template <class Of>
std::string windows_stacked(const std::string& name, Of of) {
  std::string text = "graph " + name + R"( {
  %x = parameter 0 : f32[{L},{N}]
  %at = parameter 1 : s32[6]
  %zero = constant 0 : s32[]
  %rows = constant {L} : s32[]
)";
  std::string operands;
  for (int i = 0; i < 6; ++i) {
    const std::string n = std::to_string(i), from = std::to_string(of(i)), to = std::to_string(of(i) + 1);
    text += "  %p" + n + " = slice %at, ranges={" + from + ":" + to + ":1} : s32[1]\n";
    text += "  %i" + n + " = reshape %p" + n + " : s32[]\n";
    text += "  %n" + n + " = add %i" + n + ", %rows : s32[]\n";
    text += "  %l" + n + " = compare lt %i" + n + ", %zero : pred[]\n";
    text += "  %s" + n + " = select %l" + n + ", %n" + n + ", %i" + n + " : s32[]\n";
    text += "  %w" + n + " = dynamic_slice %x, %s" + n + ", %zero : f32[{R},{N}]\n";
    text += "  %b" + n + " = reshape %w" + n + " : f32[1,{R},{N}]\n";
    operands += (i == 0 ? "%b" : ", %b") + n;
  }
  return text + "  %y = concatenate " + operands + ", axes={0} : f32[6,{R},{N}]\n  output %y\n}";
}

}  // namespace

const std::vector<FamilyMember>& stack_family() {
  static const std::string many = many_stacked(),
                           windows = windows_stacked("windows_stacked", [](int i) { return i * i % 6; });
  static const std::string in_order = windows_stacked("windows_in_order", [](int i) { return i; });
  static const std::vector<FamilyMember> family = {
      {"many_stacked", many},
      {"windows_stacked", windows},
      {"windows_in_order", in_order},
      {"shaped_stacked", R"(graph shaped_stacked {
  %a = parameter 0 : f32[{R},{N}]
  %b = parameter 1 : f32[{R},{N}]
  %c = parameter 2 : f32[{N},{R}]
  %d = parameter 3 : f32[1,{R},{N}]
  %ra = reshape %a : f32[1,{R},{N}]
  %rb = reshape %b : f32[1,{R},{N}]
  %rc = reshape %c : f32[1,{R},{N}]
  %s = concatenate %ra, %rb, %rc, %d, %ra, %d, axes={0} : f32[6,{R},{N}]
  %y = negate %s : f32[6,{R},{N}]
  output %y
})"},
      {"stacked_inside", R"(graph stacked_inside {
  %a = parameter 0 : s8[{R},2,{N}]
  %b = parameter 1 : s8[{R},1,{N}]
  %c = parameter 2 : s8[{R},3,{N}]
  %s = concatenate %a, %b, %c, axes={1} : s8[{R},6,{N}]
  %n = add %s, %s : s8[{R},6,{N}]
  output %n
})"},
      {"stacked_doubles", R"(graph stacked_doubles {
  %a = parameter 0 : f64[{N},{R}]
  %b = parameter 1 : f64[{R},{H}]
  %t = transpose %a, axes={1,0} : f64[{R},{N}]
  %s = concatenate %b, %t, axes={1} : f64[{R},{NH}]
  %y = negate %s : f64[{R},{NH}]
  output %y
})"},
      {"turned_norm", R"(graph turned_norm {
  %x = parameter 0 : f32[{R},{D2}]
  %w = parameter 1 : f32[{D2}]
  %zero = constant 0 : f32[]
  %low = slice %x, ranges={0:{R}:1, 0:{N}:1} : f32[{R},{N}]
  %high = slice %x, ranges={0:{R}:1, {N}:{D2}:1} : f32[{R},{N}]
  %turned = concatenate %high, %low, axes={1} : f32[{R},{D2}]
  %wb = broadcast %w, axes={1} : f32[{R},{D2}]
  %part = multiply %turned, %wb : f32[{R},{D2}]
  %all = add %x, %part : f32[{R},{D2}]
  %sq = multiply %all, %all : f32[{R},{D2}]
  %s = reduce add %sq, %zero, axes={1} : f32[{R}]
  %sb = broadcast %s, axes={0} : f32[{R},{D2}]
  %y = divide %all, %sb : f32[{R},{D2}]
  output %y
})"},
      {"stacks_and_pads", R"(graph stacks_and_pads {
  %a = parameter 0 : pred[{R},{N}]
  %b = parameter 1 : pred[{R},4]
  %one = constant true : pred[]
  %same = constant true : pred[]
  %p = pad %b, %one, ranges={0:0:0, 4:0:0} : pred[{R},8]
  %s = concatenate %a, %p, %a, axes={1} : pred[{R},{D}]
  %o = pad %s, %same, ranges={1:2:0, 0:0:0} : pred[{R3},{D}]
  %y = bit_not %o : pred[{R3},{D}]
  output %y
})"},
      {"smaller_beside", R"(graph smaller_beside {
  %x = parameter 0 : f32[{R},{H}]
  %s = parameter 1 : f32[{R}]
  %b = exp %s : f32[{R}]
  %sb = broadcast %b, axes={0} : f32[{R},{H}]
  %d = add %x, %sb : f32[{R},{H}]
  output %d, %b
})"},
      {"pads_of_two", R"(graph pads_of_two {
  %a = parameter 0 : bf16[{R},{N}]
  %zero = constant 0 : bf16[]
  %one = constant 1 : bf16[]
  %p = pad %a, %zero, ranges={0:0:0, 2:2:0} : bf16[{R},{N4}]
  %q = pad %p, %one, ranges={0:1:0, 0:0:0} : bf16[{R1},{N4}]
  %r = pad %a, %one, ranges={0:1:0, 2:2:0} : bf16[{R1},{N4}]
  %y = add %q, %r : bf16[{R1},{N4}]
  output %y
})"},
  };
  return family;
}

}  // namespace tailor::ir
