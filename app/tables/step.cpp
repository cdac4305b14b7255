#include "app/tables/step.h"

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
            t.rows.push_back({label_of(s), cell(s.time_s), cell(s.time_s / step.time_s), "", ""});
    const Band range = band_of(step.time_s, step.error);
    t.rows.push_back({"step", cell(step.time_s), "1", cell(range.low), cell(range.high)});
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
        t.rows.push_back({std::move(name), cell(value), cell(r.low), cell(r.high), std::move(unit)});
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

}  // namespace pentamesh
