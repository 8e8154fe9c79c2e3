package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"rackparams/pkg/fleet"
	"rackparams/pkg/kube"
)

// goals are what one can wait for.
var goals = []string{string(fleet.Armed), string(fleet.Rolled)}

// missing says what is still missing of the goal, a line for each pool.
func (s *nodepoolStatus) missing(f *fleet.Fleet) ([]string, error) {
	pools, err := s.awaited(f)
	if err != nil {
		return nil, err
	}
	var missing []string
	for _, pool := range pools {
		if text := pool.Missing(fleet.Goal(s.goal.value)); text != "" {
			missing = append(missing, pool.Name+": "+text)
		}
	}
	return missing, nil
}

// awaited returns the chosen pools that a wait is about: those of the rack, or without one all.
func (s *nodepoolStatus) awaited(f *fleet.Fleet) ([]fleet.Pool, error) {
	pools, err := s.choose(f)
	if s.rendered != nil {
		pools = slices.DeleteFunc(pools, func(pool fleet.Pool) bool { return pool.Rendered == nil })
	}
	if err == nil && len(pools) == 0 {
		err = errors.New("there is no NodePool to wait for")
	}
	return pools, err
}

// deniedFor is how long the API server may refuse before the wait ends. One that has just started refuses for a moment what
// it allows later.
const deniedFor = 30 * time.Second

// settle is how long changes are gathered before they are looked at: a roll changes many objects at once.
const settle = 500 * time.Millisecond

// wait waits until the goal is reached.
func (s *nodepoolStatus) wait(ctx context.Context) error {
	if fleet.Goal(s.goal.value) == fleet.Armed && !s.armable {
		if s.renderedFor == "" {
			return fmt.Errorf("%w, and so no window that could be armed; give one with --rack", errNoRack)
		}
		return fmt.Errorf("the rack %s has no disruption window that could be armed; set one with `rack params set`", s.renderedFor)
	}
	ctx, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	client, err := s.cluster()
	if err != nil {
		return err
	}
	missing := []string{"the cluster has not answered"}
	timedOut := func() error {
		lines := append([]string{fmt.Sprintf("not %s after %s:", fleet.Goal(s.goal.value), s.timeout)}, missing...)
		return errors.New(strings.Join(lines, "\n"))
	}
	// The first look tells at once what watching would try again and again, but for a cluster that is just starting.
	var f *fleet.Fleet
	err = client.Persist(ctx, func() error { f, err = client.Fleet(ctx); return err })
	if ctx.Err() != nil {
		return timedOut()
	}
	if err != nil {
		return err
	}
	w := waiting{progress: newProgress(s.Err), app: s.app}
	defer w.progress.end()
	reached := func(f *fleet.Fleet) (bool, error) {
		if missing, err = s.missing(f); err != nil {
			return false, err
		}
		if len(missing) > 0 {
			w.progress.show("waiting: " + strings.Join(missing, "; "))
		}
		return len(missing) == 0, nil
	}
	f, err = w.until(ctx, client, f, reached)
	if errors.Is(err, context.DeadlineExceeded) {
		w.progress.end()
		return timedOut()
	}
	return s.reached(w, f, err)
}

// reached says that the goal is reached.
func (s *nodepoolStatus) reached(w waiting, f *fleet.Fleet, err error) error {
	w.progress.end()
	if err != nil {
		return err
	}
	if s.format == "json" {
		return s.print(f)
	}
	pools, err := s.awaited(f)
	if err != nil {
		return err
	}
	var names []string
	claims := 0
	for _, pool := range pools {
		names = append(names, escape(pool.Name))
		claims += len(pool.Claims)
	}
	if fleet.Goal(s.goal.value) == fleet.Armed {
		_, err = fmt.Fprintf(s.Out, "The window is armed on %s.\n", strings.Join(names, ", "))
		return err
	}
	_, err = fmt.Fprintf(s.Out, "Every NodeClaim of %s has the wanted expiry, %d in all.\n", strings.Join(names, ", "), claims)
	return err
}

// waiting is a wait for changes of a fleet.
type waiting struct {
	*app
	progress *progress
	// unreachable is set while the cluster cannot be reached, which is said once.
	unreachable bool
}

// until calls look with the fleet, again when that has changed and every second, until look says that it is done or the
// context ends.
func (w *waiting) until(ctx context.Context, client *kube.Client, f *fleet.Fleet, look func(*fleet.Fleet) (bool, error)) (*fleet.Fleet, error) {
	watcher := client.Watch(ctx)
	for {
		if done, err := look(f); err != nil || done {
			return f, err
		}
		select {
		case <-ctx.Done():
			return f, ctx.Err()
		case <-time.After(time.Second):
		case <-watcher.Changed():
			sleep(ctx, settle)
			latest, err := watcher.Fleet()
			if err != nil {
				return nil, err
			}
			if latest != nil {
				f = latest
			}
		}
		if err := w.report(watcher); err != nil {
			return nil, err
		}
	}
}

func sleep(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

// report says when the cluster can no longer be watched, and when it can again. It gives up where the API server goes on
// refusing.
func (w *waiting) report(watcher *kube.Watcher) error {
	failure, failing := watcher.Failure()
	switch {
	case failing && kube.IsDenied(failure.Err) && time.Since(failure.Since) > deniedFor:
		return failure.Err
	case failing && !w.unreachable && !kube.IsDenied(failure.Err):
		w.unreachable = true
		w.progress.end()
		w.notice("trying again, since %s", failure.Err)
	case !failing && w.unreachable:
		w.unreachable = false
		w.progress.end()
		w.notice("the cluster answers again")
	}
	return nil
}

// follow prints how the pools stand, again whenever that changes: with the fleet, or with the time.
func (s *nodepoolStatus) follow(ctx context.Context) error {
	client, err := s.cluster()
	if err != nil {
		return err
	}
	f, err := client.Fleet(ctx)
	if err != nil {
		return err
	}
	w := waiting{app: s.app, progress: newProgress(io.Discard)}
	shown := ""
	_, err = w.until(ctx, client, f, func(f *fleet.Fleet) (bool, error) {
		now := time.Now().UTC().Truncate(time.Second)
		text, err := s.look(f, now)
		// The time of the look itself is no change.
		timeless := strings.ReplaceAll(text, now.Format(time.RFC3339), "")
		if err != nil || timeless == shown {
			return false, err
		}
		opening := ""
		switch {
		case isTerminal(s.Out):
			opening = clearScreen
		case shown != "" && s.format != "json":
			opening = "\n"
		}
		shown = timeless
		_, err = io.WriteString(s.Out, opening+text)
		return false, err
	})
	return err
}

// look is how the pools stand at a time, with the warnings, as text.
func (s *nodepoolStatus) look(f *fleet.Fleet, now time.Time) (string, error) {
	var text bytes.Buffer
	shared := *s.app
	shared.Out, shared.Err = &text, &text
	one := *s
	one.app = &shared
	one.at.orElse(now)
	err := one.print(f)
	return text.String(), err
}
