// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Printing kernels. The statements are walked once, in order, and each becomes a line or the head of a block; the
// indentation and the index names that are visible at this place are the only state. What the text turned out to need
// is found afterwards: the names of helper functions that occur in it choose the parts of the prelude. The role of a
// buffer chooses the qualifiers of its parameter: `const` where it is only read, `__restrict__` but where an output
// shares its memory with an input. Names are settled before the walk (kernel_names.h), expressions are in
// expression.cpp, memory accesses in access.cpp, comments in remarks.cpp.
//
// Where an unrolled loop has a guard inside, the guard names the turns in which it holds for all threads and blocks, so
// copies of these have no branch. Each other copy is a branch, and the compiler computes an access' address again in
// each. There the part of the address that has a name is made a pointer where it gets the name, held so that the
// compiler cannot take it apart: what is left is a constant offset. The lines are put in after the walk.
//
// Where the compiler would keep indices of many copies from one phase to the next, numbers of threads are renewed, and
// names of indices with them (renewal.h): these are not constant then.
//
// Kernels of a program are printed one behind the other, with one prelude. Their buffers get equal names, since names
// of buffers are given first. The bodies of a launch are functions of a virtual block each, which the launch calls
// (wrapper.h).
//
// Two forms exist: the usual one for NVRTC, and a portable one without CUDA's own words, which tests compile on the
// host. Both come from the same walk.
#include "codegen/cuda/cuda.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <stdexcept>
#include <string_view>
#include <utility>

#include "base/text.h"
#include "codegen/cuda/expression.h"
#include "codegen/cuda/prelude.h"
#include "codegen/cuda/remarks.h"
#include "codegen/cuda/renewal.h"
#include "codegen/cuda/wrapper.h"

namespace tailor::codegen {

using namespace ir;

namespace {

struct Printer {
  const Kernel& kernel;
  KernelNames names;
  IndexSpelling indices;
  Roundings rounds;
  Spelling spelling;
  std::string out;
  int depth = 1;
  std::map<std::string, Access> accesses;  ///< by name
  Remarks remarks;
  std::string block_name;  ///< of the virtual block as a whole
  /// A name of an index, and where in the text the line after it begins.
  struct Declared {
    std::string index;
    std::size_t at = 0;
    int depth = 0;
  };
  /// An address that branches share: a buffer from a named index on.
  struct Shared {
    std::string name;
    BufferId buffer = no_id;
    Declared from;
  };
  std::vector<Declared> declared = {};
  std::vector<Renewal> renewed;
  VarSet inconstant = {};  ///< variables that are renewed
  std::vector<Shared> addresses = {};
  std::int64_t meetings = 0;  ///< barriers of the grid
  std::int64_t met = 0;       ///< of these so far
  std::size_t issues = 0;     ///< so far
  int copies = 1;             ///< of a statement here, made by the unrolled loops around it
  std::vector<VarId> turns;   ///< of the unrolled loops around it
  bool in_branches = false;   ///< a guard stands in an unrolled loop: each copy is a branch of its own
  bool in_arms = false;       ///< only one of many: no register holds an address for it

  Printer(const Kernel& k, NameScope scope)
      : kernel(k),
        names(make_names(k, std::move(scope))),
        indices{&k.indices, names.vars, {}},
        rounds(roundings(k)),
        spelling{kernel, names, indices, rounds},
        remarks(remarks_on(k)),
        block_name(name_of_block()),
        renewed(renewals(k)),
        meetings(std::count_if(k.body.begin(), k.body.end(), is_grid_barrier)) {
    for (const Renewal& one : renewed) inconstant |= one.vars;
  }

  /// A comment, each of its lines marked as one: names in it may be of any length.
  void remark_line(std::string_view words) { out += comment(words, static_cast<std::size_t>(2 * depth)); }

  void line(std::string_view content) { add_line(out, depth, content); }

  std::string index(ExprId expr) const { return index_text(spelling, expr); }
  std::string value(ValueId id) const { return bare(value_text(spelling, id)); }
  std::string ref(const Ref& r) const { return ref_text(spelling, r); }
  std::string_view constant(const VarSet& vars) const { return vars.overlaps(inconstant) ? "" : "const "; }

  void loop_head(bool unrolled, std::string_view var, std::int64_t extent, bool backward = false) {
    line(unrolled ? "#pragma unroll" : "#pragma unroll 1");
    if (backward)
      line(fmt::format("for (int {0} = {1}; {0} >= 0; --{0}) {{", var, extent - 1));
    else
      line(fmt::format("for (int {0} = 0; {0} < {1}; ++{0}) {{", var, extent));
    ++depth;
  }

  void close() {
    --depth;
    line("}");
  }

  void declaration(const Stmt& s) {
    const Array& a = kernel.arrays[s.target.array];
    if (a.space == Space::shared) return;
    std::string dims, element = names.arrays[s.target.array];
    std::vector<std::int64_t> extents;
    for (const std::int64_t dim : a.dims) {
      if (dim == 0) continue;
      dims += fmt::format("[{}]", dim);
      element += fmt::format("[entry_{}]", extents.size());
      extents.push_back(dim);
    }
    std::string type(register_type(a.dtype));
    if (a.vector > 1) {
      type = fmt::format("Vec<{}, {}>", type, a.vector);
      element += fmt::format(".v[entry_{}]", extents.size());
      extents.push_back(a.vector);
    }
    const bool scalar = extents.empty() && s.value != no_value;
    line(fmt::format("{} {}{}{};", type, names.arrays[s.target.array], dims, scalar ? " = " + value(s.value) : ""));
    if (scalar || s.value == no_value) return;
    for (std::size_t i = 0; i < extents.size(); ++i) loop_head(true, fmt::format("entry_{}", i), extents[i]);
    line(fmt::format("{} = {};", element, value(s.value)));
    for (std::size_t i = 0; i < extents.size(); ++i) close();
  }

  /// The helper of this access, remembered for the prelude.
  std::string helper(const Stmt& s, bool store) {
    const DType dtype = is_array(s.space) ? kernel.arrays[s.memory].dtype : kernel.buffers[s.memory].dtype;
    const Access access{store, s.space, s.policy, dtype, s.width, s.op, s.by_exchange};
    return accesses.try_emplace(access_name(access), access).first->first;
  }

  std::string place(const Stmt& s) {
    const std::string& memory = is_array(s.space) ? names.arrays[s.memory] : names.buffers[s.memory];
    const std::string at = index(s.expr);
    if (in_branches && !in_arms && s.space == Space::global)
      for (const Declared& base : declared)
        if (begins_with(at, base.index))
          return fmt::format("&{}[{}]", address(s.memory, base), beyond(at, base.index));
    return fmt::format("&{}[{}]", memory, at);
  }

  /// Whether a sum's first term is `name` as it is: no quotient, rest or multiple of it.
  static bool begins_with(std::string_view sum, std::string_view name) {
    if (!sum.starts_with(name)) return false;
    sum.remove_prefix(name.size());
    return sum.empty() || sum.starts_with(" + ") || sum.starts_with(" - ");
  }

  /// What is left of a sum that begins with `name`.
  static std::string beyond(const std::string& sum, const std::string& name) {
    if (sum.size() == name.size()) return "0";
    return sum[name.size() + 1] == '-' ? "-" + sum.substr(name.size() + 3) : sum.substr(name.size() + 3);
  }

  std::vector<std::string_view> taken_names() const {
    std::vector<std::string_view> taken;
    for (const auto* all : {&names.vars, &names.buffers, &names.arrays, &names.lets, &names.named})
      taken.insert(taken.end(), all->begin(), all->end());
    return taken;
  }

  /// That of the variable that is all of it, or a name of its own where variables are its digits.
  std::string name_of_block() const {
    for (std::size_t i = 0; i < names.vars.size(); ++i)
      if (const Var& var = kernel.indices.vars[i]; var.kind == VarKind::block && var.extent == kernel.virtual_blocks)
        return names.vars[i];
    return NameScope(taken_names()).unique("vb");
  }

  const std::string& address(BufferId buffer, const Declared& base) {
    for (const Shared& known : addresses)
      if (known.buffer == buffer && known.from.index == base.index) return known.name;
    std::vector<std::string_view> taken = taken_names();
    for (const Shared& known : addresses) taken.push_back(known.name);
    return addresses.emplace_back(Shared{NameScope(taken).unique(names.buffers[buffer] + "_at"), buffer, base}).name;
  }

  /// Puts the addresses that turned out to be shared where their index got its name, the last ones first.
  void declare_addresses() {
    std::stable_sort(addresses.begin(), addresses.end(),
                     [](const Shared& a, const Shared& b) { return a.from.at < b.from.at; });
    std::string all = std::exchange(out, {});
    for (auto shared = addresses.rbegin(); shared != addresses.rend(); ++shared) {
      const Buffer& b = kernel.buffers[shared->buffer];
      depth = shared->from.depth;
      line(fmt::format("{}{}* const {} = held({} + {});", is_written(b.role) ? "" : "const ", register_type(b.dtype),
                       shared->name, names.buffers[shared->buffer], shared->from.index));
      all.insert(shared->from.at, std::exchange(out, {}));
    }
    out = std::move(all);
    depth = 1;
  }

  void load(const Stmt& s) {
    const std::string call = helper(s, false);
    const std::string from = s.rank == no_expr ? place(s) : place(s) + ", " + index(s.rank);
    if (s.width > 1) return line(fmt::format("{}(&{}, {});", call, ref(s.target), from));
    if (s.target.array != no_id) return line(fmt::format("{} = {}({});", ref(s.target), call, from));
    line(fmt::format("const {} {} = {}({});", register_type(kernel.lets[s.let].dtype), names.lets[s.let], call, from));
  }

  void store(const Stmt& s) {
    const std::string call = helper(s, true);
    std::string from = s.target.array == no_id ? value(s.value) : ref(s.target);
    if (s.width > 1) from = "&" + from;
    line(fmt::format("{}({}, {});", call, place(s), from));
  }

  void assign(const Stmt& s) {
    const std::string target = ref(s.target);
    const DType dtype = kernel.arrays[s.target.array].dtype;
    if (s.op == Op::copy) return line(fmt::format("{} = {};", target, value(s.value)));
    const bool compound = is_floating(dtype) && (s.op == Op::add || s.op == Op::multiply);
    if (compound) return line(fmt::format("{} {}= {};", target, s.op == Op::add ? "+" : "*", value(s.value)));
    line(fmt::format("{} = {};", target,
                     bare(operation_text(s.op, dtype, kernel.arithmetic, target, value_text(spelling, s.value)))));
  }

  void atomic(const Stmt& s) {
    const DType dtype = kernel.buffers[s.memory].dtype;
    const bool number = dtype == DType::s32 || dtype == DType::u32 || dtype == DType::s64 || dtype == DType::u64;
    const bool floating = dtype == DType::f32 || dtype == DType::f64;
    const std::string_view call = s.op == Op::add && (number || floating) ? "atomicAdd"
                                  : s.op == Op::maximum && number         ? "atomicMax"
                                  : s.op == Op::minimum && number         ? "atomicMin"
                                                                          : "";
    const bool helps = s.let == no_id && (call.empty() || s.target.array != no_id || s.by_exchange);
    if (s.space != Space::global || (call.empty() && !helps))
      throw std::logic_error(fmt::format("no atomic {} on {}", name(s.op), name(dtype)));
    if (helps) return store(s);
    if (dtype == DType::s64 && s.op == Op::add && s.let == no_id)
      return line(
          fmt::format("{}(reinterpret_cast<unsigned long long*>({}), wide_bits({}));", call, place(s), value(s.value)));
    const std::string to = s.let == no_id ? "" : fmt::format("const {} {} = ", register_type(dtype), names.lets[s.let]);
    line(fmt::format("{}{}({}, {});", to, call, place(s), value(s.value)));
  }

  void shuffle(const Stmt& s) {
    const std::string target = ref(s.target);
    const DType dtype = kernel.arrays[s.target.array].dtype;
    const std::string_view type = register_type(dtype);
    const bool as_bits = is_held_as_bits(dtype);
    const bool small = row(dtype).bits < 32;
    const std::string_view mask = kernel.threads % 32 == 0 ? "0xffffffffu" : "__activemask()";
    std::string other = fmt::format("__shfl_xor_sync({}, {}, offset)", mask,
                                    as_bits ? target + ".bits"
                                    : small ? fmt::format("static_cast<int>({})", target)
                                            : target);
    if (as_bits)
      other = fmt::format("float_of({}{{static_cast<{}>({})}})", type, bits_type(dtype), other);
    else if (small)
      other = fmt::format("static_cast<{}>({})", type, other);
    std::string combined = operation_text(s.op, as_bits ? DType::f32 : dtype, kernel.arithmetic,
                                          as_bits ? "float_of(" + target + ")" : target, other);
    if (as_bits)  // each step widens what the one before it rounded
      combined =
          fmt::format("{}({})", dtype == DType::bf16 ? "rounded_bf16" : fmt::format("{}_of", name(dtype)), combined);
    line("#pragma unroll");
    line(fmt::format("for (int offset = {}; offset > 0; offset /= 2) {} = {};", s.lanes / 2, target, bare(combined)));
  }

  void barrier(const Stmt& s) {
    if (s.scope == StitchLevel::block) return line("__syncthreads();");
    if (s.scope == StitchLevel::warp) return line("__syncwarp();");
    if (s.scope == StitchLevel::cluster) {
      if (s.half != Half::wait) line("asm volatile(\"barrier.cluster.arrive.aligned;\" ::: \"memory\");");
      if (s.half != Half::arrive) line("asm volatile(\"barrier.cluster.wait.aligned;\" ::: \"memory\");");
      return;
    }
    meeting(s);
  }

  void meeting(const Stmt& s) {
    const Arrival how = arrival(blocks_that_meet(kernel, s), met++, meetings);
    const bool is_first_counter = is_constant(kernel.indices, s.expr) && kernel.indices[s.expr].constant == 0;
    const std::string counter = is_first_counter ? "" : " + " + index(s.expr);
    const std::string adds =
        how.first_adds == 1 ? "1u" : fmt::format("{} == 0 ? {}u : 1u", index(s.rank), how.first_adds);
    line(fmt::format("meet({}{}, {}, {}u, {}u);", names.buffers[s.memory], counter, adds, how.from, how.count));
  }

  void guard_head(const Stmt& s) {
    if (s.otherwise) {  // behind the one that was just closed
      out.resize(out.size() - (std::size_t{2} * static_cast<std::size_t>(depth) + std::string_view("}\n").size()));
      line("} else {");
      ++depth;
      return;
    }
    std::string both;
    for (const Condition& c : s.conditions)
      if (c.a != no_expr)
        both += (both.empty() ? "" : " && ") + condition_text(spelling, c, turns, s.conditions[1].a != no_expr);
    if (s.value != no_value) both = bare(value_text(spelling, s.value));
    line(fmt::format("if ({}) {{", both));
    ++depth;
  }

  void named_index(const Stmt& s, std::size_t at) {
    const bool wide = is_wide(kernel.indices, s.expr);
    line(fmt::format("{}{} {} = {};", constant(kernel.indices[s.expr].vars), integer_type(wide), names.named[at],
                     index(s.expr)));
    indices.named.push_back({s.expr, names.named[at], wide});
    declared.push_back({names.named[at], out.size(), depth});
  }

  /// Names that are visible are made again of those before them.
  void renew(const Renewal& renewal) {
    remark_line("Computed again by the copies below, not kept by them.");
    for (VarSet left = renewal.vars; !left.empty(); left.drop_first())
      line(fmt::format("renew({});", names.vars[left.first()]));
    const auto all = std::exchange(indices.named, {});
    for (const auto& one : all) {
      if (kernel.indices[one.expr].vars.overlaps(renewal.vars))
        line(fmt::format("{} = {};", one.name, index(one.expr)));
      indices.named.push_back(one);
    }
  }

  /// Six in a row ask six sizes. A seventh asks the first again, and the assembler may look through it.
  void issue() {
    static constexpr std::array sizes =
        std::to_array<std::string_view>({"ntid.x", "ntid.y", "ntid.z", "nctaid.x", "nctaid.y", "nctaid.z"});
    line(fmt::format("ISSUE_LOADS({});", sizes[issues++ % sizes.size()]));
  }

  void bind(const Stmt& s) {
    const bool wide = kernel.indices.vars[s.var].extent - 1 > std::numeric_limits<std::int32_t>::max();
    line(fmt::format("const {0} {1} = static_cast<{0}>({2});", integer_type(wide), names.vars[s.var], value(s.value)));
  }

  /// What a person would say before this statement: which value a phase reduces, where the results begin.
  void remark(std::size_t at) {
    const Stmt& s = kernel.body[at];
    if (at == remarks.results) {
      out += "\n";
      remark_line("The results.");
    }
    if (s.kind == StmtKind::shuffle)
      remark_line(fmt::format("The {} of {} lanes, for each of them.", reduction_word(s.op), s.lanes));
    if (s.kind == StmtKind::exchange && (at == 0 || kernel.body[at - 1].kind != StmtKind::exchange))
      remark_line(s.stride == 0 ? fmt::format("What the first of {} lanes has, for each of them.", s.lanes)
                                : fmt::format("Together with the lane {} away, of {}.", s.stride, s.lanes));
    if (s.kind != StmtKind::declare) return;
    for (const Reduction& reduction : remarks.reductions)
      if (reduction.array == s.target.array) {
        out += "\n";
        remark_line(fmt::format("Phase: {}, a {}.", names.arrays[s.target.array], reduction_word(reduction.op)));
      }
  }

  void statement(const Stmt& s, std::size_t at) {
    switch (s.kind) {
      case StmtKind::declare:
        return declaration(s);
      case StmtKind::index:
        return named_index(s, at);
      case StmtKind::let:
        return line(fmt::format("const {} {} = {};", register_type(kernel.lets[s.let].dtype), names.lets[s.let],
                                value(s.value)));
      case StmtKind::assign:
        return assign(s);
      case StmtKind::load:
        return load(s);
      case StmtKind::store:
        return store(s);
      case StmtKind::atomic:
        return atomic(s);
      case StmtKind::loop:
        return loop_head(s.unrolled, names.vars[s.var], kernel.indices.vars[s.var].extent, s.backward);
      case StmtKind::guard:
        return guard_head(s);
      case StmtKind::shuffle:
        return shuffle(s);
      case StmtKind::exchange:
        return line(exchange_text(spelling, s));
      case StmtKind::barrier:
        return barrier(s);
      case StmtKind::issue:
        return issue();
      case StmtKind::bind:
        return bind(s);
      case StmtKind::fence:
        return line("__threadfence();");
      case StmtKind::wait:
        return line("wait_for_launches_before();");
    }
  }

  bool is_otherwise(std::size_t at) const { return at < kernel.body.size() && kernel.body[at].otherwise; }

  void statements(std::size_t first, std::size_t end) {
    const std::size_t visible = indices.named.size();
    const int copies_around = copies;
    const bool branches_around = in_branches, arms_around = in_arms;
    for (std::size_t at = first; at < end; ++at) {
      const Stmt& s = kernel.body[at];
      if (s.kind == StmtKind::let && !remarks.used[s.let]) continue;
      remark(at);
      for (const Renewal& renewal : renewed)
        if (renewal.at == at) renew(renewal);
      statement(s, at);
      if (s.kind != StmtKind::loop && s.kind != StmtKind::guard) continue;
      const bool unrolls = s.kind == StmtKind::loop && s.unrolled;
      if (unrolls) turns.push_back(s.var);
      if (unrolls) copies *= static_cast<int>(kernel.indices.vars[s.var].extent);
      in_branches = in_branches || (s.kind == StmtKind::guard && copies > 1);
      in_arms = in_arms || s.otherwise || (s.kind == StmtKind::guard && is_otherwise(static_cast<std::size_t>(s.end)));
      statements(at + 1, static_cast<std::size_t>(s.end));
      if (unrolls) turns.pop_back();
      copies = copies_around;
      in_branches = branches_around;
      in_arms = arms_around;
      close();
      at = static_cast<std::size_t>(s.end) - 1;
    }
    indices.named.resize(visible);
    declared.resize(visible);
  }

  void shared_arrays() {
    const std::vector<std::int64_t> offsets = shared_offsets(kernel);
    if (kernel.dynamic_shared && kernel.shared_bytes > 0)
      line("extern __shared__ __align__(16) unsigned char shared_memory[];");
    for (std::size_t i = 0; i < kernel.arrays.size(); ++i) {
      const Array& a = kernel.arrays[i];
      if (a.space != Space::shared) continue;
      const std::string_view type = register_type(a.dtype);
      if (kernel.dynamic_shared)
        line(fmt::format("{0}* const {1} = reinterpret_cast<{0}*>(shared_memory + {2});", type, names.arrays[i],
                         offsets[i]));
      else
        line(fmt::format("__shared__ __align__(16) {} {}[{}];", type, names.arrays[i], a.dims[0]));
    }
  }

  /// Parts of the thread's and of the block's number: those that `body` mentions.
  void thread_variables(std::string_view body) {
    const std::set<std::string_view> mentioned = identifiers(body);

    for (std::size_t i = 0; i < names.vars.size(); ++i) {
      const Var& var = kernel.indices.vars[i];
      const bool of_block = var.kind == VarKind::block && names.vars[i] != block_name;
      if ((var.kind != VarKind::thread && !of_block) || !mentioned.contains(names.vars[i])) continue;
      std::string from = of_block ? block_name : "static_cast<int>(threadIdx.x)";
      if (var.divisor != 1) from += fmt::format(" / {}", var.divisor);
      if (var.divisor * var.extent != (of_block ? kernel.virtual_blocks : kernel.threads))
        from += fmt::format(" % {}", var.extent);
      line(fmt::format("{}{} {} = {};", constant(VarSet::only(i)),
                       integer_type(of_block && kernel.virtual_blocks > std::numeric_limits<std::int32_t>::max()),
                       names.vars[i], from));
    }
  }

  void function(const std::string& body) {
    const std::string_view type = integer_type(kernel.virtual_blocks > std::numeric_limits<std::int32_t>::max());
    out += "/// One virtual block.\n";
    out += signature(kernel, names.buffers, "__device__ __forceinline__ void " + body,
                     fmt::format("{0} {1}, {0} n_vblocks", type, block_name));
    out += "\n";
    shared_arrays();
    const std::string before = std::exchange(out, {});
    statements(0, kernel.body.size());
    declare_addresses();
    const std::string body_text = std::exchange(out, before);
    thread_variables(body_text);
    out += body_text + "}\n\n";
  }
};

}  // namespace

std::string cuda(const Kernel& kernel, std::string_view plan, const Options& options) {
  std::vector<std::string_view> reserved = reserved_names();
  std::vector<std::string> own;
  for (const Kernel& one : kernels_of(kernel)) own.insert(own.end(), {one.name, block_function(one)});
  reserved.insert(reserved.end(), own.begin(), own.end());
  std::map<std::string, Access> accesses;
  std::string first_head, text;
  for (const Chain<Kernel>& launch : launches_of(kernel)) {
    Printer first(launch[0], NameScope(reserved));  // and the wrapper's
    for (const Kernel& one : launch) {
      std::optional<Printer> other;
      Printer& printer = &one == &launch[0] ? first : other.emplace(one, NameScope(reserved));
      printer.function(block_function(one));
      accesses.insert(printer.accesses.begin(), printer.accesses.end());
      const std::string words = options.head_comment ? head(kernel, one, printer.names, plan) : std::string();
      if (&one == &kernel)
        first_head = words;
      else
        text += (&one == &launch[0] ? "\n" : "") + words;
      text += std::exchange(printer.out, {});
    }
    text += wrapper(launch, first.names.buffers, first.block_name);
  }
  std::string helpers;
  for (const auto& [name, access] : accesses)
    helpers += (options.portable ? portable_access_text(access) : access_text(access)) + "\n";
  return first_head + prelude_for(helpers + text, options.portable) + helpers + text;
}

}  // namespace tailor::codegen
