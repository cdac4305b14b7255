#include "app/ui/panels/plan_editor.h"

#include "app/ui/kit/format.h"
#include "app/ui/kit/rows.h"
#include "app/ui/panels/export_sheet.h"
#include "app/ui/panels/preset_menu.h"
#include "core/base/error.h"
#include "core/io/plan_by_hand.h"
#include "core/io/plan_json.h"
#include "core/model/model.h"
#include "core/plan/changes.h"
#include "core/plan/names.h"
#include "core/plan/plan_fields.h"
#include "core/plan/problem.h"
#include "core/step/compute.h"

#include <algorithm>
#include <array>
#include <utility>

namespace pentamesh::ui {

namespace {

// Returns parameters in all and active, FLOPs a token of forward and backward, bytes of its weights.
std::string model_line(const Plan& plan) {
    const ParameterCounts n = count_parameters(plan.model);
    const auto total = static_cast<double>(n.total), active = static_cast<double>(n.active);
    const std::int64_t sequence = plan.training.sequence_length;
    const ForwardFlops flops = forward_flops(plan.model, sequence);
    std::string line = count_text(total) + " parameters (" + thousands(n.total) + ")";
    if (n.active != n.total)
        line += ", " + count_text(static_cast<double>(n.active_without_embedding)) + " active for one token ("
                + count_text(active) + " with the embedding's table)";
    if (sequence > 0)  // forward and backward, as MFU counts them
        line += ", " + three_digits(3 * (flops.layers + flops.head) / static_cast<double>(sequence) / 1e9)
                + " GFLOP a token";
    return line + ", " + traffic_text(total * bytes_of(plan.training.parameters)) + " of weights in "
           + std::string(name_of(plan.training.parameters));
}

// Returns the plan with that text in the field `pointer`; nullopt where it is no value of the field.
std::optional<Plan> plan_as_typed(const Plan& plan, std::string_view pointer, std::string_view text,
                                  const Presets& presets) {
    try {
        return with_field(plan, pointer, text, presets);
    } catch (const Error&) {
        return std::nullopt;
    }
}

constexpr std::string_view kGpuPointer = "/cluster/gpu";
constexpr float kFieldRow = 30, kFieldGap = 4, kHeadingRow = 30, kLabelWidth = 215, kBoxWidth = 230,
                kSectionWidth = 150;

std::string allowed_text(const PlanField& f) {
    switch (f.kind) {
    case PlanField::Kind::whole:
        return "a whole number from " + three_digits(f.least) + " to " + count_text(f.most)
               + (f.may_be_none ? ", or none" : "");
    case PlanField::Kind::list:
        if (f.pointer.ends_with("/pattern"))
            return R"(runs of layers as JSON: [{"kind": "window", "ffn": "dense", "count": 5, "window": 1024}, …])";
        if (!f.choices.empty()) {
            std::string words;
            for (const std::string& choice : f.choices) words += choice + ", ";
            return words + "with commas between them, or none";
        }
        return "values with commas between them, or none";
    default: return "";
    }
}

bool is_switch(const PlanField& f) {
    return f.kind == PlanField::Kind::flag || f.kind == PlanField::Kind::group;
}
bool is_typed(const PlanField& f) {
    return !is_switch(f) && f.kind != PlanField::Kind::choice;
}

// Returns false where the value says nothing: its field then has words for that.
bool is_set(const PlanField& f) {
    const bool nothing = f.value.empty() || f.value == "none" || f.value == "0" || f.value.starts_with("0 ");
    return !nothing || (f.unset.empty() && !f.value.empty());
}

PlanEdit edit_of(Plan plan, const PlanField& f, std::string_view value) {
    return {std::move(plan), f.name + " " + std::string(value), ""};
}

// Returns the plan with the value, or nothing and why.
std::optional<PlanEdit> try_value(const Scene& scene, const PlanField& f, std::string_view typed,
                                  PlanEditorState& state) {
    try {
        Plan plan = with_field(scene.plan, f.pointer, typed, scene.presets);
        state.refused.clear();
        if (plan == scene.plan) return std::nullopt;
        return edit_of(std::move(plan), f, typed);
    } catch (const Error& e) {
        state.refused = f.pointer;
        state.refusal = e.message();
        return std::nullopt;
    }
}

std::optional<PlanEdit> try_back(const Scene& scene, const PlanField& f, PlanEditorState& state) {
    try {
        Plan plan = with_preset_field(scene.plan, f.pointer, scene.presets);
        state.refused.clear();
        return edit_of(std::move(plan), f, f.preset_value);
    } catch (const Error& e) {
        state.refused = f.pointer;
        state.refusal = e.message();
        return std::nullopt;
    }
}

// Draws a box with the value; a click or a letter types into it. Enter takes the typed text, and so does
// leaving the box.
std::optional<PlanEdit> value_box(Ui& ui, Rect box, const Scene& scene, const PlanField& f,
                                  PlanEditorState& state) {
    Canvas& c = ui.canvas();
    if (state.editing == f.pointer) {
        const bool fresh = std::exchange(state.edit_fresh, false);
        const Ui::Typing typing = ui.typed_value("editor.edit", box, state.edit_text, fresh);
        if (typing == Ui::Typing::goes_on) return std::nullopt;
        state.editing.clear();
        return typing == Ui::Typing::dropped ? std::nullopt : try_value(scene, f, state.edit_text, state);
    }
    const Hit hit = ui.value_area("editor" + f.pointer, box);
    c.rect(box, ui.theme().raised, 6);
    c.frame(box, hit.hovered ? ui.theme().secondary : ui.theme().hairline, 1, 6);
    if (hit.focused) ui.focus_ring(box, 6);
    const bool stands = is_set(f);
    const std::string shown = stands ? f.value : f.unset.empty() ? "—" : f.unset;
    if (c.text_in(box.inset(10, 0), shown, ui.style(13, stands ? Tone::text : Tone::faint)) && hit.hovered)
        ui.tooltip(f.name + "\n" + shown);
    if (hit.clicked) {
        state.editing = f.pointer;
        state.edit_text = f.value;
        state.edit_fresh = true;
        state.refused.clear();
    }
    return std::nullopt;
}

std::optional<PlanEdit> control(Ui& ui, Rect box, const Scene& scene, const PlanField& f,
                                PlanEditorState& state) {
    switch (f.kind) {
    case PlanField::Kind::flag:
    case PlanField::Kind::group: {
        static constexpr std::array<std::string_view, 2> kOffOn{"off", "on"};
        const int before = f.value == "on" ? 1 : 0;
        box.w = std::min(box.w, 100.0f);
        const int to = ui.segments("editor" + f.pointer, box, kOffOn, before);
        return to == before ? std::nullopt : try_value(scene, f, to == 1 ? "on" : "off", state);
    }
    case PlanField::Kind::choice: {
        if (ui.dropdown("editor" + f.pointer, box, choice_words(f, f.value))) {
            state.choosing = f.pointer;
            state.choices_anchor = box;
            state.choices = {};
        }
        return std::nullopt;
    }
    default: return value_box(ui, box, scene, f, state);
    }
}

// Returns words for the way back to the preset: a whole group only comes or goes with its switch.
std::string back_words(const PlanField& f) {
    if (f.kind != PlanField::Kind::group) return "back to " + f.preset_value;
    std::string what = f.pointer == "/model/moe" ? "experts" : f.name;
    return (f.preset_value == "on" ? "bring back the " : "remove the ") + what;
}

std::optional<PlanEdit> field_row(Ui& ui, Rect& room, const Scene& scene, const PlanField& f,
                                  PlanEditorState& state) {
    Canvas& c = ui.canvas();
    Rect row = room.cut_top(kFieldRow);
    room.cut_top(kFieldGap);
    const Rect name = row.cut_left(std::min(kLabelWidth, row.w * 0.42f));
    const bool changed = !f.preset_value.empty();
    const std::string label = f.label + (changed ? " *" : "");
    c.text_in(name, label, ui.style(13, changed ? Tone::text : Tone::secondary));
    if (ui.hovers(name))
        ui.tooltip(f.name + "\n" + f.pointer + (allowed_text(f).empty() ? "" : "\n" + allowed_text(f)));
    const Rect box = row.cut_left(std::min(kBoxWidth, row.w)).inset(0, 2);
    std::optional<PlanEdit> edit = control(ui, box, scene, f, state);
    row.cut_left(12);
    if (changed && row.w > 60) {
        const Rect place{row.x, row.center().y - 9, row.w, 18};
        if (f.preset_lacks) {
            ui.label(place, "not in the preset", ui.small(Tone::faint));
        } else {
            const std::string back = back_words(f);
            if (ui.hovers({row.x, row.y, ui.canvas().text_width(back, ui.small()), row.h}))
                ui.tooltip(back + "\nas in the preset; nothing else changes");
            if (ui.link("editor.back", place.min(), back, id_of(f.pointer))) edit = try_back(scene, f, state);
        }
    }
    if (state.refused == f.pointer) {
        TextStyle bad = ui.small();
        bad.color = ui.theme().bad;
        put_paragraph(ui, room, state.refusal, bad, 16, kFieldGap);
    }
    return edit;
}

std::optional<PlanEdit> tier_buttons(Ui& ui, Rect& room, const Scene& scene, PlanEditorState& state) {
    Rect row = room.cut_top(kFieldRow);
    room.cut_top(kFieldGap);
    const Cluster& cluster = scene.plan.cluster;
    const auto changed = [&](Cluster to, const char* what) {
        state.refused.clear();
        return PlanEdit{with_tiers(scene.plan, std::move(to.tiers)), what, ""};
    };
    std::optional<PlanEdit> edit;
    const std::int64_t below = cluster.tiers.size() > 1 ? cluster.tiers[cluster.tiers.size() - 2].domain : 1;
    const bool room_for_more = cluster.tiers.size() < kMaxTiers && below < kMostDegree;
    if (ui.button("editor.tier.add", row.cut_left(110).inset(0, 2), "Add a tier", 0, room_for_more)) {
        Cluster to = cluster;
        Tier& last = to.tiers.back();
        Tier slower = last;
        last.domain = std::max(below + 1, std::min(cluster.gpus, below * 8));  // more than the one before
        slower.name = "tier " + std::to_string(to.tiers.size() + 1);
        slower.domain = 0;
        to.tiers.push_back(std::move(slower));
        edit = changed(std::move(to), "another tier");
    }
    row.cut_left(8);
    if (ui.button("editor.tier.remove", row.cut_left(150).inset(0, 2), "Remove the last tier", 0,
                  cluster.tiers.size() > 1)) {
        Cluster to = cluster;
        to.tiers.pop_back();
        to.tiers.back().domain = 0;
        edit = changed(std::move(to), "a tier less");
    }
    const Source& source = scene.plan.cluster_source;
    const bool stated =
        std::find(source.overrides.begin(), source.overrides.end(), "/tiers") != source.overrides.end();
    row.cut_left(8);
    if (!source.preset.empty() && stated
        && ui.button("editor.tier.back", row.cut_left(std::min(200.0f, row.w)).inset(0, 2),
                     "Back to the preset's tiers")) {
        state.refused.clear();
        edit = PlanEdit{with_preset_field(scene.plan, "/cluster/tiers", scene.presets), "the preset's tiers",
                        ""};
    }
    return edit;
}

// Shows which GPU it is, by its preset; the fields below say which of its values were changed.
std::optional<PlanEdit> gpu_row(Ui& ui, Rect& room, const Scene& scene, PlanEditorState& state) {
    Rect row = room.cut_top(kFieldRow);
    room.cut_top(kFieldGap);
    const Plan& plan = scene.plan;
    const std::string& id = plan.cluster.gpu.id;
    const std::string& cluster = plan.cluster_source.preset;
    std::string before;  // the GPU of the cluster's preset, where that is another
    if (!cluster.empty() && scene.presets.has(PresetKind::cluster, cluster)) {
        const Gpu preset = scene.presets.cluster(cluster).gpu;
        if (preset.id != id) before = preset.name.empty() ? preset.id : preset.name;
    }
    const Rect name = row.cut_left(std::min(kLabelWidth, row.w * 0.42f));
    ui.canvas().text_in(name, before.empty() ? "GPU" : "GPU *",
                        ui.style(13, before.empty() ? Tone::secondary : Tone::text));
    const Rect box = row.cut_left(std::min(kBoxWidth, row.w)).inset(0, 2);
    if (ui.dropdown("editor.gpu", box,
                    id.empty() ? "one of its own" : name_of_preset(scene.presets, PresetKind::gpu, id))) {
        state.choosing = kGpuPointer;
        state.choices_anchor = box;
        state.choices = {};
    }
    row.cut_left(12);
    if (before.empty() || row.w <= 60) return std::nullopt;
    if (!ui.link("editor.gpu.back", {row.x, row.center().y - 9}, "back to " + before)) return std::nullopt;
    return PlanEdit{with_preset_field(plan, kGpuPointer, scene.presets), "GPU " + before, ""};
}

std::optional<PlanEdit> draw_gpus(Ui& ui, const Scene& scene, PlanEditorState& state) {
    const PresetMenu menu = preset_menu(scene.presets, PresetKind::gpu, scene.plan.cluster.gpu.id);
    const MenuResult r = draw_menu(ui, "editor.gpus", state.choices_anchor, menu.items, state.choices, true,
                                   state.choices_anchor.w);
    if (r.picked >= 0 || r.closed) state.choosing.clear();
    if (r.picked < 0) return std::nullopt;
    const Presets::Entry& e = *menu.entry[r.picked];
    return PlanEdit{apply_edits(scene.plan, {{std::string(kGpuPointer), e.id}}, scene.presets), e.name, ""};
}

// Returns the kind of preset that the section's part of the plan can be kept as.
std::optional<PresetKind> preset_kind_of(FieldTopic s) {
    if (s <= FieldTopic::other_model) return PresetKind::model;
    if (s == FieldTopic::gpu) return PresetKind::gpu;
    const bool cluster = s == FieldTopic::fabric || s == FieldTopic::cluster;
    return cluster ? std::optional(PresetKind::cluster) : std::nullopt;
}

void preset_button(Ui& ui, Rect& head, const Scene& scene, PlanEditorState& state) {
    const std::optional<PresetKind> kind = preset_kind_of(state.section);
    if (!kind || head.w < 300) return;
    head.cut_right(8);
    const Rect r = head.cut_right(206);
    const bool can = !scene.presets.own_root().empty();
    if (ui.button("editor.preset", r, "Save " + std::string(word_of(*kind)) + " as preset…", 0, can))
        state.wants_preset = kind;
    if (!can && ui.hovers(r)) ui.tooltip("There is no folder for settings to keep it in");
}

void draw_sections(Ui& ui, Rect room, PlanEditorState& state) {
    Canvas& c = ui.canvas();
    for (const FieldTopic section : all_of<FieldTopic>()) {
        const Rect row = room.cut_top(28);
        const Hit hit = ui.area("editor.section", row, static_cast<std::uint64_t>(section));
        const bool current = section == state.section;
        row_ground(ui, row, hit, current);
        c.text_in(row.inset(8, 0), name_of(section), ui.style(13, current ? Tone::text : Tone::secondary));
        if (!hit.clicked) continue;
        state.section = section;
        state.scroll = {};
        state.editing.clear();
    }
}

std::optional<PlanEdit> draw_choices(Ui& ui, const Scene& scene, const std::vector<PlanField>& fields,
                                     PlanEditorState& state) {
    if (state.choosing == kGpuPointer) return draw_gpus(ui, scene, state);
    const auto f = std::find_if(fields.begin(), fields.end(),
                                [&](const PlanField& x) { return x.pointer == state.choosing; });
    if (f == fields.end()) {
        state.choosing.clear();
        return std::nullopt;
    }
    std::vector<MenuItem> items;
    for (const std::string& choice : f->choices)
        items.push_back({.label = choice_words(*f, choice), .checked = choice == f->value});
    const MenuResult r = draw_menu(ui, "editor.choices", state.choices_anchor, items, state.choices, false,
                                   state.choices_anchor.w);
    if (r.picked >= 0 || r.closed) state.choosing.clear();
    if (r.picked < 0) return std::nullopt;
    return try_value(scene, *f, f->choices[r.picked], state);
}

// Draws the fields of the page under their headings. When the sheet opens, its first field has the keyboard.
std::optional<PlanEdit> draw_fields(Ui& ui, Rect& room, const Scene& scene,
                                    const std::vector<PlanField>& fields, PlanEditorState& state) {
    std::optional<PlanEdit> edit;
    std::string_view heading;
    bool first = state.fresh;
    for (const PlanField& f : fields) {
        if (f.topic != state.section) continue;
        if (f.heading != heading) ui.section(room.cut_top(kHeadingRow), heading = f.heading);
        if (std::exchange(first, false))
            ui.give_keyboard("editor" + f.pointer, is_switch(f) && f.value == "on" ? 1 : 0, is_typed(f));
        if (auto e = field_row(ui, room, scene, f, state)) edit = std::move(e);
    }
    return edit;
}

bool is_model(FieldTopic s) {
    return s <= FieldTopic::other_model;
}

// The line about the model needs no layout. Below it stands the reason why there are no other figures. The
// fields keep their place with or without a reason.
void draw_counts(Ui& ui, Rect& room, const Scene& scene, PlanEditorState& state, std::uint64_t revision) {
    constexpr float kLine = 16;
    Rect said = room;
    const bool model = is_model(state.section);
    if (model) {
        const std::string& typed = state.edit_text;
        const std::optional<Plan>& tried =
            state.tried.get({revision, state.editing + "=" + (state.editing.empty() ? "" : typed)}, [&] {
                return state.editing.empty() ? std::nullopt
                                             : plan_as_typed(scene.plan, state.editing, typed, scene.presets);
            });
        put_paragraph(ui, said, model_line(tried ? *tried : scene.plan), ui.small(), kLine);
    }
    if (!scene.evaluation.valid) {
        TextStyle bad = ui.small();
        bad.color = ui.theme().bad;
        const std::string why = "No other figures: " + first_error(scene.evaluation.problems);
        put_paragraph(ui, said, why, bad, kLine);
    }
    room.cut_top(std::max((model ? 3 : 2) * kLine, said.y - room.y) + 8);
}

}  // namespace

std::optional<PlanEdit> draw_plan_editor(Ui& ui, const Scene& scene, PlanEditorState& state,
                                         std::uint64_t revision) {
    if (!state.open) return std::nullopt;
    const Rect sheet = dialog_box(ui, {880, 640}, 24);
    std::optional<PlanEdit> edit;
    const std::vector<PlanField>& fields =
        state.fields.get(revision, [&] { return list_plan_fields(scene.plan, scene.presets); });
    {
        const auto layer = ui.open_layer("editor", sheet, true);
        if (!layer.stays() && state.choosing.empty() && state.editing.empty() && !state.fresh)
            state.open = false;
        Canvas& c = ui.canvas();
        Rect room = sheet.inset(20, 16);
        Rect head = room.cut_top(28);
        if (ui.button("editor.close", head.cut_right(72), "Close")) state.open = false;
        preset_button(ui, head, scene, state);
        c.text_in(head, "Everything that the plan says", {Face::semibold, 14, ui.theme().text, 0});
        room.cut_top(8);
        draw_counts(ui, room, scene, state, revision);
        draw_sections(ui, room.cut_left(std::min(kSectionWidth, room.w * 0.3f)), state);
        room.cut_left(20);
        ScrollArea area(ui, "editor.fields", room, state.scroll, {.keys = state.editing.empty()});
        area.room.cut_right(8);
        if (state.section == FieldTopic::fabric)
            if (auto e = tier_buttons(ui, area.room, scene, state)) edit = std::move(e);
        if (state.section == FieldTopic::gpu)
            if (auto e = gpu_row(ui, area.room, scene, state)) edit = std::move(e);
        if (auto e = draw_fields(ui, area.room, scene, fields, state)) edit = std::move(e);
        if (scene.flags) draw_flag_words(ui, room, *scene.flags);
    }
    if (!state.choosing.empty())
        if (auto e = draw_choices(ui, scene, fields, state)) edit = std::move(e);
    state.fresh = false;
    return edit;
}

}  // namespace pentamesh::ui
