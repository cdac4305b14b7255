#include "app/ui/panels/export_sheet.h"

#include "app/ui/kit/rows.h"
#include "core/interop/flags.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace pentamesh::ui {

namespace {

struct TargetWords {
    std::string_view name, ending;
};
constexpr std::array<TargetWords, interop::kTargetNames.size()> kTargetWords{
    {{"Megatron-LM", ".sh"},
     {"Megatron-Bridge", ".py"},
     {"torchtitan", ".py"},
     {"DeepSpeed", ".json"},
     {"Hugging Face accelerate", ".yaml"},
     {"nanotron", ".yaml"},
     {"picotron", ".json"},
     {"a Hugging Face config.json", ".json"},
     {"a PyTorch DeviceMesh", ".py"}}};

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
                                    ControlField{"order.preset", "/layout/order"}};
constexpr std::uint64_t kMostSegments = 8, kZeroStages = 4;

}  // namespace

std::string_view target_words(interop::Target target) {
    return kTargetWords[static_cast<std::size_t>(target)].name;
}

std::string_view ending_of(interop::Target target) {
    return kTargetWords[static_cast<std::size_t>(target)].ending;
}

ExportAction draw_export_sheet(Ui& ui, const Scene& scene, ExportSheetState& state, std::uint64_t revision) {
    if (!state.open) return ExportAction::none;
    if (!scene.evaluation.valid) {
        state.open = false;
        return ExportAction::none;
    }
    if (state.of != revision) {
        state.of = revision;
        state.made = interop::export_plan(scene.plan, state.target, scene.presets);
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
    if (ui.dropdown("export.target", choice, target_words(state.target))) {
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
        for (std::size_t i = 0; i < interop::kTargetNames.size(); ++i)
            items.push_back({.label = std::string(kTargetWords[i].name),
                             .checked = i == static_cast<std::size_t>(state.target)});
        const MenuResult r =
            draw_menu(ui, "menu.export", state.anchor, items, state.menu, false, state.anchor.w);
        if (r.picked >= 0) state.target = static_cast<interop::Target>(r.picked), state.of = 0;
        if (r.picked >= 0 || r.closed) state.choosing = false;
    }
    if (close) state.open = false;
    return action;
}

void draw_flag_words(Ui& ui, Rect panel, interop::Framework framework) {
    if (!ui.hovers(panel)) return;
    const std::string name(target_words(static_cast<interop::Target>(framework)));
    const auto over = [&](std::string_view control) {
        for (std::uint64_t i = 0; i < kMostSegments; ++i)
            if (const auto r = ui.rect_of(control, i); r && ui.hovers(*r)) return true;
        return false;
    };
    for (const interop::SpelledField& f : interop::flags_of(framework)) {
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
                words = interop::zero_words(framework, static_cast<int>(stage));
        ui.also_in_tooltip(name + ": " + words);
        return;
    }
}

}  // namespace pentamesh::ui
