#include "app/ui/views/mesh/mesh_parts.h"

#include "core/mesh/places.h"

#include "app/ui/kit/format.h"
#include "app/ui/views/mesh/mesh_axes.h"
#include "core/mesh/failure.h"
#include "core/teach/captions.h"

#include <algorithm>
#include <string>
#include <vector>

namespace pentamesh::ui {

namespace {

// Returns the cell that holds a rank, also where one stands for several.
Rect cell_of(const CellGrid& grid, std::int64_t rank) {
    return cell_rect(grid, rank / grid.step * grid.step);
}

void outline(Canvas& c, Rect cell, Color color, float width) {
    const float grow = std::max(0.0f, 5 - cell.w) / 2;  // a cell of two pixels is still found
    c.frame(cell.inset(-1.5f - grow), color, width, cell.w > 20 ? 3.0f : 0.0f);
}

// Says "tp stays inside NVLink, dp_shard and pp cross RoCE.": the axes by the slowest tier of their groups.
std::string where_all_lie(const Scene& scene) {
    const MeshAxes axes = axes_of({}, scene);
    const int tiers = static_cast<int>(scene.plan.cluster.tiers.size());
    std::string out;
    for (int tier = 0; tier < std::max(1, tiers); ++tier) {
        std::vector<std::string> names;
        for (const MeshAxis& a : axes.span())
            if (a.tier == tier) names.push_back(axis_label(a.kind));
        if (names.empty()) continue;
        out += out.empty() ? "" : ", ";
        for (std::size_t i = 0; i < names.size(); ++i)
            out += (i == 0 ? "" : i + 1 == names.size() ? " and " : ", ") + names[i];
        const bool one = names.size() == 1;
        out += tier == 0 ? (one ? " stays inside " : " stay inside ") : (one ? " crosses " : " cross ");
        out += tier_label(scene.plan.cluster, tier);
    }
    return out + ".";
}

// Says over what the groups of a rank spread: "tp in its node, pp over 16 nodes, dp_shard over 6 pods".
std::string spread_words(const Scene& scene, std::int64_t rank) {
    const Cluster& cluster = scene.plan.cluster;
    if (cluster.tiers.empty()) return "";
    const std::string node(domain_name(cluster));
    const bool pods = cluster.tiers.size() > 2;
    const auto boxes = [&](const MeshAxis& axis, std::int64_t size) {
        const std::int64_t first = axis.first_of(rank);
        std::int64_t count = 0, last = -1;
        for (std::int64_t i = 0; i < axis.degree; ++i)  // members ascend
            if (const std::int64_t box = axis.member(first, i) / size; box != last) last = box, ++count;
        return count;
    };
    std::string out;
    const MeshAxes axes = axes_of({}, scene);
    for (const MeshAxis& axis : axes.span()) {
        const std::int64_t nodes = boxes(axis, domain_of(cluster, 0));
        const std::int64_t in_pods = pods ? boxes(axis, domain_of(cluster, 1)) : 1;
        out += (out.empty() ? "" : ", ") + axis_label(axis.kind);
        if (in_pods > 1)
            out += " over " + thousands(in_pods) + " pods";
        else
            out += nodes == 1 ? " in its " + node : " over " + thousands(nodes) + " " + node + "s";
    }
    return out;
}

}  // namespace

MeshCaption mesh_caption(const Scene& scene) {
    if (scene.evaluation.mesh.world <= 1) return {"One GPU: no axis cuts anything, nobody to talk to.", ""};
    if (scene.selection.all_axes) {
        const std::int64_t rank = std::max<std::int64_t>(0, scene.selection.rank);
        return {where_all_lie(scene),
                scene.evaluation.mesh.world > kMostCards
                    ? "Lit: the groups of rank " + thousands(rank) + ": " + spread_words(scene, rank) + "."
                    : "A tile is a group inside a node; a line between nodes is one of those that cross."};
    }
    const AxisCaption c = caption_of(scene.plan, scene.evaluation, scene.selection.group);
    if (c.talk.empty()) return {c.where, ""};
    MeshCaption out{c.where + ".", c.talk};
    const AxisTraffic& t = scene.evaluation.comm.by_axis[scene.selection.group];
    if (t.sent_bytes_per_rank <= 0) return out;
    const Comm& comm = scene.evaluation.comm;
    out.plain +=
        ", " + traffic_text(t.sent_bytes_per_rank)
        + (comm.stages.devices > 1 ? " a step per GPU of stage " + std::to_string(comm.busiest_device)
                                   : std::string(" sent per GPU and step"));
    return out;
}

MeshCaption failure_caption(const Scene& scene, std::int64_t node) {
    const Failure f = lose_node(scene.plan, scene.evaluation.mesh, node);
    MeshCaption out;
    out.bold =
        "Without node " + thousands(node) + " " + plural(f.waiting, "other GPU waits.", "other GPUs wait.");
    for (const AxisFailure& a : f.axes)
        if (!is_expert(a.kind) || scene.selection.expert())
            out.plain += (out.plain.empty() ? "" : " · ") + axis_label(a.kind) + " " + thousands(a.groups_hit)
                         + " of " + thousands(a.groups) + " groups";
    out.plain +=
        f.state_survives ? " · every shard survives elsewhere" : " · the run goes back to its checkpoint";
    return out;
}

void draw_selected(Canvas& c, const Theme& theme, const Scene& scene, const CellGrid& grid) {
    const std::int64_t rank = scene.selection.rank;
    if (rank >= 0 && rank < scene.evaluation.mesh.world) outline(c, cell_of(grid, rank), theme.text, 2);
}

void draw_ranks(Canvas& c, const Theme& theme, const Selection& selection, const CellGrid& grid) {
    if (selection.topic != Selection::Topic::ranks) return;
    const auto& ranks = selection.ranks;
    for (std::size_t i = 0; i < ranks.size();) {
        if (ranks[i] >= grid.count) return;
        Rect frame = cell_of(grid, ranks[i]);
        // Neighbours in a row are one frame.
        for (++i; i < ranks.size() && ranks[i] == ranks[i - 1] + 1 && ranks[i] < grid.count; ++i) {
            const Rect next = cell_of(grid, ranks[i]);
            if (next.y != frame.y || next.x > frame.right() + next.w) break;
            frame.w = next.right() - frame.x;
        }
        outline(c, frame, theme.text, 2);
    }
}

std::string rank_tooltip(const Scene& scene, std::int64_t rank) {
    const Mesh& mesh = scene.evaluation.mesh;
    std::string s = "rank " + thousands(rank);
    if (rank >= mesh.world) return s + "\nidle: the layout uses " + thousands(mesh.world) + " GPUs";
    s += "\n" + place_of(scene.plan.cluster, rank);
    if (const std::string host = host_of(scene, rank); !host.empty()) s += ", " + host;
    const Coordinates at =
        scene.selection.expert() ? expert_coordinates(mesh, rank) : dense_coordinates(mesh, rank);
    const auto& factors = scene.selection.expert() ? mesh.expert : mesh.dense;
    static constexpr std::string_view kDense[] = {"tp", "cp", "ep", "dp_shard", "dp_replicate", "pp"};
    static constexpr std::string_view kExpert[] = {"etp", "cp", "ep", "edp", "edp outer", "pp"};
    for (std::size_t i = 0; i < factors.size(); ++i)
        if (factors[i].size > 1)
            s += "\n" + std::string(scene.selection.expert() ? kExpert[i] : kDense[i]) + " "
                 + thousands(at[i]) + " of " + thousands(factors[i].size);
    return s;
}

}  // namespace pentamesh::ui
