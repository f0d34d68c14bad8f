// What the mouse was over in the frame before may be gone in this one: every view gets on without it.
#include "app/document/interaction.h"
#include "core/mechanism/mechanisms.h"
#include "tests/drawn_sessions.h"
#include "tests/interface.h"
#include "tests/sanitized.h"

namespace attnscope {
namespace {

constexpr int k_gone = 1000;  ///< a row, a column, a head and a token that no session here has

class PointingTest : public InterfaceTest {
protected:
    /// A point of every matrix on screen.
    std::vector<ImVec2> points() {
        step(true);
        std::vector<ImVec2> found;
        for (const auto& each : window->host().heatmaps().drawn())
            found.push_back({each.top_left.x + (each.bottom_right.x - each.top_left.x) * 0.4f,
                             each.top_left.y + (each.bottom_right.y - each.top_left.y) * 0.6f});
        return found;
    }
    /// What the next frame takes to have been pointed at: cells, heads and tokens that are not there.
    std::vector<std::pair<std::optional<PointedCell>, std::optional<PointedToken>>> gone() {
        std::vector<std::pair<std::optional<PointedCell>, std::optional<PointedToken>>> all;
        const StageKey key = main_stage(*document().trace()).key();
        for (const SlotName slot : {SlotName::live, SlotName::pinned})
            for (const auto& [head, cell] :
                 {std::pair{0, Cell{k_gone, k_gone}}, std::pair{0, Cell{0, k_gone}},
                  std::pair{0, Cell{k_gone, 0}}, std::pair{k_gone, Cell{0, 0}}})
                all.push_back({PointedCell{key, head, cell, slot}, std::nullopt});
        for (const bool of_keys : {false, true}) all.push_back({std::nullopt, PointedToken{k_gone, of_keys}});
        return all;
    }
};

TEST_F(PointingTest, EveryViewGetsOnWithoutWhatIsGone) {
    std::vector<Session> sessions = {test::four_heads(), test::words_and_patches()};
    for (const char* name : {"bahdanau-alignment", "transformer-heads", "learned-reverse"})
        sessions.push_back(load_example(name));
    std::size_t row = 0;
    for (Session& session : sessions) {
        session.pinned = pinned(session);
        start(session);
        for (const auto& [view, name] : choices<ViewKind>()) {
            if (!test::is_visited(row++, 4)) continue;
            SCOPED_TRACE(session.note + " " + std::string(name));
            document().change([shown = view](Session& s) { s.presentation.view = shown; });
            settle();
            for (const ImVec2& point : points()) {
                push({MouseMove{point.x, point.y}});
                step();
                for (const auto& [cell, token] : gone()) {
                    interaction().hovered = cell;
                    interaction().hovered_token = token;
                    step();
                    const auto& now = interaction().hovered;
                    EXPECT_TRUE(!now ||
                                (now->cell.row < k_gone && now->cell.column < k_gone && now->head < k_gone));
                    const auto& chip = interaction().hovered_token;
                    EXPECT_TRUE(!chip || chip->token < k_gone);
                }
            }
        }
    }
}

}  // namespace
}  // namespace attnscope
