package cli

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/mod/modfile"
)

// pages are the pages of the documentation whose commands are run.
var pages = []string{"budgets.md", "windows.md"}

// fence matches a fenced block: ```yaml NAME holds a file, and ```console commands behind "$ " with what they print.
var fence = regexp.MustCompile("(?ms)^```(yaml|console)(?: (\\S+))?\n(.*?)^```\n")

// TestPages runs the commands that the documentation shows, and holds what they print against the page. With
// UPDATE_SCRIPTS set, the pages take what is printed.
func TestPages(t *testing.T) {
	for _, page := range pages {
		t.Run(page, func(t *testing.T) {
			path, err := filepath.Abs("../../docs/" + page)
			require.NoError(t, err)
			text, err := os.ReadFile(path)
			require.NoError(t, err)
			t.Chdir(t.TempDir())
			t.Setenv("CONVOX_CONFIG", filepath.Join(t.TempDir(), "settings"))
			commands := 0
			printed := fence.ReplaceAllStringFunc(string(text), func(block string) string {
				match := fence.FindStringSubmatch(block)
				if match[1] == "yaml" {
					if match[2] != "" {
						require.NoError(t, os.WriteFile(match[2], []byte(match[3]), 0o600))
					}
					return block
				}
				var b strings.Builder
				b.WriteString("```console\n")
				for line := range strings.Lines(match[3]) {
					if command, found := strings.CutPrefix(line, "$ "); found {
						commands++
						b.WriteString(line + runLine(t, strings.TrimSuffix(command, "\n")))
					}
				}
				return b.String() + "```\n"
			})
			require.Positive(t, commands)
			if os.Getenv("UPDATE_SCRIPTS") != "" {
				require.NoError(t, os.WriteFile(path, []byte(printed), 0o644))
				return
			}
			assert.Equal(t, string(text), printed)
		})
	}
}

// runLine runs a command line and returns what it prints, on both streams.
func runLine(t *testing.T, line string) string {
	t.Helper()
	var output bytes.Buffer
	status := Run(splitLine(line), Streams{In: strings.NewReader(""), Out: &output, Err: &output})
	require.Less(t, status, exitUsage, fmt.Sprintf("%s\n%s", line, output.String()))
	return output.String()
}

// word matches a word of a command line, parts of which may be in quotes.
var word = regexp.MustCompile(`(?:"[^"]*"|'[^']*'|[^\s"'])+`)

func splitLine(line string) []string {
	words := word.FindAllString(line, -1)
	for i := range words {
		words[i] = strings.NewReplacer(`"`, "", "'", "").Replace(words[i])
	}
	return words
}

// checkPage holds a page of the documentation against what it is made from. With UPDATE_SCRIPTS set, the page takes that.
func checkPage(t *testing.T, path, want string) {
	t.Helper()
	if os.Getenv("UPDATE_SCRIPTS") != "" {
		require.NoError(t, os.WriteFile(path, []byte(want), 0o644))
	}
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Equal(t, want, string(text), "the page is stale: run `make docs`")
}

// printed is what a command prints.
func printed(t *testing.T, words ...string) string {
	t.Helper()
	var output bytes.Buffer
	require.Zero(t, Run(append([]string{"convox"}, words...), Streams{In: strings.NewReader(""), Out: &output, Err: os.Stderr}))
	return output.String()
}

// TestReference holds the reference page of the parameters against the catalog it is made from.
func TestReference(t *testing.T) {
	checkPage(t, "../../docs/params.md", "# The parameters of a rack\n\nMade by `convox rack params describe -o markdown`.\n\n"+
		printed(t, "rack", "params", "describe", "-o", "markdown"))
}

// TestPicture holds the picture of the README against the command that makes it.
func TestPicture(t *testing.T) {
	checkPage(t, "../../docs/week.svg", printed(t, "nodepool", "timeline", "../../docs/week.yaml", "--from", "2026-11-30", "--nodes", "20", "-o", "svg"))
}

// TestCommandsPage holds the reference page of the commands against the commands.
func TestCommandsPage(t *testing.T) {
	var page strings.Builder
	page.WriteString("# The commands\n\nMade from the commands by `make docs`. Every command also takes the flags of the last section.\n")
	root := Command("convox")
	writeCommands(&page, root)
	page.WriteString("\n## Flags of every command\n\n" + flagTable(root.PersistentFlags()))
	checkPage(t, "../../docs/commands.md", page.String())
}

// writeCommands writes a section for each command that does something.
func writeCommands(page *strings.Builder, cmd *cobra.Command) {
	for _, child := range cmd.Commands() {
		// Cobra's own explain themselves at length.
		if child.Name() == "help" || child.Name() == "completion" || child.Hidden {
			continue
		}
		if !child.HasSubCommands() || child.Name() == "params" {
			fmt.Fprintf(page, "\n## %s\n\n    %s\n\n%s.\n", child.CommandPath(), child.UseLine(), strings.TrimSuffix(child.Short, "."))
			if child.Long != "" {
				fmt.Fprintf(page, "\n%s\n", child.Long)
			}
			if flags := child.LocalNonPersistentFlags(); flags.HasAvailableFlags() {
				page.WriteString("\n" + flagTable(flags))
			}
			if child.Example != "" {
				page.WriteString("\n" + regexp.MustCompile("(?m)^  ").ReplaceAllString(child.Example, "    ") + "\n")
			}
		}
		writeCommands(page, child)
	}
}

func flagTable(flags *pflag.FlagSet) string {
	rows := "| flag | |\n|---|---|\n"
	flags.VisitAll(func(f *pflag.Flag) {
		if f.Name == "help" || f.Hidden {
			return
		}
		value, usage := pflag.UnquoteUsage(f)
		name := "--" + f.Name
		if f.Shorthand != "" {
			name = "-" + f.Shorthand + ", " + name
		}
		rows += fmt.Sprintf("| `%s` | %s |\n", strings.ReplaceAll(strings.TrimSpace(name+" "+value), "|", "\\|"), strings.ReplaceAll(usage, "|", "\\|"))
	})
	return rows
}

// TestDependencies holds the page of the dependencies against go.mod: each direct one stands there with its reason.
func TestDependencies(t *testing.T) {
	text, err := os.ReadFile("../../go.mod")
	require.NoError(t, err)
	module, err := modfile.Parse("go.mod", text, nil)
	require.NoError(t, err)
	page, err := os.ReadFile("../../docs/dependencies.md")
	require.NoError(t, err)
	listed := regexp.MustCompile("(?m)^\\| `([^`]+)` \\| [^|]{20,} \\|$").FindAllStringSubmatch(string(page), -1)
	var want, got []string
	for _, require := range module.Require {
		if !require.Indirect {
			want = append(want, require.Mod.Path)
		}
	}
	for _, line := range listed {
		got = append(got, line[1])
	}
	assert.ElementsMatch(t, want, got)
	for _, require := range module.Require {
		if require.Indirect {
			assert.Contains(t, string(page), "`"+require.Mod.Path+"`")
		}
	}
}
