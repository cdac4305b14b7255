// Tests frameworks' settings in the window: dropped and pasted, missing values asked for, opened; shown,
// copied and saved; their flags on hover. It also tests what some ranks share.
#include "app/ui/views/mesh/mesh_cells.h"
#include "core/base/files.h"
#include "core/interop/export.h"
#include "core/interop/import.h"
#include "core/io/plan_json.h"
#include "press.h"
#include "tests/near.h"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <filesystem>
#include <fstream>

using namespace pentamesh;
using pentamesh::test::near;
using namespace pentamesh::ui;

namespace {

constexpr const char* kScript = R"(#!/bin/bash
# a job of ours
GPUS_PER_NODE=8
torchrun --nproc_per_node $GPUS_PER_NODE --nnodes 4 pretrain_gpt.py \
    --tensor-model-parallel-size 8 \
    --pipeline-model-parallel-size 2 \
    --sequence-parallel \
    --num-layers 32 \
    --hidden-size 4096 \
    --num-attention-heads 32 \
    --seq-length 4096 \
    --max-position-embeddings 4096 \
    --vocab-size 32000 \
    --micro-batch-size 1 \
    --global-batch-size 256 \
    --rampup-batch-size 32 32 10000 \
    --lr 3e-4 \
    --log-interval 1 \
    --ring-shard-size 4
)";
constexpr const char* kDeepSpeed = R"({
  "train_batch_size": 64,
  "train_micro_batch_size_per_gpu": 1,
  "zero_optimization": { "stage": 2, "overlap_comm": true },
  "steps_per_print": 100
})";

void paste_text(Driver& d, const std::string& text) {
    d.clipboard = text;
    d.press({.key = Key::v, .ctrl = true});
}

void pick_row(Driver& d, std::string_view menu, const std::string& filter) {
    CAPTURE(std::string(menu));
    d.type(filter);
    d.press({Key::enter});
}

}  // namespace

TEST_CASE("of a pasted file with several recipes one is chosen from a list") {
    Driver d("mesh-8");
    std::string text = "from megatron.bridge.recipes.llama.llama3 import llama3_8b_pretrain_config\n\n\n";
    for (const char* gpus : {"8", "16"})
        text += std::string("def llama3_8b_pretrain_") + gpus
                + "gpu_h100_config() -> ConfigContainer:\n    cfg = llama3_8b_pretrain_config()\n"
                  "    cfg.train.global_batch_size = 64\n    return cfg\n\n\n";
    paste_text(d, text);
    CHECK(says(d, "Recipe: the text does not say it"));
    CHECK(says(d, "The text has 2 configurations"));
    REQUIRE(d.click("import.recipe"));
    REQUIRE(d.click("menu.import", 1));
    CHECK(says(d, "Llama 3 8B on 16 GPUs"));
    REQUIRE(d.click("import.open"));
    CHECK(d.plan().cluster.gpus == 16);
    CHECK(d.plan().training.global_batch == 64);
}

TEST_CASE("a pasted launch script is shown with what became of each line, and opens as a step of undo") {
    Driver d("mesh-8");
    const Plan before = d.plan();
    paste_text(d, kScript);
    REQUIRE(d.drawn("import.open"));
    CHECK(d.plan() == before);
    CHECK(says(d, "Import the clipboard"));
    CHECK(says(d, "32 GPUs: tp 8, pp 2"));
    CHECK(says(d, "--hidden-size 4096"));  // the text itself
    CHECK(says(d, "--tensor-model-parallel-size = 8  →  /layout/tp"));
    CHECK(says(d, "--lr = 3e-4"));
    REQUIRE(d.click("import.row.0", 0));  // its line comes into view
    CHECK(says(d, "--rampup-batch-size"));
    REQUIRE(d.click("import.row.2", 0));
    REQUIRE(d.click("import.row.3", 0));
    CHECK(says(d, " settings: "));
    CHECK(says(d, "NOT KNOWN"));
    // The sign of each list stands in its heading and at the line of the text.
    d.surface.record_text(true);
    d.frame();
    for (const std::string_view sign : {"!", "?"}) {
        CAPTURE(std::string(sign));
        const auto& runs = d.surface.text_runs();
        CHECK(std::count_if(runs.begin(), runs.end(), [&](const TextRun& r) { return r.text == sign; }) == 2);
    }
    d.surface.record_text(false);
    REQUIRE(d.click("import.open"));
    CHECK_FALSE(d.drawn("import.open"));
    CHECK(d.plan().layout.tp == 8);
    CHECK(d.plan().layout.pp == 2);
    CHECK(d.plan().cluster.gpus == 32);
    d.press({.key = Key::z, .ctrl = true});
    CHECK(d.plan() == before);
}

TEST_CASE(
    "every text of a framework that import reads comes into the same sheet as a plan of the same kind") {
    Driver d("mesh-8");
    std::ifstream file(std::filesystem::path(SOURCE_DIR) / "tests/golden/interop.json");
    const auto golden = nlohmann::json::parse(file);
    int opened = 0;
    for (const auto& c : golden.at("cases")) {
        const std::string id = c.at("id"), text = c.at("text");
        CAPTURE(id);
        if (interop::guess_tools(text).empty() || c.at("framework") == "hf") continue;
        paste_text(d, text);
        if (!d.drawn("import.cancel")) {  // JSON that is a plan or a config by itself
            CHECK(text.find('{') != std::string::npos);
            continue;
        }
        std::optional<Plan> expected;
        try {
            expected = interop::import_settings({.text = text, .path = "the clipboard"}, d.presets).plan;
        } catch (const Error&) {
        }
        if (expected && interop::guess_tools(text).size() == 1) {
            REQUIRE(d.click("import.open"));
            CHECK(d.plan() == *expected);
            ++opened;
        } else {
            d.press({Key::escape});
        }
        CHECK_FALSE(d.drawn("import.cancel"));
    }
    CHECK(opened > 15);
}

TEST_CASE("what the text does not say is asked for, and the plan comes once it is given") {
    Driver d("mesh-8");
    const auto folder = std::filesystem::temp_directory_path() / "pentamesh_import_sheet";
    std::filesystem::create_directories(folder);
    std::ofstream(folder / "ds_config.json") << kDeepSpeed;
    d.shell.open_file(folder / "ds_config.json");
    d.settle();
    REQUIRE(d.drawn("import.open"));
    CHECK(says(d, "Import ds_config.json"));
    CHECK(says(d, "Model: the text does not say it"));
    const Plan before = d.plan();
    REQUIRE(d.click("import.open"));  // there is nothing to open yet
    CHECK(d.plan() == before);
    REQUIRE(d.click("import.model"));
    pick_row(d, "model", "Llama 3 8B");
    CHECK_FALSE(says(d, "Model: the text does not say it"));
    REQUIRE(d.click("import.gpus"));
    d.type("many");
    CHECK(says(d, "is no whole number"));
    d.press({.key = Key::a, .ctrl = true});
    d.type("16");
    REQUIRE(d.click("import.cluster"));
    pick_row(d, "cluster", "A100 80");
    REQUIRE(d.click("import.open"));
    CHECK(d.plan().cluster.gpus == 16);
    CHECK(d.plan().model.hidden == 4096);
    CHECK(d.plan().layout.zero == 2);
    CHECK(d.plan().cluster.gpu.name.find("A100") != std::string::npos);
    std::filesystem::remove_all(folder);
}

TEST_CASE("the open plan's model stands in for one that the text does not say, and Cancel opens nothing") {
    Driver d("llama-3-70b-3d");
    paste_text(d, kDeepSpeed);
    REQUIRE(d.click("import.model"));
    pick_row(d, "model", "of the open plan");
    const Plan before = d.plan();
    CHECK(says(d, "train_batch_size = 64"));
    REQUIRE(d.click("import.cancel"));
    CHECK(d.plan() == before);
    paste_text(d, kDeepSpeed);
    REQUIRE(d.click("import.model"));
    pick_row(d, "model", "of the open plan");
    REQUIRE(d.click("import.open"));
    CHECK(d.plan().model == before.model);
    CHECK(d.plan().layout.zero == 2);
}

TEST_CASE("a wrong guess is set right: the same text read as another framework's") {
    Driver d("mesh-8");
    paste_text(d, kScript);
    REQUIRE(d.click("import.from"));
    REQUIRE(d.click("menu.import", 2));
    CHECK_FALSE(says(d, "(by its content)"));
    REQUIRE(d.click("import.from"));
    pick_row(d, "from", "slime");  // a tool that data tells
    CHECK(says(d, "slime"));
    CHECK_FALSE(says(d, "(by its content)"));
    d.press({Key::escape});
    CHECK_FALSE(d.drawn("import.open"));
}

TEST_CASE("a pasted table of nccl-tests sets the tier that it measured") {
    Driver d("llama-3-70b-3d");
    const Plan before = d.plan();
    std::string text = "$ all_reduce_perf\n";
    for (int r = 0; r < 8; ++r)
        text +=
            "#  Rank  " + std::to_string(r) + " Group  0 Pid 1 on worker-1 device  0 [0x8d] NVIDIA H100\n";
    text += "#  size  count  type  redop  root  time  algbw  busbw #wrong  time  algbw  busbw #wrong\n"
            "  8  2  float  sum  -1  28.00  0.00  0.00  0  28.00  0.00  0.00  0\n"
            "  8589934592  2147483648  float  sum  -1  41757  205.71  360.00  0  41757  205.71  360.00  0\n";
    paste_text(d, text);
    CHECK(says(d, "NVLink carries 360 GB/s"));
    REQUIRE(d.click("import.row.1", 0));  // a line that is not used
    REQUIRE(d.click("import.open"));
    const double share = before.cluster.gpu.efficiency.fast_link;
    CHECK(d.plan().cluster.tiers[0].bytes_per_s == near(360e9 / share));
    CHECK(d.plan().cluster.tiers[0].latency_s == near(28e-6 / 14));
    CHECK(d.plan().layout == before.layout);
    d.press({.key = Key::z, .ctrl = true});
    CHECK(d.plan() == before);
}

TEST_CASE("each framework's text is shown as export writes it, copied and saved") {
    const auto folder = std::filesystem::temp_directory_path() / "pentamesh_export_sheet";
    std::filesystem::create_directories(folder);
    Driver d("llama-3-70b-3d", {1280, 720}, 1, {}, folder);
    REQUIRE(interop::written_tools().size() == 10);
    for (const interop::Tool* tool : interop::written_tools()) {
        CAPTURE(std::string(tool->title));
        run_id(d, "export.to." + std::string(tool->name));
        REQUIRE(d.click("export.copy"));
        CHECK(d.clipboard == interop::export_plan(d.plan(), tool->name, d.presets).text);
        REQUIRE(d.click("export.close"));
        CHECK_FALSE(d.drawn("export.copy"));
    }
    run_id(d, "export.to.megatron");
    CHECK(says(d, "#!/bin/bash"));
    REQUIRE(d.click("export.target"));
    REQUIRE(d.click("menu.export", 3));
    CHECK(says(d, "_comment"));
    CHECK(says(d, "WHAT IT CANNOT SAY"));
    REQUIRE(d.click("export.save"));
    REQUIRE(d.drawn("dialog.path"));
    CHECK(d.shell.dialog() == DialogKind::settings);
    CHECK(d.shell.dialog_text().ends_with("deepspeed.json"));
    REQUIRE(d.click("dialog.ok"));
    CHECK(d.shell.dialog() == DialogKind::none);
    CHECK(read_file(folder / "deepspeed.json")
          == interop::export_plan(d.plan(), "deepspeed", d.presets).text);
    d.press({Key::escape});
    CHECK_FALSE(d.drawn("export.copy"));
    std::filesystem::remove_all(folder);
}

TEST_CASE("a field says on hover what the framework of choice calls it, and the choice is kept") {
    const auto folder = std::filesystem::temp_directory_path() / "pentamesh_flags";
    std::filesystem::remove_all(folder);
    const auto hover = [](Driver& d, std::string_view control, std::string_view words,
                          std::uint64_t index = 0) {
        d.move(d.shell.ui_state().rect_of(control, index)->center());
        d.time_s += 2;
        d.settle();
        return says(d, words);
    };
    {
        Driver d("llama-3-70b-3d", {1600, 900}, 1, folder);
        run_id(d, "flags.megatron");
        CHECK(hover(d, "layout.tp.toggle", "Megatron-LM: --tensor-model-parallel-size"));
        // Megatron's flag without another one is stage 1.
        CHECK(hover(d, "mod.zero", "Megatron-LM: without --use-distributed-optimizer", 0));
        CHECK(hover(d, "mod.zero", "Megatron-LM: --use-distributed-optimizer", 1));
        CHECK(hover(d, "mod.zero", "optim_grads_params", 3));
        for (const interop::Tool* tool : interop::written_tools())
            if (tool->name != "device-mesh") run_id(d, "flags." + std::string(tool->name));
        run_id(d, "flags.none");
        CHECK_FALSE(hover(d, "layout.pp.toggle", "Megatron-LM:"));
        run_id(d, "flags.software");
        CHECK(checked(d, "flags.software"));
        run_id(d, "flags.torchtitan");
        CHECK(hover(d, "layout.pp.toggle", "torchtitan: parallelism.pipeline_parallel_degree"));
        run_id(d, "flags.next");
        CHECK(d.shell.settings().flags == "deepspeed");
        run_id(d, "edit.fields");
        REQUIRE(d.drawn("editor.close"));
        d.move({5, 5});
    }
    Driver d("llama-3-70b-3d", {1600, 900}, 1, folder);
    CHECK(d.shell.settings().flags == "deepspeed");
    std::filesystem::remove_all(folder);
}

TEST_CASE("a list of ranks in the mesh's field lights them and says what they share") {
    Driver d("zoom-1024");
    run_id(d, "mesh.go_to");
    d.type("8-11, 13");
    d.press({Key::enter});
    CHECK(d.shell.selection().topic == Selection::Topic::ranks);
    CHECK(d.shell.selection().ranks == std::vector<std::int64_t>{8, 9, 10, 11, 13});
    CHECK(says(d, "WHAT THEY SHARE"));
    CHECK(says(d, "node 1"));
    run_id(d, "mesh.go_to");
    d.type("1,023");  // one rank as thousands are written
    d.press({Key::enter});
    CHECK(d.shell.selection().rank == 1023);
    run_id(d, "mesh.go_to");
    d.type("3, 5000");
    d.press({Key::enter});
    CHECK(d.shell.message().find("there is no rank 5000") != std::string::npos);
}

TEST_CASE("the palette asks for ranks; what is typed answers at once, also where the inspector has no room") {
    Driver d("zoom-1024", {900, 600});
    run_id(d, "view.blame");
    REQUIRE(d.drawn("blame.ranks"));
    d.type("3 11 1O");
    CHECK(says(d, "is no rank and no range of ranks"));
    CHECK(d.shell.selection().topic == Selection::Topic::none);
    d.press({.key = Key::a, .ctrl = true});
    d.type("3 11 19");
    CHECK(says(d, "GPU 3 of each node (its rail)"));
    d.press({Key::enter});
    CHECK_FALSE(d.drawn("blame.ranks"));
    CHECK(d.shell.selection().ranks == std::vector<std::int64_t>{3, 11, 19});
    run_id(d, "view.blame");
    CHECK(says(d, "3, 11, 19"));
    REQUIRE(d.click("blame.ranks"));
    REQUIRE(d.click("blame.close"));
    CHECK_FALSE(d.drawn("blame.ranks"));
    d.press({Key::escape});
    CHECK(d.shell.selection().topic == Selection::Topic::none);
    d.press({.key = Key::n, .ctrl = true});  // one GPU: ranks that are gone are not kept
    CHECK(d.shell.selection().ranks.empty());
}

TEST_CASE(
    "hosts that are typed name GPUs on cards, in tooltips and as data; a list that does not fit says so") {
    Driver d("zoom-1024");
    run_id(d, "view.blame");
    REQUIRE(d.click("blame.hosts"));
    d.type("gpu[001-127]");
    CHECK(says(d, "127 hosts"));
    d.press({.key = Key::a, .ctrl = true});
    d.type("gpu[001-128]");
    REQUIRE(d.click("blame.close"));
    run_id(d, "mesh.go_to");
    d.type("9");
    d.press({Key::enter});
    d.settle();
    CHECK(says(d, "gpu002"));
    Hover none, next;
    Scene scene{.plan = d.plan(),
                .evaluation = d.shell.evaluation(),
                .presets = d.presets,
                .selection = d.shell.selection(),
                .hover = none,
                .next_hover = next};
    const Hosts hosts = hosts_of("gpu[001-128]", 1024, 8);
    scene.hosts = &hosts;
    CHECK(rank_tooltip(scene, 15).find(", gpu002") != std::string::npos);
    run_id(d, "view.blame");
    REQUIRE(d.click("blame.ranks"));
    d.type("3 11 19");
    CHECK(says(d, "gpu001, gpu002, gpu003"));
}

TEST_CASE("what is longer than its place scrolls: texts, lists and the answer about ranks") {
    Driver d("deepseek-v3-2048", {700, 420});
    const auto drag_down = [&](const std::string& list) {
        CAPTURE(list);
        d.settle();
        const auto thumb = d.shell.ui_state().rect_of(list + ".thumb");
        REQUIRE(thumb);
        const Vec2 top{thumb->center().x, thumb->y + 6};
        d.drag(top, top + Vec2{0, thumb->h});
    };
    std::string script = kScript;
    for (int i = 0; i < 40; ++i) script += "# a note at the end " + std::to_string(i) + "\n";
    paste_text(d, script);
    CHECK_FALSE(says(d, "a note at the end 39"));
    drag_down("import.text");
    CHECK(says(d, "a note at the end 39"));
    drag_down("import.lists");
    CHECK(says(d, "IGNORED"));
    REQUIRE(d.click("import.model"));
    drag_down("menu.import");
    d.press({Key::escape});
    d.press({Key::escape});
    REQUIRE_FALSE(d.drawn("import.cancel"));
    run_id(d, "export.to.deepspeed");
    REQUIRE(d.drawn("export.copy"));
    drag_down("export.text");
    drag_down("export.lists");
    d.press({Key::escape});
    run_id(d, "view.blame");
    d.type("8-15");
    drag_down("blame.answer");
    CHECK(says(d, "wait first"));
    d.press({Key::escape});
}
