#include "workbench/function_server.h"

#include <nlohmann/json.hpp>

#include "base/file.h"
#include "base/tempdir.h"
#include "base/turn.h"
#include "base/variables.h"
#include "frontend/import.h"

namespace mtmc {

Result<Json> FunctionServer::ask(const Json& request, const std::map<std::string, std::string>& environment,
                                 Turns turns) {
  // Golden code runs on the GPU that others may be timing on.
  const Turn turn(turns == Turns::ours ? turn_file() : std::filesystem::path(), Turn::With::others);
  if (!process_ || !process_->alive()) {
    Command command{.argv = {python_program(), "-m", "mtmc.tritonbench.serve"}, .environment = environment};
    // Whoever asks torch whether there are GPUs initialises CUDA otherwise, and none of its children has any then.
    command.environment["PYTORCH_NVML_BASED_CUDA_CHECK"] = "1";
    MTMC_TRY(process_, LineProcess::start(std::move(command)));
  }
  const Status sent = process_->send(request.dump());
  const Result<std::string> line = sent.ok() ? process_->receive(seconds_) : Result<std::string>(sent.error());
  if (!line.ok()) {
    process_.reset();
    return Error{request.at("op").get<std::string>(), "no answer", line.error().message(),
                 "python -m mtmc.tritonbench.serve"};
  }
  const Json reply = Json::parse(*line);
  MTMC_CHECK(!reply.contains("bug"), reply.value("bug", ""));
  if (reply.contains("error")) return Error{"", reply.at("error").get<std::string>(), "", ""};
  return reply;
}

Result<Traced> FunctionServer::trace(const Task& task) {
  const TempDir desk;
  const std::filesystem::path out = desk.path() / "trace.json", in = desk.path() / "task.json";
  MTMC_RETURN_IF_ERROR(write_file(in, task.json));
  MTMC_TRY(const Json reply, ask({{"op", "trace"}, {"task", in.string()}, {"out", out.string()}}));
  MTMC_TRY(const std::string text, read_file(out));
  return import_trace(Json::parse(text));
}

}  // namespace mtmc
