#include "app/document/link_finder.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <unordered_map>

#include "core/number_text.h"
#include "core/text/tokenizer.h"

namespace attnscope {
namespace {

constexpr std::size_t k_most_links = 50;

/// A quarter of the cells of a small matrix.
std::size_t listed_links(const Shape& shape) {
    return std::clamp<std::size_t>(shape.head_size() / 4, 1, k_most_links);
}

LinkedWords linked_words(const Trace& trace, const Stage& stage) {
    std::unordered_map<std::string, int> numbers;
    const auto number = [&](const std::string& word) {
        return numbers.emplace(word, static_cast<int>(numbers.size())).first->second;
    };
    LinkedWords words;
    for (int i = 0; i < stage.shape().rows; ++i)
        words.rows.push_back(number(fold(trace.row_label(stage, i))));
    for (int j = 0; j < stage.shape().columns; ++j)
        words.columns.push_back(number(fold(trace.column_label(stage, j))));
    return words;
}

}  // namespace

FoundLinks found_links(LinksRequest request, const FoundLinks*, const std::stop_token& cancel) {
    FoundLinks found{std::move(request), {}};
    try {
        const Buffer& buffer = found.of.stage->buffer;
        const LinkedWords words = linked_words(*found.of.trace, *found.of.stage);
        found.links =
            strongest_links(found.of.head < 0 ? buffer.mean(cancel) : buffer, std::max(found.of.head, 0),
                            words, listed_links(buffer.shape()), cancel);
    } catch (const Canceled&) {
        throw;
    } catch (const std::exception&) {  // no memory, or the card is lost: the list stays empty
    }
    return found;
}

std::string links_table(const FoundLinks& found) {
    const Trace& trace = *found.of.trace;
    const Stage& stage = *found.of.stage;
    std::string text = "row\ttoken\tcolumn\ttoken\tvalue\n";
    for (const Link& link : found.links)
        text += fmt::format(
            "{}\t{}\t{}\t{}\t{}\n", link.row + 1, trace.row_label(stage, link.row), link.column + 1,
            trace.column_label(stage, link.column, std::max(found.of.head, 0)), exact_text(link.value));
    return text;
}

}  // namespace attnscope
