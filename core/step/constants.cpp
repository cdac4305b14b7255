#include "core/step/constants.h"

#include "core/base/json_reader.h"
#include "core/base/text.h"
#include "core/io/plan_json.h"
#include "core/plan/names.h"
#include "core/plan/plan_fields.h"
#include "core/plan/software.h"
#include "core/step/compute.h"

#include <algorithm>
#include <cmath>
#include <optional>

namespace pentamesh {
namespace {

using Measure = Constant::Unit;

// Says what each constant of the efficiency means, in the order of kEfficiencyKeys.
constexpr std::array<std::string_view, kEfficiencyKeys.size()> kEfficiencyMeanings{
    "Share of the dense 16-bit peak that a large, well-shaped product reaches.",
    "The same against the fp8 peak, scaling counted in.",
    "The same against the fp4 peak, scaling counted in.",
    "Share of the 16-bit peak that the experts' grouped products reach; in other types as much less than "
    "other products.",
    "Share of the 16-bit peak that fused attention reaches.",
    "Share of the HBM bandwidth that element-wise kernels reach.",
    "Share of the first tier's bandwidth that rings reach.",
    "Share of the slower tiers' bandwidth that rings reach.",
    "Share of a link's bandwidth that an all-to-all reaches beyond the first tier.",
    "Speed of compute with traffic next to it, over its speed without; 0: nothing hides.",
    "Start and tail of one kernel on the GPU.",
    "Host time of one operation of the framework, with the kernels that it launches: a layer takes at least "
    "its launches.",
    "Once per step: data, clipping, logging.",
    "The range beside a figure is this at least, where no measured run had such a GPU."};

struct RateConstant {
    std::string_view id, name, meaning;
    Measure unit;
    double (*read)(const Gpu&);
    void (*write)(Gpu&, double);
    std::string_view pointer;
};
constexpr std::array<RateConstant, 4> kRates{{
    {"flops.bf16", "16-bit peak", "Dense FLOP/s in bf16, without sparsity.", Measure::flops_per_s,
     [](const Gpu& g) { return g.flops.bf16; }, [](Gpu& g, double x) { g.flops.bf16 = x; },
     "/gpu/flops/bf16"},
    {"flops.fp8", "fp8 peak", "Dense FLOP/s in fp8, without sparsity.", Measure::flops_per_s,
     [](const Gpu& g) { return g.flops.fp8; }, [](Gpu& g, double x) { g.flops.fp8 = x; }, "/gpu/flops/fp8"},
    {"flops.fp4", "fp4 peak", "Dense FLOP/s in fp4, without sparsity.", Measure::flops_per_s,
     [](const Gpu& g) { return g.flops.fp4; }, [](Gpu& g, double x) { g.flops.fp4 = x; }, "/gpu/flops/fp4"},
    {"hbm_bytes_per_s", "HBM bandwidth", "Bytes per second between a GPU and its own memory.",
     Measure::bytes_per_s, [](const Gpu& g) { return g.hbm_bytes_per_s; },
     [](Gpu& g, double x) { g.hbm_bytes_per_s = x; }, "/gpu/hbm_bytes_per_s"},
}};

struct TierConstant {
    std::string_view key, name, meaning;
    Measure unit;
    double least, most;
};
constexpr std::array<TierConstant, 4> kTierWords{{
    {"bytes_per_s", "bandwidth", "Of one GPU, in one direction.", Measure::bytes_per_s, 1, kMostRate},
    {"latency_s", "latency", "Of one step of a ring.", Measure::seconds, 0, kMostLatency_s},
    {"oversubscription", "oversubscription", "What crosses this tier gets the bandwidth divided by this.",
     Measure::ratio, 1, kMostOversubscription},
    {"in_network_reduction", "in-network reduction",
     "The switches add up on the way: an all-reduce sends each number once.", Measure::flag, 0, 1},
}};

double read(const Tier& t, std::size_t field) {
    switch (field) {
    case 0: return t.bytes_per_s;
    case 1: return t.latency_s;
    case 2: return t.oversubscription;
    default: return t.in_network_reduction ? 1 : 0;
    }
}
void write(Tier& t, std::size_t field, double x) {
    switch (field) {
    case 0: t.bytes_per_s = x; break;
    case 1: t.latency_s = x; break;
    case 2: t.oversubscription = x; break;
    default: t.in_network_reduction = x != 0; break;
    }
}

// Describes a constant of the training, where the plan may know better than the software's preset.
struct TrainingConstant {
    std::string_view id, name, meaning;
    ConstantSection section;
    Measure unit;
    double (*read)(const Training&);  // 0: as shipped
    double (*ships)(const Training&);
    void (*write)(Training&, double);
    double least, most;
};
constexpr std::array<TrainingConstant, 4> kTrainingConstants{{
    {"buffers.communicator_bytes", "communicator", "Bytes that NCCL takes for each process group of a GPU.",
     ConstantSection::memory, Measure::bytes, [](const Training& t) { return t.buffers.communicator_bytes; },
     [](const Training&) { return kCommunicatorBytes.mid; },
     [](Training& t, double x) { t.buffers.communicator_bytes = x; }, 0, kMostRate},
    {"buffers.context_bytes", "CUDA context", "Bytes of the driver's context, kernels and libraries.",
     ConstantSection::memory, Measure::bytes, [](const Training& t) { return t.buffers.context_bytes; },
     [](const Training& t) { return facts_of(t.software).context_bytes.mid; },
     [](Training& t, double x) { t.buffers.context_bytes = x; }, 0, kMostRate},
    {"buffers.fragmentation", "fragmentation",
     "Share of the allocated bytes that the allocator reserves beyond them.", ConstantSection::memory,
     Measure::share, [](const Training& t) { return t.buffers.fragmentation; },
     [](const Training& t) { return facts_of(t.software).reserved.mid - 1; },
     [](Training& t, double x) { t.buffers.fragmentation = x; }, 0, 10},
    {"costly_share", "costly from",
     "The Map calls an axis costly that the step waits longer for, as a share.", ConstantSection::verdict,
     Measure::share, [](const Training& t) { return t.costly_share; },
     [](const Training&) { return kCostlyShare; }, [](Training& t, double x) { t.costly_share = x; }, 0.001,
     1},
}};

// Holds the shipped values: the GPU's preset and the cluster's, where the plan names them.
struct Shipped {
    std::optional<Gpu> gpu;
    std::optional<Cluster> cluster;
    std::string gpu_source, efficiency_source, cluster_source;
};

const Presets::Entry* entry_in(const Presets& presets, PresetKind kind, std::string_view id) {
    for (const Presets::Entry& e : presets.list(kind))
        if (e.id == id) return &e;
    return nullptr;
}

Shipped shipped_of(const Plan& plan, const Presets& presets) {
    Shipped s;
    const std::string &gpu = plan.cluster.gpu.id, &cluster = plan.cluster_source.preset;
    if (!gpu.empty() && presets.has(PresetKind::gpu, gpu)) {
        s.gpu = presets.gpu(gpu);
        if (const Presets::Entry* e = entry_in(presets, PresetKind::gpu, gpu)) {
            s.gpu_source = e->source;
            s.efficiency_source = e->efficiency_source.empty() ? e->source : e->efficiency_source;
        }
    }
    if (!cluster.empty() && presets.has(PresetKind::cluster, cluster)) {
        s.cluster = presets.cluster(cluster);
        if (const Presets::Entry* e = entry_in(presets, PresetKind::cluster, cluster))
            s.cluster_source = e->source;
        if (s.cluster->tiers.size() != plan.cluster.tiers.size()) s.cluster.reset();
    }
    return s;
}

void state(Source& source, std::string pointer, bool stated) {
    const auto it = std::find(source.overrides.begin(), source.overrides.end(), pointer);
    if (stated && it == source.overrides.end()) source.overrides.push_back(std::move(pointer));
    if (!stated && it != source.overrides.end()) source.overrides.erase(it);
}

void state_gpu(Plan& plan, const Shipped& shipped, const std::string& pointer, bool changed) {
    Source& source = plan.cluster_source;
    if (changed) state(source, "/gpu", true);
    state(source, pointer, changed);
    const bool below = std::any_of(source.overrides.begin(), source.overrides.end(),
                                   [](const std::string& o) { return o.rfind("/gpu/", 0) == 0; });
    // The cluster's preset has this GPU already.
    if (!below && shipped.cluster && shipped.cluster->gpu.id == plan.cluster.gpu.id)
        state(source, "/gpu", false);
}

void state_tiers(Plan& plan, const Shipped& shipped) {
    if (plan.cluster_source.preset.empty()) return;
    bool changed = !shipped.cluster;
    for (std::size_t i = 0; i < plan.cluster.tiers.size() && !changed; ++i) {
        Tier a = plan.cluster.tiers[i], b = shipped.cluster->tiers[i];
        if (i == 0) a.domain = b.domain = 0;  // fast_domain says it
        changed = !(a == b);
    }
    state(plan.cluster_source, "/tiers", changed);
}

}  // namespace

std::string calibrated_text(const Calibration& c) {
    return "calibrated from " + count_text(c.runs, "run") + (c.from.empty() ? "" : " (" + c.from + ")");
}

std::string heading_of(ConstantSection section, const Cluster& cluster) {
    switch (section) {
    case ConstantSection::gpu: return cluster.gpu.name;
    case ConstantSection::efficiency:
        return cluster.calibration ? "Efficiency, " + calibrated_text(*cluster.calibration) : "Efficiency";
    case ConstantSection::fabric: return "Fabric";
    case ConstantSection::memory: return "Memory";
    case ConstantSection::verdict: return "Verdicts of the Map";
    }
    return {};
}

std::vector<Constant> list_constants(const Plan& plan, const Presets& presets) {
    const Shipped shipped = shipped_of(plan, presets);
    const Gpu& gpu = plan.cluster.gpu;
    std::vector<Constant> out;
    for (const RateConstant& r : kRates) {
        const double value = r.read(gpu);
        if (value <= 0) continue;  // a type that this GPU does not have
        out.push_back({std::string(r.id), std::string(r.name), r.meaning, ConstantSection::gpu, r.unit, value,
                       shipped.gpu ? r.read(*shipped.gpu) : value, 1e9, 1e18, shipped.gpu_source});
    }
    for (std::size_t i = 0; i < kEfficiencyKeys.size(); ++i) {
        const EfficiencyKey& k = kEfficiencyKeys[i];
        const EfficiencyMeasure measure = measure_of(k);
        const NumberRange range = range_of(measure);
        constexpr double kLeastShare = 0.01;
        const double value = gpu.efficiency.*k.member;
        out.push_back({"efficiency." + std::string(k.key), std::string(kEfficiencyNames[i]),
                       kEfficiencyMeanings[i], ConstantSection::efficiency,
                       measure == EfficiencyMeasure::seconds ? Measure::seconds : Measure::share, value,
                       shipped.gpu ? shipped.gpu->efficiency.*k.member : value,
                       range.above ? kLeastShare : range.least, range.most, shipped.efficiency_source});
    }
    for (std::size_t i = 0; i < plan.cluster.tiers.size(); ++i)
        for (std::size_t f = 0; f < kTierWords.size(); ++f) {
            const Tier& t = plan.cluster.tiers[i];
            const double value = read(t, f);
            out.push_back({"tier." + std::to_string(i) + "." + std::string(kTierWords[f].key),
                           t.name + " " + std::string(kTierWords[f].name), kTierWords[f].meaning,
                           ConstantSection::fabric, kTierWords[f].unit, value,
                           shipped.cluster ? read(shipped.cluster->tiers[i], f) : value, kTierWords[f].least,
                           kTierWords[f].most, shipped.cluster_source});
        }
    for (const TrainingConstant& k : kTrainingConstants) {
        const double own = k.read(plan.training), ships = k.ships(plan.training);
        out.push_back({std::string(k.id), std::string(k.name), k.meaning, k.section, k.unit,
                       own > 0 ? own : ships, ships, k.least, k.most,
                       k.section == ConstantSection::memory ? "docs/memory.md" : "docs/map.md"});
    }
    // These values come from own runs or nccl-tests, not from the preset.
    if (const std::optional<Calibration>& own = plan.cluster.calibration)
        for (Constant& c : out)
            if (c.changed()
                && (c.section == ConstantSection::efficiency || c.section == ConstantSection::fabric))
                c.source = calibrated_text(*own);
    return out;
}

Plan with_constant(const Plan& plan, const Presets& presets, std::string_view id, double value) {
    const std::vector<Constant> all = list_constants(plan, presets);
    const auto c = std::find_if(all.begin(), all.end(), [&](const Constant& k) { return k.id == id; });
    Plan out = plan;
    if (c == all.end()) return out;
    value = std::clamp(value, c->least, c->most);
    const Shipped shipped = shipped_of(plan, presets);
    const bool changed = !shipped.gpu || value != c->shipped;
    for (const RateConstant& r : kRates)
        if (id == r.id) {
            r.write(out.cluster.gpu, value);
            state_gpu(out, shipped, std::string(r.pointer), changed);
        }
    for (const EfficiencyKey& k : kEfficiencyKeys)
        if (id == "efficiency." + std::string(k.key)) {
            out.cluster.gpu.efficiency.*k.member = value;
            state_gpu(out, shipped, "/gpu/efficiency/" + std::string(k.key), changed);
        }
    for (const TrainingConstant& k : kTrainingConstants)
        if (id == k.id) k.write(out.training, value == c->shipped ? 0 : value);
    for (std::size_t i = 0; i < out.cluster.tiers.size(); ++i)
        for (std::size_t f = 0; f < kTierWords.size(); ++f)
            if (id == "tier." + std::to_string(i) + "." + std::string(kTierWords[f].key)) {
                write(out.cluster.tiers[i], f, value);
                state_tiers(out, shipped);
            }
    return out;
}

namespace {

void state_once(std::vector<std::string>& overrides, const std::string& pointer) {
    if (std::find(overrides.begin(), overrides.end(), pointer) == overrides.end())
        overrides.push_back(pointer);
}

}  // namespace

Plan with_constants_of(const Plan& plan, const Cluster& calibrated, const Presets& presets) {
    const Cluster& own = plan.cluster;
    if (!(own.gpu.flops == calibrated.gpu.flops))
        throw Error(ErrorKind::invalid, "", "",
                    "the constants are of " + calibrated.gpu.name + ", the plan has " + own.gpu.name);
    if (own.tiers.size() != calibrated.tiers.size())
        throw Error(ErrorKind::invalid, "", "",
                    "the constants are of a cluster with another number of tiers than the plan's");
    Plan out = plan;
    for (const EfficiencyKey& k : kEfficiencyKeys)
        if (const double x = calibrated.gpu.efficiency.*k.member; x != own.gpu.efficiency.*k.member)
            out = with_constant(out, presets, "efficiency." + std::string(k.key), x);
    for (std::size_t i = 0; i < own.tiers.size(); ++i) {
        const std::string tier = "tier." + std::to_string(i) + ".";
        if (const double x = calibrated.tiers[i].bytes_per_s; x != own.tiers[i].bytes_per_s)
            out = with_constant(out, presets, tier + "bytes_per_s", x);
        if (const double x = calibrated.tiers[i].latency_s; x != own.tiers[i].latency_s)
            out = with_constant(out, presets, tier + "latency_s", x);
    }
    out.cluster.calibration = calibrated.calibration;
    if (calibrated.calibration && !out.cluster_source.preset.empty())
        for (const char* key : {"/runs", "/error", "/error_90", "/from"})
            state_once(out.cluster_source.overrides, "/calibration" + std::string(key));
    return out;
}

Cluster read_constants(std::string_view text, const std::string& path, const Presets& presets) {
    const nlohmann::json document = parse_json(text, path);
    Source source;
    return cluster_from_json(document, DocumentPlace{path, ""}, presets, source);
}

namespace {

using Json = nlohmann::json;

// This is written at configure time from presets/measured_errors.json.
constexpr std::string_view kText =
#include "measured_errors.inc"
    ;

constexpr double kOtherSoftware = 4, kOtherAge = 1, kOtherKind = 4, kOtherType = 1;
constexpr double kHalved = 6;     // distance that halves a weight
constexpr double kItself = 0.25;  // weight of the plan itself, over the nearest source's

template <typename Enum>
Enum named(const Json& run, const char* key) {
    const auto found = parse_name<Enum>(run.at(key).get<std::string>());
    if (!found) throw Error(ErrorKind::invalid, "", "", std::string(key) + " is not known");
    return *found;
}

MeasuredError read_run(const Json& run) {
    MeasuredError m;
    m.id = run.at("id");
    m.family = run.at("family");
    m.run.flops_per_token = run.at("flops_per_token");
    m.run.gpus = run.at("gpus");
    m.run.sequence_length = run.at("sequence_length");
    m.run.peak = run.at("peak");
    m.run.compute = named<Dtype>(run, "compute");
    m.run.software = named<Software>(run, "software");
    m.run.moe = run.at("moe");
    m.error = run.at("error");
    if (m.error <= -1) throw Error(ErrorKind::invalid, "", "", "error must be above -1");
    return m;
}

}  // namespace

RunTraits traits_of(const Plan& plan, double flops_per_token) {
    const Training& t = plan.training;
    return {flops_per_token,
            static_cast<double>(plan.cluster.gpus),
            static_cast<double>(t.sequence_length),
            plan.cluster.gpu.flops.bf16,
            t.compute,
            t.software,
            plan.model.moe.has_value()};
}

RunTraits traits_of(const Plan& plan) {
    const ForwardFlops f = forward_flops(plan.model, plan.training.sequence_length);
    return traits_of(plan, 3 * (f.layers + f.head) / static_cast<double>(plan.training.sequence_length));
}

double distance(const RunTraits& a, const RunTraits& b) {
    const auto apart = [](double x, double y) { return x > 0 && y > 0 ? std::abs(std::log2(x / y)) : 0.0; };
    double d = apart(a.flops_per_token, b.flops_per_token) + apart(a.gpus, b.gpus)
               + apart(a.sequence_length, b.sequence_length) + apart(a.peak, b.peak);
    if (a.software != b.software)
        d += framework_of(a.software) == framework_of(b.software) ? kOtherAge : kOtherSoftware;
    if (a.moe != b.moe) d += kOtherKind;
    if (a.compute != b.compute) d += kOtherType;
    return d;
}

std::string distance_words() {
    return sentence(
        "Distance: |log2| of the ratios of the model's FLOPs a token, GPUs, sequence lengths and peaks; + ",
        three_digits(kOtherSoftware), " other software, + ", three_digits(kOtherAge),
        " the same of another age, + ", three_digits(kOtherKind), " dense against MoE, + ",
        three_digits(kOtherType), " another compute type. From ", three_digits(kFarRun),
        " on a run is not near.");
}

void number_sources(std::vector<MeasuredError>& runs) {
    std::vector<std::string_view> names;
    for (MeasuredError& m : runs) {
        m.source = static_cast<std::size_t>(std::find(names.begin(), names.end(), m.family) - names.begin());
        if (m.source == names.size()) names.push_back(m.family);
    }
}

double MeasuredError::size() const {
    return error >= 0 ? error : 1 / (1 + error) - 1;
}

std::vector<MeasuredError> read_measured_errors(std::string_view text, const std::string& path) {
    const Json root = parse_json(text, path);
    const auto runs = root.find("runs");
    if (runs == root.end() || !runs->is_array())
        throw Error(ErrorKind::invalid, path, "/runs", "is missing, must be a list of runs");
    std::vector<MeasuredError> out;
    for (std::size_t i = 0; i < runs->size(); ++i) {
        try {
            out.push_back(read_run((*runs)[i]));
        } catch (const std::exception& e) {
            throw Error(ErrorKind::invalid, path, "/runs/" + std::to_string(i), e.what());
        }
    }
    number_sources(out);
    return out;
}

const std::vector<MeasuredError>& measured_errors() {
    static const std::vector<MeasuredError> all = read_measured_errors(kText, "presets/measured_errors.json");
    return all;
}

namespace {

using Weighed = ErrorRangeWork::Weighed;

// The vectors of `work` keep their capacity from call to call.
ErrorRange range_among(std::span<const MeasuredError> runs, const RunTraits& plan, ErrorRangeWork& work) {
    if (runs.empty()) return {};
    std::vector<Weighed>& by_size = work.runs;
    by_size.clear();
    work.sources.clear();
    for (const MeasuredError& m : runs) by_size.push_back({m.size(), distance(plan, m.run), 0, m.source});
    ErrorRange out;
    out.nearest = std::min_element(by_size.begin(), by_size.end(), [](const Weighed& a, const Weighed& b) {
                      return a.distance < b.distance;
                  })->distance;
    out.has_gpu = std::any_of(runs.begin(), runs.end(),
                              [&](const MeasuredError& m) { return m.run.peak == plan.peak; });
    for (Weighed& w : by_size) {
        w.weight = std::exp2((out.nearest - w.distance) / kHalved);
        if (w.source >= work.sources.size()) work.sources.resize(w.source + 1);
        work.sources[w.source].most = std::max(work.sources[w.source].most, w.weight);
        work.sources[w.source].sum += w.weight;
    }
    double sum = kItself;
    for (Weighed& w : by_size) {
        const ErrorRangeWork::Source& source = work.sources[w.source];
        sum += w.weight *= source.most / source.sum;
    }
    std::sort(by_size.begin(), by_size.end(),
              [](const Weighed& a, const Weighed& b) { return a.size < b.size; });
    const auto quantile = [&](double share) {
        double below = 0;
        for (const Weighed& w : by_size)
            if ((below += w.weight) >= share * sum) return w.size;
        return by_size.back().size;
    };
    out.half = quantile(0.5);
    out.most = quantile(0.9);
    return out;
}

}  // namespace

ErrorRange error_range(std::span<const MeasuredError> runs, const RunTraits& plan) {
    ErrorRangeWork scratch;
    return range_among(runs, plan, scratch);
}

const ErrorRange& error_range(const RunTraits& plan, ErrorRangeWork& work) {
    if (work.runs.empty() || work.of != plan) {
        work.of = plan;
        work.range = range_among(measured_errors(), plan, work);
    }
    return work.range;
}

namespace {

constexpr double kSecondsOfDay = 86400, kSecondsOfHour = 3600;

// Follows Daly 2006, equation 37: `write` seconds a checkpoint, `between` seconds between failures.
double best_interval(double write, double between) {
    if (write >= 2 * between) return between;
    const double x = write / (2 * between);
    return std::sqrt(2 * write * between) * (1 + std::sqrt(x) / 3 + x / 9) - write;
}

}  // namespace

Cost cost_of(const Plan& plan, double tokens_per_s) {
    const Cluster& c = plan.cluster;
    const auto gpus = static_cast<double>(c.gpus);
    Cost out;
    if (plan.training.tokens_total > 0 && tokens_per_s > 0) {
        out.days = plan.training.tokens_total / tokens_per_s / kSecondsOfDay;
        out.gpu_hours = *out.days * kSecondsOfDay / kSecondsOfHour * gpus;
        if (c.price_per_gpu_hour > 0) out.money = *out.gpu_hours * c.price_per_gpu_hour;
        if (c.gpu_watts > 0) out.kwh = *out.gpu_hours * c.gpu_watts * (c.pue > 0 ? c.pue : 1) / 1000;
    }
    if (c.failures_per_gpu_day <= 0 || gpus < 1) return out;
    const double between = kSecondsOfDay / (c.failures_per_gpu_day * gpus);
    out.hours_between_failures = between / kSecondsOfHour;
    const double write = plan.training.checkpoint_s;
    if (write <= 0) return out;
    const double every = best_interval(write, between);
    out.checkpoint_every_s = every;
    // This is equation 20 without time to start again: wall time M (e^((tau + delta) / M) - 1) for tau of
    // training.
    out.goodput = every / (between * std::expm1((every + write) / between));
    if (out.days) out.days_with_failures = *out.days / *out.goodput;
    return out;
}

double gpu_hours_of_billion(std::int64_t gpus, double tokens_per_s) {
    constexpr double kBillion = 1e9;
    return tokens_per_s > 0 ? static_cast<double>(gpus) * kBillion / tokens_per_s / kSecondsOfHour : 0;
}

}  // namespace pentamesh
