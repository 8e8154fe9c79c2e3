package store

import (
	"errors"
	"os"
	"runtime"
)

// replace writes data to a temporary file in the folder, flushes it to the disk and renames it to name, so that a
// reader, and a machine that loses power, has the old file or the new one and never half of either. The caller holds
// the lock; so what a killed process left of the temporary file is simply written over.
func replace(folder *os.Root, name string, data []byte) error {
	temporary := "." + name + ".tmp"
	file, err := folder.OpenFile(temporary, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = file.Write(data)
	if err := errors.Join(err, file.Sync(), file.Close()); err != nil {
		_ = folder.Remove(temporary) // what went wrong before matters more
		return err
	}
	if err := folder.Rename(temporary, name); err != nil {
		_ = folder.Remove(temporary)
		return err
	}
	return syncFolder(folder)
}

// syncFolder flushes the rename itself. Windows has no such call for folders.
func syncFolder(folder *os.Root) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	dir, err := folder.Open(".")
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}
