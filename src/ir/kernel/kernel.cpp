// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Shared-memory layout and identity of kernels. The id hashes what the machine does: arrays, values and loops are
// numbered where the program first meets them, sums are hashed as sets, index names are passed over. So two lowerings
// that filled their pools in different orders, or named different indices, get the same id.
#include "ir/kernel/kernel.h"

#include <algorithm>
#include <bit>

namespace tailor::ir {

namespace {

/// A growing byte string; numbers are written with their full width, so no two sequences coincide by chance.
class Bytes {
 public:
  Bytes& operator<<(std::int64_t value) {
    char eight[8];
    for (int i = 0; i < 8; ++i) eight[i] = static_cast<char>(static_cast<std::uint64_t>(value) >> (8 * i));
    bytes_.append(eight, sizeof eight);
    return *this;
  }
  Bytes& operator<<(Id id) { return *this << static_cast<std::int64_t>(id.high) << static_cast<std::int64_t>(id.low); }
  template <class Enum>
  requires std::is_enum_v<Enum> Bytes& operator<<(Enum value) { return *this << static_cast<std::int64_t>(value); }
  // By name, so that a row more in their tables does not change the ids of kernels that were measured.
  Bytes& operator<<(Op op) { return *this << row(op).id; }
  Bytes& operator<<(DType dtype) { return *this << name(dtype); }
  Bytes& operator<<(Policy policy) { return *this << name(policy); }
  Bytes& operator<<(std::string_view word) {
    *this << static_cast<std::int64_t>(word.size());
    bytes_ += word;
    return *this;
  }
  Id id() const { return tailor::id_of(std::string_view(bytes_)); }

 private:
  std::string bytes_;
};

/// Numbers things in the order they are first met.
class Numbering {
 public:
  std::int64_t operator()(std::uint64_t thing) {
    if (thing >= numbers_.size()) numbers_.resize(thing + 1, -1);
    if (numbers_[thing] < 0) numbers_[thing] = next_++;
    return numbers_[thing];
  }

 private:
  std::vector<std::int64_t> numbers_;
  std::int64_t next_ = 0;
};

/// Ids found so far. A thing's number stays what it was when it was first met, so an id never changes afterwards.
class KnownIds {
 public:
  explicit KnownIds(std::size_t size) : ids_(size) {}
  template <class Find>
  Id operator()(std::uint64_t thing, const Find& find) {
    if (ids_[thing] == Id{}) {
      const Id found = find();  // which may ask for others
      ids_[thing] = found;
    }
    return ids_[thing];
  }

 private:
  std::vector<Id> ids_;
};

/// Statements of an unrolled program share most indices and values, and these share their parts: each is hashed once.
struct Identity {
  explicit Identity(const Kernel& identified)
      : kernel(identified),
        terms(identified.indices.terms.size()),
        exprs(identified.indices.exprs.size()),
        values(identified.values.size()) {}

  const Kernel& kernel;
  Numbering arrays, lets, loops;
  KnownIds terms, exprs, values;

  Id variable(VarId v) {
    const Var& var = kernel.indices.vars[v];
    Bytes bytes;
    bytes << var.kind << var.extent << var.divisor;
    if (var.kind == VarKind::loop || var.kind == VarKind::data || var.kind == VarKind::picked) bytes << loops(v);
    return bytes.id();
  }

  Id term(TermId id) {
    return terms(id, [&] { return new_term(kernel.indices.terms[id]); });
  }
  Id new_term(const Term& t) {
    Bytes bytes;
    bytes << t.kind;
    if (t.kind == TermKind::var) return (bytes << variable(t.var)).id();
    bytes << t.divisor;
    if (t.kind == TermKind::picked) bytes << variable(t.var);
    std::vector<Id> parts;
    for (const ExprId e : {t.a, t.b, t.c, t.d})
      if (e != no_expr) parts.push_back(expr(e));
    if (t.kind == TermKind::xor_) std::sort(parts.begin(), parts.end());
    for (const Id& part : parts) bytes << part;
    return bytes.id();
  }

  Id expr(ExprId e) {
    if (e == no_expr) return {};
    return exprs(e, [&] { return new_expr(e); });
  }
  Id new_expr(ExprId e) {
    std::vector<std::pair<Id, std::int64_t>> parts;
    for (const Linear& part : kernel.indices.linear(e)) parts.emplace_back(term(part.term), part.coefficient);
    std::sort(parts.begin(), parts.end());
    Bytes bytes;
    bytes << kernel.indices[e].constant;
    for (const auto& [id, coefficient] : parts) bytes << id << coefficient;
    return bytes.id();
  }

  Id ref(const Ref& r) {
    if (r.array == no_id) return {};
    return (Bytes() << arrays(r.array) << expr(r.subs[0]) << expr(r.subs[1]) << expr(r.lane)).id();
  }

  Id value(ValueId id) {
    if (id == no_value) return {};
    return values(id, [&] { return new_value(kernel.values[id]); });
  }
  Id new_value(const Value& v) {
    Bytes bytes;
    bytes << v.kind << v.dtype;
    switch (v.kind) {
      case ValueKind::constant:
        bytes << std::bit_cast<std::int64_t>(v.real) << v.integer;
        break;
      case ValueKind::let:
        bytes << lets(v.let);
        break;
      case ValueKind::element:
        bytes << ref(v.element);
        break;
      case ValueKind::index:
        bytes << expr(v.index);
        break;
      case ValueKind::op:
        bytes << v.op;
        // Where the class makes a difference: programs that are printed alike are the same program.
        if (const Arithmetic by = computed(v.op, v.dtype, kernel.arithmetic).by; by != Arithmetic::ieee)
          bytes << name(by);
        if (v.op == Op::compare) bytes << v.comparison;
        if (v.op == Op::reduce_precision) bytes << std::int64_t{v.digits.exponent} << std::int64_t{v.digits.mantissa};
        break;
      case ValueKind::convert:
        break;
    }
    for (const ValueId operand : v.operands) bytes << value(operand);
    return bytes.id();
  }

  void array(Bytes& bytes, ArrayId id) {
    const Array& a = kernel.arrays[id];
    bytes << arrays(id) << a.space << a.dtype << a.dims[0] << a.dims[1] << a.vector;
  }

  void statement(Bytes& bytes, const Stmt& s) {
    bytes << s.kind << s.op << value(s.value);
    if (s.target.array != no_id) array(bytes, s.target.array);
    bytes << ref(s.target);
    if (s.kind == StmtKind::let || s.kind == StmtKind::load || s.kind == StmtKind::exchange ||
        (s.kind == StmtKind::atomic && s.let != no_id))
      bytes << (s.let == no_id ? -1 : lets(s.let));
    if (is_memory(s)) {
      bytes << s.space << expr(s.expr) << s.width << s.policy;
      if (s.rank != no_expr) bytes << expr(s.rank);
      if (is_array(s.space))
        array(bytes, s.memory);
      else
        bytes << s.memory;
    }
    if (s.kind == StmtKind::loop) bytes << variable(s.var) << s.unrolled;
    if (s.backward) bytes << std::string_view("backward");
    if (s.kind == StmtKind::bind) bytes << variable(s.var);
    if (s.kind == StmtKind::guard)
      for (const Condition& c : s.conditions) bytes << expr(c.a) << expr(c.b) << c.equal;
    if (s.otherwise) bytes << std::string_view("otherwise");
    if (s.by_exchange) bytes << std::string_view("exchange");
    if (s.half != Half::both) bytes << s.half;
    if (s.kind == StmtKind::exchange) bytes << s.stride;
    if (is_grid_barrier(s)) bytes << s.memory << expr(s.expr) << expr(s.rank);
    bytes << s.lanes << static_cast<std::int64_t>(s.scope) - static_cast<std::int64_t>(StitchLevel::warp);
  }
};

void add_shape(Bytes& bytes, const Kernel& kernel) {
  bytes << kernel.threads << kernel.virtual_blocks << kernel.grid << kernel.persistent << is_idempotent(kernel)
        << kernel.shared_bytes << kernel.dynamic_shared;
  if (kernel.cluster != 1 || kernel.cooperative || kernel.min_blocks != 0)
    bytes << kernel.cluster << kernel.cooperative << kernel.min_blocks;
}

void add_body(Bytes& bytes, const Kernel& kernel) {
  Identity identity(kernel);
  std::vector<std::int64_t> ends;
  for (std::size_t at = 0; at < kernel.body.size(); ++at) {
    while (!ends.empty() && ends.back() == static_cast<std::int64_t>(at)) {
      ends.pop_back();
      bytes << std::int64_t{-2};
    }
    const Stmt& s = kernel.body[at];
    if (s.kind == StmtKind::loop || s.kind == StmtKind::guard) ends.push_back(s.end);
    if (s.kind != StmtKind::index) identity.statement(bytes, s);
  }
}

/// Whether the statement adds into global memory. Adding again changes the sum; the larger of the same two stays.
bool adds(const Stmt& s) {
  return s.kind == StmtKind::atomic && s.space == Space::global && s.op != Op::maximum && s.op != Op::minimum;
}

/// Whether a launch of the program stores into the buffer before any adds into it: then it need not start as zero.
bool is_filled(const Kernel& program, BufferId buffer) {
  for (const Kernel& kernel : kernels_of(program)) {
    if (std::any_of(kernel.body.begin(), kernel.body.end(),
                    [&](const Stmt& s) { return adds(s) && s.memory == buffer; }))
      return false;
    if (std::any_of(kernel.body.begin(), kernel.body.end(), [&](const Stmt& s) {
          return s.kind == StmtKind::store && s.space == Space::global && s.memory == buffer;
        }))
      return true;
  }
  return false;
}

bool writes_globally(const Stmt& s) {
  return (s.kind == StmtKind::store || s.kind == StmtKind::atomic) && s.space == Space::global;
}

/// In any kernel of the program.
template <class Holds>
bool any_statement(const Kernel& program, const Holds& holds) {
  for (const Kernel& kernel : kernels_of(program))
    if (std::any_of(kernel.body.begin(), kernel.body.end(), holds)) return true;
  return false;
}

}  // namespace

std::string_view name(Policy policy) {
  constexpr std::string_view names[] = {"once", "again", "early", "reload", "fresh"};
  return names[static_cast<int>(policy)];
}

std::string_view name(Begins begins) {
  constexpr std::string_view names[] = {"then", "beside", "behind"};
  return names[static_cast<int>(begins)];
}

bool is_meeting(const Kernel& kernel) {
  return kernel.body.size() == 1 && is_grid_barrier(kernel.body.front()) &&
         blocks_that_meet(kernel, kernel.body.front()) == kernel.grid;
}

std::int64_t blocks_that_meet(const Kernel& kernel, const Stmt& barrier) {
  return kernel.virtual_blocks / kernel.buffers[barrier.memory].elements;
}

LaunchShape launch_shape(const Chain<Kernel>& launch) {
  const Kernel& first = launch[0];
  LaunchShape shape;
  std::int64_t grid = 0, shared = 0;
  int cluster = 1;
  for (const Kernel& body : launch) {
    grid += body.grid;
    cluster = std::max(cluster, body.cluster);
    shared = std::max(shared, body.shared_bytes);
  }
  if (has_steps(launch)) grid = first.grid;
  shape.grid[0] = static_cast<std::uint32_t>(grid);
  shape.block[0] = static_cast<std::uint32_t>(first.threads);
  shape.cluster[0] = static_cast<std::uint32_t>(cluster);
  (first.dynamic_shared ? shape.dynamic_shared : shape.static_shared) = shared;
  shape.min_blocks = first.min_blocks;
  shape.cooperative = first.cooperative;
  shape.dependent =
      std::any_of(first.body.begin(), first.body.end(), [](const Stmt& s) { return s.kind == StmtKind::wait; });
  return shape;
}

bool is_idempotent(const Kernel& kernel) {
  // Workspaces and tickets are zero again before the next run, whatever is added into them.
  const auto reads = [&](BufferId memory) {
    return any_statement(kernel, [&](const Stmt& s) {
      return s.kind == StmtKind::load && s.space == Space::global && owner(kernel, s.memory) == memory;
    });
  };
  return std::none_of(kernel.buffers.begin(), kernel.buffers.end(),
                      [&](const Buffer& b) { return b.role == BufferRole::in_place && reads(b.of); }) &&
         !any_statement(kernel, [&](const Stmt& s) {
           const BufferRole role = adds(s) ? kernel.buffers[s.memory].role : BufferRole::input;
           return role == BufferRole::in_place || (role == BufferRole::output && !is_filled(kernel, s.memory));
         });
}

BufferId owner(const Kernel& kernel, BufferId buffer) {
  return kernel.buffers[buffer].role == BufferRole::in_place ? kernel.buffers[buffer].of : buffer;
}

bool writes(const Kernel& kernel, BufferId buffer) {
  return std::any_of(kernel.body.begin(), kernel.body.end(),
                     [&](const Stmt& s) { return writes_globally(s) && s.memory == buffer; });
}

std::optional<BufferId> writes_for(const Kernel& kernel, const Kernel& other) {
  std::vector<bool> touched(other.buffers.size());
  for (const Stmt& s : other.body)
    if (writes_globally(s) || (s.kind == StmtKind::load && s.space == Space::global))
      touched[owner(other, s.memory)] = true;
  for (const Stmt& s : kernel.body)
    if (writes_globally(s) && touched[owner(kernel, s.memory)]) return s.memory;
  return std::nullopt;
}

BufferRole memory_role(const Kernel& kernel, BufferId buffer) {
  const BufferRole role = kernel.buffers[buffer].role;
  if (role == BufferRole::output)
    return any_statement(kernel, [&](const Stmt& s) { return adds(s) && s.memory == buffer; }) &&
                   !is_filled(kernel, buffer)
               ? BufferRole::workspace
               : role;
  if (role != BufferRole::input) return role;
  const bool overwritten = std::any_of(kernel.buffers.begin(), kernel.buffers.end(), [&](const Buffer& other) {
    return other.role == BufferRole::in_place && other.of == buffer;
  });
  return overwritten ? BufferRole::in_place : role;
}

bool holds_anything(const Kernel& program, BufferId buffer) {
  return program.buffers[buffer].role == BufferRole::workspace && !any_statement(program, [&](const Stmt& s) {
           return s.kind == StmtKind::atomic && s.space == Space::global && s.memory == buffer;
         });
}

std::vector<std::int64_t> shared_offsets(const Kernel& kernel) {
  std::vector<std::int64_t> offsets;
  std::int64_t total = 0;
  for (const Array& array : kernel.arrays) {
    const bool shared = array.space == Space::shared;
    offsets.push_back(shared ? total : 0);
    if (shared) total += (array.dims[0] * (row(array.dtype).bits / 8) + 15) / 16 * 16;
  }
  offsets.push_back(total);
  return offsets;
}

Id id_of(const Kernel& kernel) {
  Bytes bytes;
  add_shape(bytes, kernel);
  for (const Buffer& b : kernel.buffers) {
    bytes << b.dtype << b.elements << b.role;
    if (b.role == BufferRole::in_place) bytes << b.of;
  }
  add_body(bytes, kernel);
  for (const Kernel& follower : kernel.followers) {
    bytes << name(follower.begins);
    add_shape(bytes, follower);
    add_body(bytes, follower);
  }
  return bytes.id();
}

}  // namespace tailor::ir
