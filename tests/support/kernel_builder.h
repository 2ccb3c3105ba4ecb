// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Kernels by hand: a thin layer over the structs, so a test can write the program it means. It computes ranges and
// interns terms and expressions, and simplifies nothing. The library of example kernels (a map, a row) stands at the
// end.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "ir/kernel/kernel.h"

namespace tailor::ir {

class KernelBuilder {
 public:
  KernelBuilder(std::string name, int threads, std::int64_t blocks);

  // Variables and index expressions.
  VarId vb = 0;  ///< the block variable
  VarId thread(std::string name, std::int64_t divisor, std::int64_t extent);
  VarId loop_var(std::string name, std::int64_t extent);
  ExprId number(std::int64_t value);
  ExprId var(VarId v, std::int64_t scale = 1);
  ExprId sum(std::initializer_list<ExprId> parts);
  ExprId div(ExprId a, std::int64_t divisor);
  ExprId mod(ExprId a, std::int64_t divisor);
  ExprId exclusive_or(ExprId a, ExprId b);
  ExprId select(ExprId a, ExprId b, ExprId c, ExprId d);

  // Memory.
  BufferId in(std::string name, DType dtype, std::int64_t elements);
  BufferId out(std::string name, DType dtype, std::int64_t elements);
  ArrayId array(std::string name, DType dtype, std::array<std::int64_t, 2> dims = {0, 0}, int vector = 1);
  ArrayId shared(std::string name, DType dtype, std::int64_t elements);
  static Ref ref(ArrayId array, ExprId lane = no_expr) { return {array, {no_expr, no_expr}, lane}; }
  static Ref at(ArrayId array, ExprId sub, ExprId lane = no_expr) { return {array, {sub, no_expr}, lane}; }

  // Values.
  ValueId real(DType dtype, double value);
  ValueId integer(DType dtype, std::int64_t value);
  ValueId get(LetId let);
  ValueId element(const Ref& ref);
  ValueId op(Op op, std::initializer_list<ValueId> operands);
  ValueId compare(Comparison comparison, ValueId a, ValueId b);
  ValueId convert(DType dtype, ValueId a);
  ValueId index(DType dtype, ExprId expr);

  // Statements.
  Stmt& declare(ArrayId array, ValueId value = no_value);
  void name_index(ExprId expr);
  LetId let(std::string name, ValueId value);
  void assign(const Ref& target, ValueId value, Op op = Op::copy);
  Stmt& load(const Ref& target, BufferId buffer, ExprId expr, int width, Policy policy = Policy::once);
  LetId load_let(std::string name, BufferId buffer, ExprId expr, Policy policy = Policy::once);
  void store(BufferId buffer, ExprId expr, int width, const Ref& from);
  void store(BufferId buffer, ExprId expr, ValueId value);
  void load_shared(const Ref& target, ArrayId memory, ExprId expr, int width);
  void load_distributed(const Ref& target, ArrayId memory, ExprId expr, ExprId rank);
  void store_shared(ArrayId memory, ExprId expr, int width, const Ref& from);
  void store_shared(ArrayId memory, ExprId expr, ValueId value);
  void atomic(BufferId buffer, ExprId expr, Op op, ValueId value);
  void each(VarId v) { loop(v, true); }
  void loop(VarId v, bool unrolled = false);
  void guard_less(ExprId a, ExprId b);
  void guard_equal(ExprId a, ExprId b);
  void end();  ///< of the innermost loop or guard
  void shuffle(const Ref& target, Op op, int lanes);
  LetId exchange(std::string name, ValueId value, int stride, int lanes);
  Stmt& barrier(StitchLevel scope = StitchLevel::block);
  void wait();  ///< for the launches before

  /// The program; verified.
  Kernel finished();

  Kernel kernel;

 private:
  Stmt& push(StmtKind kind);
  ValueId push(Value value);
  ExprId nested(TermKind kind, ExprId a, ExprId b, ExprId c, ExprId d, std::int64_t divisor);
  ExprId intern(std::int64_t constant, const std::vector<Linear>& parts);
  std::vector<std::size_t> open_;
};

/// y = gelu-like tanh map of x + bias, `rows` rows of `columns`, four elements per thread, ragged last block.
Kernel example_map(std::int64_t rows, std::int64_t columns, DType dtype);
/// LayerNorm with `lanes` threads per row of lanes * trips * 4 elements; `across`: lanes > 32, through shared memory.
Kernel example_layer_norm(std::int64_t rows, int trips, int lanes);
/// y = x + x over x's memory, with a workspace, a ticket, clusters, a grid barrier: most of it no lowering makes.
Kernel example_in_place();

/// Rows that `parts` blocks each add up: the first launch leaves a sum of each part in a workspace, the second one puts
/// them together and multiplies by w, which it asks for before it waits. With a third launch that is one more
/// workspace, and it takes the row's number from each element of x, in y. Parts have 256 elements or a multiple; at
/// most 32.
Kernel example_split_rows(std::int64_t rows, std::int64_t columns, int parts, int launches = 2);
/// The group that it computes, with {R} and {N} to be put in.
std::string_view split_rows_graph(int launches);

}  // namespace tailor::ir
