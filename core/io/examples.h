// The sessions that come with the program.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/io/session.h"

namespace attnscope {

/// In the order the menu lists them; the first sentence of each note says what it shows.
std::vector<std::string> example_names();
/// Throws Error(bad_input) with the nearest name, or all of them, for a name that is none.
Session load_example(std::string_view name);

/// An example by its name.
struct NamedExample {
    std::string name;
    Session session;
};
/// The example that says this of itself; nullptr if none does.
const NamedExample* example_with_note(std::string_view note);

}  // namespace attnscope
