// Every setting, defined once: its flag, its JSON field, its help, its accepted values and its row in the
// panel. The command line, session files, docs/options.md and the window all use this table.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "core/experiment/option_names.h"
#include "core/experiment/option_section.h"
#include "core/session/json_value.h"
#include "core/session/option_control.h"
#include "core/session/session.h"

namespace attnscope {

/// How a value is written, in JSON and as a flag's argument.
enum class OptionType {
    text,            ///< JSON string
    whole,           ///< JSON whole number
    number,          ///< JSON number
    word_or_number,  ///< a JSON number, or a string that is a word
    boolean,         ///< JSON true or false; as a flag --name and --no-name
    list,            ///< JSON array of strings; as a flag repeatable, "none" for the empty list
    picture,         ///< JSON string: none, drawn or a data URL; as a flag also a path, read immediately
    matrices,        ///< JSON object of matrices, which session files read; as a flag repeatable
};

/// A value as it is set: from a session file or a flag's argument.
struct OptionValue {
    const Json& json;
    std::string_view typed = {};  ///< the text of a number that `json` keeps only as floating point

    /// The value as quoted in messages: as typed, if that is known.
    std::string quoted() const;
};

struct Option {
    OptionName name;  ///< as a flag, without "--"; the JSON field has _ for -
    OptionSection section;
    std::string_view symbol;    ///< in formulas and on the control: "d", "h", "T"
    std::string_view argument;  ///< placeholder or choices: "N", "normal|uniform|linear|xavier"
    std::string_view help;      ///< one line
    OptionType type;
    Json (*get)(const Session& session);
    /// Throws Error(bad_input) saying what is expected; the caller adds where. Options of type `matrices`
    /// always throw.
    void (*set)(Session& session, const OptionValue& value);
    std::string_view label = {};  ///< of its row in the panel
    Control control = {};

    bool in_experiment() const { return section != OptionSection::presentation; }
    std::string json_name() const;
};

/// Every option, in the order of the computation, followed by those of the presentation.
std::span<const Option> options();
/// The option of this flag name, which a person typed; nullptr if there is none.
const Option* find_option(std::string_view name);
/// The name in words: "Softmax axis" for softmax-axis.
std::string name_in_words(std::string_view option);
const Option& option_named(OptionName name);

/// Sets one option from a flag's argument. Throws Error(bad_input) that starts with the flag.
void set_from_text(Session& session, const Option& option, std::string_view text);
/// Adds one flag's argument to a list (the mask's rules): "none" empties it, "file:PATH" sets a custom mask.
/// Throws Error.
void add_from_text(Session& session, const Option& option, std::string_view text);
/// The value as a flag's argument, as accepted by set_from_text.
std::string text_of(const Session& session, const Option& option);

/// The text of docs/options.md.
std::string options_markdown();

/// The known name nearest to a misspelled one, or "" if none is near: at most one letter in three may be
/// wrong, missing, added or swapped with its neighbor.
std::string nearest_name(std::string_view misspelled, std::span<const std::string> known);

/// Parse the arguments of --range ("MIN,MAX" or a word), --head and --locked (rows and columns counted from
/// 1). Throw Error(bad_input).
RangeChoice parse_range(std::string_view text);
std::string range_text(const RangeChoice& range);
HeadChoice parse_head(std::string_view text);
std::string head_text(const HeadChoice& head);

}  // namespace attnscope
