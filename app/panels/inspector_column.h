// The column of text that the inspector writes, from top to bottom.
#pragma once

#include <string>

#include "app/ui/ui.h"
#include "core/graph/trace.h"
#include "core/op/proof.h"

namespace attnscope {

struct Column {
    const Ui& ui;
    ImDrawList* list;
    float left, right;
    bool of_weights = false;  ///< a number too small to read is "< 0.001"

    float y() const { return ImGui::GetCursorScreenPos().y; }
    void advance(float units) const { ImGui::Dummy({1, ui.px(units)}); }
    float width() const { return right - left; }
};

/// Whether small numbers of a stage are of no use to a reader, as its numbers add up to 1.
bool is_of_weights(const Stage& stage);

/// A number of a proof: four decimals, or three significant digits where these would hide it.
std::string value_text(double value);
/// A number of a proof as the column writes it: of weights, what is below a thousandth is "< 0.001".
std::string value_text(const Column& c, double value);

/// A section's title in small capitals, with a derived figure at the right.
void heading(const Column& c, const std::string& title, const std::string& derived);
/// A label to the left of a value that is `beside` pixels wide, `below` units lower than the line; on a line
/// of its own if both do not fit on one.
void put_beside(const Column& c, const std::string& label, float beside, float below);
/// The tooltip of a label that is `width` pixels wide and `height` units high; `y` is the top of its line.
/// Nothing if it is empty.
void explain_label(const Column& c, const std::string& help, float y, float width, float height = 24);
/// A step of a proof, whose value can be selected and copied, with a rule below.
void line(const Column& c, const ProofStep& step, bool rule);
/// Wrapped text; nothing if it is empty.
void remark(const Column& c, const std::string& text);
/// The text with its middle replaced by "…" if it is wider than `width`.
std::string without_middle(ImFont* font, const std::string& text, float width);
/// "row → column", as `between` says, both shortened in the middle if they are wider than `width` together.
std::string two_names(ImFont* font, const std::string& row, const std::string& between,
                      const std::string& column, float width);

}  // namespace attnscope
