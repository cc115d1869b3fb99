"""How many examples Hypothesis tries: few in `make quick` and `make test`, many in `make soak` (`HYPOTHESIS_PROFILE`)."""

from __future__ import annotations

import os
from typing import Final

from hypothesis import HealthCheck, settings

_DEFAULT: Final = 100
_SHARES: Final = {"quick": 0.1, "test": 0.3, "soak": 5.0}
_PROFILE: Final = os.environ.get("HYPOTHESIS_PROFILE", "test")
IS_SOAK: Final = _PROFILE == "soak"


def examples(count: int) -> settings:
    """Settings for a test that wants another number of examples than the default of 100."""
    return settings(max_examples=max(4, round(count * _SHARES[_PROFILE])))


def load_profile() -> None:
    """Make the chosen profile the default. How long an example takes depends on the machine, so there is no deadline."""
    settings.register_profile(
        _PROFILE,
        max_examples=round(_DEFAULT * _SHARES[_PROFILE]),
        deadline=None,
        suppress_health_check=[HealthCheck.too_slow],
    )
    settings.load_profile(_PROFILE)
