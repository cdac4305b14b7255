#include "core/sharding/placement.h"
#include "tests/core/bare_plan.h"
#include "tests/near.h"

#include <algorithm>
#include <doctest/doctest.h>

using namespace pentamesh;
using pentamesh::test::near;

namespace {

Plan small_plan_of(std::int64_t tp, std::int64_t cp, std::int64_t shard, int zero) {
    return test::bare_plan(test::kTinyModel, 64, tp, cp, shard, zero);
}

Placement tensor(const Plan& p, TensorId id, TensorState state = TensorState::parameters,
                 Moment moment = Moment::at_rest) {
    for (const Placement& x : list_placements(p, build_mesh(p), state, moment))
        if (x.id == id) return x;
    FAIL(name_of(id));
    return {};
}

TensorPieces pieces(const Plan& p, const Placement& x, bool coarse = false, std::int64_t rank = 0,
                    std::int64_t expert = 0) {
    TensorPieces out;
    pieces_of(p, build_mesh(p), x, rank, expert, coarse, 4096, out);
    return out;
}

std::int64_t covered(const TensorPieces& t) {
    std::int64_t n = 0;
    for (const IndexBox& b : t.box) n += b.numbers();
    return n;
}

}  // namespace

TEST_CASE("the pieces of all holders cover every number of a tensor once") {
    for (const int zero : {0, 1, 2, 3})
        for (const std::int64_t tp : {1, 2, 8})
            for (const std::int64_t cp : {1, 3})
                for (const std::int64_t shard : {1, 4})
                    for (const TensorState state : {TensorState::parameters, TensorState::gradients,
                                                    TensorState::optimizer, TensorState::activations})
                        for (const bool coarse : {false, true}) {
                            Plan p = small_plan_of(tp, cp, shard, zero);
                            p.training.sequence_length = 96;
                            const Mesh mesh = build_mesh(p);
                            for (const Placement& x : list_placements(p, mesh, state, Moment::at_rest)) {
                                CAPTURE(name_of(x.id));
                                CAPTURE(tp);
                                CAPTURE(cp);
                                CAPTURE(zero);
                                CHECK(covered(pieces(p, x, coarse)) == x.shape[1] * x.shape[2]);
                            }
                        }
}

TEST_CASE("tp cuts an output projection into columns, FSDP the rows of each") {
    const Plan p = small_plan_of(4, 1, 2, 3);
    const TensorPieces t = pieces(p, tensor(p, TensorId::attention_output));
    CHECK(t.piece.size() == 8);
    CHECK(t.by[static_cast<std::size_t>(Axis::tp)]);
    CHECK(t.by[static_cast<std::size_t>(Axis::dp_shard)]);
    // Three vertical lines of tp over the whole height, one horizontal of dp_shard over the whole width.
    const auto count = [&](Axis a) {
        return std::count_if(t.line.begin(), t.line.end(), [&](const CutLine& l) { return l.axis == a; });
    };
    CHECK(count(Axis::tp) == 3);
    CHECK(count(Axis::dp_shard) == 1);
    CHECK(std::find(t.line.begin(), t.line.end(), CutLine{Axis::tp, false, 16, 0, 64}) != t.line.end());
    CHECK(std::find(t.line.begin(), t.line.end(), CutLine{Axis::dp_shard, true, 32, 0, 64}) != t.line.end());
}

TEST_CASE("a flat cut that ends inside a row covers a step, not a band") {
    Plan p = small_plan_of(1, 1, 5, 1);
    const Placement x = tensor(p, TensorId::attention_k, TensorState::optimizer);  // 32 x 64 over 5: 410 each
    std::vector<IndexBox> boxes;
    boxes_of(x, part_of(p, build_mesh(p), x, 1), 0, boxes);
    REQUIRE(boxes.size() == 3);
    CHECK(boxes[0] == IndexBox{{6, 7}, {26, 64}});
    CHECK(boxes[1] == IndexBox{{7, 12}, {0, 64}});
    CHECK(boxes[2] == IndexBox{{12, 13}, {0, 52}});
    CHECK(share_of(x, boxes) == near(410.0 / 2048));
}

TEST_CASE("context parallelism's two pieces of the sequence belong to one holder") {
    const Plan p = small_plan_of(1, 4, 1, 0);
    const TensorPieces t = pieces(p, tensor(p, TensorId::attention_q, TensorState::activations));
    REQUIRE(t.piece.size() == 4);
    REQUIRE(t.piece[0].end - t.piece[0].first == 2);
    CHECK(t.box[0].rows == Range{0, 8});
    CHECK(t.box[1].rows == Range{56, 64});
    CHECK(t.piece[3].end - t.piece[3].first == 1);  // the two in the middle meet
    for (const CutLine& l : t.line) CHECK(l.axis == Axis::cp);
}

TEST_CASE("an expert's matrix is cut by etp inside the experts that ep deals") {
    Plan p = small_plan_of(2, 1, 4, 3);
    p.model.moe = Moe{8, 2, 48, 0, 0, 0, 1, false, false, 0};
    p.layout.etp = 2;
    p.layout.ep = 2;
    const Placement x = tensor(p, TensorId::experts_up);
    const Mesh mesh = build_mesh(p);
    REQUIRE(mesh.has_experts);
    CHECK(x.on(Axis::ep).parts == 2);
    for (const std::int64_t expert : {0, 3, 4, 7}) {
        CAPTURE(expert);
        CHECK(covered(pieces(p, x, false, 0, expert)) == 48 * 64);
    }
    std::vector<IndexBox> boxes;
    boxes_of(x, part_of(p, mesh, x, 0), 7, boxes);
    CHECK(boxes.empty());  // another ep rank's
}

TEST_CASE("heads that several ranks share are drawn once") {
    const Plan p = small_plan_of(8, 1, 1, 0);  // 4 kv heads
    const Placement x = tensor(p, TensorId::attention_k);
    const TensorPieces t = pieces(p, x);
    CHECK(t.piece.size() == 4);
    CHECK(part_index(x.on(Axis::tp), 7) == 3);
    CHECK(part_index(x.on(Axis::tp), 1) == 0);
}

TEST_CASE("a cut into more pieces than can be drawn is left to its coarse part") {
    const Plan p = small_plan_of(2, 1, 64, 3);
    const Placement x = tensor(p, TensorId::mlp_up);
    TensorPieces t;
    pieces_of(p, build_mesh(p), x, 0, 0, false, 100, t);
    CHECK(t.piece.empty());
    pieces_of(p, build_mesh(p), x, 0, 0, true, 100, t);
    CHECK(t.piece.size() == 2);
    CHECK(covered(t) == 96 * 64);
}

TEST_CASE("a tensor of another stage is found on the stage that has it") {
    Plan p = small_plan_of(2, 1, 1, 0);
    p.layout.pp = 2;
    const Mesh mesh = build_mesh(p);
    const Placement head = tensor(p, TensorId::head);
    CHECK_FALSE(part_of(p, mesh, head, 0).held);
    const std::int64_t rank = holder_like(p, mesh, head, 1);
    REQUIRE(rank >= 0);
    CHECK(part_of(p, mesh, head, rank).held);
    CHECK(dense_coordinates(mesh, rank)[static_cast<std::size_t>(Axis::tp)] == 1);
}

TEST_CASE("every layer is held by one stage, by two under DualPipe") {
    Plan p = small_plan_of(1, 1, 1, 0);
    p.model.layers = 8;
    p.layout.pp = 4;
    auto stages = stages_of_layers(p, build_mesh(p));
    REQUIRE(stages.size() == 8);
    for (std::size_t l = 0; l < 8; ++l) CHECK(stages[l] == std::array<int, 2>{static_cast<int>(l / 2), -1});
    p.layout.schedule = Schedule::dualpipe;
    stages = stages_of_layers(p, build_mesh(p));
    CHECK(stages[0] == std::array<int, 2>{0, 3});
    CHECK(stages[7] == std::array<int, 2>{0, 3});
}
