// What makes a refused setting possible.
#pragma once

#include <optional>
#include <string>

#include "app/document/interaction.h"
#include "core/session/session.h"

namespace attnscope {

/// Options to set together with a setting that check_edit() refuses: widths that the heads divide, or that
/// RoPE can rotate; an output that a block can add to the embedding. Nothing if these do not help, or the
/// option cannot have that value.
std::optional<Remedy> remedy_of(const Session& session, OptionName name, const std::string& text);

}  // namespace attnscope
