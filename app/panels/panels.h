// The parts of the window around the view; each is a function that draws into an area.
#pragma once

#include "app/actions/actions.h"
#include "app/document/desk.h"
#include "app/ui/text_field.h"
#include "app/ui/ui.h"

namespace attnscope {

struct Question;

/// The actions of one menu, in a popup that is open.
void action_items(const Ui& ui, ActionContext& context, Menu menu,
                  const std::function<void(const Action&)>& run);
/// The menus and the search field. `run` is called with the action that was picked.
void menu_bar(const Ui& ui, const Area& area, ActionContext& context,
              const std::function<void(const Action&)>& run);
/// The sentence, which is editable unless a custom matrix replaces it, and its tokens as chips below it; next
/// to it the keys' sentence, if there is one.
void sentence_panel(Desk& desk, const Ui& ui, const Area& area, SentenceFields& fields,
                    const std::function<void(const Action&)>& run);
/// The height of the sentence panel: its chips take as many lines as they need, at most three, or one in a
/// low window.
float sentence_panel_height(Desk& desk, const Ui& ui, float window_width, float window_height);
/// The note of the open session or example, until it is closed: its name and at most three lines, cut off if
/// they do not suffice.
void note_strip(Desk& desk, const Ui& ui, const Area& area, const std::function<void(const Action&)>& run);
/// The question that the note on screen answers; nullptr: none.
const Question* shown_question(const Desk& desk);
/// The heading of the note: the question that it answers, or the name of the example or file; and a remark
/// that the note may no longer apply if the experiment has changed since.
std::string note_title(const Document& document);
/// The height of the note; 0 if there is none. If only `room` pixels are left, it takes fewer lines.
float note_strip_height(Desk& desk, const Ui& ui, float width, float room);
/// Every setting of the experiment, in the order of the computation.
void experiment_panel(Desk& desk, const Ui& ui, const Area& area);
/// The proof of the locked or hovered cell.
void inspector_panel(Desk& desk, const Ui& ui, const Area& area);
/// The status bar: which backend computes and why (a click changes it), how long it took, and problems.
void status_bar(Desk& desk, const Ui& ui, const Area& area, ActionContext& context,
                const std::function<void(const Action&)>& run);
/// The computation times: a line for each of the slowest stages, one for the rest, and how many were reused.
std::string stage_times_text(const Trace& trace);
/// The size of a trace: "8 tokens · d 16 · 2 heads", "4 queries · 6 keys · 1 head".
std::string sizes_text(const Trace& trace);
/// The step of the tour that is on: what to try, beside the control to try it with.
void tour_card(Desk& desk, const Ui& ui);
/// The open dialog, if any.
void dialogs(Desk& desk, const Ui& ui, ActionContext& context);

}  // namespace attnscope
