// Command emptycobra is the least that a program made with cobra can be: what the start of convox is measured against.
package main

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"
)

func main() {
	root := &cobra.Command{Use: "emptycobra"}
	root.AddCommand(&cobra.Command{Use: "version", Run: func(*cobra.Command, []string) { fmt.Println("dev") }})
	if root.Execute() != nil {
		os.Exit(1)
	}
}
