// The views of a trace.
#pragma once

#include "app/actions/actions.h"
#include "app/document/desk.h"
#include "app/ui/ui.h"

namespace attnscope {

/// The central area: tabs, display settings (head, range, colors), the strip of all stages and the focus.
void pipeline_view(Desk& desk, const Ui& ui, const Area& area, const std::function<void(const Action&)>& run);

/// Every stage of the computation as a thumbnail, token rows aligned; in the lowest `gradients` pixels of the
/// area, unless 0, the gradients of the stages. gradients_height() is 0 where none are shown.
float strip_height(const Ui& ui, float view_height);
float gradients_height(const Desk& desk, const Ui& ui, float view_height);
void strip(Desk& desk, const Ui& ui, const Area& whole, float gradients);

/// The chosen stage in large, with its operands.
void focus(Desk& desk, const Ui& ui, const Area& area, const std::function<void(const Action&)>& run);

/// Replaces the focus: the picture with the words' attention over it. why_no_image says why it cannot be
/// shown; empty if it can.
void image_view(Desk& desk, const Ui& ui, const Area& area, const std::function<void(const Action&)>& run);
std::string why_no_image(const Desk& desk);

/// Replaces strip and focus: which source words each decoder step attends to, and what the chosen step
/// computes. why_no_alignment says why it cannot be shown; empty if it can.
void alignment_view(Desk& desk, const Ui& ui, const Area& area,
                    const std::function<void(const Action&)>& run);
std::string why_no_alignment(const Desk& desk);

/// Replaces strip and focus: the computation of one row of weights, step by step, which plays. why_no_steps
/// says why it cannot be shown; empty if it can.
void step_view(Desk& desk, const Ui& ui, const Area& area, const std::function<void(const Action&)>& run);
std::string why_no_steps(const Desk& desk);

/// Replaces strip and focus: every head of every layer on one range, with what it does as numbers.
/// why_no_heads says why there are none; empty if there are.
void heads_view(Desk& desk, const Ui& ui, const Area& area, const std::function<void(const Action&)>& run);
std::string why_no_heads(const Desk& desk);

/// Replaces strip and focus: lines from queries to keys, by weight, in the colors of the heads. why_no_lines
/// says why there are none; empty if there are.
void lines_view(Desk& desk, const Ui& ui, const Area& area, const std::function<void(const Action&)>& run);
std::string why_no_lines(const Desk& desk);

/// Replaces strip and focus: what is pinned (A), what is live (B), and B − A, for the stage in focus.
void compare_view(Desk& desk, const Ui& ui, const Area& area, const std::function<void(const Action&)>& run);

/// Replaces strip and focus: the stage in focus at several values of a setting, their mean and spread.
/// why_no_sweep_view says why there are none; empty if there are.
void sweep_view(Desk& desk, const Ui& ui, const Area& area, const std::function<void(const Action&)>& run);
std::string why_no_sweep_view(const Desk& desk);

/// Replaces strip and focus: the run of training, its curves, every head at the shown step, and one head over
/// the steps. why_no_training says why there is none; empty if there may be one.
void training_view(Desk& desk, const Ui& ui, const Area& area, const std::function<void(const Action&)>& run);
std::string why_no_training(const Desk& desk);

}  // namespace attnscope
