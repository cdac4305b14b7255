#include "core/memory/memory_costs.h"

#include "core/base/text.h"
#include "core/pipeline/sequence.h"
#include "core/pipeline/stages.h"
#include "core/plan/names.h"

#include <utility>

namespace pentamesh {
namespace {

// fp8 and fp4 are storage types of the large matrices only; router, embedding, head, norms and biases stay
// bf16 (TransformerEngine fp8 primary weights).
double small_bytes(Dtype parameters) {
    return std::max(bytes_of(parameters), 2.0);
}

StateBytes one_copy(const Training& t) {
    const double small = small_bytes(t.parameters);
    return {bytes_of(t.parameters), small, small};
}

// bitsandbytes keeps one fp32 scale per block of 256 numbers of an 8-bit state (Dettmers et al. 2022).
constexpr double kBlock = 256;

struct StateCount {
    double matrix = 0, other = 0;  // states per number of a matrix and of anything else
    double bytes = 0;              // of one
};
StateCount states_of(const Training& t) {
    const double b = bytes_of(t.optimizer_state);
    switch (t.optimizer) {
    case Optimizer::adamw: return {2, 2, b};
    case Optimizer::adamw_8bit: return {2, 2, 1 + bytes_of(Dtype::fp32) / kBlock};
    case Optimizer::sgd_momentum: return {1, 1, b};
    // Matrices have only momentum, the rest has AdamW (Jordan et al. 2024; Liu et al. 2025, Moonlight).
    case Optimizer::muon: return {1, 2, b};
    }
    return {};
}

// Copies of a matrix that is stored in fp8. A product wants its operands along what it sums over, and the
// backward sums over the other dimension: with a scale a tensor the same numbers serve where products take
// any layout, else they are kept transposed too; with a scale a row or block they are others each way
// (TransformerEngine, float8_tensor.py, mxfp8_tensor.py: _transpose, _columnwise_data). ZeRO-3 makes the
// transposed ones of what it gathered (Megatron-FSDP, keep_fp8_transpose_cache).
double fp8_copies(const Plan& plan) {
    if (plan.training.fp8_recipe != Fp8Recipe::tensorwise) return 2;
    return plan.cluster.gpu.fp8_any_layout || plan.layout.zero >= 3 ? 1 : 2;
}

}  // namespace

StateBytes parameter_bytes(const Plan& plan) {
    const StateBytes one = one_copy(plan.training);
    const double copies = plan.training.parameters == Dtype::fp8 ? fp8_copies(plan) : 1;
    return {copies * one.linear, one.router, one.other};
}

StateBytes gradient_bytes(const Training& t) {
    const double b = bytes_of(t.gradients);
    return {b, b, b};
}

// A master copy no wider than the parameters is not kept: the parameters serve.
StateBytes master_bytes(const Training& t) {
    const StateBytes p = one_copy(t);
    const double master = bytes_of(t.master_weights);
    const auto kept = [&](double parameter) { return master > parameter ? master : 0; };
    return {kept(p.linear), kept(p.router), kept(p.other)};
}

StateBytes optimizer_bytes(const Training& t) {
    const StateCount s = states_of(t);
    const StateBytes m = master_bytes(t);
    return {s.matrix * s.bytes + m.linear, s.matrix * s.bytes + m.router, s.other * s.bytes + m.other};
}

double gradient_copy_bytes(const Plan& plan, const StageNumbers& numbers) {
    const Training& t = plan.training;
    const bool copies = plan.layout.zero <= 1 && bytes_of(t.gradients) > 2 && bytes_of(t.parameters) <= 2;
    return copies ? facts_of(t.software).gradient_copy_bytes * (numbers.dense.all() + numbers.experts.all())
                  : 0;
}

StateShards shards_of(const Plan& plan, const Degrees& degrees) {
    StateShards s;
    s.copies = parameter_copies(schedule_of(plan.layout));
    const int zero = plan.layout.zero;
    const GradientReduction when = gradient_reduction_of(plan);
    if (when == GradientReduction::run) s.in_a_run = 1 / static_cast<double>(virtual_stages_of(plan.layout));
    const std::int64_t shard[2] = {degrees.dense_shard, degrees.expert_shard};
    for (int k = 0; k < 2; ++k) {
        if (zero >= 3) s.parameter[k] = shard[k];
        if (zero >= 2 && when != GradientReduction::step) s.gradient[k] = shard[k];
        if (zero >= 1) s.optimizer[k] = shard[k];
        s.optimizer[k] *= s.copies;
    }
    return s;
}

MemoryCosts memory_costs(const Plan& plan, const Degrees& degrees) {
    const LayerTypes types = layer_types(plan.model);
    PartsByType parts;
    list_parts(plan, degrees, types, parts);
    return memory_costs(plan, degrees, types, held_numbers(plan.model, types, degrees), parts);
}

MemoryCosts memory_costs(const Plan& plan, const Degrees& degrees, const LayerTypes& types,
                         const HeldNumbers& held, const PartsByType& parts) {
    MemoryCosts c;
    c.degrees = degrees;
    c.types = types;
    c.software = &facts_of(plan.training.software);
    c.held = held;
    c.parameter = parameter_bytes(plan);
    c.gradient = gradient_bytes(plan.training);
    c.optimizer = optimizer_bytes(plan.training);
    c.shards = shards_of(plan, degrees);
    for (int t = 0; t < types.size(); ++t) c.layer.push_back(layer_sums(plan, degrees, parts[t].kept));
    c.head = layer_sums(plan, degrees, ModelEnd::head);
    c.loss_other = token_counts(plan, degrees).of(Tokens::region) * static_cast<double>(plan.model.vocab)
                   * loss_bytes_of(plan.training, degrees.tp > 1).other;
    c.embedding = layer_sums(plan, degrees, ModelEnd::embedding);
    if (plan.model.mtp_layers > 0) c.mtp = layer_sums(plan, degrees, ModelEnd::mtp);
    c.shared = shared_buffers(plan, degrees, parts);
    return c;
}

double head_in_flight(Schedule schedule, double stage_in_flight) {
    return traits_of(schedule).head_held == HeadHeld::all ? stage_in_flight : std::min(stage_in_flight, 1.0);
}

// Computes the waterfall: the fullest GPU's bytes from the whole model on a single GPU to the plan, step by
// step.

namespace {

// Holds the plan so far, and how far each axis has been applied.
class Waterfall {
  public:
    Waterfall(const Plan& plan, const std::vector<double>& in_flight)
        : plan_(plan), now_(plan), goal_(degrees_of(plan, build_mesh(plan))), in_flight_(in_flight) {
        now_.layout = Layout{};
        now_.layout.dp_replicate = 1;
        now_.layout.zero = 0;
        now_.layout.sequence_parallel = false;
        now_.training.recompute = Recompute::none;
        now_.training.offload = {};
        degrees_.vocab_multiple = goal_.vocab_multiple;
        if (goal_.pp == 1) apply_schedule();
    }

    std::vector<SavingStep> run() {
        add({}, false);
        for (const Axis a : plan_.layout.order) apply(a);
        recompute();
        if (plan_.training.offload.any()) {
            now_.training.offload = plan_.training.offload;
            add({.what = Saving::offload}, false);
        }
        return std::move(steps_);
    }

  private:
    void recompute() {
        const RecomputeChoice& choice = plan_.training.recompute;
        if (!choice.any()) return;
        now_.training.recompute = choice;
        add({.what = Saving::recompute, .recompute = choice}, false);
    }

    void apply(Axis a) {
        const auto cut = [&](std::int64_t ranks, bool new_group = true) {
            add({.what = Saving::axis, .axis = a, .ranks = ranks}, new_group);
        };
        switch (a) {
        case Axis::tp:
            if (goal_.tp == 1 && goal_.etp == 1) return;
            degrees_.tp = goal_.tp;
            degrees_.etp = goal_.etp;
            if (goal_.ep == 1) degrees_.communicators += goal_.expert_communicators;
            cut(goal_.tp, goal_.tp > 1);
            if (!goal_.sequence_parallel) return;
            degrees_.sequence_parallel = true;
            add({.what = Saving::sequence_parallel}, false);
            return;
        case Axis::cp:
            if (goal_.cp == 1) return;
            degrees_.cp = goal_.cp;
            // Gradients are summed over cp too: its second group, unless dp_shard has made that one.
            if (!reduces_) ++degrees_.communicators;
            reduces_ = true;
            now_.layout.cp_comm = plan_.layout.cp_comm;
            now_.layout.cp_inner = plan_.layout.cp_inner;
            cut(goal_.cp);
            return;
        case Axis::ep:
            if (goal_.ep == 1) return;
            degrees_.ep = goal_.ep;
            degrees_.etp = goal_.etp;
            degrees_.communicators += goal_.expert_communicators;
            now_.layout.ep_comm = plan_.layout.ep_comm;
            cut(goal_.ep, false);
            return;
        case Axis::dp_shard: return apply_shard();
        case Axis::dp_replicate:
            if (goal_.replicate == 1) return;
            // Without ZeRO, shards and replicas are two names of one group.
            cut(goal_.replicate, plan_.layout.zero > 0 || !std::exchange(reduces_, true));
            return;
        case Axis::pp:
            if (goal_.pp == 1) return;
            degrees_.pp = goal_.pp;
            apply_schedule();
            cut(goal_.pp);
            return;
        }
    }

    void apply_shard() {
        degrees_.dense_shard = goal_.dense_shard;
        degrees_.expert_shard = goal_.expert_shard;
        now_.layout.zero = plan_.layout.zero;
        // They are as the whole plan means them: here the pipeline and the micro-batches may still be
        // missing.
        now_.layout.reshard = reshard_of(plan_);
        now_.layout.gradient_reduction = gradient_reduction_of(plan_);
        const int zero = plan_.layout.zero;
        if (zero == 0 && plan_.layout.dp_shard == 1) return;  // cp's ranks hold copies
        const bool new_group = goal_.dense_shard > 1 && !std::exchange(reduces_, true);
        const std::int64_t ranks =
            zero == 0 ? plan_.layout.dp_shard : std::max(goal_.dense_shard, goal_.expert_shard);
        add({.what = zero == 0 ? Saving::axis : Saving::zero,
             .axis = Axis::dp_shard,
             .ranks = ranks,
             .stage = zero},
            new_group);
        // A stage over one rank cuts nothing, but it may change what else the software keeps.
        if (ranks == 1 && steps_.back().saved == 0) steps_.pop_back();
    }

    void apply_schedule() {
        const Layout& l = plan_.layout;
        now_.layout.pp = l.pp;
        now_.layout.schedule = l.schedule;
        now_.layout.virtual_stages = l.virtual_stages;
        now_.layout.stage_layers = l.stage_layers;
        now_.layout.mtp_chunk = l.mtp_chunk;
    }

    void add(SavingStep step, bool new_group) {
        if (new_group && !steps_.empty()) ++degrees_.communicators;
        lay_stages(now_, shape_of(now_, 1), stages_);
        compute_memory(now_, degrees_, stages_, degrees_.pp == goal_.pp ? in_flight_ : std::vector<double>{1},
                       memory_);
        if (!memory_.stage.empty()) step.fullest = memory_.stage[memory_.peak_stage];
        if (!steps_.empty()) step.saved = steps_.back().fullest.total() - step.fullest.total();
        steps_.push_back(std::move(step));
    }

    const Plan& plan_;
    Plan now_;
    Degrees degrees_, goal_;
    const std::vector<double>& in_flight_;
    bool reduces_ = false;  // there is a group over which gradients of dense parameters are summed
    Stages stages_;
    Memory memory_;
    std::vector<SavingStep> steps_;
};

}  // namespace

std::vector<SavingStep> savings(const Plan& plan, const std::vector<double>& in_flight) {
    return Waterfall(plan, in_flight).run();
}

std::vector<SavingStep> savings(const Plan& plan, const Memory& memory) {
    std::vector<double> in_flight;
    for (const StageMemory& s : memory.stage) in_flight.push_back(s.in_flight);
    return savings(plan, in_flight);
}

namespace {

std::string_view axis_reason(Axis axis) {
    switch (axis) {
    case Axis::tp: return "cuts weight matrices, and the activations between two cut ones";
    case Axis::cp: return "cuts every activation along the sequence; weights are copied";
    case Axis::ep: return "gives each rank a part of the experts";
    case Axis::dp_shard: return "copies everything: nothing is sharded at ZeRO stage 0";
    case Axis::dp_replicate: return "copies everything: no memory saved";
    case Axis::pp: return "gives each stage a part of the layers, and keeps several micro-batches in flight";
    }
    return "";
}

std::string_view zero_reason(std::int64_t ranks, int stage) {
    if (ranks == 1) return "cuts nothing over one rank; the software keeps other buffers at this stage";
    return stage == 1   ? "cuts the optimizer state over data-parallel ranks"
           : stage == 2 ? "cuts optimizer state and gradients over data-parallel ranks"
                        : "cuts optimizer state, gradients and parameters over data-parallel ranks";
}

std::string_view recompute_reason(const RecomputeChoice& choice) {
    if (choice == Recompute::selective) return "makes the attention core again in the backward pass";
    return choice.whole_layers() ? "keeps the input of each layer, makes the rest again in the backward pass"
                                 : "makes these modules again in the backward pass";
}

}  // namespace

std::string label_of(const SavingStep& s) {
    switch (s.what) {
    case Saving::none: return "single GPU";
    case Saving::axis: return std::string(name_of(s.axis)) + " " + std::to_string(s.ranks);
    case Saving::sequence_parallel: return "sequence parallel";
    case Saving::zero: return "ZeRO-" + std::to_string(s.stage) + " over " + std::to_string(s.ranks);
    case Saving::recompute:
        if (!s.recompute.is_plain()) return "recompute " + words_of(s.recompute);
        return s.recompute.whole_layers() ? "full recompute" : "selective recompute";
    case Saving::offload: return "offload";
    }
    return {};
}

std::string_view reason_of(const SavingStep& s) {
    switch (s.what) {
    case Saving::none: return "the whole model on one GPU";
    case Saving::axis: return axis_reason(s.axis);
    case Saving::sequence_parallel: return "cuts along the sequence what tp copies: norms' inputs, masks";
    case Saving::zero: return zero_reason(s.ranks, s.stage);
    case Saving::recompute: return recompute_reason(s.recompute);
    case Saving::offload: return "keeps a part in host memory";
    }
    return {};
}

// Explains a segment of a memory bar: formula, this plan's numbers, source.

namespace {

std::string exact(double bytes) {
    return sentence("= ", memory_text(bytes), " (", static_cast<std::int64_t>(bytes), " bytes)");
}

// This is one summand of a state: bytes of a number, how many, and in how many shards.
struct Summand {
    std::string symbols, numbers;
};

// Returns "2 · 1,234": or "(8 · 1,000 + 12 · 234)" where an optimizer or fp8 treats matrices and the rest
// apart.
Summand weighted(const StateBytes& bytes, const Numbers& n, const char* name) {
    const auto times = [](double b, double count) {
        return sentence(three_digits(b), " · ", static_cast<std::int64_t>(count));
    };
    if (bytes.linear == bytes.other && bytes.router == bytes.other)
        return {sentence("b · ", name), times(bytes.linear, n.all())};
    const double rest = n.all() - n.linear, rest_bytes = n.router * bytes.router + n.other * bytes.other;
    return {sentence("(b_matrix · ", name, "_matrix + b_rest · ", name, "_rest)"),
            sentence("(", times(bytes.linear, n.linear), " + ", times(rest > 0 ? rest_bytes / rest : 0, rest),
                     ")")};
}

Explanation state(const Plan& plan, const MemoryCosts& costs, const StageMemory& stage,
                  const StateBytes& bytes, const std::int64_t (&shard)[2]) {
    const StageNumbers n = numbers_of(plan.model, costs.held, stage);
    const auto divided = [](Summand s, std::int64_t by, const char* symbol) {
        if (by > 1) {
            s.symbols += sentence(" / ", symbol);
            s.numbers += sentence(" / ", by);
        }
        return s;
    };
    // DualPipe's two copies of a stage share one optimizer state.
    const bool shared = &shard == &costs.shards.optimizer && costs.shards.copies > 1;
    const char* symbol = !shared                           ? "(dp_shard · cp)"
                         : shard[0] == costs.shards.copies ? "copies"
                                                           : "(copies · dp_shard · cp)";
    const Summand dense = divided(weighted(bytes, n.dense, "N"), shard[0], symbol);
    Explanation e;
    e.formula = dense.symbols;
    e.substituted = dense.numbers;
    if (n.experts.all() > 0) {
        const Summand experts =
            divided(weighted(bytes, n.experts, "N_experts"), shard[1], shared ? "(copies · edp)" : "edp");
        e.formula += " + " + experts.symbols;
        e.substituted += " + " + experts.numbers;
    }
    e.formula += sentence(", N: numbers held after tp, ep and pp (", count_text(stage.layers, "layer"),
                          stage.embedding ? ", embedding" : "", stage.head ? ", head" : "", ")");
    return e;
}

// Adds the words for when they are reduced.
Explanation gradients(const Plan& plan, const MemoryCosts& costs, const StageMemory& stage) {
    Explanation e = state(plan, costs, stage, costs.gradient, costs.shards.gradient);
    if (plan.layout.zero < 2 || (costs.degrees.dense_shard == 1 && costs.degrees.expert_shard == 1)) return e;
    switch (gradient_reduction_of(plan)) {
    case GradientReduction::run:
        e.formula += "; on top, one chunk's whole, b · N / chunks: they are reduced after each run";
        e.substituted += " + " + memory_text(whole_in_a_run(plan, costs, stage));
        break;
    case GradientReduction::step: e.formula += "; whole: they are reduced once a step"; break;
    default: e.formula += "; shards: each micro-batch is reduced after its backward"; break;
    }
    return e;
}

const char* state_source(MemoryCategory category) {
    switch (category) {
    case MemoryCategory::parameters:
        return "Shoeybi et al. 2019 (what tp cuts); Rajbhandari et al. 2020 (ZeRO), section 5";
    case MemoryCategory::gradients: return "Rajbhandari et al. 2020 (ZeRO), section 5";
    default: return "Rajbhandari et al. 2020 (ZeRO), section 3.1; Megatron-LM docs, dist_optimizer";
    }
}

Explanation activations(const Plan& plan, const MemoryCosts& c, const StageMemory& s) {
    Explanation e;
    e.formula = "in flight · (";
    e.substituted = three_digits(s.in_flight) + " · (";
    const auto layers = [&](const std::string& symbols, std::int64_t n, double bytes) {
        if (n == 0) return;
        const bool more = e.formula.back() != '(';
        e.formula += sentence(more ? " + " : "", symbols);
        e.substituted += sentence(more ? " + " : "", n, " · ", memory_text(bytes));
    };
    const LayerCounts once = s.once();
    for (int type = 0; type < c.types.size(); ++type) {
        const bool pattern = !plan.model.pattern.empty(), moe = c.types[type].is_moe();
        const std::string kind = pattern ? words_of(c.types[type]) + " layers"
                                 : moe   ? "MoE layers"
                                         : "layers";
        const std::string mark = pattern ? std::to_string(type) : moe ? "moe" : "";
        const std::string symbol = mark.empty() ? "A" : "A_" + mark;
        const bool both = once[type] > 0 && s.recomputed[type] > 0;
        layers(sentence(kind, " · ", symbol), once[type], c.of(type).all);
        layers(both ? sentence("recomputed ", kind, " · ", symbol, mark.empty() ? "_again" : ", again")
                    : sentence(kind, " · ", symbol),
               s.recomputed[type], c.of(type).kept);
    }
    if (s.skipped > 0) {
        e.formula += " − inputs not kept";
        e.substituted += sentence(" − ", s.skipped, " · ", memory_text(c.layer_input()));
    }
    e.formula += ")";
    e.substituted += ")";
    if (c.shards.copies > 1) {
        e.formula += " / copies";
        e.substituted += sentence(" / ", c.shards.copies);
    }
    if (s.embedding) {
        e.formula += " + embedding";
        e.substituted += " + " + memory_text(c.embedding.kept * s.in_flight);
    }
    if (const std::int64_t away = std::min(plan.training.offload.activations_layers, s.layers); away > 0) {
        e.formula += " less offloaded layers";
        e.substituted += sentence(" · ", s.layers - away, " / ", s.layers);
    }
    if (s.head || s.mtp_layers > 0) {
        e.formula += !s.head ? " + MTP layers" : s.mtp_layers > 0 ? " + head and MTP layers" : " + head";
        double layer_part = s.layer_activations;
        if (s.embedding) layer_part += whole(c.embedding.kept * s.in_flight);
        e.substituted += " + " + memory_text(s.activations - layer_part);
    }
    e.formula +=
        sentence(", A: what one layer keeps of a micro-batch, recompute ", words_of(plan.training.recompute));
    e.source = "Korthikanti et al. 2022, section 4, Table 2; in flight: the pipeline schedule";
    return e;
}

Explanation buffers(const Plan& plan, const MemoryCosts& c, const StageMemory& s) {
    std::vector<BufferBytes> parts;
    list_buffers(plan, c, s, parts);
    Explanation e;
    for (const BufferBytes& b : parts) {
        const char* plus = e.formula.empty() ? "" : " + ";
        e.formula += sentence(plus, name_of(b.buffer));
        e.substituted += sentence(plus, memory_text(b.mid));
    }
    e.source = "sizes of gathered, recomputed and dispatched tensors are computed; NCCL, CUDA context and "
               "fragmentation are measured ranges";
    return e;
}

}  // namespace

Explanation explain_memory(const Plan& plan, const Mesh& mesh, const Memory& memory, int stage,
                           MemoryCategory category) {
    if (stage < 0 || static_cast<std::size_t>(stage) >= memory.stage.size()) return {};
    const StageMemory& s = memory.stage[stage];
    const MemoryCosts costs = memory_costs(plan, degrees_of(plan, mesh));
    Explanation e;
    switch (category) {
    case MemoryCategory::parameters:
        e = state(plan, costs, s, costs.parameter, costs.shards.parameter);
        break;
    case MemoryCategory::gradients: e = gradients(plan, costs, s); break;
    case MemoryCategory::optimizer: e = state(plan, costs, s, costs.optimizer, costs.shards.optimizer); break;
    case MemoryCategory::activations: e = activations(plan, costs, s); break;
    case MemoryCategory::buffers: e = buffers(plan, costs, s); break;
    }
    if (e.source.empty()) e.source = state_source(category);
    e.title = sentence(name_of(category), " of a GPU of stage ", s.stage);
    e.result = exact(bytes_of(s, category));
    if (category == MemoryCategory::buffers)
        e.result += sentence(", from ", memory_text(s.buffers_low), " to ", memory_text(s.buffers_high));
    return e;
}

}  // namespace pentamesh
