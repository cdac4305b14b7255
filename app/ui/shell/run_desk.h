// The real run next to the plan: its files are read in the background, and what they say is compared with the
// plan anew after each edit.
#pragma once

#include "app/ui/kit/beside.h"
#include "app/ui/shell/commands.h"
#include "app/ui/shell/run_reading.h"
#include "app/ui/shell/window.h"

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace pentamesh::ui {

class RunDesk {
  public:
    explicit RunDesk(Window& window) : window_(window) {}

    // Adds a file or folder to what is read next; those of one frame are of one run.
    void add(const std::filesystem::path& place);
    // Starts and collects background work after a frame.
    void update();
    [[nodiscard]] bool works() const { return read_.running || compared_.running; }
    // Returns true if there is a line to draw: a run is open, or is being read.
    [[nodiscard]] bool shown() const { return read_.running || window_.real_run != nullptr; }
    // Draws the line: what is read, with a bar and Cancel, or what the run says.
    void draw(Ui& ui, Rect row);
    void add_commands(std::vector<Command>& commands);

  private:
    using Key = std::pair<std::uint64_t, std::uint64_t>;  // the run's number, and the plan's revision
    using Places = std::vector<std::filesystem::path>;

    Window& window_;
    Places pending_, reading_;
    std::shared_ptr<runs::ReadWatch> watch_;
    std::uint64_t number_ = 0;  // of what is read
    bool wanted_ = false;       // until it is cancelled
    WorkedOut<std::shared_ptr<const RealRun>, std::uint64_t> read_;
    WorkedOut<std::shared_ptr<const runs::Measured>, Key> compared_;
    std::unique_ptr<Beside<std::shared_ptr<const RealRun>, std::uint64_t>> reader_;
    std::unique_ptr<Beside<std::shared_ptr<const runs::Measured>, Key>> comparer_;

    void begin();
    void cancel();
    void open(const std::shared_ptr<const RealRun>& run);
    void compare();
    void set_measured(std::shared_ptr<const runs::Measured> measured, std::uint64_t revision);
    void close();
};

}  // namespace pentamesh::ui
