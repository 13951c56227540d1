"""Speed of the client for large language models: a bare asynchronous client against ours with its log.

The scripted server of the tests, as a process of its own, answers every call after 200 ms. The bare client is
``AsyncOpenAI`` behind a semaphore and keeps nothing; ours claims every call, retries, counts the money and
writes every answer into its log before it goes on. Both ask the same calls, in turns.

    python benchmarks/judge_client.py [--calls N] [--concurrency N] [--latency SECONDS] [--repeat N]
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
# In the place of this folder, whose statistics.py would stand for Python's own.
sys.path[0] = str(ROOT)
sys.path.append(str(ROOT / "tests" / "metrics" / "llm"))

from openai import AsyncOpenAI  # noqa: E402
from scripted_server import server_process  # noqa: E402

from metrics.llm.calls import Call  # noqa: E402
from metrics.llm.client import Client  # noqa: E402
from metrics.llm.log import CallLog  # noqa: E402
from metrics.llm.options import LlmOptions  # noqa: E402

# About the length of an MQM prompt with its examples.
SYSTEM = "You annotate the errors of translations and say how severe each of them is. " * 40


def make_calls(options: LlmOptions, count: int) -> list[Call]:
    return [
        Call(
            options.endpoint,
            options.model,
            (
                {"role": "system", "content": SYSTEM},
                {"role": "user", "content": f"Rate translation {number}: ```Der Satz hat die {number}.```"},
            ),
            options.parameters(256),
            purpose="speed",
        )
        for number in range(count)
    ]


def ask_barely(options: LlmOptions, calls: list[Call]) -> int:
    """Answers that came from an asynchronous client and a semaphore alone."""

    async def ask_all() -> int:
        places = asyncio.Semaphore(options.concurrency)
        async with AsyncOpenAI(base_url=options.base_url, api_key="none", max_retries=0) as client:

            async def one(call: Call) -> bool:
                async with places:
                    answer = await client.chat.completions.create(**call.body())
                return bool(answer.choices[0].message.content)

            return sum(await asyncio.gather(*map(one, calls)))

    return asyncio.run(ask_all())


def ask_ours(options: LlmOptions, calls: list[Call], path: Path) -> int:
    """Answers that came through the client and stand in the log."""
    log = CallLog(path)
    client = Client(options, log)
    try:
        answered = [call.key for done in client.ask(calls) for call, reply in done if reply.status == "ok"]
        return len(log.answered(answered))
    finally:
        client.close()
        log.close()


def measure(options: LlmOptions, count: int, repeat: int) -> None:
    """Print the seconds of both and their ratio."""
    bare, ours, again = [], [], []
    with tempfile.TemporaryDirectory() as folder:
        for number in range(repeat):
            calls = make_calls(options, count)
            start = time.perf_counter()
            complete = ask_barely(options, calls) == count
            bare.append(time.perf_counter() - start)
            # The keys are made anew each time, as a run makes them.
            for seconds in (ours, again):
                calls = make_calls(options, count)
                start = time.perf_counter()
                complete &= ask_ours(options, calls, Path(folder) / f"calls-{number}.sqlite") == count
                seconds.append(time.perf_counter() - start)
            if not complete:
                sys.exit("not every call was answered")
    print(f"{count} calls, {options.concurrency} at a time")
    for what, seconds in (
        ("bare asynchronous client", bare),
        ("our client with its log", ours),
        ("our client again, all from the log", again),
    ):
        print(f"{what:36} {min(seconds):.2f} s   (all runs: {', '.join(f'{s:.2f}' for s in seconds)})")
    print(f"ratio: {min(ours) / min(bare):.3f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--calls", type=int, default=2000)
    parser.add_argument("--concurrency", type=int, default=32)
    parser.add_argument("--latency", type=float, default=0.2)
    parser.add_argument("--repeat", type=int, default=2)
    wanted = parser.parse_args()
    with server_process("--latency", str(wanted.latency), "--answers", "number") as url:
        options = LlmOptions("scripted-model", base_url=url, concurrency=wanted.concurrency)
        measure(options, wanted.calls, wanted.repeat)


if __name__ == "__main__":
    main()
