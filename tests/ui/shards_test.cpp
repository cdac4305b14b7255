#include "app/ui/kit/format.h"
#include "app/ui/panels/inspector.h"
#include "app/ui/views/shards/shards_sheets.h"
#include "tests/near.h"
#include "tests/ui/press.h"

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

// Returns the scene of what the window shows, with nothing under the mouse.
Scene driven_scene(Driver& d, const Hover& none, Hover& next) {
    return {.plan = d.plan(),
            .evaluation = d.shell.evaluation(),
            .presets = d.presets,
            .selection = d.shell.selection(),
            .hover = none,
            .next_hover = next};
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
    d.click("shards.scope", 1);
    CHECK(sheets_drawn(d) == 9);  // q, k, v, output, gate, up, down and two norms
    CHECK_FALSE(d.drawn("memory.stage"));
    d.press({Key::n3});
    CHECK(d.drawn("memory.stage"));
}

TEST_CASE("Shards stands beside the mesh in the dashboard") {
    Driver d("mesh-8");
    REQUIRE(d.click("view.shards"));
    CHECK(d.drawn("shards.slice"));
    CHECK(d.drawn("memory.stage"));
    REQUIRE(d.click("view.mesh"));
    CHECK(d.drawn("mesh.cells"));
}

TEST_CASE("a knife of the loaf cuts the plan further, and a right click takes the cut back") {
    Driver d("mesh-8", {1280, 720});
    d.press({Key::n3});
    REQUIRE(d.plan().layout.tp == 2);
    REQUIRE(d.click("shards.knife", 0));
    CHECK(d.plan().layout.tp == 4);
    CHECK(d.plan().cluster.gpus == 8);  // data parallelism gave the ranks
    REQUIRE(d.click("shards.knife", 0, 1));
    CHECK(d.plan().layout.tp == 2);
    // A click on a slice selects its GPU, another lets it go.
    REQUIRE(d.click("shards.slice", 5));
    CHECK(d.shell.selection().rank == 5);
    REQUIRE(d.click("shards.slice", 5));
    CHECK(d.shell.selection().rank == -1);
    // Its data are the blocks that it draws.
    const std::string csv = table_of(d);
    CHECK(csv.find("optimizer") != std::string::npos);
    CHECK(csv.find("activations") != std::string::npos);
}

TEST_CASE("clicking a tensor selects it, explains it and follows the state that is shown") {
    Driver d("llama-3-70b-3d");
    d.press({Key::n3});
    d.click("shards.scope", 1);
    REQUIRE(d.click("shards.tensor", 0));
    const Selection& sel = d.shell.selection();
    CHECK(sel.topic == Selection::Topic::tensor);
    CHECK(sel.tensor >= 0);
    CHECK(sel.activation == -1);
    Hover none, next;
    const Scene scene = driven_scene(d, none, next);
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
    d.click("shards.scope", 1);
    d.click("shards.state", 3);
    d.click("shards.moment", 1);
    const std::size_t n = sheets_drawn(d);
    CHECK(n > 9);
    Hover none, next;
    const Scene scene = driven_scene(d, none, next);
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
    d.click("shards.scope", 1);
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
    d.click("shards.scope", 1);
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
    d.click("shards.scope", 1);
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
    d.click("shards.scope", 1);
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
    REQUIRE(d.click("shards.scope", 2));
    for (int i = 0; i < kStrategyCount; ++i)
        REQUIRE(d.drawn("shards.strategy", static_cast<std::uint64_t>(i)));
    for (int i = 0; i < kStrategyCount; ++i) d.click("shards.strategy", static_cast<std::uint64_t>(i));
    CHECK(d.click("shards.gpus", 1));
    const std::string csv = table_of(d);
    CHECK(csv.find("ZeRO-3 / FSDP") != std::string::npos);
    CHECK(csv.find("EP, an example") != std::string::npos);
    d.click("shards.scope", 1);
    CHECK(d.drawn("shards.tensor"));
}

TEST_CASE("a dense plan has experts on the page of ep, and the page says that they are an example") {
    Driver d("llama-3-70b-3d", {1280, 720});
    d.press({Key::n3});
    REQUIRE(d.click("shards.scope", 2));
    REQUIRE(d.click("shards.strategy", static_cast<std::uint64_t>(Strategy::ep)));
    d.settle();
    CHECK(says(d, "4 layers of Llama 3 70B with 8 experts, an example: this plan's model has none"));
    CHECK(d.shell.views().shards.picker.gpus->sheets.size() == 4);
    // A tile shows the first of its axis.
    REQUIRE(d.click("shards.axis_tile", 1));
    CHECK(d.shell.views().shards.picker.strategy == Strategy::tp);
}

TEST_CASE("the page of ZeRO-3 says what is gathered for a layer and what is kept of it") {
    Driver d("llama-3-70b-3d", {1280, 900});
    d.press({Key::n3});
    d.press({Key::enter});
    REQUIRE(d.click("shards.scope", 2));
    REQUIRE(d.click("shards.strategy", static_cast<std::uint64_t>(Strategy::fsdp)));
    d.settle();
    StrategyPrices prices;
    price_strategies(d.plan(), 4, prices);
    const LayerShed shed = shed_of(prices.price[static_cast<std::size_t>(Strategy::fsdp)]);
    CHECK(says(d, ui::memory_text(shed.gathered) + " are gathered for a layer, and dropped after it"));
    CHECK(says(d, "A GPU keeps " + ui::memory_text(shed.kept)));
}

TEST_CASE("the picker's first picture shows what data and context parallelism cut: each GPU's own tokens") {
    Driver d("llama-3-70b-3d");
    d.press({Key::n3});
    REQUIRE(d.click("shards.scope", 2));
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

namespace {

PackedWords all_names(const std::vector<Sheet>& sheets) {
    return {std::vector<float>(sheets.size(), 80), 180, true};
}

void check_apart(const std::vector<SheetPlace>& places, Vec2 room) {
    for (std::size_t i = 0; i < places.size(); ++i) {
        const Rect a = places[i].slot;
        CHECK(a.x >= -0.1f);
        CHECK(a.y >= -0.1f);
        CHECK(a.right() <= room.x + 0.5f);
        CHECK(a.bottom() <= room.y + 0.5f);
        CHECK(places[i].body.x >= a.x - 0.1f);
        CHECK(places[i].body.right() <= a.right() + 0.1f);
        CHECK(places[i].body.bottom() <= a.bottom() + 0.1f);
        for (std::size_t j = 0; j < i; ++j) {
            const Rect b = places[j].slot;
            CHECK((a.x >= b.right() - 0.1f || b.x >= a.right() - 0.1f || a.y >= b.bottom() - 0.1f
                   || b.y >= a.bottom() - 0.1f));
        }
    }
}

}  // namespace

TEST_CASE("a tensor's rectangle is as large as its bytes, and what is not says so") {
    const Presets presets(std::filesystem::path(SOURCE_DIR) / "presets");
    for (const char* name : {"llama-3.1-405b-16k", "deepseek-v3-2048", "single-gpu", "mixtral-8x7b-ep"}) {
        CAPTURE(std::string(name));
        const Plan plan = presets.plan(name);
        for (const TensorState state : {TensorState::parameters, TensorState::activations}) {
            std::vector<Sheet> sheets;
            SheetRequest request;
            request.state = state;
            request.moe = moe_layers(plan.model) > 0;
            make_sheets(plan, build_mesh(plan), request, sheets);
            for (const Vec2 room : {Vec2{700, 220}, Vec2{1100, 640}, Vec2{400, 400}, Vec2{1800, 900}}) {
                CAPTURE(room.x);
                const PackedSheets packed = pack_sheets(sheets, room, all_names(sheets));
                REQUIRE(packed.place.size() == sheets.size());
                check_apart(packed.place, room);
                double scale = 0, largest = 0, to_scale = 0, all = 0;
                for (std::size_t i = 0; i < sheets.size(); ++i) {
                    const SheetPlace& p = packed.place[i];
                    const double bytes = drawn_bytes(sheets[i]);
                    all += bytes;
                    largest = std::max(largest, bytes);
                    if (!p.to_scale) continue;
                    to_scale += bytes;
                    CHECK(p.label.w >= 80);  // its name has room
                    const double area = static_cast<double>(p.body.w) * p.body.h / bytes;
                    if (scale > 0) CHECK(area == near(scale, 0.02));
                    scale = area;
                }
                CHECK(to_scale > all / 2);  // the small ones are the small ones
                CHECK((packed.said.h > 0) == (to_scale < all));
            }
        }
    }
}

TEST_CASE("the scale takes most of the room, and attention stays apart from the MLP") {
    const Presets presets(std::filesystem::path(SOURCE_DIR) / "presets");
    const Plan plan = presets.plan("llama-3-70b-3d");
    std::vector<Sheet> sheets;
    make_sheets(plan, build_mesh(plan), {}, sheets);
    const Vec2 room{1500, 700};
    const PackedSheets packed = pack_sheets(sheets, room, all_names(sheets));
    REQUIRE(packed.place.size() == sheets.size());
    double drawn = 0;
    Rect attention, mlp;
    const auto add = [](Rect& all, const Rect& r) {
        if (all.w <= 0) all = r;
        const float right = std::max(all.right(), r.right()), bottom = std::max(all.bottom(), r.bottom());
        all.x = std::min(all.x, r.x);
        all.y = std::min(all.y, r.y);
        all.w = right - all.x;
        all.h = bottom - all.y;
    };
    for (std::size_t i = 0; i < sheets.size(); ++i) {
        if (!packed.place[i].to_scale) continue;
        drawn += static_cast<double>(packed.place[i].body.w) * packed.place[i].body.h;
        add(sheets[i].placement.kind == TensorKind::attention ? attention : mlp, packed.place[i].slot);
    }
    CHECK(drawn > 0.75 * room.x * room.y);
    CHECK((attention.right() <= mlp.x || attention.bottom() <= mlp.y));
}

TEST_CASE("rulers lie where an axis cuts: rows on the left, columns above, the coarsest outermost") {
    const Presets presets(std::filesystem::path(SOURCE_DIR) / "presets");
    Plan plan = presets.plan("llama-3-70b-3d");
    plan.layout.zero = 3;
    std::vector<Sheet> sheets;
    make_sheets(plan, build_mesh(plan), {}, sheets);
    const auto rulers = [&](TensorId id) {
        const auto it =
            std::find_if(sheets.begin(), sheets.end(), [&](const Sheet& s) { return s.placement.id == id; });
        REQUIRE(it != sheets.end());
        return rulers_of(*it);
    };
    const auto q = rulers(TensorId::attention_q), down = rulers(TensorId::mlp_down);
    REQUIRE(q.size() == 2);
    CHECK(q[0].axis == Axis::tp);
    CHECK(q[0].rows);
    CHECK(q[1].axis == Axis::dp_shard);
    CHECK(q[1].rows);
    REQUIRE(down.size() == 2);
    CHECK(down[0].axis == Axis::tp);
    CHECK_FALSE(down[0].rows);
    CHECK(down[1].rows);
    CHECK(rulers(TensorId::norm_mlp).size() == 1);  // tp copies it
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
        CHECK(s.highlighted.size() == 1);
    }
}

TEST_CASE("another rank's part of the same sheets is what sheets made for it have") {
    const Presets presets(std::filesystem::path(SOURCE_DIR) / "presets");
    const Plan plan = presets.plan("llama-3-70b-3d");
    const Mesh mesh = build_mesh(plan);
    std::vector<Sheet> made, highlighted;
    make_sheets(plan, mesh, {.rank = 0}, highlighted);
    for (const std::int64_t rank : {1, 9, 100, 255}) {
        make_sheets(plan, mesh, {.rank = rank}, made);
        light_sheets(plan, mesh, rank, highlighted);
        REQUIRE(made.size() == highlighted.size());
        for (std::size_t i = 0; i < made.size(); ++i) {
            CHECK(made[i].highlighted == highlighted[i].highlighted);
            CHECK(made[i].coarse.box == highlighted[i].coarse.box);
        }
    }
}

// The sanitizers find any other fault.
TEST_CASE("odd plans show sheets in every state") {
    for (const char* plan : {"single-gpu", "mesh-8", "llama-3.1-405b-131k", "deepseek-v3-2048", "moe-nvl72",
                             "gpt-1t-a100", "broken-pp-zero3", "mixtral-8x7b-ep"}) {
        Driver d(plan, {1000, 620});
        d.press({Key::n3});
        d.click("shards.scope", 1);
        for (std::uint64_t state = 0; state < 4; ++state)
            for (std::uint64_t moment = 0; moment < 2; ++moment) {
                CAPTURE(std::string(plan));
                d.click("shards.state", state);
                d.click("shards.moment", moment);
                CHECK(sheets_drawn(d) > 0);
                CHECK(d.surface.read().width == 1000);
            }
        d.click("shards.scope", 2);
        d.surface.resize({640, 480}, 2);
        d.settle();
        CHECK(d.surface.read().width == 1280);
    }
}

TEST_CASE("the router's imbalance is stepped, typed and made even beside the expert map") {
    Driver d("mixtral-8x7b-ep");
    d.press({Key::n3});
    d.click("shards.scope", 1);
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
    d.click("shards.scope", 1);
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
