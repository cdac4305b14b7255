// `scale` says how far a plan scales: over GPUs, batch, sequence or a factor, and what sets the limit.
#include "core/decide/scale.h"
#include "app/cli/document.h"
#include "app/cli/json_of.h"
#include "app/cli/output.h"
#include "app/cli/plan_argument.h"
#include "app/tables/scale.h"
#include "core/base/nearest.h"
#include "core/base/number.h"
#include "core/base/text.h"
#include "core/plan/title.h"

#include <cmath>
#include <optional>

namespace pentamesh::cli {
namespace {

struct ScaleArguments {
    PlanArgument plan;
    std::string over = "gpus";
    std::string least, most;
    bool weak = false;
    Forms forms;
};

Json json_of_point(const Scale& s, const ScalePoint& p) {
    Json out{{"at", p.at}, {"reason", p.possible() ? Json(nullptr) : Json(p.reason)}};
    if (!p.possible()) return out;
    Json axes = Json::object();
    for (const GroupKind k : all_of<GroupKind>())
        if (in_use(s, k))
            axes[key_of(k)] = {{"time_s", p.time_s[k]},
                               {"waits_s", p.waits_s[k]},
                               {"tier", p.tier[k] < 0 ? Json(nullptr) : Json(p.tier[k])}};
    out.update({{"step_s", p.step_s},
                {"compute_s", p.compute_s},
                {"bubble_s", p.bubble_s},
                {"axes", std::move(axes)},
                {"tokens_per_s", p.tokens_per_s},
                {"mfu", p.mfu},
                {"of_best", p.of_best},
                {"memory_bytes", whole(p.memory_bytes)},
                {"fits", p.fit == MemoryFit::yes},
                {"may_fit", p.fit != MemoryFit::no}});
    return out;
}

Json json_of_scale(const Plan& plan, const Scale& s) {
    Json points = Json::array(), crossings = Json::array();
    for (const ScalePoint& p : s.points) points.push_back(json_of_point(s, p));
    for (const ScaleCrossing& c : s.crossings) {
        crossings.push_back({{"turn", name_of(c.turn)},
                             {"axis", c.of_axis() ? Json(key_of(c.axis)) : Json(nullptr)},
                             {"at", c.at},
                             {"words", c.words()}});
    }
    const bool gpus = s.request.over == ScaleOver::gpus;
    const ScaleWords words = words_of(plan, s);
    return {{"plan", title_of(plan)},
            {"verdict", words.verdict},
            {"held", words.held},
            {"over", name_of(s.request.over)},
            {"scaling", gpus ? Json(s.request.weak ? "weak" : "strong") : Json(nullptr)},
            {"points", std::move(points)},
            {"crossings", std::move(crossings)}};
}

std::int64_t bound_of(const std::string& option, const std::string& text) {
    if (text.empty()) return 0;
    constexpr double kMost = 1 << 30;
    const std::optional<double> n = parse_double(text);
    if (!n || !(*n >= 1 && *n <= kMost) || *n != std::floor(*n))
        refuse(option + " " + shown_text(text) + ": is a whole number from 1 on");
    return static_cast<std::int64_t>(*n);
}

Document scale_document(const Plan& plan, const Scale& s) {
    Section turns{"What turns", {}, {}};
    for (const ScaleCrossing& c : s.crossings) turns.lines.push_back(c.words() + ".");
    if (s.crossings.empty()) turns.lines.emplace_back("Nothing, in this range.");
    const std::string how = s.request.over != ScaleOver::gpus
                                ? "Over the " + std::string(name_of(s.request.over))
                            : s.request.weak ? "Over GPUs, the batch grows with them (weak scaling)"
                                             : "Over GPUs, the batch stays (strong scaling)";
    const ScaleWords words = words_of(plan, s);
    return {title_of(plan), {{how, {words.verdict, words.held}, scale_table(s)}, std::move(turns)}};
}

int run_scale(const Context& context, const ScaleArguments& a) {
    const std::optional<ScaleOver> over = parse_name<ScaleOver>(a.over);
    if (!over) refuse("--over " + shown_text(a.over) + ": there are gpus, batch, sequence, tp, cp, ep, pp");
    if (a.weak && *over != ScaleOver::gpus)
        refuse("--weak: the batch grows with the GPUs, so it needs --over gpus");
    const ScaleRequest request{*over, a.weak, bound_of("--from", a.least), bound_of("--to", a.most)};
    if (request.least > 0 && request.most > 0 && request.least > request.most)
        refuse("--from " + a.least + " --to " + a.most + ": goes backwards");
    const Plan plan = load_plan(context, a.plan);
    const Scale s = scale_of(plan, request);
    print_form(
        context, a.forms, [&] { return json_of_scale(plan, s); }, [&] { return scale_table(s); },
        [&] { return scale_document(plan, s); });
    return 0;
}

}  // namespace

void add_scale(Options& app, Context& context) {
    auto& a = run_with(app, context, run_scale);
    add_plan_argument(app, a.plan);
    app.add_option("--over", a.over, "what grows")
        .type_name("{gpus,batch,sequence,tp,cp,ep,pp}")
        .show_default();
    app.add_flag("--weak", a.weak, "the batch grows with the GPUs");
    app.add_option("--from", a.least, "the least value").type_name("INT");
    app.add_option("--to", a.most, "the largest value").type_name("INT");
    add_forms(app, context, a.forms);
}

}  // namespace pentamesh::cli
