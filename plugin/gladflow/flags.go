package main

import (
	"errors"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/gladflow/gladflow/pipelines"
)

// inputKind is the one flag that is not called as its key: the key input is
// the table itself, which the command line takes without a flag.
const (
	inputKind     = "input_kind"
	inputKindFlag = "input"
)

func flagOf(f pipelines.Field) string {
	if f.Key == inputKind {
		return inputKindFlag
	}
	return f.Flag
}

// bind gives a command a flag for every field of a document, a *pipelines.Job
// or *pipelines.Evaluation, but those that are arguments.
func bind(c *cobra.Command, document any, arguments ...string) {
	flags := c.Flags()
	flags.SortFlags = false
	flags.SetNormalizeFunc(func(_ *pflag.FlagSet, name string) pflag.NormalizedName {
		switch name {
		case "input-kind":
			name = inputKindFlag
		case "penalize-diagonal":
			name = "penalise-diagonal"
		}
		return pflag.NormalizedName(name)
	})
next:
	for _, f := range pipelines.Fields(document) {
		for _, a := range arguments {
			if f.Key == a {
				continue next
			}
		}
		flag := &pflag.Flag{Name: flagOf(f), Usage: describe(f), Value: &fieldValue{document: document, field: f}}
		if f.Kind == pipelines.BooleanField {
			flag.NoOptDefVal = "true"
		}
		flags.AddFlag(flag)
		if complete := completion(f); complete != nil {
			// It fails for a flag that does not exist, and this one does.
			_ = c.RegisterFlagCompletionFunc(flag.Name, complete)
		}
	}
}

// describe is the help of a flag: what it is, its choices, its default.
func describe(f pipelines.Field) string {
	var more []string
	if f.Choices != nil {
		more = append(more, strings.Join(f.Choices, ", "))
	}
	if f.Default != "" && f.Default != "0" {
		more = append(more, "default "+f.Default)
	}
	if more == nil {
		return f.Description
	}
	return f.Description + " (" + strings.Join(more, "; ") + ")"
}

// fieldValue is a flag that fills a field.
type fieldValue struct {
	document any
	field    pipelines.Field
	text     string
}

// String implements pflag.Value.
func (v *fieldValue) String() string { return v.text }

// Set implements pflag.Value.
func (v *fieldValue) Set(text string) error {
	v.text = text
	return pipelines.Set(v.document, v.field.Key, text)
}

// Type implements pflag.Value: it is what help shows for the value.
func (v *fieldValue) Type() string {
	switch v.field.Key {
	case "reference", "penalty_matrix":
		return "FILE"
	case "model":
		return "NAME|FILE"
	case "out":
		return "FOLDER"
	}
	switch v.field.Kind {
	case pipelines.BooleanField:
		return "bool" // pflag shows nothing for it
	case pipelines.IntegerField:
		return "N"
	case pipelines.NumberField:
		return "NUMBER"
	case pipelines.ValueField:
		return "NUMBER|WORD"
	case pipelines.DurationField:
		return "TIME"
	case pipelines.ListField:
		return "LIST"
	}
	return "WORD"
}

// flagError turns what pflag says into one sentence.
func flagError(c *cobra.Command, err error) error {
	var unknown *pflag.NotExistError
	var incomplete *pflag.ValueRequiredError
	var invalid *pflag.InvalidValueError
	var job *pipelines.JobError
	switch {
	case errors.Is(err, pflag.ErrHelp):
		return err
	case errors.As(err, &unknown) && unknown.GetSpecifiedShortnames() != "":
		return usage(c, "there is no flag -%s", unknown.GetSpecifiedShortnames())
	case errors.As(err, &unknown):
		return usage(c, "there is no flag --%s%s", unknown.GetSpecifiedName(), nearestFlag(c, unknown.GetSpecifiedName()))
	case errors.As(err, &incomplete):
		return usage(c, "--%s has no value; write --%[1]s VALUE", incomplete.GetSpecifiedName())
	case errors.As(err, &invalid) && errors.As(err, &job):
		return usage(c, "--%s: %s", invalid.GetFlag().Name, job.Reason)
	}
	return usage(c, "%s", err.Error())
}

// nearestFlag suggests the flag that a mistyped one was meant to be.
func nearestFlag(c *cobra.Command, name string) string {
	var names []string
	c.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
	// Compared without the dashes: they would make any two names alike.
	return strings.Replace(pipelines.Suggestion(name, names), "mean ", "mean --", 1)
}

// asFlag makes an error about a field that is a flag of c speak of the flag.
func asFlag(c *cobra.Command, document any, err error) error {
	var job *pipelines.JobError
	if !errors.As(err, &job) || job.Reason == "" {
		return err
	}
	for _, f := range pipelines.Fields(document) {
		if f.Key == job.Field && c.Flags().Lookup(flagOf(f)) != nil {
			reason := &pipelines.JobError{Reason: job.Reason, Err: job.Err}
			return usage(c, "--%s: %s", flagOf(f), reason.Text(pipelines.FlagOption))
		}
	}
	return err
}
