package modelfile

import (
	"fmt"

	"github.com/gladflow/gladflow/solver/glad/card"
)

// edges is v, which must be the part of a card about an edge head.
func (d *Decoder) edges(path string, v Value) *card.Edges {
	o := d.Object(path, v)
	d.Keys(o, path, nil, []string{"command", "family", "tables", "pairs", "epochs", "seed", "loss", "validation", "checked", "families"})
	var e card.Edges
	for key, to := range map[string]*string{"command": &e.Command, "family": &e.Family, "loss": &e.Loss, "checked": &e.Checked} {
		if v, ok := o[key]; ok {
			*to = d.Text(path+"."+key, v)
		}
	}
	for key, to := range map[string]*int{"tables": &e.Tables, "pairs": &e.Pairs, "epochs": &e.Epochs} {
		if v, ok := o[key]; ok {
			*to = d.Integer(path+"."+key, v)
		}
	}
	if v, ok := o["seed"]; ok {
		e.Seed = d.Unsigned(path+".seed", v)
	}
	if v, ok := o["validation"]; ok {
		e.Validation = d.Number(path+".validation", v)
	}
	if v, ok := o["families"]; ok {
		for i, f := range d.List(path+".families", v) {
			e.Families = append(e.Families, d.edgeFigures(fmt.Sprintf("%s.families[%d]", path, i), f))
		}
	}
	return &e
}

func (d *Decoder) edgeFigures(path string, v Value) card.EdgeFigures {
	o := d.Object(path, v)
	d.Keys(o, path, []string{"family", "seen", "tables", "pairs", "edges", "brier", "constant", "kept", "false_share", "counts", "said", "held"},
		[]string{"aupr", "aupr_partial", "aupr_correlation"})
	f := card.EdgeFigures{
		Family: d.Text(path+".family", o["family"]), Seen: d.Boolean(path+".seen", o["seen"]),
		Said: d.Numbers(path+".said", o["said"]), Held: d.Numbers(path+".held", o["held"]),
	}
	for i, n := range d.List(path+".counts", o["counts"]) {
		f.Counts = append(f.Counts, d.Integer(fmt.Sprintf("%s.counts[%d]", path, i), n))
	}
	if n := len(f.Counts); len(f.Said) != n || len(f.Held) != n {
		d.Fail(path, "has counts, said and held of different lengths; give one of each for every interval")
	}
	for key, to := range map[string]*int{"tables": &f.Tables, "pairs": &f.Pairs, "edges": &f.Edges, "kept": &f.Kept} {
		*to = d.Integer(path+"."+key, o[key])
	}
	for key, to := range map[string]*float64{
		"brier": &f.Brier, "constant": &f.Constant, "false_share": &f.FalseShare,
		"aupr": &f.AUPR, "aupr_partial": &f.AUPRPartial, "aupr_correlation": &f.AUPRCorrelation,
	} {
		if v, ok := o[key]; ok {
			*to = d.Number(path+"."+key, v)
		}
	}
	return f
}
