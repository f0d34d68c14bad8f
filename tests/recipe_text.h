// The PyTorch script of an experiment, as text.
#pragma once

#include <string>

#include "core/mechanism/evaluate.h"
#include "core/recipe/recipe.h"

namespace attnscope::test {

inline std::string recipe_of(const Experiment& e) { return recipe(evaluate(e)); }

inline bool contains(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

}  // namespace attnscope::test
