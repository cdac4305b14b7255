#include "core/base/files.h"
#include "core/explain/verdict.h"
#include "core/io/presets.h"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

using namespace pentamesh;

namespace {
namespace fs = std::filesystem;

// Makes a folder of presets that links to the shipped ones, with a file of runs of its own.
struct OwnRuns {
    fs::path root = fs::temp_directory_path() / "pentamesh-published-test";
    OwnRuns() {
        fs::remove_all(root);
        fs::create_directories(root);
        for (const char* folder : {"gpus", "clusters", "models", "plans"})
            fs::create_directory_symlink(fs::current_path() / "presets" / folder, root / folder);
    }
    ~OwnRuns() { fs::remove_all(root); }
    OwnRuns(const OwnRuns&) = delete;
    OwnRuns& operator=(const OwnRuns&) = delete;

    [[nodiscard]] std::string error_of(const nlohmann::json& runs) const {
        std::ofstream(root / "published_runs.json") << runs.dump();
        try {
            static_cast<void>(load_published_runs(Presets(root)));
        } catch (const Error& e) {
            return e.what();
        }
        return "";
    }
};
}  // namespace

TEST_CASE("a published run without a key, or with a value of another kind, is an error with file and place") {
    std::ifstream file(fs::path(SOURCE_DIR) / "presets" / "published_runs.json");
    const auto shipped = nlohmann::json::parse(file);
    const OwnRuns own;
    CHECK(own.error_of(shipped).empty());
    for (const char* key : {"gpu", "model", "source", "gpus", "tp", "dp", "zero", "sequence", "global_batch",
                            "precision", "recompute"}) {
        CAPTURE(key);
        for (const bool other : {false, true}) {
            nlohmann::json runs = shipped;
            if (other)
                runs["cases"][2][key] = nlohmann::json::array();
            else
                runs["cases"][2].erase(key);
            const std::string error = own.error_of(runs);
            CHECK(error.find("published_runs.json: /cases/2: ") != std::string::npos);
        }
    }
    nlohmann::json runs = shipped;
    runs["cases"][2]["gpu"] = "h900";
    CHECK(own.error_of(runs).find("/cases/2: ") != std::string::npos);
    runs = shipped;
    runs["cases"][2]["precision"] = "FP5";
    CHECK(own.error_of(runs).find("/cases/2: no precision is named \"FP5\": it is one of BF16, ")
          != std::string::npos);
    runs.erase("cases");
    CHECK(own.error_of(runs).find("/cases: is missing") != std::string::npos);
}

TEST_CASE("a published run computes in the type that its precision names") {
    const Presets presets(fs::path(SOURCE_DIR) / "presets");
    std::ifstream file(fs::path(SOURCE_DIR) / "presets" / "published_runs.json");
    const auto shipped = nlohmann::json::parse(file);
    struct Named {
        const char* name;
        Dtype type;
    };
    for (const Named& n :
         {Named{"BF16", Dtype::bf16}, Named{"FP16", Dtype::fp16}, Named{"FP8-CS", Dtype::fp8},
          Named{"MXFP8", Dtype::fp8}, Named{"NVFP4", Dtype::fp4}}) {
        CAPTURE(n.name);
        nlohmann::json one{{"cases", {shipped["cases"][0]}}};
        one["cases"][0]["precision"] = n.name;
        const auto runs = read_published_runs(one.dump(), "test", presets);
        REQUIRE(runs.size() == 1);
        CHECK(runs[0].plans[0].training.compute == n.type);
        CHECK(runs[0].label.find(n.name) != std::string::npos);
    }
}
