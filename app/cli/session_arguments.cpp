#include "app/cli/session_arguments.h"

#include <fmt/format.h>

#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>
#include <utility>

#include "app/cli/validators.h"
#include "core/error.h"
#include "core/learn/training_run.h"
#include "core/session/applies.h"
#include "core/session/examples.h"
#include "core/session/questions.h"
#include "core/session/text_file.h"

namespace attnscope {
namespace {

std::vector<std::string> split_at_commas(const std::string& text) {
    std::vector<std::string> parts;
    std::size_t start = 0;
    while (true) {
        const std::size_t comma = text.find(',', start);
        parts.push_back(text.substr(start, comma - start));
        if (comma == std::string::npos) return parts;
        start = comma + 1;
    }
}

/// The first of the stages; throws unless the others are names of stages as well.
void set_focus(Session& session, const Option& option, const std::vector<std::string>& names) {
    const std::vector<std::string> backwards(names.rbegin(), names.rend());
    for (const std::string& name : backwards) set_from_text(session, option, name);
}

Session example_named(const std::string& name) {
    try {
        return load_example(name);
    } catch (const Error& error) {
        throw UsageError(error.in("--example").what());
    }
}

/// " (for: mechanism is attention, and score is rbf)", or "" for an option that always applies.
std::string condition(const Option& option) {
    const std::string when = when_used(option);
    return when.empty() ? "" : " (for: " + when + ")";
}

/// Adds the pair "--values" and "--no-values".
void add_switch(CLI::App& command, const Option& option, const std::string& help,
                const std::function<void(const char*)>& keep) {
    const std::string name(option.name);
    const std::string section(name_of(option.section));
    command
        .add_flag_callback(
            "--" + name, [keep] { keep("true"); }, help)
        ->group(section);
    command
        .add_flag_callback(
            "--no-" + name, [keep] { keep("false"); }, "The opposite of --" + name)
        ->group(section);
}

}  // namespace

void SessionArguments::add_to(CLI::App& command) {
    command
        .add_option("file", file_,
                    "A session (.json, .safetensors) or a picture (.png, .svg) that attnscope exported; - "
                    "for standard input")
        ->type_name("FILE");
    command.add_option("--example", example_, "Start from an example (see: attnscope examples)")
        ->type_name("NAME");
    command
        .add_option("--question", question_,
                    fmt::format("Start from the answer to a question, 1 to {} (see docs/questions.md)",
                                questions().size()))
        ->check(whole_number(1, static_cast<int>(questions().size())))
        ->option_text("N");
    command
        .add_option("--text-file", text_file_,
                    "The sentence is the text of a file, up to a book; - for standard input")
        ->type_name("PATH");
    for (const Option& option : options()) {
        const std::string preset = text_of(Session{}, option);
        const std::string help =
            std::string(option.help) + (preset.empty() ? "" : " [" + preset + "]") + condition(option);
        const auto keep = [this, &option](const std::string& value) { flags_.push_back({&option, value}); };
        const bool repeatable = option.type == OptionType::list || option.type == OptionType::matrices;
        if (option.type == OptionType::boolean) {
            add_switch(command, option, help, keep);
            continue;
        }
        command
            .add_option_function<std::vector<std::string>>(
                "--" + std::string(option.name),
                [keep](const std::vector<std::string>& values) {
                    for (const auto& value : values) keep(value);
                },
                help)
            ->expected(1)
            ->type_name(std::string(option.argument))
            ->allow_extra_args(false)
            ->multi_option_policy(repeatable ? CLI::MultiOptionPolicy::TakeAll
                                             : CLI::MultiOptionPolicy::Throw)
            ->group(std::string(name_of(option.section)));
    }
}

Session SessionArguments::start() const {
    if (file_.has_value() + example_.has_value() + question_.has_value() > 1)
        throw UsageError("FILE, --example and --question exclude each other: use one");
    if (question_) return answer(questions()[static_cast<std::size_t>(*question_) - 1]);
    if (file_) return load_session(*file_);
    if (example_) return example_named(*example_);
    Session session;
    for (const Flag& flag : flags_)
        if (flag.option->name == "task") {
            as_usage([&] { set_from_text(session, *flag.option, flag.value); });
            if (session.experiment.training.task == TaskKind::none) break;
            session.experiment = task_experiment(session.experiment.training.task);
        }
    return session;
}

Session SessionArguments::with_flags(Session session) const {
    if (text_file_ && gives("text")) throw UsageError("--text-file and --text exclude each other: use one");
    if (text_file_) session.experiment.input.text = read_text_file(*text_file_);
    bool first_rule = true;
    for (const Flag& flag : flags_)
        as_usage([&] {
            if (flag.option->type == OptionType::list && !std::exchange(first_rule, false)) {
                add_from_text(session, *flag.option, flag.value);
            } else if (flag.option->name == "stage") {
                set_focus(session, *flag.option, stages());
            } else {
                set_from_text(session, *flag.option, flag.value);
            }
        });
    as_usage([&] {
        if (gives("step")) session.experiment = at_step(session.experiment, session.experiment.training.step);
        check(session.experiment);
    });
    return session;
}

std::string SessionArguments::file_to_save() const {
    const std::string file = file_.value_or("");
    return is_session_file(file) ? std::filesystem::absolute(file).string() : "";
}

std::vector<std::string> SessionArguments::stages() const {
    for (const auto& [option, value] : flags_)
        if (option->name == "stage" && value != "all") return split_at_commas(value);
    return {};
}

bool SessionArguments::gives(OptionName name) const {
    return std::ranges::any_of(flags_, [&](const auto& flag) { return flag.option->name == name; });
}

std::vector<std::string> SessionArguments::unused(const Experiment& experiment) const {
    std::vector<std::string> lines;
    for (const Option& option : options()) {
        const std::string why = gives(option.name) ? why_unused(option, experiment) : "";
        if (!why.empty()) lines.push_back("--" + std::string(option.name) + " is not used: " + why);
    }
    return lines;
}

}  // namespace attnscope
