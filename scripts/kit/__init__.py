# SPDX-License-Identifier: GPL-2.0-only
"""Modules that the programs of scripts/ share."""
