#include "core/files/safetensors.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <set>

#include "core/error.h"
#include "core/files/bad_file.h"
#include "core/files/read_matrix.h"
#include "core/limits.h"

namespace attnscope {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view k_metadata = "__metadata__";
constexpr std::size_t k_length_bytes = 8;
constexpr std::string_view k_save_again = ": save it again with safetensors' save_file";

std::string tensor_text(std::string_view name) { return "the tensor " + in_quotes(name); }

/// One value of `bytes`, lowest byte first.
template <typename Unsigned>
Unsigned little_endian(std::string_view bytes) {
    Unsigned value = 0;
    for (std::size_t i = 0; i < sizeof value; ++i)
        value |= Unsigned{static_cast<unsigned char>(bytes[i])} << 8 * i;
    return value;
}

template <typename Unsigned>
void append_little_endian(std::string& bytes, Unsigned value) {
    for (std::size_t i = 0; i < sizeof value; ++i) bytes += static_cast<char>(value >> 8 * i & 0xff);
}

/// A tensor as the header announces it, unchecked.
struct Entry {
    std::string name;
    std::string type = {};
    std::vector<std::uint64_t> shape = {}, offsets = {};

    std::uint64_t begin() const { return offsets[0]; }
    std::uint64_t end() const { return offsets[1]; }
};

struct Header {
    std::map<std::string, std::string> metadata;
    std::vector<Entry> entries;
};

/// Reads the header value by value: what it holds is bounded, and a name that is repeated is seen.
class HeaderReader : public Json::json_sax_t {
public:
    explicit HeaderReader(std::string_view source) : source_(source) {}

    Header header;

    bool key(std::string& name) override {
        key_ = name;
        if (!(place_ == Place::header ? names_ : fields_).insert(name).second)
            refuse(source_, where() + " appears twice in the header: give each a name of its own");
        if (names_.size() > k_max_tensors || fields_.size() > k_max_tensors)
            refuse(source_, fmt::format("its header has more than {} names: use a file with fewer tensors",
                                        k_max_tensors));
        if (place_ == Place::tensor && key_ != "dtype" && key_ != "shape" && key_ != "data_offsets")
            refuse(source_, where() + " is not a field of the format" + std::string(k_save_again));
        return true;
    }
    bool start_object(std::size_t) override {
        if (place_ == Place::outside) {
            place_ = Place::header;
        } else if (place_ == Place::header) {
            place_ = key_ == k_metadata ? Place::metadata : Place::tensor;
            if (place_ == Place::tensor) header.entries.push_back({.name = key_});
            fields_.clear();
        } else {
            refuse_value();
        }
        return true;
    }
    bool end_object() override {
        if (place_ == Place::tensor && fields_.size() < 3)
            refuse(source_, tensor_text(header.entries.back().name) +
                                " lacks one of dtype, shape and data_offsets" + std::string(k_save_again));
        place_ = place_ == Place::header ? Place::outside : Place::header;
        return true;
    }
    bool start_array(std::size_t) override {
        if (place_ != Place::tensor || key_ == "dtype") refuse_value();
        place_ = Place::list;
        return true;
    }
    bool end_array() override {
        if (key_ == "data_offsets" && header.entries.back().offsets.size() != 2) refuse_value();
        place_ = Place::tensor;
        return true;
    }
    bool string(std::string& text) override {
        if (place_ == Place::metadata)
            header.metadata.emplace(key_, std::move(text));
        else if (place_ == Place::tensor && key_ == "dtype")
            header.entries.back().type = std::move(text);
        else
            refuse_value();
        return true;
    }
    bool number_unsigned(std::uint64_t number) override {
        if (place_ != Place::list) refuse_value();
        Entry& entry = header.entries.back();
        std::vector<std::uint64_t>& list = key_ == "shape" ? entry.shape : entry.offsets;
        if (list.size() == k_most_dimensions) refuse_value();
        list.push_back(number);
        return true;
    }
    bool null() override { refuse_value(); }
    bool boolean(bool) override { refuse_value(); }
    bool number_integer(std::int64_t) override { refuse_value(); }
    bool number_float(double, const std::string&) override { refuse_value(); }
    bool binary(Json::binary_t&) override { refuse_value(); }
    bool parse_error(std::size_t byte, const std::string&, const Json::exception&) override {
        refuse(source_,
               fmt::format("its header is not valid JSON at byte {}{}", k_length_bytes + byte, k_save_again));
    }

private:
    static constexpr std::size_t k_most_dimensions = 16;
    enum class Place { outside, header, metadata, tensor, list };

    /// What the latest key stands for.
    std::string where() const {
        if (place_ == Place::header) return key_ == k_metadata ? std::string(k_metadata) : tensor_text(key_);
        if (place_ == Place::metadata) return "the key " + in_quotes(key_) + " of __metadata__";
        return "the field " + in_quotes(key_) + " of " + tensor_text(header.entries.back().name);
    }
    [[noreturn]] void refuse_value() const {
        const std::string_view right = place_ == Place::header     ? "an object {…}"
                                       : place_ == Place::metadata ? "a string"
                                       : key_ == "dtype"           ? "a string"
                                       : key_ == "shape"           ? "a list of sizes"
                                                                   : "two whole numbers, [begin, end]";
        refuse(source_, fmt::format("{} is not {}{}", where(), right, k_save_again));
    }

    std::string_view source_;
    Place place_ = Place::outside;
    std::string key_;               ///< the latest
    std::set<std::string> names_;   ///< of the header
    std::set<std::string> fields_;  ///< of the metadata or of one tensor
};

/// The header's text, checked to be within the file.
std::string_view header_text(std::string_view bytes, std::string_view source) {
    constexpr std::string_view k_copy_again =
        ": the file is not a safetensors file, or is damaged; copy it again";
    if (bytes.size() < k_length_bytes)
        refuse(source, "the file is cut off within its first 8 bytes: copy it again");
    const auto length = little_endian<std::uint64_t>(bytes);
    if (length > k_max_safetensors_header_bytes)
        refuse(source, fmt::format("its first 8 bytes announce a header of {} bytes, and the limit is {}{}",
                                   length, k_max_safetensors_header_bytes, k_copy_again));
    const std::string_view rest = bytes.substr(k_length_bytes);
    if (length == 0 || !(rest.empty() || rest.starts_with('{')))
        refuse(source, "its header does not begin with {" + std::string(k_copy_again));
    if (length > rest.size())
        refuse(source, fmt::format("the file is cut off: its header has {} bytes, and {} are there; copy it "
                                   "again",
                                   length, rest.size()));
    return rest.substr(0, length);
}

Header read_header(std::string_view text, std::string_view source) {
    // To the JSON library a zero byte is the end of the text.
    if (const std::size_t zero = text.find('\0'); zero != text.npos)
        refuse(source, fmt::format("its header is not valid JSON at byte {}{}", k_length_bytes + zero + 1,
                                   k_save_again));
    HeaderReader reader(source);
    Json::sax_parse(text, &reader);
    return std::move(reader.header);
}

/// Throws unless the tensors, in the order of their offsets, cover `size` bytes, each once.
void check_offsets(const std::vector<Entry>& entries, std::size_t size, std::string_view source) {
    std::uint64_t covered = 0;
    for (const Entry& entry : entries) {
        if (entry.end() < entry.begin())
            refuse(source, fmt::format("{} ends at byte {} and begins at {}{}", tensor_text(entry.name),
                                       entry.end(), entry.begin(), k_save_again));
        if (entry.begin() < covered)
            refuse(source, fmt::format("{} begins at byte {}, and the one before ends at {}: they overlap; "
                                       "save them without overlap",
                                       tensor_text(entry.name), entry.begin(), covered));
        if (entry.begin() > covered)
            refuse(source, fmt::format("there is a gap of {} bytes before {}: leave no bytes between tensors",
                                       entry.begin() - covered, tensor_text(entry.name)));
        covered = entry.end();
    }
    if (covered > size)
        refuse(source, fmt::format("the file is cut off: its tensors have {} bytes, and {} are there; copy "
                                   "it again",
                                   covered, size));
    if (covered < size)
        refuse(source, fmt::format("{} bytes that belong to no tensor follow the last one{}", size - covered,
                                   k_save_again));
}

/// Throws unless it is a vector or a matrix of float32 as long as its offsets say.
void check_entry(const Entry& entry, std::string_view source) {
    const std::string name = tensor_text(entry.name);
    if (entry.type != "F32")
        refuse(source,
               fmt::format("{} has the type {}: save it as float32 (F32)", name, in_quotes(entry.type)));
    const std::string shape = fmt::format("[{}]", fmt::join(entry.shape, ", "));
    if (entry.shape.size() != 1 && entry.shape.size() != 2)
        refuse(source, fmt::format("{} has the shape {}: a vector has one dimension and a matrix has two",
                                   name, shape));
    const std::uint64_t rows = entry.shape.size() == 1 ? 1 : entry.shape[0], columns = entry.shape.back();
    require_matrix_size(rows, columns, std::string(source) + ": " + name);
    if (rows * columns * sizeof(float) != entry.end() - entry.begin())
        refuse(source,
               fmt::format("{} of shape {} takes {} bytes as F32, and its data_offsets span {}{}", name,
                           shape, rows * columns * sizeof(float), entry.end() - entry.begin(), k_save_again));
}

Matrix values_of(const Entry& entry, std::string_view data) {
    const auto columns = static_cast<Eigen::Index>(entry.shape.back());
    Matrix values(entry.shape.size() == 1 ? 1 : static_cast<Eigen::Index>(entry.shape[0]), columns);
    for (Eigen::Index i = 0; i < values.size(); ++i)
        values.data()[i] = std::bit_cast<float>(little_endian<std::uint32_t>(
            data.substr(entry.begin() + static_cast<std::size_t>(i) * sizeof(float), sizeof(float))));
    return values;
}

[[noreturn]] void refuse_size(std::string_view what, std::size_t bytes, std::size_t most) {
    throw Error(ErrorKind::too_large,
                fmt::format("the {} has {} bytes as safetensors, and the limit is {}: use smaller matrices "
                            "and pictures",
                            what, bytes, most));
}

}  // namespace

std::string to_safetensors(const Tensors& tensors) {
    Json header = Json::object();
    if (!tensors.metadata.empty()) header[std::string(k_metadata)] = tensors.metadata;
    std::size_t end = 0;
    for (const NamedTensor& tensor : tensors.tensors) {
        const Matrix& values = tensor.values;
        const std::size_t begin = end;
        end += static_cast<std::size_t>(values.size()) * sizeof(float);
        header[tensor.name] = {{"dtype", "F32"},
                               {"shape", tensor.is_vector ? Json::array({values.size()})
                                                          : Json::array({values.rows(), values.cols()})},
                               {"data_offsets", {begin, end}}};
    }
    std::string text = header.dump();
    text.append((8 - text.size() % 8) % 8, ' ');
    if (text.size() > k_max_safetensors_header_bytes)
        refuse_size("header", text.size(), k_max_safetensors_header_bytes);
    const std::size_t size = k_length_bytes + text.size() + end;
    if (size > k_max_file_bytes) refuse_size("file", size, k_max_file_bytes);
    std::string bytes;
    bytes.reserve(size);
    append_little_endian(bytes, std::uint64_t{text.size()});
    bytes += text;
    for (const NamedTensor& tensor : tensors.tensors)
        for (Eigen::Index i = 0; i < tensor.values.size(); ++i)
            append_little_endian(bytes, std::bit_cast<std::uint32_t>(tensor.values.data()[i]));
    return bytes;
}

bool is_safetensors(std::string_view bytes) {
    return bytes.size() > k_length_bytes && bytes[k_length_bytes] == '{' &&
           little_endian<std::uint64_t>(bytes) <= k_max_safetensors_header_bytes;
}

Tensors tensors_from_safetensors(std::string_view bytes, std::string_view source, std::string_view required) {
    const std::string_view text = header_text(bytes, source);
    Header header = read_header(text, source);
    if (!required.empty() && !header.metadata.contains(std::string(required)))
        refuse(source,
               fmt::format("its metadata has no {}: open a file that attnscope wrote", in_quotes(required)));
    std::ranges::stable_sort(header.entries, {}, [](const Entry& entry) { return entry.offsets; });
    const std::string_view data = bytes.substr(k_length_bytes + text.size());
    check_offsets(header.entries, data.size(), source);
    for (const Entry& entry : header.entries) check_entry(entry, source);
    Tensors tensors{.metadata = std::move(header.metadata), .tensors = {}};
    for (const Entry& entry : header.entries)
        tensors.tensors.push_back({entry.name, values_of(entry, data), entry.shape.size() == 1});
    return tensors;
}

}  // namespace attnscope
