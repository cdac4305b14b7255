// One sees what a click changed: figures glide, outlines stay for a while, a card tells of the change.
#include "app/ui/kit/theme.h"
#include "app/ui/scene/colors.h"
#include "core/base/files.h"
#include "render/png.h"
#include "tests/near.h"
#include "tests/ui/driver.h"

#include <cmath>
#include <cstdlib>
#include <doctest/doctest.h>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

using namespace pentamesh;
using namespace pentamesh::ui;
using pentamesh::test::near;

namespace {

constexpr std::uint64_t kBar = 7, kOther = 8;

// Draws a frame with both figures on the screen; returns what is drawn of the first.
double draw(Motion& m, double at_s, double bar, double other = 1) {
    m.begin_frame(at_s, true);
    (void)m.value(kOther, other);
    return m.value(kBar, bar);
}

}  // namespace

TEST_CASE("a figure glides from its old to its new value, and its old one stays as an outline") {
    Motion m;
    CHECK(draw(m, 10, 4) == 4);
    m.begin({});
    CHECK(draw(m, 11, 8) == 4);
    CHECK(m.moves());
    // Ease-out, cubic: half of the time leaves an eighth of the way.
    CHECK(draw(m, 11.125, 8) == near(8 - 4 * 0.125, 1e-9));
    CHECK(m.before(kBar).value_or(0) == 4);
    CHECK_FALSE(m.before(kOther).has_value());
    CHECK(draw(m, 11.25, 8) == 8);
    draw(m, 12.5, 8);
    CHECK_FALSE(m.moves());
    CHECK(m.before(kBar).has_value());
    CHECK(m.due_s() == near(13.0, 1e-12));
    m.begin_frame(13.01, false);
    CHECK_FALSE(m.before(kBar).has_value());
    CHECK(std::isinf(m.due_s()));
}

TEST_CASE("only what differs moves, from when its wait is over until it has arrived") {
    Motion m;
    const auto drawn = [&](double at_s, double bar, double scale) {
        m.begin_frame(at_s, true);
        (void)m.value(kOther, 1);
        (void)m.value(kBar, bar);
        (void)m.value(9, scale, 0.6, 0.18);
    };
    drawn(10, 4, 2);
    m.begin({});
    drawn(11, 8, 1);
    CHECK_FALSE(m.span_of(kOther).has_value());
    REQUIRE(m.span_of(kBar));
    CHECK(m.span_of(kBar)->begin_s == near(11, 1e-12));
    CHECK(m.span_of(kBar)->end_s == near(11.25, 1e-12));
    REQUIRE(m.span_of(9));
    CHECK(m.span_of(9)->begin_s == near(11.6, 1e-12));
    CHECK(m.span_of(9)->end_s == near(11.78, 1e-12));
    CHECK_FALSE(m.begin_frame(11.3, false));  // what does not move stays as it was drawn
    CHECK_FALSE(m.span_of(kBar).has_value());
    CHECK(m.span_of(9).has_value());
    CHECK(m.begin_frame(12, false));  // all has arrived
}

TEST_CASE("a second edit goes on from what is on the screen") {
    Motion m;
    draw(m, 10, 4);
    m.begin({});
    draw(m, 11, 8);
    const double shown = draw(m, 11.125, 8);
    m.begin({});
    CHECK(draw(m, 11.125, 2) == near(shown, 1e-9));
    CHECK(draw(m, 11.5, 2) == 2);
    CHECK(m.before(kBar).value_or(0) == 8);
}

TEST_CASE("what was not on the screen before the edit does not move") {
    Motion m;
    draw(m, 10, 4);
    m.begin_frame(10.1, true);  // another view: it is not drawn
    (void)m.value(kOther, 1);
    m.begin({});
    CHECK(draw(m, 11, 8) == 8);
    CHECK_FALSE(m.before(kBar).has_value());
}

TEST_CASE("another choice of what is drawn is no motion") {
    Motion m;
    draw(m, 10, 4);
    m.begin({});
    draw(m, 11, 8);
    CHECK(draw(m, 11.1, 3) == 3);
    CHECK_FALSE(m.before(kBar).has_value());
}

TEST_CASE("the outlines of a drag are those of its start, and nothing glides in it") {
    Motion m;
    draw(m, 10, 4);
    m.begin({0, 2, false});
    CHECK(draw(m, 11, 8) == 8);
    m.begin({0, 2, true});
    CHECK(draw(m, 11.1, 9) == 9);
    CHECK(m.before(kBar).value_or(0) == 4);
}

TEST_CASE("without glides the outlines alone stay") {
    Motion m;
    draw(m, 10, 4);
    m.begin({0, 4, false});
    CHECK(draw(m, 11, 8) == 8);
    CHECK_FALSE(m.moves());
    CHECK(m.before(kBar).has_value());
    m.end();
    CHECK_FALSE(m.before(kBar).has_value());
}

TEST_CASE("a pressed factor: its axis is lit, who paid is known, the picture moves and comes to rest") {
    Driver d("llama-3-70b-3d");
    d.settle();
    const std::int64_t shard = d.shell.document().plan().layout.dp_shard;
    d.shell.selection().choose(GroupKind::pp);
    d.settle();
    const auto minus = d.shell.ui_state().rect_of("layout.tp.minus");
    REQUIRE(minus);
    d.move(minus->center());
    d.input.down[0] = true;
    d.frame();
    d.input.down[0] = false;
    d.frame();
    d.frame();
    CHECK(d.shell.document().plan().layout.tp == 4);
    CHECK(d.shell.document().plan().layout.dp_shard == 2 * shard);
    CHECK(d.shell.selection().group == GroupKind::tp);
    CHECK(d.shell.ui_state().motion.moves());
    CHECK(d.shell.wants_frame());
    d.time_s += 1;
    d.settle();
    CHECK_FALSE(d.shell.ui_state().motion.moves());
    CHECK(d.shell.ui_state().motion.has_outlines());
    CHECK(d.shell.idle_s() < 2);
    d.time_s += 2;
    d.settle();
    CHECK_FALSE(d.shell.ui_state().motion.has_outlines());
}

// PENTAMESH_RECORD_MOTION=FOLDER writes each frame of the first 60 and some later ones as a picture.
TEST_CASE("tp 8 to 4: the frames differ while it moves, and are the same once it rests") {
    Driver d("llama-3-70b-3d", {1600, 1000});
    d.rest();
    const auto minus = d.shell.ui_state().rect_of("layout.tp.minus");
    REQUIRE(minus);
    d.move(minus->center());
    d.rest();
    const char* folder = std::getenv("PENTAMESH_RECORD_MOTION");
    const auto keep = [&](int i) {
        if (folder == nullptr) return;
        const std::string number = std::to_string(1000 + i).substr(1);
        write_file(std::filesystem::path(folder) / (number + ".png"), encode_png(d.surface.read(), {}));
    };
    keep(0);
    d.input.down[0] = true;
    d.frame();
    d.input.down[0] = false;
    int moved = 0;
    std::vector<unsigned char> last;
    const int frames = folder != nullptr ? 60 : 24;
    for (int i = 1; i <= frames; ++i) {
        d.frame();
        std::vector<unsigned char> now = d.surface.read().pixels;
        moved += now != last ? 1 : 0;
        last = std::move(now);
        if (i <= 20 || i % 10 == 0) keep(i);
    }
    CHECK(moved > 10);
    d.time_s += 2;
    d.settle();
    keep(200);
    last = d.surface.read().pixels;
    d.time_s += 1;
    d.settle();
    CHECK(d.surface.read().pixels == last);
}

TEST_CASE("opening a plan, and going back over it, is no change of a plan") {
    Driver d("mesh-8");
    d.settle();
    d.shell.open_plan(d.presets.plan("llama-3-70b-3d"));
    d.settle();
    CHECK_FALSE(d.shell.ui_state().motion.has_outlines());
    d.press({.key = Key::z, .ctrl = true});
    CHECK(d.plan() == d.presets.plan("mesh-8"));
    CHECK_FALSE(d.shell.ui_state().motion.moves());
    CHECK_FALSE(d.shell.ui_state().motion.has_outlines());
}

TEST_CASE("a change says which axis paid") {
    PlanChange change;
    change.touched = Axis::tp;
    for (const Axis a : all_of<Axis>()) change.before.factor[a] = change.now.factor[a] = 1;
    CHECK_FALSE(change.paid().has_value());
    change.before.factor[Axis::tp] = 8, change.now.factor[Axis::tp] = 4;
    change.before.factor[Axis::dp_shard] = 8, change.now.factor[Axis::dp_shard] = 16;
    CHECK(change.paid() == Axis::dp_shard);
    CHECK(change.changed(Axis::dp_shard));
    CHECK_FALSE(change.changed(Axis::pp));
}

TEST_CASE("dragging a factor's value scrubs: one step of undo, and no text field at its end") {
    Driver d("llama-3-70b-3d");
    d.settle();
    const auto value = d.shell.ui_state().rect_of("layout.tp");
    REQUIRE(value);
    const Vec2 from = value->center();
    d.drag(from, from - Vec2{34, 0}, 12);
    d.settle();
    CHECK(d.shell.document().plan().layout.tp == 2);
    CHECK(d.shell.ui_state().edit == 0);
    d.press(ctrl(Key::z));
    CHECK(d.shell.document().plan().layout.tp == 8);
}

TEST_CASE("the mouse on what tells of a change keeps its outlines, and then lets them go") {
    Motion m;
    draw(m, 10, 4);
    m.begin({});
    draw(m, 11, 8);
    draw(m, 12.9, 8);
    m.hold();
    m.begin_frame(13.5, false);  // a still mouse: no frame came between
    CHECK(m.before(kBar).has_value());
    m.hold();
    CHECK(m.due_s() == near(14, 1e-12));
    m.begin_frame(14.01, false);
    CHECK(m.before(kBar).has_value());
    m.begin_frame(14.02, false);
    CHECK_FALSE(m.before(kBar).has_value());
}

TEST_CASE("while Space is held the plan before is shown, and nothing is lost by it") {
    Driver d("llama-3-70b-3d");
    d.settle();
    const Plan before = d.shell.document().plan();
    Plan other = before;
    other.training.global_batch *= 2;
    d.shell.edit_plan(other, "twice the batch");
    d.shell.selection().pick_rank(5);
    d.rest();
    d.input.keys_down = {Key::space};
    d.frame();
    d.frame();
    CHECK(d.shell.document().plan() == before);
    CHECK(d.shell.message().find("twice the batch") != std::string::npos);
    d.input.keys_down.clear();
    d.frame();
    d.frame();
    CHECK(d.shell.document().plan() == other);
    CHECK(d.shell.selection().rank == 5);
    CHECK(d.shell.document().can_undo());
    CHECK_FALSE(d.shell.document().can_redo());
}
