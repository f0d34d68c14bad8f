#include "core/op/sources.h"

#include <fmt/format.h>

#include "core/image/patches.h"
#include "core/text/lexicon.h"
#include "core/text/vocabulary.h"

namespace attnscope::op {

void TokenRows::forward(const Work&, Tensor& out) const {
    std::ranges::transform(rows, out.values().begin(), [](int row) { return static_cast<float>(row); });
}

void Custom::forward(const Work&, Tensor& out) const {
    std::copy_n(values->data(), values->size(), out.values().data());
}

void Drawn::forward(const Work& in, Tensor& out) const {
    out.head(0) = in.draws.last_of(seed, draws).middleRows(first_row, out.shape().rows);
}

void StableTable::forward(const Work&, Tensor& out) const {
    out.head(0) = draw_stable_table(seed, words, columns, initializer_of(initialization));
}

void LexiconTable::forward(const Work&, Tensor& out) const { out.head(0) = lexicon_table(words, columns); }

void Constant::forward(const Work&, Tensor& out) const { std::ranges::fill(out.values(), value); }

void Patches::forward(const Work&, Tensor& out) const { out = image_patches(*image, grid, patch_size); }

void DropoutMask::forward(const Work&, Tensor& out) const { Generator(seed).bernoulli(out.values(), 1 - p); }

void TokenRows::explain(Proof& proof, const Cell& cell) const {
    proof.remark = cell.value < 0 ? "no target" : cell.words.table_row(static_cast<int>(cell.value));
}

void Custom::explain(Proof& proof, const Cell&) const { proof.remark = "from a custom matrix"; }

void Drawn::explain(Proof& proof, const Cell&) const { proof.remark = "drawn with seed " + seed.text(); }

void StableTable::explain(Proof& proof, const Cell&) const {
    proof.remark = "drawn with the word's own seed, derived from seed " + seed.text();
}

void LexiconTable::explain(Proof& proof, const Cell& cell) const {
    proof.remark = lexicon_source(words[static_cast<std::size_t>(cell.row)]);
}

void Constant::explain(Proof& proof, const Cell&) const { proof.remark = "a constant"; }

void Patches::explain(Proof& proof, const Cell& cell) const {
    proof.remark = fmt::format("pixel {} of patch {}, the mean over its area in the picture, 0 … 1",
                               pixel_label(cell.column, patch_size), patch_label(cell.row, grid));
}

void DropoutMask::explain(Proof& proof, const Cell&) const {
    proof.remark =
        fmt::format("1 with probability 1 − p = {}, drawn with seed {}", number_text(1 - p), seed.text());
}

std::string Drawn::formula(const Symbols&) const {
    const Draw& draw = draws.back();
    return draw.rule == Draw::Rule::fan ? fmt::format("drawn from U(−1 ÷ √{0}, 1 ÷ √{0})", draw.fan)
                                        : "drawn by " + std::string(name_of(draw.initialization));
}

void TokenRows::torch(TorchLines& py) const {
    py.list(py.out() + " = torch.tensor([", python_items(rows), "])");
}

void Custom::torch(TorchLines& py) const {
    py.tensor(py.results[0], *values);
    if (as.heads > 1) py.line("{0} = {0}.view({1})", py.out(), py.sizes());
}

void Drawn::torch(TorchLines& py) const { py.code += py.draw(*this); }

void StableTable::torch(TorchLines& py) const {
    std::vector<std::string> seeds;
    for (const std::string& word : words)
        seeds.push_back(fmt::format("{}: {}", python_string(word), word_seed(seed, word).text()));
    py.comment("Each word's row has its own seed, a hash of " + seed.text() +
               " and the word, whatever else is in the text.");
    py.list("seeds = {", seeds, "}");
    py.line("rows = []");
    py.line("with torch.random.fork_rng(devices=[]):");
    py.line("    for seed in seeds.values():");
    py.line("        torch.manual_seed(seed)");
    py.line("        rows.append({})", torch_call(Draw::by(initialization, 1, columns)));
    py.line("{} = torch.cat(rows)", py.out());
}

void LexiconTable::torch(TorchLines& py) const {
    py.comment(
        "Designed rather than learned: a column for each feature of a word, 1 where it has the feature.");
    py.tensor(py.results[0], lexicon_table(words, columns));
}

void Constant::torch(TorchLines& py) const {
    const std::string size = py.results[0].vector ? fmt::format("{}", columns) : py.sizes();
    if (value == 0 || value == 1)
        return py.line("{} = torch.{}({})", py.out(), value == 0 ? "zeros" : "ones", size);
    py.line("{} = torch.ones({}) * {}", py.out(), size, value);
}

void DropoutMask::torch(TorchLines& py) const {
    py.comment("Drawn as bernoulli_(1 - p) is where PyTorch is built without MKL.");
    py.line("generator = torch.Generator().manual_seed({})", seed.text());
    py.line("drawn = torch.rand({}, dtype=torch.float64, generator=generator)", py.sizes());
    py.line("{} = (drawn < 1 - {}).float()", py.out(), p);
}

}  // namespace attnscope::op
