"""view_profile-fetch: answers each question on its own stream, refuses what is none, and ends with who started it."""
import os
import subprocess
import sys
import time

import pytest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))
import fetching  # noqa: E402

pytestmark = pytest.mark.skipif(not os.path.exists(fetching.program()), reason="SKIP: built without libcurl")
EARG = -2


def test_it_is_not_run_by_hand():
    done = subprocess.run([fetching.program()], capture_output=True, text=True, stdin=subprocess.DEVNULL)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("view_profile: ") and done.stderr.count("\n") == 1


@pytest.mark.parametrize("text", [b"\xff" * 12, b"\x0a\xff\xff\xff\xff\x0f", fetching.field(fetching.WHAT, 0),
                                  fetching.field(fetching.WHAT, 99), fetching.field(fetching.WHAT, 2**64 - 1),
                                  fetching.field(fetching.URL, "http://127.0.0.1/")])
def test_what_is_no_question_is_refused(text):
    with fetching.Fetcher(fetching.program()) as fetcher:
        code, message, _ = fetching.failure(fetcher.answer(text)[-1])
        assert code == EARG and message
        code, _, _ = fetching.failure(fetcher.answer(text)[-1])  # and the next is heard
        assert code == EARG
    assert fetcher.child.returncode == 0


def test_it_ends_when_nobody_can_ask():
    with fetching.Fetcher(fetching.program()) as fetcher:
        pass
    assert fetcher.child.returncode == 0


def test_no_descriptor_is_kept():
    """Of questions that are refused, whatever came with them."""
    with fetching.Fetcher(fetching.program()) as fetcher, open("/dev/null") as null:
        def held():
            """Once the answers' threads have closed theirs."""
            time.sleep(0.2)
            return len(os.listdir(f"/proc/{fetcher.child.pid}/fd"))

        fetcher.answer(b"\xff")
        before = held()
        for _ in range(50):
            fetcher.answer(b"\xff", null.fileno(), null.fileno())
            fetcher.answer(fetching.question(fetching.READ, url="nothing://x"), null.fileno())
        assert held() == before
