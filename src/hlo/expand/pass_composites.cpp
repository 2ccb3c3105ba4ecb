// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Batch normalisation. In: batch-norm-training, batch-norm-inference and batch-norm-grad instructions. Out: the
// reductions and element-wise operations that they stand for, so that they are grouped, priced and lowered like all
// others. Called by the walk (graph_builder.cpp).
//
// With E the sum over all dimensions but the feature's, divided by n, the number of elements of a feature, and
// v' = 1 / sqrt(v + epsilon):
//
//   inference(x, scale, offset, m, v)   y = (x - m) v' scale + offset
//   training(x, scale, offset)          m = E[x], v = E[(x - m)^2], y as above
//   grad(x, scale, m, v, dy)            doffset = n E[dy], dscale = n E[dy (x - m)] v',
//                                       dx = scale v' / n (n dy - doffset - (x - m) n E[dy (x - m)] / (v + epsilon))
//
// These are the formulas and the order of XLA's own expansion. Types below 32 bits are computed as f32 and rounded at
// the end: n need not fit into f16, and a sum of a million bf16 would stand still.
#include <fmt/format.h>

#include <charconv>

#include "base/text.h"
#include "hlo/expand/expansion.h"
#include "ir/graph/number.h"

namespace tailor::hlo {

namespace {

class BatchNorm : Expansion {
 public:
  BatchNorm(GraphBuilder& builder, const Frame& frame, const HloInstruction& instruction, std::int32_t operands,
            std::size_t results)
      : Expansion(builder, instruction, builder.full_name(instruction, frame)) {
    const HloType& type = builder.module().type_of(instruction);
    const auto shapes = builder.module().shapes_of(type);
    if (instruction.operands != operands || shapes.size() != results)
      refuse(fmt::format("{} operands and {} results", instruction.operands, shapes.size()),
             fmt::format("{} and {}", operands, results));
    for (std::int32_t i = 0; i < operands; ++i) {
      const HloValue value = builder.operand(instruction, i, frame);
      if (value.count != 1) refuse(fmt::format("a tuple as operand {}", i), "an array");
      operands_.push_back(builder.leaves(value)[0]);
    }
    const ir::Shape& data = builder.node(operands_[0]).shape;
    if (!is_floating(data.dtype)) refuse(text(data), "an array of a floating type");
    feature_ = number<int>("feature_index");
    if (feature_ < 0 || feature_ >= data.rank())
      refuse(fmt::format("feature_index={}", feature_), fmt::format("a dimension of {}", text(data)));
    epsilon_ = number<double>("epsilon");
    wide_ = row(data.dtype).bits < 32 ? ir::DType::f32 : data.dtype;
    whole_ = data;
    whole_.dtype = wide_;
    vector_ = ir::make_shape(wide_, {data.dims[feature_]});
    for (int i = 0; i < data.rank(); ++i)
      if (i != feature_) {
        others_.push_back(i);
        each_ *= static_cast<double>(data.dims[i]);
      }
    for (std::size_t i = 1; i < operands_.size(); ++i) {
      const ir::Shape& shape = builder.node(operands_[static_cast<std::int64_t>(i)]).shape;
      const bool gradient = results == 3 && i == 4;  // of the result: as large as the data
      if (!is_floating(shape.dtype) || shape.dims != (gradient ? whole_ : vector_).dims)
        refuse(text(shape), fmt::format("the dimensions of {}", text(gradient ? whole_ : vector_)));
    }
  }

  ir::NodeId zero() { return constant("zero", 0); }
  ir::NodeId input(std::int32_t i, std::string_view word) { return convert(word, operands_[i], wide_); }
  ir::NodeId of_two(ir::Op op, std::string_view word, ir::NodeId a, ir::NodeId b) {
    return add(op, word, builder_.node(a).shape, {a, b});
  }
  /// A number per feature at every element of it.
  ir::NodeId spread(std::string_view word, ir::NodeId vector) {
    return add(ir::Op::broadcast, word, whole_, {vector}, ir::AxisList{{feature_}});
  }
  ir::NodeId sum(std::string_view word, ir::NodeId whole, ir::NodeId zero) {
    if (others_.size() == 0) return whole;
    return add(ir::Op::reduce, word, vector_, {whole, zero}, ir::Reduction{others_, ir::Reducer::add});
  }
  /// Of how many elements a feature has.
  ir::NodeId count() { return everywhere("count", each_, vector_); }
  /// variance + epsilon
  ir::NodeId steadied(ir::NodeId variance) {
    return of_two(ir::Op::add, "steadied", variance, everywhere("epsilon", epsilon_, vector_));
  }
  ir::NodeId inverse(ir::NodeId steadied) { return add(ir::Op::rsqrt, "inverse", vector_, {steadied}); }
  ir::NodeId everywhere(std::string_view word, double value, const ir::Shape& shape) {
    return Expansion::everywhere(fmt::format("{}_spread", word), constant(word, value), shape);
  }
  const ir::Shape& whole() const { return whole_; }
  double each() const { return each_; }

  /// (x - m) v' scale + offset
  ir::NodeId normalised(ir::NodeId centred, ir::NodeId variance, ir::NodeId scale, ir::NodeId offset) {
    const ir::NodeId unit =
        of_two(ir::Op::multiply, "unit", centred, spread("inverse_spread", inverse(steadied(variance))));
    const ir::NodeId scaled = of_two(ir::Op::multiply, "scaled", unit, spread("scale_spread", scale));
    return of_two(ir::Op::add, "shifted", scaled, spread("offset_spread", offset));
  }

  HloValue finish(std::initializer_list<ir::NodeId> values) {
    const HloType& type = builder_.module().type_of(from_);
    const auto shapes = builder_.module().shapes_of(type);
    std::vector<ir::NodeId> results;
    for (const ir::NodeId value : values) {
      const ir::Shape& wanted = shapes[results.size()];
      ir::Node node;
      node.op = ir::Op::convert;  // where it changes nothing a later pass drops it
      node.shape = builder_.node(value).shape;
      node.shape.dtype = wanted.dtype;
      node.operands = {value};
      results.push_back(add(std::move(node), ""));
      if (values.size() > 1) builder_.node(results.back()).name += fmt::format("#{}", results.size() - 1);
    }
    return Expansion::finish(Pass::composites, results);
  }

 private:
  [[noreturn]] void refuse(const std::string& found, const std::string& expected) const {
    builder_.fail(from_, fmt::format("found '{}' with {}, expected {}", from_.opcode, found, expected));
  }

  template <class T>
  T number(std::string_view attribute) const {
    const std::string_view words = trim(builder_.module().attribute(from_, attribute));
    T value{};
    const auto [end, fault] = std::from_chars(words.data(), words.data() + words.size(), value);
    if (words.empty() || fault != std::errc{} || end != words.data() + words.size())
      refuse(fmt::format("{}='{}'", attribute, words), "a number");
    return value;
  }

  ir::NodeId constant(std::string_view word, double value) {
    return Expansion::constant(word, wide_, ir::encode(wide_, value));
  }

  ir::NodeId convert(std::string_view word, ir::NodeId value, ir::DType to) {
    ir::Shape shape = builder_.node(value).shape;
    if (shape.dtype == to) return value;
    shape.dtype = to;
    return add(ir::Op::convert, word, shape, {value});
  }

  IndexedVector<ir::NodeId> operands_;
  int feature_ = 0;
  double epsilon_ = 0, each_ = 1;
  ir::DType wide_ = ir::DType::f32;
  ir::Shape whole_, vector_;
  ir::Dims others_;
};

}  // namespace

HloValue resolve_batch_norm_inference(GraphBuilder& builder, const Frame& frame, const HloInstruction& instruction) {
  BatchNorm norm(builder, frame, instruction, 5, 1);
  const ir::NodeId x = norm.input(0, "x"), scale = norm.input(1, "scale"), offset = norm.input(2, "offset"),
                   mean = norm.input(3, "mean"), variance = norm.input(4, "variance");
  const ir::NodeId centred = norm.of_two(ir::Op::subtract, "centred", x, norm.spread("mean_spread", mean));
  return norm.finish({norm.normalised(centred, variance, scale, offset)});
}

HloValue resolve_batch_norm_training(GraphBuilder& builder, const Frame& frame, const HloInstruction& instruction) {
  BatchNorm norm(builder, frame, instruction, 3, 3);
  const ir::NodeId x = norm.input(0, "x"), scale = norm.input(1, "scale"), offset = norm.input(2, "offset"),
                   zero = norm.zero(), count = norm.count();
  const ir::NodeId mean = norm.of_two(ir::Op::divide, "mean", norm.sum("sum", x, zero), count);
  const ir::NodeId centred = norm.of_two(ir::Op::subtract, "centred", x, norm.spread("mean_spread", mean));
  const ir::NodeId squared = norm.of_two(ir::Op::multiply, "squared", centred, centred);
  const ir::NodeId variance = norm.of_two(ir::Op::divide, "variance", norm.sum("squares", squared, zero), count);
  return norm.finish({norm.normalised(centred, variance, scale, offset), mean, variance});
}

HloValue resolve_batch_norm_grad(GraphBuilder& builder, const Frame& frame, const HloInstruction& instruction) {
  BatchNorm norm(builder, frame, instruction, 5, 3);
  const ir::NodeId x = norm.input(0, "x"), scale = norm.input(1, "scale"), mean = norm.input(2, "mean"),
                   variance = norm.input(3, "variance"), gradient = norm.input(4, "gradient"), zero = norm.zero();
  const ir::NodeId centred = norm.of_two(ir::Op::subtract, "centred", x, norm.spread("mean_spread", mean));
  const ir::NodeId offsets = norm.sum("offset_gradient", gradient, zero);
  const ir::NodeId products =
      norm.sum("product_sum", norm.of_two(ir::Op::multiply, "product", gradient, centred), zero);
  const ir::NodeId steadied = norm.steadied(variance), inverse = norm.inverse(steadied);
  const ir::NodeId scales = norm.of_two(ir::Op::multiply, "scale_gradient", products, inverse);
  const ir::NodeId slope = norm.spread("slope_spread", norm.of_two(ir::Op::divide, "slope", products, steadied));
  const ir::NodeId times =
      norm.of_two(ir::Op::multiply, "times", gradient, norm.everywhere("elements", norm.each(), norm.whole()));
  const ir::NodeId level = norm.of_two(ir::Op::subtract, "level", times, norm.spread("offset_spread", offsets));
  const ir::NodeId rest =
      norm.of_two(ir::Op::subtract, "rest", level, norm.of_two(ir::Op::multiply, "leaning", centred, slope));
  const ir::NodeId factor =
      norm.of_two(ir::Op::divide, "factor", norm.of_two(ir::Op::multiply, "gain", scale, inverse), norm.count());
  return norm.finish(
      {norm.of_two(ir::Op::multiply, "x_gradient", rest, norm.spread("factor_spread", factor)), scales, offsets});
}

}  // namespace tailor::hlo
