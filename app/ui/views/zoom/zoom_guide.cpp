// Shows the place in the zoom: breadcrumbs, a sentence, and the ladder of its levels.
#include "app/ui/kit/format.h"
#include "app/ui/kit/rows.h"
#include "app/ui/views/zoom/view.h"
#include "core/sharding/nesting.h"
#include "core/teach/captions.h"

#include <algorithm>
#include <array>
#include <optional>

namespace pentamesh::ui {

void draw_crumbs(Ui& ui, Rect row, Rect room, ZoomViewState& s) {
    Canvas& c = ui.canvas();
    const std::size_t n = s.path.size();
    std::vector<std::string> labels;
    float all = 0;
    for (std::size_t k = 0; k <= n; ++k) {
        labels.push_back(step_label(*s.nest, std::span(s.path).first(k)));
        all += c.text_width(labels.back(), ui.title()) + 18;
    }
    std::size_t from = 0;  // names without room are left out from the left, after the cluster
    while (all > row.w && from + 2 < n) all -= c.text_width(labels[++from], ui.title()) + 18;
    std::optional<NestPath> to;
    for (std::size_t k = 0; k <= n; ++k) {
        if (k > 0 && k <= from) continue;
        const bool last = k == n;
        TextStyle style = last ? ui.title() : ui.style(13, Tone::secondary);
        const float w = c.text_width(labels[k], style) + 1;
        const Rect box = row.cut_left(std::min(w, std::max(0.0f, row.w)));
        const Hit hit = ui.area("zoom.crumb", box, k);
        if (hit.hovered) style.color = ui.theme().text;
        c.text_in(box, labels[k], style);
        if (hit.focused) ui.focus_ring(box, 3);
        if (hit.clicked && !last)
            to = NestPath(s.path.begin(), s.path.begin() + static_cast<std::ptrdiff_t>(k));
        if (!last && row.w > 16)
            c.text_in(row.cut_left(17), k == 0 && from > 0 ? "…" : "›", ui.style(13, Tone::secondary),
                      Align::center);
    }
    if (to) fly(ui, room, s, *to);
}

// Says what is nested here, and what its parts send each other.
void draw_caption(Ui& ui, Rect row, const Scene& scene, const ZoomViewState& s) {
    Canvas& c = ui.canvas();
    std::string bold = product_text(*s.nest), plain;
    const std::size_t depth = s.path.size();
    if (depth < s.nest->levels.size()) {
        const NestLevel& l = s.nest->levels[depth];
        const GroupKind listed = group_listed_under(scene.evaluation, l.group);
        plain = axis_label(listed) + ": " + caption_of(scene.plan, scene.evaluation, listed).text();
    } else if (s.nest->mesh.world > 0) {
        const std::int64_t rank = first_rank_of(*s.nest, s.path);
        bold = "rank " + thousands(rank);
        const NestChildren inside = children_of(*s.nest, s.path);
        const std::vector<std::string> cuts = cut_sentences(*s.nest, tensors_at(*s.nest, s.path), rank);
        for (const std::string& cut : cuts) plain += (plain.empty() ? "" : "; ") + cut;
        if (cuts.empty() && inside.kind == NestKind::layer)
            plain = "holds " + plural(inside.count, "part", "parts") + " of the model, one after the other";
        if (cuts.empty() && inside.kind != NestKind::layer)
            plain = "what it holds of " + step_label(*s.nest, s.path) + ", in proportion";
    }
    bold += ".";
    write_left(ui, row, bold, ui.title(), 8);
    if (row.w > 40 && c.text_in(row, plain, ui.style(13, Tone::secondary)) && ui.hovers(row))
        ui.tooltip(bold + "\n" + plain);
}

namespace {

constexpr std::array<std::string_view, 3> kInside{"layers", "blocks of a layer", "its tensors"};

// Returns the name of a level of the ladder and what it is made of; 0 is the cluster.
std::pair<std::string, std::string> level_words(const Scene& scene, const Nest& nest, std::size_t k) {
    if (k == 0) return {"cluster", plural(scene.evaluation.mesh.world, "GPU", "GPUs")};
    if (k > nest.levels.size()) return {std::string(kInside[k - nest.levels.size() - 1]), ""};
    const NestLevel& l = nest.levels[k - 1];
    const bool by_axis = l.kind == NestKind::cp || l.kind == NestKind::tp || l.kind == NestKind::edp
                         || l.kind == NestKind::ep || l.kind == NestKind::etp;
    return {thousands(l.count) + " " + (by_axis ? axis_label(l.group) : std::string(name_of(l.kind)) + "s"),
            l.gpus > 1 ? "of " + plural(l.gpus, "GPU", "GPUs") : "one GPU each"};
}

// Returns the way to a level: deeper along the selected GPU, else through the first of everything.
NestPath path_to_level(const Nest& nest, NestPath path, std::size_t level, std::size_t place,
                       const NestPath& way) {
    const std::size_t levels = nest.levels.size();
    path.resize(std::min({path.size(), level, level > place ? levels : level}));
    while (path.size() < level) {
        const bool on_way = path.size() < way.size() && std::equal(path.begin(), path.end(), way.begin());
        path.push_back(on_way                  ? way[path.size()]
                       : path.size() == levels ? first_to_enter(children_of(nest, path))
                                               : 0);
    }
    return legal_path(nest, path);
}

void draw_level(Ui& ui, Rect row, const Scene& scene, const Nest& nest, std::size_t k, bool here) {
    constexpr float kTwoLines = 38;
    Canvas& c = ui.canvas();
    const bool mesh = k > 0 && k <= nest.levels.size(), high = row.h >= kTwoLines;
    if (mesh) ui.swatch({row.x, row.center().y - 6}, color_of_level(ui.theme(), nest, k - 1), 12);
    row.cut_left(20);
    if (mesh && high) {
        const GroupSummary& g = scene.evaluation.groups[nest.levels[k - 1].group];
        const TierMark mark = mark_of_tier(ui.theme(), scene.plan.cluster, g.slowest_tier);
        const Rect right = row.cut_right(78);
        ui.badge({right.x, right.center().y - 10, right.w, 20},
                 tier_label(scene.plan.cluster, g.slowest_tier), mark.color, mark.dash);
    }
    const auto [text, more] = level_words(scene, nest, k);
    const TextStyle style =
        here ? ui.title() : ui.style(13, k > nest.levels.size() ? Tone::secondary : Tone::text);
    if (high && !more.empty()) {
        c.text_in({row.x, row.center().y - 17, row.w, 17}, text, style);
        c.text_in({row.x, row.center().y, row.w, 17}, more, ui.small());
    } else {
        c.text_in(row, text, style);
    }
}

}  // namespace

// Draws the ladder from the cluster to a tensor, a level for each axis, with the current place.
void draw_ladder(Ui& ui, Rect side, Rect canvas, Scene& scene, ZoomViewState& s) {
    const std::size_t n = s.nest->levels.size() + 1 + kInside.size();
    ui.section(side.cut_top(20), "LEVELS");
    const float h = std::clamp(side.h / static_cast<float>(n + (scene.evaluation.mesh.has_experts ? 1 : 0)),
                               24.0f, 44.0f);
    std::optional<NestPath> to;
    const NestPath way = selected_path(scene, s);
    const std::size_t place = tensors_at(*s.nest, s.path).empty() ? s.path.size() : n - 1;
    for (std::size_t k = 0; k < n; ++k) {
        const Rect row = side.cut_top(h);
        if (side.h < -1) break;
        const Hit hit = ui.area("zoom.level", row, k);
        row_ground(ui, row.inset(0, 1), hit, k == place);
        draw_level(ui, row.inset(8, 0), scene, *s.nest, k, k == place);
        if (hit.clicked) to = path_to_level(*s.nest, s.path, k, place, way);
    }
    if (scene.evaluation.mesh.has_experts && side.h >= 34) {
        const std::int64_t ep = scene.evaluation.groups[GroupKind::ep].degree;
        ui.swatch({side.x + 8, side.y + 8}, color_of(ui.theme(), GroupKind::ep), 12);
        const std::string text =
            s.nest->fold == Fold::experts
                ? "The same GPUs, as the experts have them; attention has the dense fold."
                : "ep " + thousands(ep) + " folds the same GPUs anew for the experts.";
        ui.canvas().paragraph({side.x + 28, side.y + 4, side.w - 32, side.h}, text, ui.small(), 17);
    }
    if (to) fly(ui, canvas, s, *to);
}

}  // namespace pentamesh::ui
