// Says in a list next to the mesh who is to blame for a run that hangs, and who waits for whom.
#include "app/ui/kit/format.h"
#include "app/ui/kit/rows.h"
#include "app/ui/kit/scroll.h"
#include "app/ui/views/mesh/mesh_run.h"
#include "core/runs/hang_words.h"

#include <algorithm>
#include <array>
#include <functional>
#include <utility>

namespace pentamesh::ui {
namespace {

using runs::Culprit;
using runs::HangRun;

constexpr float kListLine = 17, kMarkWidth = 22;

// An entry of the list: its words right of a mark, and the ranks that it is about.
struct Entry {
    std::string_view name;
    std::uint64_t index = 0;
    std::string bold{}, plain{};
    runs::RunCall call{};
    std::vector<std::int64_t> ranks{};  // ascending
    std::function<void(Rect)> mark{};
};

struct List {
    Ui& ui;
    ScrollArea& area;
    Scene& scene;
    const HangShown& shown;
    bool other_rank;     // another rank was selected, on the mesh: its entry is brought into sight
    bool found = false;  // the first one of it

    // An entry is selected by its ranks, or by one of them that was picked on the mesh.
    [[nodiscard]] bool selects(const Entry& e) const {
        const Selection& s = scene.selection;
        if (s.topic == Selection::Topic::ranks) return s.ranks == e.ranks;
        return s.rank >= 0 && std::binary_search(e.ranks.begin(), e.ranks.end(), s.rank);
    }

    // Selects the ranks in all views, with the groups of the axis in which they wait.
    void pick(const runs::RunCall& call, std::vector<std::int64_t> ranks) {
        Selection& s = scene.selection;
        s.choose(axis_of(*shown.run, call));
        std::erase_if(ranks, [&](std::int64_t r) { return r < 0 || r >= scene.evaluation.mesh.world; });
        s.ranks = std::move(ranks);
        s.rank = s.ranks.empty() ? -1 : s.ranks.front();
        s.topic = s.ranks.empty() ? Selection::Topic::none : Selection::Topic::ranks;
    }

    void add(const Entry& e) {
        Canvas& c = ui.canvas();
        Rect& room = area.room;
        const float w = room.w - kMarkWidth;
        const float high = (e.bold.empty() ? 0 : c.paragraph_height(w, e.bold, ui.title(), kListLine + 1))
                           + c.paragraph_height(w, e.plain, ui.small(), kListLine);
        Rect row = room.cut_top(high + 8);
        const Hit hit = ui.area(e.name, row, e.index);
        const bool selected = selects(e);
        if (selected && other_rank && !std::exchange(found, true)) area.show(row);
        row_ground(ui, row, hit, selected);
        row.cut_top(4);
        const Rect sign = row.cut_left(kMarkWidth);
        if (e.mark) e.mark(Rect{sign.x + 2, sign.y + 2, 14, 14});
        if (!e.bold.empty()) row.cut_top(c.paragraph(row, e.bold, ui.title(), kListLine + 1));
        c.paragraph(row, e.plain, ui.small(), kListLine);
        if (hit.clicked) pick(e.call, e.ranks);
    }

    void words(const std::string& text, float below = 4) {
        put_paragraph(ui, area.room, text, ui.small(), kListLine, below);
    }
    void more(std::size_t all, std::size_t most, std::string_view of) {
        if (all > most)
            words("… " + thousands(static_cast<std::int64_t>(all - most)) + std::string(of) + " more");
    }

    // Returns the mark of an entry: a line as its arrows are drawn.
    [[nodiscard]] std::function<void(Rect)> line_of(const runs::RunCall& call) const {
        return [this, call](Rect box) {
            const TierMark mark = mark_of_tier(ui.theme(), shown.run->plan.cluster, shown.run->tier_of(call));
            ui.canvas().line({box.x, box.center().y}, {box.right(), box.center().y},
                             color_of(ui.theme(), axis_of(*shown.run, call)), 2.5f, mark.dash);
        };
    }
};

void list_culprits(List& list) {
    constexpr std::size_t kMost = 64;
    Ui& ui = list.ui;
    const std::vector<Culprit>& all = list.shown.run->hang.culprits;
    if (all.empty()) return;
    const bool sure = std::any_of(all.begin(), all.end(), [](const Culprit& c) { return c.sure; });
    put_head(ui, list.area.room, 2, sure ? "To blame" : "Suspected");
    static const Hosts kNone;
    for (std::size_t i = 0; i < std::min(all.size(), kMost); ++i) {
        const Culprit& k = all[i];
        const Hosts& hosts = list.scene.hosts != nullptr ? *list.scene.hosts : kNone;
        const std::string words = culprit_words(*list.shown.run, k, hosts);
        const std::size_t colon = words.find(": ");
        const auto mark = [&ui, &k](Rect box) {
            role_cell(ui.canvas(), ui.theme(), box, k.sure ? RunRole::blamed : RunRole::suspected);
            kind_mark(ui.canvas(), box, k.kind, k.sure ? ink_on(ui.theme().bad) : ui.theme().text);
        };
        list.add({"run.culprit",
                  i,
                  words.substr(0, colon),
                  colon == std::string::npos ? "" : words.substr(colon + 2),
                  k.call,
                  {k.rank},
                  mark});
    }
    list.more(all.size(), kMost, "");
    if (all.size() < 2 || ui.state().for_picture) return;
    if (ui.button("run.blame", list.area.room.cut_top(26).cut_left(190), "What do they share?")) {
        std::vector<std::int64_t> ranks;
        ranks.reserve(all.size());
        for (const Culprit& k : all) ranks.push_back(k.rank);
        list.pick(all.front().call, std::move(ranks));
    }
    list.area.room.cut_top(6);
}

void list_stuck(List& list) {
    constexpr std::size_t kMost = 32;
    const HangRun& run = *list.shown.run;
    const std::vector<runs::RunCall>& all = run.hang.groups_stuck;
    if (!all.empty()) put_head(list.ui, list.area.room, 2, "Stuck: all are there and nothing moves");
    for (std::size_t i = 0; i < std::min(all.size(), kMost); ++i) {
        std::vector<std::int64_t> ranks = run.run.names->ranks(all[i].group);
        std::sort(ranks.begin(), ranks.end());
        list.add(
            {"run.stuck",
             i,
             {},
             call_words(run.hang, *run.run.names, all[i]) + ", over " + std::string(run.tier_name_of(all[i])),
             all[i],
             std::move(ranks),
             list.line_of(all[i])});
    }
    list.more(all.size(), kMost, " groups");
}

void list_waiting(List& list) {
    constexpr std::size_t kMost = 32;
    const HangShown& shown = list.shown;
    const HangRun& run = *shown.run;
    if (!shown.calls.empty()) put_head(list.ui, list.area.room, 2, "Waiting");
    if (const auto& has = shown.has_arrows; std::find(has.begin(), has.end(), false) != has.end())
        list.words(std::string(std::find(has.begin(), has.end(), true) == has.end()
                                   ? "No arrows on the mesh: there are too many."
                                   : "Those with a line have arrows on the mesh: all would be too many.")
                   + (list.ui.state().for_picture ? "" : " A press draws those of one, up to 1,024."));
    const runs::WaitingCall* const picked = picked_call(shown, list.scene.selection);
    for (std::size_t i = 0; i < std::min(shown.calls.size(), kMost); ++i) {
        const runs::WaitingCall& w = shown.calls[i];
        const bool drawn = shown.has_arrows[i] || &w == picked;
        list.add({"run.waiting",
                  i,
                  {},
                  waiting_words(run, w),
                  w.call,
                  ranks_of(w),
                  drawn ? list.line_of(w.call) : nullptr});
    }
    list.more(shown.calls.size(), kMost, " calls");
    const std::vector<std::int64_t>& held = run.hang.held_up;
    if (!held.empty())
        list.words(ranks_text(held, 12) + (held.size() == 1 ? " is" : " are") + " held up behind them.", 6);
}

void list_rest(List& list) {
    const HangRun& run = *list.shown.run;
    const runs::RunLayout& l = run.hang.layout;
    put_head(list.ui, list.area.room, 2, "The run");
    list.words(layout_words(l) + " (the innermost first; "
               + (l.from == runs::LayoutFrom::names ? "by the groups' names" : "by the calls")
               + (l.certain ? ")" : ", not certain)"));
    for (const std::string& d : run.differences) list.words(d);
    for (const std::string& w : run.hang.warnings) list.words("Warning: " + w);
    if (const auto& unread = run.run.unreadable; !unread.empty())
        list.words(thousands(std::ssize(unread)) + (unread.size() == 1 ? " file was" : " files were")
                   + " not read; the first: " + unread.front().file + ": " + unread.front().why);
}

// Says what the marks of the cells mean, in one row: of those that there are.
void draw_marks(Ui& ui, Rect row, const HangShown& shown) {
    constexpr std::array<std::pair<RunRole, std::string_view>, kRunRoles> kMarks{
        {{RunRole::blamed, "to blame"},
         {RunRole::suspected, "suspected"},
         {RunRole::stuck, "stuck"},
         {RunRole::waits, "waits"},
         {RunRole::held_up, "held up behind"},
         {RunRole::fine, "nothing open"}}};
    for (const auto& [role, words] : kMarks) {
        if (row.w < 60) return;
        if (std::find(shown.role.begin(), shown.role.end(), role) == shown.role.end()) continue;
        role_cell(ui.canvas(), ui.theme(), {row.x, row.center().y - 6, 12, 12}, role);
        row.cut_left(18);
        write_left(ui, row, words, ui.small(), 16);
    }
}

}  // namespace

Rect draw_hang_list(Ui& ui, Rect room, Scene& scene, MeshViewState& state) {
    const HangShown& shown = hang_shown(scene, state);
    const bool beside = room.w >= 700;
    Rect column =
        beside ? room.cut_right(std::clamp(room.w * 0.36f, 300.0f, 460.0f)) : room.cut_bottom(room.h * 0.45f);
    (beside ? room.cut_right(20) : room.cut_bottom(10));
    draw_marks(ui, room.cut_top(20), shown);
    room.cut_top(6);
    const bool other = std::exchange(state.run_rank, scene.selection.rank) != scene.selection.rank;
    ScrollArea area(ui, "run.list", column, state.run_list);
    area.room.w -= 10;
    List list{ui, area, scene, shown, other};
    list_culprits(list);
    list_stuck(list);
    list_waiting(list);
    list_rest(list);
    return room;
}

}  // namespace pentamesh::ui
