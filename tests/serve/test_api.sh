#!/usr/bin/env bash
# What the service answers: api.py.
exec python3 -B tests/serve/api.py
