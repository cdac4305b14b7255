// Gives text to the readers of frameworks' settings. A plan that comes out writes and reads back the same.
#include "core/base/files.h"
#include "core/interop/import.h"
#include "core/io/plan_json.h"
#include "tests/fuzz/fuzz.h"

using namespace pentamesh;
using namespace pentamesh::fuzz;

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
    interop::ImportRequest request;
    request.text = text_of(data, size);
    request.path = "fuzz";
    request.model = "llama-3-8b";
    try {
        const interop::Import made = interop::import_settings(request, presets());
        if (made.plan && !(parse_plan(write_plan(*made.plan), "written", presets()) == *made.plan))
            complain("an imported plan reads differently from what was written", request.text);
    } catch (const Error&) {
        return 0;
    }
    return 0;
}
