// One POST over libcurl, whose answer is handed on as it comes. Proxies are those of the environment (https_proxy,
// http_proxy, no_proxy); redirections are not followed, so that a key goes to the named server only.
#pragma once
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace mtmc {

struct HttpRequest {
  std::string url, body;
  std::vector<std::string> headers;                                      // "Name: value"
  double connect_seconds = 15, idle_seconds = 120, total_seconds = 300;  // the most: to connect, between bytes, at all
};

struct HttpResponse {
  // What went wrong below HTTP: no connection (nothing was sent), total_seconds were up, nothing more came for
  // idle_seconds, the connection broke off.
  enum class Failure { none, unreachable, timed_out, idle, broken };
  Failure failure = Failure::none;
  std::string detail = {};                 // of the failure
  long status = 0;                         // 0: none came
  std::optional<double> retry_after = {};  // seconds that the server asks us to wait
  std::string body = {};                   // of a status other than 200; at most 64 KiB
};

// Sends and reads to the end. Pieces of a body with status 200 go to `on_piece`.
using Transport =
    std::function<HttpResponse(const HttpRequest&, const std::function<void(std::string_view)>& on_piece)>;
HttpResponse post(const HttpRequest& request, const std::function<void(std::string_view)>& on_piece);

}  // namespace mtmc
