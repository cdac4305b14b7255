// A layer's forward is recorded on this tape, so that the backward can be read off it in reverse.
#pragma once

#include "core/layer/calls.h"
#include "core/layer/layer.h"
#include "core/model/model_tensors.h"

#include <cstdint>
#include <optional>
#include <utility>

namespace pentamesh {

// Describes one factor over one axis: whole, cut along a dimension of the result, or along the one that is
// summed over.
enum class FactorCut : std::uint8_t { whole, outer, inner };

enum class ProductCase : std::uint8_t {
    local,         // 1: nothing that is summed over is cut: the result keeps the cuts
    gather_one,    // 2: the summed dimension is cut in only one factor: that one is gathered
    partial,       // 3: it is cut in both: each rank has a summand of the whole result
    gather_either  // 4: both results' sides are cut by the same axis: one factor has to be gathered
};

[[nodiscard]] constexpr ProductCase product_case(FactorCut left, FactorCut right) {
    if (left == FactorCut::inner && right == FactorCut::inner) return ProductCase::partial;
    if (left == FactorCut::inner || right == FactorCut::inner) return ProductCase::gather_one;
    if (left == FactorCut::outer && right == FactorCut::outer) return ProductCase::gather_either;
    return ProductCase::local;
}

using Value = int;  // of LayerTape::values_

// Says what the backward does with a node.
enum class TapeKind : std::uint8_t {
    product,        // two products: for the input and for the weights
    kernel,         // the same kernel's backward
    residual,       // the gradient goes both ways
    branch,         // the gradients of both ways are added
    enter,          // whole factor, cut weights: gradients are summands
    gather,         // of a cut factor: gradients are summed and cut
    leave,          // summands are summed: the gradient is what the result's is
    exchange,       // an all-to-all: the other way round
    view,           // the same numbers under other names of dimensions
    sum,            // summands of other ranks' tokens: the gradient is gathered
    slice,          // of what all ranks hold, a part on each: the gradient is gathered
    copies,         // gathered for ranks that then do the same: the gradient is cut
    weights_in,     // FSDP's gather: gradients are reduced
    weights_again,  // after the block: a second gather for its backward
};

struct TapeSaved {
    Value value = -1;  // the one that is kept: it may be the cut one that `needed` is gathered from
    Value needed = -1;
    Activation activation;
    double bytes = 0;
    bool kept = true;  // false: recomputed
};

struct TapeNode {
    TapeKind kind = TapeKind::kernel;
    int step = -1;  // of the forward, or none
    std::vector<Value> in, out, weights;
    std::vector<TapeSaved> saves;
    bool repeats = false;  // the plan recomputes a module that it is part of
    bool experts = false;  // of weights: the experts'
    LayerPart part = LayerPart::mixer;
};

// Describes a forward step to come.
struct TapeStep {
    LayerOp op = LayerOp::norm;
    What what = What::none, back = What::none;  // forward and backward
};

class LayerTape {
  public:
    LayerTape(const Plan& plan, const Mesh& mesh, const GroupSummaries& groups, int type, std::int64_t rank,
              std::int64_t most_members);

    [[nodiscard]] LayerList run();

  private:
    using i64 = std::int64_t;

    // ---- layer.cpp: what a layer consists of ----
    Value forward(Value x);
    Value mixer(Value u);
    Value attention(Value x);
    Value output(Value o, std::optional<TensorId> activation = std::nullopt);
    // Turns queries and keys in one kernel; with `norm` it is their norm.
    void turn(Value& q, Value& key, const TapeStep& how, bool norm);
    Value latent_queries(Value u, const LayerDim& heads, i64 rank, i64 width, Value& index_in);
    Value latent_attention(Value u);
    Value compressed_attention(Value x);
    std::vector<Value> compressed_indexer(Value x, Value q_in);
    std::vector<Value> indexer(Value u, Value q_in);
    [[nodiscard]] LayerTensor resized(Value x, std::string name, LayerDim width) const;
    Value other_mixer(Value x);
    Value core(Value q, Value k, Value v, LayerTensor output, const std::vector<Value>& index = {},
               Value compressed = -1);
    void exchange_heads(i64 ranks, bool to_heads, What what, What back, std::vector<Value*> values);
    Value mlp(Value u);
    Value mlp_products(Value x, TensorModule module);
    Value experts(Value u);
    Value shared_experts(Value u);
    Value router(Value u);
    Value permuted(std::vector<Value> in, LayerTensor out, bool back);
    Value exchanged_experts(Value x, Value logits, double copies, double h);
    Value gathered_experts(Value x, Value logits, double own, double copies, double h);
    // Returns the tokens that this rank sends to the experts, of those that all tensor-parallel ranks hold.
    Value own_part(Value x);
    Value all_parts(Value y, Value like);
    // Describes tokens on their way: `local` of them on a rank.
    [[nodiscard]] LayerTensor dispatched(std::string name, double local, double width) const;
    Value after(Value y, TensorId norm, TensorId mask);
    // Returns "u", "u2": the name of a norm's result from the residual stream.
    [[nodiscard]] std::string normed_name() const;
    Value norm_of(Value x, std::string name, What what, TensorId activation);
    // With `fused`, it runs in the kernel before it, so that it costs nothing of its own.
    Value add(Value x, Value y, bool fused = false);
    // Takes the hidden state of a block out of the residual stream or streams, and brings its result back.
    Value into_block(Value x);
    Value out_of_block(Value x, Value y);

    // ---- layer_tape.cpp: nodes ----
    Value put(LayerTensor t, int node = -1);
    Value branch(Value x);
    TapeNode& node(TapeKind kind, std::vector<Value> in, std::vector<LayerTensor> out);
    LayerStep& step_of(TapeNode& n, const TapeStep& how);
    Value kernel(const TapeStep& how, std::vector<Value> in, LayerTensor out,
                 TapeKind kind = TapeKind::kernel);
    // Puts `x` where the weights can meet it: gathers it, or notes that its gradient will be summands.
    Value enter(Value x, What what, What back, What again);
    // Sums a partial tensor, into the form that tokens have between regions.
    // The tokens came from `like`, and go back to its form.
    Value leave(Value y, Value like, What what, What back);
    std::vector<Value> product(What what, What back, Value x, const std::vector<LayerTensor>& weights,
                               std::vector<LayerTensor> outs);
    // Returns the call of this part that is about `what`, or null where the layer makes none.
    [[nodiscard]] const LayerCall* call_of(What what, LayerPass pass, LayerPart part) const;
    [[nodiscard]] const LayerCall* call_of(What what) const {
        return call_of(what, LayerPass::forward, part_);
    }
    // The layer must make the call that `what` is about.
    std::vector<Value> collective(TapeKind kind, What what, What back, std::vector<Value> in,
                                  std::vector<LayerTensor> out);
    void set_call(LayerStep& s, const LayerCall& call) const {
        set_call(s, call.group, call.ranks, call.bytes, call.calls);
    }
    void save(Value needed, TensorId id);
    // Saves a value without a tensor of its own among the steps: masks, a softmax's sums, the state of a
    // scan. Returns null where the layer keeps no such tensor.
    TapeSaved* save_extra(TensorId id, Value beside);
    [[nodiscard]] LayerTensor result_of(const LayerTensor& x, const LayerTensor& weight, std::string name,
                                        std::vector<LayerDim> dims) const;

    // ---- tensors ----
    [[nodiscard]] LayerDim tokens_dim(bool between) const;
    [[nodiscard]] LayerTensor hidden_tensor(std::string name, bool between, double width,
                                            DimName width_name) const;
    [[nodiscard]] LayerTensor weight_of(TensorId id, DimName rows, DimName cols) const;
    [[nodiscard]] std::string weight_name(TensorId id) const;
    [[nodiscard]] bool has_weight(TensorId id) const;
    [[nodiscard]] static LayerDim cut_dim(DimName name, double size, double local, GroupKind group,
                                          i64 ranks);
    [[nodiscard]] static bool tokens_cut(const LayerTensor& t, GroupKind group);
    [[nodiscard]] static bool width_cut(const LayerTensor& t, GroupKind group);

    // ---- layer_words.cpp ----
    void name_apart();
    [[nodiscard]] std::vector<char> read_behind() const;
    [[nodiscard]] bool runs_with(int maker, std::size_t node) const;

    // ---- layer_tape.cpp ----
    void backward();
    void back(const TapeNode& n);
    void back_product(const TapeNode& n);
    void back_kernel(const TapeNode& n);
    void back_gather(const TapeNode& n, const LayerCall& call);
    void back_collective(const TapeNode& n);
    void recompute(std::size_t last);
    void find_recomputed();
    void fetch(const TapeNode& n);
    [[nodiscard]] int made_by(const TapeSaved& s, int at) const;
    [[nodiscard]] KeptTensor kept_tensor(const TapeSaved& s) const;
    [[nodiscard]] What back_of(const TapeNode& n) const;
    [[nodiscard]] static bool is_weights(const TapeNode& n) {
        return n.kind == TapeKind::weights_in || n.kind == TapeKind::weights_again;
    }
    Value& grad(Value v) { return grads_[static_cast<std::size_t>(v)]; }
    void set_grad(Value v, Value g);
    [[nodiscard]] LayerTensor gradient_of(Value v) const;
    LayerStep& emit(LayerPass phase, LayerOp op, LayerBlock block, What what, std::vector<LayerTensor> in,
                    std::vector<LayerTensor> out);
    void set_call(LayerStep& s, GroupKind group, i64 ranks, double message, double calls) const;

    // ---- layer.cpp ----
    void weights_in(bool of_experts);
    void weights_behind(bool of_experts);
    void back_weights(const TapeNode& n);
    // Holds what data parallelism does with the layer's dense weights, or with its experts'.
    struct StateMoves {
        StateCallList calls;
        double numbers = 0;  // of the layer on this rank
        // Returns a call over several ranks, or null.
        [[nodiscard]] const StateCall* find(Collective c, bool again) const;
        [[nodiscard]] LayerTensor flat(std::string name, bool cut, double bytes) const;
    };
    [[nodiscard]] StateMoves moves_of(bool experts) const;
    void set_call(LayerStep& step, const StateCall& call, double numbers) const;
    [[nodiscard]] std::vector<i64> members(GroupKind group, i64 ranks, bool outer) const;

    [[nodiscard]] const LayerTensor& tensor(Value v) const { return values_[static_cast<std::size_t>(v)]; }
    [[nodiscard]] double tp() const { return static_cast<double>(d_.tp); }
    [[nodiscard]] bool gated() const { return is_gated(m_.ffn_kind); }

    const Plan& plan_;
    const Model& m_;
    const Training& t_;
    const Mesh& mesh_;
    const GroupSummaries& groups_;
    LayerTypes types_;
    const LayerType& type_;
    i64 rank_, most_members_;
    Degrees d_;
    ActivationWidths w_;
    const SoftwareFacts& facts_;
    TokenCounts tokens_;
    std::vector<Tensor> weights_;  // of this type
    LayerParts parts_;
    LayerBlock block_ = LayerBlock::weights;
    LayerPart part_ = LayerPart::mixer;
    int x_count_ = 0;            // additions to the residual stream so far
    Value stream_weights_ = -1;  // of hyper-connections, for the block at hand
    std::vector<TapeNode> nodes_;
    std::vector<LayerTensor> values_;
    std::vector<int> makers_;       // node, or -1
    int made_ = 0;                  // activations so far: LayerTensor::value
    std::vector<Value> grads_;      // while the backward is read off
    std::vector<char> recomputed_;  // nodes that are recomputed
    struct Back {
        int step = -1;
        What what = What::none;
    };
    std::vector<Back> names_;  // of the backward, by forward step
    struct Entered {
        int node = -1;
        What back = What::none, again = What::none;
    };
    std::vector<Entered> enters_;  // into regions: over which axis gradients are summed
    std::vector<int> fetched_;     // nodes whose output was gathered a second time
    LayerList list_;
};

}  // namespace pentamesh
