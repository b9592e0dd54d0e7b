#include "train/processes.h"

#include <ATen/ops/cat.h>
#include <ATen/ops/from_blob.h>
#include <c10/core/GradMode.h>
#include <fmt/format.h>
#include <torch/csrc/distributed/c10d/TCPStore.hpp>

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <optional>

#include "base/text.h"

namespace mtmc::train {

struct ProcessLink {
  c10::intrusive_ptr<c10d::TCPStore> store;
  int64_t rank = 0, count = 1;
  bool serves = false;  // the store lives in this process

  ProcessLink() = default;
  ProcessLink(const ProcessLink&) = delete;
  // Whoever has the store leaves last: others may still read what was exchanged. Those that ended early by a mistake do
  // not say that they leave, and are not waited for long.
  ~ProcessLink() {
    if (store == nullptr) return;
    const auto key = [](int64_t of) { return fmt::format("mtmc/left/{}", of); };
    try {
      std::vector<std::string> others;
      for (int64_t other = 1; other < count; ++other) others.push_back(key(other));
      if (serves)
        store->wait(others, std::chrono::seconds(10));
      else
        store->set(key(rank), std::vector<uint8_t>{1});
    } catch (const std::exception&) {
      return;  // gone already
    }
  }
};

namespace {

constexpr const char* kJoining = "joining the other processes";
constexpr auto kPatience = std::chrono::minutes(10);  // the slowest rollout among them

Result<int64_t> number_in(const char* variable, int64_t least, int64_t most) {
  const char* text = std::getenv(variable);
  char* end = nullptr;
  const long long number = text == nullptr ? 0 : std::strtoll(text, &end, 10);
  if (text == nullptr || *text == '\0' || *end != '\0' || number < least || number > most)
    return Error{kJoining, fmt::format("{} is wrong", variable), text == nullptr ? "nothing" : text,
                 fmt::format("{} to {}, as torchrun sets it", least, most)};
  return number;
}

template <typename T>
std::vector<uint8_t> bytes_of(const T* data, size_t count) {
  const auto* first = reinterpret_cast<const uint8_t*>(data);
  return {first, first + count * sizeof(T)};
}

}  // namespace

Processes::Processes() = default;
Processes::Processes(Processes&&) noexcept = default;
Processes& Processes::operator=(Processes&&) noexcept = default;
Processes::~Processes() = default;

Result<Processes> Processes::join() {
  Processes all;
  if (std::getenv("WORLD_SIZE") == nullptr) return all;
  MTMC_TRY(all.count_, number_in("WORLD_SIZE", 1, 1024));
  MTMC_TRY(all.rank_, number_in("RANK", 0, all.count_ - 1));
  if (all.count_ == 1) return all;
  MTMC_TRY(const int64_t port, number_in("MASTER_PORT", 1, 65535));
  const char* host = std::getenv("MASTER_ADDR");
  if (host == nullptr) return Error{kJoining, "MASTER_ADDR is missing", "", "the machine of the first process"};
  c10d::TCPStoreOptions options;
  options.port = static_cast<uint16_t>(port);
  // torchrun's own store has the port already, and says so.
  const char* agent = std::getenv("TORCHELASTIC_USE_AGENT_STORE");
  options.isServer = all.rank_ == 0 && (agent == nullptr || std::string_view(agent) != "True");
  options.numWorkers = static_cast<size_t>(all.count_);
  options.waitWorkers = false;
  options.timeout = kPatience;
  try {
    all.link_ = std::make_unique<ProcessLink>();
    all.link_->rank = all.rank_, all.link_->count = all.count_, all.link_->serves = options.isServer;
    all.link_->store = c10::make_intrusive<c10d::TCPStore>(host, options);
    MTMC_TRY([[maybe_unused]] const auto here, all.gather({static_cast<double>(all.rank_)}));
  } catch (const std::exception& error) {
    return Error{kJoining, "no connection", split(error.what(), '\n')[0],
                 fmt::format("{} processes at {}:{}", all.count_, host, port)};
  }
  return all;
}

Result<std::vector<std::vector<uint8_t>>> Processes::exchange(std::vector<uint8_t> own) {
  if (count_ == 1) return std::vector<std::vector<uint8_t>>{std::move(own)};
  const int64_t turn = exchanges_++;
  const auto key = [](int64_t of, int64_t rank) { return fmt::format("mtmc/{}/{}", of, rank); };
  std::vector<std::vector<uint8_t>> all(static_cast<size_t>(count_));
  try {
    link_->store->set(key(turn, rank_), own);
    for (int64_t rank = 0; rank < count_; ++rank)
      all[static_cast<size_t>(rank)] = rank == rank_ ? std::move(own) : link_->store->get(key(turn, rank));
    if (turn >= 2) link_->store->deleteKey(key(turn - 2, rank_));  // whoever took part in the last one has read it
  } catch (const std::exception& error) {
    return Error{"exchanging with the other processes", "one of them is gone", split(error.what(), '\n')[0],
                 fmt::format("{} processes", count_)};
  }
  return all;
}

Result<std::vector<std::vector<double>>> Processes::gather(const std::vector<double>& own) {
  MTMC_TRY(const auto bytes, exchange(bytes_of(own.data(), own.size())));
  std::vector<std::vector<double>> all;
  for (const auto& one : bytes) {
    all.emplace_back(one.size() / sizeof(double));
    std::memcpy(all.back().data(), one.data(), one.size());
  }
  return all;
}

Status Processes::sum(const std::vector<at::Tensor>& tensors) {
  if (count_ == 1 || tensors.empty()) return ok_status();
  const at::AutoGradMode no_grad(false);
  std::vector<at::Tensor> flat;
  for (const at::Tensor& tensor : tensors) flat.push_back(tensor.detach().reshape(-1).to(at::kCPU, at::kFloat));
  const at::Tensor own = at::cat(flat);
  MTMC_TRY(auto all, exchange(bytes_of(own.data_ptr<float>(), static_cast<size_t>(own.numel()))));
  at::Tensor total;
  for (auto& one : all) {
    MTMC_CHECK(one.size() == static_cast<size_t>(own.numel()) * sizeof(float), "all processes train the same tensors");
    const at::Tensor part = at::from_blob(one.data(), {own.numel()}, at::kFloat);
    total = total.defined() ? total.add_(part) : part.clone();
  }
  int64_t from = 0;
  for (const at::Tensor& tensor : tensors) {
    tensor.copy_(total.narrow(0, from, tensor.numel()).view(tensor.sizes()));
    from += tensor.numel();
  }
  return ok_status();
}

}  // namespace mtmc::train
