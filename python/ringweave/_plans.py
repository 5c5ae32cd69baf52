# SPDX-License-Identifier: GPL-3.0-or-later
"""What objects that hold a plan of the library, in `_core`, have in common."""


class Plan:
    """A plan that close(), or the end of `with`, frees."""

    def close(self):
        """Frees the plan; calls raise UsageError afterwards. Arrays and plans made of it stay valid. Collective."""
        self._core.close()

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.close()


class TimedPlan(Plan):
    """A plan that measures its stages."""

    @property
    def times(self):
        """Seconds of the stages on this rank so far."""
        return {stage: seconds for stage, (seconds, _) in self._core.times().items()}


class SizedPlan(TimedPlan):
    """A plan that knows what it takes."""

    @property
    def bytes(self):
        """Bytes of the plan on this rank."""
        return self._core.bytes()
