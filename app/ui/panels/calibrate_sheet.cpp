#include "app/ui/panels/calibrate_sheet.h"

#include "app/tables/constants.h"
#include "app/ui/kit/rows.h"
#include "core/base/error.h"

#include <algorithm>
#include <filesystem>
#include <utility>

namespace pentamesh::ui {

namespace {

constexpr float kFileRow = 44, kButtons = 30, kFiles = 260;

constexpr std::string_view kHint =
    "A table of plans and what was measured (JSON), a log of Megatron or torchtitan, a table of nccl-tests. "
    "Add files here, or drop them on the window. A log that does not say its settings is a run of the open "
    "plan.";

void draw_files(Ui& ui, Rect room, CalibrateSheetState& s, CalibrateAction& action) {
    Canvas& c = ui.canvas();
    ui.section(room.cut_top(20), "FILES", s.files.empty() ? "" : std::to_string(s.files.size()));
    if (ui.button("calibrate.add", room.cut_bottom(kButtons), "Add a file…"))
        action = CalibrateAction::add_file;
    room.cut_bottom(10);
    if (s.files.empty()) {
        c.paragraph(room, kHint, ui.small(), 18);
        return;
    }
    ScrollArea area(ui, "calibrate.files", room, s.files_scroll);
    std::size_t removed = s.files.size();
    for (std::size_t i = 0; i < s.files.size(); ++i) {
        const CalibrateFile& f = s.files[i];
        TextStyle said = ui.small();
        if (f.wrong) said.color = ui.theme().bad;
        const std::string words = f.by_open_plan ? f.said + ", as the open plan" : f.said;
        const float h = c.paragraph_height(room.w - 10, words, said, 17);
        Rect row = area.room.cut_top(std::max(kFileRow, h + 26));
        row.cut_right(10);
        Rect head = row.cut_top(20);
        const Rect link = head.cut_right(c.text_width("remove", ui.small()) + 4);
        if (ui.link("calibrate.remove", link.min(), "remove", i)) removed = i;
        ui.label(head, std::filesystem::path(f.path).filename().string(), ui.style(13));
        c.paragraph(row, words, said, 17);
    }
    if (removed == s.files.size()) return;
    s.files.erase(s.files.begin() + static_cast<std::ptrdiff_t>(removed));
    s.stale = true;
}

void draw_made(Ui& ui, Rect room, CalibrateSheetState& s) {
    const Calibrated& made = s.made.value;
    for (const std::string& line : calibrated_lines(made)) put_paragraph(ui, room, line, ui.style(13), 19, 4);
    for (const std::string& line : made.links) put_paragraph(ui, room, line, ui.style(13), 19, 4);
    room.cut_top(8);
    if (!made.runs.empty()) {
        Rect runs = room.cut_top(std::max(90.0f, room.h * 0.55f));
        ui.section(runs.cut_top(20), "RUNS, BEFORE AND AFTER");
        runs.cut_bottom(12);
        draw_table(ui, "calibrate.runs", runs, calibrated_runs_table(made), s.runs);
    }
    ui.section(room.cut_top(20), "CONSTANTS, BEFORE AND AFTER");
    draw_table(ui, "calibrate.constants", room, calibrated_constants_table(made), s.constants);
}

}  // namespace

void CalibrateSheetState::add(std::string path, std::string text) {
    open = true;
    files.push_back({std::move(path), std::move(text)});
    stale = true;
}

namespace {

// Returns false if the file cannot be read; `said` then says why.
bool add_file(OwnFiles& own, CalibrateFile& f, const Plan* plan, const std::string& cluster,
              const Presets& presets) {
    try {
        f.said = add_own_file(own, f.text, f.path, plan, cluster, presets);
        return true;
    } catch (const Error& e) {
        f.said = e.message();
        return false;
    }
}

}  // namespace

void read_calibrate_files(CalibrateSheetState& s, const Plan& plan, const Presets& presets) {
    if (!std::exchange(s.stale, false)) return;
    ++s.version;
    s.own = {};
    s.error.clear();
    for (CalibrateFile& f : s.files) {
        f.wrong = f.by_open_plan = false;
        if (add_file(s.own, f, nullptr, plan.cluster_source.preset, presets)) continue;
        // A log without settings of its own belongs to the open plan.
        if (own_file_kind(f.text) == OwnFile::log && runs::read_run_log(f.text).steps > 0)
            f.by_open_plan = add_file(s.own, f, &plan, "", presets);
        f.wrong = !f.by_open_plan;
    }
    const Cluster* const of_runs = cluster_of_runs(s.own);
    s.on = of_runs != nullptr ? *of_runs : plan.cluster;
    if (s.name.empty() && !s.files.empty()) s.name = s.on.name + ", calibrated";
}

CalibrateAction draw_calibrate_sheet(Ui& ui, CalibrateSheetState& s) {
    CalibrateAction action = CalibrateAction::none;
    if (!s.open) return action;
    const Rect box = dialog_box(ui, {1180, 780});
    const auto layer = ui.open_layer("calibrate", box, true);
    bool close = !layer.stays();
    Rect room = box.inset(24, 18);
    const auto [error_at, name_at, save_at, use_at, close_at] =
        columns(room.cut_bottom(kButtons), {share(), px(280), px(150), px(150), px(90)}, 8);
    room.cut_bottom(12);
    ui.canvas().text_in(room.cut_top(28),
                        s.has_work() ? "Calibrate the constants of " + s.on.name
                                     : "Calibrate from measured runs",
                        {Face::semibold, 14, ui.theme().text, 0});
    room.cut_top(8);
    draw_files(ui, room.cut_left(std::min(kFiles, room.w * 0.32f)), s, action);
    room.cut_left(24);
    const bool done = s.done();
    if (done)
        draw_made(ui, room, s);
    else
        ui.canvas().paragraph(room,
                              !s.has_work()           ? "What the runs say of the constants stands here."
                              : !s.made.error.empty() ? s.made.error
                                                      : "Fitting the constants to the runs …",
                              ui.style(13, Tone::secondary), 20);
    close = ui.button("calibrate.close", close_at, "Close") || close;
    if (ui.button("calibrate.use", use_at, "Use in this plan", 0, done)) action = CalibrateAction::use;
    const bool save = ui.button("calibrate.save", save_at, "Save as a cluster", 0, done && !s.name.empty());
    const bool entered = ui.text_field("calibrate.name", name_at, s.name, "a name for the cluster");
    if ((save || entered) && done && !s.name.empty()) action = CalibrateAction::save;
    if (!s.error.empty()) {
        TextStyle style = ui.small();
        style.color = ui.theme().bad;
        ui.label(error_at, s.error, style);
    }
    if (close) s.open = false;
    return action;
}

}  // namespace pentamesh::ui
