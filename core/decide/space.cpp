#include "core/decide/space.h"

#include "core/base/number.h"
#include "core/base/text.h"
#include "core/decide/constraints.h"
#include "core/io/plan_json.h"
#include "core/pipeline/schedules/schedule.h"
#include "core/pipeline/sequence.h"
#include "core/plan/edits.h"
#include "core/plan/field_list.h"
#include "core/plan/names.h"
#include "core/rules/software_runs.h"

#include <algorithm>
#include <string_view>

namespace pentamesh {
namespace {

struct VariedName {
    std::string_view name, pointer, usual;
};
constexpr EnumArray<Varied, VariedName> kVaried{
    {{{"tp", "/layout/tp", "divisors of the GPUs inside the fast domain"},
      {"cp", "/layout/cp", "divisors of the GPUs that leave a rank 1,024 tokens"},
      {"pp", "/layout/pp", "divisors of the GPUs up to the layers"},
      {"virtual_stages", "/layout/virtual_stages", "1 to 8"},
      {"schedule", "/layout/schedule", "all"},
      {"ep", "/layout/ep", "divisors of the experts"},
      {"etp", "/layout/etp", "those of tp"},
      {"dp_shard", "/layout/dp_shard", "divisors of the GPUs"},
      {"dp_replicate", "/layout/dp_replicate", "divisors of the GPUs"},
      {"zero", "/layout/zero", "0 to 3"},
      {"micro_batch", "/training/micro_batch", "1, 2, 4, 8 that divide the batch"},
      {"recompute", "/training/recompute", "none, selective, full"},
      {"order", "/layout/order", "the frameworks' own"},
      {"gradients", "/training/gradients", "the plan's own; varied: bf16, fp32"},
      {"optimizer_state", "/training/optimizer_state", "the plan's own; varied: bf16, fp32"},
      {"reshard", "/layout/reshard", "the plan's own; varied: after_forward, never"},
      {"overlap.tp", "/training/overlap/tp", "the plan's own; varied: off, on"},
      {"overlap.pp", "/training/overlap/pp", "the plan's own; varied: off, on"},
      {"offload.activations_layers", "/training/offload/activations_layers",
       "the plan's own; varied: none, quarters of the layers"},
      {"offload.optimizer", "/training/offload/optimizer",
       "the plan's own; varied: 0, 0.25, 0.5, 0.75, 1"}}}};

constexpr std::int64_t kMostChunksTried = 8, kFewestTokens = 1024, kMostMicroBatch = 8;

template <typename T>
void tidy(std::vector<T>& list) {
    std::sort(list.begin(), list.end());
    list.erase(std::unique(list.begin(), list.end()), list.end());
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
    const SettingChoice own = settings_of(p);
    s.gradients = {own.gradients}, s.optimizer_state = {own.optimizer_state};
    s.reshard = {own.reshard}, s.overlap_tp = {own.overlap_tp}, s.overlap_pp = {own.overlap_pp};
    s.offload_layers = {own.offload_layers}, s.offload_optimizer = {own.offload_optimizer};
    return s;
}

}  // namespace

std::string_view name_of(Varied v) {
    return kVaried[v].name;
}
std::string_view pointer_of(Varied v) {
    return kVaried[v].pointer;
}
std::string_view usual_values(Varied v) {
    return kVaried[v].usual;
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
    constrain(plan, request, own, space, error);
    if (error) return space;
    for (auto* list : {&space.tp, &space.cp, &space.pp, &space.virtual_stages, &space.ep, &space.etp,
                       &space.dp_shard, &space.dp_replicate, &space.micro_batch})
        tidy(*list);
    tidy(space.schedule);
    tidy(space.zero);
    tidy(space.gradients);
    tidy(space.optimizer_state);
    tidy(space.reshard);
    tidy(space.overlap_tp);
    tidy(space.overlap_pp);
    tidy(space.offload_layers);
    tidy(space.offload_optimizer);
    // A plan whose factors do not fill the cluster has no replicas of its own.
    if (space.dp_replicate.size() > 1) std::erase(space.dp_replicate, 0);
    return space;
}

double headroom_of(const SearchSpace& space, const Cluster& cluster, std::optional<double> asked,
                   double usual) {
    if (!space.most_memory || cluster.gpu.hbm_bytes <= 0) return asked.value_or(usual);
    return std::max(asked.value_or(0), 1 - *space.most_memory / cluster.gpu.hbm_bytes);
}

std::vector<std::string> SearchSpace::values_of(Varied v) const {
    std::vector<std::string> out;
    const auto quoted = [](std::string_view s) { return "\"" + std::string(s) + "\""; };
    with_list(v, [&](auto member) {
        for (const auto& value : this->*member) {
            using T = std::decay_t<decltype(value)>;
            if constexpr (std::is_same_v<T, Switched>) {
                out.emplace_back(value == Switched::on ? "true" : "false");
            } else if constexpr (std::is_enum_v<T>) {
                out.push_back(quoted(name_of(value)));
            } else if constexpr (std::is_same_v<T, RecomputeChoice>) {
                out.push_back(quoted(words_of(value)));
            } else if constexpr (std::is_same_v<T, AxisOrder>) {
                const std::string axes = join(value, "-");
                out.push_back(quoted(axes));
            } else {
                out.push_back(nlohmann::ordered_json(value).dump());
            }
        }
    });
    return out;
}

SettingChoice settings_of(const Plan& plan) {
    const Training& t = plan.training;
    return {t.gradients,
            t.optimizer_state,
            plan.layout.reshard,
            t.overlap.tp ? Switched::on : Switched::off,
            t.overlap.pp ? Switched::on : Switched::off,
            t.offload.activations_layers,
            t.offload.optimizer};
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
    out.training.gradients = c.settings.gradients;
    out.training.optimizer_state = c.settings.optimizer_state;
    out.training.overlap.tp = c.settings.overlap_tp == Switched::on;
    out.training.overlap.pp = c.settings.overlap_pp == Switched::on;
    out.training.offload.activations_layers = c.settings.offload_layers;
    out.training.offload.optimizer = c.settings.offload_optimizer;
    l.reshard = c.settings.reshard;
    l.gradient_reduction = own.gradient_reduction;
    follow_software(plan, out);
}

bool is_laid_out_as(const Plan& a, const Plan& b) {
    return a.layout == b.layout && a.training == b.training;
}

namespace {

using Json = nlohmann::ordered_json;
using ComparedPlace = FieldPlace<true>;
constexpr std::string_view kGpu = "/cluster/gpu";

// Gives a value of the field list as JSON; null for an optional field or a list that is left out. A choice of
// recomputed modules is an object in the plan file.
Json json_of(const Plan& plan, const ComparedPlace::Any& place) {
    if (std::holds_alternative<const RecomputeChoice*>(place))
        return plan_to_json(plan)["training"]["recompute"];
    const auto* maybe = std::get_if<const std::optional<std::int64_t>*>(&place);
    const auto* list = std::get_if<const std::vector<std::int64_t>*>(&place);
    if ((maybe && !**maybe) || (list && (*list)->empty())) return nullptr;
    return std::visit([](const auto& value) { return Json(value); }, edit_value_of(place));
}

template <typename T>
void put(T* to, const T* from) {
    *to = *from;
}
void put(const FieldPlace<false>::Choice& to, const ComparedPlace::Choice& from) {
    *to.value = *from.value;
}

// Copies between places of the two lists, which differ only in const.
void copy_place(const ComparedPlace::Any& from, const FieldPlace<false>::Any& to) {
    std::visit(
        [&](const auto& written) {
            if constexpr (std::is_same_v<std::decay_t<decltype(written)>, FieldPlace<false>::Choice>)
                put(written, std::get<ComparedPlace::Choice>(from));
            else
                put(written, std::get<const std::remove_pointer_t<std::decay_t<decltype(written)>>*>(from));
        },
        to);
}

// Gives `to` the part of `from` that the field list holds.
void copy_listed(const Cluster& from, Cluster& to) {
    to.gpus = from.gpus;
    to.price_per_gpu_hour = from.price_per_gpu_hour;
    to.gpu_watts = from.gpu_watts;
    to.pue = from.pue;
    to.failures_per_gpu_day = from.failures_per_gpu_day;
}
// Returns the cluster without that part.
Cluster rest_of(Cluster c) {
    copy_listed({}, c);
    return c;
}

Json document_of(const Plan& plan, FieldUnit::Kind kind) {
    if (kind == FieldUnit::Kind::model) return model_to_json(plan.model);
    Json out = cluster_to_json(rest_of(plan.cluster), {});
    out.erase("gpus");
    out["gpu"] = gpu_to_json(plan.cluster.gpu);  // every figure, also of one that has a name
    return out;
}

// Lists the differences inside a model or cluster: the presets where these differ, the GPU where that is
// another one, else the innermost values.
std::vector<std::string> inside(const Plan& a, const Plan& b, FieldUnit::Kind kind) {
    const bool model = kind == FieldUnit::Kind::model;
    const std::string owner = model ? "/model" : "/cluster";
    const Source &sa = model ? a.model_source : a.cluster_source,
                 &sb = model ? b.model_source : b.cluster_source;
    if (sa.preset != sb.preset) return {owner};
    Json wa = document_of(a, kind), wb = document_of(b, kind);
    std::vector<std::string> out;
    if (!model && a.cluster.gpu.id != b.cluster.gpu.id) {
        out.emplace_back(kGpu);
        wa.erase("gpu"), wb.erase("gpu");
    }
    const Json da = wa.flatten(), db = wb.flatten();
    for (const auto& item : da.items())
        if (!db.contains(item.key()) || db[item.key()] != item.value()) out.push_back(owner + item.key());
    for (const auto& item : db.items())
        if (!da.contains(item.key())) out.push_back(owner + item.key());
    return out;
}

std::string words_of_json(const Json& v) {
    if (v.is_null()) return "left out";
    if (v.is_boolean()) return v.get<bool>() ? "on" : "off";
    if (v.is_string()) return v.get<std::string>();
    if (v.is_number_integer()) return with_commas(v.get<std::int64_t>());
    if (v.is_number()) return three_digits(v.get<double>());
    if (v.is_array() && !v.empty() && v[0].is_string())
        return join(v, "-", [](const Json& one) { return one.get<std::string>(); });
    return v.dump();
}

// Returns the plan's value at a pointer that units_between gave; null where the plan leaves it out.
Json value_at(const Plan& plan, const std::string& pointer) {
    for (const auto& f : list_fields(plan))
        if (f.is(pointer)) return json_of(plan, f.place);
    const auto named = [](const std::string& preset, const std::string& name) {
        return Json(preset.empty() ? name : preset);
    };
    if (pointer == "/model") return named(plan.model_source.preset, plan.model.name);
    if (pointer == "/cluster") return named(plan.cluster_source.preset, plan.cluster.name);
    if (pointer == kGpu) return named(plan.cluster.gpu.id, plan.cluster.gpu.name);
    const bool model = pointer.starts_with("/model/");
    const Json document = document_of(plan, model ? FieldUnit::Kind::model : FieldUnit::Kind::cluster);
    return document.value(Json::json_pointer(pointer.substr(pointer.find('/', 1))), Json());
}

}  // namespace

std::vector<FieldUnit> units_between(const Plan& a, const Plan& b) {
    std::vector<FieldUnit> out;
    if (!(a.model == b.model)) out.push_back({FieldUnit::Kind::model, inside(a, b, FieldUnit::Kind::model)});
    if (!(rest_of(a.cluster) == rest_of(b.cluster)))
        out.push_back({FieldUnit::Kind::cluster, inside(a, b, FieldUnit::Kind::cluster)});
    const auto fa = list_fields(a), fb = list_fields(b);
    for (std::size_t i = 0; i < fa.size(); ++i) {
        const bool same = std::visit(
            [&](const auto& x) { return same_value(x, std::get<std::decay_t<decltype(x)>>(fb[i].place)); },
            fa[i].place);
        if (!same) out.push_back({FieldUnit::Kind::field, {fa[i].pointer()}});
    }
    return out;
}

void take(const FieldUnit& unit, const Plan& from, Plan& to) {
    if (unit.kind == FieldUnit::Kind::model) {
        to.model = from.model;
        to.model_source = from.model_source;
        return;
    }
    if (unit.kind == FieldUnit::Kind::cluster) {
        const Cluster own = to.cluster;
        to.cluster = from.cluster;
        to.cluster_source = from.cluster_source;
        copy_listed(own, to.cluster);
        return;
    }
    const auto read = list_fields(from);
    const auto written = list_fields(to);
    for (std::size_t i = 0; i < read.size(); ++i)
        if (read[i].is(unit.pointers.front())) copy_place(read[i].place, written[i].place);
    state_over_preset(to.cluster_source, unit.pointers.front());
}

std::string json_text_of(const Plan& plan, const std::string& pointer) {
    return value_at(plan, pointer).dump();
}

std::vector<std::string> sets_between(const Plan& a, const Plan& b) {
    std::vector<std::string> out;
    for (const FieldUnit& unit : units_between(a, b))
        for (const std::string& pointer : unit.pointers)
            out.push_back(pointer + "=" + json_text_of(b, pointer));
    return out;
}

std::string words_of_change(const FieldUnit& unit, const Plan& from, const Plan& to) {
    std::string out;
    for (const std::string& pointer : unit.pointers) {
        const std::size_t owner = pointer.find('/', 1);
        const std::string name = pointer.substr(owner == std::string::npos ? 1 : owner + 1);
        out += (out.empty() ? "" : ", ") + name + " " + words_of_json(value_at(from, pointer)) + " -> "
               + words_of_json(value_at(to, pointer));
    }
    return out;
}

}  // namespace pentamesh
