#include "tests/fuzz/targets.h"

#include <zlib.h>

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

#include "app/document/saved_state.h"
#include "core/error.h"
#include "core/files/decode_image.h"
#include "core/files/png.h"
#include "core/files/read_matrix.h"
#include "core/files/safetensors.h"
#include "core/files/svg.h"
#include "core/graph/stage_table.h"
#include "core/mechanism/evaluate.h"
#include "core/number_text.h"
#include "core/random/seed.h"
#include "core/session/options.h"
#include "core/session/session.h"
#include "core/text/tokenizer.h"
#include "tests/dice.h"
#include "tests/random_attention.h"

namespace attnscope::fuzz {
namespace {

constexpr std::string_view k_source = "input";

void require(bool holds, const char* property) {
    if (!holds) throw std::logic_error(property);
}

/// Runs what may refuse its input, by an Error whose message is one line.
void try_out(const std::function<void()>& read) {
    try {
        read();
    } catch (const Error& error) {
        const std::string_view message = error.what();
        require(!message.empty() && message.find('\n') == message.npos, "an error's message is one line");
    }
}

void csv(std::string_view bytes) {
    try_out([&] { require(matrix_from_csv(bytes, k_source).size() > 0, "a matrix has cells"); });
}

void npy(std::string_view bytes) {
    try_out([&] { require(matrix_from_npy(bytes, k_source).size() > 0, "a matrix has cells"); });
}

void require_written_as_read(std::string_view json) {
    const Session session = session_from_json(json, k_source);
    require(session_from_json(to_json(session), k_source) == session, "a session is read as it was written");
}

void session(std::string_view bytes) {
    try_out([&] { require_written_as_read(bytes); });
}

/// Each part is what stands behind the first line that is its name.
std::string part_in(std::string_view bytes, const std::string& name) {
    const std::size_t at = bytes.find("\n" + name + "\n");
    if (at == bytes.npos) throw Error(ErrorKind::io, "there is no part " + name.substr(0, 8));
    return std::string(bytes.substr(at + name.size() + 2));
}

/// What is saved between two runs: session.json and its parts, and window.json.
void state(std::string_view bytes) {
    const std::string_view text = bytes.substr(0, std::min(bytes.find("\n\n"), bytes.size()));
    try_out([&] {
        session_from_state(text, k_source, [&](const std::string& name) { return part_in(bytes, name); });
    });
    try_out([&] {
        SavedState state;
        read_window(state, text, k_source);
        require(state.scale >= k_least_scale && state.scale <= k_largest_scale,
                "a scale is within its limits");
    });
}

/// The header's length is made right, so that what comes after it is read: the header ends at the last
/// brace.
std::string with_header_length(std::string_view bytes) {
    constexpr std::size_t k_length = 8;
    std::string mended(bytes);
    const std::size_t brace = mended.rfind('}');
    if (brace == mended.npos || brace < k_length) return mended;
    const std::size_t length = brace + 1 - k_length;
    for (std::size_t i = 0; i < k_length; ++i) mended[i] = static_cast<char>(length >> 8 * i & 0xff);
    return mended;
}

void require_tensors_written_as_read(std::string_view bytes) {
    const Tensors tensors = tensors_from_safetensors(bytes, k_source);
    const std::string written = to_safetensors(tensors);
    require(to_safetensors(tensors_from_safetensors(written, k_source)) == written,
            "tensors are read as they were written");
}

void safetensors(std::string_view bytes) {
    const std::string mended = with_header_length(bytes);
    for (const std::string_view each : {bytes, std::string_view(mended)}) {
        try_out([&] { require_tensors_written_as_read(each); });
        try_out([&] {
            const Session session = session_from_safetensors(each, k_source);
            require(session_from_safetensors(to_safetensors(session), k_source) == session,
                    "a session is read as it was written");
        });
    }
}

/// The bytes of a PNG file with every check sum as it should be, so that what it guards is read.
std::string with_check_sums(std::string_view bytes) {
    constexpr std::size_t k_signature = 8, k_length = 4, k_type = 4, k_sum = 4;
    std::string png(bytes);
    auto* const data = reinterpret_cast<unsigned char*>(png.data());
    const auto big_endian = [&](std::size_t at) {
        return std::size_t{data[at]} << 24 | std::size_t{data[at + 1]} << 16 |
               std::size_t{data[at + 2]} << 8 | std::size_t{data[at + 3]};
    };
    for (std::size_t at = k_signature; at + k_length + k_type + k_sum <= png.size();) {
        const std::size_t length = big_endian(at);
        if (length > png.size() - at - k_length - k_type - k_sum) break;
        const std::size_t guarded = at + k_length, end = guarded + k_type + length;
        const unsigned long sum = crc32(0, data + guarded, static_cast<unsigned>(end - guarded));
        for (std::size_t i = 0; i < k_sum; ++i)
            data[end + i] = static_cast<unsigned char>(sum >> (24 - 8 * i) & 0xff);
        at = end + k_sum;
    }
    return png;
}

void picture(std::string_view bytes) {
    const std::string mended = is_png(bytes) ? with_check_sums(bytes) : std::string(bytes);
    try_out([&] {
        require_written_as_read(is_png(mended) ? read_png_session(mended, k_source)
                                               : read_svg_session(mended, k_source));
    });
}

void image(std::string_view bytes) {
    const std::string mended = is_png(bytes) ? with_check_sums(bytes) : std::string(bytes);
    try_out([&] { decode_image(mended, k_source); });
}

/// Lines of NAME=TEXT, each a flag with its argument. What opens a file is left out.
void options_text(std::string_view bytes) {
    Session session;
    while (!bytes.empty()) {
        const std::string_view line = bytes.substr(0, bytes.find('\n'));
        bytes.remove_prefix(std::min(bytes.size(), line.size() + 1));
        const std::size_t sign = line.find('=');
        const Option* option = find_option(line.substr(0, sign));
        if (!option || option->type == OptionType::picture || option->type == OptionType::matrices) continue;
        const std::string_view text = sign == line.npos ? std::string_view() : line.substr(sign + 1);
        if (text.starts_with("file:")) continue;
        try_out([&] {
            if (option->type == OptionType::list) {
                add_from_text(session, *option, text);
                return;
            }
            set_from_text(session, *option, text);
            Session again;
            set_from_text(again, *option, text_of(session, *option));
            require(text_of(again, *option) == text_of(session, *option), "an option is read as it is shown");
        });
    }
    try_out([&] { check(session.experiment); });
}

/// The first byte chooses the tokenizer.
void sentence(std::string_view bytes) {
    if (bytes.empty()) return;
    const Tokenizer& tokenizer = tokenizers()[static_cast<unsigned char>(bytes[0]) % tokenizers().size()];
    try_out([&] {
        const std::string text = to_nfc(bytes.substr(1));
        require(to_nfc(text) == text, "normalizing to NFC twice changes nothing");
        std::string joined;
        for (const std::string_view cluster : graphemes(text)) joined += cluster;
        require(joined == text, "clusters cover the text");
        std::size_t from = 0;
        for (const std::string& token : tokenize(text, tokenizer)) {
            require(!token.empty(), "a token has letters");
            from = text.find(token, from);
            require(from != text.npos, "tokens stand in the text in their order");
            from += token.size();
            require(!display_token(token).empty(), "every token is shown");
            fold(token);
        }
    });
}

/// A seed and a range as text; the first eight bytes as a number to write.
void number(std::string_view bytes) {
    try_out([&] {
        const Seed seed = Seed::parse(bytes);
        require(Seed::parse(seed.text()) == seed, "a seed is read as it was written");
    });
    try_out([&] {
        const RangeChoice range = parse_range(bytes);
        require(parse_range(range_text(range)) == range, "a range is read as it was written");
    });
    double value = 0;
    if (bytes.size() < sizeof value) return;
    std::memcpy(&value, bytes.data(), sizeof value);
    require(!cell_text(value).empty() && !short_text(value).empty() && !digits_text(value, 3).empty(),
            "every number is written");
    if (const auto single = static_cast<float>(value); std::abs(value) <= 1e38)
        require(std::strtof(exact_text(single).c_str(), nullptr) == single,
                "nine digits tell a float from its neighbors");
}

bool same_bits(std::span<const float> a, std::span<const float> b) {
    return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size_bytes()) == 0;
}

void require_equal(const Trace& a, const Trace& b, const char* property) {
    require(a.records.size() == b.records.size(), property);
    for (std::size_t i = 0; i < a.records.size(); ++i) {
        const Stage &one = *a.records[i].stage, &other = *b.records[i].stage;
        require(
            one.name() == other.name() && same_bits(one.buffer.host().values(), other.buffer.host().values()),
            property);
    }
}

/// The sum of each row's weights is 1, or 0 where all is closed; with a bell over them (local-p) less than 1.
void require_weights(const Trace& trace) {
    const Experiment& e = trace.experiment;
    const Buffer &weights = trace.find("weights"_stage)->buffer, &masked = trace.find("masked"_stage)->buffer;
    for (int h = 0; h < weights.shape().heads; ++h) {
        const Matrix A =
            trace.over_queries() ? Matrix(weights.host().head(h).transpose()) : weights.host().head(h);
        const Matrix S =
            trace.over_queries() ? Matrix(masked.host().head(h).transpose()) : masked.host().head(h);
        for (Eigen::Index i = 0; i < A.rows(); ++i) {
            bool open = false;
            for (Eigen::Index j = 0; j < A.cols(); ++j) {
                const bool closed = S(i, j) == -INFINITY;
                open = open || !closed;
                require(A(i, j) >= 0 && A(i, j) <= 1, "a weight lies between 0 and 1");
                require(!closed || (A(i, j) == 0 && !std::signbit(A(i, j))),
                        "the weight of a closed cell is 0");
            }
            const double sum = A.row(i).cast<double>().sum();
            // Each weight is rounded to float32.
            const double rounding = 1e-7 * static_cast<double>(A.cols() + 1);
            if (!open) {
                require(sum == 0, "the weights of a closed row are 0");
            } else {
                require(sum <= 1 + rounding, "weights sum to 1 at most");
                require(e.weighting.normalizer == Normalization::local_p || sum >= 1 - rounding,
                        "weights sum to 1");
            }
        }
    }
}

/// The bytes choose two experiments.
void evaluation(std::string_view bytes) {
    test::Dice dice(bytes);
    try_out([&] {
        const Experiment first = test::random_attention(dice), second = test::random_attention(dice);
        const Trace trace = evaluate(second, {}, {.threads = 1});
        require_weights(trace);
        require_equal(evaluate(second, {}, {.threads = 2}), trace, "two threads compute what one does");
        require_equal(evaluate(second, evaluate(first)), trace, "what is reused is what would be computed");
    });
}

constexpr Target k_targets[] = {
    {"csv", "a matrix as CSV", csv},
    {"npy", "a matrix in NumPy's format", npy},
    {"session", "a session as JSON", session},
    {"state", "a saved session with its parts, and the window's settings", state},
    {"safetensors", "named tensors, and a session among them", safetensors},
    {"picture", "a PNG or SVG with a session inside", picture},
    {"image", "a PNG or JPEG to look at", image},
    {"options", "flags with their arguments, one a line", options_text},
    {"sentence", "a sentence, cut into tokens", sentence},
    {"number", "a seed, a range, a number to write", number},
    {"evaluate", "throws of dice that make experiments", evaluation},
};

}  // namespace

std::span<const Target> targets() { return k_targets; }

const Target* find_target(std::string_view name) {
    for (const Target& target : k_targets)
        if (target.name == name) return &target;
    return nullptr;
}

}  // namespace attnscope::fuzz
