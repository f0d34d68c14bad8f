// The arguments that make a session: FILE or --example, then a flag for each option of the table.
#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/io/options.h"
#include "core/io/session.h"

namespace attnscope {

/// Wrong usage, as opposed to something that fails: exit code 2.
struct UsageError : std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// What one subcommand was given. Flags are kept in the order they stand on the command line.
class SessionArguments {
public:
    /// Adds FILE, --example and every option of the table to `command`.
    void add_to(CLI::App& command);

    /// True if nothing was given, so that the window may open the last session.
    bool empty() const { return !file_ && !example_ && flags_.empty(); }
    /// The defaults, FILE or --example. Throws UsageError for both of them and for no example's name, Error
    /// for what load_session refuses.
    Session start() const;
    /// `start` with the flags over it. Throws UsageError for a bad value.
    Session with_flags(Session start) const;
    Session session() const { return with_flags(start()); }
    /// FILE, whole, where it is a session that may be saved to; empty for a picture, an example, standard
    /// input.
    std::string file_to_save() const;
    /// --stage as a list; empty if it is not given or "all".
    std::vector<std::string> stages() const;
    bool gives(std::string_view option) const;
    /// A line for each flag that changes no number of `experiment`: "--heads is not used: …".
    std::vector<std::string> unused(const Experiment& experiment) const;
    bool has_file() const { return file_.has_value(); }

private:
    std::optional<std::string> file_;
    std::optional<std::string> example_;
    std::vector<std::pair<const Option*, std::string>> flags_;
};

}  // namespace attnscope
