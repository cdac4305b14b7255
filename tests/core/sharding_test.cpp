#include "core/memory/memory.h"
#include "core/sharding/sharding.h"
#include "tests/core/bare_plan.h"
#include "tests/near.h"
#include "tests/sanitized.h"

#include <algorithm>
#include <doctest/doctest.h>
#include <random>
#include <set>

using namespace pentamesh;
using pentamesh::test::near;

namespace {

Plan small_dense_plan() {
    Plan p = test::bare_plan(test::kTinyModel, 64);
    p.model.layers = 8, p.model.vocab = 120;
    p.training.global_batch = 64;
    return p;
}

Plan small_moe_plan() {
    Plan p = small_dense_plan();
    p.model.moe = Moe{8, 2, 48, 1, 32, 1, 1, true, true, 0};
    p.layout.tp = 2;
    p.layout.etp = 1;
    p.layout.ep = 4;
    p.layout.pp = 2;
    p.layout.dp_shard = 4;
    return p;
}

const Placement& placement_named(const std::vector<Placement>& all, TensorId id) {
    const auto it = std::find_if(all.begin(), all.end(), [&](const Placement& p) { return p.id == id; });
    REQUIRE_MESSAGE(it != all.end(), name_of(id));
    return *it;
}

Plan random_sharded_plan(std::mt19937& random) {
    const auto pick = [&](std::initializer_list<std::int64_t> of) {
        return *(of.begin() + std::uniform_int_distribution<int>(0, static_cast<int>(of.size()) - 1)(random));
    };
    Plan p = pick({0, 1}) ? small_dense_plan() : small_moe_plan();
    Layout& l = p.layout;
    l.tp = pick({1, 2, 4, 8});
    l.cp = pick({1, 2, 3});
    l.pp = pick({1, 2, 4});
    l.dp_shard = pick({1, 2, 3, 4});
    l.dp_replicate = pick({1, 2});
    l.zero = static_cast<int>(pick({0, 1, 2, 3}));
    l.sequence_parallel = pick({0, 1});
    l.cp_comm = static_cast<CpComm>(pick({0, 1, 2}));
    p.model.kv_heads = pick({1, 2, 4, 8});
    p.model.qk_norm = static_cast<QkNorm>(pick({0, 1, 2}));
    p.model.attention_bias = pick({0, 1});
    p.model.tied_embeddings = pick({0, 1});
    p.model.mtp_layers = pick({0, 1});
    p.model.vocab = pick({120, 121});
    if (pick({0, 1})) {
        p.model.attention = AttentionKind::mla;
        p.model.mla = Mla{16, 8, 6, 2, 8};
    }
    if (p.model.moe) {
        l.etp = pick({1, 2});
        l.ep = pick({1, 2, 4});
        if ((l.tp * l.cp * l.dp_shard * *l.dp_replicate) % (*l.etp * l.ep) != 0) l.ep = *(l.etp = 1);
    }
    std::shuffle(l.order.begin(), l.order.end() - 1, random);  // pp stays outermost, so that experts fold
    return p;
}

}  // namespace

TEST_CASE("the parts of all ranks add up to the whole tensor times its copies") {
    std::mt19937 random(20240607);
    int folded = 0;
    const int rounds = test::kSanitized ? 20 : 300;
    for (int round = 0; round < rounds; ++round) {
        const Plan p = random_sharded_plan(random);
        const Mesh mesh = build_mesh(p);
        REQUIRE(mesh.world > 0);
        if (p.model.moe && !mesh.has_experts) continue;
        folded += mesh.has_experts;
        for (const TensorState state :
             {TensorState::parameters, TensorState::gradients, TensorState::optimizer})
            for (const Moment moment : {Moment::at_rest, Moment::computing})
                for (const Placement& x : list_placements(p, mesh, state, moment)) {
                    CAPTURE(name_of(x.id));
                    CAPTURE(name_of(state));
                    std::int64_t held = 0, stages = 0;
                    double most = 0;
                    for (std::int64_t s = 0; s < p.layout.pp; ++s) {
                        std::int64_t here = 0;
                        for (std::int64_t r = 0; r < mesh.world; ++r) {
                            if (dense_coordinates(mesh, r)[static_cast<std::size_t>(Axis::pp)] != s) continue;
                            const Part part = part_of(p, mesh, x, r);
                            if (!part.held) CHECK(part.numbers == 0);
                            here += part.numbers;
                            most = std::max(most, part.bytes);
                        }
                        stages += here > 0;
                        held += here;
                    }
                    std::int64_t copies = 1;
                    for (int a = 0; a < kAxisCount; ++a)
                        if (static_cast<Axis>(a) != Axis::pp)
                            copies *= x.axis[static_cast<std::size_t>(a)].copies();
                    CHECK(held == x.shape[0] * x.shape[1] * x.shape[2] * copies * stages);
                    CHECK(stages >= 1);
                    CHECK(most <= x.bytes_per_rank);
                }
    }
    CHECK(folded > rounds / 10);
}

TEST_CASE("at rest, a stage's tensors add up to the bytes that memory reports") {
    std::mt19937 random(7);
    for (int round = 0; round < 200; ++round) {
        Plan p = random_sharded_plan(random);
        p.model.vocab = 120;
        p.layout.zero =
            std::min(p.layout.zero, 2);  // rows do not always divide, flat shards do here or round up
        const Mesh mesh = build_mesh(p);
        if (p.model.moe && !mesh.has_experts) continue;
        Memory memory;
        compute_memory(p, mesh, std::vector<double>(static_cast<std::size_t>(p.layout.pp), 1.0), memory);
        REQUIRE_FALSE(memory.stage.empty());
        for (const StageMemory& s : memory.stage) {
            double sum = 0, tensors = 0;
            for (const Placement& x : list_placements(p, mesh, TensorState::parameters, Moment::at_rest)) {
                const double moe =
                    static_cast<double>(s.moe_layers) + (p.model.moe ? static_cast<double>(s.mtp_layers) : 0);
                const double all = static_cast<double>(s.layers + s.mtp_layers);
                const bool copy =
                    x.id == TensorId::embedding && s.head && (p.model.tied_embeddings || s.mtp_layers > 0);
                const double times = x.place == Place::embedding     ? (s.embedding || copy)
                                     : x.place == Place::head        ? s.head
                                     : x.place == Place::every_layer ? all
                                     : x.place == Place::moe_layer   ? moe
                                     : x.place == Place::dense_layer ? all - moe
                                                                     : static_cast<double>(s.mtp_layers);
                sum += x.bytes_per_rank * times;
                tensors += times;
            }
            CHECK(sum == s.parameters);
            CHECK(tensors > 0);
        }
    }
}

TEST_CASE("tp cuts QKV and up by rows, output and down by columns, norms not at all") {
    Plan p = small_dense_plan();
    p.layout.tp = 4;
    const Mesh mesh = build_mesh(p);
    const auto all = list_placements(p, mesh, TensorState::parameters, Moment::at_rest);
    CHECK(placement_named(all, TensorId::attention_q).on(Axis::tp)
          == AxisPlacement{Spread::cut, Dim::rows, 4, 4});
    CHECK(placement_named(all, TensorId::attention_output).on(Axis::tp)
          == AxisPlacement{Spread::cut, Dim::columns, 4, 4});
    CHECK(placement_named(all, TensorId::mlp_down).on(Axis::tp).dim == Dim::columns);
    CHECK(placement_named(all, TensorId::norm_mlp).on(Axis::tp).spread == Spread::copied);
    CHECK(part_of(p, mesh, placement_named(all, TensorId::attention_q), 2).box[1] == Range{32, 48});
    CHECK(part_of(p, mesh, placement_named(all, TensorId::mlp_down), 3).box[2] == Range{72, 96});
    // Megatron pads 120 rows to 128 for each rank.
    CHECK(part_of(p, mesh, placement_named(all, TensorId::embedding), 1).box[1] == Range{128, 256});
    p.model.vocab_multiple = 1;
    const auto plain = list_placements(p, mesh, TensorState::parameters, Moment::at_rest);
    CHECK(part_of(p, mesh, placement_named(plain, TensorId::embedding), 1).box[1] == Range{30, 60});
}

TEST_CASE("key and value heads fewer than tp are held by several ranks") {
    Plan p = small_dense_plan();
    p.layout.tp = 8;
    p.model.kv_heads = 2;
    const Mesh mesh = build_mesh(p);
    const auto all = list_placements(p, mesh, TensorState::parameters, Moment::at_rest);
    const Placement& k = placement_named(all, TensorId::attention_k);
    CHECK(k.on(Axis::tp).copies() == 4);
    for (std::int64_t r = 0; r < 8; ++r) {
        CHECK(part_of(p, mesh, k, r).box[1] == (r < 4 ? Range{0, 8} : Range{8, 16}));
        CHECK(contents_of(p, mesh, r).kv_heads.begin == r / 4);
    }
}

TEST_CASE("ZeRO-1 cuts the optimizer flat, ZeRO-3 cuts rows and gathers parameters to compute") {
    Plan p = small_dense_plan();
    p.layout.dp_shard = 4;
    p.layout.cp = 2;
    p.layout.zero = 1;
    Mesh mesh = build_mesh(p);
    CHECK(
        placement_named(list_placements(p, mesh, TensorState::parameters, Moment::at_rest), TensorId::mlp_up)
            .on(Axis::dp_shard)
            .spread
        == Spread::copied);
    auto all = list_placements(p, mesh, TensorState::optimizer, Moment::at_rest);
    CHECK(placement_named(all, TensorId::mlp_up).on(Axis::dp_shard).dim == Dim::flat);
    CHECK(placement_named(all, TensorId::mlp_up).on(Axis::cp).dim == Dim::flat);
    CHECK(part_of(p, mesh, placement_named(all, TensorId::mlp_up), 1).flat == Range{768, 1536});
    p.layout.zero = 3;
    mesh = build_mesh(p);
    all = list_placements(p, mesh, TensorState::parameters, Moment::at_rest);
    CHECK(part_of(p, mesh, placement_named(all, TensorId::mlp_up), 3).box[1] == Range{36, 48});
    all = list_placements(p, mesh, TensorState::parameters, Moment::computing);
    CHECK(part_of(p, mesh, placement_named(all, TensorId::mlp_up), 3).box[1] == Range{0, 96});
}

TEST_CASE("gradients wait to be summed while computing, over data and context parallelism") {
    Plan p = small_dense_plan();
    p.layout.tp = 2;
    p.layout.cp = 2;
    p.layout.dp_shard = 2;
    p.layout.dp_replicate = 2;
    p.layout.zero = 2;
    const Mesh mesh = build_mesh(p);
    const auto now = list_placements(p, mesh, TensorState::gradients, Moment::computing);
    for (const Axis a : {Axis::cp, Axis::dp_shard, Axis::dp_replicate})
        CHECK(placement_named(now, TensorId::mlp_up).on(a).spread == Spread::partial);
    CHECK(placement_named(now, TensorId::mlp_up).on(Axis::tp).spread == Spread::cut);
    CHECK(placement_named(now, TensorId::norm_mlp).on(Axis::tp).spread
          == Spread::partial);  // each rank its part of the sequence
    const auto rest = list_placements(p, mesh, TensorState::gradients, Moment::at_rest);
    CHECK(placement_named(rest, TensorId::norm_mlp).on(Axis::tp).spread == Spread::copied);
    CHECK(placement_named(rest, TensorId::mlp_up).on(Axis::dp_shard).spread == Spread::cut);
    CHECK(placement_named(rest, TensorId::mlp_up).on(Axis::dp_replicate).spread == Spread::copied);
}

TEST_CASE("experts go to ep ranks in order, each on the expert mesh") {
    const Plan p = small_moe_plan();
    const Mesh mesh = build_mesh(p);
    REQUIRE(mesh.has_experts);
    std::set<std::int64_t> seen;
    for (std::int64_t r = 0; r < mesh.world; ++r) {
        const RankContents c = contents_of(p, mesh, r);
        CHECK(c.experts.size() == 2);
        const auto ep = expert_coordinates(mesh, r)[static_cast<std::size_t>(Axis::ep)];
        for (std::int64_t e = c.experts.begin; e < c.experts.end; ++e) {
            seen.insert(e);
            CHECK(owner_of_expert(8, 4, e) == ep);
        }
    }
    CHECK(seen.size() == 8);
    const auto all = list_placements(p, mesh, TensorState::parameters, Moment::at_rest);
    CHECK(placement_named(all, TensorId::experts_up).expert);
    CHECK(placement_named(all, TensorId::experts_up).on(Axis::tp).spread == Spread::copied);  // etp is 1
    CHECK(placement_named(all, TensorId::experts_up).layers == 7);
    CHECK(placement_named(all, TensorId::router).on(Axis::tp).spread == Spread::copied);
}

TEST_CASE("head-tail context parallelism gives each rank two pieces, together all tokens once") {
    CHECK(sequence_of(64, 4, 0, CpComm::ring) == std::vector<Range>{{0, 8}, {56, 64}});
    CHECK(sequence_of(64, 4, 3, CpComm::allgather) == std::vector<Range>{{24, 40}});
    CHECK(sequence_of(64, 4, 1, CpComm::ulysses) == std::vector<Range>{{16, 32}});
    CHECK(sequence_of(64, 1, 0, CpComm::ring) == std::vector<Range>{{0, 64}});
    for (const CpComm comm : {CpComm::ring, CpComm::allgather, CpComm::ulysses})
        for (const std::int64_t length : {64, 61, 3}) {
            std::vector<int> seen(static_cast<std::size_t>(length), 0);
            for (std::int64_t i = 0; i < 4; ++i)
                for (const Range& r : sequence_of(length, 4, i, comm))
                    for (std::int64_t t = r.begin; t < r.end; ++t) ++seen[static_cast<std::size_t>(t)];
            CHECK(std::count(seen.begin(), seen.end(), 1) == length);
        }
}

TEST_CASE("sequence parallelism cuts what cp left, across the gap between its pieces") {
    Plan p = small_dense_plan();
    p.layout.tp = 2;
    p.layout.cp = 2;
    const Mesh mesh = build_mesh(p);
    const RankContents first = contents_of(p, mesh, 0), second = contents_of(p, mesh, 1);
    CHECK(first.sequence == std::vector<Range>{{0, 16}, {48, 64}});
    CHECK(first.sequence_between == std::vector<Range>{{0, 16}});
    CHECK(second.sequence_between == std::vector<Range>{{48, 64}});
}

TEST_CASE("activations: every token and width of a micro-batch slice is held, SP and cp cut the sequence") {
    for (const bool sp : {false, true}) {
        Plan p = small_dense_plan();
        p.layout.tp = 2;
        p.layout.cp = 2;
        p.layout.dp_shard = 2;
        p.layout.dp_replicate = 2;
        p.layout.sequence_parallel = sp;
        const Mesh mesh = build_mesh(p);
        for (const Placement& x : list_placements(p, mesh, TensorState::activations, Moment::at_rest)) {
            CAPTURE(name_of(x.id));
            std::int64_t held = 0, copies = 1;
            for (std::int64_t r = 0; r < mesh.world; ++r) {
                const Part part = part_of(p, mesh, x, r);
                held += part.numbers;
                CHECK(part.bytes == x.bytes_per_rank);
            }
            for (const AxisPlacement& a : x.axis) copies *= a.copies();
            CHECK(held == x.shape[0] * x.shape[1] * x.shape[2] * copies);
        }
        const auto all = list_placements(p, mesh, TensorState::activations, Moment::at_rest);
        CHECK(placement_named(all, TensorId::norm_mlp_input).on(Axis::tp).spread
              == (sp ? Spread::cut : Spread::copied));
        CHECK(placement_named(all, TensorId::mlp_up).on(Axis::tp).dim == Dim::width);
        const auto now = list_placements(p, mesh, TensorState::activations, Moment::computing);
        CHECK(placement_named(now, TensorId::mlp_projected).on(Axis::tp).spread == Spread::partial);
        CHECK(placement_named(now, TensorId::mlp_input).on(Axis::tp).spread == Spread::copied);
    }
}

TEST_CASE("dispatched tokens lie with their experts and add up to top_k copies of every token") {
    const Plan p = small_moe_plan();
    const Mesh mesh = build_mesh(p);
    const auto all = list_placements(p, mesh, TensorState::activations, Moment::at_rest);
    const Placement& x = placement_named(all, TensorId::experts_up);
    std::int64_t held = 0;
    for (std::int64_t r = 0; r < mesh.world; ++r) held += part_of(p, mesh, x, r).numbers;
    // 4 replicas of a 64-token sequence, 2 experts a token, 48 wide, on both stages.
    CHECK(held == 2 * 4 * 64 * 2 * 48);
    CHECK(x.on(Axis::ep).dim == Dim::experts);
    std::set<std::string_view> names;
    for (const Placement& y : all) CHECK_MESSAGE(names.insert(name_of(y.id)).second, name_of(y.id));
}

TEST_CASE("activations at rest add up to what memory counts for a layer") {
    for (const Plan& p : {small_dense_plan(), small_moe_plan()}) {
        const Mesh mesh = build_mesh(p);
        double sum = 0;
        for (const Placement& x : list_placements(p, mesh, TensorState::activations, Moment::at_rest))
            if (x.place == Place::every_layer
                || x.place == (p.model.moe ? Place::moe_layer : Place::dense_layer))
                sum += x.bytes_per_rank;
        Memory memory;
        compute_memory(p, mesh, std::vector<double>(static_cast<std::size_t>(p.layout.pp), 1.0), memory);
        CHECK(sum == memory.stage.back().activations_per_layer);
    }
}

TEST_CASE("a rank knows its layers under each placement of chunks") {
    Plan p = small_dense_plan();
    p.layout.pp = 2;
    p.layout.virtual_stages = 2;
    p.layout.schedule = Schedule::interleaved;
    RankContents c = contents_of(p, build_mesh(p), 1);
    REQUIRE(c.chunks.size() == 2);
    CHECK(c.chunks[0].layers == Range{2, 4});
    CHECK(c.chunks[1].layers == Range{6, 8});
    CHECK(c.head);
    p.layout.schedule = Schedule::zb_v;
    c = contents_of(p, build_mesh(p), 1);
    CHECK(c.chunks[1].layers == Range{4, 6});
    CHECK_FALSE(c.head);
    CHECK(contents_of(p, build_mesh(p), 0).head);
}

TEST_CASE("the imbalance of loads is the busiest rank's share over the mean's") {
    CHECK(imbalance_of({1, 1, 1, 1}, 2) == 1);
    CHECK(imbalance_of({3, 1, 1, 1}, 2) == near(4.0 / 3));
    CHECK(imbalance_of({3, 1, 1, 1}, 4) == near(2));
    CHECK(imbalance_of({8, 0, 0, 0}, 4) == 4);  // all tokens to one rank
    CHECK(imbalance_of({8, 0, 0, 0}, 1) == 1);
    CHECK(imbalance_of({0, 0}, 2) == 1);
    CHECK(imbalance_of({}, 4) == 1);
}
