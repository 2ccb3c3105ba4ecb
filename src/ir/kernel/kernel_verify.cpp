// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Checking a kernel against the contracts of kernel.h. Scopes are a stack of what came to life in each loop or guard.
// Ranges prove what they can: an index made of plain variables outside any guard has an exact range and must lie inside
// its buffer; where guards or nested terms narrow it, only a range that misses the buffer altogether is an error. What
// depends on values (races, uninitialised reads, alignment of peeled rows) is the interpreter's and the simulator's.
// Kernels of a program are checked one by one, each with the first one at hand, whose list says who was launched
// before.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <stdexcept>
#include <vector>

#include "ir/kernel/index_text.h"
#include "ir/kernel/kernel.h"

namespace tailor::ir {

namespace {

struct Verifier {
  const Kernel& kernel;
  const Kernel& program;  ///< the first kernel; `kernel` or the one it follows
  std::size_t at = 0;
  int guards = 0, loops = 0;
  bool divergent = false;     ///< inside a guard that depends on the thread
  bool met = false;           ///< the blocks of the cluster have met before
  bool arrived = false;       ///< and said that it had read
  bool reads_others = false;  ///< of a cluster, since they met last
  std::vector<bool> live_arrays, live_lets, seen_lets;
  std::vector<bool> agreed_lets;  ///< the same for all threads of the block
  VarSet live_vars;
  std::size_t last_guard;  ///< in the scope at hand; the number of statements: none yet
  int scopes = 0;          ///< loops and guards around the statement
  bool follows = false;    ///< launches come before its own
  bool waited = false;     ///< for them

  Verifier(const Kernel& k, const Kernel& of)
      : kernel(k),
        program(of),
        live_arrays(k.arrays.size()),
        live_lets(k.lets.size()),
        seen_lets(k.lets.size()),
        agreed_lets(k.lets.size()),
        last_guard(k.body.size()) {
    follows = !is_in(launches_of(program).front());
    for (std::size_t i = 0; i < k.indices.vars.size(); ++i)
      if (k.indices.vars[i].kind == VarKind::block || k.indices.vars[i].kind == VarKind::thread)
        live_vars |= VarSet::only(i);
    for (std::size_t i = 0; i < k.arrays.size(); ++i) live_arrays[i] = k.arrays[i].space == Space::shared;
  }

  void require(bool holds, const std::string& what) const {
    if (!holds) throw std::logic_error(fmt::format("kernel {}, statement {}: {}", kernel.name, at, what));
  }

  const IndexPool& pool() const { return kernel.indices; }

  void expression(ExprId e) const {
    require(e < pool().exprs.size(), "an index that does not exist");
    require(pool()[e].vars.without(live_vars).empty(),
            fmt::format("index {} uses a variable outside its scope", text(pool(), e)));
  }

  void within(ExprId e, std::int64_t extent, std::int64_t width, std::string_view what) const {
    expression(e);
    const Interval range = pool()[e].range;
    bool plain = guards == 0;
    for (const Linear& part : pool().linear(e)) plain = plain && pool().terms[part.term].kind == TermKind::var;
    const bool inside = range.low >= 0 && range.high + width <= extent;
    const bool outside = range.high < 0 || range.low + width > extent;
    require(plain ? inside : !outside, fmt::format("{}: index {} is in [{}, {}] with width {}, extent {}", what,
                                                   text(pool(), e), range.low, range.high, width, extent));
  }

  void reference(const Ref& r, int width) const {
    require(r.array < kernel.arrays.size(), "an array that does not exist");
    const Array& a = kernel.arrays[r.array];
    require(a.space == Space::registers, fmt::format("{} is no register array", a.name));
    require(live_arrays[r.array], fmt::format("array {} is used outside the scope that declares it", a.name));
    for (std::size_t i = 0; i < 2; ++i) {
      require((a.dims[i] != 0) == (r.subs[i] != no_expr), fmt::format("{}: wrong number of subscripts", a.name));
      if (r.subs[i] != no_expr) within(r.subs[i], a.dims[i], 1, a.name);
    }
    if (r.lane != no_expr) within(r.lane, a.vector, width, a.name);
    require(width <= a.vector, fmt::format("{} has vectors of {}, access of {}", a.name, a.vector, width));
  }

  DType type_of(ValueId id) const { return kernel.values[id].dtype; }

  void operation(const Value& v) const {
    const OpRow& r = row(v.op);
    require(r.kind == OpClass::elementwise, fmt::format("{} is not elementwise", r.id));
    for (int i = 0; i < 3; ++i)
      require((v.operands[static_cast<std::size_t>(i)] != no_value) == (i < r.arity),
              fmt::format("{} takes {} operands", r.id, r.arity));
    const bool to_pred = v.op == Op::compare || v.op == Op::is_finite;
    const DType type = to_pred ? type_of(v.operands[0]) : v.dtype;
    require(!to_pred || v.dtype == DType::pred, fmt::format("{} gives a predicate", r.id));
    require(works_on_bits(v.op) || row(type).compute == type,
            fmt::format("{} on {}: arithmetic is in {}", r.id, name(type), name(row(type).compute)));
    require(v.op != Op::bitcast_convert || row(type_of(v.operands[0])).bits == row(type).bits,
            fmt::format("{} changes the width", r.id));
    require(v.op != Op::reduce_precision || v.digits.exponent > 0, fmt::format("{} leaves no exponent", r.id));
    for (int i = 0; i < r.arity; ++i) {
      const DType found = type_of(v.operands[static_cast<std::size_t>(i)]);
      const DType wanted = v.op == Op::select && i == 0 ? DType::pred : type;
      require(v.op == Op::bitcast_convert || v.op == Op::real || found == wanted,
              fmt::format("operand {} of {} is {}, not {}", i, r.id, name(found), name(wanted)));
    }
  }

  void value(ValueId id) const {
    require(id < kernel.values.size(), "a value that does not exist");
    const Value& v = kernel.values[id];
    for (const ValueId operand : v.operands)
      if (operand != no_value) value(operand);
    switch (v.kind) {
      case ValueKind::constant:
        return;
      case ValueKind::let:
        require(v.let < kernel.lets.size() && live_lets[v.let], "a value is used outside the scope that defines it");
        return require(v.dtype == kernel.lets[v.let].dtype,
                       fmt::format("{} changes its type", kernel.lets[v.let].name));
      case ValueKind::element:
        reference(v.element, 1);
        return require(v.dtype == kernel.arrays[v.element.array].dtype, "an element changes its type");
      case ValueKind::op:
        return operation(v);
      case ValueKind::convert:
        return require(v.operands[0] != no_value, "convert has no operand");
      case ValueKind::index:
        return expression(v.index);
    }
  }

  DType memory(const Stmt& s) const {
    const bool shared = is_array(s.space);
    require((s.space == Space::distributed) == (s.rank != no_expr), "a block of the cluster is named elsewhere");
    if (s.rank != no_expr) within(s.rank, kernel.cluster, 1, "the cluster");
    require(s.space != Space::registers && s.memory < (shared ? kernel.arrays.size() : kernel.buffers.size()),
            "a memory that does not exist");
    const DType type = shared ? kernel.arrays[s.memory].dtype : kernel.buffers[s.memory].dtype;
    require(!shared || kernel.arrays[s.memory].space == Space::shared, "an access to a register array");
    require(s.width > 0 && (s.width & (s.width - 1)) == 0 && s.width * row(type).bits <= 128,
            fmt::format("an access of {} x {}", static_cast<int>(s.width), name(type)));
    within(s.expr, shared ? kernel.arrays[s.memory].dims[0] : kernel.buffers[s.memory].elements, s.width,
           shared ? kernel.arrays[s.memory].name : kernel.buffers[s.memory].name);
    bool plain = true, divides = pool()[s.expr].constant % s.width == 0;
    for (const Linear& part : pool().linear(s.expr)) {
      plain = plain && pool().terms[part.term].kind == TermKind::var;
      divides = divides && part.coefficient % s.width == 0;
    }
    require(!plain || divides,
            fmt::format("index {} is not a multiple of its width {}", text(pool(), s.expr), static_cast<int>(s.width)));
    return type;
  }

  void define(LetId let, DType type) {
    require(let < kernel.lets.size() && !seen_lets[let], "a value is defined twice");
    require(kernel.lets[let].dtype == type,
            fmt::format("{} is {}, defined as {}", kernel.lets[let].name, name(kernel.lets[let].dtype), name(type)));
    live_lets[let] = seen_lets[let] = true;
  }

  void load(const Stmt& s) {
    const DType type = memory(s);
    if (s.space == Space::distributed) {
      require(met, "a block of the cluster is read before all of them have met");
      require(!arrived, "a block of the cluster is read by one that said it had read");
      reads_others = true;
    }
    require(is_array(s.space) || s.policy == Policy::reload || s.policy == Policy::fresh ||
                memory_role(kernel, owner(kernel, s.memory)) == BufferRole::input,
            "a load of memory that the program writes promises that nobody does");
    if (s.space == Space::global) reached(s);
    if (s.target.array == no_id) {
      require(s.width == 1, "a vector load needs an array");
      define(s.let, type);
      agreed_lets[s.let] = s.space == Space::shared && !divergent && !has_thread(pool()[s.expr].vars);
      return;
    }
    reference(s.target, s.width);
    require(kernel.arrays[s.target.array].dtype == type, "a load changes the type");
  }

  bool is_in(const Chain<Kernel>& launch) const {
    return std::any_of(launch.begin(), launch.end(), [&](const Kernel& one) { return &one == &kernel; });
  }

  /// A load finds what somebody wrote, and a follower may begin while others still write.
  void reached(const Stmt& s) const {
    const BufferId memory = owner(kernel, s.memory);
    require(!follows || waited || memory_role(program, memory) == BufferRole::input,
            fmt::format("{} is loaded before the launches that may write it are waited for",
                        kernel.buffers[s.memory].name));
    const BufferRole role = kernel.buffers[memory].role;
    require((role != BufferRole::workspace && role != BufferRole::output) || written(memory),
            fmt::format("{} is loaded, which nobody has written", kernel.buffers[s.memory].name));
  }

  /// By this kernel, wherever, or in a launch or a step before its own.
  bool written(BufferId memory) const {
    for (const Chain<Kernel>& launch : launches_of(program))
      for (const Chain<Kernel>& step : steps_of(launch)) {
        if (is_in(step)) return writes(kernel, memory);
        for (const Kernel& one : step)
          if (writes(one, memory)) return true;
      }
    return false;
  }

  void wait() {
    require(follows, "a wait for launches before the first one");
    require(scopes == 0, "a wait for other launches inside a loop or a guard");
    require(!waited, "a second wait for the launches before");
    waited = true;
  }

  void store(const Stmt& s) const {
    require(s.space != Space::global || !follows || waited, "a store before the launches before it are waited for");
    const DType type = memory(s);
    require(s.policy == Policy::once || (s.policy == Policy::fresh && s.space == Space::global),
            "a store under the policy of a load");
    require(s.space != Space::distributed, "a store to another block of the cluster");
    require(s.space == Space::shared || is_written(kernel.buffers[s.memory].role), "a store to an input");
    if (s.target.array == no_id) {
      value(s.value);
      require(s.width == 1 && type_of(s.value) == type, "a stored value has another width or type than its memory");
    } else {
      reference(s.target, s.width);
      require(kernel.arrays[s.target.array].dtype == type, "a store changes the type");
    }
  }

  void atomic(const Stmt& s) {
    require(s.space != Space::global || !follows || waited, "an atomic before the launches before it are waited for");
    require(s.space != Space::distributed, "an atomic on another block of the cluster");
    const DType type = memory(s);
    if (s.target.array == no_id) {
      value(s.value);
      require(s.width == 1 && type == type_of(s.value), "an atomic changes the type");
    } else {
      reference(s.target, s.width);
      require(kernel.arrays[s.target.array].dtype == type, "an atomic changes the type");
    }
    require(s.let == no_id || s.width == 1, "an atomic gives back several elements");
    require(s.let == no_id || !s.by_exchange, "an atomic by exchange gives back what was there");
    if (s.let != no_id) define(s.let, type);
    require(s.space == Space::shared || is_written(kernel.buffers[s.memory].role), "an atomic on an input");
  }

  void declaration(const Stmt& s) {
    require(s.target.array < kernel.arrays.size(), "an array that does not exist");
    const Array& a = kernel.arrays[s.target.array];
    if (a.space == Space::shared) return;
    require(!live_arrays[s.target.array], fmt::format("{} is declared twice", a.name));
    live_arrays[s.target.array] = true;
    require(a.dims[1] == 0 || a.dims[0] != 0, fmt::format("{} has a second dimension only", a.name));
    if (s.value == no_value) return;
    value(s.value);
    require(type_of(s.value) == a.dtype, fmt::format("{} starts with another type", a.name));
  }

  /// Its range is what addresses rely on, so it must be plain to see.
  void bind(const Stmt& s) {
    require(s.var < pool().vars.size() &&
                (pool().vars[s.var].kind == VarKind::data || pool().vars[s.var].kind == VarKind::picked),
            "a bind of no variable of data");
    value(s.value);
    const Value& v = kernel.values[s.value];
    const auto is_number = [&](std::size_t operand, std::int64_t number) {
      const Value& found = kernel.values[v.operands[operand]];
      return found.kind == ValueKind::constant && found.integer == number;
    };
    require(v.kind == ValueKind::op && v.op == Op::clamp && is_integer(v.dtype) && row(v.dtype).bits >= 32 &&
                is_number(0, 0) && is_number(2, pool().vars[s.var].extent - 1),
            fmt::format("{} is bound to a value that is not clamped to its range", pool().vars[s.var].name));
    live_vars |= VarSet::only(s.var);
  }

  void statement(const Stmt& s) {
    switch (s.kind) {
      case StmtKind::declare:
        return declaration(s);
      case StmtKind::index:
        return expression(s.expr);
      case StmtKind::let:
        value(s.value);
        return define(s.let, type_of(s.value));
      case StmtKind::assign:
        reference(s.target, 1);
        value(s.value);
        return require(type_of(s.value) == kernel.arrays[s.target.array].dtype, "an assignment changes the type");
      case StmtKind::load:
        return load(s);
      case StmtKind::store:
        return store(s);
      case StmtKind::atomic:
        return atomic(s);
      case StmtKind::exchange:
        value(s.value);
        require(s.lanes >= 2 && s.lanes <= 32 && (s.lanes & (s.lanes - 1)) == 0, "an exchange among odd lanes");
        require(s.stride < s.lanes && (s.stride & (s.stride - 1)) == 0, "an exchange with no lane of its group");
        require(row(type_of(s.value)).compute == type_of(s.value), "an exchange of what only memory holds");
        define(s.let, type_of(s.value));
        return require(!divergent, "an exchange in a guard that depends on the thread");
      case StmtKind::shuffle:
        reference(s.target, 1);
        require(s.lanes >= 2 && s.lanes <= 32 && (s.lanes & (s.lanes - 1)) == 0, "a shuffle over odd lanes");
        return require(!divergent, "a shuffle in a guard that depends on the thread");
      case StmtKind::barrier:
        require(!divergent, "a barrier in a guard that depends on the thread");
        require(s.scope != StitchLevel::registers, "a barrier of one thread");
        require(s.scope == StitchLevel::cluster || s.half == Half::both, "half of a barrier that has no halves");
        if (s.scope == StitchLevel::cluster) meet(s.half);
        if (is_grid_barrier(s)) meet_all(s);
        return;
      case StmtKind::bind:
        return bind(s);
      case StmtKind::guard:
        if (s.value != no_value) asked_value(s);
        return require(!s.otherwise || is_opposite(s),
                       "a guard stands for what another leaves out, but asks otherwise");
      case StmtKind::wait:
        return wait();
      case StmtKind::issue:
      case StmtKind::fence:
      case StmtKind::loop:
        return;
    }
  }

  /// All blocks of the grid come by, each as one of those that meet at its counter.
  void meet_all(const Stmt& s) const {
    require(kernel.cooperative && !kernel.persistent, "a grid barrier in a launch that may queue");
    require(guards == 0 && loops == 0, "a grid barrier in a guard or a loop");
    require(s.memory < kernel.buffers.size(), "a grid barrier without a ticket");
    const Buffer& ticket = kernel.buffers[s.memory];
    require(ticket.role == BufferRole::ticket && ticket.dtype == DType::u32, "a grid barrier that counts in no ticket");
    require(kernel.virtual_blocks % ticket.elements == 0, "a grid barrier that some blocks do not reach");
    within(s.expr, ticket.elements, 1, ticket.name);
    within(s.rank, blocks_that_meet(kernel, s), 1, "blocks that meet");
    require(!has_thread(pool()[s.expr].vars) && !has_thread(pool()[s.rank].vars),
            "threads of a block meet others at several places");
  }

  /// All blocks of the cluster come by, equally often.
  void meet(Half half) {
    require(kernel.cluster > 1, "a cluster barrier without a cluster");
    require(guards == 0, "a cluster barrier in a guard");
    require(kernel.virtual_blocks % kernel.cluster == 0, "a cluster barrier that some virtual blocks do not reach");
    require(arrived == (half == Half::wait), "halves of a cluster barrier that do not follow each other");
    arrived = half == Half::arrive;
    if (arrived) return;
    met = true;
    reads_others = false;
  }

  /// Of the guard that ends right before this one: a < b has the opposite b - 1 < a.
  bool is_opposite(const Stmt& s) const {
    if (last_guard == kernel.body.size() || s.value != no_value || s.conditions[1].a != no_expr) return false;
    const Stmt& before = kernel.body[last_guard];
    const Condition &asked = before.conditions[0], &opposite = s.conditions[0];
    return static_cast<std::size_t>(before.end) == at && before.value == no_value &&
           before.conditions[1].a == no_expr && !asked.equal && !opposite.equal && opposite.b == asked.a &&
           is_constant(pool(), asked.b) && is_constant(pool(), opposite.a) &&
           pool()[opposite.a].constant == pool()[asked.b].constant - 1;
  }

  bool has_thread(VarSet vars) const {
    for (std::size_t v = 0; v < pool().vars.size(); ++v)
      if (vars.has(v) && pool().vars[v].kind == VarKind::thread) return true;
    return false;
  }

  bool is_agreed(ValueId id) const {
    const Value& v = kernel.values[id];
    if (v.kind == ValueKind::let) return agreed_lets[v.let];
    if (v.kind != ValueKind::constant && v.kind != ValueKind::op && v.kind != ValueKind::convert) return false;
    return std::all_of(v.operands.begin(), v.operands.end(),
                       [&](ValueId operand) { return operand == no_value || is_agreed(operand); });
  }

  void asked_value(const Stmt& s) const {
    value(s.value);
    require(type_of(s.value) == DType::pred, "a guard asks a value that is no predicate");
    require(is_agreed(s.value), "a guard asks a value on which threads of the block may differ");
    require(s.conditions[0].a != no_expr && !depends_on_thread(s),
            "a guard that asks a value has no condition of blocks that stands for it");
  }

  bool depends_on_thread(const Stmt& s) const {
    VarSet vars;
    for (const Condition& c : s.conditions) {
      if (c.a == no_expr) continue;
      expression(c.a);
      expression(c.b);
      vars |= pool()[c.a].vars | pool()[c.b].vars;
    }
    return has_thread(vars);
  }

  void body(std::size_t first, std::size_t end) {
    const auto arrays_before = live_arrays;
    const auto lets_before = live_lets;
    const auto vars_before = live_vars;
    last_guard = kernel.body.size();
    for (std::size_t i = first; i < end; ++i) {
      at = i;
      const Stmt& s = kernel.body[i];
      statement(s);
      if (s.kind != StmtKind::loop && s.kind != StmtKind::guard) continue;
      require(s.end > static_cast<std::int32_t>(i) && static_cast<std::size_t>(s.end) <= end, "scopes do not nest");
      ++scopes;
      nested(s, i);
      --scopes;
      last_guard = s.kind == StmtKind::guard ? i : kernel.body.size();
      i = static_cast<std::size_t>(s.end) - 1;
    }
    live_arrays = arrays_before;
    live_lets = lets_before;
    live_vars = vars_before;
  }

  void nested(const Stmt& s, std::size_t i) {
    const std::size_t end = static_cast<std::size_t>(s.end);
    if (s.kind == StmtKind::loop) {
      require(s.var < pool().vars.size() && pool().vars[s.var].kind == VarKind::loop, "a loop over no loop variable");
      require(!live_vars.has(s.var), "a loop variable is used by an outer loop");
      require(!s.unrolled || !s.backward, "an unrolled loop goes backward");
      live_vars |= VarSet::only(s.var);
      ++loops;
      body(i + 1, end);
      --loops;
      live_vars = live_vars.without(VarSet::only(s.var));
      return;
    }
    const bool outer = divergent;
    divergent = divergent || depends_on_thread(s);
    ++guards;
    body(i + 1, end);
    --guards;
    divergent = outer;
  }

  /// Inputs, results, then what only the kernel needs; what is written in place fits the input that it covers.
  void roles() const {
    const auto stage = [](BufferRole role) { return role == BufferRole::input ? 0 : is_result(role) ? 1 : 2; };
    std::vector<bool> covered(kernel.buffers.size());
    for (std::size_t i = 0; i < kernel.buffers.size(); ++i) {
      const Buffer& b = kernel.buffers[i];
      require(i == 0 || stage(kernel.buffers[i - 1].role) <= stage(b.role),
              fmt::format("buffer {} ({}) stands behind buffers of a later role", b.name, name(b.role)));
      require((b.role == BufferRole::in_place) == (b.of != no_id),
              fmt::format("buffer {} ({}): only what is written in place names an input", b.name, name(b.role)));
      if (b.of == no_id) continue;
      require(b.of < kernel.buffers.size() && kernel.buffers[b.of].role == BufferRole::input && !covered[b.of],
              fmt::format("{} is written in place of no input of its own", b.name));
      covered[b.of] = true;
      const Buffer& under = kernel.buffers[b.of];
      require(b.elements * row(b.dtype).bits == under.elements * row(under.dtype).bits,
              fmt::format("{} and {}, written in place of it, differ in size", under.name, b.name));
    }
  }

  /// Block variables are the digits of one number: each multiplies those inside it.
  void digits_of_blocks() const {
    std::vector<std::pair<std::int64_t, std::int64_t>> digits;
    for (const Var& var : pool().vars)
      if (var.kind == VarKind::block) digits.emplace_back(var.divisor, var.extent);
    std::sort(digits.begin(), digits.end());
    std::int64_t blocks = 1;
    for (const auto& [divisor, extent] : digits) {
      require(divisor == blocks, "the block variable's divisor");
      blocks *= extent;
    }
    require(digits.empty() || blocks == kernel.virtual_blocks, "the block variable's extent");
  }

  /// What all kernels of a program have in common, and what each has alone.
  void fits_program() const {
    require(kernel.followers.empty(), "a kernel that follows another one has followers");
    require(kernel.buffers == program.buffers, "a kernel has other buffers than the one that it follows");
    require(kernel.arithmetic == program.arithmetic && kernel.index_cache == program.index_cache,
            "a kernel is computed or written otherwise than the one that it follows");
    const Chain<Kernel> all = kernels_of(program);
    require(std::count_if(all.begin(), all.end(), [&](const Kernel& one) { return one.name == kernel.name; }) == 1,
            "two kernels of a program have one name");
  }

  Chain<Kernel> own_launch() const {
    const std::vector<Chain<Kernel>> launches = launches_of(program);
    return *std::find_if(launches.begin(), launches.end(), [&](const Chain<Kernel>& one) { return is_in(one); });
  }

  /// What a body leaves to those beside it and to those of other steps, if there are any.
  void fits_launch() const {
    const Chain<Kernel> launch = own_launch();
    if (launch.size() == 1) return;
    require(kernel.threads == launch[0].threads && kernel.min_blocks == launch[0].min_blocks,
            "bodies of a launch differ in their threads or in the blocks that must be resident");
    require(!follows, "bodies of one launch are in the first launch");
    const bool shares =
        std::any_of(launch.begin(), launch.end(), [](const Kernel& one) { return one.shared_bytes > 0; });
    require(kernel.dynamic_shared == shares, "bodies of a launch have shared memory of which it is not told");
    if (has_steps(launch)) {
      require(kernel.cluster == 1, "a step of a launch has clusters");
      require(kernel.cooperative && kernel.grid == launch[0].grid, "a launch in steps has blocks that may queue");
      require(kernel.persistent || kernel.virtual_blocks == kernel.grid, "blocks of a step that nobody runs");
      require(is_meeting(kernel) || std::none_of(kernel.body.begin(), kernel.body.end(), is_grid_barrier),
              "a step in which some blocks meet");
    } else {
      const auto cluster = static_cast<int>(launch_shape(launch).cluster[0]);
      require(kernel.cluster == 1 || kernel.cluster == cluster, "bodies of a launch have clusters of two sizes");
      require(kernel.grid % cluster == 0, "a body of a launch ends within a cluster");
      require(kernel.cooperative == launch[0].cooperative, "blocks meet beside others that may queue");
    }
    fits_steps(steps_of(launch));
  }

  /// What one body writes no other one touches, but in another step where all blocks have met in between.
  void fits_steps(const std::vector<Chain<Kernel>>& steps) const {
    const auto own = static_cast<std::size_t>(
        std::find_if(steps.begin(), steps.end(), [&](const Chain<Kernel>& step) { return is_in(step); }) -
        steps.begin());
    require(!is_meeting(kernel) || steps[own].size() == 1, "a body beside a meeting of all blocks");
    for (std::size_t s = 0; s < steps.size(); ++s) {
      const auto first = steps.begin() + static_cast<std::ptrdiff_t>(std::min(s, own)),
                 last = steps.begin() + static_cast<std::ptrdiff_t>(std::max(s, own));
      if (std::any_of(first, last, [](const Chain<Kernel>& step) { return is_meeting(step[0]); })) continue;
      for (const Kernel& other : steps[s])
        if (const auto memory = &other == &kernel ? std::nullopt : writes_for(kernel, other))
          require(false, fmt::format("{} is written by one body of a launch and used by another",
                                     kernel.buffers[*memory].name));
    }
  }

  void shape() const {
    require(kernel.cluster > 0 && kernel.grid % kernel.cluster == 0,
            fmt::format("{} blocks are no whole number of clusters of {}", kernel.grid, kernel.cluster));
    require(static_cast<std::size_t>(kernel.arithmetic) < arithmetic_names.size(), "an arithmetic class of no name");
    require(kernel.min_blocks >= 0, "a negative number of resident blocks");
    require(kernel.threads > 0 && kernel.virtual_blocks > 0, "a kernel without threads or blocks");
    // Beside bodies with clusters a body has whole clusters too.
    const std::int64_t cluster = launch_shape(own_launch()).cluster[0];
    const std::int64_t idle = kernel.cluster == 1 ? cluster - 1 : 0;
    require(kernel.persistent ? kernel.grid > 0
                              : kernel.grid >= kernel.virtual_blocks && kernel.grid <= kernel.virtual_blocks + idle,
            "a grid that does not fit");
    require(pool().vars.size() <= max_vars, "too many variables");
    for (const Var& var : pool().vars) {
      if (var.kind == VarKind::thread)
        require(kernel.threads % (var.extent * var.divisor) == 0,
                fmt::format("{} does not divide the block", var.name));
    }
    digits_of_blocks();
    for (const Array& a : kernel.arrays)
      if (a.space == Space::shared)
        require(a.dims[0] > 0 && a.dims[1] == 0 && a.vector == 1, fmt::format("shared array {} is misshapen", a.name));
    require(kernel.shared_bytes == shared_offsets(kernel).back(),
            fmt::format("shared_bytes is {}, the arrays take {}", kernel.shared_bytes, shared_offsets(kernel).back()));
  }
};

}  // namespace

void verify(const Kernel& kernel) {
  for (const Kernel& one : kernels_of(kernel)) {
    Verifier verifier(one, kernel);
    verifier.shape();
    verifier.roles();
    if (&one != &kernel) verifier.fits_program();
    verifier.fits_launch();
    verifier.body(0, one.body.size());
    verifier.require(!verifier.arrived, "a cluster barrier that nobody waits at");
    verifier.require(!verifier.reads_others, "a block of the cluster may end while another one reads it");
    verifier.require(!verifier.follows || verifier.waited, "a kernel that never waits for the launches before it");
  }
}

}  // namespace tailor::ir
