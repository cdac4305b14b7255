#include "app/ui/panels/selection_words.h"
#include "app/ui/views/shards/shards_draw.h"
#include "tests/near.h"
#include "tests/ui/driver.h"

#include <algorithm>
#include <doctest/doctest.h>

using namespace pentamesh;
using pentamesh::test::near;
using namespace pentamesh::ui;

namespace {

std::size_t sheets_drawn(Driver& d) {
    std::size_t n = 0;
    while (d.drawn("shards.tensor", n)) ++n;
    return n;
}

std::string table_of(Driver& d) {
    d.press({.key = Key::p, .ctrl = true});
    d.type("copy data as csv");
    d.press({Key::enter});
    return d.clipboard;
}

}  // namespace

TEST_CASE("the digit 3 fills the window with the tensors of a layer") {
    Driver d("llama-3-70b-3d");
    d.press({Key::n3});
    CHECK(sheets_drawn(d) == 9);  // q, k, v, output, gate, up, down and two norms
    CHECK_FALSE(d.drawn("memory.stage"));
    d.press({Key::n3});
    CHECK(d.drawn("memory.stage"));
}

TEST_CASE("Shards stands beside the mesh in the dashboard") {
    Driver d("mesh-8");
    REQUIRE(d.click("view.shards"));
    CHECK(d.drawn("shards.tensor"));
    CHECK(d.drawn("memory.stage"));
    REQUIRE(d.click("view.mesh"));
    CHECK(d.drawn("mesh.cells"));
}

TEST_CASE("clicking a tensor selects it, explains it and follows the state that is shown") {
    Driver d("llama-3-70b-3d");
    d.press({Key::n3});
    REQUIRE(d.click("shards.tensor", 0));
    const Selection& sel = d.shell.selection();
    CHECK(sel.topic == Selection::Topic::tensor);
    CHECK(sel.tensor >= 0);
    CHECK(sel.activation == -1);
    Hover none, next;
    const Scene scene{.plan = d.plan(),
                      .evaluation = d.shell.evaluation(),
                      .presets = d.presets,
                      .selection = d.shell.selection(),
                      .hover = none,
                      .next_hover = next};
    const auto parameters = selected_tensor(scene, Moment::at_rest);
    REQUIRE(parameters);
    CHECK(parameters->id == TensorId::attention_q);
    CHECK(explain_selection(scene).formula.find("rows / tp") != std::string::npos);
    d.click("shards.state", 2);
    REQUIRE(selected_tensor(scene, Moment::at_rest));
    CHECK(selected_tensor(scene, Moment::at_rest)->state == TensorState::optimizer);
    d.click("shards.tensor", 0);  // again: no longer
    CHECK(sel.topic == Selection::Topic::none);
}

TEST_CASE("an activation can be selected, and its sum too") {
    Driver d("llama-3-70b-3d");
    d.press({Key::n3});
    d.click("shards.state", 3);
    d.click("shards.moment", 1);
    const std::size_t n = sheets_drawn(d);
    CHECK(n > 9);
    Hover none, next;
    const Scene scene{.plan = d.plan(),
                      .evaluation = d.shell.evaluation(),
                      .presets = d.presets,
                      .selection = d.shell.selection(),
                      .hover = none,
                      .next_hover = next};
    bool sum = false;
    for (std::size_t i = 0; i < n; ++i) {
        REQUIRE(d.click("shards.tensor", i));
        REQUIRE(d.shell.selection().activation >= 0);
        const auto computing = selected_tensor(scene, Moment::computing);
        REQUIRE(computing);
        sum = sum || !selected_tensor(scene, Moment::at_rest);
        CHECK_FALSE(explain_selection(scene).empty());
    }
    CHECK(sum);
}

TEST_CASE("the blocks show attention, the MLP, and the ends apart") {
    Driver d("llama-3-70b-3d");
    d.press({Key::n3});
    const std::size_t all = sheets_drawn(d);
    d.click("shards.block", 1);
    const std::size_t attention = sheets_drawn(d);
    d.click("shards.block", 2);
    const std::size_t mlp = sheets_drawn(d);
    CHECK(attention + mlp == all);
    d.click("shards.block", 3);
    CHECK(sheets_drawn(d) == 3);  // embedding, last norm, head
}

TEST_CASE("a model with two kinds of layers shows either, and its experts as a map") {
    Driver d("deepseek-v3-2048");
    d.press({Key::n3});
    REQUIRE(d.drawn("shards.experts"));
    REQUIRE(d.click("shards.kind", 1));
    CHECK_FALSE(d.drawn("shards.experts"));
    d.click("shards.kind", 0);
    CHECK(d.drawn("shards.experts"));
    // Arrow keys walk the experts whose matrices are drawn.
    d.click("shards.block", 2);
    const auto map = d.shell.ui_state().rect_of("shards.experts");
    REQUIRE(map);
    d.click_at({map->right() - 8, map->y + 8});
    CHECK(d.drawn("shards.experts"));
}

TEST_CASE("isolating an axis is a click on its chip, and another click takes it back") {
    Driver d("hsdp-64");
    d.press({Key::n3});
    const auto index = static_cast<std::uint64_t>(Axis::dp_shard);
    const auto picture = [&] { return d.surface.read().pixels; };
    const auto before = picture();
    REQUIRE(d.click("shards.axis", index));
    d.move({2, 2});
    const auto alone = picture();
    CHECK(alone != before);
    d.click("shards.axis", index);
    d.move({2, 2});
    CHECK(picture() != alone);
    CHECK_FALSE(d.drawn("shards.axis", static_cast<std::uint64_t>(Axis::tp)));  // its factor is 1
}

TEST_CASE("the table says each tensor's placement and the range of the selected rank") {
    Driver d("llama-3-70b-3d");
    d.press({Key::n3});
    d.shell.selection().rank = 1;
    const std::string csv = table_of(d);
    CHECK(csv.find("attention.q") != std::string::npos);
    CHECK(csv.find("cut along rows into 8") != std::string::npos);
    CHECK(csv.find("rank 1 holds") != std::string::npos);
    CHECK(csv.find("\"rows 1,024 – 2,047 of 8,192\"") != std::string::npos);
}

TEST_CASE("the picker prices every strategy and shows what each of its GPUs holds") {
    Driver d("llama-3-70b-3d");
    d.press({Key::n3});
    REQUIRE(d.click("shards.scope", 1));
    for (int i = 0; i < kStrategyCount; ++i)
        REQUIRE(d.drawn("shards.strategy", static_cast<std::uint64_t>(i)));
    for (int i = 0; i < kStrategyCount; ++i) d.click("shards.strategy", static_cast<std::uint64_t>(i));
    CHECK(d.click("shards.gpus", 1));
    const std::string csv = table_of(d);
    CHECK(csv.find("ZeRO-3 / FSDP") != std::string::npos);
    CHECK(csv.find("No experts to deal.") != std::string::npos);
    d.click("shards.scope", 0);
    CHECK(d.drawn("shards.tensor"));
}

TEST_CASE("the picker's first picture shows what data and context parallelism cut: each GPU's own tokens") {
    Driver d("llama-3-70b-3d");
    d.press({Key::n3});
    REQUIRE(d.click("shards.scope", 1));
    const auto tokens = [&](Strategy s) {
        d.click("shards.strategy", static_cast<std::uint64_t>(s));
        d.settle();
        return d.shell.views().shards.picker.gpus->tokens;
    };
    const auto ddp = tokens(Strategy::ddp);
    REQUIRE(ddp.size() == 4);
    for (std::size_t i = 0; i < 4; ++i) {
        CHECK(ddp[i].samples == 4);
        CHECK(ddp[i].sample == Range{static_cast<std::int64_t>(i), static_cast<std::int64_t>(i) + 1});
        CHECK(ddp[i].token.size() == ddp[i].tokens);
    }
    // Head and tail: the first rank has the first and the last eighth.
    const auto cp = tokens(Strategy::cp);
    CHECK(cp[0].token == Range{0, cp[0].tokens / 8});
    CHECK(cp[0].second == Range{cp[0].tokens * 7 / 8, cp[0].tokens});
    for (const TokenShare& t : tokens(Strategy::tp)) CHECK(t.whole());
    const auto sp = tokens(Strategy::tp_sp);
    CHECK(sp[1].token == Range{sp[1].tokens / 4, sp[1].tokens / 2});
    for (const TokenShare& t : tokens(Strategy::pp)) CHECK(t.whole());
}

TEST_CASE("sheets keep their proportions and stay in the room") {
    const Presets presets(std::filesystem::path(SOURCE_DIR) / "presets");
    for (const char* name : {"llama-3.1-405b-16k", "deepseek-v3-2048", "single-gpu", "mixtral-8x7b-ep"}) {
        const Plan plan = presets.plan(name);
        std::vector<Sheet> sheets;
        make_sheets(plan, build_mesh(plan), {}, sheets);
        const std::vector<float> labels(sheets.size(), 80);
        for (const Vec2 room : {Vec2{700, 220}, Vec2{1100, 640}, Vec2{400, 400}}) {
            const auto places = pack_sheets(sheets, room, labels);
            REQUIRE(places.size() == sheets.size());
            double scale = 0;
            for (std::size_t i = 0; i < places.size(); ++i) {
                const Rect body = places[i].body;
                CHECK(body.right() <= room.x + 1);
                CHECK(body.bottom() <= room.y + 1);
                for (std::size_t j = 0; j < i; ++j) {
                    const Rect a = places[i].slot, b = places[j].slot;
                    CHECK((a.x >= b.right() - 0.1f || b.x >= a.right() - 0.1f || a.y >= b.bottom() - 0.1f
                           || b.y >= a.bottom() - 0.1f));
                }
                if (sheets[i].lying || body.w < 7 || body.h < 7) continue;  // held at a size that can be seen
                const double x = body.w / static_cast<double>(sheets[i].placement.shape[2]);
                const double y = body.h / static_cast<double>(sheets[i].placement.shape[1]);
                CHECK(x == near(y, 1e-3));
                if (scale > 0) CHECK(x == near(scale, 1e-3));
                scale = x;
            }
        }
    }
}

TEST_CASE("a cut finer than can be drawn leaves no pieces but still the rank's own part") {
    const Presets presets(std::filesystem::path(SOURCE_DIR) / "presets");
    Plan plan = presets.plan("llama-3-8b-fsdp");
    plan.cluster.gpus = plan.layout.dp_shard = 1024;
    plan.layout.dp_replicate = 1;
    std::vector<Sheet> sheets;
    make_sheets(plan, build_mesh(plan), {.rank = 77}, sheets);
    REQUIRE_FALSE(sheets.empty());
    for (const Sheet& s : sheets) {
        CAPTURE(std::string(name_of(s.placement.id)));
        CHECK(s.cuts.count == 1);
        CHECK(s.coarse.piece.empty());
        CHECK(s.fine.piece.empty());
        CHECK(s.lit.size() == 1);
    }
}

TEST_CASE("another rank's part of the same sheets is what sheets made for it have") {
    const Presets presets(std::filesystem::path(SOURCE_DIR) / "presets");
    const Plan plan = presets.plan("llama-3-70b-3d");
    const Mesh mesh = build_mesh(plan);
    std::vector<Sheet> made, lit;
    make_sheets(plan, mesh, {.rank = 0}, lit);
    for (const std::int64_t rank : {1, 9, 100, 255}) {
        make_sheets(plan, mesh, {.rank = rank}, made);
        light_sheets(plan, mesh, rank, lit);
        REQUIRE(made.size() == lit.size());
        for (std::size_t i = 0; i < made.size(); ++i) {
            CHECK(made[i].lit == lit[i].lit);
            CHECK(made[i].coarse.box == lit[i].coarse.box);
        }
    }
}

// The sanitizers find any other fault.
TEST_CASE("odd plans show sheets in every state") {
    for (const char* plan : {"single-gpu", "mesh-8", "llama-3.1-405b-131k", "deepseek-v3-2048", "moe-nvl72",
                             "gpt-1t-a100", "broken-pp-zero3", "mixtral-8x7b-ep"}) {
        Driver d(plan, {1000, 620});
        d.press({Key::n3});
        for (std::uint64_t state = 0; state < 4; ++state)
            for (std::uint64_t moment = 0; moment < 2; ++moment) {
                CAPTURE(std::string(plan));
                d.click("shards.state", state);
                d.click("shards.moment", moment);
                CHECK(sheets_drawn(d) > 0);
                CHECK(d.surface.read().width == 1000);
            }
        d.click("shards.scope", 1);
        d.surface.resize({640, 480}, 2);
        d.settle();
        CHECK(d.surface.read().width == 1280);
    }
}

TEST_CASE("the router's imbalance is stepped, typed and made even beside the expert map") {
    Driver d("mixtral-8x7b-ep");
    d.press({Key::n3});
    REQUIRE(d.click("shards.imbalance.plus"));
    CHECK(d.plan().training.router_imbalance == near(1.05));
    const double before_s = d.shell.evaluation().step->time_s;
    REQUIRE(d.click("shards.imbalance"));
    d.press({.key = Key::a, .ctrl = true});
    d.type("2.4");
    d.press({Key::enter});
    CHECK(d.plan().training.router_imbalance == near(2.4));
    CHECK(d.shell.evaluation().step->time_s > before_s);
    REQUIRE(d.click("shards.imbalance"));
    d.press({.key = Key::a, .ctrl = true});
    d.type("0.5");
    d.press({Key::enter});
    CHECK(d.plan().training.router_imbalance == near(2.4));
    REQUIRE(d.click("shards.imbalance.minus"));
    CHECK(d.plan().training.router_imbalance == near(2.35));
    REQUIRE(d.click("shards.even"));
    CHECK(d.plan().training.router_imbalance == 1);
}

TEST_CASE("an expert that is dragged up gets more tokens: its rank is the busiest, in one step of undo") {
    Driver d("mixtral-8x7b-ep");
    d.press({Key::n3});
    const auto map = d.shell.ui_state().rect_of("shards.experts");
    REQUIRE(map.has_value());
    const std::int64_t ep = d.shell.evaluation().mesh.expert[Axis::ep].size;
    const Vec2 first = map->min() + Vec2{8, 8};
    d.drag(first, first - Vec2{0, 24 * 3});  // three loads more
    const auto& loads = d.shell.views().shards.loads.load;
    REQUIRE(loads.size() == 8);
    CHECK(loads[0] == 4);
    CHECK(d.plan().training.router_imbalance == near(imbalance_of(loads, ep)));
    CHECK(d.plan().training.router_imbalance > 1);
    d.press({.key = Key::z, .ctrl = true});
    CHECK(d.plan().training.router_imbalance == 1);
    d.settle();
    CHECK(d.shell.views().shards.loads.load.empty());
    // The keyboard moves to the expert whose matrices are drawn.
    d.shell.ui_state().focus = id_of("shards.experts");
    d.shell.ui_state().focus_visible = true;
    d.press({Key::up});
    CHECK(d.plan().training.router_imbalance > 1);
}
