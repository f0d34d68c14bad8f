// The lines of Python that an operation contributes to the recipe, for PyTorch 1.13.
#pragma once

#include <fmt/format.h>

#include <functional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/tensor/tensor.h"

namespace attnscope::op {

struct Drawn;

/// A Python variable. With one head it has no head dimension; with a single column, no column dimension.
struct TorchVariable {
    std::string name;
    Shape shape = {};
    bool vector = false;  ///< its single row has no row dimension: a bias, one step of a decoder
    bool whole = false;   ///< whole numbers: rows of a table
};

/// An operation's part of the script.
struct TorchLines {
    // What the operation reads.
    std::vector<TorchVariable> inputs = {}, results = {};
    bool finite = true;        ///< all numbers are finite, but for the −∞ of scores
    bool nothing_dead = true;  ///< no softmax runs over closed cells alone, which in PyTorch gives NaN
    bool gradients = false;    ///< what the results are computed from is differentiated, step by step
    std::function<std::string(const Drawn&)> draw = {};  ///< what brings the generator there, and draws

    // What it writes.
    std::string section = {};                                         ///< a heading; empty: none of its own
    std::vector<std::pair<std::string, std::string>> functions = {};  ///< by name; the first of a name counts
    std::set<std::string> modules = {};                               ///< to import, besides torch
    std::string code = {};

    const std::string& in(std::size_t i) const { return inputs[i].name; }
    const std::string& out(std::size_t i = 0) const { return results[i].name; }
    const Shape& shape(std::size_t i) const { return inputs[i].shape; }
    /// Lines of their own under the same conditions.
    TorchLines part() const {
        return {.finite = finite, .nothing_dead = nothing_dead, .gradients = gradients};
    }
    /// part() with inputs and a result.
    TorchLines part(std::vector<TorchVariable> on, TorchVariable into) const;
    /// Xᵀ of an input, or of each head's matrix.
    std::string transposed(std::size_t i) const { return in(i) + (shape(i).heads > 1 ? ".mT" : ".T"); }
    /// The module that holds an input: `dec` of dec.weight_ih.
    std::string module(std::size_t i) const { return in(i).substr(0, in(i).find('.')); }
    /// The sizes of a result: "4, 8, 8", or "8, 8" with one head.
    std::string sizes(std::size_t i = 0) const;

    template <typename... Args>
    void line(fmt::format_string<Args...> text, Args&&... args) {
        code += fmt::format(text, std::forward<Args>(args)...) + "\n";
    }
    void comment(std::string_view words);
    /// Adds `head`, the items separated by commas, `tail`; wrapped if it is too long for one line.
    void list(const std::string& head, std::span<const std::string> items, const std::string& tail);
    /// Adds `name = torch.tensor([…])`: a matrix, or its single row; nine significant digits.
    void tensor(const TorchVariable& variable, const Matrix& values);
    /// Adds the same operation on other variables; returns the last one.
    template <typename Operation>
    TorchVariable apply(const Operation& operation, std::vector<TorchVariable> on, TorchVariable into) {
        TorchLines lines = part(std::move(on), into);
        operation.torch(lines);
        append(lines);
        return into;
    }
    /// Adds the code and the functions of a part.
    void append(const TorchLines& part);
};

/// The function that stacks the steps of a recurrence and keeps each with its gradient: under its name and
/// its lines, for TorchLines::functions.
inline const std::pair<std::string, std::string> k_stacked_python = {
    "stacked",
    "def stacked(steps):  # the gradient is that of each step, which later ones depend on\n"
    "    for x in steps:\n"
    "        if x.requires_grad:\n"
    "            x.retain_grad()\n"
    "    whole = torch.stack(steps)\n"
    "    whole.steps = steps\n"
    "    return whole\n"};

/// A comment in lines of readable length.
std::string python_comment(std::string_view words);
/// A string literal.
std::string python_string(std::string_view text);
/// Every line indented by four spaces.
std::string python_indented(std::string_view lines);

/// The numbers as Python literals.
template <typename Numbers>
std::vector<std::string> python_items(const Numbers& numbers) {
    std::vector<std::string> items;
    for (const auto& number : numbers) items.push_back(fmt::format("{}", number));
    return items;
}

}  // namespace attnscope::op
