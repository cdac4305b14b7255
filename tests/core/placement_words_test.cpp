#include "core/sharding/placement.h"
#include "tests/core/bare_plan.h"

#include <doctest/doctest.h>

using namespace pentamesh;

namespace {

Plan plan_of(std::int64_t tp, std::int64_t cp, std::int64_t shard, int zero) {
    return test::bare_plan(test::kLlama70b, 8192, tp, cp, shard, zero);
}

std::vector<Placement> layer(const Plan& p, TensorState state = TensorState::parameters,
                             Moment moment = Moment::at_rest) {
    std::vector<Placement> out;
    for (const Placement& x : list_placements(p, build_mesh(p), state, moment))
        if (x.place == Place::every_layer || x.place == Place::dense_layer) out.push_back(x);
    return out;
}

const Placement& find(const std::vector<Placement>& all, TensorId id) {
    for (const Placement& x : all)
        if (x.id == id) return x;
    FAIL(name_of(id));
    return all.front();
}

}  // namespace

TEST_CASE("a rank's range is said in rows, columns, tokens and numbers") {
    const Plan p = plan_of(8, 1, 8, 3);
    const Mesh mesh = build_mesh(p);
    const auto all = layer(p);
    CHECK(part_words(find(all, TensorId::attention_q), part_of(p, mesh, find(all, TensorId::attention_q), 1))
          == "rows 1,024 – 1,151 of 8,192");
    CHECK(part_words(find(all, TensorId::attention_output),
                     part_of(p, mesh, find(all, TensorId::attention_output), 0))
          == "rows 0 – 1,023 of 8,192, columns 0 – 1,023 of 8,192");
    const Plan z = plan_of(8, 1, 8, 1);
    const auto optimizer = layer(z, TensorState::optimizer);
    CHECK(part_words(find(optimizer, TensorId::attention_q),
                     part_of(z, build_mesh(z), find(optimizer, TensorId::attention_q), 8))
          == "rows 0 – 1,023 of 8,192; of these numbers 1,048,576 – 2,097,151 of 8,388,608");
    const Plan c = plan_of(1, 8, 1, 0);
    const auto tokens = layer(c, TensorState::activations);
    CHECK(part_words(find(tokens, TensorId::attention_q),
                     part_of(c, build_mesh(c), find(tokens, TensorId::attention_q), 0))
          == "tokens 0 – 511 and 7,680 – 8,191 of 8,192");
    CHECK(part_words(find(layer(c), TensorId::attention_q),
                     part_of(c, build_mesh(c), find(layer(c), TensorId::attention_q), 5))
          == "all of it");
}

TEST_CASE("what an axis does to a layer is one sentence") {
    const Plan p = plan_of(8, 1, 8, 3);
    const auto all = layer(p);
    CHECK(axis_sentence(all, Axis::tp)
          == "cuts rows of q, k, v, gate, up and columns of output, down; copies 2 norms");
    CHECK(axis_sentence(all, Axis::dp_shard) == "cuts rows of every tensor");
    CHECK(axis_sentence(all, Axis::cp).empty());
    CHECK(axis_sentence(layer(p, TensorState::parameters, Moment::computing), Axis::dp_shard)
          == "copies everything");
    CHECK(axis_sentence(layer(p, TensorState::gradients, Moment::computing), Axis::dp_shard)
          == "leaves everything to be summed");
}

TEST_CASE("heads on several ranks, copies and summands are told apart") {
    const auto all = layer(plan_of(16, 1, 2, 0));
    CHECK(spread_words(find(all, TensorId::attention_k).on(Axis::tp))
          == "cut along rows into 8, each on 2 ranks");
    CHECK(spread_words(find(all, TensorId::norm_mlp).on(Axis::tp)) == "copied on 16 ranks");
    CHECK(spread_words(find(all, TensorId::norm_mlp).on(Axis::cp)) == "off");
    const auto grads = layer(plan_of(16, 1, 2, 0), TensorState::gradients, Moment::computing);
    CHECK(spread_words(find(grads, TensorId::norm_mlp).on(Axis::dp_shard)) == "partial: 2 summands");
}

TEST_CASE("a tensor's bytes explain themselves and agree with the part") {
    const Plan p = plan_of(8, 1, 8, 3);
    const auto all = layer(p);
    const Explanation e = explain_tensor(p, build_mesh(p), find(all, TensorId::mlp_gate), 11);
    CHECK(e.formula == "rows / tp / dp_shard · columns · bytes");
    CHECK(e.substituted == "28,672 / 8 / 8 · 8,192 · 2");
    CHECK(e.result == "= 7 MiB (7,340,032 bytes) of one layer");
    for (const Placement& x : all) {
        const std::string source = explain_tensor(p, build_mesh(p), x, 11).source;
        CHECK_FALSE(source.empty());
        CHECK(source.find("docs/") == std::string::npos);  // a user of the window has no such folder
    }
    const auto optimizer = layer(plan_of(8, 1, 8, 1), TensorState::optimizer);
    CHECK(explain_tensor(plan_of(8, 1, 8, 1), build_mesh(p), find(optimizer, TensorId::mlp_gate), 11).formula
          == "rows / tp · columns / dp_shard · bytes");
}
