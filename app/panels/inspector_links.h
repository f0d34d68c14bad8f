// The inspector's list of the strongest links of the matrix in focus.
#pragma once

#include "app/document/desk.h"
#include "app/panels/inspector_column.h"

namespace attnscope {

/// The links that the document found, as far as they are of what is shown; a click locks one and brings it
/// into sight.
void strongest_links_list(Desk& desk, const Column& c);

}  // namespace attnscope
