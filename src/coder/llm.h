// Micro coding by a large language model: one step, one question. The answer is code of unknown origin: it has no
// Program, it is checked without being run, and only the judge's sandbox ever runs it. docs/CODERS.md tells the rest.
#pragma once
#include <string>
#include <vector>

#include "coder/ahead.h"
#include "coder/bill.h"
#include "coder/coder.h"
#include "coder/coding_prompt.h"
#include "llm/client.h"

namespace mtmc {

// The exchanges of all runs, in the store's memory of what was learned.
class StoreExchanges final : public ExchangeMemory {
 public:
  explicit StoreExchanges(Store& store) : store_(store) {}
  Result<std::optional<std::string>> recall(const std::string& key) override { return store_.recall("exchange", key); }
  Status remember(const std::string& key, const std::string& value) override {
    return store_.remember("exchange", key, value);
  }

 private:
  Store& store_;
};

// The first line of Python code behind its imports, and its last one.
LineRange body_of(const std::string& code);

// `steps` ways to ask for the same at one state, told apart by a number: "rewrite in lines 3-20, answer 2".
// Where there is a Program, only if it has what is beyond the `legal` actions.
std::vector<Proposal> numbered(const std::string& type, const std::string& word, int steps, const CodeState& state,
                               const std::vector<Proposal>& legal);

// The code after a step, if this whole answer holds code that can be used.
Result<std::string> code_in(const ChatReply& answer, const std::string& before);

// What such a coder is made of. All references, those in `facts` included, must outlive it.
struct LlmParts {
  ClientParts client;
  PromptFacts facts;
  const LlmOptions& options;
  bool paper_only = false;
  Ledger& ledger;
  Store& store;
};
// With the model that the options name.
Result<LlmParts> llm_parts(const CoderContext& context);

class LlmCoder : public Coder {
 public:
  explicit LlmCoder(LlmParts parts);
  // "llm:o4-mini", and what differs from the defaults: "llm:o4-mini paper repairs=0"
  std::string name() const override { return name_of("llm"); }
  Result<Implementation> implement(const CoderRequest& request) override;
  int questions() const override { return options_.questions; }
  bool would_ask(const CoderRequest&) override { return true; }
  void ask_ahead(const CoderRequest& request) override { ahead_.ask(question(request)); }
  void end_questions() override { ahead_.end(); }
  // Of code without a Program: each type of action, in the regions of its text, else in all lines behind the imports.
  // With one: `lower` and `fuse` of what no legal action reaches (beyond.h).
  Result<std::vector<Proposal>> proposals(const CodeState& state, const std::vector<Proposal>& legal) override;
  std::optional<Proposal> repair(const CodeState& state, const Verdict& verdict, int repairs) override;
  // What was answered ahead was paid for: as long as there is any, it goes on.
  std::optional<Error> given_up() const override;
  std::string account() const override;

 protected:
  Result<ChatReply> whole_answer(const ChatRequest& asked, Bill& bill);
  std::string name_of(const std::string& coder) const;
  const LlmOptions& options() const { return options_; }
  const PromptFacts& facts() const { return facts_; }
  const ChatClient& client() const { return client_; }

 private:
  ChatRequest question(const CoderRequest& request) const;
  // In any thread.
  Result<ChatReply> ask(const ChatRequest& asked, Bill& bill);

  StoreExchanges exchanges_;
  Ledger& ledger_;
  Spent before_;
  ChatClient client_;
  PromptFacts facts_;
  LlmOptions options_;
  bool paper_only_;
  QuestionsAhead ahead_;  // the last one: it ends first
};

// The same model without macro thinking: it is told what to reach, not what to do, and decides itself what changes.
// `type`: "rewrite", any change; "everything", all types of action in one pass.
class UnguidedCoder final : public LlmCoder {
 public:
  UnguidedCoder(std::string name, std::string type, LlmParts parts);
  std::string name() const override { return name_of(name_); }
  bool chooses() const override { return true; }
  // The same request again and again.
  Result<std::vector<Proposal>> proposals(const CodeState& state, const std::vector<Proposal>& legal) override;

 private:
  std::string name_, type_;
};

}  // namespace mtmc
