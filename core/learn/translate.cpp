#include "core/learn/translate.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "core/learn/draws.h"

namespace attnscope {
namespace {

struct Noun {
    std::string_view english, french;
    bool feminine;
};
constexpr std::array k_nouns = {
    Noun{"cat", "chat", false},      Noun{"dog", "chien", false},   Noun{"book", "livre", false},
    Noun{"garden", "jardin", false}, Noun{"house", "maison", true}, Noun{"car", "voiture", true},
    Noun{"table", "table", true},    Noun{"flower", "fleur", true},
};

struct Adjective {
    std::string_view english, masculine, feminine;
    bool stands_before;
};
constexpr std::array k_adjectives = {
    Adjective{"black", "noir", "noire", false},  Adjective{"white", "blanc", "blanche", false},
    Adjective{"green", "vert", "verte", false},  Adjective{"red", "rouge", "rouge", false},
    Adjective{"small", "petit", "petite", true}, Adjective{"big", "grand", "grande", true},
};

enum Person { first, second, third, we, they, k_persons };
struct Pronoun {
    std::string_view english, french;
    Person person;
};
constexpr std::array k_pronouns = {
    Pronoun{"I", "je", first},     Pronoun{"you", "tu", second}, Pronoun{"he", "il", third},
    Pronoun{"she", "elle", third}, Pronoun{"we", "nous", we},    Pronoun{"they", "ils", they},
};

struct Verb {
    std::string_view english, third_person;
    std::array<std::string_view, k_persons> french;
};
constexpr std::array k_verbs = {
    Verb{"see", "sees", {"vois", "vois", "voit", "voyons", "voient"}},
    Verb{"find", "finds", {"trouve", "trouves", "trouve", "trouvons", "trouvent"}},
    Verb{"want", "wants", {"veux", "veux", "veut", "voulons", "veulent"}},
    Verb{"watch", "watches", {"regarde", "regardes", "regarde", "regardons", "regardent"}},
};

using Words = std::vector<std::string>;

void add(Words& words, std::string_view word) {
    if (std::ranges::find(words, word) == words.end()) words.emplace_back(word);
}

/// The English words so far, and the French ones with the English words that they attend to.
class Translation {
public:
    explicit Translation(Generator& generator) : generator_(generator) {}

    TaskSentence draw() {
        const Person person = one_in(4) ? pronoun() : (noun_phrase(), third);
        verb(person);
        noun_phrase();
        return sentence();
    }

private:
    bool one_in(int count) { return integers(generator_, 1, 0, count).front() == 0; }
    template <typename Table>
    const auto& any(const Table& table) {
        return table[static_cast<std::size_t>(
            integers(generator_, 1, 0, static_cast<int>(table.size())).front())];
    }
    int say(std::string_view english) {
        english_.emplace_back(english);
        return static_cast<int>(english_.size()) - 1;
    }
    void translate(std::string_view french, int key) {
        french_.emplace_back(french);
        keys_.push_back(key);
    }

    Person pronoun() {
        const Pronoun& pronoun = any(k_pronouns);
        translate(pronoun.french, say(pronoun.english));
        return pronoun.person;
    }

    void noun_phrase() {
        const bool definite = one_in(2), described = !one_in(3);
        const Noun& noun = any(k_nouns);
        const Adjective& adjective = any(k_adjectives);
        say(definite ? "the" : "a");
        const int at_adjective = described ? say(adjective.english) : -1, at_noun = say(noun.english);
        const std::string_view masculine = definite ? "le" : "un", feminine = definite ? "la" : "une";
        translate(noun.feminine ? feminine : masculine, at_noun);
        const auto describe = [&] {
            translate(noun.feminine ? adjective.feminine : adjective.masculine, at_adjective);
        };
        if (described && adjective.stands_before) describe();
        translate(noun.french, at_noun);
        if (described && !adjective.stands_before) describe();
    }

    /// Adds a verb. Between "ne" and "pas" it may attend to "not" as well as to its own translation, so it
    /// has no key.
    void verb(Person person) {
        const Verb& verb = any(k_verbs);
        const std::string_view french = verb.french[person];
        if (!one_in(3)) return translate(french, say(person == third ? verb.third_person : verb.english));
        say(person == third ? "does" : "do");
        const int at_not = say("not");
        say(verb.english);
        translate("ne", at_not);
        translate(french, -1);
        translate("pas", at_not);
    }

    TaskSentence sentence() const {
        TaskSentence sentence{.tokens = {k_bos}, .keys = keys_};
        const Words english = english_words(), french = french_words();
        const auto row = [](const Words& words, const std::string& word) {
            return static_cast<int>(std::ranges::find(words, word) - words.begin());
        };
        for (const std::string& word : english_) sentence.source.push_back(row(english, word));
        for (const std::string& word : french_)
            sentence.targets.push_back(k_special_words + row(french, word));
        sentence.tokens.insert(sentence.tokens.end(), sentence.targets.begin(), sentence.targets.end());
        sentence.targets.push_back(k_eos);
        sentence.keys.push_back(-1);
        return sentence;
    }

    Generator& generator_;
    Words english_, french_;
    std::vector<int> keys_;
};

}  // namespace

Words english_words() {
    Words words = {"the", "a"};
    for (const Noun& noun : k_nouns) add(words, noun.english);
    for (const Adjective& adjective : k_adjectives) add(words, adjective.english);
    for (const Pronoun& pronoun : k_pronouns) add(words, pronoun.english);
    for (const Verb& verb : k_verbs) {
        add(words, verb.english);
        add(words, verb.third_person);
    }
    for (const char* word : {"do", "does", "not"}) add(words, word);
    return words;
}

Words french_words() {
    Words words = {"le", "la", "un", "une"};
    for (const Noun& noun : k_nouns) add(words, noun.french);
    for (const Adjective& adjective : k_adjectives) {
        add(words, adjective.masculine);
        add(words, adjective.feminine);
    }
    for (const Pronoun& pronoun : k_pronouns) add(words, pronoun.french);
    for (const Verb& verb : k_verbs)
        for (const std::string_view form : verb.french) add(words, form);
    for (const char* word : {"ne", "pas"}) add(words, word);
    return words;
}

TaskSentence draw_translation(Generator& generator) { return Translation(generator).draw(); }

}  // namespace attnscope
