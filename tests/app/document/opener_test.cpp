#include "app/document/opener.h"

#include <gtest/gtest.h>

#include <future>
#include <stdexcept>
#include <thread>

namespace attnscope {
namespace {

OpenedFile text_file(const std::string& text) { return {"/" + text, text}; }

/// A file that takes until it is allowed to be read.
struct SlowFile {
    std::promise<void> allowed;
    std::function<OpenedFile()> read(const std::string& text) {
        return [may = allowed.get_future().share(), text] {
            may.wait();
            return text_file(text);
        };
    }
};

std::string text_of(const std::optional<Opener::Outcome>& outcome) {
    return outcome && outcome->file ? std::get<std::string>(outcome->file->content) : "";
}

void wait_until_ended(const Opener& opener) {
    while (!opener.ended()) std::this_thread::yield();
}

TEST(OpenerTest, GivesWhatWasReadOnce) {
    std::promise<void> woken;
    Opener opener([&] { woken.set_value(); });
    EXPECT_FALSE(opener.take());
    opener.start("a", [] { return text_file("words"); });
    woken.get_future().wait();
    EXPECT_FALSE(opener.running());
    EXPECT_EQ(text_of(opener.take()), "words");
    EXPECT_FALSE(opener.take());
}

TEST(OpenerTest, WhatFailsIsSaid) {
    Opener opener({});
    opener.start("a", []() -> OpenedFile { throw std::runtime_error("a is broken"); });
    opener.wait();
    EXPECT_EQ(opener.take()->problem, "a is broken");
    opener.start("b", []() -> OpenedFile { throw std::bad_alloc(); });
    opener.wait();
    const auto outcome = opener.take();
    EXPECT_FALSE(outcome->file);
    EXPECT_EQ(outcome->problem, "there is not enough memory for b");
}

TEST(OpenerTest, TheNewestFileCountsInWhateverOrderTheyAreRead) {
    SlowFile slow;
    Opener opener({});
    opener.start("old", slow.read("old"));
    opener.start("new", [] { return text_file("new"); });
    opener.wait();
    EXPECT_EQ(text_of(opener.take()), "new") << "a file that takes long holds the next one up";
    slow.allowed.set_value();
    wait_until_ended(opener);
    EXPECT_FALSE(opener.take()) << "an older file came after a newer one";
    SlowFile newest;
    opener.start("old", [] { return text_file("old"); });
    opener.start("new", newest.read("new"));
    EXPECT_TRUE(opener.running());
    EXPECT_FALSE(opener.take());
    newest.allowed.set_value();
    opener.wait();
    EXPECT_EQ(text_of(opener.take()), "new");
    wait_until_ended(opener);
}

TEST(OpenerTest, WhatIsCanceledIsDropped) {
    SlowFile slow;
    int wakes = 0;
    Opener opener([&] { ++wakes; });
    opener.start("a", slow.read("a"));
    EXPECT_TRUE(opener.running());
    opener.cancel();
    EXPECT_FALSE(opener.running());
    EXPECT_FALSE(opener.ended()) << "its thread still reads";
    slow.allowed.set_value();
    wait_until_ended(opener);
    EXPECT_FALSE(opener.take());
    EXPECT_EQ(wakes, 0);
}

TEST(OpenerTest, ItsEndDoesNotWaitForAFile) {
    SlowFile slow;
    std::promise<void> begun, done;
    {
        Opener opener({});
        opener.start("a", [&, read = slow.read("a")] {
            begun.set_value();
            OpenedFile file = read();
            done.set_value();
            return file;
        });
        begun.get_future().wait();
    }
    slow.allowed.set_value();
    done.get_future().wait();
}

}  // namespace
}  // namespace attnscope
