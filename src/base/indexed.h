// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Containers and tables whose index is no std::size_t: the id of a node, an enumerator, a number that is kept signed
// because differences are taken of it. In: such an index. Out: the element. Used by every room that keeps something per
// node, per enumerator or per warp, so that the conversion stands here and not wherever an element is meant.
//
// Precondition everywhere: the index is not negative and the container has the element, as for the containers of the
// standard library that these are.
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

namespace tailor {

template <class Number>
concept AnyIndex = std::integral<Number> || std::is_enum_v<Number>;

template <class T>
struct IndexedVector : std::vector<T> {
  using std::vector<T>::vector;
  IndexedVector(std::vector<T> items) : std::vector<T>(std::move(items)) {}
  decltype(auto) operator[](AnyIndex auto i) { return std::vector<T>::operator[](static_cast<std::size_t>(i)); }
  decltype(auto) operator[](AnyIndex auto i) const { return std::vector<T>::operator[](static_cast<std::size_t>(i)); }
};

template <class T, std::size_t N>
struct IndexedArray : std::array<T, N> {
  constexpr T& operator[](AnyIndex auto i) { return std::array<T, N>::operator[](static_cast<std::size_t>(i)); }
  constexpr const T& operator[](AnyIndex auto i) const {
    return std::array<T, N>::operator[](static_cast<std::size_t>(i));
  }
};

template <class T>
struct IndexedSpan : std::span<T> {
  IndexedSpan() = default;
  IndexedSpan(std::span<T> items) : std::span<T>(items) {}
  IndexedSpan(T* first, AnyIndex auto count) : std::span<T>(first, static_cast<std::size_t>(count)) {}
  T& operator[](AnyIndex auto i) const { return std::span<T>::operator[](static_cast<std::size_t>(i)); }
};

/// The first `count` elements.
auto prefix(auto& items, std::integral auto count) { return std::span(items).first(static_cast<std::size_t>(count)); }

/// A table's row for an enumerator: the table has one per enumerator, in their order.
template <class Table, class Enum>
requires std::is_enum_v<Enum>
constexpr auto& row_for(Table&& table, Enum which) { return table[static_cast<std::size_t>(which)]; }

}  // namespace tailor
