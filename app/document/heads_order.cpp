#include "app/document/heads_order.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "core/number_text.h"
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

std::string heads_table(const Survey& survey, const HeadsOrder& order, const Presentation& presentation) {
    std::string text = "head";
    for (const auto& [score, name] : choices<HeadScore>()) text += "\t" + std::string(name);
    text += "\tsimilarity to the chosen head";
    const std::vector<SurveyedHead> single = individual_heads(survey);
    if (survey.pairs)
        for (const SurveyedHead& each : single) text += "\tsimilarity to " + name_of_head(each, presentation);
    text += "\n";
    for (const SurveyedHead* each : in_order(survey, order)) {
        text += name_of_head(*each, presentation);
        for (const std::optional<double>& score : each->scores)
            text += "\t" + (score ? exact_text(*score) : "");
        text += "\t" + exact_text(each->similarity);
        const auto own = std::ranges::find(single, each->at, &SurveyedHead::at) - single.begin();
        for (int j = 0; survey.pairs && own < std::ssize(single) && j < std::ssize(single); ++j)
            text += "\t" + exact_text(survey.pairs->values->at(0, static_cast<int>(own), j));
        text += "\n";
    }
    return text;
}

std::string name_of_head(const SurveyedHead& head, const Presentation& presentation) {
    const std::string layer = head.at.layer > 0 ? fmt::format("layer {}, ", head.at.layer) : "";
    return layer + (head.at.head < 0
                        ? "mean"
                        : head_title(presentation, head.stage->shape().heads, head.at.layer, head.at.head));
}

}  // namespace attnscope
