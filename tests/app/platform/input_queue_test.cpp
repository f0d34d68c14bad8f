#include "app/platform/input_queue.h"

#include <gtest/gtest.h>

#include "app/shell/headless_window.h"

namespace attnscope {
namespace {

void push(InputQueue& queue, const std::vector<InputEvent>& events) {
    for (const InputEvent& event : events) queue.push(event);
}

/// Past its first frames, in which characters wait for a field to get the focus.
InputQueue settled() {
    InputQueue queue;
    for (int i = 0; i < 2; ++i) queue.take_frame();
    return queue;
}

int transitions(const std::vector<InputEvent>& frame) {
    int count = 0;
    for (const InputEvent& event : frame) {
        count += std::holds_alternative<KeyDown>(event) || std::holds_alternative<KeyUp>(event) ||
                 std::holds_alternative<MouseButton>(event);
    }
    return count;
}

std::u32string characters(const std::vector<InputEvent>& frame) {
    std::u32string text;
    for (const InputEvent& event : frame) {
        if (const auto* typed = std::get_if<Char>(&event)) text += typed->code;
    }
    return text;
}

TEST(InputQueueTest, GivesAFrameAtMostOneTransitionAndLosesNothing) {
    InputQueue queue = settled();
    push(queue, typing("Fast typing, 40 characters and more of it!"));
    push(queue, pressing(Key::z, {.ctrl = true, .shift = true}));
    std::u32string text;
    int all = 0;
    for (int frame = 0; frame < 1000 && !queue.empty(); ++frame) {
        const auto events = queue.take_frame();
        EXPECT_LE(transitions(events), 1);
        all += transitions(events);
        text += characters(events);
    }
    EXPECT_EQ(all, 2 * 42 + 6);
    EXPECT_EQ(text, U"Fast typing, 40 characters and more of it!");
}

TEST(InputQueueTest, APressKeepsThePlaceItWasMadeAt) {
    InputQueue queue = settled();
    push(queue, {MouseMove{.x = 1, .y = 1}, MouseMove{.x = 2, .y = 2}, MouseButton{.button = 0, .down = true},
                 MouseMove{.x = 9, .y = 9}, MouseButton{.button = 0, .down = false}});
    ASSERT_EQ(queue.take_frame().size(), 1U);  // both moves are one
    EXPECT_EQ(transitions(queue.take_frame()), 1);
    const auto after = queue.take_frame();
    ASSERT_EQ(after.size(), 1U);
    EXPECT_EQ(std::get<MouseMove>(after[0]).x, 9);
    EXPECT_EQ(transitions(queue.take_frame()), 1);
    EXPECT_TRUE(queue.empty());
}

TEST(InputQueueTest, CharactersShareAFrameUntilAKeyComesBetween) {
    InputQueue queue = settled();
    push(queue, {Char{U'a'}, Char{U'b'}, Char{U'c'}});
    push(queue, pressing(Key::backspace));
    push(queue, {Char{U'd'}});
    EXPECT_EQ(characters(queue.take_frame()), U"abc");
    EXPECT_EQ(transitions(queue.take_frame()), 1);
    const auto released = queue.take_frame();  // what is typed after a key is let go may come with it
    EXPECT_EQ(transitions(released), 1);
    EXPECT_EQ(characters(released), U"d");
}

TEST(InputQueueTest, AnEditingKeyDoesNotShareItsFrameWithLaterCharacters) {
    InputQueue queue = settled();
    push(queue, {KeyDown{.key = Key::backspace}, Char{U'x'}});
    EXPECT_TRUE(characters(queue.take_frame()).empty());
    EXPECT_EQ(characters(queue.take_frame()), U"x");
}

TEST(InputQueueTest, TheKeyThatTypesComesWithItsCharacter) {
    InputQueue queue = settled();
    push(queue, typing("a"));
    const auto frame = queue.take_frame();
    EXPECT_EQ(transitions(frame), 1);
    EXPECT_EQ(characters(frame), U"a");
}

TEST(InputQueueTest, LetsTheFocusSettleBeforeCharacters) {
    InputQueue queue = settled();
    push(queue, {KeyDown{.key = Key::tab}, Char{U'x'}});
    EXPECT_EQ(queue.take_frame().size(), 1U);
    for (int i = 0; i < 2; ++i) {
        EXPECT_TRUE(queue.backlog());
        EXPECT_TRUE(queue.take_frame().empty());
    }
    EXPECT_FALSE(queue.backlog());
    EXPECT_EQ(characters(queue.take_frame()), U"x");
}

TEST(InputQueueTest, CharactersWaitForTheFirstFieldToGetTheFocus) {
    InputQueue queue;
    push(queue, typing("x"));
    for (int i = 0; i < 2; ++i) EXPECT_TRUE(characters(queue.take_frame()).empty());
    EXPECT_EQ(characters(queue.take_frame()), U"x");
}

TEST(InputQueueTest, InvalidCharactersAreDropped) {
    InputQueue queue = settled();
    push(queue, {Char{0}, Char{0xD800}, Char{0x110000}});
    EXPECT_TRUE(queue.empty());
}

TEST(InputQueueTest, ACharacterPutInByTheFieldEndsItsFrame) {
    InputQueue queue = settled();
    push(queue, {Char{U'a'}, Char{U'😀'}, Char{U'b'}});
    EXPECT_EQ(characters(queue.take_frame()), U"a😀");
    EXPECT_EQ(characters(queue.take_frame()), U"b");
}

}  // namespace
}  // namespace attnscope
