package fleet

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"rackparams/pkg/nodepool"
	"rackparams/pkg/schedule"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var now = time.Date(2026, 12, 1, 12, 0, 0, 0, time.UTC)

func read(t *testing.T, objects ...string) *Fleet {
	t.Helper()
	f, err := Read(strings.NewReader(`{"apiVersion":"v1","kind":"List","items":[`+strings.Join(objects, ",")+`]}`), "kubectl")
	require.NoError(t, err)
	return f
}

// claim is a NodeClaim of the pool a, as old as is given.
func claim(id string, age time.Duration, expireAfter, more string) string {
	return fmt.Sprintf(`{"apiVersion":"karpenter.sh/v1","kind":"NodeClaim","metadata":{"name":%q,"labels":{"karpenter.sh/nodepool":"a"},"creationTimestamp":%q%s},
		"spec":{"expireAfter":%[4]q},"status":{"providerID":%[1]q}}`, id, now.Add(-age).Format(time.RFC3339), more, expireAfter)
}

func node(id, labels, taints, ready string) string {
	return fmt.Sprintf(`{"apiVersion":"v1","kind":"Node","metadata":{"name":%q,"labels":{"karpenter.sh/nodepool":"a","karpenter.sh/registered":"true",%s}},
		"spec":{"providerID":%[1]q,"taints":[%[3]s]},"status":{"conditions":[{"type":"Ready","status":%[4]q}]}}`, id, labels, taints, ready)
}

const (
	initialized = `"karpenter.sh/initialized":"true"`
	deleting    = `,"deletionTimestamp":"2026-12-01T11:00:00Z"`
	disrupted   = `{"key":"karpenter.sh/disrupted","effect":"NoSchedule"}`
)

// TestState counts nodes one at a time.
func TestState(t *testing.T) {
	for _, c := range []struct {
		is   string
		objs []string
		want nodepool.State
	}{
		{"ready", []string{claim("1", 0, "Never", ""), node("1", initialized, "", "True")}, nodepool.State{Nodes: 1}},
		{"not ready", []string{claim("1", 0, "Never", ""), node("1", initialized, "", "False")}, nodepool.State{Nodes: 1, NotReady: 1}},
		{"of unknown readiness", []string{claim("1", 0, "Never", ""), node("1", initialized, "", "Unknown")}, nodepool.State{Nodes: 1, NotReady: 1}},
		{"being deleted", []string{claim("1", 0, "Never", deleting), node("1", initialized, "", "True")}, nodepool.State{Nodes: 1, Deleting: 1}},
		{"being deleted and not ready", []string{claim("1", 0, "Never", deleting), node("1", initialized, "", "False")}, nodepool.State{Nodes: 1, Deleting: 1}},
		{"chosen to be disrupted", []string{claim("1", 0, "Never", ""), node("1", initialized, disrupted, "True")}, nodepool.State{Nodes: 1, Deleting: 1}},
		{"not initialized", []string{claim("1", 0, "Never", ""), node("1", `"x":"y"`, "", "True")}, nodepool.State{}},
		{"no node of Karpenter's", []string{node("1", initialized, "", "True")}, nodepool.State{}},
		{"a claim without a node", []string{claim("1", 0, "Never", "")}, nodepool.State{}},
		{"of another claim", []string{claim("1", 0, "Never", ""), node("2", initialized, "", "True")}, nodepool.State{}},
	} {
		pools := read(t, c.objs...).Status([]nodepool.NodePool{{Metadata: nodepool.Metadata{Name: "a"}}})
		assert.Equal(t, c.want, pools[0].State, "a node that is %s", c.is)
	}
}

// TestExpiry counts what expires, on both sides of each limit.
func TestExpiry(t *testing.T) {
	day := 24 * time.Hour
	f := read(t,
		claim("never", 1000*day, "Never", ""),
		claim("expired", 31*day, "720h", ""),
		claim("in a day", 29*day, "720h0m0s", ""),
		claim("a second later", 29*day-time.Second, "720h", ""),
		claim("in a week", 23*day, "", ""),
		claim("a second after that", 23*day-time.Second, "720h", ""),
		claim("on its way out", 31*day, "720h", deleting),
	)
	pool := f.Status([]nodepool.NodePool{{Metadata: nodepool.Metadata{Name: "a"}}})[0]
	assert.Equal(t, 2, pool.ExpiringWithin(now, day), "what has expired, and what does in a day")
	assert.Equal(t, 4, pool.ExpiringWithin(now, 7*day))
	assert.Equal(t, 5, pool.StillExpire())
	assert.Equal(t, 1, pool.Expiring(schedule.Span{From: now.Add(day), To: now.Add(day + time.Second)}, now), "a window is half open")
	assert.Equal(t, 1, pool.Expiring(schedule.Span{From: now, To: now.Add(day)}, now), "what has expired goes now")
	assert.Equal(t, 0, pool.Expiring(schedule.Span{From: now.Add(time.Hour), To: now.Add(day)}, now))
}

// TestRoll counts those that have the wanted expiry: the rack's for the pool, else the NodePool's.
func TestRoll(t *testing.T) {
	pool := `{"apiVersion":"karpenter.sh/v1","kind":"NodePool","metadata":{"name":"a"},"spec":{"template":{"spec":{"expireAfter":"24h"}}}}`
	f := read(t, pool, claim("1", 0, "1440m", ""), claim("2", 0, "Never", deleting), claim("3", 0, "720h", ""))
	assert.Equal(t, Roll{"24h", 1, 3}, f.Status(nil)[0].Roll())
	rendered := nodepool.NodePool{Metadata: nodepool.Metadata{Name: "a"}}
	assert.Equal(t, Roll{"720h", 1, 3}, f.Status([]nodepool.NodePool{rendered})[0].Roll(), "what the API server fills in")
	rendered.Spec.Template.Spec.ExpireAfter = "Never"
	assert.Equal(t, Roll{"Never", 1, 3}, f.Status([]nodepool.NodePool{rendered})[0].Roll())
}

// TestAsRendered holds live budgets against rendered ones, however they are written.
func TestAsRendered(t *testing.T) {
	rendered := nodepool.NodePool{Metadata: nodepool.Metadata{Name: "a"}}
	rendered.Spec.Disruption.Budgets = nodepool.Budgets{{Nodes: "10%"},
		{Nodes: "0", Reasons: nodepool.Reasons{nodepool.Drifted, nodepool.Underutilized}, Schedule: "0 9 * * MON-FRI", Duration: "8h"}}
	const window = `{"nodes":"0","reasons":["Underutilized","Drifted"],"schedule":"0 9 * * MON-FRI","duration":"480m"}`
	for budgets, want := range map[string]bool{
		`[{"nodes":"10%"},` + window + `]`:                                             true,
		`[` + window + `,{"nodes":"10%"}]`:                                             true,
		`[{"nodes":"10%"}]`:                                                            false,
		`[{"nodes":"10%"},` + window + `,` + window + `]`:                              false,
		`[{"nodes":"10%"},` + strings.Replace(window, "480", "479", 1) + `]`:           false,
		`[{"nodes":"10%"},` + strings.Replace(window, `"Underutilized",`, "", 1) + `]`: false,
		`[{"nodes":"10%"},{"nodes":"0","schedule":"0 9 * * MON-FRI","duration":"8h"}]`: false,
		`[]`:     false,
		`"10%"`:  false,
		`[null]`: false,
	} {
		f := read(t, `{"apiVersion":"karpenter.sh/v1","kind":"NodePool","metadata":{"name":"a"},"spec":{"disruption":{"budgets":`+budgets+`}}}`)
		assert.Equal(t, want, f.Status([]nodepool.NodePool{rendered})[0].AsRendered(), budgets)
	}
	assert.False(t, read(t).Status([]nodepool.NodePool{rendered})[0].AsRendered(), "a pool that the cluster does not have")

	// An absent list is the budget that the API server fills in.
	rendered.Spec.Disruption.Budgets = nil
	f := read(t, `{"apiVersion":"karpenter.sh/v1","kind":"NodePool","metadata":{"name":"a"},"spec":{"disruption":{"budgets":[{"nodes":"10%"}]}}}`)
	assert.True(t, f.Status([]nodepool.NodePool{rendered})[0].AsRendered())
}

// TestOrder has the rack's pools first, in its order, then the others by name.
func TestOrder(t *testing.T) {
	pool := func(name string) string {
		return fmt.Sprintf(`{"apiVersion":"karpenter.sh/v1","kind":"NodePool","metadata":{"name":%q}}`, name)
	}
	var names []string
	for _, p := range read(t, pool("z"), pool("build"), pool("b")).Status([]nodepool.NodePool{{Metadata: nodepool.Metadata{Name: "workload"}}, {Metadata: nodepool.Metadata{Name: "build"}}}) {
		names = append(names, fmt.Sprintf("%s live=%t rendered=%t", p.Name, p.Live != nil, p.Rendered != nil))
	}
	assert.Equal(t, []string{"workload live=false rendered=true", "build live=true rendered=true", "b live=true rendered=false", "z live=true rendered=false"}, names)
}

// TestReadForms reads the forms in which objects come: kubectl's List, the API server's own lists, and several of them.
func TestReadForms(t *testing.T) {
	claims := `{"apiVersion":"karpenter.sh/v1","kind":"NodeClaimList","items":[` + claim("1", 0, "Never", "") + `],"metadata":{}}`
	nodes := strings.ReplaceAll(node("1", initialized, "", "True"), `"apiVersion":"v1","kind":"Node",`, "")
	for name, text := range map[string]string{
		"one list behind the other":              claims + "\n" + `{"kind":"NodeList","apiVersion":"v1","items":[` + nodes + `]}`,
		"the kind behind the items":              claims + `{"apiVersion":"v1","items":[` + nodes + `],"kind":"NodeList"}`,
		"a mark before the text, and duplicates": "\ufeff" + claims + claims + node("1", initialized, "", "False") + node("1", initialized, "", "True"),
		"no list at all":                         claim("1", 0, "Never", "") + node("1", initialized, "", "True"),
		"other kinds, and empty lists":           claims + `{"apiVersion":"v1","kind":"PodList","items":null}{"apiVersion":"v1","kind":"Pod"}` + node("1", initialized, "", "True"),
		"fields that nobody knows here":          claims + strings.Replace(node("1", initialized, "", "True"), `"spec":{`, `"spec":{"x":[1,{"y":null}],`, 1),
	} {
		f, err := Read(strings.NewReader(text), "kubectl")
		if assert.NoError(t, err, name) {
			assert.Len(t, f.Claims, 1, name)
			assert.Len(t, f.Nodes, 1, name)
			assert.Equal(t, nodepool.State{Nodes: 1}, f.states()["a"], name)
		}
	}
	f, err := Read(strings.NewReader(`{"kind":"NodePoolList","apiVersion":"karpenter.sh/v1","items":[{"metadata":{"name":"x"},"spec":{}}]}`), "kubectl")
	assert.NoError(t, err)
	assert.Equal(t, "x", f.Pools[0].Name)
	f, err = Read(strings.NewReader(`{"apiVersion":"v1","kind":"List","items":[]}`), "kubectl")
	assert.NoError(t, err)
	assert.Equal(t, &Fleet{}, f)
}

// TestReadErrors names what cannot be read.
func TestReadErrors(t *testing.T) {
	for text, want := range map[string]string{
		"apiVersion: v1":                         "dump is not what `kubectl get nodepools,nodeclaims,nodes -o json` prints: invalid character",
		"[]":                                     "it holds something that is no object",
		`{"kind":"List","items":[{"kind":"Node"`: "unexpected EOF",
		`{"kind":"List","items":{}}`:             "it holds something that is no object",
		`{"kind":"List","items":[3]}`:            "an object of it is not one of Kubernetes: it is of the type number, where another one belongs",
		`{"kind":"Node","metadata":{"name":7}}`:  "an object of it is not one of Kubernetes: metadata.name is of the type number, where another one belongs",
		`{}`:                                     "an object of it does not say its kind",
		`{"kind":"List","items":[{}]}`:           "an object of it does not say its kind",
		`{"apiVersion":"v1","kind":"Node"}`:      `dump: Node "": it has no metadata.name`,
		`{"apiVersion":"karpenter.sh/v1","kind":"NodePool","metadata":null}`:          `dump: NodePool "": it has no metadata.name`,
		`{"apiVersion":"v1","kind":"Node","metadata":{"name":"n","labels":[]}}`:       `dump: Node "n": metadata.labels is of the type array, where another one belongs`,
		`{"apiVersion":"karpenter.sh/v1","kind":"NodeClaim","metadata":{"name":"c"}}`: `dump: NodeClaim "c": it has no metadata.creationTimestamp`,
		claim("c", 0, "soon", ""): `dump: NodeClaim "c": its spec.expireAfter "soon" is not a duration`,
	} {
		_, err := Read(strings.NewReader(text), "dump")
		assert.ErrorContains(t, err, want, text)
	}
}

// BenchmarkRead reads what kubectl prints of 5,000 nodes, each of the size that nodes have.
func BenchmarkRead(b *testing.B) {
	var text strings.Builder
	text.WriteString(`{"apiVersion":"v1","kind":"List","items":[{"apiVersion":"karpenter.sh/v1","kind":"NodePool","metadata":{"name":"a"}}`)
	images := strings.Repeat(`{"names":["registry.example.com/team/application@sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"],"sizeBytes":123456789},`, 60)
	for i := range 5000 {
		id := fmt.Sprint(i)
		text.WriteString("," + claim(id, 0, "720h", "") + "," + strings.Replace(node(id, initialized, "", "True"), `"status":{`, `"status":{"images":[`+strings.TrimSuffix(images, ",")+`],`, 1))
	}
	text.WriteString("]}")
	b.SetBytes(int64(text.Len()))
	for b.Loop() {
		f, err := Read(strings.NewReader(text.String()), "kubectl")
		require.NoError(b, err)
		require.Equal(b, 5000, f.states()["a"].Nodes)
	}
}
