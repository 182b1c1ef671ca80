"""YouTube: the captions of videos, and the videos of playlists and channels."""
