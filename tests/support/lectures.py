"""A small course book and a lecture on it, for the tests of live sessions."""

from __future__ import annotations

from pathlib import Path

from quoth.core.lecture import TranscriptSegment

TOPICS = {
    "Queens": "The queen of the hive lays two thousand eggs a day and mates only once in her life",
    "Wax": "Wax is sweated by young workers in thin scales that they chew into hexagonal comb",
    "Dances": "A forager dances a figure of eight that shows the angle to the sun and the distance",
    "Swarms": "A swarm hangs in a cluster while scouts look for a hollow tree to live in",
    "Mites": "Varroa mites breed in capped brood cells and carry a virus that deforms the wings",
    "Honey": "Nectar is thickened to honey by fanning until less than a fifth of it is water",
    "Drones": "Drones have no father and gather high in the air to wait for a virgin queen",
    "Winter": "The winter cluster shivers its flight muscles to keep the brood at thirty degrees",
    "Smoke": "Smoke makes workers fill their stomachs and hides the scent of the alarm",
    "Pollen": "Pollen is packed on the hind legs and fermented in cells to bee bread",
    "Stings": "The sting is barbed and pumps venom on after the bee has torn itself free",
    "Law": "Hives must be registered with the office of the county before the first of May",
}


def write_book(folder: Path) -> Path:
    """Write the book as Markdown, one section a topic, which is a chunk of its own."""
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / "bees.md"
    parts = [f"## {title}\n\n{text}." for title, text in TOPICS.items()]
    file.write_text("# The bee book\n\n" + "\n\n".join(parts), "utf-8")
    return file


def spoken(*titles: str, start: float = 0.0) -> list[TranscriptSegment]:
    """Return a lecture that says each topic in two sentences of its own words."""
    segments = []
    for at, title in enumerate(titles):
        begins = start + at * 14.0
        text = f"{TOPICS[title]}. So once more, {TOPICS[title].lower()}."
        segments.append(TranscriptSegment(f"s{begins:07.1f}", begins, begins + 13.0, text))
    return segments
