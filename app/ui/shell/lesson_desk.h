// The open lesson: the plan that is set aside for it, its steps, its tasks and their results, and the
// presenter who shows it to a room.
#pragma once

#include "app/ui/lesson/lesson_panel.h"
#include "app/ui/lesson/presenter_page.h"
#include "app/ui/shell/commands.h"
#include "app/ui/shell/window.h"
#include "app/ui/views/table.h"

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pentamesh::ui {

// The state of a lesson that is shown to a room.
struct Presenter {
    bool on = false, blank = false, spotlight = false, side = false;
    bool apart = false;      // the notes are on a screen of their own
    bool made_full = false;  // the window fills the screen for it, and did not before
    double begun_s = 0;      // of the clock, which goes on while one leaves and comes back; 0: not begun
    // Names all that the size of the step's words depend on: they are made anew when it changes.
    std::string fits{};
    float words_size = 0;
};

class LessonDesk {
  public:
    explicit LessonDesk(Window& window);

    [[nodiscard]] LessonSession& lesson() { return lesson_; }
    [[nodiscard]] const LessonSession& lesson() const { return lesson_; }
    [[nodiscard]] const Presenter& presenter() const { return presenter_; }
    [[nodiscard]] const std::vector<LessonEntry>& lessons() const { return lessons_; }
    [[nodiscard]] const std::vector<LessonEntry>& courses() const { return courses_; }
    // Returns the lesson that follows in the workshop; null after the last.
    [[nodiscard]] const LessonEntry* after(const std::filesystem::path& file) const;

    // Sets the open plan aside. `leave` gives it back.
    void open(const std::filesystem::path& file);
    void open_task(const std::string& title);
    void leave();
    // Before a frame is drawn: rereads a changed file and shows the scene of a new step.
    void begin_frame();
    // After a frame was drawn: does what was clicked in it.
    void end_frame();
    void want(LessonAction action) { wanted_ = action; }
    // Returns true if the window shows the step's view, or the step has none.
    [[nodiscard]] bool shows_view() const;
    void show_view();
    // Goes back one thing: from a plan that was asked about to the step's own, from another view to its view.
    void back_to_scene();
    void draw(Ui& ui, Rect room, const Scene& scene, float size, bool bare);

    [[nodiscard]] Results results() const;  // which tasks are done
    void draw_results(Ui& ui);              // if their page is open
    void draw_end(Ui& ui);                  // the score after the last step, if one is there
    void close_results() { results_ = ended_ = false; }
    // Writes all answers as a file that `pentamesh mark` reads; false where the file's ending asks for a
    // picture of the results. Throws Error (io).
    bool hand_in(const std::filesystem::path& file);

    void set_presenting(bool on);
    void present_keys();
    // Draws the step's words at the right of `room`, and the notes at the bottom of `side`; cuts them off.
    void draw_presented_words(Ui& ui, Rect& room, const Scene& scene);
    [[nodiscard]] static float presented_words_width(const Ui& ui, Rect room);  // in that room
    // Draws the plans that an answer speaks of below the picture, where the room looks; cuts them off.
    void draw_presented_plans(Ui& ui, Rect& room);
    void draw_presenter_notes(Ui& ui, Rect& side);
    void draw_presenter_foot(Ui& ui, Rect foot);
    void draw_presenter_cover(Ui& ui);  // black, or dark but for the pointer's surroundings
    // Returns true if a second window is to show the notes, on a screen that the room does not see.
    [[nodiscard]] bool wants_second_window() const {
        return presenter_.on && presenter_.apart && lesson_.open;
    }
    void presenter_frame(const FrameInfo& info);
    void second_window_closed(const std::string& reason);  // empty: by the user
    [[nodiscard]] UiState& second_state() { return second_; }

    void add_commands(std::vector<Command>& commands);
    void add_presenter_commands(std::vector<Command>& commands);

  private:
    Window& window_;
    LessonSession lesson_;
    std::vector<LessonEntry> lessons_, courses_;
    std::optional<std::vector<KeptPlan>> pinned_before_;  // a lesson's pinned plan took their place
    std::optional<Document> aside_;          // the step's own, while one that was asked about is shown
    bool pinned_asked_ = false;              // the step's own plan is pinned for that
    std::optional<GroupKind> group_before_;  // coloured before that
    std::optional<OpenPages> pages_before_;  // open before the lesson
    LessonAction wanted_;                    // in this frame, done at its end
    bool results_ = false;                   // the page of tasks is open
    bool ended_ = false;                     // the score is shown behind the last step
    // The lesson before, as it was left: Back on the first step leads there.
    struct Before {
        std::filesystem::path file;
        std::vector<StepState> states;
        std::size_t step = 0;
        bool continued = false;
        std::optional<Software> software;
        double begun_s = 0;
    };
    std::optional<Before> before_;
    ScrollState results_scroll_;
    Presenter presenter_;
    UiState second_;  // of the second window
    PresenterPage page_;
    std::size_t page_step_ = 0;
    std::string next_of_;  // what the page's next step was made of

    void act(const LessonAction& action);
    void do_action(const LessonAction& action);
    void show_answered();
    void show_asked(int index);
    void end_asked();
    void show_first_asked();
    void turn_asked();
    void add_step_commands(std::vector<Command>& commands);
    void apply_scene();
    struct StepPage {
        std::string_view view, page;
    };
    [[nodiscard]] StepPage page_of_step() const;  // of the step that is current
    void show_scene();
    void show_plan(Plan plan);
    void pin(const std::vector<std::string>& sets);
    void unpin();
    void pass_last_step();
    void go_on_to_next();
    void go_back_to_last();
    void bring_words();
    void take_picks();
    void begin_step();
    void note_task();
    [[nodiscard]] const LessonProgress* progress_of(const std::string& title) const;
    [[nodiscard]] bool task_done(const std::string& title) const;
    void keep_answers();
    void solve_task();
    void restart_task();
    void run_by(Software software);
    void make_next_step();
    void toggle_apart();
    void fit_words(Ui& ui, float width, float height, const Scene& scene);
    void add_opening_commands(std::vector<Command>& commands);
};

}  // namespace pentamesh::ui
