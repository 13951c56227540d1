"""The part of the log that concerns batches: which there are, and which calls wait in them."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Literal

from challenge_sets import InputError
from metrics.llm.batch_records import COLUMNS, ON_THE_WAY, Batch, BatchState, Terms
from metrics.llm.calls import Call, Reply
from metrics.llm.log import CallLog, short_subject
from metrics.llm.runs import alive, this_run

Settled = Literal["settled", "repeated", "unknown"]

# Whoever has a batch in hand writes down every step; after so many seconds of silence it is no longer held.
_HELD_SECONDS = 3600.0
_KEYS_AT_ONCE = 500


class BatchLog(CallLog):
    """The log with its batches. A batch on the way to the endpoint is held by one process.

    A call waits in at most one batch. It is free again, to be asked in any way, once it is settled or its
    batch is abandoned.
    """

    def begin(self, name: str, terms: Terms) -> int:
        """Note a new batch, held by this process; gives its number."""
        now = time.time()
        cursor = self._db.execute(
            "INSERT INTO batches(name, terms, state, run, since, at) VALUES(?, ?, 'writing', ?, ?, ?)",
            (name, terms.to_text(), this_run(), now, now),
        )
        return int(cursor.lastrowid or 0)

    def free(self, keys: Sequence[bytes]) -> set[bytes]:
        """Those of the keys that are neither answered nor waiting, nor being asked this moment."""
        return set(keys) - self.answered(keys) - self.waiting(keys) - self._asked(keys)

    def _asked(self, keys: Sequence[bytes]) -> set[bytes]:
        live = "SELECT key, run FROM claims WHERE until > ? AND run != ?"
        others = dict(self._db.execute(live, (time.time(), self._owner)).fetchall())
        return {key for key in keys if key in others and alive(others[key])}

    def enlist(self, number: int, calls: Sequence[Call]) -> set[bytes]:
        """Let calls wait in a batch that this process writes, unless they are not free; gives their keys.

        Of calls with one key the first one counts.
        """
        with self.exclusive():
            self._hold(number)
            free = self.free([call.key for call in calls])
            first = {call.key: call for call in reversed(calls) if call.key in free}
            self._db.executemany(
                "INSERT INTO waiting(key, batch, purpose, subject) VALUES(?, ?, ?, ?)",
                [
                    (key, number, self._purpose(call.purpose), short_subject(call.subject))
                    for key, call in first.items()
                ],
            )
            self._count(number, len(first))
        return set(first)

    def move(self, keys: Sequence[bytes], source: int, target: int) -> None:
        """Let waiting calls wait in another batch that this process writes."""
        with self.exclusive():
            self._hold(source)
            moved = self._db.executemany(
                "UPDATE waiting SET batch = ? WHERE key = ? AND batch = ?",
                [(target, key, source) for key in keys],
            ).rowcount
            self._count(source, -moved)
            self._count(target, moved)

    def _count(self, number: int, more: int) -> None:
        self._db.execute("UPDATE batches SET requests = requests + ? WHERE id = ?", (more, number))

    def step(self, number: int, state: BatchState, **columns: str) -> None:
        """Note the next step of a batch that this process holds; ``InputError`` where it no longer does."""
        with self.exclusive():
            self._hold(number)
            self._set(number, {"state": state, **columns})

    def _hold(self, number: int) -> None:
        changed = self._db.execute(
            f"UPDATE batches SET at = ? WHERE id = ? AND run = ? AND state IN {ON_THE_WAY}",
            (time.time(), number, this_run()),
        )
        if not changed.rowcount:
            raise InputError(
                "another process took this batch for abandoned and freed its calls",
                path=self.path,
                hint="submit again",
            )

    def _set(self, number: int, columns: Mapping[str, object]) -> None:
        names = ", ".join(f"{name} = ?" for name in columns)
        self._db.execute(f"UPDATE batches SET {names} WHERE id = ?", (*columns.values(), number))

    def let_go(self, number: int) -> None:
        """No longer hold a batch: the next run may see to it."""
        self._db.execute("UPDATE batches SET run = '' WHERE id = ? AND run = ?", (number, this_run()))

    def take(self, number: int) -> bool:
        """Hold a batch on its way to the endpoint that nobody holds any more."""
        with self.exclusive():
            batch = self.batch(number)
            held = bool(batch.run) and alive(batch.run) and time.time() - batch.at < _HELD_SECONDS
            if batch.state not in ON_THE_WAY or held:
                return False
            # The time of the last step stays: it says since when the endpoint may have the batch.
            self._set(number, {"run": this_run()})
        return True

    def holds(self, number: int) -> bool:
        """Whether this process has the batch in hand, on its way to the endpoint."""
        batch = self.batch(number)
        return batch.state in ON_THE_WAY and batch.run == this_run()

    def abandon(self, number: int, note: str) -> int:
        """Close a batch that this process holds; gives how many calls are free again."""
        with self.exclusive():
            return self._close(number, note) if self.holds(number) else 0

    def close_batch(self, number: int, note: str = "") -> int:
        """Nothing is left to do for a batch; gives how many calls waited in it still, and are free now."""
        with self.exclusive():
            return self._close(number, note or self.batch(number).note)

    def _close(self, number: int, note: str) -> int:
        freed = self._db.execute("DELETE FROM waiting WHERE batch = ?", (number,)).rowcount
        self._set(number, {"state": "closed", "run": "", "note": note, "at": time.time()})
        return freed

    def observe(self, number: int, **columns: str | int) -> bool:
        """Note what the endpoint says of a batch; one that is closed stays closed (``False``)."""
        with self.exclusive():
            if self.batch(number).state == "closed":
                return False
            self._set(number, {"run": "", "at": time.time(), **columns})
        return True

    def settle(self, number: int, outcomes: Sequence[tuple[bytes, Reply]]) -> list[Settled]:
        """Write what came of calls of a batch and free them, all or none.

        ``repeated`` and ``unknown`` calls do not wait in this batch, and nothing is written of them.
        """
        run, now = this_run(), time.time()
        found: list[Settled] = []
        with self.exclusive():
            for key, reply in outcomes:
                row = self._db.execute(
                    "SELECT name, subject FROM waiting JOIN purposes ON purposes.id = purpose"
                    " WHERE key = ? AND batch = ?",
                    (key, number),
                ).fetchone()
                if row is None:
                    seen = self._db.execute("SELECT 1 FROM journal WHERE key = ? LIMIT 1", (key,)).fetchone()
                    found.append("repeated" if seen else "unknown")
                    continue
                purpose, subject = row
                self._write(key, purpose, subject, reply, run, now)
                self._db.execute("DELETE FROM waiting WHERE key = ?", (key,))
                found.append("settled")
        return found

    def settle_rest(self, number: int, reply: Reply) -> int:
        """Write the same of every call that still waits in a batch; gives how many."""
        count = 0
        query = "SELECT key FROM waiting WHERE batch = ? LIMIT ?"
        while keys := [key for (key,) in self._db.execute(query, (number, _KEYS_AT_ONCE))]:
            count += self.settle(number, [(key, reply) for key in keys]).count("settled")
        return count

    def batch(self, number: int) -> Batch:
        """A batch by its number."""
        return self._batches("WHERE id = ?", (number,))[0]

    def batches(self, *, unfinished: bool = False) -> list[Batch]:
        """All batches in the order in which they were begun, or those that are not closed."""
        return self._batches("WHERE state != 'closed'" if unfinished else "")

    def _batches(self, which: str, values: tuple[object, ...] = ()) -> list[Batch]:
        if self.empty:
            return []
        columns = ", ".join("id" if name == "number" else name for name in COLUMNS)
        rows = self._db.execute(f"SELECT {columns} FROM batches {which} ORDER BY id", values).fetchall()
        return [_batch(dict(zip(COLUMNS, row, strict=True))) for row in rows]


def _batch(row: dict[str, object]) -> Batch:
    terms = Terms.from_text(str(row.pop("terms")))
    return Batch(terms=terms, **row)  # type: ignore[arg-type]  # the columns are the fields
