#include "app/document/heads_order.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

namespace attnscope {

HeadNumber number_of(const SurveyedHead& head, const std::string& order) {
    if (order == k_heads_by_similarity) return {"similarity", head.similarity};
    std::optional<HeadScore> score = find_choice<HeadScore>(order);
    if (!score) score = best_pattern(head.scores);
    if (!score) score = HeadScore::entropy;
    return {std::string(name_of(*score)), head.scores[static_cast<std::size_t>(*score)]};
}

std::vector<const SurveyedHead*> in_order(const Survey& survey, const std::string& order) {
    std::vector<const SurveyedHead*> heads;
    for (const SurveyedHead& each : survey.heads) heads.push_back(&each);
    if (order != k_heads_by_layer)
        std::ranges::stable_sort(heads, std::greater{}, [&](const SurveyedHead* each) {
            return number_of(*each, order).value.value_or(-1);
        });
    return heads;
}

std::string name_of_head(const SurveyedHead& head) {
    const std::string layer = head.at.layer > 0 ? fmt::format("layer {}, ", head.at.layer) : "";
    return layer + (head.at.head < 0 ? "mean" : fmt::format("head {}", head.at.head + 1));
}

}  // namespace attnscope
