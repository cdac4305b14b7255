// Draws the plan panel's popovers: several settings of one thing, a row each.
#include "app/ui/kit/format.h"
#include "app/ui/panels/plan_blocks.h"
#include "app/ui/panels/plan_choice.h"
#include "core/plan/changes.h"
#include "core/plan/factors.h"
#include "core/plan/ranges.h"

#include <algorithm>

namespace pentamesh::ui {

namespace {

constexpr float kLabel = 112, kRow = 28, kGap = 6, kPadX = 16, kPadY = 12;

// Returns a box below its anchor where there is room, inside the window in any case.
Rect popover_box(Ui& ui, Rect anchor, float w, float h) {
    const Vec2 screen = ui.frame().size;
    w = std::min(w, screen.x - 16);
    h = std::min(h, screen.y - 16);
    return {std::clamp(anchor.x, 8.0f, std::max(8.0f, screen.x - 8 - w)),
            std::clamp(anchor.bottom() + 4, 8.0f, std::max(8.0f, screen.y - 8 - h)), w, h};
}

// ---- numbers ------------------------------------------------------------------------------------------

struct NumberRow {
    std::string_view label, name, pointer;
    std::int64_t value;
};

// Draws "label  [- value +]": typed or stepped, within the field's range. Returns the new value.
std::optional<std::int64_t> number_row(Ui& ui, Rect& room, const NumberRow& number, PlanPanelState& state) {
    Rect row = room.cut_top(kRow);
    const Rect box = row.cut_right(120);
    ui.canvas().text_in(row, number.label, ui.style(13, Tone::secondary));
    std::optional<std::int64_t> result;
    if (state.editing == number.name) {
        result = typed_number(ui, number.name, number.pointer, box, state);
    } else {
        const std::int64_t up = next_value(number.pointer, number.value, 1),
                           down = next_value(number.pointer, number.value, -1);
        const Ui::Step step = ui.stepper(number.name, box, thousands(number.value), down != number.value,
                                         up != number.value, true);
        if (step.edit_requested) start_editing(state, number.name, number.value);
        if (step.by != 0) result = step.by > 0 ? up : down;
    }
    field_message(ui, room, number.name, state);
    room.cut_top(kGap);
    return result;
}

std::string batch_text(const Plan& plan, const Evaluation& e) {
    const Training& t = plan.training;
    if (e.microbatches <= 0) return "does not divide by micro-batch × data-parallel ranks";
    const double tokens = static_cast<double>(t.global_batch) * static_cast<double>(t.sequence_length);
    return thousands(t.global_batch) + " / (" + thousands(t.micro_batch) + " × dp "
           + thousands(data_parallel(plan)) + ") = " + plural(e.microbatches, "micro-batch", "micro-batches")
           + " a step; " + count_text(tokens) + " tokens";
}

MaybeEdit batch_popover(Ui& ui, const Scene& scene, PlanPanelState& state) {
    const Training& t = scene.plan.training;
    const std::array<NumberRow, 3> rows{
        {{"global batch", "batch.global", "/training/global_batch", t.global_batch},
         {"micro-batch", "batch.micro", "/training/micro_batch", t.micro_batch},
         {"sequence length", "batch.sequence", "/training/sequence_length", t.sequence_length}}};
    const float w = state.menu_anchor.w + 110;
    const std::string text = batch_text(scene.plan, scene.evaluation);
    Canvas& under = ui.canvas();
    float h = 2 * kPadY + 3 * (kRow + kGap) + under.paragraph_height(w - 2 * kPadX, text, ui.small(), 18);
    for (const NumberRow& r : rows)
        if (state.refused == r.name)
            h += under.paragraph_height(w - 2 * kPadX, state.refusal, ui.small(), 16) + 4;
    const Rect box = popover_box(ui, state.menu_anchor, w, h);
    const auto layer = ui.open_layer("menu.batch", box);
    const bool open = layer.stays();
    Rect room = box.inset(kPadX, kPadY);
    MaybeEdit edit;
    for (const NumberRow& r : rows)
        if (const auto n = number_row(ui, room, r, state))
            edit = PlanEdit{with_number(scene.plan, r.pointer, *n),
                            std::string(r.label) + " " + thousands(*n), ""};
    ui.canvas().paragraph(room, text, ui.small(), 18);
    if (!open && !state.refused.empty())
        scene.next_hover.message = state.refusal;  // there is no field to say it at
    if (edit || !open) state.refused.clear();
    if (!open) state.menu.clear(), state.editing.clear();
    return edit;
}

// ---- choices ------------------------------------------------------------------------------------------

// Draws rows of segments, as wide as their words need.
class ChoiceRows {
  public:
    ChoiceRows(Ui& ui, const Scene& scene, Rect room, MaybeEdit& edit)
        : ui_(ui), scene_(scene), room_(room), edit_(edit) {}

    template <typename E>
    void of(std::string_view label, std::string_view name, std::span<const E> values, E Training::*member) {
        if (const auto to = choose_of<E>(ui_, name, row(label), values, scene_.plan.training.*member))
            edit_ = changed(scene_, std::string(label) + " " + std::string(name_of(*to)),
                            [&](Plan& p) { p.training.*member = *to; });
    }
    template <typename E>
    void all(std::string_view label, std::string_view name, E Training::*member) {
        static constexpr auto kAll = all_values<E>();
        of<E>(label, name, kAll, member);
    }
    template <typename Get>
    void flag(std::string_view label, std::string_view name, Get&& get) {
        Plan p = scene_.plan;
        bool& value = get(p.training);
        toggle(label, name, value, [&](Plan& to, bool on) { get(to.training) = on; });
    }
    // The edit is made by `set(plan, on)`.
    template <typename Set>
    void toggle(std::string_view label, std::string_view name, bool now, Set&& set) {
        static constexpr std::array<std::string_view, 2> kOffOn{"off", "on"};
        const bool to = ui_.segments(name, row(label), kOffOn, now ? 1 : 0) == 1;
        if (to != now)
            edit_ = changed(scene_, std::string(label) + (to ? " on" : " off"), [&](Plan& p) { set(p, to); });
    }
    void take(PlanEdit edit) { edit_ = std::move(edit); }
    [[nodiscard]] Ui& ui() { return ui_; }
    [[nodiscard]] const Scene& scene() const { return scene_; }
    [[nodiscard]] Rect row(std::string_view label) {
        Rect r = room_.cut_top(kRow);
        room_.cut_top(kGap);
        ui_.canvas().text_in(r.cut_left(kLabel), label, ui_.style(13, Tone::secondary));
        return r.inset(0, 2);
    }

  private:
    Ui& ui_;
    const Scene& scene_;
    Rect room_;
    MaybeEdit& edit_;
};

// Returns the room for a row of these words side by side.
template <typename E>
float width_of(Ui& ui, std::span<const E> values) {
    float w = 0;
    for (const E e : values) w += ui.canvas().text_width(name_of(e), ui.style(12)) + 22;
    return w;
}

constexpr std::array<Dtype, 6> kCompute{Dtype::bf16, Dtype::fp16, Dtype::fp8,
                                        Dtype::fp4,  Dtype::tf32, Dtype::fp32};
constexpr std::array<Dtype, 4> kStored{Dtype::fp32, Dtype::bf16, Dtype::fp16, Dtype::fp8};

template <typename Draw>
MaybeEdit choices(Ui& ui, const Scene& scene, PlanPanelState& state, int rows, float widest, Draw&& draw) {
    const float w = std::max(state.menu_anchor.w, kLabel + widest) + 2 * kPadX;
    const float h = 2 * kPadY + static_cast<float>(rows) * (kRow + kGap) - kGap;
    const Rect box = popover_box(ui, state.menu_anchor, w, h);
    const auto layer = ui.open_layer("menu." + state.menu, box);
    const bool open = layer.stays();
    MaybeEdit edit;
    ChoiceRows lines(ui, scene, box.inset(kPadX, kPadY), edit);
    draw(lines);
    if (!open) state.menu.clear();
    return edit;
}

MaybeEdit precision_popover(Ui& ui, const Scene& scene, PlanPanelState& state) {
    const float w = std::max(width_of<Dtype>(ui, kStored), width_of<Dtype>(ui, kCompute));
    return choices(ui, scene, state, 3, w, [](ChoiceRows& rows) {
        rows.of<Dtype>("compute", "prec.compute", kCompute, &Training::compute);
        rows.of<Dtype>("parameters", "prec.parameters", kStored, &Training::parameters);
        rows.of<Dtype>("gradients", "prec.gradients", kStored, &Training::gradients);
    });
}

MaybeEdit optimizer_popover(Ui& ui, const Scene& scene, PlanPanelState& state) {
    static constexpr auto kOptimizers = all_values<Optimizer>();
    return choices(ui, scene, state, 3, width_of<Optimizer>(ui, kOptimizers), [](ChoiceRows& rows) {
        rows.of<Optimizer>("optimizer", "opt.kind", kOptimizers, &Training::optimizer);
        rows.of<Dtype>("its state", "opt.state", kStored, &Training::optimizer_state);
        rows.all("master copy", "opt.master", &Training::master_weights);
    });
}

MaybeEdit attention_popover(Ui& ui, const Scene& scene, PlanPanelState& state) {
    return choices(ui, scene, state, 2, 120, [](ChoiceRows& rows) {
        rows.all("attention", "attn.kind", &Training::attention);
        rows.flag("dropout", "attn.dropout", [](Training& t) -> bool& { return t.dropout; });
    });
}

// Chooses the axes whose communication may hide behind compute.
MaybeEdit overlap_popover(Ui& ui, const Scene& scene, PlanPanelState& state) {
    return choices(ui, scene, state, 5, 120, [](ChoiceRows& rows) {
        rows.flag("hide dp", "overlap.dp", [](Training& t) -> bool& { return t.overlap.dp; });
        rows.flag("hide pp", "overlap.pp", [](Training& t) -> bool& { return t.overlap.pp; });
        rows.flag("hide cp", "overlap.cp", [](Training& t) -> bool& { return t.overlap.cp; });
        rows.flag("hide tp", "overlap.tp", [](Training& t) -> bool& { return t.overlap.tp; });
        rows.flag("hide ep", "overlap.ep", [](Training& t) -> bool& { return t.overlap.ep; });
    });
}

// Chooses Megatron's modules, and how many layers of a chunk.
void module_rows(ChoiceRows& rows, const RecomputeChoice& now) {
    const RecomputeModules chosen = now.kind == Recompute::selective ? now.modules : RecomputeModules();
    for (const RecomputeModule m : all_of<RecomputeModule>())
        rows.toggle(name_of(m), "recompute." + std::string(name_of(m)), chosen.has(m), [&](Plan& p, bool on) {
            RecomputeModules all;
            for (const RecomputeModule other : all_of<RecomputeModule>())
                if (other == m ? on : chosen.has(other)) all.add(other);
            p.training.recompute = {all, all.empty() ? 0 : now.layers, now.method};
        });
}

void layer_rows(ChoiceRows& rows, const RecomputeChoice& now) {
    const std::int64_t most = rows.scene().plan.model.layers;  // a stage cannot have more than the model
    const auto choose_layers = [&](std::int64_t n, RecomputeMethod how) {
        const RecomputeChoice to = now.whole_layers() && n == 0 ? RecomputeChoice(Recompute::full)
                                                                : RecomputeChoice(now.modules, n, how);
        rows.take(
            changed(rows.scene(), "recompute " + words_of(to), [&](Plan& p) { p.training.recompute = to; }));
    };
    const Ui::Step step = rows.ui().stepper(
        "recompute.layers", rows.row("layers a chunk"), now.layers == 0 ? "all" : thousands(now.layers),
        now.any() && now.layers > 0, now.any() && now.layers < most, now.any(), false);
    if (step.by != 0) choose_layers(now.layers + step.by, now.method);
    if (step.edit_requested && now.layers > 0) choose_layers(0, now.method);  // a click on the number: all
    if (!now.whole_layers()) return;
    if (const auto to = choose(rows.ui(), "recompute.method", rows.row("chosen as"), now.method))
        choose_layers(std::max<std::int64_t>(now.layers, *to == RecomputeMethod::uniform ? 2 : 1), *to);
}

MaybeEdit recompute_popover(Ui& ui, const Scene& scene, PlanPanelState& state) {
    const RecomputeChoice& now = scene.plan.training.recompute;
    const int rows = static_cast<int>(kEnumCount<RecomputeModule>) + (now.whole_layers() ? 3 : 2);
    static constexpr auto kKinds = all_values<Recompute>();
    return choices(ui, scene, state, rows, width_of<Recompute>(ui, kKinds), [&](ChoiceRows& lines) {
        if (const auto to = choose(ui, "recompute.kind", lines.row("of a layer"), now.kind))
            lines.take(changed(scene, "recompute " + std::string(name_of(*to)),
                               [&](Plan& p) { p.training.recompute = *to; }));
        module_rows(lines, now);
        layer_rows(lines, now);
    });
}

}  // namespace

MaybeEdit draw_plan_popover(Ui& ui, Scene& scene, PlanPanelState& state) {
    if (state.menu == "batch") return batch_popover(ui, scene, state);
    if (state.menu == "precision") return precision_popover(ui, scene, state);
    if (state.menu == "optimizer") return optimizer_popover(ui, scene, state);
    if (state.menu == "attention") return attention_popover(ui, scene, state);
    if (state.menu == "overlap") return overlap_popover(ui, scene, state);
    if (state.menu == "recompute") return recompute_popover(ui, scene, state);
    state.menu.clear();
    return std::nullopt;
}

}  // namespace pentamesh::ui
