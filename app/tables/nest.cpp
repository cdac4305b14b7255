#include "app/tables/nest.h"

#include "core/sharding/nesting.h"
#include "core/teach/captions.h"

namespace pentamesh {

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
        t.rows.push_back({std::string(name_of(l.kind)), std::string(name_of(l.group)), cell(l.count),
                          cell(boxes), cell(l.gpus), cell(l.stride), k < path.size() ? cell(path[k]) : "",
                          caption_of(plan, evaluation, group_listed_under(evaluation, l.group)).text()});
    }
    const NestPath legal = legal_path(nest, path);
    if (nest.mesh.world <= 0 || legal.size() < nest.levels.size()) return t;
    const NestChildren inside = children_of(nest, legal);
    for (const NestItem& item : inside.items)
        t.rows.push_back({std::string(name_of(inside.kind)), "", "", "", "", "", item.label, ""});
    for (const std::string& cut : cut_sentences(nest, tensors_at(nest, legal), first_rank_of(nest, legal)))
        t.rows.push_back({"cut", "", "", "", "", "", cut, ""});
    return t;
}

}  // namespace pentamesh
