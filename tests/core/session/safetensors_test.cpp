// Sessions as safetensors: custom matrices as tensors, the rest in the metadata.
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <cstring>
#include <limits>
#include <set>

#include "core/error.h"
#include "core/experiment/overridable.h"
#include "core/files/file.h"
#include "core/files/safetensors.h"
#include "core/session/examples.h"
#include "core/session/session.h"
#include "tests/refusal.h"
#include "tests/special_numbers.h"
#include "tests/temporary_folder.h"

namespace attnscope {
namespace {

using namespace test;

Session read_tensors(const std::string& bytes) { return session_from_safetensors(bytes, "run.safetensors"); }

/// The bytes of a file with these settings and one tensor.
std::string file_of(const std::string& settings, const NamedTensor& tensor) {
    return to_safetensors(Tensors{.metadata = {{"attnscope", settings}}, .tensors = {tensor}});
}

TEST(SessionTensorsTest, ASessionComesBackToTheBit) {
    Matrix scores(2, 5);
    scores << k_nan, k_infinity, -k_infinity, -0.f, 0.1f, 1e-45f, -1e-38f, 3.4028235e38f, -16777217.f, 0;
    Session session;
    session.note = "what to \"look\" at\n";
    session.experiment.input.text = "Grüße, 你好 😀";
    session.experiment.weights.seed = Seed::parse("18446744073709551615");
    session.experiment.attention.scale = {Scale::Kind::none};
    session.presentation.stage = "scores"_stage;
    session.experiment.weights.custom.emplace("scores", CustomMatrix(scores));
    session.experiment.weights.custom.emplace("b_q", CustomMatrix(Matrix::Random(1, 7)));
    const Session again = read_tensors(to_safetensors(session));
    EXPECT_TRUE(again == session);
    const Matrix& back = again.experiment.weights.custom.at("scores").values();
    EXPECT_EQ(std::memcmp(back.data(), scores.data(), 10 * sizeof(float)), 0);
    EXPECT_EQ(to_safetensors(again), to_safetensors(session));
    EXPECT_TRUE(read_tensors(to_safetensors(Session{})) == Session{});
}

TEST(SessionTensorsTest, EveryExampleIsTheSameAsJsonAndAsTensors) {
    for (const std::string& name : example_names()) {
        const Session session = load_example(name);
        EXPECT_TRUE(read_tensors(to_safetensors(session)) == session) << name;
    }
}

// 16 is not a multiple of 3, which matters only where Q and V are computed.
TEST(SessionTensorsTest, TheExperimentIsCheckedTogetherWithItsMatrices) {
    Session session;
    session.experiment.attention.heads = 3;
    session.experiment.weights.custom.emplace("query", CustomMatrix(Matrix::Ones(4, 6)));
    session.experiment.weights.custom.emplace("value", CustomMatrix(Matrix::Ones(4, 6)));
    EXPECT_TRUE(read_tensors(to_safetensors(session)) == session);
    EXPECT_EQ(refusal([] {
                  read_tensors(file_of(R"({"experiment":{"heads":3}})", {"query", Matrix::Ones(4, 6)}));
              }),
              "run.safetensors: experiment: heads 3 does not divide dim 16: use a divisor");
    EXPECT_EQ(
        refusal([] {
            read_tensors(file_of("{}", {"mask", Matrix::Constant(2, 2, k_nan)}));
        }),
        "run.safetensors: experiment: mask: row 1, column 1 is nan: a mask holds 1 (open) and 0 (closed)");
}

TEST(SessionTensorsTest, BiasesAreVectorsAsInPyTorchAndWeightsMatrices) {
    Session session;
    for (const char* name : {"b_q", "1.b_1", "2.ln1_g", "W_q", "2.W_1", "E"})
        session.experiment.weights.custom.emplace(name, CustomMatrix(Matrix::Ones(1, 3)));
    session.experiment.weights.custom.emplace("b_out", CustomMatrix(Matrix::Ones(2, 3)));
    std::set<std::string> vectors, all;
    for (const NamedTensor& tensor : tensors_from_safetensors(to_safetensors(session), "test").tensors) {
        all.insert(tensor.name);
        if (tensor.is_vector) vectors.insert(tensor.name);
    }
    EXPECT_EQ(vectors, (std::set<std::string>{"b_q", "1.b_1", "2.ln1_g"}));
    EXPECT_EQ(all.size(), 7u);
    // Either is read: a row of one matrix, or a vector.
    for (const bool is_vector : {false, true})
        EXPECT_EQ(read_tensors(file_of("{}", {"W_q", Matrix::Ones(1, 3), is_vector}))
                      .experiment.weights.custom.at("W_q"),
                  CustomMatrix(Matrix::Ones(1, 3)));
}

TEST(SessionTensorsTest, TheRowsAmongTheCustomMatricesAreTheseOnes) {
    std::set<std::string_view> rows;
    for (const OverridableMatrix& given : overridable_matrices()) {
        EXPECT_EQ(given.is_row, given.what.find("1 × ") != given.what.npos)
            << given.name << ": " << given.what;
        if (given.is_row) rows.insert(given.name);
    }
    EXPECT_EQ(rows, (std::set<std::string_view>{
                        "tokens",       "b_q",          "b_k",          "b_v",      "b_o",     "b_a",
                        "v_a",          "v_c",          "v_p",          "ln1_g",    "ln1_b",   "b_1",
                        "b_2",          "ln2_g",        "ln2_b",        "ln_f_g",   "ln_f_b",  "b_out",
                        "targets",      "src",          "tgt_in",       "tgt_out",  "b_init",  "enc_fwd.b_ih",
                        "enc_fwd.b_hh", "enc_bwd.b_ih", "enc_bwd.b_hh", "dec.b_ih", "dec.b_hh"}));
}

TEST(SessionTensorsTest, TheMetadataHoldsAllButTheMatrices) {
    Session session;
    session.experiment.weights.custom.emplace("W_q", CustomMatrix(Matrix::Ones(1, 3)));
    const Tensors tensors = tensors_from_safetensors(to_safetensors(session), "test");
    nlohmann::json settings = nlohmann::json::parse(tensors.metadata.at("attnscope"));
    nlohmann::json whole = nlohmann::json::parse(to_json(session));
    EXPECT_FALSE(settings["experiment"].contains("given"));
    whole["experiment"].erase("given");
    EXPECT_EQ(settings, whole);
    EXPECT_EQ(tensors.metadata.size(), 1u);
}

TEST(SessionTensorsTest, InvalidSessionsAreRefused) {
    const NamedTensor W{"W_q", Matrix::Ones(1, 3)};
    const auto refused = [](const std::string& bytes) { return refusal([&] { read_tensors(bytes); }); };
    EXPECT_EQ(refused(to_safetensors(Tensors{.metadata = {{"format", "pt"}}, .tensors = {W}})),
              "run.safetensors: its metadata has no \"attnscope\": open a file that attnscope wrote");
    EXPECT_EQ(refused(file_of("{}", {"W_Q", Matrix::Ones(1, 3)})),
              "run.safetensors: the tensor \"W_Q\" is unknown; did you mean \"W_q\"?");
    EXPECT_EQ(refused(file_of(R"({"experiment":{"given":{"W_k":[[1]]}}})", W)),
              "run.safetensors: experiment.given: the file's tensors are the custom matrices: leave it out");
    EXPECT_EQ(refused(file_of(R"({"experiment":{"hedas":2}})", W)),
              "run.safetensors: the field \"experiment.hedas\" is unknown; did you mean \"heads\"?");
    EXPECT_EQ(refused(file_of("nothing", W)).find("run.safetensors: not a session: no valid JSON at line 1"),
              0u);
}

TEST(SessionTensorsTest, AFileIsKnownByItsContentOrItsName) {
    const test::TemporaryFolder folder;
    Session session;
    session.experiment.weights.custom.emplace("W_q", CustomMatrix(Matrix::Ones(300, 300)));
    const std::string bytes = to_safetensors(session);  // more than is looked at first
    const auto load = [&](const std::string& name, const std::string& content) {
        write_file(folder.file(name), content);
        return load_session(folder.file(name));
    };
    EXPECT_TRUE(load("a.safetensors", bytes) == session);
    EXPECT_TRUE(load("any.name", bytes) == session);
    EXPECT_EQ(refusal([&] { load("text.safetensors", "{\"version\": 1}"); }),
              folder.file("text.safetensors") +
                  ": its first 8 bytes announce a header of 8028074745930326651 bytes, and the limit is "
                  "100000000: the file is not a safetensors file, or is damaged; copy it again");
    EXPECT_EQ(
        refusal([&] { load("CUT.SAFETENSORS", bytes.substr(0, 5)); }),
        folder.file("CUT.SAFETENSORS") + ": the file is cut off within its first 8 bytes: copy it again");
}

TEST(SessionTensorsTest, TheNameOfAFileSaysWhatIsWritten) {
    for (const char* name : {"a.json", "A.JSON", "b/a.safetensors", "a.SafeTensors"})
        EXPECT_TRUE(is_session_file(name)) << name;
    for (const char* name : {"", "a", "json", "a.png", "a.json.txt", "safetensors", "a.safetensor"})
        EXPECT_FALSE(is_session_file(name)) << name;
    const Session session;
    EXPECT_EQ(session_bytes(session, "a.json"), to_json(session));
    EXPECT_EQ(session_bytes(session, "any"), to_json(session));
    EXPECT_EQ(session_bytes(session, "a.safetensors"), to_safetensors(session));
    EXPECT_EQ(session_bytes(session, "a.SAFETENSORS"), to_safetensors(session));
}

}  // namespace
}  // namespace attnscope
