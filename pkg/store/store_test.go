package store

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"testing"

	"rackparams/params"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func newStore(t *testing.T) *Folder {
	t.Helper()
	return OpenFolder(filepath.Join(t.TempDir(), "settings"), "tester")
}

// TestConcurrentUpdates changes one rack from many sides at once: each of another parameter, and all are kept.
func TestConcurrentUpdates(t *testing.T) {
	s := newStore(t)
	create(t, s, map[string]string{"name": "prod"})
	const writers = 50
	var group sync.WaitGroup
	for i := range writers {
		group.Go(func() {
			assert.NoError(t, OpenFolder(s.dir, "tester").Update("prod", func(rack Rack) (map[string]string, error) {
				values := rack.Stored()
				values[fmt.Sprint("key", i)] = "x"
				return values, nil
			}))
		})
	}
	group.Wait()
	rack, err := s.Rack("prod")
	require.NoError(t, err)
	assert.Len(t, rack.Stored(), writers+1)
}

// TestReadersSeeWholeFiles reads while others write: every read finds one of the values that were stored, whole.
func TestReadersSeeWholeFiles(t *testing.T) {
	s := newStore(t)
	create(t, s, map[string]string{"a": "0", "b": "0"})
	var group sync.WaitGroup
	group.Go(func() {
		for i := range 100 {
			assert.NoError(t, s.Update("prod", func(Rack) (map[string]string, error) {
				return map[string]string{"a": fmt.Sprint(i), "b": fmt.Sprint(i)}, nil
			}))
		}
	})
	group.Go(func() {
		for range 500 {
			rack, err := s.Rack("prod")
			if assert.NoError(t, err) {
				assert.Equal(t, rack.Value("a"), rack.Value("b"))
			}
		}
	})
	group.Wait()
}

func TestFailedChangeStoresNothing(t *testing.T) {
	s := newStore(t)
	create(t, s, map[string]string{"a": "1"})
	refused := errors.New("refused")
	err := s.Update("prod", func(rack Rack) (map[string]string, error) {
		values := rack.Stored()
		maps.Copy(values, map[string]string{"a": "2"})
		return values, refused
	})
	assert.ErrorIs(t, err, refused)
	rack, err := s.Rack("prod")
	require.NoError(t, err)
	assert.Equal(t, map[string]string{"a": "1"}, rack.Stored())
}

func TestFileModes(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows has no such modes")
	}
	s := newStore(t)
	create(t, s, nil)
	vars := filepath.Join(s.dir, "racks", "prod", "vars.json")
	require.NoError(t, os.Chmod(vars, 0o644))
	require.NoError(t, s.Update("prod", func(Rack) (map[string]string, error) { return map[string]string{"a": "1"}, nil }))
	for path, want := range map[string]os.FileMode{vars: 0o600, filepath.Dir(vars): 0o700, filepath.Join(s.dir, "locks", "prod.lock"): 0o600} {
		info, err := os.Stat(path)
		require.NoError(t, err)
		assert.Equal(t, want, info.Mode().Perm(), path)
	}
}

// TestLeftoversAreWrittenOver shows that what a killed process left of its temporary file neither stands in the way nor
// stays.
func TestLeftoversAreWrittenOver(t *testing.T) {
	s := newStore(t)
	create(t, s, nil)
	folder := filepath.Join(s.dir, "racks", "prod")
	require.NoError(t, os.WriteFile(filepath.Join(folder, ".vars.json.tmp"), []byte("half of a much longer file than the new one will be"), 0o600))
	require.NoError(t, s.Update("prod", func(Rack) (map[string]string, error) { return map[string]string{"a": "1"}, nil }))
	entries, err := os.ReadDir(folder)
	require.NoError(t, err)
	assert.Len(t, entries, 3, "rack.json, vars.json and history.jsonl")
	rack, err := s.Rack("prod")
	require.NoError(t, err)
	assert.Equal(t, map[string]string{"a": "1"}, rack.Stored())
}

func TestNames(t *testing.T) {
	for _, name := range []string{"a", "rackName", "my-rack.2", "0", "A_b"} {
		assert.NoError(t, CheckName(name), name)
	}
	for _, name := range []string{"", ".", "..", "../x", "a/b", `a\b`, "-a", ".a", "a b", "a\x00", "é", string(make([]byte, 64)), "a\n"} {
		assert.ErrorContains(t, CheckName(name), "is not a rack name", name)
	}
	s := newStore(t)
	names, err := s.Names()
	assert.NoError(t, err)
	assert.Empty(t, names)
	_, err = s.Rack("prod")
	assert.ErrorContains(t, err, `there is no rack "prod"; create one`)
}

// create makes the rack prod.
func create(t *testing.T, s Store, values map[string]string) {
	t.Helper()
	rack, err := params.NewRack("aws", values)
	require.NoError(t, err)
	require.NoError(t, s.Create(Rack{Rack: rack, Name: "prod"}))
}

// TestVanishingFolder has the folder of a rack go away while the rack is being changed. The change fails, and does not bring back half
// of it.
func TestVanishingFolder(t *testing.T) {
	s := newStore(t)
	create(t, s, map[string]string{"node_disk": "1"})
	folder := filepath.Join(s.dir, "racks", "prod")
	err := s.Update("prod", func(Rack) (map[string]string, error) {
		return map[string]string{"node_disk": "2"}, os.RemoveAll(folder)
	})
	assert.ErrorContains(t, err, "writing "+folder)
	assert.NoDirExists(t, folder)
	_, err = s.Rack("prod")
	var none *NotFoundError
	assert.ErrorAs(t, err, &none)
}

// TestClockGoesBack has the clock go back between two changes. They are told in the order in which they were made.
func TestClockGoesBack(t *testing.T) {
	s := newStore(t)
	create(t, s, nil)
	path := filepath.Join(s.dir, "racks", "prod", "history.jsonl")
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	future := regexp.MustCompile(`"when":"\d+`).ReplaceAll(text, []byte(`"when":"2999`))
	require.NoError(t, os.WriteFile(path, future, 0o600))
	require.NoError(t, s.Update("prod", func(Rack) (map[string]string, error) { return map[string]string{"node_disk": "2"}, nil }))
	entries, err := s.History("prod")
	require.NoError(t, err)
	require.Len(t, entries, 2)
	assert.Equal(t, 2999, entries[0].When.Year())
	assert.Equal(t, "node_disk", entries[1].Changes[0].Name)
	rack, err := s.Rack("prod")
	require.NoError(t, err)
	assert.Equal(t, "2", rack.Value("node_disk"))
}

// TestHistoryIsHalved shows that a long history loses its older half, and no more.
func TestHistoryIsHalved(t *testing.T) {
	s := newStore(t)
	create(t, s, nil)
	path := filepath.Join(s.dir, "racks", "prod", "history.jsonl")
	line := `{"id":"X","when":"2026-12-01T00:00:00Z","who":"me","action":"set","changes":[{"name":"node_disk"}],"before":"0","after":"0"}` + "\n"
	require.NoError(t, os.WriteFile(path, []byte(strings.Repeat(line, maxLogBytes/len(line))), 0o600))
	require.NoError(t, s.Update("prod", func(Rack) (map[string]string, error) { return map[string]string{"node_disk": "2"}, nil }))
	info, err := os.Stat(path)
	require.NoError(t, err)
	assert.InDelta(t, maxLogBytes/2, info.Size(), 1000)
	entries, err := s.History("prod")
	require.NoError(t, err)
	assert.InDelta(t, maxLogBytes/len(line)/2, len(entries), 3)
	assert.NotEqual(t, "X", entries[len(entries)-1].ID)
}
