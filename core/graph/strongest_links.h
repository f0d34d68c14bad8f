// The strongest links of a matrix: its cells of the largest values.
#pragma once

#include <stop_token>
#include <vector>

#include "core/tensor/buffer.h"

namespace attnscope {

/// A cell, its query and its key counted from 0, and its value.
struct Link {
    int row, column;
    float value;
    bool operator==(const Link&) const = default;
};

/// The word of each row and each column, as a number: equal numbers are the same word.
struct LinkedWords {
    std::vector<int> rows, columns;
};

/// The `count` cells of one head (from 0) with the largest finite values, the largest first; of equal ones
/// the upper, then the left one first. Of several cells of the same two words only the first is listed. Where
/// more cells share the smallest value that is listed, those of rows with larger values are preferred. Reads
/// the largest value of every row, which surveys values on demand, and then only rows that may contain one of
/// these cells, at most 2048, and at most 16 of one word with one largest value: the list is shorter where
/// these do not have as many. Throws Canceled.
std::vector<Link> strongest_links(const Buffer& values, int head, const LinkedWords& words, std::size_t count,
                                  const std::stop_token& cancel = {});

}  // namespace attnscope
