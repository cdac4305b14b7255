// What anybody may feed to the plan parser. It must refuse or accept, nothing else; what it accepts must
// survive writing and reading, and evaluating it must end.
#include "core/advice/advice.h"
#include "core/base/error.h"
#include "core/evaluate.h"
#include "core/io/plan_json.h"
#include "core/io/presets.h"

#include <cstdio>
#include <cstdlib>

using namespace pentamesh;

namespace {

// Large meshes are legal and slow; here what matters is the parser.
bool quick(const Plan& p) {
    return p.cluster.gpus <= 4096 && p.model.layers <= 512 && p.layout.pp <= 64
           && p.layout.virtual_stages <= 8 && p.training.global_batch <= 4096;
}

[[noreturn]] void complain(const char* what, const std::string& text) {
    std::fprintf(stderr, "%s:\n%s\n", what, text.c_str());
    std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
    static const Presets presets(std::string(SOURCE_DIR) + "/presets");
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    Plan plan;
    try {
        plan = parse_plan(text, "fuzz", presets);
    } catch (const Error&) {
        return 0;
    }
    const std::string written = write_plan(plan);
    try {
        const Plan again = parse_plan(written, "written", presets);
        if (!(again == plan)) complain("a written plan reads differently", written);
        if (write_plan(again) != written) complain("a written plan is written differently", written);
    } catch (const Error& e) {
        complain(e.what(), written);
    }
    if (quick(plan)) static_cast<void>(assess(plan, {.timeline = false}));
    return 0;
}
