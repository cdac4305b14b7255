// Plans that are not saved, kept in files against a crash, and those that windows left that are gone. Every
// window has its own files and a lock that says that it lives; the lock ends with the process, however that
// ends.
#pragma once

#include "app/ui/shell/document.h"
#include "core/base/system_files.h"

#include <condition_variable>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace pentamesh::ui {

// Returns "3 minutes ago", "less than a minute ago".
[[nodiscard]] std::string age_text(std::filesystem::file_time_type time);

// A plan that a window left.
struct LeftPlan {
    std::filesystem::path file;
    std::string window;  // whose it was
    std::uintmax_t bytes = 0;
    std::filesystem::file_time_type written{};
};

class Recovery {
  public:
    using Write = std::function<std::string(const Plan&)>;
    // Nothing is made in `folder` before there is something to keep. `write` makes a plan's text, on a
    // thread.
    explicit Recovery(std::filesystem::path folder, Write write = {});
    // Leaves the kept files in the folder, as a crash does.
    ~Recovery();
    Recovery(const Recovery&) = delete;
    Recovery& operator=(const Recovery&) = delete;

    // From now on these are kept, and nothing else of this window's. Returns at once: a thread writes them,
    // at most every half second. Where there are no threads they are written now.
    void keep(const std::vector<UnsavedPlan>& plans);
    // Waits until what was given last is on the disk.
    void flush();
    // Returns why the last writing failed, once; "": it did not.
    [[nodiscard]] std::string take_error();
    // Removes all that is kept: the window ends as it should.
    void finish();

    // Looks for plans of windows that are gone, and claims them, so that no other window offers them too.
    void look();
    [[nodiscard]] const std::vector<LeftPlan>& left() const { return left_; }
    // Deletes one of them.
    void forget(std::size_t index);

  private:
    using Kept = std::map<std::uint64_t, std::shared_ptr<const Plan>>;  // by file

    std::filesystem::path folder_;
    Write write_text_;
    std::string window_;            // this one's name
    std::optional<FileLock> lock_;  // this one's; taken with the first writing
    std::map<std::string, FileLock> claimed_;
    std::vector<LeftPlan> left_;

    std::mutex mutex_;
    std::condition_variable changed_;
    Kept wanted_;   // guarded by mutex_, as are the four below
    Kept written_;  // what lies in the folder
    std::string error_;
    bool hurry_ = false, stop_ = false;
    std::thread writer_;  // started with the first plan to keep

    [[nodiscard]] std::filesystem::path file_of(const std::string& window, std::uint64_t file) const;
    [[nodiscard]] std::filesystem::path lock_of(const std::string& window) const;
    void write_loop();
    // Returns why it failed; "": it did not.
    [[nodiscard]] std::string written_down(const Kept& wanted, Kept& written);
    void write(const Kept& wanted, Kept& written);
    void take_lock();
    void stop();
    void claim(const std::string& window);
};

}  // namespace pentamesh::ui
