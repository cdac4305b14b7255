// Tests one's own runs in the window: added by the dialog or dropped, fitted, saved, chosen, and named.
#include "core/base/files.h"
#include "core/evaluate.h"
#include "core/io/plan_json.h"
#include "core/io/presets.h"
#include "core/step/constants.h"
#include "tests/folder.h"
#include "tests/ui/driver.h"

#include <algorithm>
#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

using namespace pentamesh;
using namespace pentamesh::ui;

namespace {

void begin_calibration(Driver& d) {
    for (const Command& c : d.shell.commands())
        if (c.id == "calibrate") d.shell.run(c);
    d.settle();
}

// Returns runs of the plan's own cluster that took as long as it would with slower products.
std::string slower_runs(const Plan& plan) {
    nlohmann::json cases = nlohmann::json::array();
    for (const int sequence : {2048, 8192, 32768}) {
        Plan p = plan;
        p.training.sequence_length = sequence;
        p.cluster.gpu.efficiency.gemm *= 0.8;
        const Evaluation e = evaluate(p);
        REQUIRE(e.step.has_value());
        cases.push_back({{"id", "run " + std::to_string(sequence)},
                         {"plan", "llama-3-8b-fsdp"},
                         {"measured", {{"iteration_s", e.step->time_s}}}});
        nlohmann::json& given = cases.back()["plan"];
        given = nlohmann::json::parse(write_plan(plan));
        given["training"]["sequence_length"] = sequence;
    }
    return nlohmann::json{{"cases", cases}}.dump();
}

}  // namespace

TEST_CASE(
    "runs are added by the dialog, fitted beside the window, and saved as a cluster that the plan then has") {
    const auto folder = test::fresh_folder("calibrate");
    Driver d("llama-3-8b-fsdp", {1600, 900}, 1, folder / "config", folder);
    write_file((folder / "runs.json").string(), slower_runs(d.plan()));
    begin_calibration(d);
    REQUIRE(d.click("calibrate.add"));
    CHECK(d.shell.dialog() == DialogKind::runs);
    d.type((folder / "runs.json").string());
    REQUIRE(d.click("dialog.ok"));
    CHECK(d.shell.dialog() == DialogKind::none);
    REQUIRE(d.shell.calibration().files.size() == 1);
    CHECK(d.shell.calibration().files[0].said == "3 runs");
    d.until([&] { return d.shell.calibration().done(); });
    const Calibrated& made = *d.shell.calibration().made;
    CHECK(made.runs.size() == 3);
    CHECK(made.before > 0.1);
    CHECK(made.after < made.before / 3);
    d.surface.record_text(true);
    d.settle();
    const auto shows = [&](std::string_view words) {
        return std::any_of(d.surface.text_runs().begin(), d.surface.text_runs().end(),
                           [&](const TextRun& run) { return run.text.find(words) != std::string::npos; });
    };
    CHECK(shows("run 8192"));
    CHECK(shows("efficiency.gemm"));
    CHECK(shows("Off in the median"));
    d.click("calibrate.runs");
    d.click("calibrate.constants");
    REQUIRE(d.click("calibrate.name"));
    d.press({.key = Key::a, .ctrl = true});
    d.type("Our H100s");
    const double before = d.shell.evaluation().step->time_s;
    REQUIRE(d.click("calibrate.save"));
    CHECK_FALSE(d.shell.calibration().open);
    CHECK(std::filesystem::exists(folder / "config" / "clusters" / "our-h100s.json"));
    CHECK(d.plan().cluster.name == "Our H100s");
    CHECK(d.plan().cluster_source.preset == "our-h100s");
    REQUIRE(d.plan().cluster.calibration.has_value());
    CHECK(d.plan().cluster.calibration->runs == 3);
    CHECK(d.shell.evaluation().step->calibrated == 3);
    CHECK(d.shell.evaluation().step->time_s > before * 1.1);
    // The constants name it; undo takes the choice back, and the list of clusters keeps it.
    bool named = false;
    for (const Constant& c : list_constants(d.plan(), d.presets))
        named = named || c.source.find("runs.json") != std::string::npos;
    CHECK(named);
    d.press({.key = Key::z, .ctrl = true});
    CHECK_FALSE(d.plan().cluster.calibration.has_value());
    CHECK(d.presets.has_own(PresetKind::cluster, "our-h100s"));
}

TEST_CASE(
    "a table of runs that is dropped opens the calibration; then a log is added as a run of the open plan") {
    const auto folder = test::fresh_folder("calibrate-drop");
    Driver d("llama-3-8b-fsdp", {1280, 720}, 1, folder / "config", folder);
    const Plan before = d.plan();
    write_file((folder / "runs.json").string(), slower_runs(d.plan()));
    write_file((folder / "titan.log").string(),
               "[rank0]: step: 1  loss: 9  tps: 4,000\n[rank0]: step: 2  tps: 5,000\n"
               "[rank0]: step: 3  tps: 5,100\n");
    write_file((folder / "broken.txt").string(), "no runs at all\n");
    d.shell.open_file(folder / "runs.json");
    d.settle();
    REQUIRE(d.shell.calibration().open);
    d.shell.open_file(folder / "titan.log");  // without the sheet it would stand next to the plan
    d.shell.open_file(folder / "broken.txt");
    d.settle();
    REQUIRE(d.shell.calibration().files.size() == 3);
    REQUIRE(d.shell.calibration().own.runs.size() == 4);
    CHECK(d.shell.calibration().files[1].by_open_plan);
    CHECK(d.shell.calibration().own.runs[3].plan.layout == before.layout);
    CHECK(d.shell.calibration().files[2].wrong);
    REQUIRE(d.click("calibrate.remove", 2));
    REQUIRE(d.click("calibrate.remove", 1));
    CHECK(d.shell.calibration().own.runs.size() == 3);
    d.until([&] { return d.shell.calibration().done(); });
    REQUIRE(d.click("calibrate.use"));
    CHECK_FALSE(d.shell.calibration().open);
    CHECK(d.plan().cluster.calibration.has_value());
    CHECK(d.plan().cluster.gpu.efficiency.gemm < before.cluster.gpu.efficiency.gemm);
    CHECK(d.plan().layout == before.layout);
    CHECK_FALSE(std::filesystem::exists(folder / "config" / "clusters"));
    // Runs of another GPU cannot be used, and the window says why.
    d.shell.open_plan(d.presets.plan("moe-nvl72"));
    d.settle();
    d.shell.open_file(folder / "runs.json");
    d.until([&] { return d.shell.calibration().done(); });
    REQUIRE(d.click("calibrate.use"));
    CHECK(d.shell.calibration().open);
    CHECK(d.shell.calibration().error.find("the constants are of") != std::string::npos);
    REQUIRE(d.click("calibrate.close"));
    CHECK_FALSE(d.shell.calibration().open);
}
