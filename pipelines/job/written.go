package job

import (
	"bytes"
	"encoding/json"
)

// A WrittenFile is a file that a run has written. Whether the file of that name is
// still the run's its checksum says.
type WrittenFile struct {
	// Name is that in the folder of the run, Job.Out; of a report elsewhere Job.Report.
	Name string `json:"name"`
	// Bytes is the size of the file.
	Bytes int64 `json:"bytes"`
	// SHA256 is the checksum of the file's bytes, in hexadecimal.
	SHA256 string `json:"sha256"`
}

// UnmarshalJSON reads an object, or the name alone: documents of version 0.1.0 have
// no more. Size and checksum are then zero.
func (f *WrittenFile) UnmarshalJSON(data []byte) error {
	*f = WrittenFile{}
	if bytes.HasPrefix(data, []byte(`"`)) {
		return json.Unmarshal(data, &f.Name)
	}
	type plain WrittenFile
	return json.Unmarshal(data, (*plain)(f))
}
