#!/usr/bin/env bash
# How the service is operated: operation.py.
exec python3 -B tests/serve/operation.py
