package cli

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"rackparams/params"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestSecrets plants a marker in each sensitive parameter, and searches for it all that commands print and all files but the values'
// own. Listing is for showing values, and is left out.
func TestSecrets(t *testing.T) {
	found := 0
	for _, p := range params.All() {
		if !p.Sensitive {
			continue
		}
		found++
		t.Run(p.Name, func(t *testing.T) { testSecret(t, p) })
	}
	assert.GreaterOrEqual(t, found, 3, "the table has some")
}

// marker is in each planted value. It is made of what every kind of value takes.
const marker = "mark3r"

func testSecret(t *testing.T, p params.Parameter) {
	dir := t.TempDir()
	t.Chdir(dir)
	t.Setenv("CONVOX_CONFIG", filepath.Join(dir, "settings"))
	t.Setenv("CONVOX_RACK", "prod")
	provider := p.Providers.Names()[0]
	run := func(input string, words ...string) (int, string) {
		var output strings.Builder
		status := Run(append([]string{"convox"}, words...), Streams{In: strings.NewReader(input), Out: &output, Err: &output})
		assert.NotContains(t, output.String(), marker, "convox %s", strings.Join(words, " "))
		return status, output.String()
	}
	succeeds := func(words ...string) {
		t.Helper()
		status, output := run("", words...)
		require.Zero(t, status, output)
	}
	succeeds("rack", "create", "prod", "--provider", provider)
	set := []string{"rack", "params", "set", "--force", p.Name + "=" + marker + "-1"}
	if p.InstallOnly {
		succeeds("rack", "delete", "prod", "--yes")
		succeeds("rack", "create", "prod", p.Name+"="+marker+"-1", "--provider", provider)
	} else {
		succeeds(set...)
		succeeds("rack", "params", "set", "--force", p.Name+"="+marker+"-2")
	}
	vars, err := os.ReadFile("settings/racks/prod/vars.json")
	require.NoError(t, err)
	require.Contains(t, string(vars), marker)

	file := fmt.Sprintf("%s: %q\nno_such: %q\n", p.Name, marker+"\x1b", "x")
	for _, words := range [][]string{
		{"racks"}, {"racks", "-o", "json"}, {"switch", "prod"}, {"rack", "copy", "prod", "copy"},
		{"rack", "params", "set", p.Name + "=" + marker + "\x1b[31m"},
		{"rack", "params", "set", p.Name + "=" + marker + "\nline"},
		{"rack", "params", "set", p.Name + "=" + marker, p.Name + "=" + marker},
		{"rack", "params", "set", p.Name + "=" + marker, "no_such=1"},
		{"rack", "params", "set", p.Name + "=" + marker, "--dry-run"},
		{"rack", "params", "set", p.Name + "=" + marker, "--dry-run", "-o", "json"},
		{"rack", "params", "set", "--file", "-"},
		{"rack", "params", "set", "--file", "-", "--force", "--dry-run"},
		{"rack", "params", "set", "--bad-flag", p.Name + "=" + marker},
		{"rack", "params", "validate"}, {"rack", "params", "validate", "--file", "-"}, {"rack", "params", "validate", "--provider", "metal"},
		{"rack", "params", "render"}, {"rack", "params", "render", p.Name + "=" + marker}, {"rack", "params", "render", "-o", "json"},
		{"rack", "params", "diff", p.Name + "=" + marker}, {"rack", "params", "diff", "--release", "3.25.0"},
		{"rack", "params", "describe"}, {"rack", "params", "describe", p.Name, "-o", "json"}, {"rack", "params", "describe", p.Name, "-o", "markdown"},
		{"rack", "params", "history"}, {"rack", "params", "history", p.Name, "-o", "json"}, {"rack", "params", "history", "-o", "yaml"},
		{"rack", "params", "apply", "--dry-run=client"}, {"nodepool", "lint"}, {"nodepool", "explain", "--nodes", "1"}, {"nodepool", "status", "--from", "-"},
		{"nodepool", "window", "--allow", "sat 09:00-13:00"}, {"help", "rack"}, {"rack", "params", "--help"},
		{"__complete", "rack", "params", "set", ""}, {"__complete", "rack", "params", "set", p.Name + "="}, {"__complete", "rack", "params", "unset", ""},
		{"rack", "params", "get", "no_such"}, {"rack", "params", "-g", "no_such"}, {"rack", "params", "get", p.Name, "no_such"},
		{"rack", "params", "unset", p.Name, "no_such"}, {"rack", "params", "unset", p.Name, "--force"}, {"rack", "params", "history"},
	} {
		run(file, words...)
	}

	// What a damaged file holds is not repeated either.
	for _, text := range []string{"{\"" + p.Name + "\": [\"" + marker + "\"]}", "{\"" + p.Name + "\": \"" + marker + "\"", marker, "{\"release\":\"1.2.3\",\"" + p.Name + "\":\"" + marker + "\"}x"} {
		require.NoError(t, os.WriteFile("settings/racks/prod/vars.json", []byte(text), 0o600))
		run("", "rack", "params")
		run("", "rack", "params", "set", "no_such=1")
	}

	require.NoError(t, filepath.WalkDir("settings", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || entry.Name() == varsFileName {
			return err
		}
		text, err := os.ReadFile(path)
		assert.NotContains(t, string(text), marker, path)
		return err
	}))
}

const varsFileName = "vars.json"
