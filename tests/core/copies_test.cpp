// Compares which ranks keep the same parameters with the parts that the placements give each rank.
#include "core/sharding/sharding.h"
#include "tests/core/plans.h"

#include <doctest/doctest.h>
#include <map>
#include <tuple>

using namespace pentamesh;
using namespace pentamesh::test;

namespace {

// Returns all that a rank keeps, as text: equal where two ranks keep the same.
std::string kept_by(const Plan& plan, const Mesh& mesh, const std::vector<Placement>& all, std::int64_t rank,
                    bool experts) {
    const auto text = [](const Range& r) {
        return std::to_string(r.begin) + "-" + std::to_string(r.end) + " ";
    };
    const RankContents c = contents_of(plan, mesh, rank);
    std::map<std::int64_t, std::int64_t> layers;
    for (const RankChunk& k : c.chunks) layers[k.layers.begin] = k.layers.end;
    std::string out;
    for (const auto& [begin, end] : layers) out += text({begin, end});
    for (const Placement& p : all) {
        const Part part = part_of(plan, mesh, p, rank);
        if (p.expert != experts || !part.held) continue;
        out += std::string(name_of(p.id)) + " ";
        for (const Range& r : part.box) out += text(r);
        out += text(part.flat);
    }
    return out;
}

void check_copies(const Plan& plan) {
    const Mesh mesh = build_mesh(plan);
    REQUIRE(mesh.world > 0);
    const ParameterCopies copies = parameter_copies_of(plan, mesh);
    const auto all = list_placements(plan, mesh, TensorState::parameters, Moment::at_rest);
    const auto pp = mesh.dense[Axis::pp];
    for (const bool experts : {false, true}) {
        if (experts && !mesh.has_experts) continue;
        std::map<std::string, std::vector<std::int64_t>> same;
        for (std::int64_t r = 0; r < mesh.world; ++r) same[kept_by(plan, mesh, all, r, experts)].push_back(r);
        for (const auto& [what, ranks] : same) {
            const std::int64_t rank = ranks.front();
            std::vector<std::int64_t> said = ranks_over(experts ? copies.experts : copies.dense, rank);
            if (copies.stage_across) {
                const std::int64_t stage = rank / pp.stride % pp.size;
                const auto n = said.size();
                for (std::size_t i = 0; i < n; ++i)
                    said.push_back(said[i] + (pp.size - 1 - 2 * stage) * pp.stride);
                std::sort(said.begin(), said.end());
            }
            CHECK(said == ranks);
        }
    }
}

}  // namespace

TEST_CASE("the ranks that are said to keep the same parameters are those whose parts are equal") {
    Plan p = small_plan(64);
    p.layout.tp = 2, p.layout.cp = 2, p.layout.pp = 2, p.layout.dp_shard = 4, p.layout.dp_replicate = 2;
    for (const int zero : {0, 1, 2, 3}) {
        CAPTURE(zero);
        p.layout.zero = zero;
        check_copies(p);
    }
    p.layout.order = {Axis::tp, Axis::dp_shard, Axis::cp, Axis::ep, Axis::dp_replicate, Axis::pp};
    check_copies(p);
}

TEST_CASE("experts are copied over ranks of their own, and a pipeline that folds back holds each twice") {
    Plan p = small_plan(64);
    p.model = golden_model("mixtral-8x7b");
    p.layout.tp = 2, p.layout.etp = 1, p.layout.ep = 4, p.layout.pp = 2, p.layout.dp_shard = 8;
    p.layout.dp_replicate = 2;
    for (const int zero : {1, 3}) {
        CAPTURE(zero);
        p.layout.zero = zero;
        check_copies(p);
    }
    Plan folded = small_plan(32);
    folded.layout.pp = 4, folded.layout.dp_shard = 4, folded.layout.tp = 2;
    folded.layout.schedule = Schedule::dualpipe;
    folded.layout.zero = 1;
    check_copies(folded);
}
