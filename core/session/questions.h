// The questions that learners bring, each with a session that answers it.
#pragma once

#include <span>
#include <string_view>

#include "core/experiment/option_names.h"
#include "core/session/session.h"

namespace attnscope {

struct Question {
    std::string_view text;                 ///< "What does dividing by √d_k do?"
    std::string_view look;                 ///< what to look at in the session, in one or two sentences
    std::string_view example;              ///< that the session is made from
    std::string_view preset;               ///< the ComparisonPreset that is applied; "" if none
    std::span<const OptionName> settings;  ///< that it is about: the panel marks their rows
    /// Sets the view, the stage and the cell to look at.
    void (*show)(Presentation& presentation);
    /// Sets what makes the answer plain, before the preset; nullptr: nothing.
    void (*set)(Experiment& experiment) = nullptr;
};

/// Every question, in the order in which they come up.
std::span<const Question> questions();

/// The session that answers it: its example, with the comparison, the view and the cell; its note says what
/// to look at.
Session answer(const Question& question);

/// The question whose answer has this note; nullptr: none.
const Question* question_with_note(std::string_view note);

}  // namespace attnscope
