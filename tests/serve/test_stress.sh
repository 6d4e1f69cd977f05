#!/usr/bin/env bash
# Mixed requests and garbage; `make stress` sends a million.
exec python3 -B tests/serve/stress.py "${STRESS_REQUESTS:-10000}"
