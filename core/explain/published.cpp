#include "core/explain/published.h"

#include "core/base/error.h"
#include "core/base/files.h"
#include "core/base/json_reader.h"
#include "core/base/text.h"
#include "core/evaluate.h"
#include "core/io/presets.h"
#include "core/pipeline/schedules/schedule.h"
#include "core/plan/factors.h"
#include "core/plan/names.h"

#include <algorithm>
#include <array>
#include <utility>

namespace pentamesh {
namespace {

using nlohmann::json;

// Returns the first shipped preset of a cluster with these GPUs. Throws Error where no preset has them.
Cluster cluster_with(const std::string& gpu, const Presets& presets) {
    const Gpu wanted = presets.gpu(gpu);
    for (const Presets::Entry& entry : presets.list(PresetKind::cluster))
        if (entry.broken.empty() && !entry.own)
            if (Cluster c = presets.cluster(entry.id); c.gpu == wanted) return c;
    throw Error(ErrorKind::invalid, "", "", "no preset of a cluster has the GPU \"" + gpu + "\"");
}

std::int64_t number(const json& run, const char* key, std::int64_t otherwise) {
    const auto it = run.find(key);
    return it == run.end() || it->is_null() ? otherwise : it->get<std::int64_t>();
}

// Returns GPT as Megatron-LM trained it: GELU, layer norm, learned positions, biases, tied head.
Model gpt(const json& run) {
    const json& g = run.at("gpt");
    Model m;
    m.name = run.at("model").get<std::string>();
    m.layers = g.at("layers"), m.hidden = g.at("hidden"), m.heads = g.at("heads"), m.ffn = g.at("ffn");
    m.kv_heads = m.heads;
    m.head_dim = m.hidden / m.heads;
    m.vocab = g.at("vocab"), m.max_positions = g.at("max_positions");
    m.ffn_kind = FfnKind::gelu, m.norm = NormKind::layernorm, m.positions = Positions::learned;
    m.tied_embeddings = m.attention_bias = m.mlp_bias = true;
    return m;
}

// Sources name a recipe of scaling: current, per tensor (CS), or in blocks of 32 (MX).
struct Precision {
    std::string_view name;
    Dtype compute;
};
constexpr std::array<Precision, 7> kPrecisions{{{"BF16", Dtype::bf16},
                                                {"FP16", Dtype::fp16},
                                                {"FP8", Dtype::fp8},
                                                {"FP8-CS", Dtype::fp8},
                                                {"FP8-MX", Dtype::fp8},
                                                {"MXFP8", Dtype::fp8},
                                                {"NVFP4", Dtype::fp4}}};

Dtype compute_type(const std::string& precision) {
    std::string names;
    for (const Precision& p : kPrecisions) {
        if (p.name == precision) return p.compute;
        names += (names.empty() ? "" : ", ") + std::string(p.name);
    }
    throw Error(ErrorKind::invalid, "", "",
                "no precision is named \"" + precision + "\": it is one of " + names);
}

void set_layout(const json& run, Layout& l) {
    l.order = {Axis::tp, Axis::cp, Axis::ep, Axis::dp_shard, Axis::dp_replicate, Axis::pp};
    l.tp = run.at("tp"), l.cp = run.at("cp"), l.pp = run.at("pp"), l.ep = run.at("ep");
    l.sequence_parallel = run.value("sequence_parallel", l.tp > 1);
    l.virtual_stages = number(run, "vpp", 1);
    l.schedule = usual_schedule(l.virtual_stages);
    if (const auto named = parse_name<Schedule>(run.value("schedule", ""))) l.schedule = *named;
    l.etp = l.ep > 1 ? 1 : l.tp;
    l.zero = run.at("zero");
    if (const auto when = parse_name<GradientReduction>(run.value("gradient_reduction", "")))
        l.gradient_reduction = *when;
    const std::int64_t dp = run.at("dp");
    l.dp_shard = l.zero ? dp : 1;
    l.dp_replicate = l.zero ? 1 : dp;
    if (l.cp > 1) l.cp_comm = CpComm::allgather;
    if (run.contains("stage_layers"))
        l.stage_layers = run.at("stage_layers").get<std::vector<std::int64_t>>();
}

void set_training(const json& run, Training& t) {
    t.sequence_length = run.at("sequence");
    t.micro_batch = number(run, "micro_batch", 1);
    t.global_batch = run.at("global_batch");
    t.compute = compute_type(run.at("precision"));
    t.gradients = t.compute == Dtype::bf16 ? Dtype::fp32 : Dtype::bf16;
    t.attention = run.contains("gpt") ? AttentionImpl::math : AttentionImpl::flash;
    t.dropout = run.contains("gpt");
    t.offload.activations_layers = number(run, "offload_activation_layers", 0);
    if (const auto named = parse_name<Optimizer>(run.value("optimizer", ""))) t.optimizer = *named;
}

// Returns Megatron's modules; nullopt where the source does not state them.
std::optional<RecomputeChoice> modules_of(const json& run) {
    if (!run.contains("recompute_modules")) return std::nullopt;
    RecomputeModules modules;
    for (const json& name : run.at("recompute_modules")) {
        const auto module = parse_name<RecomputeModule>(name.get<std::string>());
        if (!module)
            throw Error(ErrorKind::invalid, "", "", "no module is named \"" + name.get<std::string>() + "\"");
        modules.add(*module);
    }
    return RecomputeChoice(modules, 0, RecomputeMethod::block);
}

// Follows Narayanan et al. 2021, equation 3: FLOPs of an iteration with full recomputation.
double megatron_flops(const Plan& p) {
    const double h = static_cast<double>(p.model.hidden), l = static_cast<double>(p.model.layers);
    const double v = static_cast<double>(p.model.vocab), s = static_cast<double>(p.training.sequence_length);
    const double b = static_cast<double>(p.training.global_batch);
    return 96 * b * s * l * h * h * (1 + s / (6 * h) + v / (16 * l * h));
}

void set_measured(const json& run, PublishedRun& out) {
    const Plan& p = out.plans.front();
    const double gpus = static_cast<double>(p.cluster.gpus);
    const double tokens = tokens_per_step(p.training);
    if (run.contains("iteration_s"))
        out.measured_s = run.at("iteration_s");
    else if (run.contains("hardware_tflops_per_gpu"))
        out.measured_s = megatron_flops(p) / (gpus * run.at("hardware_tflops_per_gpu").get<double>() * 1e12);
    else if (run.contains("tokens_per_s_per_gpu"))
        out.measured_s = tokens / (run.at("tokens_per_s_per_gpu").get<double>() * gpus);
    else
        out.measured_tflops = run.at("model_tflops_per_gpu");
}

PublishedRun read_run(const json& run, const Presets& presets) {
    PublishedRun out;
    Plan p;
    out.gpu = run.at("gpu");
    out.model = run.at("model");
    out.source = run.at("source");
    p.model = run.contains("gpt") ? gpt(run) : presets.model(run.at("model").get<std::string>());
    p.model.mtp_layers = number(run, "mtp_layers", p.model.mtp_layers);
    p.cluster = cluster_with(out.gpu, presets);
    p.cluster.gpus = run.at("gpus");
    set_layout(run, p.layout);
    set_training(run, p.training);
    // Megatron-Bridge's recipes and DeepSeek's own training send tokens between nodes by DeepEP or HybridEP.
    if (!p.cluster.tiers.empty() && p.layout.ep > domain_of(p.cluster, 0)) p.layout.ep_comm = EpComm::deepep;
    if (const auto named = parse_name<EpComm>(run.value("ep_comm", ""))) p.layout.ep_comm = *named;
    p.training.overlap.ep = run.value("overlap_ep", false);
    out.label = run.at("model").get<std::string>() + " " + std::to_string(p.cluster.gpus) + " x " + out.gpu
                + " " + run.at("precision").get<std::string>() + " tp " + std::to_string(p.layout.tp) + " pp "
                + std::to_string(p.layout.pp) + " cp " + std::to_string(p.layout.cp) + " ep "
                + std::to_string(p.layout.ep);
    const std::string stated = run.at("recompute").is_null() ? "" : run.at("recompute").get<std::string>();
    for (const auto& [name, value] : {std::pair{"none", Recompute::none},
                                      {"selective", Recompute::selective},
                                      {"full", Recompute::full}}) {
        if (!stated.empty() && stated != name) continue;
        p.training.recompute = value;
        out.plans.push_back(p);
    }
    if (const auto modules = modules_of(run)) {
        p.training.recompute = *modules;
        out.plans.assign(1, p);
    }
    out.traits = traits_of(out.plans.front());
    if (const auto ran = parse_name<Software>(run.value("software", ""))) out.traits.software = *ran;
    set_measured(run, out);
    return out;
}

}  // namespace

std::vector<PublishedRun> load_published_runs(const Presets& presets) {
    const std::string path = (presets.root() / "published_runs.json").string();
    return read_published_runs(read_file(path), path, presets);
}

std::vector<PublishedRun> read_published_runs(std::string_view text, const std::string& path,
                                              const Presets& presets) {
    const json all = parse_json(text, path);
    std::vector<PublishedRun> runs;
    const auto cases = all.find("cases");
    if (cases == all.end() || !cases->is_array())
        throw Error(ErrorKind::invalid, path, "/cases", "is missing, must be a list of runs");
    for (std::size_t i = 0; i < cases->size(); ++i) {
        const std::string pointer = "/cases/" + std::to_string(i);
        try {
            runs.push_back(read_run((*cases)[i], presets));
        } catch (const json::exception& e) {
            throw Error(ErrorKind::invalid, path, pointer, e.what());
        } catch (const Error& e) {  // a model or cluster that no preset has
            throw e.path().empty() ? Error(ErrorKind::invalid, path, pointer, e.message()) : e;
        }
    }
    return runs;
}

namespace {

bool is_run_of(const Plan& a, const Plan& b) {
    const Layout &x = a.layout, &y = b.layout;
    const Training &t = a.training, &u = b.training;
    const bool layout = x.tp == y.tp && x.cp == y.cp && x.pp == y.pp && x.ep == y.ep
                        && x.schedule == y.schedule && x.sequence_parallel == y.sequence_parallel
                        && x.dp_shard == y.dp_shard && replicas_in_force(a) == replicas_in_force(b);
    const bool training = t.global_batch == u.global_batch && t.micro_batch == u.micro_batch
                          && t.sequence_length == u.sequence_length && t.compute == u.compute
                          && t.recompute == u.recompute;
    if (!layout || !training || a.cluster.gpus != b.cluster.gpus || a.cluster.gpu.name != b.cluster.gpu.name)
        return false;
    Model model = a.model;
    model.name = b.model.name;
    return model == b.model;
}

}  // namespace

std::optional<MeasuredMfu> measured_mfu(const Plan& plan, const Step& step,
                                        const std::vector<PublishedRun>& runs) {
    for (const PublishedRun& run : runs) {
        const auto is_plan = [&](const Plan& of) { return is_run_of(plan, of); };
        if (std::none_of(run.plans.begin(), run.plans.end(), is_plan)) continue;
        const double by =
            run.measured_s > 0 ? step.time_s / run.measured_s : run.measured_tflops / step.tflops_per_gpu;
        const std::int64_t chunks = run.plans.front().layout.virtual_stages;
        const std::string differs = chunks == plan.layout.virtual_stages
                                        ? ""
                                        : sentence(". Listed with ", count_text(chunks, "chunk"),
                                                   " a stage, this plan has ", plan.layout.virtual_stages);
        return MeasuredMfu{step.mfu * by, run.source + differs};
    }
    return std::nullopt;
}

NearestRuns::Times NearestRuns::times_of(const PublishedRun& run) {
    Evaluation e;
    for (const Plan& p : run.plans) {
        evaluate(p, e, {.timeline = true, .messages = false});
        if (e.memory.may_fit()) break;  // it has run
    }
    if (!e.step) return {};
    const Step& s = *e.step;
    Times t;
    t.estimated_s = s.time_s;
    t.measured_s = run.measured_s > 0 ? run.measured_s : s.time_s * s.tflops_per_gpu / run.measured_tflops;
    t.tokens_per_gpu_s = s.tokens_per_step / t.measured_s / static_cast<double>(e.mesh.world);
    return t;
}

std::vector<NearRun> NearestRuns::of(const Plan& plan, std::size_t most) {
    const RunTraits traits = traits_of(plan);
    std::vector<NearRun> near(runs_.size());
    for (std::size_t i = 0; i < runs_.size(); ++i)
        near[i] = {.run = i, .distance = pentamesh::distance(traits, runs_[i].traits)};
    std::stable_sort(near.begin(), near.end(),
                     [](const NearRun& a, const NearRun& b) { return a.distance < b.distance; });
    near.resize(std::min(most, near.size()));
    for (NearRun& n : near) {
        std::optional<Times>& t = times_[n.run];
        if (!t) t = times_of(runs_[n.run]);
        n.measured_s = t->measured_s, n.estimated_s = t->estimated_s,
        n.tokens_per_gpu_s = t->tokens_per_gpu_s;
    }
    std::erase_if(near, [](const NearRun& n) { return n.estimated_s <= 0; });
    return near;
}

std::size_t NearestRuns::worked_out() const {
    return static_cast<std::size_t>(
        std::count_if(times_.begin(), times_.end(), [](const auto& t) { return t.has_value(); }));
}

}  // namespace pentamesh
