#include "eval/own_thread.h"

#include <condition_variable>
#include <deque>
#include <future>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

namespace mtmc {
namespace {

constexpr auto kLook = std::chrono::milliseconds(50);  // how long get_ahead() waits for a task that is being opened

class OwnThread final : public Judge {
 public:
  explicit OwnThread(std::unique_ptr<Judge> judge) : judge_(std::move(judge)), thread_([this] { work(); }) {}
  ~OwnThread() override {
    post([&] { judge_.reset(), ends_ = true; }).wait();
    thread_.join();
  }

  Result<Verdict> judge(const Task& task, const Candidate& candidate, Tier tier) override {
    return run([&] { return judge_->judge(task, candidate, tier); });
  }
  Result<std::optional<std::string>> compile(const Task& task, const Candidate& candidate) override {
    return run([&] { return judge_->compile(task, candidate); });
  }
  void tell(std::function<void(const std::string&)> told) override {
    run([&] { judge_->tell(std::move(told)); });
  }
  Status start() override {
    return run([&] { return judge_->start(); });
  }
  Status prepare(const Task& task) override {
    settle();
    opening_ = post([this, task] { (void)judge_->prepare(task); });
    return ok_status();
  }
  Status prepare(const Task& task, const Candidate& candidate) override {
    return run([&] { return judge_->prepare(task, candidate); });
  }
  bool get_ahead() override {
    if (opening_.valid() && opening_.wait_for(kLook) != std::future_status::ready) return true;
    return run([&] { return judge_->get_ahead(); });
  }
  void expect(const Task* next) override {
    run([&] { judge_->expect(next); });
  }
  void rest() override {
    run([&] { judge_->rest(); });
  }
  void reseed(uint64_t seed) override {
    run([&] { judge_->reseed(seed); });
  }

 private:
  std::future<void> post(std::function<void()> job) {
    std::packaged_task<void()> task(std::move(job));
    std::future<void> done = task.get_future();
    {
      const std::lock_guard lock(mutex_);
      jobs_.push_back(std::move(task));
    }
    more_.notify_one();
    return done;
  }

  // The task is open, or is not; an exception, a fault of ours, is thrown here.
  void settle() {
    if (opening_.valid()) opening_.get();
  }

  template <class Job>
  auto run(Job job) -> decltype(job()) {
    settle();
    if constexpr (std::is_void_v<decltype(job())>) {
      post(job).get();
    } else {
      std::optional<decltype(job())> found;
      post([&] { found.emplace(job()); }).get();
      return *std::move(found);
    }
  }

  void work() {
    while (!ends_) {
      std::unique_lock lock(mutex_);
      more_.wait(lock, [&] { return !jobs_.empty(); });
      std::packaged_task<void()> job = std::move(jobs_.front());
      jobs_.pop_front();
      lock.unlock();
      job();
    }
  }

  std::unique_ptr<Judge> judge_;
  std::future<void> opening_;  // of prepare(task)
  std::mutex mutex_;
  std::condition_variable more_;
  std::deque<std::packaged_task<void()>> jobs_;
  bool ends_ = false;  // of the thread only
  std::thread thread_;
};

}  // namespace

std::unique_ptr<Judge> in_own_thread(std::unique_ptr<Judge> judge) {
  return std::make_unique<OwnThread>(std::move(judge));
}

}  // namespace mtmc
