#include "app/actions/actions.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <random>

#include "app/actions/files.h"
#include "app/actions/find_text.h"
#include "app/actions/matrix_text.h"
#include "app/actions/training.h"
#include "app/document/walk.h"
#include "core/error.h"
#include "core/graph/gradient.h"
#include "core/graph/row_steps.h"
#include "core/learn/training_run.h"
#include "core/mechanism/mechanisms.h"
#include "core/picture/shown_matrix.h"
#include "core/picture/view_figure.h"
#include "core/recipe/recipe.h"
#include "core/session/comparisons.h"

namespace attnscope {
namespace {

constexpr Mods k_ctrl{.ctrl = true};
constexpr Mods k_ctrl_shift{.ctrl = true, .shift = true};
constexpr double k_scale_step = 0.25;

bool always(const ActionContext&) { return true; }
bool has_trace(const ActionContext& c) { return c.document.trace() != nullptr; }

/// Why the numbers of two backends are not compared; empty if they are.
std::string why_no_comparison(const ActionContext& c) {
    return has_trace(c) && c.document.trace()->is_on_demand()
               ? fmt::format("the text has more than {} tokens", k_max_tokens)
               : "";
}
bool may_compare_backends(const ActionContext& c) { return has_trace(c) && why_no_comparison(c).empty(); }

bool applies(const ActionContext& c, OptionName name) {
    return c.document.why_unused(option_named(name)).empty();
}
bool reads_text(const ActionContext& c) { return applies(c, "text"); }
bool reads_text2(const ActionContext& c) { return applies(c, "text2"); }
bool draws(const ActionContext& c) { return applies(c, "seed"); }

bool has_words(const ActionContext& c) {
    return has_trace(c) && !(c.document.trace()->rows.empty() && c.document.trace()->columns.empty());
}
std::string why_no_words(const ActionContext&) { return "this view has no text to search"; }

bool may_have_image(const ActionContext& c) { return why_no_image(c).empty(); }

void say(ActionContext& c, std::string text) { c.interaction.notice = {std::move(text), false}; }

void set_scale(ActionContext& c, double scale) {
    c.interaction.interface_scale = std::clamp(scale, k_least_scale, k_largest_scale);
}

void save(ActionContext& c) {
    if (c.document.file().empty())
        c.interaction.open(Dialog::save);
    else
        save_file(c, c.document.file());
}

void copy_matrix(ActionContext& c) {
    const Trace& trace = *c.document.trace();
    const Presentation& presentation = c.document.presentation();
    c.copy(focused_matrix_text(trace, presentation));
    say(c, fmt::format("copied {} as tab-separated text",
                       stage_heading(focused_stage(trace, presentation.stage).key())));
}

/// The decimals are those chosen for exported pictures.
void copy_latex(ActionContext& c) {
    const Trace& trace = *c.document.trace();
    const Presentation& presentation = c.document.presentation();
    c.copy(focused_matrix_latex(trace, presentation));
    say(c, fmt::format("copied {} as a LaTeX table",
                       stage_heading(focused_stage(trace, presentation.stage).key())));
}

/// Copies the recipe of the experiment on screen, as copy_matrix copies the matrix on screen; with the run on
/// screen, that of its training.
void copy_recipe(ActionContext& c) {
    const Experiment& shown = c.document.trace()->experiment;
    if (is_training_open(c) && can_be_trained(shown) && shown.training.step > 0) {
        c.interaction.to_script = shown;  // written in the background: it holds the sentences of all steps
        return;
    }
    c.copy(recipe(*c.document.trace()));
    say(c, "copied a PyTorch script that computes and prints every stage");
}

/// The stages that the arrow keys step through from `focused`: those of its strip, the parameters, or the
/// gradients of either.
std::vector<StagePtr> beside(const Trace& trace, const Stage& focused) {
    const bool parameters = is_parameter(*focused.info);
    if (focused.part == StageKey::Part::value) return parameters ? trace.parameters() : trace.stages();
    std::vector<StagePtr> stages = trace.gradients;
    std::erase_if(stages, [&](const StagePtr& stage) { return is_parameter(*stage->info) != parameters; });
    return stages;
}

/// Moves the focus along the strip.
void focus_step(ActionContext& c, int step) {
    const Trace& trace = *c.document.trace();
    const Stage& focused = focused_stage(trace, c.document.presentation().stage);
    std::vector<StageKey> keys;
    for (const StagePtr& stage : beside(trace, focused))
        if (stage->info->unit != Unit::token_id) keys.push_back(stage->key());
    if (keys.empty()) return;
    const auto at = std::ranges::find(keys, focused.key());
    const auto now = at == keys.end() ? 0 : at - keys.begin();
    const auto next = std::clamp<std::ptrdiff_t>(now + step, 0, std::ssize(keys) - 1);
    c.document.change([&](Session& s) { s.presentation.focus(keys[std::size_t(next)]); });
    c.interaction.zoom = {};
}

void roll_seed(ActionContext& c) {
    const Seed seed = static_cast<std::int64_t>(std::random_device{}() % 1'000'000U);
    c.document.change([&](Session& s) { s.experiment.weights.seed = seed; });
}

void next_head(ActionContext& c, int step) {
    const int heads = c.document.experiment().attention.heads;
    if (heads == 1) return;
    c.document.change([&](Session& s) {
        HeadChoice& head = s.presentation.head;
        const int now = head.kind == HeadChoice::Kind::one ? head.head : heads;
        const int next = (now + step + heads + 1) % (heads + 1);
        head = next == heads ? HeadChoice{HeadChoice::Kind::mean} : HeadChoice{HeadChoice::Kind::one, next};
    });
}

bool has_layers(const ActionContext& c) { return has_trace(c) && layers_of(*c.document.trace()) > 1; }

void next_layer(ActionContext& c, int step) {
    const int layers = layers_of(*c.document.trace());
    c.document.change([&](Session& s) {
        Presentation& p = s.presentation;
        p.set_layer(std::clamp(std::min(p.layer(), layers) + step, 1, layers));
    });
}

std::string why_no_gradients(const ActionContext& c) {
    return has_trace(c) ? why_no_gradients(*c.document.trace()) : "there is nothing to differentiate yet";
}

bool shows_gradients(const ActionContext& c) { return c.document.presentation().gradients; }
/// Gradients can be switched off without a loss, too.
bool may_show_gradients(const ActionContext& c) { return shows_gradients(c) || why_no_gradients(c).empty(); }

/// Switches gradients on or off; when they are off, none is in focus and no cell of one is locked.
void show_gradients(ActionContext& c) {
    c.document.change([](Session& s) {
        Presentation& p = s.presentation;
        p.gradients = !p.gradients;
        if (p.gradients) return;
        p.stage.part = StageKey::Part::value;
        if (p.locked_in) p.locked_in->part = StageKey::Part::value;
    });
}

/// Why the stage in focus has no gradient.
std::string why_no_stage_gradient(const ActionContext& c) {
    if (std::string why = why_no_gradients(c); !why.empty()) return why;
    const Stage& focused = focused_stage(*c.document.trace(), c.document.presentation().stage);
    if (may_have_gradient(*focused.info)) return "";
    return stage_heading(*focused.info) + " has no gradient: its values are whole numbers";
}

bool may_focus_gradient(const ActionContext& c) { return why_no_stage_gradient(c).empty(); }

void focus_gradient(ActionContext& c) {
    const Stage& focused = focused_stage(*c.document.trace(), c.document.presentation().stage);
    using enum StageKey::Part;
    const StageKey other = focused.key().as(focused.part == gradient ? value : gradient);
    c.document.change([&](Session& s) { s.presentation.focus(other); });
}

/// On sentences whose pattern has a meaning; undo leads back to what was open.
void begin_tour(ActionContext& c) {
    open_example(c, "designed-heads");
    c.saved.closed_note = c.document.session().note;
    c.interaction.tour.go_to(0, c.document.session());
}

/// Escape closes the list of folders, else the dialog, else unlocks the cell, else closes the note; it never
/// quits.
void escape(ActionContext& c) {
    const bool unlocks = held_cell(c.document.presentation(), c.document.trace().get()).has_value();
    std::optional<FileForm>& picker = c.interaction.export_form.picker;
    if (c.interaction.dialog == Dialog::exporting && picker)
        picker.reset();
    else if (c.interaction.dialog != Dialog::none)
        c.interaction.dialog = Dialog::none;
    else if (c.interaction.tour.step >= 0)
        leave_tour(c.interaction.tour, c.saved);
    else if (unlocks)
        c.document.change([](Session& s) { s.presentation.unlock(); });
    else
        c.saved.closed_note = c.document.session().note;
    c.interaction.notice = {};
}

template <ThemeKind theme>
void set_theme(ActionContext& c) {
    c.document.change([](Session& s) { s.presentation.theme = theme; });
}
template <ThemeKind theme>
bool is_theme(const ActionContext& c) {
    return c.document.presentation().theme == theme;
}

template <BackendWish backend>
void set_backend(ActionContext& c) {
    c.saved.backend = backend;
    c.interaction.choose_backend_again = true;
}

template <BackendWish backend>
bool is_backend(const ActionContext& c) {
    return c.saved.backend == backend;
}
std::string why_no_card(const ActionContext& c) { return c.interaction.why_no_card; }
bool may_use_card(const ActionContext& c) { return c.interaction.why_no_card.empty(); }

void open_dialog(ActionContext& c, bool picture) {
    c.interaction.file_form.picture = picture;
    c.interaction.open(Dialog::open);
}

template <ViewKind view>
void set_view(ActionContext& c) {
    c.document.change([](Session& s) { s.presentation.view = view; });
}
template <ViewKind view>
bool is_view(const ActionContext& c) {
    return c.document.presentation().view == view;
}

bool is_pinned(const ActionContext& c) { return c.document.session().pinned.has_value(); }

/// Pins the shown experiment as A and opens the comparison with the live one.
void pin(ActionContext& c) {
    c.document.change([](Session& s) {
        s.pinned = pinned(s);
        s.presentation.view = ViewKind::compare;
    });
    say(c, "pinned as A: change any setting, and B shows the result beside A");
}

bool is_trained(const ActionContext& c) { return c.document.experiment().training.step > 1; }

/// Pins the trained experiment as A; B goes back to half its steps, which trains it again.
void pin_and_go_back(ActionContext& c) {
    pin(c);
    const int step = c.document.experiment().training.step;
    c.document.go_to_step(step / 2);
    say(c, fmt::format("A is step {}, B step {}", step, step / 2));
}

bool is_on_card(const ActionContext& c) { return c.document.backend().on_card; }

/// Pins what the GPU computes as A, computed by the CPU.
void pin_on_cpu(ActionContext& c) {
    c.document.change([](Session& s) {
        s.pinned = pinned(s);
        s.pinned->on_cpu = true;
        s.presentation.view = ViewKind::compare;
    });
    say(c, "A is computed by the CPU, B by the GPU");
}

bool has_steps(const ActionContext& c) {
    return mechanism_rule(c.document.experiment().mechanism).is_recurrent;
}

/// The matrix of the alignment view where it is open: the arrows go through its cells then.
const Stage* open_alignment(const ActionContext& c) {
    const bool open = c.document.presentation().view == ViewKind::alignment && has_steps(c);
    return open ? find_view_figure(ViewKind::alignment)
                      ->stage(*c.document.trace(), c.document.presentation().stage)
                : nullptr;
}

bool shows_one_head(const Stage& stage, const HeadChoice& chosen) {
    return stage.shape().heads == 1 || head_on_screen(stage, chosen).kind == HeadChoice::Kind::one;
}

/// The stage of weights whose row the step view shows, if it is open and shows one.
const Stage* open_steps(const ActionContext& c) {
    const Presentation& p = c.document.presentation();
    if (p.view != ViewKind::step || !has_trace(c)) return nullptr;
    const Trace& trace = *c.document.trace();
    const Stage* weights = last_weights(trace, std::min(p.layer(), std::max(1, layers_of(trace))));
    return weights && shows_one_head(*weights, p.head) ? weights : nullptr;
}

bool is_sweep_open(const ActionContext& c) {
    return c.document.presentation().view == ViewKind::sweep && c.document.swept();
}

bool may_play(const ActionContext& c) { return has_task(c) || open_steps(c) || is_sweep_open(c); }

/// Space plays what is open: the steps of a row, the values of a sweep, else the run of training.
void play_what_is_open(ActionContext& c) {
    bool& sweeps = c.interaction.sweep_playback.playing;
    if (is_sweep_open(c)) {
        sweeps = !sweeps;
        return;
    }
    open_steps(c) ? c.interaction.step_playback.play_or_pause() : play_or_pause(c);
}

void go_sideways(ActionContext& c, int step) {
    if (is_training_open(c)) return train(c, step);
    if (open_steps(c)) return c.interaction.step_playback.step(step);
    const Stage* stage = open_alignment(c);
    stage ? walk_cells(c.document, *stage, 0, step) : focus_step(c, step);
}

void go_down(ActionContext& c, int step) {
    const Stage* stage = open_steps(c);
    if (!stage) stage = open_alignment(c);
    stage ? walk_cells(c.document, *stage, step, 0) : next_head(c, step);
}

bool has_image(const ActionContext& c) { return c.document.experiment().input.image.has_value(); }

bool can_undo(const ActionContext& c) { return c.document.can_undo(); }
bool can_redo(const ActionContext& c) { return c.document.can_redo(); }
bool has_second_sentence(const ActionContext& c) {
    return c.interaction.second_sentence_open || !c.document.experiment().input.text2.empty();
}

/// Why actions with this condition are not enabled, where it is the same for all of them.
struct Reason {
    bool (*condition)(const ActionContext&);
    std::string_view why;
};
const std::array k_reasons = {
    Reason{has_trace, "nothing is computed yet"},
    Reason{can_undo, "nothing was changed yet"},
    Reason{can_redo, "nothing was undone"},
    Reason{reads_text, "the experiment reads no text"},
    Reason{reads_text2, "the experiment reads no second sentence"},
    Reason{has_second_sentence, "there is no second sentence"},
    Reason{draws, "nothing is drawn with the seed"},
    Reason{has_image, "there is no picture: open one with Ctrl+I"},
    Reason{is_pinned, "nothing is pinned as A: press P"},
    Reason{has_steps, "only a decoder has steps: choose the mechanism seq2seq"},
    Reason{has_layers, "there is only one layer"},
    Reason{has_task, "no task is chosen: choose one under Training"},
    Reason{has_learned, "no learned model is open: Training ▸ See learned attention opens one"},
    Reason{may_play, "nothing here can be played"},
    Reason{may_have_image, "the experiment reads no picture"}};

const std::array k_actions = {
    Action{"file.new",
           Menu::file,
           "New",
           "Starts with the default experiment; undo brings back what was open",
           {Key::n, k_ctrl},
           true,
           always,
           new_session},
    Action{"file.open",
           Menu::file,
           "Open…",
           "Opens a session, a picture or a text",
           {Key::o, k_ctrl},
           true,
           always,
           [](ActionContext& c) { open_dialog(c, false); }},
    Action{"file.open_picture",
           Menu::file,
           "Open picture…",
           "Attends to the patches of a PNG or JPEG picture",
           {Key::i, k_ctrl},
           true,
           always,
           [](ActionContext& c) { open_dialog(c, true); }},
    Action{"file.save",
           Menu::file,
           "Save",
           "Saves the session: settings, text, custom matrices and view",
           {Key::s, k_ctrl},
           true,
           always,
           save},
    Action{"file.save_as",
           Menu::file,
           "Save as…",
           "Saves the session in another file",
           {Key::s, k_ctrl_shift},
           true,
           always,
           [](ActionContext& c) { c.interaction.open(Dialog::save); }},
    Action{"file.export",
           Menu::file,
           "Export…",
           "Writes pictures (PNG, SVG, PDF), data (CSV, NumPy, JSON, LaTeX) or the PyTorch script",
           {Key::e, k_ctrl},
           true,
           has_trace,
           [](ActionContext& c) { c.interaction.open(Dialog::exporting); }},
    Action{"file.quit",
           Menu::file,
           "Quit",
           "Closes the program; the next start continues where you left off",
           {Key::q, k_ctrl},
           true,
           always,
           [](ActionContext& c) { c.interaction.quit = true; }},
    Action{"edit.undo",
           Menu::edit,
           "Undo",
           "Undoes the last change",
           {Key::z, k_ctrl},
           true,
           can_undo,
           [](ActionContext& c) { c.document.undo(); }},
    Action{"edit.redo",
           Menu::edit,
           "Redo",
           "Redoes the change that was undone",
           {Key::z, k_ctrl_shift},
           true,
           can_redo,
           [](ActionContext& c) { c.document.redo(); }},
    Action{"edit.history",
           Menu::edit,
           "History…",
           "Lists all changes; a click goes back to any of them",
           {Key::h, k_ctrl_shift},
           true,
           always,
           [](ActionContext& c) { c.interaction.open(Dialog::history); }},
    Action{"edit.copy_matrix",
           Menu::edit,
           "Copy matrix",
           "Copies the matrix in focus with its labels, as tab-separated text",
           {Key::c, k_ctrl},
           false,
           has_trace,
           copy_matrix},
    Action{"edit.copy_picture",
           Menu::edit,
           "Copy picture",
           "Copies the picture on screen as a PNG, as Export would write it",
           {Key::c, {.ctrl = true, .alt = true}},
           false,
           has_trace,
           [](ActionContext& c) { c.interaction.copies_picture = true; }},
    Action{"edit.copy_latex",
           Menu::edit,
           "Copy as LaTeX table",
           "Copies the matrix in focus with its labels, as a LaTeX table",
           {},
           false,
           has_trace,
           copy_latex},
    Action{"edit.copy_recipe",
           Menu::edit,
           "Copy as PyTorch",
           "Copies a PyTorch script that computes the same numbers",
           {Key::c, k_ctrl_shift},
           false,
           has_trace,
           copy_recipe},
    Action{"edit.sentence",
           Menu::edit,
           "Edit the sentence",
           "Moves the keyboard to the sentence",
           {Key::l, k_ctrl},
           true,
           reads_text,
           [](ActionContext& c) { c.interaction.edit_sentence = true; }},
    Action{"edit.second_sentence",
           Menu::edit,
           "Edit the second sentence",
           "Adds a second sentence, or moves the keyboard to it",
           {Key::l, k_ctrl_shift},
           true,
           reads_text2,
           [](ActionContext& c) {
               c.interaction.second_sentence_open = c.interaction.edit_second_sentence = true;
           }},
    Action{"edit.one_sentence",
           Menu::edit,
           "Remove the second sentence",
           "Uses the first sentence alone",
           {},
           false,
           has_second_sentence,
           [](ActionContext& c) {
               c.interaction.second_sentence_open = false;
               c.document.change([](Session& s) { s.experiment.input.text2.clear(); });
           }},
    Action{"edit.find",
           Menu::edit,
           "Find in the text…",
           "Goes to a token of the text",
           {Key::f, k_ctrl},
           true,
           has_words,
           [](ActionContext& c) { c.interaction.open(Dialog::find); },
           nullptr,
           why_no_words},
    Action{"edit.find_next",
           Menu::edit,
           "Find next",
           "Goes to the next match",
           {Key::n, {}},
           false,
           has_words,
           [](ActionContext& c) { find_again(c, 1); },
           nullptr,
           why_no_words},
    Action{"edit.find_previous",
           Menu::edit,
           "Find previous",
           "Goes to the previous token that was found",
           {Key::n, {.shift = true}},
           false,
           has_words,
           [](ActionContext& c) { find_again(c, -1); },
           nullptr,
           why_no_words},
    Action{"edit.roll_seed",
           Menu::edit,
           "Roll the seed",
           "Draws the random weights again, from another seed",
           {Key::r, k_ctrl},
           true,
           draws,
           roll_seed},
    Action{"edit.give",
           Menu::edit,
           "Custom matrix…",
           "Overrides a matrix with your own numbers, typed or from a file",
           {Key::g, k_ctrl},
           true,
           always,
           [](ActionContext& c) { c.interaction.open(Dialog::giving); }},
    Action{"edit.drawn_picture",
           Menu::edit,
           "Use the built-in picture",
           "Attends to the patches of a picture that comes with the program",
           {},
           false,
           may_have_image,
           [](ActionContext& c) { use_image(c, drawn_picture()); }},
    Action{"edit.remove_picture",
           Menu::edit,
           "Remove the picture",
           "Attends to the text again",
           {},
           false,
           has_image,
           remove_picture},
    Action{"view.pipeline",
           Menu::view,
           "Pipeline",
           "Every stage in order, one of them large",
           {Key::digit_1, {}},
           false,
           always,
           set_view<ViewKind::pipeline>,
           is_view<ViewKind::pipeline>},
    Action{"view.heads",
           Menu::view,
           "Heads",
           "All heads side by side, in all layers, with what they attend to",
           {Key::digit_2, {}},
           false,
           always,
           set_view<ViewKind::heads>,
           is_view<ViewKind::heads>},
    Action{"view.lines",
           Menu::view,
           "Lines",
           "The weights as lines from token to token",
           {Key::digit_3, {}},
           false,
           always,
           set_view<ViewKind::lines>,
           is_view<ViewKind::lines>},
    Action{"view.compare",
           Menu::view,
           "Compare",
           "Two experiments and their difference on one scale",
           {Key::digit_4, {}},
           false,
           always,
           set_view<ViewKind::compare>,
           is_view<ViewKind::compare>},
    Action{"compare.pin",
           Menu::view,
           "Pin as A",
           "Keeps the current experiment as A, to compare what you change with it",
           {Key::p, {}},
           false,
           has_trace,
           pin},
    Action{"compare.exchange",
           Menu::view,
           "Swap A and B",
           "Makes the pinned experiment the one you change, and pins the other",
           {Key::x, {}},
           false,
           is_pinned,
           [](ActionContext& c) { c.document.change([](Session& s) { s = exchanged(std::move(s)); }); }},
    Action{"compare.unpin",
           Menu::view,
           "Unpin A",
           "Forgets A",
           {Key::p, {.shift = true}},
           false,
           is_pinned,
           [](ActionContext& c) { c.document.change([](Session& s) { s.pinned.reset(); }); }},
    Action{"compare.steps",
           Menu::view,
           "Compare with half the steps of training",
           "Pins the trained experiment as A; B goes back to half its steps of training",
           {},
           false,
           is_trained,
           pin_and_go_back,
           nullptr,
           [](const ActionContext&) { return std::string("the experiment is not trained"); }},
    Action{"compare.cpu",
           Menu::view,
           "Compare the GPU with the CPU",
           "Pins the experiment as A, computed by the CPU; B is computed by the GPU",
           {},
           false,
           is_on_card,
           pin_on_cpu,
           nullptr,
           [](const ActionContext&) { return std::string("the CPU computes: there is nothing to compare"); }},
    Action{"view.alignment",
           Menu::view,
           "Alignment",
           "The source and target words with the weights between them, decoder step by decoder step",
           {Key::digit_5, {}},
           false,
           has_steps,
           set_view<ViewKind::alignment>,
           is_view<ViewKind::alignment>},
    Action{"view.step",
           Menu::view,
           "Step",
           "The computation of one row as bars: from the scores to the context",
           {Key::digit_6, {}},
           false,
           always,
           set_view<ViewKind::step>,
           is_view<ViewKind::step>},
    Action{"view.image",
           Menu::view,
           "Image",
           "The weights laid over the picture",
           {Key::digit_7, {}},
           false,
           has_image,
           set_view<ViewKind::image>,
           is_view<ViewKind::image>},
    Action{"view.training",
           Menu::view,
           "Training",
           "The loss, and the attention as it is learned",
           {Key::digit_8, {}},
           false,
           has_task,
           set_view<ViewKind::training>,
           is_view<ViewKind::training>},
    Action{"view.sweep",
           Menu::view,
           "Sweep",
           "One setting over a range of values; with each cell's mean and standard deviation",
           {Key::digit_9, {}},
           false,
           always,
           set_view<ViewKind::sweep>,
           is_view<ViewKind::sweep>},
    Action{"view.play",
           Menu::view,
           "Play or pause",
           "Plays the steps of a row or the values of a sweep, if open, else the run of training",
           {Key::space, {}},
           false,
           may_play,
           play_what_is_open},
    Action{"view.previous_stage",
           Menu::view,
           "Previous stage, word or step",
           "Moves the focus to the left: to the previous stage, word or step",
           {Key::left, {}},
           false,
           has_trace,
           [](ActionContext& c) { go_sideways(c, -1); }},
    Action{"view.next_stage",
           Menu::view,
           "Next stage, word or step",
           "Moves the focus to the right: to the next stage, word or step",
           {Key::right, {}},
           false,
           has_trace,
           [](ActionContext& c) { go_sideways(c, 1); }},
    Action{"view.previous_head",
           Menu::view,
           "Previous head, query or step",
           "Shows the previous head; the previous row in Alignment and Step",
           {Key::up, {}},
           false,
           has_trace,
           [](ActionContext& c) { go_down(c, -1); }},
    Action{"view.next_head",
           Menu::view,
           "Next head, query or step",
           "Shows the next head; the next row in Alignment and Step",
           {Key::down, {}},
           false,
           has_trace,
           [](ActionContext& c) { go_down(c, 1); }},
    Action{"view.previous_layer",
           Menu::view,
           "Previous layer",
           "Shows the previous layer in every stage",
           {Key::page_up, {}},
           false,
           has_layers,
           [](ActionContext& c) { next_layer(c, -1); }},
    Action{"view.next_layer",
           Menu::view,
           "Next layer",
           "Shows the next layer in every stage",
           {Key::page_down, {}},
           false,
           has_layers,
           [](ActionContext& c) { next_layer(c, 1); }},
    Action{"view.gradients",
           Menu::view,
           "Gradients of the loss",
           "Shows or hides, below the stages, how the loss changes with each",
           {Key::g, {}},
           false,
           may_show_gradients,
           show_gradients,
           shows_gradients,
           why_no_gradients},
    Action{"view.stage_gradient",
           Menu::view,
           "Stage or its gradient",
           "Switches the focus between a stage and its gradient",
           {Key::d, {}},
           false,
           may_focus_gradient,
           focus_gradient,
           nullptr,
           why_no_stage_gradient},
    Action{"view.whole",
           Menu::view,
           "Show the whole matrix",
           "Ends the zoom",
           {Key::digit_0, {}},
           false,
           always,
           [](ActionContext& c) { c.interaction.zoom = {}; }},
    Action{"view.dark",
           Menu::view,
           "Dark theme",
           "Light text on a dark window",
           {},
           false,
           always,
           set_theme<ThemeKind::dark>,
           is_theme<ThemeKind::dark>},
    Action{"view.light",
           Menu::view,
           "Light theme",
           "Dark text on a light window, for projectors and print",
           {},
           false,
           always,
           set_theme<ThemeKind::light>,
           is_theme<ThemeKind::light>},
    Action{"view.contrast",
           Menu::view,
           "High-contrast theme",
           "White on black, with the strongest contrast",
           {},
           false,
           always,
           set_theme<ThemeKind::contrast>,
           is_theme<ThemeKind::contrast>},
    Action{"view.larger",
           Menu::view,
           "Larger interface",
           "Enlarges text and controls one step, up to 400%",
           {Key::equal, k_ctrl},
           true,
           always,
           [](ActionContext& c) { set_scale(c, c.interaction.interface_scale + k_scale_step); }},
    Action{"view.smaller",
           Menu::view,
           "Smaller interface",
           "Reduces text and controls one step, down to 50%",
           {Key::minus, k_ctrl},
           true,
           always,
           [](ActionContext& c) { set_scale(c, c.interaction.interface_scale - k_scale_step); }},
    Action{"view.normal",
           Menu::view,
           "Interface at 100%",
           "Text and controls at the screen's own scale",
           {Key::digit_0, k_ctrl},
           true,
           always,
           [](ActionContext& c) { set_scale(c, 1); }},
    Action{"view.experiment",
           Menu::view,
           "Experiment panel",
           "Shows or hides the settings at the left",
           {Key::f2, {}},
           true,
           always,
           [](ActionContext& c) { c.saved.panels.experiment_open = !c.saved.panels.experiment_open; },
           [](const ActionContext& c) { return c.saved.panels.experiment_open; }},
    Action{"view.inspector",
           Menu::view,
           "Inspector",
           "Shows or hides the proof of the locked cell at the right",
           {Key::f3, {}},
           true,
           always,
           [](ActionContext& c) { c.saved.panels.inspector_open = !c.saved.panels.inspector_open; },
           [](const ActionContext& c) { return c.saved.panels.inspector_open; }},
    Action{"view.reset_layout",
           Menu::view,
           "Reset layout",
           "Both panels are shown in their default widths, and sections are folded as at first",
           {},
           false,
           [](const ActionContext& c) { return !(c.saved.panels == PanelLayout{}); },
           [](ActionContext& c) { c.saved.panels = {}; },
           nullptr,
           [](const ActionContext&) { return std::string("the layout is already the default"); }},
    Action{"training.play",
           Menu::training,
           "Play or pause the run",
           "Trains the model, or stops; the views follow",
           {},
           false,
           has_task,
           play_or_pause},
    Action{"training.back",
           Menu::training,
           "One step back",
           "Goes back to the step before",
           {Key::comma, {}},
           false,
           has_task,
           [](ActionContext& c) { train(c, -1); }},
    Action{"training.forward",
           Menu::training,
           "One step",
           "Trains for one step",
           {Key::period, {}},
           false,
           has_task,
           [](ActionContext& c) { train(c, 1); }},
    Action{"training.ten",
           Menu::training,
           "Ten steps",
           "Trains for ten steps",
           {Key::period, {.shift = true}},
           false,
           has_task,
           [](ActionContext& c) { train(c, 10); }},
    Action{"training.restart",
           Menu::training,
           "Start again",
           "Goes back to the untrained weights",
           {Key::home, {}},
           false,
           has_task,
           [](ActionContext& c) { train(c, -k_max_training_steps); }},
    Action{"training.watch",
           Menu::training,
           "Watch it learn from scratch",
           "Goes back to random weights and trains the model before your eyes",
           {},
           false,
           has_learned,
           watch},
    Action{"training.learned",
           Menu::training,
           "See learned attention",
           "Opens a model that learned to translate, with additive attention",
           {},
           false,
           always,
           [](ActionContext& c) { open_example(c, "bahdanau-alignment"); }},
    Action{"training.designed",
           Menu::training,
           "See designed heads",
           "Opens heads that were designed by hand, each with a purpose",
           {},
           false,
           always,
           [](ActionContext& c) { open_example(c, "designed-heads"); }},
    Action{"training.sentence",
           Menu::training,
           "New sentence of the task",
           "Draws another sentence of the task",
           {Key::d, k_ctrl},
           true,
           has_task,
           new_sentence},
    Action{"compute.auto",
           Menu::compute,
           "Automatic (the faster one)",
           "The GPU where it was measured to be faster, else the CPU",
           {},
           false,
           always,
           set_backend<BackendWish::automatic>,
           is_backend<BackendWish::automatic>},
    Action{"compute.cpu",
           Menu::compute,
           "CPU",
           "Computes on the CPU",
           {},
           false,
           always,
           set_backend<BackendWish::cpu>,
           is_backend<BackendWish::cpu>},
    Action{"compute.gpu",
           Menu::compute,
           "GPU",
           "Computes on the GPU",
           {},
           false,
           may_use_card,
           set_backend<BackendWish::gpu>,
           is_backend<BackendWish::gpu>,
           why_no_card},
    Action{"compute.parity",
           Menu::compute,
           "Compare CPU and GPU…",
           "Computes every stage on both and lists the largest differences",
           {},
           false,
           may_compare_backends,
           [](ActionContext& c) { c.interaction.open(Dialog::parity); },
           nullptr,
           why_no_comparison},
    Action{"examples.gallery",
           Menu::examples,
           "All examples…",
           "All examples by theme, each with a picture and what it shows",
           {Key::f4, {}},
           true,
           always,
           [](ActionContext& c) { c.interaction.open(Dialog::gallery); }},
    Action{"help.tour",
           Menu::help,
           "Take the tour",
           "Five steps through the window, on an example; Esc leaves it",
           {},
           false,
           always,
           begin_tour},
    Action{"help.palette",
           Menu::help,
           "Search actions",
           "Finds actions, settings, stages, examples, questions and words of the text",
           {Key::p, k_ctrl},
           true,
           always,
           [](ActionContext& c) { c.interaction.open(Dialog::palette); }},
    Action{"help.keys",
           Menu::help,
           "Shortcuts",
           "Lists all keys and what the mouse does",
           {Key::f1, {}},
           true,
           always,
           [](ActionContext& c) { c.interaction.open(Dialog::keys); }},
    Action{"help.about",
           Menu::help,
           "About attnscope",
           "The version, the license and the fonts",
           {},
           false,
           always,
           [](ActionContext& c) { c.interaction.open(Dialog::about); }},
    Action{"escape",
           {},
           "Unlock or close",
           "Closes the dialog, unlocks the cell or closes the note",
           {Key::escape, {}},
           true,
           always,
           escape},
};

}  // namespace

std::span<const Action> actions() { return k_actions; }

const Action& action_named(ActionName name) { return *find_action(name.text()); }

const Action* find_action(std::string_view id) {
    for (const Action& action : k_actions)
        if (action.id == id) return &action;
    return nullptr;
}

std::string why_disabled(const Action& action, const ActionContext& context) {
    const auto reason = std::ranges::find(k_reasons, action.enabled, &Reason::condition);
    const std::string why = action.why_not              ? action.why_not(context)
                            : reason != k_reasons.end() ? std::string(reason->why)
                                                        : "";
    return why.empty() ? "Not available now" : "Not available now: " + why;
}

void run_action(const Action& action, ActionContext& context) {
    if (!action.enabled(context)) return;
    try {
        action.run(context);
    } catch (const std::exception& error) {
        context.interaction.notice = {problem_text(error), true};
    }
}

const Action* action_for(const KeyPress& press, bool typing) {
    for (const Action& action : k_actions) {
        if (action.shortcut.key == Key::none || action.shortcut.key != press.key) continue;
        // On many keyboards + is the shifted =.
        Mods mods = press.mods;
        if (press.key == Key::equal) mods.shift = false;
        if (action.shortcut.mods == mods && (action.while_typing || !typing)) return &action;
    }
    return nullptr;
}

}  // namespace attnscope
