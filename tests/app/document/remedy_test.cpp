// A setting that is refused comes with what makes it possible.
#include "app/document/remedy.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "app/document/steps.h"
#include "core/error.h"
#include "core/session/options.h"

namespace attnscope {
namespace {

struct Setting {
    OptionName option;
    std::string text;
};
using Settings = std::vector<Setting>;

struct Case {
    Settings before;
    OptionName option;
    const char* text;
    const char* label;
};

Session with(Session session, const Settings& settings) {
    for (const auto& [option, text] : settings) set_from_text(session, option_named(option), text);
    return session;
}

TEST(RemedyTest, ARefusedSettingComesWithTheOthersThatMakeItPossible) {
    const Case cases[] = {
        {{}, "heads", "12", "Set d to 24"},
        {{{"heads", "4"}}, "dim", "18", "Set d to 20"},
        {{{"heads", "2"}}, "key-size", "7", "Set the key size to 8"},
        {{{"key-size", "4"}, {"value-size", "6"}},
         "heads",
         "8",
         "Set the key size to 8, the value size to 8"},
        {{{"dim", "15"}}, "position", "rope", "Set d to 16"},
        {{{"position", "rope"}}, "heads", "16", "Set d to 32"},
        {{{"mechanism", "transformer"}, {"position", "rope"}}, "dim", "17", "Set d to 18"},
        {{{"key-size", "8"}, {"mechanism", "transformer"}}, "heads", "3", "Set d to 18"},
        {{{"dim", "18"}, {"key-size", "12"}, {"position", "rope"}},
         "key-size",
         "11",
         "Set the key size to 12"},
        {{{"dim", "15"}, {"key-size", "4"}, {"value-size", "4"}},
         "heads",
         "8",
         "Set the key size to 8, the value size to 8"},
        {{{"value-size", "8"}}, "block", "post-norm", "Set the value size to d"},
        {{{"block", "post-norm"}}, "value-size", "8", "Add the output projection"},
    };
    for (const Case& each : cases) {
        const Session before = with({}, each.before);
        Session refused = before;
        EXPECT_THROW(
            {
                set_from_text(refused, option_named(each.option), each.text);
                check_edit(refused.experiment);
            },
            Error)
            << each.option.text() << " " << each.text;
        const auto remedy = remedy_of(before, each.option, each.text);
        ASSERT_TRUE(remedy) << each.option.text() << " " << each.text;
        EXPECT_EQ(remedy->label, each.label);
        Session mended = before;
        for (const auto& [option, text] : remedy->options) set_from_text(mended, option_named(option), text);
        EXPECT_NO_THROW(check_edit(mended.experiment)) << each.label;
    }
}

TEST(RemedyTest, WhereNothingHelpsThereIsNone) {
    EXPECT_FALSE(remedy_of({}, "heads", "65"));
    EXPECT_FALSE(remedy_of({}, "heads", "many"));
    EXPECT_FALSE(remedy_of({}, "heads", "2147483647"));
    EXPECT_FALSE(remedy_of({}, "dim", "2147483647"));
    EXPECT_FALSE(remedy_of(with({}, {{"dim", "1024"}}), "heads", "7")) << "1029 is too wide";
}

}  // namespace
}  // namespace attnscope
