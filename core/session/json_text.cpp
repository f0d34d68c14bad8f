#include "core/session/json_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <vector>

#include "core/error.h"
#include "core/files/read_matrix.h"
#include "core/number_text.h"
#include "core/utf8.h"

namespace attnscope {
namespace {

constexpr std::string_view k_instead = ": open a session (.json)";

/// The position of a byte counted from 1; columns count characters.
std::string position_text(std::string_view text, std::size_t byte) {
    const std::string_view before = text.substr(0, std::min(byte > 0 ? byte - 1 : 0, text.size()));
    const auto line = std::ranges::count(before, '\n') + 1;
    const std::string_view last_line = before.substr(before.rfind('\n') + 1);
    const auto column = count_code_points(last_line) + 1;
    return fmt::format("line {}, column {}", line, column);
}

/// Checks, before a Json is built, that it stays within the limits, and collects what a Json no longer
/// contains: keys that are repeated in one object, and numbers as typed.
class Scan : public Json::json_sax_t {
public:
    Scan(std::string_view source, std::size_t most_elements)
        : source_(source), most_elements_(most_elements) {}

    TypedNumbers typed;

    bool key(std::string& name) override {
        if (++fields_ > k_max_json_fields)
            refuse_json(source_, "",
                        fmt::format("it has more than {} fields: open a session (.json)", k_max_json_fields));
        Object& object = objects_.back();
        object.key = name;
        if (!object.names.insert(name).second)
            refuse_json(source_, "",
                        "the field " + quoted_value(path()) + " is repeated: remove one of them");
        return true;
    }
    bool number_float(double number, const std::string& text) override {
        if (lists_.empty() && objects_.size() <= k_most_depth_of_options) typed[path()] = text;
        // JSON keeps a whole number of more than 64 bits as floating point.
        const auto value = static_cast<float>(number);
        if (!lists_.empty() && is_rounded_whole(text, value)) refuse_rounded(source_, path(), text, value);
        return count();
    }
    bool start_object(std::size_t) override {
        enter();
        objects_.emplace_back();
        return true;
    }
    bool end_object() override {
        objects_.pop_back();
        return true;
    }
    bool start_array(std::size_t) override {
        if (objects_.empty())
            refuse_json(source_, "", "expected an object {…}, not a list" + std::string(k_instead));
        enter();
        lists_.push_back(0);
        return true;
    }
    bool end_array() override {
        lists_.pop_back();
        return true;
    }
    bool null() override { return count(); }
    bool boolean(bool) override { return count(); }
    bool number_integer(std::int64_t) override { return count(); }
    bool number_unsigned(std::uint64_t) override { return count(); }
    bool string(std::string&) override { return count(); }
    bool binary(Json::binary_t&) override { return count(); }
    /// Reported by parse(), with line and column.
    bool parse_error(std::size_t, const std::string&, const Json::exception&) override { return false; }

private:
    static constexpr std::size_t k_most_depth_of_options = 3;  ///< in "pinned.experiment"
    struct Object {
        std::set<std::string> names;
        std::string key;  ///< the latest key
    };

    bool count() {
        if (++elements_ > most_elements_)
            throw Error(ErrorKind::too_large,
                        fmt::format("{} holds more than {} values: use NPY files for its matrices (--given)",
                                    source_, most_elements_));
        // A matrix is a list of rows, which are lists.
        if (!lists_.empty() && ++lists_.back() > k_max_matrix_side)
            refuse_json(source_, path(),
                        fmt::format("a matrix may have at most {} rows and columns: use a part of it",
                                    k_max_matrix_side));
        return true;
    }
    void enter() {
        if (objects_.size() + lists_.size() >= k_max_json_depth)
            refuse_json(source_, path(),
                        fmt::format("more than {} nested lists or objects", k_max_json_depth));
        count();
    }

    std::string path() const {
        std::string path;
        for (const Object& object : objects_) path += (path.empty() ? "" : ".") + object.key;
        return path;
    }

    std::string_view source_;
    std::size_t most_elements_;
    std::vector<Object> objects_;
    std::vector<std::size_t> lists_;  ///< how many elements each has so far
    std::size_t elements_ = 0, fields_ = 0;
};

Json parse(std::string_view text, std::string_view source) {
    try {
        return Json::parse(text);
    } catch (const Json::parse_error& error) {
        refuse_json(source, "",
                    "not a session: no valid JSON at " + position_text(text, error.byte) +
                        "; open a session (.json) or a picture that attnscope exported");
    } catch (const Json::exception&) {
        refuse_json(source, "", "not a session: a number in it is beyond 1.8e308; correct it");
    }
}

}  // namespace

std::string quoted_value(const Json& value) {
    if (value.is_array()) return "a list";
    if (value.is_object()) return "an object";
    return message_text(value.dump(-1, ' ', false, Json::error_handler_t::replace), k_longest_quotation);
}

void refuse_json(std::string_view source, const std::string& where, const std::string& what) {
    throw Error(ErrorKind::bad_input,
                std::string(source) + ": " + (where.empty() ? "" : where + ": ") + what);
}

void require_object(const Json& json, std::string_view source, const std::string& where) {
    if (!json.is_object())
        refuse_json(source, where,
                    "expected an object {…}, not " + quoted_value(json) +
                        std::string(where.empty() ? k_instead : ""));
}

void refuse_rounded(std::string_view source, const std::string& where, const std::string& whole,
                    float value) {
    refuse_json(source, where,
                whole + " is a whole number that float32 cannot represent: write " + fixed_text(value, 0) +
                    ", or append .0 to have it rounded");
}

ScannedJson json_from_text(std::string_view text, std::string_view source, std::size_t most_elements) {
    Scan scan(source, most_elements);
    Json::sax_parse(text, &scan);
    ScannedJson scanned{parse(text, source), std::move(scan.typed)};
    require_object(scanned.json, source, "");
    return scanned;
}

}  // namespace attnscope
