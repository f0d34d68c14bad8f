#include "app/platform/wide_text.h"

#include <gtest/gtest.h>

#include "core/error.h"
#include "core/utf8.h"

namespace attnscope {
namespace {

bool holds_wide_or_private(std::string_view text) {
    while (!text.empty()) {
        const DecodedCharacter next = decode_utf8(text);
        if (!next.bytes || next.code > 0xFFFF) return true;
        text.remove_prefix(next.bytes);
    }
    return false;
}

const std::string k_texts[] = {
    "",
    "plain words",
    "Grüße, Привет, 你好, √dₖ",
    "a 😀 b 👩‍👩‍👧 c 𝔸𝔹 😀",
    "private \xEE\x80\x80 and \xEF\xA3\xBF and \xEE\x80\x81",  // U+E000, U+F8FF, U+E001
    "plane 16 \xF4\x80\x80\x80\xF4\x8F\xBF\xBF",
    "no UTF-8: \xFF \xC3 \xE2\x82 \xED\xA0\x80 \xC0\xAF \xF4\x90\x80\x80 end",
    std::string("a\0b\0", 4),
};

TEST(WideTextTest, RoundTripsToTheByteInBothWidths) {
    for (const bool wide : {false, true}) {
        for (const std::string& text : k_texts) {
            WideText mapping(wide);
            EXPECT_EQ(mapping.decode(mapping.encode(text)), text);
        }
    }
}

TEST(WideTextTest, WhatTheWidgetGetsFits16BitCharacters) {
    for (const std::string& text : k_texts) {
        WideText mapping(false);
        const std::string widget = mapping.encode(text);
        EXPECT_FALSE(holds_wide_or_private(widget)) << text;
        EXPECT_EQ(widget.find('\0'), std::string::npos);
    }
}

TEST(WideTextTest, LeavesTheBasicPlaneAlone) {
    WideText mapping(false);
    EXPECT_EQ(mapping.encode(k_texts[2]), k_texts[2]);
}

TEST(WideTextTest, With32BitCharactersEmojiStayAsTheyAre) {
    WideText mapping(true);
    EXPECT_EQ(mapping.encode(k_texts[3]), k_texts[3]);
}

TEST(WideTextTest, OneCharacterKeepsOneStandIn) {
    WideText mapping(false);
    const std::string first = mapping.encode("😀");
    mapping.encode("👍");
    EXPECT_EQ(mapping.encode("😀"), first);
    EXPECT_NE(mapping.encode("👍"), first);
}

TEST(WideTextTest, EditsOfTheWidgetsTextBecomeEditsOfTheText) {
    WideText mapping(false);
    std::string widget = mapping.encode("a😀b");
    widget.insert(1, "x");
    widget += mapping.encode("👍");
    EXPECT_EQ(mapping.decode(widget), "ax😀b👍");
}

TEST(WideTextTest, RefusesMoreThanThePrivateArea) {
    WideText mapping(false);
    std::string text;
    for (char32_t code = 0x20000; code < 0x20000 + 6400; ++code) text += encode_utf8(code);
    EXPECT_EQ(mapping.decode(mapping.encode(text)), text);
    try {
        mapping.encode("😀");
        FAIL();
    } catch (const Error& error) {
        EXPECT_EQ(error.kind(), ErrorKind::too_large);
    }
}

}  // namespace
}  // namespace attnscope
