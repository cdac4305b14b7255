#include "core/sharding/placement_words.h"

#include "core/base/text.h"
#include "core/plan/names.h"

#include <vector>

namespace pentamesh {
namespace {

std::string_view word_of(Dim d) {
    switch (d) {
    case Dim::sequence: return "tokens";
    case Dim::batch: return "sequences";
    case Dim::width: return "width";
    default: return name_of(d);
    }
}

std::string range_words(const Range& r) {
    return r.size() == 1 ? with_commas(r.begin) : sentence(r.begin, " – ", r.end - 1);
}

// Shortens "attention.q" to "q" in a list of one layer's tensors.
std::string listed_name(TensorId id) {
    const TensorModule module = module_of(id);
    const char* whose = module == TensorModule::experts         ? "experts' "
                        : module == TensorModule::shared_expert ? "the shared expert's "
                                                                : "";
    return sentence(whose, short_name_of(id));
}

std::string listed(const std::vector<const Placement*>& tensors) {
    const bool activations = !tensors.empty() && tensors.front()->state == TensorState::activations;
    const std::size_t most = activations ? 3 : 7;
    std::string out;
    std::int64_t norms = 0;
    std::vector<std::string> names;
    for (const Placement* p : tensors) {
        if (p->kind == TensorKind::norm && p->state != TensorState::activations)
            ++norms;
        else
            names.push_back(activations ? std::string(name_of(p->id)) : listed_name(p->id));
    }
    if (names.size() > most) {
        out = sentence(static_cast<std::int64_t>(names.size()), " tensors");
    } else {
        for (std::size_t i = 0; i < names.size(); ++i) out += (i == 0 ? "" : ", ") + names[i];
    }
    if (norms > 0) out += sentence(out.empty() ? "" : " and ", count_text(norms, "norm"));
    return out;
}

bool same_treatment(const AxisPlacement& a, const AxisPlacement& b) {
    return a.spread == b.spread && a.dim == b.dim;
}

// Returns "8,192 / 8 / 64": a dimension and its divisors, in the order of cutting.
std::string divided(std::string whole, const Placement& p, Dim dim, bool symbols) {
    for (const Axis a : {Axis::ep, Axis::tp, Axis::cp, Axis::dp_shard, Axis::dp_replicate}) {
        const AxisPlacement& x = p.on(a);
        if (x.spread != Spread::cut || x.dim != dim || x.parts <= 1) continue;
        whole += symbols ? sentence(" / ", axis_name(p, a)) : sentence(" / ", x.parts);
    }
    return whole;
}

std::string_view source_of(const Placement& p) {
    if (p.state == TensorState::activations)
        return p.on(Axis::tp).dim == Dim::sequence
                   ? "Korthikanti et al. 2022, section 4.2.2: sequence parallel"
                   : "Korthikanti et al. 2022, section 4";
    if (p.expert)
        return "Megatron-LM transformer/moe: experts by number over ep; Rajbhandari et al. 2020, section 5: "
               "ZeRO over "
               "expert data parallelism";
    if (p.on(Axis::dp_shard).spread == Spread::cut || p.on(Axis::cp).spread == Spread::cut)
        return p.on(Axis::tp).spread == Spread::cut
                   ? "Shoeybi et al. 2019, section 3; Rajbhandari et al. 2020, section 5"
                   : "Rajbhandari et al. 2020, section 5";
    return p.on(Axis::tp).spread == Spread::cut ? "Shoeybi et al. 2019, section 3"
                                                : "copied: no axis of the plan cuts it";
}

}  // namespace

std::string_view axis_name(const Placement& p, Axis axis) {
    return p.expert && axis == Axis::tp ? "etp" : name_of(axis);
}

std::string spread_words(const AxisPlacement& on) {
    if (on.size <= 1) return "off";
    switch (on.spread) {
    case Spread::copied: return sentence("copied on ", count_text(on.size, "rank"));
    case Spread::partial: return sentence("partial: ", on.size, " summands");
    case Spread::cut: break;
    }
    if (on.dim == Dim::layers) return sentence("cut by layers into ", count_text(on.parts, "stage"));
    if (on.dim == Dim::flat) return sentence("cut flat, row by row, into ", on.parts);
    std::string out = sentence("cut along ", word_of(on.dim), " into ", on.parts);
    if (on.copies() > 1) out += sentence(", each on ", count_text(on.copies(), "rank"));
    return out;
}

std::string cutter_words(const Placement& p, Axis axis) {
    const AxisPlacement& on = p.on(axis);
    if (on.size <= 1) return {};
    const std::string who = sentence(axis_name(p, axis), " ", on.size);
    if (on.spread == Spread::copied) return who + " copies";
    if (on.spread == Spread::partial) return who + " sums";
    if (on.dim == Dim::layers || on.dim == Dim::experts) return sentence(who, " deals ", word_of(on.dim));
    return sentence(who, " cuts ", word_of(on.dim));
}

std::string part_words(const Placement& p, const Part& part) {
    if (!part.held) return "nothing: not on this pipeline stage";
    if (part.numbers <= 0) return "nothing: the axis has more ranks than there are parts";
    std::string out;
    for (std::size_t i = 0; i < 3; ++i) {
        if (p.dims[i] == Dim::none) continue;
        std::string range = range_words(part.box[i]);
        const bool second = p.dims[i] == Dim::sequence && part.second.size() > 0;
        if (!second && part.box[i].size() == p.shape[i]) continue;
        if (second) range += " and " + range_words(part.second);
        out += sentence(out.empty() ? "" : ", ", word_of(p.dims[i]), " ", range, " of ", p.shape[i]);
    }
    const std::int64_t box = part.box[0].size() * part.box[1].size() * part.box[2].size();
    if (p.state != TensorState::activations && part.flat.size() < box)
        out += sentence(out.empty() ? "" : "; of these ", "numbers ", range_words(part.flat), " of ", box);
    return out.empty() ? "all of it" : out;
}

std::string shape_words(const Placement& p) {
    std::string out;
    for (std::size_t i = 0; i < 3; ++i)
        if (p.dims[i] != Dim::none) out += sentence(out.empty() ? "" : " × ", p.shape[i]);
    return out.empty() ? "1" : out;
}

std::string axis_sentence(std::span<const Placement> placements, Axis axis) {
    std::vector<const AxisPlacement*> kinds;
    std::vector<std::vector<const Placement*>> tensors;
    for (const Placement& p : placements) {
        const AxisPlacement& x = p.on(axis);
        if (x.size <= 1) continue;
        std::size_t k = 0;
        while (k < kinds.size() && !same_treatment(*kinds[k], x)) ++k;
        if (k == kinds.size()) {
            kinds.push_back(&x);
            tensors.emplace_back();
        }
        tensors[k].push_back(&p);
    }
    if (kinds.empty()) return {};
    std::string out;
    Spread last = Spread::partial;
    for (const Spread spread : {Spread::cut, Spread::copied, Spread::partial})
        for (std::size_t k = 0; k < kinds.size(); ++k) {
            const AxisPlacement& x = *kinds[k];
            if (x.spread != spread) continue;
            const bool all = kinds.size() == 1;
            const bool again = !out.empty() && last == spread;
            last = spread;
            if (!out.empty()) out += again ? " and " : "; ";
            if (spread == Spread::cut) {
                if (x.dim == Dim::layers) return "deals layers to stages";
                if (x.dim == Dim::experts) return sentence("deals experts to ", count_text(x.parts, "rank"));
                if (!again) out += "cuts ";
                out += x.dim == Dim::flat ? "flat" : std::string(word_of(x.dim));
                out += all ? " of every tensor" : sentence(" of ", listed(tensors[k]));
            } else {
                const std::string what = all ? "everything" : listed(tensors[k]);
                out += spread == Spread::copied ? sentence("copies ", what)
                                                : sentence("leaves ", what, " to be summed");
            }
        }
    return out;
}

Explanation explain_tensor(const Plan& plan, const Mesh& mesh, const Placement& p, std::int64_t rank) {
    const Part part = part_of(plan, mesh, p, rank);
    Explanation e;
    e.title = sentence(name_of(p.id), ", ", name_of(p.state), ": bytes on rank ", rank);
    static constexpr std::string_view kSymbols[] = {"experts", "rows",     "columns",
                                                    "batch",   "sequence", "width"};
    for (std::size_t i = 0; i < 3; ++i) {
        if (p.dims[i] == Dim::none) continue;
        const Dim d = p.dims[i];
        const std::size_t symbol = d == Dim::experts    ? 0
                                   : d == Dim::rows     ? 1
                                   : d == Dim::columns  ? 2
                                   : d == Dim::batch    ? 3
                                   : d == Dim::sequence ? 4
                                                        : 5;
        const std::string by = e.formula.empty() ? "" : " · ";
        e.formula += by + divided(std::string(kSymbols[symbol]), p, d, true);
        e.substituted += by + divided(with_commas(p.shape[i]), p, d, false);
    }
    e.formula = divided(e.formula, p, Dim::flat, true) + " · bytes";
    e.substituted =
        sentence(divided(e.substituted, p, Dim::flat, false), " · ", three_digits(p.bytes_per_number));
    e.result = part.held ? sentence("= ", memory_text(part.bytes), " (",
                                    static_cast<std::int64_t>(part.bytes), " bytes) of one layer")
                         : "= 0: this pipeline stage does not hold it";
    e.source = source_of(p);
    return e;
}

}  // namespace pentamesh
