"""A small language model behind the chat completions protocol, on this machine: something real for `--coder llm --base-url` to talk to
that needs no account and no network. Answers come from `mtmc-lm generate` (docs/LM.md), one at a time; a prompt longer than
the model's context is refused with 400, as servers do.

    python3 bench/serve_lm.py --model SmolLM2-135M-Instruct.Q4_1.gguf --port 8000 &
    ./mtmc optimize examples/row_softmax.py --coder llm --model small --base-url http://127.0.0.1:8000/v1 --answer-tokens 100 --time 1800

A model of 135 million weights cannot write kernels, and takes minutes of two cores for an answer. What it shows is that nonsense is survived in good order.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import subprocess
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

PROGRAM = Path(__file__).resolve().parents[1] / "build/release/mtmc-lm"


class Generator:
    """The program, kept running: a line of JSON in, a line of JSON out."""

    def __init__(self, model: str, program: str) -> None:
        self.lock = threading.Lock()
        self.tokenizer, _ = self._start(program, "tokenize", model)
        self.writer, ready = self._start(program, "generate", model)
        self.context = ready["context"]

    @staticmethod
    def _start(program: str, verb: str, model: str) -> tuple[subprocess.Popen[str], dict[str, Any]]:
        command = [program, verb, "--model", model]
        process = subprocess.Popen(command, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        assert process.stdout is not None
        line = process.stdout.readline()  # "ready"
        if not line:
            raise SystemExit(f"mtmc-lm {verb} ended with {process.wait()}")
        return process, json.loads(line)

    @staticmethod
    def _ask(process: subprocess.Popen[str], request: dict[str, Any]) -> dict[str, Any]:
        assert process.stdin is not None and process.stdout is not None
        process.stdin.write(json.dumps(request) + "\n")
        process.stdin.flush()
        line = process.stdout.readline()
        if not line:
            raise RuntimeError(f"mtmc-lm ended with {process.wait()}")
        reply = json.loads(line)
        if "error" in reply:
            raise RuntimeError(f"mtmc-lm refuses: {reply['error']}")
        return reply

    def answer(self, prompt: str, tokens: int) -> tuple[int, dict[str, Any]]:
        """The number of the prompt's tokens, and what stands behind it: text, tokens, ended. ValueError: too long."""
        with self.lock:
            count = len(self._ask(self.tokenizer, {"text": prompt})["tokens"])
            if count + tokens > self.context:
                raise ValueError(
                    f"maximum context length is {self.context} tokens, {count} and {tokens} were asked for"
                )
            request = {"prompt": prompt, "tokens": tokens, "temperature": 0.7, "seed": count}
            return count, self._ask(self.writer, request)


def chat_text(messages: list[dict[str, str]]) -> str:
    """ChatML, which SmolLM2 and Qwen2.5 were trained on."""
    turns = [f"<|im_start|>{message['role']}\n{message['content']}<|im_end|>\n" for message in messages]
    return "".join(turns) + "<|im_start|>assistant\n"


def handler_for(generator: Generator) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:  # noqa: N802: the name that http.server asks for
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            wanted = int(body.get("max_tokens") or body.get("max_completion_tokens") or 256)
            try:
                count, made = generator.answer(chat_text(body["messages"]), wanted)
            except ValueError as error:
                self.reply(400, {"error": {"message": str(error), "code": "context_length_exceeded"}})
                return
            text = made["text"].removesuffix("<|im_end|>")
            choice = {
                "index": 0,
                "message": {"role": "assistant", "content": text},
                "finish_reason": "stop" if made["ended"] else "length",
            }
            usage = {"prompt_tokens": count, "completion_tokens": len(made["tokens"])}
            self.reply(200, {"choices": [choice], "usage": usage})

        def reply(self, status: int, body: dict[str, Any]) -> None:
            data = json.dumps(body).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            with contextlib.suppress(ConnectionError):  # whoever asked has waited long enough
                self.end_headers()
                self.wfile.write(data)

    return Handler


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", required=True, help="a Hugging Face folder or a GGUF file")
    parser.add_argument("--port", type=int, default=8000, help="0: any that is free; it is printed")
    parser.add_argument("--program", default=str(PROGRAM), help="the built mtmc-lm (%(default)s)")
    options = parser.parse_args()
    server = ThreadingHTTPServer(("127.0.0.1", options.port), handler_for(Generator(options.model, options.program)))
    print(f"http://127.0.0.1:{server.server_address[1]}/v1", flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main()
