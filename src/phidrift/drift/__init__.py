"""Drift: 25 metrics of how far one corpus is from another, size-matched and held against their noise floors.

>>> from phidrift.drift import compare
>>> compare(["Seen on 3 May."] * 3, ["Seen on 4 May."] * 3).metrics["vocab_overlap"].value_full
0.6
"""

from phidrift.drift.comparison import Comparison, Drift, compare, compare_profiles
from phidrift.drift.profile import Profile, load_profile, merge_profiles, profile, save_profile
from phidrift.drift.registry import METRICS, Metric
from phidrift.drift.sampling import Settings
from phidrift.drift.undefined import Undefined

__all__ = [
    "METRICS",
    "Comparison",
    "Drift",
    "Metric",
    "Profile",
    "Settings",
    "Undefined",
    "compare",
    "compare_profiles",
    "load_profile",
    "merge_profiles",
    "profile",
    "save_profile",
]
