package main

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// program is the built program with a settings folder of its own, in which there is the rack prod.
type program struct{ path, settings string }

var build = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "convox-test")
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, "convox.exe")
	cmd := exec.Command("go", "build", "-trimpath", "-o", path, "rackparams/cmd/convox")
	cmd.Env = append(cmd.Environ(), "CGO_ENABLED=0")
	if output, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w\n%s", err, output)
	}
	return path, nil
})

func TestMain(m *testing.M) {
	status := m.Run()
	if path, err := build(); err == nil {
		_ = os.RemoveAll(filepath.Dir(path))
	}
	os.Exit(status)
}

func newProgram(t *testing.T) program {
	t.Helper()
	path, err := build()
	require.NoError(t, err)
	p := program{path, t.TempDir()}
	output, err := p.command("rack", "create", "prod").CombinedOutput()
	require.NoError(t, err, string(output))
	return p
}

func (p program) command(args ...string) *exec.Cmd {
	cmd := exec.Command(p.path, args...)
	cmd.Env = append(os.Environ(), "CONVOX_CONFIG="+p.settings, "CONVOX_RACK=prod", "CONVOX_STORE=")
	return cmd
}

func (p program) vars() string { return filepath.Join(p.settings, "racks", "prod", "vars.json") }

// values reads the stored values, and fails where the file is torn.
func (p program) values(t *testing.T) map[string]string {
	text, err := os.ReadFile(p.vars())
	require.NoError(t, err)
	var values map[string]string
	require.NoError(t, json.Unmarshal(text, &values), "torn: %s", text)
	return values
}

// TestKilled kills the program at random moments of a change, ten thousand times. After each the values are the old ones or the new
// ones, the history tells of what is stored and of nothing else, and the next change is not held up.
func TestKilled(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes a minute")
	}
	const kills, workers = 10_000, 2
	var mu sync.Mutex
	outcomes := map[string]int{}
	t.Run("workers", func(t *testing.T) {
		for worker := range workers {
			t.Run(fmt.Sprint(worker), func(t *testing.T) {
				t.Parallel()
				p := newProgram(t)
				longest := p.timeOf(t, "node_disk=20")
				for i := range kills / workers {
					outcome := p.kill(t, fmt.Sprint(21+i%50), rand.N(longest*3/2))
					mu.Lock()
					outcomes[outcome]++
					mu.Unlock()
					if i%100 == 0 {
						p.checkHistory(t, p.values(t)["node_disk"])
					}
				}
				p.timeOf(t, "node_disk=99")
				p.checkHistory(t, "99")
			})
		}
	})
	t.Log(outcomes)
	assert.Positive(t, outcomes["killed true, stored false"])
	assert.Positive(t, outcomes["killed true, stored true"], "none was killed after the change")
	assert.Positive(t, outcomes["killed false, stored true"])
}

// kill sets a parameter and kills the program after a time. It says what came of it.
func (p program) kill(t *testing.T, value string, after time.Duration) string {
	before := p.values(t)["node_disk"]
	cmd := p.command("rack", "params", "set", "node_disk="+value)
	require.NoError(t, cmd.Start())
	time.Sleep(after)
	_ = cmd.Process.Kill() // it may have ended
	killed := cmd.Wait() != nil
	stored := p.values(t)["node_disk"]
	require.Contains(t, []string{before, value}, stored)
	if !killed {
		require.Equal(t, value, stored)
	}
	return fmt.Sprintf("killed %t, stored %t", killed, stored == value && value != before)
}

// timeOf sets a parameter to the end, and returns how long that took.
func (p program) timeOf(t *testing.T, assignment string) time.Duration {
	started := time.Now()
	output, err := p.command("rack", "params", "set", assignment).CombinedOutput()
	require.NoError(t, err, string(output))
	return time.Since(started)
}

// checkHistory has the newest entry be the one that is stored.
func (p program) checkHistory(t *testing.T, stored string) {
	output, err := p.command("rack", "params", "history", "node_disk", "-o", "json").Output()
	require.NoError(t, err)
	var entries []struct{ Changes []struct{ To string } }
	require.NoError(t, json.Unmarshal(output, &entries))
	require.NotEmpty(t, entries)
	require.Equal(t, stored, entries[0].Changes[0].To)
}

// TestFiftyAtOnce has fifty processes change one rack, each another parameter: all are kept.
func TestFiftyAtOnce(t *testing.T) {
	p := newProgram(t)
	const writers = 50
	var group sync.WaitGroup
	for i := range writers {
		group.Go(func() {
			output, err := p.command("rack", "params", "set", "--force", fmt.Sprintf("parameter_%d=%d", i, i)).CombinedOutput()
			assert.NoError(t, err, string(output))
		})
	}
	group.Wait()
	values := p.values(t)
	for i := range writers {
		assert.Equal(t, fmt.Sprint(i), values[fmt.Sprint("parameter_", i)])
	}
	output, err := p.command("rack", "params", "history", "-o", "json").Output()
	require.NoError(t, err)
	assert.Equal(t, writers, strings.Count(string(output), `"action": "set"`))
}
