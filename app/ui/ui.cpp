#include "app/ui/ui.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "app/platform/imgui_compat.h"
#include "core/picture/color.h"
#include "core/text/tokenizer.h"

namespace attnscope {

ImU32 ink(Rgb8 color, float alpha) {
    return IM_COL32(color.red, color.green, color.blue, static_cast<int>(std::lround(alpha * 255)));
}

int cell_at(double position, int count) {
    if (!(position > 0)) return 0;
    return position < count ? static_cast<int>(position) : count - 1;
}

float text_width(ImFont* font, const std::string& text) {
    if (!shaped().is_plain(*font, text)) return shaped().size(*font, text).x;
    return font->CalcTextSizeA(compat::font_size(*font), FLT_MAX, 0, text.data(), text.data() + text.size())
        .x;
}

std::string fitted(ImFont* font, const std::string& text, float width) {
    if (text_width(font, text) <= width) return text;
    const std::vector<std::string_view> parts = graphemes(text);
    const auto shortened = [&](std::size_t kept) {
        const std::size_t bytes =
            kept == 0 ? 0 : static_cast<std::size_t>(parts[kept - 1].end() - parts[0].begin());
        return text.substr(0, bytes) + "…";
    };
    std::size_t fits = 0, too_many = parts.size();
    while (too_many - fits > 1) {
        const std::size_t middle = (fits + too_many) / 2;
        (text_width(font, shortened(middle)) <= width ? fits : too_many) = middle;
    }
    return shortened(fits);
}

float draw_text(ImDrawList* list, ImFont* font, ImVec2 at, ImU32 color, const std::string& text, Align align,
                float width) {
    const std::string shown = width > 0 ? fitted(font, text, width) : text;
    const float drawn = text_width(font, shown);
    if (align == Align::center) at.x -= drawn / 2;
    if (align == Align::right) at.x -= drawn;
    at = {std::round(at.x), std::round(at.y)};
    if (shaped().is_plain(*font, shown))
        list->AddText(font, compat::font_size(*font), at, color, shown.data(), shown.data() + shown.size());
    else
        shaped().draw(*list, *font, at, color, shown);
    return drawn;
}

namespace {

/// The end of a line: never within a number, as ImGui breaks "4.43" after the point.
const char* end_of_line(ImFont* font, const char* begin, const char* end, float width) {
    const char* stop = compat::line_end(*font, begin, end, width);
    const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
    const bool is_in_number = stop < end && is_digit(*stop) && stop - begin > 1 && is_digit(stop[-2]) &&
                              (stop[-1] == '.' || stop[-1] == ',');
    if (!is_in_number) return stop;
    for (const char* at = stop; at > begin; --at)
        if (at[-1] == ' ') return at;
    return stop;
}

}  // namespace

std::vector<std::string> broken_lines(ImFont* font, const std::string& text, float width, int most,
                                      float indent) {
    std::vector<std::string> lines;
    const char* at = text.data();
    const char* const end = at + text.size();
    while (at < end) {
        const float room = width - (lines.empty() ? indent : 0);
        if (std::ssize(lines) == most - 1) {
            lines.push_back(fitted(font, std::string(at, end), room));
            break;
        }
        const char* stop = end_of_line(font, at, end, room);
        lines.emplace_back(at, stop);
        at = stop;
        while (at < end && *at == ' ') ++at;
    }
    return lines;
}

void value_bar(const Ui& ui, ImDrawList& list, const Area& area, Rgb8 color) {
    list.AddRectFilled(area.min, area.max, ink(color), 1);
    const bool has_inside = std::min(area.width(), area.height()) >= 3;
    if (has_inside && contrast_ratio(color, ui.theme.background) < k_least_shape_contrast)
        list.AddRect(area.min, area.max, ink(ui.theme.faint), 1);
}

void light(const Ui& ui, std::string_view name, const Area& area) {
    if (name != ui.controls.lit) return;
    ui.controls.lit_area = {area.min.x, area.min.y, area.max.x, area.max.y};
}

void wrapped_text(const std::string& text, float width) {
    ImFont* font = ImGui::GetFont();
    if (shaped().is_plain(*font, text)) {
        std::string broken;
        for (std::size_t begin = 0; begin <= text.size();) {
            const std::size_t end = std::min(text.find('\n', begin), text.size());
            if (begin > 0) broken += '\n';
            const std::vector<std::string> lines = broken_lines(font, text.substr(begin, end - begin), width,
                                                                std::numeric_limits<int>::max(), 0);
            for (std::size_t i = 0; i < lines.size(); ++i) broken += (i > 0 ? "\n" : "") + lines[i];
            begin = end + 1;
        }
        ImGui::TextUnformatted(broken.c_str());
        return;
    }
    for (std::size_t begin = 0; begin <= text.size();) {
        const std::size_t end = std::min(text.find('\n', begin), text.size());
        const std::string line = text.substr(begin, end - begin);
        const ImVec2 at = ImGui::GetCursorScreenPos();
        ImGui::Dummy(shaped().size(*font, line, width));
        shaped().draw(*ImGui::GetWindowDrawList(), *font, at, ImGui::GetColorU32(ImGuiCol_Text), line, width);
        begin = end + 1;
    }
}

}  // namespace attnscope
