#include "core/learn/seq2seq_batch.h"

#include <algorithm>
#include <numeric>

#include "core/canceled.h"
#include "core/op/decoder_step.h"
#include "core/op/gru_cell.h"
#include "core/op/softmax.h"

namespace attnscope {
namespace {

using Eigen::Index;
using Numbers = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using NumberRow = Eigen::Matrix<double, 1, Eigen::Dynamic>;
using Rows = std::vector<Index>;

Index size_of(const std::vector<int>& words) { return std::ssize(words); }

/// Sequences of different lengths, the longest first, step by step: the rows of step t are those of all
/// sequences that have one, so that each step's rows stand together and are the first of the step before it.
struct Packed {
    explicit Packed(const std::vector<Index>& lengths) : order(lengths.size()) {
        std::iota(order.begin(), order.end(), Index{0});
        std::ranges::stable_sort(order, std::greater{},
                                 [&](Index i) { return lengths[static_cast<std::size_t>(i)]; });
        for (Index t = 0;; ++t) {
            const Index longer = std::ranges::count_if(lengths, [&](Index length) { return length > t; });
            if (longer == 0) break;
            first.push_back(rows);
            count.push_back(longer);
            rows += longer;
        }
    }
    Index steps() const { return std::ssize(count); }

    std::vector<Index> order;  ///< sequences from the longest to the shortest
    Rows first, count;         ///< of each step
    Index rows = 0;
};

/// `count` rows from `first` on, as arrays.
auto rows_of(Numbers& all, Index first, Index count) { return all.middleRows(first, count).array(); }
auto rows_of(Gates<Numbers>& all, Index first, Index count) {
    return Gates{rows_of(all.r, first, count), rows_of(all.z, first, count), rows_of(all.n, first, count)};
}

/// A GRU (core/op/gru_cell.h) over packed sequences: the gates, the states and W_hn h + b_hn of all rows.
class PackedGru {
public:
    PackedGru(const Matrix& W_hh, const Matrix& b_hh, Index rows)
        : W_hh_(W_hh.cast<double>()), b_hh_(b_hh.cast<double>()) {
        for (Numbers* each : {&gates_.r, &gates_.z, &gates_.n, &u_n_, &old_, &states})
            each->resize(rows, W_hh.cols());
        d_input = Numbers::Zero(rows, W_hh.rows());
        d_hidden_.resize(rows, W_hh.rows());
    }

    /// Computes one step, whose rows start at `first`, from W_ih x + b_ih and the old states.
    void step(Index first, const Eigen::Ref<const Numbers>& input, const Eigen::Ref<const Numbers>& old) {
        const Index count = input.rows();
        const Numbers hidden = (old * W_hh_.transpose()).rowwise() + b_hh_;
        const Gates of_hidden = gates_of(hidden.array());
        Gates gates = rows_of(gates_, first, count);
        gru_cell<VectorizedFunctions>(gates_of(input.array()), of_hidden, old.array(), gates,
                                      rows_of(states, first, count));
        rows_of(u_n_, first, count) = of_hidden.n;
        old_.middleRows(first, count) = old;
    }

    /// The gradient of the old states from that of a step's new ones. Called once for each step.
    Numbers back(Index first, const Numbers& d_state) {
        const Index count = d_state.rows();
        const Gates gates = rows_of(gates_, first, count);
        Gates d = gates_of(rows_of(d_input, first, count));
        add_to_gates(gates, rows_of(u_n_, first, count), rows_of(old_, first, count), d_state.array(), d);
        before_gates(gates, d, d, gates_of(rows_of(d_hidden_, first, count)));
        return d_hidden_.middleRows(first, count) * W_hh_ + (d_state.array() * gates.z).matrix();
    }

    /// The gradients of W_hh and b_hh, once back() has gone through all steps.
    Numbers d_W_hh() const { return d_hidden_.transpose() * old_; }
    NumberRow d_b_hh() const { return d_hidden_.colwise().sum(); }

private:
    Numbers W_hh_;
    NumberRow b_hh_;
    Gates<Numbers> gates_;
    Numbers u_n_, old_, d_hidden_;

public:
    Numbers states;
    Numbers d_input;  ///< the gradient of W_ih x + b_ih; of a step that back() has not gone through, 0
};

class Seq2seqBatch {
public:
    Seq2seqBatch(const Experiment& model, const Parameters& parameters, std::span<const TaskSentence> batch,
                 std::stop_token cancel)
        : e_(model),
          parameters_(parameters),
          batch_(batch),
          cancel_(std::move(cancel)),
          sources_(lengths([](const TaskSentence& s) { return size_of(s.source); })),
          targets_(lengths([](const TaskSentence& s) { return size_of(s.tokens); })) {
        Index row = 0;
        for (const TaskSentence& sentence : batch) {
            first_word_.push_back(row);
            row += size_of(sentence.source);
        }
        words_ = row;
    }

    /// The sums over all positions of −log p, and what is counted besides.
    void forward(BatchPart& part) {
        if (attends()) part.patterns.resize(1);
        encode();
        decode();
        predict(part);
    }

    Parameters backward(int targets) {
        back_from_logits(targets);
        back_through_decoder();
        back_through_encoders();
        return std::move(gradients_);
    }

private:
    template <typename Length>
    Packed lengths(const Length& length) const {
        std::vector<Index> all;
        for (const TaskSentence& sentence : batch_) all.push_back(length(sentence));
        return Packed(all);
    }
    const TaskSentence& sentence(Index i) const { return batch_[static_cast<std::size_t>(i)]; }
    const Matrix& given(const std::string& name) const { return parameters_.at(name); }
    Numbers parameter(const std::string& name) const { return given(name).cast<double>(); }
    void set(const std::string& name, const Numbers& gradient) { gradients_[name] = gradient.cast<float>(); }
    // A new value of one of these choices does not compile before it is computed here.
    bool reads_backward() const { return e_.seq2seq.reads_backward(); }
    bool attends() const {
        switch (e_.seq2seq.decoder_attention) {
            case DecoderAttention::additive: return true;
            case DecoderAttention::none: break;
        }
        return false;
    }
    bool asks_current() const { return queries_current(e_.seq2seq.alignment_state); }

    /// One direction of the encoder; rows are packed.
    struct Reader {
        std::string name;
        Rows words;  ///< the source word, among those of all sentences, of each packed row
        std::optional<PackedGru> gru;
    };

    Reader read(const std::string& name, bool backward, const Numbers& X) const {
        Reader reader{name, {}, {}};
        for (Index t = 0; t < sources_.steps(); ++t)
            for (Index k = 0; k < sources_.count[static_cast<std::size_t>(t)]; ++k) {
                const Index of = sources_.order[static_cast<std::size_t>(k)];
                const Index length = size_of(sentence(of).source);
                reader.words.push_back(first_word_[static_cast<std::size_t>(of)] +
                                       (backward ? length - 1 - t : t));
            }
        const NumberRow b_ih = parameter(name + ".b_ih");
        const Numbers inputs =
            (X(reader.words, Eigen::all) * parameter(name + ".W_ih").transpose()).rowwise() + b_ih;
        reader.gru.emplace(given(name + ".W_hh"), given(name + ".b_hh"), sources_.rows);
        Numbers state = Numbers::Zero(std::ssize(batch_), reader.gru->states.cols());
        for (Index t = 0; t < sources_.steps(); ++t) {
            const Index first = sources_.first[static_cast<std::size_t>(t)],
                        count = sources_.count[static_cast<std::size_t>(t)];
            reader.gru->step(first, inputs.middleRows(first, count), state.topRows(count));
            state.topRows(count) = reader.gru->states.middleRows(first, count);
        }
        return reader;
    }

    void encode() {
        source_rows_.clear();
        for (const TaskSentence& each : batch_)
            source_rows_.insert(source_rows_.end(), each.source.begin(), each.source.end());
        X_ = parameter("E_src")(source_rows_, Eigen::all);
        readers_.push_back(read("enc_fwd", false, X_));
        if (reads_backward()) readers_.push_back(read("enc_bwd", true, X_));
        const Index width = readers_.front().gru->states.cols();
        h_.resize(words_, width * std::ssize(readers_));
        for (std::size_t i = 0; i < readers_.size(); ++i)
            h_.middleCols(static_cast<Index>(i) * width, width)(readers_[i].words, Eigen::all) =
                readers_[i].gru->states;
        if (attends()) keys_ = h_ * parameter("U_a").transpose();
        // The last state that the last reader reaches: the backward one's at the first word.
        last_.resize(std::ssize(batch_), width);
        for (Index k = 0; k < std::ssize(batch_); ++k) last_.row(k) = h_.row(last_word(k)).tail(width);
        s0_ = VectorizedFunctions::tanh(
            ((last_ * parameter("W_init").transpose()).rowwise() + NumberRow(parameter("b_init"))).array());
    }

    /// The source word whose state the decoder's sequence k starts from.
    Index last_word(Index k) const {
        const Index of = targets_.order[static_cast<std::size_t>(k)],
                    first = first_word_[static_cast<std::size_t>(of)];
        return reads_backward() ? first : first + size_of(sentence(of).source) - 1;
    }

    void decode() {
        for (Index t = 0; t < targets_.steps(); ++t)
            for (Index k = 0; k < targets_.count[static_cast<std::size_t>(t)]; ++k)
                fed_rows_.push_back(sentence(targets_.order[static_cast<std::size_t>(k)])
                                        .tokens[static_cast<std::size_t>(t)]);
        Y_ = parameter("E_tgt")(fed_rows_, Eigen::all);
        const Numbers W_ih = parameter("dec.W_ih");
        const NumberRow b_ih = parameter("dec.b_ih");
        if (attends()) {
            W_a_ = parameter("W_a");
            v_a_ = parameter("v_a");
        }
        const Index d = Y_.cols();
        const Numbers of_words = (Y_ * W_ih.leftCols(d).transpose()).rowwise() + b_ih;
        const Numbers of_context = W_ih.rightCols(W_ih.cols() - d).transpose();
        gru_.emplace(given("dec.W_hh"), given("dec.b_hh"), targets_.rows);
        context_.resize(targets_.rows, h_.cols());
        asking_.resize(targets_.rows, W_a_.cols());
        looks_.resize(static_cast<std::size_t>(targets_.rows));
        Numbers state = s0_;
        for (Index t = 0; t < targets_.steps(); ++t) {
            stop_if_canceled(cancel_);
            const Index first = targets_.first[static_cast<std::size_t>(t)],
                        count = targets_.count[static_cast<std::size_t>(t)];
            if (asks_current()) {
                gru_->step(first, of_words.middleRows(first, count), state.topRows(count));
                look(first, gru_->states.middleRows(first, count));
            } else {
                look(first, state.topRows(count));
                gru_->step(first,
                           of_words.middleRows(first, count) + context_.middleRows(first, count) * of_context,
                           state.topRows(count));
            }
            state.topRows(count) = gru_->states.middleRows(first, count);
        }
    }

    /// α = softmax(vᵀ tanh(W_a s + U_a h)) and c = Σ α h for the rows of a step. Without attention c is
    /// the last state of each reader.
    void look(Index first, const Numbers& states) {
        if (!attends()) {
            for (Index k = 0; k < states.rows(); ++k)
                for_each_last(k, [&](Index row, Index column, Index width) {
                    context_.block(first + k, column, 1, width) = h_.block(row, column, 1, width);
                });
            return;
        }
        asking_.middleRows(first, states.rows()) = states;
        const Numbers queries = states * W_a_.transpose();
        for (Index k = 0; k < states.rows(); ++k) {
            Look& look = looks_[static_cast<std::size_t>(first + k)];
            const auto [word, words] = source_of(k);
            look.hidden =
                alignment_hidden<VectorizedFunctions>(queries.row(k), keys_.middleRows(word, words));
            const Eigen::ArrayXd scores = (look.hidden * v_a_.transpose()).array();
            look.weights = op::softmax_of(scores);
            context_.row(first + k) = look.weights.matrix().transpose() * h_.middleRows(word, words);
        }
    }

    /// The source words of the decoder's sequence k: the index of the first, and how many there are.
    std::pair<Index, Index> source_of(Index k) const {
        const Index of = targets_.order[static_cast<std::size_t>(k)];
        return {first_word_[static_cast<std::size_t>(of)], size_of(sentence(of).source)};
    }

    /// The last state of each reader for the decoder's sequence k: its row of h_, its first column, its
    /// width.
    template <typename Use>
    void for_each_last(Index k, const Use& use) const {
        const std::pair<Index, Index> source = source_of(k);
        for_each_last_state(
            e_.seq2seq.encoder, source.second, h_.cols(),
            [&](Index word, Index column, Index width) { use(source.first + word, column, width); });
    }

    void predict(BatchPart& part) {
        outputs_.resize(targets_.rows, gru_->states.cols() + Y_.cols() + context_.cols());
        outputs_ << gru_->states, Y_, context_;
        logits_ = (outputs_ * parameter("W_out").transpose()).rowwise() + NumberRow(parameter("b_out"));
        for (Index t = 0, row = 0; t < targets_.steps(); ++t)
            for (Index k = 0; k < targets_.count[static_cast<std::size_t>(t)]; ++k, ++row) {
                const TaskSentence& each = sentence(targets_.order[static_cast<std::size_t>(k)]);
                const int target = each.targets[static_cast<std::size_t>(t)];
                wanted_.push_back(target);
                auto of_row = logits_.row(row).array();
                Index likely = 0;
                const double top = of_row.maxCoeff(&likely);
                of_row -= op::log_sum_exp(of_row, top);
                if (target < 0) continue;
                part.loss -= of_row(target);
                part.right += likely == target;
                if (!attends() || each.keys.empty() || each.keys[static_cast<std::size_t>(t)] < 0) continue;
                part.patterns.front().add(
                    looks_[static_cast<std::size_t>(row)].weights(each.keys[static_cast<std::size_t>(t)]));
            }
    }

    /// The gradient of the mean of −log p at the targets, back to the logits and through W_out.
    void back_from_logits(int targets) {
        Numbers d = Numbers::Zero(logits_.rows(), logits_.cols());
        for (Index row = 0; row < d.rows(); ++row) {
            const int target = wanted_[static_cast<std::size_t>(row)];
            if (target < 0) continue;
            d(row, target) = -1.0 / targets;
            d.row(row) = op::log_softmax_back(logits_.row(row).array(), d.row(row).array());
        }
        set("W_out", d.transpose() * outputs_);
        set("b_out", d.colwise().sum());
        d_outputs_ = d * parameter("W_out");
    }

    void back_through_decoder() {
        const Numbers W_ih = parameter("dec.W_ih");
        const Index d = Y_.cols(), states = gru_->states.cols();
        d_h_ = Numbers::Zero(h_.rows(), h_.cols());
        d_keys_ = Numbers::Zero(keys_.rows(), keys_.cols());
        d_v_ = NumberRow::Zero(v_a_.size());
        d_queries_.resize(targets_.rows, W_a_.rows());
        Numbers d_context = d_outputs_.rightCols(h_.cols());
        Numbers carried = Numbers::Zero(std::ssize(batch_), states);
        for (Index t = targets_.steps(); t-- > 0;) {
            stop_if_canceled(cancel_);
            const Index first = targets_.first[static_cast<std::size_t>(t)],
                        count = targets_.count[static_cast<std::size_t>(t)];
            Numbers d_state = carried.topRows(count) + d_outputs_.middleRows(first, count).leftCols(states);
            if (asks_current()) {
                back_from_look(first, d_context.middleRows(first, count), d_state);
                carried.topRows(count) = gru_->back(first, d_state);
            } else {
                carried.topRows(count) = gru_->back(first, d_state);
                d_context.middleRows(first, count) +=
                    gru_->d_input.middleRows(first, count) * W_ih.rightCols(h_.cols());
                back_from_look(first, d_context.middleRows(first, count), carried.topRows(count));
            }
        }
        if (attends()) {
            set("W_a", d_queries_.transpose() * asking_);
            set("v_a", d_v_);
        }
        const Numbers& to_input = gru_->d_input;
        Numbers d_W_ih(W_ih.rows(), W_ih.cols());
        d_W_ih.leftCols(d) = to_input.transpose() * Y_;
        if (!asks_current()) d_W_ih.rightCols(h_.cols()) = to_input.transpose() * context_;
        set("dec.W_ih", d_W_ih);
        set("dec.b_ih", to_input.colwise().sum());
        set("dec.W_hh", gru_->d_W_hh());
        set("dec.b_hh", gru_->d_b_hh());
        set_rows("E_tgt", fed_rows_, to_input * W_ih.leftCols(d) + d_outputs_.middleCols(states, d));
        const Numbers d_start = before_tanh(carried.array(), s0_.array());
        set("W_init", d_start.transpose() * last_);
        set("b_init", d_start.colwise().sum());
        const Numbers d_last = d_start * parameter("W_init");
        for (Index k = 0; k < d_last.rows(); ++k) d_h_.row(last_word(k)).tail(d_last.cols()) += d_last.row(k);
    }

    /// Adds to the gradient of the states that asked.
    void back_from_look(Index first, const Eigen::Ref<const Numbers>& d_context,
                        Eigen::Ref<Numbers> d_state) {
        if (!attends()) {
            for (Index k = 0; k < d_context.rows(); ++k)
                for_each_last(k, [&](Index row, Index column, Index width) {
                    d_h_.block(row, column, 1, width) += d_context.block(k, column, 1, width);
                });
            return;
        }
        for (Index k = 0; k < d_context.rows(); ++k) {
            const Look& look = looks_[static_cast<std::size_t>(first + k)];
            const auto [word, words] = source_of(k);
            const Eigen::ArrayXd d_weights =
                (h_.middleRows(word, words) * d_context.row(k).transpose()).array();
            d_h_.middleRows(word, words) += look.weights.matrix() * d_context.row(k);
            const Eigen::VectorXd d_scores = op::softmax_back(look.weights, d_weights).matrix();
            d_v_ += d_scores.transpose() * look.hidden;
            const Numbers d_sums = alignment_back(d_scores, v_a_, look.hidden);
            d_keys_.middleRows(word, words) += d_sums;
            d_queries_.row(first + k) = d_sums.colwise().sum();
        }
        d_state += d_queries_.middleRows(first, d_context.rows()) * W_a_;
    }

    void back_through_encoders() {
        if (attends()) {
            set("U_a", d_keys_.transpose() * h_);
            d_h_ += d_keys_ * parameter("U_a");
        }
        Numbers d_X = Numbers::Zero(X_.rows(), X_.cols());
        for (std::size_t i = 0; i < readers_.size(); ++i) {
            Reader& reader = readers_[i];
            PackedGru& gru = *reader.gru;
            const Index width = gru.states.cols();
            const Numbers d_states =
                d_h_.middleCols(static_cast<Index>(i) * width, width)(reader.words, Eigen::all);
            Numbers carried = Numbers::Zero(std::ssize(batch_), width);
            for (Index t = sources_.steps(); t-- > 0;) {
                const Index first = sources_.first[static_cast<std::size_t>(t)],
                            count = sources_.count[static_cast<std::size_t>(t)];
                carried.topRows(count) =
                    gru.back(first, carried.topRows(count) + d_states.middleRows(first, count));
            }
            set(reader.name + ".W_ih", gru.d_input.transpose() * X_(reader.words, Eigen::all));
            set(reader.name + ".b_ih", gru.d_input.colwise().sum());
            set(reader.name + ".W_hh", gru.d_W_hh());
            set(reader.name + ".b_hh", gru.d_b_hh());
            const Numbers d_words = gru.d_input * parameter(reader.name + ".W_ih");
            for (std::size_t row = 0; row < reader.words.size(); ++row)
                d_X.row(reader.words[row]) += d_words.row(static_cast<Index>(row));
        }
        set_rows("E_src", source_rows_, d_X);
    }

    /// The gradient of a table from that of its rows that were looked up.
    void set_rows(const std::string& table, const std::vector<int>& rows, const Numbers& d) {
        Numbers sum = Numbers::Zero(given(table).rows(), given(table).cols());
        for (std::size_t i = 0; i < rows.size(); ++i) sum.row(rows[i]) += d.row(static_cast<Index>(i));
        set(table, sum);
    }

    /// An alignment of one step: tanh(W_a s + U_a h) and α.
    struct Look {
        Numbers hidden;
        Eigen::ArrayXd weights;
    };

    const Experiment& e_;
    const Parameters& parameters_;
    std::span<const TaskSentence> batch_;
    std::stop_token cancel_;
    Packed sources_, targets_;
    Rows first_word_;  ///< of each sentence, among the words of all
    Index words_ = 0;
    std::vector<int> source_rows_, fed_rows_, wanted_;  ///< of the tables; packed but for the first
    std::vector<Reader> readers_;
    std::vector<Look> looks_;
    std::optional<PackedGru> gru_;
    Numbers X_, h_, keys_, last_, s0_, Y_, context_, asking_, outputs_;
    Numbers logits_;  ///< log p once predict() is done
    Numbers d_outputs_, d_h_, d_keys_, d_queries_;
    Numbers W_a_;  ///< with v_a_ empty without attention
    NumberRow v_a_, d_v_;
    Parameters gradients_;
};

}  // namespace

bool computes_together(const Experiment& model) {
    if (model.mechanism != MechanismKind::seq2seq || model.is_custom("mask")) return false;
    // A setting that is not listed has to have its default, so that a new one is left to the graph.
    Seq2seq known;
    known.encoder = model.seq2seq.encoder;
    known.decoder_attention = model.seq2seq.decoder_attention;
    known.alignment_state = model.seq2seq.alignment_state;
    known.encoder_size = model.seq2seq.encoder_size;
    known.decoder_size = model.seq2seq.decoder_size;
    known.decode = model.seq2seq.decode;  // the targets are fed in training, whatever is chosen
    known.max_steps = model.seq2seq.max_steps;
    Weighting plain;
    plain.hidden = model.weighting.hidden;
    plain.local_window = model.weighting.local_window;  // a softmax has none
    return model.seq2seq == known && model.weighting == plain;
}

BatchPart seq2seq_batch(const Experiment& model, const Parameters& parameters,
                        std::span<const TaskSentence> batch, int targets, bool wants_gradients,
                        const std::stop_token& cancel) {
    BatchPart part;
    Seq2seqBatch together(model, parameters, batch, cancel);
    together.forward(part);
    if (wants_gradients) part.gradients = together.backward(targets);
    return part;
}

}  // namespace attnscope
