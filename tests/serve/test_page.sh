#!/usr/bin/env bash
# The page of the service in a real browser: page.py.
exec python3 -B tests/serve/page.py
