// Tests typing, stepping and refusing in the plan panel, its popovers and the constants.
#include "driver.h"

#include "core/plan/edits.h"
#include "tests/near.h"

#include <algorithm>

using namespace pentamesh;
using pentamesh::test::near;
using namespace pentamesh::ui;

namespace {

// Returns all that can be read of the next frame.
std::string read_text(Driver& d) {
    d.surface.record_text(true);
    d.frame();
    std::string all;
    for (const TextRun& r : d.surface.text_runs()) all += r.text + "\n";
    return all;
}
bool window_says(Driver& d, std::string_view words) {
    const std::string all = read_text(d);
    INFO(all);
    return all.find(words) != std::string::npos;
}

// Types over a stepper's value and presses Enter.
void type_into(Driver& d, std::string_view name, std::string_view field, std::string_view text) {
    REQUIRE(d.click(name));
    REQUIRE(d.drawn(field));
    d.press({Key::a, true});
    d.type(text);
    d.press({Key::enter});
}

}  // namespace

TEST_CASE("GPUs that come become shards, or replicas where that was chosen") {
    Driver d("mesh-8");  // tp 2, dp_shard 2, dp_replicate 2
    REQUIRE(d.click("plan.gpus.plus"));
    CHECK(d.plan().layout.dp_shard == 4);
    d.press({.key = Key::z, .ctrl = true});
    REQUIRE(d.click("plan.spare"));
    REQUIRE(d.click("plan.gpus.plus"));
    CHECK(d.plan().layout.dp_shard == 2);
    CHECK(d.plan().layout.dp_replicate == 4);
    d.press({.key = Key::z, .ctrl = true});
    REQUIRE(d.click("plan.nodes.plus"));
    CHECK(d.plan().layout.dp_shard == 2);
    CHECK(d.plan().layout.dp_replicate == 4);
}

TEST_CASE("a number of GPUs out of range is refused below its field, with the range, until the next edit") {
    Driver d("llama-3-70b-3d");
    const std::int64_t before = d.plan().cluster.gpus;
    for (const char* text : {"0", "2,000,000", "999999999", "-8", "1.5", "many"}) {
        CAPTURE(text);
        type_into(d, "plan.gpus", "edit.gpus", text);
        CHECK(d.plan().cluster.gpus == before);
        CHECK(window_says(d, text));
        if (std::string_view(text) != "many") CHECK(window_says(d, "1,048,576"));
        d.settle();
        CHECK(window_says(d, text));  // it stays
    }
    type_into(d, "plan.gpus", "edit.gpus", "1,048,576");
    CHECK(d.plan().cluster.gpus == 1048576);
    CHECK_FALSE(window_says(d, "refused"));
}

TEST_CASE("nodes and GPUs of a node are typed and stepped; what does not hold is refused with the reason") {
    Driver d("llama-3.1-405b-16k");  // 2,048 nodes of 8 in pods of 3,072
    type_into(d, "plan.nodes", "edit.nodes", "1024");
    CHECK(d.plan().cluster.gpus == 8192);
    CHECK(d.plan().layout.dp_shard == 64);
    type_into(d, "plan.gpus_per_node", "edit.gpus_per_node", "4");
    CHECK(d.plan().cluster.gpus == 8192);
    CHECK(d.plan().cluster.tiers.front().domain == 4);
    CHECK(window_says(d, "2,048\n"));
    type_into(d, "plan.gpus_per_node", "edit.gpus_per_node", "4000");
    CHECK(d.plan().cluster.tiers.front().domain == 4);
    CHECK(window_says(d, "3,072."));
    type_into(d, "plan.nodes", "edit.nodes", "900000");
    CHECK(d.plan().cluster.gpus == 8192);
    CHECK(window_says(d, "900,000 nodes of 4"));
    REQUIRE(d.click("plan.gpus_per_node"));  // its field is open next to it
    REQUIRE(d.drawn("edit.gpus_per_node"));
    REQUIRE(d.click("plan.nodes.plus"));
    CHECK(d.plan().cluster.gpus == 16384);
    CHECK_FALSE(window_says(d, "joins"));
    d.press({.key = Key::escape});
    REQUIRE(d.click("plan.nodes.minus"));
    CHECK(d.plan().cluster.gpus == 8192);
    REQUIRE(d.click("plan.gpus_per_node.plus"));
    CHECK(d.plan().cluster.tiers.front().domain == 8);
    REQUIRE(d.click("plan.gpus_per_node.minus"));
    CHECK(d.plan().cluster.tiers.front().domain == 4);
}

TEST_CASE("a factor out of range is refused below its row") {
    Driver d("llama-3-70b-3d");
    const std::int64_t before = d.plan().layout.tp;
    type_into(d, "layout.tp", "edit.tp", "2000000");
    CHECK(d.plan().layout.tp == before);
    CHECK(window_says(d, "2000000"));
    CHECK(window_says(d, "from 1 to 1,048,576"));
    d.click("mod.zero", 2);
    CHECK_FALSE(window_says(d, "2000000"));
}

TEST_CASE("a context of ten million tokens can be typed, and beyond the range it is refused") {
    Driver d("llama-3-70b-3d");
    REQUIRE(d.click("mod.batch"));
    type_into(d, "batch.sequence", "edit.batch.sequence", "10 M");
    CHECK(d.plan().training.sequence_length == 10'000'000);
    type_into(d, "batch.sequence", "edit.batch.sequence", "8K");
    CHECK(d.plan().training.sequence_length == 8192);
    type_into(d, "batch.sequence", "edit.batch.sequence", "3,000,000,000");
    CHECK(d.plan().training.sequence_length == 8192);
    CHECK(window_says(d, "2,147,483,648"));
}

TEST_CASE("the wheel and the buttons over batch and sequence stop at the ends of the range") {
    Driver d("llama-3-70b-3d");
    REQUIRE(d.click("mod.batch"));
    for (const char* name : {"batch.global", "batch.sequence"}) {
        const Vec2 at = d.shell.ui_state().rect_of(name)->center();
        for (int i = 0; i < 40; ++i) d.wheel(at, 1);
    }
    const std::int64_t most = std::int64_t{1} << 31;
    CHECK(d.plan().training.global_batch == most);
    CHECK(d.plan().training.sequence_length == most);
    for (int i = 0; i < 3; ++i) d.click("batch.global.plus");
    CHECK(d.plan().training.global_batch == most);
    CHECK(d.click("batch.global.minus"));
    CHECK(d.plan().training.global_batch == most / 2);
}

TEST_CASE("a layout that is not the cluster says how many GPUs it asks for, and why that is wrong") {
    Driver d("llama-3-70b-3d");
    type_into(d, "layout.tp", "edit.tp", "7");
    CHECK((window_says(d, " of ") || window_says(d, "no whole number of replicas")));
    CHECK(ranks_laid_out(d.plan()) != d.plan().cluster.gpus);
    CHECK_FALSE(window_says(d, "all GPUs"));
    d.press({Key::z, true});
    CHECK(window_says(d, "all GPUs"));
}

TEST_CASE("precision, optimizer, attention and overlap have popovers of their own, their words whole") {
    Driver d("llama-3-70b-3d", {1600, 1300});
    REQUIRE(d.click("mod.optimizer"));
    for (const char* word : {"adamw", "adamw-8bit", "sgd-momentum", "muon", "master copy"}) {
        CAPTURE(word);
        CHECK(window_says(d, std::string("\n") + word + "\n"));
    }
    // The segments of a row do not touch.
    for (std::uint64_t i = 0; i < 3; ++i) {
        const auto r = d.shell.ui_state().rect_of("opt.kind", i);
        REQUIRE(r);
        CHECK(r->w > 40);
    }
    CHECK(d.click("opt.kind", 3));
    CHECK(d.plan().training.optimizer == Optimizer::muon);
    CHECK(d.click("opt.state", 1));
    CHECK(d.plan().training.optimizer_state == Dtype::bf16);
    CHECK(d.click("opt.master", 0));
    CHECK(d.plan().training.master_weights == MasterWeights::none);
    d.press({Key::escape});
    REQUIRE(d.click("mod.precision"));
    CHECK(d.click("prec.compute", 2));
    CHECK(d.plan().training.compute == Dtype::fp8);
    CHECK(d.click("prec.parameters", 0));
    CHECK(d.plan().training.parameters == Dtype::fp32);
    CHECK(d.click("prec.gradients", 1));
    CHECK(d.plan().training.gradients == Dtype::bf16);
    d.press({Key::escape});
    REQUIRE(d.click("mod.attention"));
    CHECK(d.click("attn.kind", 1));
    CHECK(d.plan().training.attention == AttentionImpl::math);
    CHECK(d.click("attn.dropout", 1));
    CHECK(d.plan().training.dropout);
    d.press({Key::escape});
    REQUIRE(d.click("mod.overlap"));
    const bool hidden = d.plan().training.overlap.ep;
    CHECK(d.click("overlap.ep", hidden ? 0 : 1));
    CHECK(d.plan().training.overlap.ep != hidden);
    for (const char* name : {"overlap.dp", "overlap.pp", "overlap.cp", "overlap.tp"}) CHECK(d.drawn(name));
}

TEST_CASE("recompute and schedule are chosen by their names") {
    Driver d("llama-3-70b-3d", {1600, 1300});
    CHECK(d.click("mod.recompute", 2));
    CHECK(d.plan().training.recompute == Recompute::full);
    CHECK(d.click("mod.schedule"));
    CHECK(d.click("menu.schedule", 0));
    d.settle();
    CHECK(d.shell.document().plan().layout.schedule == Schedule::gpipe);
}

TEST_CASE("the number of micro-batches is always shown") {
    Driver d("llama-3.1-405b-16k", {1280, 1300});
    const std::int64_t n = d.shell.evaluation().microbatches;
    REQUIRE(n > 0);
    CHECK(window_says(d, std::to_string(n) + " micro"));
    REQUIRE(d.click("mod.batch"));
    type_into(d, "batch.global", "edit.batch.global", "1,048,576");
    d.press({Key::escape});
    CHECK(window_says(d, " micro\n"));
}

TEST_CASE("a factor of six digits is shown whole") {
    Driver d("llama-3-70b-3d", {1280, 720});
    type_into(d, "plan.gpus", "edit.gpus", "1,048,576");
    const Axis wide = d.plan().layout.dp_shard > 9999 ? Axis::dp_shard : Axis::dp_replicate;
    const std::int64_t f = factor_in_force(d.plan(), wide);
    REQUIRE(f > 9999);
    std::string shown = std::to_string(f);
    shown.insert(shown.size() - 3, ",");
    CHECK(window_says(d, "\n" + shown + "\n"));
}

TEST_CASE("an axis is dragged to another place of the order") {
    Driver d("llama-3-70b-3d");
    const auto before = d.plan().layout.order;
    const auto from = d.shell.ui_state().rect_of("order.tp"), to = d.shell.ui_state().rect_of("order.pp");
    REQUIRE(from);
    REQUIRE(to);
    const auto place = [](const AxisOrder& order, Axis axis) {
        return std::ranges::find(order, axis) - order.begin();
    };
    REQUIRE(place(before, Axis::tp) == 0);
    d.drag(from->center(), to->center());
    CHECK(place(d.plan().layout.order, Axis::tp) == place(before, Axis::pp));
    CHECK(d.plan().layout.order[0] == before[1]);
    d.press({Key::z, true});
    CHECK(d.plan().layout.order == before);
}

TEST_CASE("recomputation by module, by layers and by units is chosen beside the three words") {
    Driver d("deepseek-v3-2048", {1600, 1000});
    Plan none = d.plan();
    none.training.recompute = Recompute::none;
    d.shell.edit_plan(none, "recompute nothing");
    d.settle();
    const auto choice = [&]() -> const RecomputeChoice& { return d.plan().training.recompute; };
    REQUIRE(d.click("mod.recompute_more"));
    for (const RecomputeModule m : all_of<RecomputeModule>()) {
        REQUIRE(d.click("recompute." + std::string(name_of(m)), 1));
        CHECK(choice().modules.has(m));
    }
    CHECK(choice().kind == Recompute::selective);
    for (const RecomputeModule m : all_of<RecomputeModule>())
        if (m != RecomputeModule::moe_act) REQUIRE(d.click("recompute." + std::string(name_of(m)), 0));
    CHECK(choice() == RecomputeChoice(RecomputeModules(RecomputeModule::moe_act), 0, {}));
    REQUIRE(d.click("recompute.layers.plus"));
    CHECK(choice().layers == 1);
    REQUIRE(d.click("recompute.layers.minus"));
    CHECK(choice().layers == 0);
    REQUIRE(d.click("recompute.layers.plus"));
    REQUIRE(d.click("recompute.layers"));
    CHECK(choice().layers == 0);
    REQUIRE(d.click("recompute.moe_act", 0));
    CHECK(choice() == RecomputeChoice(Recompute::none));
    d.press({Key::escape});
    // Whole layers are recomputed block by block, or in units that keep one input.
    REQUIRE(d.click("mod.recompute", 2));
    REQUIRE(d.click("mod.recompute_more"));
    REQUIRE(d.click("recompute.layers.plus"));
    CHECK(choice() == RecomputeChoice({}, 1, RecomputeMethod::block));
    REQUIRE(d.click("recompute.method", 1));
    CHECK(choice() == RecomputeChoice({}, 2, RecomputeMethod::uniform));
    REQUIRE(d.click("recompute.layers.minus"));  // a unit of one layer is the same as each by itself
    CHECK(choice() == RecomputeChoice(Recompute::full));
    d.press({Key::escape});
    // A choice without a word for it is written in the row, and a click on it opens the same.
    REQUIRE(d.click("mod.recompute_more"));
    REQUIRE(d.click("recompute.mlp", 1));
    d.press({Key::escape});
    CHECK(window_says(d, "mlp"));
    REQUIRE(d.click("mod.recompute"));
    CHECK(d.drawn("recompute.mlp", 0));
    REQUIRE(d.click("recompute.kind", 2));
    CHECK(choice() == RecomputeChoice(Recompute::full));
}

TEST_CASE("problems are counted in the status line and open with their fixes where no panel shows them") {
    Driver d("llama-3-70b-3d", {800, 600});
    type_into(d, "layout.tp", "edit.tp", "7");
    d.move({400, 300});
    REQUIRE_FALSE(d.shell.evaluation().valid);
    CHECK(window_says(d, " problem"));
    CHECK_FALSE(d.drawn("problem.fix"));
    REQUIRE(d.click("status.problems"));
    REQUIRE(d.drawn("problem.fix"));
    CHECK(window_says(d, d.shell.evaluation().problems.front().message.substr(0, 12)));
    CHECK(d.click("problem.fix"));
    CHECK(d.plan().layout.tp != 7);
    d.press({Key::escape});
    CHECK_FALSE(d.drawn("problem.fix"));
}

TEST_CASE("more problems than the smallest window shows are reached by keyboard and by the thumb") {
    Driver d("llama-3-70b-3d", {800, 600});
    Plan plan = d.plan();
    plan.layout.tp = 7, plan.layout.cp = 3, plan.layout.pp = 9, plan.training.global_batch = 13;
    d.shell.edit_plan(plan, "nothing fits");
    d.surface.resize({640, 200}, 1);
    d.settle();
    REQUIRE(d.click("status.problems"));
    REQUIRE(d.drawn("problems.thumb"));
    const auto top = [&] { return d.shell.ui_state().rect_of("problem.fix")->y; };
    d.move({1, 1});
    const float first = top();
    d.press({Key::tab});
    d.press({Key::page_down});
    CHECK(top() < first);
    d.press({Key::home});
    CHECK(top() == first);
    const Vec2 thumb = d.shell.ui_state().rect_of("problems.thumb")->center();
    d.drag(thumb, thumb + Vec2{0, 60});
    CHECK(top() < first);
}

TEST_CASE("a bandwidth takes the unit shown; bits are bits; what is refused is said beside it") {
    Driver d("llama-3-70b-3d", {1600, 1000});
    d.press({.key = Key::n7});
    REQUIRE(d.click("step.part_below", 2));
    REQUIRE(d.drawn("constants.tier.1.bytes_per_s"));
    const auto bandwidth = [&] { return d.plan().cluster.tiers[1].bytes_per_s; };
    const auto enter = [&](std::string_view text) {
        type_into(d, "constants.tier.1.bytes_per_s", "edit.constants.tier.1.bytes_per_s", text);
    };
    enter("25");
    CHECK(bandwidth() == 25e9);
    enter("200 Gb/s");
    CHECK(bandwidth() == 25e9);
    enter("400 GB/s");
    CHECK(bandwidth() == 400e9);
    enter("25 parsecs");
    CHECK(bandwidth() == 400e9);
    CHECK(window_says(d, "25 parsecs"));
    enter("0.5 B/s");
    CHECK(bandwidth() == 400e9);
    CHECK(window_says(d, "must be from"));
}

TEST_CASE("a number that was typed counts when the field is left, by a click or by Tab; Escape drops it") {
    Driver d("llama-3-70b-3d", {1600, 1300});
    const auto type = [&](std::string_view name, std::string_view text) {
        REQUIRE(d.click(name));
        d.press({Key::a, true});
        d.type(text);
    };
    const Rect nowhere = *d.shell.ui_state().rect_of("view.mesh");
    type("plan.gpus", "512");
    d.click_at(nowhere.center());
    CHECK(d.plan().cluster.gpus == 512);
    type("layout.tp", "4");
    d.press({Key::tab});
    CHECK(d.plan().layout.tp == 4);
    type("layout.tp", "2");
    d.press({Key::escape});
    CHECK(d.plan().layout.tp == 4);
    type("layout.tp", "7000000");
    d.click_at(nowhere.center());
    CHECK(d.plan().layout.tp == 4);
    CHECK(window_says(d, "7000000"));
    type("layout.tp", "2");
    REQUIRE(d.click("layout.pp"));  // another number is typed at once
    CHECK(d.plan().layout.tp == 2);
    d.press({Key::a, true});
    d.type("2");
    d.press({Key::enter});
    CHECK(d.plan().layout.pp == 2);
}

TEST_CASE("a number that was typed in a popover counts when the popover is left; a wrong one is said") {
    Driver d("llama-3-70b-3d", {1600, 1300});
    const auto leave_with = [&](std::string_view text) {
        REQUIRE(d.click("mod.batch"));
        REQUIRE(d.click("batch.sequence"));
        d.press({Key::a, true});
        d.type(text);
        d.click_at({800, 60});
    };
    leave_with("16k");
    CHECK(d.plan().training.sequence_length == 16384);
    leave_with("-1");
    CHECK(d.plan().training.sequence_length == 16384);
    CHECK(window_says(d, "\"-1\""));
}

TEST_CASE("a command that is given while a number is typed takes that number first") {
    Driver d("llama-3-70b-3d", {1600, 1300});
    const Plan before = d.plan();
    REQUIRE(d.click("plan.gpus"));
    d.press({Key::a, true});
    d.type("512");
    d.press({.key = Key::n, .ctrl = true});
    CHECK(d.plan() == d.presets.plan("single-gpu"));
    d.press({Key::escape});
    d.press({.key = Key::z, .ctrl = true});
    CHECK(d.plan().cluster.gpus == 512);
    d.press({.key = Key::z, .ctrl = true});
    CHECK(d.plan() == before);
}

TEST_CASE("a value whose field is opened and left as it was is no edit, though what it shows is rounded") {
    Driver d("llama-3-70b-3d", {1600, 1000});
    d.press({.key = Key::n7});
    REQUIRE(d.click("step.part_below", 2));
    const Plan before = d.plan();
    for (const char* id : {"constants.efficiency.gemm", "constants.tier.1.bytes_per_s"}) {
        REQUIRE(d.click(id));
        d.press({Key::enter});
        REQUIRE(d.click(id));
        d.click_at({800, 20});
    }
    CHECK(d.plan() == before);
    CHECK_FALSE(d.shell.document().can_undo());
}

TEST_CASE("the spread of GPUs' step times is typed, within the field's range") {
    Driver d("llama-3-70b-3d", {1600, 1000});
    d.press({.key = Key::n7});
    REQUIRE(d.click("step.part_below", 1));
    type_into(d, "step.sigma", "edit.step.sigma", "2.5");
    CHECK(d.plan().training.straggler_cv == near(0.025));
    type_into(d, "step.sigma", "edit.step.sigma", "4 %");
    CHECK(d.plan().training.straggler_cv == near(0.04));
    type_into(d, "step.sigma", "edit.step.sigma", "-3 %");
    CHECK(d.plan().training.straggler_cv == near(0.04));
    CHECK(window_says(d, "-3 %"));
}

TEST_CASE("in a low window the modifiers begin above the fold, and the order shows the axes in use") {
    Driver d("llama-3.1-405b-16k", {1280, 720});  // tp, pp and dp_shard
    constexpr float kStatus = 30;
    for (const char* name : {"mod.sp", "mod.zero", "mod.schedule"}) {
        CAPTURE(std::string(name));
        const auto r = d.shell.ui_state().rect_of(name);
        REQUIRE(r);
        CHECK(r->bottom() <= 720 - kStatus);
    }
    for (const char* name : {"order.tp", "order.pp", "order.dp_shard"})
        CHECK(d.shell.ui_state().rect_of(name).has_value());
    CHECK_FALSE(d.shell.ui_state().rect_of("order.cp").has_value());
}
