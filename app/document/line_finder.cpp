#include "app/document/line_finder.h"

#include "core/error.h"

namespace attnscope {

FoundLines found_lines(LinesRequest request, const FoundLines*, const std::stop_token& cancel) {
    FoundLines found{std::move(request), {}, ""};
    const LinesRequest& of = found.of;
    try {
        found.lines = find_mass_lines(*of.trace, *of.stage, of.heads, of.mass, cancel);
        of.stage->buffer.range();
    } catch (const Canceled&) {
        throw;
    } catch (const std::exception& error) {
        found.problem = problem_text(error, "for the lines");
    }
    return found;
}

}  // namespace attnscope
