#include "app/ui/scene/scene.h"

#include "app/ui/kit/format.h"
#include "app/ui/scene/colors.h"
#include "core/base/files.h"
#include "core/mesh/places.h"
#include "core/plan/edits.h"
#include "core/plan/problem.h"
#include "core/runs/hang.h"
#include "core/runs/run_layout.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

namespace pentamesh::ui {

std::string host_of(const Scene& scene, std::int64_t rank) {
    const bool named = scene.hosts != nullptr && !scene.hosts->names.empty();
    return named && rank >= 0 && rank < scene.evaluation.mesh.world ? scene.hosts->of(rank) : "";
}

int stage_of_rank(const Mesh& mesh, std::int64_t rank) {
    const Factor& pp = mesh.dense[Axis::pp];
    if (rank < 0 || rank >= mesh.world || pp.size < 2) return -1;
    return static_cast<int>(rank / pp.stride % pp.size);
}

void extend_axes(const Evaluation& of, CommonAxes& axes) {
    if (!of.valid) return;
    if (of.step) axes.time_s = std::max(axes.time_s, of.step->time_s);
    for (const StageMemory& stage : of.memory.stage) axes.bytes = std::max(axes.bytes, stage.most());
}

void keep_outline(Scene& scene, const Evaluation& of) {
    if (!of.valid) return;
    scene.outlined = &of;
    extend_axes(of, scene.axes);
    extend_axes(scene.evaluation, scene.axes);
}

std::optional<double> step_before(const Ui& ui, std::string_view name, const Scene& scene) {
    if (const auto was = ui.before(name)) return was;
    if (scene.outlined == nullptr || !scene.outlined->step) return std::nullopt;
    return scene.outlined->step->time_s;
}

int chosen_stage(const Scene& scene) {
    const Selection& s = scene.selection;
    return s.stage >= 0 ? s.stage : stage_of_rank(scene.evaluation.mesh, s.rank);
}

std::int64_t chosen_rank(const Scene& scene) {
    const Mesh& mesh = scene.evaluation.mesh;
    const Selection& s = scene.selection;
    const Factor& pp = mesh.dense[Axis::pp];
    if (s.stage >= 0 && s.stage < pp.size && stage_of_rank(mesh, s.rank) != s.stage)
        return s.stage * pp.stride;
    return s.rank < mesh.world ? s.rank : -1;
}

std::string chosen_name(const Scene& scene) {
    const std::int64_t rank = chosen_rank(scene);
    if (rank < 0) return "";
    return rank == scene.selection.rank ? "rank " + thousands(rank)
                                        : "stage " + std::to_string(scene.selection.stage);
}

std::string axis_label(GroupKind kind) {
    switch (kind) {
    case GroupKind::dp_cp: return "dp × cp";
    case GroupKind::tp_cp: return "tp × cp";
    case GroupKind::mp: return "tp × pp";
    case GroupKind::fsdp: return "dp_shard × cp";
    case GroupKind::dp_without_gtp_remat: return "dp / gtp_remat";
    case GroupKind::dp_cp_without_gtp_remat: return "dp × cp / gtp_remat";
    case GroupKind::etp_ep: return "etp × ep";
    default: return std::string(name_of(kind));
    }
}

std::optional<GroupKind> axis_named(std::string_view name) {
    for (const GroupKind kind : all_of<GroupKind>())
        if (name_of(kind) == name) return kind;
    return std::nullopt;
}

Rect head_place(Rect& head_row, Rect& room, float width) {
    if (head_row.w < width && room.h > 90) {
        head_row = room.cut_top(24);
        room.cut_top(6);
    }
    const Rect place = head_row.cut_left(std::min(head_row.w, width));
    head_row.cut_left(std::min(head_row.w, 16.0f));
    return place;
}

float segments_width(Ui& ui, std::span<const std::string_view> labels, float least, int selected) {
    const bool words = ui.state().for_picture;
    float sum = 0, widest = 0;
    const bool one = words && selected >= 0 && selected < static_cast<int>(labels.size());
    for (const auto label : one ? labels.subspan(static_cast<std::size_t>(selected), 1) : labels) {
        const float w = ui.canvas().text_width(label, ui.style(words ? 13 : 12, Tone::text, Face::semibold))
                        + (one ? 2.0f : 20.0f);
        sum += w;
        widest = std::max(widest, w);
    }
    return std::ceil(words ? widest : std::max(least, sum));
}

Rect head_words(Rect head_row, Rect& room, float width) {
    if (head_row.w >= width || room.h <= 110) return head_row;
    const Rect row = room.cut_top(20);
    room.cut_top(4);
    return row;
}

void head_sentence(Ui& ui, Rect head_row, Rect& room, std::string_view words, float least_height) {
    Canvas& c = ui.canvas();
    const TextStyle large = ui.style(15, Tone::secondary);
    if (c.text_width(words, large) <= head_row.w) return static_cast<void>(c.text_in(head_row, words, large));
    const TextStyle style = ui.style(13, Tone::secondary);
    if (c.text_width(words, style) > head_row.w && room.h > least_height)
        room.cut_top(c.paragraph(room, words, style, 18) + 6);
    else
        ui.label(head_row, words, style);
}

bool takes_space(Ui& ui, Rect room, const Scene& scene) {
    UiState& s = ui.state();
    const auto focus = s.focus != 0 ? s.rect_of(s.focus) : std::nullopt;
    if (focus && (s.focus_visible || !room.contains(focus->center()))) return false;
    if (!scene.keys.pressed({Key::space})) return false;
    s.focus = 0;
    return true;
}

void answer_player_keys(Ui& ui, const Scene& scene, Playback& played, const Film& film, bool space) {
    if (space) play_or_pause(ui, played, film);
    if (scene.keys.pressed({Key::right}, true)) step_film(played, film, 1);
    if (scene.keys.pressed({Key::left}, true)) step_film(played, film, -1);
    play_on(ui, played, film);
}

void draw_void(Ui& ui, Rect room, const Scene& scene) {
    Canvas& c = ui.canvas();
    const auto& problems = scene.evaluation.problems;
    const auto wrong = std::find_if(problems.begin(), problems.end(),
                                    [](const Problem& p) { return p.severity == Severity::error; });
    if (wrong == problems.end()) return;
    std::string why = wrong->message + "\nNo figures until this is mended";
    why += wrong->fix.empty() ? "." : ": " + words_of(wrong->fix) + ".";
    constexpr float kInset = 16;
    const float w =
        std::min({room.w - 2 * kInset, 640.0f, c.text_width(wrong->message, ui.style(13)) + 2 * kInset});
    const float h = c.paragraph_height(w, why, ui.style(13), 20) + 24;
    Rect box{room.center().x - w / 2, std::max(room.y, room.center().y - h / 2), w, h};
    const Canvas::Clip clip = c.clip(room);
    c.pattern(room, Pattern::hatched, ui.theme().bad.alpha(0.5f));
    c.rect(box.inset(-kInset), ui.theme().window, 6);
    c.text_in(box.cut_top(24), title_of(wrong->code), ui.title());
    c.paragraph(box, why, ui.style(13, Tone::secondary), 20);
}

using runs::RunPart;

Color color_of(const Theme& theme, RunPart part) {
    switch (part) {
    case RunPart::compute: return theme.forward;
    case RunPart::optimizer: return theme.weight_grad;
    case RunPart::tp: return color_of(theme, GroupKind::tp);
    case RunPart::cp: return color_of(theme, GroupKind::cp);
    case RunPart::ep: return color_of(theme, GroupKind::ep);
    case RunPart::pp:
    case RunPart::pipeline: return color_of(theme, GroupKind::pp);
    case RunPart::dp: return color_of(theme, GroupKind::dp_shard);
    default: return theme.faint;
    }
}

Table as_read(Table table) {
    table = worded(std::move(table));
    for (std::size_t i = 0; i < table.columns.size(); ++i) {
        Table::Column& c = table.columns[i];
        if (c.shown == Shown::words) continue;
        c.shown = Shown::plain;
        for (Table::Row& row : table.rows) row[i] = typeset(cell_words(c, row[i]));
    }
    return table;
}

std::optional<RunPart> run_part_of(const RealRun& run, StepPart part, GroupKind group) {
    if (run.measured == nullptr) return std::nullopt;
    const auto first = [&](std::initializer_list<RunPart> wanted) -> std::optional<RunPart> {
        for (const RunPart p : wanted)
            for (const runs::PartRow& row : run.measured->parts)
                if (row.part == p) return p;
        return std::nullopt;
    };
    switch (part) {
    case StepPart::bubble: return first({RunPart::idle, RunPart::pipeline});
    case StepPart::straggler: return first({RunPart::idle, RunPart::rest});
    case StepPart::optimizer: return first({RunPart::optimizer});
    case StepPart::offload: return first({RunPart::memory, RunPart::pipeline});
    case StepPart::exposed: {
        const RunPart own = runs::part_of_kind(group);
        // Timers have what each layer waits for inside compute, and all else inside the pipeline.
        const bool layers = own == RunPart::tp || own == RunPart::cp || own == RunPart::ep;
        return first({own, RunPart::unnamed, RunPart::idle, layers ? RunPart::compute : RunPart::pipeline,
                      RunPart::pipeline});
    }
    default: return first({RunPart::compute, RunPart::pipeline});
    }
}

std::optional<RunPart> selected_part(const Scene& scene) {
    const Selection& s = scene.selection;
    if (scene.run == nullptr || s.topic != Selection::Topic::step) return std::nullopt;
    return run_part_of(*scene.run, static_cast<StepPart>(s.step_part), s.group);
}

void select_part(Scene& scene, RunPart part) {
    Selection& s = scene.selection;
    const auto choose = [&](StepPart of) {
        s.topic = Selection::Topic::step;
        s.step_part = static_cast<int>(of);
    };
    switch (part) {
    case RunPart::compute: return choose(StepPart::compute);
    case RunPart::optimizer: return choose(StepPart::optimizer);
    case RunPart::idle:
    case RunPart::pipeline: return choose(StepPart::bubble);
    case RunPart::rest: return choose(StepPart::straggler);
    case RunPart::memory:
    case RunPart::unnamed: return;
    default: break;
    }
    choose(StepPart::exposed);
    std::optional<GroupKind> most;  // of the axes that are this part, the one that waits longest
    for (const GroupKind k : all_of<GroupKind>()) {
        if (runs::part_of_kind(k) != part) continue;
        const auto waits = [&](GroupKind of) {
            return scene.evaluation.step ? scene.evaluation.step->exposed_comm_s[of] : 0;
        };
        if (!most || waits(k) > waits(*most)) most = k;
    }
    if (most) s.choose(*most);
}

std::string RealRun::words() const {
    if (hang) return verdict_words(hang->hang);
    if (!measured) return "The run is being set beside the plan…";
    if (!measured->problems.empty()) return measured->problems.front().message;
    return typeset(measured->summary);
}

const Hosts& HostNames::of(const Plan& plan, const Mesh& mesh) {
    if (std::tuple now(list, mesh.world, mesh.world > 0 ? node_size(mesh, plan.cluster) : 0); now != known_) {
        known_ = std::move(now);
        hosts_ = {};
        error_.clear();
        if (list.empty() || mesh.world < 1) return hosts_;
        try {
            hosts_ = hosts_of(list, mesh.world, std::get<2>(known_));
        } catch (const Error& e) {
            error_ = e.what();
        }
    }
    return hosts_;
}

}  // namespace pentamesh::ui
