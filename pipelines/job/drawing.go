package job

// A Drawing draws a list of edges as a picture. The zero value of every field but the first
// two is its default.
type Drawing struct {
	// EdgeList is the list: a path, or "-" for standard input.
	EdgeList string `json:"edge_list" file:"read" jsonschema:"required,minLength=1" jsonschema_description:"list of edges, best first: columns source, target and, if any, score"`
	// Out is the picture: SVG or PNG, by its extension.
	Out string `json:"out" file:"write" jsonschema:"required,pattern=[.](svg|png)$" jsonschema_description:"picture to write: a file whose name ends in .svg or .png"`
	// Top is the number of edges that are drawn, the strongest ones.
	Top int `json:"top,omitzero" jsonschema:"minimum=0,maximum=3000,default=200" jsonschema_description:"strongest edges to draw"`
	// Theme says what it is drawn on.
	Theme string `json:"theme,omitzero" jsonschema:"enum=light,enum=dark,default=light" jsonschema_description:"colours of the picture"`
	// NoLabels leaves out the names.
	NoLabels bool `json:"no_labels,omitzero" jsonschema_description:"leave out the names of the variables"`
}

// MostDrawn is the largest Drawing.Top.
const MostDrawn = 3000

// ThemeDark is a value of Drawing.Theme.
const ThemeDark = "dark"

// Validate reports the first field that is wrong, as a *Error.
func (d Drawing) Validate() error {
	switch {
	case d.EdgeList == "":
		return Errorf("edge_list", "no list of edges is named; give the path of one, or - for standard input")
	case d.Picture() == "":
		return Errorf("out", "%q is no picture; give a name that ends in .svg or .png", d.Out)
	case d.Top < 0 || d.Top > MostDrawn:
		return Errorf("top", "%d edges are no picture; draw 1 to %d", d.Top, MostDrawn)
	}
	return CheckFields(&d, Facts{})
}

// Picture is the format of the picture, svg or png; empty for a name that has neither
// extension.
func (d Drawing) Picture() string {
	for _, format := range []string{"svg", "png"} {
		if len(d.Out) > len(format)+1 && d.Out[len(d.Out)-len(format)-1:] == "."+format {
			return format
		}
	}
	return ""
}
