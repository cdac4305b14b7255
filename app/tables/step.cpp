#include "app/tables/step.h"

#include "core/base/text.h"
#include "core/plan/names.h"
#include "core/step/step.h"

namespace pentamesh {

std::string label_of(const StepSlice& s) {
    return s.part == StepPart::exposed ? std::string(name_of(s.group)) + " exposed"
                                       : std::string(name_of(s.part));
}

Table step_table(const Step& step) {
    Table t;
    t.columns = {{"part"},
                 {"time", Shown::seconds, "time_s"},
                 {"share", Shown::share},
                 {"at least", Shown::seconds, "low_s"},
                 {"at most", Shown::seconds, "high_s"}};
    for (const StepSlice& s : waterfall(step))
        if (s.time_s > 1e-6 * step.time_s)
            t.rows.push_back({label_of(s), s.time_s, s.time_s / step.time_s, "", ""});
    const Band range = band_of(step.time_s, step.error);
    t.rows.push_back({"step", step.time_s, 1, range.low, range.high});
    return t;
}

Table rates_table(const Step& step, double budget_tokens, std::string_view budget_words) {
    Table t;
    t.columns = {{"figure"},
                 {"value", Shown::figure},
                 {"at least", Shown::figure, "low"},
                 {"at most", Shown::figure, "high"},
                 {"unit"}};
    const auto add = [&](std::string name, double value, const Band& r, std::string unit) {
        t.rows.push_back({std::move(name), value, r.low, r.high, std::move(unit)});
    };
    add("MFU", step.mfu, band_of(step.mfu, step.error), "of the peak");
    if (shows_causal_mfu(step))
        add("MFU (causal)", mfu_causal(step), band_of(mfu_causal(step), step.error), "of the peak");
    add("HFU", step.hfu, band_of(step.hfu, step.error), "of the peak");
    add("tokens", step.tokens_per_s, band_of(step.tokens_per_s, step.error), "1/s");
    add("model FLOPs per GPU", step.tflops_per_gpu, band_of(step.tflops_per_gpu, step.error), "TFLOP/s");
    if (budget_tokens > 0) {
        const double days = days_for(step, budget_tokens);
        add("time for " + std::string(budget_words) + " tokens", days, band_of(days, step.error), "days");
    }
    return t;
}

Table cost_table(const Plan& plan, const Step* step) {
    Table t;
    t.columns = {{"figure"}, {"value", Shown::figure}, {"unit"}, {"from"}};
    const Cluster& c = plan.cluster;
    const Cost cost = cost_of(plan, step ? step->tokens_per_s : 0);
    const auto put = [&](std::string figure, const std::optional<double>& value, std::string unit,
                         std::string from) {
        if (value) t.rows.push_back({std::move(figure), *value, std::move(unit), std::move(from)});
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

Table devices_table(const Timeline& t) {
    Table out;
    out.columns = {{"device", Shown::plain},
                   {"busy", Shown::seconds},
                   {"bubble", Shown::share, "bubble_fraction"},
                   {"idle within its span", Shown::seconds, "idle_within_span"},
                   {"micro-batches held", Shown::figure, "peak_in_flight"}};
    for (std::size_t d = 0; d < t.device.size(); ++d) {
        const DeviceTime& time = t.device[d];
        out.rows.push_back({d, time.busy, t.makespan > 0 ? (t.makespan - time.busy) / t.makespan : 0.0,
                            time.idle_within_span(), time.peak_in_flight});
    }
    return out;
}

Table operations_table(const Timeline& t, std::size_t most) {
    Table out;
    out.columns = {{"stage", Shown::plain},   {"op"},
                   {"chunk", Shown::plain},   {"micro-batch", Shown::plain, "microbatch"},
                   {"start", Shown::seconds}, {"end", Shown::seconds}};
    out.left_out = t.order.ops.size() > most ? t.order.ops.size() - most : 0;
    for (std::size_t d = 0; d + 1 < t.order.begin.size(); ++d)
        for (std::size_t i = t.order.begin[d]; i < t.order.begin[d + 1] && out.rows.size() < most; ++i) {
            const Op& op = t.order.ops[i];
            out.rows.push_back({d, letters_of(op.kind), op.chunk, op.microbatch, t.start[i], t.end[i]});
        }
    return out;
}

}  // namespace pentamesh
