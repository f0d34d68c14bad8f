#include "app/document/heads_order.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "core/picture/head_names.h"

namespace attnscope {

std::string name_of_order(const HeadsOrder& order) {
    switch (order.by) {
        case HeadsOrder::By::layer: return "layer and head";
        case HeadsOrder::By::similarity: return "similarity to the chosen head";
        case HeadsOrder::By::score: return std::string(name_of(order.score));
    }
    return "";
}

std::vector<HeadsOrder> heads_orders() {
    std::vector<HeadsOrder> orders = {{HeadsOrder::By::layer}, {HeadsOrder::By::similarity}};
    for (const auto& [score, name] : choices<HeadScore>()) orders.push_back({HeadsOrder::By::score, score});
    return orders;
}

HeadNumber number_of(const SurveyedHead& head, const HeadsOrder& order) {
    if (order.by == HeadsOrder::By::similarity) return {"similarity", head.similarity};
    std::optional<HeadScore> score;
    if (order.by == HeadsOrder::By::score) score = order.score;
    if (!score) score = best_pattern(head.scores);
    if (!score) score = HeadScore::entropy;
    return {std::string(name_of(*score)), head.scores[static_cast<std::size_t>(*score)]};
}

std::vector<const SurveyedHead*> in_order(const Survey& survey, const HeadsOrder& order) {
    std::vector<const SurveyedHead*> heads;
    for (const SurveyedHead& each : survey.heads) heads.push_back(&each);
    if (order.by != HeadsOrder::By::layer)
        std::ranges::stable_sort(heads, std::greater{}, [&](const SurveyedHead* each) {
            return number_of(*each, order).value.value_or(-1);
        });
    return heads;
}

std::string name_of_head(const SurveyedHead& head, const Presentation& presentation) {
    const std::string layer = head.at.layer > 0 ? fmt::format("layer {}, ", head.at.layer) : "";
    return layer + (head.at.head < 0
                        ? "mean"
                        : head_title(presentation, head.stage->shape().heads, head.at.layer, head.at.head));
}

}  // namespace attnscope
