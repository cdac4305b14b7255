// Tests the view Layer: its play head, its switches, and that its figures are the plan's.
#include "app/ui/kit/format.h"
#include "tests/folder.h"
#include "tests/near.h"
#include "tests/ui/press.h"

#include <algorithm>
#include <doctest/doctest.h>

using namespace pentamesh;
using pentamesh::test::near;
using namespace pentamesh::ui;

namespace {

const LayerViewState& layer(const Driver& d) {
    return d.shell.views().layer;
}

struct LayerDriver : Driver {
    explicit LayerDriver(std::string_view plan) : Driver(plan) { press({.key = Key::n8}); }
};

}  // namespace

TEST_CASE("the layer begins at its first step, and says the plan's own bytes") {
    LayerDriver d("llama-3-70b-3d");
    const LayerViewState& s = layer(d);
    REQUIRE_FALSE(s.shown->list.steps.empty());
    CHECK(s.at == 0);
    CHECK(s.shown->tally_equals);
    CHECK(says(d, "The same as the plan's own list of activations: 10 calls"));
    CHECK(s.choice.notation == Notation::megatron);  // as people who run the plan's software write it
    REQUIRE(d.click("layer.notation", 2));
    CHECK(says(d, "y = reduce_scatter(y, tp)"));
}

TEST_CASE("one switch shows that sequence parallelism sends the bytes of all-reduces, what is gathered again "
          "apart") {
    LayerDriver d("llama-3-70b-3d");
    REQUIRE(d.plan().layout.sequence_parallel);
    const double with = sent_over_tp_once(layer(d).shown->list);
    // Four all-reduces of 8192 tokens x 8192 numbers of 2 bytes, between 8 ranks.
    CHECK(with == near(4 * 2 * 7.0 / 8 * 8192 * 8192 * 2));
    CHECK(says(d, "without what is gathered again"));
    d.press({Key::backslash});
    REQUIRE(d.click("mod.sp", 0));
    d.settle();
    REQUIRE_FALSE(d.plan().layout.sequence_parallel);
    CHECK(sent_over_tp_once(layer(d).shown->list) == near(with));
    CHECK_FALSE(says(d, "without what is gathered again"));
}

TEST_CASE("the layer's head steps, plays, is dragged, and follows a click on a box or a line") {
    LayerDriver d("llama-3-70b-3d");
    const int begun = layer(d).at;
    REQUIRE(d.click("layer.forward"));
    CHECK(layer(d).at == begun + 1);
    d.press({Key::period});
    CHECK(layer(d).at == begun + 2);
    d.press({Key::comma});
    REQUIRE(d.click("layer.back"));
    CHECK(layer(d).at == begun);
    d.press({Key::p});
    CHECK(layer(d).playing);
    for (int i = 0; i < 240; ++i) d.frame();
    CHECK(layer(d).at > begun + 1);
    REQUIRE(d.click("layer.play"));
    CHECK_FALSE(layer(d).playing);
    REQUIRE(d.click("layer.step", 1));
    CHECK(layer(d).at == 1);
    REQUIRE(d.click("layer.line", 3));
    CHECK(layer(d).at == 3);
    const Rect track = *d.shell.ui_state().rect_of("layer.scrub");
    d.drag({track.x + 20, track.center().y}, {track.right() - 2, track.center().y});
    CHECK(layer(d).at == static_cast<int>(layer(d).shown->list.steps.size()) - 1);
    CHECK(layer(d).shown->list.steps.back().stash_bytes == 0);
    CHECK(says(d, "nothing"));
    d.press({Key::p});  // from the end: anew
    d.frame();
    CHECK(layer(d).at == 0);
}

TEST_CASE("the layer's keys leave the timeline alone, and the other way round") {
    LayerDriver d("llama-3-70b-3d");
    d.press({Key::p});
    CHECK(layer(d).playing);
    CHECK_FALSE(d.shell.views().timeline.playing);
    d.press({Key::p});  // it rests
    CHECK_FALSE(layer(d).playing);
    d.press({.key = Key::n8});  // back to the dashboard
    const int at = layer(d).at;
    d.press({Key::period});
    CHECK(d.shell.views().timeline.cursor_s >= 0);
    CHECK(layer(d).at == at);
}

TEST_CASE("one axis alone says what that axis says, and nothing else") {
    LayerDriver d("mixtral-8x7b-ep");
    REQUIRE(d.click("layer.whose", 1));
    const std::array<LayerOp, 8> first{LayerOp::all_reduce, LayerOp::all_gather, LayerOp::all_reduce,
                                       LayerOp::all_gather, LayerOp::ring_send,  LayerOp::all_gather,
                                       LayerOp::all_to_all, LayerOp::all_to_all};
    for (std::size_t i = 0; i < first.size(); ++i) {
        CAPTURE(i);
        REQUIRE(d.click("layer.axis", i));
        const ShownLayer& shown = *layer(d).shown;
        CHECK(shown.alone);
        CHECK(shown.why_not.empty());
        bool found = false;
        for (const LayerStep& s : shown.list.steps) {
            if (!is_collective(s.op) || (s.block == LayerBlock::weights && i != 0 && i != 1)) continue;
            found = found || s.op == first[i];
        }
        CHECK(found);
        CHECK(shown.tally_equals);
    }
    REQUIRE(d.click("layer.whose", 0));
    CHECK_FALSE(layer(d).shown->alone);
}

TEST_CASE("another axis leaves the layer's head at the same step; without experts there is none to deal") {
    LayerDriver d("llama-3-70b-3d");
    while (layer(d).shown->list.steps[static_cast<std::size_t>(layer(d).at)].op != LayerOp::attention)
        d.press({Key::period});
    REQUIRE(d.click("layer.whose", 1));
    for (const std::uint64_t axis : {1, 3, 4, 0}) {
        REQUIRE(d.click("layer.axis", axis));
        const LayerStep& now = layer(d).shown->list.steps[static_cast<std::size_t>(layer(d).at)];
        CHECK(now.op == LayerOp::attention);
        CHECK(now.phase == LayerPass::forward);
    }
    d.click("layer.axis", static_cast<std::uint64_t>(AloneAxis::ep));
    CHECK(layer(d).choice.axis != AloneAxis::ep);
}

TEST_CASE("a lesson's page of ep on a dense plan says what it needs") {
    const test::Folder folder;
    folder.put("ep.md", "---\ntitle: T\n---\n## One\nopen: mesh-8\nview: layer\npage: ep alone\n\nWords.\n");
    Driver d("mesh-8");
    d.shell.open_lesson(folder.path / "ep.md");
    d.rest();
    REQUIRE(d.shell.full_view() == ViewId::layer);
    CHECK(says(d, "Nothing to show here."));
    CHECK(says(d, "is dense"));
}

TEST_CASE("boxes of a long layer keep room for a name; what is kept is of the most that ever is") {
    LayerDriver d("deepseek-v3-2048");
    const ShownLayer& shown = *layer(d).shown;
    REQUIRE(shown.backward.size() > 40);
    double most = 0;
    for (const LayerStep& s : shown.list.steps) most = std::max(most, s.stash_bytes);
    CHECK(most > shown.list.totals.kept_bytes);  // all of it is recomputed
    CHECK(says(d, "at most " + ui::memory_text(most)));
    for (std::size_t i = 0; i < shown.list.steps.size(); ++i) {
        double now = 0;
        for (const KeptTensor& k : stash_at(shown.list, static_cast<int>(i))) now += k.bytes;
        CHECK(now <= most * (1 + 1e-9));
    }
    const auto wide = [&](int step) {
        const auto box = d.shell.ui_state().rect_of("layer.step", static_cast<std::uint64_t>(step));
        return box && box->w >= 26;
    };
    for (const int step : {shown.forward[2], shown.backward[4], shown.backward.back()}) {
        while (layer(d).at < step) d.press({Key::period});
        CHECK(wide(step));
    }
}

TEST_CASE("the layer's part, kind and notation are reached by their switches, a rank by its row") {
    LayerDriver d("deepseek-v3-2048");
    const std::size_t all = layer(d).shown->forward.size();
    REQUIRE(d.click("layer.part", 0));
    CHECK(layer(d).shown->forward.size() < all);
    REQUIRE(d.click("layer.part", 2));
    REQUIRE(d.click("layer.kind", 1));
    CHECK(layer(d).choice.dense);
    for (const LayerStep& s : layer(d).shown->list.steps) CHECK(s.op != LayerOp::router);
    REQUIRE(d.click("layer.kind", 0));
    REQUIRE(d.click("layer.notation", 1));
    bool exchanged = false;
    for (const std::string& line : layer(d).shown->lines) {
        CHECK(line.find("redistribute(ep=Shard(0))") == std::string::npos);  // it lies so already
        exchanged = exchanged || line.find("all_to_all(") != std::string::npos;
    }
    CHECK(exchanged);
    REQUIRE(d.click("layer.notation", 0));
    CHECK(says(d, "core_attention"));
    REQUIRE(d.click("layer.rank", 2));
    CHECK(d.shell.selection().rank >= 0);
    CHECK(layer(d).shown->list.rank == d.shell.selection().rank);
}

TEST_CASE("where the layer's room is narrow its program stands in the place of its ranks") {
    Driver d("llama-3-70b-3d", {1280, 720});
    REQUIRE(d.click("view.layer"));
    d.press({.key = Key::n8});
    d.press({Key::backslash});
    REQUIRE_FALSE(d.drawn("layer.line", 2));
    REQUIRE(d.click("layer.below", 1));
    CHECK(d.drawn("layer.line", 2));
    CHECK(says(d, "KEPT FOR THE BACKWARD"));
    const auto thumb = d.shell.ui_state().rect_of("layer.program.thumb");
    REQUIRE(thumb);
    const float before = layer(d).program.at;
    d.drag(thumb->center(), {thumb->center().x, thumb->center().y + 60});
    CHECK(layer(d).program.at > before);
    REQUIRE(d.click("layer.below", 0));
}

TEST_CASE("the layer of 16,384 GPUs names eight ranks of a group") {
    LayerDriver d("llama-3.1-405b-16k");
    for (const LayerStep& s : layer(d).shown->list.steps) CHECK(s.ranks.size() <= 8);
    REQUIRE(d.click("layer.step", 0));
    CHECK(says(d, "8 of 128 ranks"));
}

TEST_CASE("a layer that is a mixer or an MLP alone is shown whole, and says which part it has not") {
    LayerDriver d("single-gpu");
    Plan p = d.plan();
    p.model = d.presets.model("nemotron-h-8b");
    d.shell.edit_plan(p, "a hybrid model");
    d.settle();
    REQUIRE(d.shell.evaluation().valid);
    bool lacks = false;
    for (const std::uint64_t part : {0, 1, 2}) {
        REQUIRE(d.click("layer.part", part));
        lacks = lacks || says(d, "This layer has no such part");
        REQUIRE(d.click("layer.whose", 1));
        d.settle();
        REQUIRE(d.click("layer.whose", 0));
        d.settle();
    }
    CHECK(lacks);
}

TEST_CASE("Space plays and pauses the layer once a press, also where the mouse clicked its buttons") {
    LayerDriver d("llama-3-70b-3d");
    d.press({Key::space});
    CHECK(layer(d).playing);
    d.press({Key::space});
    CHECK_FALSE(layer(d).playing);
    REQUIRE(d.click("layer.play"));
    CHECK(layer(d).playing);
    d.press({Key::space});
    CHECK_FALSE(layer(d).playing);
    REQUIRE(d.click("layer.whose", 1));
    d.press({Key::space});
    CHECK_FALSE(layer(d).playing);  // the two matrices have no steps
    REQUIRE(d.click("layer.steps", 1));
    d.press({Key::space});
    CHECK(layer(d).playing);
    d.press({Key::space});
    CHECK_FALSE(layer(d).playing);
    d.shell.ui_state().focus = id_of("layer.forward");  // by Tab it is that button's
    d.shell.ui_state().focus_visible = true;
    const int at = layer(d).at;
    d.press({Key::space});
    CHECK_FALSE(layer(d).playing);
    CHECK(layer(d).at == at + 1);
}

TEST_CASE("the head of a pass says what comes once a step beside each micro-batch's time") {
    LayerDriver d("llama-3-70b-3d");
    double once_s = 0;
    for (const LayerStep& s : layer(d).shown->list.steps)
        if (s.per_step && s.phase == LayerPass::forward) once_s += s.time_s;
    if (once_s > 0) CHECK(says(d, ui::time_text(once_s) + " once a step"));
    CHECK(says(d, ui::time_text(layer(d).shown->list.totals.time_forward_s)));
}

TEST_CASE(
    "tp alone is two matrices first: a stripe shows its GPU's way, the wire says bytes, time and calls") {
    LayerDriver d("mesh-8");
    REQUIRE(d.click("layer.whose", 1));
    REQUIRE(d.click("layer.axis", static_cast<std::uint64_t>(AloneAxis::tp)));
    REQUIRE(shows_matrices(layer(d).choice));
    CHECK(says(d, "Why does tensor parallelism need one sum?"));
    CHECK(says(d, "Four GPUs: four columns"));
    const TpMatrices& m = *layer(d).matrices;
    CHECK(m.tp() == 2);
    REQUIRE(d.click("layer.stripe", 1));
    CHECK(d.shell.selection().rank == m.ranks[1]);
    REQUIRE(d.click("layer.stripe", 1));
    CHECK(d.shell.selection().rank == -1);
    REQUIRE(d.click("layer.product", 0));
    CHECK(d.shell.selection().rank == m.ranks[0]);
    REQUIRE(d.click("layer.row", 1));
    CHECK(d.shell.selection().rank == m.ranks[1]);
    d.move(d.shell.ui_state().rect_of("layer.wire")->center());
    d.rest();
    CHECK(says(d, "8 calls over tp in each layer"));
    CHECK(says(d, "2 more: inputs are gathered twice"));
    CHECK(says(d, ui::traffic_text(m.slices.bytes())));
    const int at = layer(d).at;
    d.press({Key::period});  // nothing is stepped through here
    d.press({Key::p});
    CHECK(layer(d).at == at);
    CHECK_FALSE(layer(d).playing);
    REQUIRE(d.click("layer.steps", 1));
    CHECK_FALSE(shows_matrices(layer(d).choice));
    CHECK(d.drawn("layer.scrub"));
    REQUIRE(d.click("layer.steps", 0));
    CHECK(shows_matrices(layer(d).choice));
}

TEST_CASE("a plan without tp shows its matrices on the small group, whose ways are highlighted by a click") {
    LayerDriver d("single-gpu");
    REQUIRE(d.click("layer.whose", 1));
    REQUIRE(d.click("layer.axis", static_cast<std::uint64_t>(AloneAxis::tp_sp)));
    CHECK(says(d, "tp is 1 in this plan"));
    CHECK(says(d, "reduce-scatter"));
    REQUIRE(d.click("layer.stripe", 2));
    CHECK(layer(d).path == 2);
    CHECK(d.shell.selection().rank == -1);
    REQUIRE(d.click("layer.stripe", 2));
    CHECK(layer(d).path == -1);
}

TEST_CASE("before the answer the two matrices stand without their sum, and a table of them is covered") {
    Driver d("mesh-8", {1440, 900});
    d.shell.open_lesson(lesson_file("00-five-cuts"));
    d.settle();
    while (d.shell.lesson().current()->scene.page != "tp alone") d.press({Key::page_down});
    d.time_s += 20;
    d.settle();
    REQUIRE(d.shell.lesson().hidden_answer.of_messages);
    CHECK(says_just(d, "Tensor parallelism cuts two matrices"));
    CHECK(d.drawn("layer.stripe", 0));
    CHECK_FALSE(d.drawn("layer.wire"));
    CHECK_FALSE(says_just(d, "all-reduce"));
    CHECK_FALSE(says_just(d, "summand"));
    REQUIRE(d.click("view.data", static_cast<std::uint64_t>(ViewId::layer)));
    CHECK_FALSE(says_just(d, "reduce"));
    REQUIRE(d.click("view.data", static_cast<std::uint64_t>(ViewId::layer)));
    REQUIRE(d.click("lesson.reveal"));
    CHECK(d.drawn("layer.wire"));
    CHECK(says_just(d, "all-reduce"));
    d.rest();
    CHECK(says(d, "The only wire: 67.1 MB a GPU"));
}
