// Editing what an experiment is given outright: painted masks, and matrices cell by cell.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "app/document/document.h"

namespace attnscope {

/// A way to fill a mask.
struct MaskPreset {
    std::string_view name;
    std::string_view help;
    /// Whether query i may look at key j, both from 0; `now`: whether it may before.
    bool (*open)(int i, int j, bool now);
};
std::span<const MaskPreset> mask_presets();

/// The stage that shows which pairs are open: "mask", or "alignment_mask" of a decoder.
std::string_view mask_stage(const Experiment& experiment);
/// What of given_names() decides a stage: the mask for either of those, else what is called so; empty if
/// nothing.
std::string given_name_of(std::string_view stage);
/// What keeps a pair closed whatever the mask says, in all heads where `head` is −1: "the local window, D =
/// 2", "the given bias of −∞"; empty if nothing does.
std::string closed_beyond_mask(const Trace& trace, int head, int query, int key);

/// The rules and the given mask in one: 0 where one of them closes, else 1, or what is given instead. A given
/// mask of another size counts for nothing. Throws as mask_matrix().
Matrix editable_mask(const Experiment& experiment, int queries, int keys);
/// One cell of it, without making the others.
bool may_look(const Experiment& experiment, int queries, int keys, int query, int key);
/// Makes `mask` the given one, and the rules, which stand in it, go.
void paint_mask(Document& document, Matrix mask, const std::string& gesture = {});

/// Rows and columns that `name` of given_names() has to have, or would have, in this trace.
struct GivenSize {
    int rows;
    int columns;
    bool operator==(const GivenSize&) const = default;
};
GivenSize given_size(const Trace& trace, std::string_view name);
/// What editing begins with: what is given, else what the trace has (its heads one below the other), else 1
/// for masks and gains and 0 for all else.
Matrix given_start(const Trace* trace, const Experiment& experiment, const std::string& name);

/// Columns of one head of a stage of the trace, "query", "key" or "value"; 0 if it has none.
int head_width(const Trace& trace, const std::string& stage);
/// d_k, by which 1/√d_k scales: the trace's where it has keys, else what the experiment asks for.
int key_width(const Experiment& experiment, const Trace* trace);

/// Gives a matrix. With given scores there is no d_k: a scale by it becomes the number that it was.
void give(Document& document, const std::string& name, Matrix values, const std::string& gesture = {});
void take_back(Document& document, const std::string& name);

/// "nan", "-inf", "0.25" as typed into a cell. Throws Error(bad_input).
float parse_cell(const std::string& text);

}  // namespace attnscope
