#!/bin/sh
# Runs after the deb or rpm package is installed or upgraded.
set -e
command -v systemctl >/dev/null || exit 0
systemctl daemon-reload || true
systemctl try-restart pressroom.service 'pressroom@*.service' || true
