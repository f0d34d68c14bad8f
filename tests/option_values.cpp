#include "tests/option_values.h"

#include <map>
#include <string_view>

namespace attnscope::test {
namespace {

/// The words of `text` the other way round, so that matrices of its size still fit.
std::string turned(const std::string& text) {
    std::string result;
    for (std::size_t end = text.size(), space = 0; space != text.npos && end > 0; end = space) {
        space = text.rfind(' ', end - 1);
        const std::size_t begin = space == text.npos ? 0 : space + 1;
        result += (result.empty() ? "" : " ") + text.substr(begin, end - begin);
    }
    return result;
}

}  // namespace

std::vector<std::string> other_values(const Option& option, const Experiment& e) {
    static const std::map<std::string_view, std::vector<std::string>> k_values = {
        {"image", {"none", "drawn"}},
        {"ablate", {"", "1.1", "2.1"}},
        {"mask", {"none", "causal", "valid:1", "window:1,0"}},
        {"scale", {"none", "sqrt", "0.25"}},
        {"dropout", {"0.3", "0"}},
        {"sharpening", {"3"}},
        {"bandwidth", {"3"}},
        {"layer-norm-epsilon", {"0.5"}},
        {"corpus", {"to be or not to be that is"}},
        {"learning-rate", {"0.5"}},
        {"momentum", {"0.5"}},
        {"weight-decay", {"0.5"}},
        {"clip", {"0.001"}},
        {"train-ablated", {"1.1"}},
        {"table-size", {"0", "7", "64"}},
        {"temperature", {"2"}},
        {"local-window", {"0", "1", "1.5", "2", "3", "8", "33"}},
    };
    if (option.name == "text") return {turned(e.input.text), "something else that is typed"};
    if (option.name == "text2")
        return {turned(e.input.text2.empty() ? e.input.text : e.input.text2), "", "two keys"};
    if (const auto found = k_values.find(option.name); found != k_values.end()) return found->second;
    if (option.type == OptionType::boolean) return {"true", "false"};
    std::vector<std::string> values;
    std::string rest(option.argument);
    for (std::size_t bar = 0; bar != rest.npos; rest = bar == rest.npos ? "" : rest.substr(bar + 1)) {
        bar = rest.find('|');
        const std::string value = rest.substr(0, bar);
        if (value == "N")
            for (const char* number : {"0", "1", "2", "3", "4", "6", "7", "8", "12", "16", "33"})
                values.emplace_back(number);
        else
            values.push_back(value);
    }
    return values;
}

}  // namespace attnscope::test
