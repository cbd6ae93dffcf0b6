package main

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/gladflow/gladflow/pipelines/job"
)

// emptyValue is what is wrong with a flag that is given as nothing: most often a
// variable of a script that is not set.
const emptyValue = "the value is empty; give one, or leave the flag out"

// emptyFlag is the first flag that is given as nothing; empty if there is none.
func emptyFlag(flags *pflag.FlagSet) string {
	name := ""
	flags.Visit(func(f *pflag.Flag) {
		if name == "" && f.Value.String() == "" {
			name = f.Name
		}
	})
	return name
}

// flagError turns what pflag says into one sentence.
func flagError(c *cobra.Command, err error) error {
	if errors.Is(err, pflag.ErrHelp) {
		return err
	}
	var unknown *pflag.NotExistError
	if errors.As(err, &unknown) && unknown.GetSpecifiedShortnames() == "" {
		return usage(c, "there is no flag %s%s", shortened(unknownFlag(unknown)), nearestFlag(c, unknown.GetSpecifiedName()))
	}
	return usage(c, "%s", flagReason(err))
}

// flagReason is flagError without suggestions.
func flagReason(err error) string {
	var unknown *pflag.NotExistError
	var incomplete *pflag.ValueRequiredError
	var invalid *pflag.InvalidValueError
	var syntax *pflag.InvalidSyntaxError
	switch {
	case errors.As(err, &unknown):
		return "there is no flag " + shortened(unknownFlag(unknown))
	case errors.As(err, &incomplete):
		return fmt.Sprintf("--%s has no value; write --%[1]s VALUE", incomplete.GetSpecifiedName())
	case errors.As(err, &invalid):
		return "--" + invalid.GetFlag().Name + ": " + invalidValue(invalid)
	case errors.As(err, &syntax):
		return shortened(strconv.Quote(syntax.GetSpecifiedFlag())) + " is no flag; write --NAME VALUE"
	}
	return shortened(err.Error())
}

// unknownFlag is a flag as it was written.
func unknownFlag(e *pflag.NotExistError) string {
	if short := e.GetSpecifiedShortnames(); short != "" {
		return "-" + short
	}
	return "--" + e.GetSpecifiedName()
}

// invalidValue says what is wrong with the value of a flag.
func invalidValue(e *pflag.InvalidValueError) string {
	value := shortened(strconv.Quote(e.GetValue()))
	var j *job.Error
	switch kind := e.GetFlag().Value.Type(); {
	case e.GetValue() == "":
		return emptyValue
	case errors.As(e, &j):
		return shortened(j.Reason)
	case strings.HasPrefix(kind, "int"), strings.HasPrefix(kind, "uint"):
		return value + " is not a whole number, or too large for one"
	case strings.HasPrefix(kind, "float"):
		return value + " is not a number"
	case kind == "duration":
		return value + " is not a duration; write it as 90s, 5m or 1h30m"
	case kind == "bool":
		return value + " is neither true nor false"
	}
	return shortened(errors.Unwrap(e).Error())
}

// shortened takes the middle out of a text that is too long to be read, and makes
// what a terminal would act on readable: names of files may hold anything.
func shortened(text string) string {
	const most, head, tail = 1000, 600, 300
	if len(text) > most {
		text = text[:head] + " … " + text[len(text)-tail:]
	}
	var b strings.Builder
	for _, r := range strings.ToValidUTF8(text, "\uFFFD") {
		if unicode.IsControl(r) {
			b.WriteString(strings.Trim(strconv.QuoteRune(r), "'"))
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

// nearestFlag suggests the flag that a mistyped one was meant to be.
func nearestFlag(c *cobra.Command, name string) string {
	var names []string
	c.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
	// Compared without the dashes: they would make any two names alike.
	return strings.Replace(job.Suggestion(name, names), "mean ", "mean --", 1)
}
