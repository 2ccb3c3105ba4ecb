// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// How blocks that share a tile find out which of them is last (kernel.h has the contract). In: a tile shared by blocks,
// whose parts were written. Out: the statements up to the open guard of the last block. Called by the column and the
// row skeleton.
//
// A barrier ends the block's writing. One thread fences, takes a number from the tile's ticket, fences again and tells
// the number to the others through shared memory. Behind another barrier everyone hears it, and the guard asks whether
// it is the last number there is. The block that passes gives the ticket back at once: nobody else will ask for it in
// this run. Which block that is differs from run to run; what it reads and in which order does not.
#include "codegen/lower/lower_meeting.h"

namespace tailor::codegen {

namespace {

void open_first_thread(ProgramBuilder& builder, const SharedTile& shared) {
  if (shared.conditions > 0) builder.open_guard(std::span(shared.first_thread).first(shared.conditions));
}
void close_first_thread(ProgramBuilder& builder, const SharedTile& shared) {
  if (shared.conditions > 0) builder.close();
}

}  // namespace

void open_last_block(ProgramBuilder& builder, const SharedTile& shared) {
  IndexBuilder& build = builder.build();
  const ir::BufferId ticket =
      builder.add_buffer({"ticket", ir::DType::u32, shared.tiles, ir::BufferRole::ticket, ir::no_id});
  const ir::ArrayId number = builder.add_shared("number", ir::DType::u32, 1);
  builder.put_barrier();
  open_first_thread(builder, shared);
  ir::Stmt fence;
  fence.kind = ir::StmtKind::fence;
  builder.put(builder.depth(), fence);
  ir::Stmt take;
  take.kind = ir::StmtKind::atomic;
  take.op = ir::Op::add;
  take.memory = ticket;
  take.expr = shared.tile;
  take.value = builder.number(ir::DType::u32, 0, 1).id;
  const ir::ValueId taken = builder.define(take, "taken", ir::DType::u32);
  builder.put(builder.depth(), take);
  builder.put(builder.depth(), fence);
  ir::Stmt tell;
  tell.kind = ir::StmtKind::store;
  tell.space = ir::Space::shared;
  tell.memory = number;
  tell.expr = build.constant(0);
  tell.value = taken;
  builder.put(builder.depth(), tell);
  close_first_thread(builder, shared);
  builder.put_barrier();
  ir::Stmt hear;
  hear.kind = ir::StmtKind::load;
  hear.space = ir::Space::shared;
  hear.memory = number;
  hear.expr = build.constant(0);
  ir::Value last;
  last.kind = ir::ValueKind::op;
  last.op = ir::Op::compare;
  last.comparison = ir::Comparison::eq;
  last.dtype = ir::DType::pred;
  last.operands[0] = builder.define(hear, "arrived", ir::DType::u32);
  builder.put(builder.depth(), hear);
  last.operands[1] = builder.number(ir::DType::u32, 0, shared.split - 1).id;
  builder.open_agreed(builder.add_value(last), {shared.part, build.constant(shared.split - 1), true});
  open_first_thread(builder, shared);
  ir::Stmt reset;
  reset.kind = ir::StmtKind::atomic;
  reset.op = ir::Op::minimum;
  reset.memory = ticket;
  reset.expr = shared.tile;
  reset.value = builder.number(ir::DType::u32, 0, 0).id;
  builder.put(builder.depth(), reset);
  close_first_thread(builder, shared);
}

}  // namespace tailor::codegen
