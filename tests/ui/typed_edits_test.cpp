// Tests that the search of commands sets factors and fields.
#include "app/ui/shell/palette.h"
#include "core/io/plan_json.h"
#include "core/pipeline/follow.h"
#include "core/plan/edits.h"
#include "tests/ui/press.h"

#include <algorithm>
#include <doctest/doctest.h>
#include <string>
#include <utility>
#include <vector>

using namespace pentamesh;
using namespace pentamesh::ui;

TEST_CASE("Ctrl+P sets factors and fields, as one edit") {
    Driver d("llama-3-70b-3d");
    const Plan before = d.plan();
    run_command(d, "tp 4 pp 8 zero 1 batch 256");
    CHECK(d.plan().layout.tp == 4);
    CHECK(d.plan().layout.pp == 8);
    CHECK(d.plan().layout.zero == 1);
    CHECK(d.plan().training.global_batch == 256);
    CHECK(ranks_laid_out(d.plan()) == before.cluster.gpus);
    d.press({.key = Key::z, .ctrl = true});
    CHECK(d.plan() == before);
    run_command(d, "gpus 128");
    CHECK(d.plan().cluster.gpus == 128);
}

TEST_CASE("what is typed means the same as --set") {
    Driver d("llama-3-70b-3d");
    const Plan plan = d.plan();
    const std::vector<std::pair<std::string, std::vector<std::string>>> edits{
        {"tp 1", {"tp=1"}},
        {"tp 4", {"tp=4"}},
        {"tp 16", {"tp=16"}},
        {"tp 3", {"tp=3"}},
        {"cp 2", {"cp=2"}},
        {"cp 4 tp 2", {"cp=4", "tp=2"}},
        {"pp 1", {"pp=1"}},
        {"pp 2", {"pp=2"}},
        {"pp 8 tp 4", {"pp=8", "tp=4"}},
        {"tp 4 dp_shard 8", {"tp=4", "dp_shard=8"}},
        {"tp 4 dp_replicate 2", {"tp=4", "dp_replicate=2"}},
        {"gpus 128", {"gpus=128"}},
        {"gpus 512 tp 4", {"gpus=512", "tp=4"}},
        {"schedule 1f1b", {"schedule=1f1b"}},
        {"schedule gpipe", {"schedule=gpipe"}},
        {"schedule zb-h1", {"schedule=zb-h1"}},
        {"schedule zb-v tp 2", {"schedule=zb-v", "tp=2"}},
        {"schedule dualpipev", {"schedule=dualpipev"}},
        {"schedule interleaved chunks 2", {"schedule=interleaved", "virtual_stages=2"}},
        {"schedule 1f1b chunks 5", {"schedule=1f1b", "virtual_stages=5"}},
        {"dp_shard 4", {"dp_shard=4"}},
        {"dp_shard 16", {"dp_shard=16"}},
        {"dp_replicate 2", {"dp_replicate=2"}},
        {"dp_shard 4 dp_replicate 2", {"dp_shard=4", "dp_replicate=2"}},
        {"zero 3", {"zero=3"}},
        {"micro-batch 2", {"micro_batch=2"}},
        {"batch 1024", {"global_batch=1024"}},
        {"recompute full", {"recompute=full"}}};
    for (const auto& edit : edits) {
        const auto& [typed, sets] = edit;
        CAPTURE(edit.first);
        const auto made = typed_edits(plan, typed, d.presets);
        REQUIRE(made);
        CHECK(made->refused.empty());
        CHECK(write_plan(made->plan) == write_plan(follow_sets(plan, sets, d.presets).plan));
    }
    // A row of the list sets what is typed.
    for (const char* axis : {"dp_shard", "dp_replicate", "tp", "pp", "ep"}) {
        const Plan typed = with_value(plan, "/layout/" + std::string(axis), "4", d.presets);
        const std::vector<std::string> sets{std::string(axis) + "=4"};
        CHECK(write_plan(typed) == write_plan(follow_sets(plan, sets, d.presets).plan));
    }
}

TEST_CASE("what is no edit searches commands, and a value that is refused says why") {
    Driver d("llama-3-70b-3d");
    const Plan& plan = d.plan();
    CHECK_FALSE(typed_edits(plan, "tp", d.presets));
    CHECK_FALSE(typed_edits(plan, "open preset", d.presets));
    CHECK_FALSE(typed_edits(plan, "order of", d.presets));  // a command begins so
    CHECK_FALSE(typed_edits(plan, "tp 2 colour 3", d.presets));
    const auto schedule = typed_edits(plan, "schedule=zb-v, tp = 2", d.presets);
    REQUIRE(schedule);
    CHECK(schedule->refused.empty());
    CHECK(schedule->plan.layout.schedule == Schedule::zb_v);
    CHECK(schedule->plan.layout.tp == 2);
    const auto wrong = typed_edits(plan, "tp 0", d.presets);
    REQUIRE(wrong);
    CHECK(wrong->refused.find("whole number") != std::string::npos);
    CHECK(wrong->plan == plan);
    const Plan before = plan;
    d.press({.key = Key::p, .ctrl = true});
    d.type("zero 7");
    d.settle();
    CHECK(says(d, "zero"));
    d.press({Key::enter});
    CHECK(d.plan() == before);
}

TEST_CASE("F6 and Ctrl+Tab go from part to part of the window, and round") {
    Driver d("llama-3-70b-3d");
    d.press({.key = Key::f6});
    const Id first = d.shell.ui_state().focus;
    REQUIRE(first != 0);
    const auto part_of = [&](Id id) {
        for (const UiState::Area& a : d.shell.ui_state().last_areas)
            if (a.id == id) return a.part;
        return Id{0};
    };
    std::vector<Id> parts{part_of(first)};
    for (int i = 0; i < 20; ++i) {
        d.press({.key = Key::tab, .ctrl = true});
        const Id part = part_of(d.shell.ui_state().focus);
        REQUIRE(part != 0);
        if (part == parts.front()) break;
        CHECK(std::find(parts.begin(), parts.end(), part) == parts.end());
        parts.push_back(part);
    }
    CHECK(parts.size() >= 4);  // the plan, the views, the column at the right
    CHECK(d.shell.ui_state().focus == first);
    d.press({.key = Key::f6, .shift = true});
    CHECK(part_of(d.shell.ui_state().focus) == parts.back());
}
