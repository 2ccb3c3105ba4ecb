// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The line of an observation, written and read field by field in one order, and the split. The split hashes what is
// computed on which shape and nothing else; of our own kernels that is the group's id, which is a hash of just that. A
// line reads back to an equal observation, with the same id.
#include "ir/observation.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cmath>

#include "base/error.h"
#include "base/indexed.h"

namespace tailor::ir {

namespace {

constexpr std::array<std::string_view, 3> split_names = {"train", "validate", "test"};

std::string quote(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    if (c == '\n')
      out += "\\n";
    else
      out += c;
  }
  return out + '"';
}

/// Numbers of a foreign kernel that its line may leave out, in the order of the line.
struct DetailRow {
  std::string_view name;
  double ForeignKernel::*member;
};
constexpr std::array detail_table = std::to_array<DetailRow>({
    {"reread", &ForeignKernel::reread},
    {"far_trips", &ForeignKernel::far_trips},
    {"near_trips", &ForeignKernel::near_trips},
    {"shuffles", &ForeignKernel::shuffles},
    {"barriers", &ForeignKernel::barriers},
    {"instructions", &ForeignKernel::instructions},
    {"transcendental", &ForeignKernel::transcendental},
});

std::string subject_text(const OwnKernel& own) {
  return fmt::format("own group={} plan={} registers={}", hex(own.group), hex(own.plan), own.registers);
}
std::string subject_text(const ForeignKernel& k) {
  std::string out =
      fmt::format("foreign operation={} shape={} blocks={} threads={} shared={} registers={} read={} written={}",
                  quote(k.operation), quote(k.shape), k.blocks, k.threads, k.shared, k.registers, k.read, k.written);
  if (!k.variant.empty()) out += fmt::format(" variant={}", quote(k.variant));
  for (const DetailRow& row : detail_table)
    if (k.*row.member != 0) out += fmt::format(" {}={}", row.name, k.*row.member);
  return out;
}

/// The line after its split: what the id is the hash of.
std::string observed_text(const Observation& o) {
  return fmt::format("device={} regime={} time={} low={} high={} source={} {}", quote(o.device), quote(text(o.regime)),
                     o.time.value, o.low.value, o.high.value, quote(o.source),
                     std::visit([](const auto& subject) { return subject_text(subject); }, o.subject));
}

/// Takes fields from the front of a line.
class Fields {
 public:
  explicit Fields(std::string_view line) : rest_(line) {}

  [[noreturn]] static void fail(std::string_view field, std::string_view found, std::string_view expected) {
    throw Error(Fault::failed,
                fmt::format("observation: found '{}' for {}, expected {}", found.substr(0, 60), field, expected),
                "docs/database.md shows such lines, field by field");
  }

  /// A bare word up to the next blank.
  std::string_view word(std::string_view field) {
    const std::size_t end = rest_.find(' ');
    const std::string_view found = rest_.substr(0, end);
    if (found.empty()) fail(field, found, "a word");
    rest_ = end == rest_.npos ? std::string_view{} : rest_.substr(end + 1);
    return found;
  }

  void key(std::string_view field) {
    if (!rest_.starts_with(field) || rest_.substr(field.size(), 1) != "=")
      fail("the next field", rest_.substr(0, rest_.find_first_of("= ")), fmt::format("'{}='", field));
    rest_.remove_prefix(field.size() + 1);
  }

  bool next_is(std::string_view field) const {
    return rest_.starts_with(field) && rest_.substr(field.size(), 1) == "=";
  }

  std::string quoted_text(std::string_view field) {
    key(field);
    if (!rest_.starts_with('"')) fail(field, rest_.substr(0, rest_.find(' ')), "text in quotes");
    std::string out;
    for (std::size_t i = 1; i < rest_.size(); ++i) {
      if (rest_[i] == '"') {
        rest_.remove_prefix(i + 1);
        if (!rest_.empty() && rest_.front() != ' ') fail(field, rest_, "a blank after its quotes");
        if (!rest_.empty()) rest_.remove_prefix(1);
        return out;
      }
      const bool escaped = rest_[i] == '\\' && i + 1 < rest_.size();
      if (escaped) ++i;
      out += escaped && rest_[i] == 'n' ? '\n' : rest_[i];
    }
    fail(field, rest_, "text that ends in quotes");
  }

  template <class Number>
  Number number(std::string_view field) {
    key(field);
    const std::string_view found = word(field);
    Number value{};
    const auto [end, fault] = std::from_chars(found.data(), found.data() + found.size(), value);
    if (fault != std::errc{} || end != found.data() + found.size()) fail(field, found, "a number");
    if (std::isnan(static_cast<double>(value)) || std::isinf(static_cast<double>(value)) || value < 0)
      fail(field, found, "a number from 0 up");
    return value;
  }

  Id id(std::string_view field) {
    key(field);
    return to_id(field, word(field));
  }

  static Id to_id(std::string_view field, std::string_view found) {
    if (found.size() != 32 || found.find_first_not_of("0123456789abcdef") != found.npos)
      fail(field, found, "an id of 32 hexadecimal digits");
    return id_from_hex(found);
  }

  std::string_view rest() const { return rest_; }

 private:
  std::string_view rest_;
};

Split parse_split(Fields& fields) {
  fields.key("split");
  const std::string_view found = fields.word("split");
  if (const std::optional<Split> split = split_named(found)) return *split;
  Fields::fail("split", found, "train, validate or test");
}

Subject parse_subject(Fields& fields) {
  const std::string_view kind = fields.word("the subject");
  if (kind == "own") {
    OwnKernel own;
    own.group = fields.id("group");
    own.plan = fields.id("plan");
    own.registers = fields.number<int>("registers");
    return own;
  }
  if (kind != "foreign") Fields::fail("the subject", kind, "own or foreign");
  ForeignKernel k;
  k.operation = fields.quoted_text("operation");
  k.shape = fields.quoted_text("shape");
  k.blocks = fields.number<std::int64_t>("blocks");
  k.threads = fields.number<std::int64_t>("threads");
  k.shared = fields.number<std::int64_t>("shared");
  k.registers = fields.number<std::int64_t>("registers");
  k.read = fields.number<double>("read");
  k.written = fields.number<double>("written");
  if (fields.next_is("variant")) k.variant = fields.quoted_text("variant");
  for (const DetailRow& row : detail_table)
    if (fields.next_is(row.name)) k.*row.member = fields.number<double>(row.name);
  return k;
}

void check_times(const Observation& o) {
  if (!(o.time.value > 0)) Fields::fail("time", fmt::format("{}", o.time.value), "seconds above 0");
  if (o.low > o.time || o.time > o.high)
    Fields::fail("time", fmt::format("{}", o.time.value),
                 fmt::format("one in its interval, {} to {}", o.low.value, o.high.value));
}

}  // namespace

std::string_view name(Split split) { return row_for(split_names, split); }

std::optional<Split> split_named(std::string_view name) {
  for (std::size_t i = 0; i < split_names.size(); ++i)
    if (split_names[i] == name) return static_cast<Split>(i);
  return {};
}

Split split_of(const Subject& subject) {
  const auto* foreign = std::get_if<ForeignKernel>(&subject);
  std::string key = foreign ? foreign->operation : hex(std::get<OwnKernel>(subject).group);
  if (foreign && !foreign->shape.empty()) key += " on " + foreign->shape;
  key = "split of " + key;
  const std::uint64_t tenth = tailor::id_of(std::string_view(key)).high % 10;
  return tenth < 6 ? Split::train : tenth < 8 ? Split::validate : Split::test;
}

Observation make_observation(std::string device, const Regime& regime, Seconds time, Seconds low, Seconds high,
                             std::string source, Subject subject) {
  Observation o;
  o.split = split_of(subject);
  o.device = std::move(device);
  o.regime = regime;
  o.time = time;
  o.low = low;
  o.high = high;
  o.source = std::move(source);
  o.subject = std::move(subject);
  check_times(o);
  o.id = tailor::id_of(std::string_view(observed_text(o)));
  return o;
}

std::string text(const Observation& observation) {
  return fmt::format("observation {} split={} {}", hex(observation.id), name(observation.split),
                     observed_text(observation));
}

Observation parse_observation(std::string_view line) {
  Fields fields(line);
  if (const std::string_view found = fields.word("the line"); found != "observation")
    Fields::fail("the line", found, "'observation'");
  Observation o;
  const bool has_id = !fields.rest().starts_with("device=");
  if (has_id) {
    o.id = Fields::to_id("the id", fields.word("the id"));
    o.split = parse_split(fields);
  }
  o.device = fields.quoted_text("device");
  o.regime = parse_regime(fields.quoted_text("regime"));
  o.time = {fields.number<double>("time")};
  o.low = {fields.number<double>("low")};
  o.high = {fields.number<double>("high")};
  o.source = fields.quoted_text("source");
  o.subject = parse_subject(fields);
  if (!fields.rest().empty()) Fields::fail("the end", fields.rest(), "nothing more");
  check_times(o);
  const Id id = tailor::id_of(std::string_view(observed_text(o)));
  const Split split = split_of(o.subject);
  if (has_id && o.id != id) Fields::fail("the id", hex(o.id), fmt::format("{}, the hash of the rest", hex(id)));
  if (has_id && o.split != split)
    Fields::fail("split", name(o.split), fmt::format("{}, by operation and shape", name(split)));
  o.id = id;
  o.split = split;
  return o;
}

}  // namespace tailor::ir
