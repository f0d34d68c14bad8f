#include "app/document/picture_on_screen.h"

#include "core/graph/row_steps.h"
#include "core/mechanism/mechanisms.h"

namespace attnscope {
namespace {

const Stage& focused(const Document& document) {
    return focused_stage(*document.trace(), document.presentation().stage);
}

/// The matrices of A, if something is pinned and evaluated.
std::optional<ComparedSide> pinned_side(const Document& document) {
    const Slot* pinned = document.slot(SlotName::pinned);
    const auto& chosen = document.session().pinned;
    if (!chosen || !pinned || !pinned->trace) return std::nullopt;
    return ComparedSide{pinned->trace, chosen->head, chosen->layer};
}

}  // namespace

bool has_picture(const Document& document) {
    const ViewFigure* view = find_view_figure(document.presentation().view);
    return view && view->stage(*document.trace(), document.presentation().stage);
}

const Stage& stage_on_screen(const Document& document) {
    const Presentation& shown = document.presentation();
    const Stage* weights =
        shown.view == ViewKind::step ? last_weights(*document.trace(), shown.layer()) : nullptr;
    return weights ? *weights : focused(document);
}

Compose composition_shown(const Document& document) {
    const Presentation& shown = document.presentation();
    if (shown.view == ViewKind::compare && document.session().pinned) return Compose::compare;
    const bool many = focused(document).shape().heads > 1 || focused(document).layer > 0;
    if (shown.view == ViewKind::heads && many) return Compose::heads;
    if (shown.view == ViewKind::sweep) return Compose::film;
    if (shown.view == ViewKind::step && stage_on_screen(document).info->unit == Unit::probability)
        return Compose::steps;
    return shown.compose;
}

ExportRequest picture_on_screen(const Document& document) {
    const Presentation& shown = document.presentation();
    ExportRequest request{.stages = {}, .head = shown.head};
    request.chosen = shown.stage;
    if (has_picture(document)) {
        request.view = shown.view;
        request.view_alone = true;
    } else {
        request.stages = {std::string(stage_on_screen(document).name())};
    }
    const Compose compose = composition_shown(document);
    if (compose != Compose::film) request.compose = compose;
    request.pinned = pinned_side(document);
    return request;
}

}  // namespace attnscope
