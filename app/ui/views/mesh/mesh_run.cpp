#include "app/ui/views/mesh/mesh_run.h"

#include "app/ui/kit/data_table.h"
#include "app/ui/kit/format.h"
#include "app/ui/scene/scene.h"
#include "app/ui/views/mesh/mesh_cells.h"
#include "core/pipeline/timeline.h"
#include "core/plan/stand_in.h"
#include "core/runs/hang.h"
#include "core/runs/run_layout.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <optional>
#include <set>
#include <utility>
#include <vector>

namespace pentamesh::ui {
namespace {

using runs::Culprit;
using runs::FaultKind;
using runs::HangRun;

std::vector<RunRole> roles_of(const HangRun& run, std::int64_t world) {
    std::vector<RunRole> out(static_cast<std::size_t>(world), RunRole::fine);
    const auto set = [&](std::int64_t rank, RunRole role) {
        if (rank < 0 || rank >= world) return;
        RunRole& of = out[static_cast<std::size_t>(rank)];
        of = std::max(of, role);
    };
    for (const std::int64_t r : run.hang.held_up) set(r, RunRole::held_up);
    for (const runs::WaitingRank& w : run.hang.waiting) set(w.rank, RunRole::waits);
    for (const runs::RunCall& c : run.hang.groups_stuck)
        for (const std::int64_t r : run.run.names->ranks(c.group)) set(r, RunRole::stuck);
    for (const Culprit& c : run.hang.culprits) set(c.rank, c.sure ? RunRole::blamed : RunRole::suspected);
    return out;
}

Color quiet_ground(const Theme& theme) {
    return mix(theme.panel, theme.secondary, 0.16f);
}

// Writes a rank and the mark of its fault into its cell.
void draw_rank_words(Ui& ui, Rect cell, std::int64_t rank, RunRole role, const FaultKind* kind) {
    Canvas& c = ui.canvas();
    const Color ground = role == RunRole::blamed ? ui.theme().bad : quiet_ground(ui.theme());
    const Color ink = role == RunRole::blamed ? ink_on(ui.theme().bad) : ui.theme().text;
    const auto plate = [&](Rect text, float width) {  // neither hatching nor an arrow runs through words
        if (role == RunRole::waits || role == RunRole::blamed)
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
void for_each_seen_rank(const MeshPlace& m, const HangShown& p, const Draw& draw) {
    for (std::int64_t r = 0; r < std::ssize(p.role); ++r) {
        const Rect cell = m.cell(r);
        if (cell.bottom() >= m.area.y && cell.y <= m.area.bottom())
            draw(cell, r, p.role[static_cast<std::size_t>(r)]);
    }
}

// Cells that are nodes sum up: "7 of 8 wait". Those are drawn in which a rank stands out as `least` does.
void draw_node_cells(Ui& ui, const MeshPlace& m, const HangShown& p, RunRole least) {
    Canvas& c = ui.canvas();
    const std::int64_t size = m.layout.node.size;
    for (std::int64_t node = 0; node * size < std::ssize(p.role); ++node) {
        std::array<std::int64_t, kRunRoles> count{};
        const std::int64_t end = std::min<std::int64_t>((node + 1) * size, std::ssize(p.role));
        for (std::int64_t r = node * size; r < end; ++r)
            ++count[static_cast<std::size_t>(p.role[static_cast<std::size_t>(r)])];
        std::size_t worst = kRunRoles - 1;
        while (worst > 0 && count[worst] == 0) --worst;
        if (worst < static_cast<std::size_t>(least)) continue;
        const Rect cell = m.node(node);
        role_cell(c, ui.theme(), cell, static_cast<RunRole>(worst));
        if (worst == 0 || cell.h < 14) continue;
        constexpr std::array<std::string_view, kRunRoles> kWords{"",      "held up",   "wait",
                                                                 "stuck", "suspected", "to blame"};
        const std::string words = std::to_string(count[worst]) + " of " + std::to_string(end - node * size)
                                  + " " + std::string(kWords[worst]);
        const bool blamed = worst == kRunRoles - 1;
        const TextStyle style{Face::regular, 10, blamed ? ink_on(ui.theme().bad) : ui.theme().text, 0};
        if (c.text_width(words, style) + 4 > cell.w) continue;
        c.rect({cell.x + 2, cell.center().y - 7, cell.w - 4, 14},
               blamed ? ui.theme().bad : quiet_ground(ui.theme()), 2);
        c.text_in(cell, words, style, Align::center);
    }
}

using CellPairs = std::set<std::pair<std::int64_t, std::int64_t>>;
constexpr std::size_t kMostPickedArrows = 1024;
constexpr std::int64_t kMostSingle = 1024;  // ranks: of more, arrows go from node to node

// Adds the pairs of cells between which a call's ranks wait, a cell being `size` ranks, and returns those
// that are new; nullopt where there are more than `most`.
std::optional<std::vector<std::pair<std::int64_t, std::int64_t>>>
add_pairs(const runs::WaitingCall& w, std::int64_t size, std::int64_t world, std::size_t most,
          CellPairs& pairs) {
    const auto cells_of = [&](const std::vector<std::int64_t>& ranks) {
        std::set<std::int64_t> cells;
        for (const std::int64_t r : ranks)
            if (r >= 0 && r < world) cells.insert(r / size);
        return cells;
    };
    std::vector<std::pair<std::int64_t, std::int64_t>> fresh;
    const std::set<std::int64_t> who = cells_of(w.who), whom = cells_of(w.whom);
    if (who.size() * whom.size() > 4 * kMostPickedArrows) return std::nullopt;
    for (const std::int64_t a : who)
        for (const std::int64_t b : whom)
            if (a != b && !pairs.contains({a, b})) fresh.emplace_back(a, b);
    if (fresh.size() > most) return std::nullopt;
    pairs.insert(fresh.begin(), fresh.end());
    return fresh;
}

// Finds the calls that have arrows: all, where these can be distinguished, else those in which the others
// wait for one that is to blame.
std::vector<bool> find_arrows(const HangShown& shown, std::int64_t size) {
    const auto world = std::ssize(shown.role);
    const auto of = [&](std::size_t most, bool near) {
        std::vector<bool> out;
        CellPairs pairs;
        for (const runs::WaitingCall& w : shown.calls) {
            const bool wanted = !near || std::any_of(w.whom.begin(), w.whom.end(), [&](std::int64_t r) {
                return shown.kind.contains(r);
            });
            out.push_back(wanted && add_pairs(w, size, world, most - pairs.size(), pairs).has_value());
        }
        return out;
    };
    constexpr std::size_t kMostOfAll = 48, kMostOfNear = 64;
    const std::vector<bool> all = of(kMostOfAll, false);
    return std::find(all.begin(), all.end(), false) == all.end() ? all : of(kMostOfNear, true);
}

// Draws an arrow between two boxes, from edge to edge, on a casing that sets it off.
void arrow(Canvas& c, Color ground, Rect from, Rect to, Color color, Dash dash) {
    Vec2 a = from.center(), b = to.center();
    const Vec2 way = b - a;
    const float length = std::hypot(way.x, way.y);
    if (length < 4) return;
    const Vec2 unit = way * (1 / length);
    const float k = std::clamp(std::min(to.w, to.h) / 22, 0.5f, 1.5f);  // it stays within small boxes
    const auto to_edge = [&](Rect box) {
        const float x = std::abs(unit.x) > 1e-4f ? box.w / 2 / std::abs(unit.x) : 1e9f,
                    y = std::abs(unit.y) > 1e-4f ? box.h / 2 / std::abs(unit.y) : 1e9f;
        return std::min(x, y);
    };
    a = a + unit * std::max(0.0f, to_edge(from) - 3);
    b = b - unit * std::max(0.0f, to_edge(to) - 2);
    const Vec2 side{-unit.y, unit.x};
    const Vec2 neck = b - unit * (7 * k);
    c.line(a, neck, ground, 4.5f * k);
    c.line(a, neck, color, 2 * k, dash);
    c.polygon({b + unit * 1.5f, neck + side * (5.5f * k) - unit * 1, neck - side * (5.5f * k) - unit * 1},
              ground);
    c.polygon({b, neck + side * (4 * k), neck - side * (4 * k)}, color);
}

// Draws who waits for whom, each pair of cells once.
void draw_arrows(Ui& ui, const MeshPlace& m, const Scene& scene, const HangShown& shown) {
    const Selection& selection = scene.selection;
    const Cluster& cluster = scene.plan.cluster;
    const std::int64_t world = std::ssize(shown.role);
    const bool nodes = m.merged() || world > kMostSingle;
    const std::int64_t size = nodes ? m.layout.node.size : 1;
    const auto box = [&](std::int64_t cell) { return nodes ? m.node(cell) : m.cell(cell); };
    const runs::WaitingCall* const picked = picked_call(shown, selection);
    CellPairs pairs;
    for (std::size_t i = 0; i < shown.calls.size(); ++i) {
        const runs::WaitingCall& w = shown.calls[i];
        if (!shown.has_arrows[i] && &w != picked) continue;
        const TierMark mark = mark_of_tier(ui.theme(), cluster, shown.run->tier_of(w.call, cluster));
        const Color color = color_of(ui.theme(), axis_of(*shown.run, w.call));
        const auto fresh = add_pairs(w, size, world, kMostPickedArrows, pairs);
        if (!fresh) continue;
        for (const auto& [from, to] : *fresh)
            arrow(ui.canvas(), ui.theme().window, box(from), box(to), color, mark.dash);
    }
}

}  // namespace

GroupKind axis_of(const HangRun& run, const runs::RunCall& call) {
    if (call.group >= 0)
        for (const std::string_view name : run.hang.layout.axes_of(*run.run.names, call.group))
            if (const auto kind = axis_named(name)) return *kind;
    return GroupKind::tp;
}

const Hosts& named_hosts(const Scene& scene) {
    static const Hosts kNone;
    return scene.hosts != nullptr ? *scene.hosts : kNone;
}

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

void role_cell(Canvas& c, const Theme& theme, Rect cell, RunRole role) {
    const float radius = std::min(3.0f, cell.w * 0.15f);
    c.rect(cell,
           role == RunRole::fine     ? mix(theme.panel, theme.secondary, 0.45f)
           : role == RunRole::blamed ? theme.bad
                                     : quiet_ground(theme),
           radius);
    if (role == RunRole::waits || role == RunRole::stuck) {
        const Color ink = role == RunRole::stuck ? theme.bad : mix(theme.panel, theme.text, 0.6f);
        c.pattern(cell, Pattern::hatched, ink);
        c.frame(cell, ink, 1, radius);
    }
    if (role == RunRole::suspected) c.frame(cell.inset(1), theme.bad, 2, radius);
}

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
    const runs::Hang& h = scene.run->hang->hang;
    std::string words = verdict_words(h);
    if (!words.empty() && words.front() >= 'a' && words.front() <= 'z')
        words.front() = static_cast<char>(words.front() - 'a' + 'A');
    return {words + ".", next_words(h)};
}

const HangShown& hang_shown(const Scene& scene, MeshViewState& state) {
    const std::int64_t world = scene.evaluation.mesh.world;
    if (state.hang && state.hang->run == scene.run->hang && std::ssize(state.hang->role) == world)
        return *state.hang;
    const HangRun& run = *scene.run->hang;
    HangShown out{scene.run->hang, roles_of(run, world), {}, waiting_by_call(run.hang), {}};
    for (const Culprit& c : run.hang.culprits) out.kind.emplace(c.rank, c.kind);
    out.has_arrows = find_arrows(out, world > kMostSingle ? domain_of(run.plan.cluster, 0) : 1);
    state.hang = std::make_shared<const HangShown>(std::move(out));
    return *state.hang;
}

std::vector<std::int64_t> ranks_of(const runs::WaitingCall& w) {
    std::vector<std::int64_t> out = w.who;
    out.insert(out.end(), w.whom.begin(), w.whom.end());
    std::sort(out.begin(), out.end());
    return out;
}

const runs::WaitingCall* picked_call(const HangShown& shown, const Selection& selection) {
    if (selection.topic != Selection::Topic::ranks || selection.ranks.size() < 2) return nullptr;
    for (const runs::WaitingCall& w : shown.calls)
        if (w.who.size() + w.whom.size() == selection.ranks.size() && ranks_of(w) == selection.ranks)
            return &w;
    return nullptr;
}

void draw_hang(Ui& ui, const MeshPlace& m, const Scene& scene, const HangShown& shown) {
    if (m.merged()) {
        draw_node_cells(ui, m, shown, RunRole::fine);
        draw_arrows(ui, m, scene, shown);
        return draw_node_cells(ui, m, shown, RunRole::suspected);
    }
    for_each_seen_rank(m, shown, [&](Rect cell, std::int64_t, RunRole role) {
        role_cell(ui.canvas(), ui.theme(), cell, role);
    });
    draw_arrows(ui, m, scene, shown);
    for_each_seen_rank(m, shown, [&](Rect cell, std::int64_t rank, RunRole role) {
        const auto kind = shown.kind.find(rank);
        if (role >= RunRole::suspected) role_cell(ui.canvas(), ui.theme(), cell, role);
        draw_rank_words(ui, cell, rank, role, kind == shown.kind.end() ? nullptr : &kind->second);
    });
}

std::string hang_tooltip(const Scene& scene, const HangShown& shown, std::int64_t rank) {
    const HangRun& run = *shown.run;
    const Cluster* cluster = &scene.plan.cluster;
    for (const Culprit& c : run.hang.culprits)
        if (c.rank == rank) return culprit_words(run, c, named_hosts(scene), cluster);
    const std::string at = coordinate_words(run.hang.layout, rank);
    std::string out = "rank " + thousands(rank) + (at.empty() ? "" : ", " + at) + "\n";
    for (const runs::RunCall& c : run.hang.groups_stuck)
        if (const auto& all = run.run.names->ranks(c.group);
            std::find(all.begin(), all.end(), rank) != all.end())
            return out + "stuck: all are there and nothing moves in "
                   + call_words(run.hang, *run.run.names, c);
    for (const runs::WaitingCall& w : shown.calls)
        if (std::find(w.who.begin(), w.who.end(), rank) != w.who.end())
            return out + waiting_words(run, w, named_hosts(scene), cluster);
    const std::vector<std::int64_t>& held = run.hang.held_up;
    const bool behind = std::find(held.begin(), held.end(), rank) != held.end();
    return out + (behind ? "held up: nobody is missing in its own call" : "no call is open");
}

// Says in a list next to the mesh who is to blame for a run that hangs, and who waits for whom.

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
        if (all > most) words(and_more(all - most, of));
    }

    // Returns the mark of an entry: a line as its arrows are drawn.
    [[nodiscard]] std::function<void(Rect)> line_of(const runs::RunCall& call) const {
        return [this, call](Rect box) {
            const Cluster& cluster = scene.plan.cluster;
            const TierMark mark = mark_of_tier(ui.theme(), cluster, shown.run->tier_of(call, cluster));
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
    for (std::size_t i = 0; i < std::min(all.size(), kMost); ++i) {
        const Culprit& k = all[i];
        const std::string words =
            culprit_words(*list.shown.run, k, named_hosts(list.scene), &list.scene.plan.cluster);
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
        const std::string wire = wire_words(run, all[i], named_hosts(list.scene), &list.scene.plan.cluster);
        list.add({"run.stuck",
                  i,
                  {},
                  call_words(run.hang, *run.run.names, all[i]) + (wire.empty() ? "" : ", " + wire),
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
                  waiting_words(run, w, named_hosts(list.scene), &list.scene.plan.cluster),
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
    if (!is_stand_in(list.scene.plan))
        for (const std::string& d : runs::differences(l, list.scene.plan)) list.words(d);
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

namespace {

const Factor& pipeline(const Scene& scene) {
    return scene.evaluation.mesh.dense[Axis::pp];
}

// A cell's id is its stage.
void count_stages(const Scene& scene, CellGrid& grid) {
    const Factor& pp = pipeline(scene);
    grid.count = static_cast<std::int32_t>(std::min<std::int64_t>(scene.evaluation.mesh.world, grid.count));
    grid.digits = 1;
    grid.digit[0] = {static_cast<std::int32_t>(pp.stride), static_cast<std::int32_t>(pp.size), 1};
    grid.palette_size = static_cast<int>(pp.size);
    grid.highlighted_id = -1;
}

bool a_color_each(const Scene& scene) {
    const std::int64_t stages = pipeline(scene).size;
    return scene.evaluation.mesh.world > 0 && stages >= 1
           && stages <= static_cast<std::int64_t>(CellGrid{}.palette.size());
}

Color idle_color(const Theme& theme) {
    return mix(theme.window, theme.hairline, 0.8f);
}

// An FB pair is both: its colour is between the two.
Color busy_color(const Theme& theme, OpKind kind) {
    return kind == OpKind::FB ? mix(theme.forward, theme.backward, 0.5f) : color_of(theme, kind);
}

const Op* op_now(const Scene& scene, int stage) {
    const Timeline& t = *scene.shown_timeline;
    const std::ptrdiff_t i = op_at(t, stage, scene.time_cursor_s);
    return i < 0 ? nullptr : &t.order.ops[i];
}

}  // namespace

bool shows_activity(const Scene& scene) {
    return scene.time_cursor_s >= 0 && scene.shown_timeline != nullptr && a_color_each(scene)
           && scene.shown_timeline->shape.devices == pipeline(scene).size;
}

void color_by_activity(const Theme& theme, const Scene& scene, CellGrid& grid) {
    count_stages(scene, grid);
    grid.ground = theme.window;
    for (int stage = 0; stage < grid.palette_size; ++stage) {
        const Op* op = op_now(scene, stage);
        grid.palette[stage] = op ? busy_color(theme, op->kind) : idle_color(theme);
    }
}

void activity_caption(Ui& ui, Rect row, const Scene& scene) {
    Canvas& c = ui.canvas();
    const std::int64_t stages = pipeline(scene).size, each = scene.evaluation.mesh.world / stages;
    std::array<std::int64_t, 5> doing{};
    std::int64_t idle = stages;
    for (int stage = 0; stage < static_cast<int>(stages); ++stage)
        if (const Op* op = op_now(scene, stage)) {
            ++doing[static_cast<std::size_t>(op->kind)];
            --idle;
        }
    const auto put = [&](const std::string& text, const TextStyle& s) {
        const float w = c.text_width(text, s);
        if (row.w > 24) c.text_in(row, text, s);
        row.cut_left(std::min(row.w, w + 12));
    };
    if (scene.time_cursor_s >= scene.shown_timeline->makespan) {
        put("At " + time_text(scene.time_cursor_s) + " the pipeline is done:", ui.title());
        put("gradients that nothing hid, the optimizer", ui.style(13, Tone::secondary));
        return;
    }
    put("At " + time_text(scene.time_cursor_s) + " " + thousands((stages - idle) * each) + " of "
            + plural(stages * each, "GPU works:", "GPUs work:"),
        ui.title());
    const auto item = [&](std::int64_t n, std::string_view what, Color color) {
        if (n <= 0 || row.w < 40) return;
        const Rect box{row.x, row.center().y - 5, 10, 10};
        c.box(box, color, ui.theme().secondary, 1, 2);
        row.cut_left(15);
        put(thousands(n * each) + " " + std::string(what), ui.style(13, Tone::secondary));
    };
    for (std::size_t k = 0; k < doing.size(); ++k)
        item(doing[k], name_of(static_cast<OpKind>(k)), busy_color(ui.theme(), static_cast<OpKind>(k)));
    item(idle, "idle", idle_color(ui.theme()));
}

std::string activity_text(const Scene& scene, std::int64_t rank) {
    if (!shows_activity(scene)) return "";
    const Factor& pp = pipeline(scene);
    const Op* op = op_now(scene, static_cast<int>(rank / pp.stride % pp.size));
    if (op == nullptr)
        return scene.time_cursor_s < scene.shown_timeline->makespan ? "now: idle"
                                                                    : "now: the pipeline is done";
    const int m = scene.shown_timeline->shape.microbatches;
    std::string s =
        "now: " + std::string(name_of(op->kind)) + " of micro-batch " + std::to_string(op->microbatch % m);
    if (op->kind == OpKind::FB) s += " and " + std::to_string(op->backward_microbatch % m);
    return s;
}

void dim_other_stages(Canvas& canvas, const Theme& theme, const Scene& scene, const CellGrid& grid) {
    const bool hovered = scene.hover.stage >= 0;
    const int stage = hovered ? scene.hover.stage : scene.selection.stage;
    if (stage < 0 || scene.hover.rank >= 0 || !a_color_each(scene) || pipeline(scene).size < 2) return;
    CellGrid dimmed = grid;
    count_stages(scene, dimmed);
    for (int s = 0; s < dimmed.palette_size; ++s)
        dimmed.palette[s] = theme.window.alpha(s == stage ? 0.0f : hovered ? 0.7f : 0.55f);
    canvas.cells(dimmed);
}

}  // namespace pentamesh::ui
