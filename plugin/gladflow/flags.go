package main

import (
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/gladflow/gladflow/pipelines/job"
)

// bind gives a command a flag for every field of a document, such as a *job.Job,
// but those that are arguments. known are the names that the fields may hold.
func bind(c *cobra.Command, document any, known job.Facts, arguments ...string) {
	flags := c.Flags()
	flags.SortFlags = false
	flags.SetNormalizeFunc(func(_ *pflag.FlagSet, name string) pflag.NormalizedName {
		switch name {
		case "input-kind":
			name = "input" // the key, but the key input is the table itself
		case "penalize-diagonal":
			name = "penalise-diagonal"
		}
		return pflag.NormalizedName(name)
	})
	for _, f := range job.Fields(document, known) {
		if !slices.Contains(arguments, f.Key) {
			addFlag(c, document, f)
		}
	}
}

// bindOutFirst is bind for a document whose field out is required: it comes first in help.
func bindOutFirst(c *cobra.Command, document any, known job.Facts, arguments ...string) {
	for _, f := range job.Fields(document, known) {
		if f.Key == "out" {
			addFlag(c, document, f)
		}
	}
	bind(c, document, known, arguments...)
}

// addFlag adds the flag of one field, unless c has it.
func addFlag(c *cobra.Command, document any, f job.Field) {
	flag := &pflag.Flag{Name: f.Flag, Usage: describe(f), Value: &fieldValue{document: document, field: f}}
	if c.Flags().Lookup(flag.Name) != nil {
		return
	}
	flag.NoOptDefVal = f.Bare
	if f.Kind == job.BooleanField {
		flag.NoOptDefVal = "true"
	}
	c.Flags().AddFlag(flag)
	if complete := completion(f); complete != nil {
		// It fails for a flag that does not exist, and this one does.
		_ = c.RegisterFlagCompletionFunc(flag.Name, complete)
	}
}

// describe is the help of a flag: what it is, its choices, its default.
func describe(f job.Field) string {
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
	field    job.Field
	text     string
}

// String implements pflag.Value.
func (v *fieldValue) String() string { return v.text }

// Set implements pflag.Value.
func (v *fieldValue) Set(text string) error {
	v.text = text
	return job.Set(v.document, v.field.Key, text)
}

// Type implements pflag.Value: it is what help shows for the value.
func (v *fieldValue) Type() string {
	switch v.field.File {
	case job.ReadFile, job.WriteFile:
		return "FILE"
	case job.ReadModel:
		return "NAME|FILE"
	case job.ReadFolder, job.WriteFolder:
		return "FOLDER"
	}
	switch v.field.Kind {
	case job.BooleanField:
		return "bool" // pflag shows nothing for it
	case job.IntegerField:
		return "N"
	case job.NumberField:
		return "NUMBER"
	case job.ValueField:
		if v.field.Words == nil {
			return "NUMBER"
		}
		return "NUMBER|WORD"
	case job.DurationField:
		return "TIME"
	case job.ListField:
		return "LIST"
	case job.MapField:
		return "KEY=VALUE"
	}
	return "WORD"
}

// asFlag makes an error about a field that is a flag of c speak of the flag.
func asFlag(c *cobra.Command, document any, err error) error {
	var j *job.Error
	if !errors.As(err, &j) || j.Reason == "" {
		return err
	}
	for _, f := range job.Fields(document, job.Facts{}) {
		if f.Key == j.Field && c.Flags().Lookup(f.Flag) != nil {
			reason := &job.Error{Reason: j.Reason, Err: j.Err}
			return usage(c, "--%s: %s", f.Flag, reason.Text(job.FlagOption))
		}
	}
	return err
}

// withValues takes from the arguments the words that belong to flags which need none: where
// there are more arguments than the want that there should be, a choice of such a flag, or a
// number where it takes one.
func withValues(c *cobra.Command, document any, known job.Facts, args []string, want int) []string {
	for _, f := range job.Fields(document, known) {
		if f.Bare == "" || !c.Flags().Changed(f.Flag) || c.Flags().Lookup(f.Flag).Value.String() != f.Bare || len(args) <= want {
			continue
		}
		at := slices.IndexFunc(args, func(word string) bool {
			_, err := strconv.Atoi(word)
			return slices.Contains(f.Choices, word) || f.Kind == job.IntegerField && err == nil
		})
		if at >= 0 && c.Flags().Set(f.Flag, args[at]) == nil {
			args = slices.Delete(slices.Clone(args), at, at+1)
		}
	}
	return args
}
