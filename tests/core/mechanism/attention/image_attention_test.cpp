// Attention over a picture, and sessions that contain one.
#include <gtest/gtest.h>

#include "core/error.h"
#include "core/files/file.h"
#include "core/files/png.h"
#include "core/graph/explain.h"
#include "core/graph/formula.h"
#include "core/graph/graph.h"
#include "core/graph/stage_table.h"
#include "core/image/patches.h"
#include "core/mechanism/evaluate.h"
#include "core/mechanism/mechanisms.h"
#include "core/random/initializers.h"
#include "core/session/options.h"
#include "core/text/vocabulary.h"
#include "tests/drawn.h"
#include "tests/image_fixture.h"
#include "tests/temporary_folder.h"

namespace attnscope {
namespace {

// ---- attention

Experiment with_image(Image image, int grid = 2, int patch_size = 2) {
    Experiment e;
    e.input.text = "a red house";
    e.input.dim = 4;
    e.input.image = CustomImage(std::move(image));
    e.input.grid = grid;
    e.input.patch_size = patch_size;
    return e;
}

Matrix stage(const Trace& trace, const char* name) { return trace.find_named(name)->buffer.host().head(0); }

TEST(ImageAttentionTest, TheAnnotationsAreThePatchesProjected) {
    const Experiment e = with_image(gradient(4, 4));
    const Trace trace = evaluate(e);
    const Tensor patches = image_patches(e.input.image->image(), 2, 2);
    EXPECT_EQ(stage(trace, "patches"), Matrix(patches.head(0)));
    Generator generator(e.weights.seed);
    const Matrix W = test::drawn_linear(generator, 4, 12);
    EXPECT_EQ(stage(trace, "W_patch"), W);
    const Matrix Y = (patches.head(0).cast<double>() * W.transpose().cast<double>()).cast<float>();
    EXPECT_TRUE(stage(trace, "embedding_kv").isApprox(Y, 1e-6f));
    EXPECT_EQ(stage(trace, "weights").rows(), 3);
    EXPECT_EQ(stage(trace, "weights").cols(), 4);
    EXPECT_EQ(trace.columns, (std::vector<std::string>{"1,1", "1,2", "2,1", "2,2"}));
    EXPECT_EQ(trace.label(Axis::pixel, 4), "1,2 green");
    EXPECT_EQ(formula(trace, *trace.find("embedding_kv"_stage)), "Y = P W_patchᵀ");
}

TEST(ImageAttentionTest, KeysAndValuesAreThoseOfAnnotationsGivenOutright) {
    Experiment e = with_image(gradient(6, 6), 3, 1);
    e.attention.heads = 2;
    const Trace trace = evaluate(e);
    Experiment given = e;
    given.input.image.reset();
    given.weights.custom.emplace("embedding_kv", CustomMatrix(stage(trace, "embedding_kv")));
    const Trace same = evaluate(given);
    for (const char* name : {"key", "value", "weights", "context"})
        EXPECT_EQ(stage(trace, name), stage(same, name)) << name;
}

TEST(ImageAttentionTest, SeedsGoOnFromTableToPatchesToProjections) {
    Experiment e = with_image(gradient(4, 4));
    e.weights.image_seed.kind = ProjectionSeed::Kind::proceed;
    e.weights.projection_seed.kind = ProjectionSeed::Kind::proceed;
    const Trace trace = evaluate(e);
    Generator generator(e.weights.seed);
    EXPECT_EQ(test::drawn(generator, Initialization::normal, 10, 4), stage(trace, "table"));
    EXPECT_EQ(test::drawn_linear(generator, 4, 12), stage(trace, "W_patch"));
    Matrix W_q(4, 4);
    initializer_of(Initialization::uniform).fill(generator, MatrixView(W_q.data(), 4, 4));
    EXPECT_EQ(W_q, stage(trace, "W_q"));
    e.weights.image_seed = {ProjectionSeed::Kind::own, 7};
    Generator own(7);
    EXPECT_EQ(test::drawn_linear(own, 4, 12), stage(evaluate(e), "W_patch"));
}

TEST(ImageAttentionTest, AnotherPictureComputesOnlyWhatReadsIt) {
    const Experiment e = with_image(gradient(4, 4));
    const Trace before = evaluate(e);
    Experiment other = e;
    other.input.image = drawn_picture();
    const Trace after = evaluate(other, before);
    EXPECT_EQ(after.find("query"_stage), before.find("query"_stage));
    EXPECT_EQ(after.find("W_patch"_stage), before.find("W_patch"_stage));
    EXPECT_NE(after.find("patches"_stage), before.find("patches"_stage));
    EXPECT_NE(after.find("weights"_stage), before.find("weights"_stage));
}

TEST(ImageAttentionTest, EachCellIsProvedTermByTerm) {
    const Experiment e = with_image(gradient(4, 4));
    const Trace trace = evaluate(e);
    const Proof proof = explain(trace, *trace.find("embedding_kv"_stage), 0, 2, 1);
    ASSERT_EQ(proof.terms.size(), 12u);
    EXPECT_EQ(proof.terms[4].label, "1,2 green");
    EXPECT_EQ(proof.terms[4].left, stage(trace, "patches")(2, 4));
    EXPECT_EQ(proof.terms[4].right, stage(trace, "W_patch")(1, 4));
    EXPECT_NEAR(proof.terms_sum, proof.value, 1e-6);
    EXPECT_EQ(explain(trace, *trace.find("patches"_stage), 0, 2, 4).remark,
              "pixel 1,2 green of patch 2,1, the mean over its area in the picture, 0 … 1");
}

TEST(ImageAttentionTest, HardAttentionLooksAtOnePatch) {
    Experiment e = with_image(drawn_picture().image(), 7, 4);
    e.weighting.normalizer = Normalization::hard;
    const Matrix weights = stage(evaluate(e), "weights");
    for (int i = 0; i < weights.rows(); ++i) {
        EXPECT_EQ(weights.row(i).sum(), 1);
        EXPECT_EQ(weights.row(i).maxCoeff(), 1);
    }
}

TEST(ImageAttentionTest, WhatDoesNotGoWithAnImageIsRefused) {
    const auto message = [](const Experiment& e) {
        try {
            evaluate(e);
        } catch (const Error& error) {
            return std::string(error.what());
        }
        return std::string("nothing thrown");
    };
    Experiment e = with_image(gradient(4, 4));
    e.input.text2 = "another";
    EXPECT_EQ(message(e), "text2 and image both define the keys: leave text2 empty or use image none");
    e.mechanism = MechanismKind::seq2seq;
    EXPECT_EQ(message(e), "nothing thrown") << "seq2seq does not look at it";
    e = with_image(gradient(4, 4), 33);
    EXPECT_EQ(message(e), "grid 33 is out of range: use 1 to 32");
    e = with_image(gradient(4, 4), 2, 65);
    EXPECT_EQ(message(e), "patch-size 65 is out of range: use 1 to 64");
    e = with_image(Image{});
    EXPECT_NE(message(e).find("image is 0 × 0"), std::string::npos);
    e = with_image(gradient(4, 4));
    e.weights.custom.emplace("W_patch", CustomMatrix(Matrix::Ones(4, 5)));
    EXPECT_EQ(message(e), "W_patch is 4 × 5, but needs 12 columns");
}

TEST(ImageAttentionTest, MemoryIsCountedBeforeAnythingIsAllocated) {
    const Experiment small = with_image(gradient(4, 4)), large = with_image(gradient(4, 4), 32, 64);
    EXPECT_GT(bytes_of(build(large)), bytes_of(build(small)) + std::size_t{1024} * 12288 * 4);
    try {
        EvaluateOptions options;
        options.memory_limit = std::size_t{20} << 20;
        evaluate(large, {}, options);
        FAIL();
    } catch (const Error& error) {
        EXPECT_EQ(error.kind(), ErrorKind::too_large);
    }
}

// ---- sessions

TEST(ImageSessionTest, APictureComesBackExactlyAndGivesTheSameNumbers) {
    Session session;
    session.experiment = with_image(gradient(30, 30), 3, 4);
    const Session again = session_from_json(to_json(session), "test");
    EXPECT_TRUE(again == session);
    EXPECT_EQ(stage(evaluate(again.experiment), "weights"), stage(evaluate(session.experiment), "weights"));
    session.experiment.input.image = drawn_picture();
    EXPECT_NE(to_json(session).find("\"image\": \"drawn\""), std::string::npos);
    EXPECT_TRUE(session_from_json(to_json(session), "test") == session);
}

TEST(ImageSessionTest, AFlagReadsTheFileAtOnceAndKeepsItsSquare) {
    const test::TemporaryFolder folder;
    const std::string path = folder.file("photo.png");
    write_file(path, png_of(gradient(9, 6)));
    Session session;
    const Option& option = *find_option("image");
    set_from_text(session, option, path);
    EXPECT_EQ(session.experiment.input.image->image(), central_square(gradient(9, 6)));
    Session again;
    set_from_text(again, option, text_of(session, option));
    EXPECT_TRUE(again == session);
    write_file(path, png_of(gradient(900, 800)));
    set_from_text(session, option, path);
    EXPECT_EQ(session.experiment.input.image->image().width, 448);
}

TEST(ImageSessionTest, APhotoIsNotASessionAndTheErrorSaysWhatToDo) {
    const test::TemporaryFolder folder;
    const std::string path = folder.file("photo.jpg");
    write_file(path, "\xFF\xD8\xFF\xE0");
    try {
        load_session(path);
        FAIL();
    } catch (const Error& error) {
        EXPECT_EQ(std::string(error.what()),
                  path + " is a JPEG, which holds no session: use it as the picture with --image");
    }
}

TEST(ImageSessionTest, ARefusedPictureNamesTheFlagOrTheField) {
    const auto of_flag = [](const std::string& value) {
        Session session;
        try {
            set_from_text(session, *find_option("image"), value);
        } catch (const Error& error) {
            return std::string(error.what());
        }
        return std::string("nothing thrown");
    };
    EXPECT_EQ(of_flag("data:image/png;base64,AAAA"),
              "--image: the picture is not a supported picture: use a PNG or a JPEG");
    EXPECT_TRUE(of_flag("absent.jpg").starts_with("--image: "));
    const auto of_field = [](const std::string& value) {
        try {
            session_from_json("{\"experiment\": {\"image\": " + value + "}}", "s.json");
        } catch (const Error& error) {
            return std::string(error.what());
        }
        return std::string("nothing thrown");
    };
    EXPECT_EQ(of_field("\"photo.png\""),
              "s.json: experiment.image: expected none, drawn or \"data:image/png;base64,…\", not "
              "\"photo.png\"");
    EXPECT_EQ(of_field("1"), "s.json: experiment.image: expected a string, not 1");
}

}  // namespace
}  // namespace attnscope
