#include "app/ui/shell/recovery.h"

#include "core/base/error.h"
#include "core/base/files.h"
#include "core/base/threads.h"
#include "core/io/plan_json.h"

#include <algorithm>
#include <chrono>
#include <exception>
#include <set>
#include <utility>

namespace pentamesh::ui {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view kEnding = ".plan.json", kLock = ".lock", kHalfWritten = ".new-";
constexpr std::chrono::milliseconds kBetweenWrites{500};

// No two windows have one name: a process may get the number of one that is gone.
std::string new_name() {
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    return std::to_string(process_id()) + "-"
           + std::to_string(std::chrono::duration_cast<std::chrono::nanoseconds>(now).count());
}

// "4711-1700000000.2.plan.json" is a plan of the window 4711-1700000000.
std::string window_of(const fs::path& file) {
    const std::string name = file.filename().string();
    return name.substr(0, name.find('.'));
}

}  // namespace

std::string age_text(std::filesystem::file_time_type time) {
    using std::chrono::minutes;
    const auto age = std::filesystem::file_time_type::clock::now() - time;
    const auto n = std::max<std::int64_t>(0, std::chrono::duration_cast<minutes>(age).count());
    const auto text = [](std::int64_t count, const char* unit) {
        return std::to_string(count) + " " + unit + (count == 1 ? " ago" : "s ago");
    };
    if (n < 1) return "less than a minute ago";
    if (n < 120) return text(n, "minute");
    return n < 2880 ? text(n / 60, "hour") : text(n / 1440, "day");
}

Recovery::Recovery(fs::path folder, Write write)
    : folder_(std::move(folder)), write_text_(write ? std::move(write) : Write(write_plan)),
      window_(new_name()) {}

Recovery::~Recovery() {
    stop();
}

fs::path Recovery::file_of(const std::string& window, std::uint64_t file) const {
    return folder_ / (window + "." + std::to_string(file) + std::string(kEnding));
}

fs::path Recovery::lock_of(const std::string& window) const {
    return folder_ / (window + std::string(kLock));
}

// ---- writing ------------------------------------------------------------------------------------------

void Recovery::keep(const std::vector<UnsavedPlan>& plans) {
    Kept wanted;
    for (const UnsavedPlan& p : plans) wanted.emplace(p.file, p.plan);
    const std::scoped_lock lock(mutex_);
    if (wanted == wanted_) return;
    wanted_ = std::move(wanted);
    if constexpr (!kHasThreads) {
        error_ = written_down(wanted_, written_);
        return;
    }
    if (!writer_.joinable()) writer_ = std::thread([this] { write_loop(); });
    changed_.notify_all();
}

void Recovery::flush() {
    std::unique_lock lock(mutex_);
    if (!writer_.joinable()) return;
    hurry_ = true;
    changed_.notify_all();
    changed_.wait(lock, [&] { return written_ == wanted_ || !error_.empty(); });
    hurry_ = false;
}

std::string Recovery::take_error() {
    const std::scoped_lock lock(mutex_);
    return std::exchange(error_, {});
}

void Recovery::write_loop() {
    std::unique_lock lock(mutex_);
    while (true) {
        changed_.wait(lock, [&] { return stop_ || written_ != wanted_; });
        if (stop_) return;
        const Kept wanted = wanted_;
        Kept written = written_;
        lock.unlock();
        std::string error = written_down(wanted, written);
        lock.lock();
        written_ = std::move(written);
        error_ = std::move(error);
        changed_.notify_all();
        changed_.wait_for(lock, kBetweenWrites, [&] { return stop_ || hurry_; });
    }
}

std::string Recovery::written_down(const Kept& wanted, Kept& written) {
    try {
        write(wanted, written);
        return {};
    } catch (const std::exception& e) {
        return e.what();
    }
}

// New ones first: what is kept is never less than it was.
void Recovery::write(const Kept& wanted, Kept& written) {
    take_lock();
    for (const auto& [file, plan] : wanted) {
        const auto at = written.find(file);
        if (at != written.end() && at->second == plan) continue;
        write_file(file_of(window_, file), write_text_(*plan));
        written[file] = plan;
    }
    std::error_code ignored;
    std::erase_if(written, [&](const auto& kept) {
        if (wanted.contains(kept.first)) return false;
        fs::remove(file_of(window_, kept.first), ignored);
        return true;
    });
}

void Recovery::take_lock() {
    if (lock_) return;
    std::error_code error;
    fs::create_directories(folder_, error);
    lock_ = FileLock::take(lock_of(window_), true);
    if (!lock_) throw Error(ErrorKind::io, lock_of(window_).string(), "", "cannot be locked");
}

void Recovery::stop() {
    {
        const std::scoped_lock lock(mutex_);
        stop_ = true;
        changed_.notify_all();
    }
    if (writer_.joinable()) writer_.join();
}

void Recovery::finish() {
    stop();
    std::error_code ignored;
    for (const auto& [file, plan] : written_) fs::remove(file_of(window_, file), ignored);
    written_.clear();
    wanted_.clear();
    if (lock_) fs::remove(lock_of(window_), ignored);
    lock_.reset();
}

// ---- what others left ---------------------------------------------------------------------------------

// While the lock is ours no other process offers what the window left.
void Recovery::claim(const std::string& window) {
    if (window.empty() || window == window_ || claimed_.contains(window)) return;
    if (auto lock = FileLock::take(lock_of(window), true)) claimed_.emplace(window, std::move(*lock));
}

void Recovery::look() {
    left_.clear();
    std::error_code error;
    std::set<std::string> with_plans;
    std::vector<fs::path> files;
    for (fs::directory_iterator it(folder_, error), end; !error && it != end; it.increment(error))
        if (it->is_regular_file(error)) files.push_back(it->path());  // a pipe would be waited for
    for (const fs::path& file : files) claim(window_of(file));
    for (const fs::path& file : files) {
        const std::string window = window_of(file), name = file.filename().string();
        if (!claimed_.contains(window)) continue;
        if (name.find(kHalfWritten) != std::string::npos) fs::remove(file, error);
        if (!name.ends_with(kEnding)) continue;
        with_plans.insert(window);
        left_.push_back({file, window, fs::file_size(file, error), fs::last_write_time(file, error)});
    }
    std::erase_if(claimed_, [&](const auto& c) {  // a window that left nothing
        if (with_plans.contains(c.first)) return false;
        fs::remove(lock_of(c.first), error);
        return true;
    });
    std::sort(left_.begin(), left_.end(), [](const LeftPlan& a, const LeftPlan& b) {
        return a.written != b.written ? a.written > b.written : a.file < b.file;
    });
}

void Recovery::forget(std::size_t index) {
    std::error_code error;
    if (!fs::remove(left_[index].file, error) && error)
        throw Error(ErrorKind::io, left_[index].file.string(), "", "cannot be deleted: " + error.message());
    look();
}

}  // namespace pentamesh::ui
