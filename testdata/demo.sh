#!/usr/bin/env bash
# Shows the main job on a rack of its own in a temporary settings folder: set, list, render, and one refusal.
set -euo pipefail
convox=$(realpath "$1")
CONVOX_CONFIG=$(mktemp -d)
export CONVOX_CONFIG CONVOX_RACK=demo
trap 'rm -rf "$CONVOX_CONFIG"' EXIT

run() {
	printf '\n$ convox'
	for word; do
		case $word in *[\ \*]*) printf ' "%s"' "$word" ;; *) printf ' %s' "$word" ;; esac
	done
	printf '\n'
	"$convox" "$@" 2>&1
}

run rack create demo karpenter_auth_mode=true karpenter_enabled=true build_node_enabled=true
run rack params set karpenter_build_disruption_budget_nodes=50%
run rack params set karpenter_disruption_block_schedule="0 13 * * SAT" karpenter_disruption_block_duration=164h
run rack params -g karpenter
run rack params render --budgets-only
if run rack params set karpenter_disruption_block_schedule="0 9 * * SAT-SUN" karpenter_disruption_block_duration=24h; then
	echo "the refusal is missing" >&2
	exit 1
fi
