#include "core/decide/constraints.h"

#include "core/base/containers.h"
#include "core/base/number.h"
#include "core/base/text.h"
#include "core/mesh/places.h"
#include "core/plan/edits.h"
#include "core/plan/names.h"

#include <algorithm>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

namespace pentamesh {
namespace {

template <typename E>
std::string names_text() {
    return join(all_of<E>(), ", ");
}

constexpr std::string_view kOrders = "or six axes, innermost first: tp-cp-ep-dp_shard-dp_replicate-pp";

std::string order_names() {
    std::string out;
    for (const OrderPreset& o : order_presets()) out += std::string(o.name) + ", ";
    return out;
}

// Reads a value out of its text; nullopt where it is no value.
std::optional<std::int64_t> value_of(std::string_view text, Varied v, std::int64_t*) {
    const std::optional<FieldRange> range = range_of(pointer_of(v));
    const auto n = parse_whole(text);
    return n && range && !range->allows(static_cast<double>(*n)) ? std::nullopt : n;
}
std::optional<int> value_of(std::string_view text, Varied v, int*) {
    const auto n = value_of(text, v, static_cast<std::int64_t*>(nullptr));
    return n ? std::optional(static_cast<int>(*n)) : std::nullopt;
}
std::optional<Schedule> value_of(std::string_view text, Varied, Schedule*) {
    return parse_name<Schedule>(text);
}
std::optional<RecomputeChoice> value_of(std::string_view text, Varied, RecomputeChoice*) {
    const auto kind = parse_name<Recompute>(text);
    return kind ? std::optional<RecomputeChoice>(*kind) : std::nullopt;
}
std::optional<Dtype> value_of(std::string_view text, Varied, Dtype*) {
    const auto type = parse_name<Dtype>(text);
    return type == Dtype::bf16 || type == Dtype::fp32 ? type : std::nullopt;
}
std::optional<Reshard> value_of(std::string_view text, Varied, Reshard*) {
    return parse_name<Reshard>(text);
}
std::optional<double> value_of(std::string_view text, Varied v, double*) {
    const std::optional<FieldRange> range = range_of(pointer_of(v));
    const auto x = parse_double(text);
    return x && range && !range->allows(*x) ? std::nullopt : x;
}
std::optional<Switched> value_of(std::string_view text, Varied, Switched*) {
    if (text == "true") return Switched::on;
    if (text == "false") return Switched::off;
    return parse_name<Switched>(text);
}
// Reads "core_attn+mlp".
std::optional<RecomputeChoice> modules_of(std::string_view text) {
    RecomputeModules modules;
    for (const std::string_view name : split(text, '+')) {
        const auto module = parse_name<RecomputeModule>(trimmed(name));
        if (!module) return std::nullopt;
        modules.add(*module);
    }
    return RecomputeChoice(modules, 0, RecomputeMethod::block);
}

// Returns what a request without values varies a field over that is held by default.
std::vector<std::string> values_when_varied(const Plan& plan, Varied v) {
    switch (v) {
    case Varied::gradients:
    case Varied::optimizer_state: return {"bf16", "fp32"};
    case Varied::reshard: return {"after_forward", "never"};
    case Varied::overlap_tp:
    case Varied::overlap_pp: return {"off", "on"};
    case Varied::offload_layers: {
        std::vector<std::string> out;
        for (std::int64_t quarter = 0; quarter < 4; ++quarter)
            out.push_back(std::to_string(quarter * plan.model.layers / 4));
        return out;
    }
    case Varied::offload_optimizer: return {"0", "0.25", "0.5", "0.75", "1"};
    default: return {};
    }
}
// Reads a framework's name, or the axes joined by dashes.
std::optional<AxisOrder> value_of(std::string_view text, Varied, AxisOrder*) {
    for (const OrderPreset& o : order_presets())
        if (o.name == text) return o.order;
    const auto parts = split(text, '-');
    AxisOrder order{};
    unsigned seen = 0;
    if (parts.size() != order.size()) return std::nullopt;
    for (std::size_t i = 0; i < order.size(); ++i) {
        const auto axis = parse_name<Axis>(trimmed(parts[i]));
        if (!axis) return std::nullopt;
        order[i] = *axis;
        seen |= 1U << static_cast<unsigned>(*axis);
    }
    return seen == (1U << kAxisCount) - 1 ? std::optional(order) : std::nullopt;
}

// Returns the values that the field can have in a layout of the plan, in ascending order: divisors where it
// divides something.
std::vector<std::int64_t> fitting_values(const Plan& plan, Varied v) {
    std::vector<std::int64_t> out;
    switch (v) {
    case Varied::ep: return divisors(plan.model.moe ? std::max<std::int64_t>(plan.model.moe->experts, 1) : 1);
    case Varied::micro_batch: return divisors(std::max<std::int64_t>(plan.training.global_batch, 1));
    case Varied::virtual_stages:
    case Varied::offload_layers:
        for (std::int64_t n = v == Varied::offload_layers ? 0 : 1; n <= plan.model.layers; ++n)
            out.push_back(n);
        return out;
    case Varied::zero: return {0, 1, 2, 3};
    default: return divisors(std::max<std::int64_t>(plan.cluster.gpus, 1));
    }
}

// A limit of a range: "1..8", "..8", "2..", "1-8"; nullopt where the text is no range.
struct Span {
    std::string_view least, most;
};
std::optional<Span> span_of(std::string_view text) {
    if (const std::size_t dots = text.find(".."); dots != std::string_view::npos)
        return Span{trimmed(text.substr(0, dots)), trimmed(text.substr(dots + 2))};
    const std::size_t dash = text.find('-');
    if (dash == std::string_view::npos || dash == 0 || !is_digit(text[0])) return std::nullopt;
    return Span{trimmed(text.substr(0, dash)), trimmed(text.substr(dash + 1))};
}

// Compares a field with a limit: "pp<=8".
struct Limit {
    bool below = true, equal = true;
    std::int64_t at = 0;
    [[nodiscard]] bool allows(std::int64_t n) const { return n == at ? equal : below ? n < at : n > at; }
};

class Constrained {
  public:
    Constrained(const Plan& plan, const SearchSpace& own, SearchSpace& space,
                std::optional<SpaceError>& error)
        : plan_(plan), own_(own), space_(space), error_(error) {}

    // The first pass takes lists, the second limits.
    void take(std::string_view option, const std::string& text, bool hold, bool limits) {
        if (error_) return;
        asked_ = sentence(option, " ", shown_text(text));
        const std::string_view all = trimmed(text);
        constexpr std::string_view kInside = " inside ";
        if (const std::size_t at = all.find(kInside); at != std::string_view::npos) {
            if (limits) add_inside(trimmed(all.substr(0, at)), trimmed(all.substr(at + kInside.size())));
            return;
        }
        const std::size_t sign = std::min(all.find_first_of("<>="), all.size());
        const std::string_view name = trimmed(all.substr(0, sign));
        const bool list = sign == all.size() || all[sign] == '=';
        if (name == "memory" && !list) {
            if (limits) limit_memory(all.substr(sign));
            return;
        }
        if (name == "recompute_layers" || name == "recompute_modules") {
            if (limits) add_recomputed(name, sign < all.size() && list ? all.substr(sign + 1) : "", hold);
            return;
        }
        if (list == limits) return;
        const std::optional<Varied> v = named(name, option);
        if (!v) return;
        if (!list) return limit(*v, all.substr(sign));
        if (seen_[*v])
            return refuse(
                *v, sentence(": ", name, " is varied or held already; all its values go into one --vary"));
        seen_[*v] = true;
        const bool moves = *v == Varied::offload_layers || *v == Varied::offload_optimizer;
        if (moves && !(hold && sign == all.size()) && plan_.cluster.gpu.host_bytes_per_s <= 0)
            return refuse(*v, ": the way to host memory takes no time here, as the GPU's rate is not known "
                              "(cluster.gpu.host_bytes_per_s): a search would always take the most of it");
        if (sign < all.size()) return set_values(*v, all.substr(sign + 1));
        if (hold)
            with_list(*v, [&](auto member) { space_.*member = own_.*member; });
        else
            for (const std::string& value : values_when_varied(plan_, *v)) add_value(*v, value);
    }

  private:
    void refuse(std::string_view name, std::string_view why) {
        error_ = {std::string(name), sentence(asked_, why)};
    }
    void refuse(Varied v, std::string_view why) { refuse(name_of(v), why); }

    std::optional<Varied> named(std::string_view name, std::string_view option) {
        if (const auto v = varied_named(name)) return v;
        std::vector<std::string_view> names{"memory", "recompute_layers", "recompute_modules"};
        for (const Varied k : all_of<Varied>()) names.push_back(name_of(k));
        const std::string_view closest = nearest(name, names);
        error_ = {std::string(name),
                  closest == "memory"
                      ? sentence(option, " ", shown_text(name),
                                 ": a search varies no such field; a limit of memory is \"memory<=70GiB\"")
                      : sentence(option, " ", shown_text(name),
                                 ": a search varies no such field; the closest is \"", closest,
                                 "\" (search --help lists them)")};
        return std::nullopt;
    }

    void refuse_value(Varied v, std::string_view text) {
        error_ = {std::string(name_of(v)),
                  sentence(asked_.substr(0, asked_.find(' ')), " ", name_of(v), "=", shown_text(text), ": ",
                           name_of(v), " may be ", possible_values(v))};
    }

    void set_values(Varied v, std::string_view values) {
        with_list(v, [&](auto member) {
            auto& list = space_.*member;
            using T = typename std::decay_t<decltype(list)>::value_type;
            list.clear();
            for (const std::string_view piece : split(values, ',')) {
                const std::string_view text = trimmed(piece);
                if constexpr (std::is_integral_v<T>)
                    if (const auto span = span_of(text)) {
                        add_span(v, text, *span, list);
                        if (error_) return;
                        continue;
                    }
                const std::optional<T> value = value_of(text, v, static_cast<T*>(nullptr));
                if (!value) return refuse_value(v, text);
                add_once(list, *value);
            }
        });
    }

    void add_value(Varied v, std::string_view text) {
        with_list(v, [&](auto member) {
            using T = typename std::decay_t<decltype(space_.*member)>::value_type;
            if (const auto value = value_of(text, v, static_cast<T*>(nullptr)))
                add_once(space_.*member, *value);
        });
    }

    // Adds layers of each chunk, or sets of modules, to what is recomputed; `hold` leaves only these. The
    // lists are read before them.
    void add_recomputed(std::string_view name, std::string_view values, bool hold) {
        const std::string_view may =
            name == "recompute_layers"
                ? "numbers of layers of a chunk, as 1,2 or 1..4"
                : "modules joined by +: core_attn, layernorm, moe_act, mla_up_proj, mlp, moe, shared_experts";
        std::vector<RecomputeChoice> more;
        for (const std::string_view piece : split(values, ',')) {
            const std::string_view text = trimmed(piece);
            if (name == "recompute_modules") {
                const auto choice = modules_of(text);
                if (!choice) return refuse(name, sentence(": it takes ", may));
                add_once(more, *choice);
                continue;
            }
            const auto span = span_of(text);
            const auto least = parse_whole(span ? span->least : text),
                       most = parse_whole(span ? span->most : text);
            if (!least || !most || *least < 1 || *most < *least || *most > plan_.model.layers)
                return refuse(name, sentence(": it takes ", may, ", at most the ", plan_.model.layers,
                                             " of the model"));
            for (std::int64_t n = *least; n <= *most; ++n)
                add_once(more, RecomputeChoice(RecomputeModules{}, n, RecomputeMethod::block));
        }
        if (hold && !std::exchange(recompute_held_, true)) space_.recompute.clear();
        for (const RecomputeChoice& choice : more) add_once(space_.recompute, choice);
    }

    template <typename T>
    void add_span(Varied v, std::string_view text, const Span& span, std::vector<T>& list) {
        const auto bound = [&](std::string_view end, T otherwise) {
            return end.empty() ? std::optional(otherwise) : value_of(end, v, static_cast<T*>(nullptr));
        };
        const std::vector<std::int64_t> fitting = fitting_values(plan_, v);
        const auto least = bound(span.least, static_cast<T>(fitting.front())),
                   most = bound(span.most, static_cast<T>(fitting.back()));
        if (!least || !most || (span.least.empty() && span.most.empty())) return refuse_value(v, text);
        if (*least > *most) return refuse(v, sentence(": ", text, " goes backwards"));
        const std::size_t before = list.size();
        for (const std::int64_t n : fitting)
            if (n >= *least && n <= *most) add_once(list, static_cast<T>(n));
        if (list.size() == before && list.empty())
            refuse(v, sentence(": a layout of this plan has no ", name_of(v), " in ", text));
    }

    // Reads "<= 8" and the like.
    std::optional<Limit> limit_of(Varied v, std::string_view text) {
        Limit out;
        out.below = text[0] == '<';
        out.equal = text.size() > 1 && text[1] == '=';
        const std::string_view number = trimmed(text.substr(out.equal ? 2 : 1));
        const auto n = value_of(number, v, static_cast<std::int64_t*>(nullptr));
        if (!n) {
            refuse_value(v, number);
            return std::nullopt;
        }
        out.at = *n;
        return out;
    }

    void limit(Varied v, std::string_view text) {
        with_list(v, [&](auto member) {
            auto& list = space_.*member;
            using T = typename std::decay_t<decltype(list)>::value_type;
            if constexpr (std::is_integral_v<T>) {
                const auto by = limit_of(v, text);
                if (!by) return;
                std::erase_if(list, [&](T n) { return !by->allows(n); });
                if (list.empty()) refuse(v, sentence(": no value of ", name_of(v), " is left"));
            } else {
                refuse(v, sentence(": ", name_of(v), " has no order; name its values: ", possible_values(v)));
            }
        });
    }

    void limit_memory(std::string_view text) {
        const std::string_view number = trimmed(text.substr(text.size() > 1 && text[1] == '=' ? 2 : 1));
        const Quantity bytes = parse_quantity(number, Dimension::bytes, "GiB");
        if (text[0] != '<') return refuse("memory", ": memory has a largest value, as memory<=70GiB");
        if (!bytes.value) return refuse("memory", ": " + bytes.refusal);
        if (!(*bytes.value > 0)) return refuse("memory", ": it is above 0");
        if (const double has = plan_.cluster.gpu.hbm_bytes; *bytes.value > has)
            return refuse("memory", sentence(": a GPU has ", memory_text(has)));
        space_.most_memory = std::min(space_.most_memory.value_or(*bytes.value), *bytes.value);
    }

    void add_inside(std::string_view group, std::string_view where) {
        std::vector<std::string_view> names;
        for (const GroupKind k : all_of<GroupKind>()) names.push_back(name_of(k));
        const auto at = std::find(names.begin(), names.end(), group);
        if (at == names.end())
            return refuse(
                group, sentence(": there is no such axis; the closest is \"", nearest(group, names), "\""));
        const std::optional<int> tier = tier_called(where);
        if (!tier) return;
        const Inside one{static_cast<GroupKind>(at - names.begin()), *tier};
        add_once(space_.inside, one);
    }

    std::optional<int> tier_called(std::string_view where) {
        const auto& tiers = plan_.cluster.tiers;
        if (where.starts_with("the ")) where = trimmed(where.substr(4));
        if (where == "node" || where == domain_name(plan_.cluster)) return 0;
        if (where == "pod" && tiers.size() > 2) return 1;
        std::string all = "the " + std::string(domain_name(plan_.cluster));
        for (std::size_t t = 0; t < tiers.size(); ++t) {
            if (same_letters(tiers[t].name, where)) return static_cast<int>(t);
            all += ", " + tiers[t].name;
        }
        refuse(where, ": there are " + all);
        return std::nullopt;
    }

    const Plan& plan_;
    const SearchSpace& own_;
    SearchSpace& space_;
    std::optional<SpaceError>& error_;
    EnumArray<Varied, bool> seen_{};
    bool recompute_held_ = false;  // by layers or modules
    std::string asked_;            // as it was written, for a refusal
};

}  // namespace

std::string possible_values(Varied v) {
    switch (v) {
    case Varied::schedule: return names_text<Schedule>();
    case Varied::recompute: return "none, selective, full";
    case Varied::order: return order_names() + std::string(kOrders);
    case Varied::gradients:
    case Varied::optimizer_state: return "bf16, fp32";
    case Varied::reshard: return join(kNames<Reshard>, ", ");
    case Varied::overlap_tp:
    case Varied::overlap_pp: return join(kNames<Switched>, ", ");
    default: break;
    }
    const std::optional<FieldRange> range = range_of(pointer_of(v));
    return range ? range_text(*range) : std::string();
}

std::vector<std::int64_t> divisors(std::int64_t n) {
    std::vector<std::int64_t> out;
    for (std::int64_t d = 1; d <= n / d; ++d)
        if (n % d == 0) {
            out.push_back(d);
            if (d != n / d) out.push_back(n / d);
        }
    std::sort(out.begin(), out.end());
    return out;
}

void constrain(const Plan& plan, const SpaceRequest& request, const SearchSpace& own, SearchSpace& space,
               std::optional<SpaceError>& error) {
    Constrained all(plan, own, space, error);
    for (const bool limits : {false, true}) {
        for (const std::string& text : request.vary) all.take("--vary", text, false, limits);
        for (const std::string& text : request.hold) all.take("--hold", text, true, limits);
    }
}

}  // namespace pentamesh
