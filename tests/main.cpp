// Runs the tests with GoogleTest's flags. `--source=text_test.cpp` runs only the tests of that file; CTest
// calls it once per file.
#include <gtest/gtest.h>

#include <iostream>
#include <string>
#include <string_view>

namespace {

// A filter that matches exactly the tests of a source file, which is named by its path within tests/.
std::string tests_of(std::string_view source) {
    const testing::UnitTest& tests = *testing::UnitTest::GetInstance();
    std::string filter;
    for (int i = 0; i < tests.total_test_suite_count(); ++i) {
        const testing::TestSuite& suite = *tests.GetTestSuite(i);
        for (int j = 0; j < suite.total_test_count(); ++j) {
            const testing::TestInfo& test = *suite.GetTestInfo(j);
            if (!std::string_view(test.file()).ends_with("/tests/" + std::string(source))) continue;
            filter += std::string(suite.name()) + "." + test.name() + ":";
        }
    }
    return filter;
}

}  // namespace

int main(int argc, char** argv) {
    testing::InitGoogleTest(&argc, argv);
    for (int i = 1; i < argc; ++i) {
        constexpr std::string_view k_flag = "--source=";
        const std::string_view argument = argv[i];
        const std::string filter =
            argument.starts_with(k_flag) ? tests_of(argument.substr(k_flag.size())) : std::string();
        if (filter.empty()) {
            std::cerr << argument << ": not a flag of the tests, or a file without a test\n";
            return 2;
        }
        testing::GTEST_FLAG(filter) = filter;
    }
    return RUN_ALL_TESTS();
}
