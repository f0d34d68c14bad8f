// What the flags that are not settings of a session may hold, in the words of those that are.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "core/choice.h"

namespace attnscope {

/// A word of the command line as shown in a message.
std::string quoted(const std::string& word);
/// Refuses a value that is none of the names: "\"gpuu\" is not known: use auto, cpu, gpu".
CLI::Validator one_of(std::vector<std::string> names);
/// Refuses what is not a whole number from `least` to `most`.
CLI::Validator whole_number(int least, int most);

/// Refuses an empty word, which an unset variable of a script becomes: "name a file".
CLI::Validator not_empty(std::string what_to_do);

/// Refuses a value that names none of a closed set.
template <typename E>
CLI::Validator one_of_choices() {
    std::vector<std::string> names;
    for (const ChoiceName<E>& choice : choices<E>()) names.emplace_back(choice.name);
    return one_of(std::move(names));
}

}  // namespace attnscope
