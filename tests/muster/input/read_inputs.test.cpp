// SPDX-License-Identifier: Apache-2.0
#include <muster/input/read_inputs.hpp>

#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include <unistd.h>

#include <boost/json/serialize.hpp>
#include <doctest/doctest.h>

namespace codec_input_test {

using namespace muster::codec;

namespace {

namespace fs = std::filesystem;

/// A directory of its own that goes away with it.
class scratch {
public:
    scratch() : path_(fs::temp_directory_path() / ("muster-input-" + std::to_string(getpid()))) {
        fs::remove_all(path_);
        fs::create_directories(path_);
    }
    ~scratch() {
        std::error_code ignored;
        fs::remove_all(path_, ignored);
    }
    scratch(const scratch&) = delete;
    scratch& operator=(const scratch&) = delete;

    [[nodiscard]] std::string operator/(const std::string& name) const {
        return (path_ / name).string();
    }
    [[nodiscard]] std::string name() const { return path_.string(); }

    void write(const std::string& name, const std::string& text) const {
        fs::create_directories((path_ / name).parent_path());
        const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(
            std::fopen((path_ / name).c_str(), "wb"), [](std::FILE* f) { return std::fclose(f); });
        REQUIRE(file != nullptr);
        std::fwrite(text.data(), 1, text.size(), file.get());
    }

private:
    fs::path path_;
};

std::string read(const std::vector<std::string>& arguments, diagnostics& out,
                 std::FILE* standard_input = stdin) {
    std::string lines;
    for (const document& one : read_inputs(arguments, out, standard_input))
        lines += boost::json::serialize(one.root()) + '\n';
    return lines;
}

} // namespace

TEST_CASE("files are read in the order of the arguments, by what they hold") {
    const scratch dir;
    dir.write("a.yaml", "a: 1\n---\na: 2\n");
    dir.write("b.json", "{\"b\": 1}");
    dir.write("c", "{\"c\": 1}\n{\"c\": 2}\n");
    dir.write("d.ndjson", "d: 1\n");
    diagnostics out;
    CHECK(read({dir / "b.json", dir / "a.yaml", dir / "c"}, out) ==
          "{\"b\":1}\n{\"a\":1}\n{\"a\":2}\n{\"c\":1}\n{\"c\":2}\n");
    CHECK(out.ok());
    CHECK(read({dir / "d.ndjson"}, out).empty());
    REQUIRE(out.errors() == 1);
    CHECK(to_text(out.findings()[0]) == (dir / "d.ndjson") + ":1:1: \"d\", expected a value");
}

TEST_CASE("a directory means the manifests below it, sorted by path") {
    const scratch dir;
    dir.write("z.yml", "id: 4\n");
    dir.write("b/two.json", "{\"id\": 3}");
    dir.write("b/one.yaml", "id: 2\n");
    dir.write("a.ndjson", "{\"id\": 1}\n");
    dir.write("README.md", "not: [a manifest");
    dir.write("none/README.md", "");
    diagnostics out;
    CHECK(read({dir.name()}, out) == "{\"id\":1}\n{\"id\":2}\n{\"id\":3}\n{\"id\":4}\n");
    CHECK(out.ok());
    CHECK(read({dir / "none"}, out).empty());
    REQUIRE(out.errors() == 1);
    CHECK(to_text(out.findings()[0]) ==
          (dir / "none") +
              ": the directory has no manifest (expected *.yaml, *.yml, *.json or *.ndjson)");
}

TEST_CASE("a file that cannot be read is an error, and the rest is still read") {
    const scratch dir;
    dir.write("a.yaml", "a: 1\n");
    diagnostics out;
    CHECK(read({dir / "missing.yaml", dir / "a.yaml"}, out) == "{\"a\":1}\n");
    REQUIRE(out.errors() == 1);
    CHECK(to_text(out.findings()[0]) ==
          (dir / "missing.yaml") + ": cannot be read: No such file or directory");
}

TEST_CASE("- is the standard input, once") {
    const scratch dir;
    dir.write("stdin", "a: 1\nb: [\n");
    const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(
        std::fopen((dir / "stdin").c_str(), "rb"), [](std::FILE* f) { return std::fclose(f); });
    diagnostics out;
    CHECK(read({"-", "-"}, out, file.get()).empty());
    REQUIRE(out.errors() == 2);
    CHECK(to_text(out.findings()[0]) ==
          "<stdin>:3:1: not YAML: did not find expected node content while parsing a flow node");
    CHECK(to_text(out.findings()[1]) == "<stdin>: named twice (expected - at most once)");
}

} // namespace codec_input_test
