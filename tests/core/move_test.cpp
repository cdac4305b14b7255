#include "core/base/files.h"
#include "core/evaluate.h"
#include "core/sharding/move.h"
#include "core/sharding/placement.h"
#include "tests/core/bare_plan.h"
#include "tests/core/valid_plan.h"
#include "tests/near.h"
#include "tests/sanitized.h"

#include <algorithm>
#include <array>
#include <doctest/doctest.h>
#include <map>
#include <numeric>
#include <random>
#include <set>
#include <string>
#include <tuple>
#include <vector>

using namespace pentamesh;
using pentamesh::test::near;

namespace {

// Makes a model small enough that each number is looked at.
Plan small_plan(bool experts) {
    Plan p = test::valid_plan(experts ? test::moe_model() : test::dense_model());
    Model& m = p.model;
    m.name = "small";
    m.layers = 4, m.hidden = 12, m.heads = 4, m.kv_heads = 2, m.head_dim = 3, m.ffn = 20, m.vocab = 29;
    m.vocab_multiple = 2;
    if (experts) m.moe->experts = 6, m.moe->top_k = 2, m.moe->expert_ffn = 5;
    p.cluster.tiers = {{"NVLink", LinkKind::nvlink, 4, 450e9, 1e-6, 1},
                       {"InfiniBand", LinkKind::ib, 8, 50e9, 5e-6, 1},
                       {"spine", LinkKind::ib, 0, 50e9, 5e-6, 4}};
    return p;
}

std::int64_t gpus_of(const Layout& l) {
    return l.tp * l.cp * l.pp * l.dp_shard * l.dp_replicate.value_or(1);
}

// Returns a number of the list.
std::int64_t pick(std::mt19937& random, const std::vector<std::int64_t>& of) {
    return of[std::uniform_int_distribution<std::size_t>(0, of.size() - 1)(random)];
}

void choose_layout(std::mt19937& random, Plan& p) {
    Layout& l = p.layout;
    do {
        l = Layout{};
        l.tp = pick(random, {1, 2, 4});
        l.cp = pick(random, {1, 1, 2});
        l.pp = pick(random, {1, 2, 4});
        l.dp_shard = pick(random, {1, 2, 3, 4});
        l.dp_replicate = pick(random, {1, 2});
        l.zero = static_cast<int>(pick(random, {0, 1, 2, 3}));
        if (l.pp == 2 && pick(random, {0, 1}) == 1) l.virtual_stages = 2, l.schedule = Schedule::interleaved;
        if (p.model.moe) l.etp = 1, l.ep = pick(random, {1, 2, 3});
        std::shuffle(l.order.begin(), l.order.end() - 1, random);
        if (!p.model.moe) std::shuffle(l.order.begin(), l.order.end(), random);
    } while (gpus_of(l) > 32 || (p.model.moe && gpus_of(l) / l.pp % l.ep != 0));
    p.cluster.gpus = gpus_of(l);
}

// Names a number of a state of a tensor of a layer.
using NumberName = std::tuple<std::size_t, std::int64_t, std::int64_t>;  // placement, layer, place

// Holds what each GPU has, and how many bytes each number has.
struct Holdings {
    std::vector<std::set<NumberName>> of_rank;
    std::vector<Placement> placements;
};

// Adds the numbers of a part, one by one, by their place in the unpadded tensor.
void add_numbers(const Model& model, std::size_t i, const Placement& p, const Part& part, std::int64_t layer,
                 std::set<NumberName>& out) {
    const bool padded = p.id == TensorId::embedding || p.id == TensorId::head || p.id == TensorId::head_bias;
    const std::int64_t rows = padded ? model.vocab : p.shape[1];
    std::int64_t n = 0;
    for (std::int64_t e = part.box[0].begin; e < part.box[0].end; ++e)
        for (std::int64_t r = part.box[1].begin; r < part.box[1].end; ++r)
            for (std::int64_t c = part.box[2].begin; c < part.box[2].end; ++c, ++n)
                if (n >= part.flat.begin && n < part.flat.end && r < rows)
                    out.insert({i, layer, (e * rows + r) * p.shape[2] + c});
}

Holdings holdings_of(const Plan& plan, const Mesh& mesh, bool optimizer) {
    Holdings h;
    h.placements = list_placements(plan, mesh, TensorState::parameters, Moment::at_rest);
    if (optimizer)
        for (const Placement& p : list_placements(plan, mesh, TensorState::optimizer, Moment::at_rest))
            h.placements.push_back(p);
    const LayerTypes types = layer_types(plan.model);
    for (std::int64_t rank = 0; rank < mesh.world; ++rank) {
        std::set<NumberName>& own = h.of_rank.emplace_back();
        const RankContents contents = contents_of(plan, mesh, rank);
        for (std::size_t i = 0; i < h.placements.size(); ++i) {
            const Placement& p = h.placements[i];
            const Part part = part_of(plan, mesh, p, rank);
            if (!part.held) continue;
            if (p.place == Place::embedding || p.place == Place::head || p.place == Place::mtp) {
                add_numbers(plan.model, i, p, part, -1, own);
                continue;
            }
            for (const RankChunk& chunk : contents.chunks)
                for (std::int64_t l = chunk.layers.begin; l < chunk.layers.end; ++l)
                    if (has(p.types, type_of_layer(plan.model, types, l)))
                        add_numbers(plan.model, i, p, part, l, own);
            if (has(p.types, types.mtp))
                for (std::int64_t l = 0; l < contents.mtp_layers; ++l)
                    add_numbers(plan.model, i, p, part, plan.model.layers + l, own);
        }
    }
    return h;
}

double bytes_in(const Holdings& of, const std::set<NumberName>& numbers) {
    double bytes = 0;
    for (const NumberName& n : numbers) bytes += of.placements[std::get<0>(n)].bytes_per_number;
    return bytes;
}

// Returns the bytes that cross into domains of so many GPUs: of each what its GPUs need and do not have.
double crossing(const Holdings& a, const Holdings& b, std::int64_t first, std::int64_t domain) {
    const auto world = static_cast<std::int64_t>(b.of_rank.size());
    double bytes = 0;
    for (std::int64_t gpu = first / domain * domain; gpu < first + world; gpu += domain) {
        std::set<NumberName> missing;
        for (std::int64_t g = std::max(gpu, first); g < std::min(gpu + domain, first + world); ++g)
            missing.insert(b.of_rank[static_cast<std::size_t>(g - first)].begin(),
                           b.of_rank[static_cast<std::size_t>(g - first)].end());
        for (std::int64_t g = gpu; g < gpu + domain && g < static_cast<std::int64_t>(a.of_rank.size()); ++g)
            for (const NumberName& n : a.of_rank[static_cast<std::size_t>(g)]) missing.erase(n);
        bytes += bytes_in(b, missing);
    }
    return bytes;
}

// Checks the pieces of one rank: each number once, from a GPU that has it, and by wire as the sums say.
void check_pieces(const MoveEnd& a, const MoveEnd& b, const Move& m, const Holdings& had,
                  const Holdings& needed, std::int64_t rank) {
    const std::vector<MovePiece> pieces = pieces_of_rank(a, b, m.options, rank);
    MoveBytes sum;
    for (const MovePiece& p : pieces) {
        sum.needed += p.bytes;
        if (p.tier == MovePiece::kStays)
            sum.stays += p.bytes;
        else
            sum.over[static_cast<std::size_t>(p.tier)] += p.bytes;
        const std::size_t from = static_cast<std::size_t>(p.from);
        REQUIRE(from < (p.handed_on ? needed : had).of_rank.size());
        // The sender has numbers of this tensor that the rank needs.
        const auto& holds = (p.handed_on ? needed : had).of_rank[from];
        double common = 0;
        for (const NumberName& n : needed.of_rank[static_cast<std::size_t>(rank)]) {
            const Placement& of = needed.placements[std::get<0>(n)];
            const std::int64_t layer = std::get<1>(n);
            const bool listed = p.layers.empty()
                                    ? layer < 0
                                    : std::find(p.layers.begin(), p.layers.end(), layer) != p.layers.end();
            if (of.id == p.id && of.state == p.state && listed && holds.contains(n))
                common += of.bytes_per_number;
        }
        CHECK(common >= near(p.bytes));
    }
    const MoveBytes& own = m.of_rank[static_cast<std::size_t>(rank)];
    CHECK(sum.needed == near(own.needed));
    CHECK(sum.stays == near(own.stays));
    for (std::size_t t = 0; t < sum.over.size(); ++t)
        CHECK(sum.over[t] == test::within(own.over[t], 1e-9 * own.needed));
}

void check_move(const Plan& pa, const Plan& pb, const MoveOptions& options) {
    const Mesh ma = build_mesh(pa), mb = build_mesh(pb);
    const MoveEnd a{pa, ma}, b{pb, mb};
    const Move m = move_between(a, b, options);
    const Holdings had = holdings_of(pa, ma, options.optimizer),
                   needed = holdings_of(pb, mb, options.optimizer);
    double all = 0, stays = 0;
    for (std::int64_t r = 0; r < mb.world; ++r) {
        const auto i = static_cast<std::size_t>(r);
        const std::set<NumberName>& own = needed.of_rank[i];
        const double bytes = bytes_in(needed, own);
        std::set<NumberName> kept;
        if (m.first_gpu + r < ma.world)
            std::set_intersection(own.begin(), own.end(),
                                  had.of_rank[static_cast<std::size_t>(m.first_gpu + r)].begin(),
                                  had.of_rank[static_cast<std::size_t>(m.first_gpu + r)].end(),
                                  std::inserter(kept, kept.end()));
        CHECK(m.of_rank[i].needed == near(bytes));
        CHECK(m.of_rank[i].stays == near(bytes_in(needed, kept)));
        double over = 0;
        for (const double t : m.of_rank[i].over) {
            CHECK(t >= -1e-9 * bytes);
            over += t;
        }
        CHECK(m.of_rank[i].stays + over == near(bytes));
        all += bytes, stays += bytes_in(needed, kept);
    }
    CHECK(m.all.needed == near(all));
    CHECK(m.all.stays == near(stays));
    const double into_gpus = crossing(had, needed, m.first_gpu, 1),
                 into_nodes = crossing(had, needed, m.first_gpu, 4),
                 into_pods = crossing(had, needed, m.first_gpu, 8);
    CHECK(m.all.over[0] == near(into_gpus - into_nodes));
    CHECK(m.all.over[1] == near(into_nodes - into_pods));
    CHECK(m.all.over[2] == near(into_pods));
    double caused = 0, of_tensors = 0;
    for (const MoveCause c : all_of<MoveCause>()) {
        CHECK(m.by_cause[c] >= 0);
        caused += m.by_cause[c];
    }
    CHECK(caused == near(m.all.moved()));
    for (const MoveOfTensor& t : m.tensors) of_tensors += t.bytes.moved();
    CHECK(of_tensors == near(m.all.moved()));
    for (const std::int64_t r : {std::int64_t{0}, mb.world - 1}) check_pieces(a, b, m, had, needed, r);
}

}  // namespace

TEST_CASE("a move is what a map of every number says") {
    std::mt19937 random(20261130);
    const int rounds = test::kSanitized ? 12 : 120;
    int staying = 0, growing = 0;
    for (int round = 0; round < rounds; ++round) {
        Plan a = small_plan(round % 3 == 0);
        a.model.tied_embeddings = pick(random, {0, 1}) == 1;
        a.model.mtp_layers = pick(random, {0, 0, 1});
        a.model.qkv_bias = pick(random, {0, 1}) == 1;
        Plan b = a;
        choose_layout(random, a);
        choose_layout(random, b);
        const MoveOptions options{pick(random, {0, 1}) == 1, pick(random, {0, 0, 1}) == 1};
        CAPTURE(round);
        check_move(a, b, options);
        growing += b.cluster.gpus > a.cluster.gpus ? 1 : 0;
        staying += options.apart ? 0 : 1;
    }
    CHECK(growing > rounds / 5);
    CHECK(staying > rounds / 3);
}

TEST_CASE("nothing moves from a layout to itself") {
    for (const bool experts : {false, true}) {
        Plan p = small_plan(experts);
        p.layout.tp = 2, p.layout.pp = 2, p.layout.dp_shard = 4, p.cluster.gpus = 16;
        if (experts) p.layout.etp = 1, p.layout.ep = 2;
        const Mesh mesh = build_mesh(p);
        const Move m = move_between({p, mesh}, {p, mesh}, {.optimizer = true});
        CHECK(m.all.needed > 0);
        CHECK(m.all.moved() == 0);
        CHECK(m.bound_s == 0);
        CHECK(move_sentence(m, p.cluster.tiers).find("nothing moves") != std::string::npos);
    }
}

namespace {

// Returns the numbers that rank 1 of `to` shards reads of each rank of `from` shards, of the norm before the
// attention of one layer.
std::map<std::int64_t, double> reads_of_rank_1(std::int64_t length, std::int64_t from, std::int64_t to) {
    Plan a = test::valid_plan();
    a.model.layers = 1, a.model.hidden = length, a.model.heads = 2, a.model.kv_heads = 2;
    a.model.head_dim = length / 2, a.layout = Layout{}, a.layout.zero = 3, a.layout.dp_replicate = 1;
    Plan b = a;
    a.cluster.gpus = a.layout.dp_shard = from;
    b.cluster.gpus = b.layout.dp_shard = to;
    const Mesh ma = build_mesh(a), mb = build_mesh(b);
    std::map<std::int64_t, double> out;
    for (const MovePiece& p : pieces_of_rank({a, ma}, {b, mb}, {}, 1))
        if (p.id == TensorId::norm_attention) out[p.from] += p.bytes / bytes_of(b.training.parameters);
    return out;
}

}  // namespace

// pytorch/pytorch, test/distributed/checkpoint/test_planner.py: test_load_with_resharding loads 128 numbers
// in 8 shards into 4 and the other way round; test_load_with_world_size_diff_by_one loads 120 in 4 into 3.
TEST_CASE("a rank reads the shards that PyTorch's planner of checkpoints has it read") {
    using Reads = std::map<std::int64_t, double>;
    CHECK(reads_of_rank_1(128, 8, 4) == Reads{{2, 16}, {3, 16}});
    CHECK(reads_of_rank_1(128, 4, 8) == Reads{{0, 16}});
    CHECK(reads_of_rank_1(120, 4, 3) == Reads{{1, 20}, {2, 20}});
}

// Megatron-LM megatron/core/resharding/planner.py, _emit_lcm_block_ops: the width is cut into as many units
// as both sizes divide; unit g is in segment g / (units a segment) of either side.
TEST_CASE("slices of the width come from the ranks that Megatron's planner takes them from") {
    for (const auto& [from, to] : {std::pair(2, 4), {4, 2}, {4, 6}, {6, 4}, {8, 3}, {1, 6}}) {
        Plan a = test::valid_plan();
        a.model.layers = 1, a.model.heads = a.model.kv_heads = 24, a.model.head_dim = 16;
        a.model.hidden = 24 * 16, a.model.ffn = 24 * 64, a.model.vocab = 24 * 128;
        a.layout = Layout{}, a.layout.dp_replicate = 1;
        Plan b = a;
        a.cluster.gpus = a.layout.tp = from;
        b.cluster.gpus = b.layout.tp = to;
        const Mesh ma = build_mesh(a), mb = build_mesh(b);
        const std::int64_t units = std::lcm<std::int64_t>(from, to);
        const double unit =
            24.0 * 64 * 24 * 16 / static_cast<double>(units) * bytes_of(b.training.parameters);
        for (std::int64_t rank = 0; rank < to; ++rank) {
            std::map<std::int64_t, double> by_rule, found;
            for (std::int64_t u = 0; u < units / to; ++u)
                by_rule[(rank * (units / to) + u) / (units / from)] += unit;
            for (const MovePiece& p : pieces_of_rank({a, ma}, {b, mb}, {}, rank))
                if (p.id == TensorId::mlp_up) found[p.from] += p.bytes;
            CHECK(found == by_rule);
        }
    }
}

// Twice as wide and half as many stages, on nodes of 8: a GPU of B needs four pieces of the same size, of
// which it has one, one lies on the next GPU, and two on another node, of which its twin in the node brings
// one.
TEST_CASE("half the width and half the stages of 70B: what stays, and what each wire brings") {
    Plan a = test::bare_plan(test::kLlama70b, 8192);
    a.model.vocab = 128 * 8 * 125;  // no padding at any tp up to 8
    a.cluster = test::valid_plan().cluster;
    a.cluster.gpus = 256;
    a.cluster.tiers[1].domain = 0;
    a.layout.tp = 8, a.layout.pp = 4, a.layout.dp_shard = 8;
    Plan b = a;
    b.layout.tp = 4, b.layout.pp = 2, b.layout.dp_shard = 32;
    const Mesh ma = build_mesh(a), mb = build_mesh(b);
    const MoveEnd from{a, ma}, to{b, mb};
    const Move m = move_between(from, to);
    // A rank of A holds an eighth of the matrices of 20 layers, in bf16.
    const double layer = 8192.0 * 8192 * 2 + 2 * 8192.0 * 1024 + 3 * 8192.0 * 28672;
    const double quarter = layer * 20 / 8 * 2;
    const MoveBytes& first = m.of_rank[0];
    CHECK(first.stays == near(quarter, 0.08));  // and its slice of the embedding
    CHECK(first.over[1] == near(quarter, 0.01));
    CHECK(first.needed == near(4 * quarter, 0.08));
    // Six GPUs of a node moved to another quarter of the width: they keep norms only.
    for (const std::size_t r : {1, 2, 3, 4, 5, 6}) CHECK(m.of_rank[r].stays < 0.01 * quarter);
    CHECK(m.of_rank[7].stays == near(quarter, 0.08));
    CHECK(m.at_least_s[1] == near(m.mean().over[1] / 50e9, 0.1));
    CHECK(m.slowest == 1);
}

TEST_CASE("a cluster that grew: replicas get everything, once a node") {
    Plan a = small_plan(false);
    a.layout = Layout{}, a.layout.dp_replicate = 4, a.layout.zero = 0, a.cluster.gpus = 4;
    Plan b = a;
    b.layout.dp_replicate = 12, b.cluster.gpus = 12;
    const Mesh ma = build_mesh(a), mb = build_mesh(b);
    const Move m = move_between({a, ma}, {b, mb});
    const double model = m.of_rank[0].needed;
    CHECK(m.all.stays == near(4 * model));
    CHECK(m.by_cause[MoveCause::new_gpu] == near(8 * model));
    CHECK(m.all.over[0] == near(6 * model));  // three GPUs of each new node get it handed on
    CHECK(m.all.over[1] == near(model));      // node 1 is in the pod of node 0
    CHECK(m.all.over[2] == near(model));
    CHECK(m.at_least_s[2] == near(model / 4 / (50e9 / 4)));  // by all four GPUs of the node's pod
}

TEST_CASE("a trainer and those who sample lie apart: nothing stays") {
    Plan a = small_plan(false);
    a.layout = Layout{}, a.layout.tp = 2, a.layout.dp_replicate = 3, a.cluster.gpus = 6;
    Plan b = a;
    b.layout.tp = 4, b.layout.dp_replicate = 1, b.cluster.gpus = 4;
    const Mesh ma = build_mesh(a), mb = build_mesh(b);
    const Move m = move_between({a, ma}, {b, mb}, {.apart = true});
    CHECK(m.first_gpu == 8);  // the first node that A leaves free
    CHECK(m.all.stays == 0);
    CHECK(m.all.over[1] == 0);
    CHECK(m.all.over[0] + m.all.over[2] == near(m.all.needed));
}

TEST_CASE("plans between which there is no move say why, and what to do") {
    const Plan a = small_plan(false);
    Plan b = a;
    b.model.hidden = 24;
    const auto says = [](const std::string& text, std::string_view part) {
        return text.find(part) != std::string::npos;
    };
    CHECK(says(no_move_words(a, b, {}), "the same model"));
    CHECK_THROWS_AS(static_cast<void>(move_between({a, build_mesh(a)}, {b, build_mesh(b)})), Error);
    b = a;
    b.model.vocab_multiple = 64, b.model.name = "another name";
    CHECK(no_move_words(a, b, {}).empty());
    b = a;
    b.cluster.gpu.name = "another GPU";
    CHECK(says(no_move_words(a, b, {}), "--apart"));
    CHECK(no_move_words(a, b, {.apart = true}).empty());
    b = a;
    b.training.optimizer = Optimizer::muon;
    CHECK(no_move_words(a, b, {}).empty());
    CHECK(says(no_move_words(a, b, {.optimizer = true}), "training.optimizer"));
    b = a;
    b.layout.weight_shards = 2;
    CHECK(says(no_move_words(a, b, {}), "weight_shards"));
    b = a;
    b.layout.schedule = Schedule::dualpipe, b.layout.pp = 4;
    CHECK(says(no_move_words(a, b, {.optimizer = true}), "layout.schedule"));
}
