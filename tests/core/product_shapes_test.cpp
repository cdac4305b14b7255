// Tests products of shapes that were measured one by one.
#include "plans.h"
#include "shipped.h"

#include "core/mesh/mesh.h"
#include "core/plan/plan.h"
#include "core/step/compute.h"
#include "tests/near.h"

#include <algorithm>
#include <cmath>
#include <doctest/doctest.h>
#include <nlohmann/json.hpp>
#include <vector>

using namespace pentamesh;
using pentamesh::test::near;

namespace {

// Returns a measured time over ours, less 1, for the experts' products with at least so many tokens an
// expert.
std::vector<double> errors_of_grouped(double least_rows) {
    const nlohmann::json file = test::golden("grouped_b200.json");
    Rates rates;
    rates.hbm = 7e12;  // the rate at which shapes of few tokens move bytes
    const double rate = 0.53 * 2250e12;
    std::vector<double> errors;
    for (const auto& row : file["rows"]) {
        const double groups = row[0], rows = row[1], out = row[2], in = row[3],
                     measured_s = row[6].get<double>() * 1e-6;
        if (rows < least_rows) continue;
        const std::string pass = row[4];
        const bool adds = row[5];
        const Product p =
            pass == "weight_grad" ? Product{in, rows, out, groups} : Product{rows, in, out, groups};
        const double bytes = pass == "weight_grad" && adds ? 8 : 2;
        errors.push_back(measured_s / product_time(rates, p, rate, 2, bytes) - 1);
    }
    std::sort(errors.begin(), errors.end(), [](double a, double b) { return std::abs(a) < std::abs(b); });
    return errors;
}

}  // namespace

TEST_CASE("grouped products of experts take their FLOPs at one rate and their weights' bytes besides") {
    const std::vector<double> errors = errors_of_grouped(300);
    REQUIRE(errors.size() > 60);
    CHECK(std::abs(errors[errors.size() / 2]) < 0.1);
    CHECK(std::abs(errors[errors.size() * 9 / 10]) < 0.3);
}

TEST_CASE(
    "a width that is no whole number of cache lines makes a layer slower, one of whole lines does not") {
    Plan p = test::presets().plan("llama-3-70b-3d");
    p.layout.tp = 1, p.layout.cp = 1;
    const auto per_flop = [&](std::int64_t ffn) {
        p.model.ffn = ffn;
        const Degrees degrees = degrees_of(p, build_mesh(p));
        PartsByType parts;
        list_parts(p, degrees, layer_types(p.model), parts);
        const LayerTimes t = time_layers(p, degrees, layer_types(p.model), parts);
        return t.layer[0].mlp.total() / static_cast<double>(ffn);
    };
    CHECK(per_flop(14336) == near(per_flop(28672), 0.02));
    CHECK(per_flop(14400) == near(per_flop(14336), 0.02));  // 225 lines of 64 numbers
    CHECK(per_flop(14392) > 1.25 * per_flop(14336));
}
