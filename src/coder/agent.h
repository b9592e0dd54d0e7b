// The agent: one step is a bounded conversation in which a language model looks things up, drafts, checks and
// criticises its draft before it submits it (after AVO, arXiv 2603.24517, whose variations an agent makes). It may have
// drafts judged within a limit; each is an evaluation of the search's, so that one budget counts for all.
#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "coder/knowledge.h"
#include "coder/llm.h"

namespace mtmc {

// What the model asks for in one turn.
struct AgentCall {
  std::string tool;   // lineage | notes | other | read | verdict | edit | compile | judge | profile | learn | submit
  std::string words;  // behind it on its line
  bool code = false;  // a block stands in the answer
};

// The last line that begins with "TOOL:" in an answer, outside of code and thoughts, in any case and with Markdown's
// marks around it ("- **Submit:**"); without one, code is an edit. An Error: neither.
Result<AgentCall> agent_call(std::string_view answer);

class AgentCoder final : public LlmCoder {
 public:
  // With all notes that there are now; what is learned is found from the next coder on.
  static Result<std::unique_ptr<AgentCoder>> open(LlmParts parts);
  std::string name() const override;  // "agent:o4-mini", and what differs from the defaults
  bool chooses() const override { return true; }
  // A conversation goes on with what the judge said: one at a time.
  int questions() const override { return 1; }
  bool would_ask(const CoderRequest&) override { return false; }
  // Of the notes that no search with this store has learned: what a run learns does not make another one of it.
  std::string digest() const override { return digest_; }
  bool crosses() const override { return true; }
  Result<Implementation> implement(const CoderRequest& request) override;
  // Any change, several times: each is another conversation.
  Result<std::vector<Proposal>> proposals(const CodeState& state, const std::vector<Proposal>& legal) override;

 private:
  AgentCoder(LlmParts parts, std::vector<Note> notes, std::string digest);
  struct Draft {
    std::string code;         // empty: there is none that was checked
    bool criticised = false;  // since it was last edited
    bool submitted = false;
    const Verdict* verdict = nullptr;  // of this code; null: it was not judged
    int judged = 0;                    // drafts of this conversation
  };
  // What a turn answers; the draft is changed by what stands above `edit`, `compile`, `judge`, `profile` and `submit`.
  Result<std::string> answer_to(const ChatRequest& asked, const ChatReply& reply, const CoderRequest& request,
                                Draft& draft, const Bill& bill);
  // What depends on a folder that changes is done once in a conversation: later the store has its answer.
  Result<std::string> once(const ChatRequest& asked, const ChatReply& reply,
                           const std::function<Result<std::string>()>& done) const;
  Status edit(const ChatReply& reply, const CoderRequest& request, Draft& draft) const;
  // Nothing is judged or submitted that is older than what was just shown.
  Status take(const AgentCall& call, const ChatReply& reply, const CoderRequest& request, Draft& draft) const;
  std::string submit(Draft& draft) const;
  // What compilers say of the draft.
  Result<std::string> compiled(const CoderRequest& request, const Draft& draft) const;
  // The draft's verdict, or why there is none.
  Result<std::string> judged(const CoderRequest& request, Draft& draft, const Bill& bill) const;
  std::string profile(const CoderRequest& request, const Draft& draft) const;
  Result<std::string> learn(const std::string& words) const;
  std::string find(const std::string& question) const;

  Store& store_;
  std::vector<Note> notes_;
  std::string digest_;
};

}  // namespace mtmc
