#include "app/panels/own_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "app/document/custom.h"
#include "app/document/steps.h"
#include "app/panels/setting_rows.h"
#include "core/error.h"
#include "core/graph/stage_table.h"
#include "core/learn/tasks.h"
#include "core/learn/training_run.h"
#include "core/mechanism/mechanisms.h"
#include "core/number_text.h"
#include "core/op/normalizers.h"

namespace attnscope {
namespace {

// Sizes, which step through what fits together
// -----------------------------------------------------------------------------------------------------

void dim_row(Desk& desk, const Ui& ui, const Option& option) {
    const Experiment& e = desk.document.experiment();
    whole_row(desk, ui, option, std::to_string(e.input.dim), logarithmic_fill(e.input.dim, k_max_dim),
              [&](int steps) { return stepped_size(e, dim_of, steps); });
}

void heads_row(Desk& desk, const Ui& ui, const Option& option) {
    const Experiment& e = desk.document.experiment();
    const int most = std::min(e.input.dim, k_max_heads);
    whole_row(desk, ui, option, std::to_string(e.attention.heads),
              static_cast<float>(e.attention.heads) / static_cast<float>(most),
              [&](int steps) { return stepped_size(e, heads_of, steps); });
}

/// A size that counts the columns of all heads together; where it is 0 they are as many as the embedding's.
template <SizeField size>
void columns_row(Desk& desk, const Ui& ui, const Option& option) {
    const Experiment& e = desk.document.experiment();
    Experiment copy = e;
    const int own = size(copy), columns = own > 0 ? own : e.input.dim;
    whole_row(desk, ui, option, own > 0 ? std::to_string(columns) : fmt::format("d = {}", columns),
              logarithmic_fill(columns, k_max_dim), [&](int steps) {
                  const int next = stepped_size(e, size, steps);
                  return next == e.input.dim ? 0 : next;
              });
}

/// Where the size is 0, the feed-forward layer of a block has 4 d units, and a stack has no such layer.
void feed_forward_row(Desk& desk, const Ui& ui, const Option& option) {
    const Experiment& e = desk.document.experiment();
    const bool is_stack = mechanism_rule(e.mechanism).has_layers;
    const int least = is_stack ? 0 : 1, most = 4 * k_max_dim;
    const int units = is_stack ? e.attention.feed_forward_size : e.feed_forward_columns();
    std::string shown = std::to_string(units);
    if (e.attention.feed_forward_size == 0) shown = is_stack ? "none" : fmt::format("4 d = {}", units);
    whole_row(desk, ui, option, shown, logarithmic_fill(units, most),
              [=](int steps) { return std::clamp(units + steps, least, most); });
}

// Scores and weights
// -----------------------------------------------------------------------------------------------------

void scale_rows(Desk& desk, const Ui& ui, const Option& option) {
    const Experiment& e = desk.document.experiment();
    const int d_k = key_width(e, desk.document.trace().get());
    const double factor = e.attention.scale.factor(d_k);
    std::vector<Choice> kinds = {{"none", "none", "Scores as they are"},
                                 {short_text(factor), "a number", "Multiply by any factor"}};
    if (!e.is_custom("scores"))
        kinds.insert(kinds.begin(),
                     {"sqrt", "1/√d_k = " + short_text(Scale{.kind = Scale::Kind::sqrt}.factor(d_k)),
                      "Divide by √d_k"});
    option_row(desk, ui, option, [&](float) {
        const std::string current = e.attention.scale.kind == Scale::Kind::number
                                        ? short_text(factor)
                                        : text_of(desk.document.session(), option);
        if (const auto picked = choice_field(ui, "##kind", kinds, current)) set_option(desk, option, *picked);
    });
    factor_row(desk, ui, option, factor, -1, {.label = "Factor"});
}

/// Dragging leaves the Gaussian of local-p a width.
void window_row(Desk& desk, const Ui& ui, const Option& option) {
    const Weighting& weighting = desk.document.experiment().weighting;
    const double least = predicts_window(weighting.normalizer) ? std::min(weighting.local_window, 1.0) : 0;
    number_row(desk, ui, option, least, k_max_tokens);
}

// The image
// -----------------------------------------------------------------------------------------------------

constexpr const char* k_picture_of_file = "a file";

std::string shown_picture(const Experiment& e) {
    if (!e.input.image) return "none";
    return *e.input.image == drawn_picture() ? "drawn" : k_picture_of_file;
}

void picture_row(Desk& desk, const Ui& ui, const Option& option) {
    const std::string current = shown_picture(desk.document.experiment());
    std::vector<Choice> choices = {{"none", "none", "The keys come from the sentence"},
                                   {"drawn", "drawn", "The built-in picture"}};
    if (current == k_picture_of_file)
        choices.push_back({k_picture_of_file, k_picture_of_file, "File ▸ Open picture… opens another one"});
    option_row(desk, ui, option, [&](float) {
        const auto picked = choice_field(ui, "##choice", choices, current);
        if (picked && *picked != k_picture_of_file) set_option(desk, option, *picked);
    });
}

// Training
// -----------------------------------------------------------------------------------------------------

/// Choosing a task also sets up the model and the optimizer that learn it.
void task_row(Desk& desk, const Ui& ui, const Option& option) {
    std::vector<Choice> rows = {{"none", "none", "No training: the weights stay as they are"}};
    for (const Task& task : tasks())
        rows.push_back({std::string(name_of(task.choice)), std::string(name_of(task.choice)),
                        std::string(task.summary)});
    option_row(desk, ui, option, [&](float) {
        const auto picked =
            choice_field(ui, "##task", rows, std::string(name_of(desk.document.experiment().training.task)));
        if (!picked) return;
        if (*picked == "none") return set_option(desk, option, *picked);
        desk.document.change([&](Session& session) {
            session.experiment = task_experiment(*find_choice<TaskKind>(*picked));
            session.presentation.view = ViewKind::training;
            session.presentation.set_stage("weights"_stage);
            session.presentation.unlock();
        });
    });
}

/// Another text to learn from starts another run, whose words are those of the text.
void corpus_row(Desk& desk, const Ui& ui, const Option& option) {
    text_row(desk, ui, option, [&](const std::string& typed) {
        try {
            Experiment other = learning_from(desk.document.experiment(), typed);
            desk.document.change([&](Session& session) { session.experiment = std::move(other); });
        } catch (const Error& error) {
            desk.state.notice = {named_as(option.name, std::string(option.label), error), true};
        }
    });
}

/// The field goes to the step that is typed, or that it is dragged to.
void step_row(Desk& desk, const Ui& ui, const Option& option) {
    const int step = desk.document.experiment().training.step;
    option_row(desk, ui, option, [&](float width) {
        const DragResult result = drag_field(ui, "number", std::to_string(step), -1, width);
        if (result.steps)
            desk.document.go_to_step(
                std::clamp(desk.document.wanted_step() + result.steps, 0, k_max_training_steps), true);
        if (!result.typed) return;
        Session typed = desk.document.session();
        try {
            set_from_text(typed, option, *result.typed);
            check(typed.experiment);
            desk.document.go_to_step(typed.experiment.training.step);
        } catch (const Error& error) {
            desk.state.notice = {named_as(option.name, std::string(option.label), error), true};
        }
    });
}

struct OwnRows {
    OptionName option;
    void (*draw)(Desk& desk, const Ui& ui, const Option& option);
};
constexpr OwnRows k_own_rows[] = {
    {"task", task_row},
    {"corpus", corpus_row},
    {"step", step_row},
    {"dim", dim_row},
    {"image", picture_row},
    {"key-size", columns_row<key_size_of>},
    {"value-size", columns_row<value_size_of>},
    {"heads", heads_row},
    {"scale", scale_rows},
    {"mask", mask_rows},
    {"local-window", window_row},
    {"feed-forward-size", feed_forward_row},
    {"given", custom_rows},
};

}  // namespace

void own_rows(Desk& desk, const Ui& ui, const Option& option) {
    const auto found =
        std::ranges::find(k_own_rows, option.name, [](const OwnRows& rows) { return rows.option.text(); });
    if (found == std::end(k_own_rows))
        throw std::logic_error(fmt::format("{} has no row of its own", option.name));
    found->draw(desk, ui, option);
}

}  // namespace attnscope
