#include "core/decide/lift.h"
#include "core/plan/problem.h"

#include "core/base/text.h"
#include "core/plan/changes.h"
#include "core/plan/software.h"

namespace pentamesh {
namespace {

std::string fullest_text(const Evaluation& e) {
    const StageMemory& s = e.memory.stage[static_cast<std::size_t>(e.memory.peak_stage)];
    MemoryCategory most = MemoryCategory::parameters;
    for (int c = 0; c < kMemoryCategoryCount; ++c)
        if (bytes_of(s, static_cast<MemoryCategory>(c)) > bytes_of(s, most))
            most = static_cast<MemoryCategory>(c);
    return sentence(memory_text(s.total()), ", of which ", name_of(most), " ",
                    memory_text(bytes_of(s, most)));
}

// Returns the layout of least memory, even if it does not fit.
std::optional<Plan> smallest(const Plan& plan, const SearchSpace& space, const SearchOptions& options,
                             const std::atomic<bool>* cancel) {
    Plan roomy = plan;
    constexpr double kBoundless = 1e18;
    roomy.cluster.gpu.hbm_bytes = kBoundless;
    SearchOptions o = options;
    o.goal = Goal::memory, o.headroom = 0, o.top = 1;
    SearchReport r = search(roomy, space, o, cancel);
    if (r.results.empty()) return std::nullopt;
    Plan out = std::move(r.results.front().plan);
    out.cluster = plan.cluster;
    return out;
}

}  // namespace

std::string too_big_text(const Evaluation& e, double headroom) {
    return sentence("The fullest GPU needs ", fullest_text(e), "; it has ", memory_text(e.memory.hbm),
                    headroom > 0 ? sentence(", of which ", percent_text(headroom), " must stay free.") : ".");
}

std::string what_would_fit(const Plan& plan, const SpaceRequest& request, const SearchOptions& options,
                           const SearchReport& report, const std::atomic<bool>* cancel) {
    if (report.cancelled || report.counts.fit > 0) return {};
    if (report.counts.layouts == 0 && report.counts.left_out > 0) {
        const Rejection& r = report.rejected.front();
        return sentence("No layout of the space is one that ", facts_of(plan.training.software).name,
                        " runs (--for any: look at it all the same); most (", r.count, " of ",
                        report.counts.left_out, ") for this: ", r.message);
    }
    if (report.counts.layouts == 0)
        return sentence("The space is empty: no product of tp, cp, pp, dp_shard and dp_replicate of these "
                        "values is ",
                        plan.cluster.gpus, " GPUs, or no schedule runs these virtual_stages.");
    if (report.counts.too_big == 0) {
        const Rejection& r = report.rejected.front();
        return sentence("No layout is possible; most (", r.count, " of ", report.counts.layouts, ") ",
                        reason_words(r.code), ": ", r.message);
    }
    const std::optional<Plan> least = smallest(plan, report.space, options, cancel);
    if (!least) return "No layout fits.";
    const Evaluation e = evaluate(*least);
    const std::string missed =
        options.headroom > 0
            ? sentence("No layout leaves ", percent_text(options.headroom), " of a GPU's memory free")
            : std::string("No layout fits");
    std::string text =
        sentence(missed,
                 ": memory binds "
                 "first. A GPU has ",
                 memory_text(e.memory.hbm), "; even the smallest layout takes ", fullest_text(e), ".");
    if (e.memory.fits())
        text += sentence(" It fits where ", percent_text(1 - e.memory.peak() / e.memory.hbm),
                         " or less is kept free (--headroom).");
    else if (e.memory.may_fit())
        text += sentence(" It ", kFitsIfSmall, ".");
    text += sentence(" GPUs of ", memory_text(e.memory.peak() / (1 - options.headroom)), " would do");
    constexpr int kMostDoublings = 4;
    Plan more = plan;
    for (int i = 0; i < kMostDoublings && !(cancel != nullptr && *cancel); ++i) {
        more = with_gpus(more, more.cluster.gpus * 2);
        std::optional<SpaceError> error;
        const SearchSpace space = search_space(more, request, error);
        if (error) break;
        SearchOptions o = options;
        o.goal = Goal::memory, o.top = 1;
        if (search(more, space, o, cancel).counts.fit > 0)
            return text + sentence("; so would ", more.cluster.gpus, " of these GPUs.");
    }
    return text + ".";
}

}  // namespace pentamesh
