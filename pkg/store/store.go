// Package store keeps racks: in a settings folder, or for a team in a Kubernetes cluster.
//
// In a folder a rack is racks/NAME, laid out as the Convox CLI lays out its own: vars.json is one flat JSON object of
// strings with the stored parameters, and the rack's name, release and region among them. A folder that the Convox CLI
// made has a main.tf that names the provider; one made here has a rack.json for that. Files are replaced as a whole, by
// a rename, so that a reader never sees half of one, and changes are made under a lock, so that none is lost.
//
// In a cluster a rack is a ConfigMap, and its sensitive parameters a Secret that the ConfigMap names. A change makes a new
// Secret first and then updates the ConfigMap, which is the moment at which both count. It is refused by its resource
// version where somebody else was faster, and is then made again on what is there.
package store

import (
	"fmt"
	"regexp"
	"strings"
	"sync"

	"rackparams/params"
	"rackparams/pkg/shape"
)

// Store is where racks are kept.
type Store interface {
	// Names returns the names of the racks, sorted.
	Names() ([]string, error)
	// Rack reads a rack. The error is a *NotFoundError where there is none of the name.
	Rack(name string) (Rack, error)
	// Overview reads a rack, maybe without its sensitive parameters, which not everybody may read.
	Overview(name string) (Rack, error)
	// Create stores a rack. The name must be free.
	Create(rack Rack) error
	// Update changes the values of a rack: change gets the rack as it is and returns the values to store. Where it returns an
	// error, nothing is stored and the error is handed on. It may be called again where somebody else changed the rack meanwhile.
	Update(name string, change func(Rack) (map[string]string, error)) error
	// Delete forgets a rack, with its history.
	Delete(name string) error
	// History returns what changed a rack, the oldest first, as far back as it is kept.
	History(name string) ([]Entry, error)
	// Current returns the name of the current rack, or "" where none was chosen. It is one person's, whatever the store.
	Current() (string, error)
	// Switch makes a rack the current one.
	Switch(name string) error
}

// Rack is a rack as it is stored.
type Rack struct {
	params.Rack
	Name string

	// Terraform is set where Terraform manages the rack, and InFolder where it does so from the very folder in which the rack is
	// stored: then the rack follows a change with the next apply.
	Terraform, InFolder bool
}

// NotFoundError says that there is no rack of that name.
type NotFoundError struct {
	Name  string
	Known []string
}

func (e *NotFoundError) Error() string {
	message := "there is no rack " + shape.Quote(e.Name)
	if near := shape.Nearest(e.Name, e.Known); near != "" {
		return message + `; did you mean "` + near + `"?`
	}
	if len(e.Known) == 0 {
		return message + "; create one with `rack create`"
	}
	return message + "; the racks are " + strings.Join(e.Known, ", ")
}

// CheckName says whether a rack may have that name. Names are single path elements, so that none leads out of the
// settings folder.
func CheckName(name string) error {
	if !namePattern().MatchString(name) {
		return fmt.Errorf("%s is not a rack name; write at most 63 letters, digits, '-', '_' or '.', a letter or digit first", shape.Quote(name))
	}
	return nil
}

// Patterns are compiled when first needed: each costs as much as reading a file.
var namePattern = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$`) })
