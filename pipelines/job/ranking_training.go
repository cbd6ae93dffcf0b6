package job

import "path/filepath"

// A RankingTraining fits the weights of a learned ranking, that of the solver
// expression, to simulated gene expression. The zero value of every field but Out is
// its default.
type RankingTraining struct {
	// Networks is the number of simulated tables to train with, ValidationNetworks
	// that of the tables to fit probabilities with, and to check them and the ranking.
	Networks           int `json:"networks,omitzero" jsonschema:"minimum=0,default=820" jsonschema_description:"simulated networks to train with, a table each"`
	ValidationNetworks int `json:"validation_networks,omitzero" jsonschema:"minimum=0,default=300" jsonschema_description:"simulated networks besides, the first half to fit probabilities with, the others to check them and the ranking"`
	// Seed chooses the tables, the first weights and the orders.
	Seed int `json:"seed,omitzero" jsonschema:"minimum=0" jsonschema_description:"seed of the networks, their tables, the first weights and the order of the steps; the same seed gives the same file"`

	// Regulators asks for a model for tables whose regulators are known, of edges from a
	// regulator to any other gene: the networks come with lists of regulators.
	Regulators bool `json:"regulators,omitzero" jsonschema_description:"train on networks whose regulators are known, to rank edges from a regulator to another gene"`

	// Edges and Others are how many pairs of a table are seen, drawn from all.
	Edges  int `json:"edges,omitzero" jsonschema:"minimum=0,default=200" jsonschema_description:"largest number of edges of a network to learn from"`
	Others int `json:"others,omitzero" jsonschema:"minimum=0,default=600" jsonschema_description:"largest number of other pairs of a network to learn from"`
	// Members, Units, Epochs, Batch, LearningRate and Decay are train.Settings'.
	Members      int     `json:"members,omitzero" jsonschema:"minimum=0,default=5" jsonschema_description:"neural networks whose mean the score is"`
	Units        int     `json:"units,omitzero" jsonschema:"minimum=0,default=16" jsonschema_description:"hidden units of each"`
	Epochs       int     `json:"epochs,omitzero" jsonschema:"minimum=0,default=10" jsonschema_description:"how often each pair is seen"`
	Batch        int     `json:"batch,omitzero" jsonschema:"minimum=0,default=512" jsonschema_description:"pairs that a step looks at"`
	LearningRate float64 `json:"learning_rate,omitzero" jsonschema:"minimum=0,default=0.003" jsonschema_description:"learning rate of Adam in the beginning; it falls to 0"`
	Decay        float64 `json:"decay,omitzero" jsonschema:"minimum=0,default=0.001" jsonschema_description:"weight of the squares of the weights in the loss"`

	// Name is the model's. Default: that of Out without its ending.
	Name string `json:"name,omitzero" jsonschema_description:"name of the model; without it that of the file"`
	// Description stands in the model's card.
	Description string `json:"description,omitzero" jsonschema_description:"sentence or two on what the model is for, for its card"`
	// Out is the model file. One that is there is replaced at the end.
	Out string `json:"out" file:"write" jsonschema:"required,minLength=1" jsonschema_description:"model file to write"`

	// Workers is the number of tables and networks at work at once. Default: one for
	// each processor. It does not change the result.
	Workers int `json:"workers,omitzero" jsonschema:"minimum=0" jsonschema_description:"tables to work on at once; 0 is one for each processor"`
	// JSON asks for one JSON document. Only the command reads it.
	JSON bool `json:"json,omitzero" jsonschema_description:"print the result as one JSON document"`
}

// Command is the command line that repeats the training, without defaults and
// without what does not change the model. Of Out it has the last element only: cards
// are public, folders are not.
func (t RankingTraining) Command() string {
	t.Workers, t.JSON = 0, false
	t.Out = filepath.Base(t.Out)
	return commandLine([]string{"gladflow", "train", "ranking"}, &t, Facts{})
}
