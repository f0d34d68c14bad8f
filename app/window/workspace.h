// The whole interface: a document, and everything that is drawn of it. A window on the screen, a headless one
// and a measurement host the same workspace.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>

#include "app/actions/actions.h"
#include "app/document/document.h"
#include "app/document/exporter.h"
#include "app/document/interaction.h"
#include "app/document/opener.h"
#include "app/document/parity_run.h"
#include "app/document/saved_state.h"
#include "app/window/frame.h"
#include "app/window/text_field.h"
#include "app/window/ui.h"
#include "core/gpu/context.h"
#include "core/gpu/gl_version.h"
#include "core/gpu/shaders.h"

namespace attnscope {

/// The interface's scale, no larger than what leaves the side panels and the strip in a window of so many
/// pixels (of a monitor whose own scale is 1).
float scale_that_fits(double scale, float width, float height);

class Workspace {
public:
    /// `wake` is called from other threads when there is something new to draw.
    Workspace(SavedState state, EvaluateOptions options, std::function<void()> wake);

    /// What a Window or a HeadlessWindow calls.
    FrameCallbacks callbacks();

    Document& document() { return document_; }
    Interaction& interaction() { return interaction_; }
    Exporter& exporter() { return exporter_; }
    /// From now on what SavedState::backend says computes: maybe the graphics card, of which `version` is
    /// known, in a context that `make_context` makes, called on this thread, and that shares with the
    /// window's.
    void offer_card(const GlVersion& version, std::function<std::unique_ptr<GlContext>()> make_context);
    ParityRun& parity() { return parity_; }
    Opener& opener() { return opener_; }
    /// Cancels all that runs in the background, and waits for it so long. False: something does not stop, and
    /// the workspace and what it draws with must outlive it. Nothing is computed from then on.
    bool end_within(std::chrono::milliseconds most);
    /// Runs an action of the registry, as a menu or a key does.
    void run(const Action& action);

    /// What is kept between two runs, as of now.
    SavedState state() const;
    /// What the window is to look like: the theme of the interface and its scale.
    ThemeKind theme() const;
    double scale() const { return interaction_.interface_scale; }
    bool quits() const { return interaction_.quit; }
    std::string title() const;
    /// One line for the status bar: a session that could not be restored, a font that is missing.
    void notice(std::string text, bool problem) { interaction_.notice = {std::move(text), problem}; }

private:
    void draw(FrameInput& frame);
    void draw_all(FrameInput& frame);
    void choose_backend_as_asked();
    void take_saved_shaders(const HeatmapRenderer& heatmaps);
    bool on_key(const KeyPress& press);
    bool on_control_key(const KeyPress& press, bool typing);
    bool kept_from(const Action& action) const;
    void open_what_was_asked_for();
    void on_drop(const std::vector<std::string>& paths);
    ActionContext context() { return {document_, interaction_, saved_, copy_}; }

    SavedState saved_;
    Document document_;
    Interaction interaction_;
    Exporter exporter_;
    ParityRun parity_;
    Opener opener_;
    SentenceFields sentences_;
    std::function<void(const std::string&)> copy_;
    std::string processor_;
    std::function<std::unique_ptr<GlContext>()> make_context_;
    std::string why_not_faster_;  ///< the card, as is known without measuring
    std::string chosen_backend_;  ///< of saved_.backend; empty: nothing is chosen yet
    std::uint64_t shaders_stamp_ = shaders_stamp();
    std::string shader_problem_;
    int frames_ = 0;
    bool wants_frame_ = true;
};

}  // namespace attnscope
