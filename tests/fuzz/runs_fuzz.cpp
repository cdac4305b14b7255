// Text for what `pentamesh calibrate` reads: runs as JSON, logs, constants; and for lists of ranks and of
// hosts, and courses. None stops, whatever it says.
#include "core/base/error.h"
#include "core/calibrate/calibrate.h"
#include "core/calibrate/measured_runs.h"
#include "core/mesh/rank_list.h"
#include "core/teach/course.h"
#include "tests/fuzz/fuzz.h"

#include <string>

using namespace pentamesh;
using namespace pentamesh::fuzz;

namespace {

// What is refused says so by an Error, and by nothing else.
template <typename Read>
void refused_or_read(const Read& read) {
    try {
        static_cast<void>(read());
    } catch (const Error&) {
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
    const std::string text(text_of(data, size));
    refused_or_read([&] { return read_measured(text, "fuzz", presets()); });
    if (const std::optional<LoggedSteps> steps = read_logged_steps(text))
        if (!(steps->step_s > 0) && !(steps->tokens_per_s_per_gpu > 0))
            complain("a log's steps take no time", text);
    refused_or_read([&] { return read_log(text, "fuzz", nullptr, "", presets()); });
    refused_or_read([&] { return read_constants(text, "fuzz", presets()); });
    refused_or_read([&] { return hosts_of(text, 16, 8); });
    refused_or_read([&] { return parse_course(text); });
    return 0;
}
