package conformance

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"rackparams/params"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/util/json"
	karpenterv1 "sigs.k8s.io/karpenter/pkg/apis/v1"
)

// TestConfigBudgets shows that karpenter_config takes a budgets list exactly when it does what it says: what is taken
// reaches the workload pool unchanged, passes the API server and works in Karpenter, and what is refused would not.
func TestConfigBudgets(t *testing.T) {
	workload := plainWorkload(t)
	kinds := append(slices.Repeat([]string{undamaged}, len(damageNames)/2), damageNames...)
	var accepted, refused tally
	forEachCase(t, 12_000, func(r *rand.Rand) error {
		var budgets any = goodBudgets(r)
		kind := oneOf(r, kinds...)
		if kind != undamaged {
			budgets = damages[kind](r, budgets.([]any))
		}
		isAccepted, err := checkBudgets(workload, budgets)
		if isAccepted {
			accepted.add(kind)
		} else {
			refused.add(kind)
		}
		if err == nil {
			return nil
		}
		smallest := shrink(budgets, smallerJSON, func(budgets any) bool {
			_, err := checkBudgets(workload, budgets)
			return err != nil
		})
		_, err = checkBudgets(workload, smallest)
		return fmt.Errorf("%s: %w\nfor %s", kind, err, karpenterRack(budgetsOf(smallest)))
	})
	for _, kind := range append([]string{undamaged}, damageNames...) {
		t.Logf("%-32s accepted %4d, refused %4d", kind, accepted.of(kind), refused.of(kind))
	}
	require.Zero(t, refused.of(undamaged), "the generator is there to make budgets that are accepted")
	refused.requireAll(t, damageNames)
}

// karpenterRack returns a rack with Karpenter on and karpenter_config as given, as far as it is for the NodePool.
func karpenterRack(nodePool map[string]any) rackInput {
	return rackInput{release: "3.25.7", set: map[string]any{
		"karpenter_enabled": "true", "karpenter_auth_mode": "true", configName: map[string]any{"nodePool": nodePool},
	}}
}

// plainWorkload returns the workload pool of a rack with Karpenter on and nothing else set.
func plainWorkload(t *testing.T) map[string]any {
	t.Helper()
	rack, err := karpenterRack(map[string]any{}).rack()
	require.NoError(t, err)
	pools, err := renderedPools(rack)
	require.NoError(t, err)
	return pools[0].object
}

// checkBudgets sets the budgets in karpenter_config. It reports whether they are taken, and what is wrong with that.
func checkBudgets(workload map[string]any, budgets any) (accepted bool, err error) {
	rack, refusal := karpenterRack(budgetsOf(budgets)).rack()
	if refusal == nil {
		return true, checkAccepted(rack, budgets)
	}
	reason, err := whyRefuse(workload, budgets)
	if err == nil && reason == "" {
		err = fmt.Errorf("refused for no reason that the CRD of %s or Karpenter has: %w", karpenter113, refusal)
	}
	return false, err
}

// checkAccepted says where a rack with these budgets does not render what Karpenter takes, or other budgets.
func checkAccepted(rack params.Rack, budgets any) error {
	pools, err := checkRendered(rack)
	if err != nil {
		return fmt.Errorf("accepted, but %w", err)
	}
	want, err := jsonValue(budgets)
	if err != nil {
		return err
	}
	disruption := pools[0].object["spec"].(map[string]any)["disruption"].(map[string]any)
	if got := disruption["budgets"]; !reflect.DeepEqual(got, want) {
		return fmt.Errorf("rendered as %v", got)
	}
	return nil
}

// jsonValue returns a value as it is decoded by the API server.
func jsonValue(value any) (any, error) {
	document, err := json.Marshal(value)
	if err != nil {
		return nil, err
	}
	var decoded any
	err = json.Unmarshal(document, &decoded)
	return decoded, err
}

// whyRefuse returns what would happen to a workload pool with these budgets that their author cannot have meant, or "".
func whyRefuse(workload map[string]any, budgets any) (string, error) {
	crd, err := findCRD(karpenter113)
	if err != nil {
		return "", err
	}
	decoded, err := jsonValue(budgets)
	if err != nil {
		return "", err
	}
	object := withSpec(workload, budgetsOf(decoded))
	switch result := crd.create(object); {
	case len(result.Errors) > 0:
		return "the API server refuses them", nil
	case len(result.Pruned) > 0:
		return "the API server drops a field", nil
	case result.Changed:
		return "the API server fills in a default", nil
	}
	document, err := json.Marshal(object)
	if err != nil {
		return "", err
	}
	var pool karpenterv1.NodePool
	if err := json.Unmarshal(document, &pool); err != nil {
		return "Karpenter cannot decode the pool", nil
	}
	if err := pool.RuntimeValidate(context.Background()); err != nil {
		return "Karpenter takes the pool out of service", nil
	}
	for _, budget := range pool.Spec.Disruption.Budgets {
		if reason := whyRefuseBudget(budget); reason != "" {
			return reason, nil
		}
	}
	return "", nil
}

// whyRefuseBudget returns why a budget that the API server takes cannot be meant, or "".
func whyRefuseBudget(budget karpenterv1.Budget) string {
	if checkAllowances([]karpenterv1.Budget{budget}) != nil {
		return "Karpenter cannot work with a budget"
	}
	always := karpenterv1.Budget{Nodes: budget.Nodes}
	allowed, err := always.GetAllowedDisruptions(clocks[0], 1000)
	if err != nil || allowed < 0 {
		return "Karpenter cannot work with the nodes of a budget"
	}
	if count, err := strconv.Atoi(budget.Nodes); err == nil && allowed != count {
		return "Karpenter wraps the count of a budget round"
	}
	// The one refusal that is the program's own: the API server and Karpenter take a list of no reasons, and then the
	// budget never counts.
	if budget.Reasons != nil && len(budget.Reasons) == 0 {
		return "a budget without reasons matches nothing"
	}
	return ""
}

// goodBudgets returns a budgets list that does what it says.
func goodBudgets(r *rand.Rand) []any {
	budgets := []any{}
	for range few(r, 50) {
		budgets = append(budgets, goodBudget(r))
	}
	return budgets
}

func goodBudget(r *rand.Rand) map[string]any {
	budget := map[string]any{"nodes": budgetNodes(r)}
	if chance(r, 0.5) {
		budget["reasons"] = some[any](r, 1, 3, "Empty", "Drifted", "Underutilized")
	}
	if chance(r, 0.5) {
		budget["schedule"] = budgetSchedule(r)
		budget["duration"] = budgetDuration(r)
	}
	return budget
}

// budgetSchedule returns a schedule as Karpenter takes it: any cron of five fields, or a macro.
func budgetSchedule(r *rand.Rand) string {
	if chance(r, 0.2) {
		return oneOf(r, "@annually", "@yearly", "@monthly", "@weekly", "@daily", "@midnight", "@hourly")
	}
	fields := []string{cronField(r, 0, 59), cronField(r, 0, 23), cronField(r, 1, 31), cronField(r, 1, 12), weekdayField(r)}
	if chance(r, 0.1) {
		fields[3] = oneOf(r, "JAN", "feb", "Mar-DEC", "JAN,jul")
	}
	if chance(r, 0.05) {
		fields[2], fields[3] = "31", "2" // never fires
	}
	return strings.Join(fields, oneOf(r, " ", " ", "  ", "\t"))
}

func cronField(r *rand.Rand, least, most int) string {
	first := least + r.IntN(most-least+1)
	last := first + r.IntN(most-first+1)
	return oneOf(r, "*", "*", "?", "*/5", fmt.Sprint(first), fmt.Sprintf("%02d", first), fmt.Sprintf("%d-%d", first, last),
		fmt.Sprintf("%d-%d/3", first, last), fmt.Sprintf("%d/7", first), fmt.Sprintf("%d,%d", first, last))
}

func budgetDuration(r *rand.Rand) string {
	return oneOf(r, "8h", "90m", "8h30m", "12h00m0s", "5m0s", "0h", "0m", "2562047h", "2562047h47m", "0008h", minutesText(r, 1+r.IntN(20000)))
}

// undamaged is the kind of a list as goodBudgets makes it.
const undamaged = "undamaged"

// damages are what people, and tools, do to a budgets list. Not every one of them does harm each time.
var damages = map[string]func(r *rand.Rand, budgets []any) any{
	"the list is something else": func(r *rand.Rand, _ []any) any {
		return oneOf[any](r, nil, "10%", 10, true, map[string]any{"nodes": "10%"})
	},
	"an entry is something else": func(r *rand.Rand, budgets []any) any {
		return slices.Insert(budgets, r.IntN(len(budgets)+1), oneOf[any](r, nil, "10%", 10, false, []any{}, map[string]any{}))
	},
	"nodes are missing": damage(func(_ *rand.Rand, budget map[string]any) { delete(budget, "nodes") }),
	"nodes are of the wrong type": set("nodes", func(r *rand.Rand) any {
		return oneOf[any](r, 5, 0, 1.5, nil, true, []any{"5"}, map[string]any{"count": 5})
	}),
	"nodes are no count": set("nodes", func(r *rand.Rand) any {
		return oneOf(r, "", "-1", "101%", "10 %", "5.5", "five", "100%%", " 5", "5 ", "1000%", "+5", "0x5", "1e3", "%", "５", "10%\n", mutated(r, budgetNodes(r), digits+"%-. "))
	}),
	"the count is past 32 bits": set("nodes", func(r *rand.Rand) any {
		return oneOf(r, "2147483648", "4294967295", "4294967296", "4294967301", "9223372036854775807", strconv.FormatUint(1<<31+r.Uint64N(1<<62), 10))
	}),
	"the count is past 64 bits": set("nodes", func(r *rand.Rand) any {
		return oneOf(r, "9223372036854775808", "18446744073709551616", strings.Repeat("9", 20+r.IntN(40)))
	}),
	"reasons are of the wrong type": set("reasons", func(r *rand.Rand) any {
		return oneOf[any](r, nil, "Empty", 1, map[string]any{"Empty": true}, []any{1}, []any{nil}, []any{[]any{"Empty"}})
	}),
	"a reason is unknown": set("reasons", func(r *rand.Rand) any {
		return []any{"Drifted", oneOf(r, "empty", "Expired", "Unhealthy", "", "EMPTY", "Empty ", mutated(r, "Underutilized", letters))}
	}),
	"reasons are empty": set("reasons", func(*rand.Rand) any { return []any{} }),
	"a reason stands twice": set("reasons", func(r *rand.Rand) any {
		return oneOf(r, []any{"Empty", "Empty"}, []any{"Empty", "Drifted", "Empty"})
	}),
	"schedule is alone": damage(func(r *rand.Rand, budget map[string]any) {
		budget["schedule"] = budgetSchedule(r)
		delete(budget, "duration")
	}),
	"duration is alone": damage(func(r *rand.Rand, budget map[string]any) {
		budget["duration"] = budgetDuration(r)
		delete(budget, "schedule")
	}),
	"schedule is of the wrong type": set("schedule", func(r *rand.Rand) any { return oneOf[any](r, nil, 9, true, []any{"@daily"}) }),
	"schedule is no schedule": pair(func(r *rand.Rand) (any, any) {
		return oneOf(r, "", "@every 1h", "@reboot", "@dailyx", "@daily ", " @daily", "@Daily", "0 9 * *", "0 9 * * 1 *", "60 9 * * *", "0 24 * * *",
			"0 9 0 * *", "0 9 * 13 *", "TZ=UTC 0 9 * * *", "CRON_TZ=UTC 0 9 * * *", "0 9 * * 7", "0 9 * * SAT-SUN", "0 9 * * ,", "x0 9 * * *", "@daily @weekly",
			"0 9 * * MON\n", "\n0 9 * * MON", spacedSchedule(r), "0 9 * * "+mutatedWeekdayField(r), mutated(r, budgetSchedule(r), digits+"*,-/ @\t")), budgetDuration(r)
	}),
	"duration is of the wrong type": set("duration", func(r *rand.Rand) any { return oneOf[any](r, nil, 8, 3600000000000, []any{"8h"}) }),
	"duration is no duration": pair(func(r *rand.Rand) (any, any) {
		return budgetSchedule(r), oneOf(r, "", "8", "1d", "30s", "8h30", "-5m", "1.5h", " 8h", "8H", "8h 30m", "8h30m30s", "30m8h", "0s", "8h\n", "1h0m0s0s", "9999999h", "2562048h", "2562047h48m",
			"153722868m", strings.Repeat("9", 30)+"h", mutated(r, budgetDuration(r), digits+"hms."))
	}),
	"there are too many": func(r *rand.Rand, _ []any) any {
		budgets := []any{}
		for range oneOf(r, 50, 51, 52, 200) {
			budgets = append(budgets, map[string]any{"nodes": "10%"})
		}
		return budgets
	},
	"a key is unknown": damage(func(r *rand.Rand, budget map[string]any) {
		budget[oneOf(r, "node", "Nodes", "reason", "schedules", "timezone", "crontab", "NODES", "Reasons", "")] = oneOf[any](r, "5", nil, []any{"Empty"})
	}),
	"a key is misspelt": damage(func(r *rand.Rand, budget map[string]any) {
		key := oneOf(r, slices.Sorted(maps.Keys(budget))...)
		value := budget[key]
		delete(budget, key)
		budget[mutated(r, key, lower+upper)] = value
	}),
}

var damageNames = slices.Sorted(maps.Keys(damages))

// damage does harm to one of the budgets, or to a new one behind them.
func damage(harm func(r *rand.Rand, budget map[string]any)) func(r *rand.Rand, budgets []any) any {
	return func(r *rand.Rand, budgets []any) any {
		if len(budgets) == 0 || chance(r, 0.3) {
			budgets = append(budgets, goodBudget(r))
		}
		budget, _ := budgets[r.IntN(len(budgets))].(map[string]any)
		harm(r, budget)
		return budgets
	}
}

// set gives a field of one of the budgets another value.
func set(field string, value func(r *rand.Rand) any) func(r *rand.Rand, budgets []any) any {
	return damage(func(r *rand.Rand, budget map[string]any) { budget[field] = value(r) })
}

// pair gives one of the budgets another schedule and duration.
func pair(values func(r *rand.Rand) (schedule, duration any)) func(r *rand.Rand, budgets []any) any {
	return damage(func(r *rand.Rand, budget map[string]any) { budget["schedule"], budget["duration"] = values(r) })
}
