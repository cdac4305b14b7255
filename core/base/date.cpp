#include "core/base/date.h"

#include "core/base/number.h"

#include <array>
#include <chrono>
#include <cstdlib>
#include <string_view>

namespace pentamesh {

std::string today_in_words() {
    static constexpr std::array<std::string_view, 12> kMonths{
        "January", "February", "March",     "April",   "May",      "June",
        "July",    "August",   "September", "October", "November", "December"};
    using Clock = std::chrono::system_clock;
    Clock::time_point now = Clock::now();
    if (const char* set = std::getenv("SOURCE_DATE_EPOCH"))
        if (const auto seconds = parse_double(set); seconds && *seconds >= 0 && *seconds < 1e11)
            now = Clock::time_point(std::chrono::seconds(static_cast<std::int64_t>(*seconds)));
    const std::chrono::year_month_day day{std::chrono::floor<std::chrono::days>(now)};
    return std::to_string(static_cast<unsigned>(day.day())) + " "
           + std::string(kMonths[static_cast<unsigned>(day.month()) - 1]) + " "
           + std::to_string(static_cast<int>(day.year()));
}

}  // namespace pentamesh
