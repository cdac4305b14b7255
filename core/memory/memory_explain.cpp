// Explains a segment of a memory bar: formula, this plan's numbers, source.
#include "core/base/text.h"
#include "core/memory/memory_costs.h"
#include "core/pipeline/gradient_reduction.h"
#include "core/plan/names.h"

namespace pentamesh {
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
        e.formula += "; besides, one chunk's whole, b · N / chunks: they are reduced after each run";
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
