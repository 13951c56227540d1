import pytest

from challenge_sets import InputError
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
