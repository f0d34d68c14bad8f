// Work on many cells can be canceled before it is done.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "core/canceled.h"
#include "core/experiment/choices.h"
#include "core/graph/trace.h"
#include "core/mechanism/evaluate.h"
#include "core/op/op.h"

namespace attnscope {
namespace {

/// Experiments that between them have all operations on queries × keys.
std::vector<Experiment> experiments() {
    Experiment start;
    start.input.text = "a b c d";
    start.input.text2 = "a b c d e";
    start.attention.dropout = 0.5;
    std::vector<Experiment> all(2, start);
    all[1].attention.softmax_axis = SoftmaxAxis::queries;
    for (const auto& each : choices<Score>()) {
        all.push_back(start);
        all.back().attention.score = each.value;
    }
    for (const auto& each : choices<Normalization>()) {
        all.push_back(start);
        all.back().weighting.normalizer = each.value;
    }
    all.push_back(start);
    all.back().attention.position = Position::alibi;
    return all;
}

bool stops(const StageRecord& record) {
    std::stop_source stop;
    stop.request_stop();
    std::vector<const Buffer*> inputs;
    for (const StagePtr& input : record.inputs) inputs.push_back(&input->buffer);
    DrawSequence draws;
    try {
        forward(*record.op, {inputs, draws, stop.get_token()});
        return false;
    } catch (const Canceled&) {
        return true;
    }
}

TEST(CancelTest, WhatIsComputedForEveryQueryAndKeyOrSumsOverThemStops) {
    for (const Experiment& e : experiments()) {
        const Trace trace = evaluate(e);
        for (const StageRecord& record : trace.records) {
            const Shape& shape = record.stage->shape();
            const bool cells = shape.rows == 4 && shape.columns == 5;
            const std::string name(record.stage->name());
            if (std::holds_alternative<op::DropoutMask>(*record.op)) continue;  // drawn in order
            if (!cells && name != "context" && name != "query" && name != "key" && name != "value") continue;
            EXPECT_TRUE(stops(record)) << name;
        }
    }
}

}  // namespace
}  // namespace attnscope
