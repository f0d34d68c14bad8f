// The whole interface: a document and everything that draws it. The same workspace is hosted by a window on
// the screen (Window), a headless one in tests (HeadlessWindow), and `measure`.
#pragma once

#include <chrono>
#include <deque>
#include <functional>
#include <memory>
#include <string>

#include "app/actions/actions.h"
#include "app/document/desk.h"
#include "app/shell/frame.h"
#include "app/ui/text_field.h"
#include "app/ui/ui.h"
#include "core/gpu/context.h"
#include "core/gpu/gl_version.h"
#include "core/gpu/shaders.h"

namespace attnscope {

/// The largest interface scale that leaves room for the side panels and the strip in a window of this size
/// (pixels of a monitor whose own scale is 1), at most `scale`.
float scale_that_fits(double scale, float width, float height);

class Workspace {
public:
    /// `wake` is called from other threads when there is something new to draw.
    Workspace(SavedState state, EvaluateOptions options, std::function<void()> wake,
              ShaderSource shaders = {});

    /// The callbacks for a Window or a HeadlessWindow.
    FrameCallbacks callbacks();

    Document& document() { return document_; }
    Interaction& interaction() { return interaction_; }
    Controls& controls() { return controls_; }
    Exporter& exporter() { return exporter_; }
    /// Selects the backend by SavedState::backend: possibly the graphics card, described by `version`, in a
    /// context made by `make_context`, which is called on this thread and shares with the window's.
    void offer_card(const GlVersion& version, std::function<std::unique_ptr<GlContext>()> make_context);
    ParityRun& parity() { return parity_; }
    Gallery& gallery() { return gallery_; }
    Previewer& previewer() { return previewer_; }
    Opener& opener() { return opener_; }
    MatrixReader& matrix_reader() { return matrix_reader_; }
    /// Reads the file of the state's session, which may be slow or hang.
    SessionReader& first_reader() { return first_reader_; }
    /// Cancels all background work and waits for it, at most this long. False if something does not stop:
    /// then the workspace and what it draws with must outlive it, and the process has to end without
    /// destroying them (keep_and_leave() in app/document/keeper.h). Nothing is computed afterwards.
    bool end_within(std::chrono::milliseconds most);
    /// Runs an action of the registry, as a menu or a shortcut does.
    void run(const Action& action);

    /// The state to save between two runs, as of now.
    SavedState state() const;
    /// How the window should look: the theme and the scale of the interface.
    ThemeKind theme() const;
    double scale() const { return interaction_.interface_scale; }
    bool quits() const { return interaction_.quit; }
    std::string title() const;
    /// A line for the status bar: a session that could not be restored, a font that is missing.
    void notice(std::string text, bool problem) { interaction_.notice = {std::move(text), problem}; }

private:
    void draw(FrameInput& frame);
    void draw_all(FrameInput& frame);
    /// What the controls and the pointer did in the frame before is forgotten, and noted after this one.
    void begin_frame();
    void explain_sought();
    void end_frame();
    void choose_backend_as_asked();
    void take_saved_shaders(const HeatmapRenderer& heatmaps);
    bool on_key(const KeyPress& press);
    bool on_control_key(const KeyPress& press, bool typing);
    void say_why_not(std::string why);
    bool kept_from(const Action& action) const;
    void open_what_was_asked_for();
    void open_next_dropped();
    void copy_script_as_asked();
    void copy_picture_as_asked();
    void on_drop(const std::vector<std::string>& paths);
    ActionContext context() { return {document_, interaction_, saved_, copy_}; }

    SavedState saved_;
    Document document_;
    Interaction interaction_;
    Controls controls_;
    Exporter exporter_;
    Previewer previewer_;
    Gallery gallery_;
    ParityRun parity_;
    Opener opener_;
    MatrixReader matrix_reader_;
    SessionReader first_reader_;
    FileMaker script_maker_, picture_maker_;
    SentenceFields sentences_;
    std::function<void(const std::string&)> copy_;
    std::string processor_;
    std::function<std::unique_ptr<GlContext>()> make_context_;
    std::string why_not_faster_;  ///< why the graphics card is not used, if known without measuring
    std::optional<BackendWish> chosen_backend_;  ///< of saved_.backend
    const ShaderSource shaders_;
    std::uint64_t shaders_stamp_ = shaders_.stamp();
    std::string shader_problem_;
    std::deque<std::string> dropped_;  ///< files that are still to be opened, matrices last
    std::string drop_problem_;         ///< the first of these
    int frames_ = 0;
    bool wants_frame_ = true;
};

}  // namespace attnscope
