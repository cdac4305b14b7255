#include "core/base/date.h"

#include "core/base/number.h"

#include <array>
#include <cstddef>
#include <cstdlib>
#include <ctime>
#include <string>
#include <string_view>

namespace pentamesh {
namespace {

// Returns the day and its parts, here or in Greenwich.
std::tm parts_of(std::time_t time, bool here) {
    std::tm out{};
#if defined(_WIN32)
    here ? localtime_s(&out, &time) : gmtime_s(&out, &time);
#else
    here ? ::localtime_r(&time, &out) : ::gmtime_r(&time, &out);
#endif
    return out;
}

}  // namespace

std::string today_in_words() {
    static constexpr std::array<std::string_view, 12> kMonths{
        "January", "February", "March",     "April",   "May",      "June",
        "July",    "August",   "September", "October", "November", "December"};
    std::time_t now = std::time(nullptr);
    bool set_from_outside = false;  // then it is the same everywhere
    if (const char* set = std::getenv("SOURCE_DATE_EPOCH"))
        if (const auto seconds = parse_double(set); seconds && *seconds >= 0 && *seconds < 1e11)
            now = static_cast<std::time_t>(*seconds), set_from_outside = true;
    const std::tm day = parts_of(now, !set_from_outside);
    return std::to_string(day.tm_mday) + " " + std::string(kMonths[static_cast<std::size_t>(day.tm_mon)])
           + " " + std::to_string(day.tm_year + 1900);
}

}  // namespace pentamesh
