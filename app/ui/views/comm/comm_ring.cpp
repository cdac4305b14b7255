#include "app/ui/views/comm/view.h"

#include "app/ui/kit/format.h"
#include "app/ui/views/mesh/mesh_axes.h"
#include "core/teach/ring_pieces.h"

#include <algorithm>
#include <cmath>

namespace pentamesh::ui {

namespace {

using Shape = CollectivePhase::Shape;

constexpr double kStep_s = 0.9;  // time for which a step is shown
constexpr std::int64_t kMostShown = 12;
constexpr double kTurn = 6.283185307179586;

// Returns the call to show: the selected one, or the axis' busiest.
int operation_of(const Scene& scene) {
    const auto& ops = scene.evaluation.comm.operations;
    const int selected = scene.selection.operation;
    const GroupKind axis = shown_group(scene);
    if (selected >= 0 && selected < static_cast<int>(ops.size()) && ops[selected].group == axis)
        return selected;
    int most = -1;
    for (std::size_t i = 0; i < ops.size(); ++i)
        if (ops[i].group == axis && (most < 0 || ops[i].sent_bytes_per_rank > ops[most].sent_bytes_per_rank))
            most = static_cast<int>(i);
    return most;
}

std::int64_t steps_of(const std::vector<CollectivePhase>& phases) {
    std::int64_t n = 0;
    for (const CollectivePhase& p : phases) n += p.steps;
    return n;
}

// Says where the animation is: phase, step in it, share of that step.
struct Instant {
    std::size_t phase = 0;
    std::int64_t step = 0;
    float share = 0;
    double passed_s = 0;
};
Instant instant_of(const CommRingState& state) {
    Instant m;
    double left = state.played.at;
    for (std::size_t i = 0; i < state.phases->size(); ++i) {
        const CollectivePhase& p = (*state.phases)[i];
        const auto steps = static_cast<double>(p.steps);
        const bool last = i + 1 == state.phases->size();
        if (left < steps || last) {
            m.phase = i;
            m.passed_s += std::min(left, steps) * p.step_s;
            m.step = std::min(static_cast<std::int64_t>(left), p.steps);
            m.share = m.step >= p.steps ? 0 : static_cast<float>(left - static_cast<double>(m.step));
            return m;
        }
        left -= steps;
        m.passed_s += steps * p.step_s;
    }
    return m;
}

// Holds the ranks of the members that a phase joins, among them the selected rank.
struct Members {
    std::vector<std::int64_t> rank;
    bool all = true;
};
Members members_of(const Scene& scene, const Operation& op, const CollectivePhase& phase) {
    const Mesh& mesh = scene.evaluation.mesh;
    const std::int64_t chosen =
        scene.selection.rank >= 0 && scene.selection.rank < mesh.world ? scene.selection.rank : 0;
    const MeshAxis axis{.kind = op.group, .factors = group_factors(mesh, op.group)};
    const std::int64_t first = axis.first_of(chosen), own = axis.place_of(chosen);
    const std::int64_t degree = scene.evaluation.groups[op.group].degree;
    const std::int64_t base = own - own / phase.stride % phase.ranks * phase.stride;
    Members m;
    const std::int64_t shown = std::min(phase.ranks, kMostShown);
    m.all = shown == phase.ranks;
    for (std::int64_t i = 0; i < shown; ++i) {
        // If there are too many, the first ones are shown, and the last one after the gap.
        const std::int64_t k = !m.all && i + 1 == shown ? phase.ranks - 1 : i;
        m.rank.push_back(axis.member(first, std::min(base + k * phase.stride, degree - 1)));
    }
    return m;
}

struct Layout {
    Vec2 center;
    float rx = 0, ry = 0;
    std::size_t n = 1;
    [[nodiscard]] Vec2 at(double i) const {
        const double a = kTurn * (i / static_cast<double>(n) - 0.25);
        return center + Vec2{rx * static_cast<float>(std::cos(a)), ry * static_cast<float>(std::sin(a))};
    }
};

Vec2 between(Vec2 a, Vec2 b, float k) {
    return a + (b - a) * k;
}

void draw_links(Ui& ui, const Layout& layout, const Scene& scene, const CollectivePhase& phase,
                const Members& m) {
    Canvas& c = ui.canvas();
    const TierMark mark = mark_of_tier(ui.theme(), scene.plan.cluster, phase.tier);
    const bool wraps = phase.shape != Shape::pass || scene.plan.layout.virtual_stages > 1;
    for (std::size_t i = 0; i < layout.n; ++i) {
        const bool gap = !m.all && i + 2 == layout.n;
        switch (phase.shape) {
        case Shape::switch_up:
        case Shape::switch_down:
            c.line(layout.at(static_cast<double>(i)), layout.center, mark.color, 1.5f, mark.dash);
            break;
        case Shape::exchange:
            for (std::size_t j = i + 1; j < layout.n; ++j)
                c.line(layout.at(static_cast<double>(i)), layout.at(static_cast<double>(j)),
                       mark.color.alpha(0.35f), 1, mark.dash);
            break;
        default:
            if (i + 1 == layout.n && !wraps) break;
            c.line(layout.at(static_cast<double>(i)), layout.at(static_cast<double>((i + 1) % layout.n)),
                   mark.color, 1.5f, gap ? Dash::dotted : mark.dash);
        }
    }
}

// Returns the pieces that go round, if each is distinct: all members are shown, and each step moves one.
std::optional<RingPart> ring_part(const Operation& op, const CollectivePhase& phase, std::size_t shown) {
    if (phase.steps != phase.ranks - 1 || static_cast<std::int64_t>(shown) != phase.ranks)
        return std::nullopt;
    switch (phase.shape) {
    case Shape::ring_reduce: return RingPart::reduce;
    case Shape::ring_gather:
        return op.collective == Collective::all_reduce ? RingPart::after_reduce : RingPart::gather;
    case Shape::exchange: return RingPart::exchange;
    default: return std::nullopt;
    }
}

// Draws the chunks that move in the running step: all ranks send at once. Each has the number of its piece.
void draw_chunks(Ui& ui, const Layout& layout, const Operation& op, const CollectivePhase& phase,
                 const Instant& now, Color color) {
    Canvas& c = ui.canvas();
    if (now.step >= phase.steps) return;
    for (std::size_t i = 0; i < layout.n; ++i) {
        const Vec2 from = layout.at(static_cast<double>(i));
        Vec2 to = layout.center;
        float k = now.share;
        switch (phase.shape) {
        case Shape::switch_up: break;
        case Shape::switch_down: k = 1 - k; break;
        case Shape::exchange:
            to = layout.at(static_cast<double>((i + 1 + static_cast<std::size_t>(now.step) % (layout.n - 1))
                                               % layout.n));
            break;
        default: to = layout.at(static_cast<double>((i + 1) % layout.n));
        }
        if (phase.shape == Shape::pass && i + 1 == layout.n) continue;
        const Vec2 at = between(from, to, k);
        c.box({at.x - 5, at.y - 5, 10, 10}, color, ui.theme().window, 1, 2);
        if (const auto part = ring_part(op, phase, layout.n); part && now.share > 0.1f) {
            const std::string piece =
                std::to_string(piece_sent(*part, phase.ranks, static_cast<std::int64_t>(i), now.step));
            c.text({at.x + 8, at.y - 8}, piece, ui.style(11));
        }
    }
}

// Says what a rank brings to a call, or has after it.
std::string buffer_text(const Operation& op) {
    const std::string all = traffic_text(op.message_bytes),
                      part = traffic_text(op.message_bytes / static_cast<double>(op.group_size));
    switch (op.collective) {
    case Collective::all_gather: return part + " from each rank, " + all + " together";
    case Collective::reduce_scatter: return all + " a rank, of which each keeps the sum of " + part;
    case Collective::all_reduce:
    case Collective::all_to_all:
    case Collective::send_recv: break;
    }
    return all + " a rank";
}

// Returns the pieces that a rank holds whole (gather) or has in its sum (reduce), as a share of all.
double held(const CollectivePhase& p, const Instant& now) {
    if (p.shape == Shape::pass || p.shape == Shape::switch_up)
        return static_cast<double>(now.step) / static_cast<double>(p.steps);
    return static_cast<double>(now.step + 1) / static_cast<double>(p.steps + 1);
}

// Draws a cell for each piece: as high as the member's share of it.
void draw_pieces(Ui& ui, Rect row, RingPart part, std::int64_t n, std::int64_t member, std::int64_t steps,
                 Color color) {
    const float w = row.w / static_cast<float>(n);
    for (std::int64_t q = 0; q < n; ++q) {
        const Rect cell{row.x + w * static_cast<float>(q), row.y, std::max(1.0f, w - 1), row.h};
        ui.canvas().rect(cell, mix(ui.theme().panel, ui.theme().secondary, 0.25f));
        const auto h = static_cast<float>(piece_held(part, n, member, q, steps)) * cell.h;
        if (h > 0) ui.canvas().rect({cell.x, cell.bottom() - h, cell.w, h}, color);
    }
}

void draw_nodes(Ui& ui, const Layout& layout, const Scene& scene, const Operation& op,
                const CollectivePhase& phase, const Instant& now, const Members& m, Color color) {
    Canvas& c = ui.canvas();
    for (std::size_t i = 0; i < layout.n; ++i) {
        const Vec2 p = layout.at(static_cast<double>(i));
        const std::string label = thousands(m.rank[i]);
        const float w = std::max(34.0f, c.text_width(label, ui.small()) + 12);
        const Rect box{p.x - w / 2, p.y - 13, w, 27};
        c.rect(box, ui.theme().panel, 4);
        if (const auto part = ring_part(op, phase, layout.n))
            draw_pieces(ui, {box.x + 2, box.bottom() - 8, box.w - 4, 7}, *part, phase.ranks,
                        static_cast<std::int64_t>(i), now.step, color);
        else
            c.rect({box.x, box.bottom() - 5, box.w * static_cast<float>(held(phase, now)), 5},
                   phase.shape == Shape::ring_reduce || phase.shape == Shape::switch_up ? color.alpha(0.55f)
                                                                                        : color,
                   1);
        const bool own = m.rank[i] == scene.selection.rank;
        c.frame(box, own ? ui.theme().text : ui.theme().secondary, own ? 2.0f : 1.0f, 4);
        c.text_in({box.x, box.y, box.w, 19}, label, ui.style(12), Align::center);
    }
    if (phase.shape == Shape::switch_up || phase.shape == Shape::switch_down) {
        const Rect box{layout.center.x - 30, layout.center.y - 12, 60, 24};
        c.rect(box, ui.theme().raised, 4);
        c.text_in(box, "switch", ui.small(), Align::center);
    }
}

Film film_of(std::int64_t steps) {
    const auto end = static_cast<double>(steps);
    const auto after = [end](double at) { return std::min(std::floor(at) + 1, end); };
    return {.end = end, .telling = 0, .a_second = 1 / kStep_s, .after = after, .before = {}};
}

void controls(Ui& ui, Rect row, Playback& played, const Film& film) {
    if (ui.button("comm.ring.play", row.cut_left(64), played.playing ? "pause" : "play"))
        play_or_pause(ui, played, film);
    row.cut_left(6);
    if (ui.button("comm.ring.step", row.cut_left(56), "step", 0, played.at < film.end))
        step_film(played, film, 1);
    row.cut_left(6);
    if (ui.button("comm.ring.restart", row.cut_left(64), "restart", 0, played.at > 0)) played = {.at = 0};
}

void draw_words(Ui& ui, Rect room, const Scene& scene, const Operation& op, const CommRingState& state,
                const Instant& now) {
    Canvas& c = ui.canvas();
    const CollectivePhase& p = (*state.phases)[now.phase];
    const auto line = [&](const std::string& text, const TextStyle& s) {
        const float h = c.paragraph_height(room.w, text, s, 18);
        if (h > room.h + 2) return;
        room.cut_top(c.paragraph(room, text, s, 18));
    };
    const std::string kind(words_of(op.collective));
    line(std::string(words_of(op.what)), ui.style(12, Tone::text, Face::semibold));
    line(kind + " over " + thousands(op.group_size) + ", " + buffer_text(op) + ", "
             + plural(std::llround(op.count_per_step), "call", "calls") + " a step",
         ui.small());
    line(std::string(name_of(p.shape)) + " of " + thousands(p.ranks) + ": step "
             + thousands(std::min(now.step + 1, p.steps)) + " of " + thousands(p.steps),
         ui.style(12));
    line(traffic_text(p.chunk_bytes) + " from each rank over " + tier_label(scene.plan.cluster, p.tier) + ", "
             + time_text(p.step_s) + " a step",
         ui.small());
    if (!scene.plan.cluster.tiers[static_cast<std::size_t>(p.tier)].torus.empty())
        line("On a torus all links work at once: a step is shown as the mean of theirs.", ui.small());
    line((now.passed_s > 0 ? time_text(now.passed_s) : std::string("0")) + " of " + time_text(op.call_s),
         ui.small());
    if (ring_part(op, p, static_cast<std::size_t>(std::min(p.ranks, kMostShown))))
        line(
            p.shape == Shape::ring_reduce ? "A cell in each box is a piece, as high as the share of ranks in "
                                            "its sum; beside what travels stands its piece."
            : p.shape == Shape::exchange
                ? "A cell in each box is what one rank had for it; beside what travels stands whom it is for."
                : "A cell in each box is a piece, full where the rank has it; beside what travels stands its "
                  "piece.",
            ui.small());
}

}  // namespace

void draw_ring(Ui& ui, Rect room, Scene& scene, CommRingState& state, std::uint64_t revision) {
    Canvas& c = ui.canvas();
    const int chosen = operation_of(scene);
    if (chosen < 0) {
        c.text_in(room, "Nobody talks on this axis.", ui.small(), Align::center);
        return;
    }
    const Operation& op = scene.evaluation.comm.operations[chosen];
    const auto make = [&] { return collective_phases(scene.plan, scene.evaluation, op); };
    if (state.phases.update({revision, chosen}, make)) state.played = {.at = 0};
    if (state.phases->empty()) return;
    const Film film = film_of(steps_of(*state.phases));
    play_on(ui, state.played, film);
    const Instant now = instant_of(state);
    const CollectivePhase& phase = (*state.phases)[now.phase];
    const bool beside = room.w > room.h * 1.3f;
    const bool slender = beside && room.w < 420;  // the controls over both
    if (slender && !ui.state().for_picture) {
        controls(ui, room.cut_top(26), state.played, film);
        room.cut_top(6);
    }
    Rect words = beside ? room.cut_right(std::min(270.0f, room.w * 0.45f)) : room.cut_bottom(124);
    if (beside) room.cut_right(16);
    if (!ui.state().for_picture && !slender) controls(ui, words.cut_top(26), state.played, film);
    if (!slender) words.cut_top(6);
    draw_words(ui, words, scene, op, state, now);
    const Members members = members_of(scene, op, phase);
    const Color color = color_of(ui.theme(), op.group);
    const Layout layout{room.center(), std::max(20.0f, std::min(room.w / 2 - 30, 220.0f)),
                        std::max(20.0f, std::min(room.h / 2 - 16, 160.0f)), members.rank.size()};
    if (ui.area("comm.ring", room, 0, true, false).hovered)
        ui.tooltip("rank " + thousands(members.rank.front()) + "'s group on " + axis_label(op.group)
                   + "\nSelect a GPU in the mesh for its own group; a row of the table for another call.");
    draw_links(ui, layout, scene, phase, members);
    draw_chunks(ui, layout, op, phase, now, color);
    draw_nodes(ui, layout, scene, op, phase, now, members, color);
    if (!members.all)
        c.text_in({layout.center.x - 80, layout.center.y - 9, 160, 18},
                  thousands(static_cast<std::int64_t>(members.rank.size())) + " of " + thousands(phase.ranks)
                      + " shown",
                  ui.small(), Align::center);
}

}  // namespace pentamesh::ui
