#include "app/ui/views/mesh/mesh_run.h"

#include "app/ui/kit/format.h"
#include "app/ui/kit/rows.h"
#include "app/ui/kit/scroll.h"
#include "app/ui/scene/real_run.h"
#include "app/ui/views/mesh/mesh_links.h"
#include "core/mesh/places.h"
#include "core/runs/hang_words.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <utility>
#include <vector>

namespace pentamesh::ui {
namespace {

using runs::Culprit;
using runs::FaultKind;
using runs::HangRun;

// Says what a rank does in the run; the later ones stand out more.
enum class Role : std::uint8_t { fine, held_up, waits, suspected, blamed };
constexpr std::size_t kRoles = 5;

const HangRun& hang_of(const Scene& scene) {
    return *scene.run->hang;
}

std::vector<Role> roles_of(const HangRun& run, std::int64_t world) {
    std::vector<Role> out(static_cast<std::size_t>(world), Role::fine);
    const auto set = [&](std::int64_t rank, Role role) {
        if (rank < 0 || rank >= world) return;
        Role& of = out[static_cast<std::size_t>(rank)];
        of = std::max(of, role);
    };
    for (const std::int64_t r : run.hang.held_up) set(r, Role::held_up);
    for (const runs::WaitingRank& w : run.hang.waiting) set(w.rank, Role::waits);
    for (const runs::RunCall& c : run.hang.groups_stuck)
        for (const std::int64_t r : run.run.names->ranks(c.group)) set(r, Role::waits);
    for (const Culprit& c : run.hang.culprits) set(c.rank, c.sure ? Role::blamed : Role::suspected);
    return out;
}

// Returns the axis of a call's group in the run's own layout.
GroupKind axis_of(const HangRun& run, const runs::RunCall& call) {
    if (call.group >= 0)
        for (const std::string_view name : run.hang.layout.axes_of(*run.run.names, call.group))
            if (const auto kind = axis_named(name)) return *kind;
    return GroupKind::tp;
}

// Draws the mark of a kind of fault in a box: a bar for one that stands, a cross for one that is gone.
void kind_mark(Canvas& c, Rect box, FaultKind kind, Color ink) {
    const Vec2 at = box.center();
    const float r = std::min(box.w, box.h) * 0.28f, w = std::max(1.5f, r * 0.34f);
    const auto stroke = [&](float x0, float y0, float x1, float y1) {
        c.line({at.x + x0 * r, at.y + y0 * r}, {at.x + x1 * r, at.y + y1 * r}, ink, w);
    };
    switch (kind) {
    case FaultKind::stopped: stroke(-0.5f, -1, -0.5f, 1), stroke(0.5f, -1, 0.5f, 1); break;
    case FaultKind::dead: stroke(-1, -1, 1, 1), stroke(-1, 1, 1, -1); break;
    case FaultKind::gpu: stroke(0, -1, 0, 0.35f), stroke(0, 0.7f, 0, 1); break;
    case FaultKind::mismatch:
        stroke(-1, -0.4f, 1, -0.4f), stroke(-1, 0.4f, 1, 0.4f), stroke(-0.6f, 1, 0.6f, -1);
        break;
    case FaultKind::size: stroke(-1, -1, -1, 1), stroke(-1, 0, 1, 0), stroke(1, -0.5f, 1, 0.5f); break;
    case FaultKind::slow: stroke(0, -1, 0, 0), stroke(0, 0, 0.8f, 0.5f); break;
    }
}

void role_cell(Canvas& c, const Theme& theme, Rect cell, Role role) {
    const float radius = std::min(3.0f, cell.w * 0.15f);
    switch (role) {
    case Role::fine: c.rect(cell, mix(theme.panel, theme.secondary, 0.45f), radius); break;
    case Role::held_up: c.rect(cell, mix(theme.panel, theme.secondary, 0.16f), radius); break;
    case Role::waits:
        c.rect(cell, mix(theme.panel, theme.secondary, 0.16f), radius);
        c.pattern(cell, Pattern::hatched, mix(theme.panel, theme.text, 0.6f));
        c.frame(cell, mix(theme.panel, theme.text, 0.6f), 1, radius);
        break;
    case Role::suspected:
        c.rect(cell, mix(theme.panel, theme.secondary, 0.16f), radius);
        c.frame(cell.inset(1), theme.bad, 2, radius);
        break;
    case Role::blamed: c.rect(cell, theme.bad, radius); break;
    }
}

// The parts of the picture that follow from the run, found once a frame.
struct Picture {
    const HangRun& run;
    std::vector<Role> role;
    std::map<std::int64_t, FaultKind> kind;  // by rank
};

Picture picture_of(const Scene& scene) {
    Picture p{hang_of(scene), roles_of(hang_of(scene), scene.evaluation.mesh.world), {}};
    for (const Culprit& c : p.run.hang.culprits) p.kind.emplace(c.rank, c.kind);
    return p;
}

// Writes a rank and the mark of its fault into its cell.
void draw_rank_words(Ui& ui, Rect cell, std::int64_t rank, Role role, const FaultKind* kind) {
    Canvas& c = ui.canvas();
    const Color ground =
        role == Role::blamed ? ui.theme().bad : mix(ui.theme().panel, ui.theme().secondary, 0.16f);
    const Color ink = role == Role::blamed ? ink_on(ui.theme().bad) : ui.theme().text;
    const auto plate = [&](Rect text, float width) {  // neither hatching nor an arrow runs through words
        if (role == Role::waits || role == Role::blamed)
            c.rect({text.center().x - width / 2 - 2, text.center().y - 7, width + 4, 14}, ground, 2);
    };
    const bool numbered = cell.w >= kNumberedCell.x && cell.h >= kNumberedCell.y,
               card = cell.h >= kSmallCard.y;
    Rect mark = cell;
    if (numbered) {
        const TextStyle style{Face::regular, std::clamp(cell.h * 0.3f, 9.0f, 12.0f), ink, 0};
        const std::string number = thousands(rank);
        Rect text = card ? mark.cut_top(cell.h * 0.5f) : mark;
        if (kind != nullptr && !card) mark = text.cut_right(std::min(14.0f, cell.w * 0.4f));
        plate(text, c.text_width(number, style));
        c.text_in(text, number, style, Align::center);
    }
    if (kind == nullptr || mark.w < 7 || mark.h < 7) return;
    const std::string_view word = pentamesh::name_of(*kind);
    const TextStyle words{Face::semibold, 11, ink, 0};
    const float w = c.text_width(word, words) + 18;
    if (!card || mark.w < w + 4) return kind_mark(c, mark, *kind, ink);
    const Rect row{mark.center().x - w / 2, mark.y, w, mark.h - 4};
    plate(row, w);
    kind_mark(c, {row.x, row.y, 14, row.h}, *kind, ink);
    c.text_in({row.x + 18, row.y, row.w - 18, row.h}, word, words);
}

// Calls `draw` for each rank whose cell is seen.
template <typename Draw>
void for_each_seen_rank(const MeshPlace& m, const Picture& p, const Draw& draw) {
    for (std::int64_t r = 0; r < std::ssize(p.role); ++r) {
        const Rect cell = m.cell(r);
        if (cell.bottom() >= m.area.y && cell.y <= m.area.bottom())
            draw(cell, r, p.role[static_cast<std::size_t>(r)]);
    }
}

// Cells that are nodes sum up: "7 of 8 wait".
void draw_node_cells(Canvas& c, Ui& ui, const MeshPlace& m, const Picture& p) {
    const std::int64_t size = m.layout.node.size;
    for (std::int64_t node = 0; node * size < std::ssize(p.role); ++node) {
        std::array<std::int64_t, kRoles> count{};
        const std::int64_t end = std::min<std::int64_t>((node + 1) * size, std::ssize(p.role));
        for (std::int64_t r = node * size; r < end; ++r)
            ++count[static_cast<std::size_t>(p.role[static_cast<std::size_t>(r)])];
        std::size_t worst = kRoles - 1;
        while (worst > 0 && count[worst] == 0) --worst;
        const Rect cell = m.node(node);
        role_cell(c, ui.theme(), cell, static_cast<Role>(worst));
        if (worst == 0 || cell.h < 14) continue;
        constexpr std::array<std::string_view, kRoles> kWords{"", "held up", "wait", "suspected", "to blame"};
        const std::string words = std::to_string(count[worst]) + " of " + std::to_string(end - node * size)
                                  + " " + std::string(kWords[worst]);
        const TextStyle style{Face::regular, 10,
                              worst == kRoles - 1 ? ink_on(ui.theme().bad) : ui.theme().text, 0};
        if (c.text_width(words, style) + 4 > cell.w) continue;
        c.rect({cell.x + 2, cell.center().y - 7, cell.w - 4, 14},
               worst == kRoles - 1 ? ui.theme().bad : mix(ui.theme().panel, ui.theme().secondary, 0.16f), 2);
        c.text_in(cell, words, style, Align::center);
    }
}

// Draws an arrow between two boxes, from edge to edge, on a casing that sets it off.
void arrow(Canvas& c, Color ground, Rect from, Rect to, Color color, Dash dash) {
    Vec2 a = from.center(), b = to.center();
    const Vec2 way = b - a;
    const float length = std::hypot(way.x, way.y);
    if (length < 4) return;
    const Vec2 unit = way * (1 / length);
    const auto to_edge = [&](Rect box) {
        const float x = std::abs(unit.x) > 1e-4f ? box.w / 2 / std::abs(unit.x) : 1e9f,
                    y = std::abs(unit.y) > 1e-4f ? box.h / 2 / std::abs(unit.y) : 1e9f;
        return std::min(x, y);
    };
    a = a + unit * std::max(0.0f, to_edge(from) - 3);
    b = b - unit * std::max(0.0f, to_edge(to) - 2);
    const Vec2 side{-unit.y, unit.x};
    const Vec2 neck = b - unit * 7;
    c.line(a, neck, ground, 4.5f);
    c.line(a, neck, color, 2, dash);
    const std::array<Vec2, 3> edge{b + unit * 1.5f, neck + side * 5.5f - unit * 1,
                                   neck - side * 5.5f - unit * 1};
    c.polygon(edge, ground);
    const std::array<Vec2, 3> head{b, neck + side * 4, neck - side * 4};
    c.polygon(head, color);
}

// Draws who waits for whom, each pair of cells once.
void draw_arrows(Ui& ui, const MeshPlace& m, const Scene& scene, const HangRun& run) {
    const bool nodes = m.merged();
    const std::int64_t size = nodes ? m.layout.node.size : 1, world = scene.evaluation.mesh.world;
    const auto box = [&](std::int64_t cell) { return nodes ? m.node(cell) : m.cell(cell); };
    std::map<std::pair<std::int64_t, std::int64_t>, runs::RunCall> pairs;
    for (const runs::WaitingRank& w : run.hang.waiting)
        for (const std::int64_t q : w.whom)
            if (w.rank / size != q / size && w.rank < world && q < world)
                pairs.emplace(std::pair(w.rank / size, q / size), w.call);
    for (const auto& [pair, call] : pairs) {
        const TierMark mark = mark_of_tier(ui.theme(), run.plan.cluster, run.tier_of(call));
        arrow(ui.canvas(), ui.theme().window, box(pair.first), box(pair.second),
              color_of(ui.theme(), axis_of(run, call)), mark.dash);
    }
}

// ---- the list --------------------------------------------------------------------------------------------

constexpr float kListLine = 17, kMarkWidth = 22;

// Writes a paragraph that begins right of its mark; returns true if it was clicked.
bool entry(Ui& ui, Rect& room, std::string_view name, std::uint64_t index, const std::string& bold,
           const std::string& plain, const auto& mark) {
    Canvas& c = ui.canvas();
    const float w = room.w - kMarkWidth;
    const float high = (bold.empty() ? 0 : c.paragraph_height(w, bold, ui.title(), kListLine + 1))
                       + c.paragraph_height(w, plain, ui.small(), kListLine);
    Rect row = room.cut_top(high + 8);
    const Hit hit = ui.area(name, row, index);
    row_ground(ui, row, hit);
    row.cut_top(4);
    Rect sign = row.cut_left(kMarkWidth);
    mark(Rect{sign.x + 2, sign.y + 2, 14, 14});
    if (!bold.empty()) row.cut_top(c.paragraph(row, bold, ui.title(), kListLine + 1));
    c.paragraph(row, plain, ui.small(), kListLine);
    return hit.clicked;
}

// Selects ranks in all views, with the groups of the axis in which they wait.
void pick(Scene& scene, const HangRun& run, const runs::RunCall& call, std::vector<std::int64_t> ranks) {
    Selection& s = scene.selection;
    s.choose(axis_of(run, call));
    std::sort(ranks.begin(), ranks.end());
    std::erase_if(ranks, [&](std::int64_t r) { return r < 0 || r >= scene.evaluation.mesh.world; });
    ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
    s.ranks = std::move(ranks);
    s.rank = s.ranks.empty() ? -1 : s.ranks.front();
    s.topic = s.ranks.empty() ? Selection::Topic::none : Selection::Topic::ranks;
}

void list_culprits(Ui& ui, Rect& room, Scene& scene, const HangRun& run) {
    constexpr std::size_t kMost = 64;
    const std::vector<Culprit>& all = run.hang.culprits;
    if (all.empty()) return;
    put_head(ui, room, 2, "To blame");
    static const Hosts kNone;
    for (std::size_t i = 0; i < std::min(all.size(), kMost); ++i) {
        const Culprit& k = all[i];
        const std::string words = culprit_words(run, k, scene.hosts != nullptr ? *scene.hosts : kNone);
        const std::size_t colon = words.find(": ");
        const auto mark = [&](Rect box) {
            role_cell(ui.canvas(), ui.theme(), box, k.sure ? Role::blamed : Role::suspected);
            kind_mark(ui.canvas(), box, k.kind, k.sure ? ink_on(ui.theme().bad) : ui.theme().text);
        };
        if (entry(ui, room, "run.culprit", i, words.substr(0, colon),
                  colon == std::string::npos ? "" : words.substr(colon + 2), mark))
            pick(scene, run, k.call, {k.rank});
    }
    if (all.size() > kMost)
        put_paragraph(ui, room,
                      "… " + thousands(std::ssize(all) - static_cast<std::ptrdiff_t>(kMost)) + " more",
                      ui.small(), kListLine, 4);
    if (all.size() > 1 && !ui.state().for_picture) {
        if (ui.button("run.blame", room.cut_top(26).cut_left(190), "What do they share?")) {
            std::vector<std::int64_t> ranks;
            for (const Culprit& k : all) ranks.push_back(k.rank);
            pick(scene, run, all.front().call, std::move(ranks));
        }
        room.cut_top(6);
    }
}

void list_waiting(Ui& ui, Rect& room, Scene& scene, const HangRun& run) {
    constexpr std::size_t kMost = 32;
    const std::vector<runs::WaitingCall> calls = waiting_by_call(run.hang);
    const auto line = [&](const runs::RunCall& call) {
        return [&, call](Rect box) {
            const TierMark mark = mark_of_tier(ui.theme(), run.plan.cluster, run.tier_of(call));
            ui.canvas().line({box.x, box.center().y}, {box.right(), box.center().y},
                             color_of(ui.theme(), axis_of(run, call)), 2.5f, mark.dash);
        };
    };
    if (!run.hang.groups_stuck.empty()) put_head(ui, room, 2, "Stuck: all are there and nothing moves");
    for (std::size_t i = 0; i < std::min(run.hang.groups_stuck.size(), kMost); ++i) {
        const runs::RunCall& c = run.hang.groups_stuck[i];
        const std::string words =
            call_words(run.hang, *run.run.names, c) + ", over " + std::string(run.tier_name_of(c));
        if (entry(ui, room, "run.stuck", i, "", words, line(c)))
            pick(scene, run, c, run.run.names->ranks(c.group));
    }
    if (!calls.empty()) put_head(ui, room, 2, "Waiting");
    for (std::size_t i = 0; i < std::min(calls.size(), kMost); ++i) {
        const runs::WaitingCall& w = calls[i];
        if (!entry(ui, room, "run.waiting", i, "", waiting_words(run, w), line(w.call))) continue;
        std::vector<std::int64_t> ranks = w.who;
        ranks.insert(ranks.end(), w.whom.begin(), w.whom.end());
        pick(scene, run, w.call, std::move(ranks));
    }
    if (calls.size() > kMost)
        put_paragraph(ui, room,
                      "… " + thousands(std::ssize(calls) - static_cast<std::ptrdiff_t>(kMost))
                          + " calls more",
                      ui.small(), kListLine, 4);
    const std::vector<std::int64_t>& held = run.hang.held_up;
    if (!held.empty())
        put_paragraph(ui, room,
                      ranks_text(held, 12) + (held.size() == 1 ? " is" : " are") + " held up behind them.",
                      ui.small(), kListLine, 6);
}

void list_rest(Ui& ui, Rect& room, const HangRun& run) {
    const runs::RunLayout& l = run.hang.layout;
    put_head(ui, room, 2, "The run");
    put_paragraph(ui, room,
                  layout_words(l) + " (the innermost first; "
                      + (l.from == runs::LayoutFrom::names ? "by the groups' names" : "by the calls")
                      + (l.certain ? ")" : ", not certain)"),
                  ui.small(), kListLine, 4);
    for (const std::string& d : run.differences) put_paragraph(ui, room, d, ui.small(), kListLine, 4);
    for (const std::string& w : run.hang.warnings)
        put_paragraph(ui, room, "Warning: " + w, ui.small(), kListLine, 4);
    if (!run.run.unreadable.empty())
        put_paragraph(ui, room,
                      thousands(std::ssize(run.run.unreadable)) + " files were not read; the first: "
                          + run.run.unreadable.front().file + ": " + run.run.unreadable.front().why,
                      ui.small(), kListLine, 4);
}

// Says what the marks of the cells mean, in one row.
void draw_marks(Ui& ui, Rect row) {
    constexpr std::array<std::pair<Role, std::string_view>, kRoles> kMarks{{{Role::blamed, "to blame"},
                                                                            {Role::suspected, "suspected"},
                                                                            {Role::waits, "waits"},
                                                                            {Role::held_up, "held up behind"},
                                                                            {Role::fine, "nothing open"}}};
    for (const auto& [role, words] : kMarks) {
        if (row.w < 60) return;
        role_cell(ui.canvas(), ui.theme(), {row.x, row.center().y - 6, 12, 12}, role);
        row.cut_left(18);
        write_left(ui, row, words, ui.small(), 16);
    }
}

}  // namespace

bool has_hang(const Scene& scene) {
    return scene.run != nullptr && scene.run->hang
           && scene.run->hang->hang.layout.world == scene.evaluation.mesh.world;
}

void run_switch(Ui& ui, Rect& row, MeshViewState& state) {
    static constexpr std::string_view kShown[] = {"the run", "groups"};
    if (ui.state().for_picture) return;
    state.shows_run = ui.segments("mesh.run", row.cut_right(130), kShown, state.shows_run ? 0 : 1) == 0;
    row.cut_right(12);
}

MeshCaption hang_caption(const Scene& scene) {
    const runs::Hang& h = hang_of(scene).hang;
    std::string words = verdict_words(h);
    if (!words.empty() && words.front() >= 'a' && words.front() <= 'z')
        words.front() = static_cast<char>(words.front() - 'a' + 'A');
    return {words + ".", next_words(h)};
}

Rect draw_hang_list(Ui& ui, Rect room, Scene& scene, MeshViewState& state) {
    const HangRun& run = hang_of(scene);
    const bool beside = room.w >= 700;
    Rect list =
        beside ? room.cut_right(std::clamp(room.w * 0.36f, 300.0f, 460.0f)) : room.cut_bottom(room.h * 0.45f);
    (beside ? room.cut_right(20) : room.cut_bottom(10));
    draw_marks(ui, room.cut_top(20));
    room.cut_top(6);
    ScrollArea area(ui, "run.list", list, state.run_list);
    area.room.w -= 10;
    list_culprits(ui, area.room, scene, run);
    list_waiting(ui, area.room, scene, run);
    list_rest(ui, area.room, run);
    return room;
}

void draw_hang(Ui& ui, const MeshPlace& m, const Scene& scene) {
    const Picture p = picture_of(scene);
    if (m.merged()) {
        draw_node_cells(ui.canvas(), ui, m, p);
        return draw_arrows(ui, m, scene, p.run);
    }
    for_each_seen_rank(
        m, p, [&](Rect cell, std::int64_t, Role role) { role_cell(ui.canvas(), ui.theme(), cell, role); });
    draw_arrows(ui, m, scene, p.run);
    for_each_seen_rank(m, p, [&](Rect cell, std::int64_t rank, Role role) {
        const auto kind = p.kind.find(rank);
        draw_rank_words(ui, cell, rank, role, kind == p.kind.end() ? nullptr : &kind->second);
    });
}

std::string hang_tooltip(const Scene& scene, std::int64_t rank) {
    const HangRun& run = hang_of(scene);
    static const Hosts kNone;
    for (const Culprit& c : run.hang.culprits)
        if (c.rank == rank) return culprit_words(run, c, scene.hosts != nullptr ? *scene.hosts : kNone);
    const std::string at = coordinate_words(run.hang.layout, rank);
    std::string out = "rank " + thousands(rank) + (at.empty() ? "" : ", " + at) + "\n";
    for (const runs::WaitingCall& w : waiting_by_call(run.hang))
        if (std::find(w.who.begin(), w.who.end(), rank) != w.who.end()) return out + waiting_words(run, w);
    const std::vector<std::int64_t>& held = run.hang.held_up;
    const bool behind = std::find(held.begin(), held.end(), rank) != held.end();
    return out + (behind ? "held up: nobody is missing in its own call" : "no call is open");
}

}  // namespace pentamesh::ui
