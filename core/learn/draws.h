// What tasks draw their sentences with.
#pragma once

#include <cstdint>
#include <vector>

#include "core/random/generator.h"

namespace attnscope {

/// Rows of a decoder's table before its words.
inline constexpr int k_bos = 0, k_eos = 1, k_special_words = 2;

/// Whole numbers from low to high − 1, as torch.randint draws them.
inline std::vector<int> integers(Generator& generator, int count, int low, int high) {
    std::vector<std::int64_t> drawn(static_cast<std::size_t>(count));
    generator.randint(drawn, low, high);
    return {drawn.begin(), drawn.end()};
}

/// `count` different ones of 0 … of − 1, as the start of torch.randperm(of).
inline std::vector<int> different(Generator& generator, int count, int of) {
    std::vector<std::int64_t> order(static_cast<std::size_t>(of));
    generator.randperm(order);
    return {order.begin(), order.begin() + count};
}

}  // namespace attnscope
