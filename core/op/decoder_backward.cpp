// The gradients of a decoder.
#include "core/op/alignment.h"
#include "core/op/decoder.h"
#include "core/op/gru_backward.h"
#include "core/op/local_window.h"
#include "core/op/normalizers.h"
#include "core/op/op.h"

namespace attnscope::op {
namespace {

using Eigen::ArrayXd;
using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::RowVectorXd;

using enum Decode::Input;

ArrayXd without(const ArrayXd& values, const Eigen::Array<bool, Eigen::Dynamic, 1>& closed) {
    return closed.select(0.0, values);
}

/// Walks the steps of a decoder from the last to the first and adds up the gradients of what they share.
class DecoderBackward {
public:
    DecoderBackward(const DecoderRule& rule, const Backward& at)
        : rule_(rule),
          parts_(rule.parts()),
          at_(at),
          gru_({at.input(gru), at.input(gru + 1), at.input(gru + 2), at.input(gru + 3)}),
          h_(at.input(annotations).cast<double>()),
          dh_(MatrixXd::Zero(h_.rows(), h_.cols())) {
        if (!rule.aligns) return;
        keys_ = at.input(keys).cast<double>();
        W_a_ = at.input(W_a).cast<double>();
        v_a_ = at.input(v_a).row(0).cast<double>();
        dkeys_ = MatrixXd::Zero(keys_.rows(), keys_.cols());
        dW_a_ = MatrixXd::Zero(W_a_.rows(), W_a_.cols());
        dv_a_ = RowVectorXd::Zero(v_a_.size());
    }

    void run() {
        const std::size_t words = at_.count() - 1;
        const bool is_current = queries_current(rule_.query_state);
        const Index d = at_.shape(words).columns, steps = at_.shape(words).rows;
        ArrayXd carried = ArrayXd::Zero(at_.shape(initial_state).columns);
        for (Index i = steps; i-- > 0;) {
            stop_if_canceled(at_.cancel);
            const ArrayXd old =
                i > 0 ? at_.result_row(of(DecoderPart::state), i - 1) : at_.input_row(initial_state, 0);
            ArrayXd input = at_.input_row(words, i), dcontext = at_.gradient_row(of(DecoderPart::context), i);
            if (is_current) {
                const ArrayXd state = at_.result_row(of(DecoderPart::state), i);
                complete(at_, of(DecoderPart::context), i, dcontext);
                carried = gru_.step(at_, of(DecoderPart::gate_r), i, input, old,
                                    carried + look(i, state, dcontext));
            } else {
                ArrayXd both(d + dcontext.size());
                both << input, at_.result_row(of(DecoderPart::context), i);
                carried = gru_.step(at_, of(DecoderPart::gate_r), i, both, old, carried);
                dcontext += gru_.of_input.tail(dcontext.size());
                complete(at_, of(DecoderPart::context), i, dcontext);
                carried += look(i, old, dcontext);
            }
            at_.add_row(words, i, gru_.of_input.head(d));
        }
        at_.add_row(initial_state, 0, carried);
        at_.add(annotations, dh_);
        gru_.add_to(at_, gru);
        if (!rule_.aligns) return;
        at_.add(keys, dkeys_);
        at_.add(W_a, dW_a_);
        at_.add(v_a, dv_a_);
    }

private:
    bool has(DecoderPart part) const { return std::ranges::find(parts_, part) != parts_.end(); }
    std::size_t of(DecoderPart part) const {
        return static_cast<std::size_t>(std::ranges::find(parts_, part) - parts_.begin());
    }
    ArrayXd value(DecoderPart part, Index i) const { return at_.result_row(of(part), i); }
    /// The gradient of a part, which `through` reaches from the parts after it.
    ArrayXd completed(DecoderPart part, Index i, const ArrayXd& through) const {
        ArrayXd sum = at_.gradient_row(of(part), i) + through;
        complete(at_, of(part), i, sum);
        return sum;
    }

    /// The gradient of the state that queries a step's alignment, from that of the step's context.
    ArrayXd look(Index i, const ArrayXd& state, const ArrayXd& dcontext) {
        if (!rule_.aligns) {
            add_fixed(dcontext);
            return ArrayXd::Zero(state.size());
        }
        const ArrayXd weights = value(DecoderPart::weights, i);
        const Eigen::Array<bool, Eigen::Dynamic, 1> closed =
            has(DecoderPart::masked) ? (value(DecoderPart::masked, i) == -INFINITY).eval()
                                     : Eigen::Array<bool, Eigen::Dynamic, 1>::Constant(weights.size(), false);
        dh_ += without(weights, closed).matrix() * dcontext.matrix().transpose();
        ArrayXd d = completed(DecoderPart::weights, i, without((h_ * dcontext.matrix()).array(), closed));
        ArrayXd of_state = ArrayXd::Zero(state.size());
        if (has(DecoderPart::softmax)) {
            const Buffer softmax(row(value(DecoderPart::softmax, i))),
                gauss(row(value(DecoderPart::gauss, i)));
            Tensor dsoftmax = zeros(d.size()), dgauss = zeros(d.size());
            through(ApplyWindow{}, {&softmax, &gauss}, weights, d, {&dsoftmax, &dgauss});
            of_state += center(i, state, completed(DecoderPart::gauss, i, numbers(dgauss)));
            d = completed(DecoderPart::softmax, i, numbers(dsoftmax));
        }
        d = normalized(i, d);
        if (has(DecoderPart::masked)) d = without(completed(DecoderPart::masked, i, d), closed);
        if (has(DecoderPart::scaled)) d = completed(DecoderPart::scaled, i, d) / rule_.temperature;
        return of_state + scores(state, completed(DecoderPart::scores, i, d));
    }

    /// Every step's context is the encoder's last states.
    void add_fixed(const ArrayXd& dcontext) {
        for_each_last_state(rule_.encoder, h_.rows(), h_.cols(), [&](Index word, Index column, Index width) {
            dh_.row(word).segment(column, width) += dcontext.segment(column, width).matrix().transpose();
        });
    }

    static Tensor row(const ArrayXd& values) {
        Tensor tensor(matrix(1, static_cast<int>(values.size())));
        tensor.head(0).row(0) = values.cast<float>().matrix().transpose();
        return tensor;
    }
    static Tensor zeros(Index size) { return row(ArrayXd::Zero(size)); }
    static ArrayXd numbers(const Tensor& tensor) { return Backward::in_double(tensor.head(0).row(0)); }

    /// Adds to `sums`, the gradients of the inputs, by the operation's own gradient, if it has one.
    static void through(const Op& op, const std::vector<const Buffer*>& inputs, const ArrayXd& result,
                        const ArrayXd& gradient, const std::vector<Tensor*>& sums) {
        if (!why_no_gradient(op).empty()) return;
        const Buffer values(row(result));
        Tensor of_values = row(gradient);
        const Buffer* results[] = {&values};
        Tensor* gradients[] = {&of_values};
        attnscope::backward(op, {inputs, results, gradients, sums});
    }

    ArrayXd normalized(Index i, const ArrayXd& dweights) const {
        const DecoderPart to = has(DecoderPart::softmax) ? DecoderPart::softmax : DecoderPart::weights;
        const Buffer logits(row(value(rule_.logits(), i)));
        Tensor dlogits = zeros(dweights.size());
        through(normalizer_of(rule_.normalizer).op(SoftmaxAxis::keys), {&logits}, value(to, i), dweights,
                {&dlogits});
        return numbers(dlogits);
    }

    /// Passes the gradient back through the Gaussian and the center of the window.
    ArrayXd center(Index i, const ArrayXd& state, const ArrayXd& dgauss) const {
        const int words = static_cast<int>(h_.rows());
        const Buffer center(row(value(DecoderPart::center, i))), query(row(state));
        Tensor dcenter = zeros(1), dquery = zeros(state.size());
        through(GaussianWindow{words, rule_.window}, {&center}, value(DecoderPart::gauss, i), dgauss,
                {&dcenter});
        through(PredictedCenters{words}, {&query, at_.inputs[W_p], at_.inputs[v_p]},
                value(DecoderPart::center, i), completed(DecoderPart::center, i, numbers(dcenter)),
                {&dquery, at_.sums[W_p], at_.sums[v_p]});
        return numbers(dquery);
    }

    /// Passes the gradient back through v_a · tanh(W_a s + U_a h_j).
    ArrayXd scores(const ArrayXd& state, const ArrayXd& de) {
        const RowVectorXd asked = (W_a_ * state.matrix()).transpose();
        const MatrixXd hidden = alignment_hidden<StandardFunctions>(asked, keys_),
                       dsums = alignment_back(de.matrix(), v_a_, hidden);
        RowVectorXd dasked = RowVectorXd::Zero(asked.size());
        for (Index j = 0; j < de.size(); ++j) {
            dv_a_ += de(j) * hidden.row(j);
            dasked += dsums.row(j);
        }
        dkeys_ += dsums;
        dW_a_ += dasked.transpose() * state.matrix().transpose();
        return (W_a_.transpose() * dasked.transpose()).array();
    }

    const DecoderRule& rule_;
    const std::vector<DecoderPart> parts_;
    const Backward& at_;
    GruBackward gru_;
    MatrixXd h_, dh_, keys_, W_a_, dkeys_, dW_a_;
    RowVectorXd v_a_, dv_a_;
};

}  // namespace

void Decode::backward(const Backward& at) const { DecoderBackward(rule, at).run(); }

void OutputLogits::backward(const Backward& at) const {
    const MatrixXd dY = at.gradient().cast<double>(), d = dY * at.input(3).cast<double>();
    Index first = 0;
    for (std::size_t i = 0; i < 3; ++i) {
        const Index columns = at.shape(i).columns;
        at.add(i, d.middleCols(first, columns));
        if (at.wants(3))
            at.sum(3).middleCols(first, columns) +=
                (dY.transpose() * at.input(i).cast<double>()).cast<float>();
        first += columns;
    }
    at.add_row(4, 0, dY.colwise().sum().transpose().array());
}

}  // namespace attnscope::op
