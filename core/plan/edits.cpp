#include "core/plan/edits.h"

#include "core/base/text.h"
#include "core/plan/field_list.h"

#include <algorithm>
#include <utility>

namespace pentamesh {

namespace {

// Returns the product of two positive numbers; kManyRanks where it is larger.
std::int64_t product(std::int64_t a, std::int64_t b) {
    return b > 0 && a > kManyRanks / b ? kManyRanks : std::min(a * b, kManyRanks);
}

// Returns tp * cp * pp, 0 on overflow or nonsense.
std::int64_t model_parallel(const Layout& l) {
    std::int64_t n = 1;
    for (const std::int64_t f : {l.tp, l.cp, l.pp}) n = product(n, std::max<std::int64_t>(f, 0));
    return n >= kManyRanks ? 0 : n;
}

std::vector<std::int64_t> divisors(std::int64_t n) {
    std::vector<std::int64_t> low, high;
    for (std::int64_t d = 1; d * d <= n; ++d)
        if (n % d == 0) {
            low.push_back(d);
            if (d != n / d) high.push_back(n / d);
        }
    low.insert(low.end(), high.rbegin(), high.rend());
    if (low.empty()) low.push_back(1);
    return low;
}

bool model_allows(const Plan& p, Axis axis, std::int64_t f) {
    switch (axis) {
    case Axis::tp: {
        const auto& m = p.model;
        const std::int64_t kv = std::max<std::int64_t>(1, m.kv_heads);
        if (m.attention == AttentionKind::compressed) return f == 1;  // compressed_tp, compressed_cp
        return m.heads % f == 0 && (m.attention == AttentionKind::mla || kv % f == 0 || f % kv == 0)
               && (m.ffn == 0 || m.ffn % f == 0);
    }
    case Axis::cp:
        if (p.model.attention == AttentionKind::compressed) return f == 1;
        return f == 1 || p.training.sequence_length % (2 * f) == 0;
    case Axis::pp: return f * p.layout.virtual_stages <= std::max<std::int64_t>(1, p.model.layers);
    case Axis::ep: return p.model.moe ? p.model.moe->experts % f == 0 : f == 1;
    case Axis::dp_shard:
    case Axis::dp_replicate: return true;
    }
    return true;
}

void set_factor(Layout& l, Axis axis, std::int64_t f) {
    switch (axis) {
    case Axis::tp: l.tp = f; break;
    case Axis::cp: l.cp = f; break;
    case Axis::ep: l.ep = f; break;
    case Axis::dp_shard: l.dp_shard = f; break;
    case Axis::dp_replicate: l.dp_replicate = f; break;
    case Axis::pp: l.pp = f; break;
    }
}

// Shares `dp` ranks between the data-parallel axes, keeping the user's choice where it divides.
void share_out(Layout& l, std::int64_t dp, std::int64_t replicate_before) {
    if (l.dp_shard > 1 && dp % replicate_before == 0) {
        l.dp_shard = dp / replicate_before;
        if (l.dp_replicate) l.dp_replicate = replicate_before;
        return;
    }
    if (dp % l.dp_shard != 0) l.dp_shard = dp;
    if (l.dp_replicate) l.dp_replicate = dp / l.dp_shard;
}

}  // namespace

int zero_in_force(const Plan& plan) {
    const Layout& l = plan.layout;
    return l.dp_shard * l.cp > 1 ? l.zero : 0;
}

std::int64_t replicas_in_force(const Plan& plan) {
    const Layout& l = plan.layout;
    if (l.dp_replicate) return *l.dp_replicate;
    std::int64_t left = std::max<std::int64_t>(plan.cluster.gpus, 0);
    for (const std::int64_t factor : {l.tp, l.cp, l.pp, l.dp_shard}) {
        if (factor < 1 || left % factor != 0) return 0;
        left /= factor;
    }
    return left;
}

std::int64_t factor_in_force(const Plan& plan, Axis axis) {
    return axis == Axis::dp_replicate ? replicas_in_force(plan) : factor_of(plan.layout, axis);
}

std::int64_t data_parallel(const Plan& plan) {
    return product(std::max<std::int64_t>(plan.layout.dp_shard, 0),
                   std::max<std::int64_t>(replicas_in_force(plan), 0));
}

std::int64_t ranks_laid_out(const Plan& plan) {
    std::int64_t n = data_parallel(plan);
    for (const std::int64_t f : {plan.layout.tp, plan.layout.cp, plan.layout.pp})
        n = product(n, std::max<std::int64_t>(f, 0));
    return n;
}

std::int64_t microbatches_of(const Plan& plan) {
    const Training& t = plan.training;
    const std::int64_t replicas = data_parallel(plan);
    if (t.micro_batch < 1 || replicas < 1) return 0;
    if (t.global_batch % t.micro_batch != 0) return 0;
    const std::int64_t calls = t.global_batch / t.micro_batch;
    return calls % replicas == 0 ? calls / replicas : 0;
}

double microbatches_or_one(const Plan& plan) {
    return static_cast<double>(std::max<std::int64_t>(microbatches_of(plan), 1));
}

std::vector<std::int64_t> legal_factors(const Plan& plan, Axis axis) {
    const Layout& l = plan.layout;
    std::int64_t room = plan.cluster.gpus;
    const auto take = [&](std::int64_t f) { room = f > 0 && room % f == 0 ? room / f : 1; };
    if (axis == Axis::ep) {
        take(l.pp);
        take(l.etp.value_or(l.tp));
    } else {
        if (axis != Axis::tp) take(l.tp);
        if (axis != Axis::cp) take(l.cp);
        if (axis != Axis::pp) take(l.pp);
    }
    std::vector<std::int64_t> out = divisors(std::max<std::int64_t>(1, room));
    std::erase_if(out, [&](std::int64_t f) { return f != 1 && !model_allows(plan, axis, f); });
    return out;
}

Plan with_factor(const Plan& plan, Axis axis, std::int64_t factor, bool keep_gpus) {
    Plan p = plan;
    Layout& l = p.layout;
    const std::int64_t before = data_parallel(plan);
    const std::int64_t replicate =
        l.dp_replicate.value_or(l.dp_shard > 0 && before > 0 ? before / l.dp_shard : 1);
    set_factor(l, axis, factor);
    if (axis == Axis::pp) l.stage_layers.clear(), l.mtp_chunk.reset();
    if (axis == Axis::pp && factor == 1) l.schedule = Layout{}.schedule, l.virtual_stages = 1;
    if (!keep_gpus || axis == Axis::ep) return p;
    const std::int64_t mp = model_parallel(l);
    if (mp <= 0 || p.cluster.gpus % mp != 0) return p;
    const std::int64_t dp = p.cluster.gpus / mp;
    if (axis == Axis::dp_shard) {
        if (l.dp_replicate && dp % l.dp_shard == 0) l.dp_replicate = dp / l.dp_shard;
    } else if (axis == Axis::dp_replicate) {
        if (dp % factor == 0) l.dp_shard = dp / factor;
    } else {
        share_out(l, dp, std::max<std::int64_t>(1, replicate));
    }
    return p;
}

std::int64_t factor_when_on(const Plan& plan, Axis axis) {
    const auto legal = legal_factors(plan, axis);
    if (legal.size() < 2) return 1;
    if (axis == Axis::dp_shard) return legal.back();
    if (axis != Axis::tp) return legal[1];
    const std::int64_t domain = plan.cluster.tiers.empty() ? 8 : domain_of(plan.cluster, 0);
    std::int64_t best = legal[1];
    for (const std::int64_t f : legal)
        if (f <= domain) best = std::max(best, f);
    return best;
}

namespace {

std::optional<FieldRange> shown(std::monostate) {
    return std::nullopt;
}
std::optional<FieldRange> shown(IntRange r) {
    return FieldRange{static_cast<double>(r.least), static_cast<double>(r.most), false, true};
}
std::optional<FieldRange> shown(NumberRange r) {
    return FieldRange{r.least, r.most, r.above, false};
}

bool doubles(std::string_view pointer) {
    return pointer == "/cluster/gpus" || pointer == "/training/global_batch"
           || pointer == "/training/sequence_length";
}

std::string number_text(double x) {
    return x == static_cast<double>(static_cast<std::int64_t>(x)) ? with_commas(static_cast<std::int64_t>(x))
                                                                  : three_digits(x);
}

}  // namespace

std::optional<FieldRange> range_of(std::string_view pointer) {
    const Plan plan;
    for (const auto& f : list_fields(plan))
        if (f.is(pointer)) return std::visit([](auto r) { return shown(r); }, f.range);
    return std::nullopt;
}

std::string range_text(const FieldRange& range) {
    const std::string noun = range.whole ? "a whole number " : "a number ";
    return noun + (range.above ? "above " : "from ") + number_text(range.least) + " to "
           + number_text(range.most);
}

std::int64_t next_value(std::string_view pointer, std::int64_t value, int by) {
    const std::optional<FieldRange> range = range_of(pointer);
    if (by == 0 || !range) return value;
    if (!range->allows(static_cast<double>(value)))  // back into the range first
        return static_cast<std::int64_t>(static_cast<double>(value) < range->least ? range->least
                                                                                   : range->most);
    std::int64_t next = value + (by > 0 ? 1 : -1);
    if (doubles(pointer)) {
        if (by < 0 && value % 2 != 0) return value;
        next = by > 0 ? value * 2 : value / 2;
    }
    return range->allows(static_cast<double>(next)) ? next : value;
}

namespace {

using enum Axis;

constexpr std::array<OrderPreset, 8> kPresets{{
    {"Megatron",
     {tp, cp, ep, dp_shard, dp_replicate, pp},
     "tp-cp-ep-dp-pp, innermost first",
     "NVIDIA/Megatron-LM megatron/core/parallel_state.py, initialize_model_parallel(order)",
     ""},
    {"Megatron tp-pp-dp",
     {tp, cp, ep, pp, dp_shard, dp_replicate},
     "tp-cp-ep-pp-dp, innermost first",
     "NVIDIA/Megatron-LM megatron/training/initialize.py, --use-tp-pp-dp-mapping",
     "with experts, only where edp = dp"},
    {"torchtitan",
     {tp, ep, cp, dp_shard, dp_replicate, pp},
     "pp, dp_replicate, dp_shard, cp, tp, outermost first; sparse pp, dp_replicate, efsdp, ep",
     "pytorch/torchtitan torchtitan/distributed/parallel_dims.py",
     "experts: etp = 1, efsdp = dp_shard × cp × tp / ep"},
    {"accelerate",
     {tp, cp, ep, dp_shard, dp_replicate, pp},
     "dp_replicate, dp_shard, cp, sp, tp, outermost first",
     "huggingface/accelerate src/accelerate/parallelism_config.py",
     "no pipeline, no expert axis"},
    {"nanotron",
     {tp, cp, dp_shard, dp_replicate, pp, ep},
     "ep, pp, dp, cp, tp, outermost first",
     "huggingface/nanotron src/nanotron/parallel/context.py",
     "there ep multiplies the world instead of re-folding it"},
    {"picotron",
     {tp, cp, ep, pp, dp_shard, dp_replicate},
     "dp, pp, cp, tp, outermost first",
     "huggingface/picotron picotron/process_group_manager.py",
     "no expert axis"},
    {"DeepSpeed",
     {tp, cp, ep, dp_shard, dp_replicate, pp},
     "pipe, data, model, outermost first",
     "deepspeedai/DeepSpeed deepspeed/runtime/pipe/topology.py, PipeModelDataParallelTopology",
     ""},
    {"Llama 3",
     {tp, cp, ep, pp, dp_shard, dp_replicate},
     "TP, CP, PP, DP, innermost first",
     "Llama Team 2024 (The Llama 3 Herd of Models), section 3.3.2",
     "no expert axis"},
}};

}  // namespace

std::span<const OrderPreset> order_presets() {
    return kPresets;
}

std::string_view order_name(const std::array<Axis, kAxisCount>& order) {
    for (const OrderPreset& o : order_presets())
        if (o.order == order) return o.name;
    return "custom";
}

namespace {

using Names = std::vector<std::string>;
using Written = FieldPlace<false>;
using Read = FieldPlace<true>;

EditValue value_of(const std::int64_t* v) {
    return *v;
}
EditValue value_of(const int* v) {
    return std::int64_t{*v};
}
EditValue value_of(const bool* v) {
    return *v;
}
EditValue value_of(const double* v) {
    return *v;
}
EditValue value_of(const std::optional<std::int64_t>* v) {
    return v->value_or(0);
}
EditValue value_of(const RecomputeChoice* v) {
    return std::string(name_of(v->kind));
}
EditValue value_of(const Read::Choice& v) {
    return std::string(v.names[*v.value]);
}
EditValue value_of(const std::array<Axis, kAxisCount>* order) {
    Names names;
    names.reserve(order->size());
    for (const Axis a : *order) names.emplace_back(name_of(a));
    return names;
}
EditValue value_of(const std::vector<std::int64_t>* v) {
    return *v;
}

// An edit cannot express these: that a field is no longer stated, or which modules.
template <typename T>
bool expressible(const T&) {
    return true;
}
bool expressible(const RecomputeChoice* v) {
    return v->is_plain();
}
bool expressible(const std::optional<std::int64_t>* v) {
    return v->has_value();
}

// Both return false where the value is of another type.
template <typename T, typename Field>
bool take(Field& field, const EditValue& v) {
    const T* found = std::get_if<T>(&v);
    if (found) field = static_cast<Field>(*found);
    return found != nullptr;
}
bool set(std::int64_t* field, const EditValue& v) {
    return take<std::int64_t>(*field, v);
}
bool set(int* field, const EditValue& v) {
    return take<std::int64_t>(*field, v);
}
bool set(bool* field, const EditValue& v) {
    return take<bool>(*field, v);
}
bool set(double* field, const EditValue& v) {
    return take<double>(*field, v);
}
bool set(std::optional<std::int64_t>* field, const EditValue& v) {
    const auto* n = std::get_if<std::int64_t>(&v);
    if (n) *field = *n;
    return n != nullptr;
}
bool set(RecomputeChoice* field, const EditValue& v) {
    const auto* name = std::get_if<std::string>(&v);
    const auto kind = name ? parse_name<Recompute>(*name) : std::nullopt;
    if (kind) *field = *kind;
    return kind.has_value();
}
bool set(const Written::Choice& field, const EditValue& v) {
    const auto* name = std::get_if<std::string>(&v);
    const auto at = name ? std::find(field.names.begin(), field.names.end(), *name) : field.names.end();
    if (at == field.names.end()) return false;
    *field.value = static_cast<std::uint8_t>(at - field.names.begin());
    return true;
}
bool set(std::array<Axis, kAxisCount>* field, const EditValue& v) {
    const auto* names = std::get_if<Names>(&v);
    if (!names || names->size() != field->size()) return false;
    for (std::size_t i = 0; i < field->size(); ++i) {
        const std::optional<Axis> axis = parse_name<Axis>((*names)[i]);
        if (!axis) return false;
        (*field)[i] = *axis;
    }
    return true;
}
bool set(std::vector<std::int64_t>* field, const EditValue& v) {
    return take<std::vector<std::int64_t>>(*field, v);
}

// Returns the edit that gives `before` the value of `after`, where there is one.
std::optional<EditValue> difference(const Read::Any& before, const Read::Any& after) {
    return std::visit(
        [&](const auto& now) -> std::optional<EditValue> {
            const auto& then = std::get<std::decay_t<decltype(now)>>(before);
            if (same_value(then, now) || !expressible(now)) return std::nullopt;
            return value_of(now);
        },
        after);
}

}  // namespace

void state_over_preset(Source& source, std::string_view path) {
    constexpr std::string_view owner = "/cluster";
    if (source.preset.empty() || !path.starts_with(owner) || path.size() <= owner.size()) return;
    const std::string_view pointer = path.substr(owner.size());
    if (std::find(source.overrides.begin(), source.overrides.end(), pointer) == source.overrides.end())
        source.overrides.emplace_back(pointer);
}

EditValue edit_value_of(const Read::Any& place) {
    return std::visit([](const auto& v) { return value_of(v); }, place);
}

bool set_value(const Written::Any& place, const EditValue& value) {
    return std::visit([&](const auto& field) { return set(field, value); }, place);
}

std::vector<Edit> edits_between(const Plan& from, const Plan& to) {
    std::vector<Edit> edits;
    const auto before = list_fields(from), after = list_fields(to);
    for (std::size_t i = 0; i < after.size(); ++i)
        if (auto value = difference(before[i].place, after[i].place))
            edits.push_back({after[i].pointer(), std::move(*value)});
    return edits;
}

std::vector<Edit> needed_edits(const Plan& from, const Plan& to) {
    Plan derived = to;
    if (!from.layout.dp_replicate) {
        derived.layout.dp_replicate.reset();
        if (replicas_in_force(derived) != replicas_in_force(to)) derived = to;
    }
    return edits_between(from, derived);
}

bool apply_in_core(Plan& plan, const std::vector<Edit>& edits) {
    const auto fields = list_fields(plan);
    return std::all_of(edits.begin(), edits.end(), [&](const Edit& edit) {
        const auto at =
            std::find_if(fields.begin(), fields.end(), [&](const auto& f) { return f.is(edit.path); });
        state_over_preset(plan.cluster_source, edit.path);
        return at != fields.end() && set_value(at->place, edit.value);
    });
}

namespace {

struct ValueWords {
    std::string operator()(std::int64_t n) const { return with_commas(n); }
    std::string operator()(double x) const { return three_digits(x); }
    std::string operator()(bool b) const { return b ? "on" : "off"; }
    std::string operator()(const std::string& s) const { return s; }
    std::string operator()(const std::vector<std::string>& list) const { return join(list, "-"); }
    std::string operator()(const std::vector<std::int64_t>& list) const {
        std::string text;
        for (std::size_t i = 0, next = 0; i < list.size(); i = next) {
            while (next < list.size() && list[next] == list[i]) ++next;
            text += (text.empty() ? "" : ", ") + with_commas(list[i]);
            if (next - i > 1) text += sentence(" (", next - i, " times)");
        }
        return text.empty() ? "an even split" : text;
    }
};

}  // namespace

std::string words_of(const EditValue& value) {
    return std::visit(ValueWords{}, value);
}

std::string_view field_of(const Edit& edit) {
    return std::string_view(edit.path).substr(edit.path.rfind('/') + 1);
}

std::string words_of(const std::vector<Edit>& edits) {
    std::string text;
    for (std::size_t i = 0; i < edits.size(); ++i)
        text += sentence(i == 0                  ? ""
                         : i + 1 == edits.size() ? " and "
                                                 : ", ",
                         field_of(edits[i]), " = ", words_of(edits[i].value));
    return text;
}

Plan with_gpus(const Plan& plan, std::int64_t gpus) {
    Plan p = plan;
    p.cluster.gpus = std::clamp(gpus, kDegree.least, kDegree.most);
    state_over_preset(p.cluster_source, "/cluster/gpus");
    return with_factor(p, Axis::tp, p.layout.tp, true);
}

Plan with_gpus_as_replicas(const Plan& plan, std::int64_t gpus) {
    Plan p = plan;
    p.cluster.gpus = std::clamp(gpus, kDegree.least, kDegree.most);
    Layout& l = p.layout;
    l.dp_replicate.reset();  // the rest of the cluster
    const std::int64_t replicas = replicas_in_force(p);
    if (replicas < 1) return with_gpus(plan, gpus);
    if (plan.layout.dp_replicate) l.dp_replicate = replicas;
    state_over_preset(p.cluster_source, "/cluster/gpus");
    return p;
}

Plan with_gpus_per_node(const Plan& plan, std::int64_t gpus) {
    Plan p = plan;
    if (p.cluster.tiers.size() < 2) return p;
    std::int64_t most = kDegree.most;                     // the next tier spans more
    const std::int64_t next = p.cluster.tiers[1].domain;  // 0: the cluster
    if (next > 0) most = std::max(kDegree.least, next - 1);
    p.cluster.tiers.front().domain = std::clamp(gpus, kDegree.least, most);
    const auto& stated = p.cluster_source.overrides;
    const auto says = [&](std::string_view pointer) {
        return std::find(stated.begin(), stated.end(), pointer) != stated.end();
    };
    if (!says("/fast_domain") && !says("/tiers"))
        state_over_preset(p.cluster_source, "/cluster/gpus_per_node");
    return p;
}

Plan with_cluster(const Plan& plan, Cluster cluster, std::string preset) {
    Plan p = plan;
    cluster.gpus = plan.cluster.gpus;
    p.cluster = std::move(cluster);
    p.cluster_source = {std::move(preset), {}};
    state_over_preset(p.cluster_source, "/cluster/gpus");
    return p;
}

Plan with_tiers(const Plan& plan, std::vector<Tier> tiers) {
    Plan p = plan;
    p.cluster.tiers = std::move(tiers);
    std::vector<std::string>& stated = p.cluster_source.overrides;
    if (!p.cluster_source.preset.empty() && std::find(stated.begin(), stated.end(), "/tiers") == stated.end())
        stated.emplace_back("/tiers");
    // The tiers state it themselves, and a single one spans the whole cluster.
    std::erase_if(stated, [](const std::string& s) { return s == "/fast_domain" || s == "/gpus_per_node"; });
    return p;
}

Model plain_model() {
    Model m;
    m.name = "New model";
    m.layers = 32, m.hidden = 4096, m.heads = m.kv_heads = 32, m.head_dim = 128;
    m.ffn = 11008, m.vocab = 32000;
    return m;
}

Plan with_model(const Plan& plan, Model model, std::string preset) {
    Plan p = plan;
    p.model = std::move(model);
    p.model_source = {std::move(preset), {}};
    p.layout.stage_layers.clear();
    p.layout.mtp_chunk.reset();
    if (!p.model.moe) {
        p.layout.ep = 1;
        p.layout.etp.reset();
    }
    return p;
}

Plan with_plain_layout(const Plan& plan) {
    Plan p = plan;
    p.layout = {};
    p.layout.dp_shard = p.cluster.gpus;
    p.layout.zero = 3;
    p.training.micro_batch = 1;
    const std::int64_t rounds = std::max<std::int64_t>(1, p.training.global_batch / p.cluster.gpus);
    p.training.global_batch = rounds * p.cluster.gpus;
    return p;
}

bool is_own_model(const Plan& plan) {
    return plan.model_source.preset.empty() || !plan.model_source.overrides.empty();
}

Plan with_schedule(const Plan& plan, Schedule schedule, std::int64_t virtual_stages) {
    Plan p = plan;
    p.layout.schedule = schedule;
    if (p.layout.virtual_stages != virtual_stages) {
        p.layout.stage_layers.clear();
        p.layout.mtp_chunk.reset();
    }
    p.layout.virtual_stages = virtual_stages;
    p.layout.microbatch_group.reset();
    return p;
}

Plan with_stage_layers(const Plan& plan, std::vector<std::int64_t> layers) {
    Plan p = plan;
    p.layout.stage_layers = std::move(layers);
    return p;
}

Plan with_order(const Plan& plan, const AxisOrder& order) {
    Plan p = plan;
    p.layout.order = order;
    return p;
}

AxisOrder moved(const AxisOrder& order, std::size_t from, std::size_t to) {
    AxisOrder out = order;
    const auto at = [&](std::size_t i) { return out.begin() + static_cast<std::ptrdiff_t>(i); };
    if (from < to) std::rotate(at(from), at(from + 1), at(to + 1));
    if (to < from) std::rotate(at(to), at(from), at(from + 1));
    return out;
}

Plan in_place_of(const Plan& open, Plan proposed) {
    proposed.name = open.name;
    proposed.notes = open.notes;
    proposed.review = open.review;
    proposed.scene = open.scene;
    return proposed;
}

Plan with_number(const Plan& plan, std::string_view pointer, std::int64_t value) {
    if (pointer == "/cluster/gpus") return with_gpus(plan, value);
    Plan p = plan;
    for (const auto& f : list_fields(p)) {
        const auto* range = std::get_if<IntRange>(&f.range);
        if (range && f.is(pointer)) (void)set_value(f.place, std::clamp(value, range->least, range->most));
    }
    return p;
}

}  // namespace pentamesh
