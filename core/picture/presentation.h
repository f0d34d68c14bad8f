// A Presentation: everything that determines a picture, and no number in it.
#pragma once

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>

#include "core/choice.h"
#include "core/graph/stage_table.h"
#include "core/picture/colormap.h"
#include "core/picture/theme.h"
#include "core/tensor/buffer.h"

namespace attnscope {

/// One head (stored from 0), all heads, or their mean.
struct HeadChoice {
    enum class Kind { one, all, mean };
    Kind kind = Kind::one;
    int head = 0;
    /// The index by which values and facts of a head are asked for: −1 for the mean.
    int index() const { return kind == Kind::mean ? -1 : head; }
    bool operator==(const HeadChoice& other) const {
        return kind == other.kind && (kind != Kind::one || head == other.head);
    }
};

/// The range of the color bar.
struct RangeChoice {
    enum class Kind {
        automatic,   ///< weights of up to k_few_keys keys: 0 … 1; of values on demand: as `percentile`; all
                     ///< else: as `all`
        matrix,      ///< the matrix shown: this head's, or the mean's
        head,        ///< this head: scores, scaled and masked scores together; weights and context each on
                     ///< their own
        all,         ///< this stage, all heads
        percentile,  ///< the matrix shown without its smallest and its largest 1 %, which get the ends'
                     ///< colors
        fixed,       ///< from min to max
    };
    Kind kind = Kind::automatic;
    double min = 0;
    double max = 1;
    bool operator==(const RangeChoice& other) const {
        return kind == other.kind && (kind != Kind::fixed || (min == other.min && max == other.max));
    }
};

/// Weights of more keys are too small for a range of 0 … 1.
inline constexpr int k_few_keys = 32;

/// How the colors are spaced over the range.
enum class ColorSpacing {
    linear,
    log,  ///< by the logarithm, over four decades of weights and three on either side of 0 of signed values
};
constexpr auto choice_names(ColorSpacing) {
    using enum ColorSpacing;
    return std::to_array<ChoiceName<ColorSpacing>>({{linear, "linear"}, {log, "log"}});
}

/// A cell of a stage, counted from 0.
struct Cell {
    int row = 0;
    int column = 0;
    bool operator==(const Cell&) const = default;
};

/// The view shown in the window.
enum class ViewKind { pipeline, heads, lines, compare, sweep, alignment, step, image, training };
constexpr auto choice_names(ViewKind) {
    using enum ViewKind;
    return std::to_array<ChoiceName<ViewKind>>({{pipeline, "pipeline"},
                                                {heads, "heads"},
                                                {lines, "lines"},
                                                {compare, "compare"},
                                                {sweep, "sweep"},
                                                {alignment, "alignment"},
                                                {step, "step"},
                                                {image, "image"},
                                                {training, "training"}});
}

/// A setting that goes through values.
enum class Sweep { none, seed, temperature, dim, scale, score, normalizer };
constexpr auto choice_names(Sweep) {
    using enum Sweep;
    return std::to_array<ChoiceName<Sweep>>({{none, "none"},
                                             {seed, "seed"},
                                             {temperature, "temperature"},
                                             {dim, "dim"},
                                             {scale, "scale"},
                                             {score, "score"},
                                             {normalizer, "normalizer"}});
}

/// What an exported picture shows beside the matrix of a stage.
enum class Compose {
    none,      ///< the matrix alone
    operands,  ///< what it is computed from, to its left and above it
    heads,     ///< every head, and every layer of a stack, on one range
    strip,     ///< every stage of the computation
    compare,   ///< A, which is pinned, B, and B − A
    steps,     ///< how one row of weights is computed, step by step
    film,      ///< every frame of a film, on one range; of a sweep also the mean and the spread
};
constexpr auto choice_names(Compose) {
    using enum Compose;
    return std::to_array<ChoiceName<Compose>>({{none, "none"},
                                               {operands, "operands"},
                                               {heads, "heads"},
                                               {strip, "strip"},
                                               {compare, "compare"},
                                               {steps, "steps"},
                                               {film, "film"}});
}

/// The size of an exported picture on paper: its cells are as large as the width allows.
struct Paper {
    double width;          ///< millimeters, 20 … 2000
    double dpi = 300;      ///< pixels per inch of a PNG, 36 … 2400
    double font_size = 8;  ///< points, of all text but the title, 4 … 36
    bool operator==(const Paper&) const = default;
};

/// A size on paper by name: a journal's column, a slide. The export dialog lists all of k_paper_presets.
struct PaperPreset {
    std::string_view name;
    Paper paper;
    ThemeKind theme;
    ColormapKind colormap;
};
/// The color map of pictures on paper, unless another one is chosen: light where a weight is small.
inline constexpr ColormapKind k_paper_colormap = ColormapKind::blues;
inline constexpr std::array k_paper_presets = {
    PaperPreset{"one column", {84, 300, 8}, ThemeKind::print, k_paper_colormap},
    PaperPreset{"two columns", {174, 300, 8}, ThemeKind::print, k_paper_colormap},
    PaperPreset{"slide", {254, 150, 18}, ThemeKind::light, ColormapKind::viridis}};

/// The range of Presentation::mass.
inline constexpr double k_least_mass = 0.5, k_default_mass = 0.9;

/// The range of Presentation::max_cells.
inline constexpr int k_least_max_cells = 64, k_default_max_cells = 1536, k_most_max_cells = 4096;

/// Settings that affect the picture, but no number in it.
struct Presentation {
    ViewKind view = ViewKind::pipeline;
    StageKey stage = "weights"_stage;  ///< in focus; its layer, 2 … 24 or 0 for the first, is the one shown
    HeadChoice head;
    std::string head_names;  ///< separated by ";", head by head, one layer after the other
    RangeChoice range;
    ColorSpacing spacing = ColorSpacing::linear;
    Pool pooling = Pool::dominant;  ///< of pairs that share a cell, in a text of more than 4096 tokens
    ColormapKind colormap = ColormapKind::viridis;
    ThemeKind theme = ThemeKind::dark;
    std::optional<int>
        cell_size;  ///< pixels per side of an exported cell, 1 … 512; none: by the matrix's size
    int max_cells = k_default_max_cells;  ///< a side of an exported picture, above which pairs share a cell
    std::optional<Region> region;         ///< of stages of pairs, the part that is exported; none: all of it
    bool values = true;                   ///< numbers in the cells where they fit
    std::optional<int> decimals;          ///< of the numbers in the cells, 0 … 6; none: up to three digits
    std::optional<std::string> title;     ///< of an exported picture, which may be empty; none: the stage's
                                          ///< name and formula
    Compose compose = Compose::none;
    Sweep sweep = Sweep::none;    ///< what a film goes through, instead of the steps of training
    std::optional<double> width;  ///< of an exported picture, see Paper; none: in pixels
    double dpi = 300, font_size = 8;
    std::optional<Cell> locked;
    double mass = k_default_mass;       ///< share of each query's weight that its lines make up, 0.5 … 1
    std::optional<StageKey> locked_in;  ///< the stage of the locked cell; none: the stage in focus
    bool gradients = false;             ///< beside the stages, the loss's gradients with respect to them

    std::optional<Paper> paper() const {
        return width ? std::optional(Paper{*width, dpi, font_size}) : std::nullopt;
    }
    /// The layer of a stack that is shown, 1 … 24. It stays where a stage outside the layers is in focus.
    int layer() const { return std::max(1, stage.layer); }
    void set_layer(int layer) { stage.layer = layer > 1 ? layer : 0; }
    /// Whether gradients are to be computed: they are shown, or one is in focus or locked.
    bool wants_gradients() const {
        using enum StageKey::Part;
        return gradients || stage.part == gradient || (locked_in && locked_in->part == gradient);
    }
    /// The stage of the locked cell, for Trace::find_chosen() as `stage` is.
    StageKey locked_stage() const { return locked_in.value_or(stage); }
    /// Focuses a stage, in the layer that is shown if the key has none. A locked cell stays in the stage
    /// where it was locked.
    void focus(const StageKey& key) {
        const StageKey home = locked_stage();
        set_stage(key);
        locked_in = locked && home != stage ? std::optional(home) : std::nullopt;
    }
    /// Locks a cell of a stage, which comes into focus, or unlocks.
    void lock(const StageKey& key, const std::optional<Cell>& cell) {
        set_stage(key);
        locked = cell;
        locked_in.reset();
    }
    void unlock() {
        locked.reset();
        locked_in.reset();
    }

    void set_stage(const StageKey& key) {
        const int shown = key.layer > 0 ? key.layer : layer();
        stage = key;
        set_layer(shown);
    }

    bool operator==(const Presentation&) const = default;
};

}  // namespace attnscope
