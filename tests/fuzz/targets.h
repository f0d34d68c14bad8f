// What is tried with made-up input: by libFuzzer (scripts/fuzz), and with the corpus by corpus_test.
#pragma once

#include <span>
#include <string_view>

namespace attnscope::fuzz {

struct Target {
    std::string_view name;  ///< also of its folder in tests/fuzz/corpus
    std::string_view what;
    /// Takes any bytes. Throws std::logic_error for a property that does not hold; an Error, which refuses
    /// the input, stays inside.
    void (*run)(std::string_view bytes);
};

std::span<const Target> targets();
/// nullptr for a name that no target has.
const Target* find_target(std::string_view name);

}  // namespace attnscope::fuzz
