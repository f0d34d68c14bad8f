// The thread that finds the strongest links of the matrix in focus, so that the window never waits.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "app/document/newest.h"
#include "core/graph/strongest_links.h"
#include "core/graph/trace.h"

namespace attnscope {

/// One head of a stage, from 0; −1: the mean over its heads.
struct LinksRequest {
    std::shared_ptr<const Trace> trace;
    StagePtr stage;
    int head = 0;
    bool operator==(const LinksRequest&) const = default;
};

struct FoundLinks {
    LinksRequest of;
    std::vector<Link> links;  ///< empty if there was no memory for them
};

/// The 50 strongest links, fewer of a small matrix. Throws Canceled.
FoundLinks found_links(LinksRequest request, const FoundLinks* before, const std::stop_token& cancel);

/// The links as a table for a spreadsheet, the strongest first: row and column from 1, their tokens, the
/// value in full; tabs between the columns, a line of names first.
std::string links_table(const FoundLinks& found);

class LinkFinder : public Newest<LinksRequest, FoundLinks> {
public:
    explicit LinkFinder(std::function<void()> wake) : Newest(found_links, std::move(wake)) {}
};

}  // namespace attnscope
