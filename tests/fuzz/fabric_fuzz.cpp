// Gives text to the readers of tools' reports on the fabric: nccl-tests, nvidia-smi topo -m.
#include "core/base/files.h"
#include "core/interop/fabric_text.h"
#include "tests/fuzz/fuzz.h"

using namespace pentamesh;
using namespace pentamesh::fuzz;

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
    static const Cluster cluster = presets().cluster("h100-sxm-ib");
    const std::string text(text_of(data, size));
    for (const interop::FabricTool tool :
         {interop::FabricTool::nccl_tests, interop::FabricTool::nvidia_topo}) {
        try {
            const interop::FabricReading made = interop::read_fabric(tool, text, "fuzz", cluster);
            for (const Edit& e : made.edits)
                if (e.path.empty()) complain("an edit without a place", text);
        } catch (const Error&) {
            continue;
        }
    }
    return 0;
}
