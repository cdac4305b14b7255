// Gives bytes to the reader of flight-recorder dumps, packed or not, as a pickle and as JSON; what it reads
// is taken for a run of three ranks, in which culprits are looked for. No bytes stop it.
#include "core/base/files.h"
#include "core/runs/hang.h"
#include "core/runs/run_file.h"
#include "core/runs/run_layout.h"
#include "tests/fuzz/fuzz.h"

#include <string>

using namespace pentamesh;
using namespace pentamesh::fuzz;

namespace {

// Reads a dump; its rank is the number of dumps before it. Text that is no dump is passed over.
void add_dump(std::string_view bytes, runs::DumpFolder& run) {
    runs::Values values;
    std::string unpacked;
    try {
        run.dumps.push_back(runs::read_dump_bytes(bytes, *run.names, values, unpacked));
        run.dumps.back().rank = static_cast<std::int64_t>(run.dumps.size()) - 1;
    } catch (const Error&) {
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
    const std::string_view text = text_of(data, size);
    static_cast<void>(runs::rank_in_name(text));
    static_cast<void>(runs::is_dump_text(text));
    runs::DumpFolder run;
    // Two dumps stand one behind the other, so that they can differ.
    const std::size_t half = text.find("\n\n");
    add_dump(text.substr(0, half), run);
    if (half != std::string_view::npos) add_dump(text.substr(half + 2), run);
    if (!run.dumps.empty()) run.dumps.push_back(run.dumps.front());
    for (std::size_t i = 0; i < run.dumps.size(); ++i) run.dumps[i].rank = static_cast<std::int64_t>(i);
    if (run.dumps.empty()) return 0;
    const runs::Hang hang = runs::find_hang(run, 2);
    for (const runs::Culprit& c : hang.culprits)
        if (c.rank < 0 || c.rank >= hang.layout.world) complain("a culprit that is no rank of the job", text);
    static_cast<void>(verdict_words(hang));
    static_cast<void>(layout_words(hang.layout));
    for (const runs::WaitingRank& w : hang.waiting) static_cast<void>(call_words(hang, *run.names, w.call));
    const Plan plan = runs::plan_of(hang.layout, presets().plan("llama-3-70b-3d"), true);
    static_cast<void>(differences(hang.layout, plan));
    return 0;
}
