// The files embedded in the program.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "core/gpu/embedded_shaders.h"
#include "core/session/embedded_examples.h"

namespace attnscope {
namespace {

namespace fs = std::filesystem;

const fs::path k_root = ATTNSCOPE_SOURCE_DIR;

std::string text_of(const fs::path& path) {
    std::ostringstream text;
    text << std::ifstream(path, std::ios::binary).rdbuf();
    return text.str();
}

TEST(EmbeddedTest, TheExamplesAreListedInTheirFixedOrder) {
    std::vector<std::string_view> names;
    for (const EmbeddedFile& file : embedded_examples()) names.push_back(file.name);
    EXPECT_EQ(names, (std::vector<std::string_view>{
                         "self-attention",      "scaled-dot-product",     "scalar-self-attention",
                         "scalar-softmax-axis", "scalar-cross-attention", "single-query",
                         "transformer-heads",   "soft-and-hard",          "image-attention",
                         "global-and-local",    "bahdanau-alignment",     "encoder-decoder",
                         "masked-softmax",      "dot-product-pooling",    "additive-pooling",
                         "multi-head",          "designed-heads",         "causal",
                         "valid-length",        "learned-induction",      "learned-reverse"}));
}

TEST(EmbeddedTest, EveryFileInAssetsExamplesIsAnExampleWithTheSameBytes) {
    size_t files = 0;
    for (const fs::directory_entry& entry : fs::directory_iterator(k_root / "assets/examples"))
        files += entry.path().extension() == ".json";
    EXPECT_EQ(embedded_examples().size(), files);
    for (const EmbeddedFile& file : embedded_examples())
        EXPECT_EQ(file.text, text_of(k_root / "assets/examples" / (std::string(file.name) + ".json")))
            << file.name;
}

TEST(EmbeddedTest, EveryShaderIsThereWithTheSameBytes) {
    size_t files = 0;
    if (fs::exists(k_root / "shaders"))
        for ([[maybe_unused]] const auto& entry : fs::directory_iterator(k_root / "shaders")) ++files;
    EXPECT_EQ(embedded_shaders().size(), files);
    for (const EmbeddedFile& file : embedded_shaders())
        EXPECT_EQ(file.text, text_of(k_root / "shaders" / file.name)) << file.name;
}

}  // namespace
}  // namespace attnscope
