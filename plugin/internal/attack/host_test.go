package attack

const hostVariable = "GLADFLOW_ATTACK_HOST"

func beHost(string) int { return 0 }
