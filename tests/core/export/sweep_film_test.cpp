// Films of a swept setting, and films in one picture.
#include <gtest/gtest.h>

#include <filesystem>

#include "core/error.h"
#include "core/export/film.h"
#include "core/graph/stage_table.h"
#include "core/learn/training_run.h"
#include "core/mechanism/evaluate.h"
#include "core/picture/compose.h"
#include "core/picture/page.h"
#include "core/picture/render_vector.h"
#include "core/picture/spread.h"
#include "core/session/examples.h"
#include "core/session/sweep.h"
#include "tests/temporary_folder.h"

namespace attnscope {
namespace {

std::vector<std::string> names(const std::vector<std::string>& paths) {
    std::vector<std::string> found;
    for (const std::string& path : paths) found.push_back(std::filesystem::path(path).filename().string());
    return found;
}

Session swept(Sweep sweep) {
    Session session = load_example("causal");
    session.presentation.sweep = sweep;
    return session;
}

FilmRequest request(std::vector<FileFormat> formats, int frames, Compose compose = Compose::none) {
    FilmRequest film{{{"weights"}, {}, std::move(formats)}, frames};
    film.files.compose = compose;
    return film;
}

TEST(SweepFilmTest, HasAFileForEachValueAndOneOfAll) {
    const test::TemporaryFolder folder;
    EXPECT_EQ(
        names(export_film(swept(Sweep::seed), request({FileFormat::csv, FileFormat::gif}, 2), folder.path(),
                          {})),
        (std::vector<std::string>{"frame-0001-weights.csv", "frame-0002-weights.csv", "film-weights.gif"}));
}

TEST(SweepFilmTest, IsOnePictureIfComposedAsAFilm) {
    const test::TemporaryFolder folder;
    EXPECT_EQ(
        names(export_film(swept(Sweep::temperature),
                          request({FileFormat::png, FileFormat::pdf}, 3, Compose::film), folder.path(), {})),
        (std::vector<std::string>{"film-weights.png", "film-weights.pdf"}));
    EXPECT_THROW(
        export_film(swept(Sweep::seed), request({FileFormat::csv}, 3, Compose::film), folder.path(), {}),
        Error);
}

TEST(SweepFilmTest, InOnePictureAViewIsTheStageThatItShows) {
    const test::TemporaryFolder folder;
    for (const ViewKind view : {ViewKind::lines, ViewKind::alignment}) {
        Session session = load_example(view == ViewKind::lines ? "causal" : "bahdanau-alignment");
        session.presentation.sweep = Sweep::seed;
        FilmRequest film{{.head = {HeadChoice::Kind::one, 0}, .view = view, .view_alone = true}, 2};
        film.files.compose = Compose::film;
        EXPECT_EQ(
            names(export_film(session, film, folder.path(), {})),
            (std::vector<std::string>{view == ViewKind::lines ? "film-weights.png" : "film-alignment.png"}));
    }
}

TEST(SweepFilmTest, WhatIsNoPictureIsRefusedBeforeAnyFrame) {
    const test::TemporaryFolder folder;
    for (const FileFormat format : {FileFormat::csv, FileFormat::gif}) {
        const FilmRequest film = request({FileFormat::png, format}, 3, Compose::film);
        EXPECT_EQ(why_no_film(swept(Sweep::seed), film),
                  "a one-picture film must be png, svg or pdf, not " + std::string(name_of(format)));
        EXPECT_THROW(export_film(swept(Sweep::seed), film, folder.path(), {}), Error);
        EXPECT_EQ(folder.file_count(), 0u);
    }
}

TEST(SweepFilmTest, NeedsASettingThatApplies) {
    EXPECT_NE(why_no_film(swept(Sweep::none)), "");
    EXPECT_EQ(why_no_film(swept(Sweep::dim)), "");
}

/// A run of four steps.
Session trained() {
    Session session = load_example("learned-induction");
    session.experiment.training.step = 4;
    return session;
}

TEST(TrainingFilmTest, IsOnePictureIfComposedAsAFilm) {
    const test::TemporaryFolder folder;
    FilmRequest film{{{"2.weights"}, {HeadChoice::Kind::one, 1}, {FileFormat::png, FileFormat::pdf}}, 3};
    film.files.compose = Compose::film;
    EXPECT_EQ(names(export_film(trained(), film, folder.path(), {})),
              (std::vector<std::string>{"film-2.weights-head2.png", "film-2.weights-head2.pdf"}));
}

TEST(ContactSheetTest, OfATrainingRunHasItsStepsAndNoStatistics) {
    const Session session = trained();
    TrainingRun run(session.experiment, {});
    std::vector<SheetFrame> frames;
    for (int step = 0; step <= 4; ++step) {
        if (step > 0) run.advance({});
        auto trace = std::make_shared<const Trace>(
            evaluate(with_step(session.experiment, run.start(), run.parameters(), run.step())));
        frames.push_back({trace, trace->stage({"weights"_stage, 2}), {}, "Step " + std::to_string(step)});
    }
    const Sheet sheet = contact_sheet(frames, session.presentation, false);
    ASSERT_EQ(sheet.panels.size(), 5u);
    EXPECT_TRUE(sheet.one_scale);
    for (std::size_t i = 0; i < 5; ++i) {
        const Figure& figure = sheet.panels[i].figure;
        EXPECT_EQ(figure.title, "Step " + std::to_string(i));
        EXPECT_EQ(figure.scale.max, 1);
        EXPECT_EQ(figure.values[figure.cell(3, 1)], frames[i].stage->buffer.at(0, 3, 1));
    }
    EXPECT_NE(sheet.panels[0].figure.values, sheet.panels[4].figure.values) << "it learns";
}

TEST(ContactSheetTest, MarksWhatLocalWindowsAreCenteredOn) {
    Session session = swept(Sweep::normalizer);
    std::vector<SheetFrame> frames;
    std::vector<std::string> values;
    for (const SweepStep& step : sweep_steps(session, Sweep::normalizer, 9)) {
        auto trace = std::make_shared<const Trace>(evaluate(step.session.experiment));
        frames.push_back({trace, trace->stage("weights"_stage), {}, step.value, true});
        values.push_back(step.value);
    }
    const Sheet sheet = contact_sheet(frames, session.presentation, false);
    int marked = 0;
    for (std::size_t i = 0; i < frames.size(); ++i) {
        SCOPED_TRACE(values[i]);
        const Figure& figure = sheet.panels[i].figure;
        const Stage* center = frames[i].trace->find("center"_stage);
        ASSERT_EQ(figure.centers.empty(), center == nullptr);
        if (!center) continue;
        ASSERT_EQ(std::ssize(figure.centers), figure.rows);
        for (int row = 0; row < figure.rows; ++row)
            EXPECT_EQ(figure.centers[static_cast<std::size_t>(row)], center->buffer.at(0, row, 0));
        // Where they are not marked the picture differs.
        frames[i].marks_centers = false;
        const Sheet plain = contact_sheet(std::span(&frames[i], 1), session.presentation, false);
        frames[i].marks_centers = true;
        const Sheet with = contact_sheet(std::span(&frames[i], 1), session.presentation, false);
        const TextFace face;
        EXPECT_NE(render_svg(page_of(plain, face), ""), render_svg(page_of(with, face), ""));
        ++marked;
    }
    EXPECT_EQ(marked, 2) << "local-m and local-p";
    // Five panels in two lines: the last one of each column names its keys.
    ASSERT_EQ(sheet.panels.size(), 5U);
    for (std::size_t i = 0; i < 5; ++i)
        EXPECT_EQ(sheet.panels[i].figure.column_labels.empty(), i < 2) << values[i];
}

TEST(ContactSheetTest, HasEveryValueTheMeanAndTheSpreadOnOneRange) {
    const Session session = swept(Sweep::seed);
    std::vector<SheetFrame> frames;
    std::vector<MaskedMatrix> matrices;
    for (const SweepStep& step : sweep_steps(session, Sweep::seed, 4)) {
        auto trace = std::make_shared<const Trace>(evaluate(step.session.experiment));
        const StagePtr stage = trace->stage("weights"_stage);
        matrices.push_back(masked_matrix(*trace, *stage, {}));
        frames.push_back({trace, stage, {}, "Seed " + step.value});
    }
    const Sheet sheet = contact_sheet(frames, session.presentation, true);
    ASSERT_EQ(sheet.panels.size(), 6u);
    for (std::size_t i = 0; i < 5; ++i) {
        EXPECT_EQ(sheet.panels[i].figure.scale.min, 0);
        EXPECT_EQ(sheet.panels[i].figure.scale.max, 1) << "weights are on 0 … 1";
    }
    EXPECT_EQ(sheet.panels[2].figure.title, "Seed 125");
    const auto spread = spread_of(matrices);
    ASSERT_TRUE(spread);
    const Figure &mean = sheet.panels[4].figure, &deviation = sheet.panels[5].figure;
    for (std::size_t i = 0; i < mean.values.size(); ++i) {
        const bool open = spread->count.data()[i] != 0;
        EXPECT_EQ(mean.marks[i], open ? CellMark::value : CellMark::masked);
        EXPECT_EQ(mean.values[i], spread->mean.data()[i]);
        EXPECT_EQ(deviation.values[i], spread->deviation.data()[i]);
    }
    EXPECT_EQ(contact_sheet(frames, session.presentation, false).panels.size(), 4u);
}

}  // namespace
}  // namespace attnscope
