"""Small registries: a dictionary from names to classes that refuses what does not belong."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib import import_module
from typing import Generic, TypeVar

T = TypeVar("T")


class Registry(Generic[T]):
    """Names to classes of one base, filled by a decorator; the modules that fill it load at first look-up.

    >>> METRICS = Registry("metric", Metric, modules=("metrics.lexical",))
    >>> @METRICS.register("bleu")
    ... class Bleu(Metric): ...
    """

    def __init__(self, what: str, base: type, *, modules: tuple[str, ...] = ()) -> None:
        self._what = what
        self._base = base
        self._modules = modules
        self._classes: dict[str, type[T]] = {}
        self._loaded = False

    def register(self, name: str) -> Callable[[type[T]], type[T]]:
        """Class decorator. ``TypeError`` for a wrong base, ``ValueError`` for a name already taken."""

        def add(cls: type[T]) -> type[T]:
            if not (isinstance(cls, type) and issubclass(cls, self._base)):
                raise TypeError(f"{cls!r} is no {self._base.__name__}")
            if name in self._classes:
                raise ValueError(f"the {self._what} '{name}' is registered twice")
            self._classes[name] = cls
            return cls

        return add

    def _load(self) -> None:
        if not self._loaded:
            self._loaded = True
            for module in self._modules:
                import_module(module)

    def __getitem__(self, name: str) -> type[T]:
        self._load()
        try:
            return self._classes[name]
        except KeyError:
            from difflib import get_close_matches

            from challenge_sets.errors import InputError

            near = get_close_matches(name.lower(), self._classes, n=1)
            raise InputError(
                f"unknown {self._what} '{name}'" + (f", did you mean '{near[0]}'?" if near else ""),
                hint=f"known: {', '.join(self)}",
            ) from None

    def __iter__(self) -> Iterator[str]:
        """Names in the order of ``modules``, whichever of them happened to be imported first."""
        self._load()
        rank = {module: place for place, module in enumerate(self._modules)}
        return iter(
            sorted(self._classes, key=lambda name: rank.get(self._classes[name].__module__, len(rank)))
        )

    def __contains__(self, name: object) -> bool:
        self._load()
        return name in self._classes

    def __len__(self) -> int:
        self._load()
        return len(self._classes)
