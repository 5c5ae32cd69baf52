# SPDX-License-Identifier: GPL-3.0-or-later
"""Angles as radians."""
import math
import re

from .errors import UsageError

_UNITS = {"": 1.0, "rad": 1.0, "deg": math.pi / 180, "arcmin": math.pi / 10800, "arcsec": math.pi / 648000}


def radians(angle, name="angle"):
    """Returns an angle in radians: a number of radians, a text such as "30arcmin", or a Quantity of astropy."""
    if isinstance(angle, str):
        found = re.fullmatch(r"\s*([-+0-9.eE]+)\s*([a-z]*)\s*", angle)
        try:
            return float(found[1]) * _UNITS[found[2]]
        except (TypeError, KeyError, ValueError):
            raise UsageError(f"{name}: '{angle}' is no angle; expected a number with rad, deg, arcmin or "
                             "arcsec") from None
    if hasattr(angle, "to_value"):
        return float(angle.to_value("rad"))
    return float(angle)
