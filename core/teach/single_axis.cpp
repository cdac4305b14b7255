#include "core/teach/single_axis.h"

#include "core/base/text.h"

#include <algorithm>
#include <array>

namespace pentamesh {
namespace {

constexpr std::array<StrategyFacts, kStrategyCount> kFacts{{
    {"DDP", Axis::dp_replicate, "the batch",
     "The outermost axis around all others, and the one that every run starts with."},
    {"ZeRO-1", Axis::dp_shard, "the batch; optimizer state",
     "Costs no more bytes than DDP and goes with every other axis, pipelines included."},
    {"ZeRO-2", Axis::dp_shard, "the batch; optimizer state, gradients",
     "As ZeRO-1; in a pipeline the gradients of every micro-batch have to be reduced."},
    {"ZeRO-3 / FSDP", Axis::dp_shard, "the batch; optimizer state, gradients, parameters",
     "With dp_replicate around it: HSDP. In a pipeline every micro-batch gathers again."},
    {"TP", Axis::tp, "the hidden and head dimensions",
     "The innermost axis: it waits for its peers in every layer and stays in the fast domain."},
    {"TP + SP", Axis::tp, "hidden and heads; the sequence between them",
     "A switch of TP: its all-reduces become reduce-scatters and all-gathers, its copies go."},
    {"CP", Axis::cp, "the sequence",
     "For long sequences, between TP and data parallelism; only attention speaks on it."},
    {"PP", Axis::pp, "the layers",
     "Across nodes, around TP: few bytes, but stages idle while the pipeline fills and drains."},
    {"EP", Axis::ep, "the experts",
     "Folds over the ranks of data parallelism (here DDP), which it does not multiply."},
}};

// Keeps the cluster's first GPUs: only the tiers that they need, the last spanning all of them.
void keep_gpus(Cluster& cluster, std::int64_t gpus) {
    cluster.gpus = gpus;
    std::size_t last = 0;
    while (last + 1 < cluster.tiers.size() && domain_of(cluster, last) < gpus) ++last;
    if (last < cluster.tiers.size()) {
        cluster.tiers.resize(last + 1);
        cluster.tiers[last].domain = 0;  // the whole cluster
    }
}

void collect_traffic(const Evaluation& e, StrategyPrice& out) {
    for (const Operation& o : e.comm.operations) {
        if (o.count_per_step <= 0) continue;
        auto same = std::find_if(out.traffic.begin(), out.traffic.end(), [&](const StrategyTraffic& t) {
            return t.collective == o.collective && t.group == o.group;
        });
        if (same == out.traffic.end())
            same = out.traffic.insert(out.traffic.end(), StrategyTraffic{o.collective, o.group, 0, 0});
        same->count += o.count_per_step;
        same->sent_bytes += o.sent_bytes_per_rank;
        out.count += o.count_per_step;
        out.sent_bytes += o.sent_bytes_per_rank;
    }
}

std::string plural_of(Collective c, double count) {
    const std::string name(c == Collective::send_recv ? "message" : words_of(c));
    return count == 1 ? name : name + "s";
}

// Returns the same on one GPU.
Plan plan_of_single_gpu(const Plan& plan, std::int64_t gpus) {
    Plan p = uncut(plan);
    p.model.layers = gpus;
    p.model.mtp_layers = 0;
    if (p.model.moe && moe_layers(plan.model) > 0) {
        p.model.moe->first_dense_layers = 0;
        p.model.moe->every = 1;
    }
    p.training.micro_batch = 1;
    p.training.global_batch = gpus;
    return p;
}

}  // namespace

const StrategyFacts& facts_of(Strategy strategy) {
    return kFacts[static_cast<std::size_t>(strategy)];
}

Plan uncut(const Plan& plan) {
    Plan p = plan;
    p.model_source = p.cluster_source = {};
    keep_gpus(p.cluster, 1);
    p.layout = Layout{};
    p.layout.dp_replicate = 1;
    p.layout.zero = 0;
    p.layout.sequence_parallel = false;
    p.layout.cp_comm = plan.layout.cp_comm;
    return p;
}

Plan plan_of_strategy(const Plan& plan, Strategy strategy, std::int64_t gpus) {
    Plan p = plan_of_single_gpu(plan, gpus);
    p.cluster = plan.cluster;
    keep_gpus(p.cluster, gpus);
    Layout& l = p.layout;
    switch (strategy) {
    case Strategy::ddp: l.dp_replicate = gpus; break;
    case Strategy::zero1:
    case Strategy::zero2:
    case Strategy::fsdp:
        l.dp_shard = gpus;
        l.zero = strategy == Strategy::zero1 ? 1 : strategy == Strategy::zero2 ? 2 : 3;
        break;
    case Strategy::tp: l.tp = gpus; break;
    case Strategy::tp_sp:
        l.tp = gpus;
        l.sequence_parallel = true;
        break;
    case Strategy::cp: l.cp = gpus; break;
    case Strategy::pp: l.pp = gpus; break;
    case Strategy::ep:
        l.dp_replicate = gpus;
        l.ep = gpus;
        l.etp = 1;
        break;
    }
    return p;
}

void price_strategies(const Plan& plan, std::int64_t gpus, StrategyPrices& out) {
    out.gpus = std::max<std::int64_t>(gpus, 1);
    out.price.clear();
    Evaluation e;
    const auto fullest = [&] {
        return e.memory.stage.empty() ? StageMemory{} : e.memory.stage[e.memory.peak_stage];
    };
    out.single = plan_of_single_gpu(plan, out.gpus);
    evaluate(out.single, e, {.timeline = false, .messages = false});
    out.single_gpu = fullest();
    for (int i = 0; i < kStrategyCount; ++i) {
        StrategyPrice price;
        price.strategy = static_cast<Strategy>(i);
        price.plan = plan_of_strategy(plan, price.strategy, out.gpus);
        evaluate(price.plan, e, {.timeline = true, .messages = true});
        price.mesh = e.mesh;
        price.possible = e.valid && !e.memory.stage.empty();
        if (!plan.model.moe && price.strategy == Strategy::ep) {
            price.possible = false;
            price.why_not = "No experts to deal.";
        } else if (!price.possible) {
            for (const Problem& problem : e.problems)
                if (problem.severity == Severity::error && price.why_not.empty())
                    price.why_not = problem.message;
        }
        if (price.possible) {
            price.fullest = fullest();
            collect_traffic(e, price);
        }
        out.price.push_back(std::move(price));
    }
}

std::string state_sentence(const StrategyPrices& prices, const StrategyPrice& price) {
    if (!price.possible) return {};
    struct State {
        std::string_view name;
        double StageMemory::*bytes;
    };
    static constexpr std::array<State, 3> kStates{{{"optimizer states", &StageMemory::optimizer},
                                                   {"gradients", &StageMemory::gradients},
                                                   {"parameters", &StageMemory::parameters}}};
    std::string cut, whole;
    for (const State& s : kStates) {
        std::string& to = price.fullest.*s.bytes < prices.single_gpu.*s.bytes ? cut : whole;
        to += sentence(to.empty() ? "" : ", ", s.name);
    }
    if (cut.empty()) return sentence("Whole on every GPU: ", whole, ".");
    if (whole.empty()) return sentence("Cut over the GPUs: ", cut, ".");
    return sentence("Cut over the GPUs: ", cut, "; whole on every GPU: ", whole, ".");
}

std::string price_sentence(const StrategyPrices& prices, const StrategyPrice& price) {
    if (!price.possible) return price.why_not;
    const double now = price.fullest.total(), before = prices.single_gpu.total();
    const double state = price.fullest.parameters + price.fullest.gradients + price.fullest.optimizer;
    std::string out = sentence("The fullest GPU holds ", memory_text(now), " (", memory_text(state),
                               " of it model state) where one GPU alone would hold ", memory_text(before));
    if (price.count <= 0) return out + "; nothing is sent.";
    out += sentence("; per step it sends ", bytes_text(price.sent_bytes), ":");
    for (std::size_t i = 0; i < price.traffic.size(); ++i) {
        const StrategyTraffic& t = price.traffic[i];
        out += sentence(i == 0 ? " " : ", ", whole_text(t.count), " ", plural_of(t.collective, t.count));
        if (t.collective != Collective::send_recv) out += sentence(" over ", name_of(t.group));
    }
    return out + ".";
}

}  // namespace pentamesh
