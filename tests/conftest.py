# SPDX-License-Identifier: MIT
"""One folder per pytest run, shared by its workers, where scenarios keep what they
printed: a run that several tests look at happens once."""

import os
import shutil
import tempfile

VARIABLE = "ANECHOIC_TEST_SESSION"


def pytest_configure(config):
    if not hasattr(config, "workerinput"):  # workers inherit the variable
        os.environ[VARIABLE] = tempfile.mkdtemp(prefix="anechoic-tests-")


def pytest_unconfigure(config):
    if not hasattr(config, "workerinput"):
        shutil.rmtree(os.environ.pop(VARIABLE), ignore_errors=True)
