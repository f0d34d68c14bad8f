// Editing custom matrices: masks by painting, and other matrices cell by cell.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "app/document/document.h"

namespace attnscope {

/// A preset that fills a mask; mask_presets() is a table in custom.cpp.
struct MaskPreset {
    std::string_view name;
    std::string_view help;
    /// Whether query i may attend to key j (both from 0); `now`: whether it may so far.
    bool (*open)(int i, int j, bool now);
};
std::span<const MaskPreset> mask_presets();

/// The stage that shows which pairs are open: "mask", or "alignment_mask" for a decoder.
const StageInfo* mask_stage(const Experiment& experiment);
/// The custom matrix that determines a stage: "mask" for either mask stage, else the stage's own name; empty
/// if none can.
std::string custom_name_of(const StageKey& stage);
/// What keeps a pair closed whatever the mask says (in every head if `head` is −1): "the local window, D =
/// 2", "the custom bias of −∞"; empty if nothing does.
std::string closed_beyond_mask(const Trace& trace, int head, int query, int key);

/// The rules combined with the custom mask: 0 where either closes, else 1 or the custom value. A custom mask
/// of another size is ignored. Throws as MaskKind::check_fit.
Matrix editable_mask(const Experiment& experiment, int queries, int keys);
/// One cell of that mask, without computing the others.
bool may_attend(const Experiment& experiment, int queries, int keys, int query, int key);
/// Makes `mask` the custom mask and removes the rules, which it already includes.
void paint_mask(Document& document, Matrix mask, const std::string& gesture = {});

/// The names of the matrices that may be set: those that the graph takes, in its order, then others that the
/// experiment has set; without a trace all of overridable_matrices().
std::vector<std::string> names_to_override(const Trace* trace, const Experiment& experiment);
/// Rows and columns that the matrix `name` (of overridable_matrices()) must have in this trace; 1 × 1 if it
/// is not used there.
struct CustomSize {
    int rows;
    int columns;
    bool operator==(const CustomSize&) const = default;
};
CustomSize custom_size(const Trace& trace, std::string_view name);
/// The values that editing starts with: the custom ones, else those of the trace (heads stacked vertically),
/// else 1 for masks and gains and 0 for all else.
Matrix custom_start(const Trace* trace, const Experiment& experiment, const std::string& name);

/// Columns per head of a stage of the trace ("query", "key" or "value"); 0 if the stage does not exist.
int head_width(const Trace& trace, StageKey heads, StageKey whole);
/// d_k in the scale 1/√d_k: the trace's if it has keys, else that of the experiment.
int key_width(const Experiment& experiment, const Trace* trace);

/// Sets a custom matrix. Custom scores have no d_k: a scale of 1/√d_k is replaced by its current value.
void set_custom(Document& document, const std::string& name, Matrix values, const std::string& gesture = {});
/// Removes a custom matrix, if there is one.
void discard_custom(Document& document, const std::string& name);

/// Parses what was typed into a cell: "nan", "-inf", "0.25". Throws Error(bad_input).
float parse_cell(const std::string& text);

}  // namespace attnscope
