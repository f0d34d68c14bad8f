// From sentences to rows of the two tables, and from steps to their labels.
#include <fmt/format.h>

#include <cmath>

#include "core/error.h"
#include "core/experiment/sentence.h"
#include "core/graph/stage_table.h"
#include "core/mechanism/seq2seq/build.h"
#include "core/text/tokenizer.h"
#include "core/text/vocabulary.h"

namespace attnscope {
std::vector<int> Seq2seqBuilder::custom_words(CustomName of, int rows) const {
    const std::string_view name = of.text();
    const Matrix& matrix = e_.weights.find_custom(of)->values();
    if (matrix.rows() != 1 || matrix.cols() > k_max_tokens)
        refuse_shape(name, matrix.rows(), matrix.cols(),
                     fmt::format("must be one row of at most {} numbers", k_max_tokens));
    std::vector<int> words;
    for (Eigen::Index i = 0; i < matrix.cols(); ++i) {
        const float word = matrix(0, i);
        if (!(word >= 0 && word < static_cast<float>(rows)) || word != std::floor(word))
            throw Error(ErrorKind::bad_input,
                        fmt::format("{} {} is not a row of the table: use 0 to {}", name, i + 1, rows - 1));
        words.push_back(static_cast<int>(word));
    }
    return words;
}

void Seq2seqBuilder::read_source() {
    const VocabularyRule& rule = vocabulary_rule(e_.input.vocabulary);
    if (!is_custom("src")) {
        const std::vector<std::string> tokens = sentence_tokens(e_, e_.input.text, "the sentence", "--text");
        builder_.graph.columns = display_tokens(tokens);
        Vocabulary vocabulary = sentence_vocabulary(e_, e_.input.words, tokens);
        source_words_ = std::move(vocabulary.words);
        source_ = std::move(vocabulary.ids);
    }
    const int needed = std::max(1, static_cast<int>(source_words_.size()));
    if (const CustomMatrix* given = e_.weights.find_custom("E_src")) {
        const Matrix& table = given->values();
        source_rows_ = static_cast<int>(table.rows());
        if (source_rows_ < needed)
            refuse_shape("E_src", table.rows(), table.cols(),
                         fmt::format("needs {} rows, one per word", needed));
    } else {
        const bool own_rows = rule.stable && !source_words_.empty();
        source_rows_ = own_rows ? needed : std::max(e_.input.table_size, needed);
    }
    if (is_custom("src")) source_ = custom_words("src", source_rows_);
    builder_.graph.table = source_words_;
}

/// Teacher forcing: `<bos>` and the words are fed, the words and `<eos>` are the targets.
void Seq2seqBuilder::read_target() {
    const bool fed_is_custom = is_custom("tgt_in") && !is_greedy();
    const bool needs_text = !is_custom("E_tgt") || (!is_greedy() && !fed_is_custom);
    const std::string& text = e_.input.text2.empty() ? e_.input.text : e_.input.text2;
    const std::vector<std::string> tokens =
        needs_text
            ? sentence_tokens(e_, text, "the target sentence", e_.input.text2.empty() ? "--text" : "--text2")
            : tokenize(text, tokenizer_of(e_.input.tokenizer));
    Vocabulary vocabulary = sentence_vocabulary(e_, e_.input.words2, tokens);
    target_words_ = {"<bos>", "<eos>"};
    target_words_.insert(target_words_.end(), vocabulary.words.begin(), vocabulary.words.end());
    target_rows_ = static_cast<int>(target_words_.size());
    if (const CustomMatrix* given = e_.weights.find_custom("E_tgt")) {
        const Matrix& table = given->values();
        if (needs_text && table.rows() < target_rows_)
            refuse_shape("E_tgt", table.rows(), table.cols(),
                         fmt::format("needs {} rows, one per word", target_rows_));
        // A table of another size does not get these words as labels.
        if (tokens.empty() || table.rows() != target_rows_) target_words_.clear();
        target_rows_ = static_cast<int>(table.rows());
    }
    builder_.graph.target_table = target_words_;
    if (is_greedy()) return;
    if (fed_is_custom) {
        fed_ = custom_words("tgt_in", target_rows_);
    } else {
        fed_ = {k_bos};
        for (const int word : vocabulary.ids) fed_.push_back(word + k_special_words);
        targets_.assign(fed_.begin() + 1, fed_.end());
        targets_.push_back(k_eos);
    }
    if (is_custom("tgt_out")) targets_ = custom_words("tgt_out", target_rows_);
    if (!targets_.empty() && targets_.size() != fed_.size())
        refuse_shape("tgt_out", 1, std::ssize(targets_), must_be(1, std::ssize(fed_)));
}

std::vector<std::string> step_labels(const Trace& trace) {
    const std::vector<std::string>& words = trace.target_table;
    std::vector<std::string> labels;
    if (words.empty()) return labels;
    const Stage& fed = *trace.find("fed_tokens"_stage);
    const Stage* next = trace.find("target_tokens"_stage);
    if (!next) next = trace.find("picked_tokens"_stage);
    for (int i = 0; i < fed.shape().rows; ++i) {
        const auto word = [&](const Stage& stage) {
            const auto row = static_cast<std::size_t>(stage.buffer.at(0, i, 0));
            return row < words.size() ? words[row] : std::to_string(row + 1);
        };
        labels.push_back(word(fed) + "→" + word(*next));
    }
    return labels;
}

}  // namespace attnscope
