#include "coder/chain.h"

#include <algorithm>

#include "base/text.h"

namespace mtmc {

std::string ChainCoder::name() const {
  std::vector<std::string> names;
  for (const auto& coder : coders_) names.push_back(coder->name());
  return join(names, ",");
}

std::string ChainCoder::digest() const {
  std::vector<std::string> digests;
  for (const auto& coder : coders_)
    if (std::string digest = coder->digest(); !digest.empty()) digests.push_back(std::move(digest));
  return join(digests, ",");
}

Result<Implementation> ChainCoder::implement(const CoderRequest& request) {
  std::vector<std::string> said;
  for (const auto& coder : coders_) {
    auto made = coder->implement(request);
    if (made.ok()) {
      if (made->coder.empty()) made->coder = coder->name();
      return made;
    }
    said.push_back(coder->name() + ": " + made.error().message());
  }
  return Error{"", join(said, "; "), "", ""};
}

Result<std::vector<Proposal>> ChainCoder::proposals(const CodeState& state, const std::vector<Proposal>& legal) {
  std::vector<Proposal> all;
  for (const auto& coder : coders_) {
    MTMC_TRY(const std::vector<Proposal> some, coder->proposals(state, legal));
    all.insert(all.end(), some.begin(), some.end());
  }
  return all;
}

std::optional<Proposal> ChainCoder::repair(const CodeState& state, const Verdict& verdict, int repairs) {
  for (const auto& coder : coders_)
    if (auto proposal = coder->repair(state, verdict, repairs)) return proposal;
  return std::nullopt;
}

int ChainCoder::questions() const {
  int most = 1;
  for (const auto& coder : coders_) most = std::max(most, coder->questions());
  return most;
}

Coder* ChainCoder::asked(const CoderRequest& request) const {
  for (const auto& coder : coders_) {
    if (coder->would_ask(request)) return coder.get();
    if (!coder->declines(request)) break;
  }
  return nullptr;
}

void ChainCoder::ask_ahead(const CoderRequest& request) {
  if (Coder* coder = asked(request)) coder->ask_ahead(request);
}

void ChainCoder::end_questions() {
  for (const auto& coder : coders_) coder->end_questions();
}

bool ChainCoder::declines(const CoderRequest& request) {
  return std::all_of(coders_.begin(), coders_.end(), [&](const auto& coder) { return coder->declines(request); });
}

std::optional<Error> ChainCoder::given_up() const {
  std::optional<Error> last;
  for (const auto& coder : coders_)
    if (!(last = coder->given_up())) return std::nullopt;
  return last;
}

std::string ChainCoder::account() const {
  for (const auto& coder : coders_)
    if (const std::string account = coder->account(); !account.empty()) return account;
  return "";
}

bool ChainCoder::measures() const {
  return std::any_of(coders_.begin(), coders_.end(), [](const auto& coder) { return coder->measures(); });
}

bool ChainCoder::prepares() const {
  return std::all_of(coders_.begin(), coders_.end(), [](const auto& coder) { return coder->prepares(); });
}

Status ChainCoder::prepare(const CoderRequest& request) {
  for (const auto& coder : coders_) MTMC_RETURN_IF_ERROR(coder->prepare(request));
  return ok_status();
}

Status ChainCoder::stop_preparing() {
  for (const auto& coder : coders_) MTMC_RETURN_IF_ERROR(coder->stop_preparing());
  return ok_status();
}

}  // namespace mtmc
