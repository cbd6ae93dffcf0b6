package job

import "path/filepath"

// Command is the command line that repeats the training, without defaults and
// without what does not change the model. Of Out it has the last element
// only: cards are public, folders are not.
func (t Training) Command() string {
	t = t.Essential()
	t.Out = filepath.Base(t.Out)
	return t.commandLine()
}

// ResumeCommand is the command line that resumes t from its checkpoint.
func (t Training) ResumeCommand() string {
	t.Resume, t.JSON = true, false
	return t.commandLine()
}

// Essential is t without what does not change the model.
func (t Training) Essential() Training {
	t.Checkpoint, t.Resume, t.Workers, t.JSON = "", false, 0, false
	return t
}

func (t Training) commandLine() string {
	words := []string{"gladflow", "train"}
	if t.Family != "" {
		words = append(words, t.Family)
	}
	return commandLine(words, &t, Facts{}, "family")
}
