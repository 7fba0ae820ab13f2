// The limits of the event parsers of the Python and Go clients: bounded events, and each byte read once.
import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { LANGUAGES, OFFLINE_GO } from './driver.ts'

const CLIENTS = join(import.meta.dir, '..', '..', 'clients')
/** Enough for the first Go build on a busy machine. */
const LIMIT_MS = 400_000

const PYTHON = `
import time
from countersign.events import EventParser, EventTooLongError

def push_all(*parts):
    parser = EventParser()
    for part in parts:
        parser.push(part.encode())

def is_refused(*parts):
    try:
        push_all(*parts)
    except EventTooLongError:
        return True
    return False

part = "x" * 30_000
assert is_refused("data: " + part, part, part)
assert is_refused(("data: " + part + "\\n") * 3)
assert is_refused(": " + part * 3 + "\\n\\n")
assert not is_refused(("data: " + part + "\\n") * 2, "\\n")

text = "\\ufeffdata: a\\r\\ndata: \\u00e4\\r\\r\\n: comment\\n\\rdata: b\\n\\nid: 7\\r\\ndata\\r\\n\\r\\n".encode()
for cut in range(len(text)):
    parser = EventParser()
    events = parser.push(text[:cut]) + parser.push(text[cut:])
    assert events == [("a\\n\\u00e4", None), ("b", None), ("", "7")], (cut, events)

started = time.process_time()
push_all(*["x"] * 60_000)
assert time.process_time() - started < 2, time.process_time() - started
`

const missingOf = (language: string): string | null => LANGUAGES.find(({ name }) => name === language)?.missing ?? null

const run = async (command: string[], folder: string, environment: Record<string, string>): Promise<void> => {
  const child = Bun.spawn(command, {
    cwd: join(CLIENTS, folder),
    env: { ...process.env, ...environment },
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const [output, errors, code] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited])
  expect({ code, errors: code === 0 ? '' : output + errors }).toEqual({ code: 0, errors: '' })
}

test.skipIf(missingOf('Python') !== null)(
  'the Python parser refuses long events and reads each byte once',
  LIMIT_MS,
  () => run(['python3', '-c', PYTHON], 'python', { PYTHONDONTWRITEBYTECODE: '1' }),
)

test.skipIf(missingOf('Go') !== null)('the Go parser passes its own tests', LIMIT_MS, () =>
  run(['go', 'test', '.'], 'go', OFFLINE_GO),
)
