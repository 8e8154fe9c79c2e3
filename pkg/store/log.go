package store

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// history is where the history of a rack is: a file with an entry a line.
type history struct {
	folder *os.Root
	file   string
	// values is the folder with the values that it is the history of.
	values *os.Root
}

// openHistory opens the history of a rack: beside its values, but in a folder of the Convox CLI nothing is ours but the values.
func (s *Folder) openHistory(values *os.Root, name string) (h history, closing func(), err error) {
	if _, err := values.Lstat("main.tf"); err != nil {
		return history{values, "history.jsonl", values}, func() {}, nil
	}
	path := filepath.Join(s.dir, "history")
	if err := os.MkdirAll(path, 0o700); err != nil {
		return h, nil, err
	}
	folder, err := os.OpenRoot(path)
	if err != nil {
		return h, nil, err
	}
	return history{folder, name + ".jsonl", values}, func() { folder.Close() }, nil
}

// maxLogBytes is how long the file may grow. Then its older half goes.
const maxLogBytes = 256 << 10

// logLine is an entry in the file. An entry is written before the values are, so that none goes unrecorded; the digests of
// the values' file tell an entry whose change never came to be, since the program was killed in between.
type logLine struct {
	Entry
	Before string `json:"before"`
	After  string `json:"after"`
}

// log is what the file holds.
type log struct {
	lines []logLine
	text  []byte // without half a line at the end
	// digest is that of the values' file.
	digest string
}

func digest(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:8])
}

// open reads the file, without half a line at its end, and the digest of the values' file.
func (h history) open() (l log, err error) {
	values, err := readFile(h.values, varsFile)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return l, err
	}
	l.digest = digest(values)
	l.text, err = readFile(h.folder, h.file)
	if errors.Is(err, fs.ErrNotExist) {
		return l, nil
	}
	l.text = l.text[:bytes.LastIndexByte(l.text, '\n')+1]
	return l, err
}

// read reads the history of a rack. A line that cannot be read is passed over, and stays where it is.
func (h history) read() (log, error) {
	l, err := h.open()
	for line := range bytes.Lines(l.text) {
		var next logLine
		if json.Unmarshal(line, &next) == nil && next.ID != "" {
			l.lines = append(l.lines, next)
		}
	}
	return l, err
}

// entries are those whose change came to be. Where the next one, or the file, begins with what was there before an entry, that one
// did not.
func (l log) entries() []Entry {
	var entries []Entry
	for i, line := range l.lines {
		next := l.digest
		if i+1 < len(l.lines) {
			next = l.lines[i+1].Before
		}
		if next != line.Before || line.After == line.Before {
			entries = append(entries, line.Entry)
		}
	}
	return entries
}

// record puts an entry behind the others, before the values' file is replaced by data. The caller holds the lock.
func (h history) record(entry Entry, data []byte) error {
	l, err := h.open()
	if err != nil {
		return err
	}
	line, err := json.Marshal(logLine{entry, l.digest, digest(data)})
	if err != nil {
		return err
	}
	line = append(line, '\n')
	if len(l.text)+len(line) > maxLogBytes {
		return writeFile(h.folder, h.file, append(newerHalf(l.text), line...))
	}
	if err := h.appendAt(int64(len(l.text)), line); err != nil {
		return fmt.Errorf("writing %s: %w", filepath.Join(h.folder.Name(), h.file), cause(err))
	}
	return nil
}

// newerHalf is the second half of the lines of a text.
func newerHalf(text []byte) []byte {
	_, rest, _ := bytes.Cut(text[len(text)/2:], []byte("\n"))
	return bytes.Clone(rest)
}

// appendAt writes a line at a place of the file, where at most half a line stands, safely onto the disk.
func (h history) appendAt(at int64, line []byte) error {
	file, err := h.folder.OpenFile(h.file, os.O_WRONLY|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	err = file.Truncate(at)
	if err == nil {
		_, err = file.Seek(at, io.SeekStart)
	}
	if err == nil {
		_, err = file.Write(line)
	}
	return errors.Join(err, file.Sync(), file.Close())
}
