#include "core/attention/experiment.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "core/attention/masks.h"
#include "core/attention/normalizers.h"
#include "core/attention/scores.h"
#include "core/error.h"
#include "core/random/initializers.h"
#include "core/text/tokenizer.h"
#include "core/text/vocabulary.h"

namespace attnscope {
namespace {

[[noreturn]] void refuse(const std::string& message) { throw Error(ErrorKind::bad_input, message); }

void check_whole(const char* field, int value, int low, int high) {
    if (value < low || value > high)
        refuse(std::string(field) + " " + std::to_string(value) + " is out of range: use " +
               std::to_string(low) + " to " + std::to_string(high));
}

template <typename Table>
void check_name(const char* field, const std::string& value, const Table& table,
                const char* extra = nullptr) {
    std::string known = extra ? extra : "";
    if (extra && value == extra) return;
    for (const auto& entry : table) {
        if (entry.name == value) return;
        known += (known.empty() ? "" : ", ") + std::string(entry.name);
    }
    const std::string quoted = value.size() > 60 ? "with so long a name" : "\"" + value + "\"";
    refuse(std::string(field) + " " + quoted + " is not known: use " + known);
}

}  // namespace

double Scale::factor(int d_k) const {
    switch (kind) {
        case Kind::sqrt: return 1.0 / std::sqrt(static_cast<double>(d_k));
        case Kind::none: return 1.0;
        case Kind::number: return number;
    }
    return 1.0;
}

bool GivenMatrix::operator==(const GivenMatrix& other) const {
    if (values_ == other.values_) return true;
    const Matrix& a = *values_;
    const Matrix& b = *other.values_;
    const auto same = [](float x, float y) {
        return std::bit_cast<std::uint32_t>(x) == std::bit_cast<std::uint32_t>(y) ||
               (std::isnan(x) && std::isnan(y));
    };
    return a.rows() == b.rows() && a.cols() == b.cols() &&
           std::equal(a.data(), a.data() + a.size(), b.data(), same);
}

void check(const Experiment& e) {
    require_utf8(e.text);
    check_name("tokenizer", e.tokenizer, tokenizers());
    check_name("vocabulary", e.vocabulary, vocabulary_rules());
    check_name("embedding", e.embedding, initializers());
    check_name("projection", e.projection, projection_rules(), "none");
    check_name("score", e.score, score_functions());
    check_name("normalizer", e.normalizer, normalizers());
    check_whole("table-size", e.table_size, 0, k_max_table_size);
    check_whole("dim", e.dim, 1, k_max_dim);
    check_whole("heads", e.heads, 1, k_max_heads);
    if (e.dim % e.heads != 0 && !e.given.contains("query"))
        refuse("heads " + std::to_string(e.heads) + " does not divide dim " + std::to_string(e.dim) +
               ": use a divisor of dim");
    for (const MaskRule& rule : e.mask) {
        check_name("mask", rule.kind, mask_kinds());
        find_mask_kind(rule.kind)->check(rule);
    }
    // What counts is the float32 that the scores meet.
    if (e.scale.kind == Scale::Kind::number && !std::isfinite(static_cast<float>(e.scale.number)))
        refuse("scale is not finite in float32: use sqrt, none or a number up to 3.4e38");
    const auto temperature = static_cast<float>(e.temperature);
    if (!(temperature > 0) || !std::isfinite(temperature))
        refuse("temperature must be above 0 and finite in float32: use 1 for the plain softmax");
}

}  // namespace attnscope
