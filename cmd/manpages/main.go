// Command manpages writes the manual pages of the program, one for each command, into a folder.
package main

import (
	"fmt"
	"os"

	"rackparams/pkg/cli"

	"github.com/spf13/cobra/doc"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: manpages FOLDER")
		os.Exit(2)
	}
	if err := write(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func write(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	root := cli.Command("convox")
	root.DisableAutoGenTag = true
	return doc.GenManTree(root, &doc.GenManHeader{Title: "CONVOX", Section: "1", Source: "convox-rack-params", Manual: "Convox rack parameters"}, dir)
}
