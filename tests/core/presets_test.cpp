#include "core/advice/advice.h"
#include "core/base/files.h"
#include "core/evaluate.h"
#include "core/io/plan_json.h"
#include "core/io/presets.h"
#include "tests/core/plans.h"
#include "tests/core/shipped.h"
#include "tests/folder.h"
#include "tests/near.h"

#include <algorithm>
#include <doctest/doctest.h>
#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>

using namespace pentamesh;
namespace fs = std::filesystem;

namespace {

using test::presets;

std::string text_of(const fs::path& file) {
    std::ifstream in(file, std::ios::binary);
    std::ostringstream text;
    text << in.rdbuf();
    return text.str();
}

using test::Folder;

}  // namespace

TEST_CASE("every GPU, cluster and model preset parses and names its source") {
    for (const PresetKind kind :
         {PresetKind::gpu, PresetKind::cluster, PresetKind::model, PresetKind::plan}) {
        constexpr const char* kFolders[] = {"gpus", "clusters", "models", "plans"};
        const auto files =
            std::filesystem::directory_iterator(presets().root() / kFolders[static_cast<int>(kind)]);
        CHECK(static_cast<std::ptrdiff_t>(presets().list(kind).size())
              == std::distance(begin(files), end(files)));
        for (const Presets::Entry& e : presets().list(kind)) {
            CAPTURE(e.id);
            CHECK(!e.name.empty());
            CHECK(!e.source.empty());
        }
    }
    for (const Presets::Entry& e : presets().list(PresetKind::gpu)) {
        CAPTURE(e.id);
        CHECK(presets().gpu(e.id).flops.bf16 > 1e13);
        CHECK(presets().gpu(e.id).efficiency.gemm > 0.3);
        CHECK(presets().gpu(e.id).efficiency.gemm <= 1);
        CHECK(!e.efficiency_source.empty());
        CHECK(e.source.find("Efficiency") == std::string::npos);
    }
    for (const Presets::Entry& e : presets().list(PresetKind::cluster)) {
        CAPTURE(e.id);
        const Cluster c = presets().cluster(e.id);
        CHECK(presets().has(PresetKind::gpu, c.gpu.id));
        CHECK(domain_of(c, c.tiers.size() - 1) == c.gpus);
    }
    for (const Presets::Entry& e : presets().list(PresetKind::model)) {
        CAPTURE(e.id);
        CHECK(count_parameters(presets().model(e.id)).total > 1'000'000);
    }
}

TEST_CASE("the presets that others name are there") {
    for (const char* id :
         {"a100-40gb-ib", "a100-80gb-ib", "h100-sxm-ib", "h200-sxm-ib", "h800-sxm-ib", "b200-ib", "b300-ib",
          "gb200-nvl72", "gb300-nvl72", "mi300x-roce", "l40s-pcie", "llama3-roce"})
        CHECK_MESSAGE(presets().has(PresetKind::cluster, id), id);
    for (const char* id : {"llama-2-7b", "llama-3.1-405b", "deepseek-v3", "kimi-k2", "gpt-22b", "gpt-175b",
                           "gpt-530b", "gpt-1t", "nemotron-4-340b"})
        CHECK_MESSAGE(presets().has(PresetKind::model, id), id);
    for (const char* id : {"single-gpu", "mesh-8", "zoom-1024", "hsdp-64", "llama-3-8b-fsdp",
                           "llama-3-70b-3d", "llama-3.1-405b-8k", "llama-3.1-405b-16k", "llama-3.1-405b-131k",
                           "deepseek-v3-2048", "mixtral-8x7b-ep", "gpt-175b-a100", "gpt-1t-a100", "moe-nvl72",
                           "broken-tp-over-ib", "broken-pp-zero3"})
        CHECK_MESSAGE(presets().has(PresetKind::plan, id), id);
}

TEST_CASE("every plan preset is written as this program writes it") {
    for (const Presets::Entry& e : presets().list(PresetKind::plan)) {
        CAPTURE(e.id);
        const Plan p = presets().plan(e.id);
        const std::string text = text_of(presets().root() / "plans" / (e.id + ".plan.json"));
        CHECK(write_plan(p) == text);
        CHECK(parse_plan(text, e.id, presets()) == p);
        CHECK(!p.notes.empty());
    }
}

TEST_CASE("every plan preset that is no mistake to show is valid and fits") {
    for (const Presets::Entry& e : presets().list(PresetKind::plan)) {
        CAPTURE(e.id);
        const Evaluation v = assess(presets().plan(e.id));
        const bool broken = e.id.rfind("broken-", 0) == 0;
        if (broken) {
            CHECK(!v.problems.empty());
            continue;
        }
        for (const Problem& p : v.problems)
            if (p.severity == Severity::error) MESSAGE(p.message);
        CHECK(v.valid);
        CHECK(v.step);
        // The paper of Llama's plan for 8,192 GPUs frees tensors early, which is not counted.
        if (e.id != "llama-3.1-405b-8k") CHECK_MESSAGE(v.memory.fits(), v.memory.peak());
        CHECK(v.mesh.world == presets().plan(e.id).cluster.gpus);
    }
}

TEST_CASE("an id that is no preset is answered with the nearest one") {
    try {
        (void)presets().model("llama-3-80b");
        FAIL("accepted");
    } catch (const Error& e) {
        CHECK(std::string(e.what()).find("llama-3-") != std::string::npos);
    }
    CHECK(!presets().has(PresetKind::model, "../models/llama-3-8b"));
}

TEST_CASE("a broken preset file is named in the error") {
    const Folder folder;
    folder.put("models/bad.json", "{\"layers\": 0}");
    folder.put("models/loop.json", "{\"preset\": \"loop\"}");
    folder.put("clusters/a.json", "{\"preset\": \"b\"}");
    folder.put("clusters/b.json", "{\"preset\": \"a\"}");
    const Presets broken(folder.path);
    const auto error = [](auto&& f) -> std::string {
        try {
            f();
        } catch (const Error& e) {
            return e.what();
        }
        return "";
    };
    const auto has = [](const std::string& text, const char* part) {
        return text.find(part) != std::string::npos;
    };
    CHECK(has(error([&] { (void)broken.model("bad"); }), "bad.json: /layers: found 0"));
    CHECK(has(error([&] { (void)parse_plan(R"({"model": "bad", "cluster": "a"})", "p.json", broken); }),
              "bad.json"));
    // A preset that is built on itself is an error, also at the second call.
    for (int again = 0; again < 2; ++again) {
        CHECK(has(error([&] { (void)broken.model("loop"); }), "loop.json: is built on itself"));
        CHECK(has(error([&] { (void)broken.cluster("a"); }), "a.json: is built on itself"));
    }
}

TEST_CASE("a GPU preset that lacks a constant borrows none and ends") {
    const Folder folder;
    folder.put(
        "gpus/h100-sxm.json",
        R"({"hbm_bytes": 1, "hbm_bytes_per_s": 1, "flops": {"bf16": 1}, "efficiency": {"gemm": 0.5}})");
    const Presets few(folder.path);
    CHECK(few.gpu("h100-sxm").efficiency.gemm == 0.5);
    CHECK(few.gpu("h100-sxm").efficiency.hbm == 0);
}

TEST_CASE("a GPU that a plan writes out is as efficient as it says, else as the preset of its name") {
    const auto gpu = [](const std::string& name, const std::string& efficiency) {
        const std::string text =
            R"({"model": "llama-3-8b", "cluster": {"name": "own", "gpus": 8, "gpu": {"name": ")" + name
            + R"(", "hbm_bytes": 32e9, "hbm_bytes_per_s": 1e12, "flops": {"bf16": 9e14})" + efficiency
            + R"(}, "tiers": [{"kind": "nvlink", "bytes_per_s": 1e11}]}})";
        return parse_plan(text, "own.json", presets()).cluster.gpu.efficiency;
    };
    const auto of = [](const char* id) { return presets().gpu(id).efficiency; };
    REQUIRE(of("tpu-v6e") != of("h100-sxm"));
    CHECK(gpu(presets().gpu("gb200").name, "") == of("gb200"));
    CHECK(gpu("TPU v5e", "") == of("tpu-v5e"));
    CHECK(gpu("TPU of tomorrow", R"(, "efficiency_of": "tpu-v6e")") == of("tpu-v6e"));
    CHECK(gpu("TPU of tomorrow", "") == of("h100-sxm"));
    CHECK_THROWS(gpu("TPU of tomorrow", R"(, "efficiency_of": "tpu-v0")"));
    CHECK(gpu("Other", "") == of("h100-sxm"));
    Efficiency stated = of("h100-sxm");
    stated.gemm = 0.25;
    CHECK(gpu("TPU v5e", R"(, "efficiency": {"gemm": 0.25})") == stated);
}

TEST_CASE("every constant of the step model that divides stands in every GPU preset") {
    for (const Presets::Entry& e : presets().list(PresetKind::gpu)) {
        CAPTURE(e.id);
        for (const EfficiencyKey& k : kEfficiencyKeys) {
            CAPTURE(k.key);
            const bool divides = !k.key.ends_with("_s") && k.key != "overlap" && k.key != "error";
            if (divides) CHECK(presets().gpu(e.id).efficiency.*k.member > 0);
        }
    }
}

TEST_CASE("presets are found beside an installed program before the source tree") {
    const Folder folder;
    folder.put("usr/bin/pentamesh", "");
    CHECK(find_data_folder(folder.path / "usr/bin/pentamesh", "presets")
          == fs::canonical(folder.path) / "usr/share/pentamesh/presets");
    folder.put("usr/bin/pentamesh-source.txt", "../../tree\n");
    const fs::path real = fs::canonical(folder.path);
    CHECK(find_data_folder(folder.path / "usr/bin/pentamesh", "presets") == real / "tree/presets");
    folder.put("usr/bin/pentamesh-source.txt", "/elsewhere\r\n");
    CHECK(find_data_folder(folder.path / "usr/bin/pentamesh", "presets") == "/elsewhere/presets");
    folder.put("usr/share/pentamesh/presets/x", "");
    CHECK(fs::equivalent(find_data_folder(folder.path / "usr/bin/pentamesh", "presets"),
                         folder.path / "usr/share/pentamesh/presets"));
}

// golden/hardware.json: the vendors' data sheets. Of memory the driver's figure counts, which is up to 8 %
// above the data sheet's where that has decimal gigabytes.
TEST_CASE("GPUs and their fast links have the figures of their data sheets") {
    const nlohmann::json sheets = test::golden("hardware.json")["gpus"];
    int types = 0, links = 0;
    for (const auto& [bound_id, sheet] : sheets.items()) {
        const auto& id = bound_id;
        CAPTURE(id);
        const Gpu gpu = presets().gpu(id);
        const std::pair<const char*, double> flops[] = {{"bf16", gpu.flops.bf16},
                                                        {"fp16", gpu.flops.fp16},
                                                        {"fp8", gpu.flops.fp8},
                                                        {"fp4", gpu.flops.fp4},
                                                        {"tf32", gpu.flops.tf32}};
        for (const auto& [bound_type, ours] : flops) {
            const auto& type = bound_type;
            if (!sheet["flops"].contains(type)) continue;
            CAPTURE(type);
            CHECK(ours == test::near(sheet["flops"][type].get<double>(), 2e-3));
            ++types;
        }
        CHECK(gpu.hbm_bytes_per_s == test::near(sheet["hbm_bytes_per_s"].get<double>(), 2e-3));
        const double said = sheet["hbm_bytes"], over = gpu.hbm_bytes / said;
        CHECK(over >= 0.999);
        CHECK(over < (sheet.contains("hbm_source") ? 1.001 : 1.08));
        for (const Presets::Entry& e : presets().list(PresetKind::cluster)) {
            const Cluster c = presets().cluster(e.id);
            if (c.gpu.id != id || !sheet.contains("nic_bytes_per_s")) continue;
            CHECK(c.tiers[0].bytes_per_s == sheet["nvlink_bytes_per_s"].get<double>());
            CHECK(c.tiers[1].bytes_per_s == sheet["nic_bytes_per_s"].get<double>());
            if (sheet["nvlink_domain"] > 1)
                CHECK(domain_of(c, 0) == sheet["nvlink_domain"].get<std::int64_t>());
            ++links;
        }
    }
    CHECK(types > 70);
    CHECK(links > 10);
}
