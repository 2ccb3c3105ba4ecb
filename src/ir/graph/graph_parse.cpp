// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Reading the text form that graph_text.cpp prints. Blanks and line ends separate; '#' starts a comment. A node's
// operands must stand above it, so the order of lines is the topological order. What is read is well-formed (known
// operations, references in range, shapes that fit in 64 bits); whether shapes agree is verify()'s question.
#include "ir/graph/graph_parse.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <limits>
#include <type_traits>
#include <unordered_map>

#include "base/error.h"
#include "base/stop.h"
#include "base/text.h"
#include "ir/graph/graph.h"
#include "ir/graph/graph_attributes.h"
#include "ir/graph/literal_text.h"
#include "ir/graph/number.h"

namespace tailor::ir {

namespace {

/// Deeper nesting than any program; keeps a hostile file from using up the stack.
constexpr int deepest_body = 64;

class Reader {
 public:
  Reader(std::string_view text, std::string_view file, const std::stop_token& stop)
      : text_(text), file_(file), stop_(stop) {}

  Graph whole() {
    Graph graph = graph_block(0);
    blanks();
    if (at_ != text_.size()) fail("expected the end of the text after the graph's '}'");
    return graph;
  }

 private:
  using Names = std::unordered_map<std::string, NodeId>;

  /// A literal is read once the shape at the end of its line is known.
  struct PendingLiteral {
    std::size_t at = std::string_view::npos;
    std::string_view text;
  };

  [[noreturn]] void fail_at(std::size_t position, std::string message, std::string hint = {}) const {
    const std::string_view before = text_.substr(0, position);
    const std::int64_t line = std::count(before.begin(), before.end(), '\n') + 1;
    const std::size_t start = before.rfind('\n');
    const std::size_t column = position - (start == std::string_view::npos ? 0 : start + 1) + 1;
    throw Error(Fault::failed, Position{std::string(file_), line, static_cast<std::int64_t>(column)},
                std::move(message), std::move(hint));
  }
  [[noreturn]] void fail(std::string message, std::string hint = {}) const {
    fail_at(at_, std::move(message), std::move(hint));
  }

  void blanks() {
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '#')
        at_ = std::min(text_.find('\n', at_), text_.size());
      else if (c == ' ' || c == '\t' || c == '\n' || c == '\r')
        ++at_;
      else
        return;
    }
  }

  char peek() {
    blanks();
    return at_ < text_.size() ? text_[at_] : '\0';
  }

  bool accept(char c) {
    if (peek() != c || at_ == text_.size()) return false;
    ++at_;
    return true;
  }

  void expect(char c) {
    if (!accept(c)) fail(fmt::format("found {}, expected '{}'", found(), c));
  }

  std::string found() {
    if (peek() == '\0' && at_ >= text_.size()) return "the end of the text";
    return fmt::format("'{}'",
                       text_.substr(at_, std::min<std::size_t>(12, text_.substr(at_).find_first_of(" \n\r\t"))));
  }

  std::string_view word() {
    blanks();
    const std::size_t start = at_;
    while (at_ < text_.size() && is_word(text_[at_])) ++at_;
    return text_.substr(start, at_ - start);
  }

  std::string quoted() {
    expect('"');
    std::string value;
    while (at_ < text_.size() && text_[at_] != '"') {
      char c = text_[at_++];
      if (c == '\\') c = escaped();
      value += c;
    }
    if (at_ == text_.size()) fail("found the end of the text inside a string, expected '\"'");
    ++at_;
    return value;
  }

  char escaped() {
    if (at_ == text_.size()) fail("found the end of the text inside a string, expected '\"'");
    const char c = text_[at_++];
    if (c != 'x') return c;
    unsigned value = 0;
    const std::string_view digits = text_.substr(at_, 2);
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value, 16);
    if (error != std::errc{} || end != digits.data() + 2) fail("expected two hexadecimal digits after \\x");
    at_ += 2;
    return static_cast<char>(static_cast<unsigned char>(value));
  }

  std::string any_name() {
    if (peek() == '"') return quoted();
    const std::string_view plain = word();
    if (plain.empty()) fail(fmt::format("found {}, expected a name", found()));
    return std::string(plain);
  }

  template <class Number>
  Number number() {
    const std::size_t position = (blanks(), at_);
    const std::string_view digits = word();
    Number value{};
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (digits.empty() || error != std::errc{} || end != digits.data() + digits.size()) {
      at_ = position;
      fail(fmt::format("found {}, expected a number", found()));
    }
    return value;
  }

  /// "{item, item}", possibly empty.
  template <class Item>
  void list(Item&& item) {
    expect('{');
    if (accept('}')) return;
    do {
      item();
    } while (accept(','));
    expect('}');
  }

  Shape shape() {
    blanks();
    const std::size_t position = at_;
    const std::string_view type = word();
    const DTypeRow* dtype = find_dtype(type);
    if (dtype == nullptr) {
      std::vector<std::string_view> known;
      for (const DTypeRow& entry : dtype_table) known.push_back(entry.name);
      fail_at(position, fmt::format("found '{}', expected an element type", type), suggestion(type, known));
    }
    Dims dims;
    if (accept('[') && !accept(']')) {
      do {
        if (dims.size() == max_rank) fail_at(position, fmt::format("more than {} dimensions", max_rank));
        dims.push_back(number<std::int64_t>());
        if (dims[dims.size() - 1] < 0) fail_at(position, "a dimension is negative");
      } while (accept(','));
      expect(']');
    }
    check_size(position, dtype->bits, dims);
    Shape result = make_shape(dtype->dtype, dims);
    if (at_ < text_.size() && text_[at_] == '{') layout(position, result);
    return result;
  }

  void check_size(std::size_t position, int bits, const Dims& dims) const {
    std::int64_t total = std::max(bits, 8);
    for (const std::int64_t dim : dims)
      if (__builtin_mul_overflow(total, std::max<std::int64_t>(dim, 1), &total))
        fail_at(position, "the array has more bits than 64 bits can count");
  }

  void layout(std::size_t position, Shape& result) {
    int count = 0;
    Dims seen;
    list([&] {
      const auto dim = number<std::int64_t>();
      if (dim < 0 || dim >= result.rank() || seen.contains(dim) || count == result.rank())
        fail_at(position, fmt::format("the layout is no permutation of {} dimensions", result.rank()));
      seen.push_back(dim);
      result.minor_to_major[count++] = static_cast<std::int8_t>(dim);
    });
    if (count != result.rank())
      fail_at(position, fmt::format("the layout is no permutation of {} dimensions", result.rank()));
  }

  NodeId reference(const Names& names) {
    blanks();
    const std::size_t position = at_;
    expect('%');
    const std::string wanted = any_name();
    const auto at = names.find(wanted);
    if (at == names.end()) fail_at(position, fmt::format("found %{}, expected a node defined above", wanted));
    return at->second;
  }

  std::vector<NodeId> references(const Names& names) {
    std::vector<NodeId> ids;
    if (peek() != '%') return ids;
    do {
      ids.push_back(reference(names));
    } while (accept(','));
    return ids;
  }

  Op operation() {
    blanks();
    const std::size_t position = at_;
    const std::string_view id = word();
    const OpRow* found_row = find_op(id);
    if (found_row == nullptr) {
      std::vector<std::string_view> known;
      for (const OpRow& entry : op_table) known.push_back(entry.id);
      fail_at(position, fmt::format("found '{}', expected an operation", id), suggestion(id, known));
    }
    return found_row->op;
  }

  Comparison comparison() {
    blanks();
    const std::size_t position = at_;
    const std::string_view found_word = word();
    for (int i = 0; i < 6; ++i)
      if (name(static_cast<Comparison>(i)) == found_word) return static_cast<Comparison>(i);
    fail_at(position, fmt::format("found '{}', expected eq, ne, ge, gt, le or lt", found_word));
  }

  Reducer reducer() {
    blanks();
    const std::size_t position = at_;
    const std::string_view found_word = word();
    for (int i = 1; i <= static_cast<int>(Reducer::custom); ++i) {
      const auto candidate = static_cast<Reducer>(i);
      if (name(candidate) == found_word) return candidate;
      if (candidate != Reducer::custom && name(op_of(candidate)) == found_word) return candidate;
    }
    fail_at(position, fmt::format("found '{}', expected an operand, add, multiply, max, min, and, or, xor or custom",
                                  found_word));
  }

  /// Skips over a literal: a braced list, hex"..." or one word.
  PendingLiteral literal() {
    blanks();
    const std::size_t start = at_;
    if (peek() == '{') {
      at_ = std::min(text_.find('}', at_), text_.size() - 1) + 1;
    } else {
      (void)word();
      if (at_ < text_.size() && text_[at_] == '"') (void)quoted();
    }
    if (at_ == start) fail(fmt::format("found {}, expected a constant", found()));
    return {start, text_.substr(start, at_ - start)};
  }

  /// The word between the operation and its operands.
  void first_word(Node& node, PendingLiteral& pending) {
    const char c = peek();
    if (node.op == Op::constant && c != ',' && c != ':') pending = literal();
    if (auto* parameter = std::get_if<ParameterNumber>(&node.attributes)) parameter->number = number<std::int64_t>();
    if (auto* compare = std::get_if<CompareOptions>(&node.attributes)) compare->comparison = comparison();
    const char next = peek();
    if (next == '%' || next == ',' || next == ':') return;
    if (auto* reduction = std::get_if<Reduction>(&node.attributes)) reduction->reducer = reducer();
    if (auto* region = std::get_if<RegionCall>(&node.attributes)) region->reducer = reducer();
  }

  // The value of an attribute: what is read depends on the member that takes it.
  void read(Dims& dims) {
    list([&] {
      if (dims.size() == max_rank) fail(fmt::format("more than {} dimensions", max_rank));
      dims.push_back(number<std::int64_t>());
    });
  }
  void read(ListOfOne<std::int64_t> one) {
    Dims dims;
    const std::size_t position = (blanks(), at_);
    read(dims);
    if (dims.size() != 1) fail_at(position, fmt::format("found {} dimensions, expected one", dims.size()));
    one.number = dims[0];
  }
  void read(std::vector<SliceRange>& ranges) {
    list([&] {
      SliceRange& range = ranges.emplace_back();
      three(range.start, range.limit, range.stride);
    });
  }
  void read(std::vector<PadRange>& ranges) {
    list([&] {
      PadRange& range = ranges.emplace_back();
      three(range.low, range.high, range.interior);
    });
  }
  void read(std::vector<Shape>& shapes) {
    list([&] { shapes.push_back(shape()); });
  }
  void read(std::vector<std::int32_t>& bodies) {
    list([&] { bodies.push_back(number<std::int32_t>()); });
  }
  void read(std::int64_t& value) { value = number<std::int64_t>(); }
  void read(double& value) { value = number<double>(); }
  void read(std::string& words) { words = quoted(); }

  void three(std::int64_t& first, std::int64_t& second, std::int64_t& third) {
    first = number<std::int64_t>();
    expect(':');
    second = number<std::int64_t>();
    expect(':');
    third = number<std::int64_t>();
  }

  void attribute(Node& node) {
    blanks();
    const std::size_t position = at_;
    const std::string_view key = word();
    std::vector<std::string_view> known;
    bool taken = false;
    const auto field = [&]<class Member>(std::string_view its_key, Member&& member) {
      known.push_back(its_key);
      if (taken || its_key != key) return;
      taken = true;
      if constexpr (std::is_same_v<Member, bool&>) {
        member = true;
      } else {
        expect('=');
        read(member);
      }
    };
    walk_attributes(field, node);
    field("bodies", node.bodies);
    if (!taken)
      fail_at(position, fmt::format("found '{}', expected an attribute of {}", key, name(node.op)),
              suggestion(key, known));
  }

  Node node(const Names& names) {
    Node result;
    PendingLiteral pending;
    expect('%');
    result.name = any_name();
    expect('=');
    result.op = operation();
    result.attributes = make_attributes(result.op);
    first_word(result, pending);
    bool more = peek() == '%' || accept(',');
    while (more) {
      if (peek() == '%')
        result.operands.push_back(reference(names));
      else
        attribute(result);
      more = accept(',');
    }
    expect(':');
    result.shape = shape();
    if (pending.at != std::string_view::npos) {
      std::string reason;
      std::optional<Literal> literal = parse_literal(pending.text, result.shape, reason);
      if (!literal) fail_at(pending.at, reason);
      result.attributes = std::move(*literal);
    }
    return result;
  }

  void given(Graph& graph, const Names& names) {
    GivenGroup group;
    group.name = any_name();
    group.kind = any_name();
    expect('{');
    group.nodes = references(names);
    expect('}');
    graph.given.push_back(std::move(group));
  }

  /// A number of an output or a parameter.
  std::int32_t place_number() {
    blanks();
    const std::size_t position = at_;
    const std::string_view digits = word();
    std::int32_t number = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
    if (error != std::errc() || end != digits.data() + digits.size() || number < 0) {
      at_ = position;
      fail(fmt::format("found {}, expected a number", found()));
    }
    return number;
  }

  void in_place(Graph& graph) {
    InPlace pair;
    pair.output = place_number();
    if (word() != "of") fail("expected 'in_place OUTPUT of PARAMETER'");
    pair.parameter = place_number();
    graph.in_place.push_back(pair);
  }

  void check_bodies(const Graph& graph, std::size_t position) const {
    for (const Node& owner : graph.nodes)
      for (const std::int32_t body : owner.bodies)
        if (body < 0 || index(body) >= graph.bodies.size())
          fail_at(position,
                  fmt::format("node %{} names body {}, the graph has {}", owner.name, body, graph.bodies.size()));
  }

  void line(Graph& graph, Names& names, int depth) {
    const std::size_t position = (blanks(), at_);
    if (peek() == '%') {
      graph.nodes.push_back(node(names));
      if (!names.emplace(graph.nodes.back().name, static_cast<NodeId>(graph.nodes.size() - 1)).second)
        fail_at(position, fmt::format("the name %{} is taken", graph.nodes.back().name));
      return;
    }
    const std::string_view start = word();
    if (start == "graph") {
      at_ = position;
      graph.bodies.push_back(graph_block(depth + 1));
    } else if (start == "given") {
      given(graph, names);
    } else if (start == "output") {
      for (const NodeId id : references(names)) graph.outputs.push_back(id);
    } else if (start == "in_place") {
      in_place(graph);
    } else {
      at_ = position;
      fail(fmt::format("found {}, expected a node, graph, given, output, in_place or '}}'", found()));
    }
  }

  Graph graph_block(int depth) {
    blanks();
    const std::size_t position = at_;
    if (depth > deepest_body) fail(fmt::format("bodies nest deeper than {}", deepest_body));
    if (word() != "graph") fail_at(position, "expected 'graph NAME {'");
    Graph graph;
    graph.name = any_name();
    expect('{');
    Names names;
    while (!accept('}')) {
      stop_if_asked(stop_);
      line(graph, names, depth);
    }
    check_bodies(graph, position);
    return graph;
  }

  std::string_view text_, file_;
  const std::stop_token& stop_;
  std::size_t at_ = 0;
};

}  // namespace

Graph parse_graph(std::string_view text, std::string_view file) { return parse_graph(text, file, {}); }

Graph parse_graph(std::string_view text, std::string_view file, const std::stop_token& stop) {
  return Reader(text, file, stop).whole();
}

}  // namespace tailor::ir
