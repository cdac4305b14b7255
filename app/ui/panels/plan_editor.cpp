#include "app/ui/kit/data_table.h"
#include "app/ui/kit/format.h"
#include "app/ui/panels/import_sheet.h"
#include "app/ui/panels/plan_panel.h"
#include "core/base/files.h"
#include "core/io/plan_json.h"
#include "core/io/preset_order.h"
#include "core/model/model.h"
#include "core/pipeline/follow.h"
#include "core/plan/edits.h"
#include "core/plan/names.h"
#include "core/plan/plan_fields.h"
#include "core/plan/problem.h"
#include "core/plan/stand_in.h"
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
        state.refused.erase(f.pointer);
        if (plan == scene.plan) return std::nullopt;
        return edit_of(follow(scene.plan, plan, {f.pointer}).plan, f, typed);
    } catch (const Error& e) {
        state.refused[f.pointer] = {is_typed(f) ? std::string(typed) : std::string(), e.message()};
        return std::nullopt;
    }
}

std::optional<PlanEdit> try_back(const Scene& scene, const PlanField& f, PlanEditorState& state) {
    try {
        Plan plan = with_preset_field(scene.plan, f.pointer, scene.presets);
        state.refused.erase(f.pointer);
        return edit_of(std::move(plan), f, f.preset_value);
    } catch (const Error& e) {
        state.refused[f.pointer] = {std::string(), e.message()};
        return std::nullopt;
    }
}

// Writes words in two lines at most: what follows is cut, and said on hover. Nothing around them moves.
void put_two_lines(Ui& ui, Rect room, std::string_view words, const TextStyle& style, float line) {
    const Canvas& c = ui.canvas();
    std::string shown(words);
    bool cut = false;
    while (!shown.empty() && c.paragraph_height(room.w, shown + (cut ? "…" : ""), style, line) > 2 * line) {
        const auto blank = shown.find_last_of(' ');
        shown.resize(blank == std::string::npos ? 0 : blank);
        cut = true;
    }
    if (cut) shown += "…";
    ui.canvas().paragraph(room, shown, style, line);
    if (cut && ui.hovers(room)) ui.tooltip(std::string(words));
}

TextStyle refusing(Ui& ui) {
    TextStyle bad = ui.small();
    bad.color = ui.theme().bad;
    return bad;
}

// Draws a box with the value; a click or a letter types into it. Enter takes the typed text, and so does
// leaving the box.
std::optional<PlanEdit> value_box(Ui& ui, Rect box, const Scene& scene, const PlanField& f,
                                  PlanEditorState& state) {
    Canvas& c = ui.canvas();
    const auto refused = state.refused.find(f.pointer);
    const bool wrong = refused != state.refused.end();
    if (state.editing == f.pointer) {
        const bool fresh = std::exchange(state.edit_fresh, false);
        const Ui::Typing typing = ui.typed_value("editor.edit", box, state.edit_text, fresh);
        if (wrong) c.frame(box, ui.theme().bad, 1.5f, 6);
        if (typing == Ui::Typing::goes_on) return std::nullopt;
        state.editing.clear();
        if (typing == Ui::Typing::taken) return try_value(scene, f, state.edit_text, state);
        state.refused.erase(f.pointer);
        return std::nullopt;
    }
    const Hit hit = ui.value_area("editor" + f.pointer, box);
    c.rect(box, ui.theme().raised, 6);
    const Color edge = hit.hovered ? ui.theme().secondary : ui.theme().hairline;
    c.frame(box, wrong ? ui.theme().bad : edge, wrong ? 1.5f : 1, 6);
    if (hit.focused) ui.focus_ring(box, 6);
    const bool typed = wrong && !refused->second.text.empty();
    const bool stands = typed || is_set(f);
    const std::string shown = typed             ? refused->second.text
                              : stands          ? f.value
                              : f.unset.empty() ? "—"
                                                : f.unset;
    if (c.text_in(box.inset(10, 0), shown, ui.style(13, stands ? Tone::text : Tone::faint)) && hit.hovered)
        ui.tooltip(f.name + "\n" + shown);
    if (hit.clicked) {
        state.editing = f.pointer;
        state.edit_text = typed ? refused->second.text : f.value;
        state.edit_fresh = true;
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
    const bool typing = state.editing == f.pointer;
    std::optional<PlanEdit> edit = control(ui, box, scene, f, state);
    row.cut_left(12);
    if (const auto refused = state.refused.find(f.pointer); refused != state.refused.end()) {
        constexpr float kSmallLine = 14;
        const std::string now = f.value.empty() || !is_typed(f) ? "" : "It stays " + f.value + ": ";
        const std::string words = now + refused->second.why;
        if (row.w > 60)
            put_two_lines(ui, {row.x, row.y + 1, row.w, kFieldRow}, words, refusing(ui), kSmallLine);
        if (ui.hovers(box)) ui.tooltip(words);
    } else if (changed && row.w > 60) {
        const Rect place{row.x, row.center().y - 9, row.w, 18};
        if (f.preset_lacks) {
            ui.label(place, "not in the preset", ui.small(Tone::faint));
        } else {
            const std::string back = back_words(f);
            if (ui.hovers({row.x, row.y, ui.canvas().text_width(back, ui.small()), row.h}))
                ui.tooltip(back + "\nas in the preset; nothing else changes");
            // Tab out of the box goes to the next one: this link is gone if what was typed is refused.
            if (ui.link("editor.back", place.min(), back, id_of(f.pointer), 12, 1e6f, !typing))
                edit = try_back(scene, f, state);
        }
    }
    return edit;
}

std::optional<PlanEdit> tier_buttons(Ui& ui, Rect& room, const Scene& scene, PlanEditorState& state) {
    Rect row = room.cut_top(kFieldRow);
    room.cut_top(kFieldGap);
    const Cluster& cluster = scene.plan.cluster;
    const auto forget = [&] {  // the tiers' fields are others now
        std::erase_if(state.refused, [](const auto& r) { return r.first.starts_with("/cluster/tiers/"); });
    };
    const auto changed = [&](Cluster to, const char* what) {
        forget();
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
        forget();
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

Effects preset_button(Ui& ui, Rect& head, const Scene& scene, FieldTopic section) {
    Effects out;
    const std::optional<PresetKind> kind = preset_kind_of(section);
    if (!kind || head.w < 300) return out;
    head.cut_right(8);
    const Rect r = head.cut_right(206);
    const bool can = !scene.presets.own_root().empty();
    if (ui.button("editor.preset", r, "Save " + std::string(word_of(*kind)) + " as preset…", 0, can)) {
        out = Effects(Effects::Opens::preset_name);
        out.preset = *kind;
    }
    if (!can && ui.hovers(r)) ui.tooltip("There is no folder for settings to keep it in");
    return out;
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
        if (first && (state.wanted.empty() || state.wanted == f.pointer)) {
            first = false;
            ui.give_keyboard("editor" + f.pointer, is_switch(f) && f.value == "on" ? 1 : 0, is_typed(f));
        }
        if (auto e = field_row(ui, room, scene, f, state)) edit = std::move(e);
    }
    return edit;
}

bool is_model(FieldTopic s) {
    return s <= FieldTopic::other_model;
}

// The line about the model needs no layout. Below it stands the reason why there are no other figures. Each
// has room for two lines in any case, so that nothing below moves while one types.
void draw_counts(Ui& ui, Rect& room, const Scene& scene, PlanEditorState& state, std::uint64_t revision) {
    constexpr float kLine = 16;
    if (is_model(state.section) && is_known(scene.plan.model)) {
        const std::string& typed = state.edit_text;
        const std::optional<Plan>& tried =
            state.tried.get({revision, state.editing + "=" + (state.editing.empty() ? "" : typed)}, [&] {
                return state.editing.empty() ? std::nullopt
                                             : plan_as_typed(scene.plan, state.editing, typed, scene.presets);
            });
        put_two_lines(ui, room.cut_top(2 * kLine), model_line(tried ? *tried : scene.plan), ui.small(),
                      kLine);
    }
    const Rect reason = room.cut_top(2 * kLine);
    if (!scene.evaluation.valid)
        put_two_lines(ui, reason,
                      "No other figures: "
                          + (is_stand_in(scene.plan) ? not_known_words(scene.plan) + "."
                                                     : first_error(scene.evaluation.problems)),
                      refusing(ui), kLine);
    room.cut_top(8);
}

constexpr float kNotKnownHigh = 80;

// Returns false for a page of the sheet that a run without its plan says nothing of.
bool says_page(const Plan& plan, FieldTopic s) {
    if (is_model(s)) return is_known(plan.model);
    if (s == FieldTopic::gpu || s == FieldTopic::fabric || s == FieldTopic::cluster)
        return is_known(plan.cluster);
    return s == FieldTopic::plan || !is_stand_in(plan);
}

void draw_not_known(Ui& ui, Rect room, const Plan& plan) {
    constexpr float kLine = 20;
    std::string words = not_known_words(plan);
    words.front() = 'T';
    ui.canvas().paragraph(room,
                          words
                              + ". Open its plan, paste the script that started it, or choose both in the "
                                "panel on the left: their fields are here then.",
                          ui.style(13, Tone::secondary), kLine);
}

}  // namespace

Effects draw_plan_editor(Ui& ui, const Scene& scene, PlanEditorState& state, std::uint64_t revision) {
    Effects out;
    if (!state.open) return out;
    const Rect sheet = dialog_box(ui, {880, 640}, 24);
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
        const bool says = says_page(scene.plan, state.section);
        if (says) out.add(preset_button(ui, head, scene, state.section));
        c.text_in(head, "Everything that the plan says", {Face::semibold, 14, ui.theme().text, 0});
        room.cut_top(8);
        draw_counts(ui, room, scene, state, revision);
        draw_sections(ui, room.cut_left(std::min(kSectionWidth, room.w * 0.3f)), state);
        room.cut_left(20);
        ScrollArea area(ui, "editor.fields", room, state.scroll, {.keys = state.editing.empty()});
        area.room.cut_right(8);
        if (!says) draw_not_known(ui, area.room.cut_top(kNotKnownHigh), scene.plan);
        if (says && state.section == FieldTopic::fabric) out.add(tier_buttons(ui, area.room, scene, state));
        if (says && state.section == FieldTopic::gpu) out.add(gpu_row(ui, area.room, scene, state));
        if (says) out.add(draw_fields(ui, area.room, scene, fields, state));
        if (scene.flags) draw_flag_words(ui, room, *scene.flags);
    }
    if (!state.choosing.empty()) out.add(draw_choices(ui, scene, fields, state));
    state.fresh = false;
    return out;
}

// Draws the plan panel's popovers: several settings of one thing, a row each.

namespace {

constexpr float kLabel = 112, kRow = 28, kGap = 6, kPadX = 16, kPadY = 12;

// Returns a box below its anchor where there is room, inside the window in any case.
Rect popover_box(Ui& ui, Rect anchor, float w, float h) {
    const Vec2 screen = ui.frame().size;
    w = std::min(w, screen.x - 16);
    h = std::min(h, screen.y - 16);
    return {held_between(anchor.x, 8.0f, screen.x - 8 - w),
            held_between(anchor.bottom() + 4, 8.0f, screen.y - 8 - h), w, h};
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
    const PlanNumber of{
        .name = number.name, .key = number.name, .pointer = number.pointer, .value = number.value};
    const std::optional<std::int64_t> result = plan_number(ui, box, of, state);
    number_message(ui, room, number.name, state.numbers);
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
        if (state.numbers.refused == r.name)
            h += under.paragraph_height(w - 2 * kPadX, state.numbers.refusal, ui.small(), 16) + 4;
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
    if (!open && !state.numbers.refused.empty())
        scene.next_hover.message = state.numbers.refusal;  // there is no field to say it at
    if (edit || !open) state.numbers.forget_refusal();
    if (!open) state.menu.clear(), state.numbers.editing.clear();
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

// Chooses what waits in the host's memory. Shares between none and all are typed in the sheet of every field.
MaybeEdit offload_popover(Ui& ui, const Scene& scene, PlanPanelState& state) {
    const Offload& now = scene.plan.training.offload;
    return choices(ui, scene, state, 3, 120, [&](ChoiceRows& rows) {
        rows.toggle("optimizer", "offload.optimizer", now.optimizer > 0,
                    [](Plan& p, bool on) { p.training.offload.optimizer = on ? 1 : 0; });
        rows.toggle("weights", "offload.parameters", now.parameters > 0,
                    [](Plan& p, bool on) { p.training.offload.parameters = on ? 1 : 0; });
        const std::int64_t n = now.activations_layers;
        const Ui::Step step = ui.stepper("offload.layers", rows.row("activations of"),
                                         n == 0 ? "none" : plural(n, "layer", "layers"), n > 0,
                                         n < scene.plan.model.layers, true, false);
        if (step.by == 0) return;
        rows.take(changed(scene, "activations of " + plural(n + step.by, "layer", "layers") + " on the host",
                          [&](Plan& p) { p.training.offload.activations_layers = n + step.by; }));
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
    if (state.menu == "offload") return offload_popover(ui, scene, state);
    if (state.menu == "recompute") return recompute_popover(ui, scene, state);
    state.menu.clear();
    return std::nullopt;
}

PresetMenu preset_menu(const Presets& presets, PresetKind kind, std::string_view current) {
    PresetMenu menu;
    if (kind == PresetKind::model)
        menu.entry = highest_number_first(presets.list(kind));
    else
        for (const Presets::Entry& e : presets.list(kind)) menu.entry.push_back(&e);
    const auto shipped = std::stable_partition(menu.entry.begin(), menu.entry.end(),
                                               [](const Presets::Entry* e) { return e->own; });
    for (auto at = menu.entry.begin(); at != menu.entry.end(); ++at) {
        const Presets::Entry& e = **at;
        MenuItem item{.label = e.name, .right = e.id};
        if (e.own) item.right = "your own · " + e.id;
        if (e.own && !e.broken.empty()) {
            item.detail = "cannot be used: Presets of your own, below, says why";
            item.enabled = false;
        }
        item.checked = !current.empty() && e.id == current && item.enabled;
        item.separator = at == shipped && at != menu.entry.begin();
        menu.items.push_back(std::move(item));
    }
    return menu;
}

bool has_own_presets(const Presets& presets) {
    for (const PresetKind kind : {PresetKind::model, PresetKind::gpu, PresetKind::cluster}) {
        const auto& all = presets.list(kind);
        if (std::any_of(all.begin(), all.end(), [](const Presets::Entry& e) { return e.own; })) return true;
    }
    return false;
}

std::string_view word_of(PresetKind kind) {
    static constexpr std::array<std::string_view, 4> kWords{"GPU", "cluster", "model", "plan"};
    return kWords[static_cast<std::size_t>(kind)];
}

std::string name_of_preset(const Presets& presets, PresetKind kind, std::string_view id) {
    for (const Presets::Entry& e : presets.list(kind))
        if (e.id == id && e.broken.empty()) return e.name;
    return std::string(id);
}

}  // namespace pentamesh::ui
