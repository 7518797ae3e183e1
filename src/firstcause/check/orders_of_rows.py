"""The values of data_split that say which rows are held out, and not how many."""

from __future__ import annotations

BY_TIME, RANDOM = "by_time", "random"
