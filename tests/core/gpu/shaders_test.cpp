#include "core/gpu/shaders.h"

#include <fstream>

#include "core/gpu/backend.h"
#include "core/graph/stage_table.h"
#include "core/mechanism/evaluate.h"
#include "tests/gpu_fixture.h"
#include "tests/interface.h"
#include "tests/temporary_folder.h"

namespace attnscope {
namespace {

/// A folder in which a test edits shaders.
struct EditedShaders {
    ShaderSource source() const { return ShaderSource(folder.path()); }
    void save(const std::string& name, const std::string& text) const {
        std::ofstream(folder.file(name), std::ios::binary) << text;
        // The clock of a file system may be coarser than two saves of a test.
        std::filesystem::last_write_time(folder.file(name), std::filesystem::file_time_type::clock::now() +
                                                                std::chrono::seconds(++saves_));
    }
    static std::string with(std::string text, const std::string& from, const std::string& to) {
        const std::size_t at = text.find(from);
        EXPECT_NE(at, std::string::npos) << from;
        return text.replace(at, from.size(), to);
    }
    static int line_of(const std::string& text, const std::string& part) {
        return 1 + static_cast<int>(
                       std::count(text.begin(), text.begin() + std::ptrdiff_t(text.find(part)), '\n'));
    }

    test::TemporaryFolder folder;
    mutable int saves_ = 0;
};

TEST(ShaderLogTest, NamesFileAndLineAsEveryDriverWritesThem) {
    EXPECT_EQ(gl::located_log("a.comp", "0:12(3): error: `x' undeclared\n0:13(1): error: y"),
              "a.comp:12: error: `x' undeclared");
    EXPECT_EQ(gl::located_log("a.comp", "0(7) : error C1008: undefined variable \"x\"\n"),
              "a.comp:7: error C1008: undefined variable \"x\"");
    EXPECT_EQ(gl::located_log("a.comp", "ERROR: 0:31: 'x' : undeclared identifier"),
              "a.comp:31: 'x' : undeclared identifier");
    EXPECT_EQ(gl::located_log("a.comp", "0:3(1): warning: `u' unused\n0:8(2): error: `x' undeclared"),
              "a.comp:8: error: `x' undeclared");
    EXPECT_EQ(gl::located_log("a.comp", "no place\nat all"), "no place|at all");
}

TEST(ShaderFolderTest, WhatItHasNotIsBuiltIn) {
    EditedShaders edited;
    EXPECT_THROW(edited.source(), Error);
    edited.save("rows.comp", "mine");
    const ShaderSource source = edited.source();
    EXPECT_EQ(source.text("rows.comp"), "mine");
    EXPECT_EQ(source.text("cells.comp"), built_in_shader_text("cells.comp"));
    EXPECT_EQ(source.stamp("cells.comp"), 0U);
    const std::uint64_t before = source.stamp();
    edited.save("rows.comp", "mine too");
    EXPECT_NE(source.stamp(), before);
    EXPECT_EQ(source.text("rows.comp"), "mine too");

    const ShaderSource built_in;
    EXPECT_EQ(built_in.stamp(), 0U);
    EXPECT_EQ(built_in.text("rows.comp"), built_in_shader_text("rows.comp"));
    EXPECT_THROW(built_in.text("no such shader"), Error);
}

TEST(ShaderEditingTest, ASavedShaderComputesAndABrokenOneLeavesTheLastGoodOne) {
    EditedShaders edited;
    const std::string original = built_in_shader_text("cells.comp");
    edited.save("cells.comp", original);
    std::unique_ptr<GpuBackend> gpu;
    try {
        gpu = std::make_unique<GpuBackend>(make_egl_context(), GpuOptions{.shaders = edited.source()});
    } catch (const Error& error) {
        GTEST_SKIP() << error.what();
    }
    const std::string line = "return a[at_a] * u_x / u_y;";
    const auto scaled = [&] {
        return evaluate({}, {}, {.backend = gpu.get()}).find("scaled"_stage)->buffer.at(0, 0, 0);
    };
    const float expected = scaled();
    edited.save("cells.comp", EditedShaders::with(original, line, "return 7.0;"));
    EXPECT_EQ(scaled(), 7);
    EXPECT_EQ(gpu->complaint(), "");

    const std::string broken = EditedShaders::with(original, line, "return nothing_of_that_name;");
    edited.save("cells.comp", broken);
    EXPECT_EQ(scaled(), 7) << "the last good one is to stay";
    const std::string place =
        "cells.comp:" + std::to_string(EditedShaders::line_of(broken, "nothing_of_that_name"));
    EXPECT_NE(gpu->complaint().find(place), std::string::npos) << gpu->complaint();

    Experiment other;  // needs a program of the broken file that was never compiled
    other.weighting.mask = {{MaskForm::causal, {}}};
    other.attention.score = Score::additive;
    EXPECT_TRUE(evaluate(other, {}, {.backend = gpu.get()}).find("scores"_stage)->buffer.is_on_device());
    EXPECT_NE(gpu->complaint().find(place), std::string::npos) << gpu->complaint();

    edited.save("cells.comp", original);
    EXPECT_EQ(scaled(), expected);
    EXPECT_EQ(gpu->complaint(), "");
}

TEST(ShaderEditingTest, ABrokenShaderAtTheStartLeavesTheBuiltInOne) {
    EditedShaders edited;
    edited.save("product.comp", "#version 430 core\nvoid main() { it is broken }\n");
    std::unique_ptr<GpuBackend> gpu;
    try {
        gpu = std::make_unique<GpuBackend>(make_egl_context(), GpuOptions{.shaders = edited.source()});
    } catch (const Error& error) {
        GTEST_SKIP() << error.what();
    }
    const Trace there = evaluate({}, {}, {.backend = gpu.get()}), here = evaluate({});
    EXPECT_TRUE(there.find("query"_stage)->buffer.is_on_device());
    EXPECT_NEAR(there.find("scores"_stage)->buffer.at(0, 1, 4), here.find("scores"_stage)->buffer.at(0, 1, 4),
                1e-4);
    EXPECT_NE(gpu->complaint().find("product.comp:2:"), std::string::npos) << gpu->complaint();
}

class ShaderWindowTest : public InterfaceTest {
protected:
    /// Without the status bar, which counts milliseconds.
    std::vector<std::uint32_t> matrices() {
        const gl::Pixels pixels = picture();
        std::vector<std::uint32_t> above;
        for (int y = 0; y < pixels.height - 40; ++y)
            for (int x = 0; x < pixels.width; ++x) above.push_back(pixels.at(x, y));
        return above;
    }
};

TEST_F(ShaderWindowTest, ASavedHeatmapShaderIsDrawnWithAndABrokenOneIsSaid) {
    if (!window) return;
    EditedShaders edited;
    const std::string original = built_in_shader_text("heatmap.frag");
    edited.save("heatmap.frag", original);
    shaders = edited.source();
    start(load_example("scaled-dot-product"));
    const auto before = matrices();
    const std::size_t end = original.rfind('}');
    std::string green = original;
    green.insert(end, "color = vec4(0.0, 1.0, 0.0, 1.0);\n");
    edited.save("heatmap.frag", green);
    settle();
    EXPECT_EQ(interaction().notice.text, "shaders reloaded");
    const auto changed = matrices();
    EXPECT_FALSE(changed == before);

    edited.save("heatmap.frag", original + "\nthis is no GLSL\n");
    settle();
    EXPECT_TRUE(interaction().notice.problem);
    EXPECT_NE(interaction().notice.text.find("heatmap.frag:"), std::string::npos)
        << interaction().notice.text;
    EXPECT_TRUE(matrices() == changed) << "the last good one is to stay";
}

}  // namespace
}  // namespace attnscope
