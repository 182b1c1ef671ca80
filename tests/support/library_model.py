"""A library that is used, killed and started again, beside a dictionary that says what it holds."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from pathlib import Path
from shutil import rmtree
from tempfile import mkdtemp
from typing import Any, ClassVar, TypeVar

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from tests.support.controlled_process import COMMON, Killed, Maker

T = TypeVar("T")

TENANTS = st.sampled_from(("ada", "bob"))
NAMES = st.sampled_from(("one", "two", "three"))
VERSIONS = st.integers(0, 3)
# In a quarter of the cases the process dies at one of its next writes.
KILLS = st.integers(0, 3).flatmap(lambda n: st.integers(1, 30) if n == 3 else st.just(0))


def words(name: str, version: int) -> str:
    """A text of its own; both tenants have the same ones."""
    topic = f"topic{name}{version}"
    paragraph = f"This is what {name} says of {COMMON} and {topic} in its version {version}."
    return f"# {name} {version}\n\n" + "\n\n".join([paragraph] * (1 + 2 * version))


class Library(RuleBasedStateMachine):
    """The rules; ``maker`` gives processes, and every example has a home of its own."""

    maker: ClassVar[Maker]
    steps: ClassVar[int] = 0
    kills: ClassVar[int] = 0

    def __init__(self) -> None:
        super().__init__()
        self.loop = asyncio.new_event_loop()
        self.folder = Path(mkdtemp(prefix="quoth-"))
        self.paths: dict[str, dict[str, int]] = {"ada": {}, "bob": {}}
        self.uploads: dict[str, set[tuple[str, int]]] = {"ada": set(), "bob": set()}
        self.dirty = False

    # --- rules --------------------------------------------------------------------------------

    @initialize()
    def start(self) -> None:
        self.hand = self.run(self.maker.hand(self.folder / "home"))

    @rule(tenant=TENANTS, name=NAMES, version=VERSIONS, kill=KILLS)
    def add_or_replace(self, tenant: str, name: str, version: int, kill: int) -> None:
        self.paths[tenant][name] = version
        file = self.folder / tenant / f"{name}.md"
        file.parent.mkdir(exist_ok=True)
        file.write_text(words(name, version), encoding="utf-8")
        self.surely("add", kill=kill, tenant=tenant, paths=[str(file)])

    @rule(tenant=TENANTS, name=NAMES, version=VERSIONS, kill=KILLS)
    def upload(self, tenant: str, name: str, version: int, kill: int) -> None:
        self.uploads[tenant].add((f"sent {name}", version))
        text = words(f"sent {name}", version)
        about = {"tenant": tenant, "name": f"{name}.md", "text": text}
        self.surely("send", kill=kill // 4, **about)
        self.surely("work", kill=kill)

    @rule(tenant=TENANTS, kill=KILLS)
    def re_ingest(self, tenant: str, kill: int) -> None:
        files = [str(self.folder / tenant / f"{each}.md") for each in self.paths[tenant]]
        if files:
            self.surely("add", kill=kill, tenant=tenant, paths=files)

    @precondition(lambda self: any(map(self.held, ("ada", "bob"))))
    @rule(tenant=TENANTS, which=st.integers(0, 100), kill=KILLS)
    def delete(self, tenant: str, which: int, kill: int) -> None:
        held = sorted(self.held(tenant))
        if not held:
            return
        gone = held[which % len(held)]
        ready = self.tell("ready", tenant=tenant)
        ids = [key for key, text in ready.items() if text.startswith(f"{gone[0]} {gone[1]}\n")]
        assert len(ids) == 1
        self.paths[tenant].pop(gone[0], None)
        self.uploads[tenant].discard(gone)
        self.surely("remove", kill=kill, tenant=tenant, ids=ids)

    @rule(tenant=TENANTS, name=NAMES, version=VERSIONS)
    def query(self, tenant: str, name: str, version: int) -> None:
        ready = self.tell("ready", tenant=tenant)
        found = self.tell("query", tenant=tenant, text=f"{COMMON} topic{name}{version}")
        assert set(found) <= set(ready)
        assert found or not ready

    @rule(tenant=TENANTS, kill=KILLS)
    def compact(self, tenant: str, kill: int) -> None:
        self.surely("compact", kill=kill, tenant=tenant)

    @rule(kill=st.integers(0, 3))
    def restart(self, kill: int) -> None:
        self.run(self.hand.kill() if kill == 3 else self.hand.leave())
        Library.kills += kill == 3
        self.start()

    # --- what must always hold ----------------------------------------------------------------

    @invariant()
    def holds_what_it_should(self) -> None:
        Library.steps += 1
        for tenant in ("ada", "bob"):
            held = [f"{name} {version}\n" for name, version in self.held(tenant)]
            ready = list(self.tell("ready", tenant=tenant).values())
            assert len(ready) == len(held)
            assert all(any(text.startswith(each) for text in ready) for each in held)

    @invariant()
    def is_in_step(self) -> None:
        # What a dead process left in the index is cleared by the next one that adds.
        assert self.tell("faults", tidy=not self.dirty) == []

    def teardown(self) -> None:
        try:
            for tenant in ("ada", "bob"):
                self.upload(tenant, "one", 0, 0)
                self.re_ingest(tenant, 0)
            self.dirty = False
            self.holds_what_it_should()
            self.is_in_step()
            self.run(self.hand.leave())
        finally:
            self.loop.close()
            rmtree(self.folder)

    # --- the process --------------------------------------------------------------------------

    def held(self, tenant: str) -> set[tuple[str, int]]:
        """The name and version of everything that a tenant should have."""
        return set(self.paths[tenant].items()) | self.uploads[tenant]

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        return self.loop.run_until_complete(work)

    def tell(self, deed: str, **about: Any) -> Any:
        return self.run(self.hand.do(deed, **about))

    def surely(self, deed: str, *, kill: int, **about: Any) -> None:
        """Have something done, again after a start if the process dies over it."""
        try:
            if kill:
                self.tell("arm", at=kill)
            self.tell(deed, **about)
            self.tell("arm", at=0)
        except Killed:
            Library.kills += 1
            self.dirty = True
            self.start()
            self.tell(deed, **about)
