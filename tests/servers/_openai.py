"""OpenAI's chat completions: with and without streaming, tools, response formats, usage."""

from __future__ import annotations

import json
from typing import Any

from tests.servers._answers import Answer, Malformed, NoChoice, NullChoices, Refuse, Say, Status
from tests.servers._base import ModelServer, Received


class OpenAIServer(ModelServer):
    """`POST /v1/chat/completions`; the base URL of a client is `url + "/v1"`."""

    def streams(self, request: Received) -> bool:
        return bool(request.body.get("stream"))

    def stream_end(self) -> list[str]:
        return ["data: [DONE]\n\n"]

    def error(self, status: Status) -> Any:
        return {
            "error": {
                "message": status.message,
                "type": "invalid_request_error",
                "param": status.parameter,
                "code": status.kind or None,
            }
        }

    def body(self, answer: Answer, request: Received) -> Any:
        whole: dict[str, Any] = {**_frame("chat.completion", request), "choices": [], "usage": None}
        match answer:
            case Malformed(body):
                return body
            case NullChoices():
                return {**whole, "choices": None}
            case NoChoice():
                return whole
            case Refuse(text):
                message: dict[str, Any] = {"role": "assistant", "content": None, "refusal": text}
                finish = "stop"
            case Say():
                message, finish = _message(answer, request)
                whole["usage"] = _usage(answer)
            case _:
                raise AssertionError(answer)
        return {**whole, "choices": [{"index": 0, "message": message, "finish_reason": finish, "logprobs": None}]}

    def events(self, answer: Answer, request: Received) -> list[Any]:
        frame = _frame("chat.completion.chunk", request)

        def event(delta: dict[str, Any], finish: str | None = None) -> dict[str, Any]:
            return {**frame, "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}

        match answer:
            case Malformed(body):
                return [body]
            case NullChoices():
                return [{**frame, "choices": None}]
            case NoChoice():
                return [{**frame, "choices": []}]
            case Refuse(text):
                return [event({"role": "assistant", "content": ""}), event({"refusal": text}), event({}, "stop")]
            case Say():
                message, finish = _message(answer, request)
                words = (message.get("content") or "").split(" ")
                pieces = [word if place == 0 else f" {word}" for place, word in enumerate(words)]
                events = [event({"role": "assistant", "content": ""})]
                events += [event({"content": piece}) for piece in pieces] + [event({}, finish)]
                if (request.body.get("stream_options") or {}).get("include_usage") and answer.usage:
                    events.append({**frame, "choices": [], "usage": _usage(answer)})
                return events
            case _:
                raise AssertionError(answer)


def _frame(kind: str, request: Received) -> dict[str, Any]:
    return {"id": "chatcmpl-1", "object": kind, "created": 1, "model": request.body.get("model")}


def _message(answer: Say, request: Received) -> tuple[dict[str, Any], str]:
    if isinstance(answer.what, dict) and request.body.get("tools"):
        arguments = json.dumps(answer.what)
        function = {
            "name": request.body["tools"][0]["function"]["name"],
            "arguments": arguments[: len(arguments) // 2] if answer.cut else arguments,
        }
        calls = [{"id": "call_1", "type": "function", "function": function}]
        return {"role": "assistant", "content": None, "tool_calls": calls}, "length" if answer.cut else "tool_calls"
    text = answer.what if isinstance(answer.what, str) else json.dumps(answer.what)
    text = text[: len(text) // 2] if answer.cut else text
    return {"role": "assistant", "content": text, "refusal": None}, "length" if answer.cut else "stop"


def _usage(answer: Say) -> dict[str, Any] | None:
    if answer.usage is None:
        return None
    prompt, cached, completion, reasoning = answer.usage
    return {
        "prompt_tokens": prompt,
        "completion_tokens": completion,
        "total_tokens": prompt + completion,
        "prompt_tokens_details": {"cached_tokens": cached},
        "completion_tokens_details": {"reasoning_tokens": reasoning},
    }
