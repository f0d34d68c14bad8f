// Shared by tests of the whole interface: a workspace in a window without a display, and functions that find
// controls without knowing their positions.
#pragma once

#include <gtest/gtest.h>
#include <imgui_internal.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "app/shell/workspace.h"
#include "core/experiment/option_section.h"
#include "core/session/examples.h"
#include "tests/headless.h"

namespace attnscope {

/// A matrix on screen and the stage it belongs to.
struct SeenMatrix {
    const Stage* stage;
    HeatmapRenderer::Drawn drawn;

    float pitch_x() const {
        return (drawn.bottom_right.x - drawn.top_left.x) / static_cast<float>(drawn.columns);
    }
    float pitch_y() const {
        return (drawn.bottom_right.y - drawn.top_left.y) / static_cast<float>(drawn.rows);
    }
    /// `x` and `y` in cells as drawn.
    ImVec2 at(float x, float y) const {
        return {drawn.top_left.x + x * pitch_x(), drawn.top_left.y + y * pitch_y()};
    }
    bool sees(ImVec2 p) const {
        return p.x >= drawn.clip_min.x && p.x < drawn.clip_max.x && p.y >= drawn.clip_min.y &&
               p.y < drawn.clip_max.y;
    }
};

/// A point of a drawn cell that no number is written over.
inline ImVec2 bare_point(const SeenMatrix& seen, int row, int column) {
    const bool large = seen.pitch_x() >= 16 && seen.pitch_y() >= 16;
    return seen.at(static_cast<float>(column) + 0.5f, static_cast<float>(row) + (large ? 0.12f : 0.5f));
}

class InterfaceTest : public HeadlessTest {
protected:
    EvaluateOptions how = {};  ///< sessions that are started from now on are evaluated

    void SetUp() override { start(load_example("scaled-dot-product")); }
    void TearDown() override {
        HeadlessTest::TearDown();
        workspace.reset();
    }

    /// Opens a session with nothing locked and its note closed.
    void start(Session session, int width = 1600, int height = 1000, float scale = 1) {
        SavedState state;
        state.closed_note = session.note;
        start_with(state, std::move(session), width, height, scale);
    }
    /// Starts with a session and its note.
    void start_noted(Session session, int width = 1600, int height = 1000, float scale = 1) {
        start_with({}, std::move(session), width, height, scale);
    }
    void start_with(SavedState state, Session session, int width, int height, float scale) {
        workspace.reset();
        open(width, height, scale);
        if (!window) return;
        session.presentation.locked.reset();
        state.session = std::move(session);
        state.scale = scale;
        workspace = std::make_unique<Workspace>(
            state, how, [] {}, shaders);
        // Tests of single rows find them all; what a person sees at first is tested by itself.
        workspace->controls().folded_sections->clear();
        for (const auto& [section, name] : choices<OptionSection>())
            workspace->controls().whole_sections->insert(std::string(name));
        callbacks = workspace->callbacks();
        window->set_theme(workspace->theme());
        settle();
    }

    Document& document() { return workspace->document(); }
    Interaction& interaction() { return workspace->interaction(); }
    const std::string& text() { return document().experiment().input.text; }

    /// One frame, `seconds` after the one before; drawn only if it is visible.
    void step(bool visible = false, double seconds = 1.0 / 60) {
        window->context().bind();
        const HeadlessContext& context = window->context();
        window->host().step(callbacks, {context.width(), context.height(), scale()}, seconds,
                            visible ? FrameHost::Drawing::always : FrameHost::Drawing::never);
    }
    float scale() const { return static_cast<float>(workspace->scale()); }
    void step_through_input() {
        while (!window->host().input().empty()) step();
        for (int i = 0; i < 3; ++i) step();
    }
    /// Frames until everything asked for is computed and shown.
    void settle() {
        step_through_input();
        finish(workspace->opener());
        finish(workspace->matrix_reader());
        finish(workspace->first_reader());
        document().settle();
        step_through_input();
    }
    template <typename File>
    void finish(const FileReader<File>& reader) {
        if (!reader.running()) return;
        reader.wait();
        step();
    }
    void play(const std::vector<InputEvent>& events) {
        push(events);
        settle();
    }
    void press(Key key, Mods mods = {}) { play(pressing(key, mods)); }
    /// The window as it looks now.
    gl::Pixels picture() {
        window->set_theme(workspace->theme());
        step();
        step(true);
        return window->pixels();
    }

    // The mouse
    // -------------------------------------------------------------------------------------------------

    void move(ImVec2 to) { play({MouseMove{to.x, to.y}}); }
    void click(ImVec2 at, int button = 0) {
        play({MouseMove{at.x, at.y}});
        play({MouseButton{.button = button, .down = true}, MouseButton{.button = button, .down = false}});
    }
    void drag(ImVec2 from, ImVec2 by, int moves = 8) {
        play({MouseMove{from.x, from.y}});
        push({MouseButton{.button = 0, .down = true}});
        step_through_input();
        for (int i = 1; i <= moves; ++i) {
            const float part = static_cast<float>(i) / static_cast<float>(moves);
            push({MouseMove{from.x + by.x * part, from.y + by.y * part}});
            step();
        }
        play({MouseButton{.button = 0, .down = false}});
    }
    void wheel(ImVec2 at, float notches) { play({MouseMove{at.x, at.y}, Wheel{.x = 0, .y = notches}}); }

    // Controls
    // -------------------------------------------------------------------------------------------------

    /// The window whose name contains `part`; open windows before closed ones.
    static ImGuiWindow* find_window(const std::string& part) {
        ImGuiWindow* found = nullptr;
        for (ImGuiWindow* each : ImGui::GetCurrentContext()->Windows)
            if (std::string(each->Name).find(part) != std::string::npos && (!found || each->WasActive))
                found = each;
        if (ImGuiWindow* named_so = ImGui::FindWindowByName(part.c_str())) found = named_so;
        return found;
    }
    /// The ids of the controls of the newest frame, in reading order.
    std::vector<unsigned> drawn_controls() const {
        std::vector<unsigned> ids;
        for (const DrawnControl& control : workspace->controls().focus.drawn) ids.push_back(control.id);
        return ids;
    }
    /// A control's id, from what is pushed on the id stack to it.
    static ImGuiID id_of(const ImGuiWindow& in, const std::vector<std::string>& ids) {
        ImGuiID id = in.ID;
        for (const std::string& each : ids) id = ImHashStr(each.c_str(), 0, id);
        return id;
    }
    /// Where a control stands. Asks ImGui's keyboard navigation, which follows a control.
    ImRect area_of(ImGuiWindow* in, ImGuiID id) {
        ImGuiContext& imgui = *ImGui::GetCurrentContext();
        const ImGuiID id_before = imgui.NavId;
        ImGuiWindow* const window_before = imgui.NavWindow;
        imgui.NavId = id;
        imgui.NavWindow = in;
        in->NavRectRel[0] = ImRect(-1, -1, -1, -1);
        step();
        const ImRect found = ImGui::WindowRectRelToAbs(in, in->NavRectRel[0]);
        imgui.NavId = id_before;
        imgui.NavWindow = window_before;
        return found;
    }
    /// The middle of a control, brought into sight, after the mouse has found it there.
    ImVec2 place_of(const std::string& window_part, const std::vector<std::string>& ids) {
        ImGuiContext& imgui = *ImGui::GetCurrentContext();
        ImGuiWindow* in = find_window(window_part);
        if (!in) {
            ADD_FAILURE() << "there is no window " << window_part;
            return {-1, -1};
        }
        const ImGuiID id = id_of(*in, ids);
        ImRect found = area_of(in, id);
        if (found.Max.y > in->InnerClipRect.Max.y || found.Min.y < in->InnerClipRect.Min.y) {
            ImGui::SetScrollY(in, in->Scroll.y + found.Min.y - in->InnerClipRect.GetCenter().y);
            step();
            found = area_of(in, id);
        }
        const ImVec2 middle = found.GetCenter();
        push({MouseMove{middle.x, middle.y}});
        step();
        step();
        EXPECT_EQ(imgui.HoveredId, id)
            << "the mouse does not reach " << ids.back() << " at " << middle.x << ", " << middle.y;
        return middle;
    }
    /// The whole of a control, named as for place_of.
    ImRect area_of(const std::string& window_part, const std::vector<std::string>& ids) {
        place_of(window_part, ids);
        ImGuiWindow* in = find_window(window_part);
        return in ? area_of(in, id_of(*in, ids)) : ImRect(-1, -1, -1, -1);
    }
    /// The field of an option's row in the experiment panel: the row's label, then the field's own ids.
    ImVec2 field_of(const std::string& label, const std::vector<std::string>& ids) {
        std::vector<std::string> all = ids;
        all.insert(all.begin(), label);
        return place_of("/experiment_", all);
    }
    /// Whether the experiment panel has this control.
    bool has_field(const std::string& label, std::vector<std::string> ids) {
        ids.insert(ids.begin(), label);
        ImGuiWindow* in = find_window("/experiment_");
        return in && area_of(in, id_of(*in, ids)).GetWidth() > 0;
    }
    /// An entry of the list that is open.
    void choose(const std::string& entry) { click(place_of("##Combo", {entry})); }
    ImVec2 sentence_field() { return place_of("attnscope", {"##sentence"}); }

    // Matrices
    // -------------------------------------------------------------------------------------------------

    /// Every matrix of the trace on screen.
    std::vector<SeenMatrix> seen_matrices() {
        std::vector<SeenMatrix> seen;
        const Trace& trace = *document().trace();
        for (const auto& drawn : window->host().heatmaps().drawn()) {
            for (const StageRecord& record : trace.records)
                if (record.stage == drawn.owner) seen.push_back({record.stage.get(), drawn});
            for (const StagePtr& gradient : trace.gradients)
                if (gradient == drawn.owner) seen.push_back({gradient.get(), drawn});
        }
        return seen;
    }
    /// The focused stage, large: drawn after its thumbnail.
    SeenMatrix focused() {
        const Trace* trace = document().trace().get();
        const StageKey chosen = document().presentation().stage;
        const Stage* stage = trace ? trace->find_chosen(chosen) : nullptr;
        return seen_of(stage ? std::string(stage->name()) : stage_name(chosen), false);
    }
    ImVec2 cell_place(int row, int column) {
        return focused().at(static_cast<float>(column) + 0.5f, static_cast<float>(row) + 0.5f);
    }
    SeenMatrix thumbnail(const std::string& stage) { return seen_of(stage, true); }
    SeenMatrix seen_of(const std::string& stage, bool first) {
        step();
        SeenMatrix found{};
        for (const SeenMatrix& seen : seen_matrices())
            if (seen.stage->name() == stage && (!first || !found.stage)) found = seen;
        EXPECT_NE(found.stage, nullptr) << stage << " is not drawn";
        return found;
    }

    std::unique_ptr<Workspace> workspace;
    FrameCallbacks callbacks;
};

}  // namespace attnscope
