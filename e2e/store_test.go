package e2e

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"rackparams/e2e/cluster"
	"rackparams/params"
	"rackparams/pkg/kube"
	"rackparams/pkg/store"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// clusterStore is a store in a namespace of its own, which a user of the kubeconfig opens.
func clusterStore(t *testing.T, c *cluster.Cluster, namespace, user string) (*store.Cluster, *kube.Client) {
	t.Helper()
	ctx := t.Context()
	_, _, err := c.As(cluster.Admin).Apply(ctx, namespaceObject(namespace), "", cluster.ApplyOptions{})
	require.NoError(t, err)
	kubeconfig := filepath.Join(t.TempDir(), "kubeconfig")
	require.NoError(t, c.WriteKubeconfig(kubeconfig, namespace))
	client, err := kube.Open(kube.Access{Kubeconfig: kubeconfig, Context: user})
	require.NoError(t, err)
	return store.InCluster(client, namespace, t.TempDir(), "nobody"), client
}

// create makes the rack prod.
func create(t *testing.T, s store.Store, values map[string]string) {
	t.Helper()
	rack, err := params.NewRack("aws", values)
	require.NoError(t, err)
	require.NoError(t, s.Create(store.Rack{Rack: rack, Name: "prod"}))
}

// set is a change that sets values.
func set(values map[string]string) func(store.Rack) (map[string]string, error) {
	return func(rack store.Rack) (map[string]string, error) {
		stored := rack.Stored()
		for name, value := range values {
			stored[name] = value
		}
		return stored, nil
	}
}

// during makes a change in the course of which, the first time, something else happens.
func during(t *testing.T, change func(store.Rack) (map[string]string, error), meanwhile func()) func(store.Rack) (map[string]string, error) {
	calls := 0
	return func(rack store.Rack) (map[string]string, error) {
		if calls++; calls == 1 {
			meanwhile()
		}
		require.Less(t, calls, 10)
		return change(rack)
	}
}

// TestTwoWriters has one writer change a rack between another one's reading and writing.
func TestTwoWriters(t *testing.T) {
	c := sharedCluster(t)
	s, _ := clusterStore(t, c, "two-writers", cluster.Admin)
	create(t, s, map[string]string{"node_disk": "20", "docker_hub_password": "first"})
	t.Cleanup(func() { assert.NoError(t, s.Delete("prod")) })
	update := func(mine, theirs map[string]string) error {
		return s.Update("prod", during(t, set(mine), func() { require.NoError(t, s.Update("prod", set(theirs))) }))
	}
	values := func() map[string]string {
		rack, err := s.Rack("prod")
		require.NoError(t, err)
		return rack.Stored()
	}

	// Different parameters are both kept, whether they are in the ConfigMap or in the Secret.
	require.NoError(t, update(map[string]string{"node_disk": "30"}, map[string]string{"idle_timeout": "100"}))
	assert.Equal(t, map[string]string{"node_disk": "30", "idle_timeout": "100", "docker_hub_password": "first"}, values())
	require.NoError(t, update(map[string]string{"node_disk": "40"}, map[string]string{"docker_hub_password": "second"}))
	assert.Equal(t, map[string]string{"node_disk": "40", "idle_timeout": "100", "docker_hub_password": "second"}, values())
	require.NoError(t, update(map[string]string{"docker_hub_password": "third"}, map[string]string{"access_id": "x"}))
	assert.Equal(t, map[string]string{"node_disk": "40", "idle_timeout": "100", "docker_hub_password": "third", "access_id": "x"}, values())

	// The same one is refused, with who and when, and nothing of the change is stored.
	err := update(map[string]string{"node_disk": "50", "idle_timeout": "200"}, map[string]string{"node_disk": "60"})
	var conflict *store.ConflictError
	require.ErrorAs(t, err, &conflict)
	assert.Equal(t, []string{"node_disk"}, conflict.Names)
	assert.Regexp(t, `^node_disk was changed to "60" by admin at 20\S+Z, at the same time; nothing is stored`, err.Error())
	assert.Equal(t, "60", values()["node_disk"])
	assert.Equal(t, "100", values()["idle_timeout"])

	// So is one that sets what it had before, which would undo the other's without a trace; and the value of a sensitive one is not told.
	require.ErrorAs(t, update(map[string]string{"node_disk": "60", "idle_timeout": "300"}, map[string]string{"node_disk": "70"}), &conflict)
	err = update(map[string]string{"docker_hub_password": "mine"}, map[string]string{"docker_hub_password": "theirs"})
	require.ErrorAs(t, err, &conflict)
	assert.NotContains(t, err.Error(), "theirs")
	assert.Equal(t, "theirs", values()["docker_hub_password"])

	// Two who want the same get it.
	require.NoError(t, update(map[string]string{"node_disk": "80"}, map[string]string{"node_disk": "80"}))

	history, err := s.History("prod")
	require.NoError(t, err)
	assert.Len(t, history, 1+2*3+1+1+1+1, "create, three pairs, three refused whose others got through, and the two who want the same")
}

// TestReadersSeeOneOrTheOther reads while a sensitive parameter and another one change together: each read has both old or both new.
func TestReadersSeeOneOrTheOther(t *testing.T) {
	c := sharedCluster(t)
	s, _ := clusterStore(t, c, "readers", cluster.Admin)
	create(t, s, map[string]string{"docker_hub_username": "0", "docker_hub_password": "0"})
	t.Cleanup(func() { assert.NoError(t, s.Delete("prod")) })
	done := make(chan struct{})
	go func() {
		defer close(done)
		for i := range 30 {
			value := string(rune('a' + i%26))
			assert.NoError(t, s.Update("prod", set(map[string]string{"docker_hub_username": value, "docker_hub_password": value})))
		}
	}()
	reads := 0
	for running := true; running; reads++ {
		select {
		case <-done:
			running = false
		default:
		}
		rack, err := s.Rack("prod")
		require.NoError(t, err)
		require.Equal(t, rack.Value("docker_hub_username"), rack.Value("docker_hub_password"))
	}
	assert.Greater(t, reads, 10)
}

// TestWriteThroughRestart kills the API server between the reading and the writing of a change, and starts it again: the change gets
// through, once.
func TestWriteThroughRestart(t *testing.T) {
	c := sharedCluster(t)
	s, client := clusterStore(t, c, "restart", cluster.Admin)
	create(t, s, map[string]string{"node_disk": "20", "docker_hub_password": "first"})
	started := make(chan error, 1)
	restart := func() {
		c.KillAPIServer()
		go func() {
			time.Sleep(time.Second)
			started <- c.StartAPIServer(context.Background())
		}()
	}
	require.NoError(t, s.Update("prod", during(t, set(map[string]string{"node_disk": "30", "docker_hub_password": "second"}), restart)))
	require.NoError(t, <-started)
	rack, err := s.Rack("prod")
	require.NoError(t, err)
	assert.Equal(t, map[string]string{"node_disk": "30", "docker_hub_password": "second"}, rack.Stored())
	history, err := s.History("prod")
	require.NoError(t, err)
	assert.Len(t, history, 2)

	// An object that is being applied gets there too.
	pool := map[string]any{
		"apiVersion": "karpenter.sh/v1", "kind": "NodePool", "metadata": map[string]any{"name": "restart"},
		"spec": map[string]any{
			"template": map[string]any{"spec": map[string]any{
				"nodeClassRef": map[string]any{"group": "karpenter.k8s.aws", "kind": "EC2NodeClass", "name": "x"},
				"requirements": []any{map[string]any{"key": "kubernetes.io/os", "operator": "In", "values": []any{"linux"}}},
			}},
			"disruption": map[string]any{"consolidateAfter": "1m"},
		},
	}
	tries := 0
	require.NoError(t, client.Persist(t.Context(), func() error {
		if tries++; tries == 1 {
			restart()
		}
		_, err := client.NodePools().Apply(t.Context(), "restart", pool, kube.ApplyOptions{})
		return err
	}))
	require.NoError(t, <-started)
	assert.Greater(t, tries, 1)
	require.NoError(t, s.Delete("prod"))
}

// TestAbandonedSecrets shows that what a writer leaves behind who is killed in the middle stands in nobody's way, and that a Secret
// that somebody deleted is missed and not taken for none.
func TestAbandonedSecrets(t *testing.T) {
	c := sharedCluster(t)
	s, client := clusterStore(t, c, "abandoned", cluster.Admin)
	create(t, s, map[string]string{"docker_hub_password": "first"})
	secrets := func() int {
		list, err := client.Secrets("abandoned").List(t.Context(), "convox.io/rack-params")
		require.NoError(t, err)
		return len(list)
	}
	require.Equal(t, 1, secrets())
	killed := errors.New("killed")
	require.ErrorIs(t, s.Update("prod", func(store.Rack) (map[string]string, error) { return nil, killed }), killed)
	for _, value := range []string{"second", "third"} {
		require.NoError(t, s.Update("prod", set(map[string]string{"docker_hub_password": value})))
	}
	assert.Equal(t, 1, secrets(), "the replaced ones are gone")

	list, err := client.Secrets("abandoned").List(t.Context(), "convox.io/rack-params")
	require.NoError(t, err)
	require.NoError(t, client.Secrets("abandoned").Delete(t.Context(), list[0].GetName(), ""))
	_, err = s.Rack("prod")
	assert.ErrorContains(t, err, "is gone, and with it the sensitive parameters")
	require.NoError(t, s.Delete("prod"))
	assert.Equal(t, 0, secrets())
}

// fault is what goes wrong between the program and the API server.
type fault struct {
	mu sync.Mutex
	// lose is how many answers to requests of that method, for ConfigMaps, get lost, and unavailable how many requests after such a
	// one are not served.
	lose        map[string]int
	unavailable int
}

func (f *fault) between(api http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		f.mu.Lock()
		lost := strings.Contains(r.URL.Path, "/configmaps") && f.lose[r.Method] > 0
		refused := !lost && f.unavailable > 0 && f.lose[http.MethodPut]+f.lose[http.MethodPost]+f.lose[http.MethodDelete] == 0
		switch {
		case lost:
			f.lose[r.Method]--
		case refused:
			f.unavailable--
		}
		f.mu.Unlock()
		switch {
		case lost:
			api.ServeHTTP(httptest.NewRecorder(), r)
			panic(http.ErrAbortHandler)
		case refused:
			http.Error(w, "starting", http.StatusServiceUnavailable)
		default:
			api.ServeHTTP(w, r)
		}
	})
}

// TestLostAnswers loses the answers of the API server to what it has done, and keeps it from being asked for a moment after that: what
// was written counts once, and with it its Secret.
func TestLostAnswers(t *testing.T) {
	c := sharedCluster(t)
	ctx := t.Context()
	_, _, err := c.As(cluster.Admin).Apply(ctx, namespaceObject("lost-answers"), "", cluster.ApplyOptions{})
	require.NoError(t, err)
	f := &fault{lose: map[string]int{}}
	proxy, err := c.StartBrokenProxy(f.between)
	require.NoError(t, err)
	t.Cleanup(proxy.Close)
	client, err := kube.Open(kube.Access{RackURL: proxy.URL(cluster.RackAdmin)})
	require.NoError(t, err)
	s := store.InCluster(client, "lost-answers", t.TempDir(), "somebody@here")
	breakAt := func(method string, unavailable int) {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.lose[method], f.unavailable = 1, unavailable
	}
	check := func(password string, entries int) {
		rack, err := s.Rack("prod")
		require.NoError(t, err)
		assert.Equal(t, password, rack.Value("docker_hub_password"))
		history, err := s.History("prod")
		require.NoError(t, err)
		assert.Len(t, history, entries)
		assert.Equal(t, "somebody@here", history[0].Who, "the proxy speaks for everybody")
		secrets, err := client.Secrets("lost-answers").List(ctx, "convox.io/rack-params")
		require.NoError(t, err)
		assert.Len(t, secrets, 1)
	}
	for _, unavailable := range []int{0, 1, 3} {
		breakAt(http.MethodPost, unavailable)
		create(t, s, map[string]string{"docker_hub_password": "first"})
		check("first", 1)
		breakAt(http.MethodPut, unavailable)
		require.NoError(t, s.Update("prod", set(map[string]string{"docker_hub_password": "second"})))
		check("second", 2)
		breakAt(http.MethodPut, unavailable)
		require.NoError(t, s.Update("prod", set(map[string]string{"node_disk": "30"})))
		check("second", 3)
		breakAt(http.MethodDelete, unavailable)
		require.NoError(t, s.Delete("prod"))
		secrets, err := client.Secrets("lost-answers").List(ctx, "convox.io/rack-params")
		require.NoError(t, err)
		assert.Empty(t, secrets)
	}
}

// TestForeignObjects shows that nothing is read, changed or deleted that is not the program's, whatever it is called.
func TestForeignObjects(t *testing.T) {
	c := sharedCluster(t)
	s, client := clusterStore(t, c, "foreign", cluster.Admin)
	ctx := t.Context()
	apply := func(text string) {
		objects, err := cluster.Objects([]byte(text))
		require.NoError(t, err)
		for _, object := range objects {
			_, _, err := c.As(cluster.Admin).Apply(ctx, object, "foreign", cluster.ApplyOptions{Force: true})
			require.NoError(t, err)
		}
	}
	apply(`{apiVersion: v1, kind: ConfigMap, metadata: {name: convox-rack-prod}, data: {a: precious}}`)
	_, err := s.Rack("prod")
	assert.ErrorContains(t, err, "is damaged")
	assert.ErrorContains(t, s.Delete("prod"), "is damaged")
	assert.ErrorContains(t, s.Update("prod", set(map[string]string{"node_disk": "1"})), "is damaged")
	rack, err := params.NewRack("aws", map[string]string{"docker_hub_password": "x"})
	require.NoError(t, err)
	assert.ErrorContains(t, s.Create(store.Rack{Rack: rack, Name: "prod"}), "is there already, as the ConfigMap convox-rack-prod in the namespace foreign")
	object, err := client.ConfigMaps("foreign").Get(ctx, "convox-rack-prod")
	require.NoError(t, err)
	assert.Equal(t, map[string]any{"a": "precious"}, object.Object["data"])
	secrets, err := client.Secrets("foreign").List(ctx, "")
	require.NoError(t, err)
	assert.Empty(t, secrets, "what was made for the rack that could not be")
	require.NoError(t, client.ConfigMaps("foreign").Delete(ctx, "convox-rack-prod", ""))

	// A Secret that is not of the rack is not read, although the ConfigMap names it.
	create(t, s, map[string]string{"docker_hub_password": "x"})
	apply(`{apiVersion: v1, kind: Secret, metadata: {name: convox-rack-prod-other}, stringData: {token: abc}}`)
	for _, name := range []string{"convox-rack-prod-other", "other", "../x y"} {
		apply(`{apiVersion: v1, kind: ConfigMap, metadata: {name: convox-rack-prod, annotations: {convox.io/rack-secret: "` + name + `"}}}`)
		_, err = s.Rack("prod")
		assert.ErrorContains(t, err, "is damaged", name)
	}
	apply(`{apiVersion: v1, kind: ConfigMap, metadata: {name: convox-rack-prod, annotations: {convox.io/rack-secret: ""}}}`)
	require.NoError(t, s.Update("prod", set(map[string]string{"docker_hub_password": "y"})))
	require.NoError(t, s.Delete("prod"))
	_, err = client.Secrets("foreign").Get(ctx, "convox-rack-prod-other")
	assert.NoError(t, err)
}

// TestReclassified reads and writes parameters that were kept elsewhere by a program that knew other parameters.
func TestReclassified(t *testing.T) {
	c := sharedCluster(t)
	s, client := clusterStore(t, c, "reclassified", cluster.Admin)
	create(t, s, map[string]string{"docker_hub_password": "p", "some_token": "t", "node_disk": "20"})
	// As if node_disk had been taken for a secret, and the others for none.
	object, err := client.ConfigMaps("reclassified").Get(t.Context(), "convox-rack-prod")
	require.NoError(t, err)
	data := object.Object["data"].(map[string]any)
	delete(data, "node_disk")
	data["docker_hub_password"], data["some_token"] = "p", "t"
	require.NoError(t, client.ConfigMaps("reclassified").Update(t.Context(), object))
	all := map[string]string{"docker_hub_password": "p", "some_token": "t", "idle_timeout": "100"}
	require.NoError(t, s.Update("prod", set(map[string]string{"idle_timeout": "100"})))
	rack, err := s.Rack("prod")
	require.NoError(t, err)
	assert.Equal(t, all, rack.Stored())
	object, err = client.ConfigMaps("reclassified").Get(t.Context(), "convox-rack-prod")
	require.NoError(t, err)
	data = object.Object["data"].(map[string]any)
	assert.NotContains(t, data, "docker_hub_password")
	assert.NotContains(t, data, "some_token")
	require.NoError(t, s.Delete("prod"))
}

// TestLongValues keeps a list of pools that is as long as one may be, which is more than a ConfigMap holds.
func TestLongValues(t *testing.T) {
	c := sharedCluster(t)
	s, _ := clusterStore(t, c, "long", cluster.Admin)
	long := base64.StdEncoding.EncodeToString([]byte("[" + strings.Repeat(`{"name":"pool","labels":"team=a"},`, 30_000) + "]"))
	require.Greater(t, len(long), 1<<20)
	create(t, s, map[string]string{"additional_karpenter_nodepools_config": long, "node_disk": "20"})
	rack, err := s.Rack("prod")
	require.NoError(t, err)
	assert.Equal(t, map[string]string{"additional_karpenter_nodepools_config": long, "node_disk": "20"}, rack.Stored())
	require.NoError(t, s.Update("prod", set(map[string]string{"additional_karpenter_nodepools_config": "W10="})))
	rack, err = s.Rack("prod")
	require.NoError(t, err)
	assert.Equal(t, "W10=", rack.Value("additional_karpenter_nodepools_config"))

	noise := make([]byte, 2<<20)
	_, _ = rand.Read(noise)
	err = s.Update("prod", set(map[string]string{"user_data": base64.StdEncoding.EncodeToString(noise)}))
	assert.ErrorContains(t, err, "the longest is user_data with 2796204, make it shorter")
	require.NoError(t, s.Delete("prod"))
}
