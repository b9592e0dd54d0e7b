"""A server of language models that plays a script: python3 server.py SCRIPT.json LOG.jsonl

The script is a list; each request takes the next entry, and the last one stays. Entries: {"answer": text} streams it (with "finish",
default "stop"; "whole": true sends one JSON value; "break_after" or "hang_after": bytes of the stream, after which the connection
ends or nothing comes; "usage": [input, output]), {"status": N, "headers": {...}, "body": ...} refuses, {"silent": true} says
nothing at all, {"together": N} says nothing before so many requests are under way at once, {"choose": "tile"} answers with the number of the first action in the question that begins so. Its port is the first line that it prints; requests are logged as lines of JSON.
"""

from __future__ import annotations

import json
import re
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

HANG = 60  # seconds
PIECE = 37  # bytes: pieces end in the middle of everything


def chat_stream(play: dict[str, Any]) -> bytes:
    """An answer in OpenAI's form."""
    text = play["answer"]
    events = [{"choices": [{"delta": {"content": text[at : at + 50]}}]} for at in range(0, len(text), 50)]
    events.append({"choices": [{"delta": {}, "finish_reason": play.get("finish", "stop")}]})
    given, written = play.get("usage", [100, 20])
    events.append({"choices": [], "usage": {"prompt_tokens": given, "completion_tokens": written}})
    return "".join(f"data: {json.dumps(event)}\n\n" for event in events).encode() + b"data: [DONE]\n\n"


def messages_stream(play: dict[str, Any]) -> bytes:
    """An answer in Anthropic's form."""
    given, written = play.get("usage", [100, 20])
    stop = {"stop": "end_turn", "length": "max_tokens"}[play.get("finish", "stop")]
    events = [
        {"type": "message_start", "message": {"usage": {"input_tokens": given}}},
        {"type": "content_block_delta", "delta": {"type": "text_delta", "text": play["answer"]}},
        {"type": "message_delta", "delta": {"stop_reason": stop}, "usage": {"output_tokens": written}},
        {"type": "message_stop"},
    ]
    return "".join(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in events).encode()


def number_of(action: str, body: dict[str, Any]) -> str:
    found = re.search(rf"^(\d+)\. {re.escape(action)}", body["messages"][-1]["content"], re.MULTILINE)
    return found[1] if found else f"no action begins with {action}"


class Handler(BaseHTTPRequestHandler):
    server: Server
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"])).decode()
        play = self.server.next_play({"path": self.path, "headers": dict(self.headers), "body": json.loads(body)})
        with self.server.under_way(play.get("together", 0)):
            self.play(play)

    def play(self, play: dict[str, Any]) -> None:
        if play.get("silent"):
            time.sleep(HANG)
            return
        if "status" in play:
            self.refuse(play)
        else:
            self.stream(play)

    def refuse(self, play: dict[str, Any]) -> None:
        body = play.get("body", "")
        data = (body if isinstance(body, str) else json.dumps(body)).encode()
        self.send_response(play["status"])
        for name, value in {**play.get("headers", {}), "Content-Length": str(len(data))}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(data)

    def stream(self, play: dict[str, Any]) -> None:
        data = messages_stream(play) if self.path.endswith("/messages") else chat_stream(play)
        if play.get("whole"):
            message = {"message": {"content": play["answer"]}, "finish_reason": "stop"}
            data = json.dumps({"choices": [message], "usage": {"prompt_tokens": 1, "completion_tokens": 1}}).encode()
        end = min(len(data), play.get("break_after", len(data)), play.get("hang_after", len(data)))
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        for at in range(0, end, PIECE):
            piece = data[at : min(at + PIECE, end)]
            self.wfile.write(f"{len(piece):x}\r\n".encode() + piece + b"\r\n")
        self.wfile.flush()
        if end < len(data):
            time.sleep(HANG if "hang_after" in play else 0)
            self.close_connection = True
        else:
            self.wfile.write(b"0\r\n\r\n")

    def log_message(self, *_: Any) -> None:
        pass


class Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, plays: list[dict[str, Any]], log: Path | None = None) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.plays, self.log, self.lock = list(plays), log, threading.Lock()
        self.requests: list[dict[str, Any]] = []
        self.at_once, self.most_at_once, self.came = 0, 0, threading.Condition()

    @contextmanager
    def under_way(self, together: int) -> Iterator[None]:
        with self.came:
            self.at_once += 1
            self.most_at_once = max(self.most_at_once, self.at_once)
            self.came.notify_all()
            self.came.wait_for(lambda: self.most_at_once >= together, HANG)
        try:
            yield
        finally:
            with self.came:
                self.at_once -= 1

    def next_play(self, request: dict[str, Any]) -> dict[str, Any]:
        with self.lock:
            self.requests.append(request)
            if self.log is not None:
                with self.log.open("a") as file:
                    file.write(json.dumps(request) + "\n")
            play = self.plays.pop(0) if len(self.plays) > 1 else self.plays[0]
        return {"answer": number_of(play["choose"], request["body"]), **play} if "choose" in play else play

    def handle_error(self, *_: Any) -> None:
        pass  # whoever asked went away

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/v1"


def main() -> None:
    server = Server(json.loads(Path(sys.argv[1]).read_text()), Path(sys.argv[2]))
    print(server.server_address[1], flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main()
