"""Tests that start programs of the build as another user, which only root can do."""
import os
import pathlib

BUILD = pathlib.Path(os.environ.get('VP_BUILD') or pathlib.Path(__file__).resolve().parents[1] / 'build' / 'dev')


def why_not():
    """Why no other user can run a program of the build; empty: one can."""
    if os.geteuid() != 0:
        return 'SKIPPED: only root can start programs as other users'
    closed = [d for d in (BUILD.resolve(), *BUILD.resolve().parents) if d.exists() and not d.stat().st_mode & 0o001]
    return f'SKIPPED: other users cannot enter {closed[-1]}: clone to another directory' if closed else ''
