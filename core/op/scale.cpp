#include "core/op/scale.h"

#include <fmt/format.h>

#include "core/cpu/kernels.h"
#include "core/op/gradient_proof.h"
#include "core/utf8.h"

namespace attnscope::op {
namespace {

std::string factor_text(const Scale& scale) {
    switch (scale.by.kind) {
        case attnscope::Scale::Kind::sqrt: return fmt::format("÷ √{}", scale.d_k);
        case attnscope::Scale::Kind::none: return scale.temperature == 1 ? "× 1" : "";
        case attnscope::Scale::Kind::number: break;
    }
    return "× " + number_text(scale.by.number);
}

/// "÷ √16 ÷ T 2", "÷ T 2", "× 1".
std::string label_of(const Scale& scale) {
    std::string factor = factor_text(scale);
    if (scale.temperature == 1) return factor;
    return factor + (factor.empty() ? "" : " ") + "÷ T " + number_text(scale.temperature);
}

std::string help_of(const Scale& scale) {
    using enum attnscope::Scale::Kind;
    constexpr std::string_view k_temperature =
        "divided by the temperature: above 1 it brings the scores closer together, below 1 further apart";
    std::string factor;
    switch (scale.by.kind) {
        case sqrt: factor = "divided by √d_k: dot products of d_k features spread as √d_k does"; break;
        case number: factor = "multiplied by the factor of the scores"; break;
        case none: break;
    }
    if (scale.temperature != 1) factor += (factor.empty() ? "" : "; ") + std::string(k_temperature);
    return capitalized(factor.empty() ? "the scale is 1: the score stays as it is" : factor);
}

}  // namespace

void Scale::rows(const RowWork& in, MatrixView out) const {
    scale_rows(in.rows(0), factor(), static_cast<float>(temperature), out);
}

void Scale::cells(const RegionWork& in, MatrixView out) const {
    in.read(0, out);
    if (changes())
        scale_rows({out.data(), out.rows(), out.cols()}, factor(), static_cast<float>(temperature), out);
}

void Scale::backward(const Backward& at) const {
    for (int h = 0; h < at.heads(); ++h)
        if (at.wants(0)) at.sum(0, h) += at.gradient(h) * factor() / static_cast<float>(temperature);
}

void Scale::explain_gradient(Proof& proof, const GradientCell& cell) const {
    pass_on(proof, cell, cell.head, cell.row, cell.column);
    proof.add_step(label_of(*this), proof.steps.back().value * factor() / static_cast<float>(temperature),
                   help_of(*this));
}

void Scale::explain(Proof& proof, const Cell& cell) const {
    proof = cell.words.prove(0);
    proof.begin_with_score(cell.at(0));
    proof.add_step(label_of(*this), cell.value, help_of(*this));
}

std::string Scale::caption(const Symbols&) const {
    if (by.kind == attnscope::Scale::Kind::none && temperature != 1) return "÷ T";
    return factor_symbol() + (temperature == 1 ? "" : "÷T");
}

std::string Scale::factor_symbol() const {
    switch (by.kind) {
        case attnscope::Scale::Kind::sqrt: return "÷ √d_k";
        case attnscope::Scale::Kind::none: return "× 1";
        case attnscope::Scale::Kind::number: break;
    }
    return "× s";
}

std::string Scale::sentence() const {
    if (!changes()) return "The scale is 1: the scores stay as they are.";
    switch (by.kind) {
        case attnscope::Scale::Kind::sqrt:
            return label_of(*this) +
                   ": dot products of more features spread further, so that one key would get nearly all "
                   "the weight.";
        case attnscope::Scale::Kind::none:
        case attnscope::Scale::Kind::number: break;
    }
    return label_of(*this) + ": smaller scores make the weights more even, larger ones less even.";
}

void Scale::torch(TorchLines& py) const {
    std::string code = py.in(0);
    switch (by.kind) {
        case attnscope::Scale::Kind::sqrt: code += fmt::format(" / {}**0.5", d_k); break;
        case attnscope::Scale::Kind::number: code += fmt::format(" * {}", by.number); break;
        case attnscope::Scale::Kind::none: break;
    }
    if (temperature != 1) code += fmt::format(" / {}  # divided by the temperature", temperature);
    py.line("{} = {}", py.out(), code);
}

}  // namespace attnscope::op
