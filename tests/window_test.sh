#!/usr/bin/env bash
# The window itself, on a display of its own, used as a person uses it:
#
#     tests/window_test.sh BUILD/bin/attnscope
#
# Types a sentence, drags the seed, exports and copies a picture, quits, starts again, is killed, starts again, opens a
# second window and a text of 5000 words, loses the display. Prints a line for each step. Exit code 0: all of it works;
# 1: the last line says what does not; 77: this machine lacks what the test needs. Nothing is tried twice but the keys
# that copy, and every wait ends as soon as what it waits for is there.
set -u

attnscope=$(realpath "${1:?usage: window_test.sh BUILD/bin/attnscope}")
where_controls_stand=$(dirname "$attnscope")/attnscope_tests
work=$(mktemp -d)
display_pid=
window_pid=

finish() {
    [ -n "$window_pid" ] && kill -9 "$window_pid" 2>/dev/null
    [ -n "$display_pid" ] && kill "$display_pid" 2>/dev/null
    wait 2>/dev/null
    rm -rf "$work"
}
trap finish EXIT

step() { echo "ok: $*"; }
skip() { echo "SKIP: $*"; exit 77; }
fail() {
    echo "FAILED: $*"
    [ -s "$work/log" ] && sed 's/^/    attnscope: /' "$work/log"
    exit 1
}

# Until a command succeeds; fails after a number of seconds.
wait_for() {
    local seconds=$1 what=$2 end
    shift 2
    end=$((SECONDS + seconds))
    until "$@" >/dev/null 2>&1; do
        [ $SECONDS -ge $end ] && fail "$what did not happen within $seconds s"
        sleep 0.05
    done
}

for tool in Xvfb xdotool xclip; do
    command -v $tool >/dev/null || skip "$tool is not installed: apt install xvfb xdotool xclip"
done

export HOME=$work/home XDG_STATE_HOME=$work/state
mkdir -p "$HOME" "$XDG_STATE_HOME" "$work/out" "$work/again" "$work/rendered" "$work/third" "$work/second" "$work/book"
state=$XDG_STATE_HOME/attnscope
session=$state/session.json
# Mesa's GLX keeps 112 bytes until the process ends; the other tests look for leaks of our own.
export ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0
export LIBGL_ALWAYS_SOFTWARE=1

# The display ------------------------------------------------------------------------------------------------

# Without -noreset it starts over, and refuses a window, when the one before it closes.
Xvfb -displayfd 3 -screen 0 1700x1100x24 -nolisten tcp -noreset 3>"$work/display" 2>"$work/xvfb.log" &
display_pid=$!
wait_for 30 "an X display" test -s "$work/display"
DISPLAY=:$(cat "$work/display")
export DISPLAY
unset WAYLAND_DISPLAY
step "a display, $DISPLAY"

places=$("$where_controls_stand" --gtest_filter=PlacesTest.AreWrittenForScripts 2>&1 | sed -n 's/^place //p')
place() { echo "$places" | sed -n "s/^$1 //p"; }
[ -n "$(place seed)" ] || skip "the tests cannot say where the seed's field stands (no OpenGL without a display)"

# The window -------------------------------------------------------------------------------------------------

visible_window() { xdotool search --all --onlyvisible --pid "$window_pid" --name attnscope | head -1 | grep .; }
focused() { [ "$(xdotool getwindowfocus)" = "$window" ]; }

start() {  # with the arguments of the program
    "$attnscope" "$@" >"$work/log" 2>&1 &
    window_pid=$!
    local end=$((SECONDS + 60))
    until window=$(visible_window 2>/dev/null); do
        kill -0 "$window_pid" 2>/dev/null || fail "attnscope ended before it showed a window"
        [ $SECONDS -ge $end ] && fail "no window within 60 s"
        sleep 0.05
    done
    xdotool windowfocus "$window"
    wait_for 20 "the keyboard's focus" focused
}

gone() { ! kill -0 "$window_pid" 2>/dev/null; }

quit() {
    xdotool key --clearmodifiers ctrl+q
    wait_for 60 "closing by Ctrl+Q" gone
    wait "$window_pid"
    local code=$?
    window_pid=
    [ $code -eq 0 ] || fail "attnscope ended with $code after Ctrl+Q"
}

# Writes weights.png into a folder, through the dialog.
export_into() {
    xdotool key --clearmodifiers ctrl+e
    xdotool key --clearmodifiers ctrl+a
    xdotool type --clearmodifiers --delay 15 "$1"
    xdotool key --clearmodifiers Return
    wait_for 60 "the export of weights.png into $1" test -s "$1/weights.png"
}

# The value of a field of the experiment in a file.
field() {
    "$attnscope" trace "$1" --stage tokens | tr ',{' '\n' | sed -n "s/^ *\"$2\": *\"\{0,1\}\([^\"]*\)\"\{0,1\} *$/\1/p" | head -1
}
kept() { grep -qF "$1" "$session"; }
seed_moved() { kept '"seed"' && ! kept '"seed": 123'; }

start
wait_for 30 "the first saved session" test -s "$session"
step "the window is there"

# Letters outside ASCII are for the tests without a display: xdotool lends them a key for a moment, and whether the
# window asks in time what that key means is chance.
sentence="The cat sat on the mat"
read -r x y <<<"$(place sentence)"
xdotool mousemove --window "$window" "$x" "$y" click 1
xdotool key --clearmodifiers ctrl+a
xdotool type --clearmodifiers --delay 15 "$sentence"
wait_for 30 "the sentence in the saved session" kept "\"text\": \"$sentence\""
step "a click into the sentence and typing: $sentence"

read -r x y <<<"$(place seed)"
xdotool mousemove --window "$window" "$x" "$y" mousedown 1
for dx in 10 20 30 40 50; do xdotool mousemove --window "$window" $((x + dx)) "$y"; done
xdotool mouseup 1
wait_for 30 "another seed in the saved session" seed_moved
kept "\"text\": \"$sentence\"" || fail "dragging the seed changed the sentence"
step "dragging the seed"

# The pointer leaves the window and comes back at the same place: the place counts again. Not where it pressed before:
# a second press there may count as a double click, which opens the field for typing.
before=$(grep '"seed"' "$session")
moved_on() { kept '"seed"' && ! kept "$before"; }
xdotool mousemove --window "$window" $((x + 15)) "$y"
xdotool mousemove 1690 1090
xdotool mousemove --window "$window" $((x + 15)) "$y" mousedown 1
for dx in 25 35 45 55 65; do xdotool mousemove --window "$window" $((x + dx)) "$y"; done
xdotool mouseup 1
wait_for 30 "another seed after the pointer was outside" moved_on
step "dragging the seed after the pointer was outside"

export_into "$work/out"
[ "$(field "$work/out/weights.png" text)" = "$sentence" ] ||
    fail "the picture holds the sentence \"$(field "$work/out/weights.png" text)\""
seed=$(field "$work/out/weights.png" seed)
case $seed in "" | 123) fail "the picture holds the seed \"$seed\"" ;; esac
kept "\"seed\": $seed" || fail "the saved session has another seed than the picture's $seed"
step "an exported picture carries the sentence and the seed $seed"

"$attnscope" render "$session" --stage weights --out "$work/rendered" >/dev/null || fail "render of the saved session"
cmp "$work/out/weights.png" "$work/rendered/weights.png" || fail "the window and render give different bytes"
step "the window and render give the same bytes"

# The file is there a frame before the dialog is gone, which swallows keys until then.
copied() {
    xdotool key --clearmodifiers ctrl+alt+c
    timeout 5 xclip -selection clipboard -t image/png -o >"$work/copied.png" && cmp "$work/out/weights.png" "$work/copied.png"
}
wait_for 30 "a copied picture with the bytes of the exported one" copied
step "a copied picture has the bytes of the exported one"

quit
step "Ctrl+Q closes it"

start
export_into "$work/again"
cmp "$work/out/weights.png" "$work/again/weights.png" || fail "the second start has another session"
step "the next start has the session of the last one"

# The file is there a frame before the dialog is gone; Escape comes after it, and the mouse after Escape.
xdotool key --clearmodifiers Escape
xdotool mousemove --window "$window" "$x" "$y" mousedown 1
for dx in 10 20 30; do xdotool mousemove --window "$window" $((x + dx)) "$y"; done
xdotool mouseup 1
changed() { kept '"seed"' && ! kept "\"seed\": $seed,"; }
wait_for 30 "the dragged seed in the saved session" changed
kill -9 "$window_pid"
wait "$window_pid" 2>/dev/null
window_pid=
start
export_into "$work/third"
crashed_seed=$(field "$work/third/weights.png" seed)
[ "$crashed_seed" != "$seed" ] || fail "kill -9 lost the change: the seed is $crashed_seed again"
kept "\"seed\": $crashed_seed," || fail "the saved session has another seed than the picture's $crashed_seed"
[ "$(field "$work/third/weights.png" text)" = "$sentence" ] || fail "kill -9 lost the sentence"
step "kill -9 keeps the session: seed $crashed_seed"

# Asked to end from outside, it closes as by Ctrl+Q.
kill -TERM "$window_pid"
wait_for 20 "closing by SIGTERM" gone
wait "$window_pid"
code=$?
window_pid=
[ $code -eq 0 ] || fail "attnscope ended with $code after SIGTERM"
grep -q '"seed"' "$session" || fail "SIGTERM lost the session"
step "SIGTERM closes it"

start
quit
[ -e "$session.unreadable" ] && fail "a saved session was unreadable"
step "and it closes again"

# Another window --------------------------------------------------------------------------------------------

start
first_pid=$window_pid first_window=$window
cp "$session" "$work/kept.json"
start
read -r x y <<<"$(place sentence)"
xdotool mousemove --window "$window" "$x" "$y" click 1
xdotool key --clearmodifiers ctrl+a
xdotool type --clearmodifiers --delay 15 "of the second window"
export_into "$work/second"
[ "$(field "$work/second/weights.png" text)" = "of the second window" ] || fail "the second window exports the sentence \"$(field "$work/second/weights.png" text)\""
xdotool key --clearmodifiers Escape
quit
cmp "$session" "$work/kept.json" || fail "a second window wrote over the session of the first one"
window_pid=$first_pid window=$first_window
xdotool windowfocus "$window"
wait_for 20 "the first window's keyboard focus" focused
quit
cmp "$session" "$work/kept.json" || fail "the first window kept something else than its session"
step "a second window leaves the session to the first one"

# A file that does not end --------------------------------------------------------------------------------------

mkfifo "$HOME/endless.json"
start
xdotool key --clearmodifiers ctrl+o
xdotool type --clearmodifiers --delay 15 "endless.json"
xdotool key --clearmodifiers Return
quit
cmp "$session" "$work/kept.json" || fail "the session was lost with a file that does not end"
step "it closes while it opens a file that does not end"

# A text whose matrices of pairs are computed where they are looked at --------------------------------------------------

seq -f "w%.0f" 5000 | tr '\n' ' ' >"$work/book.txt"
XDG_STATE_HOME=$work/of-book start --text-file "$work/book.txt" --dim 16
export_into "$work/book"
case $(field "$work/book/weights.png" text) in
    "w1 w2 "*" w4999 w5000"*) ;;
    *) fail "the picture of a book carries another text" ;;
esac
xdotool key --clearmodifiers Escape
quit
step "a text file of 5000 words opens, and its weights are exported"

# A start that did not end well -----------------------------------------------------------------------------------

touch "$state/on-trial"
start
wait_for 30 "a session that is not the last one" kept '"seed": 123'
grep -qF "$sentence" "$state/last-session.json" || fail "the last session was lost"
quit
[ -e "$state/on-trial" ] && fail "a start that ended well is still on trial"
step "a start that did not end well leaves the last session closed"

# The display goes --------------------------------------------------------------------------------------------------

start
read -r x y <<<"$(place seed)"
xdotool mousemove --window "$window" "$x" "$y" mousedown 1
for dx in 10 20 30 40 50; do xdotool mousemove --window "$window" $((x + dx)) "$y"; done
xdotool mouseup 1
wait_for 30 "another seed in the saved session" seed_moved
kill -9 "$display_pid"
wait "$display_pid" 2>/dev/null
display_pid=
wait_for 20 "the end without a display" gone
wait "$window_pid"
code=$?
window_pid=
[ $code -eq 1 ] || fail "attnscope ended with $code when the display was gone"
seed_moved && [ -z "$(ls "$state" | grep unreadable)" ] || fail "the session went with the display"
[ -e "$state/on-trial" ] && fail "the session is on trial as if it had been why"
step "the session is kept when the display goes"
