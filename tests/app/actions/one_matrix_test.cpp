// What is shown of a stage or of its gradient, what is proved, copied and exported: one matrix, walked
// through every stage, part and head.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <nlohmann/json.hpp>
#include <sstream>

#include "app/actions/matrix_text.h"
#include "core/error.h"
#include "core/export/export.h"
#include "core/export/matrix_files.h"
#include "core/export/trace_json.h"
#include "core/graph/explain.h"
#include "core/picture/shown_matrix.h"
#include "core/session/examples.h"
#include "tests/with_loss.h"
#include "tests/written.h"

namespace attnscope {
namespace {

/// The rows below the labels, each without its label.
Matrix numbers_of(const std::string& text, char separator, int rows, int columns) {
    Matrix values(rows, columns);
    std::istringstream lines(text);
    std::string line;
    std::getline(lines, line);
    for (int i = 0; i < rows; ++i) {
        std::getline(lines, line);
        std::vector<std::string> cells;  // from the last one, as a label may hold the separator
        for (int j = columns; j-- > 0;) {
            const std::size_t at = line.rfind(separator);
            values(i, j) = std::stof(line.substr(at + 1));
            line.erase(at);
        }
    }
    return values;
}

float number_of(const nlohmann::json& value) {
    if (value.is_null()) return -INFINITY;
    if (value.is_string()) return value == "nan" ? NAN : INFINITY;
    return value.get<float>();
}

Matrix numbers_of(const nlohmann::json& rows, int columns) {
    Matrix values(static_cast<int>(rows.size()), columns);
    for (int i = 0; i < values.rows(); ++i)
        for (int j = 0; j < columns; ++j) {
            const nlohmann::json& row = rows.at(static_cast<std::size_t>(i));
            values(i, j) = number_of(row.is_array() ? row.at(static_cast<std::size_t>(j)) : row);
        }
    return values;
}

Matrix numbers_of_npy(const std::string& bytes, int rows, int columns) {
    Matrix values(rows, columns);
    const std::size_t size = static_cast<std::size_t>(values.size()) * sizeof(float);
    std::memcpy(values.data(), bytes.data() + bytes.size() - size, size);
    return values;
}

void expect_same(const Matrix& actual, const Matrix& shown, const char* where) {
    ASSERT_EQ(actual.rows(), shown.rows()) << where;
    ASSERT_EQ(actual.cols(), shown.cols()) << where;
    for (Eigen::Index i = 0; i < shown.size(); ++i) {
        const float a = actual.data()[i], b = shown.data()[i];
        EXPECT_TRUE(a == b || (std::isnan(a) && std::isnan(b))) << where << " " << a << " " << b;
    }
}

/// One matrix of a stage, everywhere.
void check(const Trace& trace, const nlohmann::json& whole, const Stage& stage, const HeadChoice& head) {
    const std::string name(stage.name());
    Presentation presentation;
    presentation.head = head;
    presentation.focus(stage.key());
    const HeadChoice on_screen = head_on_screen(stage, head);
    if (!why_not_shown(stage, on_screen).empty()) {
        EXPECT_THROW(focused_matrix_text(trace, presentation), Error);
        EXPECT_THROW(test::written_csv(trace, stage, on_screen), Error);
        EXPECT_THROW(plan_export(trace, {{name}, on_screen, {FileFormat::csv}}), Error);
        return;
    }
    const ShownMatrix matrix = shown_matrix(stage, on_screen);
    const Matrix shown = matrix.values();
    const int rows = matrix.rows(), columns = matrix.columns();
    expect_same(numbers_of(focused_matrix_text(trace, presentation), '\t', rows, columns), shown, "copied");
    const auto items =
        plan_export(trace, {{name}, on_screen, {FileFormat::csv, FileFormat::npy, FileFormat::json}});
    ASSERT_EQ(items.size(), 3U);
    Session session{trace.experiment, presentation, {}};
    const auto bytes = [&](std::size_t i) {
        EXPECT_EQ(items[i].stage.get(), &stage);
        EXPECT_TRUE(items[i].file_name.starts_with(name)) << items[i].file_name;
        return export_bytes(trace, session, items[i]);
    };
    expect_same(numbers_of(bytes(0), ',', rows, columns), shown, "csv");
    expect_same(numbers_of_npy(bytes(1), rows, columns), shown, "npy");
    const nlohmann::json file = nlohmann::json::parse(bytes(2));
    EXPECT_EQ(file["stage"], name);
    expect_same(numbers_of(file["data"], columns), shown, "json");
    const bool is_mean = matrix.mean;
    const int h = is_mean ? -1 : matrix.head;
    for (int i = 0; i < rows; i += 1 + rows / 4)
        for (int j = 0; j < columns; j += 1 + columns / 4) {
            const Proof proof = explain(trace, stage, h, i, j);
            EXPECT_TRUE(proof.value == shown(i, j) || std::isnan(shown(i, j))) << "proved";
            EXPECT_EQ(proof.row[static_cast<std::size_t>(j)].value, proof.value);
        }
    if (is_mean) return;
    const bool is_gradient = stage.part == StageKey::Part::gradient;
    const char* group = is_gradient ? "gradients" : is_parameter(*stage.info) ? "parameters" : "stages";
    const std::string of_value = stage_name(stage.key().as(StageKey::Part::value));
    ASSERT_TRUE(whole.at(group).contains(of_value)) << name;
    const nlohmann::json& all = whole.at(group).at(of_value).at("data");
    const nlohmann::json& data = stage.shape().per_head ? all.at(static_cast<std::size_t>(h)) : all;
    if (stage.shape().depth == 1) expect_same(numbers_of(data, columns), shown, "trace");
}

void walk(const Experiment& e) {
    const Trace trace = test::with_gradients(e);
    ASSERT_FALSE(trace.gradients.empty());
    const nlohmann::json whole = nlohmann::json::parse(test::written_trace_json(trace));
    std::vector<StagePtr> stages = trace.gradients;
    for (const StageRecord& record : trace.records) stages.push_back(record.stage);
    for (const StagePtr& stage : stages) {
        std::vector<HeadChoice> choices = {{HeadChoice::Kind::mean}};
        for (int h = 0; h < e.attention.heads; ++h) choices.push_back({HeadChoice::Kind::one, h});
        for (const HeadChoice& head : choices) {
            SCOPED_TRACE(std::string(stage->name()));
            check(trace, whole, *stage, head);
            if (testing::Test::HasFailure()) return;
        }
    }
}

TEST(OneMatrixTest, OfAttentionWithALoss) {
    Experiment e;
    e.attention.heads = 4;
    e.weighting.mask = {{MaskForm::causal, {}}};
    e.weights.custom.emplace("loss_weights", CustomMatrix(Matrix::Ones(8, 16)));
    e.attention.projection = Projection::mha;
    e.attention.output_projection = true;
    walk(e);
}

TEST(OneMatrixTest, OfEveryLayerOfATransformer) {
    Experiment e;
    e.mechanism = MechanismKind::transformer;
    e.transformer.layers = 2;
    e.attention.heads = 2;
    walk(e);
}

TEST(OneMatrixTest, OfAnEncoderAndItsDecoder) { walk(load_example("bahdanau-alignment").experiment); }

}  // namespace
}  // namespace attnscope
