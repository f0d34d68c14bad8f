#include "app/shell/workspace.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <thread>
#include <utility>

#include "app/actions/files.h"
#include "app/actions/training.h"
#include "app/document/picture_on_screen.h"
#include "app/panels/panels.h"
#include "app/platform/imgui_compat.h"
#include "app/views/views.h"
#include "core/error.h"
#include "core/session/applies.h"
#include "core/session/options.h"
#include "core/utf8.h"

namespace attnscope {
namespace {

constexpr float k_menu_height = 32;
constexpr float k_status_height = 28;
constexpr float k_least_experiment = 190, k_least_inspector = 150;
constexpr float k_experiment_share = 0.235f, k_inspector_share = 0.225f;  ///< of a narrow window
constexpr float k_fewest_units_high = 548;  ///< in a lower one there is no room for the strip
constexpr float k_narrow = 1280;  ///< units; in a narrower window the side panels shrink in favor of the view

/// The areas of the window, from the outside in.
struct Areas {
    Area menu, sentence, note, experiment, center, inspector, status;
};

/// A side panel takes at most its share of the window, and is hidden if that would be too narrow to read.
float side_width(bool open, float wanted, float share, float least) {
    const float width = std::min(wanted, share);
    return open && width >= least ? width : 0;
}

Areas lay_out(Desk& desk, const Ui& ui, ImVec2 size) {
    const float menu = ui.px(k_menu_height);
    const float sentence = menu + sentence_panel_height(desk, ui, size.x, size.y);
    const float spare = size.y - ui.px(k_fewest_units_high);
    const float note = sentence + note_strip_height(desk, ui, size.x, spare);
    const float status = size.y - ui.px(k_status_height);
    const bool narrow = size.x < ui.px(k_narrow);
    const PanelLayout& panels = desk.saved.panels;
    const float left = side_width(panels.experiment_open, ui.px(panels.experiment_width),
                                  size.x * (narrow ? k_experiment_share : 0.25f), ui.px(k_least_experiment));
    const float right =
        size.x - side_width(panels.inspector_open, ui.px(panels.inspector_width),
                            size.x * (narrow ? k_inspector_share : 0.25f), ui.px(k_least_inspector));
    return {.menu = {{0, 0}, {size.x, menu}},
            .sentence = {{0, menu}, {size.x, sentence}},
            .note = {{0, sentence}, {size.x, note}},
            .experiment = {{0, note}, {left, status}},
            .center = {{left, note}, {right, status}},
            .inspector = {{right, note}, {size.x, status}},
            .status = {{0, status}, {size.x, size.y}}};
}

/// The edge of a side panel, which can be dragged.
void splitter(const Ui& ui, const char* id, float x, const Area& area, float& width, float direction) {
    const float half = ui.px(3);
    ImGui::SetCursorScreenPos({x - half, area.min.y});
    ImGui::InvisibleButton(id, {2 * half, area.height()});
    if (ImGui::IsItemHovered() || ImGui::IsItemActive()) ImGui::SetMouseCursor(ImGuiMouseCursor_ResizeEW);
    if (ImGui::IsItemActive())
        width = std::clamp(width + direction * ImGui::GetIO().MouseDelta.x / ui.scale, k_narrowest_panel,
                           k_widest_panel);
    ImGui::GetWindowDrawList()->AddLine({x, area.min.y}, {x, area.max.y},
                                        ink(ImGui::IsItemActive() ? ui.theme.accent : ui.theme.line));
}

/// Without a background: a frame begins with that of the theme.
void begin_root(ImVec2 size) {
    ImGui::SetNextWindowPos({0, 0});
    ImGui::SetNextWindowSize(size);
    ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, {0, 0});
    ImGui::PushStyleVar(ImGuiStyleVar_WindowBorderSize, 0);
    ImGui::PushStyleVar(ImGuiStyleVar_WindowRounding, 0);
    ImGui::Begin("attnscope", nullptr,
                 ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoMove |
                     ImGuiWindowFlags_NoBringToFrontOnFocus | ImGuiWindowFlags_NoSavedSettings |
                     ImGuiWindowFlags_NoScrollWithMouse | ImGuiWindowFlags_NoBackground);
    ImGui::PopStyleVar(3);
}

std::string instruction_set() {
#if defined(__AVX512F__)
    return "CPU · AVX-512";
#elif defined(__AVX2__)
    return "CPU · AVX2";
#else
    return "CPU";
#endif
}

/// The GPU backend for comparisons: the one in use, else a separate one, opened without a display when first
/// needed.
ParityRun::GiveBackend card_of(const Document& document, const ShaderSource& shaders) {
    return [&document, shaders, own = std::shared_ptr<Backend>()]() mutable {
        if (auto card = document.card()) return card;
        if (!own || own->is_lost()) own = choose_backend(BackendWish::gpu, shaders).backend;
        return own;
    };
}

}  // namespace

float scale_that_fits(double scale, float width, float height) {
    constexpr float k_fewest_units_wide =
        1 + std::max(k_least_experiment / k_experiment_share, k_least_inspector / k_inspector_share);
    const float fits = std::max(0.75f, std::min(width / k_fewest_units_wide, height / k_fewest_units_high));
    return std::min(static_cast<float>(scale), fits);
}

Workspace::Workspace(SavedState state, EvaluateOptions options, std::function<void()> wake,
                     ShaderSource shaders)
    : saved_(std::move(state)),
      document_(saved_.session, options, wake),
      exporter_(wake),
      previewer_(wake),
      gallery_(wake),
      parity_(card_of(document_, shaders), std::move(options), wake, shaders),
      opener_(wake),
      matrix_reader_(wake),
      first_reader_(wake),
      script_maker_(wake),
      picture_maker_(wake),
      copy_([](const std::string& text) { compat::text_bridge().clipboard.set(text); }),
      processor_(instruction_set()),
      shaders_(std::move(shaders)) {
    interaction_.interface_scale = saved_.scale;
    controls_.folded_sections = &saved_.panels.folded_sections;
    controls_.whole_sections = &saved_.panels.whole_sections;
    if (saved_.file.empty()) return;
    document_.belongs_to(saved_.file);
    first_reader_.start(saved_.file, [file = saved_.file] { return load_session(file); });
}

FrameCallbacks Workspace::callbacks() {
    return {.on_key = [this](const KeyPress& press) { return on_key(press); },
            .draw = [this](FrameInput& frame) { draw(frame); },
            .is_superseded = [this] { return ImGui::IsMouseDown(0) && document_.next_update_waits(); },
            .on_drop = [this](const std::vector<std::string>& paths) { on_drop(paths); },
            .on_close_request = [] { return true; },
            .wants_redraw = [this] { return wants_frame_; }};
}

bool Workspace::end_within(std::chrono::milliseconds most) {
    document_.stop();
    exporter_.cancel();
    previewer_.forget();
    gallery_.forget();
    parity_.cancel();
    opener_.cancel();
    matrix_reader_.cancel();
    first_reader_.cancel();
    script_maker_.cancel();
    picture_maker_.cancel();
    const auto ended = [&] {
        return document_.stopped() && !exporter_.running() && !previewer_.busy() && !gallery_.busy() &&
               !parity_.running() && opener_.ended() && matrix_reader_.ended() && first_reader_.ended() &&
               script_maker_.ended() && picture_maker_.ended();
    };
    const auto last = std::chrono::steady_clock::now() + most;
    while (!ended() && std::chrono::steady_clock::now() < last)
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
    return ended();
}

void Workspace::run(const Action& action) {
    ActionContext c = context();
    run_action(action, c);
    wants_frame_ = true;
}

namespace {

bool is_enter(Key key) { return key == Key::enter || key == Key::keypad_enter; }

bool moves_in_lists(const KeyPress& press) {
    using enum Key;
    const bool arrow = press.key == left || press.key == right || press.key == up || press.key == down;
    return press.mods == Mods{} && (arrow || is_enter(press.key) || press.key == space || press.key == tab);
}

}  // namespace

/// Tab moves between controls, Enter or Space presses the focused one, ← → step it, ↑ ↓ step a grid.
bool Workspace::on_control_key(const KeyPress& press, bool typing) {
    ControlFocus& control = controls_.focus;
    if (press.mods.ctrl || press.mods.alt || press.mods.super) return false;
    if (press.key == Key::tab) {
        if (typing) compat::leave_field();
        control.move(press.mods.shift ? -1 : 1);
        return true;
    }
    if (typing || control.id == 0) return false;
    const int size = press.mods.shift ? 10 : 1;
    if (is_enter(press.key) || press.key == Key::space)
        control.pressed = true;
    else if (press.key == Key::left || press.key == Key::right)
        control.steps = press.key == Key::left ? -size : size;
    else if (control.on_grid && (press.key == Key::up || press.key == Key::down))
        control.steps_down = press.key == Key::up ? -size : size;
    else
        return false;
    return true;
}

bool Workspace::on_key(const KeyPress& press) {
    const bool dialog = interaction_.dialog != Dialog::none;
    const bool typing = ImGui::GetIO().WantTextInput;
    if (press.key == Key::escape) {
        if (compat::close_menus()) return wants_frame_ = true;
        if (!dialog && !typing && std::exchange(controls_.focus.id, 0)) return wants_frame_ = true;
        // In the sentence or a number field, Escape belongs to the field.
        if (dialog || !typing) run(action_named("escape"));
        return dialog;
    }
    if (compat::list_is_open() && moves_in_lists(press))
        return is_enter(press.key) && compat::press_focused_item() && (wants_frame_ = true);
    if (on_control_key(press, typing)) return wants_frame_ = true;
    const Action* action = action_for(press, typing || dialog);
    if (!action || kept_from(*action)) return false;
    ActionContext c = context();
    if (action->enabled(c))
        run(*action);
    else if (action->why_not)
        say_why_not(action->why_not(c));
    return true;
}

void Workspace::say_why_not(std::string why) {
    interaction_.notice = {std::move(why), false};
    wants_frame_ = true;
}

/// A form that is being filled in has the editing keys: they would change the session behind it.
bool Workspace::kept_from(const Action& action) const {
    const bool undoes = action.id == "edit.undo" || action.id == "edit.redo";
    if (interaction_.dialog == Dialog::history && undoes) return false;
    if (interaction_.dialog != Dialog::none) return action.menu == Menu::edit || action.id == "file.new";
    return undoes && controls_.field.typing != 0;
}

/// Files are opened one after the other. A matrix belongs to the dialog for custom matrices, of which there
/// is one at a time.
void Workspace::on_drop(const std::vector<std::string>& paths) {
    if (paths.empty()) return;
    drop_problem_.clear();
    opener_.cancel();
    interaction_.to_open.reset();
    dropped_.assign(paths.begin(), paths.end());
    std::stable_partition(dropped_.begin(), dropped_.end(),
                          [](const std::string& path) { return !is_matrix_file(path); });
    const bool into_dialog = interaction_.dialog == Dialog::giving && paths.size() == 1;
    if (into_dialog && is_matrix_file(paths.front())) {
        interaction_.custom_form.file = paths.front();
        interaction_.custom_form.reads_file = true;
        dropped_.clear();
    }
    wants_frame_ = true;
}

/// Opens the next of the dropped files. A matrix waits until no dialog is open.
void Workspace::open_next_dropped() {
    if (dropped_.empty()) return;
    const bool is_matrix = is_matrix_file(dropped_.front());
    if (is_matrix && interaction_.dialog != Dialog::none) return;
    std::string path = std::move(dropped_.front());
    dropped_.pop_front();
    wants_frame_ = true;
    if (!is_matrix) {
        interaction_.to_open = OpenRequest{std::move(path)};
        return;
    }
    interaction_.custom_form.file = std::move(path);
    interaction_.custom_form.reads_file = true;
    interaction_.open(Dialog::giving);
}

/// An error is shown in the dialog that caused it, else in the status bar.
void Workspace::open_what_was_asked_for() {
    if (const auto request = std::exchange(interaction_.to_open, std::nullopt))
        opener_.start(request->path, [request] { return read_to_open(request->path, request->as_picture); });
    const bool idle = !opener_.running();
    std::optional<Opener::Outcome> outcome = opener_.take();
    if (!outcome) {
        if (idle) open_next_dropped();
        return;
    }
    const bool asked_in_dialog = interaction_.dialog == Dialog::open;
    std::string problem = outcome->problem;
    try {
        ActionContext c = context();
        if (outcome->file) take_opened(c, std::move(*outcome->file));
    } catch (const std::exception& error) {
        problem = problem_text(error);
    }
    wants_frame_ = true;
    if (asked_in_dialog && problem.empty()) interaction_.dialog = Dialog::none;
    if (asked_in_dialog) interaction_.file_form.problem = problem;
    if (asked_in_dialog) return;
    // The problem of one of several files is not covered by what the others did.
    if (drop_problem_.empty()) drop_problem_ = problem;
    if (!drop_problem_.empty()) interaction_.notice = {drop_problem_, true};
    if (dropped_.empty()) drop_problem_.clear();
}

void Workspace::copy_script_as_asked() {
    if (auto wanted = std::exchange(interaction_.to_script, std::nullopt))
        script_maker_.start("the script", [e = std::move(*wanted)] { return training_script(e); });
    const std::optional<FileMaker::Outcome> outcome = script_maker_.take();
    if (!outcome) return;
    wants_frame_ = true;
    if (outcome->file) copy_(*outcome->file);
    interaction_.notice = {
        outcome->file ? "copied a PyTorch script that trains the same steps" : outcome->problem,
        !outcome->file};
}

/// A picture is made in the background: one of many cells takes seconds.
void Workspace::copy_picture_as_asked() {
    if (std::exchange(interaction_.copies_picture, false)) {
        const ExportRequest request = picture_on_screen(document_);
        const std::string of = request.view ? std::string(name_of(*request.view)) + " view"
                                            : stage_heading(stage_on_screen(document_).key());
        picture_maker_.start("the picture of " + of,
                             [trace = document_.trace(), session = document_.session(), request] {
                                 Session shown = session;
                                 shown.presentation.compose = request.compose;
                                 return export_bytes(*trace, shown, plan_export(*trace, request).front());
                             });
    }
    const std::optional<FileMaker::Outcome> outcome = picture_maker_.take();
    if (!outcome) return;
    wants_frame_ = true;
    std::string problem = outcome->problem;
    try {
        if (outcome->file) compat::text_bridge().clipboard.set_png(*outcome->file);
    } catch (const Error& error) {
        problem = problem_text(error);
    }
    interaction_.notice = {problem.empty() ? "copied " + picture_maker_.name() : problem, !problem.empty()};
}

void Workspace::offer_card(const GlVersion& version,
                           std::function<std::unique_ptr<GlContext>()> make_context) {
    make_context_ = std::move(make_context);
    interaction_.why_no_card = why_no_compute(version);
    if (version.is_software) document_.share_cpu_with_drawing();
    why_not_faster_ = version.is_software ? version.renderer + " is a software renderer" : "";
}

/// Chooses the backend as requested, but not before the first frame; if that means measuring, which would
/// delay the first picture, not before that.
void Workspace::choose_backend_as_asked() {
    const bool first_is_there = document_.trace() || !document_.problem().empty();
    const bool may_wait = saved_.backend != BackendWish::gpu;
    if (!make_context_ || (may_wait ? !first_is_there : frames_ < 2)) return;
    const bool again = std::exchange(interaction_.choose_backend_again, false);
    if (saved_.backend == chosen_backend_ && !again) return;
    chosen_backend_ = saved_.backend;
    const BackendWish wish = *chosen_backend_;
    const auto context = std::make_shared<std::unique_ptr<GlContext>>();
    std::string problem = interaction_.why_no_card;
    if (wish == BackendWish::automatic && problem.empty()) problem = why_not_faster_;
    try {
        if (wish != BackendWish::cpu && problem.empty()) *context = make_context_();
    } catch (const Error& error) {
        problem = error.what();
    }
    if (wish == BackendWish::gpu && !problem.empty()) interaction_.notice = {problem, true};
    document_.compute_on(
        [wish, context, problem, shaders = shaders_] {
            return choose_backend(wish, shaders, [&] {
                if (!problem.empty()) throw Error(ErrorKind::backend, problem);
                return std::move(*context);
            });
        },
        !may_wait);
}

/// Whatever uses the shaders is drawn and computed again.
void Workspace::take_saved_shaders(const HeatmapRenderer& heatmaps) {
    const std::uint64_t before = std::exchange(shaders_stamp_, shaders_.stamp());
    if (shaders_stamp_ != before) {
        wants_frame_ = true;
        interaction_.notice = {"shaders reloaded", false};
        document_.compute_again();
        if (!document_.backend().on_card) chosen_backend_.reset();  // a broken one may have been the reason
    }
    const std::string problem = std::exchange(shader_problem_, heatmaps.problem());
    if (!shader_problem_.empty() && (shader_problem_ != problem || shaders_stamp_ != before))
        interaction_.notice = {shader_problem_, true};
}

namespace {

/// Whether frames are needed until a file that is being read takes so long that this is shown.
template <typename File>
bool is_about_to_take_long(const FileReader<File>& reader) {
    return reader.running() && !reader.takes_long();
}

}  // namespace

void Workspace::draw(FrameInput& frame) {
    wants_frame_ = document_.update();
    open_what_was_asked_for();
    copy_script_as_asked();
    copy_picture_as_asked();
    // A file that is missing or damaged: the session becomes an unnamed one.
    if (auto first = first_reader_.take()) document_.file_was_read(std::move(first->file));
    if (is_about_to_take_long(opener_) || is_about_to_take_long(matrix_reader_)) wants_frame_ = true;
    if (std::string notice = document_.take_notice(); !notice.empty())
        interaction_.notice = {std::move(notice), true};
    take_saved_shaders(frame.heatmaps);
    choose_backend_as_asked();
    ++frames_;
    // Drawing may read from the graphics card, which can be lost, and allocate memory there.
    const bool on_card = document_.trace() && document_.trace()->backend == BackendKind::gpu;
    try {
        draw_all(frame);
    } catch (const std::exception& error) {
        if (!on_card) throw;
        compat::close_windows();
        document_.leave_card(problem_text(error));
        wants_frame_ = true;
    }
}

void Workspace::draw_all(FrameInput& frame) {
    Desk desk{.document = document_,
              .state = interaction_,
              .saved = saved_,
              .exporter = exporter_,
              .previewer = previewer_,
              .gallery = gallery_,
              .parity = parity_,
              .opener = opener_,
              .matrix_reader = matrix_reader_,
              .frame_ms = frame.last_frame_milliseconds,
              .processor = processor_};
    const Ui ui{.fonts = frame.fonts,
                .theme = theme_of(this->theme()),
                .heatmaps = frame.heatmaps,
                .images = frame.images,
                .controls = controls_,
                .copy = copy_,
                .scale = frame.scale};
    const ImVec2 size{static_cast<float>(frame.width), static_cast<float>(frame.height)};
    begin_frame();
    const std::string sought = interaction_.reveal.option;
    const auto run_it = [this](const Action& action) { run(action); };
    ActionContext c = context();

    begin_root(size);
    const Areas areas = lay_out(desk, ui, size);
    menu_bar(ui, areas.menu, c, run_it);
    sentence_panel(desk, ui, areas.sentence, sentences_, run_it);
    note_strip(desk, ui, areas.note, run_it);
    // Tab goes through the controls in the order in which they are drawn.
    if (areas.experiment.width() > 0) experiment_panel(desk, ui, areas.experiment);
    pipeline_view(desk, ui, areas.center, run_it);
    if (areas.inspector.width() > 0) inspector_panel(desk, ui, areas.inspector);
    PanelLayout& panels = saved_.panels;
    if (areas.experiment.width() > 0)
        splitter(ui, "left edge", areas.experiment.max.x, areas.experiment, panels.experiment_width, 1);
    if (areas.inspector.width() > 0)
        splitter(ui, "right edge", areas.inspector.min.x, areas.inspector, panels.inspector_width, -1);
    status_bar(desk, ui, areas.status, c, run_it);
    tour_card(desk, ui);
    dialogs(desk, ui, c);
    if (interaction_.dialog != Dialog::exporting) previewer_.forget();
    if (!sought.empty() && sought == interaction_.reveal.option) explain_sought();
    ImGui::End();
    end_frame();
}

/// A setting that was searched for and has no control now.
void Workspace::explain_sought() {
    const RevealedSetting sought = std::exchange(interaction_.reveal, {});
    const Option* option = find_option(sought.option);
    if (!option || !sought.gets_keyboard) return;
    const std::string unused = capitalized(document_.why_unused(*option)), when = when_used(*option);
    std::string why = unused.empty() ? std::string(option->help) : unused;
    if (!option->in_experiment() && !when.empty()) why = fmt::format("{} (for: {})", why, when);
    interaction_.notice = {std::move(why), false};
    wants_frame_ = true;
}

void Workspace::begin_frame() {
    interaction_.pointing.reset();
    interaction_.pointing_token.reset();
    controls_.lit = interaction_.tour.control();
    controls_.lit_area = {};
    controls_.explained = controls_.awaits_help = false;
    const auto [left, top, right, bottom] = controls_.rests_over;
    if (!Area{{left, top}, {right, bottom}}.contains(ImGui::GetIO().MousePos)) controls_.rests_over = {};
    ControlFocus& control = controls_.focus;
    control.drawn.clear();
    control.on_grid = false;
    if (interaction_.dialog == Dialog::none && control.behind) control.id = std::exchange(control.behind, 0);
    if (ImGui::IsMouseClicked(0)) control.id = control.behind = 0;
    compat::set_keyboard_navigation((interaction_.dialog == Dialog::none && control.id != 0) ||
                                    compat::list_is_open());
}

void Workspace::end_frame() {
    ControlFocus& control = controls_.focus;
    if (std::ranges::find(control.drawn, control.id, &DrawnControl::id) == control.drawn.end())
        control.id = 0;
    control.pressed = false;
    control.steps = control.steps_down = 0;
    if (controls_.awaits_help) wants_frame_ = true;
    if (interaction_.step_playback.playing || interaction_.sweep_playback.playing) wants_frame_ = true;
    if (interaction_.pointing != interaction_.hovered ||
        interaction_.pointing_token != interaction_.hovered_token)
        wants_frame_ = true;
    interaction_.hovered = interaction_.pointing;
    interaction_.hovered_token = interaction_.pointing_token;
}

SavedState Workspace::state() const {
    SavedState state = saved_;
    state.session = document_.session();
    state.file = document_.file();
    state.scale = interaction_.interface_scale;
    return state;
}

ThemeKind Workspace::theme() const {
    // Print pictures have a white background; the window is then light.
    const ThemeKind theme = document_.presentation().theme;
    return theme == ThemeKind::print ? ThemeKind::light : theme;
}

std::string Workspace::title() const {
    const std::string name =
        document_.file().empty() ? "" : std::filesystem::path(document_.file()).filename().string() + " — ";
    return name + "attnscope";
}

}  // namespace attnscope
