// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// tailor evaluate: a model through the reference evaluator. In: a model, arrays as .npy where they are given, else a
// seed. Out: what every result holds, the arrays as .npy files, and how results compare with those of somebody else.
// Called by main's table of commands.
#include <fmt/format.h>

#include "base/counted.h"
#include "base/deadline.h"
#include "base/error.h"
#include "base/stop.h"
#include "base/text.h"
#include "cli/inputs.h"
#include "cli/output.h"
#include "study/module/evaluate_model.h"

namespace tailor::cli {

namespace {

study::EvaluatedModel evaluated_in_time(const EvaluateCommand& options, const ir::Graph& graph,
                                        const std::stop_token& stop) {
  const study::EvaluateQuestion question{options.inputs, options.outputs, static_cast<std::uint64_t>(options.seed),
                                         whole_count(options.memory * 1e9), options.scale};
  const Deadline limit(stop, {options.time_limit});
  study::EvaluatedModel model;
  if (done_unless_stopped([&] { model = study::evaluate_model(graph, question, limit.token()); })) return model;
  stop_if_asked(stop);
  throw Error(Fault::missing, fmt::format("the evaluation takes longer than {:.3g} s", options.time_limit),
              "a larger --time-limit allows it");
}

}  // namespace

void run_evaluate(const EvaluateCommand& options, const Context& context) {
  context.interrupts->holds_nothing();
  refuse_not_above_zero("--memory", options.memory, "GB");
  refuse_not_above_zero("--scale", options.scale, "a number");
  if (options.time_limit != no_time_limit) refuse_not_above_zero("--time-limit", options.time_limit, "seconds");
  const hlo::Imported imported = load_model(context, options.model);
  context.console->progress({"evaluating the model", 0, 0, {}});
  const study::EvaluatedModel model = evaluated_in_time(options, imported.graph, context.stop());
  // A model may have thousands of parameters: a person reads what came out, and asks for what went in.
  const bool for_person = context.format == Format::table || context.format == Format::md;
  const bool with_inputs = !for_person || options.list_inputs;
  CommandOutput answer{
      "tailor.evaluate/1", "", {{"arrays", study::array_table(model, context.stop(), with_inputs)}}, ""};
  answer.verdict = study::text_of_held(model);
  if (answer.verdict.empty())
    answer.verdict = study::text_of_inputs(model) + (with_inputs ? "" : "; --list-inputs shows them");
  if (!options.folder.empty()) {
    const std::int64_t written = study::write_arrays(model, options.folder, context.stop());
    context.console->note(fmt::format("wrote {} to {}", counted(written, "array"), options.folder));
  }
  show(context, answer);
  context.console->note(fmt::format("{} evaluated in {}", model.name, humane_seconds(model.took.value)));
  if (const std::string words = study::text_of_overflow(model, context.stop()); !words.empty())
    context.console->warning(words);
  if (const std::optional<Error> fault = study::fault_of(model)) throw *fault;
}

}  // namespace tailor::cli
