#include "app/document/line_finder.h"

#include <new>

#include "core/error.h"

namespace attnscope {

FoundLines found_lines(LinesRequest request, const FoundLines*, const std::stop_token& cancel) {
    FoundLines found{std::move(request), {}, ""};
    const LinesRequest& of = found.of;
    try {
        found.lines = find_mass_lines(*of.trace, *of.stage, of.heads, of.mass, cancel);
        of.stage->buffer.range();
    } catch (const Cancelled&) {
        throw;
    } catch (const std::bad_alloc&) {
        found.problem = "there is not enough memory for the lines: shorten the sentence";
    } catch (const std::exception& error) {
        found.problem = problem_text(error);
    }
    return found;
}

}  // namespace attnscope
