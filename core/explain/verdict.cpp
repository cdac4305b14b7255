#include "core/explain/verdict.h"

#include "core/base/files.h"
#include "core/base/json_reader.h"
#include "core/base/text.h"
#include "core/comm/comm.h"
#include "core/evaluate.h"
#include "core/io/presets.h"
#include "core/pipeline/schedules/schedule.h"
#include "core/plan/edits.h"
#include "core/plan/names.h"
#include "core/plan/problem.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

namespace pentamesh {
namespace {

constexpr double kGib = 1024.0 * 1024 * 1024;
constexpr double kAlike = 0.005 * kGib;
constexpr double kWorthSaying = 0.01;  // of the step

// "75.5 of 79.6 GiB"
std::string of_memory(double bytes, double hbm) {
    const std::string all = memory_text(hbm, Zeros::kept), part = memory_text(bytes, Zeros::kept);
    const std::size_t unit = part.rfind(' ');
    const bool one_unit = all.ends_with(part.substr(unit));
    return (one_unit ? part.substr(0, unit) : part) + " of " + all;
}

bool is_every_stage(StageRun run, const Memory& m) {
    return run.last - run.first + 1 == static_cast<int>(m.stage.size());
}

// Says why a plan that fits by the sum may not: ". With the largest buffers that were measured it is 81.0
// GiB".
std::string tight_words(const Memory& m) {
    const StageMemory& fullest = m.stage[static_cast<std::size_t>(m.peak_stage)];
    const auto taken = [&](const char* with, double (*bytes)(const StageMemory&)) {
        const auto most =
            std::ranges::max_element(m.stage, {}, [&](const StageMemory& s) { return bytes(s); });
        if (bytes(*most) <= m.hbm) return std::string();
        return with
               + (most->total() == fullest.total() ? "it is " : sentence("stage ", most->stage, " takes "))
               + memory_text(bytes(*most), Zeros::kept);
    };
    std::string out = taken(". With the largest buffers that were measured ",
                            [](const StageMemory& s) { return s.most(); });
    if (out.empty() && fullest.total() > kTightShare * m.hbm)
        out = ", more than " + percent_text(kTightShare) + ", where runs that fit by the sum often fail";
    if (out.empty())
        out = taken(". Where the loss keeps whole logits ",
                    [](const StageMemory& s) { return s.total() + s.loss_other; });
    return out;
}

std::string reason_of(const Memory& m, MemoryFit fit) {
    const StageMemory& s = m.stage[static_cast<std::size_t>(m.peak_stage)];
    const StageRun run = fullest_stages(m);
    const std::string who = words_of(run, m), of = of_memory(s.total(), m.hbm);
    const bool every = is_every_stage(run, m), several = !every && run.last > run.first;
    const auto memory = [](double bytes) { return memory_text(bytes, Zeros::kept); };
    switch (fit) {
    case MemoryFit::no:
        return who + (several ? " need " : " needs ") + of + ", and " + memory(s.least())
               + " with the smallest buffers that were measured.";
    case MemoryFit::if_small:
        return who + (several ? " need " : " needs ") + of + " with the usual " + memory(s.buffers)
               + " of buffers, " + memory(s.least()) + " with the smallest that were measured.";
    case MemoryFit::yes:
    case MemoryFit::tight: break;
    }
    const std::string verb = every ? " holds " : several ? " are fullest: " : " is fullest: ";
    return who + verb + of + (fit == MemoryFit::tight ? tight_words(m) : "") + ".";
}

std::string loss_name(const StepSlice& loss) {
    switch (loss.part) {
    case StepPart::bubble: return "the bubble";
    case StepPart::recompute: return "recomputation";
    case StepPart::uneven: return "uneven stages";
    case StepPart::straggler: return "stragglers";
    case StepPart::slowed: return "compute slowed by traffic";
    case StepPart::offload: return std::string(name_of(StepPart::offload));
    case StepPart::starts: return "waiting for the host's launches";
    case StepPart::exposed: return "exposed " + std::string(name_of(loss.group));
    default: return {};
    }
}

}  // namespace

StageRun fullest_stages(const Memory& m) {
    const auto total = [&](int i) { return m.stage[static_cast<std::size_t>(i)].total(); };
    const double most = total(m.peak_stage);
    StageRun run{m.peak_stage, m.peak_stage};
    const int last = static_cast<int>(m.stage.size()) - 1;
    while (run.first > 0 && std::abs(total(run.first - 1) - most) < kAlike) --run.first;
    while (run.last < last && std::abs(total(run.last + 1) - most) < kAlike) ++run.last;
    return run;
}

std::string words_of(StageRun run, const Memory& m) {
    if (is_every_stage(run, m)) return "Every GPU";
    if (run.first == run.last) return sentence("Stage ", run.first);
    return sentence("Stages ", run.first, run.last == run.first + 1 ? " and " : " to ", run.last);
}

std::optional<StepSlice> largest_loss(const Step& step) {
    std::optional<StepSlice> largest;
    for (const StepSlice& s : waterfall(step)) {
        if (loss_name(s).empty() || s.time_s < kWorthSaying * step.time_s) continue;
        if (!largest || s.time_s > largest->time_s) largest = s;
    }
    return largest;
}

std::string open_fit_words(const Memory& m) {
    const MemoryFit fit = fit_of(m).value_or(MemoryFit::no);
    if (!may_not_fit(fit)) return {};
    const std::string all = reason_of(m, fit), why = fit == MemoryFit::tight ? tight_words(m) : "";
    // If the cause is a sentence of its own, it says already who holds how much.
    return why.starts_with(". ") ? why.substr(2) + "." : all;
}

PlanVerdict verdict_of(const Evaluation& e) {
    PlanVerdict out{.fit = fit_of(e.memory)};
    if (!out.fit) {
        out.sentence = "This layout cannot be built.";
        out.reason = first_error(e.problems);
        return out;
    }
    switch (*out.fit) {
    case MemoryFit::no: out.sentence = "Does not fit in memory."; break;
    case MemoryFit::if_small: out.sentence = "May not fit: only if buffers stay small."; break;
    case MemoryFit::tight:
        out.sentence = e.memory.is_full() ? "May not fit: little room is left."
                                          : "May not fit: that hangs on the kernel of its loss.";
        break;
    case MemoryFit::yes: out.sentence = "Fits."; break;
    }
    out.reason = reason_of(e.memory, *out.fit);
    if (!e.step) return out;
    constexpr double kLittle = 0.03;  // of the step
    if (const auto loss = largest_loss(*e.step)) {
        const double share = loss->time_s / e.step->time_s;
        out.sentence += (share < kLittle ? " Little is left to mend: " : " Largest loss to mend: ")
                        + loss_name(*loss) + ", " + percent_text(share, Zeros::kept) + " of the step.";
    } else if (*out.fit != MemoryFit::no) {  // else the first thing to mend is another one
        out.sentence += " No loss that another layout could mend is above 1 % of the step.";
    }
    return out;
}

namespace {

std::string layout_text(const Plan& plan) {
    const Layout& l = plan.layout;
    std::string factors;
    for (const Axis a : l.order)
        if (const std::int64_t f = factor_in_force(plan, a); f > 1)
            factors += sentence(" ", name_of(a), " ", f);
    std::string s = factors.empty() ? "Layout: nothing is parallel" : "Layout, inner to outer:" + factors;
    if (l.ep > 1 && l.etp) s += sentence(" etp ", *l.etp);
    s += sentence("; ZeRO-", l.zero);
    if (l.tp > 1) s += l.sequence_parallel ? ", sequence parallel" : ", no sequence parallel";
    if (l.pp > 1) s += sentence(", ", name_of(l.schedule));
    if (l.pp > 1 && l.virtual_stages > 1) s += sentence(" × ", l.virtual_stages);
    return s;
}

}  // namespace

std::string plan_line(const Plan& plan) {
    const Training& t = plan.training;
    return sentence(layout_text(plan), ". Batch ", t.global_batch, " × ", t.sequence_length,
                    " tokens, micro-batch ", t.micro_batch, ", ", name_of(t.compute), ", gradients ",
                    name_of(t.gradients), ", ", name_of(t.optimizer), ", recompute ", words_of(t.recompute),
                    ".");
}

std::string asked_line(const Plan& plan, std::int64_t microbatches) {
    const Gpu& gpu = plan.cluster.gpu;
    std::string asked = sentence(plan.model.name, " on ", plan.cluster.gpus, " × ",
                                 gpu.name.empty() ? gpu.id : gpu.name, ". ", plan_line(plan));
    if (microbatches <= 0) return asked;
    return asked
           + sentence(" ", microbatches, microbatches == 1 ? " micro-batch" : " micro-batches", " per step.");
}

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

namespace {

struct Input {
    const Plan& plan;
    const Evaluation& e;
    const Step& s;
    GroupKind group;
};

std::string seconds(double s) {
    return time_text(s, Zeros::kept);
}
std::string bytes(double b) {
    return bytes_text(b, Zeros::kept);
}
std::string tflop(double flops) {
    return three_digits(flops / 1e12) + " TFLOP";
}

std::string whole_microbatches(const Input& in) {
    return sentence(in.e.microbatches, in.e.microbatches == 1 ? " micro-batch" : " micro-batches");
}

std::string compute(const Input& in) {
    return sentence(whole_microbatches(in), " on the average stage, ", tflop(in.s.model_flops_per_gpu),
                    " per GPU and step");
}
std::string ideal(const Input& in) {
    return sentence(tflop(in.s.model_flops_per_gpu), ", the masked half of attention left out, at ",
                    tflop(find_rates(in.plan).peak), "/s");
}
std::string products(const Input& in) {
    return sentence("of ", seconds(in.s.compute_s - in.s.ideal_s), " that compute takes beyond the peak, ",
                    whole_microbatches(in), " on the average stage");
}
std::string recompute(const Input& in) {
    return sentence(whole_microbatches(in), " on the average stage");
}
std::string slowed(const Input& in) {
    return sentence("compute runs at ", percent_text(in.plan.cluster.gpu.efficiency.overlap),
                    " of its speed beside traffic");
}
std::string bubble(const Input& in) {
    const Timeline& t = in.e.timeline;
    if (t.empty()) return {};
    const int longest = in.e.comm.busiest_device;
    const double busy = t.device[longest].busy, idle = schedule_bubble_s(in.s);
    return sentence(seconds(t.makespan), " - ", seconds(busy), " on stage ", longest, " - ",
                    seconds(t.makespan - busy - idle), ", which is exposed pp");
}
std::string uneven(const Input& in) {
    return sentence("stage ", in.e.comm.busiest_device, " computes ", seconds(in.s.uneven_s),
                    " longer than the average of ", count_text(in.e.comm.stages.devices, "stage"));
}
std::string exposed(const Input& in) {
    const AxisTraffic& t = in.e.comm.by_axis[in.group];
    return sentence(seconds(t.time_s), " on the wire for ", bytes(t.sent_bytes_per_rank), " in ",
                    whole_text(t.count), " calls of ", rows_device_text(in.e.comm));
}
std::string optimizer(const Input& in) {
    return sentence("at ", three_digits(in.plan.cluster.gpu.hbm_bytes_per_s / 1e12), " TB/s");
}
std::string offloaded(const Input& in) {
    const Offload& away = in.plan.training.offload;
    std::string moved;
    const auto add = [&](const std::string& what) { moved += (moved.empty() ? "" : ", ") + what; };
    if (away.activations_layers > 0) add(count_text(away.activations_layers, "layer") + " of activations");
    if (away.optimizer > 0) add(percent_text(away.optimizer) + " of the optimizer");
    if (away.parameters > 0) add(percent_text(away.parameters) + " of the parameters");
    if (moved.empty()) return "nothing lies in host memory";
    const double rate = in.plan.cluster.gpu.host_bytes_per_s;
    return rate > 0 ? sentence(moved, " at ", three_digits(rate / 1e9), " GB/s each way")
                    : sentence(moved, "; the link's rate is not known, so that no time is counted");
}
std::string straggler(const Input& in) {
    return sentence(three_digits(in.plan.training.straggler_cv), " · N = ", in.e.mesh.world,
                    "; bound cv sqrt(2 ln N) = ", percent_text(in.s.straggler_bound));
}

struct Row {
    StepPart part;
    std::string_view title, formula, source;
    std::string (*substituted)(const Input&);
    double (*time_s)(const Step&);  // null: of `exposed`, by group
};
constexpr std::string_view kProducts = "each product takes 2mnk / rate + bytes / HBM bandwidth + a kernel's "
                                       "start; rates fitted to the published runs of the Step view";
constexpr std::array kRows{
    Row{StepPart::compute, "compute", "m · Σ layers (products + attention + norms)", kProducts, compute,
        [](const Step& s) { return s.compute_s; }},
    Row{StepPart::ideal, "useful work", "model FLOPs per GPU / dense peak",
        "what a GPU at its peak with nothing else to do would need", ideal,
        [](const Step& s) { return s.ideal_s; }},
    Row{StepPart::products, "products below the peak",
        "m · Σ layers (products with their casts) - their FLOPs / peak", kProducts, products,
        [](const Step& s) { return s.below.products; }},
    Row{StepPart::attention, "attention below the peak",
        "m · Σ layers (attention cores and scans) - their FLOPs / peak, the masked half left out",
        "the rate of fused attention, fitted to the published runs of the Step view", products,
        [](const Step& s) { return s.below.attention; }},
    Row{StepPart::moving, "norms and other kernels that only move bytes",
        "m · (Σ layers bytes / HBM bandwidth + kernels' starts), embedding and loss with them",
        "norms, additions, activations, the loss: no product, so the peak has nothing for them", products,
        [](const Step& s) { return s.below.moving; }},
    Row{StepPart::starts, "host-bound: launching kernels",
        "m · Σ layers (launches · seconds of one - compute)",
        "the host starts each kernel; where that takes longer than the kernels, the GPU waits", products,
        [](const Step& s) { return s.below.starts; }},
    Row{StepPart::recompute, "recompute", "m · forward of what was not kept",
        "Korthikanti et al. 2022, section 5", recompute, [](const Step& s) { return s.recompute_s; }},
    Row{StepPart::slowed, "compute slowed by traffic",
        "Σ hidden time on the wire · (1 - the GPU's speed beside it)",
        "a collective's kernels hold SMs and move bytes through HBM; fitted to measured runs", slowed,
        [](const Step& s) { return s.slowed_by_traffic_s; }},
    Row{StepPart::bubble, "bubble", "makespan - m (F + B) of the longest stage - its wait for sends",
        "replay of the schedule; with uneven stages: the timeline's, of the average stage", bubble,
        schedule_bubble_s},
    Row{StepPart::uneven, "uneven stages",
        "m (F + B) of the longest stage - m (F + B) of the average one, without communication", kProducts,
        uneven, [](const Step& s) { return s.uneven_s; }},
    Row{StepPart::exposed, "exposed", "Σ time on the wire - what hides behind compute",
        "each call takes steps · latency + bytes / bandwidth on every tier that it crosses; what hides "
        "follows "
        "from a replay of lanes, where training.overlap lets it",
        exposed, nullptr},
    Row{StepPart::offload, "waiting for host memory",
        "m · Σ max(bytes of a pass / host link - the pass, 0) + bytes of an update / host link",
        "activations leave in a forward and come back in its backward, parameters come before a pass; "
        "gradients go to the host after the last backward and parameters come back; the CPU's own time is "
        "not counted",
        offloaded, [](const Step& s) { return s.offload_s; }},
    Row{StepPart::optimizer, "optimizer", "bytes of states, gradients and weights / HBM bandwidth",
        "an update reads and writes states and master copy, reads the gradient twice (once for its norm) and "
        "writes the weight",
        optimizer, [](const Step& s) { return s.optimizer_s; }},
    Row{StepPart::straggler, "straggler", "cv · E[max of N normal steps]",
        "E[max of N] = integral of N x phi(x) Phi(x)^(N-1), with the normal distribution's phi and Phi",
        straggler, [](const Step& s) { return s.straggler_s; }},
};

}  // namespace

Explanation explain_step(const Plan& plan, const Evaluation& evaluation, StepPart part, GroupKind group) {
    Explanation e;
    if (!evaluation.step) return e;
    const Step& s = *evaluation.step;
    for (const Row& row : kRows) {
        if (row.part != part) continue;
        const double time_s = row.time_s ? row.time_s(s) : s.exposed_comm_s[group];
        e.title = row.time_s ? std::string(row.title) : sentence(row.title, " ", name_of(group));
        e.formula = row.formula;
        e.substituted = row.substituted({plan, evaluation, s, group});
        e.result = sentence("= ", seconds(time_s), ", ", percent_text(time_s / s.time_s, Zeros::kept),
                            " of the step");
        e.source = row.source;
        if (part == StepPart::bubble && plan.layout.pp > 1)
            e.source = sentence(traits_of(plan.layout.schedule).paper, "; ", row.source);
    }
    return e;
}

namespace {

struct SendRule {
    std::string_view factor, steps;
};
SendRule rule_of(Collective c) {
    switch (c) {
    case Collective::all_reduce: return {"2(n-1)/n", "all-reduce = reduce-scatter + all-gather"};
    case Collective::all_gather:
    case Collective::reduce_scatter: return {"(n-1)/n", "ring: n-1 of n pieces leave a rank"};
    case Collective::all_to_all: return {"(n-1)/n", "all but the rank's own piece leaves it"};
    case Collective::send_recv: return {"1", "the message itself"};
    }
    return {"1", ""};
}

}  // namespace

Explanation explain_operation(const Plan& plan, const Evaluation&, const Operation& op) {
    const SendRule rule = rule_of(op.collective);
    Explanation e;
    e.title = std::string(name_of(op.group)) + " sends";
    e.part = words_of(op.what);
    e.formula = "calls · " + std::string(rule.factor) + " · buffer";
    const auto n = static_cast<double>(op.group_size);
    const double factor = op.message_bytes > 0
                              ? sent_bytes(op.collective, op.group_size, op.message_bytes) / op.message_bytes
                              : 0;
    e.substituted = whole_text(op.count_per_step) + " · " + three_digits(factor) + " (n = " + whole_text(n)
                    + ") · " + bytes(op.message_bytes);
    e.result = "= " + bytes(op.sent_bytes_per_rank) + " per GPU and step";
    e.source =
        std::string(rule.steps) + "; " + std::string(words_of(op.collective)) + " over "
        + (static_cast<std::size_t>(op.tier) < plan.cluster.tiers.size() ? plan.cluster.tiers[op.tier].name
                                                                         : std::string("one GPU"));
    return e;
}

}  // namespace pentamesh
