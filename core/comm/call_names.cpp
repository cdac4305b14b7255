#include "core/comm/call_names.h"

#include "core/base/text.h"

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

namespace pentamesh {

namespace {

// Names what goes one way through a layer, and the gradients that come back.
struct Carried {
    std::string_view forward, back;
};
constexpr Carried kActivations{"activations", "gradients of activations"};
constexpr Carried kTokens{"tokens", "gradients of tokens"};
constexpr Carried kKeys{"keys and values", "gradients of keys and values"};

// Returns true for what a backward gathers once more: no gradient goes.
bool goes_again(What what) {
    switch (what) {
    case What::attention_input_again_for_the_weight_gradient:
    case What::mlp_input_again_for_the_weight_gradient:
    case What::shared_experts_input_again_for_the_weight_gradient:
    case What::query_latents_again_for_the_weight_gradient:
    case What::key_and_value_latents_again_for_the_weight_gradient:
    case What::head_input_again_for_the_weight_gradient:
    case What::keys:
    case What::values:
    case What::keys_and_values_rotated: return true;
    default: return false;
    }
}

Carried things_of(const Operation& o) {
    switch (o.what) {
    case What::keys:
    case What::gradients_of_keys:
    case What::values:
    case What::gradients_of_values:
    case What::keys_and_values_rotated:
    case What::gradients_of_keys_and_values_rotated: return kKeys;
    default: break;
    }
    const bool to_experts =
        o.group == GroupKind::ep || o.group == GroupKind::etp || o.group == GroupKind::etp_ep;
    return to_experts ? kTokens : kActivations;
}

using Talks = std::vector<std::pair<std::string_view, std::vector<Collective>>>;

void add_talk(Talks& talks, const Operation& o) {
    const std::string_view carried = carried_by(o);
    auto at = std::find_if(talks.begin(), talks.end(), [&](const auto& t) { return t.first == carried; });
    if (at == talks.end()) at = talks.insert(at, {carried, {}});
    if (std::find(at->second.begin(), at->second.end(), o.collective) == at->second.end())
        at->second.push_back(o.collective);
}

// Lists what an axis' calls carry, each with its collectives, in the order of a step.
Talks talks_of(const Comm& comm, GroupKind axis) {
    Talks out;
    for (const Operation& o : comm.operations)
        if (o.group == axis) add_talk(out, o);
    return out;
}

std::string kinds_text(const std::vector<Collective>& collectives) {
    return join(collectives, " + ", [](const Collective c) { return words_of(c); });
}

bool are_the_same(std::vector<Collective> a, std::vector<Collective> b) {
    std::sort(a.begin(), a.end());
    std::sort(b.begin(), b.end());
    return a == b;
}

}  // namespace

std::string_view carried_by(const Operation& o) {
    if (o.unit == Unit::step) return o.collective == Collective::all_gather ? "parameters" : "gradients";
    if (o.what == What::cross_entropy) return "the loss";
    const Carried things = things_of(o);
    const bool forward = o.phase == Phase::forward || o.recomputed || goes_again(o.what);
    return forward ? things.forward : things.back;
}

std::string plain_name(Collective collective, std::string_view carried) {
    return std::string(words_of(collective)) + " of " + std::string(carried);
}

std::string plain_names(const Comm& comm, GroupKind axis) {
    std::string out;
    for (const auto& talk : talks_of(comm, axis))
        out += (out.empty() ? "" : ", ") + kinds_text(talk.second) + " of " + std::string(talk.first);
    return out;
}

std::string plain_names(std::span<const Operation* const> calls) {
    constexpr std::string_view kBack = "gradients of ";
    Talks talks;
    for (const Operation* o : calls) add_talk(talks, *o);
    // Returns what comes back of something that goes forward in the same way; the end where nothing does.
    const auto back_of = [&](const Talks::value_type& forward) {
        return std::find_if(talks.begin(), talks.end(), [&](const auto& t) {
            return t.first.starts_with(kBack) && t.first.substr(kBack.size()) == forward.first
                   && are_the_same(t.second, forward.second);
        });
    };
    std::string out;
    for (const auto& talk : talks) {
        const bool stands_with_forward = std::any_of(talks.begin(), talks.end(), [&](const auto& forward) {
            const auto back = back_of(forward);
            return back != talks.end() && back->first == talk.first;
        });
        if (stands_with_forward) continue;
        out += (out.empty() ? "" : ", ") + kinds_text(talk.second) + " of " + std::string(talk.first)
               + (back_of(talk) != talks.end() ? " and their gradients" : "");
    }
    return out;
}

std::string carried_over(const Comm& comm, GroupKind axis) {
    std::string out;
    for (const auto& talk : talks_of(comm, axis)) out += (out.empty() ? "" : ", ") + std::string(talk.first);
    return out;
}

}  // namespace pentamesh
