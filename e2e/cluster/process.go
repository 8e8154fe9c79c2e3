package cluster

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"time"
)

// process is a server that runs.
type process struct {
	cmd  *exec.Cmd
	log  string
	done chan struct{} // closed when it has ended
}

// stopTimeout is how long a server may take to end on its own.
const stopTimeout = 15 * time.Second

// startProcess starts a program whose output is added to the file log.
func startProcess(log, program string, args ...string) (*process, error) {
	output, err := os.OpenFile(log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	defer output.Close() // the child has its own
	cmd := exec.Command(program, args...)
	cmd.Stdout, cmd.Stderr = output, output
	diesWithParent(cmd)
	if err := onLastingThread(cmd.Start); err != nil {
		return nil, err
	}
	p := &process{cmd, log, make(chan struct{})}
	go func() {
		defer close(p.done)
		_ = cmd.Wait() // how it ended shows in its log
	}()
	return p, nil
}

// running reports whether the process has not ended.
func (p *process) running() bool {
	if p == nil {
		return false
	}
	select {
	case <-p.done:
		return false
	default:
		return true
	}
}

// stop lets the process end in its own way, and kills it if that takes too long.
func (p *process) stop() {
	if !p.running() {
		return
	}
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err == nil {
		select {
		case <-p.done:
			return
		case <-time.After(stopTimeout):
		}
	}
	p.kill()
}

// kill ends the process as a crash does, and returns when it is gone.
func (p *process) kill() {
	if !p.running() {
		return
	}
	if err := p.cmd.Process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return
	}
	<-p.done
}

// logTail returns the end of what the process wrote, for error messages.
func (p *process) logTail() string {
	text, err := os.ReadFile(p.log)
	if err != nil {
		return err.Error()
	}
	lines := strings.Split(strings.TrimRight(string(text), "\n"), "\n")
	const most = 20
	return fmt.Sprintf("the end of %s:\n%s", p.log, strings.Join(lines[max(0, len(lines)-most):], "\n"))
}

// onLastingThread calls start, which starts a process, on a thread that lives as long as this program does. Linux kills a
// child with the thread that started it, not with the whole program.
func onLastingThread(start func() error) error {
	result := make(chan error)
	starts() <- func() { result <- start() }
	return <-result
}

var starts = sync.OnceValue(func() chan<- func() {
	calls := make(chan func())
	go func() {
		runtime.LockOSThread()
		for call := range calls {
			call()
		}
	}()
	return calls
})
