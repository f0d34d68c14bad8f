// What the view of steps shows: the computation of one row of weights.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "app/views/axis_place.h"
#include "app/views/choosing.h"
#include "core/picture/step_sheet.h"

namespace attnscope {

struct StepScene {
    const Trace& trace;
    ShownStage weights;  ///< of which the row is
    const RowSteps& row;
    std::vector<StepRange> ranges;  ///< of the steps
    std::vector<std::string> queries;
    int key;             ///< the one whose score is added up: pointed at, locked, or of the largest weight
    int lit_key;         ///< pointed at or locked; −1: none
    const Proof& score;  ///< of that key
    StepPlayback& playback;
    int current;  ///< the step that is being taken or was taken last; of all taken that of the stage in focus

    bool has_products() const { return row.values != nullptr; }
    /// The steps that stand beside each other: all but the sum, which stands below the products.
    int columns() const { return static_cast<int>(row.steps.size()) - (has_products() ? 1 : 0); }
    const RowStep& step(int i) const { return row.steps[static_cast<std::size_t>(i)]; }
    std::string key_label(int j) const { return weights.column_label(j); }
    int terms() const { return static_cast<int>(score.terms.size()); }
    /// The terms of the score that have been added up.
    int terms_shown() const;
    /// The stage as a step shows it, in the head shown.
    ShownStage shown(const Stage& stage) const { return {&trace, trace.stage(stage.key()), weights.head}; }
};

/// Draws the steps as columns with a row for each key, and below them what is summed up.
void step_columns(Desk& desk, const Ui& ui, const StepScene& scene, const Area& area);

/// The feature of the sum that is pointed at or locked; −1: none.
int lit_feature(const Desk& desk, const StepScene& scene);

/// A sum of products, of which some are shown.
struct ShownSum {
    std::string of;  ///< what it makes: "“to”", "Feature 3 of the context"
    const Proof& proof;
    int shown;

    int terms() const { return static_cast<int>(proof.terms.size()); }
};

/// Draws the terms one after the other, each where the last one ended.
void added_terms(const Ui& ui, const ShownSum& sum, const Area& area);

}  // namespace attnscope
