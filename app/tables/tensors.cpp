#include "app/tables/tensors.h"

#include "core/base/text.h"
#include "core/plan/names.h"
#include "core/sharding/nesting.h"
#include "core/sharding/placement_words.h"
#include "core/teach/captions.h"

namespace pentamesh {

std::string shape_text(const Placement& p, const std::array<std::int64_t, 3>& sizes) {
    std::string out;
    for (std::size_t i = 0; i < sizes.size(); ++i)
        if (p.dims[i] != Dim::none) out += (out.empty() ? "" : " × ") + with_commas(sizes[i]);
    return out.empty() ? "1" : out;
}

namespace {

// Returns "tp rows/8, dp_shard copy"; "whole on every GPU" where no axis divides it.
std::string placement_text(const Placement& p) {
    std::string out;
    for (int a = 0; a < kAxisCount; ++a) {
        const auto axis = static_cast<Axis>(a);
        const AxisPlacement& on = p.on(axis);
        if (on.size <= 1) continue;
        out += (out.empty() ? "" : ", ")
               + (p.expert && axis == Axis::tp ? std::string("etp") : std::string(name_of(axis))) + " "
               + (axis == Axis::pp && p.layers == 1 ? std::string("one stage")
                  : on.spread == Spread::cut ? std::string(name_of(on.dim)) + "/" + std::to_string(on.parts)
                                             : std::string(name_of(on.spread)));
    }
    return out.empty() ? "whole on every GPU" : out;
}

}  // namespace

Table tensors_table(std::span<const Placement> placements) {
    Table t;
    t.columns = {{"tensor", Shown::words, "name"},
                 {"layers", Shown::count},
                 {"shape"},
                 {"placement"},
                 {"on one GPU", Shown::words, "local_shape"},
                 {"there", Shown::traffic, "bytes_per_rank"}};
    for (const Placement& p : placements)
        t.rows.push_back({name_of(p.id), p.layers, shape_text(p, p.shape), placement_text(p),
                          shape_text(p, p.local), whole_cell(p.bytes_per_rank)});
    return t;
}

Table held_table(const Mesh& mesh, std::int64_t rank, std::span<const HeldTensor> tensors) {
    Table t;
    t.columns = {{"tensor"}, {"shape"}};
    std::vector<Axis> used;
    for (const Axis a : all_of<Axis>())
        if (axis_size(mesh, a) > 1) {
            used.push_back(a);
            t.columns.push_back({std::string(name_of(a))});
        }
    t.columns.push_back({"rank " + std::to_string(rank) + " holds"});
    t.columns.push_back({"there", Shown::memory, "bytes_there"});
    t.columns.push_back({"whole", Shown::memory, "bytes_whole"});
    for (const auto& [placement, part] : tensors) {
        Table::Row& row = t.rows.emplace_back();
        row = {name_of(placement.id), shape_words(placement)};
        for (const Axis a : used) row.push_back(spread_words(placement.on(a)));
        row.insert(row.end(),
                   {part_words(placement, part), whole_cell(part.bytes), whole_cell(placement.bytes_whole)});
    }
    return t;
}

Table nest_table(const Plan& plan, const Evaluation& evaluation, Fold fold, const NestPath& path) {
    Table t;
    t.columns = {{"level"},
                 {"axis"},
                 {"boxes in one box", Shown::count, "boxes_in_one"},
                 {"boxes", Shown::count},
                 {"GPUs in one", Shown::count, "gpus_in_one"},
                 {"ranks apart", Shown::count, "stride"},
                 {"here"},
                 {"what they say to each other", Shown::words, "caption"}};
    const Nest nest = nest_of(plan, evaluation.mesh, fold);
    std::int64_t boxes = 1;
    for (std::size_t k = 0; k < nest.levels.size(); ++k) {
        const NestLevel& l = nest.levels[k];
        boxes *= l.count;
        t.rows.push_back({name_of(l.kind), name_of(l.group), l.count, boxes, l.gpus, l.stride,
                          k < path.size() ? Cell(path[k]) : Cell(),
                          caption_of(plan, evaluation, group_listed_under(evaluation, l.group)).text()});
    }
    const NestPath legal = legal_path(nest, path);
    if (nest.mesh.world <= 0 || legal.size() < nest.levels.size()) return t;
    const NestChildren inside = children_of(nest, legal);
    for (const NestItem& item : inside.items)
        t.rows.push_back({name_of(inside.kind), "", "", "", "", "", item.label, ""});
    for (const std::string& cut : cut_sentences(nest, tensors_at(nest, legal), first_rank_of(nest, legal)))
        t.rows.push_back({"cut", "", "", "", "", "", cut, ""});
    return t;
}

}  // namespace pentamesh
