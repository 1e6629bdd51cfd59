// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <cstddef>
#include <string>
#include <string_view>

#include "../../../bench/openb.hpp"

namespace bench_openb_test {

namespace {

using namespace bench::openb;

constexpr std::string_view node_columns = "sn,cpu_milli,memory_mib,gpu,model\n";
constexpr std::string_view task_columns = "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec\n";

TEST_CASE("nodes are read in the order of the file, with all GPUs whole") {
    model_names models;
    const auto nodes = read_nodes(std::string(node_columns) + "n-0,32000,1024,0,\n"
                                                              "\n"
                                                              "n-1,8000,512,2,red\r\n"
                                                              "n-2,4000,256,1,blue",
                                  models);
    REQUIRE(nodes.has_value());
    REQUIRE(nodes->size() == 3);
    CHECK((*nodes)[0].left.gpus == 0);
    CHECK((*nodes)[0].left.cpu == 32000);
    CHECK((*nodes)[0].memory_mib == 1024);
    CHECK((*nodes)[1].left.idle_milli() == 2000);
    CHECK((*nodes)[1].left.model == models.number("red"));
    CHECK((*nodes)[2].left.model == models.number("blue"));
    CHECK(models.number("red") != models.number("blue"));
}

TEST_CASE("tasks may name the models that they allow, or need no such column") {
    model_names models;
    const auto tasks = read_tasks(std::string(task_columns) + "p-0,3000,64,1,460,red|blue\n"
                                                              "p-1,3000,64,2,1000,\n"
                                                              "p-2,3000,64,0,0,\n",
                                  models);
    REQUIRE(tasks.has_value());
    REQUIRE(tasks->size() == 3);
    CHECK((*tasks)[0].request == muster::shared_gpu_task{3000, 1, 460, 0b11});
    CHECK((*tasks)[0].memory_mib == 64);
    CHECK((*tasks)[1].request == muster::shared_gpu_task{3000, 2, 1000});
    CHECK((*tasks)[2].request == muster::shared_gpu_task{3000, 0, 0});
    const auto bare =
        read_tasks("name,cpu_milli,memory_mib,num_gpu,gpu_milli\np,1,2,1,1000\n", models);
    REQUIRE(bare.has_value());
    CHECK(bare->front().request == muster::shared_gpu_task{1, 1, 1000});
}

void check_node_error(std::string_view rows, std::size_t line, std::string_view message) {
    model_names models;
    const auto nodes = read_nodes(std::string(node_columns) + std::string(rows), models);
    CAPTURE(rows);
    REQUIRE_FALSE(nodes.has_value());
    CHECK(nodes.error().line == line);
    CHECK(nodes.error().message == message);
}

void check_task_error(std::string_view rows, std::size_t line, std::string_view message) {
    model_names models;
    const auto tasks = read_tasks(std::string(task_columns) + std::string(rows), models);
    CAPTURE(rows);
    REQUIRE_FALSE(tasks.has_value());
    CHECK(tasks.error().line == line);
    CHECK(tasks.error().message == message);
}

TEST_CASE("a bad line is an error that names the line and what was expected") {
    check_node_error("n,1,1,1,red\nn,x,1,1,red\n", 3,
                     "cpu_milli must be an integer from 0 to 1099511627776, found 'x'");
    check_node_error("n,1,1,17,red\n", 2, "gpu must be an integer from 0 to 16, found '17'");
    check_node_error("n,1,1,1\n", 2, "the number of cells differs from that of columns");
    check_node_error("\nn,1,1,1,\n", 3, "a node with GPUs needs a model");
    check_task_error("p,1,1,1,1001,\n", 2,
                     "gpu_milli must be an integer from 0 to 1000, found '1001'");
    check_task_error("p,1,-1,1,1000,\n", 2,
                     "memory_mib must be an integer from 0 to 1099511627776, found '-1'");
    check_task_error("p,1,1,1,,\n", 2, "gpu_milli must be an integer from 0 to 1000, found ''");
    check_task_error("p,1,1,0,5,\n", 2, "num_gpu and gpu_milli must both be 0, or neither");
    check_task_error("p,1,1,2,500,\n", 2, "a task with several GPUs must request whole ones");
}

TEST_CASE("a file without a column that is needed is an error of its first line") {
    model_names models;
    const auto nodes = read_nodes("sn,cpu_milli,memory_mib,gpu\n", models);
    REQUIRE_FALSE(nodes.has_value());
    CHECK(nodes.error().line == 1);
    CHECK(nodes.error().message == "no column model");
    CHECK_FALSE(read_tasks("", models).has_value());
}

TEST_CASE("more models than a set has room for are an error") {
    model_names models;
    for (int model = 0; model < 64; ++model)
        CHECK(models.number("m" + std::to_string(model)));
    CHECK_FALSE(models.number("one more"));
    CHECK(models.number("m63") == 63);
    CHECK_FALSE(
        read_tasks(std::string(task_columns) + "p,1,1,1,1000,one more\n", models).has_value());
}

} // namespace

} // namespace bench_openb_test
