// The cells of the mesh show a figure of their GPU: the engine's of its stage, or what a run measured on its
// rank.
#include "app/ui/views/mesh/mesh_figure.h"

#include "app/ui/shell/picture.h"
#include "app/ui/views/mesh/mesh_draw.h"
#include "app/ui/views/mesh/view.h"
#include "core/io/presets.h"
#include "core/mesh/places.h"
#include "tests/near.h"
#include "tests/ui/press.h"

#include <algorithm>
#include <doctest/doctest.h>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

using namespace pentamesh;
using namespace pentamesh::ui;
using pentamesh::test::near;

namespace {

const Presets& shipped() {
    static const Presets presets(std::filesystem::path(SOURCE_DIR) / "presets");
    return presets;
}

// A plan, its evaluation and a scene of both.
struct FigureCase {
    Plan plan;
    Evaluation evaluation;
    Selection selection{};
    Hover none{}, next{};
    RealRun run{};
    explicit FigureCase(Plan of) : plan(std::move(of)), evaluation(evaluate(plan)) {}
    [[nodiscard]] Scene scene() {
        return {.plan = plan,
                .evaluation = evaluation,
                .presets = shipped(),
                .selection = selection,
                .hover = none,
                .next_hover = next,
                .run = run.files.empty() ? nullptr : &run};
    }
    [[nodiscard]] FigureValues values(std::string_view name) {
        return figure_values(scene(), mesh_figures()[static_cast<std::size_t>(*figure_named(name))]);
    }
    [[nodiscard]] const Mesh& mesh() const { return evaluation.mesh; }
};

runs::RunFile trace_of(std::int64_t rank, std::int64_t world, double compute_s, double tp_s) {
    runs::RunFile f;
    f.rank = rank, f.world = world;
    f.step_s = 4;
    f.parts[runs::RunPart::compute] = {compute_s, compute_s};
    f.parts[runs::RunPart::tp] = {tp_s, 2 * tp_s};
    f.parts[runs::RunPart::idle] = {4 - compute_s - tp_s, 4 - compute_s - tp_s};
    return f;
}

Plan huge_plan() {
    Plan plan = shipped().plan("llama-3.1-405b-16k");
    plan.layout.dp_shard = 1024;
    plan.cluster.gpus = 131072;
    plan.training.global_batch = 16384;
    return plan;
}

}  // namespace

TEST_CASE(
    "a GPU's memory is what Memory shows of its stage, and waits are those of the step's longest stage") {
    for (const Presets::Entry& entry : shipped().list(PresetKind::plan)) {
        CAPTURE(entry.id);
        FigureCase s(shipped().plan(entry.id));
        if (!s.evaluation.valid) continue;
        const FigureValues memory = s.values("memory");
        REQUIRE(memory.known());
        const Factor& pp = s.mesh().dense[Axis::pp];
        double low = 1e300, high = 0;
        for (std::int64_t rank = 0; rank < s.mesh().world; ++rank) {
            const double own =
                s.evaluation.memory.stage[static_cast<std::size_t>(rank / pp.stride % pp.size)].total();
            if (*memory.of(s.mesh(), rank) != own) FAIL("rank " << rank);
            low = std::min(low, own), high = std::max(high, own);
        }
        CHECK(memory.low == low);
        CHECK(memory.high == high);
        CHECK(memory.high == s.evaluation.memory.peak());
        if (!s.evaluation.step) continue;
        const std::int64_t rank = s.evaluation.comm.busiest_device * pp.stride;
        double waits = 0;
        for (const GroupKind k : all_of<GroupKind>())
            if (is_data_parallel(k)) waits += s.evaluation.step->exposed_comm_s[k];
        CHECK(*s.values("waits-dp").of(s.mesh(), rank) == near(waits, 1e-9));
        CHECK(*s.values("waits").of(s.mesh(), rank) == near(exposed_of(*s.evaluation.step), 1e-9));
        // In the broken plan another stage computes longest than the one that works longest in all.
        if (entry.id != "broken-pp-zero3")
            CHECK(*s.values("work").of(s.mesh(), rank)
                  == near(runs::longest_compute(*s.evaluation.step), 1e-9));
    }
}

TEST_CASE("a node, and any other run of ranks, has the ends of its own GPUs") {
    std::vector<Plan> plans;
    for (const char* id : {"llama-3-70b-3d", "deepseek-v3-2048", "moe-nvl72", "llama-3.1-405b-16k"})
        plans.push_back(shipped().plan(id));
    // Stages inside a node, and stages that do not end with one.
    plans.push_back(shipped().plan("mesh-8"));
    plans.back().layout.tp = 2, plans.back().layout.pp = 4, plans.back().layout.dp_shard = 1;
    plans.back().layout.dp_replicate = 1;
    for (const Plan& plan : plans) {
        CAPTURE(plan.name);
        FigureCase s(plan);
        REQUIRE(s.evaluation.valid);
        const FigureValues v = s.values("memory");
        const std::int64_t domain = domain_of(plan.cluster, 0), world = s.mesh().world;
        for (const std::int64_t size : {domain, std::int64_t{5}, std::int64_t{1}}) {
            const auto runs = figure_runs(v, s.mesh(), {}, size);
            std::int64_t cell = 0;
            for (const FigureRun& run : runs)
                for (std::int64_t i = 0; i < run.count; ++i, ++cell) {
                    REQUIRE(run.first + i * size == cell * size);
                    double low = 1e300, high = 0;
                    const std::int64_t end = std::min(world, (cell + 1) * size);
                    for (std::int64_t r = cell * size; r < end; ++r)
                        low = std::min(low, *v.of(s.mesh(), r)), high = std::max(high, *v.of(s.mesh(), r));
                    const FigureEnds ends = ends_of(v, s.mesh(), cell * size, end);
                    if (ends.low != low || ends.high != high || ends.known != end - cell * size)
                        FAIL("cell " << cell << " of " << size);
                    if (run.shade != shade_of(v, {}, high)) FAIL("shade of cell " << cell);
                }
            CHECK(cell == (world + size - 1) / size);
        }
    }
}

TEST_CASE("one draw colours 131,072 GPUs, and each cell has the colour of its stage's value") {
    FigureCase s(huge_plan());
    REQUIRE(s.evaluation.valid);
    const FigureValues v = s.values("memory");
    CHECK(v.by_stage.size() == 16);
    CHECK(repeats_by_stage(v, s.mesh(), 1));
    CHECK(repeats_by_stage(v, s.mesh(), 8));
    CHECK_FALSE(repeats_by_stage(v, s.mesh(), 5));
    Driver d("llama-3.1-405b-16k", {1600, 1000});
    run_id(d, "mesh.color.memory");
    d.shell.show_full(ViewId::mesh);
    d.rest();
    const int small = d.surface.last_cost().vertices;
    d.shell.open_plan(huge_plan());
    d.rest();
    CHECK(d.shell.views().mesh.figure == *figure_named("memory"));
    CHECK(d.surface.last_cost().vertices < 2 * small);
    const MeshViewState& mesh = d.shell.views().mesh;
    CHECK_FALSE(mesh.ladder.shown());
    CHECK(says(d, figure_text(mesh_figures()[1], v.high)));
}

TEST_CASE("ranks of a run without a file have no value, and a cell of theirs alone is pale") {
    FigureCase s(shipped().plan("hsdp-64"));
    const std::int64_t world = s.mesh().world;
    REQUIRE(world == 64);
    for (std::int64_t r = 40; r < 48; ++r)
        s.run.files.push_back(trace_of(r, world, r == 45 ? 3.09 : 2.6, 0.25));
    s.run.files.push_back(trace_of(41, world, 9, 9));  // a second file of one rank
    s.run.files.push_back(trace_of(3, 128, 9, 9));     // a file of another run
    s.run.files.push_back(trace_of(-1, world, 9, 9));  // a file that does not say its rank
    const FigureValues v = s.values("run-work");
    CHECK(v.by_rank.size() == 8);
    CHECK(v.low == 2.6);
    CHECK(v.high == 3.09);
    CHECK(*v.of(s.mesh(), 45) == 3.09);
    CHECK_FALSE(v.of(s.mesh(), 39).has_value());
    CHECK_FALSE(v.of(s.mesh(), 3).has_value());
    // As GPUs three runs have a shade, the rest is pale; as nodes one has, that of its slowest rank.
    const auto gpus = figure_runs(v, s.mesh(), {}, 1);
    REQUIRE(gpus.size() == 3);
    CHECK(gpus[1].first == 45);
    CHECK(gpus[1].shade == kFigureShades - 1);
    CHECK(gpus[0].shade == 0);
    const auto nodes = figure_runs(v, s.mesh(), {}, 8);
    REQUIRE(nodes.size() == 1);
    CHECK(nodes[0].first == 40);
    CHECK(nodes[0].count == 1);
    CHECK(nodes[0].shade == kFigureShades - 1);
    // Outside the range a value is pale.
    CHECK(shade_of(v, FigureRange{3, 4}, 2.6) == kPaleShade);
    CHECK(shade_of(v, FigureRange{3, 4}, 3.09) == kFigureShades - 1);
    const Scene scene = s.scene();
    CHECK(figure_tooltip(scene, v, 45, false) == "measured compute: 3.09 s");
    CHECK(figure_tooltip(scene, v, 1, false) == "measured compute: no file of this rank");
    CHECK(figure_tooltip(scene, v, 41, true).find("node 5: 2.60 s to 3.09 s") != std::string::npos);
    // Waits, and what is hidden with them; an axis that nobody measured has no values.
    CHECK(*s.values("run-waits").of(s.mesh(), 40) == 0.25);
    CHECK(*s.values("run-total-tp").of(s.mesh(), 40) == 0.5);
    CHECK_FALSE(s.values("run-waits-ep").known());
    CHECK(offers_figure(scene, mesh_figures()[static_cast<std::size_t>(*figure_named("run-waits-tp"))]));
    CHECK_FALSE(
        offers_figure(scene, mesh_figures()[static_cast<std::size_t>(*figure_named("run-waits-ep"))]));
}

TEST_CASE("the difference is what was measured on a rank, less what the plan predicts for its stage") {
    FigureCase s(shipped().plan("llama-3-70b-3d"));
    const std::int64_t world = s.mesh().world;
    for (const std::int64_t rank : {std::int64_t{0}, world - 1})
        s.run.files.push_back(trace_of(rank, world, 3, 0.25));
    const FigureValues step = s.values("off-step"), work = s.values("off-work");
    CHECK(*step.of(s.mesh(), 0) == near(4 - s.evaluation.step->time_s, 1e-9));
    EnumArray<runs::RunPart, bool> measured{};
    for (const runs::RunPart p : {runs::RunPart::compute, runs::RunPart::tp, runs::RunPart::idle})
        measured[p] = true;
    for (const std::int64_t rank : {std::int64_t{0}, world - 1}) {
        const auto parts =
            runs::predict_parts(s.evaluation, runs::Division::trace, stage_of_rank(s.mesh(), rank), measured);
        CHECK(*work.of(s.mesh(), rank) == near(3 - parts[runs::RunPart::compute], 1e-9));
        CHECK(*s.values("off-waits-tp").of(s.mesh(), rank) == near(0.25 - parts[runs::RunPart::tp], 1e-9));
    }
    const MeshFigure& figure = mesh_figures()[static_cast<std::size_t>(*figure_named("off-step"))];
    CHECK(figure_text(figure, -0.5) == "−500 ms");
    CHECK(figure_text(figure, 0.5) == "+500 ms");
}

TEST_CASE("a scale goes from near the ground to far from it, in every theme, and pale is nearer still") {
    for (int t = 0; t < kThemeCount; ++t) {
        const Theme& theme = theme_of(static_cast<ThemeId>(t));
        CAPTURE(std::string(name_of(theme.id)));
        for (const MeshFigure& figure : mesh_figures()) {
            CAPTURE(std::string(figure.name));
            double last = contrast(theme.window, color_of_shade(theme, figure, kPaleShade));
            CHECK(contrast(theme.window, color_of_shade(theme, figure, 0)) > 1.1 * last);
            for (int shade = 0; shade < kFigureShades; ++shade) {
                const double far = contrast(theme.window, color_of_shade(theme, figure, shade));
                if (far < last) FAIL("shade " << shade);
                last = far;
            }
            CHECK(last > 6);
        }
    }
}

TEST_CASE("the menu of the mesh chooses a figure, an edit keeps it, an axis takes it back") {
    Driver d("llama-3-70b-3d", {1600, 1000});
    REQUIRE(d.click("mesh.more"));
    CHECK(says(d, "Colour of the cells…"));
    d.press({Key::down});
    d.press({Key::enter});
    REQUIRE(d.shell.views().mesh.menu == MeshMenu::figures);
    CHECK(says(d, "memory used"));
    CHECK(says(d, "waits for tp"));
    CHECK_FALSE(says(d, "waits for ep"));   // the model has no experts
    CHECK_FALSE(says(d, "measured step"));  // there is no run
    d.press({Key::down}), d.press({Key::down});
    d.press({Key::enter});
    CHECK(d.shell.views().mesh.figure == *figure_named("memory"));
    const Memory& memory = d.shell.evaluation().memory;
    double low = memory.peak();
    for (const StageMemory& s : memory.stage) low = std::min(low, s.total());
    CHECK(says_just(d, ui::memory_text(low)));
    CHECK(says_just(d, ui::memory_text(memory.peak())));
    CHECK(says(d, "Memory used: " + ui::memory_text(memory.peak()) + " on stage"));
    Plan plan = d.plan();
    plan.training.micro_batch *= 2;
    d.shell.edit_plan(plan, "micro-batch 2");
    d.settle();
    CHECK(d.shell.views().mesh.figure == *figure_named("memory"));
    CHECK(says_just(d, ui::memory_text(d.shell.evaluation().memory.peak())));
    REQUIRE(d.click("mesh.axis", 0));
    CHECK(d.shell.views().mesh.figure == 0);
    CHECK_FALSE(says(d, "Memory used"));
    run_command(d, "colour the mesh by waits for tp");
    CHECK(d.shell.views().mesh.figure == *figure_named("waits-tp"));
    REQUIRE(d.click("mesh.figure"));  // the legend's name opens the list
    CHECK(d.shell.views().mesh.menu == MeshMenu::figures);
    d.press({Key::escape});
    CHECK(d.shell.views().mesh.menu == MeshMenu::none);
}

TEST_CASE("a drag on the scale sets the range, a double click takes it back") {
    Driver d("llama-3-70b-3d", {1600, 1000});
    run_id(d, "mesh.color.memory");
    const Rect bar = *d.shell.ui_state().rect_of("mesh.scale");
    d.drag({bar.x + bar.w * 0.5f, bar.center().y}, {bar.right() - 4, bar.center().y});
    const MeshViewState& mesh = d.shell.views().mesh;
    REQUIRE(mesh.range.has_value());
    const FigureValues& v = *mesh.shown_figure.values;
    CHECK(mesh.range->high == near(v.high, 0.001));
    CHECK(mesh.range->low == near((v.low + v.high) / 2, 0.02));
    CHECK(says(d, "outside " + ui::memory_text(mesh.range->low)));
    double_click(d, "mesh.scale");
    CHECK_FALSE(mesh.range.has_value());
}

TEST_CASE("a plan whose GPUs all hold the same says so in place of a scale") {
    Driver d("mesh-8");
    run_id(d, "mesh.color.memory");
    CHECK(says(d, "the same on all GPUs: " + ui::memory_text(d.shell.evaluation().memory.peak())));
    CHECK_FALSE(d.drawn("mesh.scale"));
    // The card of a GPU names the figure.
    const Rect cells = *d.shell.ui_state().rect_of("mesh.cells");
    const CellGrid grid = seen(*d.shell.views().mesh.layout, d.shell.views().mesh.camera, cells);
    d.move(cell_rect(grid, 5).center());
    d.rest();
    CHECK(says(d, "memory used: "));
}
