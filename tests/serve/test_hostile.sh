#!/usr/bin/env bash
# Hostile requests: hostile.py.
exec python3 -B tests/serve/hostile.py
