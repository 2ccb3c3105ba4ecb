// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Reading a module's text. In: HLO text as XLA dumps it or a person writes it. Out: an HloModule whose views point into
// the text, or an Error with line and column. Called by the import and by readers of single modules.
//
// The method is recursive descent over HLO's own grammar in one pass, without backtracking:
//   module      = header { computation }
//   computation = [ENTRY] name [parameters -> type] "{" { instruction } "}"
//   instruction = [ROOT] name "=" type opcode "(" operands ")" { "," attribute }
// Nothing is copied. A name, an attribute or a literal is a view into the text, and all instructions, operands,
// attributes and shapes stand in pools of the module, so that reading an instruction allocates nothing.
//
// An operand may stand alone ("%x") or with its type before it, and its name with or without "%". Names of instructions
// are looked up in a hash table that is emptied for each computation. An operand may be named before it is defined: the
// name is noted and looked up again at the end of the computation; one that is still missing is an error with the
// nearest name. Computations come in any order, so they are indexed by name when all are read. The entry is the one
// marked ENTRY, else the last.
//
// Types are checked when they are read: the product of the dimensions must fit in 64 bits, so nothing later can
// overflow. A layout keeps its order of dimensions; tiles and memory spaces belong to other machines and are skipped.
// An element type that HLO does not have is an error, because nothing could be said of its bytes.
//
// Header attributes and stack-frame tables are skipped. What the text says and nobody here takes into account gives a
// warning with its number: programs for several GPUs, attributes that are not known, shapes with bounds (taken at their
// largest), constants without contents. Instructions that are written in the place of an operand are not read.
#include "hlo/hlo_parser.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>

#include "base/counted.h"
#include "base/stop.h"
#include "base/text.h"
#include "hlo/attribute_forms.h"

namespace tailor::hlo {

namespace {

constexpr auto header_attributes = std::to_array<std::string_view>(
    {"is_scheduled", "replica_count", "num_partitions", "input_output_alias", "buffer_donor",
     "alias_passthrough_params", "entry_computation_layout", "frontend_attributes",
     "allow_spmd_sharding_propagation_to_parameters", "allow_spmd_sharding_propagation_to_output",
     "origin_recovery_table", "debug_attributes"});

constexpr auto stack_frame_tables =
    std::to_array<std::string_view>({"FileNames", "FunctionNames", "FileLocations", "StackFrames"});

/// Attributes about where an instruction came from or where it should run: no part of its meaning here.
constexpr auto dropped_attributes = std::to_array<std::string_view>(
    {"metadata", "sharding", "frontend_attributes", "control-predecessors", "statistics", "origin"});

/// Attributes that are read somewhere (node_attributes.cpp, pass_*.cpp) or kept as text for later readers.
constexpr auto known_attributes = std::to_array<std::string_view>(
    {// of calls, loops, branches and asynchronous wrappers
     "to_apply", "calls", "called_computations", "condition", "body", "true_computation", "false_computation",
     "branch_computations", "async_execution_thread", "execution_thread", "async_group_id", "kind",
     // of array operations
     "dimensions", "iota_dimension", "index", "slice", "dynamic_slice_sizes", "padding", "direction", "type",
     "exponent_bits", "mantissa_bits", "is_stable", "select", "scatter", "window", "largest", "k", "distribution",
     "algorithm", "delta", "literal", "permutation",
     // of look-ups
     "offset_dims", "collapsed_slice_dims", "start_index_map", "index_vector_dim", "slice_sizes", "indices_are_sorted",
     "unique_indices", "operand_batching_dims", "start_indices_batching_dims", "update_window_dims",
     "inserted_window_dims", "scatter_dims_to_operand_dims", "input_batching_dims", "scatter_indices_batching_dims",
     // of library calls
     "lhs_batch_dims", "lhs_contracting_dims", "rhs_batch_dims", "rhs_contracting_dims", "operand_precision",
     "sparsity", "ragged_dims", "lhs_ragged_dims", "rhs_group_dims", "dim_labels", "feature_group_count",
     "batch_group_count", "fft_type", "fft_length", "left_side", "lower", "unit_diagonal", "transpose_a", "epsilon",
     "feature_index", "custom_call_target", "custom_call_has_side_effect", "custom_call_schedule", "schedule",
     "api_version", "operand_layout_constraints", "output_to_operand_aliasing", "backend_config",
     "raw_backend_config_attr", "result_accuracy",
     // of communication
     "channel_id", "replica_groups", "source_target_pairs", "use_global_device_ids", "constrain_layout",
     "split_dimension", "is_host_transfer", "infeed_config", "outfeed_config", "outfeed_shape",
     "cross_program_prefetch_index", "domain", "entry", "exit", "parameter_replication", "original_value",
     "_xla_send_recv_source_target_pairs"});

template <std::size_t N>
bool contains(const std::array<std::string_view, N>& list, std::string_view word) {
  return std::find(list.begin(), list.end(), word) != list.end();
}

std::uint64_t hash_of(std::string_view name) {
  constexpr std::uint64_t factor = 0x9e3779b97f4a7c15;
  std::uint64_t hash = name.size() * factor;
  while (name.size() >= 8) {
    std::uint64_t chunk = 0;
    std::memcpy(&chunk, name.data(), 8);
    hash = (hash ^ chunk) * factor;
    hash ^= hash >> 29;
    name.remove_prefix(8);
  }
  std::uint64_t chunk = 0;
  if (!name.empty()) std::memcpy(&chunk, name.data(), name.size());
  hash = (hash ^ chunk) * factor;
  return hash ^ hash >> 32;
}

}  // namespace

std::size_t NameTable::find_slot(std::string_view name) const {
  std::size_t at = hash_of(name) & (slots_.size() - 1);
  while (slots_[at].stamp == stamp_ && slots_[at].name != name) at = (at + 1) & (slots_.size() - 1);
  return at;
}

std::int32_t NameTable::find(std::string_view name) const {
  const Slot& slot = slots_[find_slot(name)];
  return slot.stamp == stamp_ ? slot.value : -1;
}

std::int32_t NameTable::find_or_insert(std::string_view name, std::int32_t value) {
  Slot& slot = slots_[find_slot(name)];
  if (slot.stamp == stamp_) return slot.value;
  slot = {name, stamp_, value};
  if (++used_ * 2 > slots_.size()) grow();
  return value;
}

void NameTable::grow() {
  std::vector<Slot> old(slots_.size() * 4);
  old.swap(slots_);
  for (const Slot& slot : old)
    if (slot.stamp == stamp_) slots_[find_slot(slot.name)] = slot;
}

HloModule HloParser::parse() {
  // A byte that no text holds tells a binary file before its lines make no sense.
  if (const void* zero = std::memchr(module_.text.data(), 0, module_.text.size()); zero != nullptr)
    lexer_.fail_at(static_cast<std::size_t>(static_cast<const char*>(zero) - module_.text.data()),
                   "found a zero byte, expected HLO text", "binary protos are not read: dump the module as text");
  module_.instructions.reserve(module_.text.size() / 200 + 16);
  module_.operands.reserve(module_.text.size() / 120 + 16);
  module_.attributes.reserve(module_.text.size() / 200 + 16);
  module_.types.reserve(module_.text.size() / 200 + 16);
  module_.shapes.reserve(module_.text.size() / 200 + 16);
  parse_header();
  while (!lexer_.at_end())
    if (!skip_stack_frame_table()) parse_computation();
  index_computations();
  sum_up_warnings();
  check_entry_layout();
  return std::move(module_);
}

void HloParser::parse_header() {
  if (!lexer_.accept_word("HloModule")) lexer_.fail("'HloModule'", "is this an HLO text dump?");
  module_.name = lexer_.name("the module's name");
  while (lexer_.accept(',')) {
    const std::string_view key = lexer_.word();
    if (key.empty()) lexer_.fail("a module attribute");
    lexer_.expect('=', "after a module attribute");
    read_header_attribute(key, lexer_.balanced_value());
  }
}

void HloParser::read_header_attribute(std::string_view key, std::string_view value) {
  if (!contains(header_attributes, key))
    module_.warnings.push_back(fmt::format("unknown module attribute '{}' skipped", key));
  if (key == "input_output_alias") module_.input_output_alias = value;
  if (key == "entry_computation_layout") entry_layout_ = value;
  if (key != "num_partitions" && key != "replica_count") return;
  const std::string_view number = trim(value);
  if (number == "1" || number == "0") return;
  module_.warnings.push_back(
      fmt::format("{}={}: a program for {} GPUs; everything is counted and priced as if one GPU ran this text alone",
                  key, number, number));
}

void HloParser::note_attribute(std::string_view key) {
  if (contains(known_attributes, key)) return;
  const auto at = std::find_if(unknown_attributes_.begin(), unknown_attributes_.end(),
                               [&](const auto& entry) { return entry.first == key; });
  if (at == unknown_attributes_.end())
    unknown_attributes_.emplace_back(key, 1);
  else
    ++at->second;
}

void HloParser::sum_up_warnings() {
  for (const auto& [key, count] : unknown_attributes_)
    module_.warnings.push_back(fmt::format("unknown attribute '{}' at {}: what it means is not taken into account", key,
                                           counted(count, "instruction")));
  if (elided_ > 0)
    module_.warnings.push_back(fmt::format(
        "{} without contents ('{{...}}'): kernels read it from memory like an input, and checks make its values up",
        counted(elided_, "constant")));
  if (bounded_ > 0)
    module_.warnings.push_back(
        fmt::format("{} with a bound ('<='): counted at the largest size", counted(bounded_, "shape")));
}

bool HloParser::skip_stack_frame_table() {
  const std::size_t start = lexer_.offset();
  if (lexer_.peek() == '%' || !contains(stack_frame_tables, lexer_.word())) {
    lexer_.seek(start);
    return false;
  }
  while (lexer_.peek() >= '0' && lexer_.peek() <= '9') lexer_.skip_line();
  return true;
}

void HloParser::parse_computation() {
  const bool entry = lexer_.accept_word("ENTRY");
  HloComputation computation;
  lexer_.peek();
  computation.offset = static_cast<std::uint32_t>(lexer_.offset());
  computation.name = lexer_.name("a computation ('name {' or 'ENTRY name {')");
  if (computation.name == "HloModule")
    lexer_.fail_at(computation.offset, "found a second 'HloModule', expected the computations of one",
                   "give each module a file of its own");
  if (lexer_.peek() == '(') {
    lexer_.skip_bracketed();
    if (!lexer_.accept_mark("->")) lexer_.fail("'->' and the result's shape");
    skip_type(0);
  }
  lexer_.expect('{', "at the beginning of a computation");
  computation.first = static_cast<std::int32_t>(module_.instructions.size());
  names_.clear();
  unresolved_.clear();
  while (!lexer_.accept('}')) {
    if (lexer_.at_end()) lexer_.fail(fmt::format("'}}' at the end of computation '{}'", computation.name));
    parse_instruction(computation);
  }
  finish_computation(computation);
  while (lexer_.accept(',')) {
    lexer_.word();
    lexer_.expect('=', "after a computation's attribute");
    lexer_.balanced_value();
  }
  if (entry) entries_.push_back(static_cast<std::int32_t>(module_.computations.size()));
  module_.computations.push_back(computation);
}

void HloParser::parse_instruction(HloComputation& computation) {
  stop_if_asked(module_.stop);
  lexer_.peek();
  const bool root = lexer_.accept_word("ROOT");
  lexer_.peek();
  HloInstruction instruction;
  instruction.offset = static_cast<std::uint32_t>(lexer_.offset());
  instruction.name = lexer_.name("an instruction ('name = shape opcode(...)') or '}'");
  const std::int32_t index = computation.count;
  if (names_.find_or_insert(instruction.name, index) != index)
    lexer_.fail_at(instruction.offset, fmt::format("found a second instruction '{}' in computation '{}', expected "
                                                   "names to be unique",
                                                   instruction.name, computation.name));
  lexer_.expect('=', "after an instruction's name");
  instruction.type = parse_type(0);
  instruction.opcode = lexer_.word();
  if (instruction.opcode.empty()) lexer_.fail("an opcode");
  if (const ir::OpRow* row = ir::find_hlo_op(instruction.opcode)) instruction.op = row->op;
  if (instruction.op == ir::Op::parameter || instruction.op == ir::Op::constant)
    parse_payload(instruction);
  else
    parse_operands(computation, instruction);
  parse_attributes(instruction);
  if (root) {
    if (computation.root >= 0)
      lexer_.fail_at(instruction.offset,
                     fmt::format("found a second ROOT in computation '{}', expected one", computation.name));
    computation.root = index;
  }
  if (instruction.op == ir::Op::parameter) ++computation.parameters;
  ++computation.count;
  module_.instructions.push_back(instruction);
}

void HloParser::parse_payload(HloInstruction& instruction) {
  if (lexer_.peek() != '(') lexer_.fail(fmt::format("'(' after '{}'", instruction.opcode));
  const std::size_t start = lexer_.offset();
  lexer_.skip_bracketed();
  instruction.payload = module_.text.substr(start + 1, lexer_.offset() - start - 2);
  if (instruction.op == ir::Op::constant && instruction.payload.find("...") != instruction.payload.npos) ++elided_;
}

void HloParser::parse_operands(HloComputation& computation, HloInstruction& instruction) {
  lexer_.expect('(', "and the operands after an opcode");
  instruction.first_operand = static_cast<std::int32_t>(module_.operands.size());
  if (!lexer_.accept(')')) {
    do {
      parse_operand(computation, instruction);
    } while (lexer_.accept(','));
    lexer_.expect(')', "at the end of the operands");
  }
  instruction.operands = static_cast<std::int32_t>(module_.operands.size()) - instruction.first_operand;
}

void HloParser::parse_operand(HloComputation& computation, HloInstruction& instruction) {
  std::string_view name;
  if (lexer_.peek() == '(') {
    skip_type(0);
    name = lexer_.name("an operand's name");
  } else if (lexer_.here() == '%') {
    name = lexer_.name("an operand's name");
  } else {
    const std::size_t start = lexer_.offset();
    name = lexer_.word();
    if (name.empty()) lexer_.fail("an operand's name");
    if (lexer_.here() == '[') {
      skip_array_rest();
      name = lexer_.name("an operand's name");
    } else if (lexer_.here() == '(') {
      lexer_.fail_at(start, fmt::format("found an instruction '{}(' as an operand, expected a name", name),
                     "give the inner instruction a line and a name of its own");
    }
  }
  HloOperand operand;
  operand.instruction = names_.find(name);
  operand.first_index = static_cast<std::int32_t>(module_.indices.size());
  while (lexer_.accept('#')) {
    const std::size_t offset = lexer_.offset();
    const std::int64_t index = lexer_.integer("an index into a tuple");
    if (index < 0 || index > INT32_MAX)
      lexer_.fail_at(offset, fmt::format("found index {}, expected 0 or more", index));
    module_.indices.push_back(static_cast<std::int32_t>(index));
    ++operand.indices;
  }
  if (operand.instruction < 0 || operand.instruction >= computation.count) computation.sorted = false;
  if (operand.instruction < 0) unresolved_.push_back({static_cast<std::int32_t>(module_.operands.size()), name});
  module_.operands.push_back(operand);
  static_cast<void>(instruction);
}

void HloParser::check_attribute(const HloInstruction& instruction, std::string_view key, std::string_view value,
                                std::size_t at) const {
  if (const std::string_view expected = misses_form(key, value); !expected.empty())
    lexer_.fail_at(at, fmt::format("found {}={}, expected {}", key, value, expected));
  const auto first = module_.attributes.begin() + instruction.first_attribute;
  if (std::any_of(first, module_.attributes.end(), [&](const HloAttribute& before) { return before.key == key; }))
    lexer_.fail_at(at, fmt::format("found attribute '{}' twice, expected it once", key));
}

void HloParser::parse_attributes(HloInstruction& instruction) {
  instruction.first_attribute = static_cast<std::int32_t>(module_.attributes.size());
  while (lexer_.accept(',')) {
    const std::string_view key = lexer_.word();
    if (key.empty()) lexer_.fail("an attribute ('key=value')");
    lexer_.expect('=', "after an attribute's name");
    const std::size_t start = lexer_.offset();
    const std::string_view value = lexer_.balanced_value();
    if (value.empty()) {
      lexer_.seek(start);
      lexer_.fail(fmt::format("a value of attribute '{}'", key));
    }
    if (contains(dropped_attributes, key)) continue;
    check_attribute(instruction, key, value, start);
    module_.attributes.push_back({key, value});
    note_attribute(key);
  }
  instruction.attributes = static_cast<std::int32_t>(module_.attributes.size()) - instruction.first_attribute;
}

void HloParser::finish_computation(HloComputation& computation) {
  if (computation.count == 0)
    lexer_.fail_at(computation.offset,
                   fmt::format("found computation '{}' without instructions, expected a root", computation.name));
  if (computation.root < 0) computation.root = computation.count - 1;
  for (const Unresolved& missing : unresolved_) {
    const std::int32_t found = names_.find(missing.name);
    if (found < 0) {
      std::vector<std::string_view> known;
      for (std::int32_t i = 0; i < computation.count && i < 1000; ++i)
        known.push_back(module_.instructions[computation.first + i].name);
      const std::string_view near = nearest(missing.name, known);
      lexer_.fail_at(static_cast<std::size_t>(missing.name.data() - module_.text.data()),
                     fmt::format("found operand '{}', expected the name of an instruction of computation '{}'",
                                 missing.name, computation.name),
                     near.empty() ? "" : fmt::format("did you mean '{}'?", near));
    }
    module_.operands[missing.operand].instruction = found;
  }
}

void HloParser::index_computations() {
  if (module_.computations.empty()) lexer_.fail("an ENTRY computation");
  if (entries_.size() > 1)
    lexer_.fail_at(module_.computations[entries_[1]].offset, "found a second ENTRY computation, expected one");
  module_.entry = entries_.empty() ? static_cast<std::int32_t>(module_.computations.size()) - 1 : entries_[0];
  auto& names = module_.computation_names;
  for (std::size_t i = 0; i < module_.computations.size(); ++i)
    names.emplace_back(module_.computations[i].name, static_cast<std::int32_t>(i));
  std::sort(names.begin(), names.end());
  for (std::size_t i = 1; i < names.size(); ++i)
    if (names[i].first == names[i - 1].first)
      lexer_.fail_at(module_.computations[names[i].second].offset,
                     fmt::format("found a second computation '{}', expected names to be unique", names[i].first));
}

void HloParser::check_entry_layout() {
  if (entry_layout_.empty()) return;
  const HloComputation& entry = module_.computations[module_.entry];
  const auto check = [&](const HloType& said, const HloInstruction& found, std::string_view what) {
    const IndexedSpan<const ir::Shape> a = module_.shapes_of(said), b = module_.shapes_of(module_.type_of(found));
    const auto same = [](const ir::Shape& x, const ir::Shape& y) { return x.dtype == y.dtype && x.dims == y.dims; };
    if (std::equal(a.begin(), a.end(), b.begin(), b.end(), same)) return;
    const auto at = std::mismatch(a.begin(), a.end(), b.begin(), b.end(), same);
    lexer_.fail_at(found.offset,
                   fmt::format("found {} of computation '{}' with {}, expected {} as entry_computation_layout says",
                               what, entry.name, at.second == b.end() ? "fewer arrays" : ir::text(*at.second),
                               at.first == a.end() ? "fewer arrays" : ir::text(*at.first)),
                   "was the text cut or edited?");
  };
  lexer_.seek(static_cast<std::size_t>(entry_layout_.data() - module_.text.data()));
  lexer_.expect('{', "of entry_computation_layout");
  const HloType parameters = module_.types[parse_type(0)];
  if (!lexer_.accept_mark("->")) lexer_.fail("'->' and the result's shape");
  const HloType result = module_.types[parse_type(0)];
  lexer_.expect('}', "at the end of entry_computation_layout");
  for (std::int32_t i = 0; i < entry.count; ++i) {
    const HloInstruction& one = module_.instructions[entry.first + i];
    std::int32_t number = -1;
    if (one.op != ir::Op::parameter) continue;
    std::from_chars(one.payload.data(), one.payload.data() + one.payload.size(), number);
    if (number < 0 || number >= parameters.children)
      lexer_.fail_at(one.offset, fmt::format("found parameter {}, expected one below {}, as many as "
                                             "entry_computation_layout has",
                                             one.payload, std::max(parameters.children, 0)));
    check(module_.child(parameters, number), one, fmt::format("parameter {}", number));
  }
  check(result, module_.instructions[entry.first + entry.root], "the result");
}

std::int32_t HloModule::computation_named(std::string_view wanted) const {
  if (!wanted.empty() && wanted.front() == '%') wanted.remove_prefix(1);
  const auto at = std::lower_bound(computation_names.begin(), computation_names.end(), wanted,
                                   [](const auto& named, std::string_view key) { return named.first < key; });
  return at != computation_names.end() && at->first == wanted ? at->second : -1;
}

HloModule parse_module(std::string_view text, std::string_view file, const std::stop_token& stop) {
  return HloParser(text, file, stop).parse();
}

namespace {

std::vector<std::string_view> dtype_names() {
  std::vector<std::string_view> names;
  for (const ir::DTypeRow& row : ir::dtype_table) names.push_back(row.name);
  return names;
}

bool starts_number(char c) { return c >= '0' && c <= '9'; }

}  // namespace

std::int32_t HloParser::parse_type(int depth) {
  if (lexer_.peek() == '(') return parse_tuple_type(depth);
  return parse_array_type();
}

std::int32_t HloParser::parse_tuple_type(int depth) {
  if (depth > max_nesting) lexer_.fail(fmt::format("at most {} nested tuples", max_nesting));
  lexer_.expect('(', "of a tuple type");
  HloType type;
  type.first_shape = static_cast<std::int32_t>(module_.shapes.size());
  std::vector<std::int32_t> children;
  while (lexer_.peek() != ')') {
    children.push_back(parse_type(depth + 1));
    if (!lexer_.accept(',')) break;
  }
  lexer_.expect(')', "at the end of a tuple type");
  type.shapes = static_cast<std::int32_t>(module_.shapes.size()) - type.first_shape;
  type.first_child = static_cast<std::int32_t>(module_.children.size());
  type.children = static_cast<std::int32_t>(children.size());
  module_.children.insert(module_.children.end(), children.begin(), children.end());
  module_.types.push_back(type);
  return static_cast<std::int32_t>(module_.types.size()) - 1;
}

std::int32_t HloParser::parse_array_type() {
  lexer_.peek();
  const std::size_t start = lexer_.offset();
  const std::string_view word = lexer_.word();
  const bool buffer = word == "b" && lexer_.here() == '(';  // b(f32[4]): a buffer, used as the array it holds
  if (buffer) {
    lexer_.expect('(', "of a buffer type");
    const std::int32_t inner = parse_array_type();
    lexer_.expect(')', "at the end of a buffer type");
    return inner;
  }
  if (word.empty() || lexer_.here() != '[') {
    lexer_.seek(start);
    lexer_.fail("a shape such as f32[4,8]", "every instruction's result needs its shape written out");
  }
  const ir::DTypeRow& dtype = parse_dtype(word, start);
  HloType type;
  type.first_shape = static_cast<std::int32_t>(module_.shapes.size());
  type.shapes = 1;
  module_.shapes.push_back(parse_shape(dtype));
  module_.types.push_back(type);
  return static_cast<std::int32_t>(module_.types.size()) - 1;
}

const ir::DTypeRow& HloParser::parse_dtype(std::string_view word, std::size_t offset) {
  if (const ir::DTypeRow* known = ir::find_dtype(word); known != nullptr && known->dtype != ir::DType::tuple)
    return *known;
  lexer_.fail_at(offset, fmt::format("found '{}', expected an element type", word), suggestion(word, dtype_names()));
}

ir::Shape HloParser::parse_shape(const ir::DTypeRow& dtype) {
  ir::Shape shape;
  shape.dtype = dtype.dtype;
  lexer_.expect('[', "of a shape");
  const std::size_t start = lexer_.offset();
  std::int64_t bits = std::max(dtype.bits, 8);
  bool overflow = false;
  bool empty = false;
  bool bounded = false;
  while (lexer_.peek() != ']') {
    bounded = lexer_.accept_mark("<=") || bounded;  // the array is at most this large
    if (lexer_.here() == '?')
      lexer_.fail_at(lexer_.offset(),
                     "found '?', a dimension without a size, expected a number or a bound such as '<=128'",
                     "kernels are made for known sizes: export the model with a number in its place");
    const std::size_t offset = lexer_.offset();
    const std::int64_t dim = lexer_.integer("a dimension");
    if (dim < 0) lexer_.fail_at(offset, fmt::format("found dimension {}, expected 0 or more", dim));
    if (shape.rank() == ir::max_rank)
      lexer_.fail_at(offset, fmt::format("found a shape of more than {} dimensions, expected at most {}", ir::max_rank,
                                         ir::max_rank));
    shape.minor_to_major[shape.rank()] = 0;
    shape.dims.push_back(dim);
    empty = empty || dim == 0;
    overflow = __builtin_mul_overflow(bits, std::max<std::int64_t>(dim, 1), &bits) || overflow;
    if (!lexer_.accept(',')) break;
  }
  lexer_.expect(']', "at the end of a shape");
  bounded_ += bounded ? 1 : 0;
  if (overflow && !empty) lexer_.fail_at(start, "found a shape whose size does not fit 64 bits, expected a real array");
  if (overflow) lexer_.fail_at(start, "found dimensions whose product does not fit 64 bits, expected a real array");
  const int rank = shape.rank();
  for (int i = 0; i < rank; ++i) shape.minor_to_major[i] = static_cast<std::int8_t>(rank - 1 - i);
  if (at_layout()) parse_layout(shape);
  return shape;
}

/// A '{' after a shape opens a layout only when a number or ':' follows; else it opens a computation.
bool HloParser::at_layout() {
  if (lexer_.here() != '{') return false;
  const std::string_view rest = module_.text.substr(lexer_.offset() + 1);
  const std::size_t next = rest.find_first_not_of(" \t\r\n");
  return next != rest.npos && (starts_number(rest[next]) || rest[next] == ':' || (rest[next] == '}' && next == 0));
}

void HloParser::parse_layout(ir::Shape& shape) {
  const std::size_t start = lexer_.offset();
  lexer_.expect('{', "of a layout");
  unsigned seen = 0;
  int count = 0;
  while (starts_number(lexer_.peek())) {
    const std::int64_t dim = lexer_.integer("a dimension number");
    if (dim >= shape.rank() || (seen >> dim & 1U) != 0 || count >= shape.rank())
      lexer_.fail_at(start, fmt::format("found a layout that does not fit, expected a permutation of the {} dimensions",
                                        shape.rank()));
    seen |= 1U << dim;
    shape.minor_to_major[count++] = static_cast<std::int8_t>(dim);
    if (!lexer_.accept(',')) break;
  }
  if (count != 0 && count != shape.rank())
    lexer_.fail_at(start, fmt::format("found a layout of {} dimensions, expected {}", count, shape.rank()));
  if (lexer_.peek() == ':') {  // tiles, memory space, element size: nothing a fusion decision uses
    lexer_.seek(start);
    lexer_.skip_bracketed();
    return;
  }
  lexer_.expect('}', "at the end of a layout");
}

void HloParser::skip_type(int depth) {
  if (lexer_.peek() == '(') {
    if (depth > max_nesting) lexer_.fail("a type with less nesting");
    lexer_.skip_bracketed();
    return;
  }
  if (lexer_.word().empty() || lexer_.here() != '[') lexer_.fail("a shape such as f32[4,8]");
  skip_array_rest();
}

void HloParser::skip_array_rest() {
  lexer_.skip_bracketed();
  if (at_layout()) lexer_.skip_bracketed();
}

}  // namespace tailor::hlo
