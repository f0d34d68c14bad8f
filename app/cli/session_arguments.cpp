#include "app/cli/session_arguments.h"

#include <filesystem>
#include <nlohmann/json.hpp>

#include "core/error.h"
#include "core/io/examples.h"

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

/// The first of the stages; the others must have names of stages as well.
void set_focus(Session& session, const Option& option, const std::vector<std::string>& names) {
    for (auto name = names.rbegin(); name != names.rend(); ++name) set_from_text(session, option, *name);
}

}  // namespace

void SessionArguments::add_to(CLI::App& command) {
    command
        .add_option("file", file_,
                    "A session (.json) or a picture that attnscope exported; - for standard input")
        ->type_name("FILE");
    command.add_option("--example", example_, "Start from an example (see: attnscope examples)")
        ->type_name("NAME");
    for (const Option& option : options()) {
        const std::string flag = "--" + std::string(option.name);
        const std::string help = std::string(option.help) + " [" + text_of(Session{}, option) + "]";
        const auto keep = [this, &option](const std::string& value) { flags_.emplace_back(&option, value); };
        CLI::Option* added = nullptr;
        if (option.type == OptionType::boolean) {
            added = command.add_flag_callback(
                flag, [keep] { keep("true"); }, help);
            command.add_flag_callback("--no-" + std::string(option.name), [keep] { keep("false"); })
                ->group(std::string(option.section));
        } else {
            added = command.add_option_function<std::vector<std::string>>(
                flag,
                [keep](const std::vector<std::string>& values) {
                    for (const auto& value : values) keep(value);
                },
                help);
            added->expected(1)->type_name(std::string(option.argument))->allow_extra_args(false);
            added->multi_option_policy(option.type == OptionType::list ? CLI::MultiOptionPolicy::TakeAll
                                                                       : CLI::MultiOptionPolicy::Throw);
        }
        added->group(std::string(option.section));
    }
}

Session SessionArguments::session() const {
    if (!file_.empty() && !example_.empty())
        throw UsageError("both FILE and --example are given: use one of them");
    Session session = !file_.empty()      ? load_session(file_)
                      : !example_.empty() ? load_example(example_)
                                          : Session{};
    bool first_mask = true;
    for (const auto& [option, value] : flags_) {
        try {
            if (option->type == OptionType::list && !first_mask && value != "none") {
                Json rules = option->get(session);
                rules.push_back(value);
                option->set(session, rules);
            } else if (option->name == "stage") {
                set_focus(session, *option, stages());
            } else {
                set_from_text(session, *option, value);
            }
        } catch (const Error& error) {
            throw UsageError(error.what());
        }
        if (option->type == OptionType::list) first_mask = false;
    }
    try {
        check(session.experiment);
    } catch (const Error& error) {
        throw UsageError(error.what());
    }
    return session;
}

std::string SessionArguments::file_to_save() const {
    const std::filesystem::path path(file_);
    return path.extension() == ".json" ? std::filesystem::absolute(path).string() : "";
}

std::vector<std::string> SessionArguments::stages() const {
    for (const auto& [option, value] : flags_)
        if (option->name == "stage" && value != "all") return split_at_commas(value);
    return {};
}

bool SessionArguments::gives(std::string_view name) const {
    return std::ranges::any_of(flags_, [&](const auto& flag) { return flag.first->name == name; });
}

}  // namespace attnscope
