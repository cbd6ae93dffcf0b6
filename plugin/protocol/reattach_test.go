package protocol

import (
	"encoding/json"
	"net"
	"reflect"
	"strings"
	"testing"

	"github.com/hashicorp/go-plugin"
)

// The JSON is that of Terraform's TF_REATTACH_PROVIDERS for one provider, which
// tools of other plugins know.
func TestReattach(t *testing.T) {
	config := &plugin.ReattachConfig{
		Protocol: plugin.ProtocolGRPC, ProtocolVersion: Version, Pid: 3382870, Test: true,
		Addr: &net.UnixAddr{Net: "unix", Name: "/tmp/plugin713096927"},
	}
	text, err := json.Marshal(NewReattach(config))
	const want = `{"Protocol":"grpc","ProtocolVersion":1,"Pid":3382870,"Test":true,"Addr":{"Network":"unix","String":"/tmp/plugin713096927"}}`
	if err != nil || string(text) != want {
		t.Errorf("JSON %s, %v", text, err)
	}
	r, err := ParseReattach(want)
	if back := r.ClientConfig().Reattach; err != nil || !reflect.DeepEqual(back, config) {
		t.Errorf("%+v, %v", back, err)
	}
	for _, c := range []struct{ old, new, want string }{
		{`{"Protocol"`, `GLADFLOW_REATTACH={"Protocol"`, "copy its line from the first brace to the last"},
		{`"grpc"`, `"netrpc"`, "copy the line that gladflow plugin prints"},
		{`"unix"`, `"tcp"`, "copy the line that gladflow plugin prints"},
		{`"/tmp/`, `"`, "copy the line that gladflow plugin prints"},
		{`"Test":true`, `"Test":false`, "copy the line that gladflow plugin prints"},
		{`"ProtocolVersion":1`, `"ProtocolVersion":99`, "update the older"},
	} {
		if _, err := ParseReattach(strings.Replace(want, c.old, c.new, 1)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("with %s: error %v", c.new, err)
		}
	}
}
