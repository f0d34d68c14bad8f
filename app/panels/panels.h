// The parts of the window around the view: each one function that draws it into an area.
#pragma once

#include "app/actions/actions.h"
#include "app/window/text_field.h"
#include "app/window/ui.h"

namespace attnscope {

/// The actions of one menu, in a popup that is open.
void action_items(Ui& ui, ActionContext& context, std::string_view menu,
                  const std::function<void(const Action&)>& run);
/// Menus and the search field. `run` is called with the action picked.
void menu_bar(Ui& ui, const Area& area, ActionContext& context,
              const std::function<void(const Action&)>& run);
/// The sentence, editable unless a given matrix stands for it, and its tokens as chips below it; beside it
/// the keys' one, where there is one.
void sentence_panel(Ui& ui, const Area& area, SentenceFields& fields,
                    const std::function<void(const Action&)>& run);
/// How high the sentence panel is with its chips in as many lines as they need, at most three, and one in a
/// low window.
float sentence_panel_height(Ui& ui, float window_width, float window_height);
/// What the open session or example says of itself, until it is closed: its name and at most three lines, cut
/// where they do not hold all.
void note_strip(Ui& ui, const Area& area);
/// What it begins with: the name of the example or the file, and that what it says need not hold where the
/// experiment is another than the one it was written of.
std::string note_title(const Document& document);
/// 0 where there is nothing to say. Below `room` pixels, which are left over, it takes fewer lines.
float note_strip_height(Ui& ui, float width, float room);
/// Every setting of the experiment, in the order of the computation.
void experiment_panel(Ui& ui, const Area& area);
/// Its section of the picture that is looked at.
void image_section(Ui& ui);
/// The locked or hovered cell as a proof.
void inspector_panel(Ui& ui, const Area& area);
/// What computes and why, which can be changed there; how long it took, what is wrong.
void status_bar(Ui& ui, const Area& area, ActionContext& context,
                const std::function<void(const Action&)>& run);
/// What computing took: the slowest stages, a line each, the rest in one, and how many were reused.
std::string stage_times_text(const Trace& trace);
/// What it says of a trace: "8 tokens · d 16 · 2 heads", "4 queries · 6 keys · 1 head".
std::string sizes_text(const Trace& trace);
/// The dialog that is open, if one is.
void dialogs(Ui& ui, ActionContext& context);

}  // namespace attnscope
