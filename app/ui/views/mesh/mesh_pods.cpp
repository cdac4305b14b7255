// A group that spreads over pods: the line that joins them, how many of its GPUs each pod has, and what that
// says.
#include "app/ui/kit/format.h"
#include "app/ui/views/mesh/mesh_cells.h"
#include "app/ui/views/mesh/mesh_draw.h"
#include "app/ui/views/mesh/mesh_layout.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace pentamesh::ui {

namespace {

constexpr float kLeastWithShare = 48;      // width of a pod that says its share
constexpr float kUnder = 6, kPodLane = 3;  // from a pod's last cell to the first line, from line to line

bool crosses_pods(const MeshAxis& axis) {
    return axis.tier >= 2;
}

// Draws under each row of pods one line from the group's first GPU in it to its last. Returns true if there
// is one.
bool join_pods(Canvas& c, const Theme& theme, const MeshPlace& m, const MeshAxis& axis, std::int64_t rank,
               float lane) {
    const MeshLayout::Boxes& pod = m.layout.pod;
    const std::int64_t beside = m.grid.level[static_cast<std::size_t>(m.grid.levels) - 1].cols;
    const std::int64_t first = axis.first_of(rank);
    bool any = false;
    for (std::int64_t row = 0; row < pod.count; row += beside) {
        const std::int64_t begin = row * pod.size, end = std::min(row + beside, pod.count) * pod.size;
        const std::int64_t from = members_below(axis, rank, begin), to = members_below(axis, rank, end);
        if (from >= to) continue;
        const auto x_of = [&](std::int64_t member) {
            return m.node(axis.member(first, member) / m.layout.node.size).center().x;
        };
        // Members of one pod stand in a few columns: the line ends in the first pod and in the last.
        const float y = box_rect(pod, row, m.grid, m.zoom).bottom() + kUnder + kPodLane * lane;
        const std::array<Vec2, 2> line{Vec2{x_of(from), y}, Vec2{x_of(to - 1), y}};
        if (line[1].x - line[0].x <= 2) continue;
        draw_link(c, theme.window, line, axis.color, axis.mark.dash);
        any = true;
    }
    return any;
}

}  // namespace

std::int64_t members_below(const MeshAxis& axis, std::int64_t rank, std::int64_t end) {
    std::int64_t rest = end - axis.first_of(rank), below = 0, inner = axis.degree;
    if (rest <= 0) return 0;
    const auto factors = axis.factors.span();
    for (std::size_t i = factors.size(); i-- > 0;) {
        const Factor& f = factors[i];
        inner /= f.size;
        const std::int64_t whole = std::min(f.size, rest / f.stride);
        below += whole * inner;
        if (whole == f.size) return below;
        rest -= whole * f.stride;
    }
    return below + (rest > 0 ? 1 : 0);
}

const MeshAxis* crossing_pods(const MeshAxes& axes) {
    const MeshAxis* out = nullptr;
    for (const MeshAxis& a : axes.span())
        if (crosses_pods(a)) out = &a;
    return out;
}

std::string spread_over_pods(const MeshAxis& axis, std::int64_t rank, std::int64_t pod, std::int64_t pods) {
    struct Share {
        std::int64_t gpus = 0, pods = 0;
    };
    std::vector<Share> shares;
    for (std::int64_t i = 0; i < pods; ++i) {
        const std::int64_t n = members_in(axis, rank, i * pod, (i + 1) * pod);
        if (n == 0) continue;
        const auto same =
            std::find_if(shares.begin(), shares.end(), [n](const Share& s) { return s.gpus == n; });
        if (same == shares.end())
            shares.push_back({n, 1});
        else
            ++same->pods;
    }
    if (shares.empty() || shares.size() > 3) return {};
    std::string out;
    for (std::size_t i = 0; i < shares.size(); ++i) {
        out += i == 0 ? "" : i + 1 == shares.size() ? " and " : ", ";
        out += thousands(shares[i].gpus)
               + (shares[i].pods == 1 ? " in one" : " in each of " + thousands(shares[i].pods));
        if (i == 0) out += shares[i].pods == 1 ? " pod" : " pods";
    }
    return axis_label(axis.kind) + " group of rank " + thousands(rank) + ", " + thousands(axis.degree)
           + " GPUs: " + out;
}

std::string bracket_words(const MeshAxis& axis, std::int64_t rank, std::int64_t pod, std::int64_t pods) {
    constexpr std::int64_t kMostListed = 8;
    std::int64_t held = 0;
    std::string list;
    for (std::int64_t i = 0; i < pods; ++i) {
        const std::int64_t n = members_in(axis, rank, i * pod, (i + 1) * pod);
        if (n == 0) continue;
        ++held;
        list += (list.empty() ? "" : " + ") + thousands(n);
    }
    if (held < 2) return {};
    if (held > kMostListed) return spread_over_pods(axis, rank, pod, pods);
    return "one " + axis_label(axis.kind) + " group: " + thousands(axis.degree) + " GPUs in "
           + (held == pods ? "all " + thousands(pods) : thousands(held) + " of " + thousands(pods))
           + " pods, " + list;
}

void name_bracket(Ui& ui, const MeshPlace& m, const HighlightedGroups& highlighted) {
    const MeshAxis* axis = crossing_pods(highlighted.axes);
    if (!m.layout.has_pods || !highlighted.shown || axis == nullptr || under_pods(m.area.h) < kBracketWords)
        return;
    const std::string words = bracket_words(*axis, highlighted.rank, m.layout.pod.size, m.layout.pod.count);
    float lanes = 0;
    for (const MeshAxis& a : highlighted.axes.span()) lanes += crosses_pods(a) ? 1.0f : 0.0f;
    const float y =
        box_rect(m.layout.pod, m.layout.pod.count - 1, m.grid, m.zoom).bottom() + kUnder + kPodLane * lanes;
    const TextStyle style = ui.small();
    if (!words.empty() && ui.canvas().text_width(words, style) <= m.area.w)
        ui.canvas().text_in({m.area.x, y, m.area.w, 16}, words, style, Align::center);
}

void draw_shares(Canvas& c, const Theme& theme, const MeshPlace& m, const HighlightedGroups& highlighted,
                 std::int64_t gpus, float type) {
    const MeshAxis* axis = crossing_pods(highlighted.axes);
    if (!m.layout.has_pods || !highlighted.shown || axis == nullptr) return;
    float lane = 0;
    for (const MeshAxis& a : highlighted.axes.span())
        if (crosses_pods(a) && join_pods(c, theme, m, a, highlighted.rank, lane)) lane += 1;
    const MeshLayout::Boxes& pod = m.layout.pod;
    if (pod.full.x * m.zoom < kLeastWithShare) return;  // many pods: no text for each
    const std::int64_t beside = m.grid.level[static_cast<std::size_t>(m.grid.levels) - 1].cols;
    const TextStyle plain{Face::regular, type, theme.secondary, 0}, own{Face::semibold, type, theme.text, 0};
    const std::string of = " of " + thousands(axis->degree);
    for (std::int64_t i = 0; i < pod.count; ++i) {
        const std::int64_t n = members_in(*axis, highlighted.rank, i * pod.size, (i + 1) * pod.size);
        if (n == 0) continue;
        const Rect r = pod_rect(m, i);
        const TextStyle& style = i == highlighted.rank / pod.size ? own : plain;
        const float left =
            r.w - c.text_width(pod_name(c, m, i, gpus, type), {Face::regular, type, theme.text, 0}) - 16;
        // The first of each row says of how many, and the one that has the rank.
        std::string words = thousands(n) + (i % beside == 0 || &style == &own ? of : "");
        if (c.text_width(words, style) > left) words = thousands(n);
        const float w = c.text_width(words, style);
        // Clear of the next pod's name.
        if (w <= left) c.text({r.right() - w - 8, r.y - type - 5}, words, style);
    }
}

}  // namespace pentamesh::ui
