// Coders that are asked one after the other: `--coder builtin,llm` lets the builtin coder do what it can, and the
// language model the rest. A state keeps its Program for as long as the first one finds an answer.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "coder/coder.h"

namespace mtmc {

class ChainCoder final : public Coder {
 public:
  explicit ChainCoder(std::vector<std::unique_ptr<Coder>> coders) : coders_(std::move(coders)) {}
  std::string name() const override;  // "builtin,llm:o4-mini"
  std::string digest() const override;
  // The first answer there is, with the name of who gave it. An Error has what each of them said.
  Result<Implementation> implement(const CoderRequest& request) override;
  Result<std::vector<Proposal>> proposals(const CodeState& state, const std::vector<Proposal>& legal) override;
  std::optional<Proposal> repair(const CodeState& state, const Verdict& verdict, int repairs) override;
  int questions() const override;
  bool would_ask(const CoderRequest& request) override { return asked(request) != nullptr; }
  void ask_ahead(const CoderRequest& request) override;
  void end_questions() override;
  bool declines(const CoderRequest& request) override;
  std::optional<Error> given_up() const override;  // when all have
  std::string account() const override;
  bool measures() const override;
  // Only when all do: what is prepared may be asked of any of them.
  bool prepares() const override;
  Status prepare(const CoderRequest& request) override;
  Status stop_preparing() override;

 private:
  // Who asks a question where all before it decline; null: nobody, as far as is known.
  Coder* asked(const CoderRequest& request) const;
  std::vector<std::unique_ptr<Coder>> coders_;
};

}  // namespace mtmc
