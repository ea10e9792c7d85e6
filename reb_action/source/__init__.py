"""The pinned source of the repository under test."""
