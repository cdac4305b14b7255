// Draws the plan panel's modifiers: a row each; a modifier with more than one setting opens a popover.
#include "app/ui/kit/format.h"
#include "app/ui/panels/glossary_card.h"
#include "app/ui/panels/plan_blocks.h"
#include "app/ui/panels/plan_choice.h"
#include "core/pipeline/gradient_reduction.h"
#include "core/teach/axis_sentences.h"

#include <algorithm>
#include <string>

namespace pentamesh::ui {

namespace {

constexpr std::uint64_t kPanelTerms = 100;  // tells the panel's terms from the views'

// Draws one labelled row; returns the room of its control. `id` is the label's entry in the glossary.
Rect modifier_row(Ui& ui, Rect& room, std::string_view label, std::string_view id) {
    Rect row = room.cut_top(28);
    if (!is_low(ui)) room.cut_top(4);
    term(ui, row.cut_left(88).inset(0, 3), id, label, ui.style(13, Tone::secondary), kPanelTerms);
    return row.inset(0, 2);
}

// Draws a row that opens a popover.
void opener(Ui& ui, Rect box, std::string_view menu, const std::string& label, PlanPanelState& state) {
    if (ui.dropdown("mod." + std::string(menu), box, label)) open_menu(state, menu, box);
}

MaybeEdit sharding_rows(Ui& ui, Rect& room, const Scene& scene, PlanPanelState& state) {
    MaybeEdit edit;
    const Layout& l = scene.plan.layout;
    static constexpr std::string_view kOffOn[] = {"off", "on"};
    static constexpr std::string_view kZero[] = {"0", "1", "2", "3"};
    const int sp = ui.segments("mod.sp", modifier_row(ui, room, "Sequence p.", "sp"), kOffOn,
                               l.sequence_parallel ? 1 : 0);
    if ((sp == 1) != l.sequence_parallel)
        edit = changed(scene, sp == 1 ? "sequence parallel on" : "sequence parallel off",
                       [&](Plan& p) { p.layout.sequence_parallel = sp == 1; });
    const auto over = [&](std::string_view control, std::uint64_t i) {
        const auto at = ui.rect_of(control, i);
        return at && ui.hovers(*at);
    };
    if (over("mod.sp", 0) || over("mod.sp", 1)) ui.tooltip(std::string(kSequenceParallelSentence));
    static constexpr std::string_view kRungs[] = {"zero-1", "zero-1", "zero-2", "zero-3"};
    const int rung = std::clamp(l.zero, 0, 3);
    const int zero = ui.segments("mod.zero", modifier_row(ui, room, "ZeRO", kRungs[rung]), kZero, l.zero);
    for (int i = 0; i < 4; ++i)
        if (over("mod.zero", static_cast<std::uint64_t>(i))) ui.tooltip(std::string(sentence_of_zero(i)));
    if (zero != l.zero)
        edit = changed(scene, "ZeRO-" + std::to_string(zero), [&](Plan& p) {
            p.layout.zero = zero;
            follow_software(scene.plan, p);
        });
    if (l.cp > 1)
        opener(ui, modifier_row(ui, room, "CP by", "cp"), "cp", std::string(words_of(l.cp_comm).name), state);
    return edit;
}

// Draws a choice of three words; "…" opens the modules and how many layers.
MaybeEdit recompute_row(Ui& ui, Rect& room, const Scene& scene, PlanPanelState& state) {
    const RecomputeChoice& now = scene.plan.training.recompute;
    Rect box = modifier_row(ui, room, "Recompute", "recompute");
    const Rect more = box.cut_right(24);
    box.cut_right(4);
    if (ui.button("mod.recompute_more", more, "…")) open_menu(state, "recompute", box);
    if (!now.is_plain()) {
        opener(ui, box, "recompute", words_of(now), state);
        return std::nullopt;
    }
    static constexpr std::array<std::string_view, kNames<Recompute>.size()> kShort{"none", "sel.", "full"};
    constexpr float kWholeWords = 140;
    const int kind = static_cast<int>(now.kind);
    const int to = ui.segments("mod.recompute", box, box.w < kWholeWords ? kShort : kNames<Recompute>, kind);
    if (to == kind) return std::nullopt;
    return changed(scene, "recompute " + std::string(name_of(static_cast<Recompute>(to))),
                   [&](Plan& p) { p.training.recompute = static_cast<Recompute>(to); });
}

// The micro-batches are written in the box where they have room, else below it.
void batch_row(Ui& ui, Rect& room, const Scene& scene, PlanPanelState& state) {
    const Training& t = scene.plan.training;
    const Rect box = modifier_row(ui, room, "Batch", "batch");
    const std::string label = thousands(t.global_batch) + " × " + sequence_text(t.sequence_length);
    const std::int64_t n = scene.evaluation.microbatches;
    const std::string micro = n > 0 ? thousands(n) + " micro" : "";
    Canvas& c = ui.canvas();
    const bool beside = c.text_width(label, ui.style()) + c.text_width(micro, ui.style()) + 52 < box.w;
    if (ui.dropdown("mod.batch", box, label, beside ? micro : "")) open_menu(state, "batch", box);
    if (beside) return;
    room.y -= 4;
    c.text_in({box.x, room.y, box.w, 16}, micro, ui.small(), Align::right);
    room.cut_top(20);
}

std::string overlap_text(const Overlap& o) {
    std::string s;
    for (const auto& [name, on] :
         {std::pair{"dp", o.dp}, {"pp", o.pp}, {"cp", o.cp}, {"tp", o.tp}, {"ep", o.ep}})
        if (on) s += (s.empty() ? "" : ", ") + std::string(name);
    return s.empty() ? "nothing hidden" : s;
}

}  // namespace

MaybeEdit modifiers_block(Ui& ui, Rect& room, const Scene& scene, PlanPanelState& state) {
    const Layout& l = scene.plan.layout;
    const Training& t = scene.plan.training;
    ui.section(room.cut_top(18), "MODIFIERS");
    room.cut_top(6);
    MaybeEdit edit = sharding_rows(ui, room, scene, state);
    const std::string schedule = l.pp == 1 ? "none (pp 1)" : with_chunks(l.schedule, l.virtual_stages);
    opener(ui, modifier_row(ui, room, "Schedule", "schedule"), "schedule", schedule, state);
    if (auto again = recompute_row(ui, room, scene, state)) edit = std::move(again);
    batch_row(ui, room, scene, state);
    opener(ui, modifier_row(ui, room, "Precision", "precision"), "precision",
           std::string(name_of(t.compute)) + ", grads " + std::string(name_of(t.gradients)), state);
    opener(ui, modifier_row(ui, room, "Optimizer", "optimizer-state"), "optimizer",
           std::string(name_of(t.optimizer)) + ", " + std::string(name_of(t.optimizer_state)), state);
    opener(ui, modifier_row(ui, room, "Attention", "flash-attention"), "attention",
           std::string(name_of(t.attention)) + (t.dropout ? ", dropout" : ""), state);
    opener(ui, modifier_row(ui, room, "Overlap", "overlap"), "overlap", overlap_text(t.overlap), state);
    return edit;
}

}  // namespace pentamesh::ui
