#include "app/tables/cost.h"

#include "core/base/text.h"

namespace pentamesh {

Table cost_table(const Plan& plan, const Step* step) {
    Table t;
    t.columns = {{"figure"}, {"value", Shown::figure}, {"unit"}, {"from"}};
    const Cluster& c = plan.cluster;
    const Cost cost = cost_of(plan, step ? step->tokens_per_s : 0);
    const auto put = [&](std::string figure, const std::optional<double>& value, std::string unit,
                         std::string from) {
        if (value) t.rows.push_back({std::move(figure), cell(*value), std::move(unit), std::move(from)});
    };
    put("training, without a failure", cost.days, "days",
        three_digits(plan.training.tokens_total / 1e9) + " billion tokens");
    put("GPU time", cost.gpu_hours, "GPU-hours", count_text(c.gpus, "GPU"));
    put("cost", cost.money, c.currency.empty() ? "in the price's currency" : c.currency,
        three_digits(c.price_per_gpu_hour) + " a GPU-hour");
    put("energy", cost.kwh, "kWh",
        three_digits(c.gpu_watts) + " W a GPU" + (c.pue > 0 ? ", PUE " + three_digits(c.pue) : ""));
    put("between failures", cost.hours_between_failures, "hours",
        three_digits(c.failures_per_gpu_day) + " failures a GPU and day");
    put("best time between checkpoints", cost.checkpoint_every_s, "s",
        three_digits(plan.training.checkpoint_s) + " s to write one");
    put("goodput", cost.goodput, "of the time", "checkpoints and work lost to failures");
    put("training, with failures", cost.days_with_failures, "days", "");
    return t;
}

}  // namespace pentamesh
