// The program of a layer can be run as it stands: each name that a line reads is the tensor that it means.
#include "core/base/text.h"
#include "core/layer/layer.h"
#include "layer_plans.h"
#include "shipped.h"

#include <doctest/doctest.h>
#include <map>

using namespace pentamesh;
using test::LayerPlans;
using test::presets;

namespace {

// Runs the program with a value for each name; names a line that reads another tensor than it means.
std::string misread(const LayerList& list) {
    std::map<std::string, int> holds;
    int last = 0;  // of the forward: its gradient comes from outside
    for (const LayerStep& s : list.steps) {
        for (const LayerTensor& t : s.in) {
            if (t.weight) continue;
            const auto at = holds.find(t.name);
            const bool given = t.name == "x" || t.value == -last;
            if (at == holds.end() ? !given : at->second != t.value)
                return line_of(s, Notation::jax, false) + ": " + t.name;
            holds[t.name] = t.value;
        }
        for (const LayerTensor& t : s.out) {
            if (t.weight) continue;
            holds[t.name] = t.value;
            if (s.phase == LayerPass::forward) last = t.value;
        }
    }
    return {};
}

// A tensor keeps what was added to it: a sum of gradients stands for its summands from then on.
std::string read_before_sum(const LayerList& list) {
    for (std::size_t i = 0; i < list.steps.size(); ++i) {
        const LayerStep& sum = list.steps[i];
        if (sum.phase != LayerPass::backward || sum.recomputed || sum.op != LayerOp::residual) continue;
        if (sum.in.size() != 2 || sum.in[0].name == sum.in[1].name) return line_of(sum, Notation::jax, false);
        for (std::size_t j = i + 1; j < list.steps.size(); ++j)
            for (const LayerTensor& t : list.steps[j].in)
                if (t.value == sum.in[0].value && t.value != sum.out[0].value)
                    return line_of(list.steps[j], Notation::jax, false) + ": " + t.name;
    }
    return {};
}

// Weights of one name are one: "W_gate" of the shared experts and of the others are not.
std::string two_weights(const LayerList& list) {
    std::map<std::string, std::vector<LayerDim>> dims;
    for (const LayerStep& s : list.steps)
        for (const LayerTensor& t : s.in)
            if (t.weight && !is_collective(s.op) && dims.try_emplace(t.name, t.dims).first->second != t.dims)
                return t.name;
    return {};
}

}  // namespace

TEST_CASE("each line of a layer's program reads the tensors that it means") {
    LayerPlans plans(19);
    int seen = 0;
    for (int round = 0; round < 1500; ++round) {
        Plan p = plans.next();
        if (p.model.moe && p.model.ffn > 0) p.model.moe->beside_mlp = plans.pick({0, 0, 1});
        const Evaluation e = evaluate(p, {.timeline = false});
        if (!e.valid) continue;
        const LayerTypes types = layer_types(p.model);
        for (int t = 0; t < types.size(); ++t) {
            CAPTURE(round);
            CAPTURE(words_of(types[t]));
            CAPTURE(words_of(p.training.recompute));
            const LayerList list = list_layer(p, e.mesh, e.groups, t);
            CHECK(misread(list) == "");
            // The two branches of such a layer wait for the same gradient.
            if (!p.model.moe || !p.model.moe->beside_mlp) CHECK(read_before_sum(list) == "");
            CHECK(two_weights(list) == "");
            ++seen;
        }
    }
    CHECK(seen > 500);
}

TEST_CASE("DeepSeek V3's latents and shared experts have names of their own") {
    const Plan p = presets().plan("deepseek-v3-2048");
    const Evaluation e = evaluate(p, {.timeline = false});
    const LayerTypes types = layer_types(p.model);
    const LayerList list = list_layer(p, e.mesh, e.groups, usual_type(p.model, types, true));
    std::vector<std::string> lines;
    for (const LayerStep& s : list.steps)
        if (s.phase == LayerPass::forward) lines.push_back(line_of(s, Notation::megatron, false));
    for (const char* line :
         {"c_q2 = layernorm(c_q)", "c_kv = u @ W_kv_down.T", "c_kv2, k_rope = layernorm(c_kv)",
          "y_shared = z_shared @ W_shared_down.T", "y = unpermute(y, logits, y_shared)"})
        CHECK_MESSAGE(std::ranges::count(lines, line) == 1, line);
}

TEST_CASE("the backward of Megatron's permute and unpermute have their forward's names") {
    const Plan p = presets().plan("mixtral-8x7b-ep");
    const Evaluation e = evaluate(p, {.timeline = false});
    const LayerList list = list_layer(p, e.mesh, e.groups, usual_type(p.model, layer_types(p.model), true));
    std::vector<std::string> calls;
    for (const LayerStep& s : list.steps) {
        if (s.op != LayerOp::permute) continue;
        const std::string line = line_of(s, Notation::megatron, false);
        const std::size_t from = line.find("= ") + 2;
        calls.push_back(line.substr(from, line.find('(') - from));
    }
    CHECK(calls
          == std::vector<std::string>{"permute", "unpermute", "unpermute_backward", "permute_backward"});
}

TEST_CASE("a step's sentence names its ranks and what becomes of the tensor, and says when it is repeated") {
    LayerPlans plans(29);
    int collectives = 0, products = 0, repeated = 0, per_step = 0;
    for (int i = 0; i < 200; ++i) {
        const Plan p = plans.next();
        const Evaluation e = evaluate(p);
        if (!e.valid) continue;
        for (int type = 0; type < layer_types(p.model).size(); ++type)
            for (const LayerStep& s : list_layer(p, e.mesh, e.groups, type).steps) {
                const std::string said = sentence_of(s), group(name_of(s.group)),
                                  n = with_commas(s.group_size);
                CAPTURE(said);
                const auto begins = [&](const std::string& words) { CHECK(said.starts_with(words)); };
                switch (s.op) {
                case LayerOp::all_gather:
                    begins("Each of the " + n + " ranks of " + group
                           + " has a piece and gets those of the others.");
                    break;
                case LayerOp::reduce_scatter:
                    begins("Every rank of " + group
                           + " holds a summand of all of it: one reduce-scatter adds the " + n + " up");
                    break;
                case LayerOp::all_reduce:
                    begins("Every rank of " + group + " holds a summand: one all-reduce adds the " + n
                           + " up");
                    break;
                case LayerOp::all_to_all:
                    begins("Each of the " + n + " ranks of " + group + " sends every other one its piece.");
                    break;
                case LayerOp::ring_send:
                    begins("Blocks go round the ring of the " + n + " ranks of " + group + ", "
                           + count_text(static_cast<std::int64_t>(s.calls), "message") + " each.");
                    break;
                default: {
                    ++products;
                    if (s.out.empty()) break;
                    const LayerTensor& t = s.out[0];
                    if (!t.partial.empty() && !t.weight) {
                        CHECK(said.find("so each rank has a summand.") != std::string::npos);
                        break;
                    }
                    CHECK(said.find("nothing is sent.") != std::string::npos);
                    for (const GroupKind k : {GroupKind::tp, GroupKind::cp, GroupKind::ep, GroupKind::etp})
                        if (t.cut_by(k)) CHECK(said.find(name_of(k)) != std::string::npos);
                }
                }
                collectives += is_collective(s.op);
                repeated += s.recomputed, per_step += s.per_step;
                CHECK(said.ends_with('.'));
                CHECK((said.find(" Again: the forward did not keep it.") != std::string::npos)
                      == s.recomputed);
                CHECK((said.find(" Once in a training step.") != std::string::npos)
                      == (s.per_step && !s.per_run));
                CHECK((said.find(" Once after each run of micro-batches.") != std::string::npos)
                      == (s.per_step && s.per_run));
            }
    }
    CHECK(collectives > 1000);
    CHECK(products > 1000);
    CHECK(repeated > 100);
    CHECK(per_step > 100);
}
