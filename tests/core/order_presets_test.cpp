#include "core/mesh/mesh.h"
#include "core/plan/edits.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <span>
#include <string>
#include <vector>

using namespace pentamesh;

namespace {

// Does arange(N).reshape(sizes): an array of ranks with named dimensions, outermost first, as numpy and
// torch.distributed's init_device_mesh lay it out.
struct Reshaped {
    std::vector<std::pair<std::string, std::int64_t>> dims;
    [[nodiscard]] std::int64_t world() const {
        std::int64_t n = 1;
        for (const auto& [name, size] : dims) n *= size;
        return n;
    }
    // Returns the ranks along the named dimensions together, for every value of the others; in canonical
    // order.
    [[nodiscard]] std::vector<std::vector<std::int64_t>> groups(const std::vector<std::string>& along) const {
        std::map<std::vector<std::int64_t>, std::vector<std::int64_t>> by_rest;
        for (std::int64_t rank = 0; rank < world(); ++rank) {
            std::vector<std::int64_t> rest;
            std::int64_t left = rank;
            for (std::size_t i = dims.size(); i-- > 0;) {
                const auto& [name, size] = dims[i];
                if (std::find(along.begin(), along.end(), name) == along.end()) rest.push_back(left % size);
                left /= size;
            }
            by_rest[rest].push_back(rank);
        }
        std::vector<std::vector<std::int64_t>> out;
        out.reserve(by_rest.size());
        for (const auto& entry : by_rest) out.push_back(entry.second);
        std::sort(out.begin(), out.end());
        return out;
    }
};

std::vector<std::vector<std::int64_t>> ours(const Mesh& mesh, GroupKind kind) {
    const std::vector<std::int64_t> flat = all_groups(mesh, kind);
    std::int64_t degree = 1;
    const GroupFactors factors = group_factors(mesh, kind);
    for (const Factor& f : factors.span()) degree *= f.size;
    std::vector<std::vector<std::int64_t>> out;
    for (auto it = flat.begin(); it != flat.end(); it += degree) out.emplace_back(it, it + degree);
    return out;
}

const OrderPreset& preset(std::string_view name) {
    for (const OrderPreset& p : order_presets())
        if (p.name == name) return p;
    FAIL("no order preset " << name);
    return order_presets().front();
}

// Returns a plan with tp 2, cp 3, pp 2, dp_shard 4, dp_replicate 2 (a framework without an axis has 1 there).
Plan plan_in(std::string_view name) {
    Plan p;
    p.layout.order = preset(name).order;
    p.layout.tp = 2, p.layout.cp = 3, p.layout.pp = 2, p.layout.dp_shard = 4, p.layout.dp_replicate = 2;
    return p;
}

}  // namespace

TEST_CASE("every order preset names each axis once and its source") {
    for (const OrderPreset& p : order_presets()) {
        CAPTURE(p.name);
        unsigned seen = 0;
        for (const Axis a : p.order) seen |= 1U << static_cast<unsigned>(a);
        CHECK(seen == 63);
        CHECK(!p.source.empty());
        CHECK(!p.stated.empty());
    }
}

TEST_CASE("an order is called what the first framework calls it that has it, any other one is custom") {
    const std::span<const OrderPreset> all = order_presets();
    for (const OrderPreset& p : all) {
        const auto first = std::ranges::find(all, p.order, &OrderPreset::order);
        CHECK(order_name(p.order) == first->name);
    }
    CHECK(order_name({Axis::pp, Axis::ep, Axis::tp, Axis::cp, Axis::dp_replicate, Axis::dp_shard})
          == "custom");
}

TEST_CASE("Megatron: pp outermost, then dp, cp, tp; with the mapping switch dp outermost") {
    const Mesh m = build_mesh(plan_in("Megatron"));
    const Reshaped r{{{"pp", 2}, {"dp", 8}, {"cp", 3}, {"tp", 2}}};
    CHECK(ours(m, GroupKind::tp) == r.groups({"tp"}));
    CHECK(ours(m, GroupKind::cp) == r.groups({"cp"}));
    CHECK(ours(m, GroupKind::dp) == r.groups({"dp"}));
    CHECK(ours(m, GroupKind::pp) == r.groups({"pp"}));
    CHECK(ours(m, GroupKind::dp_cp) == r.groups({"dp", "cp"}));
    CHECK(ours(m, GroupKind::mp) == r.groups({"tp", "pp"}));

    const Mesh switched = build_mesh(plan_in("Megatron tp-pp-dp"));
    const Reshaped s{{{"dp", 8}, {"pp", 2}, {"cp", 3}, {"tp", 2}}};
    CHECK(ours(switched, GroupKind::tp) == s.groups({"tp"}));
    CHECK(ours(switched, GroupKind::dp) == s.groups({"dp"}));
    CHECK(ours(switched, GroupKind::pp) == s.groups({"pp"}));
}

TEST_CASE("torchtitan: dense pp, dp_replicate, dp_shard, cp, tp; sparse pp, dp_replicate, efsdp, ep") {
    Plan p = plan_in("torchtitan");
    p.model.moe = Moe{};
    p.layout.ep = 6, p.layout.etp = 1;
    const Mesh m = build_mesh(p);
    REQUIRE(m.has_experts);
    const Reshaped dense{{{"pp", 2}, {"dp_replicate", 2}, {"dp_shard", 4}, {"cp", 3}, {"tp", 2}}};
    CHECK(ours(m, GroupKind::tp) == dense.groups({"tp"}));
    CHECK(ours(m, GroupKind::cp) == dense.groups({"cp"}));
    CHECK(ours(m, GroupKind::dp_shard) == dense.groups({"dp_shard"}));
    CHECK(ours(m, GroupKind::dp_replicate) == dense.groups({"dp_replicate"}));
    CHECK(ours(m, GroupKind::pp) == dense.groups({"pp"}));
    CHECK(ours(m, GroupKind::fsdp) == dense.groups({"dp_shard", "cp"}));
    const Reshaped sparse{{{"pp", 2}, {"dp_replicate", 2}, {"efsdp", 4 * 3 * 2 / 6}, {"ep", 6}}};
    CHECK(ours(m, GroupKind::ep) == sparse.groups({"ep"}));
    CHECK(ours(m, GroupKind::edp) == sparse.groups({"efsdp", "dp_replicate"}));
    CHECK(ours(m, GroupKind::edp_shard) == sparse.groups({"efsdp"}));
    CHECK(ours(m, GroupKind::edp_replicate) == sparse.groups({"dp_replicate"}));
    CHECK(ours(m, GroupKind::pp) == sparse.groups({"pp"}));
}

// Megatron-LM parallel_state.py: each expert data parallel group is cut into as many runs of neighbours as
// the distributed optimizer has instances (intra partial); the n-th members of all runs are a group (inter
// partial).
TEST_CASE("Megatron: instances of the distributed optimizer cut the experts' data parallelism into runs") {
    for (const std::int64_t etp : {1, 2})
        for (const std::int64_t ep : {2, 4})
            for (const std::int64_t pp : {1, 2})
                for (const std::int64_t instances : {2, 4}) {
                    Plan p;
                    p.model.moe = Moe{};
                    p.layout.order = preset("Megatron").order;
                    p.layout.tp = 2, p.layout.cp = 2, p.layout.pp = pp;
                    p.layout.dp_shard = 16 / instances, p.layout.dp_replicate = instances;
                    p.layout.etp = etp, p.layout.ep = ep;
                    const Mesh m = build_mesh(p);
                    REQUIRE(m.has_experts);
                    // The ranks are outermost first pp, edp, ep, etp.
                    const std::int64_t edp = 2 * 2 * 16 / (etp * ep), run = edp / instances;
                    const Reshaped whole{{{"pp", pp}, {"edp", edp}, {"ep", ep}, {"etp", etp}}};
                    std::vector<std::vector<std::int64_t>> intra, inter;
                    for (const std::vector<std::int64_t>& group : whole.groups({"edp"})) {
                        for (std::int64_t i = 0; i < instances; ++i)
                            intra.emplace_back(group.begin() + i * run, group.begin() + (i + 1) * run);
                        for (std::int64_t i = 0; i < run; ++i) {
                            std::vector<std::int64_t>& copies = inter.emplace_back();
                            for (std::int64_t k = 0; k < instances; ++k)
                                copies.push_back(group[static_cast<std::size_t>(k * run + i)]);
                        }
                    }
                    std::sort(intra.begin(), intra.end());
                    std::sort(inter.begin(), inter.end());
                    CHECK(ours(m, GroupKind::edp) == whole.groups({"edp"}));
                    CHECK(ours(m, GroupKind::edp_shard) == intra);
                    CHECK(ours(m, GroupKind::edp_replicate) == inter);
                }
}

TEST_CASE("accelerate: dp_replicate, dp_shard, cp, tp") {
    Plan p = plan_in("accelerate");
    p.layout.pp = 1;
    const Mesh m = build_mesh(p);
    const Reshaped r{{{"dp_replicate", 2}, {"dp_shard", 4}, {"cp", 3}, {"tp", 2}}};
    CHECK(ours(m, GroupKind::tp) == r.groups({"tp"}));
    CHECK(ours(m, GroupKind::cp) == r.groups({"cp"}));
    CHECK(ours(m, GroupKind::dp_shard) == r.groups({"dp_shard"}));
    CHECK(ours(m, GroupKind::dp_replicate) == r.groups({"dp_replicate"}));
    CHECK(ours(m, GroupKind::fsdp) == r.groups({"dp_shard", "cp"}));
}

TEST_CASE("nanotron: pp, dp, cp, tp below an outermost ep of 1") {
    const Mesh m = build_mesh(plan_in("nanotron"));
    const Reshaped r{{{"ep", 1}, {"pp", 2}, {"dp", 8}, {"cp", 3}, {"tp", 2}}};
    CHECK(ours(m, GroupKind::tp) == r.groups({"tp"}));
    CHECK(ours(m, GroupKind::cp) == r.groups({"cp"}));
    CHECK(ours(m, GroupKind::dp) == r.groups({"dp"}));
    CHECK(ours(m, GroupKind::pp) == r.groups({"pp"}));
}

TEST_CASE("picotron and Llama 3: dp, pp, cp, tp") {
    for (const char* name : {"picotron", "Llama 3"}) {
        const Mesh m = build_mesh(plan_in(name));
        const Reshaped r{{{"dp", 8}, {"pp", 2}, {"cp", 3}, {"tp", 2}}};
        CHECK(ours(m, GroupKind::tp) == r.groups({"tp"}));
        CHECK(ours(m, GroupKind::cp) == r.groups({"cp"}));
        CHECK(ours(m, GroupKind::pp) == r.groups({"pp"}));
        CHECK(ours(m, GroupKind::dp) == r.groups({"dp"}));
    }
}

TEST_CASE("DeepSpeed: pipe, data, model") {
    Plan p = plan_in("DeepSpeed");
    p.layout.cp = 1;
    const Mesh m = build_mesh(p);
    const Reshaped r{{{"pipe", 2}, {"data", 8}, {"model", 2}}};
    CHECK(ours(m, GroupKind::tp) == r.groups({"model"}));
    CHECK(ours(m, GroupKind::dp) == r.groups({"data"}));
    CHECK(ours(m, GroupKind::pp) == r.groups({"pipe"}));
}
