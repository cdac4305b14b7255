// Gives text to the plan parser. It must refuse or accept, nothing else; an accepted plan must survive
// writing and reading, and evaluating it must end.
#include "core/advice/advice.h"
#include "core/base/files.h"
#include "core/evaluate.h"
#include "core/io/plan_json.h"
#include "tests/fuzz/fuzz.h"

using namespace pentamesh;
using namespace pentamesh::fuzz;

namespace {

// Advice tries dozens of plans, a long pipeline is replayed op by op: legal, and too slow for a fuzzer.
bool quick(const Plan& p) {
    return p.model.layers <= 512 && p.layout.pp <= 64 && p.layout.virtual_stages <= 8
           && p.training.global_batch <= 4096;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
    Plan plan;
    try {
        plan = parse_plan(text_of(data, size), "fuzz", presets());
    } catch (const Error&) {
        return 0;
    }
    const std::string written = write_plan(plan);
    try {
        const Plan again = parse_plan(written, "written", presets());
        if (!(again == plan)) complain("a written plan reads differently", written);
        if (write_plan(again) != written) complain("a written plan is written differently", written);
    } catch (const Error& e) {
        complain(e.what(), written);
    }
    if (!quick(plan)) return 0;
    if (plan.cluster.gpus <= 4096)
        static_cast<void>(assess(plan, {.timeline = false}));
    else
        static_cast<void>(evaluate(plan, {.timeline = false}));
    return 0;
}
