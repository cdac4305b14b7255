#include "core/sharding/move.h"

#include "core/base/files.h"
#include "core/base/text.h"
#include "core/mesh/places.h"
#include "core/model/model_tensors.h"
#include "core/pipeline/stages.h"
#include "core/sharding/held_piece.h"
#include "core/sharding/placement.h"
#include "core/sharding/stage_tensors.h"
#include "core/sharding/weight_part.h"

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <utility>

namespace pentamesh {

void MoveBytes::add(const MoveBytes& other, double times) {
    needed += other.needed * times;
    stays += other.stays * times;
    for (std::size_t t = 0; t < over.size(); ++t) over[t] += other.over[t] * times;
}

MoveBytes Move::mean() const {
    MoveBytes out;
    if (gpus_b > 0) out.add(all, 1 / static_cast<double>(gpus_b));
    return out;
}

std::string_view name_of(MoveCause cause) {
    constexpr std::array<std::string_view, kEnumCount<MoveCause>> names{"new_gpu", "pp", "ep", "tp", "dp"};
    return names[static_cast<std::size_t>(cause)];
}

std::string_view words_of(MoveCause cause) {
    constexpr std::array<std::string_view, kEnumCount<MoveCause>> words{
        "the GPU held nothing before", "another stage had the layer", "another rank had the expert",
        "another rank had this slice of the width", "another rank had the shard"};
    return words[static_cast<std::size_t>(cause)];
}

namespace {

using StageSet = std::vector<int>;  // ascending

// Says which stages hold the layers and the ends of a model.
struct StageHomes {
    std::vector<StageSet> layer;  // of the model
    StageSet mtp;
    std::vector<StageSet> end;  // by placement: of embedding, head and prediction layers' own tensors
};

StageHomes homes_of(const MoveEnd& of, const std::vector<Placement>& placements) {
    StageHomes homes;
    for (const auto& two : stages_of_layers(of.plan, of.mesh)) {
        StageSet held;
        for (const int s : two)
            if (s >= 0 && std::find(held.begin(), held.end(), s) == held.end()) held.push_back(s);
        std::sort(held.begin(), held.end());
        homes.layer.push_back(std::move(held));
    }
    Stages stages;
    lay_stages(of.plan, shape_of(of.plan, 1), stages);
    homes.end.resize(placements.size());
    for (int s = 0; s < stages.devices; ++s) {
        if (stages.contents(s).mtp_layers > 0) homes.mtp.push_back(s);
        for (const StageTensor& t : tensors_of_stage(of.plan, stages, s, placements))
            homes.end[t.placement].push_back(s);
    }
    return homes;
}

// Layers that have a tensor and lie on the same stages in A and in B.
struct LayerSpan {
    StageSet a, b;
    std::vector<std::int64_t> layers;  // of the model; prediction layers follow them
    double count = 0;
};

bool is_of_end(const Placement& p) {
    return p.place == Place::embedding || p.place == Place::head || p.place == Place::mtp;
}

std::vector<LayerSpan> spans_of(const Model& model, const LayerTypes& types, const Placement& p,
                                std::size_t index, const StageHomes& a, const StageHomes& b) {
    std::map<std::pair<StageSet, StageSet>, LayerSpan> spans;
    const auto put = [&](const StageSet& in_a, const StageSet& in_b, std::int64_t layer, double count) {
        LayerSpan& span = spans[{in_a, in_b}];
        span.a = in_a, span.b = in_b;
        if (layer >= 0) span.layers.push_back(layer);
        span.count += count;
    };
    if (is_of_end(p)) {
        put(a.end[index], b.end[index], -1,
            p.place == Place::mtp ? static_cast<double>(model.mtp_layers) : 1);
    } else {
        for (std::int64_t l = 0; l < model.layers; ++l)
            if (has(p.types, type_of_layer(model, types, l)))
                put(a.layer[static_cast<std::size_t>(l)], b.layer[static_cast<std::size_t>(l)], l, 1);
        if (has(p.types, types.mtp))
            for (std::int64_t l = 0; l < model.mtp_layers; ++l) put(a.mtp, b.mtp, model.layers + l, 1);
    }
    std::vector<LayerSpan> out;
    for (auto& [key, span] : spans) out.push_back(std::move(span));
    return out;
}

bool holds_stage(const StageSet& set, int stage) {
    return std::binary_search(set.begin(), set.end(), stage);
}

// One end of the move, with all that is asked of every tensor.
struct EndPlan {
    const MoveEnd& end;
    std::vector<Placement> placements;  // parameters, then optimizer
    std::vector<Coordinates> dense, expert;
    std::vector<int> stage;

    EndPlan(const MoveEnd& of, bool optimizer) : end(of) {
        placements = list_placements(of.plan, of.mesh, TensorState::parameters, Moment::at_rest);
        // Copies that the products need in another order are made on the spot: one copy moves.
        if (of.plan.training.parameters == Dtype::fp8)
            for (Placement& p : placements) {
                const bool linear = p.shape[2] > 1 && p.kind != TensorKind::router
                                    && p.kind != TensorKind::embedding && p.kind != TensorKind::head;
                if (linear) p.bytes_per_number = bytes_of(Dtype::fp8);
            }
        if (optimizer)
            for (const Placement& p :
                 list_placements(of.plan, of.mesh, TensorState::optimizer, Moment::at_rest))
                placements.push_back(p);
        for (std::int64_t r = 0; r < of.mesh.world; ++r) {
            dense.push_back(dense_coordinates(of.mesh, r));
            expert.push_back(expert_coordinates(of.mesh, r));
            stage.push_back(static_cast<int>(dense.back()[Axis::pp]));
        }
    }
    [[nodiscard]] std::int64_t world() const { return end.mesh.world; }
    [[nodiscard]] HeldPiece piece(const Placement& p, std::int64_t rank, std::int64_t rows) const {
        const auto i = static_cast<std::size_t>(rank);
        return piece_of(weight_part(end.mesh, p, p.expert ? expert[i] : dense[i]), rows);
    }
    [[nodiscard]] std::vector<HeldPiece> pieces(const Placement& p, std::int64_t rows) const {
        std::vector<HeldPiece> out;
        out.reserve(static_cast<std::size_t>(world()));
        for (std::int64_t r = 0; r < world(); ++r) out.push_back(piece(p, r, rows));
        return out;
    }
};

// Returns the rows that are no padding, for each tensor whose rows are padded.
std::map<TensorId, std::int64_t> rows_without_padding(const Model& model) {
    std::map<TensorId, std::int64_t> rows;
    visit_tensors(model, [&](const Tensor& t) {
        if (t.cut == TpCut::vocab) rows[t.id] = t.rows;
    });
    return rows;
}

Placement uncut(Placement p, std::initializer_list<Axis> axes) {
    for (const Axis a : axes) p.axis[a].spread = Spread::copied;
    return p;
}

// Returns true if each rank has the same numbers of both, layer by layer.
bool same_cuts(const Placement& x, const Placement& y) {
    return x.expert == y.expert && x.shape == y.shape && x.dims == y.dims && x.unit == y.unit
           && x.kv_heads == y.kv_heads && x.axis == y.axis && x.types == y.types && x.place == y.place
           && !is_of_end(x);
}

// Holds the numbers of one tensor, of all layers.
struct MovedNumbers {
    struct OfRank {
        double needed = 0, stays = 0;
        std::array<double, kMaxTiers> over{};
    };
    std::vector<OfRank> rank;
    EnumArray<MoveCause, double> cause{};
};

// Works out the numbers of tensors, one after the other.
class TensorMover {
  public:
    TensorMover(const EndPlan& a, const EndPlan& b, std::int64_t first_gpu, const std::vector<Tier>& tiers)
        : a_(a), b_(b), first_(first_gpu), tiers_(tiers) {}

    MovedNumbers operator()(const Placement& in_a, const Placement& in_b, std::int64_t rows,
                            const std::vector<LayerSpan>& spans) {
        MovedNumbers out;
        out.rank.resize(static_cast<std::size_t>(b_.world()));
        have_ = a_.pieces(in_a, rows);
        need_ = b_.pieces(in_b, rows);
        std::vector<double> missing = on_the_gpu(in_a, rows, spans, out);
        const auto last = static_cast<int>(std::max<std::size_t>(tiers_.size(), 1)) - 1;
        for (int t = 0; t <= last; ++t) {
            std::vector<double> beyond(missing.size(), 0.0);
            if (t < last) missing_in(tiers_[static_cast<std::size_t>(t)].domain, spans, beyond);
            for (std::size_t r = 0; r < missing.size(); ++r)
                out.rank[r].over[static_cast<std::size_t>(t)] = missing[r] - beyond[r];
            missing = std::move(beyond);
        }
        return out;
    }

  private:
    // Sets what is needed and what stays. Returns what each rank of B has to get.
    std::vector<double> on_the_gpu(const Placement& in_a, std::int64_t rows,
                                   const std::vector<LayerSpan>& spans, MovedNumbers& out) const {
        std::map<int, double> layers;                  // of a stage of B
        std::map<std::pair<int, int>, double> common;  // of a stage of A and one of B
        for (const LayerSpan& span : spans)
            for (const int sb : span.b) {
                layers[sb] += span.count;
                for (const int sa : span.a) common[{sa, sb}] += span.count;
            }
        const Placement no_shards = uncut(in_a, {Axis::dp_shard, Axis::cp}),
                        no_width = uncut(no_shards, {Axis::tp});
        std::vector<double> missing(need_.size(), 0.0);
        for (std::int64_t r = 0; r < b_.world(); ++r) {
            const auto i = static_cast<std::size_t>(r);
            const auto held = layers.find(b_.stage[i]);
            if (held == layers.end() || need_[i].numbers == 0) continue;
            const auto numbers = static_cast<double>(need_[i].numbers);
            const double needed = numbers * held->second;
            out.rank[i].needed = needed;
            missing[i] = needed;
            const std::int64_t before = first_ + r;
            if (before >= a_.world()) {
                out.cause[MoveCause::new_gpu] += needed;
                continue;
            }
            const auto j = static_cast<std::size_t>(before);
            const auto both = common.find({a_.stage[j], b_.stage[i]});
            const double n = both == common.end() ? 0 : both->second;
            out.cause[MoveCause::stage] += needed - numbers * n;
            if (n == 0) continue;
            const double stays = static_cast<double>(shared_numbers(have_[j], need_[i]));
            out.rank[i].stays = stays * n;
            missing[i] = needed - stays * n;
            if (stays == numbers) continue;
            const auto with = [&](const Placement& p) {
                return static_cast<double>(shared_numbers(a_.piece(p, before, rows), need_[i]));
            };
            const double wide = with(no_shards), expert = with(no_width);
            out.cause[MoveCause::experts] += (numbers - expert) * n;
            out.cause[MoveCause::width] += (expert - wide) * n;
            out.cause[MoveCause::shard] += (wide - stays) * n;
        }
        return missing;
    }

    // Adds what the GPUs of a domain do not hold in A. The ranks that need the same fetch equal shares of it.
    void missing_in(std::int64_t domain, const std::vector<LayerSpan>& spans,
                    std::vector<double>& out) const {
        const std::int64_t end = first_ + b_.world();
        for (std::int64_t gpu = first_ / domain * domain; gpu < end; gpu += domain) {
            const std::int64_t r0 = std::max(gpu, first_) - first_, r1 = std::min(gpu + domain, end) - first_;
            const std::int64_t a0 = std::min(gpu, a_.world()), a1 = std::min(gpu + domain, a_.world());
            std::set<int> stages;
            for (std::int64_t r = r0; r < r1; ++r) stages.insert(b_.stage[static_cast<std::size_t>(r)]);
            std::map<StageSet, PieceIndex> held;
            std::map<StageSet, std::vector<std::vector<std::size_t>>> twins;
            for (const LayerSpan& span : spans) {
                if (std::none_of(stages.begin(), stages.end(), [&](int s) { return holds_stage(span.b, s); }))
                    continue;
                const auto [index, new_index] = held.try_emplace(span.a);
                if (new_index) index->second = index_of(span.a, a0, a1);
                const auto [first, new_first] = twins.try_emplace(span.b);
                if (new_first) first->second = twins_in(span.b, r0, r1);
                for (const std::vector<std::size_t>& same : first->second) {
                    const HeldPiece& need = need_[same.front()];
                    const auto lacks = static_cast<double>(need.numbers - index->second.shared_with(need));
                    for (const std::size_t r : same)
                        out[r] += span.count * lacks / static_cast<double>(same.size());
                }
            }
        }
    }

    [[nodiscard]] PieceIndex index_of(const StageSet& stages, std::int64_t begin, std::int64_t end) const {
        std::vector<HeldPiece> pieces;
        for (std::int64_t r = begin; r < end; ++r)
            if (holds_stage(stages, a_.stage[static_cast<std::size_t>(r)]))
                pieces.push_back(have_[static_cast<std::size_t>(r)]);
        return PieceIndex(std::move(pieces));
    }

    // Returns the ranks that need something, those of the same piece together.
    [[nodiscard]] std::vector<std::vector<std::size_t>> twins_in(const StageSet& stages, std::int64_t begin,
                                                                 std::int64_t end) const {
        std::vector<std::size_t> ranks;
        for (auto r = static_cast<std::size_t>(begin); r < static_cast<std::size_t>(end); ++r)
            if (need_[r].numbers > 0 && holds_stage(stages, b_.stage[r])) ranks.push_back(r);
        const auto key = [&](std::size_t r) {
            const HeldPiece& p = need_[r];
            return std::make_tuple(p.first, p.box[0].begin, p.box[1].begin, p.box[2].begin);
        };
        std::sort(ranks.begin(), ranks.end(), [&](std::size_t x, std::size_t y) { return key(x) < key(y); });
        std::vector<std::vector<std::size_t>> out;
        for (const std::size_t r : ranks) {
            if (out.empty() || !(need_[out.back().front()] == need_[r])) out.emplace_back();
            out.back().push_back(r);
        }
        return out;
    }

    const EndPlan &a_, &b_;
    std::int64_t first_;
    const std::vector<Tier>& tiers_;
    std::vector<HeldPiece> have_, need_;
};

std::int64_t first_gpu_of(const MoveEnd& a, const MoveEnd& b, const MoveOptions& options) {
    if (!options.apart) return 0;
    const std::vector<Tier>& tiers = move_tiers(a.plan, b.plan);
    const std::int64_t node = tiers.empty() ? 1 : std::max<std::int64_t>(tiers.front().domain, 1);
    return divide_up(a.mesh.world, node) * node;
}

// Sets the bounds: what crosses into each domain, over the rates of the GPUs of B in it.
void bound(Move& m, const std::vector<Tier>& tiers) {
    const auto n = static_cast<int>(tiers.size());
    for (int t = 0; t < n; ++t) {
        // NVLink's bytes are shared by the GPUs of a node, the card's by those of the node that they reach.
        const std::int64_t domain =
            std::max<std::int64_t>(tiers[static_cast<std::size_t>(std::max(t - 1, 0))].domain, 1);
        std::map<std::int64_t, std::pair<double, double>> in;  // bytes, GPUs
        for (std::int64_t r = 0; r < m.gpus_b; ++r) {
            const MoveBytes& b = m.of_rank[static_cast<std::size_t>(r)];
            auto& [bytes, gpus] = in[(m.first_gpu + r) / domain];
            for (int over = t; over < (t == 0 ? 1 : n); ++over)
                bytes += b.over[static_cast<std::size_t>(over)];
            gpus += 1;
        }
        double most = 0;
        for (const auto& [at, sum] : in) most = std::max(most, sum.first / sum.second);
        const double rate = bytes_per_s_of(tiers[static_cast<std::size_t>(t)]);
        const double seconds = most > 0 && rate > 0 ? most / rate : 0;
        m.at_least_s[static_cast<std::size_t>(t)] = seconds;
        if (seconds > m.bound_s) m.bound_s = seconds, m.slowest = t;
    }
}

std::size_t farthest_of(const Move& m) {
    std::size_t best = 0;
    const auto key = [&](std::size_t i) {
        std::array<double, kMaxTiers> k = m.tensors[i].bytes.over;
        std::reverse(k.begin(), k.end());
        return k;
    };
    for (std::size_t i = 1; i < m.tensors.size(); ++i)
        if (key(i) > key(best)) best = i;
    return best;
}

}  // namespace

const std::vector<Tier>& move_tiers(const Plan& a, const Plan& b) {
    return a.cluster.gpus > b.cluster.gpus ? a.cluster.tiers : b.cluster.tiers;
}

Move move_between(const MoveEnd& a, const MoveEnd& b, const MoveOptions& options) {
    if (const std::string why = no_move_words(a.plan, b.plan, options); !why.empty())
        throw Error(ErrorKind::invalid, "", "", why);
    const std::vector<Tier>& tiers = move_tiers(a.plan, b.plan);
    Move m;
    m.gpus_a = a.mesh.world, m.gpus_b = b.mesh.world, m.first_gpu = first_gpu_of(a, b, options);
    m.options = options;
    m.of_rank.resize(static_cast<std::size_t>(m.gpus_b));
    const EndPlan from(a, options.optimizer), to(b, options.optimizer);
    const StageHomes homes_a = homes_of(a, from.placements), homes_b = homes_of(b, to.placements);
    const LayerTypes types = layer_types(b.plan.model);
    const std::map<TensorId, std::int64_t> real = rows_without_padding(b.plan.model);
    TensorMover mover(from, to, m.first_gpu, tiers);
    std::vector<bool> done(to.placements.size(), false);
    for (std::size_t i = 0; i < to.placements.size(); ++i) {
        if (done[i]) continue;
        const Placement &pa = from.placements[i], &pb = to.placements[i];
        const auto at = real.find(pb.id);
        const std::int64_t rows = at != real.end() ? at->second : std::numeric_limits<std::int64_t>::max();
        const MovedNumbers moved =
            mover(pa, pb, rows, spans_of(b.plan.model, types, pb, i, homes_a, homes_b));
        MoveBytes numbers;
        for (const auto& r : moved.rank) numbers.add({r.needed, r.stays, r.over});
        // Tensors that are cut in the same way move in the same way.
        double weight = 0;
        for (std::size_t k = i; k < to.placements.size(); ++k) {
            const Placement& p = to.placements[k];
            if (k != i && !(same_cuts(from.placements[k], pa) && same_cuts(p, pb))) continue;
            done[k] = true;
            weight += p.bytes_per_number;
            MoveOfTensor of{p.id, p.state, p.place, p.layers, {}};
            of.bytes.add(numbers, p.bytes_per_number);
            m.by_state[p.state == TensorState::optimizer ? 1 : 0].add(of.bytes);
            m.tensors.push_back(of);
        }
        for (std::size_t r = 0; r < moved.rank.size(); ++r)
            m.of_rank[r].add({moved.rank[r].needed, moved.rank[r].stays, moved.rank[r].over}, weight);
        for (const MoveCause c : all_of<MoveCause>()) m.by_cause[c] += moved.cause[c] * weight;
    }
    for (const MoveBytes& s : m.by_state) m.all.add(s);
    std::stable_sort(m.tensors.begin(), m.tensors.end(), [](const MoveOfTensor& x, const MoveOfTensor& y) {
        return x.bytes.needed > y.bytes.needed;
    });
    bound(m, tiers);
    m.farthest = farthest_of(m);
    return m;
}

namespace {

// Finds who sends the pieces of one rank.
class SenderFinder {
  public:
    SenderFinder(const MoveEnd& a, const MoveEnd& b, const MoveOptions& options, std::int64_t rank)
        : a_(a, options.optimizer), b_(b, options.optimizer), first_(first_gpu_of(a, b, options)),
          rank_(rank), cluster_(a.plan.cluster.gpus > b.plan.cluster.gpus ? a.plan.cluster : b.plan.cluster) {
        cluster_.gpus = std::max(a.mesh.world, first_ + b.mesh.world);
        if (!cluster_.tiers.empty()) cluster_.tiers.back().domain = 0;
    }

    std::vector<MovePiece> run() {
        const StageHomes ha = homes_of(a_.end, a_.placements), hb = homes_of(b_.end, b_.placements);
        const Model& model = b_.end.plan.model;
        const LayerTypes types = layer_types(model);
        const std::map<TensorId, std::int64_t> real = rows_without_padding(model);
        for (std::size_t i = 0; i < b_.placements.size(); ++i) {
            const Placement& p = b_.placements[i];
            const auto at = real.find(p.id);
            rows_ = at != real.end() ? at->second : std::numeric_limits<std::int64_t>::max();
            wanted_ = b_.piece(p, rank_, rows_);
            if (wanted_.numbers == 0) continue;
            have_ = a_.pieces(a_.placements[i], rows_);
            width_ = width_of(a_.placements[i], p);
            for (const LayerSpan& span : spans_of(model, types, p, i, ha, hb))
                if (holds_stage(span.b, b_.stage[static_cast<std::size_t>(rank_)])) find(p, span);
        }
        return std::move(out_);
    }

  private:
    [[nodiscard]] int tier_to(std::int64_t gpu) const {
        const std::int64_t own = first_ + rank_;
        return gpu == own ? MovePiece::kStays : tier_between(cluster_, gpu, own);
    }

    void find(const Placement& p, const LayerSpan& span) {
        struct Holder {
            int tier = 0;
            std::int64_t rank = 0, numbers = 0;
        };
        std::map<std::pair<HeldPiece::Place, std::array<std::int64_t, 3>>, Holder> nearest;
        for (std::int64_t r = 0; r < a_.world(); ++r) {
            const auto i = static_cast<std::size_t>(r);
            if (!holds_stage(span.a, a_.stage[i])) continue;
            const std::int64_t shared = shared_numbers(have_[i], wanted_);
            if (shared == 0) continue;
            const HeldPiece& h = have_[i];
            const Holder holder{tier_to(r), r, shared};
            const auto [at, is_new] =
                nearest.try_emplace({h.first, {h.box[0].begin, h.box[1].begin, h.box[2].begin}}, holder);
            if (!is_new && holder.tier < at->second.tier) at->second = holder;
        }
        const std::vector<Twins> twins = twins_of(p, span);
        for (const auto& [piece, holder] : nearest) {
            MovePiece out{p.id, p.state, p.place, span.layers, holder.rank};
            const Range &had = have_[static_cast<std::size_t>(holder.rank)].box[width_],
                        &need = wanted_.box[width_];
            const auto whole_width = static_cast<double>(p.shape[width_]);
            out.begin = static_cast<double>(std::max(had.begin, need.begin)) / whole_width;
            out.end = static_cast<double>(std::min(had.end, need.end)) / whole_width;
            const double whole = static_cast<double>(holder.numbers) * span.count * p.bytes_per_number;
            double share = 1;  // that comes over this tier or one further out
            for (int t = 0; t < holder.tier; ++t) {
                const Twins& in = twins[static_cast<std::size_t>(t)];
                const double beyond = 1 / static_cast<double>(in.count);
                if (share > beyond) {
                    MovePiece handed = out;
                    handed.from = in.other, handed.handed_on = true, handed.tier = t;
                    handed.bytes = whole * (share - beyond);
                    out_.push_back(std::move(handed));
                }
                share = beyond;
            }
            out.tier = holder.tier, out.bytes = whole * share;
            out_.push_back(std::move(out));
        }
    }

    // The ranks of a domain that need what this one needs.
    struct Twins {
        std::int64_t count = 1, other = 0;  // this rank among them; the first that is not in the domain below
    };
    [[nodiscard]] std::vector<Twins> twins_of(const Placement& p, const LayerSpan& span) const {
        std::vector<Twins> out;
        std::int64_t inner0 = rank_, inner1 = rank_ + 1;
        for (std::size_t t = 0; t + 1 < cluster_.tiers.size(); ++t) {
            const std::int64_t domain = cluster_.tiers[t].domain, begin = (first_ + rank_) / domain * domain;
            const std::int64_t r0 = std::max(begin, first_) - first_,
                               r1 = std::min(begin + domain - first_, b_.world());
            Twins in{out.empty() ? 1 : out.back().count, rank_};
            for (std::int64_t r = r0; r < r1; ++r) {
                if (r >= inner0 && r < inner1) continue;
                if (!holds_stage(span.b, b_.stage[static_cast<std::size_t>(r)])
                    || !(b_.piece(p, r, rows_) == wanted_))
                    continue;
                if (in.other == rank_) in.other = r;
                ++in.count;
            }
            out.push_back(in);
            inner0 = r0, inner1 = r1;
        }
        return out;
    }

    EndPlan a_, b_;
    std::int64_t first_, rank_, rows_ = 0;
    std::size_t width_ = 1;
    Cluster cluster_;
    HeldPiece wanted_;
    std::vector<HeldPiece> have_;
    std::vector<MovePiece> out_;
};

}  // namespace

std::vector<MovePiece> pieces_of_rank(const MoveEnd& a, const MoveEnd& b, const MoveOptions& options,
                                      std::int64_t rank) {
    if (const std::string why = no_move_words(a.plan, b.plan, options); !why.empty())
        throw Error(ErrorKind::invalid, "", "", why);
    return SenderFinder(a, b, options, rank).run();
}

}  // namespace pentamesh
