// How the window's panel sets an option: the kind of its row, as data. app/panels/setting_rows.cpp draws
// each kind.
#pragma once

#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/experiment/experiment.h"

namespace attnscope {

/// A value of a closed choice, and what it means in one line.
struct OptionChoice {
    std::string_view name;
    std::string help;
};

namespace control {

/// The option has no row: the sentence, a view or a dialog sets it.
struct None {};
/// Rows that the panel draws in a way of their own (app/panels/own_rows.cpp).
struct Own {};
/// A list of values.
struct Choices {
    std::vector<OptionChoice> (*values)(const Experiment& experiment);
    std::string_view noun = {};  ///< written after each name: " state"
};
struct Toggle {};
struct Text {};
/// A seed that is typed, dragged or rolled.
struct SeedField {};
/// The seed of some weights: shared or, in a row of its own, separate.
struct WeightSeed {
    std::string_view before;  ///< what is drawn just before these weights: "the embedding table"
};

/// How much of a field is filled: nothing, its share of the largest value, or the share of its logarithm.
enum class Fill { none, linear, logarithmic };
/// A whole number that is typed, or dragged from `least` to `most`.
struct Whole {
    int least, most;
    Fill fill = Fill::none;
    int step = 1;
};
/// A number that is typed, or dragged in steps of a twentieth of its value.
struct Factor {
    double decades = 0;  ///< around 1, over which the field fills; 0: it does not
};
/// A number that is typed, or dragged in steps of 1 from `least` to `most`.
struct Number {
    double least, most;
};
/// A number that is typed, or dragged from 0 to `most` in steps of 0.01.
struct Share {
    double most;
};

}  // namespace control

using Control = std::variant<control::None, control::Own, control::Choices, control::Toggle, control::Text,
                             control::SeedField, control::WeightSeed, control::Whole, control::Factor,
                             control::Number, control::Share>;

}  // namespace attnscope
