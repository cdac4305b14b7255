// Finds what one rank keeps of each tensor of the model, before pipeline stages and ZeRO.
#pragma once

#include "core/model/model_tensors.h"

#include <cstdint>

namespace pentamesh {

// Holds the degrees of every cut, as the mesh has them (mesh/mesh.h).
struct Degrees {
    std::int64_t tp = 1, cp = 1, pp = 1, etp = 1, ep = 1;
    std::int64_t dense_shard = 1;     // dp_shard * cp: ZeRO of everything but experts
    std::int64_t expert_shard = 1;    // the sharded part of expert data parallelism: ZeRO of experts
    std::int64_t replicate = 1;       // dp_replicate
    int communicators = 0;            // process groups of more than one rank that a rank is in
    int expert_communicators = 0;     // those among them that only experts have
    std::int64_t vocab_multiple = 1;  // a rank holds whole multiples of so many rows of the vocabulary
    bool sequence_parallel = false;
};

[[nodiscard]] constexpr std::int64_t divide_up(std::int64_t a, std::int64_t b) {
    return b <= 1 ? a : a / b + (a % b != 0 ? 1 : 0);
}
// Returns whole bytes, at most what a signed integer holds.
inline constexpr double kMostBytes = 9e18;
[[nodiscard]] inline double whole(double bytes) {
    if (!(bytes < kMostBytes)) return kMostBytes;
    const auto floor = static_cast<double>(static_cast<std::int64_t>(bytes));  // std::ceil is a call
    return floor < bytes ? floor + 1 : floor;
}

// Counts numbers in three classes, which optimizers and fp8 treat apart: weight matrices of attention, MLP
// and experts; the router's matrices; the rest (embedding, head, norms, biases).
struct Numbers {
    double linear = 0, router = 0, other = 0;
    [[nodiscard]] double all() const { return linear + router + other; }
    bool operator==(const Numbers&) const = default;
    Numbers& add(const Numbers& n, double times) {
        linear += n.linear * times;
        router += n.router * times;
        other += n.other * times;
        return *this;
    }
};

// Returns the rows that stay together where a tensor is cut: those of key and value heads, of the padded
// vocabulary.
[[nodiscard]] inline std::int64_t unit_of(const Tensor& t, const Degrees& d) {
    return t.cut == TpCut::vocab ? d.vocab_multiple : t.unit;
}

// One rank holds this of a tensor after tp, etp and ep. Where a dimension does not divide, it is the rank
// that holds most: the vocabulary is padded so (Megatron-LM vocab_size_with_padding).
struct LocalShape {
    std::int64_t copies = 1, rows = 1, cols = 1;
};
[[nodiscard]] inline LocalShape local_shape(const Tensor& t, const Degrees& d) {
    const std::int64_t n = t.per_expert ? d.etp : d.tp;
    LocalShape s{t.per_expert ? divide_up(t.copies, d.ep) : t.copies, t.rows, t.cols};
    if (n <= 1 && t.cut != TpCut::vocab) return s;
    const std::int64_t unit = unit_of(t, d);
    const auto cut = [&](std::int64_t length) { return divide_up(divide_up(length, unit), n) * unit; };
    switch (t.cut) {
    case TpCut::none: break;
    case TpCut::column:
    case TpCut::kv:
    case TpCut::vocab: s.rows = cut(t.rows); break;
    case TpCut::row: s.cols = cut(t.cols); break;
    }
    return s;
}
[[nodiscard]] inline double numbers_held(const Tensor& t, const Degrees& d) {
    const LocalShape s = local_shape(t, d);
    return static_cast<double>(s.rows) * static_cast<double>(s.cols) * static_cast<double>(s.copies);
}

// Returns the rows of the vocabulary on one tp rank, padding included.
[[nodiscard]] inline std::int64_t local_vocab(std::int64_t vocab, std::int64_t multiple, std::int64_t tp) {
    return divide_up(divide_up(vocab, multiple), tp) * multiple;
}

// Holds the numbers of one layer, experts apart.
struct HeldLayer {
    Numbers dense, experts;
    bool operator==(const HeldLayer&) const = default;
};
struct HeldNumbers {
    PerType<HeldLayer> layer;      // of one layer of each type
    Numbers embedding, head, mtp;  // mtp: in addition to a whole layer
    double word_embedding = 0;     // the part of `embedding` that a tied head or an MTP layer needs too
    int mtp_type = 0;
    [[nodiscard]] const HeldLayer& of(int type) const { return layer[type]; }
    bool operator==(const HeldNumbers&) const = default;
};
[[nodiscard]] inline HeldNumbers held_numbers(const Model& model, const LayerTypes& types,
                                              const Degrees& degrees) {
    HeldNumbers h;
    h.layer.resize(types.size());
    h.mtp_type = types.mtp;
    visit_tensors(model, types, [&](const Tensor& t) {
        const double n = numbers_held(t, degrees);
        const bool matrix = t.is_matrix();
        const auto add = [&](Numbers& sum) {
            if (matrix && t.kind == TensorKind::router)
                sum.router += n;
            else if (matrix && t.kind != TensorKind::embedding && t.kind != TensorKind::head)
                sum.linear += n;
            else
                sum.other += n;
        };
        if (t.types == 0)
            add(t.place == Place::embedding ? h.embedding : t.place == Place::head ? h.head : h.mtp);
        for (int k = 0; k < types.size(); ++k) {
            HeldLayer& layer = h.layer[k];
            if (has(t.types, k)) add(t.per_expert ? layer.experts : layer.dense);
        }
        if (t.place == Place::embedding && t.cut == TpCut::vocab) h.word_embedding = n;
    });
    return h;
}
[[nodiscard]] inline HeldNumbers held_numbers(const Model& model, const Degrees& degrees) {
    return held_numbers(model, layer_types(model), degrees);
}

}  // namespace pentamesh
