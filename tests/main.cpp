// Runs the tests with GoogleTest's flags. `--source=text_test.cpp` runs only the tests of that file; CTest
// calls it once per file.
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

/// The tests of a source file, which is named by its path within tests/.
Selection tests_of(std::string_view source) {
    const testing::UnitTest& all = *testing::UnitTest::GetInstance();
    Selection selection;
    for (int i = 0; i < all.total_test_suite_count(); ++i) {
        const testing::TestSuite& suite = *all.GetTestSuite(i);
        for (int j = 0; j < suite.total_test_count(); ++j) {
            const testing::TestInfo& test = *suite.GetTestInfo(j);
            if (!std::string_view(test.file()).ends_with("/tests/" + std::string(source))) continue;
            selection.filter += std::string(suite.name()) + "." + test.name() + ":";
            ++selection.tests;
        }
    }
    std::ranges::replace(selection.filter, '-', '?');  // in a filter, - begins what is left out
    return selection;
}

}  // namespace

int main(int argc, char** argv) {
    testing::InitGoogleTest(&argc, argv);
    if (argc == 1) return RUN_ALL_TESTS();

    constexpr std::string_view k_flag = "--source=";
    const std::string_view argument = argv[1];
    const Selection selection =
        argument.starts_with(k_flag) ? tests_of(argument.substr(k_flag.size())) : Selection();
    if (argc > 2 || selection.tests == 0) {
        std::cerr << argument << ": not a flag of the tests, or a file without a test\n";
        return 2;
    }
    testing::GTEST_FLAG(filter) = selection.filter;
    const int failed = RUN_ALL_TESTS();
    const int ran = testing::UnitTest::GetInstance()->test_to_run_count();
    if (ran == selection.tests) return failed;
    std::cerr << argument << ": " << ran << " of its " << selection.tests << " tests ran\n";
    return 1;
}
