#include "llm/http.h"

#if MTMC_CURL
#include <curl/curl.h>
#endif

#include <algorithm>
#include <memory>
#include <optional>

#include "base/check.h"
#include "base/process.h"

namespace mtmc {
#if MTMC_CURL
namespace {

constexpr size_t kKeptBody = size_t(64) << 10;

struct Receiving {
  CURL* curl = nullptr;
  HttpResponse response;
  const std::function<void(std::string_view)>* on_piece = nullptr;
  double idle_seconds = 0;
  std::optional<double> last = {};  // when the last bytes came; before the first ones a model may think in silence
  bool idle = false;
};

size_t receive(char* data, size_t size, size_t count, void* to) {
  auto& receiving = *static_cast<Receiving*>(to);
  const std::string_view piece(data, size * count);
  receiving.last = now_seconds();
  curl_easy_getinfo(receiving.curl, CURLINFO_RESPONSE_CODE, &receiving.response.status);
  std::string& body = receiving.response.body;
  if (receiving.response.status == 200)
    (*receiving.on_piece)(piece);
  else
    body += piece.substr(0, kKeptBody - std::min(kKeptBody, body.size()));
  return piece.size();
}

// Called every second or so; not 0 ends the transfer.
int look(void* to, curl_off_t, curl_off_t, curl_off_t, curl_off_t) {
  auto& receiving = *static_cast<Receiving*>(to);
  receiving.idle = receiving.last && now_seconds() - *receiving.last > receiving.idle_seconds;
  return receiving.idle ? 1 : 0;
}

HttpResponse::Failure failure_of(CURLcode code, const Receiving& receiving) {
  curl_off_t ready = 0;  // when there was a connection and the request could be sent; 0: never
  curl_easy_getinfo(receiving.curl, CURLINFO_PRETRANSFER_TIME_T, &ready);
  if (code == CURLE_OK) return HttpResponse::Failure::none;
  if (ready == 0) return HttpResponse::Failure::unreachable;
  if (receiving.idle) return HttpResponse::Failure::idle;
  return code == CURLE_OPERATION_TIMEDOUT ? HttpResponse::Failure::timed_out : HttpResponse::Failure::broken;
}

}  // namespace

HttpResponse post(const HttpRequest& request, const std::function<void(std::string_view)>& on_piece) {
  static const CURLcode ready = curl_global_init(CURL_GLOBAL_DEFAULT);
  MTMC_CHECK(ready == CURLE_OK, "libcurl cannot start");
  const std::unique_ptr<CURL, decltype(&curl_easy_cleanup)> curl(curl_easy_init(), curl_easy_cleanup);
  MTMC_CHECK(curl != nullptr, "libcurl cannot make a handle");
  curl_slist* list = nullptr;
  for (const std::string& header : request.headers) list = curl_slist_append(list, header.c_str());
  const std::unique_ptr<curl_slist, decltype(&curl_slist_free_all)> headers(list, curl_slist_free_all);

  Receiving receiving{curl.get(), {}, &on_piece, request.idle_seconds};
  char detail[CURL_ERROR_SIZE] = "";
  const auto milliseconds = [](double seconds) { return std::max(1L, static_cast<long>(seconds * 1e3)); };
  CURL* const c = curl.get();
  curl_easy_setopt(c, CURLOPT_URL, request.url.c_str());
  curl_easy_setopt(c, CURLOPT_PROTOCOLS_STR, "http,https");
  curl_easy_setopt(c, CURLOPT_HTTPHEADER, headers.get());
  curl_easy_setopt(c, CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(request.body.size()));
  curl_easy_setopt(c, CURLOPT_POSTFIELDS, request.body.c_str());
  curl_easy_setopt(c, CURLOPT_WRITEFUNCTION, receive);
  curl_easy_setopt(c, CURLOPT_WRITEDATA, &receiving);
  curl_easy_setopt(c, CURLOPT_ERRORBUFFER, detail);
  curl_easy_setopt(c, CURLOPT_NOSIGNAL, 1L);  // threads
  curl_easy_setopt(c, CURLOPT_CONNECTTIMEOUT_MS, milliseconds(request.connect_seconds));
  curl_easy_setopt(c, CURLOPT_TIMEOUT_MS, milliseconds(request.total_seconds));
  curl_easy_setopt(c, CURLOPT_NOPROGRESS, 0L);
  curl_easy_setopt(c, CURLOPT_XFERINFOFUNCTION, look);
  curl_easy_setopt(c, CURLOPT_XFERINFODATA, &receiving);
  curl_easy_setopt(c, CURLOPT_TCP_KEEPALIVE, 1L);
  curl_easy_setopt(c, CURLOPT_ACCEPT_ENCODING, "");

  const CURLcode code = curl_easy_perform(c);
  HttpResponse response = std::move(receiving.response);
  response.failure = failure_of(code, receiving);
  if (code != CURLE_OK) response.detail = *detail != 0 ? detail : curl_easy_strerror(code);
  curl_easy_getinfo(c, CURLINFO_RESPONSE_CODE, &response.status);
  curl_off_t wait = 0;
  if (curl_easy_getinfo(c, CURLINFO_RETRY_AFTER, &wait) == CURLE_OK && wait > 0)
    response.retry_after = static_cast<double>(wait);
  return response;
}

#else
HttpResponse post(const HttpRequest&, const std::function<void(std::string_view)>&) {
  return {.failure = HttpResponse::Failure::unreachable,
          .detail = "mtmc was built without libcurl (sudo apt-get install libcurl4-openssl-dev)"};
}
#endif

}  // namespace mtmc
