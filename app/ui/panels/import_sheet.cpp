#include "app/ui/panels/import_sheet.h"

#include "app/ui/kit/data_table.h"
#include "app/ui/kit/format.h"
#include "core/base/files.h"
#include "core/interop/import.h"
#include "core/io/plan_json.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <utility>

namespace pentamesh::ui {

namespace {

using interop::Import;
using interop::Listed;

constexpr float kListRow = 20, kInput = 30;

// ---- reading ------------------------------------------------------------------------------------------

// Returns the lists of the text as it was last read; null: it could not be read.
const interop::SettingLists* lists_of(const ImportSheetState& s) {
    return s.links ? &s.links->settings : s.made ? &s.made->settings : nullptr;
}

const std::vector<Listed>& rows_of(const interop::SettingLists& lists, LineMark mark) {
    switch (mark) {
    case LineMark::mapped: return lists.mapped;
    case LineMark::ignored: return lists.ignored;
    case LineMark::cannot_hold: return lists.unmapped;
    case LineMark::not_known: break;
    }
    return lists.not_known;
}

void mark_lines(ImportSheetState& s) {
    s.shown.set_text(s.text);
    const auto mark = [&](const std::vector<Listed>& rows, LineMark as) {
        for (const Listed& r : rows)
            if (r.file.empty()) s.shown.mark(r.line, as);
    };
    if (const interop::SettingLists* lists = lists_of(s))
        for (const LineMark m : all_of<LineMark>()) mark(rows_of(*lists, m), m);
}

interop::ImportRequest request_of(const Scene& scene, const ImportSheetState& s) {
    interop::ImportRequest r;
    r.text = s.text;
    r.path = s.origin;
    r.tool = s.read_as;
    if (s.own_model)
        r.own_model = scene.plan.model;
    else
        r.model = s.model;
    r.cluster = s.cluster;
    r.recipe = s.recipe;
    if (s.gpus.empty()) return r;
    const auto n = interop::parse_integer(s.gpus);
    if (!n || *n < 1 || *n > (1 << 20))
        throw Error(ErrorKind::invalid, "", "",
                    "GPUs: \"" + s.gpus + "\" is no whole number from 1 to 1,048,576");
    r.gpus = *n;
    return r;
}

void read_again(const Scene& scene, ImportSheetState& s) {
    s.stale = false;
    s.made.reset();
    s.links.reset();
    s.error.clear();
    try {
        if (const auto tool = interop::fabric_tool(s.text))
            s.links = interop::read_fabric(*tool, s.text, s.origin, scene.plan.cluster);
        else
            s.made = interop::import_settings(request_of(scene, s), scene.presets);
    } catch (const std::exception& e) {
        s.error = e.what();
    }
    mark_lines(s);
}

bool asked_for(const ImportSheetState& s, interop::Asked what) {
    return s.made && std::ranges::any_of(s.made->problems, [&](const auto& p) { return p.asks == what; });
}

// ---- what came out ------------------------------------------------------------------------------------

std::string plan_words(const Plan& p) {
    const Layout& l = p.layout;
    std::string s = p.model.name + " on " + plural(p.cluster.gpus, "GPU", "GPUs") + ": tp " + thousands(l.tp);
    const auto add = [&](const char* name, std::int64_t n) {
        if (n > 1) s += std::string(", ") + name + " " + thousands(n);
    };
    add("cp", l.cp);
    add("pp", l.pp);
    add("ep", l.ep);
    add("dp_shard", l.dp_shard);
    add("dp_replicate", l.dp_replicate.value_or(1));
    return s + ", ZeRO-" + std::to_string(l.zero) + ", batch " + thousands(p.training.global_batch) + " of "
           + thousands(p.training.sequence_length) + " tokens";
}

void draw_outcome(Ui& ui, Rect& room, const ImportSheetState& s) {
    const bool good = s.links || (s.made && s.made->plan);
    const std::string words = s.links ? s.links->summary : good ? plan_words(*s.made->plan) : s.error;
    TextStyle style = ui.style(13, Tone::text, Face::semibold);
    if (!good) style.color = ui.theme().bad;
    const std::string shown = words.empty() ? "No plan comes out yet: the problems say why." : words;
    put_paragraph(ui, room, shown, style, 20, 8);
}

// ---- what the text does not say -----------------------------------------------------------------------

void input_label(Ui& ui, Rect row, std::string_view label, bool asked) {
    TextStyle s = ui.small(asked ? Tone::text : Tone::secondary);
    if (asked) s.color = ui.theme().amber;
    ui.canvas().text_in(row, asked ? std::string(label) + ": the text does not say it" : std::string(label),
                        s);
}

bool import_choice(Ui& ui, ImportSheetState& s, const std::string& which, Rect box,
                   const std::string& label) {
    if (!ui.dropdown("import." + which, box, label)) return false;
    s.choosing = which;
    s.anchor = box;
    s.menu = {};
    return true;
}

void draw_inputs(Ui& ui, Rect& room, const Scene& scene, ImportSheetState& s) {
    const bool several = s.made && s.made->recipes.size() > 1;
    const Size recipe = several ? share() : px(0);
    const std::array<Rect, 5> cells =
        columns(room.cut_top(18 + kInput), {share(), share(), share(), share(), recipe}, 10);
    room.cut_top(10);
    std::size_t input = 0;
    const auto next = [&](std::string_view label, bool asked) {
        const auto [words, box] = rows(cells[input++], {px(18), px(kInput)});
        input_label(ui, words, label, asked);
        return box;
    };
    const auto name_in = [&](PresetKind kind, const std::string& id) {
        for (const auto& e : scene.presets.list(kind))
            if (e.id == id) return e.name;
        return id;
    };
    import_choice(ui, s, "from", next("Read as", false),
                  !s.read_as.empty() ? s.read_as : (s.made ? s.made->kind : "guess") + " (by its content)");
    bool changed = false;
    ui.text_field("import.gpus", next("GPUs", asked_for(s, interop::Asked::gpus)), s.gpus, "as the text says",
                  s.fresh, &changed);
    import_choice(ui, s, "model", next("Model", asked_for(s, interop::Asked::model)),
                  s.own_model       ? "of the open plan"
                  : s.model.empty() ? "as the text says"
                                    : name_in(PresetKind::model, s.model));
    import_choice(ui, s, "cluster", next("Cluster", asked_for(s, interop::Asked::cluster)),
                  s.cluster.empty() ? "H100, InfiniBand" : name_in(PresetKind::cluster, s.cluster));
    if (several)
        import_choice(ui, s, "recipe", next("Recipe", asked_for(s, interop::Asked::recipe)),
                      s.made->recipe.empty() ? "choose one" : s.made->recipe);
    s.fresh = false;
    s.stale = s.stale || changed;
}

// Draws the menu of the box that was clicked.
void draw_import_choices(Ui& ui, const Scene& scene, ImportSheetState& s) {
    if (s.choosing == "recipe" && !s.made) s.choosing.clear();
    if (s.choosing.empty()) return;
    std::vector<MenuItem> items;
    std::size_t before = 1;
    const auto kind = s.choosing == "model" ? PresetKind::model : PresetKind::cluster;
    if (s.choosing == "from") {
        items.push_back({.label = "by its content", .checked = s.read_as.empty()});
        for (const interop::Tool* tool : interop::read_tools())
            items.push_back({.label = std::string(tool->name), .checked = tool->name == s.read_as});
    } else if (s.choosing == "recipe") {
        for (const std::string& name : s.made->recipes)
            items.push_back({.label = name, .checked = name == s.made->recipe});
    } else {
        items.push_back({.label = s.choosing == "model" ? "as the text says" : "H100, InfiniBand"});
        if (s.choosing == "model")
            items.push_back({.label = "of the open plan: " + scene.plan.model.name}), before = 2;
        for (const auto& e : scene.presets.list(kind)) items.push_back({.label = e.name, .right = e.id});
    }
    const MenuResult r = draw_menu(ui, "menu.import", s.anchor, items, s.menu, true, s.anchor.w);
    if (r.picked >= 0) {
        const auto i = static_cast<std::size_t>(r.picked);
        const auto preset = [&] {
            return i < before ? std::string() : scene.presets.list(kind)[i - before].id;
        };
        if (s.choosing == "from")
            s.read_as = i == 0 ? "" : items[i].label;
        else if (s.choosing == "recipe")
            s.recipe = s.made->recipes[i];
        else if (s.choosing == "model")
            s.own_model = i == 1, s.model = preset();
        else
            s.cluster = preset();
        s.stale = true;
    }
    if (r.picked >= 0 || r.closed) s.choosing.clear();
}

// ---- the lists ----------------------------------------------------------------------------------------

void draw_import_problems(Ui& ui, Rect& room, const std::vector<interop::ImportProblem>& problems) {
    if (problems.empty()) return;
    put_head(ui, room, 4, "PROBLEMS", std::to_string(problems.size()));
    for (const interop::ImportProblem& p : problems) {
        TextStyle s = ui.style(12);
        const std::string_view word = p.severity == Severity::error     ? "Error: "
                                      : p.severity == Severity::warning ? "Warning: "
                                                                        : "Note: ";
        if (p.severity == Severity::error) s.color = ui.theme().bad;
        put_paragraph(ui, room, std::string(word) + p.message, s, 18, 6);
    }
    room.cut_top(8);
}

void draw_listed(Ui& ui, Rect& room, const ScrollArea& area, LineMark mark, const std::vector<Listed>& rows,
                 ImportSheetState& state) {
    Canvas& c = ui.canvas();
    Rect title = room.cut_top(18);
    TextStyle sign = ui.mono();
    sign.color = color_of(ui.theme(), mark);
    c.text_in(title.cut_left(18), sign_of(mark), sign, Align::center);
    ui.section(title, in_capitals(words_of(mark)), std::to_string(rows.size()));
    room.cut_top(2);
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const Listed& r = rows[i];
        std::string text = r.setting + (r.value.empty() ? "" : " = " + r.value);
        if (!r.path.empty()) text += "  →  " + r.path;
        if (!r.why.empty()) text += "  (" + r.why + ")";
        const int own = r.file.empty() ? r.line : 0;  // of the text that is shown
        if (r.line > 0 && own == 0) text += "  [" + words_of(interop::TextPlace{r.line, r.file}) + "]";
        const Rect row = room.cut_top(kListRow);
        if (!area.sees(row)) continue;
        const Hit hit = ui.area("import.row." + std::to_string(static_cast<int>(mark)), row, i, true, false);
        const bool highlighted = own > 0 && (hit.hovered || own == state.lines.hovered);
        if (highlighted) c.rect(row, ui.theme().raised, 3);
        if (hit.hovered) state.lines.highlighted = own;
        if (hit.clicked && own > 0) state.lines.show = own;
        const std::string line = own > 0 ? std::to_string(own) : "";
        text_row(ui, row.inset(4, 0),
                 {{line, px(34), ui.mono(Tone::secondary), Align::right}, {text, share(), ui.style(12)}}, 8);
    }
    room.cut_top(12);
}

void draw_lists(Ui& ui, Rect room, ImportSheetState& s) {
    s.lines.highlighted = 0;
    ScrollArea area(ui, "import.lists", room, s.lists, {.pad = {0, 2}});
    area.room.w -= 10;
    draw_import_problems(ui, area.room,
                         s.links  ? s.links->problems
                         : s.made ? s.made->problems
                                  : std::vector<interop::ImportProblem>());
    const interop::SettingLists* lists = lists_of(s);
    if (!lists) return;
    if (s.made) put_paragraph(ui, area.room, summary_of(*lists), ui.style(12), 18, 8);
    for (const LineMark m : {LineMark::not_known, LineMark::cannot_hold, LineMark::mapped, LineMark::ignored})
        if (const std::vector<Listed>& rows = rows_of(*lists, m); !rows.empty())
            draw_listed(ui, area.room, area, m, rows, s);
}

std::optional<Imported> import_outcome(const Scene& scene, const ImportSheetState& s) {
    if (s.links && !s.links->edits.empty())
        return Imported{apply_edits(scene.plan, s.links->edits, scene.presets),
                        "the measured links of " + s.origin,
                        {},
                        true};
    if (s.made && s.made->plan) return Imported{*s.made->plan, "the settings of " + s.origin, s.made->hosts};
    return std::nullopt;
}

const char* note_of(const ImportSheetState& s) {
    if (s.links) return "The open plan's tier gets these figures; Ctrl+Z takes them back.";
    return s.log.empty() ? "The open plan comes back with Ctrl+Z."
                         : "It says the times of its steps too: they stand next to a plan as a run.";
}

}  // namespace

bool is_settings_text(const std::string& text) {
    if (interop::fabric_tool(text)) return true;
    const std::vector<const interop::Tool*> fits = interop::guess_tools(text);
    return std::any_of(fits.begin(), fits.end(),
                       [](const interop::Tool* t) { return t->reader != interop::Reader::model; });
}

std::optional<Imported> draw_import_sheet(Ui& ui, const Scene& scene, ImportSheetState& state) {
    if (!state.open) return std::nullopt;
    if (state.stale) read_again(scene, state);
    std::optional<Imported> out;
    {
        const Rect box = dialog_box(ui, {1240, 860});
        const auto layer = ui.open_layer("import", box, true);
        bool close = !layer.stays() && state.choosing.empty();
        Rect room = box.inset(24, 18);
        const auto [note, steps, cancel, open] =
            columns(room.cut_bottom(30), {share(), px(state.log.empty() ? 0 : 128), px(104), px(128)}, 8);
        room.cut_bottom(12);
        ui.canvas().text_in(room.cut_top(22), "Import " + state.origin,
                            {Face::semibold, 14, ui.theme().text, 0});
        room.cut_top(4);
        draw_outcome(ui, room, state);
        if (!state.links && !interop::fabric_tool(state.text)) draw_inputs(ui, room, scene, state);
        Rect right = room.cut_right(std::floor(room.w * 0.48f));
        room.cut_right(16);
        draw_lists(ui, right, state);
        draw_marked_text(ui, "import.text", room, state.shown, state.lines);
        const bool ready = state.links ? !state.links->edits.empty() : state.made && state.made->plan;
        const bool ok = ui.button("import.open", open, state.links ? "Set the links" : "Open the plan", 0,
                                  ready && !state.stale);
        close = ui.button("import.cancel", cancel, "Cancel") || close;
        ui.canvas().text_in(note, note_of(state), ui.small());
        if (ok) out = import_outcome(scene, state);
        if (!state.log.empty() && ui.button("import.steps", steps, "Read its steps"))
            out = Imported{.plan = scene.plan, .what = {}, .run = state.log};
        if (close || out) state.open = false;
    }
    draw_import_choices(ui, scene, state);
    if (!state.open) state = {};
    return out;
}

namespace {

void said_part(Ui& ui, Rect& room, std::string_view head, const std::vector<std::string>& lines, bool bad) {
    if (lines.empty()) return;
    put_head(ui, room, 4, head, std::to_string(lines.size()));
    TextStyle s = ui.style(12);
    if (bad) s.color = ui.theme().bad;
    for (const std::string& line : lines) put_paragraph(ui, room, line, s, 18, 6);
    room.cut_top(10);
}

void draw_said(Ui& ui, Rect room, const interop::Export& made, ScrollState& scroll) {
    ScrollArea area(ui, "export.lists", room, scroll, {.pad = {0, 2}});
    area.room.w -= 10;
    std::vector<std::string> lost;
    for (const interop::Unsaid& u : made.lost) lost.push_back(u.pointer + ": " + u.why);
    said_part(ui, area.room, "REFUSED BY THE FRAMEWORK", made.refused, true);
    said_part(ui, area.room, "WHAT IT CANNOT SAY", lost, true);
    said_part(ui, area.room, "SAID ELSEWHERE", made.notes, false);
    if (made.refused.empty() && lost.empty() && made.notes.empty())
        ui.canvas().paragraph(area.room, "The text says all of the plan that bears on its layout.",
                              ui.small(), 18);
}

// These controls of the plan panel have a name that is not their field's.
struct ControlField {
    std::string_view control, pointer;
};
constexpr std::array kControlFields{ControlField{"plan.gpus", "/cluster/gpus"},
                                    ControlField{"mod.sp", "/layout/sequence_parallel"},
                                    ControlField{"mod.zero", "/layout/zero"},
                                    ControlField{"mod.cp", "/layout/cp_comm"},
                                    ControlField{"mod.schedule", "/layout/schedule"},
                                    ControlField{"mod.recompute", "/training/recompute"},
                                    ControlField{"mod.batch", "/training/global_batch"},
                                    ControlField{"mod.precision", "/training/compute"},
                                    ControlField{"mod.optimizer", "/training/optimizer"},
                                    ControlField{"mod.offload", "/training/offload/optimizer"},
                                    ControlField{"order.preset", "/layout/order"}};
constexpr std::uint64_t kMostSegments = 8, kZeroStages = 4;

}  // namespace

ExportAction draw_export_sheet(Ui& ui, const Scene& scene, ExportSheetState& state, std::uint64_t revision) {
    if (!state.open) return ExportAction::none;
    if (!scene.evaluation.valid) {
        state.open = false;
        return ExportAction::none;
    }
    if (state.of != revision) {
        state.of = revision;
        state.made = interop::export_plan(scene.plan, state.target->name, scene.presets);
        state.shown.set_text(state.made.text);
        state.lines = {};
        state.lists = {};
    }
    ExportAction action = ExportAction::none;
    const Rect box = dialog_box(ui, {1100, 820});
    const auto layer = ui.open_layer("export", box, true);
    bool close = !layer.stays() && !state.choosing;
    Rect room = box.inset(24, 18);
    const auto [note, close_at, copy_at, save_at] =
        columns(room.cut_bottom(30), {share(), px(104), px(104), px(104)}, 8);
    Rect head = room.cut_top(30);
    room.cut_bottom(12);
    room.cut_top(12);
    const float title = ui.canvas().text_width("Export as", ui.title()) + 12;
    ui.canvas().text_in(head.cut_left(title), "Export as", ui.title());
    const Rect choice = head.cut_left(std::min(260.0f, head.w));
    if (ui.dropdown("export.target", choice, state.target->title)) {
        state.choosing = true;
        state.anchor = choice;
        state.menu = {};
    }
    Rect right = room.cut_right(std::floor(room.w * 0.34f));
    room.cut_right(16);
    draw_marked_text(ui, "export.text", room, state.shown, state.lines);
    draw_said(ui, right, state.made, state.lists);
    const bool text = !state.made.text.empty();
    if (ui.button("export.save", save_at, "Save…", 0, text)) action = ExportAction::save;
    if (ui.button("export.copy", copy_at, "Copy", 0, text)) action = ExportAction::copy;
    close = ui.button("export.close", close_at, "Close") || close;
    if (!state.made.refused.empty() || !state.made.lost.empty()) {
        TextStyle s = ui.small();
        s.color = ui.theme().amber;
        ui.canvas().text_in(note, "This text is another run than the plan.", s);
    }
    if (state.choosing) {
        std::vector<MenuItem> items;
        const std::vector<const interop::Tool*> written = interop::written_tools();
        for (const interop::Tool* tool : written)
            items.push_back({.label = std::string(tool->title), .checked = tool == state.target});
        const MenuResult r =
            draw_menu(ui, "menu.export", state.anchor, items, state.menu, false, state.anchor.w);
        if (r.picked >= 0) state.target = written[static_cast<std::size_t>(r.picked)], state.of = 0;
        if (r.picked >= 0 || r.closed) state.choosing = false;
    }
    if (close) state.open = false;
    return action;
}

void draw_flag_words(Ui& ui, Rect panel, const interop::Tool& tool) {
    if (!ui.hovers(panel)) return;
    const std::string name(tool.title);
    const auto over = [&](std::string_view control) {
        for (std::uint64_t i = 0; i < kMostSegments; ++i)
            if (const auto r = ui.rect_of(control, i); r && ui.hovers(*r)) return true;
        return false;
    };
    for (const interop::SpelledField& f : interop::flags_of(tool.name)) {
        std::string dotted(f.pointer.substr(1));
        std::replace(dotted.begin(), dotted.end(), '/', '.');
        // The panel has "layout.tp", "layout.tp.toggle"; the sheet of every field has "editor/layout/tp".
        bool hovered = over(dotted) || over(dotted + ".toggle") || over("editor" + std::string(f.pointer));
        for (const ControlField& c : kControlFields)
            hovered = hovered || (c.pointer == f.pointer && over(c.control));
        if (!hovered) continue;
        std::string words(f.name);
        for (std::uint64_t stage = 0; stage < kZeroStages; ++stage)
            if (const auto r = ui.rect_of("mod.zero", stage); r && ui.hovers(*r))
                words = interop::zero_words(tool.name, static_cast<int>(stage));
        ui.also_in_tooltip(name + ": " + words);
        return;
    }
}

}  // namespace pentamesh::ui
