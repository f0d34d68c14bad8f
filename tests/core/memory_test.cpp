// The memory limits of control groups, as in a container or a service.
#include "core/memory.h"

#include <gtest/gtest.h>

#include <fstream>
#include <limits>

#include "tests/temporary_folder.h"

namespace attnscope {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t k_unlimited = std::numeric_limits<std::size_t>::max();

class MemoryTest : public testing::Test {
protected:
    void write(const std::string& name, const std::string& text) const {
        fs::create_directories((root() / name).parent_path());
        std::ofstream(root() / name) << text;
    }
    fs::path root() const { return folder_.path(); }

    test::TemporaryFolder folder_;
};

TEST_F(MemoryTest, WithoutAGroupThereIsNoLimit) {
    EXPECT_EQ(control_group_memory(root()), k_unlimited);
    write("proc/self/cgroup", "0::/\n");
    write("sys/fs/cgroup/memory.max", "max\n");
    write("sys/fs/cgroup/memory.current", "1000\n");
    EXPECT_EQ(control_group_memory(root()), k_unlimited);
}

TEST_F(MemoryTest, TheOutermostGroupHasALimit) {
    write("sys/fs/cgroup/memory.max", "5000\n");
    write("sys/fs/cgroup/memory.current", "1000\n");
    EXPECT_EQ(control_group_memory(root()), 4000u);
}

TEST_F(MemoryTest, TheProcessHasAGroupOfItsOwn) {
    write("proc/self/cgroup", "0::/user.slice/a:b.scope\n");
    write("sys/fs/cgroup/user.slice/a:b.scope/memory.max", "5000\n");
    write("sys/fs/cgroup/user.slice/a:b.scope/memory.current", "1000\n");
    EXPECT_EQ(control_group_memory(root()), 4000u);
    write("sys/fs/cgroup/user.slice/a:b.scope/memory.current", "6000\n");
    EXPECT_EQ(control_group_memory(root()), 0u);
}

TEST_F(MemoryTest, AGroupAroundItMayLeaveLess) {
    write("proc/self/cgroup", "0::/outer/middle/inner\n");
    write("sys/fs/cgroup/outer/middle/inner/memory.max", "max\n");
    write("sys/fs/cgroup/outer/middle/inner/memory.current", "100\n");
    write("sys/fs/cgroup/outer/memory.max", "700\n");
    write("sys/fs/cgroup/outer/memory.current", "400\n");
    EXPECT_EQ(control_group_memory(root()), 300u);
}

TEST_F(MemoryTest, Version1NamesItsControllers) {
    write("proc/self/cgroup", "5:cpu,cpuacct:/elsewhere\n4:hugetlb,memory:/docker/abc\n0::/ignored\n");
    write("sys/fs/cgroup/memory/elsewhere/memory.limit_in_bytes", "1\n");
    write("sys/fs/cgroup/memory/elsewhere/memory.usage_in_bytes", "1\n");
    write("sys/fs/cgroup/memory/docker/memory.limit_in_bytes", "900\n");
    write("sys/fs/cgroup/memory/docker/memory.usage_in_bytes", "200\n");
    write("sys/fs/cgroup/memory/docker/abc/memory.limit_in_bytes", "800\n");
    write("sys/fs/cgroup/memory/docker/abc/memory.usage_in_bytes", "200\n");
    EXPECT_EQ(control_group_memory(root()), 600u);
}

}  // namespace
}  // namespace attnscope
