"""Opens the moderation that the settings name: off, rules, openai, or several by commas."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from quoth.backends.http_access import HttpAccess, provider_access, split_name
from quoth.backends.registry import backend, require
from quoth.core.errors import ConfigError
from quoth.core.protocols import Moderator

if TYPE_CHECKING:
    from quoth.core.settings import Settings

OPENAI_MODEL = "omni-moderation-latest"


class ModeratorChain:
    """A `Moderator` that flags what one of several flags."""

    def __init__(self, moderators: Sequence[Moderator]) -> None:
        self.name = ", ".join(each.name for each in moderators)
        self._moderators = moderators

    async def check(self, text: str) -> str:
        """Return why a text is flagged, empty where it is not; raises ModerationError."""
        for moderator in self._moderators:
            if reason := await moderator.check(text):
                return reason
        return ""

    async def close(self) -> None:
        """Close connections."""
        for moderator in self._moderators:
            await moderator.close()


def open_moderator(settings: Settings) -> Moderator | None:
    """Open the moderation of the settings, None where it is off; raises ConfigError."""
    opened: list[Moderator] = []
    for name in moderation_names(settings):
        access = moderation_access(name, settings)
        if access is not None:
            opened.append(backend("moderator", "openai")(access))
            continue
        require("moderator", name)
        if settings.moderation_words is None:
            raise ConfigError(
                "The moderator 'rules' needs a list of words. Name its file in "
                "QUOTH_MODERATION_WORDS."
            )
        opened.append(backend("moderator", name)(settings.moderation_words))
    return ModeratorChain(opened) if opened else None


def moderation_names(settings: Settings) -> list[str]:
    """Return the names in the setting, none where moderation is off."""
    names = [each.strip() for each in settings.moderation.split(",") if each.strip()]
    return [] if names in (["off"], ["none"]) else names


def moderation_access(name: str, settings: Settings) -> HttpAccess | None:
    """Return how openai[:MODEL][@ADDRESS] is reached, None for another; raises ConfigError."""
    provider, _, url = split_name(name)
    if provider != "openai":
        return None
    return provider_access(
        "moderator",
        name,
        settings,
        default=OPENAI_MODEL,
        option="QUOTH_MODERATION",
        timeout_s=settings.llm_first_seconds,
        retries=settings.llm_retries,
        needs_key=not url,
    )
