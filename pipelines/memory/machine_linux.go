package memory

import "os"

func machine() int64 { return machineOf(os.DirFS("/")) }
