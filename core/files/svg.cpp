#include "core/files/svg.h"

#include <fmt/format.h>

#include <array>
#include <utility>

#include "core/error.h"
#include "core/files/bad_file.h"

namespace attnscope {
namespace {

/// XML cannot represent these two characters; JSON escapes can.
constexpr std::array<std::pair<std::string_view, std::string_view>, 2> k_not_in_xml = {
    {{"\xEF\xBF\xBE", "\\ufffe"}, {"\xEF\xBF\xBF", "\\uffff"}}};
constexpr std::array<std::pair<std::string_view, std::string_view>, 5> k_entities = {
    {{"&", "&amp;"}, {"<", "&lt;"}, {">", "&gt;"}, {"\"", "&quot;"}, {"'", "&apos;"}}};

std::string replaced(std::string_view text, std::string_view what, std::string_view by) {
    std::string result;
    for (;;) {
        const std::size_t at = text.find(what);
        result += text.substr(0, at);
        if (at == text.npos) return result;
        result += by;
        text.remove_prefix(at + what.size());
    }
}

/// Quotation marks need no escape between tags.
std::string escaped(std::string_view text) {
    std::string result;
    for (const char c : text)
        result += c == '&' ? "&amp;" : c == '<' ? "&lt;" : c == '>' ? "&gt;" : std::string(1, c);
    return result;
}

std::string unescaped(std::string_view text) {
    std::string result;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const std::string_view rest = text.substr(i);
        bool found = false;
        for (const auto& [character, entity] : k_entities) {
            if (!rest.starts_with(entity)) continue;
            result += character;
            i += entity.size() - 1;
            found = true;
            break;
        }
        if (!found) result += text[i];
    }
    return result;
}

}  // namespace

std::string with_svg_texts(std::string_view svg, std::string_view title, std::string_view session_json) {
    const std::size_t root = svg.find("<svg");
    const std::size_t end = root == svg.npos ? svg.npos : svg.find('>', root);
    if (end == svg.npos) return std::string(svg);
    std::string texts = "\n";
    if (!title.empty()) texts += "<title>" + escaped(title) + "</title>\n";
    if (!session_json.empty()) {
        std::string session(session_json);
        for (const auto& [character, escape] : k_not_in_xml) session = replaced(session, character, escape);
        texts += "<metadata id=\"" + std::string(k_svg_session_id) + "\">" + escaped(session) + "</metadata>";
    }
    std::string result(svg.substr(0, end + 1));
    result += texts;
    result += svg.substr(end + 1);
    return result;
}

bool is_svg(std::string_view bytes) {
    if (bytes.starts_with("\xEF\xBB\xBF")) bytes.remove_prefix(3);
    return bytes.starts_with("<?xml") || bytes.starts_with("<svg") || bytes.starts_with("<!--");
}

std::string read_svg_session(std::string_view bytes, std::string_view source, std::size_t most) {
    const std::size_t name = bytes.find("id=\"" + std::string(k_svg_session_id) + "\"");
    if (name == bytes.npos) throw_no_session(source);
    const std::size_t begin = bytes.find('>', name);
    const std::size_t end = begin == bytes.npos ? begin : bytes.find('<', begin);
    if (end == bytes.npos) throw_cut_off(source);
    const std::string_view session = bytes.substr(begin + 1, end - begin - 1);
    if (session.size() > most) throw_large_session(source, most);
    return unescaped(session);
}

}  // namespace attnscope
