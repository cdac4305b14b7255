#include "core/explain/lane_picture.h"

#include "core/base/text.h"
#include "core/mesh/places.h"
#include "core/step/exposure.h"

#include <algorithm>

namespace pentamesh {
namespace {

// Makes the picture of a pass from its replay.
class PassDrawer {
  public:
    PassDrawer(const Plan& plan, const Evaluation& e, int stage, LanePicture& out)
        : e_(e), r_(plan, e.mesh, e.groups), traffic_(r_, e.comm, e.work), stage_(stage), out_(out) {}

    // Returns the end of the pass, which begins at `from_s`.
    double draw(bool forward, double from_s) {
        names_.clear();
        LaneUnits units;
        const Stages& stages = e_.comm.stages;
        if (out_.once) {
            units = traffic_.units_of_step(e_.costs, forward);
            name_buckets(units, forward);
        } else {
            for (int i = 0; i < stages.chunks; ++i) {
                const int c = forward ? i : stages.chunks - 1 - i;
                for (const LaneUnit& u : traffic_.units_of(stages.chunk(stage_, c), forward))
                    if (units.size() < LaneUnits::most()) units.push_back(u);
                name_layers(c, forward);
            }
        }
        std::vector<LaneBlock> blocks;
        const std::span<const LaneUnit> all{units.begin(), units.end()};
        const bool hides = traffic_.hidden_share() > 0;
        const LaneTimes times =
            hides ? replay_lanes(all, traffic_.rules(), blocks) : replay_one_by_one(all, blocks);
        for (const LaneBlock& b : blocks) out_.pieces.push_back(piece(b, forward, from_s));
        mark_ends(forward, from_s, times);
        if (forward && !out_.once) mark_layer(blocks, from_s);
        out_.waits_s += times.waits();
        out_.slowed_s += times.slowed;
        for (const LaneBlock& b : blocks)
            if (!b.computes && !b.own) out_.hidden_s += b.hidden;
        for (const auto& kind : times.because)
            for (const WaitsBecause w : all_of<WaitsBecause>()) because_[w] += kind[w];
        return from_s + times.end;
    }
    [[nodiscard]] const EnumArray<WaitsBecause, double>& because() const { return because_; }
    [[nodiscard]] double rate() const { return traffic_.rules().rate; }

  private:
    void name_layers(int chunk, bool forward) {
        const Stages& stages = e_.comm.stages;
        const ChunkLayers& k = stages.chunk(stage_, chunk);
        const int virtual_stage = stage_of(r_.shape, stage_, chunk);
        const auto first = static_cast<std::size_t>(virtual_stage) < stages.first_layer.size()
                               ? stages.first_layer[static_cast<std::size_t>(virtual_stage)]
                               : 0;
        std::vector<std::string> own;
        if (k.first) own.emplace_back("embedding");
        for (int i = 0; i < static_cast<int>(k.layers()); ++i)
            own.push_back("layer " + std::to_string(first + i));
        if (k.last || k.mtp > 0) own.emplace_back("head");
        if (!forward) std::reverse(own.begin(), own.end());
        names_.insert(names_.end(), own.begin(), own.end());
    }
    void name_buckets(const LaneUnits& units, bool forward) {
        std::int64_t bucket = 0, all = 0;
        const auto moves = [](const LaneUnit& u) {
            double sum = 0;
            for (const LaneSeconds& call : u.call)
                for (const double s : call) sum += s;
            return sum > 0;
        };
        for (const LaneUnit& u : units) all += moves(u) ? u.times : 0;
        for (const LaneUnit& u : units)
            for (std::int64_t i = 0; i < u.times; ++i)
                names_.push_back(moves(u)  ? sentence("bucket ", ++bucket, " of ", all)
                                 : forward ? "the other micro-batches"
                                           : "the micro-batches before");
    }

    [[nodiscard]] LanePiece piece(const LaneBlock& b, bool forward, double from_s) const {
        LanePiece p;
        p.kind = b.computes ? LanePieceKind::compute : b.own ? LanePieceKind::own : LanePieceKind::call;
        if (!b.computes) p.lane = b.lane;
        p.call = b.call;
        if (p.kind == LanePieceKind::call) p.what = name_of(b.call);
        p.forward = forward;
        const auto unit = static_cast<std::size_t>(b.unit);
        p.unit = unit < names_.size() ? names_[unit] : std::string();
        p.start_s = from_s + b.start, p.end_s = from_s + b.end;
        p.queued_s = b.start - b.issued;
        p.hidden_s = b.own ? b.end - b.start : b.hidden;
        if (!b.computes) p.axis = axis_of(b, forward);
        return p;
    }
    [[nodiscard]] GroupKind axis_of(const LaneBlock& b, bool forward) const {
        GroupKind axis = GroupKind::dp;
        double most = -1;
        for (const Operation& o : e_.comm.operations) {
            const bool own = o.types != 0;
            if (own != b.own || (!own && !is_state_row(o)) || lane_of(o) != b.lane) continue;
            if (own ? (o.phase == Phase::forward) != forward
                    : (lane_call(o) != b.call || before_forward(o) != forward
                       || (o.each == GradientReduction::micro_batch) == out_.once))
                continue;
            if (o.time_s > most) most = o.time_s, axis = o.group;
        }
        return axis;
    }
    // Marks a layer between others, which go as it does.
    void mark_layer(const std::vector<LaneBlock>& blocks, double from_s) {
        constexpr std::int64_t kShown = 2;  // the third unit: the embedding and the first layer are apart
        double before_s = -1, start_s = 0, end_s = 0;
        for (const LaneBlock& b : blocks)
            if (b.computes && b.unit == kShown - 1)
                before_s = b.end;
            else if (b.computes && b.unit == kShown)
                start_s = b.start, end_s = b.end;
        constexpr std::size_t kLeastUnits = 6;
        const bool sends = std::any_of(blocks.begin(), blocks.end(), [](const LaneBlock& b) {
            return !b.computes && !b.own && b.end > b.start;
        });
        if (!sends || before_s < 0 || end_s <= before_s || names_.size() < kLeastUnits) return;
        const double waits = start_s - before_s;
        out_.marks.push_back({from_s + before_s, from_s + end_s,
                              "a layer like the others: " + time_text(end_s - before_s, Zeros::kept),
                              waits > 1e-3 * (end_s - before_s)
                                  ? time_text(waits, Zeros::kept) + " of it waits for its weights"
                                  : "its weights are there in time"});
    }
    void mark_ends(bool forward, double from_s, const LaneTimes& times) {
        const double gathers = times.because[LaneCall::gather][WaitsBecause::nothing_to_hide_behind];
        double reductions = 0;
        for (const LaneCall c : {LaneCall::scatter, LaneCall::reduce})
            for (const double s : times.waited[c]) reductions += s;
        if (gathers > 0)
            out_.marks.push_back(
                {from_s, from_s + gathers,
                 (forward ? "first gathers: " : "first gather: ") + time_text(gathers, Zeros::kept),
                 "nothing to hide behind"});
        if (reductions > 0)
            out_.marks.push_back({from_s + times.end - reductions, from_s + times.end,
                                  "last reductions: " + time_text(reductions, Zeros::kept),
                                  "nothing comes after"});
    }

    const Evaluation& e_;
    ResolvedPlan r_;
    StateTraffic traffic_;
    int stage_;
    LanePicture& out_;
    std::vector<std::string> names_;
    EnumArray<WaitsBecause, double> because_{};
};

std::string exact(double s) {
    return time_text(s, Zeros::kept);
}

void say(const Plan& plan, const EnumArray<WaitsBecause, double>& because, double rate, LanePicture& p) {
    const double all = p.waits_s + p.hidden_s;
    const std::string of = p.once ? "what happens once a step" : "one micro-batch";
    constexpr double kNothing = 1e-12;
    if (all <= kNothing) {
        p.title = "No weights are gathered and no gradients reduced here.";
        return;
    }
    const double wall = because[WaitsBecause::longer_than_window] + because[WaitsBecause::card_busy];
    if (!plan.training.overlap.dp)
        p.title = sentence("Nothing hides: the plan lets no traffic of data parallelism overlap. ",
                           exact(p.waits_s), " of ", exact(p.end_s), " wait.");
    else if (p.waits_s <= kNothing)
        p.title = sentence("All of it hides: nothing waits in ", of, ".");
    else if (wall > 0.5 * p.waits_s)
        p.title =
            sentence("The wire is the wall: compute waits ", exact(p.waits_s), " of ", exact(p.end_s), ".");
    else
        p.title = sentence("All of it hides but the first and the last: ", exact(p.waits_s), " of ",
                           exact(p.end_s), ".");
    p.sentence = sentence("Of ", exact(all),
                          p.once ? " of gathers and reductions once a step "
                                 : " of gathers and reductions a micro-batch ",
                          exact(p.hidden_s), p.hidden_s == 1 ? " hides" : " hide");
    if (p.waits_s > kNothing) {
        WaitsBecause most = WaitsBecause::nothing_to_hide_behind;
        for (const WaitsBecause w : all_of<WaitsBecause>())
            if (because[w] > because[most]) most = w;
        p.sentence += sentence("; ", exact(p.waits_s), " cannot: ", words_of(most));
    }
    p.sentence += ".";
    if (p.slowed_s > 0) p.sentence += sentence(" Compute beside it takes ", exact(p.slowed_s), " longer.");
    p.assumed = sentence(
        "Times of layers and calls are the program's; their order is a replay, one call at a time on a "
        "lane. Compute beside traffic is taken to run at ",
        percent_text(rate), " of its speed.");
}

}  // namespace

std::string_view name_of(LanePieceKind kind) {
    constexpr std::array<std::string_view, 3> names{"compute", "call", "own"};
    return names[static_cast<std::size_t>(kind)];
}

std::string_view name_of(LaneCall call) {
    constexpr EnumArray<LaneCall, std::string_view> names{"gather", "reduction", "reduction across replicas"};
    static_assert(!names.back().empty());
    return names[call];
}

std::optional<LanePicture> lane_picture(const Plan& plan, const Evaluation& e, int stage) {
    if (!e.valid || !e.step) return std::nullopt;
    LanePicture out;
    out.stage = stage >= 0 && stage < e.comm.stages.devices ? stage : e.comm.busiest_device;
    bool in_passes = false, in_step = false;
    for (const Operation& o : e.comm.operations)
        if (is_state_row(o)) (o.each == GradientReduction::micro_batch ? in_passes : in_step) = true;
    out.once = in_step && !in_passes;
    if (out.once) out.stage = e.comm.busiest_device;
    for (const TrafficLane lane : all_of<TrafficLane>()) out.tier[lane] = tier_of(plan, e, lane);
    PassDrawer drawer(plan, e, out.stage, out);
    out.forward_s = drawer.draw(true, 0);
    out.end_s = drawer.draw(false, out.forward_s);
    say(plan, drawer.because(), drawer.rate(), out);
    return out;
}

int tier_of(const Plan& plan, const Evaluation& e, TrafficLane lane, LayerMask types) {
    if (lane == TrafficLane::fast) return 0;
    int slowest = 0;
    for (const Operation& o : e.comm.operations)
        if (types == 0 || (o.types & types) != 0) slowest = std::max(slowest, o.tier);
    return slowest > 0 ? slowest : std::max(static_cast<int>(plan.cluster.tiers.size()) - 1, 0);
}

std::string lane_name(const Plan& plan, const LanePicture& picture, const std::optional<TrafficLane>& lane) {
    if (!lane) return "compute";
    return std::string(tier_name(plan.cluster, picture.tier[*lane]));
}

}  // namespace pentamesh
