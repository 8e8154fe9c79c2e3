package conformance

import (
	"fmt"
	"iter"
	"maps"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
)

// seedVariable is the environment variable that repeats a run.
const seedVariable = "CONFORMANCE_SEED"

var seed = sync.OnceValues(func() (uint64, error) {
	text, given := os.LookupEnv(seedVariable)
	if !given {
		return rand.Uint64(), nil
	}
	value, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		return 0, fmt.Errorf("%s: %w", seedVariable, err)
	}
	return value, nil
})

// maxFailures is how many failing cases a test reports; more would hide the first ones.
const maxFailures = 3

// forEachCase runs check on n cases, on all processors. Each case draws from a random source of its own, so that it is
// the same whatever the others do.
func forEachCase(t *testing.T, n int, check func(r *rand.Rand) error) {
	t.Helper()
	seed, err := seed()
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d cases of seed %d; repeat them with %s=%d", n, seed, seedVariable, seed)

	var next, failures atomic.Int64
	var workers sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		workers.Go(func() {
			for failures.Load() < maxFailures {
				i := next.Add(1) - 1
				if i >= int64(n) {
					return
				}
				if err := check(rand.New(rand.NewPCG(seed, uint64(i)))); err != nil && failures.Add(1) <= maxFailures {
					t.Errorf("seed %d, case %d: %v", seed, i, err)
				}
			}
		})
	}
	workers.Wait()
}

// tally counts what occurred, from any goroutine.
type tally struct {
	mu     sync.Mutex
	counts map[string]int
}

func (c *tally) add(what ...string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.counts == nil {
		c.counts = map[string]int{}
	}
	for _, name := range what {
		c.counts[name]++
	}
}

func (c *tally) of(what string) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.counts[what]
}

// requireAll fails the test for each of the names that did not occur: a generator that no longer makes what it is there
// for would let everything pass.
func (c *tally) requireAll(t *testing.T, names []string) {
	t.Helper()
	for _, name := range names {
		if c.of(name) == 0 {
			t.Errorf("%s did not occur", name)
		}
	}
}

// maxShrinks bounds how many smaller cases shrink tries.
const maxShrinks = 3000

// shrink returns a value that still fails although everything that smaller makes of it passes, for a message that
// shows no more than what matters.
func shrink[T any](value T, smaller func(T) iter.Seq[T], fails func(T) bool) T {
	for tries := 0; tries < maxShrinks; {
		shrunk := false
		for candidate := range smaller(value) {
			if tries++; tries >= maxShrinks {
				break
			}
			if fails(candidate) {
				value, shrunk = candidate, true
				break
			}
		}
		if !shrunk {
			break
		}
	}
	return value
}

// smallerJSON makes a JSON value smaller in each of the ways there are: an entry left out, or made smaller itself.
func smallerJSON(value any) iter.Seq[any] {
	return func(yield func(any) bool) {
		switch value := value.(type) {
		case map[string]any:
			keys := slices.Sorted(maps.Keys(value))
			for _, key := range keys {
				if !yield(without(value, key)) {
					return
				}
			}
			for _, key := range keys {
				for smaller := range smallerJSON(value[key]) {
					if !yield(with(value, key, smaller)) {
						return
					}
				}
			}
		case []any:
			for i := range value {
				if !yield(slices.Delete(slices.Clone(value), i, i+1)) {
					return
				}
			}
			for i, entry := range value {
				for smaller := range smallerJSON(entry) {
					changed := slices.Clone(value)
					changed[i] = smaller
					if !yield(changed) {
						return
					}
				}
			}
		case string:
			for smaller := range smallerText(value) {
				if !yield(smaller) {
					return
				}
			}
		}
	}
}

// smallerText makes text shorter: by half, then by one character.
func smallerText(text string) iter.Seq[string] {
	return func(yield func(string) bool) {
		runes := []rune(text)
		if half := len(runes) / 2; half > 1 && !(yield(string(runes[:half])) && yield(string(runes[half:]))) {
			return
		}
		for i := range runes {
			if !yield(string(runes[:i]) + string(runes[i+1:])) {
				return
			}
		}
	}
}

// without returns a copy of an object that lacks a key.
func without(object map[string]any, key string) map[string]any {
	smaller := maps.Clone(object)
	delete(smaller, key)
	return smaller
}

// with returns a copy of an object with another value for a key.
func with(object map[string]any, key string, value any) map[string]any {
	changed := maps.Clone(object)
	changed[key] = value
	return changed
}
