package arrowio

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// TextOptions say how numbers are written in delimited text. The zero value is a
// header, a decimal point, and no marks between thousands.
type TextOptions struct {
	// NoHeader says that the first line is a row of numbers and no header: the
	// columns are then named v1, v2 and so on.
	NoHeader bool
	// Decimal is the mark between the whole number and its fraction: '.' or ','.
	// Default (0): '.'.
	Decimal byte
	// Thousands is a mark in whole numbers that means nothing: ',', '.', ' ', '\'' or
	// '_'. Default (0): there is none.
	Thousands byte
	// Missing are words that stand for a missing value besides those that are always
	// taken for it: the empty cell, NA, N/A, #N/A, NaN, null, none, nil, -, ? and a
	// point, in letters of any case.
	Missing []string
}

// Marks are what TextOptions.Decimal and Thousands may be.
const (
	decimalMarks   = ".,"
	thousandsMarks = ",. '_"
)

// check refuses marks that contradict each other, or the delimiter of a file.
func (o TextOptions) check(path string, comma byte) error {
	decimal := o.decimal()
	switch {
	case !strings.ContainsRune(decimalMarks, rune(decimal)):
		return fault(path, "%q is no decimal mark; choose a point or a comma", decimal)
	case o.Thousands != 0 && !strings.ContainsRune(thousandsMarks, rune(o.Thousands)):
		return fault(path, "%q is no mark between thousands; choose one of %q", o.Thousands, thousandsMarks)
	case o.Thousands == decimal:
		return fault(path, "the decimal mark and the mark between thousands are both %q; change one of them", decimal)
	case decimal == comma:
		return fault(path, "cells are separated by commas, so that no comma can be a decimal mark; write the table with another separator, such as a semicolon")
	}
	return nil
}

// checkFormat refuses options that say nothing of a file of format f: a table read
// without them may be another than its owner means.
func (o SampleOptions) checkFormat(s *input, f format) error {
	var key, why string
	switch f {
	case parquetFormat, arrowFormat, streamFormat:
		why = "and its columns have names and types of their own"
		switch t := o.Text; {
		case t.NoHeader:
			key = noHeaderOption
		case t.Decimal != 0:
			key = decimalOption
		case t.Thousands != 0:
			key = thousandsOption
		case len(t.Missing) > 0:
			key = wordsOption
		case o.Sheet != "":
			key = sheetOption
		}
	case xlsxFormat:
	default:
		why = "and only an Excel workbook has sheets"
		if o.Sheet != "" {
			key = sheetOption
		}
	}
	if key == "" {
		return nil
	}
	article := "a"
	if strings.ContainsRune("AE", rune(f.String()[0])) {
		article = "an"
	}
	return fault(s.name, "the table is %s %s, %s", article, f, why).
		advise(Advice{Option: key, With: "leave %s out", Without: "leave the option out"})
}

func (o TextOptions) decimal() byte {
	if o.Decimal == 0 {
		return '.'
	}
	return o.Decimal
}

// plain says that numbers are written as strconv reads them.
func (o TextOptions) plain() bool { return o.decimal() == '.' && o.Thousands == 0 }

// isMissing knows the ways in which programs write that there is no value, and the
// user's own.
func (o TextOptions) isMissing(cell string) bool {
	return isMissing(cell) || slices.Contains(o.Missing, strings.TrimSpace(cell))
}

// usual appends a cell to buf as strconv reads it. Marks that are out of place become
// such that it is no number: those between thousands stand before three digits.
func (o TextOptions) usual(buf, cell []byte) []byte {
	const none = '!'
	for i, c := range cell {
		switch {
		case c == o.decimal():
			c = '.'
		case c == o.Thousands && c != 0:
			if o.groups(cell, i) {
				continue
			}
			c = none
		case c == '.' || c == ',':
			c = none
		}
		buf = append(buf, c)
	}
	return buf
}

// groups reports whether the mark at i of a cell stands between thousands.
func (o TextOptions) groups(cell []byte, i int) bool {
	digit := func(i int) bool { return i >= 0 && i < len(cell) && cell[i]-'0' <= 9 }
	return digit(i-1) && digit(i+1) && digit(i+2) && digit(i+3) && !digit(i+4)
}

// Keys of options that errors of cells advise.
const (
	decimalOption   = "decimal"
	thousandsOption = "thousands"
	wordsOption     = "na"
	noHeaderOption  = "no_header"
)

// TextKeys are the keys of TextOptions and of SampleOptions.Sheet in a document, for SampleOptions.Fixed of those
// who do not offer them.
func TextKeys() []string {
	return []string{noHeaderOption, decimalOption, thousandsOption, wordsOption, sheetOption}
}

var (
	withDecimalComma = regexp.MustCompile(`^-?[0-9]+,[0-9]+([eE][-+]?[0-9]+)?$`)
	withThousands    = regexp.MustCompile(`^-?[0-9]{1,3}(,[0-9]{3})+(\.[0-9]*)?$`)
)

// adviseCell adds what may help with a cell of a column that is no number: first says
// that it is in the first row. Cells are separated by comma.
func (o TextOptions) adviseCell(e *InputError, cell string, comma byte, first bool) {
	switch decimal := o.plain() && comma != ',' && withDecimalComma.MatchString(cell); {
	case o.plain() && withThousands.MatchString(cell) && (!decimal || strings.Contains(cell, ".") || strings.Count(cell, ",") > 1):
		e.Advice = Advice{Option: thousandsOption, Value: ",", With: "if the comma stands between thousands, pass %s", Without: "write numbers without marks between thousands"}
	case decimal:
		e.Advice = Advice{Option: decimalOption, Value: ",", With: "if the comma is a decimal mark, pass %s", Without: "write numbers with a decimal point"}
	case strings.HasSuffix(cell, "%"):
		e.Reason += "; take the percent signs away"
	case first:
		e.Advice = labels(e.Column, "if the column labels the rows, pass %s, otherwise remove it", "remove the column or put a number")
	default:
		e.Advice = Advice{Option: wordsOption, Value: cell, With: "if it means that the value is missing, pass %s, otherwise put a number", Without: "put a number, or remove the column or the row"}
	}
}

// namesOfColumns are those of a table without a header.
func namesOfColumns(n int) []string {
	names := make([]string, n)
	for i := range names {
		names[i] = fmt.Sprintf("v%d", i+1)
	}
	return names
}

// checkHeader refuses a header that is a row of numbers: all of its names are, and one
// is a fraction or stands there twice. Years and numbers of probes are good names.
func checkHeader(path string, names []string) error {
	seen := make(map[string]bool, len(names))
	odd := false
	for _, n := range names {
		if _, err := strconv.ParseFloat(n, 64); err != nil {
			return nil
		}
		if _, err := strconv.ParseInt(n, 10, 64); err != nil || seen[n] {
			odd = true
		}
		seen[n] = true
	}
	if !odd {
		return nil
	}
	return fault(path, "the first line is a row of numbers and no header").
		advise(Advice{Option: noHeaderOption, With: "pass %s, or write the names of the columns above it", Without: "write the names of the columns above it"})
}
