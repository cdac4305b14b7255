#include "app/ui/scene/real_run.h"

#include "app/ui/scene/colors.h"
#include "core/runs/hang_words.h"

#include <utility>

namespace pentamesh::ui {

Color color_of(const Theme& theme, runs::RunPart part) {
    switch (part) {
    case runs::RunPart::compute: return theme.forward;
    case runs::RunPart::optimizer: return theme.weight_grad;
    case runs::RunPart::tp: return color_of(theme, GroupKind::tp);
    case runs::RunPart::cp: return color_of(theme, GroupKind::cp);
    case runs::RunPart::ep: return color_of(theme, GroupKind::ep);
    case runs::RunPart::pp:
    case runs::RunPart::pipeline: return color_of(theme, GroupKind::pp);
    case runs::RunPart::dp: return color_of(theme, GroupKind::dp_shard);
    default: return theme.faint;
    }
}

Table as_read(Table table) {
    table = worded(std::move(table));
    for (Table::Column& c : table.columns)
        if (c.shown != Shown::words) c.shown = Shown::plain;
    return table;
}

std::string RealRun::words() const {
    if (hang) return verdict_words(hang->hang);
    if (!measured) return "The run is being set beside the plan…";
    if (!measured->problems.empty()) return measured->problems.front().message;
    return measured->summary;
}

}  // namespace pentamesh::ui
