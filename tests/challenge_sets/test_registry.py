import pytest

from challenge_sets import InputError
from challenge_sets.parallel import chunked, ordered_map
from challenge_sets.registry import Registry


class Base:
    pass


def test_a_registry_refuses_what_does_not_belong() -> None:
    registry: Registry[Base] = Registry("thing", Base)
    registry.register("one")(type("One", (Base,), {}))
    with pytest.raises(ValueError, match="'one' is registered twice"):
        registry.register("one")(type("Other", (Base,), {}))
    with pytest.raises(TypeError, match="is no Base"):
        registry.register("two")(int)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="unknown thing 'onee', did you mean 'one'"):
        registry["onee"]
    assert list(registry) == ["one"]
    assert "one" in registry
    assert "two" not in registry
    assert len(registry) == 1


@pytest.mark.parametrize("workers", [1, 2])
def test_results_come_in_order(workers: int) -> None:
    chunks = chunked(range(50), 3)
    assert [n for chunk in ordered_map(sorted, chunks, workers=workers) for n in chunk] == list(range(50))


def test_an_error_in_a_worker_reaches_the_caller() -> None:
    with pytest.raises(ZeroDivisionError):
        list(ordered_map(divmod_by_zero, [1, 2, 3], workers=2))


def divmod_by_zero(number: int) -> float:
    return number / 0
