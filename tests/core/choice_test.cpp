#include "core/choice.h"

#include <gtest/gtest.h>

#include "core/experiment/choices.h"

namespace attnscope {
namespace {

TEST(choice_test, every_value_is_found_by_its_name) {
    for (const auto& [value, name] : choices<Normalization>()) {
        EXPECT_EQ(name_of(value), name);
        EXPECT_EQ(find_choice<Normalization>(name), value);
    }
    EXPECT_EQ(name_of(Normalization::local_p), "local-p");
}

TEST(choice_test, other_names_are_not_found) {
    for (const char* name : {"", "Softmax", "local_p", "soft", "softmax "})
        EXPECT_EQ(find_choice<Normalization>(name), std::nullopt) << name;
}

TEST(choice_test, known_names_are_in_the_order_of_the_enum) {
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

TEST(choice_test, a_table_without_a_value_or_in_another_order_is_not_complete) {
    static_assert(choice_parts::names_every_value<Normalization>());
    static_assert(!choice_parts::names_every_value<Forgetful>());
    static_assert(!choice_parts::names_every_value<Disordered>());
}

}  // namespace
}  // namespace attnscope
