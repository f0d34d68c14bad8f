#include "app/document/find_tokens.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>

#include "app/document/inspected.h"
#include "core/error.h"
#include "core/mechanism/mechanisms.h"
#include "core/text/tokenizer.h"

namespace attnscope {
namespace {

constexpr int k_words_before = 4, k_words_after = 12;

/// A sentence of the trace: its tokens as typed, and each one's row in a table of folded words, if they have
/// one.
struct Side {
    bool of_keys;
    const std::vector<std::string>& tokens;
    const Stage* ids;
    const std::vector<std::string>& table;
};

std::vector<Side> sides_of(const Trace& trace) {
    std::vector<Side> sides;
    const Mechanism& mechanism = mechanism_of(trace.experiment);
    for (const SentenceRole* role : {&mechanism.first, &mechanism.second}) {
        const std::vector<std::string>& tokens = role->is_of_keys ? trace.columns : trace.rows;
        const bool is_there = role->is_of_keys ? has_two_sides(trace) : !trace.rows.empty();
        const bool is_listed = !sides.empty() && sides.front().of_keys == role->is_of_keys;
        if (!is_there || tokens.empty() || is_listed) continue;
        const Stage* ids = role->says_rows ? nullptr : trace.find(role->tokens);
        if (ids && ids->shape().rows != static_cast<int>(tokens.size())) ids = nullptr;
        sides.push_back(
            {role->is_of_keys, tokens, ids, role->has_own_table ? trace.target_table : trace.table});
    }
    return sides;
}

/// Which words are meant: by the row of the table or, without one, by token.
class Matches {
public:
    Matches(const Side& side, std::vector<std::string> words) : words_(std::move(words)), side_(side) {
        if (!side.ids) return;
        ids_ = side.ids->buffer.column(0, 0);
        for (std::size_t w = 0; w < words_.size(); ++w) {
            std::vector<bool>& rows = by_row_.emplace_back();
            for (const std::string& word : side.table) rows.push_back(is_meant(word, w));
        }
    }
    /// Whether all words stand in a row from this token on.
    bool at(std::size_t token) const {
        if (token + words_.size() > side_.tokens.size()) return false;
        for (std::size_t w = 0; w < words_.size(); ++w)
            if (!is_meant_by(token + w, w)) return false;
        return true;
    }

private:
    bool is_meant(const std::string& folded, std::size_t word) const {
        return word + 1 == words_.size() ? folded.starts_with(words_[word]) : folded == words_[word];
    }
    bool is_meant_by(std::size_t token, std::size_t word) const {
        if (by_row_.empty()) return is_meant(fold(side_.tokens[token]), word);
        const auto row = static_cast<std::ptrdiff_t>(ids_(static_cast<Eigen::Index>(token)));
        return row >= 0 && row < std::ssize(by_row_[word]) && by_row_[word][static_cast<std::size_t>(row)];
    }

    std::vector<std::string> words_;
    const Side& side_;
    Eigen::VectorXf ids_;
    std::vector<std::vector<bool>> by_row_;  ///< by word
};

std::vector<std::string> folded_words(const Experiment& experiment, std::string_view text) {
    std::vector<std::string> words;
    if (!succeeds([&] { words = tokenize(text, tokenizer_of(experiment.input.tokenizer)); })) return {};
    for (std::string& word : words) word = fold(word);
    return words;
}

/// "#12": the index of the 12th token.
std::optional<int> numbered(std::string_view text) {
    if (!text.starts_with('#')) return std::nullopt;
    int number = 0;
    const auto [end, error] = std::from_chars(text.data() + 1, text.data() + text.size(), number);
    const bool is_number = error == std::errc{} && end == text.data() + text.size() && number > 0;
    return is_number ? std::optional(number - 1) : std::nullopt;
}

}  // namespace

std::string words_around(const std::vector<std::string>& tokens, int token) {
    const int first = std::max(0, token - k_words_before),
              end = std::min(static_cast<int>(tokens.size()), token + k_words_after);
    std::string words = first > 0 ? "…" : "";
    for (int i = first; i < end; ++i)
        words += (words.empty() ? "" : " ") + display_token(tokens[static_cast<std::size_t>(i)]);
    return words + (end < static_cast<int>(tokens.size()) ? " …" : "");
}

int locked_token(const Trace& trace, const Presentation& presentation, bool of_keys) {
    const auto held = held_cell(presentation, &trace);
    if (!held) return -1;
    const Highlight lit = highlight_cell(*held->stage->info, held->cell, held->stage->shape().depth);
    return of_keys ? lit.key : lit.query;
}

std::vector<PointedToken> find_tokens(const Trace& trace, const Presentation& presentation,
                                      std::string_view text, std::size_t most) {
    std::vector<PointedToken> found;
    const std::vector<std::string> words = folded_words(trace.experiment, text);
    const std::optional<int> number = numbered(text);
    for (const Side& side : sides_of(trace)) {
        const auto count = static_cast<int>(side.tokens.size());
        if (number && *number < count && found.size() < most) found.push_back({*number, side.of_keys});
        if (words.empty()) continue;
        const Matches matches(side, words);
        const int locked = locked_token(trace, presentation, side.of_keys);
        for (int i = 0; i < count && found.size() < most; ++i) {
            const int token = (locked + 1 + i) % count;
            if (matches.at(static_cast<std::size_t>(token))) found.push_back({token, side.of_keys});
        }
    }
    return found;
}

void go_to_token(Document& document, Interaction& state, const PointedToken& token) {
    const std::shared_ptr<const Trace> trace = document.trace();
    const Presentation& before = document.presentation();
    const auto found = cell_of_token(*trace, before, token);
    if (!found) {
        state.notice = {
            token.of_keys
                ? fmt::format("key {}: its column is known once the overview is computed", token.token + 1)
                : fmt::format("token {} has no open cell here", token.token + 1),
            true};
        return;
    }
    const StageKey focused = before.stage;
    document.change([&](Session& session) {
        session.presentation.lock(found->stage->key(), found->cell);
        session.presentation.focus(focused);
    });
    if (const auto cell = locked_cell(document.presentation(), trace.get()))
        state.cell_to_show =
            PointedCell{focused_stage(*trace, document.presentation().stage).key(), 0, *cell};
}

}  // namespace attnscope
