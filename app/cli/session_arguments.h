// The arguments that make up a session: FILE, --example or --question, then one flag per option of the table.
#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <vector>

#include "core/error.h"
#include "core/session/options.h"
#include "core/session/session.h"

namespace attnscope {

/// Wrong usage (exit code 2), as opposed to a failure.
struct UsageError : std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// What `act` returns. What is wrong with a flag becomes a UsageError; what is wrong with a file that it
/// names stays an Error.
template <typename Act>
auto as_usage(const Act& act) {
    try {
        return act();
    } catch (const Error& error) {
        if (error.kind() != ErrorKind::bad_input) throw;
        throw UsageError(error.what());
    }
}

/// The arguments of one subcommand. Flags keep their order on the command line.
class SessionArguments {
public:
    /// Adds FILE, --example, --question, --text-file and every option of the table to `command`.
    void add_to(CLI::App& command);

    /// True if no argument is present, so that the window may open the last session.
    bool empty() const { return !file_ && !example_ && !question_ && !text_file_ && flags_.empty(); }
    /// The defaults, FILE, --example, --question, or the model that --task is learned with. Throws UsageError
    /// if there are several or one does not exist, and Error for what load_session rejects.
    Session start() const;
    /// `start` with the text of --text-file and the flags applied; of --step with the parameters that the run
    /// has learned by then. Throws UsageError for a bad value, and Error for a file that holds no text.
    Session with_flags(Session start) const;
    Session session() const { return with_flags(start()); }
    /// FILE as an absolute path if it is a session that can be saved to; empty for a picture, an example or
    /// standard input.
    std::string file_to_save() const;
    /// --stage as a list; empty if it is absent or "all".
    std::vector<std::string> stages() const;
    bool gives(OptionName option) const;
    /// A line for each flag that has no effect on `experiment`: "--heads is not used: …".
    std::vector<std::string> unused(const Experiment& experiment) const;
    bool has_file() const { return file_.has_value(); }

private:
    std::optional<std::string> file_;
    std::optional<std::string> example_;
    std::optional<int> question_;  ///< from 1
    std::optional<std::string> text_file_;
    struct Flag {
        const Option* option;
        std::string value;
    };
    std::vector<Flag> flags_;
};

}  // namespace attnscope
