#include "core/pipeline/stage_numbers.h"

namespace pentamesh {

bool copies_embedding(const Model& model, const StageContents& contents) {
    if (contents.embedding) return false;
    return contents.mtp_layers > 0 || (contents.head && model.tied_embeddings);
}

StageNumbers numbers_of(const Model& model, const HeldNumbers& held, const StageContents& contents) {
    const auto mtp = static_cast<double>(contents.mtp_layers), layers = static_cast<double>(contents.layers);
    const auto moe = static_cast<double>(contents.moe_layers) + (model.moe ? mtp : 0);
    StageNumbers n;
    n.dense.add(held.at(Place::every_layer), layers + mtp)
        .add(held.at(Place::dense_layer), layers + mtp - moe)
        .add(held.at(Place::moe_layer), moe)
        .add(held.at(Place::mtp), mtp);
    n.experts.add(held.experts, moe);
    if (contents.embedding) n.dense.add(held.at(Place::embedding), 1);
    if (contents.head) n.dense.add(held.at(Place::head), 1);
    if (copies_embedding(model, contents)) n.dense.other += held.word_embedding;
    return n;
}

}  // namespace pentamesh
