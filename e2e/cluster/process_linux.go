package cluster

import (
	"os/exec"
	"syscall"
)

// diesWithParent has the kernel kill the command when this program ends, however it ends.
func diesWithParent(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
}
