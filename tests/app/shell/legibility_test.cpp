// Every text on screen can be read, in every view, theme and size: it has contrast, nothing cuts it, and it
// stands over no other.
#include <fmt/format.h>

#include <array>
#include <cmath>
#include <cstdlib>
#include <map>
#include <set>

#include "core/picture/color.h"
#include "core/session/comparisons.h"
#include "tests/interface.h"
#include "tests/sanitized.h"
#include "tests/screen_texts.h"

namespace attnscope {
namespace {

using test::ScreenText;

constexpr std::string_view k_ellipsis = "…";

/// A view, and a session that has it; with a dialog or a menu over it, that dialog, or what is clicked to
/// open the menu.
struct Scene {
    ViewKind view;
    const char* example;
    Dialog dialog = Dialog::none;
    const char* menu = nullptr;
    Sweep sweep = Sweep::none;
    void (*change)(Session&) = nullptr;  ///< what is different then
    HeadsOrder order = {};

    bool is_covered() const { return dialog != Dialog::none || menu; }
};

void show_gradients(Session& session) { session.presentation.gradients = true; }
/// Three heads do not divide 16 dimensions: the experiment is refused.
void ask_for_three_heads(Session& session) { session.experiment.attention.heads = 3; }
void pin_nothing(Session& session) { session.pinned.reset(); }

constexpr Scene scene_with(ViewKind view, const char* example, void (*change)(Session&)) {
    return {.view = view, .example = example, .change = change};
}

constexpr Scene k_scenes[] = {
    {ViewKind::pipeline, "designed-heads"},
    {ViewKind::pipeline, "masked-softmax"},
    {ViewKind::heads, "transformer-heads"},
    {ViewKind::lines, "designed-heads"},
    {ViewKind::compare, "causal"},
    {ViewKind::alignment, "bahdanau-alignment"},
    {ViewKind::sweep, "causal"},
    {ViewKind::sweep, "designed-heads"},
    {ViewKind::sweep, "causal", Dialog::none, nullptr, Sweep::normalizer},
    {ViewKind::step, "scaled-dot-product"},
    {ViewKind::image, "image-attention"},
    {ViewKind::training, "learned-induction"},
    scene_with(ViewKind::pipeline, "learned-induction", show_gradients),
    scene_with(ViewKind::pipeline, "scaled-dot-product", ask_for_three_heads),
    scene_with(ViewKind::compare, "scaled-dot-product", pin_nothing),
    scene_with(ViewKind::compare, "scalar-cross-attention", nullptr),
    scene_with(ViewKind::lines, "scalar-cross-attention", nullptr),
    scene_with(ViewKind::lines, "image-attention", nullptr),
    {.view = ViewKind::heads, .example = "transformer-heads", .order = {HeadsOrder::By::similarity}},
    {ViewKind::pipeline, "causal", Dialog::open},
    {ViewKind::pipeline, "causal", Dialog::save},
    {ViewKind::pipeline, "multi-head", Dialog::exporting},
    {ViewKind::pipeline, "causal", Dialog::giving},
    {ViewKind::pipeline, "causal", Dialog::history},
    {ViewKind::pipeline, "causal", Dialog::keys},
    {ViewKind::pipeline, "causal", Dialog::about},
    {ViewKind::pipeline, "causal", Dialog::palette},
    {ViewKind::pipeline, "causal", Dialog::find},
    {ViewKind::pipeline, "causal", Dialog::gallery},
    {ViewKind::pipeline, "causal", Dialog::parity},
    {ViewKind::compare, "causal", Dialog::none, "Comparewith▾"}};

/// Every menu of the menu bar, too.
std::vector<Scene> scenes() {
    std::vector<Scene> all(std::begin(k_scenes), std::end(k_scenes));
    for (const auto& [menu, name] : choices<Menu>())
        all.push_back({ViewKind::pipeline, "causal", Dialog::none, name.data()});
    return all;
}

Session session_of(const Scene& scene) {
    Session session = load_example(scene.example);
    if (scene.view == ViewKind::compare)
        session = *with_preset(session, *find_comparison_preset("no scaling"));
    session.presentation.view = scene.view;
    session.presentation.sweep = scene.sweep;
    if (scene.change) scene.change(session);
    return session;
}

struct Format {
    int width, height;
    float scale;
};

constexpr Format k_formats[] = {{1024, 700, 1},      {1024, 700, 0.5f},  {1600, 1000, 1}, {1600, 1000, 1.5f},
                                {1600, 1000, 1.95f}, {1024, 700, 1.25f}, {2560, 1440, 1}, {3840, 2160, 0.5f},
                                {3840, 2160, 1},     {3840, 2160, 2},    {3840, 2160, 4}};

class LegibilityTest : public InterfaceTest {
protected:
    void SetUp() override { start_noted(load_example("causal")); }

    void open_scene(const Scene& scene, const Format& screen) {
        SavedState state;
        start_with(state, session_of(scene), screen.width, screen.height, screen.scale);
        workspace->controls().whole_sections->clear();
        document().change(
            [&](Session& s) { s.presentation.locked = load_example(scene.example).presentation.locked; });
        settle();
        interaction().heads_order = scene.order;
        settle();
        if (scene.dialog != Dialog::none) {
            interaction().open(scene.dialog);
            settle();
            workspace->parity().wait();  // what comes later would stand over what says that it is awaited
            workspace->gallery().wait();
            settle();
            ImGui::ClearActiveID();  // no caret stands on the text of a field
        }
        if (scene.menu) click(place_of_text(scene.menu));
        step();
        step();
    }
    static ImVec2 place_of_text(std::string_view words) {
        const std::vector<ScreenText> texts = test::texts_on_screen();
        const auto found = std::ranges::find(texts, words, &ScreenText::text);
        if (found != texts.end()) return found->box.GetCenter();
        ADD_FAILURE() << "no text says " << words;
        return {-1, -1};
    }
    /// The texts of a scene: with a dialog or a menu over it, those on it.
    static std::vector<ScreenText> texts_of(const Scene& scene) {
        if (!scene.is_covered()) return test::texts_on_screen();
        return texts_over([](const ImGuiWindow& each) {
            return (each.Flags & ImGuiWindowFlags_Popup) || std::string_view(each.Name).ends_with("##dialog");
        });
    }
    /// The texts of the first window of which `is_over` holds, and of all that are drawn after it.
    static std::vector<ScreenText> texts_over(bool (*is_over)(const ImGuiWindow&)) {
        std::vector<ScreenText> texts = test::texts_on_screen();
        const auto& windows = ImGui::GetCurrentContext()->Windows;
        const auto found = std::find_if(windows.begin(), windows.end(), [&](const ImGuiWindow* each) {
            return each->WasActive && is_over(*each);
        });
        if (found == windows.end()) return {};
        const ImDrawData& frame = *ImGui::GetDrawData();
        int first = 0;
        while (first < frame.CmdListsCount && frame.CmdLists[first] != (*found)->DrawList) ++first;
        std::erase_if(texts, [&](const ScreenText& text) { return text.window < first; });
        return texts;
    }
    /// The texts that are cut with "…" and that the pointer does not show whole.
    std::vector<std::string> never_whole(const std::vector<ScreenText>& texts) {
        std::vector<std::string> found;
        for (const ScreenText& each : texts) {
            if (!each.text.ends_with(k_ellipsis) || ends_so(each.text)) continue;
            const std::string kept = each.text.substr(0, each.text.size() - k_ellipsis.size());
            move(each.box.GetCenter());
            for (int i = 0; i < 45; ++i) step();  // three quarters of a second
            std::string help;
            for (const ScreenText& text : texts_over([](const ImGuiWindow& each_window) {
                     return (each_window.Flags & ImGuiWindowFlags_Tooltip) != 0;
                 }))
                help += text.text;
            if (help.find(kept) == help.npos || help.ends_with(k_ellipsis))
                found.push_back(each.text + " → " + help);
        }
        move({0, 0});
        return found;
    }
    /// Whether "…" is a part of the text: a dialog follows, or more of the same is to be typed.
    static bool ends_so(std::string_view text) {
        constexpr std::string_view k_others[] = {"Browse…", "set…", "head1;head2;…", "CPUandGPU…",
                                                 "Comparethecurrentexperimentwith…"};
        if (std::ranges::find(k_others, text) != std::end(k_others)) return true;
        if (text.ends_with("before…")) return true;  // so many tokens stand before those in sight
        return std::ranges::any_of(actions(), [&](const Action& action) {
            std::string title(action.title);
            std::erase(title, ' ');
            return title == text;
        });
    }
    static std::string where(const Scene& scene, const Format& screen) {
        const std::string over = scene.menu ? std::string(", menu ") + scene.menu
                                 : scene.dialog == Dialog::none
                                     ? ""
                                     : ", dialog " + std::to_string(static_cast<int>(scene.dialog));
        return std::string(name_of(scene.view)) + " of " + scene.example + over + " at " +
               std::to_string(screen.width) + " × " + std::to_string(screen.height) + ", scale " +
               std::to_string(screen.scale);
    }
};

/// Whether the clip rectangle is that of a part that one scrolls, to the right (axis 0) or down (1), as its
/// scrollbar shows.
bool scrolls(const ImRect& clip, ImGuiAxis axis) {
    return std::ranges::any_of(ImGui::GetCurrentContext()->Windows, [&](const ImGuiWindow* each) {
        return each->WasActive && each->ScrollMax[axis] > 0 &&
               (axis == ImGuiAxis_X ? each->ScrollbarX : each->ScrollbarY) && each->InnerRect.Contains(clip);
    });
}

/// How far two boxes lie over each other, in the direction in which it is less.
float overlap(ImRect a, ImRect b) {
    a.ClipWithFull(b);
    return std::min(a.GetWidth(), a.GetHeight());
}

/// Over a picture a text has a shadow of another color.
bool is_shadow(const ScreenText& a, const ScreenText& b) {
    return a.text == b.text && a.color != b.color && std::abs(a.box.Min.x - b.box.Min.x) < 3 &&
           std::abs(a.box.Min.y - b.box.Min.y) < 3;
}

/// The pairs of texts that stand over each other by more than a pixel.
std::vector<std::string> overlaps(const std::vector<ScreenText>& texts) {
    std::vector<ImRect> seen;
    for (const ScreenText& text : texts) seen.push_back(text.seen());
    std::vector<std::string> found;
    for (std::size_t i = 0; i < texts.size(); ++i)
        for (std::size_t j = i + 1; j < texts.size(); ++j) {
            const ScreenText &a = texts[i], &b = texts[j];
            // The glyphs of an upright label are texts of their own, which may touch.
            const bool same_label = a.glyphs.size() == 1 && b.glyphs.size() == 1 && a.color == b.color;
            if (!seen[i].Overlaps(seen[j]) || same_label || is_shadow(a, b)) continue;
            float most = 0;
            for (ImRect x : a.glyphs)
                for (ImRect y : b.glyphs) {
                    x.ClipWithFull(a.clip);
                    y.ClipWithFull(b.clip);
                    if (x.Overlaps(y)) most = std::max(most, overlap(x, y));
                }
            if (most > 1) found.push_back("“" + a.text + "” and “" + b.text + "”");
        }
    return found;
}

/// The texts of which a side lies more than a pixel outside of what is seen, except where one can scroll to
/// it.
std::vector<std::string> cut_texts(const std::vector<ScreenText>& texts) {
    std::vector<std::string> cut;
    for (const ScreenText& text : texts)
        for (const ImGuiAxis axis : {ImGuiAxis_X, ImGuiAxis_Y})
            if (!scrolls(text.clip, axis) && (text.box.Min[axis] < text.clip.Min[axis] - 1 ||
                                              text.box.Max[axis] > text.clip.Max[axis] + 1))
                cut.push_back(text.text);
    return cut;
}

Rgb8 color_at(const gl::Pixels& pixels, int x, int y) {
    const std::uint32_t c =
        pixels.at(std::clamp(x, 0, pixels.width - 1), std::clamp(y, 0, pixels.height - 1));
    return {static_cast<std::uint8_t>(c >> 24), static_cast<std::uint8_t>(c >> 16),
            static_cast<std::uint8_t>(c >> 8)};
}

/// The most frequent color around a glyph: that of what it stands on.
Rgb8 ground(const gl::Pixels& pixels, const ImRect& glyph) {
    std::map<std::array<std::uint8_t, 3>, int> counts;
    const int left = static_cast<int>(glyph.Min.x) - 1, right = static_cast<int>(glyph.Max.x) + 1,
              top = static_cast<int>(glyph.Min.y) - 1, bottom = static_cast<int>(glyph.Max.y) + 1;
    const auto count = [&](int x, int y) {
        const Rgb8 c = color_at(pixels, x, y);
        ++counts[{c.red, c.green, c.blue}];
    };
    for (int x = left; x <= right; ++x) {
        count(x, top);
        count(x, bottom);
    }
    for (int y = top; y <= bottom; ++y) {
        count(left, y);
        count(right, y);
    }
    const auto most = std::ranges::max_element(counts, {}, [](const auto& each) { return each.second; });
    return {most->first[0], most->first[1], most->first[2]};
}

Rgb8 opaque(ImU32 color) {
    return {static_cast<std::uint8_t>(color >> IM_COL32_R_SHIFT),
            static_cast<std::uint8_t>(color >> IM_COL32_G_SHIFT),
            static_cast<std::uint8_t>(color >> IM_COL32_B_SHIFT)};
}

/// The text's color, where it covers a pixel of `ground` entirely.
Rgb8 drawn_color(ImU32 color, Rgb8 ground) {
    const float alpha = static_cast<float>(color >> IM_COL32_A_SHIFT & 255) / 255;
    const auto part = [&](int shift, std::uint8_t under) {
        return static_cast<std::uint8_t>(std::lround(static_cast<float>(color >> shift & 255) * alpha +
                                                     static_cast<float>(under) * (1 - alpha)));
    };
    return {part(IM_COL32_R_SHIFT, ground.red), part(IM_COL32_G_SHIFT, ground.green),
            part(IM_COL32_B_SHIFT, ground.blue)};
}

/// The texts that contrast too little with what they stand on, and their ratio.
std::set<std::string> weak_texts(const std::vector<ScreenText>& texts, const gl::Pixels& pixels) {
    std::set<std::string> weak;
    for (const ScreenText& text : texts) {
        const ImRect& glyph = *std::ranges::max_element(text.glyphs, {}, &ImRect::GetHeight);
        if (!text.clip.Contains(glyph)) continue;
        const auto shadow =
            std::ranges::find_if(texts, [&](const ScreenText& other) { return is_shadow(other, text); });
        const Rgb8 under = shadow == texts.end() ? ground(pixels, glyph) : opaque(shadow->color);
        const double ratio = contrast_ratio(drawn_color(text.color, under), under);
        // Colors have 256 steps: the theme's ratio may be missed by that of one.
        if (ratio < k_least_contrast - 0.05)
            weak.insert(
                fmt::format("{}: {:.2f} at {}, {}", text.text, ratio, text.box.Min.x, text.box.Min.y));
    }
    return weak;
}

/// The contrast at the usual size in every theme, at each other size in one: the themes take turns.
TEST_F(LegibilityTest, NoTextStandsOverAnotherIsCutOrLacksContrast) {
    if (!window) GTEST_SKIP();
    const auto themes = choices<ThemeKind>();
    std::size_t row = 0;
    for (const Scene& scene : scenes())
        for (const Format& screen : k_formats) {
            if (!test::is_visited(row++, 23)) continue;
            SCOPED_TRACE(where(scene, screen));
            open_scene(scene, screen);
            const std::vector<ScreenText> opened = texts_of(scene);
            EXPECT_GT(opened.size(), scene.is_covered() ? 1u : 20u);
            EXPECT_EQ(overlaps(opened), std::vector<std::string>{});
            EXPECT_EQ(cut_texts(opened), std::vector<std::string>{});
            EXPECT_EQ(never_whole(opened), std::vector<std::string>{});
            const bool usual = screen.width == 1600 && screen.scale == 1;
            for (std::size_t i = 0; i < themes.size(); ++i) {
                if (!usual && i != row % themes.size()) continue;
                document().change([&](Session& s) { s.presentation.theme = themes[i].value; });
                settle();
                const gl::Pixels pixels = picture();
                const std::vector<ScreenText> texts = texts_of(scene);
                EXPECT_GT(texts.size(), 1u);
                EXPECT_EQ(weak_texts(texts, pixels), std::set<std::string>{}) << themes[i].name;
            }
        }
}

TEST_F(LegibilityTest, TheCardOfEveryStepOfTheTourIsWholeAndHasContrast) {
    if (!window) GTEST_SKIP();
    std::size_t row = 0;
    for (const Format& screen : k_formats)
        for (int step = 0; step < std::ssize(tour_steps()); ++step) {
            if (!test::is_visited(row++, 3)) continue;
            const Scene scene{ViewKind::pipeline, "causal"};
            SCOPED_TRACE(where(scene, screen) + ", step " + std::to_string(step));
            open_scene(scene, screen);
            interaction().tour.go_to(step, document().session());
            const gl::Pixels pixels = picture();
            const std::vector<ScreenText> texts =
                texts_over([](const ImGuiWindow& each) { return std::string_view(each.Name) == "tour"; });
            EXPECT_GT(texts.size(), 3u);
            EXPECT_EQ(overlaps(texts), std::vector<std::string>{});
            EXPECT_EQ(cut_texts(texts), std::vector<std::string>{});
            EXPECT_EQ(weak_texts(texts, pixels), std::set<std::string>{});
        }
}

TEST_F(LegibilityTest, WhatCannotBeReadIsFound) {
    if (!window) GTEST_SKIP();
    const ImRect screen(0, 0, 100, 100);
    const auto text = [&](const char* words, ImRect box) {
        return ScreenText{words, box, screen, IM_COL32_WHITE, 13, box.Min.y, 0, {box}};
    };
    EXPECT_EQ(overlaps({text("ab", {0, 0, 20, 10}), text("cd", {22, 0, 40, 10})}).size(), 0u);
    ScreenText wide = text("ab", {0, 0, 20, 10});
    wide.glyphs = {{0, 0, 10, 10}, {10, 0, 20, 10}};
    EXPECT_EQ(overlaps({wide, text("cd", {15, 2, 40, 12})}).size(), 1u);

    EXPECT_EQ(cut_texts({text("left", {-3, 0, 20, 10}), text("right", {90, 0, 103, 10}),
                         text("top", {0, -3, 20, 10}), text("foot", {0, 95, 20, 103}),
                         text("whole", {0, 20, 100, 30})}),
              (std::vector<std::string>{"left", "right", "top", "foot"}));

    const gl::Pixels black{.width = 100, .height = 100, .rgba = std::vector<std::uint8_t>(100 * 100 * 4)};
    ScreenText gray = text("gray", {0, 20, 20, 30});
    gray.color = IM_COL32(60, 60, 60, 255);
    const std::set<std::string> weak = weak_texts({text("white", {0, 0, 20, 10}), gray}, black);
    ASSERT_EQ(weak.size(), 1u);
    EXPECT_TRUE(weak.begin()->starts_with("gray: ")) << *weak.begin();
}

}  // namespace
}  // namespace attnscope
