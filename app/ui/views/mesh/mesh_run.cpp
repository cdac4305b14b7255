#include "app/ui/views/mesh/mesh_run.h"

#include "app/ui/kit/format.h"
#include "app/ui/kit/rows.h"
#include "app/ui/kit/scroll.h"
#include "app/ui/scene/real_run.h"
#include "core/runs/hang_words.h"

#include <algorithm>
#include <array>
#include <cmath>
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
void draw_arrows(Ui& ui, const MeshPlace& m, const Selection& selection, const HangShown& shown) {
    const std::int64_t world = std::ssize(shown.role);
    const bool nodes = m.merged() || world > kMostSingle;
    const std::int64_t size = nodes ? m.layout.node.size : 1;
    const auto box = [&](std::int64_t cell) { return nodes ? m.node(cell) : m.cell(cell); };
    const runs::WaitingCall* const picked = picked_call(shown, selection);
    CellPairs pairs;
    for (std::size_t i = 0; i < shown.calls.size(); ++i) {
        const runs::WaitingCall& w = shown.calls[i];
        if (!shown.has_arrows[i] && &w != picked) continue;
        const TierMark mark = mark_of_tier(ui.theme(), shown.run->plan.cluster, shown.run->tier_of(w.call));
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
        draw_arrows(ui, m, scene.selection, shown);
        return draw_node_cells(ui, m, shown, RunRole::suspected);
    }
    for_each_seen_rank(m, shown, [&](Rect cell, std::int64_t, RunRole role) {
        role_cell(ui.canvas(), ui.theme(), cell, role);
    });
    draw_arrows(ui, m, scene.selection, shown);
    for_each_seen_rank(m, shown, [&](Rect cell, std::int64_t rank, RunRole role) {
        const auto kind = shown.kind.find(rank);
        if (role >= RunRole::suspected) role_cell(ui.canvas(), ui.theme(), cell, role);
        draw_rank_words(ui, cell, rank, role, kind == shown.kind.end() ? nullptr : &kind->second);
    });
}

std::string hang_tooltip(const Scene& scene, const HangShown& shown, std::int64_t rank) {
    const HangRun& run = *shown.run;
    static const Hosts kNone;
    for (const Culprit& c : run.hang.culprits)
        if (c.rank == rank) return culprit_words(run, c, scene.hosts != nullptr ? *scene.hosts : kNone);
    const std::string at = coordinate_words(run.hang.layout, rank);
    std::string out = "rank " + thousands(rank) + (at.empty() ? "" : ", " + at) + "\n";
    for (const runs::RunCall& c : run.hang.groups_stuck)
        if (const auto& all = run.run.names->ranks(c.group);
            std::find(all.begin(), all.end(), rank) != all.end())
            return out + "stuck: all are there and nothing moves in "
                   + call_words(run.hang, *run.run.names, c);
    for (const runs::WaitingCall& w : shown.calls)
        if (std::find(w.who.begin(), w.who.end(), rank) != w.who.end()) return out + waiting_words(run, w);
    const std::vector<std::int64_t>& held = run.hang.held_up;
    const bool behind = std::find(held.begin(), held.end(), rank) != held.end();
    return out + (behind ? "held up: nobody is missing in its own call" : "no call is open");
}

}  // namespace pentamesh::ui
