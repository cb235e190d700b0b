"""Google's Gemini: `generateContent` and `streamGenerateContent`, with tools, JSON schemas and usage."""

from __future__ import annotations

import json
from typing import Any

from tests.servers._answers import Answer, Malformed, NoChoice, NullChoices, Refuse, Say, Status
from tests.servers._base import ModelServer, Received

_STATUS = {400: "INVALID_ARGUMENT", 401: "UNAUTHENTICATED", 403: "PERMISSION_DENIED", 404: "NOT_FOUND"}
_STATUS |= {429: "RESOURCE_EXHAUSTED", 500: "INTERNAL", 503: "UNAVAILABLE"}


class GeminiServer(ModelServer):
    """`POST /v1beta/models/NAME:generateContent`; the base URL of a client is `url`."""

    def streams(self, request: Received) -> bool:
        return ":streamGenerateContent" in request.path

    def error(self, status: Status) -> Any:
        error: dict[str, Any] = {"code": status.code, "message": status.message}
        return {"error": {**error, "status": status.kind or _STATUS.get(status.code, "UNKNOWN")}}

    def body(self, answer: Answer, request: Received) -> Any:
        whole: dict[str, Any] = {"modelVersion": "scripted", "responseId": "1"}
        match answer:
            case Malformed(body):
                return body
            case NullChoices():
                return {**whole, "candidates": None}
            case NoChoice():
                return {**whole, "candidates": []}
            case Refuse():
                return {**whole, "promptFeedback": {"blockReason": "PROHIBITED_CONTENT"}}
            case Say():
                return {**whole, "candidates": [_candidate(_parts(answer, request), answer)], **_usage(answer)}
            case _:
                raise AssertionError(answer)

    def events(self, answer: Answer, request: Received) -> list[Any]:
        if not isinstance(answer, Say) or not isinstance(answer.what, str):
            return [self.body(answer, request)]
        text = _parts(answer, request)[0]["text"]
        pieces = [word if place == 0 else f" {word}" for place, word in enumerate(text.split(" "))]
        events = [{"candidates": [_candidate([{"text": piece}], None)], "modelVersion": "scripted"} for piece in pieces]
        events[-1] = {**events[-1], "candidates": [_candidate([{"text": pieces[-1]}], answer)], **_usage(answer)}
        return events


def _parts(answer: Say, request: Received) -> list[dict[str, Any]]:
    if isinstance(answer.what, dict) and request.body.get("tools"):
        name = request.body["tools"][0]["functionDeclarations"][0]["name"]
        return [{"functionCall": {"name": name, "args": answer.what}}]
    text = answer.what if isinstance(answer.what, str) else json.dumps(answer.what)
    return [{"text": text[: len(text) // 2] if answer.cut else text}]


def _candidate(parts: list[dict[str, Any]], answer: Say | None) -> dict[str, Any]:
    """One candidate; `answer` is given for the one that ends it."""
    candidate: dict[str, Any] = {"content": {"role": "model", "parts": parts}, "index": 0}
    if answer is not None:
        candidate["finishReason"] = "MAX_TOKENS" if answer.cut else "STOP"
    return candidate


def _usage(answer: Say) -> dict[str, Any]:
    if answer.usage is None:
        return {}
    prompt, cached, completion, reasoning = answer.usage
    return {
        "usageMetadata": {
            "promptTokenCount": prompt,
            "cachedContentTokenCount": cached,
            # Google counts thoughts apart from the candidates.
            "candidatesTokenCount": completion - reasoning,
            "thoughtsTokenCount": reasoning,
            "totalTokenCount": prompt + completion,
        }
    }
