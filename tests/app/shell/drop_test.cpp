// Files dropped onto the window.
#include "core/export/matrix_files.h"
#include "core/files/file.h"
#include "core/session/session.h"
#include "tests/interface.h"
#include "tests/keys.h"
#include "tests/temporary_folder.h"

namespace attnscope {
namespace {

using namespace test;

class DropTest : public InterfaceTest {
protected:
    void drop(const std::vector<std::string>& names) {
        std::vector<std::string> paths;
        for (const std::string& name : names) paths.push_back(folder.file(name));
        play({Drop{paths}});
        // Each file is read by itself.
        for (std::size_t i = 0; i < 2 * names.size(); ++i) settle();
    }
    void write_matrix(const std::string& name, const Matrix& values) {
        write_file(folder.file(name), to_npy(values));
    }
    int tokens() { return document().trace()->find("weights"_stage)->shape().rows; }

    const test::TemporaryFolder folder;
};

TEST_F(DropTest, OfSeveralFilesEachIsOpenedInTurn) {
    Session session;
    session.experiment.weights.seed = 77;
    write_file(folder.file("a.json"), to_json(session));
    write_file(folder.file("b.txt"), "one two three");
    drop({"a.json", "b.txt"});
    EXPECT_EQ(document().experiment().weights.seed, Seed(77));
    EXPECT_EQ(text(), "one two three") << "into the session that came before";
    EXPECT_NE(interaction().notice.text.find("b.txt"), std::string::npos);
    press(Key::z, k_ctrl);
    press(Key::z, k_ctrl);
    EXPECT_FALSE(document().can_undo()) << "a step for each";
}

TEST_F(DropTest, AFileThatCannotBeReadKeepsNoOtherFromBeingOpened) {
    write_file(folder.file("bad.json"), "{");
    write_file(folder.file("b.txt"), "one two three");
    drop({"bad.json", "b.txt"});
    EXPECT_EQ(text(), "one two three");
    EXPECT_TRUE(interaction().notice.problem);
    EXPECT_NE(interaction().notice.text.find("bad.json"), std::string::npos) << interaction().notice.text;
    drop({"b.txt"});
    EXPECT_FALSE(interaction().notice.problem) << "it is said once";
}

TEST_F(DropTest, ATextOfThousandsOfWordsIsShownOnDemand) {
    std::string book;
    for (int i = 0; i < 5000; ++i) book += "w" + std::to_string(i % 977) + (i % 12 == 11 ? "\n" : " ");
    write_file(folder.file("book.txt"), book);
    drop({"book.txt"});
    EXPECT_FALSE(interaction().notice.problem) << interaction().notice.text;
    EXPECT_EQ(tokens(), 5000);
    const StagePtr weights = document().trace()->stage("weights"_stage);
    ASSERT_TRUE(weights->buffer.on_demand());
    document().change([](Session& session) { session.presentation.focus("weights"_stage); });
    do settle();
    while (document().tiles().busy());
    EXPECT_TRUE(weights->buffer.on_demand()->is_surveyed(0));
    if (!window) return;
    EXPECT_EQ(focused().drawn.rows, 5000);
    press(Key::z, k_ctrl);
    EXPECT_LT(tokens(), 100) << "undone";
}

TEST_F(DropTest, AMatrixOpensItsDialogWithTheValuesOfTheFile) {
    const Matrix values = Matrix::Constant(tokens(), tokens(), 0.25f);
    write_file(folder.file("some.csv"), [&] {
        std::string rows;
        for (int i = 0; i < tokens(); ++i) {
            for (int j = 0; j < tokens(); ++j) rows += j > 0 ? ",0.25" : "0.25";
            rows += "\n";
        }
        return rows;
    }());
    document().change([](Session& s) { s.presentation.focus("scores"_stage); });
    settle();
    drop({"some.csv"});
    ASSERT_EQ(interaction().dialog, Dialog::giving);
    EXPECT_EQ(interaction().custom_form.name, "scores") << "the stage in focus";
    EXPECT_EQ(interaction().custom_form.values, values) << interaction().custom_form.problem;
    EXPECT_FALSE(document().experiment().is_custom("scores")) << "not before Apply";
    click(place_of("Custom matrix##dialog", {"Apply"}));
    settle();
    EXPECT_TRUE(document().experiment().is_custom("scores"));
}

TEST_F(DropTest, AFileNamedAsAMatrixIsOffered) {
    write_matrix("scores.npy", Matrix::Constant(tokens(), tokens(), 1));
    drop({"scores.npy"});
    ASSERT_EQ(interaction().dialog, Dialog::giving);
    EXPECT_EQ(interaction().custom_form.name, "scores");
}

TEST_F(DropTest, WithTheMaskInFocusAMatrixBecomesTheMask) {
    document().change([](Session& s) {
        s.experiment.weighting.mask = {{MaskForm::causal, {}}};
        s.presentation.focus("mask"_stage);
    });
    settle();
    Matrix mask = Matrix::Ones(tokens(), tokens());
    mask(0, 1) = 0;
    write_matrix("holes.npy", mask);
    drop({"holes.npy"});
    EXPECT_EQ(interaction().dialog, Dialog::none) << interaction().custom_form.problem;
    ASSERT_TRUE(document().experiment().is_custom("mask"));
    EXPECT_EQ(document().experiment().weights.custom.at("mask").values(), mask);
}

TEST_F(DropTest, AMaskThatDoesNotFitIsRefusedInTheDialog) {
    document().change([](Session& s) {
        s.experiment.weighting.mask = {{MaskForm::causal, {}}};
        s.presentation.focus("mask"_stage);
    });
    settle();
    write_matrix("small.npy", Matrix::Ones(2, 3));
    drop({"small.npy"});
    EXPECT_EQ(interaction().dialog, Dialog::giving);
    EXPECT_FALSE(interaction().custom_form.problem.empty());
    EXPECT_FALSE(document().experiment().is_custom("mask"));
}

TEST_F(DropTest, MatricesComeLastAndOneAfterTheOther) {
    write_matrix("scores.npy", Matrix::Constant(3, 3, 1));
    write_matrix("value.npy", Matrix::Constant(3, 3, 2));
    write_file(folder.file("b.txt"), "one two three");
    drop({"scores.npy", "value.npy", "b.txt"});
    EXPECT_EQ(text(), "one two three");
    ASSERT_EQ(interaction().dialog, Dialog::giving);
    EXPECT_EQ(interaction().custom_form.values, Matrix::Constant(3, 3, 1));
    press(Key::escape);
    settle();
    ASSERT_EQ(interaction().dialog, Dialog::giving) << "the second one";
    EXPECT_EQ(interaction().custom_form.values, Matrix::Constant(3, 3, 2));
    press(Key::escape);
    settle();
    EXPECT_EQ(interaction().dialog, Dialog::none);
}

TEST_F(DropTest, IntoTheOpenDialogAMatrixIsRead) {
    press(Key::g, k_ctrl);
    const std::string name = interaction().custom_form.name;
    write_matrix("other.npy", Matrix::Constant(2, 2, 7));
    drop({"other.npy"});
    ASSERT_EQ(interaction().dialog, Dialog::giving);
    EXPECT_EQ(interaction().custom_form.name, name);
    EXPECT_EQ(interaction().custom_form.values, Matrix::Constant(2, 2, 7));
}

}  // namespace
}  // namespace attnscope
