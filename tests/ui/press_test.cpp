// Tests controls and commands that no other file uses, each with its effect. The test ui_pressed finds one
// that is used nowhere.
#include "core/plan/edits.h"
#include "tests/ui/press.h"

#include <algorithm>
#include <doctest/doctest.h>
#include <filesystem>
#include <fstream>

using namespace pentamesh;
using namespace pentamesh::ui;

namespace {

// All of the plan panel is on the screen.
constexpr Vec2 kTall{1600, 1300};

const std::string kRoot = SOURCE_DIR;

}  // namespace

TEST_CASE("the plan panel's modifiers change the plan they name") {
    Driver d("llama-3.1-405b-131k", kTall);
    REQUIRE(d.click("mod.recompute", 2));
    CHECK(d.plan().training.recompute == Recompute::full);
    REQUIRE(d.click("mod.recompute", 0));
    CHECK(d.plan().training.recompute == Recompute::none);
    REQUIRE(d.plan().layout.cp > 1);
    REQUIRE(d.click("mod.cp"));
    for (const char* name : {"All-gather", "Ulysses", "Ulysses + ring"}) {
        CAPTURE(std::string(name));
        CHECK(says(d, name));  // in full, apart from each other
    }
    REQUIRE(d.click("menu.cp", 2));
    CHECK(d.plan().layout.cp_comm == CpComm::ulysses);
    CHECK_FALSE(d.drawn("menu.cp"));
    const bool sp = d.plan().layout.sequence_parallel;
    REQUIRE(d.click("mod.sp", sp ? 0 : 1));
    CHECK(d.plan().layout.sequence_parallel == !sp);
}

TEST_CASE("the schedule's menu sets the schedule and its chunks") {
    Driver d("zoom-1024", kTall);
    REQUIRE(d.click("mod.schedule"));
    REQUIRE(d.click("menu.schedule", 2));
    CHECK(d.plan().layout.schedule == Schedule::interleaved);
    CHECK(d.plan().layout.virtual_stages == 2);
    CHECK_FALSE(d.drawn("menu.schedule"));
}

TEST_CASE("the order's menu sets an order that has a name") {
    Driver d("zoom-1024", kTall);
    const auto presets = order_presets();
    const auto other = std::find_if(presets.begin(), presets.end(),
                                    [&](const OrderPreset& o) { return o.order != d.plan().layout.order; });
    REQUIRE(other != presets.end());
    REQUIRE(d.click("order.preset"));
    REQUIRE(d.click("menu.order", static_cast<std::uint64_t>(other - presets.begin())));
    CHECK(d.plan().layout.order == other->order);
}

TEST_CASE("the batch is stepped and typed in its popover") {
    Driver d("zoom-1024", kTall);
    const Training before = d.plan().training;
    REQUIRE(d.click("mod.batch"));
    REQUIRE(d.click("batch.global.plus"));
    CHECK(d.plan().training.global_batch == 2 * before.global_batch);
    REQUIRE(d.click("batch.global.minus"));
    CHECK(d.plan().training.global_batch == before.global_batch);
    REQUIRE(d.click("batch.micro.plus"));
    CHECK(d.plan().training.micro_batch == before.micro_batch + 1);
    REQUIRE(d.click("batch.micro.minus"));
    REQUIRE(d.click("batch.sequence.minus"));
    CHECK(d.plan().training.sequence_length == before.sequence_length / 2);
    REQUIRE(d.click("batch.sequence.plus"));
    CHECK(d.plan().training == before);
    REQUIRE(d.click("batch.global"));
    d.press({.key = Key::a, .ctrl = true});
    d.type("96");
    d.press({Key::enter});
    CHECK(d.plan().training.global_batch == 96);
    REQUIRE(d.click("batch.micro"));
    d.press({.key = Key::a, .ctrl = true});
    d.type("3");
    d.press({Key::enter});
    CHECK(d.plan().training.micro_batch == 3);
    REQUIRE(d.click("batch.sequence"));
    d.press({.key = Key::a, .ctrl = true});
    d.type("2048");
    d.press({Key::enter});
    CHECK(d.plan().training.sequence_length == 2048);
}

TEST_CASE("every row of the popovers of precision, optimizer, attention, overlap and offload changes its own "
          "field") {
    Driver d("mixtral-8x7b-ep", kTall);
    const auto change = [&](const char* popover, const char* name, std::uint64_t to) {
        CAPTURE(std::string(name));
        const Training before = d.plan().training;
        REQUIRE(d.click(popover));
        REQUIRE(d.click(name, to));
        d.press({Key::escape});
        CHECK_FALSE(d.plan().training == before);
        const Training after = d.plan().training;
        d.press({.key = Key::z, .ctrl = true});
        CHECK(d.plan().training == before);
        return after;
    };
    const Training t = d.plan().training;
    const auto other = [](bool on) { return std::uint64_t{on ? 0U : 1U}; };
    const bool wide = t.gradients == Dtype::fp32;
    CHECK(change("mod.precision", "prec.compute", 2).compute == Dtype::fp8);
    CHECK(change("mod.precision", "prec.parameters", 0).parameters == Dtype::fp32);
    CHECK(change("mod.precision", "prec.gradients", wide ? 1 : 0).gradients
          == (wide ? Dtype::bf16 : Dtype::fp32));
    CHECK(change("mod.optimizer", "opt.kind", 3).optimizer == Optimizer::muon);
    CHECK(change("mod.optimizer", "opt.state", 1).optimizer_state == Dtype::bf16);
    CHECK(change("mod.optimizer", "opt.master", t.master_weights == MasterWeights{0} ? 1 : 0).master_weights
          != t.master_weights);
    CHECK(change("mod.attention", "attn.kind", t.attention == AttentionImpl::flash ? 1 : 0).attention
          != t.attention);
    CHECK(change("mod.attention", "attn.dropout", other(t.dropout)).dropout == !t.dropout);
    CHECK(change("mod.overlap", "overlap.dp", other(t.overlap.dp)).overlap.dp == !t.overlap.dp);
    CHECK(change("mod.overlap", "overlap.tp", other(t.overlap.tp)).overlap.tp == !t.overlap.tp);
    CHECK(change("mod.overlap", "overlap.ep", other(t.overlap.ep)).overlap.ep == !t.overlap.ep);
    CHECK(change("mod.overlap", "overlap.cp", other(t.overlap.cp)).overlap.cp == !t.overlap.cp);
    CHECK(change("mod.overlap", "overlap.pp", other(t.overlap.pp)).overlap.pp == !t.overlap.pp);
    CHECK(change("mod.offload", "offload.optimizer", 1).offload.optimizer == 1);
    CHECK(change("mod.offload", "offload.parameters", 1).offload.parameters == 1);
    CHECK(change("mod.offload", "offload.layers.plus", 0).offload.activations_layers == 1);
    REQUIRE(d.click("mod.offload"));
    REQUIRE(d.click("offload.layers.plus"));
    REQUIRE(d.click("offload.layers.minus"));
    CHECK(d.plan().training.offload.activations_layers == 0);
    REQUIRE(d.click("offload.layers"));  // the number itself is no button
    CHECK(d.plan().training.offload.activations_layers == 0);
}

TEST_CASE("plus at the GPUs gives the cluster more of them, and minus takes them back") {
    Driver d("zoom-1024", kTall);
    REQUIRE(d.click("plan.gpus.plus"));
    CHECK(d.plan().cluster.gpus > 1024);
    REQUIRE(d.click("plan.gpus.minus"));
    CHECK(d.plan().cluster.gpus == 1024);
    REQUIRE(d.click("plan.gpus"));
    d.press({.key = Key::a, .ctrl = true});
    d.type("2048");
    d.press({Key::enter});
    CHECK(d.plan().cluster.gpus == 2048);
}

TEST_CASE("the panel's menus of models and clusters put what is chosen into the plan") {
    Driver d("zoom-1024", kTall);
    const Plan before = d.plan();
    REQUIRE(d.click("plan.model"));
    d.type("mixtral");
    d.press({Key::enter});
    CHECK(d.plan().model.moe.has_value());
    REQUIRE(d.click("plan.cluster"));
    d.type("b200");
    d.press({Key::enter});
    CHECK(d.plan().cluster.gpu.id != before.cluster.gpu.id);
    CHECK(d.plan().cluster.gpus == before.cluster.gpus);
}

TEST_CASE("a factor's badge colours its groups in the mesh, its plus and minus change it") {
    Driver d("zoom-1024", kTall);
    REQUIRE(d.click("layout.pp.badge"));
    CHECK(d.shell.selection().group == GroupKind::pp);
    REQUIRE(d.click("layout.pp.minus"));
    CHECK(d.plan().layout.pp == 4);
    REQUIRE(d.click("layout.pp.plus"));
    CHECK(d.plan().layout.pp == 8);
    REQUIRE(d.click("layout.pp.toggle"));
    CHECK(d.plan().layout.pp == 1);
}

TEST_CASE("the lines between the panes are dragged") {
    Driver d("mesh-8");
    for (const char* name : {"split.left", "split.right"}) {
        CAPTURE(std::string(name));
        const Settings before = d.shell.settings();
        const Vec2 at = d.shell.ui_state().rect_of(name)->center();
        d.drag(at, at + Vec2{std::string(name) == "split.left" ? 40.0f : -40.0f, 0});
        CHECK_FALSE(d.shell.settings() == before);
        CHECK((d.shell.settings().left > before.left || d.shell.settings().right > before.right));
    }
    for (const char* name : {"split.memory", "split.timeline"}) {
        CAPTURE(std::string(name));
        const Settings before = d.shell.settings();
        const Vec2 at = d.shell.ui_state().rect_of(name)->center();
        d.drag(at, at + Vec2{0, -30});
        CHECK((d.shell.settings().memory > before.memory || d.shell.settings().timeline > before.timeline));
    }
}

TEST_CASE("weight shards are an axis of the mesh, and only where a plan has them") {
    Driver d("llama-3-70b-3d");
    CHECK_FALSE(says(d, "gtp_remat"));
    Plan p = d.plan();
    p.layout.weight_shards = 2;
    d.shell.edit_plan(p, "weight shards");
    d.settle();
    d.press({Key::n2});
    CHECK(says(d, "not counted"));
    REQUIRE(d.click("mesh.axis", 2));  // all, tp, gtp_remat
    CHECK(d.shell.selection().group == GroupKind::gtp_remat);
    CHECK(says(d, "groups of 2"));
}

TEST_CASE("the mesh's switches choose the axis that is coloured, of the dense ranks or of the experts'") {
    Driver d("deepseek-v3-2048");
    REQUIRE(d.click("mesh.which", 1));
    CHECK(d.shell.selection().expert());
    CHECK(d.shell.selection().group == GroupKind::ep);
    const GroupKind first = d.shell.selection().group;
    CHECK(d.shell.selection().all_axes);
    REQUIRE(d.click("mesh.axis", 2));
    CHECK(d.shell.selection().group != first);
    CHECK_FALSE(d.shell.selection().all_axes);
    REQUIRE(d.click("mesh.axis", 0));
    CHECK(d.shell.selection().all_axes);
    REQUIRE(d.click("mesh.which", 0));
    CHECK_FALSE(d.shell.selection().expert());
    d.press({Key::n2});
    REQUIRE(d.click("mesh.which", 2));
    CHECK(d.shell.views().mesh.both);
    CHECK(says(d, "folded into 2 rows of 64"));
    CHECK(says(d, "wrap beneath"));
    REQUIRE(d.click("mesh.which", 0));
    CHECK_FALSE(d.shell.views().mesh.both);
    d.press({Key::n2});
    run_command(d, "Ranks as the experts have them");
    CHECK(d.shell.selection().expert());
}

TEST_CASE("memory shows what each axis saved, and a category of the legend is hidden") {
    Driver d("llama-3-70b-3d");
    d.press({Key::n4});
    CHECK_FALSE(says(d, "single GPU"));
    REQUIRE(d.click("memory.mode", 1));
    CHECK(says(d, "single GPU"));
    CHECK(says(d, "tp 8"));
    REQUIRE(d.click("memory.mode", 0));
    CHECK_FALSE(says(d, "single GPU"));
    REQUIRE(d.click("memory.legend", 3));
    const Image without = d.surface.read();
    REQUIRE(d.click("memory.legend", 3));
    d.move({2, 2});
    CHECK(d.surface.read().pixels != without.pixels);
    REQUIRE(d.click("memory.stage", 2));
    CHECK(d.shell.selection().stage == 2);
}

TEST_CASE("an axis of the communication view is the one that the mesh colours") {
    Driver d("llama-3-70b-3d");
    d.press({Key::n6});
    REQUIRE(d.click("comm.axis", static_cast<std::uint64_t>(GroupKind::pp)));
    CHECK(d.shell.selection().group == GroupKind::pp);
}

TEST_CASE("a plan is saved from the question at the end, and the dialog's button saves under a name") {
    const std::filesystem::path folder = std::filesystem::temp_directory_path() / "pentamesh-press-test";
    std::filesystem::remove_all(folder);
    std::filesystem::create_directories(folder);
    const std::string file = (folder / "kept.plan.json").string();
    Driver d("mesh-8");
    REQUIRE(d.click("mod.zero", 1));
    REQUIRE_FALSE(d.shell.may_close());
    d.settle();
    REQUIRE(d.click("dialog.save"));
    d.settle();
    REQUIRE(d.click("dialog.path"));
    d.press({.key = Key::a, .ctrl = true});
    d.type(file);
    REQUIRE(d.click("dialog.ok"));
    CHECK(std::filesystem::exists(file));
    CHECK(d.shell.quit());
    std::filesystem::remove_all(folder);
}

TEST_CASE("the presenter's buttons walk the lesson") {
    Driver d("mesh-8");
    d.shell.open_lesson(kRoot + "/assets/lessons/01-two-walls.md");
    d.settle();
    d.press({Key::f5});
    REQUIRE(d.shell.presenting());
    REQUIRE(d.click("present.next"));
    CHECK(d.shell.lesson().step == 1);
    REQUIRE(d.click("present.back"));
    CHECK(d.shell.lesson().step == 0);
    REQUIRE(d.click("present.side"));
    CHECK(says(d, "NOTES"));
    REQUIRE(d.click("present.side"));
    CHECK_FALSE(says(d, "NOTES"));
    d.move({700, 300});
    const Image plain = d.surface.read();
    REQUIRE(d.click("present.spot"));
    d.move({700, 300});
    CHECK(d.surface.read().pixels != plain.pixels);
    d.press({Key::s});
    REQUIRE(d.click("present.blank"));
    const Image blank = d.surface.read();
    CHECK(std::all_of(blank.pixels.begin(), blank.pixels.end(),
                      [](std::uint8_t c) { return c == 0 || c == 255; }));
    d.press({Key::b});
    CHECK(d.surface.read().pixels != blank.pixels);
    REQUIRE(d.click("present.leave"));
    CHECK_FALSE(d.shell.presenting());
}

TEST_CASE("a dot of a lesson leads to its step, and a question is asked again") {
    Driver d("mesh-8");
    run_command(d, "lesson 1");
    REQUIRE(d.shell.lesson().open);
    d.press({Key::q});
    CHECK(d.shell.ui_state().focus != 0);
    REQUIRE(d.click("lesson.reveal"));
    CHECK(d.shell.lesson().state().shown());
    for (int i = 0; i < 60 && !d.drawn("lesson.retry"); ++i) d.frame();
    for (int i = 0; i < 20 && d.shell.ui_state().rect_of("lesson.retry")->y > d.foot_y() - 30; ++i)
        d.wheel({d.shell.ui_state().rect_of("lesson.retry")->x, 400}, -2);
    REQUIRE(d.click("lesson.retry"));
    CHECK_FALSE(d.shell.lesson().state().shown());
    REQUIRE(d.click("lesson.step", 2));
    CHECK(d.shell.lesson().step == 2);
    run_command(d, "next lesson");
    CHECK(d.shell.lesson().file.filename() == "02-data-parallel.md");
    run_command(d, "leave the lesson");
    CHECK_FALSE(d.shell.lesson().open);
}

TEST_CASE("losing a node and showing links are switched by their commands") {
    Driver d("zoom-1024");
    for (const char* id : {"view.failure", "view.links"}) {
        const std::string name = id;
        CAPTURE(name);
        const Chord chord{.key = name == "view.links" ? Key::l : Key::f, .ctrl = true};
        const bool before = checked(d, name);
        d.press(chord);
        CHECK(checked(d, name) != before);
        d.press(chord);
        CHECK(checked(d, name) == before);
    }
}

TEST_CASE("a picture is asked for under the name that was typed") {
    Driver d("mesh-8");
    d.press({.key = Key::e, .ctrl = true});
    CHECK(d.shell.dialog() == DialogKind::picture);
    d.press({Key::enter});
    d.settle();
    REQUIRE(d.drawn("dialog.path"));
    REQUIRE(d.click("dialog.ok"));
    REQUIRE(d.pictures.size() == 1);
    CHECK(d.pictures[0].extension() == ".png");
}
