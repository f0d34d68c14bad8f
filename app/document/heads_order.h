// The order in which the heads of a survey are shown, and what stands beside each.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/document/interaction.h"
#include "app/document/surveyor.h"
#include "core/picture/presentation.h"

namespace attnscope {

/// "layer and head", "similarity to the chosen head", or the name of the score.
std::string name_of_order(const HeadsOrder& order);
/// Every order: by layer, by similarity, then by each score.
std::vector<HeadsOrder> heads_orders();

/// What stands below a head.
struct HeadNumber {
    std::string name;  ///< "entropy", "similarity"
    std::optional<double> value;
};

/// The number that heads are sorted by; by layer that of the pattern that the head's weights match best.
HeadNumber number_of(const SurveyedHead& head, const HeadsOrder& order);
/// The heads in an order: the largest number first, heads without the number last; or as they stand in the
/// layers.
std::vector<const SurveyedHead*> in_order(const Survey& survey, const HeadsOrder& order);
/// Every head with its numbers, a line each, in this order; with the similarities of every pair, if they are
/// known. Separated by tabs, for a spreadsheet.
std::string heads_table(const Survey& survey, const HeadsOrder& order, const Presentation& presentation);
/// "layer 2, head 3", "head 3: adjective → noun", "mean".
std::string name_of_head(const SurveyedHead& head, const Presentation& presentation);

}  // namespace attnscope
