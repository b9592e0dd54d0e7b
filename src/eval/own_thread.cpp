#include "eval/own_thread.h"

#include <condition_variable>
#include <deque>
#include <functional>
#include <future>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>

namespace mtmc {
namespace {

constexpr auto kLook = std::chrono::milliseconds(50);  // how long get_ahead() waits for a task that is being opened

class OwnThread final : public Judge {
 public:
  explicit OwnThread(std::unique_ptr<Judge> judge) : judge_(std::move(judge)), thread_([this] { work(); }) {}
  ~OwnThread() override {
    post([this] { judge_.reset(), ends_ = true; }).wait();
    thread_.join();
  }

  Result<Verdict> judge(const Task& task, const Candidate& candidate, Tier tier) override {
    MTMC_RETURN_IF_ERROR(opened(task));
    return post([&] { return judge_->judge(task, candidate, tier); }).get();
  }
  Result<std::optional<std::string>> compile(const Task& task, const Candidate& candidate) override {
    MTMC_RETURN_IF_ERROR(opened(task));
    return post([&] { return judge_->compile(task, candidate); }).get();
  }
  Status prepare(const Task& task) override {
    opening_ = Opening{task.json, post([this, task] { return judge_->prepare(task); })};
    return ok_status();
  }
  Status prepare(const Task& task, const Candidate& candidate) override {
    MTMC_RETURN_IF_ERROR(opened(task));
    return post([&] { return judge_->prepare(task, candidate); }).get();
  }
  bool get_ahead() override {
    if (opening_ && opening_->done.wait_for(kLook) != std::future_status::ready) return true;
    return post([&] { return judge_->get_ahead(); }).get();
  }
  Status start() override {
    return post([&] { return judge_->start(); }).get();
  }
  void tell(std::function<void(const std::string&)> told) override {
    post([&] { judge_->tell(std::move(told)); }).get();
  }
  void expect(const Task* next) override {
    post([&] { judge_->expect(next); }).get();
  }
  void rest() override {
    post([&] { judge_->rest(); }).get();
  }
  void reseed(uint64_t seed) override {
    post([&] { judge_->reseed(seed); }).get();
  }

 private:
  struct Opening {
    std::string task;  // its JSON
    std::future<Status> done;
  };

  // Does it once all before it is done.
  template <class Job>
  auto post(Job job) -> std::future<decltype(job())> {
    auto task = std::make_shared<std::packaged_task<decltype(job())()>>(std::move(job));
    auto done = task->get_future();
    {
      const std::lock_guard lock(mutex_);
      jobs_.emplace_back([task] { (*task)(); });
    }
    more_.notify_one();
    return done;
  }

  // What came of opening this task, told once; an exception is thrown. Of another task nobody asks any more.
  Status opened(const Task& task) {
    if (!opening_) return ok_status();
    Opening opening = *std::exchange(opening_, std::nullopt);
    return opening.task == task.json ? opening.done.get() : ok_status();
  }

  void work() {
    while (!ends_) {
      std::unique_lock lock(mutex_);
      more_.wait(lock, [&] { return !jobs_.empty(); });
      const std::function<void()> job = std::move(jobs_.front());
      jobs_.pop_front();
      lock.unlock();
      job();
    }
  }

  std::unique_ptr<Judge> judge_;
  std::optional<Opening> opening_;
  std::mutex mutex_;
  std::condition_variable more_;
  std::deque<std::function<void()>> jobs_;
  bool ends_ = false;  // of the thread only
  std::thread thread_;
};

}  // namespace

std::unique_ptr<Judge> in_own_thread(std::unique_ptr<Judge> judge) {
  return std::make_unique<OwnThread>(std::move(judge));
}

}  // namespace mtmc
