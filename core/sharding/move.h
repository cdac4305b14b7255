// Says what moves where a model goes from one layout to another, A to B: a checkpoint that is loaded on
// another mesh, weights from the trainer to those who sample, a cluster that grew. It is exact: the pieces of
// B are intersected with those of A, number by number. docs/decide.md has the rules.
#pragma once

#include "core/mesh/mesh.h"
#include "core/plan/plan.h"
#include "core/plan/tensor_id.h"
#include "core/sharding/sharding.h"

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace pentamesh {

// This is a layout and its mesh, which must be those of a possible plan.
struct MoveEnd {
    const Plan& plan;
    const Mesh& mesh;
};

struct MoveOptions {
    bool optimizer = false;  // its states and the master copy too; gradients never move
    // B has GPUs of its own, in nodes after those of A. Else rank i of A is on the GPU of rank i of B, as far
    // as there are both.
    bool apart = false;
};

// Counts bytes as B keeps them. A number that a GPU of B needs and the same GPU of A holds stays. Any other
// comes over the fastest wire that has a holder at its end. What several GPUs of a node, or of a pod, need
// crosses into it once: each of them fetches an equal share, and hands it on there.
struct MoveBytes {
    double needed = 0, stays = 0;
    std::array<double, kMaxTiers> over{};  // by tier of move_tiers
    [[nodiscard]] double moved() const { return needed - stays; }
    void add(const MoveBytes& other, double times = 1);
};

// Says why a GPU has not what it needs: the GPU is new; another stage had the layer, another rank the expert,
// the slice of the width, the shard. Each number counts at the first of these that is true.
enum class MoveCause : std::uint8_t { new_gpu, stage, experts, width, shard };
template <>
inline constexpr std::size_t kEnumCount<MoveCause> = 5;
[[nodiscard]] std::string_view name_of(MoveCause cause);   // "new_gpu", "pp", "ep", "tp", "dp"
[[nodiscard]] std::string_view words_of(MoveCause cause);  // "another stage had the layer"

struct MoveOfTensor {
    TensorId id = TensorId::embedding;
    TensorState state = TensorState::parameters;
    Place place = Place::every_layer;
    std::int64_t layers = 1;  // that have it
    MoveBytes bytes;          // of all of them and all ranks of B
};

struct Move {
    std::int64_t gpus_a = 0, gpus_b = 0, first_gpu = 0;  // rank 0 of B is on GPU `first_gpu`
    MoveOptions options;
    MoveBytes all;
    std::array<MoveBytes, 2> by_state;  // parameters, optimizer
    EnumArray<MoveCause, double> by_cause{};
    std::vector<MoveOfTensor> tensors;
    std::vector<MoveBytes> of_rank;  // of B
    // A wire brings its bytes no sooner than this: those that cross into the busiest domain below it, over
    // all GPUs of B in it at their full rate. All wires work at once.
    std::array<double, kMaxTiers> at_least_s{};
    int slowest = 0;  // the tier of the longest
    double bound_s = 0;
    std::size_t farthest = 0;  // of `tensors`: the one with most bytes over the outermost wire in use

    [[nodiscard]] MoveBytes mean() const;  // of a GPU of B
};

// Returns why there is no move between these plans, with the remedy; empty where there is one.
[[nodiscard]] std::string no_move_words(const Plan& a, const Plan& b, const MoveOptions& options);
// Returns the wires that a move uses: those of the larger cluster, the outermost of which joins all GPUs.
[[nodiscard]] const std::vector<Tier>& move_tiers(const Plan& a, const Plan& b);

// Throws Error (invalid) where no_move_words says why.
[[nodiscard]] Move move_between(const MoveEnd& a, const MoveEnd& b, const MoveOptions& options = {});

// A part of what one rank of B needs, of some layers, comes from one GPU.
struct MovePiece {
    static constexpr int kStays = -1;
    TensorId id = TensorId::embedding;
    TensorState state = TensorState::parameters;
    Place place = Place::every_layer;
    std::vector<std::int64_t> layers;  // of the model; empty for its ends
    std::int64_t from = 0;             // the rank of A; where it is handed on, of B
    bool handed_on = false;            // by the ranks that need the same and fetched shares of it: `from` is
                                       // the first of them
    int tier = kStays;
    double bytes = 0;           // of all these layers
    double begin = 0, end = 1;  // the slice of the tensor that the sender has of it, along MoveSheet's width
};
// Lists the pieces of a rank of B, tensor by tensor. Of several holders the nearest sends, of equally near
// ones the first.
[[nodiscard]] std::vector<MovePiece> pieces_of_rank(const MoveEnd& a, const MoveEnd& b,
                                                    const MoveOptions& options, std::int64_t rank);

// Shows one tensor of all its layers as a sheet: across its width, which tp cuts, downwards its layers.
struct MoveSheet {
    TensorId id = TensorId::embedding;
    TensorState state = TensorState::parameters;
    bool columns = false;                          // the width is that of the columns, else of the rows
    std::vector<double> width_a, width_b;          // inner cuts, as shares of the width
    std::vector<std::int64_t> layers;              // that have the tensor; empty for an end of the model
    std::vector<std::int64_t> stages_a, stages_b;  // places in `layers` where another stage begins
    std::vector<std::int64_t> first_rank;  // of B: [place in layers][slice of B]; the first that needs it
};
[[nodiscard]] MoveSheet sheet_of_move(const MoveEnd& a, const MoveEnd& b, TensorId id, TensorState state);
// Returns the first rank of B that needs what lies there; `across` is a share of the width, `row` a place in
// its layers.
[[nodiscard]] std::int64_t first_rank_at(const MoveSheet& sheet, double across, std::size_t row);
// Returns the dimension that tp cuts in A or B: 1 for rows, 2 for columns; rows where it cuts none.
[[nodiscard]] std::size_t width_of(const Placement& in_a, const Placement& in_b);

// Returns "From A to B a GPU needs 19.5 GiB on average: 1.4 GiB stay, 14 GiB come over NVLink, 4.1 GiB
// over InfiniBand. At least 88 ms."
[[nodiscard]] std::string move_sentence(const Move& move, const std::vector<Tier>& tiers);
// Returns what was assumed, in sentences.
[[nodiscard]] std::string move_assumed(const Move& move, const Plan& a, const Plan& b);

}  // namespace pentamesh
