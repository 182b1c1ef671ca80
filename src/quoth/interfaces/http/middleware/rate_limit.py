"""How much one caller may ask: so many in a minute, so many at once."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from ipaddress import IPv6Address, ip_address, ip_network
from math import ceil

from quoth.core.errors import Busy

MOST_NAMES = 20_000
"""Names remembered at most; beyond, those that were quiet longest are forgotten."""
SOON_S = 1.0
"""When to try again where too many are under way: nobody knows when the first of them ends."""


class GcraLimiter:
    """Up to ``burst`` at once and ``per_minute`` in the long run, for each name.

    The generic cell rate algorithm (ITU-T I.371): a name's whole past is the time at which its
    bucket will be full again. ``clock`` gives seconds and never goes back.
    """

    def __init__(
        self, per_minute: float, *, burst: int, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self.per_minute, self.burst = per_minute, burst
        self._apart = 60 / per_minute
        self._ahead = self._apart * (burst - 1)
        self._clock = clock
        self._full_at: dict[str, float] = {}

    def wait_s(self, name: str) -> float:
        """Seconds until the next one is allowed; 0 for now. Counts nothing."""
        at = self._clock()
        return max(0.0, self._full_at.get(name, at) - self._ahead - at)

    def take(self, name: str) -> float:
        """Count one if it is allowed; gives the seconds to wait if it is not, else 0."""
        wait = self.wait_s(name)
        if wait:
            return wait
        at = self._clock()
        # Put at the end, so that the first is the one that was quiet longest.
        self._full_at[name] = max(self._full_at.pop(name, at), at) + self._apart
        if len(self._full_at) > MOST_NAMES:
            del self._full_at[next(iter(self._full_at))]
        return 0.0


class RequestQuota:
    """What counts together: a rate, and how many of one name may be under way at once."""

    def __init__(self, what: str, *, rate: GcraLimiter, in_flight: int) -> None:
        self._what = what
        self._rate = rate
        self._in_flight = in_flight
        self._under_way: Counter[str] = Counter()

    @contextmanager
    def held(self, name: str) -> Iterator[None]:
        """Take part for as long as the context lasts; raises Busy with status 429."""
        if self._under_way[name] >= self._in_flight:
            raise Busy(
                f"This key has {self._in_flight} {self._what} under way, which is its limit. "
                "Wait until one of them ends.",
                status=429,
                retry_after_s=SOON_S,
            )
        wait = self._rate.take(name)
        if wait:
            raise Busy(
                f"This key has its limit of {self._rate.per_minute:,.0f} {self._what} a minute, "
                f"{self._rate.burst} of them at once. Try again in {ceil(wait)} s.",
                status=429,
                retry_after_s=wait,
            )
        self._under_way[name] += 1
        try:
            yield
        finally:
            self._under_way[name] -= 1
            if not self._under_way[name]:
                del self._under_way[name]


def client_network(address: str) -> str:
    """Give what one person has of an address: all of IPv4, the first half of IPv6."""
    try:
        found = ip_address(address.partition("%")[0])
    except ValueError:
        return address
    if not isinstance(found, IPv6Address):
        return str(found)
    return str(found.ipv4_mapped or ip_network((found, 64), strict=False))
