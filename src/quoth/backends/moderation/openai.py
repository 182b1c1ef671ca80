"""Moderation by OpenAI's moderation endpoint, or a server that speaks its protocol."""

from __future__ import annotations

from quoth.backends.http_access import HttpAccess
from quoth.backends.http_json import JsonClient
from quoth.core.errors import ModerationError

MAX_CHARACTERS = 30_000
"""Of one text; a longer one is checked in parts."""


class OpenAIModerator:
    """A `Moderator` that asks a server which categories a text belongs to."""

    def __init__(self, access: HttpAccess) -> None:
        self.name = f"{access.provider}:{access.model}"
        self._access = access
        self._client = JsonClient(access, error=ModerationError)

    async def check(self, text: str) -> str:
        """Return the flagged categories, empty where there are none; raises ModerationError."""
        whole = text.encode("utf-8", "replace").decode("utf-8")
        parts = [whole[at : at + MAX_CHARACTERS] for at in range(0, len(whole), MAX_CHARACTERS)]
        body = {"model": self._access.model, "input": parts or [""]}
        headers = {"Authorization": f"Bearer {self._access.key}"} if self._access.key else {}
        reply = await self._client.post("/moderations", body, headers=headers)
        try:
            flagged = [each["categories"] for each in reply["results"] if each["flagged"]]
            names = {name for found in flagged for name, held in found.items() if held}
            if len(reply["results"]) != len(body["input"]):
                raise ValueError
        except (LookupError, TypeError, ValueError, AttributeError):
            raise ModerationError(
                f"The moderator {self.name} at {self._access.endpoint} did not check every text."
            ) from None
        return ", ".join(sorted(names)) or ("flagged" if flagged else "")

    async def close(self) -> None:
        """Close the connections."""
        await self._client.close()
