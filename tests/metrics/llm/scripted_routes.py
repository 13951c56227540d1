"""Everything that a scripted server serves besides completions: models, files, batches."""

from __future__ import annotations

import json
from typing import Any

from scripted_batches import Batches, Refused
from scripted_faults import error, model_unknown, not_an_api
from scripted_http import Reply, Request, uploaded_file


def route_of(request: Request) -> str:
    """The route by its pattern, without ``/v1``; outside of it nothing is served."""
    parts = request.path.split("/")[1:]
    if parts[0] != "v1":
        return f"{request.method} outside: {request.path}"
    if len(parts) > 2 and parts[1] != "chat":
        parts[2] = "{id}"
    return f"{request.method} /{'/'.join(parts[1:])}"


def json_body(request: Request) -> dict[str, Any]:
    """The body as a JSON object; ``Refused`` with a 400 where it is none."""
    try:
        body = json.loads(request.body)
    except ValueError:
        body = None
    if not isinstance(body, dict):
        raise Refused(error(400, "We could not parse the JSON body of your request."))
    return body


def serve(route: str, request: Request, batches: Batches, models: tuple[str, ...]) -> Reply:
    """The answer on a route; ``Refused`` where the request cannot be met, or nothing is served there."""
    parts = request.path.split("/")
    named = parts[3] if len(parts) > 3 else ""
    match route:
        case "GET /models":
            answer: object = {"object": "list", "data": [_model(name) for name in models]}
        case "GET /models/{id}":
            if named not in models:
                raise Refused(model_unknown())
            answer = _model(named)
        case "POST /files":
            try:
                name, content, fields = uploaded_file(request)
            except ValueError as failure:
                raise Refused(error(400, str(failure))) from None
            answer = batches.create_file(name, content, fields.get("purpose", ""))
        case "GET /files/{id}":
            answer = batches.file(named)
        case "GET /files/{id}/content":
            return Reply(200, batches.content(named), "application/octet-stream")
        case "DELETE /files/{id}":
            answer = batches.delete_file(named)
        case "POST /batches":
            answer = batches.create(json_body(request))
        case "GET /batches":
            answer = batches.list(int(request.query.get("limit", 20)), request.query.get("after"))
        case "GET /batches/{id}":
            answer = batches.retrieve(named)
        case "POST /batches/{id}/cancel":
            answer = batches.cancel(named)
        case _:
            raise Refused(not_an_api())
    return Reply(200, json.dumps(answer).encode())


def _model(name: str) -> dict[str, Any]:
    return {"id": name, "object": "model", "created": 1_750_000_000, "owned_by": "scripted"}
