#include "core/plan/training.h"

#include "core/base/text.h"
#include "core/plan/names.h"

namespace pentamesh {

std::string words_of(const RecomputeChoice& choice) {
    if (choice.is_plain()) return std::string(name_of(choice.kind));
    std::string text;
    for (const RecomputeModule m : all_of<RecomputeModule>())
        if (choice.modules.has(m)) text += (text.empty() ? "" : ", ") + std::string(name_of(m));
    if (text.empty()) text = name_of(choice.kind);
    if (choice.some_layers()) text += sentence(", ", count_text(choice.layers, "layer"), " a chunk");
    if (choice.unit() > 1) text += sentence(", in units of ", choice.unit(), " layers");
    return text;
}

}  // namespace pentamesh
