#include "core/base/number.h"
#include "core/memory/activations.h"
#include "core/mesh/degrees.h"

namespace pentamesh {
namespace {

// Returns "2 · b s · a d / (cp tp)": bytes per number, tokens, width, and the axes that cut them.
std::string shape_of(const Activation& a, const Degrees& d) {
    const bool dispatched = a.tokens == Tokens::dispatched;
    std::string text = a.bytes_per_number == 0.5 ? "½" : general_text(a.bytes_per_number, 3);
    text += dispatched ? " · b s top_k · imbalance" : " · b s";
    if (!a.symbol.empty()) text += " · " + std::string(a.symbol);
    std::string cuts;
    int count = 0;
    const auto by = [&](std::string_view axis, bool cut) {
        if (!cut) return;
        if (count++ > 0) cuts += ' ';
        cuts += axis;
    };
    by("cp", d.cp > 1);
    by("tp", d.tp > 1
                 && (dispatched || (a.tokens == Tokens::region && a.local_width < a.width)
                     || (a.tokens == Tokens::between && d.sequence_parallel)));
    if (dispatched && d.etp > 1 && a.local_width == a.width) text += " · etp";
    if (count == 0) return text;
    text += count > 1 ? " / (" : " / ";
    text += cuts;
    return count > 1 ? text + ")" : text;
}

}  // namespace

void list_activations(const Plan& plan, const Mesh& mesh, LayerKind kind, std::vector<ActivationBytes>& out) {
    out.clear();
    const Degrees d = degrees_of(plan, mesh);
    const TokenCounts tokens = token_counts(plan, d);
    const bool layer = kind == LayerKind::dense || kind == LayerKind::moe;
    const RecomputeChoice recompute = layer ? plan.training.recompute : RecomputeChoice();
    KeptList kept;
    list_kept(plan, d, kind, kept);
    for (const Activation& a : kept)
        out.push_back({a.id, shape_of(a, d), bytes_of(a, tokens),
                       is_kept(a, recompute, facts_of(plan.training.software))});
}

}  // namespace pentamesh
