#include "core/choice.h"

#include <gtest/gtest.h>

#include "core/experiment/choices.h"

namespace attnscope {
namespace {

TEST(ChoiceTest, EveryValueIsFoundByItsName) {
    for (const auto& [value, name] : choices<Normalization>()) {
        EXPECT_EQ(name_of(value), name);
        EXPECT_EQ(find_choice<Normalization>(name), value);
    }
    EXPECT_EQ(name_of(Normalization::local_p), "local-p");
}

TEST(ChoiceTest, OtherNamesAreNotFound) {
    for (const char* name : {"", "Softmax", "local_p", "soft", "softmax "})
        EXPECT_EQ(find_choice<Normalization>(name), std::nullopt) << name;
}

TEST(ChoiceTest, KnownNamesAreInTheOrderOfTheEnum) {
    EXPECT_EQ(known_names<Block>(), "none, post-norm, pre-norm");
}

enum class Forgetful { first, second };
constexpr auto choice_names(Forgetful) {
    return std::to_array<ChoiceName<Forgetful>>({{Forgetful::first, "first"}});
}
enum class Disordered { first, second };
constexpr auto choice_names(Disordered) {
    return std::to_array<ChoiceName<Disordered>>(
        {{Disordered::second, "second"}, {Disordered::first, "first"}});
}

TEST(ChoiceTest, ATableWithoutAValueOrInAnotherOrderIsNotComplete) {
    static_assert(choice_parts::names_every_value<Normalization>());
    static_assert(!choice_parts::names_every_value<Forgetful>());
    static_assert(!choice_parts::names_every_value<Disordered>());
}

}  // namespace
}  // namespace attnscope
