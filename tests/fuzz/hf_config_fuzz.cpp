// Gives text to the reader of Hugging Face configs. An accepted text is a model that a plan can hold: it is
// written, read and evaluated.
#include "core/base/files.h"
#include "core/evaluate.h"
#include "core/io/plan_json.h"
#include "tests/fuzz/fuzz.h"

#include <cmath>

using namespace pentamesh;
using namespace pentamesh::fuzz;

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
    static const Plan kBase = presets().plan("single-gpu");
    Plan plan = kBase;
    try {
        plan.model = parse_model(text_of(data, size), "fuzz", presets());
    } catch (const Error&) {
        return 0;
    }
    plan.model_source = {};
    plan.layout.stage_layers.clear();
    const std::string written = write_plan(plan);
    try {
        if (!(parse_plan(written, "written", presets()) == plan))
            complain("the model of a config reads differently", written);
    } catch (const Error& e) {
        complain(e.what(), written);
    }
    const Evaluation e = evaluate(plan, {.timeline = false});
    if (!std::isfinite(e.memory.peak()) || e.parameters.total <= 0)
        complain("a config's model has no size", written);
    return 0;
}
