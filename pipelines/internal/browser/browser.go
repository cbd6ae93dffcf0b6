// Package browser drives a headless Chromium for tests of pages, over the pipe of the
// DevTools protocol (--remote-debugging-pipe): messages of JSON that end in a zero
// byte, in on file descriptor 3 and out on 4.
//
//	page := browser.Start(t).Open(t, file, browser.View{Width: 390, Height: 844, Dark: true})
//	var wide bool
//	page.Eval(t, "document.documentElement.scrollWidth > innerWidth", &wide)
package browser

import (
	"bufio"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// patience is how long a call or the loading of a page may take.
const patience = 30 * time.Second

// A Browser is a running Chromium. It is ended with its test.
type Browser struct {
	out io.WriteCloser

	mu      sync.Mutex
	last    int
	waiting map[int]chan message
	pages   map[string]*Page // by session
	ended   error
}

type message struct {
	ID      int             `json:"id,omitempty"`
	Session string          `json:"sessionId,omitempty"`
	Method  string          `json:"method,omitempty"`
	Params  json.RawMessage `json:"params,omitempty"`
	Result  json.RawMessage `json:"result,omitempty"`
	Error   *struct {
		Message string `json:"message"`
	} `json:"error,omitempty"`
}

// Start starts the Chromium that GLADFLOW_CHROMIUM names, by its path or as a command,
// and skips the test where it names none.
func Start(t *testing.T) *Browser {
	t.Helper()
	path := os.Getenv("GLADFLOW_CHROMIUM")
	if path == "" {
		t.Skip("GLADFLOW_CHROMIUM names no browser; install Chromium and set it to chromium")
	}
	theirIn, out, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	in, theirOut, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	home := t.TempDir()
	c := exec.Command(path, "--headless", "--remote-debugging-pipe", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
		"--hide-scrollbars", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--user-data-dir="+home)
	c.ExtraFiles = []*os.File{theirIn, theirOut}
	c.Env = append(os.Environ(), "HOME="+home, "DBUS_SESSION_BUS_ADDRESS=disabled:")
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	theirIn.Close()
	theirOut.Close()
	b := &Browser{out: out, waiting: make(map[int]chan message), pages: make(map[string]*Page)}
	done := make(chan struct{})
	go func() {
		defer close(done)
		b.read(in)
	}()
	t.Cleanup(func() {
		out.Close() // the browser ends with its pipe
		kill := time.AfterFunc(5*time.Second, func() { _ = c.Process.Kill() })
		defer kill.Stop()
		_ = c.Wait()
		in.Close()
		<-done
	})
	return b
}

// read takes the messages of the browser to those who wait for them.
func (b *Browser) read(in io.Reader) {
	r := bufio.NewReader(in)
	for {
		text, err := r.ReadBytes(0)
		var m message
		if err == nil {
			err = json.Unmarshal(text[:len(text)-1], &m)
		}
		b.mu.Lock()
		if err != nil {
			b.ended = errors.New("the browser has ended")
			for id, wait := range b.waiting {
				close(wait)
				delete(b.waiting, id)
			}
			b.mu.Unlock()
			return
		}
		wait, page := b.waiting[m.ID], b.pages[m.Session]
		delete(b.waiting, m.ID)
		b.mu.Unlock()
		switch {
		case m.ID != 0 && wait != nil:
			wait <- m
		case m.ID == 0 && page != nil:
			page.event(m)
		}
	}
}

// call calls a method and reads its result, unless that is nil.
func (b *Browser) call(t *testing.T, session, method string, params, result any) {
	t.Helper()
	args, err := json.Marshal(params)
	if err != nil {
		t.Fatal(err)
	}
	wait := make(chan message, 1)
	b.mu.Lock()
	b.last++
	text, err := json.Marshal(message{ID: b.last, Session: session, Method: method, Params: args})
	if err == nil {
		err = b.ended
	}
	b.waiting[b.last] = wait
	if err == nil {
		_, err = b.out.Write(append(text, 0))
	}
	b.mu.Unlock()
	if err != nil {
		t.Fatalf("%s: %v", method, err)
	}
	select {
	case m, ok := <-wait:
		switch {
		case !ok:
			t.Fatalf("%s: the browser has ended", method)
		case m.Error != nil:
			t.Fatalf("%s: %s", method, m.Error.Message)
		}
		if result != nil {
			if err := json.Unmarshal(m.Result, result); err != nil {
				t.Fatalf("%s: %v", method, err)
			}
		}
	case <-time.After(patience):
		t.Fatalf("%s: no answer in %v", method, patience)
	}
}

// A View is how a page is looked at.
type View struct {
	Width, Height int
	Dark          bool
}

// A Page is one that was opened.
type Page struct {
	b       *Browser
	session string
	loaded  chan struct{}
	url     string
	pressed bool // the left button of the mouse

	mu       sync.Mutex
	problems []string
}

type object = map[string]any

// Open opens a file and waits until it is loaded.
func (b *Browser) Open(t *testing.T, file string, v View) *Page {
	t.Helper()
	var target struct{ TargetID string }
	b.call(t, "", "Target.createTarget", object{"url": "about:blank"}, &target)
	var session struct{ SessionID string }
	b.call(t, "", "Target.attachToTarget", object{"targetId": target.TargetID, "flatten": true}, &session)
	p := &Page{b: b, session: session.SessionID, loaded: make(chan struct{}), url: "file://" + file}
	b.mu.Lock()
	b.pages[p.session] = p
	b.mu.Unlock()
	t.Cleanup(func() {
		b.mu.Lock()
		delete(b.pages, p.session)
		b.mu.Unlock()
	})
	scheme := "light"
	if v.Dark {
		scheme = "dark"
	}
	for _, c := range []struct {
		method string
		params object
	}{
		{"Page.enable", object{}}, {"Runtime.enable", object{}}, {"Log.enable", object{}}, {"Network.enable", object{}},
		{"Emulation.setDeviceMetricsOverride", object{"width": v.Width, "height": v.Height, "deviceScaleFactor": 1, "mobile": v.Width < 600}},
		{"Emulation.setEmulatedMedia", object{"features": []object{{"name": "prefers-color-scheme", "value": scheme}}}},
		{"Page.navigate", object{"url": p.url}},
	} {
		b.call(t, p.session, c.method, c.params, nil)
	}
	select {
	case <-p.loaded:
	case <-time.After(patience):
		t.Fatalf("%s is not loaded after %v", file, patience)
	}
	// Two frames: observers of sizes have been called.
	p.Eval(t, "new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(true))))", new(bool))
	return p
}

// event notes what a page must not do.
func (p *Page) event(m message) {
	note := func(format string, args ...any) {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.problems = append(p.problems, fmt.Sprintf(format, args...))
	}
	switch m.Method {
	case "Page.loadEventFired":
		p.mu.Lock()
		defer p.mu.Unlock()
		select {
		case <-p.loaded:
		default:
			close(p.loaded)
		}
	case "Runtime.exceptionThrown":
		note("exception: %.600s", m.Params)
	case "Runtime.consoleAPICalled":
		note("console: %.600s", m.Params)
	case "Log.entryAdded":
		note("log: %.600s", m.Params)
	case "Network.requestWillBeSent":
		var sent struct {
			Request struct{ URL string }
		}
		if err := json.Unmarshal(m.Params, &sent); err != nil {
			note("%v", err)
		}
		if u := sent.Request.URL; u != p.url && !strings.HasPrefix(u, "data:") {
			note("request: %s", u)
		}
	}
}

// Problems are exceptions, lines on the console, breaches of the page's policy and
// requests for anything but the page so far.
func (p *Page) Problems() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.problems)
}

// Eval evaluates an expression, awaits it if it is a promise, and reads its value.
func (p *Page) Eval(t *testing.T, expression string, value any) {
	t.Helper()
	var got struct {
		Result           struct{ Value json.RawMessage }
		ExceptionDetails json.RawMessage
	}
	p.b.call(t, p.session, "Runtime.evaluate", object{"expression": expression, "returnByValue": true, "awaitPromise": true}, &got)
	if got.ExceptionDetails != nil {
		t.Fatalf("%s: %s", expression, got.ExceptionDetails)
	}
	if err := json.Unmarshal(got.Result.Value, value); err != nil {
		t.Fatalf("%s: %v", expression, err)
	}
}

// Key presses a key, such as Tab or +, on what has the focus.
func (p *Page) Key(t *testing.T, key string) {
	t.Helper()
	codes := map[string]int{"Tab": 9, "Enter": 13, "Escape": 27, "ArrowLeft": 37, "ArrowUp": 38, "ArrowRight": 39, "ArrowDown": 40}
	down := object{"type": "keyDown", "key": key, "windowsVirtualKeyCode": codes[key]}
	switch {
	case key == "Enter":
		down["text"] = "\r"
	case len(key) == 1:
		down["text"] = key
	}
	p.b.call(t, p.session, "Input.dispatchKeyEvent", down, nil)
	p.b.call(t, p.session, "Input.dispatchKeyEvent", object{"type": "keyUp", "key": key, "windowsVirtualKeyCode": codes[key]}, nil)
}

// Mouse sends a mouse event, such as mouseMoved, at a place of the view. wheel is how
// far a wheel turns.
func (p *Page) Mouse(t *testing.T, kind string, x, y, wheel float64) {
	t.Helper()
	event := object{"type": kind, "x": x, "y": y, "deltaX": 0, "deltaY": wheel}
	switch kind {
	case "mousePressed":
		p.pressed = true
		event["clickCount"] = 1
	case "mouseReleased":
		event["clickCount"] = 1
	}
	if p.pressed {
		event["button"] = "left"
		if kind != "mouseReleased" { // a move without a button held is no dragging
			event["buttons"] = 1
		}
	}
	p.pressed = p.pressed && kind != "mouseReleased"
	p.b.call(t, p.session, "Input.dispatchMouseEvent", event, nil)
}

// Screenshot writes what a selector finds, such as main, as a PNG.
func (p *Page) Screenshot(t *testing.T, path, selector string) {
	t.Helper()
	quoted, err := json.Marshal(selector)
	if err != nil {
		t.Fatal(err)
	}
	var clip object
	p.Eval(t, "(b => ({x: b.x + scrollX, y: b.y + scrollY, width: b.width, height: b.height, scale: 1}))(document.querySelector("+string(quoted)+").getBoundingClientRect())", &clip)
	var shot struct{ Data string }
	p.b.call(t, p.session, "Page.captureScreenshot", object{"captureBeyondViewport": true, "clip": clip}, &shot)
	data, err := base64.StdEncoding.DecodeString(shot.Data)
	if err == nil {
		err = os.WriteFile(path, data, 0o666)
	}
	if err != nil {
		t.Fatal(err)
	}
}
