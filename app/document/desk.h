// What a person works with: the document, what is done to it, and the threads that read, write and compare.
#pragma once

#include <string>
#include <string_view>

#include "app/document/document.h"
#include "app/document/exporter.h"
#include "app/document/gallery.h"
#include "app/document/interaction.h"
#include "app/document/opener.h"
#include "app/document/parity_run.h"
#include "app/document/previewer.h"
#include "app/document/saved_state.h"
#include "core/error.h"

namespace attnscope {

/// Lives for one frame. Panels edit the document's session, views draw its trace, both point and zoom through
/// `state`.
struct Desk {
    Document& document;
    Interaction& state;
    SavedState& saved;
    Exporter& exporter;
    Previewer& previewer;
    Gallery& gallery;
    ParityRun& parity;
    Opener& opener;
    MatrixReader& matrix_reader;
    double frame_ms;               ///< duration of the last frames, for the status bar
    const std::string& processor;  ///< "CPU · AVX2"
};

/// Puts a stage in focus, whole: zoom and pan begin anew.
void focus_on(Desk& desk, const Stage& stage);

/// The error in an option's text, with the control's label instead of the flag's name; without a label, with
/// the option's name in words.
std::string named_as(std::string_view option, const std::string& label, const Error& error);

/// Sets the options of the notice's remedy, in one undo step; the notice is gone.
void apply_remedy(Desk& desk);

/// Sets one option of the session from text; if it is rejected, the error becomes the notice, with a remedy
/// if one is known, and nothing changes.
void set_option(Desk& desk, const Option& option, const std::string& text, const std::string& gesture = {});
void set_option(Desk& desk, OptionName name, const std::string& text, const std::string& gesture = {});

}  // namespace attnscope
