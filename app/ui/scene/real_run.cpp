#include "app/ui/scene/real_run.h"

#include "app/ui/kit/format.h"
#include "app/ui/scene/colors.h"
#include "core/runs/hang_words.h"
#include "core/runs/run_axes.h"

#include <utility>

namespace pentamesh::ui {

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

}  // namespace pentamesh::ui
