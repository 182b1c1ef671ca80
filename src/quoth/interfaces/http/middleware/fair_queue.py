"""A line in which names take turns: nobody who comes often keeps the others waiting."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Callable

_Turn = asyncio.Future[bool]


class FairQueue:
    """Those who wait, in their order within each name; one event loop uses it.

    A place in it is one future and one timer, since thousands may wait.
    """

    def __init__(self) -> None:
        self._length = 0
        self._names: OrderedDict[str, OrderedDict[_Turn, None]] = OrderedDict()

    def __len__(self) -> int:
        return self._length

    async def wait(self, whose: str, *, within_s: float, give_back: Callable[[], object]) -> bool:
        """Wait to be called; false where that does not happen in time.

        Whoever is cancelled leaves at once; ``give_back`` is for a call that came to him still.
        """
        loop = asyncio.get_running_loop()
        turn: _Turn = loop.create_future()
        self._names.setdefault(whose, OrderedDict())[turn] = None
        self._length += 1
        late = loop.call_later(within_s, self._dismiss, whose, turn)
        try:
            return await turn
        except asyncio.CancelledError:
            if turn.cancelled():
                self._leave(whose, turn)
            elif turn.result():
                give_back()
            raise
        finally:
            late.cancel()

    def call_next(self) -> bool:
        """Call the next name's next one; false where nobody waits."""
        while self._names:
            whose, waiting = next(iter(self._names.items()))
            turn = next(iter(waiting))
            self._leave(whose, turn)
            if whose in self._names:
                self._names.move_to_end(whose)
            if not turn.done():  # else he is just leaving
                turn.set_result(True)
                return True
        return False

    def dismiss_all(self) -> None:
        """Tell everybody that waiting is in vain."""
        for whose, waiting in list(self._names.items()):
            for turn in list(waiting):
                self._dismiss(whose, turn)

    def _dismiss(self, whose: str, turn: _Turn) -> None:
        self._leave(whose, turn)
        if not turn.done():
            turn.set_result(False)

    def _leave(self, whose: str, turn: _Turn) -> None:
        waiting = self._names.get(whose)
        if waiting is not None and turn in waiting:
            del waiting[turn]
            self._length -= 1
            if not waiting:
                del self._names[whose]
