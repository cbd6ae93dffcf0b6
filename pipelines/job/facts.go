package job

// Facts are what a program knows of the fields of a document and the document
// itself does not, by key: names of solvers, models and the like. The zero value
// knows nothing.
type Facts struct {
	// Words are those that a field may hold: every word of a list, the only
	// ones of a text, or those that a Value may be besides a number.
	Words map[string][]string
	// Defaults are the texts of defaults.
	Defaults map[string]string
}
