#include "core/decide/space.h"

#include "core/base/nearest.h"
#include "core/base/number.h"
#include "core/base/text.h"
#include "core/decide/units.h"
#include "core/pipeline/gradient_reduction.h"
#include "core/pipeline/schedules/schedule.h"
#include "core/plan/factors.h"
#include "core/plan/names.h"
#include "core/plan/order_presets.h"
#include "core/plan/ranges.h"
#include "core/rules/software_runs.h"

#include <algorithm>
#include <charconv>

namespace pentamesh {
namespace {

struct VariedName {
    std::string_view name, pointer;
};
constexpr EnumArray<Varied, VariedName> kVaried{{{{"tp", "/layout/tp"},
                                                  {"cp", "/layout/cp"},
                                                  {"pp", "/layout/pp"},
                                                  {"virtual_stages", "/layout/virtual_stages"},
                                                  {"schedule", "/layout/schedule"},
                                                  {"ep", "/layout/ep"},
                                                  {"etp", "/layout/etp"},
                                                  {"dp_shard", "/layout/dp_shard"},
                                                  {"dp_replicate", "/layout/dp_replicate"},
                                                  {"zero", "/layout/zero"},
                                                  {"micro_batch", "/training/micro_batch"},
                                                  {"recompute", "/training/recompute"},
                                                  {"order", "/layout/order"}}}};

constexpr std::int64_t kMostChunksTried = 8, kFewestTokens = 1024, kMostMicroBatch = 8;

std::vector<std::int64_t> divisors(std::int64_t n) {
    std::vector<std::int64_t> out;
    for (std::int64_t d = 1; d <= n / d; ++d)
        if (n % d == 0) {
            out.push_back(d);
            if (d != n / d) out.push_back(n / d);
        }
    std::sort(out.begin(), out.end());
    return out;
}

template <typename T>
void tidy(std::vector<T>& list) {
    std::sort(list.begin(), list.end());
    list.erase(std::unique(list.begin(), list.end()), list.end());
}
template <typename T>
void add_once(std::vector<T>& list, const T& value) {
    if (std::find(list.begin(), list.end(), value) == list.end()) list.push_back(value);
}

// Returns the values by default, without the plan's own.
SearchSpace usual_space(const Plan& p) {
    SearchSpace s;
    const std::int64_t gpus = std::max<std::int64_t>(p.cluster.gpus, 1);
    const std::int64_t domain = p.cluster.tiers.empty() ? 8 : domain_of(p.cluster, 0);
    for (const std::int64_t d : divisors(gpus)) {
        s.dp_shard.push_back(d);
        if (d <= domain) s.tp.push_back(d);
        if (d == 1 || p.training.sequence_length / d >= kFewestTokens) s.cp.push_back(d);
        if (d <= p.model.layers) s.pp.push_back(d);
    }
    s.dp_replicate = s.dp_shard;
    for (std::int64_t v = 1; v <= std::min(kMostChunksTried, p.model.layers); ++v)
        s.virtual_stages.push_back(v);
    for (const Schedule k : all_of<Schedule>()) s.schedule.push_back(k);
    s.ep = {1}, s.etp = {1};
    if (p.model.moe) {
        for (const std::int64_t d : divisors(std::max<std::int64_t>(p.model.moe->experts, 1)))
            if (d <= gpus) add_once(s.ep, d);
        s.etp = s.tp;
    }
    s.zero = {0, 1, 2, 3};
    for (std::int64_t b = 1; b <= kMostMicroBatch; b *= 2)
        if (b == 1 || p.training.global_batch % b == 0) s.micro_batch.push_back(b);
    s.recompute = {Recompute::none, Recompute::selective, Recompute::full};
    for (const OrderPreset& o : order_presets()) add_once(s.order, o.order);
    return s;
}

// Returns the plan's own values.
SearchSpace own_space(const Plan& p) {
    const Layout& l = p.layout;
    SearchSpace s;
    s.tp = {l.tp}, s.cp = {l.cp}, s.pp = {l.pp}, s.virtual_stages = {l.virtual_stages};
    s.ep = {l.ep}, s.etp = {l.etp.value_or(l.tp)};
    s.dp_shard = {l.dp_shard}, s.dp_replicate = {replicas_in_force(p)},
    s.micro_batch = {p.training.micro_batch};
    s.schedule = {l.schedule}, s.zero = {l.zero}, s.recompute = {p.training.recompute}, s.order = {l.order};
    return s;
}

template <typename Use>
void with_list(Varied v, Use&& use) {
    switch (v) {
    case Varied::tp: return use(&SearchSpace::tp);
    case Varied::cp: return use(&SearchSpace::cp);
    case Varied::pp: return use(&SearchSpace::pp);
    case Varied::virtual_stages: return use(&SearchSpace::virtual_stages);
    case Varied::ep: return use(&SearchSpace::ep);
    case Varied::etp: return use(&SearchSpace::etp);
    case Varied::dp_shard: return use(&SearchSpace::dp_shard);
    case Varied::dp_replicate: return use(&SearchSpace::dp_replicate);
    case Varied::micro_batch: return use(&SearchSpace::micro_batch);
    case Varied::schedule: return use(&SearchSpace::schedule);
    case Varied::zero: return use(&SearchSpace::zero);
    case Varied::recompute: return use(&SearchSpace::recompute);
    case Varied::order: return use(&SearchSpace::order);
    }
}

void hold(Varied v, const SearchSpace& own, SearchSpace& space) {
    with_list(v, [&](auto member) { space.*member = own.*member; });
}

std::vector<std::string_view> split(std::string_view text, char at) {
    std::vector<std::string_view> out;
    for (std::size_t from = 0; from <= text.size();) {
        const std::size_t end = std::min(text.find(at, from), text.size());
        out.push_back(text.substr(from, end - from));
        from = end + 1;
    }
    return out;
}

template <typename E>
std::string names_text() {
    std::string out;
    for (const E e : all_of<E>()) out += (out.empty() ? "" : ", ") + std::string(name_of(e));
    return out;
}

// Reads a value out of its text; nullopt where it is no value. `allowed` names the possible ones.
std::optional<std::int64_t> value_of(std::string_view text, Varied v, std::string& allowed, std::int64_t*) {
    const std::optional<FieldRange> range = range_of(pointer_of(v));
    if (range) allowed = range_text(*range);
    std::int64_t n = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), n);
    if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
    return range && !range->allows(static_cast<double>(n)) ? std::nullopt : std::optional(n);
}
std::optional<int> value_of(std::string_view text, Varied v, std::string& allowed, int*) {
    const auto n = value_of(text, v, allowed, static_cast<std::int64_t*>(nullptr));
    return n ? std::optional(static_cast<int>(*n)) : std::nullopt;
}
std::optional<Schedule> value_of(std::string_view text, Varied, std::string& allowed, Schedule*) {
    allowed = names_text<Schedule>();
    return parse_name<Schedule>(text);
}
std::optional<RecomputeChoice> value_of(std::string_view text, Varied, std::string& allowed,
                                        RecomputeChoice*) {
    allowed = "none, selective, full";
    const auto kind = parse_name<Recompute>(text);
    return kind ? std::optional<RecomputeChoice>(*kind) : std::nullopt;
}
// Reads a framework's name, or the axes joined by dashes.
std::optional<AxisOrder> value_of(std::string_view text, Varied, std::string& allowed, AxisOrder*) {
    allowed.clear();
    for (const OrderPreset& o : order_presets()) {
        allowed += (allowed.empty() ? "" : ", ") + std::string(o.name);
        if (o.name == text) return o.order;
    }
    allowed += ", or six axes, innermost first: tp-cp-ep-dp_shard-dp_replicate-pp";
    const auto parts = split(text, '-');
    AxisOrder order{};
    unsigned seen = 0;
    if (parts.size() != order.size()) return std::nullopt;
    for (std::size_t i = 0; i < order.size(); ++i) {
        const auto axis = parse_name<Axis>(parts[i]);
        if (!axis) return std::nullopt;
        order[i] = *axis;
        seen |= 1U << static_cast<unsigned>(*axis);
    }
    return seen == (1U << kAxisCount) - 1 ? std::optional(order) : std::nullopt;
}

std::optional<Varied> named(std::string_view name, std::string_view option,
                            std::optional<SpaceError>& error) {
    const auto v = varied_named(name);
    if (v) return v;
    std::vector<std::string_view> names;
    for (const Varied k : all_of<Varied>()) names.push_back(name_of(k));
    error = {std::string(name),
             sentence(option, " ", shown_text(name), ": a search varies no such field; the closest is \"",
                      nearest(name, names), "\"")};
    return std::nullopt;
}

void vary(std::string_view request, SearchSpace& space, std::optional<SpaceError>& error) {
    const std::size_t equals = request.find('=');
    const auto v = named(request.substr(0, equals), "--vary", error);
    if (!v || equals == std::string_view::npos) return;
    with_list(*v, [&](auto member) {
        auto& list = space.*member;
        using T = typename std::decay_t<decltype(list)>::value_type;
        list.clear();
        for (const std::string_view text : split(request.substr(equals + 1), ',')) {
            std::string allowed;
            const std::optional<T> value = value_of(text, *v, allowed, static_cast<T*>(nullptr));
            if (!value) {
                error = {std::string(name_of(*v)), sentence("--vary ", name_of(*v), "=", shown_text(text),
                                                            ": ", name_of(*v), " may be ", allowed)};
                return;
            }
            add_once(list, *value);
        }
    });
}

}  // namespace

std::string_view name_of(Varied v) {
    return kVaried[v].name;
}
std::string_view pointer_of(Varied v) {
    return kVaried[v].pointer;
}
std::optional<Varied> varied_named(std::string_view name) {
    for (const Varied v : all_of<Varied>())
        if (name_of(v) == name || pointer_of(v) == name) return v;
    return std::nullopt;
}

SearchSpace search_space(const Plan& plan, const SpaceRequest& request, std::optional<SpaceError>& error) {
    error.reset();
    const SearchSpace own = own_space(plan);
    SearchSpace space = usual_space(plan);
    if (!request.any_software) space.software = plan.training.software;
    for (const Varied v : all_of<Varied>())
        with_list(v, [&](auto member) {
            for (const auto& value : own.*member) add_once(space.*member, value);
        });
    if (!plan.model.moe)
        space.ep = {1}, space.etp = {1};  // even if the plan's layout, which may fit no
                                          // dense model, has others
    for (const std::string& name : request.hold) {
        const auto v = named(name, "--hold", error);
        if (!v) return space;
        hold(*v, own, space);
    }
    for (const std::string& text : request.vary) {
        vary(text, space, error);
        if (error) return space;
    }
    for (auto* list : {&space.tp, &space.cp, &space.pp, &space.virtual_stages, &space.ep, &space.etp,
                       &space.dp_shard, &space.dp_replicate, &space.micro_batch})
        tidy(*list);
    tidy(space.schedule);
    tidy(space.zero);
    // A plan whose factors do not fill the cluster has no replicas of its own.
    if (space.dp_replicate.size() > 1) std::erase(space.dp_replicate, 0);
    return space;
}

std::vector<std::string> SearchSpace::values_of(Varied v) const {
    std::vector<std::string> out;
    const auto quoted = [](std::string_view s) { return "\"" + std::string(s) + "\""; };
    with_list(v, [&](auto member) {
        for (const auto& value : this->*member) {
            using T = std::decay_t<decltype(value)>;
            if constexpr (std::is_same_v<T, Schedule>) {
                out.push_back(quoted(name_of(value)));
            } else if constexpr (std::is_same_v<T, RecomputeChoice>) {
                out.push_back(quoted(words_of(value)));
            } else if constexpr (std::is_same_v<T, AxisOrder>) {
                std::string axes;
                for (const Axis a : value) axes += (axes.empty() ? "" : "-") + std::string(name_of(a));
                out.push_back(quoted(axes));
            } else {
                out.push_back(std::to_string(value));
            }
        }
    });
    return out;
}

void lay_out(const Plan& plan, const LayoutChoice& c, Plan& out) {
    Layout& l = out.layout;
    const Layout& own = plan.layout;
    l.tp = c.tp, l.cp = c.cp, l.pp = c.pp, l.virtual_stages = c.virtual_stages, l.schedule = c.schedule;
    l.ep = c.ep, l.dp_shard = c.dp_shard, l.dp_replicate = c.dp_replicate, l.zero = c.zero, l.order = c.order;
    if (plan.model.moe) l.etp = c.etp;
    l.sequence_parallel = own.tp == 1 && c.tp > 1 ? usual_sequence_parallel(plan) : own.sequence_parallel;
    l.cp_comm = own.cp == 1 && c.cp > 1 ? usual_cp_comm(plan) : own.cp_comm;
    const bool same = c.pp == own.pp && c.virtual_stages == own.virtual_stages
                      && traits_of(c.schedule).placement == traits_of(own.schedule).placement;
    if (same) {
        l.stage_layers = own.stage_layers;
        l.mtp_chunk = own.mtp_chunk;
    } else {
        l.stage_layers.clear();
        l.mtp_chunk.reset();
    }
    l.microbatch_group = same && c.schedule == own.schedule ? own.microbatch_group : std::nullopt;
    out.training.micro_batch = c.micro_batch;
    out.training.recompute = c.recompute;
    l.gradient_reduction = own.gradient_reduction;
    follow_software(plan, out);
}

}  // namespace pentamesh
