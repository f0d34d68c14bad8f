// How messages escape text from outside.
#include "core/error.h"

#include <gtest/gtest.h>

#include <new>
#include <string>

namespace attnscope {
namespace {

TEST(ProblemTextTest, IsTheMessageOfAnError) {
    EXPECT_EQ(problem_text(Error(ErrorKind::io, "a.png: no room")), "a.png: no room");
    EXPECT_EQ(problem_text(std::runtime_error("no device")), "no device");
}

TEST(ProblemTextTest, SaysWhatToDoIfMemoryDoesNotSuffice) {
    const std::string expected =
        "not enough memory: shorten the sentence, use fewer heads or close other programs";
    EXPECT_EQ(problem_text(std::bad_alloc()), expected);
    EXPECT_EQ(problem_text(std::bad_array_new_length()), expected);
    EXPECT_EQ(problem_text(std::length_error("vector::reserve")), expected);
    EXPECT_EQ(problem_text(std::bad_alloc(), "to compare"),
              "not enough memory to compare: shorten the sentence, use fewer heads or close other programs");
    EXPECT_EQ(problem_text(Error(ErrorKind::io, "a.png: no room"), "to compare"), "a.png: no room");
}

TEST(ErrorTest, KeepsItsKindAndPlaceWithinAFile) {
    const Error within = Error(ErrorKind::too_large, "12 layers need 40 GB").at("layers").in("a.json");
    EXPECT_STREQ(within.what(), "a.json: layers: 12 layers need 40 GB");
    EXPECT_EQ(within.kind(), ErrorKind::too_large);
    EXPECT_EQ(within.where(), "a.json: layers");
    EXPECT_STREQ(Error(ErrorKind::bad_input, "no").in("a.json").what(), "a.json: no");
}

TEST(ErrorTest, MayCountAsAnotherKindAtTheSamePlace) {
    const Error as_file = Error(ErrorKind::bad_input, "no number").at("dim").as(ErrorKind::io);
    EXPECT_EQ(as_file.kind(), ErrorKind::io);
    EXPECT_EQ(as_file.where(), "dim");
    EXPECT_STREQ(as_file.what(), "dim: no number");
}

TEST(SucceedsTest, IsFalseForAnErrorOnly) {
    EXPECT_TRUE(succeeds([] {}));
    EXPECT_FALSE(succeeds([] { throw Error(ErrorKind::bad_input, "no"); }));
    EXPECT_THROW(succeeds([] { throw std::runtime_error("a defect"); }), std::runtime_error);
}

TEST(MessageTextTest, WhatCanBeReadStaysAsItIs) {
    for (const std::string text :
         {"", "cat", "Grüße, 你好", "👩‍🏫 مرحبا", "softmax(Q·Kᵀ/√d_k) …"})
        EXPECT_EQ(message_text(text, 100), text);
}

TEST(MessageTextTest, LineBreaksAndTabsAreSpaces) { EXPECT_EQ(message_text("a\nb\r\tc", 100), "a b  c"); }

TEST(MessageTextTest, ControlsAndChangesOfDirectionAreEscaped) {
    EXPECT_EQ(message_text("a\x1b[31m\x7f", 100), "a\\u001b[31m\\u007f");
    EXPECT_EQ(message_text("\u009b31m\u0085", 100), "\\u009b31m\\u0085");
    EXPECT_EQ(message_text("\u202egnp\u2066\u200f\u061c\u2028", 100),
              "\\u202egnp\\u2066\\u200f\\u061c\\u2028");
    EXPECT_EQ(message_text(std::string("a\0b", 3), 100), "a\\u0000b");
}

TEST(MessageTextTest, BytesThatAreNotUtf8AreReplaced) {
    EXPECT_EQ(message_text("a\x9b\xff\xc3", 100), "a\uFFFD\uFFFD\uFFFD");
    EXPECT_EQ(message_text(std::string(31, '\x80'), 1000).size(), 31 * 3u);
}

TEST(MessageTextTest, TheMiddleOfALongTextIsLeftOutBetweenCharacters) {
    EXPECT_EQ(message_text("0123456789abcdef", 16), "0123456789abcdef");
    EXPECT_EQ(message_text("0123456789abcdefg", 16), "0123456789ab…defg");
    std::string many;
    for (int i = 0; i < 100; ++i) many += "é";
    for (std::size_t most = 8; most < 24; ++most) {
        const std::string cut = message_text(many, most);
        EXPECT_LE(cut.size(), most + 3);
        EXPECT_EQ(message_text(cut, 100), cut);  // no half of a character
    }
}

TEST(ErrorTest, AMessageIsOneLineThatKeepsWhatToDo) {
    const std::string junk(100'000, 'x');
    const Error error(ErrorKind::bad_input, "mask \"" + junk + "\n\u202e\" is not a rule: use causal");
    const std::string message = error.what();
    EXPECT_TRUE(message.starts_with("mask \"xxx"));
    EXPECT_TRUE(message.ends_with("\\u202e\" is not a rule: use causal"));
    EXPECT_LE(message.size(), k_longest_message + 3);
    EXPECT_EQ(message.find('\n'), std::string::npos);
}

TEST(ErrorTest, AnErrorNamesOnePlaceAlone) {
    const Error error(ErrorKind::too_large, "use 1 to 64");
    EXPECT_STREQ(error.at("--heads").what(), "--heads: use 1 to 64");
    EXPECT_STREQ(error.at("--heads").at("Heads").what(), "Heads: use 1 to 64");
    EXPECT_STREQ(error.at("--heads").at("").what(), "use 1 to 64");
    EXPECT_EQ(error.at("--heads").kind(), ErrorKind::too_large);
}

}  // namespace
}  // namespace attnscope
