// All words on screen that can be read without a display, and those of the sources and of the pages: no
// phrase that a reader stumbles over.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "app/actions/actions.h"
#include "app/document/custom.h"
#include "core/error.h"
#include "core/experiment/masks.h"
#include "core/export/export.h"
#include "core/graph/explain.h"
#include "core/graph/formula.h"
#include "core/mechanism/attention/scores.h"
#include "core/mechanism/evaluate.h"
#include "core/mechanism/mechanisms.h"
#include "core/op/normalizers.h"
#include "core/picture/shown_matrix.h"
#include "core/random/initializers.h"
#include "core/recipe/recipe.h"
#include "core/session/applies.h"
#include "core/session/examples.h"
#include "core/text/tokenizer.h"
#include "core/text/vocabulary.h"
#include "core/utf8.h"
#include "tests/random_attention.h"
#include "tests/random_seq2seq.h"
#include "tests/random_transformer.h"
#include "tests/temporary_folder.h"

namespace attnscope {
namespace {

namespace fs = std::filesystem;

/// In lower case. "is no" is found except where it is idiomatic.
constexpr const char* k_forbidden[] = {
    "taken over",   "takes over",   "told by",         " is no ",     " are no ",       "how manieth",
    "no news",      "take back",    "taken back",      "takes back",  "take the given", "given matri",
    "given mask",   "given score",  "given weight",    "given query", "given value",    "looked at",
    "to do with a", "weights by",   "asks with",       "most steps",  "present ones",   "a blank ",
    "the negative", "read at once", "expected a text", "nobody",      "somebody",       "else commas",
    "likewise",     "colour",       "centre",          "grey",        "behaviour",      "neighbour",
    "licence",      "cancelled",    "normalis",        "initialis",   "optimis",        "tokenis",
    "generalis",    "serialis",     "labelled",        "analyse",     "favour",         "finds out",
    "found out",    "hands over",   "handed over",     "begin again", "begins again",   "present is",
    "it looks at",  "looks most"};

std::string without(std::string text, std::string_view phrase) {
    for (std::size_t at; (at = text.find(phrase)) != std::string::npos;) text.erase(at, phrase.size());
    return text;
}

/// The first forbidden phrase of a text, or "".
std::string forbidden_in(std::string_view words) {
    std::string text = lower(words);
    for (const char* idiom :
         {"there is no ", "there are no ", " is no longer", " are no longer", " is no wider", "a blank line"})
        text = without(std::move(text), idiom);
    for (const char* phrase : k_forbidden)
        if (text.find(phrase) != std::string::npos) return phrase;
    return "";
}

/// Checks each different text once.
class Reader {
public:
    void read(std::string_view where, std::string_view text) {
        if (!read_.emplace(text).second) return;
        const std::string phrase = forbidden_in(text);
        const std::size_t at = phrase.empty() ? 0 : lower(text).find(phrase), from = at < 60 ? 0 : at - 60;
        EXPECT_EQ(phrase, "") << where << ": " << text.substr(from, 160);
    }
    std::size_t count() const { return read_.size(); }

private:
    std::set<std::string> read_;
};

void read_proof(Reader& reader, std::string_view where, const Proof& proof) {
    for (const std::string& text : {proof.terms_title.text(), proof.sum_name, proof.remark, proof.row_title})
        reader.read(where, text);
    reader.read(where, proof.terms_title.help);
    for (const ProofStep& step : proof.steps) {
        reader.read(where, step.label);
        reader.read(where, step.help);
    }
}

/// The first and the last cell and some between.
void read_stage(Reader& reader, const Trace& trace, const Stage& stage) {
    reader.read(stage.name(), formula(trace, stage));
    reader.read(stage.name(), caption(trace, stage));
    reader.read(stage.name(), why_not_shown(stage, {HeadChoice::Kind::mean}));
    const Shape& shape = stage.shape();
    for (int i = 0; i < shape.rows; i += std::max(1, (shape.rows - 1) / 3))
        for (int j = 0; j < shape.columns; j += std::max(1, (shape.columns - 1) / 3)) {
            read_proof(reader, stage.name(), explain(trace, stage, 0, i, j));
            if (has_mean(stage)) read_proof(reader, stage.name(), explain(trace, stage, -1, i, j));
        }
}

void read_trace(Reader& reader, const Trace& trace) {
    for (const StageRecord& record : trace.records) read_stage(reader, trace, *record.stage);
    std::istringstream lines(recipe(trace));
    for (std::string line; std::getline(lines, line);)
        if (const std::size_t comment = line.find("# "); comment != std::string::npos)
            reader.read("recipe", line.substr(comment));
    for (const Option& option : options()) reader.read(option.name, why_unused(option, trace.experiment));
    const Mechanism& mechanism = mechanism_of(trace.experiment);
    for (const std::string_view text :
         {mechanism.query, mechanism.queries, mechanism.key, mechanism.keys,
          std::string_view(mechanism.first.words), std::string_view(mechanism.first.hint),
          std::string_view(mechanism.second.words), std::string_view(mechanism.second.hint),
          std::string_view(mechanism.second_sentence)})
        reader.read("mechanism", text);
}

TEST(WordsTest, TheTablesAreInPlainEnglish) {
    Reader reader;
    for (const Option& option : options())
        for (const std::string& text : {std::string(name_of(option.section)), std::string(option.argument),
                                        std::string(option.help), when_used(option)})
            reader.read(option.name, text);
    for (const StageInfo& stage : stage_table())
        for (const std::string& text : {std::string(stage.caption), stage_heading(stage)})
            reader.read(stage.name, text);
    for (const MaskKind& kind : mask_kinds()) {
        reader.read("mask", kind.summary);
        reader.read("mask", kind.condition({kind.choice, kind.first(8)}));
    }
    for (const MaskPreset& preset : mask_presets())
        for (const std::string_view text : {preset.name, preset.help}) reader.read("preset", text);
    for (const ScoreFunction& score : score_functions()) reader.read("score", score.summary);
    for (const Normalizer& normalizer : normalizers()) reader.read("normalizer", normalizer.summary);
    for (const Tokenizer& tokenizer : tokenizers()) reader.read("tokenizer", tokenizer.summary);
    for (const VocabularyRule& rule : vocabulary_rules()) reader.read("vocabulary", rule.summary);
    for (const Initializer& initializer : initializers()) reader.read("initializer", initializer.summary);
    for (const ProjectionRule& rule : projection_rules()) reader.read("projection", rule.summary);
    for (const ExportFormat& format : export_formats()) reader.read("format", format.summary);
    EXPECT_GT(reader.count(), 200U);
}

TEST(WordsTest, ActionsAreInPlainEnglish) {
    Reader reader;
    Interaction interaction;
    SavedState saved;
    const std::function<void(const std::string&)> copy = [](const std::string&) {};
    for (const Action& action : actions()) reader.read(action.id, action.title);
    for (const std::string& name : example_names()) {
        Document document{load_example(name), {}, {}};
        const ActionContext context{document, interaction, saved, copy};
        for (const Action& action : actions())
            if (action.why_not) reader.read(action.id, action.why_not(context));
    }
    EXPECT_GT(reader.count(), 40U);
}

TEST(WordsTest, ExamplesAreInPlainEnglish) {
    Reader reader;
    for (const std::string& name : example_names()) {
        const Session session = load_example(name);
        reader.read(name, session.note);
        read_trace(reader, evaluate(session.experiment));
    }
    EXPECT_GT(reader.count(), 500U);
}

TEST(WordsTest, RandomExperimentsAndTheirErrorsAreInPlainEnglish) {
    Reader reader;
    for (unsigned seed = 1; seed <= 60; ++seed) {
        test::Dice dice(seed);
        try {
            read_trace(reader, evaluate(seed % 3 == 0   ? test::random_seq2seq(dice)
                                        : seed % 3 == 1 ? test::random_transformer(dice)
                                                        : test::random_attention(dice)));
        } catch (const Error& error) {
            reader.read("error", error.what());
        }
    }
    EXPECT_GT(reader.count(), 500U);
}

/// The literals and comments of a source file, or a page, without the line breaks within them.
std::string flowing(const fs::path& path) {
    std::ostringstream text;
    text << std::ifstream(path, std::ios::binary).rdbuf();
    if (path.extension() == ".md") return std::regex_replace(text.str(), std::regex("\\s+"), " ");
    std::string result;
    std::istringstream lines(text.str());
    for (std::string line; std::getline(lines, line);) {
        const std::size_t begin = line.find_first_not_of(" \t");
        if (begin == line.npos) continue;
        std::string_view rest = std::string_view(line).substr(begin);
        const bool goes_on = result.ends_with('"') && rest.starts_with('"');
        if (goes_on) {
            result.pop_back();
            rest.remove_prefix(1);
        } else {
            rest.remove_prefix(std::min(rest.find_first_not_of('/'), rest.size()));
        }
        if (!goes_on && !rest.starts_with(' ')) result += '\n';
        result += rest;
    }
    return result;
}

TEST(WordsTest, SourcesAndPagesAreInPlainEnglish) {
    Reader reader;
    const fs::path root = ATTNSCOPE_SOURCE_DIR;
    reader.read("README.md", flowing(root / "README.md"));
    for (const char* folder : {"core", "app", "docs", "scripts", "bench", "shaders"})
        for (const fs::directory_entry& entry : fs::recursive_directory_iterator(root / folder)) {
            const fs::path extension = entry.path().extension();
            const std::set<fs::path> read{".cpp", ".h", ".md", ".py", ".comp", ".frag", ".vert", ".glsl", ""};
            if (!entry.is_regular_file() || !read.contains(extension)) continue;
            std::istringstream lines(flowing(entry.path()));
            for (std::string line; std::getline(lines, line);) reader.read(entry.path().string(), line);
        }
    EXPECT_GT(reader.count(), 10'000U);
}

/// The first lines of the comments of a source file that begin like an answer to the line above.
std::vector<std::string> riddles_in(std::istream& source) {
    static const std::regex riddle(
        R"(^\s*/// (Of|Those|That of|The same|Likewise|Also|As|By|To|It|Its|They|Both|All of them|With the same)\b.*)");
    static const std::regex behind(R"(.*///< (of these|of those|those|the same)\b.*)");
    std::vector<std::string> found;
    bool goes_on = false;
    for (std::string line; std::getline(source, line);) {
        if ((!goes_on && std::regex_match(line, riddle)) || std::regex_match(line, behind))
            found.push_back(line);
        const std::size_t begin = line.find_first_not_of(' ');
        goes_on = begin != line.npos && line.compare(begin, 3, "///") == 0;
    }
    return found;
}

TEST(WordsTest, ACommentIsUnderstoodWithoutTheLineAboveIt) {
    const fs::path root = ATTNSCOPE_SOURCE_DIR;
    int files = 0;
    for (const char* folder : {"core", "app", "tests", "bench"})
        for (const fs::directory_entry& entry : fs::recursive_directory_iterator(root / folder)) {
            const fs::path extension = entry.path().extension();
            if (extension != ".cpp" && extension != ".h") continue;
            std::ifstream source(entry.path(), std::ios::binary);
            for (const std::string& line : riddles_in(source)) ADD_FAILURE() << entry.path() << ": " << line;
            ++files;
        }
    EXPECT_GT(files, 500);
}

TEST(WordsTest, RiddlesAreFound) {
    std::istringstream source(
        "/// Of a batch.\nint a;\n    /// The same by name.\n    int b;\n/// A number that is\n/// Of use.\n"
        "int c;  ///< of a batch\n/// Only ours.\nint d;  ///"
        "< of these, the last\n");
    EXPECT_EQ(riddles_in(source), (std::vector<std::string>{"/// Of a batch.", "    /// The same by name.",
                                                            "int d;  ///"
                                                            "< of these, the last"}));
}

TEST(WordsTest, APhraseIsFoundAcrossTheLinesOfALiteralOrComment) {
    test::TemporaryFolder folder;
    const fs::path file = folder.file("a.cpp");
    std::ofstream(file) << "// The matrix is\n// no folder.\nf(\"given \"\n  \"matrix\");\n";
    const std::string text = flowing(file);
    EXPECT_NE(text.find("is no folder"), text.npos) << text;
    EXPECT_NE(text.find("given matrix"), text.npos) << text;
}

TEST(WordsTest, ForbiddenPhrasesAreFound) {
    EXPECT_EQ(forbidden_in("The Colour of a cell"), "colour");
    EXPECT_EQ(forbidden_in("this is no folder"), " is no ");
    EXPECT_EQ(forbidden_in("There is no picture, and it is no longer asked for"), "");
}

}  // namespace
}  // namespace attnscope
