// A Presentation: everything that determines a picture, and no number in it.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>

#include "core/choice.h"
#include "core/layer_name.h"
#include "core/picture/colormap.h"
#include "core/picture/theme.h"

namespace attnscope {

/// One head (stored from 0), all heads, or their mean.
struct HeadChoice {
    enum class Kind { one, all, mean };
    Kind kind = Kind::one;
    int head = 0;
    bool operator==(const HeadChoice& other) const {
        return kind == other.kind && (kind != Kind::one || head == other.head);
    }
};

/// The range of the color bar.
struct RangeChoice {
    enum class Kind {
        matrix,  ///< the matrix shown: this head's, or the mean's
        head,    ///< this head: scores, scaled and masked scores together; weights and context each on their
                 ///< own
        all,     ///< this stage, all heads
        fixed,   ///< from min to max
    };
    Kind kind = Kind::matrix;
    double min = 0;
    double max = 1;
    bool operator==(const RangeChoice& other) const {
        return kind == other.kind && (kind != Kind::fixed || (min == other.min && max == other.max));
    }
};

/// A cell of a stage, counted from 0.
struct Cell {
    int row = 0;
    int column = 0;
    bool operator==(const Cell&) const = default;
};

/// The view shown in the window.
enum class ViewKind { pipeline, alignment, image, training };
constexpr auto choice_names(ViewKind) {
    using enum ViewKind;
    return std::to_array<ChoiceName<ViewKind>>(
        {{pipeline, "pipeline"}, {alignment, "alignment"}, {image, "image"}, {training, "training"}});
}

/// Settings that affect the picture, but no number in it.
struct Presentation {
    ViewKind view = ViewKind::pipeline;
    std::string stage = "weights";  ///< in focus; which of a stack's layers it is, `layer` says
    int layer = 1;                  ///< the layer of a stack that is shown, 1 … 24
    HeadChoice head;
    RangeChoice range;
    ColormapKind colormap = ColormapKind::viridis;
    ThemeKind theme = ThemeKind::dark;
    std::optional<int>
        cell_size;       ///< pixels per side of an exported cell, 1 … 512; none: by the matrix's size
    bool values = true;  ///< numbers in the cells where they fit
    std::string title;   ///< of an exported picture; empty: the stage's name and formula
    std::optional<Cell> locked;
    std::string locked_in;   ///< the stage of the locked cell, with its layer; empty: the stage in focus
    bool gradients = false;  ///< beside the stages, the loss's gradients with respect to them

    /// The stage in focus, for Trace::find_named(), to which a name without a layer is one of the first.
    std::string focused() const { return name_in_layer(layer > 1 ? layer : 0, stage); }
    /// Whether gradients are to be computed: they are shown, or one is in focus or locked.
    bool wants_gradients() const {
        return gradients || is_gradient_name(stage) || is_gradient_name(locked_in);
    }
    /// The stage of the locked cell, for the same.
    std::string locked_stage() const { return locked_in.empty() ? focused() : locked_in; }
    /// Focuses a stage: "weights", or "2.weights" with its layer. A locked cell stays in the stage where it
    /// was locked.
    void focus(std::string_view name) {
        const std::string home = locked_stage();
        set_stage(name);
        locked_in = locked && home != focused() ? home : "";
    }
    /// Locks a cell of a stage, which comes into focus, or unlocks.
    void lock(std::string_view name, const std::optional<Cell>& cell) {
        set_stage(name);
        locked = cell;
        locked_in.clear();
    }

    void set_stage(std::string_view name) {
        const LayerName parts = split_layer(name);
        stage = parts.name;
        if (parts.layer > 0) layer = parts.layer;
    }

    bool operator==(const Presentation&) const = default;
};

}  // namespace attnscope
