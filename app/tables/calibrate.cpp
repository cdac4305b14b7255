#include "app/tables/calibrate.h"

#include "core/base/text.h"

#include <algorithm>

namespace pentamesh {

Table calibrated_runs_table(const Calibrated& made) {
    Table t;
    t.columns = {{"run"},
                 {"measured", Shown::seconds, "measured_s"},
                 {"before", Shown::seconds, "before_s"},
                 {"after", Shown::seconds, "after_s"},
                 {"off before", Shown::share, "error_before"},
                 {"off after", Shown::share, "error_after"},
                 {"off, fitted to the others", Shown::share, "error_left_out"},
                 {"better"}};
    for (const CalibratedRun& r : made.runs) {
        const auto off = [&](double ours) { return cell(r.measured_s / ours - 1); };
        t.rows.push_back({r.id, cell(r.measured_s), cell(r.before_s), cell(r.after_s), off(r.before_s),
                          off(r.after_s), off(r.left_out_s), r.better() ? "yes" : "no"});
    }
    return t;
}

Table calibrated_constants_table(const Calibrated& made) {
    Table t;
    t.columns = {{"constant"},
                 {"before", Shown::figure},
                 {"after", Shown::figure},
                 {"least", Shown::figure},
                 {"most", Shown::figure},
                 {"from"}};
    for (const CalibratedConstant& c : made.constants) {
        const bool edge = !c.measured && (c.after <= c.least || c.after >= c.most);
        t.rows.push_back({c.id, cell(c.before), cell(c.after), cell(c.least), cell(c.most),
                          c.measured ? "nccl-tests"
                          : edge     ? "the runs, at the edge of what a GPU does"
                                     : "the runs"});
    }
    return t;
}

std::vector<std::string> calibrated_lines(const Calibrated& made) {
    if (made.runs.empty()) return {};
    const auto better =
        std::count_if(made.runs.begin(), made.runs.end(), [](const CalibratedRun& r) { return r.better(); });
    std::vector<std::string> out{"Off in the median: " + percent_text(made.before) + " before, "
                                 + percent_text(made.after) + " after, " + percent_text(made.left_out)
                                 + " where a run is left out of the fit. Nearer: " + std::to_string(better)
                                 + " of " + std::to_string(made.runs.size()) + "."};
    if (made.left_out >= made.before)
        out.emplace_back(
            "On runs that it does not know it is no better than before: these runs do not say enough.");
    out.emplace_back("Off: measured over estimated time, less 1; above 0 the estimate is too fast.");
    return out;
}

}  // namespace pentamesh
