// The rows of the experiment panel that are drawn in a way of their own.
#pragma once

#include <string>

#include "app/document/desk.h"
#include "app/ui/ui.h"
#include "core/session/options.h"

namespace attnscope {

/// The rows of an option whose control is control::Own. Throws std::logic_error if it has none here.
void own_rows(Desk& desk, const Ui& ui, const Option& option);

/// The mask's rules and the custom mask.
void mask_rows(Desk& desk, const Ui& ui, const Option& option);
/// "36 of 64 open"; empty without a mask.
std::string open_cells(const Desk& desk);
/// The custom matrices but the mask, and a button that sets one.
void custom_rows(Desk& desk, const Ui& ui, const Option& option);

}  // namespace attnscope
