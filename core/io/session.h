// A Session: an experiment and how it is looked at; what files, examples, exported pictures and undo carry.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/attention/experiment.h"

namespace attnscope {

/// One head (counted from 0), all of them, or their mean.
struct HeadChoice {
    enum class Kind { one, all, mean };
    Kind kind = Kind::one;
    int head = 0;
    bool operator==(const HeadChoice& other) const {
        return kind == other.kind && (kind != Kind::one || head == other.head);
    }
};

/// What the two ends of the colour bar stand for.
struct RangeChoice {
    enum class Kind {
        matrix,  ///< the matrix on show: this head's, or the mean's
        head,    ///< this head's scores, scaled and masked scores together; its weights, its context
        all,     ///< this stage over all heads
        fixed,   ///< min … max
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

/// What decides the picture, and no number in it.
struct Presentation {
    std::string view = "pipeline";
    std::string stage = "weights";
    HeadChoice head;
    RangeChoice range;
    std::string colormap = "viridis";  ///< for probabilities; signed values are drawn on the diverging map
    std::string theme = "dark";        ///< dark, light, contrast, print
    std::optional<int> cell_size;      ///< pixels of an exported cell, 1 … 512; none: by the matrix's size
    bool values = true;                ///< numbers in the cells where they fit
    std::string title;                 ///< of an exported picture; empty: the stage's name and formula
    std::optional<Cell> locked;
    std::string locked_in;  ///< the stage of that cell; empty: the focused one

    const std::string& locked_stage() const { return locked_in.empty() ? stage : locked_in; }
    /// Puts a stage into focus. A locked cell stays one of the stage where it was locked.
    void focus(std::string_view name) {
        const std::string home = locked_stage();
        stage = name;
        locked_in = locked && home != stage ? home : "";
    }
    /// Locks a cell of a stage, which comes into focus, or unlocks.
    void lock(std::string_view name, const std::optional<Cell>& cell) {
        stage = name;
        locked = cell;
        locked_in.clear();
    }

    bool operator==(const Presentation&) const = default;
};

struct Session {
    Experiment experiment;
    Presentation presentation;
    std::string note;  ///< free text: what to look at

    bool operator==(const Session&) const = default;
};

/// `{"version": 1, "experiment": {…}, "presentation": {…}, "note": "…"}`, indented, keys in the table's
/// order, a final newline. Every option is written, so that a file means the same when defaults change.
std::string to_json(const Session& session);

/// A field that is missing takes its default. Throws Error(bad_input) naming `source` and, by its path, the
/// field that is unknown (with the nearest name), stands twice, has a wrong type or is out of range.
Session session_from_json(std::string_view text, std::string_view source);

/// Reads FILE: a session, or a PNG or SVG with a session inside; "-" is standard input.
/// Throws Error(io) if it cannot be read, Error(bad_input) if it holds no session.
Session load_session(const std::string& file);

}  // namespace attnscope
