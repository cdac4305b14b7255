// Gives bytes to the readers of what runs leave behind: traces, files of the NCCL
// Inspector, logs with timers, packed or not; what they read is compared with a plan. No bytes stop them.
#include "core/base/files.h"
#include "core/runs/measured.h"
#include "core/runs/run_layout.h"
#include "tests/fuzz/fuzz.h"

#include <cmath>
#include <sstream>
#include <string>

using namespace pentamesh;
using namespace pentamesh::fuzz;

namespace {

std::optional<runs::RunFile> read(const std::string& text, const runs::PartOfGroup& part_of) {
    std::istringstream in(text);
    try {
        return runs::read_run_stream(in, "fuzz", part_of);
    } catch (const Error&) {
        return std::nullopt;
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
    const std::string text(text_of(data, size));
    static const Plan plan = presets().plan("llama-3-8b-fsdp");
    static const Mesh mesh = build_mesh(plan);
    static_cast<void>(runs::run_file_words(text));
    const std::optional<runs::RunFile> file = read(text, runs::parts_by(&mesh));
    if (!file) return 0;
    const auto sensible = [](double seconds) { return std::isfinite(seconds) && seconds >= 0; };
    if (!sensible(file->step_s) || !sensible(file->tokens_per_s_per_gpu))
        complain("a step of no sensible time", text);
    for (const auto& part : file->parts)
        if (part && (!sensible(part->measured_s) || !sensible(part->total_s)))
            complain("a part of no sensible time", text);
    // Two ranks of one group, without the plan: constants are not looked for.
    static_cast<void>(runs::measure({*file, *file}, nullptr, presets()));
    return 0;
}
