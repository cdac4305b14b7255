#include "core/plan/tensor_id.h"

#include <doctest/doctest.h>
#include <set>
#include <string_view>

using namespace pentamesh;

TEST_CASE("each tensor has a name of its own, and is found by it") {
    std::set<std::string_view> names;
    for (const TensorId id : all_of<TensorId>()) {
        CAPTURE(name_of(id));
        CHECK(names.insert(name_of(id)).second);
        CHECK(tensor_called(name_of(id)) == id);
        CHECK(name_of(id).ends_with(short_name_of(id)));
    }
    CHECK_FALSE(tensor_called("attention.qq").has_value());
    CHECK(short_name_of(TensorId::experts_latent_in_input) == "latent_in.input");
    CHECK(short_name_of(TensorId::router) == "router");
}

TEST_CASE("the parts of each MLP belong to it, and differ") {
    for (const TensorModule m : {TensorModule::mlp, TensorModule::experts, TensorModule::shared_expert}) {
        const MlpTensors& t = mlp_tensors(m);
        std::set<TensorId> parts;
        for (const TensorId id :
             {t.gate, t.up, t.down, t.gate_bias, t.up_bias, t.down_bias, t.activated, t.product}) {
            CHECK(module_of(id) == m);
            parts.insert(id);
        }
        CHECK(parts.size() == 8);
        CHECK(short_name_of(t.gate_bias) == "gate.bias");
        CHECK(short_name_of(t.down_bias) == "down.bias");
        CHECK(short_name_of(t.product) == "product");
    }
}
