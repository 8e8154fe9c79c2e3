// Command convox checks, keeps and explains the disruption settings of Convox racks that run on Karpenter.
package main

import (
	"os"

	"rackparams/pkg/cli"
)

func main() {
	os.Exit(cli.Run(os.Args, cli.Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr}))
}
