#include "app/ui/panels/blame_panel.h"

#include "app/ui/kit/format.h"
#include "core/base/error.h"
#include "core/explain/blame.h"
#include "core/mesh/places.h"
#include "core/mesh/rank_list.h"

#include <algorithm>

namespace pentamesh::ui {

namespace {

constexpr std::size_t kPartsShown = 12;  // of a list of ranks
constexpr std::size_t kCallsShown = 6;   // of a group; the table has them all

void blame_row(Ui& ui, Rect& room, std::string_view name, const std::string& value,
               const Color* mark = nullptr) {
    Canvas& c = ui.canvas();
    constexpr float kLabel = 92;
    const float h = c.paragraph_height(room.w - kLabel, value, ui.style(12), 18);
    const Rect row = room.cut_top(std::max(20.0f, h + 2));
    if (mark != nullptr) ui.swatch({row.x, row.y + 4}, *mark, 9);
    const float in = mark != nullptr ? 15.0f : 0.0f;
    c.text_in({row.x + in, row.y, kLabel - in, 18}, name, ui.style(12, Tone::secondary));
    c.paragraph({row.x + kLabel, row.y + 1, row.w - kLabel, row.h}, value, ui.style(12), 18);
}

// Returns "all-gather of parameters, reduce-scatter of gradients and 3 more".
std::string calls_text(const Evaluation& e, const SharedGroup& g) {
    std::string text;
    std::size_t named = 0;
    std::vector<std::string> seen;
    for (const int i : g.operations) {
        const Operation& o = e.comm.operations[static_cast<std::size_t>(i)];
        std::string words = std::string(words_of(o.collective)) + " of " + std::string(words_of(o.what));
        if (std::find(seen.begin(), seen.end(), words) != seen.end()) continue;
        seen.push_back(words);
        if (named == kCallsShown) continue;
        ++named;
        text += (text.empty() ? "" : "; ") + words;
    }
    if (seen.size() > named) text += "; and " + std::to_string(seen.size() - named) + " more";
    return text;
}

void warn(Ui& ui, Rect& room, const std::string& what) {
    TextStyle s = ui.small();
    s.color = ui.theme().bad;
    const float h = ui.canvas().paragraph_height(room.w, what, s, 18);
    ui.canvas().paragraph(room.cut_top(h + 4), what, s, 18);
}

}  // namespace

void draw_blame(Ui& ui, Rect& room, const Scene& scene) {
    const Plan& plan = scene.plan;
    const Evaluation& e = scene.evaluation;
    const Blame b = blame(plan, e, scene.selection.ranks);
    const auto n = static_cast<std::int64_t>(b.ranks.size());
    ui.section(room.cut_top(18), "WHAT THEY SHARE", n == 1 ? "1 RANK" : thousands(n) + " RANKS");
    room.cut_top(6);
    blame_row(ui, room, "ranks", ranks_text(b.ranks, kPartsShown));
    if (scene.hosts != nullptr && !scene.hosts->names.empty())
        blame_row(ui, room, "hosts", hosts_text(*scene.hosts, b.ranks, kPartsShown));
    const std::string place = shared_place_text(plan, e, b);
    blame_row(ui, room, "all in", place.empty() ? "no common node, stage or coordinate" : place);
    if (b.tier >= 0) blame_row(ui, room, "joined by", tier_label(plan.cluster, b.tier));
    if (b.groups.empty()) {
        blame_row(ui, room, "groups", "none holds them all: no collective waits for all of them");
        for (const AxisSpread& s : b.spread) {
            const Color color = color_of(ui.theme(), s.kind);
            blame_row(ui, room, axis_label(s.kind),
                      "in " + plural(s.groups, "group", "groups") + ", at most " + thousands(s.most)
                          + " in one",
                      &color);
        }
    }
    for (const SharedGroup& g : b.groups) {
        const Color color = color_of(ui.theme(), g.kind);
        const auto degree = static_cast<std::int64_t>(g.members.size());
        std::string head = "group " + thousands(g.index) + " of " + thousands(degree) + " GPUs over "
                           + tier_label(plan.cluster, g.tier);
        for (const GroupKind also : g.also) head += ", also " + axis_label(also);
        if (g.operations.empty())
            head += ". This plan's collectives do not use it.";
        else
            head += (degree == n ? ". Nobody else is in it."
                                 : ". " + plural(degree - n, "other waits", "others wait") + ".")
                    + "\nWaits in: " + calls_text(e, g);
        blame_row(ui, room, axis_label(g.kind), head, &color);
    }
    if (!b.waiting.empty())
        blame_row(ui, room, "wait first",
                  plural(static_cast<std::int64_t>(b.waiting.size()), "GPU", "GPUs") + ": "
                      + ranks_text(b.waiting, kPartsShown));
    room.cut_top(12);
}

std::string select_ranks(Scene& scene, const std::string& list) {
    try {
        scene.selection.ranks = parse_rank_list(list, scene.evaluation.mesh.world);
    } catch (const Error& e) {
        return e.what();
    }
    scene.selection.topic = Selection::Topic::ranks;
    return {};
}

void draw_blame_panel(Ui& ui, Scene& scene, BlamePanelState& state, HostNames& hosts) {
    if (!state.open) return;
    const Vec2 screen = ui.frame().size;
    const float w = std::min(460.0f, screen.x - 32), h = std::min(440.0f, screen.y - 96);
    const Rect box{screen.x - w - 16, 56, w, h};
    const auto layer = ui.open_layer("blame", box);
    bool open = layer.stays();
    Rect room = box.inset(20, 16);
    ui.canvas().text_in(room.cut_top(20), "What do these ranks share?", ui.title());
    room.cut_top(8);
    Rect field = room.cut_top(30);
    const bool ok = ui.button("blame.close", field.cut_right(76), "Done");
    field.cut_right(8);
    bool changed = false;
    const bool entered = ui.text_field("blame.ranks", field, state.text,
                                       "ranks that hang or fail: 0-7, 12, 99", state.fresh, &changed);
    state.fresh = false;
    const bool valid = scene.evaluation.valid && scene.evaluation.mesh.world > 0;
    if (changed || entered) {
        state.error = !valid ? "The plan has errors: there are no groups." : select_ranks(scene, state.text);
        if (!state.error.empty()) scene.selection = scene.selection.cleared();
    }
    room.cut_top(8);
    bool named = false;
    ui.text_field("blame.hosts", room.cut_top(30), hosts.list, "hosts by name: gpu[001-064]", false, &named);
    if (!hosts.error().empty()) warn(ui, room, hosts.error());
    room.cut_top(10);
    if (!state.error.empty() && !state.text.empty()) {
        warn(ui, room, state.error);
    } else if (valid && scene.selection.topic == Selection::Topic::ranks) {
        ScrollArea area(ui, "blame.answer", room, state.scroll);
        area.room.w -= 10;
        draw_blame(ui, area.room, scene);
    } else {
        ui.canvas().paragraph(
            room,
            "The groups, the node, the stage and the links that all of them are in, what they "
            "wait in for each other, and who waits next.",
            ui.small(), 18);
    }
    if (ok || (entered && state.error.empty())) open = false;
    state.open = open;
}

}  // namespace pentamesh::ui
