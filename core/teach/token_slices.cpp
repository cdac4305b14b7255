#include "core/teach/token_slices.h"

#include "core/base/text.h"
#include "core/model/model.h"
#include "core/plan/edits.h"
#include "core/rules/software_runs.h"
#include "core/step/exposure.h"
#include "core/teach/loaf.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace pentamesh {
namespace {

// Returns the pairs of a query before x and a key before y where the key is not behind the query.
double pairs_before(double x, double y) {
    x = std::max(x, 0.0), y = std::max(y, 0.0);
    return x <= y ? x * (x + 1) / 2 : y * (y + 1) / 2 + (x - y) * y;
}

double pairs_in(Range queries, Range keys, std::int64_t window) {
    const auto at = [&](std::int64_t x, std::int64_t y) {
        return pairs_before(static_cast<double>(x - window), static_cast<double>(y));
    };
    return at(queries.end, keys.end) - at(queries.begin, keys.end) - at(queries.end, keys.begin)
           + at(queries.begin, keys.begin);
}

std::int64_t modulo(std::int64_t a, std::int64_t n) {
    return ((a % n) + n) % n;
}

}  // namespace

double pairs_asked(Range queries, Range keys, std::int64_t window) {
    if (queries.size() <= 0 || keys.size() <= 0) return 0;
    const double causal = pairs_in(queries, keys, 0);
    // Keys that lie a window or more behind the query are those that a query `window` earlier asks.
    return window > 0 ? causal - pairs_in(queries, keys, window) : causal;
}

std::vector<std::size_t> TokenCut::slices_of(std::int64_t rank) const {
    std::vector<std::size_t> out;
    for (std::size_t i = 0; i < slices.size(); ++i)
        if (slices[i].rank == rank) out.push_back(i);
    return out;
}

bool TokenCut::computes(std::int64_t rank, std::size_t slice) const {
    return slices[slice].rank / inner == rank / inner;
}

bool TokenCut::asks(std::int64_t rank, std::size_t slice) const {
    for (std::size_t q = 0; q < slices.size(); ++q)
        if (computes(rank, q) && pairs_asked(slices[q].tokens, slices[slice].tokens, window) > 0) return true;
    return false;
}

std::int64_t TokenCut::rounds() const {
    if (ranks <= 1) return 1;
    switch (comm) {
    case CpComm::ring: return ranks;
    case CpComm::allgather:
    case CpComm::ulysses: return 2;
    case CpComm::ulysses_ring: return (inner > 1 ? 1 : 0) + ranks / inner;
    }
    return 1;
}

std::int64_t TokenCut::round_of(std::int64_t rank, std::int64_t sender) const {
    if (rank == sender) return 0;
    switch (comm) {
    case CpComm::ring: return modulo(rank - sender, ranks);
    case CpComm::allgather:
    case CpComm::ulysses: return 1;
    case CpComm::ulysses_ring: {
        const std::int64_t hop = modulo(rank / inner - sender / inner, ranks / inner);
        return hop + (inner > 1 ? 1 : 0);
    }
    }
    return 0;
}

double TokenCut::share_of(std::int64_t rank) const {
    double sum = 0;
    const Range all{0, tokens};
    for (std::size_t q = 0; q < slices.size(); ++q)
        if (computes(rank, q)) sum += pairs_asked(slices[q].tokens, all, window);
    return sum / (pairs_asked(all, all, window) * static_cast<double>(inner));
}

double TokenCut::last_share_in_order() const {
    const Range all{0, tokens};
    return pairs_asked(chunk_of(tokens, ranks, ranks - 1), all, window) / pairs_asked(all, all, window);
}

TokenCut cut_tokens(const Plan& plan, std::int64_t window) {
    TokenCut out;
    out.comm = plan.layout.cp_comm;
    out.ranks = std::max<std::int64_t>(plan.layout.cp, 1);
    out.inner = head_ranks_of(plan.layout, out.ranks);
    out.tokens = plan.training.sequence_length;
    out.window = window >= out.tokens ? 0 : window;
    const std::int64_t count = out.ranks == 1 || out.comm == CpComm::ulysses ? out.ranks : 2 * out.ranks;
    for (std::int64_t rank = 0; rank < out.ranks; ++rank)
        for (const Range& held : sequence_of(out.tokens, out.ranks, rank, out.comm))
            // The two pieces of the rank in the middle are neighbours, and come as one.
            for (std::int64_t i = 0; i < count; ++i) {
                const Range piece = chunk_of(out.tokens, count, i);
                if (piece.size() > 0 && piece.begin >= held.begin && piece.end <= held.end)
                    out.slices.push_back({piece, rank});
            }
    std::sort(out.slices.begin(), out.slices.end(),
              [](const TokenSlice& a, const TokenSlice& b) { return a.tokens.begin < b.tokens.begin; });
    return out;
}

const WayCall* KeysWay::hop() const {
    for (const WayCall& c : calls)
        if (c.collective == Collective::send_recv) return &c;
    return nullptr;
}

const KeysWay* TokenSlices::own_way() const {
    for (const KeysWay& w : ways)
        if (w.own) return &w;
    return nullptr;
}

namespace {

// Returns the type of layer that is shown: one that attends, to all keys where any does; -1: none attends.
// A type that no layer has makes no calls: a model without dense layers names one first.
int shown_type(const Model& model, const LayerTypes& types) {
    const LayerCounts counts = count_layers(model, types, 0, model.layers);
    int found = -1;
    for (int t = 0; t < types.size(); ++t) {
        if (counts[t] == 0 || !types[t].attends()) continue;
        if (types[t].window == 0) return t;
        if (found < 0) found = t;
    }
    return found;
}

bool is_scan(What what) {
    return what == What::inputs_of_the_scan_to_heads || what == What::outputs_of_the_scan_to_tokens;
}

KeysWay measured(const Plan& plan, const Evaluation& e, int type) {
    KeysWay out;
    out.comm = plan.layout.cp_comm;
    out.attention_s = e.work.times.of(type).attention.forward;
    out.waits_s = e.work.of(type).comm.forward[UnitComm::kCp];
    double hideable = 0, seen = 0;  // seconds of calls that may hide, and of those that cannot
    for (const Operation& o : e.comm.operations) {
        const bool here = o.group == GroupKind::cp && o.scope == Scope::layer && o.phase == Phase::forward
                          && !o.recomputed && has(o.types, type);
        if (!here) continue;
        const double seconds = o.call_s * o.calls;
        if (is_scan(o.what)) {
            out.waits_s -= seconds;
            continue;
        }
        (cover_of(o) == Cover::none ? seen : hideable) += seconds;
        out.wire_s += seconds;
        out.sent_bytes += sent_bytes(o.collective, o.group_size, o.message_bytes) * o.calls;
        out.calls.push_back({o.what, o.collective, o.message_bytes, o.call_s, o.calls,
                             o.what == What::attention_output_to_tokens});
    }
    out.waits_s = std::clamp(out.waits_s, 0.0, out.wire_s);
    const double hidden = std::max(hideable - std::max(out.waits_s - seen, 0.0), 0.0);
    out.slowed_s = (1 - plan.cluster.gpu.efficiency.overlap) * hidden;
    if (e.step) out.step_s = e.step->time_s, out.step_waits_s = e.step->exposed_comm_s[GroupKind::cp];
    if (!e.memory.stage.empty()) out.held_bytes = e.memory.stage[e.memory.peak_stage].total();
    return out;
}

void list_ways(const Evaluation& own, int type, TokenSlices& out) {
    Evaluation e;
    for (const CpComm comm : {CpComm::ring, CpComm::allgather, CpComm::ulysses, CpComm::ulysses_ring}) {
        const bool is_own = comm == out.plan.layout.cp_comm;
        if (!is_own && comm == CpComm::ulysses_ring) continue;  // it needs a number of its own
        if (is_own) {
            out.ways.push_back(measured(out.plan, own, type));
            out.ways.back().own = true;
            continue;
        }
        Plan other = out.plan;
        other.layout.cp_comm = comm;
        other.layout.cp_inner.reset();
        evaluate(other, e);
        if (!e.valid) continue;
        KeysWay way = measured(other, e, type);
        if (const auto lack = lack_that_came(out.plan, other))
            way.lacks = words_of(*lack, other, other.training.software);
        out.ways.push_back(std::move(way));
    }
}

StageMemory fullest(const Evaluation& e) {
    return e.memory.stage.empty() ? StageMemory{} : e.memory.stage[e.memory.peak_stage];
}

std::string first_wrong(const Evaluation& e) {
    for (const Problem& p : e.problems)
        if (p.severity == Severity::error) return p.message;
    return {};
}

void hold_whole(TokenSlices& out) {
    Evaluation e;
    Plan whole = with_factor(out.plan, Axis::cp, 1, true);
    if (out.plan.layout.zero > 0) {  // ranks of cp share out the state: as many go on to do so
        whole = out.plan;
        whole.layout.dp_shard *= std::exchange(whole.layout.cp, 1);
    }
    evaluate(whole, e);
    out.whole_refused = first_wrong(e);
    if (!e.valid) {
        // More copies take more samples: as many micro-batches as with cp hold as much.
        whole.training.global_batch *= out.plan.layout.cp;
        evaluate(whole, e);
    }
    if (!e.valid) return;
    out.whole_refused.clear();
    out.whole = fullest(e);
}

}  // namespace

TokenSlices token_slices(const Plan& plan, const Evaluation& evaluation, bool cut, std::int64_t ranks) {
    TokenSlices out;
    out.plan = plan;
    out.hbm = plan.cluster.gpu.hbm_bytes;
    const LayerTypes types = layer_types(plan.model);
    const int type = shown_type(plan.model, types);
    if (type < 0) {
        out.why_not = "No layer of this model attends: no token asks another one for its keys.";
        return out;
    }
    Evaluation edited;
    const Evaluation* e = &evaluation;
    if (plan.layout.cp <= 1 && cut) {
        e = &edited;
        out.source = TokenSource::edited;
        Plan other = plan;
        other.layout.cp_comm = usual_cp_comm(plan);
        out.plan = with_factor(other, Axis::cp, ranks, true);
        evaluate(out.plan, edited);
        if (!edited.valid) {
            out.source = TokenSource::small;
            out.plan = plan_of_strategy(other, Strategy::cp, ranks);
            evaluate(out.plan, edited);
        }
    }
    if (!e->valid) {
        out.why_not = first_wrong(*e);
        return out;
    }
    // A small model has layers of its own numbers.
    const LayerTypes own_types = layer_types(out.plan.model);
    const int own_type = shown_type(out.plan.model, own_types);
    const LayerType& shown = own_types[own_type < 0 ? type : own_type];
    out.cut = cut_tokens(out.plan, shown.window);
    out.sparse = shown.has_indexer(out.plan.model);
    out.heads = std::max<std::int64_t>(shown.heads / std::max<std::int64_t>(out.plan.layout.tp, 1), 1);
    out.held = fullest(*e);
    if (out.cut.ranks > 1) {
        list_ways(*e, own_type < 0 ? type : own_type, out);
        if (out.source == TokenSource::edited && evaluation.valid)
            out.whole = fullest(evaluation);
        else
            hold_whole(out);
    } else {
        out.whole = out.held;
    }
    return out;
}

std::string_view way_name(CpComm comm) {
    switch (comm) {
    case CpComm::ring: return "ring";
    case CpComm::allgather: return "gather";
    case CpComm::ulysses: return "heads";
    case CpComm::ulysses_ring: return "heads + ring";
    }
    return {};
}

TokenWords words_of(const TokenSlices& s) {
    TokenWords out;
    const std::string sample = "a sample of " + with_commas(s.cut.tokens) + " tokens";
    if (s.cut.ranks <= 1) {
        out.bold = "One GPU has the whole sample.";
        out.plain =
            "Each token asks all tokens before it, and their keys and values are here: nothing is missing. "
            + s.plan.model.name + ", " + sample + ".";
        return out;
    }
    out.bold = "A slice misses something only in attention.";
    out.plain = "Each token asks " + (s.cut.window > 0 ? "the last " + with_commas(s.cut.window) : "all")
                + " tokens before it; their keys and values lie on other GPUs and must come by. "
                + s.plan.model.name + ", " + sample + ", cp " + with_commas(s.cut.ranks) + ".";
    if (s.source == TokenSource::edited)
        out.plain +=
            " This plan has cp 1; the picture is of the same plan with cp " + with_commas(s.cut.ranks) + ".";
    if (s.source == TokenSource::small)
        out.plain += " cp " + with_commas(s.cut.ranks)
                     + " does not fit into this plan: " + count_text(s.plan.model.layers, "layer")
                     + " of its model on " + count_text(s.plan.cluster.gpus, "GPU") + " stand for it.";
    if (s.sparse) out.plain += " Its indexer scores all of them and picks some.";
    return out;
}

std::string balance_words(const TokenCut& cut) {
    if (cut.ranks <= 1) return "above the diagonal nobody asks";
    if (cut.comm == CpComm::ulysses)
        return "Each GPU computes all of it, for its own heads: " + percent_text(cut.share_of(0))
               + " of the work.";
    double least = 1, most = 0;
    for (std::int64_t r = 0; r < cut.ranks; ++r) {
        least = std::min(least, cut.share_of(r));
        most = std::max(most, cut.share_of(r));
    }
    const std::string in_order = percent_text(cut.last_share_in_order());
    constexpr double kEqual = 1.02;
    if (most > least * kEqual)
        return "The GPUs compute " + percent_text(least) + " to " + percent_text(most) + " of it.";
    return "Each GPU computes " + percent_text(most)
           + ", with one slice from either end. In order, the last would have " + in_order + ".";
}

}  // namespace pentamesh
