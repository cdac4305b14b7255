#include "core/decide/bounds.h"

#include "core/base/text.h"
#include "core/memory/memory_costs.h"
#include "core/pipeline/schedules/schedule.h"
#include "core/plan/edits.h"
#include "core/plan/problem.h"
#include "core/plan/software.h"
#include "core/rules/state_runs.h"
#include "core/step/exposure.h"
#include "core/step/offload.h"
#include "core/step/step.h"

#include <algorithm>
#include <limits>

namespace pentamesh {
namespace {

// Sums are made in another order than evaluate's: they may differ by this much.
constexpr double kSafe = 1 - 1e-9;

std::size_t at_index(std::int64_t i) {
    return static_cast<std::size_t>(i);
}

// Describes one copy of the model along the pipeline: the time that a micro-batch needs before it reaches a
// stage, and after it on the way back.
struct Chain {
    std::vector<double> forward, backward, input;  // of the stages before this one, with their sends
    double last_weight = 0;                        // of the first stage
    double whole = 0, whole_split = 0;             // all the way there and back
};

Chain chain_of(const ScheduleShape& s, const TimelineCosts& costs, int copy, bool two_copies) {
    const int chunks = chunks_of(s), stages = two_copies ? s.devices : s.devices * chunks;
    Chain c;
    double f = 0, b = 0, i = 0;
    int before = -1;
    for (int stage = 0; stage < stages; ++stage) {
        int device = -1, chunk = copy;
        for (int k = two_copies ? copy : 0; k < (two_copies ? copy + 1 : chunks); ++k) {
            const int d = device_of(s, stage, k);
            if (d >= 0 && d < s.devices && stage_of(s, d, k) == stage) device = d, chunk = k;
        }
        if (device < 0) break;
        const double send = before >= 0 && before != device ? costs.send : 0;
        f += send, b += send, i += send;
        c.forward.push_back(f), c.backward.push_back(b), c.input.push_back(i);
        const ChunkCost& own = costs.chunk[at_index(std::int64_t{device} * chunks + chunk)];
        if (stage == 0) c.last_weight = own.weight_grad;
        f += own.forward;
        b += own.input_grad + own.weight_grad;
        i += own.input_grad;
        before = device;
    }
    c.whole = f + b;
    c.whole_split = f + i + c.last_weight;
    return c;
}

}  // namespace

// A device starts no op before a first micro-batch has come through the stages before its earliest one. From
// then on it works for as long as all its ops take.
//
// Where the backward is one op, the last op of a device is a backward: every forward has its backward after
// it on the same device. After that backward the micro-batch goes back through all earlier stages, so the
// makespan is at least start + work + that way.
//
// Where weight gradients are ops of their own, the last op may be one of them, for which no op waits. Still
// the device has run all its forwards and input gradients when the last input gradient ends; after it come
// the input gradients of all earlier stages, and the first stage's weight gradient.
//
// And any one micro-batch goes through all stages and back.
//
// In a pipeline of two copies each of a device's two stages is counted in its own chain, and the way before
// and after is the shorter of the two.
double least_makespan(const ScheduleShape& s, const TimelineCosts& costs) {
    const ScheduleTraits& traits = traits_of(s.schedule);
    const bool two = traits.placement == StagePlacement::two_copies;
    const bool split = traits.splits_backward || traits.overlaps_pairs;
    const int chunks = chunks_of(s);
    Chain chain[2] = {chain_of(s, costs, 0, two), {}};
    if (two) chain[1] = chain_of(s, costs, 1, two);
    const double runs = runs_of(s.schedule, s.microbatches);
    double most = split ? chain[0].whole_split : chain[0].whole;
    for (int d = 0; d < s.devices; ++d) {
        constexpr double kNever = std::numeric_limits<double>::infinity();
        double start = kNever, back = kNever, input = kNever, weight = kNever;
        double f = 0, i = 0, w = 0;
        for (int c = 0; c < chunks; ++c) {
            const Chain& own = chain[two && c < 2 ? c : 0];
            const auto stage = at_index(stage_of(s, d, c));
            if (stage >= own.forward.size()) return 0;
            start = std::min(start, own.forward[stage]);
            back = std::min(back, own.backward[stage]);
            input = std::min(input, own.input[stage]);
            weight = std::min(weight, own.last_weight);
            const ChunkCost& cost = costs.chunk[at_index(std::int64_t{d} * chunks + c)];
            f += cost.forward, i += cost.input_grad, w += cost.weight_grad;
        }
        const double work = (f + i + w) * runs;
        if (split)
            most = std::max({most, start + work, start + (f + i) * runs + input + weight});
        else
            most = std::max(most, start + work + back);
    }
    return most * kSafe;
}

namespace {

// The bytes that the allocator reserves beyond its tensors are shared out with the bytes of each.
StageBytes bytes_of_stage(const Plan& plan, const Evaluation& e, const StageMemory& s) {
    const StageNumbers n = numbers_of(plan.model, e.comm.held, s);
    const StateBytes p = parameter_bytes(plan), g = gradient_bytes(plan.training),
                     o = optimizer_bytes(plan.training);
    const Offload& away = plan.training.offload;
    const double reserved = facts_of(plan.training.software).reserved.mid;
    StageBytes out;
    const Numbers* const numbers[2] = {&n.dense, &n.experts};
    for (int k = 0; k < 2; ++k) {
        out.parameters[k] = reserved * p.of(*numbers[k]) * (1 - away.parameters);
        out.gradients[k] = reserved * g.of(*numbers[k]);
        out.optimizer[k] = reserved * o.of(*numbers[k]) * (1 - away.optimizer);
    }
    // Layouts of ZeRO-2 and 3 have no such copy.
    out.rest =
        s.total() - reserved * (s.parameters + s.gradients + s.optimizer + gradient_copy_bytes(plan, n));
    return out;
}

// Returns the bytes of a stage's process groups with zero = 0: those of a sharding are added by itself.
double communicators(const Plan& plan, const Evaluation& e, double group_bytes) {
    return group_bytes * degrees_of(plan, e.mesh).communicators;
}

}  // namespace

// Costs, activations and micro-batches in flight do not depend on how states are sharded: those of zero = 0
// hold for all. Its buffers hold no gathered parameters and no uncut gradients, which only add to the
// others'.
RunBound bound_of_run(const Plan& plan, const Evaluation& e, double group_bytes) {
    const ScheduleShape shape = shape_of(plan, e.microbatches);
    const int chunks = chunks_of(shape);
    RunBound out;
    out.makespan = least_makespan(shape, e.costs);
    out.microbatches = static_cast<double>(e.microbatches);
    out.copies = parameter_copies(shape.schedule);
    if (shape.devices == 1)
        for (const std::uint32_t kind : e.comm.stages.chunk_kind)
            out.link_s += runs_of(shape.schedule, out.microbatches) * e.work.chunk[kind].offload.all();
    if (plan.training.overlap.dp) {
        // All of a pass can hide transfers. With chunks in groups those of once a step have a group's passes.
        const double windows = hiding_microbatches(plan, shape, out.microbatches);
        for (int d = 0; d < shape.devices; ++d) {
            double forward = 0, backward = 0;
            for (int c = 0; c < chunks; ++c) {
                const ChunkCost& cost = e.costs.chunk[static_cast<std::size_t>(d * chunks + c)];
                forward += cost.forward, backward += cost.input_grad + cost.weight_grad;
            }
            out.forward_s = std::max(out.forward_s, windows * forward);
            out.backward_s = std::max(out.backward_s, windows * backward);
        }
    }
    // The sharding decides whose numbers are reduced: there are at least as many as the least of these.
    out.dense = out.experts = std::numeric_limits<double>::infinity();
    for (const StageNumbers& n : e.comm.reducing) {
        out.dense = std::min(out.dense, n.dense.all());
        out.experts = std::min(out.experts, n.experts.all());
    }
    out.fewest_layers = std::numeric_limits<double>::infinity();
    for (const StageMemory& s : e.memory.stage)
        out.fewest_layers = std::min(out.fewest_layers, static_cast<double>(s.layers));
    const double groups = communicators(plan, e, group_bytes);
    const std::size_t which[2] = {0, at_index(e.memory.peak_stage)};
    for (int k = 0; k < 2; ++k) {
        out.stage[k] = bytes_of_stage(plan, e, e.memory.stage[which[k]]);
        out.stage[k].rest -= groups;
    }
    return out;
}

// Each transfer takes calls (latency + bytes / rate), and so grows at most in proportion to its bytes and its
// calls: with r times the numbers and layers of `own` it takes at least r times as long. Between the runs of
// a node numbers differ as their stages do; with ZeRO-3 in a pipeline a layer is a call. Transfers with every
// micro-batch happen as often as a run has micro-batches; those after runs of them happen at least once, and
// then one of these at least is exposed, except for the part that a micro-batch hides.
ShardBound bound_of_shards(const Plan& plan, const Evaluation& e, const RunBound& own, const RunBound& least,
                           const BoundOf& of) {
    ShardBound out;
    const Degrees degrees = degrees_of(plan, e.mesh);
    const StateShards shards = shards_of(plan, degrees);
    const double cut[2] = {static_cast<double>(degrees.dense_shard),
                           static_cast<double>(degrees.expert_shard)};
    // This is true if all runs of the node do with every micro-batch what this run does.
    const bool all_do = own.microbatches > 1 && !of.reduces_runs;
    for (int k = 0; k < 2; ++k) {
        out.parameters[k] = 1 / static_cast<double>(shards.parameter[k]);
        out.gradients[k] = plan.layout.zero >= 2 ? 1 / cut[k] : 1;
        out.summed[k] = of.reduces_runs ? out.gradients[k] : 1 / static_cast<double>(shards.gradient[k]);
        out.optimizer[k] = shards.copies / static_cast<double>(shards.optimizer[k]);
    }
    out.communicators = communicators(plan, e, of.group_bytes);
    out.pipeline = plan.layout.pp > 1;
    const double dense = e.comm.reduced.dense.all(), experts = e.comm.reduced.experts.all();
    const double of_dense = dense > 0 ? std::min(least.dense / dense, 1.0) : 1;
    const double of_experts = experts > 0 ? std::min(least.experts / experts, 1.0) : 1;
    double most_layers = 0, layers = 1;
    for (const StageMemory& s : e.memory.stage)
        most_layers = std::max(most_layers, static_cast<double>(s.layers + s.mtp_layers));
    if (plan.layout.pp > 1 && most_layers > 0) layers = least.fewest_layers / most_layers;
    for (const Operation& o : e.comm.operations) {
        if (!is_data_parallel(o.group)) continue;
        const bool layerwise = o.scope == Scope::layer;
        const bool gather = before_forward(o);
        const double r = is_expert(o.group) ? of_experts : of_dense;
        const double t = o.time_s * (layerwise ? std::min(r, layers) : r) * kSafe;
        const int lane = plan.training.overlap.dp && o.tier > 0 ? 1 : 0;
        if (all_do && o.each == GradientReduction::micro_batch)
            out.each[lane] += t / o.rounds;
        else if (plan.layout.zero >= 2)  // some run of the node may do it with every micro-batch
            out.within[lane] += t / o.rounds;
        else
            (gather ? out.gather : out.reduce)[lane] += t / o.rounds;
    }
    const double fixed = once_a_step(plan);
    // The way to host memory and back is in proportion to the numbers too.
    const double update =
        std::max(e.step->optimizer_s - fixed, 0.0) + offloaded_update_time(plan, e.comm.reduced, shards);
    out.update = update * std::min(of_dense, of_experts) * own.copies * kSafe;
    return out;
}

BoundOf::BoundOf(const Plan& plan) {
    if (plan.training.straggler_cv > 0)
        straggle += plan.training.straggler_cv * expected_maximum(plan.cluster.gpus);
    fixed = once_a_step(plan);
    group_bytes = communicator_bytes(plan, 1).mid;
    reduces_runs = plan.layout.gradient_reduction == GradientReduction::run;
}

// A step is its makespan, the transfers that do not hide, and its end. A lane takes one transfer at a time:
// those of every micro-batch are within the makespan where they overlap, else next to it; those of a step
// hide behind passes, which are longer where others are waited for. Where a pass waits for host memory, those
// of a micro-batch go on meanwhile.
double BoundOf::time(const RunBound& run, const ShardBound& shard) const {
    const double rounds = run.microbatches / run.copies;
    const bool overlaps = run.forward_s > 0;
    double waits = 0;
    for (int lane = 0; lane < 2; ++lane) {
        const double each = shard.each[lane] * rounds + shard.within[lane];
        const double once = std::max(shard.gather[lane] - run.forward_s, 0.0)
                            + std::max(shard.reduce[lane] - run.backward_s, 0.0);
        const bool may_hide = overlaps || shard.pipeline;
        const double hides = may_hide ? run.makespan : run.link_s;
        const double own = each > 0 ? std::max(each - hides, 0.0) : once;
        waits = overlaps ? std::max(waits, own) : waits + own + (each > 0 ? once : 0);
    }
    const double step = run.makespan + waits + shard.update / run.copies + fixed;
    return step * straggle * kSafe;
}

// The fullest stage holds at least as much as any of them.
double BoundOf::memory(const RunBound& run, const ShardBound& shard) const {
    constexpr double kRounded = 16;  // bytes: each part is rounded up, none down
    double most = 0;
    for (const StageBytes& s : run.stage) {
        double sum = s.rest + shard.communicators - kRounded;
        for (int k = 0; k < 2; ++k)
            sum += s.parameters[k] * shard.parameters[k]
                   + s.gradients[k] * (run.microbatches > 1 ? shard.summed[k] : shard.gradients[k])
                   + s.optimizer[k] * shard.optimizer[k] / run.copies;
        most = std::max(most, sum);
    }
    return most * kSafe;
}

LayoutChoice whole_states(const Plan& plan, const SearchNodes& nodes, const SearchNode& n, std::size_t run) {
    LayoutChoice c = nodes.choice(n, run, 0);
    if (n.shards.size() > 1) c.dp_replicate *= c.dp_shard, c.dp_shard = 1;
    c.zero = plan.training.offload.parameters > 0 ? 3 : 0;
    return c;
}

ProblemCode first_code(const Evaluation& e) {
    for (const Problem& p : e.problems)
        if (p.severity == Severity::error) return p.code;
    return ProblemCode::no_time;
}

void bound_node(const Plan& plan, const SearchNodes& nodes, const SearchNode& n, const BoundOf& of,
                Plan& laid, Evaluation& e, NodeBounds& out) {
    const std::size_t runs = nodes.runs_of(n).size();
    out.run.assign(runs, {});
    out.shard.assign(n.shards.size(), std::nullopt);
    std::size_t own = runs;  // the first possible run
    RunBound least;
    for (std::size_t r = 0; r < runs; ++r) {
        lay_out(plan, whole_states(plan, nodes, n, r), laid);
        evaluate(laid, e, kBoundOptions);
        if (!e.step) {
            out.run[r].impossible = first_code(e);
            continue;
        }
        RunBound& b = out.run[r].bound;
        b = bound_of_run(laid, e, of.group_bytes);
        // Offloaded parameters are gathered: the memory for that does not bound other shardings.
        if (plan.training.offload.parameters > 0) b.stage[0] = b.stage[1] = {};
        if (own == runs) own = r, least = b;
        least.dense = std::min(least.dense, b.dense);
        least.experts = std::min(least.experts, b.experts);
        least.fewest_layers = std::min(least.fewest_layers, b.fewest_layers);
    }
    if (own == runs) return;
    for (std::size_t q = 0; q < n.shards.size(); ++q) {
        lay_out(plan, nodes.choice(n, own, q), laid);
        evaluate(laid, e, kBoundOptions);
        if (e.step) out.shard[q] = bound_of_shards(laid, e, out.run[own].bound, least, of);
    }
}

namespace {

std::vector<RunChoice> runs_for(const SearchSpace& s, std::int64_t pp) {
    std::vector<RunChoice> out;
    for (const std::int64_t b : s.micro_batch)
        for (const RecomputeChoice& r : s.recompute) {
            if (pp == 1) {
                out.push_back({b, 1, r, Schedule::one_f_one_b});
                continue;
            }
            for (const Schedule k : s.schedule)
                for (const std::int64_t v : s.virtual_stages)
                    if (chunks_for(k, v) == v) out.push_back({b, v, r, k});
        }
    return out;
}

std::vector<ShardChoice> shards_for(const SearchSpace& s, std::int64_t dp) {
    std::vector<ShardChoice> out;
    for (const int zero : s.zero)
        for (const std::int64_t shard : s.dp_shard) {
            if (dp % shard != 0) continue;
            const std::int64_t replicate = dp / shard;
            if (std::binary_search(s.dp_replicate.begin(), s.dp_replicate.end(), replicate))
                out.push_back({zero, shard, replicate});
        }
    return out;
}

// Holds the axes of an order that have more than one rank, in each mesh.
struct Standing {
    std::vector<Axis> dense, expert;
    bool operator==(const Standing&) const = default;
};

// Both data-parallel axes count where there is data parallelism at all: their sizes in the expert mesh are
// another question.
Standing standing(const AxisOrder& order, const SearchNode& n, std::int64_t dp, bool experts) {
    Standing out;
    for (const Axis a : order) {
        const bool data = a == Axis::dp_shard || a == Axis::dp_replicate,
                   pipeline = a == Axis::pp && n.pp > 1;
        if (pipeline || (a == Axis::tp && n.tp > 1) || (a == Axis::cp && n.cp > 1) || (data && dp > 1))
            out.dense.push_back(a);
        if (experts && (pipeline || data || (a == Axis::tp && n.etp > 1) || (a == Axis::ep && n.ep > 1)))
            out.expert.push_back(a);
    }
    return out;
}

// Returns true if both data-parallel axes are neighbours, so that only their product moves the others.
bool side_by_side(const std::vector<Axis>& axes) {
    const auto a = std::find(axes.begin(), axes.end(), Axis::dp_shard);
    const auto b = std::find(axes.begin(), axes.end(), Axis::dp_replicate);
    return a == axes.end() || b - a == 1 || a - b == 1;
}

void add_orders(const SearchSpace& s, const SearchNode& like, std::int64_t dp, bool experts,
                const std::vector<ShardChoice>& shards, SearchNodes& out) {
    std::vector<Standing> seen;
    for (const AxisOrder& order : s.order) {
        Standing axes = standing(order, like, dp, experts);
        if (std::find(seen.begin(), seen.end(), axes) != seen.end()) continue;
        SearchNode n = like;
        n.order = order;
        if (side_by_side(axes.dense) && side_by_side(axes.expert)) {
            n.shards = shards;
            out.node.push_back(n);
        } else {
            for (const ShardChoice& one : shards) {
                n.shards = {one};
                out.node.push_back(n);
            }
        }
        seen.push_back(std::move(axes));
    }
}

LayoutChoice choice_of(const SearchNode& n, const RunChoice& r, const ShardChoice& q) {
    LayoutChoice c;
    c.tp = n.tp, c.cp = n.cp, c.pp = n.pp, c.ep = n.ep, c.etp = n.etp, c.order = n.order;
    c.virtual_stages = r.virtual_stages, c.schedule = r.schedule;
    c.micro_batch = r.micro_batch, c.recompute = r.recompute;
    c.zero = q.zero, c.dp_shard = q.dp_shard, c.dp_replicate = q.dp_replicate;
    c.settings = n.settings;
    return c;
}

// Takes out the layouts that the space's software does not run, and counts them.
class Sieve {
  public:
    Sieve(const Plan& plan, const SearchSpace& space) : plan_(plan), software_(space.software), laid_(plan) {}

    // Returns runs of pipelines of pp stages that the software has; a lack there holds for all their nodes.
    [[nodiscard]] std::vector<RunChoice> runs(const std::vector<RunChoice>& all, std::int64_t pp,
                                              std::int64_t ep, Switched overlap_pp) {
        Turned& turned = turned_.emplace_back();
        turned.all = all.size();
        std::vector<RunChoice> out;
        SearchNode like;
        like.pp = pp, like.ep = ep, like.order = plan_.layout.order, like.settings = settings_of(plan_);
        like.settings.overlap_pp = overlap_pp;
        for (const RunChoice& r : all) {
            const std::optional<Lack> lack = lack_of(lacks_of_run, like, r, {});
            if (!lack)
                out.push_back(r);
            else if (++turned.count[*lack] == 1)
                turned.first[*lack] = r;
        }
        turned.any = all.empty() ? RunChoice{} : all.front();
        return out;
    }

    // Takes shardings out of the nodes, and then empty nodes.
    void nodes(SearchNodes& out) {
        if (!software_) return;
        for (SearchNode& n : out.node) sift(n);
        std::erase_if(out.node,
                      [&](const SearchNode& n) { return n.shards.empty() || out.runs_of(n).empty(); });
        for (const Lack l : all_of<Lack>())
            if (left_[l].count > 0) out.left_out.push_back(left_[l]);
    }

  private:
    struct Turned {  // of a list of runs
        EnumArray<Lack, std::uint64_t> count{};
        EnumArray<Lack, RunChoice> first{};
        RunChoice any;
        std::uint64_t all = 0;
    };

    template <typename Ask>
    std::optional<Lack> lack_of(const Ask& ask, const SearchNode& n, const RunChoice& r,
                                const ShardChoice& q) {
        if (!software_) return std::nullopt;
        lay_out(plan_, choice_of(n, r, q), laid_);
        return ask(laid_, *software_).first();
    }
    void leave_out(Lack lack, std::uint64_t count, const LayoutChoice& example) {
        LeftOut& l = left_[lack];
        if (l.count == 0) l.lack = lack, l.example = example;
        l.count += count;
    }

    void sift(SearchNode& n) {
        const Turned& turned = turned_[n.runs];
        std::erase_if(n.shards, [&](const ShardChoice& q) {
            const std::optional<Lack> lack = lack_of(lacks_of_ranks, n, turned.any, q);
            if (lack) leave_out(*lack, turned.all, choice_of(n, turned.any, q));
            return lack.has_value();
        });
        if (n.shards.empty()) return;
        for (const Lack l : all_of<Lack>())
            if (turned.count[l] > 0)
                leave_out(l, turned.count[l] * n.shards.size(),
                          choice_of(n, turned.first[l], n.shards.front()));
    }

    const Plan& plan_;
    const std::optional<Software> software_;
    Plan laid_;
    std::vector<Turned> turned_;  // by number of the list
    EnumArray<Lack, LeftOut> left_{};
};

// Takes out the shardings whose groups leave the tier that the space keeps them inside, and empty nodes.
void keep_inside(const Plan& plan, const SearchSpace& s, SearchNodes& out) {
    if (s.inside.empty()) return;
    Plan laid = plan;
    const auto leaves = [&](const SearchNode& n, const ShardChoice& q) {
        lay_out(plan, choice_of(n, {}, q), laid);
        const Mesh mesh = build_mesh(laid);
        return std::any_of(s.inside.begin(), s.inside.end(), [&](const Inside& one) {
            return summarize(mesh, laid.cluster, one.group).slowest_tier > one.tier;
        });
    };
    for (SearchNode& n : out.node)
        std::erase_if(n.shards, [&](const ShardChoice& q) { return leaves(n, q); });
    std::erase_if(out.node, [](const SearchNode& n) { return n.shards.empty(); });
}

// Lists all settings of the space: the plan's own where it varies none.
std::vector<SettingChoice> settings_for(const SearchSpace& s) {
    std::vector<SettingChoice> out;
    for (const Dtype gradients : s.gradients)
        for (const Dtype moments : s.optimizer_state)
            for (const Reshard reshard : s.reshard)
                for (const Switched tp : s.overlap_tp)
                    for (const Switched pp : s.overlap_pp)
                        for (const std::int64_t layers : s.offload_layers)
                            for (const double optimizer : s.offload_optimizer)
                                out.push_back({gradients, moments, reshard, tp, pp, layers, optimizer});
    return out;
}

// Takes out the shardings at which the space's software does not keep the types of a node or does not move
// its share of the optimizer, and empty nodes.
void keep_types(const Plan& plan, const SearchSpace& s, SearchNodes& out) {
    if (!s.software) return;
    for (SearchNode& n : out.node) {
        const bool gradients = keeps_gradients(plan, *s.software, n.settings.gradients);
        std::erase_if(n.shards, [&](const ShardChoice& q) {
            return !gradients || !keeps_moments(plan, *s.software, q.zero, n.settings.optimizer_state)
                   || !offloads_optimizer(plan, *s.software, q.zero, n.settings.offload_optimizer);
        });
    }
    std::erase_if(out.node, [](const SearchNode& n) { return n.shards.empty(); });
}

// Says with which runs of a pipeline of pp stages the space's software moves the activations of so many
// layers.
enum class MovedWith : std::uint8_t { all, no_recompute, none };
MovedWith moved_with(const Plan& plan, const SearchSpace& s, std::int64_t pp, std::int64_t layers) {
    if (!s.software || offloads_activations(plan, *s.software, pp, true, layers)) return MovedWith::all;
    return offloads_activations(plan, *s.software, pp, false, layers) ? MovedWith::no_recompute
                                                                      : MovedWith::none;
}

}  // namespace

SearchNodes nodes_of(const Plan& plan, const SearchSpace& s) {
    SearchNodes out;
    Sieve sieve(plan, s);
    const std::int64_t gpus = plan.cluster.gpus;
    const bool experts = plan.model.moe.has_value();
    const std::vector<SettingChoice> settings = settings_for(s);
    for (const std::int64_t pp : s.pp) {
        const std::vector<RunChoice> runs = runs_for(s, pp);
        const auto needs_plain = [&](std::int64_t layers) {
            return moved_with(plan, s, pp, layers) == MovedWith::no_recompute;
        };
        const bool plain_too = std::any_of(s.offload_layers.begin(), s.offload_layers.end(), needs_plain);
        // By the overlap of pp, which some software wants for some runs: of all runs, and of those without
        // recomputation.
        std::array<std::array<std::size_t, 2>, 2> lists{};
        for (const Switched overlap : s.overlap_pp) {
            std::array<std::size_t, 2>& list = lists[static_cast<std::size_t>(overlap)];
            // There is a list for nodes without expert parallelism, and one for those with it.
            for (const std::int64_t ep : {1, 2}) out.runs.push_back(sieve.runs(runs, pp, ep, overlap));
            list = {out.runs.size() - 2, out.runs.size() - 2};
            if (!plain_too) continue;
            std::vector<RunChoice> plain = runs;
            std::erase_if(plain, [](const RunChoice& r) { return r.recompute.any(); });
            for (const std::int64_t ep : {1, 2}) out.runs.push_back(sieve.runs(plain, pp, ep, overlap));
            list[1] = out.runs.size() - 2;
        }
        for (const std::int64_t tp : s.tp)
            for (const std::int64_t cp : s.cp) {
                const std::int64_t room = gpus / tp / cp / pp;  // each is at most a million
                if (room < 1 || gpus % tp != 0 || gpus / tp % cp != 0 || gpus / tp / cp % pp != 0) continue;
                const std::vector<ShardChoice> shards = shards_for(s, room);
                if (shards.empty() || runs.empty()) continue;
                for (const std::int64_t ep : s.ep)
                    for (const std::int64_t etp : s.etp)
                        for (const SettingChoice& set : settings) {
                            const MovedWith with = moved_with(plan, s, pp, set.offload_layers);
                            if (with == MovedWith::none) continue;
                            const std::size_t list = lists[static_cast<std::size_t>(set.overlap_pp)]
                                                          [with == MovedWith::all ? 0 : 1]
                                                     + (ep > 1 ? 1 : 0);
                            add_orders(s, {tp, cp, pp, ep, etp, {}, {}, list, 0, set}, room, experts, shards,
                                       out);
                        }
            }
    }
    keep_inside(plan, s, out);
    keep_types(plan, s, out);
    sieve.nodes(out);
    for (SearchNode& n : out.node) {
        n.first = out.layouts;
        out.layouts += n.shards.size() * out.runs_of(n).size();
    }
    return out;
}

LayoutChoice SearchNodes::choice(const SearchNode& n, std::size_t run, std::size_t shard) const {
    return choice_of(n, runs_of(n)[run], n.shards[shard]);
}

LayoutChoice SearchNodes::choice(std::uint64_t index) const {
    const auto after = std::upper_bound(node.begin(), node.end(), index,
                                        [](std::uint64_t i, const SearchNode& n) { return i < n.first; });
    const SearchNode& n = *(after - 1);
    const auto at = static_cast<std::size_t>(index - n.first);
    return choice(n, at / n.shards.size(), at % n.shards.size());
}

namespace {

std::string fullest_text(const Evaluation& e) {
    const StageMemory& s = e.memory.stage[static_cast<std::size_t>(e.memory.peak_stage)];
    MemoryCategory most = MemoryCategory::parameters;
    for (int c = 0; c < kMemoryCategoryCount; ++c)
        if (bytes_of(s, static_cast<MemoryCategory>(c)) > bytes_of(s, most))
            most = static_cast<MemoryCategory>(c);
    return sentence(memory_text(s.total()), ", of which ", name_of(most), " ",
                    memory_text(bytes_of(s, most)));
}

// Returns the layout of least memory, even if it does not fit.
std::optional<Plan> smallest(const Plan& plan, const SearchSpace& space, const SearchOptions& options,
                             const std::atomic<bool>* cancel) {
    Plan roomy = plan;
    constexpr double kBoundless = 1e18;
    roomy.cluster.gpu.hbm_bytes = kBoundless;
    SearchOptions o = options;
    o.goal = Goal::memory, o.headroom = 0, o.top = 1;
    SearchReport r = search(roomy, space, o, cancel);
    if (r.results.empty()) return std::nullopt;
    Plan out = std::move(r.results.front().plan);
    out.cluster = plan.cluster;
    return out;
}

}  // namespace

std::string too_big_text(const Evaluation& e, double headroom) {
    return sentence("The fullest GPU needs ", fullest_text(e), "; it has ", memory_text(e.memory.hbm),
                    headroom > 0 ? sentence(", of which ", percent_text(headroom), " must stay free.") : ".");
}

std::string what_would_fit(const Plan& plan, const SpaceRequest& request, const SearchOptions& options,
                           const SearchReport& report, const std::atomic<bool>* cancel) {
    if (report.cancelled || report.counts.fit > 0) return {};
    if (report.counts.layouts == 0 && report.counts.left_out > 0) {
        const Rejection& r = report.rejected.front();
        return sentence("No layout of the space is one that ", facts_of(plan.training.software).name,
                        " runs (--for any: look at it all the same); most (", r.count, " of ",
                        report.counts.left_out, ") for this: ", r.message);
    }
    if (report.counts.layouts == 0)
        return sentence("The space is empty: no product of tp, cp, pp, dp_shard and dp_replicate of these "
                        "values is ",
                        plan.cluster.gpus, " GPUs, or no schedule runs these virtual_stages.");
    if (report.counts.too_big == 0) {
        const Rejection& r = report.rejected.front();
        return sentence("No layout is possible; most (", r.count, " of ", report.counts.layouts, ") ",
                        reason_words(r.code), ": ", r.message);
    }
    const std::optional<Plan> least = smallest(plan, report.space, options, cancel);
    if (!least) return "No layout fits.";
    const Evaluation e = evaluate(*least);
    const std::string missed =
        options.headroom > 0
            ? sentence("No layout leaves ", percent_text(options.headroom), " of a GPU's memory free")
            : std::string("No layout fits");
    std::string text =
        sentence(missed,
                 ": memory binds "
                 "first. A GPU has ",
                 memory_text(e.memory.hbm), "; even the smallest layout takes ", fullest_text(e), ".");
    if (e.memory.fits())
        text += sentence(" It fits where ", percent_text(1 - e.memory.peak() / e.memory.hbm),
                         " or less is kept free (--headroom).");
    else if (e.memory.may_fit())
        text += " It may run with the smallest buffers that were measured.";
    text += sentence(" GPUs of ", memory_text(e.memory.peak() / (1 - options.headroom)), " would do");
    constexpr int kMostDoublings = 4;
    Plan more = plan;
    for (int i = 0; i < kMostDoublings && !(cancel != nullptr && *cancel); ++i) {
        more = with_gpus(more, more.cluster.gpus * 2);
        std::optional<SpaceError> error;
        const SearchSpace space = search_space(more, request, error);
        if (error) break;
        SearchOptions o = options;
        o.goal = Goal::memory, o.top = 1;
        if (search(more, space, o, cancel).counts.fit > 0)
            return text + sentence("; so would ", more.cluster.gpus, " of these GPUs.");
    }
    return text + ".";
}

}  // namespace pentamesh
