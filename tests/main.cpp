// Runs the tests with GoogleTest's flags. `--source=core/text/text_test.cpp`, once or more, runs only the
// tests of these files.
#include <gtest/gtest.h>

#include <algorithm>
#include <iostream>
#include <string>
#include <string_view>

namespace {

/// Tests, and the filter that lets them through.
struct Selection {
    std::string filter;
    int tests = 0;
};

/// Adds the tests of a source file, which is named by its path within tests/. False if it has none.
bool add_tests_of(std::string_view source, Selection& selection) {
    const testing::UnitTest& all = *testing::UnitTest::GetInstance();
    const int before = selection.tests;
    for (int i = 0; i < all.total_test_suite_count(); ++i) {
        const testing::TestSuite& suite = *all.GetTestSuite(i);
        for (int j = 0; j < suite.total_test_count(); ++j) {
            const testing::TestInfo& test = *suite.GetTestInfo(j);
            if (!std::string_view(test.file()).ends_with("/tests/" + std::string(source))) continue;
            selection.filter += std::string(suite.name()) + "." + test.name() + ":";
            ++selection.tests;
        }
    }
    return selection.tests > before;
}

}  // namespace

int main(int argc, char** argv) {
    testing::InitGoogleTest(&argc, argv);
    if (argc == 1) return RUN_ALL_TESTS();

    constexpr std::string_view k_flag = "--source=";
    Selection selection;
    for (int i = 1; i < argc; ++i) {
        const std::string_view argument = argv[i];
        if (argument.starts_with(k_flag) && add_tests_of(argument.substr(k_flag.size()), selection)) continue;
        std::cerr << argument << ": not a flag of the tests, or a file without a test\n";
        return 2;
    }
    std::ranges::replace(selection.filter, '-', '?');  // in a filter, - begins what is left out
    testing::GTEST_FLAG(filter) = selection.filter;
    const int failed = RUN_ALL_TESTS();
    const int ran = testing::UnitTest::GetInstance()->test_to_run_count();
    if (ran == selection.tests) return failed;
    std::cerr << "The given files: " << ran << " of their " << selection.tests << " tests ran\n";
    return 1;
}
