// Writes PyTorch's DeviceMesh: init_device_mesh numbers ranks row by row, the last dimension fastest, so the
// outermost axis comes first. torch/distributed/device_mesh.py.
#include "core/interop/export_page.h"
#include "core/mesh/mesh.h"
#include "core/plan/names.h"

namespace pentamesh::interop {
namespace {

struct Dimension {
    std::string name;
    std::int64_t size = 1;
    GroupKind kind = GroupKind::tp;
};

// Returns the axes outermost first, without those of one rank.
std::vector<Dimension> dense_dimensions(const Mesh& mesh) {
    std::vector<Dimension> out;
    for (auto it = mesh.order.rbegin(); it != mesh.order.rend(); ++it)
        if (mesh.dense[*it].size > 1)
            out.push_back({std::string(pentamesh::name_of(*it)), mesh.dense[*it].size, group_of(*it)});
    if (out.empty()) out.push_back({"dp_shard", 1, GroupKind::dp_shard});
    return out;
}

// Returns the same ranks folded for the experts: etp in the place of tp, edp in those of both dp axes.
std::vector<Dimension> expert_dimensions(const Mesh& mesh) {
    std::vector<Dimension> out;
    for (auto it = mesh.order.rbegin(); it != mesh.order.rend(); ++it) {
        const std::int64_t size = mesh.expert[*it].size;
        if (size <= 1) continue;
        const char* name = *it == Axis::tp         ? "etp"
                           : *it == Axis::ep       ? "ep"
                           : *it == Axis::pp       ? "pp"
                           : *it == Axis::dp_shard ? "edp_shard"
                                                   : "edp_replicate";
        const GroupKind kind = *it == Axis::tp   ? GroupKind::etp
                               : *it == Axis::ep ? GroupKind::ep
                                                 : GroupKind::pp;
        out.push_back({name, size, kind});
    }
    return out;
}

std::string tuple_text(const std::vector<std::string>& items) {
    std::string out = "(";
    for (std::size_t i = 0; i < items.size(); ++i) out += (i > 0 ? ", " : "") + items[i];
    return out + (items.size() == 1 ? ",)" : ")");
}

std::string mesh_call_text(const std::vector<Dimension>& dimensions) {
    std::vector<std::string> sizes, names;
    for (const Dimension& d : dimensions) {
        sizes.push_back(number_text(d.size));
        names.push_back("\"" + d.name + "\"");
    }
    return "init_device_mesh(\"cuda\", " + tuple_text(sizes) + ", mesh_dim_names=" + tuple_text(names) + ")";
}

std::string ranks_text(const std::vector<std::int64_t>& ranks) {
    return python_text(Value(ranks));
}

// Writes all groups of a small world; the groups of the first and the last rank of a large one.
void check_of(const Mesh& mesh, const Dimension& d, std::string& text) {
    constexpr std::int64_t small_world = 256;
    text += "    \"" + d.name + "\": [";
    if (mesh.world <= small_world) {
        const std::vector<std::int64_t> all = all_groups(mesh, d.kind);
        for (std::size_t at = 0; at < all.size(); at += static_cast<std::size_t>(d.size)) {
            const auto begin = all.begin() + static_cast<std::ptrdiff_t>(at);
            text += (at > 0 ? ", " : "") + ranks_text({begin, begin + static_cast<std::ptrdiff_t>(d.size)});
        }
    } else {
        text += ranks_text(group_members(mesh, d.kind, 0)) + ", "
                + ranks_text(group_members(mesh, d.kind, mesh.world - 1));
    }
    text += "],\n";
}

}  // namespace

void export_device_mesh(Page& page) {
    const Plan& p = page.plan;
    const Mesh mesh = build_mesh(p);
    const std::vector<Dimension> dense = dense_dimensions(mesh);
    page.note("zero, schedule, sequence parallelism, model and batch: a mesh says ranks alone");
    std::string text =
        as_comment(head_lines(page)) + "from torch.distributed.device_mesh import init_device_mesh\n\n";
    text += "# Outermost axis first: the last one is that of neighbouring ranks.\nmesh = "
            + mesh_call_text(dense) + "\n";
    if (mesh.has_experts && !expert_dimensions(mesh).empty())
        text += "# The same ranks folded for the experts.\nexpert_mesh = "
                + mesh_call_text(expert_dimensions(mesh)) + "\n";
    text += "\n# Ranks that the plan puts into one group, as a check.\nexpected = {\n";
    for (const Dimension& d : dense) check_of(mesh, d, text);
    text += "}\n";
    if (mesh.has_experts) {
        text += "expected_experts = {\n";
        for (const Dimension& d : expert_dimensions(mesh))
            if (d.kind != GroupKind::pp) check_of(mesh, d, text);
        text += "}\n";
    }
    text += "\n\ndef groups_of(mesh, name):\n    axis = mesh.mesh_dim_names.index(name)\n"
            "    rows = mesh.mesh.movedim(axis, -1).reshape(-1, mesh.mesh.size(axis)).tolist()\n"
            "    return sorted(sorted(row) for row in rows)\n\n\n"
            "for name, groups in expected.items():\n    found = groups_of(mesh, name)\n"
            "    assert all(group in found for group in groups), (name, groups)\n";
    if (mesh.has_experts)
        text += "for name, groups in expected_experts.items():\n    found = groups_of(expert_mesh, name)\n"
                "    assert all(group in found for group in groups), (name, groups)\n";
    page.out.text = std::move(text);
}

}  // namespace pentamesh::interop
