// mtmc-lm: what needs libtorch, as a program of its own, so that mtmc starts without loading it: the language model as
// a process that answers lines of JSON, and its training.
#include <c10/util/Exception.h>
#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <exception>
#include <functional>
#include <new>

#include "lm/device.h"
#include "lm/verbs.h"
#include "train/commands.h"

namespace mtmc::train {
namespace {

constexpr int kUserMistake = 2, kOurBug = 3;

struct Verb {
  const char* name;
  const char* doc;
  Status (*run)(const lm::VerbOptions& options);
  bool computes;
};

constexpr Verb kVerbs[] = {
    {"score", R"({"prompt", "actions"} -> how likely each action is)", lm::score_lines, true},
    {"generate", R"({"prompt", "tokens", "temperature", "seed"} -> text)", lm::generate_lines, true},
    {"tokenize", R"({"text"} -> tokens, {"tokens"} -> text)", lm::tokenize_lines, false},
    {"logits", R"({"tokens"} -> logits, to compare with other implementations)", lm::logits_lines, true},
};

Result<int> run(int argc, char** argv) {
  CLI::App app(
      "The language model behind a policy: lines of JSON in, lines of JSON out (docs/LM.md), and its training.",
      "mtmc-lm");
  app.require_subcommand(1);
  lm::VerbOptions options;
  std::vector<CLI::App*> verbs;
  for (const Verb& verb : kVerbs) {
    CLI::App* command = app.add_subcommand(verb.name, verb.doc);
    command->add_option("--model", options.model, "a Hugging Face folder or a GGUF file")->required();
    verbs.push_back(command);
    if (!verb.computes) continue;
    command->add_option("--adapter", options.adapter, "a LoRA adapter in PEFT's layout");
    command->add_option("--device", options.device, "cpu (the default), cuda or cuda:N");
    command->add_option("--dtype", options.dtype,
                        "fp32 (the default), bf16, or auto: bf16 for large models where the device computes in it");
  }
  const auto train = add_commands(app);
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp& help) {
    return app.exit(help);
  } catch (const CLI::ParseError& error) {
    return Error{"reading the command line", error.what(), "", "what `mtmc-lm --help` shows"};
  }
  for (size_t i = 0; i < verbs.size(); ++i)
    if (verbs[i]->parsed()) {
      MTMC_RETURN_IF_ERROR(kVerbs[i].run(options));
      return 0;
    }
  return train();
}

int code_of(int argc, char** argv) {
  try {
    const Result<int> code = run(argc, argv);
    if (code.ok()) return *code;
    fmt::print(stderr, "mtmc-lm: {}\n", code.error().message());
    return kUserMistake;
  } catch (const std::bad_alloc&) {
    fmt::print(stderr, "mtmc-lm: out of memory: wanted a machine with more, or --dtype bf16\n");
    return kUserMistake;
  } catch (const c10::OutOfMemoryError& error) {
    fmt::print(stderr, "mtmc-lm: out of memory: got {}, wanted a GPU with more, or --dtype bf16\n",
               error.what_without_backtrace());
    return kUserMistake;
  } catch (const std::exception& error) {
    fmt::print(stderr, "mtmc-lm: this is a bug of ours, not a mistake of yours.\n{}\n", error.what());
    return kOurBug;
  }
}

}  // namespace
}  // namespace mtmc::train

int main(int argc, char** argv) {
  mtmc::lm::keep_freed_memory();
  mtmc::lm::leave(mtmc::train::code_of(argc, argv));
}
