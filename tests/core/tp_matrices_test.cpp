// Two matrices and their sum: the figures follow from shapes, and are those of the layer's list.
#include "core/teach/tp_matrices.h"

#include "core/io/plan_json.h"
#include "core/mesh/mesh.h"
#include "tests/core/shipped.h"
#include "tests/near.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

using namespace pentamesh;
using pentamesh::test::near;
using pentamesh::test::presets;

namespace {

TpMatrices matrices(std::string_view plan, const std::vector<std::string>& sets, std::int64_t rank = 0) {
    const Plan p = with_sets(presets().plan(plan), sets, presets());
    const Evaluation e = evaluate(p);
    REQUIRE_MESSAGE(e.valid, (e.problems.empty() ? "" : e.problems.front().message));
    return tp_matrices(p, e, rank);
}

}  // namespace

TEST_CASE("the sum of two summands is an all-reduce of the whole result; in slices it sends the same bytes") {
    const TpMatrices m = matrices("mesh-8", {});
    CHECK(m.why_not.empty());
    CHECK(m.pair == TpPair::mlp);
    CHECK(m.gated);
    CHECK(m.between == "silu");
    CHECK(m.tokens == 8192);
    CHECK(m.hidden == 4096);
    CHECK(m.columns == 14336);
    CHECK(m.rows == 14336);
    CHECK(m.ranks == std::vector<std::int64_t>{0, 1});
    const double result = 8192.0 * 4096 * 2;
    CHECK(m.result_bytes == near(result));
    CHECK(m.whole.sum_bytes == near(2 * 0.5 * result));
    CHECK(m.whole.gather_bytes == 0);
    CHECK(m.slices.sum_bytes == near(0.5 * result));
    CHECK(m.slices.gather_bytes == near(0.5 * result));
    CHECK(m.whole.sum_s > 0);
    CHECK(m.slices.gather_s > 0);
    REQUIRE(m.other);
    CHECK(m.other->tp == 4);
    CHECK(m.other->sum_bytes == near(2 * 0.75 * result));
    CHECK(m.other->sum_s > m.whole.sum_s);
}

TEST_CASE(
    "a layer says 4 all-reduces over tp, 8 calls in slices, and 2 more where inputs are gathered twice") {
    for (const bool sliced : {false, true}) {
        const std::string sp = std::string("layout.sequence_parallel=") + (sliced ? "true" : "false");
        const TpMatrices m = matrices("mesh-8", {sp});
        CHECK(m.own_sliced == sliced);
        CHECK(m.whole.calls == 4);
        CHECK(m.whole.gathered_again == 0);
        CHECK(m.slices.calls == 8);
        CHECK(m.slices.gathered_again == 2);
        CHECK(m.waited == near(1.0));
    }
    const TpMatrices other = matrices("mesh-8", {"training.software=nanotron"});
    CHECK(other.slices.calls == 8);
    CHECK(other.slices.gathered_again == 0);
    CHECK(other.keeps_inputs);
    CHECK_FALSE(other.is_megatron);
    const TpMatrices full = matrices("mesh-8", {"training.recompute=full"});
    CHECK(full.slices.calls == 8);
    CHECK(full.slices.repeated > 0);
}

TEST_CASE("the call of the picture is the plan's own") {
    const Plan p = presets().plan("llama-3-70b-3d");
    const Evaluation e = evaluate(p);
    REQUIRE(e.valid);
    const TpMatrices m = tp_matrices(p, e, 0);
    const auto own = [&](What what, Collective c) {
        for (const Operation& o : e.comm.operations)
            if (o.group == GroupKind::tp && o.what == what && o.collective == c) return o;
        return Operation{};
    };
    const Operation in = own(What::activations_before_the_mlp, Collective::all_gather),
                    out = own(What::activations_after_the_mlp, Collective::reduce_scatter);
    REQUIRE(in.group_size == m.tp());
    CHECK(m.slices.gather_bytes == near(sent_bytes(in.collective, in.group_size, in.message_bytes)));
    CHECK(m.slices.sum_bytes == near(sent_bytes(out.collective, out.group_size, out.message_bytes)));
    CHECK(m.slices.gather_s == near(in.call_s));
    CHECK(m.slices.sum_s == near(out.call_s));
}

TEST_CASE(
    "without a dense MLP the shared experts' matrices are shown, or attention's; the group is the rank's") {
    const TpMatrices m = matrices("mixtral-8x7b-ep",
                                  {"layout.tp=2", "layout.dp_shard=32", "layout.sequence_parallel=true"}, 3);
    CHECK(m.pair == TpPair::attention);
    CHECK(m.between == "attention");
    CHECK(m.rows == 4096);
    CHECK(m.columns == 4096 + 2 * 8 * 128);
    CHECK(m.kv_copies == 1);
    CHECK(m.ranks == std::vector<std::int64_t>{2, 3});
    const TpMatrices deep =
        matrices("deepseek-v3-2048", {"layout.tp=2", "layout.dp_shard=64", "layout.sequence_parallel=true"});
    CHECK(deep.pair == TpPair::mlp);
    CHECK(deep.columns == 18432);
}
