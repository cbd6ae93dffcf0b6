package job

import "path/filepath"

// An EdgeTraining fits an edge head, which says how likely an edge is, to simulated
// networks, for a model of GLAD whose cells stay as they are. The zero value of every field
// but Out is its default.
type EdgeTraining struct {
	// From is the model that is given the head; one that it has is replaced.
	From string `json:"from,omitzero" file:"read-model" jsonschema:"default=general" jsonschema_description:"model that the head is for, whose cells stay as they are: the name of a built-in one, or a model file"`
	// Tables is the number of simulated tables to train with, ValidationTables that of the
	// tables to choose the best weights by, and Checks that of the tables of every kind and
	// size that the head is checked on at the end.
	Tables           int `json:"tables,omitzero" jsonschema:"minimum=0,default=3500" jsonschema_description:"simulated tables to train with"`
	ValidationTables int `json:"validation_tables,omitzero" jsonschema:"minimum=0,default=800" jsonschema_description:"simulated tables to choose the best weights by"`
	Checks           int `json:"checks,omitzero" jsonschema:"minimum=0,default=6" jsonschema_description:"simulated tables of every kind of network and size to check the head on"`
	// Seed chooses the tables, the first weights and the orders.
	Seed int `json:"seed,omitzero" jsonschema:"minimum=0" jsonschema_description:"seed of the networks, their tables, the first weights and the order of the steps; the same seed gives the same file"`

	// Edges and Others are how many pairs of a table are seen, drawn from all.
	Edges  int `json:"edges,omitzero" jsonschema:"minimum=0,default=60" jsonschema_description:"largest number of edges of a network to learn from"`
	Others int `json:"others,omitzero" jsonschema:"minimum=0,default=120" jsonschema_description:"largest number of other pairs of a network to learn from"`
	// Members, Units, Epochs, Batch and LearningRate are train.EdgeSettings'.
	Members      int     `json:"members,omitzero" jsonschema:"minimum=0,default=3" jsonschema_description:"networks, from first weights of their own, whose mean the head is"`
	Units        int     `json:"units,omitzero" jsonschema:"minimum=0,default=16" jsonschema_description:"hidden units of each"`
	Epochs       int     `json:"epochs,omitzero" jsonschema:"minimum=0,default=8" jsonschema_description:"how often each pair is seen"`
	Batch        int     `json:"batch,omitzero" jsonschema:"minimum=0,default=1024" jsonschema_description:"pairs that a step looks at"`
	LearningRate float64 `json:"learning_rate,omitzero" jsonschema:"minimum=0,default=0.01" jsonschema_description:"learning rate of Adam in the beginning; it falls to 0"`

	// Name is the model's. Default: that of From.
	Name string `json:"name,omitzero" jsonschema_description:"name of the model; without it that of the model that the head is for"`
	// Out is the model file. One that is there is replaced at the end.
	Out string `json:"out" file:"write" jsonschema:"required,minLength=1" jsonschema_description:"model file to write"`

	// Workers is the number of tables at work at once. Default: one for each processor. It
	// does not change the result.
	Workers int `json:"workers,omitzero" jsonschema:"minimum=0" jsonschema_description:"tables to work on at once; 0 is one for each processor"`
	// Engine does the linear algebra.
	Engine string `json:"engine,omitzero" jsonschema:"enum=auto,enum=openblas,enum=gonum,default=auto" jsonschema_description:"linear algebra; auto is openblas where this machine has it"`
	// JSON asks for one JSON document. Only the command reads it.
	JSON bool `json:"json,omitzero" jsonschema_description:"print the result as one JSON document"`
}

// Command is the command line that repeats the training, without defaults and without what
// does not change the model. Of files it has the last element only: cards are public, folders
// are not.
func (t EdgeTraining) Command() string {
	t.Workers, t.JSON = 0, false
	t.Out = filepath.Base(t.Out)
	if t.From != "" {
		t.From = filepath.Base(t.From)
	}
	return commandLine([]string{"gladflow", "train", "edges"}, &t, Facts{})
}
