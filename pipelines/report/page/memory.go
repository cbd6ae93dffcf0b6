package page

import "slices"

// Trim is the page without edges that it has no place for, so that less is kept of it until
// it is encoded.
func (p Page) Trim() Page {
	p.Sections = slices.Clone(p.Sections)
	for i, s := range p.Sections {
		p.Sections[i].Networks = slices.Clone(s.Networks)
		for k, n := range p.Sections[i].Networks {
			n = n.first(mostDrawn(len(s.Networks)))
			n.Nodes, n.Edges, n.Sure = slices.Clone(n.Nodes), slices.Clone(n.Edges), slices.Clone(n.Sure)
			for c, column := range n.Sure {
				n.Sure[c].Values = slices.Clone(column.Values)
			}
			p.Sections[i].Networks[k] = n
		}
	}
	return p
}

// Memory is about what the page takes while it waits to be encoded, in bytes. Names of
// variables count in full, though they may be shared with whoever has made the page.
func (p Page) Memory() int64 {
	const header, cell = 16, 64 // of a string, and of a cell of a table with its text
	var bytes int64
	text := func(texts ...string) {
		for _, t := range texts {
			bytes += header + int64(len(t))
		}
	}
	text(p.Kind, p.Title, p.Error)
	text(p.Summary...)
	text(p.Warnings...)
	for _, s := range p.Sections {
		text(s.Title)
		text(s.Text...)
		text(s.Notes...)
		if s.Table != nil {
			bytes += cell * int64((1+len(s.Table.Rows))*len(s.Table.Columns))
		}
		for _, n := range s.Networks {
			const node, edge = 32, 40
			bytes += int64(node*len(n.Nodes) + edge*len(n.Edges))
			for _, v := range n.Nodes {
				bytes += int64(len(v.Name))
			}
			for _, c := range n.Sure {
				bytes += 8 * int64(len(c.Values))
			}
		}
		for _, c := range s.Charts {
			for _, line := range c.Series {
				bytes += 8 * int64(len(line.X)+len(line.Y))
			}
		}
		for _, c := range s.Comparisons {
			text(c.Rows...)
			for _, d := range c.Series {
				bytes += 8 * int64(len(d.Values)+len(d.Errors))
			}
		}
		if r := s.Record; r != nil {
			text(r.Command)
			for _, f := range r.Facts {
				text(f.Name, f.Value)
			}
			for _, f := range r.Files {
				text(f.Name, f.SHA256)
			}
		}
	}
	return bytes
}
