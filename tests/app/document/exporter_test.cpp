#include "app/document/exporter.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <future>
#include <thread>

#include "core/export/film.h"
#include "core/export/run_curves.h"
#include "core/files/file.h"
#include "core/mechanism/evaluate.h"
#include "tests/temporary_folder.h"

namespace attnscope {
namespace {

std::shared_ptr<const Trace> trace_of(const Session& session) {
    return std::make_shared<const Trace>(evaluate(session.experiment));
}

class ExporterTest : public ::testing::Test {
protected:
    Exporter::Outcome export_all(const Session& session, const ExportRequest& request) {
        exporter.start(trace_of(session), session, request, folder.path());
        exporter.wait();
        return exporter.take().value_or(Exporter::Outcome{{}, "no outcome"});
    }

    test::TemporaryFolder folder;
    Exporter exporter{{}};
};

TEST_F(ExporterTest, WritesTheBytesThatExportBytesGives) {
    Session session;
    session.experiment.attention.heads = 2;
    session.presentation.theme = ThemeKind::light;
    const ExportRequest request{{"weights"},
                                {HeadChoice::Kind::mean},
                                {FileFormat::png, FileFormat::svg, FileFormat::pdf, FileFormat::csv,
                                 FileFormat::npy, FileFormat::json}};
    const auto outcome = export_all(session, request);
    ASSERT_EQ(outcome.problem, "");
    const Trace trace = evaluate(session.experiment);
    const auto items = plan_export(trace, request);
    ASSERT_EQ(outcome.files.size(), items.size());
    for (std::size_t i = 0; i < items.size(); ++i) {
        EXPECT_EQ(outcome.files[i], folder.file(items[i].file_name));
        EXPECT_EQ(read_file(outcome.files[i]), export_bytes(trace, session, items[i]));
    }
    EXPECT_EQ(folder.file_count(), items.size());
}

TEST_F(ExporterTest, APictureCarriesTheSessionOfWhatItShows) {
    Session session;
    session.experiment.weights.seed = 1;
    const auto shown = trace_of(session);
    session.experiment.weights.seed = 2;  // changed, and not yet computed
    exporter.start(shown, session, {{"weights"}, {}, {FileFormat::png}}, folder.path());
    exporter.wait();
    const auto outcome = exporter.take();
    ASSERT_TRUE(outcome);
    ASSERT_EQ(outcome->problem, "");
    EXPECT_EQ(load_session(outcome->files.front()).experiment.weights.seed, Seed(1));
}

TEST_F(ExporterTest, AFolderThatIsNotThereIsAProblem) {
    exporter.start(trace_of({}), {}, {{"weights"}, {}, {FileFormat::png}}, folder.file("nowhere"));
    exporter.wait();
    const auto outcome = exporter.take();
    ASSERT_TRUE(outcome);
    EXPECT_TRUE(outcome->files.empty());
    EXPECT_NE(outcome->problem.find("nowhere"), std::string::npos) << outcome->problem;
    EXPECT_FALSE(exporter.running());
}

TEST_F(ExporterTest, APipeThatNobodyReadsIsLeftWhenItIsCanceled) {
    ASSERT_EQ(::mkfifo(folder.file("weights.csv").c_str(), 0600), 0);
    std::atomic<int> wakes = 0;  // for the file, and every 100 ms of waiting
    Exporter waiting([&] { ++wakes; });
    waiting.start(trace_of({}), {}, {{"weights"}, {}, {FileFormat::csv}}, folder.path());
    for (int i = 0; i < 500 && wakes < 3; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(10));
    EXPECT_GE(wakes, 3) << "it waits";
    EXPECT_TRUE(waiting.running());
    EXPECT_EQ(waiting.part(), 0) << "nothing is written";
    waiting.cancel();
    waiting.wait();
    EXPECT_EQ(waiting.take()->problem, "export canceled after 0 files");
}

TEST_F(ExporterTest, NoExportWaitsForAPipesReaderOnceItIsCanceled) {
    Session session;
    session.presentation.sweep = Sweep::seed;
    const FilmRequest film{{{"weights"}, {}, {FileFormat::csv}}, 2};
    const Course course{session.experiment, {StepRecord{}}};
    constexpr FileFormat k_formats[] = {FileFormat::csv};
    const std::pair<const char*, Exporter::Job> exports[] = {
        {"frame-0001-weights.csv",
         [&](const ExportProgress& progress) {
             return export_film(session, film, folder.path(), {}, progress);
         }},
        {"training.csv", [&](const ExportProgress& progress) {
             return export_curves({&course, 1}, ThemeKind::light, k_formats, folder.path(), progress);
         }}};
    for (const auto& [name, job] : exports) {
        SCOPED_TRACE(name);
        ASSERT_EQ(::mkfifo(folder.file(name).c_str(), 0600), 0);
        std::atomic<int> wakes = 0;  // for each file, and every 100 ms of waiting
        Exporter waiting([&] { ++wakes; });
        waiting.start(job);
        for (int i = 0; i < 500 && wakes < 3; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(10));
        EXPECT_GE(wakes, 3) << "it waits and does not ask whether it may";
        EXPECT_TRUE(waiting.running());
        waiting.cancel();
        if (wakes < 3) std::ifstream(folder.file(name)).get();  // that the test ends
        waiting.wait();
        EXPECT_EQ(waiting.take()->problem, "export canceled after 0 files");
    }
}

TEST_F(ExporterTest, AnOutcomeIsTakenOnce) {
    EXPECT_FALSE(exporter.take());
    exporter.start(trace_of({}), {}, {{"weights"}, {}, {FileFormat::csv}}, folder.path());
    exporter.wait();
    EXPECT_TRUE(exporter.take());
    EXPECT_FALSE(exporter.take());
}

TEST_F(ExporterTest, CancelingLeavesWholeFilesAndSaysSo) {
    const Session session;
    Exporter* canceled = nullptr;
    Exporter stopped([&] {
        if (canceled->done() == 2) canceled->cancel();
    });
    canceled = &stopped;
    const ExportRequest request{{}, {}, {FileFormat::png, FileFormat::csv}};
    const Trace trace = evaluate(session.experiment);
    stopped.start(trace_of(session), session, request, folder.path());
    stopped.wait();
    const auto outcome = stopped.take();
    ASSERT_TRUE(outcome);
    EXPECT_EQ(outcome->problem, "export canceled after 2 files");
    EXPECT_EQ(outcome->files.size(), 2U);
    EXPECT_EQ(folder.file_count(), 2U);
    const auto items = plan_export(trace, request);
    for (std::size_t i = 0; i < outcome->files.size(); ++i)
        EXPECT_EQ(read_file(outcome->files[i]), export_bytes(trace, session, items[i]));
}

TEST_F(ExporterTest, CancelingStopsWithinAFile) {
    // 65,536 numbers written out: the file takes a second, ten times what passes between two wakes.
    Session session;
    session.presentation.cell_size = 40;
    for (int i = 0; i < 5; ++i) session.experiment.input.text += " " + session.experiment.input.text;
    Exporter* canceled = nullptr;
    Exporter stopped([&] {
        if (canceled->part() > 0) canceled->cancel();
    });
    canceled = &stopped;
    stopped.start(trace_of(session), session, {{"weights"}, {}, {FileFormat::svg}}, folder.path());
    stopped.wait();
    const auto outcome = stopped.take();
    ASSERT_TRUE(outcome);
    EXPECT_EQ(outcome->problem, "export canceled after 0 files");
    EXPECT_LT(stopped.part(), 1);
    EXPECT_EQ(folder.file_count(), 0U);
}

TEST_F(ExporterTest, RunsAgainAfterACanceledExport) {
    exporter.start(trace_of({}), {}, {{}, {}, {FileFormat::png}}, folder.path());
    exporter.cancel();
    exporter.wait();
    exporter.take();
    const auto outcome = export_all({}, {{"weights"}, {}, {FileFormat::csv}});
    EXPECT_EQ(outcome.problem, "");
    EXPECT_EQ(outcome.files.size(), 1U);
}

TEST_F(ExporterTest, AnOutcomeWakes) {
    std::atomic<int> wakes = 0;
    Exporter waking([&] { ++wakes; });
    waking.start(trace_of({}), {}, {{"weights"}, {}, {FileFormat::csv}}, folder.path());
    waking.wait();
    EXPECT_GE(wakes, 2) << "once for the file, once for the end";
    EXPECT_EQ(waking.count(), 1U);
}

TEST_F(ExporterTest, EndingStopsALongExport) {
    Session session;
    session.experiment.attention.heads = 8;
    std::promise<void> begun;
    std::atomic<bool> told = false;
    {
        Exporter ended([&] {
            if (!told.exchange(true)) begun.set_value();
        });
        ended.start(trace_of(session), session, {{}, {HeadChoice::Kind::all}, {FileFormat::png}},
                    folder.path());
        begun.get_future().wait();
    }
    const auto planned =
        plan_export(evaluate(session.experiment), {{}, {HeadChoice::Kind::all}, {FileFormat::png}});
    EXPECT_LT(folder.file_count(), planned.size());
}

}  // namespace
}  // namespace attnscope
