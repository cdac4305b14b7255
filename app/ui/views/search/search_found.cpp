#include "app/ui/views/search/search_found.h"

#include "core/base/text.h"
#include "core/plan/edits.h"
#include "core/plan/names.h"
#include "core/rules/rules.h"

#include <algorithm>

namespace pentamesh::ui {

namespace {

constexpr std::int64_t kMostLayersTried = 4;  // of a chunk, by the chip

template <typename T>
bool has(const std::vector<T>& list, const T& value) {
    return std::find(list.begin(), list.end(), value) != list.end();
}

bool contains(const SearchSpace& s, const LayoutChoice& c, bool experts) {
    return has(s.tp, c.tp) && has(s.cp, c.cp) && has(s.pp, c.pp) && has(s.virtual_stages, c.virtual_stages)
           && has(s.schedule, c.schedule) && has(s.ep, c.ep) && (!experts || has(s.etp, c.etp))
           && has(s.dp_shard, c.dp_shard) && has(s.dp_replicate, c.dp_replicate) && has(s.zero, c.zero)
           && has(s.micro_batch, c.micro_batch) && has(s.recompute, c.recompute) && has(s.order, c.order)
           && has(s.gradients, c.settings.gradients) && has(s.optimizer_state, c.settings.optimizer_state)
           && has(s.reshard, c.settings.reshard) && has(s.overlap_tp, c.settings.overlap_tp)
           && has(s.overlap_pp, c.settings.overlap_pp) && has(s.offload_layers, c.settings.offload_layers)
           && has(s.offload_optimizer, c.settings.offload_optimizer);
}

}  // namespace

bool has_numbers(Varied v) {
    return v != Varied::schedule && v != Varied::recompute && v != Varied::order && !is_held_by_default(v);
}

bool SearchRequest::holds(Varied v) const {
    return is_held_by_default(v) ? !has(freed, v) : has(held, v);
}

const ValueRange* SearchRequest::range_of(Varied field) const {
    const auto at =
        std::find_if(ranges.begin(), ranges.end(), [&](const ValueRange& r) { return r.field == field; });
    return at == ranges.end() ? nullptr : &*at;
}

std::vector<std::int64_t> numbers_of(const Plan& plan, const SearchRequest& request, Varied field) {
    if (!has_numbers(field)) return {};
    std::optional<SpaceError> none;
    SpaceRequest all;
    all.any_software = request.any_software;
    const SearchSpace space = search_space(plan, all, none);
    std::vector<std::int64_t> out;
    for (const std::string& text : space.values_of(field)) out.push_back(std::stoll(text));
    return out;
}

SpaceRequest space_request(const Plan& plan, const SearchRequest& request) {
    SpaceRequest out;
    for (const Varied v : request.held) out.hold.emplace_back(name_of(v));
    for (const Varied v : request.freed) out.vary.emplace_back(name_of(v));
    if (request.finer && !has(request.held, Varied::recompute)) {
        const std::int64_t most = std::min(kMostLayersTried, plan.model.layers);
        out.vary.push_back("recompute_layers=1.." + std::to_string(most));
        std::string modules;
        for (const RecomputeModule m : all_of<RecomputeModule>())
            if (has_module(plan.model, m)) modules += (modules.empty() ? "" : ",") + std::string(name_of(m));
        out.vary.push_back("recompute_modules=" + modules);
    }
    for (const ValueRange& r : request.ranges) {
        if (has(request.held, r.field)) continue;
        std::string values;
        for (const std::int64_t n : numbers_of(plan, request, r.field))
            if (n >= r.least && n <= r.most) values += (values.empty() ? "" : ",") + std::to_string(n);
        if (!values.empty()) out.vary.push_back(std::string(name_of(r.field)) + "=" + values);
    }
    out.any_software = request.any_software;
    return out;
}

SearchSpace space_of(const Plan& plan, const SearchRequest& request) {
    std::optional<SpaceError> none;
    return search_space(plan, space_request(plan, request), none);
}

void SearchFound::add(const FoundLayout& x) {
    ++version;
    if (fit++ % every == 0) points.push_back(x);
    if (points.size() > kMostPoints) {
        every *= 2;
        for (std::size_t i = 0; 2 * i < points.size(); ++i) points[i] = points[2 * i];
        points.resize((points.size() + 1) / 2);
    }
    const auto after = std::upper_bound(front.begin(), front.end(), x.memory_bytes,
                                        [](double m, const FoundLayout& p) { return m < p.memory_bytes; });
    if (after != front.begin() && (after - 1)->step_s <= x.step_s) return;
    auto from = after, to = after;
    if (from != front.begin() && (from - 1)->memory_bytes == x.memory_bytes) --from;
    while (to != front.end() && to->step_s >= x.step_s) ++to;
    front.insert(front.erase(from, to), x);
}

void order_by(SearchFound& found, Second then) {
    if (!found.report || found.ordered == then) return;
    order_ties(then, *found.report);
    found.ordered = then;
    ++found.version;
}

std::vector<SearchRow> rows_of(const SearchFound& found) {
    std::vector<SearchRow> rows;
    if (found.report) {
        for (const SearchResult& r : found.report->results)
            rows.push_back({r.choice, r.step_s, r.memory_bytes, r.pareto, r.alike, r.tied, r.changes,
                            r.slow_link_s, r.slow_stage_s, r.fit});
        return rows;
    }
    for (const FoundLayout& x : found.front) rows.push_back({x.choice, x.step_s, x.memory_bytes, true});
    if (found.request.goal != Goal::memory) std::reverse(rows.begin(), rows.end());
    return rows;
}

Plan with_choice(const SearchFound& found, const Plan& plan, const LayoutChoice& choice) {
    Plan out = *found.base;
    lay_out(*found.base, choice, out);
    return in_place_of(plan, std::move(out));
}

bool still_holds(const SearchFound& found, const Plan& plan) {
    if (!found.base) return false;
    if (*found.base == plan) return true;
    // Layers of the stages and the like may have been changed since the plan became one of the layouts.
    const LayoutChoice now = choice_of(plan);
    Plan own = plan;
    lay_out(plan, now, own);
    return contains(found.space, now, plan.model.moe.has_value()) && with_choice(found, plan, now) == own;
}

std::string_view chip_name(Varied v) {
    switch (v) {
    case Varied::virtual_stages: return "chunks";
    case Varied::zero: return "ZeRO";
    case Varied::micro_batch: return "micro-batch";
    case Varied::optimizer_state: return "moments";
    case Varied::overlap_tp: return "tp overlap";
    case Varied::overlap_pp: return "pp overlap";
    case Varied::offload_layers: return "activations on host";
    case Varied::offload_optimizer: return "optimizer on host";
    default: return name_of(v);
    }
}

std::string value_text(const LayoutChoice& c, Varied v) {
    switch (v) {
    case Varied::tp: return with_commas(c.tp);
    case Varied::cp: return with_commas(c.cp);
    case Varied::pp: return with_commas(c.pp);
    case Varied::virtual_stages: return with_commas(c.virtual_stages);
    case Varied::schedule: return std::string(name_of(c.schedule));
    case Varied::ep: return with_commas(c.ep);
    case Varied::etp: return with_commas(c.etp);
    case Varied::dp_shard: return with_commas(c.dp_shard);
    case Varied::dp_replicate: return with_commas(c.dp_replicate);
    case Varied::zero: return with_commas(c.zero);
    case Varied::micro_batch: return with_commas(c.micro_batch);
    case Varied::recompute: return words_of(c.recompute);
    case Varied::order: return std::string(order_name(c.order));
    case Varied::gradients: return std::string(name_of(c.settings.gradients));
    case Varied::optimizer_state: return std::string(name_of(c.settings.optimizer_state));
    case Varied::reshard: return std::string(name_of(c.settings.reshard));
    case Varied::overlap_tp: return std::string(name_of(c.settings.overlap_tp));
    case Varied::overlap_pp: return std::string(name_of(c.settings.overlap_pp));
    case Varied::offload_layers: return count_text(c.settings.offload_layers, "layer");
    case Varied::offload_optimizer: return percent_text(c.settings.offload_optimizer, Zeros::kept);
    }
    return "";
}

std::string words_of(const LayoutChoice& c, bool experts) {
    std::string s = "tp " + with_commas(c.tp);
    if (c.cp > 1) s += ", cp " + with_commas(c.cp);
    s += ", pp " + with_commas(c.pp);
    if (c.virtual_stages > 1) s += " × " + with_commas(c.virtual_stages) + " chunks";
    if (c.pp > 1) s += ", " + std::string(name_of(c.schedule));
    if (experts) s += ", ep " + with_commas(c.ep) + ", etp " + with_commas(c.etp);
    if (c.dp_shard > 1) s += ", dp_shard " + with_commas(c.dp_shard);
    if (c.dp_replicate > 1) s += ", dp_replicate " + with_commas(c.dp_replicate);
    s += ", ZeRO-" + std::to_string(c.zero) + ", micro-batch " + with_commas(c.micro_batch) + ", "
         + (c.recompute.any() ? "recompute " + words_of(c.recompute) : "nothing recomputed") + ", order "
         + std::string(order_name(c.order));
    return s;
}

std::string change_words(const Plan& plan, const LayoutChoice& to) {
    return join(changed_choices(plan, to), ", ",
                [&](const Varied v) { return std::string(chip_name(v)) + " " + value_text(to, v); });
}

std::string beside_words(const Plan& plan, const PlanDecision& decision) {
    return beside_fastest(decision,
                          decision.proposal ? change_words(plan, decision.proposal->choice) : std::string());
}

}  // namespace pentamesh::ui
