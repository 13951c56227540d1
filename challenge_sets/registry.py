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
        self._families: dict[str, Callable[[str], type[T]]] = {}
        self._made: dict[str, type[T]] = {}
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

    def family(self, prefix: str) -> Callable[[Callable[[str], type[T]]], Callable[[str], type[T]]]:
        """Decorator of a function that makes the class of ``PREFIX:REST`` from ``REST``."""

        def add(make: Callable[[str], type[T]]) -> Callable[[str], type[T]]:
            if prefix in self._families:
                raise ValueError(f"the {self._what} family '{prefix}' is registered twice")
            self._families[prefix] = make
            return make

        return add

    @property
    def families(self) -> tuple[str, ...]:
        """Prefixes of the families, in the order in which they were registered."""
        self._load()
        return tuple(self._families)

    def _load(self) -> None:
        if not self._loaded:
            self._loaded = True
            for module in self._modules:
                import_module(module)

    def __getitem__(self, name: str) -> type[T]:
        self._load()
        if name in self._classes:
            return self._classes[name]
        prefix, colon, rest = name.partition(":")
        if colon and prefix in self._families:
            if name not in self._made:
                self._made[name] = self._families[prefix](rest)
            return self._made[name]
        from difflib import get_close_matches

        from challenge_sets.errors import InputError

        near = get_close_matches(name.lower(), self._classes, n=1)
        known = [*self, *(f"{prefix}:…" for prefix in self._families)]
        raise InputError(
            f"unknown {self._what} '{name}'" + (f", did you mean '{near[0]}'?" if near else ""),
            hint=f"known: {', '.join(known)}",
        )

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
