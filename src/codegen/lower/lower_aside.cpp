// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Outputs of another size than a kernel's rows and columns. In: outputs, and how many threads deal them out. Out: loops
// that store them, one element at a time in the order of memory. Called by the row and the column skeleton.
//
// Such outputs are small beside what the kernel does (structure_outputs.cpp), so nothing is made of vectors, flights or
// kept values: a value is computed where it is asked for. Free ones are dealt out over all threads of all blocks, in
// front of everything else. Those of a kernel of one row follow its last reduction, dealt out over the lanes of the
// row, each of which has all numbers of it.
#include "codegen/lower/lower_aside.h"

namespace tailor::codegen {

void store_aside(ProgramBuilder& builder, const Prepared& prepared, std::span<const std::int32_t> outputs,
                 ir::ExprId thread, std::int64_t threads) {
  IndexBuilder& build = builder.build();
  for (const std::int32_t output : outputs) {
    if (builder.refusal()) return;
    const ir::Shape& shape = builder.graph()[prepared.stored[output]].shape;
    const std::int64_t count = elements(shape), turns = (count + threads - 1) / threads;
    const ir::VarId turn = builder.loop_var("o", turns);
    ir::ExprId element = build.expand(thread);
    if (turns > 1) element = build.add_scaled(element, build.var(turn), threads);
    const bool ragged = turns * threads != count;
    const ir::Condition exists{element, build.constant(count), false};
    if (ragged) element = build.narrow(element, {0, count - 1});
    if (turns > 1) builder.open_loop(turn, false);
    if (ragged) builder.open_guard({&exists, 1});
    builder.store_output(output, delinearize_memory(build, shape, element));
    if (ragged) builder.close();
    if (turns > 1) builder.close();
  }
}

}  // namespace tailor::codegen
