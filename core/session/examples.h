// The example sessions that come with the program.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/session/session.h"

namespace attnscope {

/// The names of the examples in the order of the menu; the first sentence of each note summarizes the
/// example.
std::vector<std::string> example_names();
/// Throws Error(bad_input) with the nearest name, or all of them, if `name` is not an example.
Session load_example(std::string_view name);

/// What the gallery says of an example.
struct ExampleCard {
    std::string_view name;     ///< of the example
    std::string_view theme;    ///< the heading of those that stand together
    std::string_view title;    ///< "Causal mask"
    std::string_view promise;  ///< what one will see there, in one sentence
};
/// One for each example, in the order of the gallery; those of a theme follow each other.
std::span<const ExampleCard> example_cards();

/// The example of that name.
struct NamedExample {
    std::string name;
    Session session;
};
/// The examples, read when they are first asked for.
const std::vector<NamedExample>& all_examples();
/// The example with this note; nullptr if there is none.
const NamedExample* example_with_note(std::string_view note);

}  // namespace attnscope
