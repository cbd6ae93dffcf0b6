package main

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// A textTable is printed in aligned columns, two blanks apart.
type textTable struct {
	columns []column
	rows    [][]string
}

type column struct {
	title string
	align alignment
}

type alignment bool

const (
	left  alignment = false
	right alignment = true
)

func (t *textTable) add(cells ...string) { t.rows = append(t.rows, cells) }

func (t *textTable) print(w io.Writer) {
	for _, line := range t.lines() {
		fmt.Fprintln(w, line)
	}
}

// lines are those that print prints.
func (t *textTable) lines() []string {
	widths := make([]int, len(t.columns))
	titles := make([]string, len(t.columns))
	for i, c := range t.columns {
		titles[i] = c.title
		widths[i] = utf8.RuneCountInString(c.title)
		for _, r := range t.rows {
			widths[i] = max(widths[i], utf8.RuneCountInString(r[i]))
		}
	}
	var lines []string
	for _, r := range append([][]string{titles}, t.rows...) {
		var b strings.Builder
		for i, cell := range r {
			blank := strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell))
			if i > 0 {
				b.WriteString("  ")
			}
			if t.columns[i].align == right {
				b.WriteString(blank + cell)
			} else {
				b.WriteString(cell + blank)
			}
		}
		lines = append(lines, strings.TrimRight(b.String(), " "))
	}
	return lines
}
