"""The collector of cycles looks through every object that lives, again and again while a profile of fifty MB is parsed,
for almost half of the time that takes. What is parsed has no cycles, so it runs between files of tests alone."""
import gc

import pytest

gc.disable()


@pytest.fixture(scope='module', autouse=True)
def collected():
    yield
    gc.collect()
