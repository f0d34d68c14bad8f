// Closed sets: an enum whose values have names, used in sessions, flags and on screen. The enum's
// namespace has choice_names(E), an array of all its values from 0 on, each with its name.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace attnscope {

template <typename E>
struct ChoiceName {
    E value;
    std::string_view name;
};

namespace choice_parts {

template <typename E>
inline constexpr auto k_names = choice_names(E{});

/// GCC and Clang print a value that the enum does not name as a cast, "(E)6".
template <auto value>
constexpr bool is_enumerator() {
    const std::string_view text = __PRETTY_FUNCTION__;
    const std::string_view before = "value = ";
    const char first = text[text.find(before) + before.size()];
    return first != '(' && !(first >= '0' && first <= '9');
}

template <typename E>
constexpr bool names_every_value() {
    for (std::size_t i = 0; i < k_names<E>.size(); ++i)
        if (k_names<E>[i].value != static_cast<E>(i) || k_names<E>[i].name.empty()) return false;
    return !is_enumerator<static_cast<E>(k_names<E>.size())>();
}

}  // namespace choice_parts

/// All values with their names, in the order of the enum.
template <typename E>
constexpr const auto& choices() {
    static_assert(choice_parts::names_every_value<E>(), "choice_names(E) has all values in the enum's order");
    return choice_parts::k_names<E>;
}

template <typename E>
constexpr std::string_view name_of(E value) {
    return choices<E>()[static_cast<std::size_t>(value)].name;
}

/// nullopt for an unknown name.
template <typename E>
constexpr std::optional<E> find_choice(std::string_view name) {
    for (const ChoiceName<E>& choice : choices<E>())
        if (choice.name == name) return choice.value;
    return std::nullopt;
}

/// "keys, queries", for messages.
template <typename E>
std::string known_names() {
    std::string names;
    for (const ChoiceName<E>& choice : choices<E>())
        names += (names.empty() ? "" : ", ") + std::string(choice.name);
    return names;
}

namespace choice_parts {

template <typename E>
constexpr std::size_t length_with_bars() {
    std::size_t length = choices<E>().size() - 1;
    for (const ChoiceName<E>& choice : choices<E>()) length += choice.name.size();
    return length;
}

template <typename E>
inline constexpr auto k_with_bars = [] {
    std::array<char, length_with_bars<E>()> text{};
    std::size_t at = 0;
    for (const ChoiceName<E>& choice : choices<E>()) {
        if (at > 0) text[at++] = '|';
        for (const char c : choice.name) text[at++] = c;
    }
    return text;
}();

}  // namespace choice_parts

/// "keys|queries", as in a flag's help.
template <typename E>
inline constexpr std::string_view k_arguments{choice_parts::k_with_bars<E>.data(),
                                              choice_parts::k_with_bars<E>.size()};

/// Whether a table has one entry per value, identified by its member `choice`, in the enum's order, so that
/// table[value] is the entry of a value.
template <typename E, typename Table>
constexpr bool is_table_of(const Table& table) {
    if (table.size() != choices<E>().size()) return false;
    for (std::size_t i = 0; i < table.size(); ++i)
        if (table[i].choice != static_cast<E>(i)) return false;
    return true;
}

}  // namespace attnscope
