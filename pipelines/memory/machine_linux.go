package memory

import "os"

func machine() int64 { return machineOf(os.DirFS("/")) }

func available() int64 { return availableOf(os.DirFS("/")) }
