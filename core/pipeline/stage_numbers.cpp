#include "core/pipeline/stage_numbers.h"

namespace pentamesh {

bool copies_embedding(const Model& model, const StageContents& contents) {
    if (contents.embedding) return false;
    return contents.mtp_layers > 0 || (contents.head && model.tied_embeddings);
}

StageNumbers numbers_of(const Model& model, const HeldNumbers& held, const StageContents& contents) {
    StageNumbers n;
    const auto mtp = static_cast<double>(contents.mtp_layers);
    for (int t = 0; t < held.layer.size(); ++t) {
        const double layers = contents.with_mtp(t, held.mtp_type);
        n.dense.add(held.of(t).dense, layers);
        n.experts.add(held.of(t).experts, layers);
    }
    n.dense.add(held.mtp, mtp);
    if (contents.embedding) n.dense.add(held.embedding, 1);
    if (contents.head) n.dense.add(held.head, 1);
    if (copies_embedding(model, contents)) n.dense.other += held.word_embedding;
    return n;
}

}  // namespace pentamesh
