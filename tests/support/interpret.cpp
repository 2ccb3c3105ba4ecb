// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Stepping through a kernel. Registers and values are columns over the threads of a block, or of all blocks that wait
// for one another, of a cluster or of the grid, one behind the other. Shared memory remembers who touched each element
// in which barrier interval: two threads, one of them writing, in the same interval is a race. Each access is checked
// against its memory, and executed requests are counted as exact counting counts them. Called through interpret.h.
#include "support/interpret.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <stdexcept>
#include <type_traits>
#include <utility>

#include "ir/kernel/index_columns.h"
#include "support/cells.h"

namespace tailor::ir {

namespace {

struct SharedElement {
  LaneValue cell;
  int writer = -1, reader = -1;  ///< reader: a thread, or -2: several
  std::int64_t write_interval = -1, read_interval = -1;
  std::int64_t written_before = -1, others_read = -1;  ///< which barrier of the cluster; others: of its blocks
};

/// None is set. Columns are cleared often, and a loop over them would write word after word.
void clear(std::vector<LaneValue>& cells) {
  static_assert(std::is_trivially_copyable_v<LaneValue>);
  if (!cells.empty()) std::memset(static_cast<void*>(cells.data()), 0, cells.size() * sizeof(LaneValue));
}

struct Interpreter {
  const Kernel& kernel;
  KernelRun run;
  int block_threads;  ///< of one block
  int together;       ///< blocks that step together
  int threads;        ///< of all blocks that step together
  std::vector<char> active;
  std::vector<int> those_active;               ///< the threads of `active`, in order: often few of many
  IndexColumns indices;                        ///< by thread
  std::vector<LaneValue> constants;            ///< by value; unset where it is none
  std::vector<std::vector<LaneValue>> arrays;  ///< by array: entry * threads + thread
  std::vector<std::vector<LaneValue>> lets;    ///< by let, by thread
  std::vector<char> let_in_all;                ///< by let: whether every thread has set it
  std::vector<std::vector<SharedElement>> shared;
  std::vector<std::vector<LaneValue>> work;  ///< columns of values on their way, those of operands above
  std::size_t working = 0;                   ///< as many of them are in use
  std::int64_t interval = 0, cluster_interval = 0;
  bool reads_others = false;  ///< since the blocks of the cluster met
  std::size_t at = 0;

  Interpreter(const Kernel& k, std::vector<std::vector<std::byte>> buffers)
      : kernel(k),
        block_threads(k.threads),
        together(std::any_of(k.body.begin(), k.body.end(), is_grid_barrier) ? static_cast<int>(k.grid) : k.cluster),
        threads(k.threads * together),
        indices(k.indices, threads) {
    run.buffers = std::move(buffers);
    run.counts.buffers.resize(k.buffers.size());
    const auto n = static_cast<std::size_t>(threads);
    for (std::size_t v = 0; v < k.indices.vars.size(); ++v) {
      const Var& var = k.indices.vars[v];
      std::vector<std::int64_t> of_threads(n);
      for (int t = 0; t < threads; ++t)
        of_threads[static_cast<std::size_t>(t)] = t % block_threads / var.divisor % var.extent;
      if (var.kind == VarKind::thread) indices.set(static_cast<VarId>(v), of_threads);
    }
    for (const Value& v : k.values)
      constants.push_back(v.kind != ValueKind::constant ? LaneValue{}
                          : is_floating(v.dtype)        ? fitted(v.dtype, real_cell(v.real))
                                                        : fitted(v.dtype, integer_cell(v.integer)));
    arrays.resize(k.arrays.size());
    shared.resize(k.arrays.size());
    lets.assign(k.lets.size(), std::vector<LaneValue>(n));
    let_in_all.resize(k.lets.size());
  }

  void violation(const std::string& what) {
    if (run.violations.size() < 20) run.violations.push_back(fmt::format("statement {}: {}", at, what));
  }

  std::int64_t index(ExprId e, int t) { return indices.value(e, t); }
  /// By thread; lives until a variable is set.
  const std::int64_t* column(ExprId e) { return indices.column(e).data(); }

  /// Where the registers lie that a reference names. Lives until a variable is set.
  struct Registers {
    const Array* array = nullptr;
    LaneValue* first = nullptr;
    std::array<const std::int64_t*, 2> subs{};
    const std::int64_t* lane = nullptr;
    bool one = false;  ///< the same of all threads, which stand at `first`
    int room = 0;      ///< then: how many elements of its vector there are from it on
  };
  Registers registers(const Ref& r) {
    Registers found{&kernel.arrays[r.array], arrays[r.array].data()};
    std::int64_t entry = 0, lane = 0;
    found.one = true;
    for (std::size_t i = 0; i < 2; ++i) {
      if (r.subs[i] == no_expr) continue;
      const std::int64_t dim = found.array->dims[i];
      found.one = found.one && is_one_below(r.subs[i], dim, entry, entry * dim);
    }
    if (r.lane != no_expr) found.one = found.one && is_one_below(r.lane, found.array->vector, lane, 0);
    if (found.one) {
      found.first += (entry * found.array->vector + lane) * threads;
      found.room = static_cast<int>(found.array->vector - lane);
      return found;
    }
    for (std::size_t i = 0; i < 2; ++i) found.subs[i] = r.subs[i] == no_expr ? nullptr : column(r.subs[i]);
    found.lane = r.lane == no_expr ? nullptr : column(r.lane);
    return found;
  }
  /// Whether the number is one for all threads, from 0 up and below `end`; then `sum` is that behind `base`.
  bool is_one_below(ExprId e, std::int64_t end, std::int64_t& sum, std::int64_t base) {
    const std::optional<std::int64_t> one = indices.one(e);
    if (!one || *one < 0 || *one >= end) return false;
    sum = base + *one;
    return true;
  }
  /// The one of thread t that is `offset` elements after the one the reference names.
  LaneValue& element(const Registers& r, int t, int offset = 0) {
    if (r.one && offset < r.room) return r.first[offset * threads + t];
    if (r.one) throw std::logic_error(fmt::format("{} elements of a vector of {}", offset + 1, r.array->name));
    std::int64_t entry = 0;
    for (std::size_t i = 0; i < 2; ++i) {
      if (r.subs[i] == nullptr) continue;
      const std::int64_t sub = r.subs[i][t];
      if (sub < 0 || sub >= r.array->dims[i]) {
        violation(fmt::format("subscript {} of {} is outside", sub, r.array->name));
        continue;
      }
      entry = entry * r.array->dims[i] + sub;
    }
    const std::int64_t lane = (r.lane == nullptr ? 0 : r.lane[t]) + offset;
    if (lane < 0 || lane >= r.array->vector)
      throw std::logic_error(fmt::format("element {} of a vector of {}", lane, r.array->name));
    return r.first[(entry * r.array->vector + lane) * threads + t];
  }

  const LaneValue& checked(const LaneValue& cell, std::string_view what) {
    if (cell.set == 0) violation(fmt::format("reads {} before it is set", what));
    return cell;
  }

  /// The value in each active thread. Lives until the next statement asks for values.
  const LaneValue* values(ValueId id) {
    working = 0;
    return evaluated(id);
  }

  /// Its column is the next one of `work`, and what its operands took above it is free again.
  const LaneValue* evaluated(ValueId id) {
    const Value& v = kernel.values[id];
    if (v.kind == ValueKind::let) {
      const std::vector<LaneValue>& let = lets[v.let];
      if (let_in_all[v.let] == 0)
        for_active([&](int t) { checked(let[static_cast<std::size_t>(t)], kernel.lets[v.let].name); });
      return let.data();
    }
    const std::size_t own = working++;
    if (own == work.size()) work.emplace_back(static_cast<std::size_t>(threads));
    LaneValue* out = work[own].data();
    std::array<const LaneValue*, 3> operands{out, out, out};
    for (std::size_t i = 0; i < 3; ++i)
      if (v.operands[i] != no_value) operands[i] = evaluated(v.operands[i]);
    working = own + 1;
    fill(v, id, operands, out);
    return out;
  }

  void fill(const Value& v, ValueId id, const std::array<const LaneValue*, 3>& operands, LaneValue* out) {
    const auto [a, b, c] = operands;
    const DType from = v.operands[0] == no_value ? v.dtype : kernel.values[v.operands[0]].dtype;
    switch (v.kind) {
      case ValueKind::let:
        return;
      case ValueKind::constant:
        return for_active([&](int t) { out[t] = constants[id]; });
      case ValueKind::element: {
        const Registers from_registers = registers(v.element);
        return for_active([&](int t) { out[t] = checked(element(from_registers, t), from_registers.array->name); });
      }
      case ValueKind::convert:
        return for_active([&](int t) { out[t] = converted_cell(v.dtype, from, a[t]); });
      case ValueKind::index: {
        const std::int64_t* number = column(v.index);
        return for_active([&](int t) { out[t] = converted_cell(v.dtype, DType::s64, integer_cell(number[t])); });
      }
      case ValueKind::op:
        break;
    }
    if (v.op == Op::bitcast_convert) return for_active([&](int t) { out[t] = bits_of(v, a[t]); });
    if (v.op == Op::reduce_precision) return for_active([&](int t) { out[t] = reduced_cell(v.dtype, v.digits, a[t]); });
    const DType dtype = v.op == Op::compare || v.op == Op::is_finite ? from : v.dtype;
    apply(v.op, v.comparison, dtype, operands, lanes(), out);
  }

  LaneValue bits_of(const Value& v, LaneValue cell) const {
    std::array<std::byte, 8> bytes{};
    write_cell(kernel.values[v.operands[0]].dtype, bytes.data(), cell);
    return read_cell(v.dtype, bytes.data());
  }

  /// Calls act(first, end) for each warp.
  template <class Act>
  void for_warps(Act&& act) {
    for (int block = 0; block < threads; block += block_threads)
      for (int warp = 0; warp < block_threads; warp += 32)
        act(block + warp, block + std::min(warp + 32, block_threads));
  }

  bool all_active() const { return std::ssize(those_active) == threads; }
  Lanes lanes() const {
    return all_active() ? Lanes{threads, nullptr} : Lanes{static_cast<int>(those_active.size()), those_active.data()};
  }
  template <class Act>
  void for_active(Act&& act) {
    lanes().each(act);
  }

  /// -1 and a violation when the access does not fit its memory or is not aligned to its width.
  std::int64_t element_index(const Stmt& s, int t, std::int64_t i, std::int64_t elements) {
    if (i < 0 || i + s.width > elements) {
      violation(fmt::format("thread {} accesses element {} x{} of {}", t, i, static_cast<int>(s.width), elements));
      return -1;
    }
    if (i % s.width != 0)
      violation(fmt::format("thread {} accesses element {} x{}: misaligned", t, i, static_cast<int>(s.width)));
    return i;
  }

  void global_access(const Stmt& s) {
    const Buffer& buffer = kernel.buffers[s.memory];
    const int size = row(buffer.dtype).bits / 8;
    std::byte* memory = run.buffers[owner(kernel, s.memory)].data();
    const std::size_t kind = s.kind == StmtKind::load ? 0 : s.kind == StmtKind::store ? 1 : 2;
    Traffic& traffic = run.counts.buffers[s.memory][kind];
    const Traffic before = traffic;
    const Moved moved = what_moves(s);
    const std::int64_t* place = column(s.expr);
    std::vector<std::int64_t> sectors;
    for_warps([&](int warp, int end) {
      sectors.clear();
      bool any = false, rising = true;
      for (int t = warp; t < end; ++t) {
        if (active[static_cast<std::size_t>(t)] == 0) continue;
        any = true;
        const std::int64_t i = element_index(s, t, place[t], buffer.elements);
        if (i < 0) continue;
        traffic.bytes += s.width * size;
        for (std::int64_t b = i * size / 32; b <= ((i + s.width) * size - 1) / 32; ++b)
          if (sectors.empty() || sectors.back() != b) {
            rising = rising && (sectors.empty() || sectors.back() < b);
            sectors.push_back(b);
          }
        for (int k = 0; k < s.width; ++k) move(s, moved, t, k, buffer.dtype, memory + (i + k) * size);
      }
      traffic.requests += any ? 1 : 0;
      if (!rising) std::sort(sectors.begin(), sectors.end());
      traffic.sectors += std::unique(sectors.begin(), sectors.end()) - sectors.begin();
    });
    if (s.by_exchange) {  // it is loaded first
      Traffic& loads = run.counts.buffers[s.memory][0];
      loads.requests += traffic.requests - before.requests;
      loads.sectors += traffic.sectors - before.sectors;
      loads.bytes += traffic.bytes - before.bytes;
    }
  }

  /// What an access fills or takes: registers, or a let (a load) or a value (a store).
  struct Moved {
    Registers registers;  ///< without an array where it is the other
    LaneValue* let = nullptr;
    const LaneValue* value = nullptr;
  };
  Moved what_moves(const Stmt& s) {
    Moved moved;
    if (s.let != no_id) {
      moved.let = lets[s.let].data();
      if (all_active()) let_in_all[s.let] = 1;
    }
    if (s.target.array != no_id)
      moved.registers = registers(s.target);
    else if (s.kind != StmtKind::load)
      moved.value = values(s.value);
    return moved;
  }
  LaneValue& filled(const Moved& moved, int t, int k) {
    return moved.registers.array == nullptr ? moved.let[t] : element(moved.registers, t, k);
  }
  const LaneValue& taken(const Moved& moved, int t, int k) {
    return moved.registers.array == nullptr ? moved.value[t]
                                            : checked(element(moved.registers, t, k), "a stored element");
  }

  void move(const Stmt& s, const Moved& moved, int t, int k, DType dtype, std::byte* memory) {
    if (s.kind == StmtKind::load) {
      filled(moved, t, k) = read_cell(dtype, memory);
      return;
    }
    const LaneValue cell = taken(moved, t, k);
    if (s.kind == StmtKind::store) return write_cell(dtype, memory, cell);
    if (s.let != no_id) moved.let[t] = read_cell(dtype, memory);
    write_cell(dtype, memory, applied(s.op, Comparison::eq, dtype, read_cell(dtype, memory), cell, {}));
  }

  void shared_access(const Stmt& s) {
    auto& memory = shared[s.memory];
    const DType dtype = kernel.arrays[s.memory].dtype;
    const bool load = s.kind == StmtKind::load;
    Traffic& traffic = load ? run.counts.shared_loads : run.counts.shared_stores;
    for_warps([&](int warp, int end) {
      traffic.requests += std::any_of(active.begin() + warp, active.begin() + end, [](char on) { return on != 0; });
    });
    const std::int64_t each = kernel.arrays[s.memory].dims[0];
    const Moved moved = what_moves(s);
    const std::int64_t* place = column(s.expr);
    const std::int64_t* ranks = s.space == Space::distributed ? column(s.rank) : nullptr;
    for_active([&](int t) {
      std::int64_t i = element_index(s, t, place[t], each);
      const int own = t / block_threads;
      const std::int64_t rank = ranks != nullptr ? ranks[t] : own;
      if (rank < 0 || rank >= together) return violation(fmt::format("thread {} reads block {}", t, rank));
      if (i < 0) return;
      i += rank * each;
      traffic.bytes += s.width * row(dtype).bits / 8;
      for (int k = 0; k < s.width; ++k) {
        SharedElement& e = memory[static_cast<std::size_t>(i + k)];
        rank == own ? race(e, t, !load) : race_of_blocks(e, t);
        if (load)
          filled(moved, t, k) = checked(e.cell, kernel.arrays[s.memory].name);
        else
          e.cell = taken(moved, t, k);
      }
    });
  }

  void race(SharedElement& e, int t, bool write) {
    const bool written = e.write_interval == interval && e.writer != t;
    const bool read = e.read_interval == interval && e.reader != t;
    if (written || (write && read))
      violation(fmt::format("thread {} {} shared memory that another thread {} since the last barrier", t,
                            write ? "writes" : "reads", written ? "wrote" : "read"));
    if (write && e.others_read == cluster_interval)
      violation(fmt::format("thread {} writes what another block reads since their last barrier", t));
    if (write) {
      e.writer = t;
      e.write_interval = interval;
      e.written_before = cluster_interval;
    } else {
      e.reader = e.read_interval == interval && e.reader != t ? -2 : t;
      e.read_interval = interval;
    }
  }

  /// A read of what another block of the cluster has.
  void race_of_blocks(SharedElement& e, int t) {
    if (cluster_interval == 0) violation(fmt::format("thread {} reads a block that may not have begun", t));
    if (e.written_before == cluster_interval)
      violation(fmt::format("thread {} reads what another block wrote since their last barrier", t));
    e.others_read = cluster_interval;
    reads_others = true;
  }

  void shuffle(const Stmt& s) {
    const DType dtype = kernel.arrays[s.target.array].dtype;
    const DType compute = row(dtype).compute;
    const Registers of = registers(s.target);
    std::vector<LaneValue> before;
    for_warps([&](int warp, int end) {
      const auto on = std::count(active.begin() + warp, active.begin() + end, 1);
      if (on == 0) return;
      if (on != end - warp) violation("a shuffle in a divergent warp");
      for (int offset = s.lanes / 2; offset > 0; offset /= 2) {
        run.counts.shuffles += row(dtype).bits == 64 ? 2 : 1;
        before.clear();
        for (int t = warp; t < end; ++t) before.push_back(checked(element(of, t), "a shuffled value"));
        for (int t = warp; t < end; ++t) {
          const auto me = static_cast<std::size_t>(t - warp), other = me ^ static_cast<std::size_t>(offset);
          const LaneValue theirs = other < before.size() ? before[other] : before[me];
          element(of, t) = fitted(dtype, applied(s.op, Comparison::eq, compute, before[me], theirs, {}));
        }
      }
    });
  }

  void exchange(const Stmt& s) {
    const DType dtype = kernel.lets[s.let].dtype;
    const LaneValue* const own = values(s.value);
    std::vector<LaneValue>& let = lets[s.let];
    for_warps([&](int warp, int end) {
      const auto on = std::count(active.begin() + warp, active.begin() + end, 1);
      if (on == 0) return;
      if (on != end - warp) violation("an exchange in a divergent warp");
      run.counts.shuffles += row(dtype).bits == 64 ? 2 : 1;
      for (int t = warp; t < end; ++t) {
        const int me = t - warp, from = s.stride == 0 ? me / s.lanes * s.lanes : me ^ s.stride;
        let[static_cast<std::size_t>(t)] = checked(own[warp + from < end ? warp + from : t], "an exchanged value");
      }
    });
  }

  void barrier(const Stmt& s) {
    const int those = s.scope > StitchLevel::block ? threads : block_threads;
    const std::int64_t warps = (block_threads + 31) / 32;
    for (int first = 0; first < threads; first += those) {
      const auto on = std::count(active.begin() + first, active.begin() + first + those, 1);
      if (on != 0 && on != those) violation("a barrier that some threads do not reach");
      if (on != 0 && s.scope == StitchLevel::block) run.counts.barriers += warps;
    }
    if (s.scope == StitchLevel::cluster) {
      run.counts.cluster_barriers += (s.half == Half::both ? 2 : 1) * warps * together;
      if (s.half == Half::arrive) return;
      ++cluster_interval;
      reads_others = false;
    }
    if (is_grid_barrier(s)) meet_all(s, warps);
    if (s.scope >= StitchLevel::block) ++interval;
  }

  /// Two barriers of each block, one of whose threads counts and looks; how often it looks, nobody knows.
  void meet_all(const Stmt& s, std::int64_t warps) {
    run.counts.barriers += 2 * warps * together;
    std::map<std::int64_t, std::set<std::int64_t>> ranks;
    for (int t = 0; t < threads; t += block_threads)
      if (!ranks[index(s.expr, t)].insert(index(s.rank, t)).second) violation("two blocks that meet have one number");
    const std::int64_t meeting = blocks_that_meet(kernel, s);
    for (const auto& [counter, those] : ranks)
      if (std::ssize(those) != meeting || *those.begin() != 0 || *those.rbegin() != meeting - 1)
        violation(fmt::format("{} blocks meet at counter {}, expected {}", those.size(), counter, meeting));
    constexpr std::size_t loads = 0, atomics = 2;
    for (const std::size_t kind : {loads, atomics}) {
      Traffic& traffic = run.counts.buffers[s.memory][kind];
      traffic.requests += together;
      traffic.sectors += together;
      traffic.bytes += 4 * together;
    }
  }

  void declare(const Stmt& s) {
    const Array& a = kernel.arrays[s.target.array];
    if (a.space == Space::shared) return;
    const std::int64_t entries = std::max<std::int64_t>(a.dims[0], 1) * std::max<std::int64_t>(a.dims[1], 1) * a.vector;
    std::vector<LaneValue>& array = arrays[s.target.array];
    array.resize(static_cast<std::size_t>(entries * threads));
    clear(array);
    if (s.value == no_value) return;
    const LaneValue* first = values(s.value);
    for (std::int64_t i = 0; i < entries; ++i)
      for_active([&](int t) { array[static_cast<std::size_t>(i * threads + t)] = first[t]; });
  }

  void let(const Stmt& s) {
    const LaneValue* right = values(s.value);
    std::vector<LaneValue>& left = lets[s.let];
    if (all_active()) let_in_all[s.let] = 1;
    for_active([&](int t) { left[static_cast<std::size_t>(t)] = right[t]; });
  }

  void assign(const Stmt& s) {
    const DType dtype = kernel.arrays[s.target.array].dtype;
    const LaneValue* right = values(s.value);
    const Registers of = registers(s.target);
    if (s.op == Op::copy) return for_active([&](int t) { element(of, t) = right[t]; });
    const DType compute = row(dtype).compute;
    for_active([&](int t) {
      LaneValue& left = element(of, t);
      left = fitted(dtype, applied(s.op, Comparison::eq, compute, checked(left, "an accumulator"), right[t], {}));
    });
  }

  /// Those that meet all conditions of a guard go on alone; the others are active again behind it.
  void guard(const Stmt& s, std::size_t i) {
    std::vector<int> inside = those_active;
    if (s.value != no_value) {
      const LaneValue* asked = values(s.value);
      std::erase_if(inside, [&](int t) { return asked[t].integer == 0; });
      if (!inside.empty() && together == 1 && inside.size() != those_active.size())
        violation("threads differ on a value that a guard asks");
    } else {
      for (const Condition& c : s.conditions)
        if (c.a != no_expr && !inside.empty()) pass(c, inside);
    }
    if (inside.empty()) return;
    if (inside.size() == those_active.size()) return body(i + 1, static_cast<std::size_t>(s.end));
    std::swap(inside, those_active);
    for (const int t : inside) active[static_cast<std::size_t>(t)] = 0;
    for (const int t : those_active) active[static_cast<std::size_t>(t)] = 1;
    body(i + 1, static_cast<std::size_t>(s.end));
    std::swap(inside, those_active);
    for_active([&](int t) { active[static_cast<std::size_t>(t)] = 1; });
  }
  void pass(const Condition& c, std::vector<int>& those) {
    const auto holds = [&](std::int64_t a, std::int64_t b) { return c.equal ? a == b : a < b; };
    const std::optional<std::int64_t> one = indices.one(c.a), other = indices.one(c.b);
    if (one && other) {
      if (!holds(*one, *other)) those.clear();
      return;
    }
    const std::int64_t *a = column(c.a), *b = column(c.b);
    std::erase_if(those, [&](int t) { return !holds(a[t], b[t]); });
  }

  /// All threads must agree, where the variable is not one of each.
  void bind(const Stmt& s) {
    const std::int64_t extent = kernel.indices.vars[s.var].extent;
    const bool of_each = kernel.indices.vars[s.var].kind == VarKind::picked;
    std::vector<std::int64_t> numbers(static_cast<std::size_t>(threads));
    std::int64_t number = -1;
    const LaneValue* bound = values(s.value);
    for_active([&](int t) {
      const std::int64_t mine = checked(bound[t], "an index").integer;
      numbers[static_cast<std::size_t>(t)] = std::clamp<std::int64_t>(mine, 0, extent - 1);
      if (mine < 0 || mine >= extent || (!of_each && number >= 0 && mine != number))
        violation(fmt::format("thread {} binds {} to {} below {}, others to {}", t, kernel.indices.vars[s.var].name,
                              mine, extent, number));
      number = std::clamp<std::int64_t>(mine, 0, extent - 1);
    });
    of_each ? indices.set(s.var, numbers) : indices.set(s.var, std::max<std::int64_t>(number, 0));
  }

  void statement(const Stmt& s, std::size_t i) {
    const auto end = static_cast<std::size_t>(s.end);
    switch (s.kind) {
      case StmtKind::declare:
        return declare(s);
      case StmtKind::index:
        return;
      case StmtKind::let:
        return let(s);
      case StmtKind::assign:
        return assign(s);
      case StmtKind::load:
      case StmtKind::store:
      case StmtKind::atomic:
        return is_array(s.space) ? shared_access(s) : global_access(s);
      case StmtKind::loop:
        for (std::int64_t trip = 0, trips = kernel.indices.vars[s.var].extent; trip < trips; ++trip) {
          indices.set(s.var, s.backward ? trips - 1 - trip : trip);
          body(i + 1, end);
        }
        return;
      case StmtKind::guard:
        return guard(s, i);
      case StmtKind::shuffle:
        return shuffle(s);
      case StmtKind::exchange:
        return exchange(s);
      case StmtKind::barrier:
        return barrier(s);
      case StmtKind::bind:
        return bind(s);
      case StmtKind::issue:
      case StmtKind::wait:  // the launches before it are done
      case StmtKind::fence:
        return;
    }
  }

  void body(std::size_t first, std::size_t end) {
    for (std::size_t i = first; i < end; ++i) {
      const Stmt& s = kernel.body[i];
      at = i;
      statement(s, i);
      if (s.kind == StmtKind::loop || s.kind == StmtKind::guard) i = static_cast<std::size_t>(s.end) - 1;
    }
  }

  /// With the others of its cluster.
  void virtual_block(std::int64_t first) {
    active.assign(static_cast<std::size_t>(threads), 1);
    those_active.resize(static_cast<std::size_t>(threads));
    std::iota(those_active.begin(), those_active.end(), 0);
    std::vector<std::int64_t> numbers(static_cast<std::size_t>(threads));
    for (std::size_t v = 0; v < kernel.indices.vars.size(); ++v) {
      const Var& var = kernel.indices.vars[v];
      if (var.kind != VarKind::block) continue;
      for (int t = 0; t < threads; ++t)
        numbers[static_cast<std::size_t>(t)] = (first + t / block_threads) / var.divisor % var.extent;
      indices.set(static_cast<VarId>(v), numbers);
    }
    for (auto& let : lets) clear(let);
    std::fill(let_in_all.begin(), let_in_all.end(), 0);
    body(0, kernel.body.size());
  }

  void real_block(std::int64_t block) {
    for (std::size_t a = 0; a < kernel.arrays.size(); ++a)
      if (kernel.arrays[a].space == Space::shared)
        shared[a].assign(static_cast<std::size_t>(kernel.arrays[a].dims[0] * together), SharedElement{});
    cluster_interval = 0;
    for (std::int64_t vb = block; vb < kernel.virtual_blocks; vb += kernel.grid) virtual_block(vb);
    if (std::exchange(reads_others, false)) violation("a block that is read by others may have ended");
  }
};

void add(Traffic& sum, const Traffic& more) {
  sum.requests += more.requests;
  sum.sectors += more.sectors;
  sum.bytes += more.bytes;
}

/// What a launch counted and did wrong.
void add(KernelRun& all, const KernelRun& one) {
  for (std::size_t i = 0; i < all.counts.buffers.size(); ++i)
    for (std::size_t kind = 0; kind < 3; ++kind) add(all.counts.buffers[i][kind], one.counts.buffers[i][kind]);
  add(all.counts.shared_loads, one.counts.shared_loads);
  add(all.counts.shared_stores, one.counts.shared_stores);
  all.counts.shuffles += one.counts.shuffles;
  all.counts.barriers += one.counts.barriers;
  all.counts.cluster_barriers += one.counts.cluster_barriers;
  all.violations.insert(all.violations.end(), one.violations.begin(), one.violations.end());
}

}  // namespace

KernelRun interpret(const Kernel& kernel, std::vector<std::vector<std::byte>> buffers, bool backwards) {
  for (std::size_t i = 0; i < kernel.buffers.size(); ++i)
    if (static_cast<std::int64_t>(buffers.at(i).size()) !=
        kernel.buffers[i].elements * row(kernel.buffers[i].dtype).bits / 8)
      throw std::logic_error(fmt::format("buffer {} has another size than the kernel's", kernel.buffers[i].name));
  KernelRun all;
  all.counts.buffers.resize(kernel.buffers.size());
  for (const Kernel* one = &kernel; one != nullptr;) {  // the launches of a program, one behind the other
    Interpreter interpreter(*one, std::move(buffers));
    for (std::int64_t block = 0; block < one->grid; block += interpreter.together)
      interpreter.real_block(backwards ? one->grid - interpreter.together - block : block);
    add(all, interpreter.run);
    buffers = std::move(interpreter.run.buffers);
    const std::size_t next = one == &kernel ? 0 : static_cast<std::size_t>(one - kernel.followers.data()) + 1;
    one = next < kernel.followers.size() ? &kernel.followers[next] : nullptr;
  }
  all.buffers = std::move(buffers);
  for (std::size_t i = 0; i < kernel.buffers.size(); ++i)  // what is written in place is the input's memory
    if (kernel.buffers[i].role == BufferRole::in_place) all.buffers[i] = all.buffers[kernel.buffers[i].of];
  return all;
}

}  // namespace tailor::ir
